/* Turns of writing, and the threads that take them. */
#define _GNU_SOURCE
#include "ui/turns.h"

#include <sched.h>
#include <unistd.h>

enum { WORKER_STACK = 4 << 20 }; /* bytes; demangling a hostile name takes one of them */

void turns_init(struct turns *turns) {
    *turns = (struct turns){ .written = 0 };
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->changed, NULL);
}

void turns_deinit(struct turns *turns) {
    pthread_cond_destroy(&turns->changed);
    pthread_mutex_destroy(&turns->lock);
}

bool turns_wait(struct turns *turns, uint64_t number) {
    pthread_mutex_lock(&turns->lock);
    while (turns->written != number && !turns->failed) pthread_cond_wait(&turns->changed, &turns->lock);
    bool good = !turns->failed;
    pthread_mutex_unlock(&turns->lock);
    return good;
}

void turns_end(struct turns *turns, bool is_written) {
    pthread_mutex_lock(&turns->lock);
    turns->written++;
    turns->failed |= !is_written;
    pthread_cond_broadcast(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}

bool worker_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    bool good = !pthread_attr_setstacksize(&attributes, WORKER_STACK) && !pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return good;
}

unsigned usable_cores(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
#endif
    return count < 1 ? 1 : (unsigned)count;
}

/* Captures, looks up and prints within a signal handler, in which every call that takes memory or a lock or opens a file ends the
 * program: the allocator, locks of threads and open() are defined here, before those of libc. */
#define _GNU_SOURCE
#include <callsign/backtrace.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t in_handler;
static volatile sig_atomic_t watched; /* calls outside of handlers: the test is none if there are no such calls */

static void watch(const char *name) {
    watched = 1;
    if (!in_handler) return;
    ssize_t written = write(2, name, strlen(name));
    (void)written;
    _exit(9);
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);
void *malloc(size_t size) { return watch("malloc"), __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return watch("calloc"), __libc_calloc(count, size); }
void *realloc(void *p, size_t size) { return watch("realloc"), __libc_realloc(p, size); }
void free(void *p) { watch("free"), __libc_free(p); }

/* Until main() has looked them up, there is one thread. */
static int (*real_lock)(pthread_mutex_t *), (*real_unlock)(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *lock) { return watch("pthread_mutex_lock"), real_lock ? real_lock(lock) : 0; }
int pthread_mutex_unlock(pthread_mutex_t *lock) { return watch("pthread_mutex_unlock"), real_unlock ? real_unlock(lock) : 0; }
/* Nothing here needs these outside of the handler. */
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return watch("pthread_rwlock_rdlock"), (void)lock, 0; }
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return watch("pthread_rwlock_wrlock"), (void)lock, 0; }

static int open_file(const char *path, int flags) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600); }
int open(const char *path, int flags, ...) { return watch("open"), open_file(path, flags); }
int open64(const char *path, int flags, ...) { return watch("open64"), open_file(path, flags); }

static struct csn_backtrace *backtrace;
static volatile int *null;

static void check(int good, const char *what) {
    if (good) return;
    ssize_t written = write(2, what, strlen(what));
    (void)written;
    _exit(8);
}

static void on_signal(int number, siginfo_t *info, void *context) {
    uint64_t pcs[64];
    struct csn_frame frames[16];
    size_t count, found = 0, size, base = 0;
    in_handler = 1;
    (void)info;
    for (int way = 0; way < 3; way++) {
        count = way == 0 ? csn_backtrace_capture_context(context, pcs, 64) : way == 1 ? csn_backtrace_capture(0, pcs, 64)
                : csn_backtrace_capture_frame_pointers(0, pcs, 64);
        check(count > 2, "too few frames");
        for (size_t i = 0; i < count; i++) {
            base += csn_backtrace_find_module(backtrace, pcs[i]) != NULL;
            found += csn_backtrace_lookup(backtrace, pcs[i], frames, 16, &size, NULL) == CSN_OK && size > 0;
        }
        csn_backtrace_print(backtrace, pcs, count, 1);
    }
    check(found > 3 && base > 3, "too few names");
    in_handler = 0;
    if (number == SIGSEGV) _exit(watched ? 0 : 7);
}

__attribute__((noinline)) int fail(int n) {
    *null = n; /* LINE fail */
    return n + 1;
}

__attribute__((noinline)) int work(int n) {
    raise(SIGUSR1);
    int result = fail(n) * 2; /* LINE work */
    __asm__ volatile("");
    return result;
}

int main(void) {
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    *(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    watched = 0;
    if (csn_backtrace_create(NULL, &backtrace, NULL) < 0) return 2;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    return work(1);
}

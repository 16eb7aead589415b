/* Threads for a program that has one: a lock is free, a condition never has to be waited for, and no thread starts. */
#ifndef CALLSIGN_WEB_PTHREAD_H
#define CALLSIGN_WEB_PTHREAD_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>

typedef int csn_web_lock;
#define pthread_mutex_t csn_web_lock
#define pthread_cond_t csn_web_lock
#define pthread_attr_t csn_web_lock
#define pthread_once_t csn_web_lock
#define pthread_t csn_web_lock
#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER 0
#define PTHREAD_ONCE_INIT 0

static inline int csn_web_nothing(const volatile void *object) {
    (void)object;
    return 0;
}
#define pthread_mutex_init(lock, attributes) csn_web_nothing(lock)
#define pthread_mutex_destroy(lock) csn_web_nothing(lock)
#define pthread_mutex_lock(lock) csn_web_nothing(lock)
#define pthread_mutex_trylock(lock) csn_web_nothing(lock)
#define pthread_mutex_unlock(lock) csn_web_nothing(lock)
#define pthread_cond_init(condition, attributes) csn_web_nothing(condition)
#define pthread_cond_destroy(condition) csn_web_nothing(condition)
#define pthread_cond_signal(condition) csn_web_nothing(condition)
#define pthread_cond_broadcast(condition) csn_web_nothing(condition)
#define pthread_cond_wait(condition, lock) (__builtin_trap(), 0)
#define pthread_attr_init(attributes) csn_web_nothing(attributes)
#define pthread_attr_destroy(attributes) csn_web_nothing(attributes)
#define pthread_attr_setstacksize(attributes, size) csn_web_nothing(attributes)
#define pthread_create(thread, attributes, run, argument) ((void)(run), (void)(argument), csn_web_nothing(thread), EAGAIN)
#define pthread_join(thread, result) ((void)(thread), 0)
#define pthread_sigmask(how, set, old) 0
#define pthread_once(once, run) (*(once) ? 0 : (*(once) = 1, (run)(), 0))

#endif

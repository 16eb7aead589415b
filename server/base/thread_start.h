/* Threads whose stacks do not depend on the C library or on `ulimit -s`: musl's default of 128 KiB is too small. */
#ifndef CALLSIGN_SERVER_THREAD_START_H
#define CALLSIGN_SERVER_THREAD_START_H

#include <pthread.h>
#include <stdbool.h>

enum { SERVER_THREAD_STACK = 4 << 20 }; /* bytes; demangling a hostile name takes one of them */

bool thread_start(pthread_t *thread, void *(*run)(void *), void *argument);
/* Nobody joins it. */
bool thread_start_detached(void *(*run)(void *), void *argument);

#endif

/* Threads of a pool that wait for others: for upstreams, or for a thread that does. The pool lets other threads work
 * meanwhile, so that what needs no upstream is answered. */
#ifndef CALLSIGN_SERVER_WAITING_H
#define CALLSIGN_SERVER_WAITING_H

#include <stdbool.h>

/* begins: the calling thread is going to wait; false: too many do already. Otherwise it has waited. */
typedef bool waiting_callback(void *context, bool begins);

/* Of the calling thread; others wait as they like. */
void waiting_set(waiting_callback *callback, void *context);

/* False: it must not wait, and waiting_end() is not called. May be nested: the outermost pair counts. */
bool waiting_begin(void);
void waiting_end(void);

#endif

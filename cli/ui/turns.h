/* Threads that take parts of an input in turn, answer them side by side and write them in the order in which they were taken. */
#ifndef CLI_UI_TURNS_H
#define CLI_UI_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct turns {
    pthread_mutex_t lock;   /* guards the following; taken after any other lock */
    pthread_cond_t changed;
    uint64_t written;       /* parts */
    bool failed;            /* a part could not be written: no later one is */
};

void turns_init(struct turns *turns);
void turns_deinit(struct turns *turns);

/* Waits until `number` parts are written. False: one of them could not be. */
bool turns_wait(struct turns *turns, uint64_t number);

/* Ends the turn of the thread that has it. */
void turns_end(struct turns *turns, bool is_written);

/* A thread with a stack that is large enough to demangle a hostile name. */
bool worker_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* Processors that this process may use, at least 1. */
unsigned usable_cores(void);

#endif

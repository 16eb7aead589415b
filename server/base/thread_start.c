#include "base/thread_start.h"

static bool start(pthread_t *thread, int state, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    bool good = !pthread_attr_setstacksize(&attributes, SERVER_THREAD_STACK) && !pthread_attr_setdetachstate(&attributes, state) &&
                !pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return good;
}

bool thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    return start(thread, PTHREAD_CREATE_JOINABLE, run, argument);
}

bool thread_start_detached(void *(*run)(void *), void *argument) {
    pthread_t thread;
    return start(&thread, PTHREAD_CREATE_DETACHED, run, argument);
}

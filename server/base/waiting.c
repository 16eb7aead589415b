#include "base/waiting.h"

#include <stddef.h>

static _Thread_local struct {
    waiting_callback *callback;
    void *context;
    unsigned depth;
} own;

void waiting_set(waiting_callback *callback, void *context) {
    own.callback = callback;
    own.context = context;
    own.depth = 0;
}

bool waiting_begin(void) {
    if (!own.callback) return true;
    if (own.depth == 0 && !own.callback(own.context, true)) return false;
    own.depth++;
    return true;
}

void waiting_end(void) {
    if (own.callback && --own.depth == 0) own.callback(own.context, false);
}

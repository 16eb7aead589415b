/* The states of libbacktrace's interface: what the process knows of its modules, made once. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <callsign/open.h>

#include "backtrace/libbacktrace/libbacktrace_private.h"
#include "base/core/alloc.h"

/* The interface has no call that frees a state, and programs make one in each thread: only a list of the process keeps
 * them from converting its modules again and again. */
static pthread_mutex_t states_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct backtrace_state *states;
static struct csn_opener *opener;
static bool has_opener;

static bool is_own_program(const char *filename) {
    struct stat given, own;
    return stat(filename, &given) == 0 && stat("/proc/self/exe", &own) == 0 && given.st_dev == own.st_dev
           && given.st_ino == own.st_ino;
}

static struct backtrace_state *known_state(const char *filename) {
    for (struct backtrace_state *state = states; state; state = state->next)
        if (filename == state->filename || (filename && state->filename && strcmp(filename, state->filename) == 0)) return state;
    return NULL;
}

/* Conversions go to the cache that CALLSIGN_CACHE names; without it they are made in memory. Programs with other rights
 * than their user's use no cache. */
static struct csn_opener *find_opener(void) {
    const char *dir = secure_getenv("CALLSIGN_CACHE");
    struct csn_opener_options options = CSN_OPENER_OPTIONS_INIT;
    if (has_opener) return opener;
    has_opener = true;
    if (dir && *dir) (void)csn_cache_open(dir, NULL, &options.cache, NULL);
    if (csn_opener_create(&options, &opener, NULL) < 0) opener = NULL;
    return opener;
}

static struct backtrace_state *make_state(const char *filename) {
    struct csn_backtrace_options options = CSN_BACKTRACE_OPTIONS_INIT;
    size_t size = filename ? strlen(filename) + 1 : 0;
    struct backtrace_state *state = csni_alloc_zeroed(NULL, 1, sizeof *state + size);
    if (!state) return NULL;
    if (filename) state->filename = memcpy((char *)state + sizeof *state, filename, size);
    options.convert = csn_backtrace_convert;
    options.convert_context = find_opener();
    options.program_path = state->filename;
    if (csn_backtrace_create(&options, &state->backtrace, NULL) < 0) {
        csni_free(NULL, state, sizeof *state + size);
        return NULL;
    }
    state->next = states;
    states = state;
    return state;
}

struct backtrace_state *backtrace_create_state(const char *filename, int threaded, backtrace_error_callback error_callback,
                                               void *data) {
    (void)threaded;
    if (filename && is_own_program(filename)) filename = NULL;
    pthread_mutex_lock(&states_mutex);
    struct backtrace_state *state = known_state(filename);
    if (!state) state = make_state(filename);
    pthread_mutex_unlock(&states_mutex);
    if (!state && error_callback) error_callback(data, "out of memory", ENOMEM);
    return state;
}

/* Without a lock where the index is open already: then a signal handler may call it. */
const struct csn_backtrace_module *csni_libbacktrace_module(struct backtrace_state *state, uintptr_t pc) {
    const uint64_t wanted = pc;
    if (csni_backtrace_is_open(state->backtrace, wanted)) (void)csn_backtrace_load(state->backtrace, &wanted, 1, NULL);
    return csn_backtrace_find_module(state->backtrace, wanted);
}

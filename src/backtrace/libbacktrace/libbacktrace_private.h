/* What the files that stand in for libbacktrace share. */
#ifndef CSNI_LIBBACKTRACE_PRIVATE_H
#define CSNI_LIBBACKTRACE_PRIVATE_H

#include <backtrace.h>

#include <callsign/backtrace.h>

#include "backtrace/backtrace_private.h"

/* One for each file of the program, shared by all calls of backtrace_create_state(); never freed, as in libbacktrace. */
struct backtrace_state {
    struct csn_backtrace *backtrace;
    const char *filename;            /* NULL: found */
    struct backtrace_state *next;
};

/* The module of a pc with its index, which may be converted for that; NULL: none. */
const struct csn_backtrace_module *csni_libbacktrace_module(struct backtrace_state *state, uintptr_t pc);

#endif

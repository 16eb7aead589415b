/* What the files of src/backtrace/ share. */
#ifndef CSNI_BACKTRACE_PRIVATE_H
#define CSNI_BACKTRACE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <callsign/backtrace.h>

#include "base/core/vec.h"

enum { CSNI_BACKTRACE_PATH_SIZE = 4096, CSNI_BACKTRACE_ID_MAX = 64 };

/* A module that is loaded or was; it stays until the end, since readers may hold it. */
struct csni_backtrace_module {
    struct csn_backtrace_module shown;   /* what csn_backtrace_find_module() gives, without the index */
    _Atomic(struct csn_backtrace_module *) with_index; /* a copy with the index; NULL: none is open yet */
    struct csn_backtrace_module copy;
    struct csn_index *index;
    bool is_searched;                    /* beside the file and within it */
    _Atomic(bool) is_settled;            /* it has an index, or the converter has refused it */
    bool is_loaded;                      /* in the list that is being made */
    const char *open_path;               /* what is opened: /proc/self/exe for a program whose file is gone */
    struct csni_backtrace_module *next;
    uint8_t build_id[CSNI_BACKTRACE_ID_MAX];
    size_t memory_size;                  /* of this block, with its path */
    char path[];
};

/* A loaded segment, [start, end). */
struct csni_backtrace_segment {
    uint64_t start, end;
    struct csni_backtrace_module *module;
};

/* The modules at one time: never changed, and kept until the end. */
struct csni_backtrace_list {
    struct csni_backtrace_list *older;
    size_t count;
    struct csni_backtrace_segment segments[]; /* ascending */
};

struct csn_backtrace {
    const struct csn_allocator *alloc;
    struct csn_backtrace_options options;
    pthread_mutex_t mutex;                          /* of everything but `list` and with_index */
    _Atomic(struct csni_backtrace_list *) list;
    struct csni_backtrace_module *modules;
    uint64_t adds, subs;                            /* of the dynamic linker, when the list was made */
    bool has_counts;
};

/* Makes the list of what is loaded now, if it has changed. The mutex is held. */
csn_status csni_backtrace_list_modules(struct csn_backtrace *backtrace, struct csn_error *err);
/* Whether csn_backtrace_load() may find something for a pc that has no index now. Async-signal-safe. */
bool csni_backtrace_is_open(const struct csn_backtrace *backtrace, uint64_t pc);
/* The module of a pc; NULL: none. */
struct csni_backtrace_module *csni_backtrace_module_of(const struct csn_backtrace *backtrace, uint64_t pc);

#endif

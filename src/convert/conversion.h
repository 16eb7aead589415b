/* One conversion on its way: what sources, outputs and all that stands between them share. */
#ifndef CSNI_CONVERSION_H
#define CSNI_CONVERSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/core/budget.h"
#include "base/thread_pool.h"
#include "convert/dwarf/zero_code.h"
#include "dwarf/dwarf.h"
#include "model/early_hashes.h"
#include "object/object.h"

/* What was given to convert. */
struct csni_input {
    const char *path;      /* NULL: from memory */
    struct csni_span file;
    bool is_mapped;
};

struct csni_companion_file;
struct csni_coverage;
struct csni_pdb;
struct csni_stack_records;
struct csni_address_map;

/* Sections of an object that nobody reads any more. */
struct csni_read_sections {
    struct csni_object *object;
    uint32_t section[CSNI_DWARF_SECTION_COUNT], count;
};

/* A file that is read, by its numbers: names change with links and folders. */
struct csni_read_file {
    uint64_t device, number;
};

/* One conversion on its way. */
struct csni_conversion {
    const struct csn_allocator *alloc;
    struct csn_convert_options options;
    struct csn_convert_report *report;
    struct csni_input input;
    const char *segments_path;        /* where the output goes in segments; NULL: to a sink */
    struct csni_image image;          /* its arrays live as long as the conversion */
    struct csni_object *object;       /* of the input, where it is one */
    struct csni_object *debug;        /* its debug file; NULL: none */
    struct csni_object *stripped;     /* the image that `object`, a debug-only file, was split off from, if it is needed and found */
    CSNI_VEC(struct csni_object *) members; /* objects of an archive, kept until the end; `object` is the one being read */
    struct csni_zero_code zero;       /* of `object` */
    uint32_t first_batch;             /* of `object`: those before are of other members */
    struct csni_stack_records *stacks; /* of a Breakpad file, begun while symbols are read; NULL: not begun, or none */
    struct csni_pdb *pdb;             /* of the input, or the image's; NULL: none */
    CSNI_VEC(struct csni_companion_file *) companions; /* opened by csni_companion_open(), kept until the end */
    CSNI_VEC(struct csni_read_file) read_files; /* none of which the output may replace: read_files.h */
    struct csni_pool *pool;
    uint32_t workers;
    struct csni_arena *arenas;        /* one per worker, and one for the background task */
    struct csni_batch_writer *writers; /* the same */
    struct csni_batch *batches;
    uint32_t batch_count, batch_capacity;
    atomic_bool has_nameless;         /* some function from DWARF has no name */
    struct csni_coverage *coverage;   /* by worker; NULL: not wanted */
    bool claims_rows;                 /* units were read: csni_model_claim_rows() has something to do */
    struct csni_read_sections read_sections; /* what a background task gives back before it makes these: */
    struct csni_early_hashes early_hashes; /* made from the last source on, until strings are numbered */
    uint64_t symbols_left_out;        /* that would be dropped as duplicates: see covered_ranges.h */
    pthread_mutex_t lock;             /* of progress and companions */
    uint64_t progress_done, progress_total;
    /* What units make of a byte of input is bounded: many functions can name one long list of ranges, one long run of rows,
     * one long directory. Counted in ranges, rows, parts of inlined calls, and bytes of names and paths. */
    struct csni_shared_budget budget; /* but for units of split DWARF: each of its files has a budget of its own */
    atomic_uint_least64_t split_bytes; /* of files with split DWARF, which raise `budget` when all units are done */
};
/* What a budget begins with, before the input's size. Real programs take 0.13 (the Linux kernel) to 0.21 (libc) for a byte of
 * their sections, which sources add. */
enum { CSNI_BUDGET_BASE = 1 << 22, CSNI_BUDGET_A_BYTE = 8 };

/* Whether `addr` is in executable memory, or the image tells nothing about that. */
bool csni_in_text(const struct csni_conversion *c, uint64_t addr);

/* Tells the caller's progress callback that `amount` more is done. CSN_E_CANCELLED when it asks to stop. */
csn_status csni_progress(struct csni_conversion *c, const char *phase, uint64_t amount, struct csn_error *err);

/* Fails when something was lost and the caller asked for strictness. */
csn_status csni_check_strict(const struct csni_conversion *c, struct csn_error *err);

/* Room for `count` more batches at the end of c->batches; NULL when out of memory. They are zeroed. */
struct csni_batch *csni_add_batches(struct csni_conversion *c, uint32_t count);

/* Options for opening object files of this conversion. */
struct csni_object_options csni_object_options_of(const struct csni_conversion *c, bool is_mapped);

#endif

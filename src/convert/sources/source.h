/* Sources: each fills batches of the model. */
#ifndef CSNI_SOURCE_H
#define CSNI_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/thread_pool.h"
#include "dwarf/dwarf.h"
#include "model/model.h"
#include "object/object.h"

/* What was given to convert. */
struct csni_input {
    const char *path;      /* NULL: from memory */
    struct csni_span file;
    bool is_mapped;
};

struct csni_companion_file;
struct csni_address_map;

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
    CSNI_VEC(struct csni_companion_file *) companions; /* opened by csni_companion_open(), kept until the end */
    struct csni_pool *pool;
    uint32_t workers;
    struct csni_arena *arenas;        /* one per worker, and one for what is done aside */
    struct csni_batch_writer *writers; /* the same */
    struct csni_batch *batches;
    uint32_t batch_count, batch_room;
    uint64_t symbols_left_out;        /* that would be dropped as duplicates: see described.h */
    pthread_mutex_t lock;             /* of progress and companions */
    uint64_t progress_done, progress_total;
    /* What units make of a byte of input is bounded: many functions can name one long list of ranges, one long run of rows,
     * one long directory. Counted in ranges, rows, parts of inlined calls, and bytes of names and paths. */
    atomic_uint_least64_t effort_max;
    atomic_uint_least64_t effort;
};

/* Whether `addr` is in executable memory, or the image tells nothing about that. */
bool csni_in_text(const struct csni_conversion *c, uint64_t addr);

/* Tells the caller's progress callback that `amount` more is done. CSN_E_CANCELLED when it asks to stop. */
csn_status csni_progress(struct csni_conversion *c, const char *phase, uint64_t amount, struct csn_error *err);

/* Room for `count` more batches at the end of c->batches; NULL when out of memory. They are zeroed. */
struct csni_batch *csni_add_batches(struct csni_conversion *c, uint32_t count);

/* ---- kinds of input (inputs.c) ---- */

/* A kind of file that convert reads: a row of the table in inputs.c. */
struct csni_input_kind {
    const char *name;
    bool (*recognize)(struct csni_span file); /* by the first 4 KiB at most */
    /* Fills c->image and adds batches. Their strings may be views into the input and into what the conversion keeps. */
    csn_status (*read)(struct csni_conversion *c, struct csn_error *err);
};
/* NULL: of no kind that is known. */
const struct csni_input_kind *csni_input_kind_of(struct csni_span file);

/* ---- object files (source_object.c) ---- */

csn_status csni_source_object(struct csni_conversion *c, struct csn_error *err);
/* Options for opening object files of this conversion. */
struct csni_object_options csni_object_options_of(const struct csni_conversion *c, bool is_mapped);

/* ---- indexes (source_gsym.c, source_gsection.c) ---- */

csn_status csni_source_gsym(struct csni_conversion *c, struct csn_error *err); /* versions 1 and 2 */
/* The same of a file within the input. */
csn_status csni_source_gsym_in(struct csni_conversion *c, struct csni_span file, struct csn_error *err);
/* Functions from an index in a section of the object. CSN_NONE: it has none. */
csn_status csni_source_gsection(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_gsection_file(struct csni_conversion *c, struct csn_error *err);

/* ---- text files of symbols (source_text.c) ---- */

csn_status csni_source_kallsyms(struct csni_conversion *c, struct csn_error *err); /* System.map too */
csn_status csni_source_perf_map(struct csni_conversion *c, struct csn_error *err);

/* ---- Breakpad symbol files (source_breakpad.c) ---- */

csn_status csni_source_breakpad(struct csni_conversion *c, struct csn_error *err);
/* ---- images of many binaries ---- */

csn_status csni_source_bsym(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_symbol_file(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_rom_log(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_linker_map(struct csni_conversion *c, struct csn_error *err);

/* ---- sources of functions ---- */

/* An object file with DWARF for the image, or for a part of it. */
struct csni_dwarf_input {
    struct csni_object *object;
    const struct csni_address_map *map; /* of a part: where its functions are in the image; NULL: at the same addresses */
};

/* Functions from DWARF: one batch per unit. The strings of batches are views into sections of the object. */
csn_status csni_source_dwarf(struct csni_conversion *c, const struct csni_dwarf_input *input, struct csn_error *err);
/* Functions from the object files that a Mach-O debug map names. Nothing where there is none. */
csn_status csni_source_debug_map(struct csni_conversion *c, struct csn_error *err);
/* Functions from the table that every Go program carries, those that no batch has yet: one batch, none where there is no
 * table. */
csn_status csni_source_go(struct csni_conversion *c, struct csn_error *err);
/* Fills c->image.bounds from .eh_frame where an ELF image has no other bounds. */
csn_status csni_find_frame_bounds(struct csni_conversion *c, struct csn_error *err);
/* When all sources are read: gives folded functions their place, and call sites their flags and patterns, with those of
 * call-site files. Nothing where neither was asked for (finish_batches.c). */
csn_status csni_finish_batches(struct csni_conversion *c, struct csn_error *err);
/* Functions from symbol tables: one batch. An ELF image's own table is read aside, beside the sources that come before:
 * csni_source_symbols() adds its batch behind theirs. */
struct csni_symbol_source {
    struct csni_conversion *conversion;
    struct csni_object *debug;        /* the image's debug file; NULL: none */
    bool begun;
    struct csni_symbol_iter iter;
    struct csni_batch batch;
};
void csni_source_symbols_begin(struct csni_symbol_source *s, struct csni_conversion *c, struct csni_object *debug);
csn_status csni_source_symbols(struct csni_symbol_source *s, struct csn_error *err);
void csni_source_symbols_end(struct csni_symbol_source *s); /* in any case */

#endif

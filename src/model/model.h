/* The neutral form between sources and writers.
 *
 * A source fills batches: one per DWARF unit, one per symbol table, one per builder. A batch is a set of flat arrays with
 * string and file numbers of its own, so that workers share nothing while they read. csni_model_finalize() orders the
 * functions of all batches and drops duplicates; csni_model_link() numbers the strings and files that are left. Both
 * depend on the order of the batches only, never on threads. A writer then goes through `entries`. */
#ifndef CSNI_MODEL_H
#define CSNI_MODEL_H

#include "base/arena.h"
#include "base/core/span.h"
#include "base/thread_pool.h"
#include "base/core/vec.h"
#include "model/image.h"
#include "model/row.h"

#include <callsign/convert.h>

/* A range within a function, by offsets from its start. */
struct csni_part {
    uint32_t start, end;
};

/* Inline nodes stand in document order, a parent before its children; the root is left out: it is the function. */
struct csni_inline_node {
    uint32_t name;        /* string number of the batch */
    uint32_t call_file;   /* file number of the batch */
    uint32_t call_line;
    uint32_t first_part;  /* in the batch's parts: ascending, neither touching nor empty */
    uint32_t part_count;  /* at least 1 */
    uint32_t descendants; /* nodes after this one that are inside it */
};

struct csni_call_site {
    uint64_t return_off;    /* return address less the function's start */
    uint32_t first_pattern; /* in the batch's patterns */
    uint32_t pattern_count;
    uint32_t flags;         /* CSN_CALL_SITE_, and CSNI_SITE_ until sources are done */
};
enum {
    CSNI_SITE_TAIL = 0x100, /* a tail call, which returns to nowhere in this function */
    CSNI_SITE_LOST = 0x200  /* of a unplaced function: where it returns to is not known */
};

enum csni_source {
    CSNI_SOURCE_DWARF, CSNI_SOURCE_SYMBOL, CSNI_SOURCE_BUILDER, CSNI_SOURCE_GO, CSNI_SOURCE_BREAKPAD, CSNI_SOURCE_INDEX,
    CSNI_SOURCE_PDB, CSNI_SOURCE_BTF,
    CSNI_SOURCE_FOLDED /* DWARF of a function that the linker folded into another: see csni_batch_mark_unplaced() */
};

struct csni_function {
    uint64_t start;
    uint32_t size;
    uint32_t name;     /* 0: none */
    uint32_t first_row, row_count;
    uint32_t given_rows; /* rows and those they supersede, which are not kept */
    uint32_t first_inline, inline_count;
    uint32_t first_site, site_count;
    uint32_t binary; /* 1 + its number in csni_image.binaries; 0: the image itself */
    uint8_t source;
    bool kept;     /* set by csni_model_finalize() */
    bool weak : 1;  /* a symbol that gives way to others of its name */
    bool local : 1; /* a symbol that only its own object file sees */
    bool label : 1; /* of assembler source, where one piece of code may have several */
    bool nameless : 1; /* with a string of its own, which its unit has no name for */
    bool unplaced; /* its place is not known */
    uint32_t merged_count; /* of an exact model: the functions after this one in the batch that are merged into it */
};

static inline bool csni_function_is_rich(const struct csni_function *f) {
    return f->row_count || f->inline_count || f->site_count;
}

struct csni_file {
    uint32_t directory, base; /* string numbers of the batch */
};
enum { CSNI_BATCH_FILES_MAX = 1 << CSNI_ROW_FILE_BITS };

/* Something a source met: see enum csn_event. */
struct csni_note {
    uint32_t event;
    uint64_t count;
    struct csn_str example;
};

/* Rows of a unit that none of its functions has: they may be of functions that only a symbol tells, or of none at all. They
 * hold from `low`, at or after the address of the first row, to `end`. */
struct csni_unclaimed_rows {
    uint64_t start;       /* what the rows' offsets count from: the address of the first one */
    uint64_t low, end;
    uint32_t first_row, row_count;
};

/* A stray is a function of which only the inlined calls outside of its code are known: they are of code that only a
 * symbol names. Its range is what lies around them, which may be code of others, too. */

/* All memory belongs to the arena given to csni_batch_finish(), but for the bytes of strings that are views. */
struct csni_batch {
    struct csni_function *functions;
    struct csni_row *rows;
    struct csni_inline_node *inlines;
    struct csni_part *parts;
    struct csni_call_site *sites;
    uint32_t *patterns;       /* string numbers */
    struct csn_str *strings;  /* [0] is empty */
    struct csni_file *files;  /* [0] is no file */
    struct csni_note *notes;
    struct csni_unclaimed_rows *unclaimed;
    struct csni_function *strays;
    uint32_t function_count, row_count, inline_count, part_count, site_count, pattern_count, string_count, file_count,
        note_count, unclaimed_count, stray_count;
    uint32_t unplaced_count;  /* functions after the last one whose place is not known: they are in no index, unless a
                               * source finds it and counts them among the others */
    /* Set by csni_model_link(): numbers of the whole model by numbers of the batch; what is not used has 0. */
    uint32_t *string_numbers, *file_numbers;
};

/* Gathers a batch in buffers that are used again for the next one. One thread at a time. */
struct csni_batch_writer {
    CSNI_VEC(struct csni_function) functions;
    CSNI_VEC(struct csni_row) rows;
    CSNI_VEC(struct csni_inline_node) inlines;
    CSNI_VEC(struct csni_part) parts;
    CSNI_VEC(struct csni_call_site) sites;
    CSNI_VEC(uint32_t) patterns;
    CSNI_VEC(struct csn_str) strings;
    CSNI_VEC(struct csni_file) files;
    CSNI_VEC(struct csni_unclaimed_rows) unclaimed;
    CSNI_VEC(struct csni_function) strays;
    uint64_t note_counts[CSN_EVENT_COUNT];
    struct csn_str note_examples[CSN_EVENT_COUNT];
    struct csni_arena *arena; /* of the batch being written */
    bool has_unplaced;
    uint32_t binary;          /* of functions that begin from now on: see csni_function; csni_batch_begin() sets 0 */
    bool failed;              /* out of memory, or more than 2^32 of something: csni_batch_finish() says which */
    bool overflow;
    CSNI_APART;
};

void csni_batch_writer_init(struct csni_batch_writer *w, const struct csn_allocator *alloc);
void csni_batch_writer_deinit(struct csni_batch_writer *w);

/* Starts a batch whose memory comes from `arena`. */
void csni_batch_begin(struct csni_batch_writer *w, struct csni_arena *arena);
/* Copies what was gathered into the arena. Failures of the calls below come out here. */
csn_status csni_batch_finish(struct csni_batch_writer *w, struct csni_batch *out, struct csn_error *err);

/* A string of the batch. The bytes are not copied and not compared with others; empty gives 0. */
uint32_t csni_batch_add_string(struct csni_batch_writer *w, struct csn_str s);
uint32_t csni_batch_add_file(struct csni_batch_writer *w, uint32_t directory, uint32_t base);
/* A path is cut at its last '/', else at its last '\'. The separator goes unless the path could not be put together again without
 * it: an index has a '\' between parts only where all others are. */
uint32_t csni_batch_add_path(struct csni_batch_writer *w, struct csn_str path);

/* What follows until the next one belongs to this function. */
void csni_batch_begin_function(struct csni_batch_writer *w, uint64_t start, uint32_t size, uint32_t name,
                               enum csni_source source);
/* The function begun last has no place of its own: the linker let another function's code stand for its. */
void csni_batch_mark_unplaced(struct csni_batch_writer *w);
/* The function begun last, which has inlined calls only, is a stray. */
void csni_batch_mark_stray(struct csni_batch_writer *w);
/* A row that repeats file and line of the one before adds nothing and is left out. */
void csni_batch_add_row(struct csni_batch_writer *w, uint32_t off, uint32_t file, uint32_t line);
/* The same for many rows: room for `count` more after those that are there, NULL when out of memory; then how many were
 * written there, and how many there would be if none were superseded (row.h). The caller leaves out rows that repeat the
 * one before. */
struct csni_row *csni_batch_reserve_rows(struct csni_batch_writer *w, size_t count);
void csni_batch_commit_rows(struct csni_batch_writer *w, size_t count, size_t given);
/* Commits `row_count` rows, written where csni_batch_reserve_rows() gives, that no function has. `first_row` is set here. */
void csni_batch_add_unclaimed(struct csni_batch_writer *w, const struct csni_unclaimed_rows *rows);
/* Returns the node's index for csni_batch_end_inline(), which closes it. */
uint32_t csni_batch_begin_inline(struct csni_batch_writer *w, uint32_t name, uint32_t call_file, uint32_t call_line);
void csni_batch_add_part(struct csni_batch_writer *w, uint32_t start, uint32_t end); /* to the last node begun */
void csni_batch_end_inline(struct csni_batch_writer *w, uint32_t node);
/* The same for many nodes: room for `nodes` more, and for `parts` more after those that are there, NULL when out of memory; then
 * how many were written there. */
struct csni_inline_node *csni_batch_reserve_inlines(struct csni_batch_writer *w, size_t nodes, size_t parts,
                                                    struct csni_part **out_parts);
void csni_batch_commit_inlines(struct csni_batch_writer *w, size_t nodes, size_t parts);
void csni_batch_add_call_site(struct csni_batch_writer *w, uint64_t return_off, uint32_t flags);
void csni_batch_add_pattern(struct csni_batch_writer *w, uint32_t string); /* to the last call site */

/* How much is kept of a function, which has less than 4 GiB and ends by the last address. Notes what is cut, with the line of a
 * text if it is not 0. */
uint32_t csni_batch_clip_size(struct csni_batch_writer *w, uint64_t line, uint64_t start, uint64_t size);

/* Counts an event. The text of the first one is kept as its example; `format` may be NULL. */
void csni_batch_note(struct csni_batch_writer *w, enum csn_event event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A function that stays. Merged functions (same range, other names) are its children. */
struct csni_entry {
    uint32_t batch, function;
    uint32_t first_child, child_count; /* in `children` */
};

struct csni_model_file {
    uint32_t directory, base; /* numbers in `strings` */
};

struct csni_early_hashes;
struct csni_object;
struct csni_stack_records;

struct csni_model {
    const struct csn_allocator *alloc;
    uint32_t merge;             /* enum csn_merge */
    struct csni_batch *batches; /* in input order */
    uint32_t batch_count;
    struct csni_image image;
    struct csni_object *object; /* the object file that was read, for writers that make one like it; NULL: none */
    struct csni_object *other_object;   /* its debug file, or the image of a debug-only file; NULL: none */
    struct csni_stack_records *stacks;  /* what a writer has begun to make of their unwind tables; NULL: nothing */
    const struct csni_early_hashes *hashed; /* of strings of the batches; NULL: none */
    bool keeps_aliases;                 /* other names of a function's range stay, as functions of their own */
    bool takes_last;                    /* of functions with one range the writer prefers the last, which is the best known */
    csn_name_callback *rename;          /* of functions and inlined calls; NULL: they keep their names */
    void *rename_context;
    /* Set by csni_model_finalize(). */
    struct csni_entry *entries;         /* ascending by address; with binaries: by binary, then address */
    uint32_t entry_count, entry_capacity;
    struct csni_entry *children;
    uint32_t child_count, child_capacity;
    /* Set by csni_model_link(). */
    struct csn_str *strings;            /* [0] is empty; files' strings first, then names by address */
    uint32_t string_count, string_capacity;
    struct csni_model_file *files;      /* [0] is no file; the most used first */
    uint32_t file_count;
};

void csni_model_init(struct csni_model *model, const struct csn_allocator *alloc);
void csni_model_deinit(struct csni_model *model);

/* For a writer that knows one image only: functions of binaries with an address become functions of the image; of others too,
 * if there is but one binary. What is lost goes to the report. Comes before csni_model_finalize(). */
void csni_model_flatten(struct csni_model *model, struct csn_convert_report *report);

/* Sorts all functions by address and drops duplicates, as the reference converter does (docs/formats/gsym.md has the
 * rules), or makes them children of one of them (docs/merged-functions.md); orders those of an exact model by address. Adds
 * to the report. `pool` NULL: on the caller alone. */
csn_status csni_model_finalize(struct csni_model *model, struct csni_pool *pool, struct csn_convert_report *report,
                               struct csn_error *err);

/* Gives rows that no function of their unit has to the kept functions without rows that they cover, and makes nameless
 * functions of those that cover code of no function at all (docs/formats/dwarf.md). What gets rows gets the inlined calls of strays
 * there, too, and so does a function of the stray's batch that has rows but no inlined calls. The model's last batch is empty and
 * gets what is added, allocated in `arena`. Not for exact models. Comes between csni_model_finalize() and csni_model_link(). */
csn_status csni_model_claim_rows(struct csni_model *model, struct csni_arena *arena, struct csn_convert_report *report,
                                 struct csn_error *err);

/* Gives sizes to kept functions that have none, as far as bounds, neighbours and text tell. Done by finalize. */
void csni_model_size_functions(struct csni_model *model);

/* Drops rows that no lookup can answer with (unless the model is exact), then numbers strings and files of the
 * functions that are left. Maps live in arenas[worker], one for each worker of the pool. */
csn_status csni_model_link(struct csni_model *model, struct csni_pool *pool, struct csni_arena *arenas,
                           struct csn_error *err);

static inline struct csni_function *csni_model_function(const struct csni_model *model, const struct csni_entry *e) {
    return &model->batches[e->batch].functions[e->function];
}

/* Bytes of all strings of a linked model, each counted once, and some for each function: of what a writer makes by writing a string
 * wherever it is used, a multiple of this is the limit. */
uint64_t csni_model_text_size(const struct csni_model *model);

/* Adds the notes of all batches to a report, in input order. */
void csni_model_add_notes(const struct csni_model *model, struct csn_convert_report *report);

/* Adds one event to a report. */
void csni_report_add(struct csn_convert_report *report, enum csn_event event, uint64_t count, struct csn_str example);

#endif

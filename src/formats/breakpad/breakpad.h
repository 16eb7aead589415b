/* Breakpad's text symbol files (.sym): read into batches, written from a model. docs/formats/breakpad.md has the rules.
 *
 * A file is cut into chunks where a record of another function begins. The first one holds the definitions that the others
 * refer to; those are read in any order, by several threads. A definition that stands elsewhere is found then: all of them are
 * gathered before the chunks are read once more. */
#ifndef CSNI_BREAKPAD_H
#define CSNI_BREAKPAD_H

#include "base/sink.h"
#include "formats/breakpad/breakpad_pieces.h"
#include "formats/breakpad/breakpad_text.h"
#include "model/model.h"

/* FILE and INLINE_ORIGIN records: what a number stands for. */
struct csni_breakpad_definition {
    uint32_t number, order;
    struct csn_str text;
};
struct csni_breakpad_table {
    CSNI_VEC(struct csni_breakpad_definition) items; /* sealed: ascending by number, each once */
};

/* A PUBLIC record, or a FUNC without a size. */
struct csni_breakpad_symbol {
    uint64_t addr;
    struct csn_str name;
};

/* A part of the file, and what does not go into its batch. */
struct csni_breakpad_chunk {
    const char *begin, *end;
    bool defines;                  /* a definition was met where none was expected: the batch is incomplete */
    uint64_t damaged;              /* lines */
    const char *first_damaged;
    const char *damage;            /* what is wrong with it */
    CSNI_VEC(struct csni_breakpad_symbol) symbols;
    CSNI_VEC(struct csni_extra) extras;
};

struct csni_breakpad {
    const struct csn_allocator *alloc;
    struct csni_span file;
    struct csni_breakpad_table files, origins;
    bool has_all_definitions;
    struct csn_str os, arch, id, name; /* of the MODULE record; empty without one */
    struct csn_str code_id;
    CSNI_VEC(struct csni_breakpad_chunk) chunks; /* [0] is the head */
};

/* What one thread needs for reading chunks. All zeros but for the allocators at first. */
struct csni_breakpad_number {
    uint32_t chunk, value; /* a number of the batch, valid for that chunk */
};
struct csni_breakpad_line_range {
    uint32_t start, end;   /* from the function's start */
    uint32_t file, line;
    uint32_t order;
};
struct csni_breakpad_inline {
    uint32_t level, name, call_file, call_line;
    uint32_t first_range, range_count; /* ascending and not touching */
    uint32_t first_node, last_node;
};
struct csni_breakpad_inline_range {
    uint32_t start, end;   /* from the function's start */
    uint32_t record;
};
struct csni_breakpad_inline_piece {
    uint32_t start, end, next; /* next of the same call */
};
struct csni_breakpad_inline_node {
    uint32_t record, parent, next_of_record, first_child, last_child, next_sibling, first_piece, last_piece, batch_node;
};
struct csni_breakpad_worker {
    CSNI_VEC(struct csni_breakpad_number) files, origins; /* by index in the tables */
    CSNI_VEC(struct csni_breakpad_line_range) lines;
    CSNI_VEC(struct csni_breakpad_inline) inlines;
    CSNI_VEC(struct csni_breakpad_inline_range) ranges;
    CSNI_VEC(struct csni_breakpad_inline_piece) pieces;
    CSNI_VEC(struct csni_breakpad_inline_node) nodes;
};

/* Whether the file begins like one; looks at no more than 4 KiB. */
bool csni_breakpad_recognize(struct csni_span file);

/* Reads the head and cuts the file. `chunk_size` 0: the default. Close in any case. */
csn_status csni_breakpad_open(struct csni_breakpad *b, struct csni_span file, size_t chunk_size,
                              const struct csn_allocator *alloc, struct csn_error *err);
void csni_breakpad_close(struct csni_breakpad *b);

void csni_breakpad_worker_init(struct csni_breakpad_worker *w, const struct csn_allocator *alloc);
void csni_breakpad_worker_deinit(struct csni_breakpad_worker *w);

/* Reads the functions of chunk `index`, which is not 0, into the batch that is being written. Several threads may, each with a
 * worker and a batch of its own. Strings are views into the file. */
csn_status csni_breakpad_read_chunk(struct csni_breakpad *b, struct csni_breakpad_worker *w, uint32_t index,
                                    struct csni_batch_writer *out, struct csn_error *err);
/* After all chunks were read: whether they must be read once more, which cannot happen twice. Below 0: out of memory. */
csn_status csni_breakpad_gather_definitions(struct csni_breakpad *b, bool *out_again, struct csn_error *err);
/* After that: leaves out functions that overlap one before them, and counts them in `out`. `keeps_equal`: but not those with
 * the range of one that stays. */
csn_status csni_breakpad_drop_overlaps(const struct csni_breakpad *b, struct csni_batch *batches, bool keeps_equal,
                                       struct csni_batch_writer *out, struct csn_error *err);
/* After that: symbols and notes, into the batch of chunk 0. `batches` are those of all chunks, [0] still empty. */
csn_status csni_breakpad_read_symbols(struct csni_breakpad *b, const struct csni_batch *batches, struct csni_batch_writer *out,
                                      struct csn_error *err);

/* ---- parts of the reader ---- */

/* Counts a line that cannot be used. */
void csni_breakpad_damage(struct csni_breakpad_chunk *chunk, const char *line, const char *what);
/* Keeps a record as it stands; `records` as in struct csni_extra. */
bool csni_breakpad_keep(struct csni_breakpad_chunk *chunk, struct csni_breakpad_line whole, uint32_t records);
/* Adds a FILE or INLINE_ORIGIN record. False: out of memory. */
bool csni_breakpad_define(struct csni_breakpad *b, struct csni_breakpad_chunk *chunk, const char *whole,
                          enum csni_breakpad_keyword keyword, struct csni_breakpad_line line);
/* To be called before csni_breakpad_find(). */
void csni_breakpad_seal(struct csni_breakpad *b);
/* Index in the table, or UINT32_MAX. */
uint32_t csni_breakpad_find(const struct csni_breakpad_table *table, uint32_t number);
/* Adds the inlined calls in `w` to the function begun last. False: out of memory. */
bool csni_breakpad_add_inlines(struct csni_breakpad_worker *w, struct csni_batch_writer *out);

/* ---- identity ---- */

enum { CSNI_BREAKPAD_ID_MAX = 40, CSNI_BREAKPAD_UUID_MAX = 20, CSNI_BREAKPAD_FOLD_SIZE = 16 };

/* The build id that a MODULE record and INFO CODE_ID tell; 0 bytes: none. */
size_t csni_breakpad_uuid(struct csn_str os, struct csn_str id, struct csn_str code_id, uint8_t out[CSNI_BREAKPAD_UUID_MAX]);
/* The id for a build id; NUL-terminated. */
void csni_breakpad_id(struct csn_str os, struct csni_span uuid, uint32_t age, char out[CSNI_BREAKPAD_ID_MAX + 1]);

/* What Breakpad's dumpers take for the build id of an ELF file that has none: the first 4 KiB of its code, folded. */
void csni_breakpad_fold_code(struct csni_span code, uint8_t out[CSNI_BREAKPAD_FOLD_SIZE]);

/* ---- writing ---- */

/* As csn_demangle(). */
typedef csn_status csni_demangler(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err);

struct csni_breakpad_write_options {
    csni_demangler *demangle;         /* NULL: names are written as they are */
    struct csni_span made_up_id;      /* for an image without a build id; may be empty */
    struct csn_str code_id;           /* what INFO CODE_ID tells; empty: the build id on systems that have one there */
    struct csn_str debug_name;        /* of the file that has the debug information; empty: the image's name */
    size_t stack_count;               /* pieces of STACK records; see breakpad_stack.h */
    csni_breakpad_make_piece *make_stack;
    void *stack_context;
};

/* Writes a linked model. */
csn_status csni_breakpad_write(const struct csni_model *model, const struct csni_breakpad_write_options *options,
                               struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                               struct csn_error *err);

#endif

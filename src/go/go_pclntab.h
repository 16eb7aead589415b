/* Go's table of functions, which every Go program carries, stripped or not: names, lines, inlined calls. Section spans in,
 * functions out. Knows no container. */
#ifndef CSNI_GO_PCLNTAB_H
#define CSNI_GO_PCLNTAB_H

#include "base/core/alloc.h"
#include "base/core/budget.h"
#include "base/core/span.h"
#include "base/core/vec.h"

/* A section with its address; one without bytes is an empty span. */
struct csni_go_section {
    uint64_t addr;
    struct csni_span bytes;
};

/* A pointer that the dynamic linker would write. */
struct csni_go_pointer {
    uint64_t place, value;
};

/* What is known of the image. All of it stays borrowed. */
struct csni_go_image {
    const struct csni_go_section *sections; /* data, in any order */
    size_t section_count;
    const struct csni_go_pointer *pointers; /* ascending by place; where there is one, the bytes of the place do not count */
    size_t pointer_count;
    uint64_t text_start;                    /* taken where the program itself does not tell */
    bool is_wasm;                           /* addresses are numbers of functions << CSNI_GO_WASM_SHIFT */
};
enum { CSNI_GO_WASM_SHIFT = 16 };           /* the low bits are a block of the function */

enum csni_go_version { CSNI_GO_1_2, CSNI_GO_1_16, CSNI_GO_1_18, CSNI_GO_1_20 }; /* releases that changed the table */

struct csni_go_table {
    const struct csn_allocator *alloc;
    struct csni_go_image image;
    struct csni_span bytes;      /* from the header on */
    uint64_t addr;               /* of the header */
    enum csni_go_version version;
    bool big_endian;
    uint8_t pointer_size, quantum;
    uint8_t entry_shift;         /* of offsets and the text's start; not 0: they are numbers of functions (WebAssembly) */
    uint64_t function_count;
    uint64_t text_start;         /* what function offsets count from; 0 up to 1.17 */
    uint64_t func_data;          /* address that inline trees count from, since 1.18 */
    bool has_func_data;          /* false: no inlined calls can be read */
    uint8_t inline_pc_data, inline_func_data; /* numbers of the lists that tell of inlined calls */
    struct csni_span names, units, files, pc_values, functions;
};

/* Whether a table's header stands at the beginning of `bytes`; looks at all of its fields. */
bool csni_go_recognize(struct csni_span bytes);

/* The offset at or after `from` at which a table begins; a multiple of 4, as linkers place it. False: there is none. */
bool csni_go_find(struct csni_span bytes, uint64_t from, uint64_t *off);

/* Reads the header of the table at `addr`, finds the program's moduledata in the image. CSN_E_UNSUPPORTED: no Go table. */
csn_status csni_go_open(const struct csni_go_image *image, uint64_t addr, struct csni_span bytes,
                        const struct csn_allocator *alloc, struct csni_go_table *out, struct csn_error *err);

enum { CSNI_GO_NO_FILE = UINT32_MAX };

/* It holds up to the next row's offset. */
struct csni_go_row {
    uint32_t off;   /* from the function's start */
    uint32_t file;  /* for csni_go_file(), or CSNI_GO_NO_FILE */
    uint32_t line;  /* of the innermost function that is inlined there */
};

struct csni_go_part {
    uint32_t start, end;
};

struct csni_go_call {
    struct csn_str name;
    uint32_t call_file, call_line;
    uint32_t depth;                   /* 1: inlined into the function itself */
    uint32_t first_part, part_count;  /* in the function's parts: ascending, not touching */
};

/* A function. Arrays belong to the reader and last until its next call. */
struct csni_go_function {
    uint64_t start, end;              /* without the filling after it */
    struct csn_str name;
    const struct csni_go_row *rows;
    size_t row_count;
    const struct csni_go_call *calls; /* a call before those inlined into it; both in order of the program's own numbers */
    size_t call_count;
    const struct csni_go_part *parts;
};

/* A value of a table by addresses. */
struct csni_go_value {
    uint32_t start, end;              /* offsets from the function's start */
    int32_t value;
};
typedef CSNI_VEC(struct csni_go_value) csni_go_values;

struct csni_go_number {               /* of an inlined call, while a function is read */
    int32_t index, parent;            /* as the program has them; parent -1: the function */
    uint32_t parent_position, depth; /* places are those in `numbers` */
    uint32_t first_child, next_sibling;
    uint32_t name, call_file, call_line;
    uint32_t first_part, part_count, last_end;
};

struct csni_go_reader {
    const struct csni_go_table *table;
    struct csni_budget budget;        /* many functions can name one long list */
    csni_go_values files, lines, inlined;
    CSNI_VEC(struct csni_go_row) rows;
    CSNI_VEC(struct csni_go_number) numbers;
    CSNI_VEC(struct csni_go_call) calls;
    CSNI_VEC(struct csni_go_part) parts;
};
void csni_go_reader_init(struct csni_go_reader *reader, const struct csni_go_table *table);
void csni_go_reader_deinit(struct csni_go_reader *reader);

/* Function `index` < function_count. On a failure that tells of damage, *out holds what could be read: start and end where
 * they are not 0, name where it is not empty, rows, calls. CSN_NONE: the entry is no function (empty).
 * CSN_E_LIMIT: functions share far more than real programs do; no further one can be read. */
csn_status csni_go_read_function(struct csni_go_reader *reader, uint64_t index, struct csni_go_function *out,
                                 struct csn_error *err);

/* The path of a file number; CSN_E_FORMAT, CSN_E_TRUNCATED. */
csn_status csni_go_file(const struct csni_go_table *table, uint32_t file, struct csn_str *out, struct csn_error *err);

#endif

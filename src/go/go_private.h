/* What the files of this folder share. */
#ifndef CSNI_GO_PRIVATE_H
#define CSNI_GO_PRIVATE_H

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "go/go_layout.h"
#include "go/go_pclntab.h"

#define CSNI_GO_SECTION ".gopclntab"

/* A number of 1 to 8 bytes at `off`; false outside of the bytes. */
static inline bool csni_go_number_at(struct csni_span bytes, uint64_t off, unsigned size, bool big, uint64_t *out) {
    struct csni_span at;
    if (!csni_span_sub(bytes, off, size, &at)) return false;
    *out = csni_get_sized(at.ptr, size, big);
    return true;
}

/* The bytes from image address `addr` to the end of its section; false where no section has it. */
bool csni_go_bytes_at(const struct csni_go_image *image, uint64_t addr, struct csni_span *out);
/* The pointer at image address `addr`, as it is in memory of a program loaded where it was linked. */
bool csni_go_pointer_at(const struct csni_go_table *table, uint64_t addr, uint64_t *out);

/* Reads what begins the table: where its parts are. */
csn_status csni_go_read_header(struct csni_go_table *table, struct csn_error *err);

/* Finds the program's moduledata: sets text_start and func_data. CSN_NONE: there is none that agrees with the table. */
csn_status csni_go_read_module(struct csni_go_table *table);

/* A function record that is being read. */
struct csni_go_record {
    struct csni_span bytes;   /* from its first byte to the end of the table */
    uint64_t addr;
    uint32_t size;            /* of the function's code; UINT32_MAX: not known */
    uint32_t pc_data_count, func_data_count;
    uint64_t pc_data, func_data; /* offsets of the lists in `bytes` */
};

/* CSN_E_LIMIT: the budget is exhausted. */
csn_status csni_go_charge(struct csni_go_reader *reader, uint64_t amount, struct csn_error *err);

/* Reads the value table at `off` of pc_values; 0 is no table. Neighbours of one value are joined, what is after
 * `size` is cut off. `*end`: how far the table reaches. */
csn_status csni_go_read_values(struct csni_go_reader *reader, uint32_t off, uint32_t size, csni_go_values *out,
                               uint32_t *end, struct csn_error *err);
/* The value at an offset; -1 where there is none. */
int32_t csni_go_value_at(const csni_go_values *values, uint32_t off);

/* The number for csni_go_file() of a value of a function's file table. */
uint32_t csni_go_file_number(const struct csni_go_table *table, uint32_t unit, int32_t value);
/* The name at `off` of the names. */
csn_status csni_go_name(struct csni_go_reader *reader, uint32_t off, struct csn_str *out, struct csn_error *err);

/* Fills reader->calls and reader->parts from reader->inlined, files and lines. */
csn_status csni_go_read_calls(struct csni_go_reader *reader, const struct csni_go_record *record, uint32_t unit,
                              struct csn_error *err);

#endif

/* Any bytes as a program database, and as annotations of an inlined call. Invariants: a status and its error agree;
 * views lie within what they are of; rows, runs and places ascend; the same bytes convert to the same index, for any
 * number of threads. */
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>

#include "pdb/pdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static void read_annotations(struct csni_span bytes) {
    const struct csni_pdb_inlinee inlinee = { 1, 8, 100 };
    enum { FUNCTION_SIZE = 0x10000 };
    csni_pdb_runs runs = { .alloc = &csni_libc_allocator };
    struct csn_error err = CSN_ERROR_INIT;
    require(csni_pdb_read_annotations(bytes, &inlinee, FUNCTION_SIZE, &runs, &err) == err.code);
    for (size_t i = 0; i < runs.count; i++) {
        require(runs.items[i].start < runs.items[i].end && runs.items[i].end <= FUNCTION_SIZE);
        require(!i || runs.items[i - 1].end <= runs.items[i].start);
    }
    csni_vec_deinit(&runs);
}

static void read_lines(struct csni_span bytes) {
    struct csni_pdb_lines lines = { .fragments = { .alloc = &csni_libc_allocator }, .rows = { .alloc = &csni_libc_allocator },
                                    .spare = { .alloc = &csni_libc_allocator }, .inlinees = { .alloc = &csni_libc_allocator } };
    struct csn_error err = CSN_ERROR_INIT;
    require(csni_pdb_read_lines(bytes, &lines, &err) == err.code);
    for (size_t i = 0; i < lines.fragments.count; i++) {
        const struct csni_pdb_fragment *f = &lines.fragments.items[i];
        require(f->row_count && f->first_row + (size_t)f->row_count <= lines.rows.count && (!i || f[-1].at <= f->at));
        const struct csni_pdb_row *rows = lines.rows.items + f->first_row;
        for (uint32_t r = 0; r < f->row_count; r++) require(rows[r].off < f->size && (!r || rows[r - 1].off <= rows[r].off));
    }
    for (size_t i = 1; i < lines.inlinees.count; i++) require(lines.inlinees.items[i - 1].id <= lines.inlinees.items[i].id);
    csni_vec_deinit(&lines.fragments);
    csni_vec_deinit(&lines.rows);
    csni_vec_deinit(&lines.spare);
    csni_vec_deinit(&lines.inlinees);
}

static void check_places(const struct csni_pdb *pdb) {
    csni_pdb_places places = { .alloc = &csni_libc_allocator };
    for (uint32_t section = 0; section < 3; section++) {
        require(csni_pdb_places_of(pdb, section, 0x10, 0x1000, &places));
        for (size_t i = 0; i < places.count; i++) {
            const struct csni_pdb_place *p = &places.items[i];
            require(p->size && p->off + p->size <= 0x1000 && p->rva <= UINT32_MAX - p->size);
            require(!i || p[-1].off + p[-1].size <= p->off);
        }
    }
    csni_vec_deinit(&places);
}

static void read_pdb(struct csni_span file) {
    struct csni_pdb *pdb;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_pdb_open(file, &csni_libc_allocator, &pdb, &err);
    require(status == err.code);
    if (status != CSN_OK) return;
    check_places(pdb);
    csni_pdb_close(pdb);
}

static csn_status convert(struct csni_span file, uint32_t threads, struct csn_bytes *out) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    options.threads = threads;
    csn_status status = csn_convert_memory(file.ptr, file.size, &options, out, NULL, &err);
    require(status == err.code);
    return status;
}

static void convert_twice(struct csni_span file) {
    struct csn_bytes one = { NULL, 0, NULL }, two = { NULL, 0, NULL };
    csn_status status = convert(file, 1, &one);
    require(convert(file, 2, &two) == status);
    require(one.size == two.size && (!one.size || memcmp(one.ptr, two.ptr, one.size) == 0));
    csn_bytes_free(&one);
    csn_bytes_free(&two);
}

/* With STACK records. */
static void convert_to_text(struct csni_span file) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    options.threads = 1;
    options.format = CSN_FORMAT_BREAKPAD;
    (void)csn_convert_memory(file.ptr, file.size, &options, &out, NULL, NULL);
    csn_bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csni_span file = { data, size };
    if (!csni_pdb_recognize(file)) {
        read_annotations(file);
        read_lines(file);
        return 0;
    }
    read_pdb(file);
    convert_twice(file);
    convert_to_text(file);
    return 0;
}

/* Any bytes as a section of a Go program that begins with its function table, and as text files of symbols. Invariants: rows
 * and parts ascend within their function; calls nest; the same bytes give the same functions. */
#include <stdlib.h>

#include "go/go_pclntab.h"
#include "formats/symbols/symbols_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDR = 0x10000, TEXT = 0x401000 };

static void require(bool condition) {
    if (!condition) abort();
}

static void check_rows(const struct csni_go_function *f) {
    for (size_t i = 0; i < f->row_count; i++) {
        require(f->rows[i].off < f->end - f->start);
        require(!i || f->rows[i].off > f->rows[i - 1].off);
    }
}

static void check_calls(const struct csni_go_function *f) {
    for (size_t i = 0; i < f->call_count; i++) {
        const struct csni_go_call *call = &f->calls[i];
        require(call->depth >= 1 && call->depth <= (i ? f->calls[i - 1].depth + 1 : 1));
        for (uint32_t p = 0; p < call->part_count; p++) {
            const struct csni_go_part *part = &f->parts[call->first_part + p];
            require(part->start < part->end && part->end <= f->end - f->start);
            require(!p || part[-1].end < part->start);
        }
    }
}

static uint64_t read_table(const struct csni_go_table *table) {
    struct csni_go_reader reader;
    uint64_t sum = 0;
    csn_status status = CSN_OK;
    csni_go_reader_init(&reader, table);
    for (uint64_t i = 0; i < table->function_count && status != CSN_E_LIMIT; i++) {
        struct csni_go_function f;
        struct csn_str path;
        struct csn_error err = CSN_ERROR_INIT;
        status = csni_go_read_function(&reader, i, &f, &err);
        require(status >= 0 || (err.code == status && f.end >= f.start));
        check_rows(&f);
        check_calls(&f);
        for (size_t r = 0; r < f.row_count; r++)
            if (csni_go_file(table, f.rows[r].file, &path, NULL) == CSN_OK) sum += path.len + f.rows[r].line;
        sum += f.start + f.end + f.name.len + f.row_count + f.call_count;
    }
    csni_go_reader_deinit(&reader);
    return sum;
}

static void read_go(struct csni_span bytes) {
    const struct csni_go_section section = { ADDR, bytes };
    const struct csni_go_image image = { .sections = &section, .section_count = 1, .text_start = TEXT };
    struct csni_go_table table;
    uint64_t off;
    if (csni_go_find(bytes, 0, &off)) require(csni_go_recognize(csni_span_from(bytes, off)) && off % 4 == 0);
    if (csni_go_open(&image, ADDR, bytes, &csni_libc_allocator, &table, NULL) != CSN_OK) return;
    require(read_table(&table) == read_table(&table));
}

static void read_text(struct csni_span bytes, bool map) {
    struct csni_arena arena;
    struct csni_batch_writer w;
    struct csni_batch batch;
    struct csn_error err = CSN_ERROR_INIT;
    csni_arena_init(&arena, &csni_libc_allocator, 4096);
    csni_batch_writer_init(&w, &csni_libc_allocator);
    csni_batch_begin(&w, &arena);
    struct csni_list_base base = { .is_known = false };
    csn_status status = map ? csni_perf_map_read(bytes, &csni_libc_allocator, &w, &err)
                            : csni_kallsyms_read(bytes, &csni_libc_allocator, &w, &base, &err);
    for (uint32_t i = 0; i < w.functions.count && base.is_known; i++) require(w.functions.items[i].start >= base.address);
    require(status == CSN_OK || (!map && status == CSN_E_UNSUPPORTED));
    if (status == CSN_OK) require(csni_batch_finish(&w, &batch, &err) == CSN_OK);
    csni_batch_writer_deinit(&w);
    csni_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csni_span bytes = { data, size };
    read_go(bytes);
    if (csni_kallsyms_recognize(bytes)) read_text(bytes, false);
    if (csni_perf_map_recognize(bytes)) read_text(bytes, true);
    return 0;
}

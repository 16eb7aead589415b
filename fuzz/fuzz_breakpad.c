/* Any bytes as a Breakpad symbol file: read, written as one again, and that read once more. Invariants: reading fails for want of
 * memory only; chunks of any size give the same functions; what was written holds nothing that cannot be used, and as many
 * functions; a GSYM made of either has no problem. */
#include <stdlib.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "formats/breakpad/breakpad.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static struct csn_bytes convert(const void *bytes, size_t size, uint32_t format, struct csn_convert_report *report) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    options.threads = 1;
    options.format = format;
    csn_status status = csn_convert_memory(bytes, size, &options, &out, report, NULL);
    require(status == CSN_OK || (!out.ptr && format != CSN_FORMAT_BREAKPAD));
    return out;
}

static void check_gsym(const struct csn_bytes *bytes) {
    struct csn_index *index;
    struct csn_verify_counts counts;
    if (!bytes->ptr) return; /* GSYM has limits */
    require(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL) == CSN_OK);
    require(csn_index_verify(index, NULL, NULL, &counts, NULL) == CSN_OK && counts.problems == 0);
    csn_index_close(index);
}

/* Lines that cannot be used, with chunks of this size. */
static uint64_t damaged_lines(struct csni_span file, size_t chunk_size) {
    const struct csn_allocator *alloc = &csni_libc_allocator;
    struct csni_breakpad b;
    struct csni_breakpad_worker worker;
    struct csni_batch_writer writer;
    struct csni_arena arena;
    bool again = true;
    uint64_t damaged = 0;
    require(csni_breakpad_open(&b, file, chunk_size, alloc, NULL) == CSN_OK);
    csni_arena_init(&arena, alloc, 4096);
    csni_batch_writer_init(&writer, alloc);
    for (int pass = 0; pass < 2 && again; pass++) {
        csni_breakpad_worker_init(&worker, alloc);
        for (uint32_t i = 1; i < b.chunks.count; i++) {
            csni_batch_begin(&writer, &arena);
            require(csni_breakpad_read_chunk(&b, &worker, i, &writer, NULL) == CSN_OK);
        }
        csni_breakpad_worker_deinit(&worker);
        if (!pass) require(csni_breakpad_gather_definitions(&b, &again, NULL) == CSN_OK);
    }
    for (size_t i = 0; i < b.chunks.count; i++) damaged += b.chunks.items[i].damaged;
    csni_batch_writer_deinit(&writer);
    csni_arena_deinit(&arena);
    csni_breakpad_close(&b);
    return damaged;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct csn_convert_report first, second, gsym;
    struct csni_span file = { data, size };
    if (!csni_breakpad_recognize(file)) return 0;
    require(damaged_lines(file, 0) == damaged_lines(file, 1 + size % 64));
    struct csn_bytes text = convert(data, size, CSN_FORMAT_BREAKPAD, &first);
    struct csn_bytes back = convert(text.ptr, text.size, CSN_FORMAT_BREAKPAD, &second);
    require(first.output_bytes == text.size && second.functions_written <= first.functions_written);
    /* Records kept as they came may be damaged. */
    if (!first.events[CSN_EVENT_DAMAGED_TEXT_LINE].count) require(!second.events[CSN_EVENT_DAMAGED_TEXT_LINE].count);
    struct csn_bytes one = convert(data, size, CSN_FORMAT_GSYM_V1, &gsym),
                     two = convert(text.ptr, text.size, CSN_FORMAT_GSYM_V1, &gsym);
    check_gsym(&one);
    check_gsym(&two);
    csn_bytes_free(&one);
    csn_bytes_free(&two);
    csn_bytes_free(&text);
    csn_bytes_free(&back);
    return 0;
}

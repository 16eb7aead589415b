/* Any bytes as an object file: everything that a user of an object does to it. Invariants: no outputs on failure, sections
 * stay within their limit, symbols within their table; a section that inflates piece by piece gives what it gives as a
 * whole. */
#include <stdlib.h>
#include <string.h>

#include "object/debug_links.h"
#include "object/elf/mini_debug.h"
#include "object/object.h"
#include "object/section_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 16 << 20, MAX_SECTIONS = 200 };

static void require(bool condition) {
    if (!condition) abort();
}

static uint8_t sum_of(struct csni_span bytes) {
    uint8_t sum = 0;
    for (size_t i = 0; i < bytes.size; i++) sum = (uint8_t)(sum + bytes.ptr[i]);
    return sum;
}

/* The bytes of a compressed section, read in pieces of many sizes; NULL: there is no stream, or it failed. */
static uint8_t *read_stream(struct csni_object *object, uint32_t section, size_t *out_size, csn_status *out_status) {
    struct csni_section_stream *stream = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_object_stream_section(object, section, &stream, &err);
    require((status == CSN_OK) == (stream != NULL) && (status == CSN_NONE || status == err.code));
    uint8_t *bytes = NULL;
    size_t size = stream ? (size_t)csni_section_stream_left(stream) : 0;
    require(size <= LIMIT);
    if (stream) require((bytes = malloc(size)) != NULL);
    for (size_t at = 0, step = 1; status == CSN_OK && at < size; at += step, step = step * 5 % 70001 + 1) {
        if (step > size - at) step = size - at;
        status = csni_section_stream_read(stream, bytes + at, step, &err);
        require(status == err.code);
    }
    csni_section_stream_close(stream);
    if (status != CSN_OK) {
        free(bytes);
        bytes = NULL;
    }
    *out_size = size;
    *out_status = status;
    return bytes;
}

static void read_section(struct csni_object *object, uint32_t section) {
    struct csni_span bytes, again;
    struct csn_error err = CSN_ERROR_INIT;
    size_t streamed_size;
    csn_status stream_status;
    uint8_t *streamed = read_stream(object, section, &streamed_size, &stream_status);
    csn_status status = csni_object_read_section(object, section, &bytes, &err);
    require(status == err.code);
    if (streamed && status == CSN_OK) require(bytes.size == streamed_size && memcmp(bytes.ptr, streamed, streamed_size) == 0);
    /* A stream may give up where the whole can be read: libzstd keeps no window above 128 MiB. */
    require(stream_status == CSN_NONE || stream_status == CSN_E_FORMAT || stream_status == status);
    free(streamed);
    if (status != CSN_OK) return;
    bool is_in_file = bytes.size == 0 || (bytes.ptr >= object->file.ptr && bytes.ptr < object->file.ptr + object->file.size);
    require(is_in_file || bytes.size <= LIMIT);
    uint8_t sum = sum_of(bytes);
    require(csni_object_read_section(object, section, &again, NULL) == CSN_OK && again.ptr == bytes.ptr);
    csni_object_discard(object, section, sum, bytes.size);
    csni_object_discard(object, section, 0, bytes.size);
    csni_object_release_section(object, section);
}

static void read_symbols(struct csni_object *object, enum csni_symbol_table table) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint64_t count = 0;
    if (csni_symbol_iter_init(&iter, object, table, NULL) != CSN_OK) return;
    uint64_t damaged_before = iter.damaged; /* parts of tables that gave no entry */
    while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK) {
        require(symbol.section == CSNI_NO_SECTION || symbol.section < object->section_count);
        require(symbol.name.len <= object->file.size);
        count++;
    }
    require(count + iter.damaged - damaged_before <= iter.count);
}

static void read_bounds(struct csni_object *object) {
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    (void)csni_object_function_bounds(object, &bounds, NULL);
    for (size_t i = 1; i < bounds.count; i++) require(bounds.items[i - 1].start <= bounds.items[i].start);
    csni_vec_deinit(&bounds);
}

/* A name ends with a NUL within the section. */
static void check_link(struct csn_str name, struct csni_span id) {
    require(strlen(name.ptr) == name.len);
    (void)sum_of(id);
}

static void read_links(struct csni_object *object) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_debug_link link;
    struct csni_alt_link alt;
    csn_status status = csni_object_debug_link(object, &link, &err);
    require(status == CSN_NONE || status == err.code);
    if (status == CSN_OK) check_link(link.name, (struct csni_span){ NULL, 0 });
    err = (struct csn_error)CSN_ERROR_INIT;
    status = csni_object_alt_link(object, &alt, &err);
    require(status == CSN_NONE || status == err.code);
    if (status == CSN_OK) check_link(alt.name, alt.id);
}

static void read_mini_debug(struct csni_object *object, const struct csni_object_options *options) {
    struct csni_mini_debug *mini = NULL;
    csn_status status = csni_mini_debug_read(object, options, &mini, NULL);
    require((status == CSN_OK) == (mini != NULL));
    if (mini) {
        require(mini->bytes.size <= options->max_decompressed_bytes);
        (void)sum_of(mini->bytes);
    }
    csni_mini_debug_free(mini);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csni_object_options options = { .max_decompressed_bytes = LIMIT };
    struct csni_object *object = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_object_open((struct csni_span){ data, size }, &options, &object, &err);
    require(status == err.code && (status == CSN_OK) == (object != NULL));
    if (status != CSN_OK) return 0;
    for (uint32_t i = 0; i < object->section_count && i < MAX_SECTIONS; i++) read_section(object, i);
    for (int table = CSNI_SYMBOLS_STATIC; table <= CSNI_SYMBOLS_DYNAMIC; table++)
        read_symbols(object, (enum csni_symbol_table)table);
    read_bounds(object);
    struct csni_relocation_counts counts;
    csni_object_relocation_counts(object, &counts);
    (void)csni_object_find_debug_section(object, "info", false);
    read_links(object);
    read_mini_debug(object, &options);
    csni_object_close(object);
    return 0;
}

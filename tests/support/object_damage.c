/* Damage for readers of objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/object_damage.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

enum { LIMIT = 16 << 20 };

static void use_symbols(struct csni_object *object, enum csni_symbol_table table) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint64_t count = 0;
    size_t name_bytes = 0;
    if (csni_symbol_iter_init(&iter, object, table, NULL) != CSN_OK) return;
    while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK) {
        assert_true(symbol.section == CSNI_NO_SECTION || symbol.section < object->section_count);
        for (size_t i = 0; i < symbol.name.len; i++) name_bytes += (unsigned char)symbol.name.ptr[i];
        count++;
    }
    assert_true(count + iter.damaged <= iter.count);
    assert_true(name_bytes <= count * object->file.size * 255);
}

static void use_bounds(struct csni_object *object) {
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    csn_status status = csni_object_function_bounds(object, &bounds, NULL);
    assert_true(status == CSN_OK || status == CSN_NONE);
    for (size_t i = 1; i < bounds.count; i++) assert_true(bounds.items[i - 1].start <= bounds.items[i].start);
    csni_vec_deinit(&bounds);
}

static void use_data_segments(struct csni_object *object) {
    csni_data_segments segments = { .alloc = &csni_libc_allocator };
    unsigned sum = 0;
    (void)csni_object_data_segments(object, &segments, NULL);
    for (size_t i = 0; i < segments.count; i++)
        for (size_t k = 0; k < segments.items[i].bytes.size; k++) sum += segments.items[i].bytes.ptr[k];
    assert_true(sum < UINT32_MAX);
    csni_vec_deinit(&segments);
}

void object_use_everything(struct csni_object *object) {
    for (uint32_t i = 0; i < object->section_count; i++) {
        struct csni_span bytes;
        struct csn_error err = CSN_ERROR_INIT;
        csn_status status = csni_object_read_section(object, i, &bytes, &err);
        assert_int_equal(status, err.code);
        if (status != CSN_OK) continue;
        unsigned sum = 0;
        for (size_t k = 0; k < bytes.size; k++) sum += bytes.ptr[k];
        assert_true(sum <= bytes.size * 255);
    }
    use_symbols(object, CSNI_SYMBOLS_STATIC);
    use_symbols(object, CSNI_SYMBOLS_DYNAMIC);
    use_bounds(object);
    use_data_segments(object);
}

static bool open_and_use(struct csni_span file) {
    struct csni_object_options options = { .max_decompressed_bytes = LIMIT };
    struct csni_object *object = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_object_open(file, &options, &object, &err);
    assert_int_equal(status, err.code);
    if (status == CSN_OK) object_use_everything(object);
    else assert_true(strlen(csn_error_text(&err)) > 10);
    csni_object_close(object);
    return status == CSN_OK;
}

size_t object_damage_truncate(struct csni_span file) {
    size_t opened = 0;
    for (size_t size = 0; size < file.size; size++) {
        struct csni_span copy = sample_copy(file, size);
        opened += open_and_use(copy);
        sample_free(copy);
    }
    return opened;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 16;
}

size_t object_damage_flip(struct csni_span file, unsigned rounds) {
    uint64_t state = 88172645463325252u;
    size_t opened = 0;
    for (unsigned round = 0; round < rounds; round++) {
        struct csni_span copy = sample_copy(file, file.size);
        uint8_t *bytes = (uint8_t *)(uintptr_t)copy.ptr;
        for (uint64_t flips = 1 + next_random(&state) % 4; flips; flips--)
            bytes[next_random(&state) % file.size] ^= (uint8_t)(1u << next_random(&state) % 8);
        opened += open_and_use(copy);
        sample_free(copy);
    }
    return opened;
}

static csn_status open_with(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *file = context;
    struct csni_object_options options = { .allocator = alloc };
    struct csni_object *object = NULL;
    csn_status status = csni_object_open(*file, &options, &object, NULL);
    csni_object_close(object);
    return status;
}

void object_damage_memory(struct csni_span file) {
    assert_true(test_allocator_sweep(open_with, &file, 0) > 1);
    assert_true(test_allocator_sweep(open_with, &file, 1) > 1);
}

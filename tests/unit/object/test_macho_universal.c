/* object: universal Mach-O files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/macho_sample.h"
#include "object/macho/macho_layout.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

/* Two images, x86_64 and i386, in one file. */
struct sample {
    struct macho_sample_file wide, narrow;
    struct wire wire;
};

static void begin(struct sample *s, bool fat64, uint32_t count) {
    macho_sample_begin(&s->wide, true, false);
    macho_sample_begin(&s->narrow, false, false);
    wire_macho_build(&s->wide.macho, &s->wide.wire, NULL);
    wire_macho_build(&s->narrow.macho, &s->narrow.wire, NULL);
    const struct wire_macho_slice slices[] = { { CPU_TYPE_X86_64, 3, wire_span(&s->wide.wire) },
                                               { CPU_TYPE_I386, 3, wire_span(&s->narrow.wire) } };
    wire_init(&s->wire, true);
    wire_macho_universal(&s->wire, fat64, slices, count);
}

static void end(struct sample *s) {
    wire_deinit(&s->wire);
    macho_sample_end(&s->wide);
    macho_sample_end(&s->narrow);
}

static void free_slices(struct csni_slice *slices, uint32_t count) {
    csni_free(&csni_libc_allocator, slices, count * sizeof *slices);
}

static void gives_slices(void **state) {
    (void)state;
    for (int fat64 = 0; fat64 < 2; fat64++) {
        struct sample s;
        struct csni_slice *slices;
        struct csni_object *object;
        uint32_t count;
        begin(&s, fat64, 2);
        struct csni_span file = wire_span(&s.wire);
        assert_true(csni_object_recognize(file));
        assert_int_equal(csni_object_slices(file, &csni_libc_allocator, &slices, &count, NULL), CSN_OK);
        assert_int_equal(count, 2);
        assert_string_equal(slices[0].arch, "x86_64");
        assert_string_equal(slices[1].arch, "i386");
        assert_int_equal(slices[1].file.size, s.narrow.wire.size);
        assert_int_equal(csni_object_open(slices[1].file, NULL, &object, NULL), CSN_OK);
        assert_string_equal(object->arch, "i386");
        csni_object_close(object);
        free_slices(slices, count);
        end(&s);
    }
}

static void plain_file_is_its_only_slice(void **state) {
    (void)state;
    struct sample s;
    struct csni_slice *slices;
    uint32_t count;
    begin(&s, false, 2);
    struct csni_span file = wire_span(&s.wide.wire);
    assert_int_equal(csni_object_slices(file, &csni_libc_allocator, &slices, &count, NULL), CSN_OK);
    assert_int_equal(count, 1);
    assert_ptr_equal(slices[0].file.ptr, file.ptr);
    free_slices(slices, count);
    end(&s);
}

static void one_slice_opens_and_several_ask(void **state) {
    (void)state;
    struct sample s;
    struct csni_object *object = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&s, false, 1);
    assert_int_equal(csni_object_open(wire_span(&s.wire), NULL, &object, &err), CSN_OK);
    assert_string_equal(object->arch, "x86_64");
    assert_int_equal(object->file.size, s.wide.wire.size);
    csni_object_close(object);
    end(&s);
    begin(&s, true, 2);
    assert_int_equal(csni_object_open(wire_span(&s.wire), NULL, &object, &err), CSN_E_ARGUMENT);
    assert_string_equal(csn_error_text(&err), "universal file of 2 architectures, choose one: x86_64, i386");
    end(&s);
}

static void java_classes_are_something_else(void **state) {
    (void)state;
    static const uint8_t java[64] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52 }, oldest[64] = { 0xca, 0xfe, 0xba, 0xbe, 0, 3, 0, 45 };
    static const uint8_t most[64] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 44 };
    assert_false(csni_object_recognize((struct csni_span){ java, 64 }));
    assert_false(csni_object_recognize((struct csni_span){ oldest, 64 }));
    assert_true(csni_object_recognize((struct csni_span){ most, 64 }));
    assert_false(csni_object_recognize((struct csni_span){ most, 7 }));
}

static void check_refused(bool fat64, size_t off, uint64_t value, csn_status status, const char *text) {
    struct sample s;
    struct csni_slice *slices = NULL;
    uint32_t count = 77;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&s, fat64, 2);
    (void)wire_span(&s.wire);
    wire_patch(&s.wire, off, value, fat64 && off > 4 ? 8 : 4);
    struct csni_span file = { s.wire.bytes, s.wire.size };
    assert_int_equal(csni_object_slices(file, &csni_libc_allocator, &slices, &count, &err), status);
    assert_string_equal(csn_error_text(&err), text);
    assert_true(!slices && count == 77);
    end(&s);
}

static void names_bad_slices(void **state) {
    (void)state;
    check_refused(false, 4, 0, CSN_E_FORMAT, "universal file: 0 architectures, need >= 1");
    check_refused(false, 16, 0xfffffff0, CSN_E_TRUNCATED,
                  "universal file: slice x86_64: 0x60c bytes at 0xfffffff0, but the file has 0xb74 bytes");
    check_refused(true, 16, UINT64_MAX, CSN_E_TRUNCATED,
                  "universal file: slice x86_64: 0x60c bytes at 0xffffffffffffffff, but the file has 0xb94 bytes");
    check_refused(false, 36, 0x60, CSN_E_FORMAT,
                  "universal file: slices x86_64 (0x60c bytes at 0x30) and i386 (0x534 bytes at 0x60) overlap");
    static const uint8_t short_table[40] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2 };
    struct csni_object *object = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_object_open((struct csni_span){ short_table, 40 }, NULL, &object, &err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&err), "universal file: 2 architectures take 48 bytes, but the file has 40");
    static const uint8_t table_alone[28] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1, 1, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 4 };
    assert_int_equal(csni_object_open((struct csni_span){ table_alone, 28 }, NULL, &object, &err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&err), "universal file: slice x86_64: 0x4 bytes at 0x1c, but the file has 0x1c bytes");
}

static void use_slices(struct csni_span file) {
    struct csni_slice *slices;
    uint32_t count;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_object_slices(file, &csni_libc_allocator, &slices, &count, &err);
    assert_int_equal(status, err.code);
    if (status < 0) return;
    for (uint32_t i = 0; i < count; i++) (void)macho_sample_use(slices[i].file, NULL, NULL);
    free_slices(slices, count);
    (void)macho_sample_use(file, NULL, NULL);
}

static void every_damage_is_clean(void **state) {
    (void)state;
    for (int fat64 = 0; fat64 < 2; fat64++) {
        struct sample s;
        begin(&s, fat64, 2);
        struct csni_span whole = wire_span(&s.wire);
        for (size_t size = 0; size < whole.size; size++) {
            struct csni_span copy = sample_copy(whole, size);
            use_slices(copy);
            sample_free(copy);
        }
        struct csni_span copy = sample_copy(whole, whole.size);
        uint8_t *bytes = (uint8_t *)(uintptr_t)copy.ptr;
        for (size_t bit = 0; bit < (size_t)8 * (8 + 2 * FAT_ARCH_64_SIZE); bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            use_slices(copy);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        sample_free(copy);
        end(&s);
    }
}

static csn_status slices_with(void *context, const struct csn_allocator *alloc) {
    struct csni_slice *slices;
    uint32_t count;
    csn_status status = csni_object_slices(*(struct csni_span *)context, alloc, &slices, &count, NULL);
    if (status == CSN_OK) csni_free(alloc, slices, count * sizeof *slices);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct sample s;
    begin(&s, false, 2);
    struct csni_span file = wire_span(&s.wire);
    assert_int_equal(test_allocator_sweep(slices_with, &file, 0), 2);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_slices),
        cmocka_unit_test(plain_file_is_its_only_slice),
        cmocka_unit_test(one_slice_opens_and_several_ask),
        cmocka_unit_test(java_classes_are_something_else),
        cmocka_unit_test(names_bad_slices),
        cmocka_unit_test(every_damage_is_clean),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

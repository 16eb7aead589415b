/* object: damaged PE images and COFF objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/object_damage.h"
#include "support/pe_sample.h"

enum { ROUNDS = 20000 };

static void check(enum wire_pe_shape shape, uint16_t machine, size_t shortest_opening) {
    struct pe_sample s;
    pe_sample_begin(&s, shape, machine);
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    object_use_everything(s.object);
    struct csni_span file = wire_span(&s.file);
    assert_int_equal(object_damage_truncate(file), file.size - shortest_opening);
    assert_in_range(object_damage_flip(file, ROUNDS), ROUNDS / 2, ROUNDS);
    object_damage_memory(file);
    pe_sample_end(&s);
}

/* A file opens as soon as its headers are there. */
static size_t headers_end(enum wire_pe_shape shape) {
    struct pe_sample s;
    pe_sample_begin(&s, shape, IMAGE_FILE_MACHINE_AMD64);
    pe_sample_build(&s);
    size_t end = s.places.section_headers + (size_t)s.pe.section_count * SECTION_HEADER_SIZE;
    pe_sample_end(&s);
    return end;
}

static void images(void **state) {
    (void)state;
    check(WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64, headers_end(WIRE_PE_IMAGE64));
    check(WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_ARM64, headers_end(WIRE_PE_IMAGE64));
    check(WIRE_PE_IMAGE32, IMAGE_FILE_MACHINE_I386, headers_end(WIRE_PE_IMAGE32));
}

static void objects(void **state) {
    (void)state;
    check(WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_AMD64, headers_end(WIRE_PE_OBJECT));
    check(WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_ARMNT, headers_end(WIRE_PE_OBJECT));
    check(WIRE_PE_BIGOBJ, IMAGE_FILE_MACHINE_AMD64, headers_end(WIRE_PE_BIGOBJ));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(images), cmocka_unit_test(objects) };
    return cmocka_run_group_tests_name("pe_damage", tests, NULL, NULL);
}

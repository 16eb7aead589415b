/* store: what a file is, and its ids. Files of every container made by the tests' own builders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/identity.h>

#include "base/core/endian.h"
#include "support/macho_sample.h"
#include "support/object_sample.h"
#include "support/pdb_sample.h"
#include "support/pe_sample.h"

static struct csn_identity identify(struct csni_span file) {
    struct csn_identity found;
    struct csn_error err = CSN_ERROR_INIT;
    memset(&found, 0xa5, sizeof found);
    if (csn_identify_memory(file.ptr, file.size, &found, sizeof found, &err) != CSN_OK) fail_msg("%s", csn_error_text(&err));
    return found;
}

static void has_build_id(const struct csn_identity *found, const uint8_t *id, size_t size) {
    assert_int_equal(found->build_id_size, size);
    assert_memory_equal(found->build_id, id, size);
}

struct elf_file {
    struct wire_elf elf;
    struct wire file;
};

/* The sample; the bytes live as long as `f`. */
static struct csni_span elf_file_begin(struct elf_file *f, bool is_wide, bool is_big) {
    wire_init(&f->file, is_big);
    sample_elf(&f->elf, is_wide, is_big);
    wire_elf_build(&f->elf, &f->file, NULL);
    return wire_span(&f->file);
}

static void elf_file_end(struct elf_file *f) {
    wire_deinit(&f->file);
    wire_elf_deinit(&f->elf);
}

static void elf_files(void **state) {
    (void)state;
    for (unsigned shape = 0; shape < 4; shape++) {
        struct elf_file f;
        struct csn_identity found = identify(elf_file_begin(&f, shape & 1, shape & 2));
        assert_int_equal(found.container, CSN_IDENTITY_ELF);
        assert_int_equal(found.flags, CSN_IDENTITY_CODE | CSN_IDENTITY_DEBUG_INFO | CSN_IDENTITY_SYMBOLS | CSN_IDENTITY_LINKED);
        assert_string_equal(found.arch, shape & 1 ? "x86_64" : "i386");
        assert_int_equal(found.image_base, 0x401000 & ~0xfff);
        has_build_id(&found, sample_build_id, sizeof sample_build_id);
        assert_int_equal(found.age, 0);
        elf_file_end(&f);
    }
}

/* An object file without a build id, debug information or symbols. */
static void elf_with_nothing(void **state) {
    (void)state;
    static const uint8_t code[] = { 0xc3 };
    struct wire_elf elf;
    struct wire file;
    wire_init(&file, false);
    wire_elf_init(&elf, true, false, 1 /* ET_REL */, 62 /* EM_X86_64 */);
    wire_elf_add(&elf, ".text", 1, 6, 0, (struct csni_span){ code, sizeof code });
    wire_elf_build(&elf, &file, NULL);
    struct csn_identity found = identify(wire_span(&file));
    assert_int_equal(found.flags, CSN_IDENTITY_CODE);
    assert_int_equal(found.build_id_size, 0);
    wire_deinit(&file);
    wire_elf_deinit(&elf);
}

static void macho_files(void **state) {
    (void)state;
    struct wire_macho macho;
    struct wire file;
    wire_init(&file, false);
    macho_sample(&macho, true, false);
    wire_macho_build(&macho, &file, NULL);
    struct csn_identity found = identify(wire_span(&file));
    assert_int_equal(found.container, CSN_IDENTITY_MACHO);
    assert_int_equal(found.flags & (CSN_IDENTITY_CODE | CSN_IDENTITY_LINKED | CSN_IDENTITY_SYMBOLS),
                     CSN_IDENTITY_CODE | CSN_IDENTITY_LINKED | CSN_IDENTITY_SYMBOLS);
    assert_int_equal(found.image_base, MACHO_SAMPLE_BASE);
    has_build_id(&found, macho_sample_uuid, sizeof macho_sample_uuid);
    wire_deinit(&file);
}

static void pe_images(void **state) {
    (void)state;
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, 0x8664);
    pe_sample_build(&s);
    struct csni_span file = sample_copy(wire_span(&s.file), s.file.size);
    uint8_t *header = (uint8_t *)(uintptr_t)file.ptr + csni_get32(file.ptr + 0x3c, false);
    csni_put32(header + 8, 0x5f123456, false);       /* TimeDateStamp */
    csni_put32(header + 24 + 56, 0x9000, false);     /* SizeOfImage */
    struct csn_identity found = identify(file);
    assert_int_equal(found.container, CSN_IDENTITY_PE);
    assert_string_equal(found.arch, "x86_64");
    assert_int_equal(found.image_base, PE_BASE);
    assert_int_equal(found.pe_timestamp, 0x5f123456);
    assert_int_equal(found.pe_image_size, 0x9000);
    has_build_id(&found, pe_sample_guid, sizeof pe_sample_guid);
    sample_free(file);
    pe_sample_end(&s);
}

static void program_databases(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    struct csn_identity found = identify(pdb_sample_build(&s));
    assert_int_equal(found.container, CSN_IDENTITY_PDB);
    assert_int_equal(found.flags, CSN_IDENTITY_DEBUG_INFO | CSN_IDENTITY_LINKED);
    assert_int_equal(found.age, PDB_SAMPLE_AGE);
    has_build_id(&found, pdb_sample_guid, 16);
    pdb_sample_deinit(&s);
}

/* OpenTelemetry's id, computed by Python's hashlib. */
static void other_files(void **state) {
    (void)state;
    static const char text[] = "neither an object file nor a program database";
    static const uint8_t hash[16] = {
        0x2e, 0x60, 0x29, 0xbc, 0x7b, 0x71, 0x3a, 0x18, 0x65, 0x6a, 0xfa, 0xfc, 0xba, 0xb9, 0x2f, 0xe7
    };
    struct csn_identity found;
    struct csn_error err = CSN_ERROR_INIT;
    memset(&found, 0xa5, sizeof found);
    assert_int_equal(csn_identify_memory(text, sizeof text - 1, &found, sizeof found, &err), CSN_E_UNSUPPORTED);
    assert_memory_equal(found.htlhash, hash, sizeof hash);
    assert_int_equal(found.container, 0);
    assert_int_equal(found.build_id_size, 0);
    assert_non_null(strstr(csn_error_text(&err), text));
}

/* A program built before a field was added gives a smaller size: no byte after it is written. One built later has it zeroed. */
static void sizes_of_the_result(void **state) {
    (void)state;
    struct elf_file f;
    struct csni_span bytes = elf_file_begin(&f, true, false);
    union {
        struct csn_identity identity;
        uint8_t bytes[sizeof(struct csn_identity) + 8];
    } result;
    memset(&result, 0xa5, sizeof result);
    assert_int_equal(csn_identify_memory(bytes.ptr, bytes.size, &result.identity, 8, NULL), CSN_OK);
    assert_int_equal(result.identity.container, CSN_IDENTITY_ELF);
    assert_int_equal(result.bytes[8], 0xa5);
    assert_int_equal(csn_identify_memory(bytes.ptr, bytes.size, &result.identity, sizeof result, NULL), CSN_OK);
    assert_int_equal(result.bytes[sizeof result - 1], 0);
    elf_file_end(&f);
}

/* Cut anywhere: a status and no crash; what is not identified keeps the caller's bytes. */
static void truncated(void **state) {
    (void)state;
    struct elf_file f;
    struct csni_span whole = elf_file_begin(&f, true, false);
    size_t failed = 0;
    for (size_t size = 0; size < whole.size; size += size < 512 ? 1 : 97) {
        struct csni_span copy = sample_copy(whole, size);
        struct csn_identity found;
        memset(&found, 0xa5, sizeof found);
        csn_status status = csn_identify_memory(copy.ptr, copy.size, &found, sizeof found, NULL);
        assert_true(status == CSN_OK || status == CSN_E_UNSUPPORTED || status == CSN_E_FORMAT || status == CSN_E_TRUNCATED);
        if (status == CSN_E_FORMAT || status == CSN_E_TRUNCATED) {
            failed++;
            assert_int_equal(found.container, 0xa5a5a5a5);
        }
        sample_free(copy);
    }
    assert_true(failed > 0);
    elf_file_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elf_files), cmocka_unit_test(elf_with_nothing), cmocka_unit_test(macho_files), cmocka_unit_test(pe_images),
        cmocka_unit_test(program_databases), cmocka_unit_test(other_files), cmocka_unit_test(sizes_of_the_result),
        cmocka_unit_test(truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

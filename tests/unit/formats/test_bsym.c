/* BSYM: the specification's files written and read, generated models there and back, damage, memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/callsign.h>

#include "formats/bsym/read/bsym.h"
#include "formats/bsym/write/bsym_write.h"
#include "support/model_sample.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

/* ---- the specification's files ---- */

static const uint8_t v1_file[] = {
    0x42, 0x53, 0x59, 0x4d, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x01,
    0x80, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5b,
    0x00, 0x00, 0x00, 0x03, 0x80, 0x00, 0x10, 0x00, 0x00, 0x01, 0x00, 0x10, 0x00, 0x00, 0x00, 0x61, 0x80, 0x00, 0x10, 0x10,
    0x00, 0x01, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x65, 0x80, 0x00, 0x10, 0x20, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x6c,
    0x0a, 0x5c, 0x72, 0x65, 0x6c, 0x5c, 0x61, 0x2e, 0x64, 0x6c, 0x6c, 0x00, 0x00, 0x00, 0x5f, 0x01, 0x4e, 0x03, 0x46, 0x28,
    0x29, 0x06, 0x47, 0x28, 0x69, 0x6e, 0x74, 0x29, 0x06, 0x5f, 0x65, 0x6e, 0x74, 0x72, 0x79,
};
static const char v1_symbols[] =
    "From    \\Rel\\A.dll\r\n\r\n"
    "80001000    0010    N::F()                                    a.o(.text)\n"
    "80001011    000c    N::G(int)                                 a.o(.text)\r\n"
    "8000101c    0000    $d                                        a.o(.text)\n"
    "80001020    0008    _entry                                    a.o(.text)\n";

static const uint8_t v23_file[] = {
    0x42, 0x53, 0x59, 0x4d, 0x00, 0x02, 0x00, 0x03, 0x00, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x34, 0x00, 0x00, 0x00, 0x50,
    0x00, 0x00, 0x00, 0x68, 0x12, 0x34, 0xab, 0xcd, 0x00, 0x00, 0x00, 0x01, 0x80, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x02,
    0x00, 0x00, 0x00, 0x74, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x02, 0x80, 0x00, 0x10, 0x00,
    0x00, 0x01, 0x00, 0x10, 0x00, 0x00, 0x00, 0x85, 0x80, 0x00, 0x10, 0x10, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x8a,
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x8d, 0x00, 0x00, 0x00, 0x92, 0x00, 0x00, 0x00, 0x96, 0x00, 0x00, 0x00, 0x9c,
    0x00, 0x00, 0x00, 0xaa, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc6, 0x0a, 0x84, 0x5f, 0x76,
    0x5f, 0x65, 0x6b, 0x2e, 0x65, 0x78, 0x65, 0x00, 0x00, 0x00, 0x83, 0x01, 0x4e, 0x04, 0x46, 0x28, 0x82, 0x29, 0x02, 0x83,
    0x4e, 0x04, 0x76, 0x6f, 0x69, 0x64, 0x03, 0x69, 0x6e, 0x74, 0x05, 0x76, 0x6f, 0x69, 0x64, 0x2a, 0x0d, 0x74, 0x79, 0x70,
    0x65, 0x69, 0x6e, 0x66, 0x6f, 0x20, 0x66, 0x6f, 0x72, 0x20, 0x1b, 0x5c, 0x65, 0x70, 0x6f, 0x63, 0x33, 0x32, 0x5c, 0x72,
    0x65, 0x6c, 0x65, 0x61, 0x73, 0x65, 0x5c, 0x61, 0x72, 0x6d, 0x76, 0x35, 0x5c, 0x75, 0x72, 0x65, 0x6c, 0x5c, 0x11, 0x7a,
    0x3a, 0x5c, 0x73, 0x79, 0x73, 0x5c, 0x62, 0x69, 0x6e, 0x5c, 0x65, 0x6b, 0x2e, 0x65, 0x78, 0x65,
};

/* ---- memory to write to ---- */

static csn_status reserve(void *context, uint64_t size, struct csn_error *err) {
    (void)err;
    struct csn_bytes *out = context;
    out->ptr = csni_alloc(out->allocator, (size_t)size);
    if (!out->ptr) return CSN_E_MEMORY;
    out->size = (size_t)size;
    return CSN_OK;
}

static csn_status write_bytes(void *context, uint64_t offset, const void *bytes, size_t size, struct csn_error *err) {
    (void)err;
    struct csn_bytes *out = context;
    assert_true(offset + size <= out->size);
    memcpy(out->ptr + offset, bytes, size);
    return CSN_OK;
}

static csn_status write_model(struct model_sample *s, const struct csni_bsym_write_options *options, struct csn_bytes *out) {
    *out = (struct csn_bytes){ NULL, 0, csni_allocator_or_default(s->alloc) };
    struct csni_sink sink = { reserve, write_bytes, out, false };
    s->model.alloc = csni_allocator_or_default(s->alloc);
    s->model.keeps_aliases = true;
    csn_status status = model_sample_link(s);
    return status < 0 ? status : csni_bsym_write(&s->model, options, NULL, &sink, &s->report, NULL);
}

static void expect_bytes(const struct csn_bytes *got, const uint8_t *want, size_t size) {
    assert_int_equal(got->size, size);
    assert_memory_equal(got->ptr, want, size);
}

static void writes_v1_example(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    const struct csni_binary binary = { csni_str("\\Rel\\A.dll"), 0x80001000 };
    const struct csni_bsym_write_options options = { .version = CSNI_BSYM_1_0, .all_prefixes = true };
    model_sample_init(&s, NULL);
    s.model.image.binaries = &binary;
    s.model.image.binary_count = 1;
    s.writer.binary = 1;
    model_sample_function(&s, 0x80001000, 0x10, "N::F()");
    model_sample_function(&s, 0x80001010, 0xc, "N::G(int)");
    model_sample_function(&s, 0x80001020, 8, "_entry");
    assert_int_equal(write_model(&s, &options, &out), CSN_OK);
    expect_bytes(&out, v1_file, sizeof v1_file);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

static void writes_v23_example(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    const struct csn_str tokens[] = { csni_str("void"), csni_str("int"), csni_str("void*"), csni_str("typeinfo for "),
                                      csni_str("\\epoc32\\release\\armv5\\urel\\") };
    const struct csni_binary binary = { csni_str("\\epoc32\\release\\armv5\\urel\\_V_ek.exe"), 0x80001000 };
    const struct csni_rename rename = { 0, csni_str("Z:\\sys\\bin\\ek.exe") };
    struct csni_bsym_write_options options = { .tokens = tokens, .token_count = 5, .all_prefixes = true };
    for (int version = 3; version >= 1; version -= 2) {
        model_sample_init(&s, NULL);
        s.model.image.binaries = &binary;
        s.model.image.binary_count = s.model.image.rename_count = 1;
        s.model.image.renames = &rename;
        s.model.image.checksum = 0x1234abcd;
        s.writer.binary = 1;
        model_sample_function(&s, 0x80001000, 0x10, "N::F(void*)");
        model_sample_function(&s, 0x80001010, 0xc, "typeinfo for N");
        options.version = version == 3 ? 0 : CSNI_BSYM_2_1;
        assert_int_equal(write_model(&s, &options, &out), CSN_OK);
        if (version == 3) expect_bytes(&out, v23_file, sizeof v23_file);
        else {
            static const uint8_t head[] = { 0x42, 0x53, 0x59, 0x4d, 0, 2, 0, 1, 0, 0, 0, 0x18, 0, 0, 0, 0x30, 0, 0, 0, 0x4c,
                                            0, 0, 0, 0x64, 0, 0, 0, 1 };
            assert_int_equal(out.size, 201);
            assert_memory_equal(out.ptr, head, sizeof head);
            assert_memory_equal(out.ptr + out.size - 7, "\x06" "ek.exe", 7);
        }
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

/* ---- looking up ---- */

static struct csn_index *open_bytes(const void *bytes, size_t size) {
    struct csn_index *index;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_index_open_memory(bytes, size, NULL, &index, &err) < 0) fail_msg("%s", csn_error_text(&err));
    return index;
}

/* "NAME+OFFSET", "?NAME+OFFSET" for an uncertain one, "-" for none. */
static const char *answer_of(const struct csn_index *index, csn_status status, const struct csn_frame_ref *ref,
                             const struct csn_lookup *found) {
    static char text[512];
    char scratch[256];
    struct csn_frame frame;
    if (status != CSN_OK) return "-";
    assert_int_equal(found->frame_count, 1);
    assert_true(csn_index_resolve_into(index, ref, scratch, sizeof scratch, &frame) <= sizeof scratch);
    snprintf(text, sizeof text, "%s%.*s+%llx", frame.flags & CSN_FRAME_UNCERTAIN ? "?" : "", (int)frame.name.len, frame.name.ptr,
             (unsigned long long)frame.offset);
    return text;
}

static const char *look_up(const struct csn_index *index, uint64_t addr) {
    struct csn_frame_ref ref;
    struct csn_lookup found;
    csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, &ref, 1, &found, NULL);
    return answer_of(index, status, &ref, &found);
}

static const char *look_up_named(const struct csn_index *index, const char *name, uint64_t offset) {
    struct csn_frame_ref ref;
    struct csn_lookup found;
    csn_status status = csn_index_lookup_in_named_binary(index, csni_str(name), offset, &ref, 1, &found, NULL);
    return answer_of(index, status, &ref, &found);
}

static void reads_v1_example(void **state) {
    (void)state;
    struct csn_index *index = open_bytes(v1_file, sizeof v1_file);
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    assert_int_equal(info.format, CSN_FORMAT_BSYM);
    assert_int_equal(info.format_version, 0x10000);
    assert_int_equal(info.function_count, 3);
    assert_int_equal(info.binary_count, 1);
    assert_string_equal(look_up(index, 0x80001005), "N::F()+4");
    assert_string_equal(look_up(index, 0x8000101d), "?N::G(int)+c");
    assert_string_equal(look_up(index, 0x80001027), "_entry+6");
    assert_string_equal(look_up(index, 0x80001028), "-");
    assert_string_equal(look_up(index, 0x80000fff), "-");
    assert_string_equal(look_up(index, 5), "-");
    assert_string_equal(look_up(index, 0x180001005), "-");
    assert_string_equal(look_up_named(index, "A.DLL", 5), "N::F()+4");
    assert_string_equal(look_up_named(index, "z:\\sys\\bin\\a.dll", 0x20), "_entry+0");
    assert_string_equal(look_up_named(index, "a.dll", 0x28), "-");
    assert_string_equal(look_up_named(index, "b.dll", 0), "-");
    struct csn_frame frame;
    size_t count;
    assert_int_equal(csn_index_lookup(index, 0x80001020, &frame, 1, &count, NULL), CSN_OK);
    assert_true(csni_str_is(frame.name, "_entry")); /* stored whole: a view */
    assert_int_equal(csn_index_lookup(index, 0x80001000, &frame, 1, &count, NULL), CSN_OK);
    assert_int_equal(frame.name.len, 0);
    assert_true(frame.flags & CSN_FRAME_NAME_IN_PIECES);
    csn_index_close(index);
}

static void reads_v23_example(void **state) {
    (void)state;
    struct csn_index *index = open_bytes(v23_file, sizeof v23_file);
    struct csn_index_info info;
    struct csn_binary binary;
    struct csn_verify_counts counts;
    char scratch[128];
    size_t need;
    csn_index_get_info(index, &info, sizeof(info));
    assert_int_equal(info.image_checksum, 0x1234abcd);
    assert_int_equal(info.alias_count, 1);
    assert_string_equal(look_up(index, 0x80001000), "N::F(void*)+0");
    assert_string_equal(look_up(index, 0x80001010), "typeinfo for N+0");
    assert_string_equal(look_up_named(index, "ek.exe", 0), "N::F(void*)+0");
    assert_string_equal(look_up_named(index, "Z:/Sys/Bin/EK.exe", 0x10), "typeinfo for N+0");
    assert_string_equal(look_up_named(index, "c:\\ek.exe", 0), "-");
    assert_string_equal(look_up_named(index, "_v_ek.exe", 0), "N::F(void*)+0");
    assert_int_equal(csn_index_binary(index, 0, NULL, 0, &binary, &need, NULL), CSN_OK);
    assert_int_equal(need, 36);
    assert_int_equal(csn_index_binary(index, 0, scratch, sizeof scratch, &binary, &need, NULL), CSN_OK);
    assert_true(csni_str_is(binary.name, "\\epoc32\\release\\armv5\\urel\\_v_ek.exe"));
    assert_int_equal(binary.size, 0x1c);
    assert_int_equal(csn_index_binary(index, 1, scratch, sizeof scratch, &binary, &need, NULL), CSN_E_ARGUMENT);
    struct csn_str name, directory;
    uint32_t owner;
    uint64_t start;
    assert_int_equal(csn_index_alias(index, 0, scratch, sizeof scratch, &name, &owner, &need, NULL), CSN_OK);
    assert_true(csni_str_is(name, "z:\\sys\\bin\\ek.exe"));
    assert_int_equal(owner, 1);
    assert_int_equal(csn_index_alias(index, 1, scratch, sizeof scratch, &name, &owner, &need, NULL), CSN_E_ARGUMENT);
    assert_int_equal(csn_index_function_start(index, info.function_count, &start, NULL), CSN_E_ARGUMENT);
    assert_int_equal(csn_index_file(index, 0, &directory, &name, NULL), CSN_OK);
    assert_int_equal(csn_index_file(index, 1, &directory, &name, NULL), CSN_E_ARGUMENT);
    /* Room for the name and no more is enough. */
    struct csn_frame_ref ref;
    struct csn_lookup found;
    struct csn_frame frame;
    assert_int_equal(csn_index_lookup_refs(index, 0x80001000, CSN_LOOKUP_DEFAULT, &ref, 1, &found, NULL), CSN_OK);
    need = csn_index_resolve_into(index, &ref, scratch, sizeof scratch, &frame);
    assert_int_equal(need, strlen("N::F(void*)"));
    for (size_t room = need - 1; room <= need; room++) {
        assert_int_equal(csn_index_resolve_into(index, &ref, scratch, room, &frame), need);
        assert_int_equal(frame.flags & CSN_FRAME_NAME_IN_PIECES ? 0 : need, room == need ? need : 0);
        assert_int_equal(frame.name.len, room == need ? need : 0);
    }
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0);
    csn_index_close(index);
}

/* Names that 2.0 and older do not tell are guessed. */
static void guesses_names(void **state) {
    (void)state;
    uint8_t file[sizeof v1_file];
    memcpy(file, v1_file, sizeof file);
    memcpy(file + 0x51, "\\rel\\a_v.dl", 10); /* "\rel\a_v.d" */
    struct csn_index *index = open_bytes(file, sizeof file);
    uint32_t binary, match;
    assert_int_equal(csn_index_find_binary(index, csni_str("a.dll"), &binary, &match, NULL), CSN_OK);
    assert_int_equal(match, CSN_BINARY_GUESSED);
    assert_int_equal(csn_index_find_binary(index, csni_str("v.d"), &binary, &match, NULL), CSN_NONE);
    assert_int_equal(csn_index_find_binary(index, csni_str("A_V.D"), &binary, &match, NULL), CSN_OK);
    assert_int_equal(match, CSN_BINARY_NAMED);
    csn_index_close(index);
}

/* The reference writer lets lengths spill over: without a prefix table all 32 bits count, with one the length is unknown. */
static void long_lengths(void **state) {
    (void)state;
    uint8_t file[sizeof v1_file];
    memcpy(file, v1_file, sizeof file);
    file[0x49] = 2; /* prefix 2 of 1: symbol 2 */
    struct csn_index *index = open_bytes(file, sizeof file);
    struct csn_function function;
    assert_int_equal(csn_index_function(index, 2, &function, NULL), CSN_OK);
    assert_int_equal(function.size, 0xffff);
    assert_true(csni_str_is(function.name, "_entry"));
    csn_index_close(index);
    memset(file + 0x24, 0, 4); /* no table */
    index = open_bytes(file, sizeof file);
    assert_int_equal(csn_index_function(index, 2, &function, NULL), CSN_OK);
    assert_int_equal(function.size, 0x20008);
    uint64_t start;
    assert_int_equal(csn_index_function_start(index, 2, &start, NULL), CSN_OK);
    assert_int_equal(start, function.start);
    assert_int_equal(csn_index_function_start(index, UINT32_MAX, &start, NULL), CSN_E_ARGUMENT);
    csn_index_close(index);
}

static void unsorted_symbols(void **state) {
    (void)state;
    uint8_t file[sizeof v1_file], record[12];
    memcpy(file, v1_file, sizeof file);
    memcpy(record, file + 0x2c, 12);
    memcpy(file + 0x2c, file + 0x44, 12);
    memcpy(file + 0x44, record, 12);
    struct csn_index *index = open_bytes(file, sizeof file);
    struct csn_verify_counts counts;
    assert_string_equal(look_up(index, 0x80001005), "N::F()+4");
    assert_string_equal(look_up(index, 0x80001021), "_entry+0");
    csn_index_verify(index, NULL, NULL, &counts, NULL);
    assert_true(counts.problems > 0);
    csn_index_close(index);
}

/* ---- refusals ---- */

static void expect_refusal(const uint8_t *file, size_t size, csn_status want, const char *text) {
    struct csni_bsym b;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_bsym_open(&b, (struct csni_span){ file, size }, csni_allocator_or_default(NULL), &err), want);
    if (!strstr(csn_error_text(&err), text)) fail_msg("'%s' does not say '%s'", csn_error_text(&err), text);
}

static void refusals(void **state) {
    (void)state;
    uint8_t file[sizeof v23_file];
#define CHANGED(at, value) (memcpy(file, v23_file, sizeof file), file[at] = (value), file)
    expect_refusal(CHANGED(0, 'C'), sizeof file, CSN_E_UNSUPPORTED, "does not begin with BSYM");
    expect_refusal(CHANGED(5, 9), sizeof file, CSN_E_UNSUPPORTED, "version 9.3");
    expect_refusal(v23_file, 6, CSN_E_TRUNCATED, "6 bytes");
    expect_refusal(v23_file, 27, CSN_E_TRUNCATED, "27 bytes, the header of version 2.3 has 28");
    expect_refusal(CHANGED(0xa, 1), sizeof file, CSN_E_TRUNCATED, "the binaries begin at 0x11c");
    expect_refusal(CHANGED(0x35, 1), sizeof file, CSN_E_TRUNCATED, "65538 symbols of 12 bytes");
    expect_refusal(CHANGED(0x27, 3), sizeof file, CSN_E_FORMAT, "binary 0 has symbols 0 to 3, the file has 2");
#undef CHANGED
    /* 129 tokens. */
    uint8_t many[24 + 3 * 4 + 130 * 4] = { 0x42, 0x53, 0x59, 0x4d, 0, 2, 0, 0, 0, 0, 0, 20, 0, 0, 0, 24, 0, 0, 0, 28 };
    many[31] = 129;
    expect_refusal(many, sizeof many, CSN_E_FORMAT, "129 tokens, need <= 128");
}

/* An unknown minor version is read as the highest that is known. */
static void later_minor(void **state) {
    (void)state;
    uint8_t file[sizeof v23_file];
    memcpy(file, v23_file, sizeof file);
    file[7] = 9;
    struct csn_index *index = open_bytes(file, sizeof file);
    assert_string_equal(look_up_named(index, "z:\\sys\\bin\\ek.exe", 0), "N::F(void*)+0");
    csn_index_close(index);
}

/* ---- version 3 ---- */

static void put32(uint8_t *file, size_t at, uint32_t value) { csni_put32(file + at, value, false); }

/* Two symbols and a label of one unit, in little-endian order as on the machines that wrote such files. */
/* The parts are the whole file, and the larger part of it is of that kind. */
static void expect_parts(const struct csn_index *index, uint64_t size, enum csn_part main_part) {
    struct csn_stats_sums sums;
    assert_int_equal(csn_index_stats(index, NULL, NULL, &sums, NULL), CSN_OK);
    uint64_t sum = 0;
    for (uint32_t part = 0; part < CSN_PART_CAPACITY; part++) {
        sum += sums.part_bytes[part];
        assert_true(sums.part_bytes[part] <= sums.part_bytes[main_part] + 100);
    }
    assert_int_equal(sums.file_size, size);
    assert_int_equal(sum, size);
    assert_int_equal(sums.part_bytes[CSN_PART_OTHER], 0);
    assert_true(sums.part_bytes[main_part] > 0);
}

static size_t make_v3(uint8_t *file, bool packed) {
    uint8_t body[36 + 3 * 20 + 64] = { 0 };
    static const char strings[] = "\0\x08\\r\\a.dll\x0az:\\a\\b.exe\x01N\x03" "F()\x01" "L";
    put32(body, 4, 3);
    put32(body, 24, 1);
    put32(body, 28, 10);
    const uint32_t symbols[3][4] = { { 0x80001000, 0x12345, 21, 23 }, { 0x80001100, 0, 0, 27 }, { 0x80020000, 8, 0, 23 } };
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++) put32(body, 36 + 20 * i + 4 * k, symbols[i][k]);
    memcpy(body + 96, strings, sizeof strings);
    size_t size = 96 + sizeof strings, at = 48;
    memset(file, 0, 48);
    memcpy(file, "BSYM\0\3\0\0", 8);
    file[9] = packed;
    if (packed) {
        put32(file, 44, 48);
        put32(file, 48, 4096);
        put32(file, 52, 1);
        put32(file, 56, 0);
        put32(file, 60, (uint32_t)size + 1);
        at = 64;
        file[at] = 0; /* a page without pairs */
        memcpy(file + at + 1, body, size);
    } else {
        memcpy(file + at, body, size);
    }
    put32(file, 12, (uint32_t)at);
    put32(file, 16, 1);
    put32(file, 20, 36);
    put32(file, 24, 3);
    put32(file, 28, 96);
    put32(file, 32, sizeof strings);
    put32(file, 36, (uint32_t)size + packed);
    put32(file, 40, (uint32_t)size);
    return at + size + packed;
}

static void version_3(void **state) {
    (void)state;
    uint8_t file[512];
    for (int packed = 0; packed < 2; packed++) {
        size_t size = make_v3(file, packed);
        struct csn_index *index = open_bytes(file, size);
        assert_string_equal(look_up(index, 0x80001001), "N::F()+0");
        assert_string_equal(look_up(index, 0x80001100), "N::F()+100"); /* after a label */
        assert_string_equal(look_up(index, 0x80020002), "F()+2");
        assert_string_equal(look_up_named(index, "b.exe", 0x1f000), "F()+0");
        assert_string_equal(look_up_named(index, "a.dll", 2), "N::F()+2");
        expect_parts(index, size, packed ? CSN_PART_PACKED : CSN_PART_RECORDS);
        csn_index_close(index);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *bytes = malloc(cut ? cut : 1);
            memcpy(bytes, file, cut);
            struct csni_bsym b;
            if (csni_bsym_open(&b, (struct csni_span){ bytes, cut }, csni_allocator_or_default(NULL), NULL) == CSN_OK)
                csni_bsym_close(&b, csni_allocator_or_default(NULL));
            free(bytes);
        }
    }
}

/* An offset counts from the code of the unit, whose data is lower and has more symbols. */
static void code_and_data(void **state) {
    (void)state;
    uint8_t file[512];
    size_t size = make_v3(file, false), unit = 48, symbols = unit + 36;
    put32(file, unit + 4, 1);
    put32(file, unit + 12, 2);
    put32(file, symbols + 20, 0x64000000);
    put32(file, symbols + 24, 16);
    put32(file, symbols + 40, 0x64000010);
    struct csn_index *index = open_bytes(file, size);
    assert_string_equal(look_up(index, 0x64000012), "F()+2");
    assert_string_equal(look_up_named(index, "a.dll", 0x12), "N::F()+12");
    assert_string_equal(look_up_named(index, "b.exe", 2), "N::F()+2");
    csn_index_close(index);
}

/* After the last function there is nothing, labels at the binary's end or not. */
static void labels_at_the_end(void **state) {
    (void)state;
    uint8_t file[512];
    size_t size = make_v3(file, false);
    put32(file, 48 + 36 + 2 * 20 + 4, 0); /* the last symbol's length */
    struct csn_index *index = open_bytes(file, size);
    assert_string_equal(look_up(index, 0x80001100), "N::F()+100");
    assert_string_equal(look_up(index, 0x80013346), "?N::F()+12346");
    assert_string_equal(look_up(index, 0x80020000), "-");
    assert_string_equal(look_up(index, 0x90000000), "-");
    csn_index_close(index);
}

bool csni_bsym3_expand_page(struct csni_span page, uint8_t out[CSNI_BSYM3_PAGE_SIZE], size_t *out_size);

static bool expands(const void *page, size_t size, const char *want) {
    uint8_t out[CSNI_BSYM3_PAGE_SIZE];
    size_t got;
    if (!csni_bsym3_expand_page((struct csni_span){ page, size }, out, &got)) return false;
    assert_int_equal(got, strlen(want));
    assert_memory_equal(out, want, got);
    return true;
}

static void byte_pairs(void **state) {
    (void)state;
    assert_true(expands("\x01\x02\x01" "ab\x01" "c\x01" "c\x01", 10, "abcabcab"));
    assert_true(expands("\x01\x02\x01" "ab\x02\x01\x01", 8, "\x01" "ab"));       /* a literal */
    assert_true(expands("\x02\x09\x01" "ab\x02\x01\x01\x02", 9, "abab"));        /* a code of codes */
    assert_true(expands("\x00plain", 6, "plain"));
    assert_false(expands("\x01\x02\x01\x01\x01\x01", 6, ""));                    /* a loop */
    assert_false(expands("\x01\x02\x01" "ab\x02", 6, ""));                       /* a marker at the end */
    assert_false(expands("\x05\x02\x01" "ab", 5, ""));
    assert_false(expands("\x20\x02\x01", 3, ""));
    assert_false(expands("\x01", 1, ""));                                        /* no marker */
    uint8_t bits[40] = { 0x20, 0x02 };
    bits[2] = 2; /* code 1 */
    memcpy(bits + 34, "ab\x01z", 4);
    assert_true(expands(bits, 38, "abz"));
    uint8_t bomb[3 + 3 * 20 + 1] = { 20, 0xff };
    for (unsigned i = 0; i < 20; i++) {
        bomb[2 + 3 * i] = (uint8_t)(0x80 + i);
        bomb[3 + 3 * i] = bomb[4 + 3 * i] = i ? (uint8_t)(0x7f + i) : 'x';
    }
    bomb[62] = 0x80 + 19; /* a million bytes */
    assert_false(expands(bomb, 63, ""));
}

/* ---- there and back ---- */

struct random {
    uint64_t state;
};

static uint32_t below(struct random *r, uint32_t count) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((r->state >> 33) % count);
}

enum { BINARIES = 6, FUNCTIONS = 40, NAME_ROOM = 96 };

struct generated {
    struct model_sample sample;
    struct csni_binary binaries[BINARIES];
    struct csni_rename renames[BINARIES];
    char paths[BINARIES][64], device[BINARIES][64];
    char names[BINARIES * FUNCTIONS][NAME_ROOM];
};

/* What every version holds: even addresses, lengths that may be long, names of ASCII; ROM binaries and loaded ones. */
static void generate(struct generated *g, uint64_t seed, const struct csn_allocator *alloc) {
    static const char *const parts[] = { "CFoo", "TBar<int>", "RunL()", "operator<(int)", "N", "M::X", "f(a::b)", "void", "x",
                                         "typeinfo for Q", "operator()()", "~CFoo()", "\\odd name", " stub" };
    struct random r = { seed };
    model_sample_init(&g->sample, alloc);
    uint32_t count = 1 + below(&r, BINARIES), used = 0;
    uint64_t next = 0x80000000;
    for (uint32_t b = 0; b < count; b++) {
        bool placed = below(&r, 3) != 0;
        uint64_t address = placed ? next : 0;
        snprintf(g->paths[b], sizeof g->paths[b], "\\epoc32\\release\\armv5\\urel\\lib%u.dll", b);
        snprintf(g->device[b], sizeof g->device[b], "z:\\sys\\bin\\dev%u.dll", b);
        g->binaries[b] = (struct csni_binary){ csni_str(g->paths[b]), address };
        g->renames[b] = (struct csni_rename){ b, csni_str(g->device[b]) };
        g->sample.writer.binary = b + 1;
        for (uint32_t n = 1 + below(&r, FUNCTIONS); n; n--) {
            char *name = g->names[used++];
            size_t len = 0;
            name[0] = 0;
            for (uint32_t k = 1 + below(&r, 4); k; k--)
                len += (size_t)snprintf(name + len, NAME_ROOM - len, "%s%s", len ? "::" : "", parts[below(&r, 14)]);
            uint32_t size = below(&r, 20) ? 2 * (1 + below(&r, 50)) : 2 * (1 + below(&r, 200000));
            model_sample_function(&g->sample, address, size, name);
            address += size + 2 * below(&r, 3);
        }
        if (placed) next = (address + 0xfff) & ~(uint64_t)0xfff;
    }
    g->sample.model.image.binaries = g->binaries;
    g->sample.model.image.binary_count = count;
    g->sample.model.image.renames = g->renames;
    g->sample.model.image.rename_count = count;
    g->sample.model.image.checksum = 1 + below(&r, 1000000);
}

/* The accelerated index answers as the plain one, one by one and in batches. */
static void compare(const struct csn_index *index, const struct csn_index *fast, uint64_t start, uint64_t size) {
    enum { ROOM = 2 * (CSN_INLINE_DEPTH_MAX + 1), ADDRESSES = 16 };
    static struct csn_frame_ref frames[ROOM];
    struct csn_batch_answer answers[ADDRESSES];
    uint64_t addrs[ADDRESSES];
    size_t done;
    for (size_t i = 0; i < ADDRESSES; i++) addrs[i] = start + size * i / (ADDRESSES - 1) - 2;
    struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
    batch.addrs = addrs;
    batch.count = ADDRESSES;
    batch.answers = answers;
    batch.frames = frames;
    batch.frame_capacity = ROOM;
    assert_int_equal(csn_index_lookup_batch(fast, &batch, &done, NULL), CSN_OK);
    assert_int_equal(done, ADDRESSES);
    for (size_t i = 0; i < ADDRESSES; i++) {
        struct csn_frame_ref want, got;
        struct csn_lookup one, other;
        memset(&want, 0, sizeof want);
        memset(&got, 0, sizeof got);
        csn_status status = csn_index_lookup_refs(index, addrs[i], CSN_LOOKUP_DEFAULT, &want, 1, &one, NULL);
        assert_int_equal(csn_index_lookup_refs(fast, addrs[i], CSN_LOOKUP_DEFAULT, &got, 1, &other, NULL), status);
        assert_memory_equal(&one, &other, sizeof one);
        assert_memory_equal(&want, &got, sizeof want);
        assert_int_equal(answers[i].status, status);
        assert_memory_equal(&one, &answers[i].found, sizeof one);
    }
}

/* Each function of the model answers at its first and last even address with its name and its binary. */
static void check_answers(const struct generated *g, const struct csn_bytes *file, uint32_t version) {
    struct csn_index *index = open_bytes(file->ptr, file->size), *fast;
    struct csn_index_info info;
    struct csn_verify_counts counts;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.accelerator_bytes = UINT64_MAX;
    assert_int_equal(csn_index_open_memory(file->ptr, file->size, &options, &fast, NULL), CSN_OK);
    struct csn_error first = CSN_ERROR_INIT;
    const struct csni_model *m = &g->sample.model;
    csn_index_get_info(index, &info, sizeof(info));
    assert_int_equal(info.format_version, version);
    assert_int_equal(info.binary_count, m->image.binary_count);
    assert_int_equal(info.alias_count, version >= CSNI_BSYM_2_1 ? m->image.rename_count : 0);
    assert_int_equal(info.image_checksum, version >= CSNI_BSYM_2_2 ? m->image.checksum : 0);
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, &first), CSN_OK);
    assert_int_equal(counts.problems, 0);
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        struct csn_str name = g->sample.batches[m->entries[i].batch].strings[f->name];
        const struct csni_binary *b = &m->image.binaries[f->binary - 1];
        char want[128], base[64];
        uint32_t last = (f->size - 1) & ~1u;
        snprintf(base, sizeof base, "%s%u.dll", version >= CSNI_BSYM_2_1 ? "dev" : "lib", f->binary - 1);
        snprintf(want, sizeof want, "%.*s+0", (int)name.len, name.ptr);
        if (b->address) assert_string_equal(look_up(index, f->start | 1), want);
        assert_string_equal(look_up_named(index, base, f->start - b->address), want);
        snprintf(want, sizeof want, "%.*s+%x", (int)name.len, name.ptr, last);
        if (b->address) assert_string_equal(look_up(index, f->start + last), want);
        assert_string_equal(look_up_named(index, base, f->start - b->address + last), want);
        if (b->address) compare(index, fast, f->start, f->size + 8);
    }
    csn_index_close(fast);
    csn_index_close(index);
}

/* Read again by convert, and written again: the same bytes. */
static void check_second_round(const struct csn_bytes *file, uint32_t version) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes again;
    struct csn_convert_report report;
    options.format = CSN_FORMAT_BSYM;
    struct csn_bsym_options bsym = CSN_BSYM_OPTIONS_INIT;
    bsym.version = version;
    options.bsym = &bsym;
    options.threads = 2;
    assert_int_equal(csn_convert_memory(file->ptr, file->size, &options, &again, &report, NULL), CSN_OK);
    expect_bytes(&again, file->ptr, file->size);
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++)
        if (csn_event_get_class(e) == CSN_CLASS_DROPPED) assert_int_equal(report.events[e].count, 0);
    csn_bytes_free(&again);
}

static void round_trips(void **state) {
    (void)state;
    static const uint32_t versions[] = { CSNI_BSYM_1_0, CSNI_BSYM_2_0, CSNI_BSYM_2_1, CSNI_BSYM_2_2, CSNI_BSYM_2_3 };
    static struct generated g;
    for (uint64_t seed = 1; seed <= 60; seed += SWEEP_STEP)
        for (size_t v = 0; v < 5; v++) {
            struct csn_bytes file;
            const struct csni_bsym_write_options options = { .version = versions[v], .own_tokens = true };
            generate(&g, seed, NULL);
            assert_int_equal(write_model(&g.sample, &options, &file), CSN_OK);
            check_answers(&g, &file, versions[v]);
            check_second_round(&file, versions[v]);
            csn_bytes_free(&file);
            model_sample_deinit(&g.sample);
        }
}

/* ---- what cannot be held ---- */

static void losses(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    const struct csni_bsym_write_options options = { .version = CSNI_BSYM_2_1 };
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "d", "a.c");
    model_sample_function(&s, 0x1001, 3, "odd");
    model_sample_function(&s, 0x1010, 8, "lines");
    model_sample_rows(&s, file, 1, 2);
    model_sample_inline(&s, "in", file, 1, 0, 2);
    model_sample_function(&s, 0x1020, 8, "caf\xc3\xa9");
    model_sample_function(&s, 0x1030, 0, "end");
    s.model.image.uuid = (struct csni_span){ (const uint8_t *)"id", 2 };
    s.model.image.file_name = csni_str("App.exe");
    assert_int_equal(write_model(&s, &options, &out), CSN_OK);
    assert_string_equal(model_sample_events(&s.report), "lines-not-kept:1 inlined-calls-not-kept:1 part-not-kept:1 "
                                                        "name-changed:1 address-rounded:1 function-without-size:1");
    struct csn_index *index = open_bytes(out.ptr, out.size);
    assert_string_equal(look_up(index, 0x1003), "odd+2");
    assert_string_equal(look_up_named(index, "app.exe", 0x20), "caf??+0");
    csn_index_close(index);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

/* Names that differ only where they cannot be kept: one symbol. Others of that address stay, and so do the same
 * names at another. */
static void names_that_become_equal(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    const struct csni_bsym_write_options options = { .version = CSNI_BSYM_2_1 };
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x1000, 8, "a\x80");
    model_sample_function(&s, 0x1000, 8, "b");
    model_sample_function(&s, 0x1000, 8, "a\x81");
    model_sample_function(&s, 0x1000, 16, "a\x82");
    model_sample_function(&s, 0x1010, 8, "a\x83");
    model_sample_function(&s, 0x1021, 7, "c");
    model_sample_function(&s, 0x1020, 8, "c");
    assert_int_equal(write_model(&s, &options, &out), CSN_OK);
    assert_int_equal(s.report.functions_written, 5);
    assert_int_equal(s.report.functions_pruned, 2);
    struct csn_index *index = open_bytes(out.ptr, out.size);
    struct csn_index_info info;
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0); /* symbols may share an address */
    csn_index_get_info(index, &info, sizeof info);
    assert_int_equal(info.function_count, 5);
    const char *expected[] = { "a?", "b", "a?", "a?", "c" };
    const uint32_t sizes[] = { 8, 8, 16, 8, 8 };
    for (uint32_t i = 0; i < 5; i++) {
        struct csn_function f;
        assert_int_equal(csn_index_function(index, i, &f, NULL), CSN_OK);
        assert_true(f.name.len == strlen(expected[i]) && memcmp(f.name.ptr, expected[i], f.name.len) == 0);
        assert_int_equal(f.size, sizes[i]);
    }
    csn_index_close(index);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

/* A length of 255 and more takes three bytes. */
static void names_of_any_length(void **state) {
    (void)state;
    static const uint32_t versions[] = { CSNI_BSYM_1_0, CSNI_BSYM_2_3 };
    static const size_t lengths[] = { 1, 254, 255, 256, 1000 };
    char names[5][1001];
    for (size_t v = 0; v < 2; v++) {
        struct model_sample s;
        struct csn_bytes out;
        const struct csni_bsym_write_options options = { .version = versions[v] };
        model_sample_init(&s, NULL);
        for (size_t i = 0; i < 5; i++) {
            memset(names[i], 'a' + (int)i, lengths[i]);
            names[i][lengths[i]] = 0;
            model_sample_function(&s, 0x1000 + 0x10 * i, 0x10, names[i]);
        }
        assert_int_equal(write_model(&s, &options, &out), CSN_OK);
        struct csn_index *index = open_bytes(out.ptr, out.size);
        for (uint32_t i = 0; i < 5; i++) {
            struct csn_function f;
            assert_int_equal(csn_index_function(index, i, &f, NULL), CSN_OK);
            assert_true(csni_str_is(f.name, names[i]));
        }
        csn_index_close(index);
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

/* From the image's base to the last function's end, 32 bits at most. */
static void as_far_as_32_bits_reach(void **state) {
    (void)state;
    for (uint64_t size = 0xf; size <= 0x10; size++) {
        struct model_sample s;
        struct csn_bytes out;
        const struct csni_bsym_write_options options = { .version = CSNI_BSYM_2_3 };
        model_sample_init(&s, NULL);
        model_sample_function(&s, 0x100001000, 0x10, "first");
        model_sample_function(&s, 0x1fffffff0, (uint32_t)size, "last");
        s.model.image.base_address = 0x100000000;
        s.model.image.has_base_address = true;
        assert_int_equal(write_model(&s, &options, &out), size == 0xf ? CSN_OK : CSN_E_LIMIT);
        if (size == 0xf) {
            struct csn_index *index = open_bytes(out.ptr, out.size);
            assert_string_equal(look_up(index, 0xfffffff4), "last+4");
            csn_index_close(index);
        }
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

static void high_addresses(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    const struct csni_bsym_write_options options = { .own_tokens = true };
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0xffffffff81001000, 0x20, "kernel");
    s.model.image.base_address = 0xffffffff81000000;
    s.model.image.has_base_address = true;
    assert_int_equal(write_model(&s, &options, &out), CSN_OK);
    struct csn_index *index = open_bytes(out.ptr, out.size);
    assert_string_equal(look_up(index, 0x1010), "kernel+10");
    csn_index_close(index);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x1000, 0x20, "low");
    model_sample_function(&s, 0xffffffff81001000, 0x20, "high");
    assert_int_equal(write_model(&s, &options, &out), CSN_E_LIMIT);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

/* BSYM to GSYM: what runs anywhere has no address there. */
static void to_gsym(void **state) {
    (void)state;
    static struct generated g;
    struct csn_bytes file, gsym;
    struct csn_convert_report report;
    const struct csni_bsym_write_options write = { .own_tokens = true };
    generate(&g, 7, NULL);
    assert_int_equal(write_model(&g.sample, &write, &file), CSN_OK);
    assert_int_equal(csn_convert_memory(file.ptr, file.size, NULL, &gsym, &report, NULL), CSN_OK);
    uint64_t unplaced = 0;
    struct csn_index *index = open_bytes(gsym.ptr, gsym.size), *from = open_bytes(file.ptr, file.size);
    const struct csni_model *m = &g.sample.model;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        struct csn_frame frame;
        size_t count;
        unplaced += !m->image.binaries[f->binary - 1].address;
        if (!m->image.binaries[f->binary - 1].address) continue;
        assert_int_equal(csn_index_lookup(index, f->start, &frame, 1, &count, NULL), CSN_OK);
        char text[128];
        snprintf(text, sizeof text, "%.*s+0", (int)frame.name.len, frame.name.ptr);
        assert_string_equal(look_up(from, f->start), text);
    }
    assert_int_equal(report.events[CSN_EVENT_FUNCTION_NOT_PLACED].count, unplaced);
    assert_int_equal(report.events[CSN_EVENT_BINARY_LOST].count, m->image.binary_count > 1 ? m->image.binary_count : 0);
    assert_int_equal(report.events[CSN_EVENT_PART_LOST].count, m->image.rename_count);
    csn_index_close(index);
    csn_index_close(from);
    csn_bytes_free(&file);
    csn_bytes_free(&gsym);
    model_sample_deinit(&g.sample);
}

/* ---- damage ---- */

static bool count_problem(void *context, const struct csn_error *err) {
    assert_true(err->code < 0 && err->text[0]);
    return ++*(uint64_t *)context < 1000;
}

/* Whatever the bytes are: a refusal, or answers within bounds. */
static void use(const uint8_t *bytes, size_t size) {
    struct csn_index *index;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    uint8_t *copy = malloc(size ? size : 1); /* so that a sanitizer sees reads past the end */
    if (size) memcpy(copy, bytes, size);
    if (csn_index_open_memory(copy, size, NULL, &index, &err) == CSN_OK) {
        struct csn_index_info info;
        struct csn_verify_counts counts;
        uint64_t problems = 0;
        csn_index_get_info(index, &info, sizeof(info));
        csn_index_verify(index, count_problem, &problems, &counts, NULL);
        assert_int_equal(problems, counts.problems);
        for (uint32_t i = 0; i < info.function_count && i < 64; i++) {
            struct csn_function function;
            char scratch[64];
            struct csn_frame frame;
            const struct csn_frame_ref ref = { .name = i };
            assert_int_equal(csn_index_function(index, i, &function, NULL), CSN_OK);
            csn_index_resolve_into(index, &ref, scratch, sizeof scratch, &frame);
            look_up(index, function.start);
        }
        look_up_named(index, "dev0.dll", 8);
        look_up_named(index, "ek.exe", 8);
        csn_index_close(index);
    } else {
        assert_true(err.text[0]);
    }
    options.format = CSN_FORMAT_BSYM;
    options.threads = 1;
    if (csn_convert_memory(copy, size, &options, &out, NULL, NULL) == CSN_OK) csn_bytes_free(&out);
    free(copy);
}

static void damage(void **state) {
    (void)state;
    static const struct { const uint8_t *bytes; size_t size; } files[] = { { v1_file, sizeof v1_file },
                                                                           { v23_file, sizeof v23_file } };
    for (size_t f = 0; f < 2; f++) {
        uint8_t changed[256];
        for (size_t cut = 0; cut < files[f].size; cut += SWEEP_STEP) use(files[f].bytes, cut);
        for (size_t bit = 0; bit < 8 * files[f].size; bit += SWEEP_STEP) {
            memcpy(changed, files[f].bytes, files[f].size);
            changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            use(changed, files[f].size);
        }
    }
    uint8_t v3[512], changed[512];
    size_t size = make_v3(v3, true);
    for (size_t bit = 0; bit < 8 * size; bit += SWEEP_STEP) {
        memcpy(changed, v3, size);
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        use(changed, size);
    }
}

/* Small files that claim much: names of 64 KiB of tokens of 64 KiB. */
static void expansion_is_bounded(void **state) {
    (void)state;
    enum { SYMBOLS = 2000, LONG = 65535, HEAD = 24, STRINGS = HEAD + 24 + 4 + 12 * SYMBOLS + 4 + 4 };
    size_t size = STRINGS + 2 * (LONG + 3);
    uint8_t *file = calloc(1, size);
    memcpy(file, "BSYM\0\2\0\0", 8);
#define PUT(at, value) csni_put32(file + (at), (uint32_t)(value), true)
    PUT(8, HEAD);
    PUT(12, HEAD + 24);
    PUT(16, HEAD + 24 + 4 + 12 * SYMBOLS);
    PUT(HEAD, 1);
    PUT(HEAD + 4, 0x1000);
    PUT(HEAD + 8, SYMBOLS);
    PUT(HEAD + 12, STRINGS);
    PUT(HEAD + 24, SYMBOLS);
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        PUT(HEAD + 28 + 12 * i, 0x1000 + 2 * i);
        PUT(HEAD + 32 + 12 * i, 2);
        PUT(HEAD + 36 + 12 * i, STRINGS + LONG + 3);
    }
    PUT(STRINGS - 8, 1);
    PUT(STRINGS - 4, STRINGS);
#undef PUT
    for (size_t k = 0; k < 2; k++) {
        uint8_t *p = file + STRINGS + k * (LONG + 3);
        memcpy(p, "\xff\xff\xff", 3);
        memset(p + 3, k ? 0x80 : 'x', LONG);
    }
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_convert_memory(file, size, NULL, &out, NULL, &err), CSN_E_LIMIT);
    struct csn_index *index = open_bytes(file, size);
    struct csn_frame_ref ref;
    struct csn_frame frame;
    char scratch[100];
    assert_int_equal(csn_index_lookup_refs(index, 0x1010, CSN_LOOKUP_DEFAULT, &ref, 1, NULL, NULL), CSN_OK);
    assert_int_equal(csn_index_resolve_into(index, &ref, scratch, sizeof scratch, &frame), 0); /* nobody is asked for 4 GB */
    assert_int_equal(frame.name.len, 0);
    assert_int_equal(frame.flags & CSN_FRAME_NAME_IN_PIECES, 0);
    csn_index_close(index);
    free(file);
}

/* ---- memory ---- */

static csn_status write_with(void *context, const struct csn_allocator *alloc) {
    struct generated *g = context;
    struct csn_bytes out;
    const struct csni_bsym_write_options options = { .own_tokens = true };
    generate(g, 3, alloc);
    csn_status status = write_model(&g->sample, &options, &out);
    csn_bytes_free(&out);
    model_sample_deinit(&g->sample);
    return status;
}

static csn_status convert_with(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *file = context;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    options.allocator = alloc;
    options.threads = 1;
    options.format = CSN_FORMAT_BSYM;
    csn_status status = csn_convert_memory(file->ptr, file->size, &options, &out, NULL, NULL);
    if (status == CSN_OK) csn_bytes_free(&out);
    return status;
}

static csn_status open_with(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *file = context;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_index *index;
    options.allocator = alloc;
    options.accelerator_bytes = UINT64_MAX;
    csn_status status = csn_index_open_memory(file->ptr, file->size, &options, &index, NULL);
    if (status == CSN_OK) csn_index_close(index);
    return status;
}

/* Opens, and adds up where the bytes go. */
static csn_status stats_with(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *bytes = context;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_index *index;
    struct csn_stats_sums sums;
    options.allocator = alloc;
    csn_status status = csn_index_open_memory(bytes->ptr, bytes->size, &options, &index, NULL);
    if (status < 0) return status;
    status = csn_index_stats(index, NULL, NULL, &sums, NULL);
    csn_index_close(index);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    static struct generated g;
    struct csni_span v23 = { v23_file, sizeof v23_file }, text = { (const uint8_t *)v1_symbols, sizeof v1_symbols - 1 };
    uint8_t v3[512];
    struct csni_span packed = { v3, make_v3(v3, true) };
    assert_true(test_allocator_sweep(write_with, &g, 0) > 10);
    assert_true(test_allocator_sweep(convert_with, &v23, 1) > 10);
    assert_true(test_allocator_sweep(convert_with, &text, 0) > 10);
    assert_true(test_allocator_sweep(open_with, &v23, 0) > 3);
    assert_true(test_allocator_sweep(open_with, &packed, 0) > 3);
    assert_true(test_allocator_sweep(stats_with, &v23, 0) > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_v1_example), cmocka_unit_test(writes_v23_example), cmocka_unit_test(reads_v1_example),
        cmocka_unit_test(reads_v23_example), cmocka_unit_test(guesses_names), cmocka_unit_test(long_lengths),
        cmocka_unit_test(unsorted_symbols), cmocka_unit_test(refusals), cmocka_unit_test(later_minor),
        cmocka_unit_test(version_3), cmocka_unit_test(code_and_data), cmocka_unit_test(labels_at_the_end),
        cmocka_unit_test(byte_pairs),
        cmocka_unit_test(round_trips), cmocka_unit_test(losses), cmocka_unit_test(names_that_become_equal),
        cmocka_unit_test(names_of_any_length), cmocka_unit_test(as_far_as_32_bits_reach),
        cmocka_unit_test(high_addresses), cmocka_unit_test(to_gsym), cmocka_unit_test(damage),
        cmocka_unit_test(expansion_is_bounded), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

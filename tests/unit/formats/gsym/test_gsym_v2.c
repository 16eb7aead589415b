/* GSYM version 2: formats/gsym/read/gsym_v2_read.c byte by byte, its limits and damage, and what version 1 cannot hold. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/core/endian.h"
#include "base/sink.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_write.h"
#include "support/model_sample.h"
#include "support/sweep.h"
#include "wire/wire.h"

/* ---- the worked example of the format's description ---- */

static void fill_example(struct model_sample *s) { model_sample_function(s, 0x1000, 0x10, "main"); }

static void put_entry(struct wire *w, uint32_t type, uint64_t offset, uint64_t size) {
    wire_u32(w, type);
    wire_u64(w, offset);
    wire_u64(w, size);
}

static void put_example(struct wire *w, bool big) {
    wire_init(w, big);
    wire_u32(w, 0x4753594d);
    wire_u16(w, 2);
    wire_u8(w, 1);
    wire_u8(w, 0);
    wire_u64(w, 0x1000);
    wire_u32(w, 1);
    put_entry(w, 1, 0x8c, 1);
    put_entry(w, 2, 0x90, 8);
    put_entry(w, 4, 0x98, 0x14);
    put_entry(w, 3, 0xac, 6);
    put_entry(w, 5, 0xb4, 0x14);
    put_entry(w, 0, 0, 0);
    wire_u32(w, 0); /* the address offset, and padding */
    wire_u64(w, 0);
    wire_u32(w, 1);
    wire_fill(w, 0, 16);
    wire_bytes(w, "\0main", 6);
    wire_align(w, 4);
    wire_u32(w, 0x10);
    wire_u64(w, 1);
    wire_u64(w, 0);
}

static struct csn_bytes write_sample(struct model_sample *s, enum csni_gsym_target target) {
    struct csn_bytes out = { NULL, 0, NULL };
    struct csni_sink sink = csni_memory_sink(&out);
    struct csn_error err = CSN_ERROR_INIT;
    if (csni_gsym_write(&s->model, target, NULL, &sink, &s->report, &err) != CSN_OK) fail_msg("%s", err.text);
    return out;
}

static void example(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire want;
        struct model_sample s;
        put_example(&want, big);
        assert_int_equal(want.size, 200);
        model_sample_init(&s, NULL);
        s.model.image.big_endian = big;
        fill_example(&s);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        struct csn_bytes out = write_sample(&s, CSNI_GSYM_WRITE_V2);
        assert_int_equal(out.size, want.size);
        assert_memory_equal(out.ptr, want.bytes, want.size);
        struct csn_index *index;
        struct csn_index_info info;
        struct csn_verify_counts counts;
        assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
        csn_index_get_info(index, &info, sizeof(info));
        assert_int_equal(info.format, CSN_FORMAT_GSYM_V2);
        assert_int_equal(info.big_endian, big);
        assert_int_equal(info.uuid_size, 0);
        struct csn_frame frame;
        size_t count;
        assert_int_equal(csn_index_lookup(index, 0x100f, &frame, 1, &count, NULL), CSN_OK);
        assert_int_equal(count, 1);
        assert_memory_equal(frame.name.ptr, "main", 5);
        assert_int_equal(frame.offset, 15);
        assert_int_equal(csn_index_lookup(index, 0x1010, &frame, 1, &count, NULL), CSN_NONE);
        assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
        assert_int_equal(counts.problems, 0);
        csn_index_close(index);
        csn_bytes_free(&out);
        model_sample_deinit(&s);
        wire_deinit(&want);
    }
}

/* ---- directories ---- */

/* One function, "main" at [0x1000, 0x1010), with its sections in the order of `types`, placed in the opposite one; type 6 is
 * a UUID of 40 bytes, 9 a section that nobody knows. */
static void put_sections(struct wire *w, const uint32_t *types, size_t count) {
    size_t begin[16], end[16];
    assert_true(count < 16);
    wire_init(w, false);
    wire_u32(w, 0x4753594d);
    wire_u16(w, 2);
    wire_u8(w, 2);
    wire_u8(w, 0);
    wire_u64(w, 0x800);
    wire_u32(w, 1);
    for (size_t i = 0; i < count; i++) {
        begin[i] = wire_label(w);
        end[i] = wire_label(w);
        wire_u32(w, types[i]);
        wire_reference(w, begin[i], WIRE_START, 8);
        wire_reference(w, end[i], begin[i], 8);
    }
    put_entry(w, 0, 0, 0);
    for (size_t i = count; i-- > 0;) {
        wire_align(w, 8);
        wire_place(w, begin[i]);
        switch (types[i]) {
        case 1: wire_u16(w, 0x800); break;
        case 2: wire_u64(w, 4); break;
        case 3: wire_bytes(w, "\0?\0main", 8); break;
        case 4: wire_u32(w, 1); wire_fill(w, 0, 16); break;
        case 5: wire_fill(w, 0xee, 4); wire_u32(w, 0x10); wire_u64(w, 3); wire_u64(w, 0); break;
        case 6: wire_fill(w, 0xab, 40); break;
        default: wire_fill(w, 0xff, 3); break;
        }
        wire_place(w, end[i]);
    }
    wire_span(w); /* fills in the offsets */
}

struct problems { uint64_t count; char text[CSN_ERROR_TEXT_SIZE]; };
static bool keep_first(void *context, const struct csn_error *err) {
    struct problems *p = context;
    if (!p->count++) snprintf(p->text, sizeof p->text, "%s", csn_error_text(err));
    return true;
}

/* Opens and verifies; `problem`: the first one. */
static void expect_main(const struct wire *w, const char *problem) {
    struct csn_index *index;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_frame frame;
    struct csn_verify_counts counts;
    struct problems problems = { 0, "" };
    size_t count;
    if (csn_index_open_memory(w->bytes, w->size, NULL, &index, &err) != CSN_OK) fail_msg("%s", err.text);
    assert_int_equal(csn_index_lookup(index, 0x1004, &frame, 1, &count, NULL), CSN_OK);
    assert_memory_equal(frame.name.ptr, "main", 5);
    assert_int_equal(csn_index_verify(index, keep_first, &problems, &counts, NULL), CSN_OK);
    assert_string_equal(problems.text, problem ? problem : "");
    assert_int_equal(counts.problems, problem ? 1 : 0);
    csn_index_close(index);
}

/* The directory as it stands: its order, and types that nobody knows. */
static void expect_sections(const struct csn_index *index, const uint32_t *types, size_t count, uint64_t file_size) {
    struct csn_section section;
    uint64_t before = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(csn_index_section(index, i, &section, NULL), CSN_OK);
        assert_int_equal(section.type, types[i]);
        assert_true(section.size && section.offset < before && section.offset + section.size <= file_size);
        assert_true((csn_section_type_name(section.type) == NULL) == (section.type == 9));
        before = section.offset;
    }
    assert_int_equal(csn_index_section(index, (uint32_t)count, &section, NULL), CSN_NONE);
    assert_int_equal(csn_index_section(index, UINT32_MAX, &section, NULL), CSN_NONE);
    assert_int_equal(section.type, types[count - 1]); /* untouched */
}

static void any_order(void **state) {
    (void)state;
    static const uint32_t orders[][9] = {
        { 6, 1, 2, 4, 3, 5, 9 }, { 9, 5, 3, 9, 4, 2, 1, 6 }, { 3, 5, 1, 6, 2, 4, 9 }, { 2, 9, 9, 9, 1, 5, 4, 3, 6 },
    };
    static const size_t counts[] = { 7, 8, 7, 9 };
    for (size_t i = 0; i < 4; i++) {
        struct wire w;
        put_sections(&w, orders[i], counts[i]);
        expect_main(&w, NULL);
        struct csn_index *index;
        struct csn_index_info info;
        assert_int_equal(csn_index_open_memory(w.bytes, w.size, NULL, &index, NULL), CSN_OK);
        csn_index_get_info(index, &info, sizeof(info));
        assert_int_equal(info.uuid_size, 32);
        assert_int_equal(info.uuid_bytes, 40);
        assert_int_equal(info.uuid[31], 0xab);
        expect_sections(index, orders[i], counts[i], w.size);
        csn_index_close(index);
        wire_deinit(&w);
    }
}

/* The last one of a type counts; verify tells. */
static void duplicates(void **state) {
    (void)state;
    static const uint32_t types[] = { 3, 1, 2, 4, 5, 3 };
    struct wire w;
    put_sections(&w, types, 6);
    expect_main(&w, "directory+0x78: a second section of type 3, need one");
    wire_patch(&w, 0x14 + 4, 0, 8); /* the first one does not matter */
    wire_patch(&w, 0x14 + 12, 1, 8);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(w.bytes, w.size, NULL, &index, NULL), CSN_OK);
    csn_index_close(index);
    wire_deinit(&w);
}

static void expect_refused(const struct wire *w, csn_status status, const char *text) {
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_index_open_memory(w->bytes, w->size, NULL, &index, &err), status);
    assert_string_equal(csn_error_text(&err), text);
}

static void expect_patched(size_t off, uint64_t value, unsigned size, csn_status status, const char *text) {
    struct wire w;
    put_example(&w, false);
    wire_patch(&w, off, value, size);
    expect_refused(&w, status, text);
    wire_deinit(&w);
}

static void refusals(void **state) {
    (void)state;
    expect_patched(6, 3, 1, CSN_E_FORMAT, "header+0x6: address offset size 3, need 1, 2, 4 or 8");
    expect_patched(7, 1, 1, CSN_E_UNSUPPORTED, "header+0x7: string table encoding 1 is not supported, only 0 is");
    expect_patched(16, 0, 4, CSN_E_FORMAT, "header+0x10: 0 functions, need > 0");
    expect_patched(16, 2, 4, CSN_E_FORMAT, "address table+0x8c: section of 0x1 bytes, need 0x2 for 2 functions");
    expect_patched(0x28 + 12, 9, 8, CSN_E_FORMAT,
                   "info offset table+0x90: section of 0x9 bytes, need 0x8 for 1 functions");
    expect_patched(0x28 + 12, 0, 8, CSN_E_FORMAT, "directory+0x28: section of type 2 has 0 bytes, need > 0");
    expect_patched(0x64 + 12, 0x15, 8, CSN_E_TRUNCATED,
                   "directory+0x64: section of type 5: 0x15 bytes at 0xb4, file has 0xc8 bytes");
    expect_patched(0x64 + 4, UINT64_MAX, 8, CSN_E_TRUNCATED,
                   "directory+0x64: section of type 5: 0x14 bytes at 0xffffffffffffffff, file has 0xc8 bytes");
    expect_patched(0x98, 2, 4, CSN_E_TRUNCATED, "file table+0x98: section of 0x14 bytes, need 0x24 for 2 files");
    expect_patched(0x3c + 12, 3, 8, CSN_E_TRUNCATED, "file table+0x98: section of 3 bytes, need >= 4");
    static const char *const names[] = { "address table", "info offset table", "string table", "file table",
                                         "FunctionInfo" };
    static const size_t at[] = { 0x14, 0x28, 0x50, 0x3c, 0x64 };
    for (uint32_t type = 1; type <= 5; type++) {
        char text[100];
        snprintf(text, sizeof text, "directory+0x14: no section of type %u (%s)", type, names[type - 1]);
        expect_patched(at[type - 1], 77, 4, CSN_E_FORMAT, text);
    }
    struct wire w;
    put_example(&w, false);
    w.size = 0x78;
    for (size_t k = 0; k < 5; k++) wire_patch(&w, 0x14 + k * 20 + 4, 0, 8);
    expect_refused(&w, CSN_E_TRUNCATED, "directory+0x78: entry 5 ends at 0x8c, file has 0x78 bytes");
    wire_deinit(&w);
}

static void expect_problem(size_t off, uint64_t value, unsigned size, const char *text) {
    struct wire w;
    put_example(&w, false);
    wire_patch(&w, off, value, size);
    struct csn_index *index;
    struct csn_verify_counts counts;
    struct problems problems = { 0, "" };
    assert_int_equal(csn_index_open_memory(w.bytes, w.size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, keep_first, &problems, &counts, NULL), CSN_OK);
    assert_string_equal(problems.text, text);
    csn_index_close(index);
    wire_deinit(&w);
}

static void problems_of_sections(void **state) {
    (void)state;
    expect_problem(0x14 + 4, 0x14, 8, "directory+0x14: section of type 1 at 0x14, need >= 0x8c");
    expect_problem(0x28 + 4, 0x8c, 8, "directory+0x28: section of type 2 at 0x8c, need a multiple of 8");
    expect_problem(0x50 + 4, 0xa8, 8, "directory+0x50: section of type 3 at 0xa8 overlaps that of type 4 at 0x98");
    expect_problem(0x78 + 4, 1, 8, "directory+0x78: end entry holds 0x1, 0x0, need 0, 0");
    expect_problem(0x90, 1, 8, "FunctionInfo+0xb5: record of function 0, need a multiple of 4");
    expect_problem(0x90, 0x14, 8, "info offset table+0x90: record 0 at 0x14, section has 0x14 bytes");
    expect_problem(0x90, 9, 8, "FunctionInfo+0xbd: record of 11 bytes, need >= 12");
    expect_problem(0xb4 + 4, UINT64_MAX, 8, "FunctionInfo+0xb8: name: string 0xffffffffffffffff, need < 0x6");
    expect_problem(0x9c, 1, 8, "file table+0x9c: file 0 is {0x1, 0x0}, need {0, 0}");
}

/* ---- damage ---- */

static void fill_rich(struct model_sample *s) {
    uint64_t seed = 99;
    model_sample_random_names(s, 0);
    for (uint32_t i = 0; i < 12; i++) model_sample_random_function(s, 0x1000 + 0x200 * i, &seed);
}

static void use(const struct csn_index *index) {
    struct csn_frame frames[4];
    struct csn_frame_ref refs[4];
    struct csn_verify_counts counts;
    size_t count;
    struct csn_section section;
    for (uint32_t i = 0; csn_index_section(index, i, &section, NULL) == CSN_OK; i++) assert_true(section.size > 0);
    for (uint64_t addr = 0xff0; addr < 0x2900; addr += 37) {
        (void)csn_index_lookup(index, addr, frames, 4, &count, NULL);
        (void)csn_index_lookup_refs(index, addr, CSN_LOOKUP_LLVM, refs, 4, NULL, NULL);
    }
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
}

static struct csn_bytes rich_file(bool big) {
    struct model_sample s;
    model_sample_init(&s, NULL);
    s.model.image.big_endian = big;
    fill_rich(&s);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csn_bytes out = write_sample(&s, CSNI_GSYM_WRITE_V2);
    model_sample_deinit(&s);
    return out;
}

/* Each length in a block of exactly that length, so that a sanitizer sees any read past it. */
static void every_truncation(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct csn_bytes file = rich_file(big);
        for (size_t size = 0; size < file.size; size++) {
            uint8_t *copy = malloc(size ? size : 1);
            struct csn_index *index;
            struct csn_error err = CSN_ERROR_INIT;
            assert_non_null(copy);
            memcpy(copy, file.ptr, size);
            assert_int_equal(csn_index_open_memory(copy, size, NULL, &index, &err), CSN_E_TRUNCATED);
            assert_int_not_equal(err.text[0], 0);
            free(copy);
        }
        csn_bytes_free(&file);
    }
}

/* Whatever comes, nothing is read outside the file; what opens is transcoded, too. */
static void damaged(void **state) {
    (void)state;
    struct csn_bytes file = rich_file(false);
    uint64_t seed = 5;
    uint8_t *copy = malloc(file.size);
    struct csn_convert_report *report = malloc(sizeof *report);
    assert_non_null(copy);
    assert_non_null(report);
    size_t opened = 0;
    for (size_t round = 0; round < 6 * file.size; round += SWEEP_STEP) {
        struct csn_index *index;
        struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
        struct csn_bytes out;
        memcpy(copy, file.ptr, file.size);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (round < file.size) copy[round] = (uint8_t)(seed >> 40);
        else
            for (int flips = 0; flips < 3; flips++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                copy[(seed >> 33) % file.size] ^= (uint8_t)(1u << (seed >> 29 & 7));
            }
        options.accelerator_bytes = UINT64_MAX;
        if (csn_index_open_memory(copy, file.size, &options, &index, NULL) != CSN_OK) continue;
        opened++;
        use(index);
        csn_index_close(index);
        if (csn_convert_memory(copy, file.size, NULL, &out, report, NULL) == CSN_OK) csn_bytes_free(&out);
    }
    assert_true(opened > 3 * file.size / SWEEP_STEP);
    free(report);
    free(copy);
    csn_bytes_free(&file);
}

/* ---- more than 4 GiB ---- */

enum { TABLES_END = 0x100 };
#define GIB ((uint64_t)1 << 30)

/* A file of zeros but for what the tests put there; NULL where the system does not give that much address space. */
static uint8_t *sparse_file(uint64_t size, uint64_t strings, uint64_t strings_size, uint64_t records, uint64_t records_size) {
    void *map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return NULL;
    struct wire w;
    wire_init(&w, false);
    wire_u32(&w, 0x4753594d);
    wire_u16(&w, 2);
    wire_u8(&w, 1);
    wire_u8(&w, 0);
    wire_u64(&w, 0x1000);
    wire_u32(&w, 1);
    put_entry(&w, 1, 0x90, 1);
    put_entry(&w, 2, 0x98, 8);
    put_entry(&w, 4, 0xa0, 0x24);
    put_entry(&w, 3, strings, strings_size);
    put_entry(&w, 5, records, records_size);
    put_entry(&w, 0, 0, 0);
    wire_align(&w, 8);
    wire_u64(&w, 0);
    wire_u64(&w, records_size - 0x100); /* the record */
    wire_u32(&w, 2);
    wire_fill(&w, 0, 16);
    wire_u64(&w, strings_size - 6); /* file 1 */
    wire_u64(&w, strings_size - 3);
    assert_true(w.size <= TABLES_END);
    memcpy(map, w.bytes, w.size);
    wire_deinit(&w);
    uint8_t *file = map;
    memcpy(file + strings + strings_size - 16, "\0\0main\0\0\0\0/d\0f.", 16);
    file[strings + strings_size - 1] = 0;
    wire_init(&w, false);
    wire_u32(&w, 0x10);
    wire_u64(&w, strings_size - 14);
    wire_u32(&w, 1);
    wire_u32(&w, 5);
    wire_bytes(&w, "\x00\x00\x07\x04\x00", 5); /* a row at the start, line 7 */
    wire_u64(&w, 0);
    memcpy(file + records + records_size - 0x100, w.bytes, w.size);
    wire_deinit(&w);
    return file;
}

static void expect_answer(const struct csn_index *index) {
    struct csn_frame frame;
    size_t count;
    assert_int_equal(csn_index_lookup(index, 0x1005, &frame, 1, &count, NULL), CSN_OK);
    assert_memory_equal(frame.name.ptr, "main", 5);
    assert_memory_equal(frame.directory.ptr, "/d", 3);
    assert_int_equal(frame.line, 7);
}

static void large_files(void **state) {
    (void)state;
    uint64_t size = 12 * GIB;
    uint8_t *file = sparse_file(size, TABLES_END, 5 * GIB, 6 * GIB, 6 * GIB);
    if (!file) skip();
    struct csn_index *index;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    for (int accelerated = 0; accelerated < 2; accelerated++) {
        options.accelerator_bytes = accelerated ? 1 << 20 : 0;
        assert_int_equal(csn_index_open_memory(file, (size_t)size, &options, &index, NULL), CSN_OK);
        expect_answer(index);
        struct csn_function function;
        assert_int_equal(csn_index_function(index, 0, &function, NULL), CSN_OK);
        assert_int_equal(function.record_offset, size - 0x100);
        csn_index_close(index);
    }
    munmap(file, (size_t)size);
    /* The strings are read one by one when they are verified: few of them here. */
    file = sparse_file(size, TABLES_END, 0x20, 6 * GIB, 6 * GIB);
    if (!file) skip();
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_open_memory(file, (size_t)size, NULL, &index, NULL), CSN_OK);
    expect_answer(index);
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0);
    csn_index_close(index);
    munmap(file, (size_t)size);
}

/* A sink that keeps the first and the last write, and counts. */
struct counting {
    uint64_t announced, at, writes;
    uint8_t first[4096], last[256];
    size_t last_size;
};
static csn_status count_reserve(void *context, uint64_t size, struct csn_error *err) {
    (void)err;
    ((struct counting *)context)->announced = size;
    return CSN_OK;
}
static csn_status count_write(void *context, uint64_t off, const void *bytes, size_t size, struct csn_error *err) {
    (void)err;
    struct counting *c = context;
    assert_int_equal(off, c->at);
    if (!c->writes++) {
        assert_true(size <= sizeof c->first);
        memcpy(c->first, bytes, size);
    }
    c->last_size = size <= sizeof c->last ? size : 0;
    memcpy(c->last, bytes, c->last_size);
    c->at += size;
    return CSN_OK;
}

/* Two functions, the second one's name after a string of `size` bytes, which are never looked at. */
static void link_large(struct model_sample *s, uint64_t size) {
    model_sample_init(s, NULL);
    model_sample_function(s, 0x1000, 0x10, "f");
    model_sample_function(s, 0x2000, 0x10, "g");
    assert_int_equal(model_sample_link(s), CSN_OK);
    s->model.strings[1].len = (size_t)size;
}

static void large_strings(void **state) {
    (void)state;
    static const enum csni_gsym_target targets[] = { CSNI_GSYM_WRITE_V2, CSNI_GSYM_WRITE_ANY };
    if (sizeof(size_t) < 8) skip();
    for (size_t i = 0; i < 2; i++) {
        struct model_sample s;
        struct counting c = { 0 };
        struct csni_sink sink = { count_reserve, count_write, &c, false };
        link_large(&s, 5 * GIB);
        assert_int_equal(csni_gsym_write(&s.model, targets[i], NULL, &sink, &s.report, NULL), CSN_OK);
        assert_int_equal(c.first[4], 2);
        assert_int_equal(c.at, c.announced);
        assert_int_equal(c.at, s.report.output_bytes);
        assert_int_equal(s.report.string_bytes, 5 * GIB + 4);
        assert_int_equal(c.last_size, 2 * 20); /* the records */
        struct csni_span name = { c.last + 20 + 4, 8 };
        assert_int_equal(csni_get64(name.ptr, false), 5 * GIB + 2);
        model_sample_deinit(&s);
    }
}

/* Version 1 says what it lacks; where it can hold the model, it is chosen. */
static void limits_of_version_1(void **state) {
    (void)state;
    static const struct { uint64_t size; const char *text; } cases[] = {
        { UINT32_MAX - 3, "StringTable+0x0: names need 4294967296 bytes, GSYM version 1 holds 4294967295; version 2 (--to "
                          "gsym-v2) has room" },
        { UINT32_MAX - 40, "the index needs 4294967364 bytes, GSYM version 1 holds 4294967295; version 2 (--to gsym-v2) "
                           "has room" },
        { UINT32_MAX - 112, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_sample s;
        struct counting c = { 0 };
        struct csni_sink sink = { count_reserve, count_write, &c, false };
        struct csn_error err = CSN_ERROR_INIT;
        link_large(&s, cases[i].size);
        csn_status status = csni_gsym_write(&s.model, CSNI_GSYM_WRITE_V1, NULL, &sink, &s.report, &err);
        assert_int_equal(status, cases[i].text ? CSN_E_LIMIT : CSN_OK);
        if (cases[i].text) {
            assert_string_equal(csn_error_text(&err), cases[i].text);
            assert_int_equal(c.writes, 0);
        } else {
            assert_int_equal(c.at, UINT32_MAX - 3);
        }
        c = (struct counting){ 0 };
        assert_int_equal(csni_gsym_write(&s.model, CSNI_GSYM_WRITE_ANY, NULL, &sink, &s.report, NULL), CSN_OK);
        assert_int_equal(c.first[4], cases[i].text ? 2 : 1);
        model_sample_deinit(&s);
    }
}

static void long_uuids(void **state) {
    (void)state;
    static const uint8_t uuid[64] = { 1, 2, 3 };
    struct model_sample s;
    model_sample_init(&s, NULL);
    fill_example(&s);
    s.model.image.uuid = (struct csni_span){ uuid, sizeof uuid };
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csn_bytes out = write_sample(&s, CSNI_GSYM_WRITE_ANY);
    assert_int_equal(out.ptr[4], 2);
    assert_int_equal(csni_get32(out.ptr + 20, false), 6); /* its section comes first */
    assert_memory_equal(out.ptr + csni_get64(out.ptr + 24, false), uuid, sizeof uuid);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),
        cmocka_unit_test(any_order),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(refusals),
        cmocka_unit_test(problems_of_sections),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(damaged),
        cmocka_unit_test(large_files),
        cmocka_unit_test(large_strings),
        cmocka_unit_test(limits_of_version_1),
        cmocka_unit_test(long_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

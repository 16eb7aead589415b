/* Program databases: what is read of each part, in every layout, and what damage does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pdb/pdb_layout.h"
#include "support/object_sample.h"
#include "convert/pdb/pdb_publics.h"
#include "support/pdb_sample.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

#define MAIN_ROWS "0:C:\\a|m.c:10 8:C:\\inc|box.hpp:30 10:C:\\inc|box.hpp:39 18:C:\\inc|box.hpp:32 20:C:\\a|m.c:11 28:C:\\a|m.c:12"
#define MAIN_CALLS " [1 geo::area 8-20 C:\\a|m.c:11] [2 geo::Box<int>::square 10-18 C:\\inc|box.hpp:31]"
#define OTHERS                                                                                         \
    "; hidden 1050-1060 0:C:\\a|m.c:20; ?main@@YAHXZ 1100-1108 0:C:\\a|m.c:15; ImportedOne 1110-1116" \
    "; asm_label 1140-1180; stub 1180-1200"

static void expect_text(struct pdb_sample *s, const char *want) {
    struct csn_bytes out = { NULL, 0, NULL };
    struct csn_error err = CSN_ERROR_INIT;
    static char text[4096];
    csn_status status = pdb_sample_convert(pdb_sample_build(s), NULL, 1, &out, &err);
    if (status != CSN_OK) fail_msg("%s", csn_error_text(&err));
    pdb_sample_text(out, text, sizeof text);
    csn_bytes_free(&out);
    pdb_sample_deinit(s);
    assert_string_equal(text, want);
}

static void functions_lines_and_calls(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    expect_text(&s, "?main@@YAHXZ 1000-1040 " MAIN_ROWS MAIN_CALLS OTHERS);
}

/* ---- folded functions ---- */

static void expect_name(const struct csni_pdb_publics *publics, bool is_local, const char *name, uint32_t type, const char *want) {
    const struct csni_pdb_code code = {
        .section = 1, .offset = 0x150, .is_local = is_local, .type = type, .name = { name, strlen(name) }
    };
    uint64_t work = 0;
    const struct csn_str got = csni_pdb_function_name(publics, &code, &work);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
    assert_true(work > 0);
}

static void overloaded_functions_by_their_types(void **state) {
    enum { OF_INT = 0x1004, OF_POINTER = 0x1006, NO_FUNCTION = 0x1001 };
    struct pdb_sample s;
    struct csni_pdb *pdb;
    struct csni_pdb_publics publics;
    char text[64];
    (void)state;
    pdb_sample_init(&s);
    s.has_overloads = true;
    assert_int_equal(csni_pdb_open(pdb_sample_build(&s), &csni_libc_allocator, &pdb, NULL), CSN_OK);
    assert_int_equal(csni_pdb_open_types(pdb, NULL), CSN_OK);
    assert_int_equal(csni_pdb_parameters(pdb, OF_INT, text, sizeof text), 3);
    assert_memory_equal(text, "int", 3);
    const size_t size = csni_pdb_parameters(pdb, OF_POINTER, text, sizeof text);
    assert_int_equal(size, strlen("geo::Box<int>const*"));
    assert_memory_equal(text, "geo::Box<int>const*", size);
    for (size_t room = 0; room < size; room++) assert_int_equal(csni_pdb_parameters(pdb, OF_POINTER, text, room), 0);
    assert_int_equal(csni_pdb_parameters(pdb, NO_FUNCTION, text, sizeof text), 0);
    assert_int_equal(csni_pdb_parameters(pdb, 0x7fffffff, text, sizeof text), 0);
    assert_int_equal(csni_pdb_publics_read(&publics, pdb, UINT64_MAX, NULL), CSN_OK);
    expect_name(&publics, false, "geo::over", OF_INT, "?over@geo@@YAHH@Z");
    expect_name(&publics, false, "geo::over", OF_POINTER, "?over@geo@@YAHPEBU?$Box@H@1@@Z");
    expect_name(&publics, false, "geo::lover", 0, "?lover@geo@@YAHH@Z");
    expect_name(&publics, true, "ove", 0, "ove");
    csni_pdb_publics_deinit(&publics);
    csni_pdb_close(pdb);
    pdb_sample_deinit(&s);
}

/* What has no end has no name, and takes no stack without end. */
static void a_type_that_points_to_itself(void **state) {
    enum { OF_INT = 0x1004, OF_POINTER = 0x1006 };
    struct pdb_sample s;
    struct csni_pdb *pdb;
    char text[64];
    (void)state;
    pdb_sample_init(&s);
    s.has_overloads = s.has_endless_type = true;
    assert_int_equal(csni_pdb_open(pdb_sample_build(&s), &csni_libc_allocator, &pdb, NULL), CSN_OK);
    assert_int_equal(csni_pdb_open_types(pdb, NULL), CSN_OK);
    assert_int_equal(csni_pdb_parameters(pdb, OF_POINTER, text, sizeof text), 1);
    assert_int_equal(text[0], '?');
    assert_int_equal(csni_pdb_parameters(pdb, OF_INT, text, sizeof text), 3);
    csni_pdb_close(pdb);
    pdb_sample_deinit(&s);
}

static void scattered_blocks(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.pdb.scattered = true;
    expect_text(&s, "?main@@YAHXZ 1000-1040 " MAIN_ROWS MAIN_CALLS OTHERS);
}

/* A C name has a `_` in front there. */
static void i386(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.machine = 0x14c;
    expect_text(&s, "?main@@YAHXZ 1000-1040 " MAIN_ROWS MAIN_CALLS OTHERS);
}

static void counted_names(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.is_old = true;
    expect_text(&s, "?main@@YAHXZ 1000-1040 " MAIN_ROWS MAIN_CALLS OTHERS);
}

/* Two functions of one name share an id in older Rust programs. A place from which lines would be negative is not
 * that of the call, and one from which a line is 0, as compilers mark code of their own, is. */
static void places_of_one_id(void **state) {
    (void)state;
    struct pdb_sample s;
    static const uint32_t twins[] = { 5, 29, 31, 500 };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        pdb_sample_init(&s);
        s.twin_line = twins[i];
        expect_text(&s, "?main@@YAHXZ 1000-1040 0:C:\\a|m.c:10 8:C:\\inc|box.hpp:0 10:C:\\inc|box.hpp:39 18:C:\\inc|box.hpp:32"
                        " 20:C:\\a|m.c:11 28:C:\\a|m.c:12" MAIN_CALLS OTHERS);
    }
}

/* Link-time code generation. */
static void ids_of_another_module(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.imports = true;
    expect_text(&s, "?main@@YAHXZ 1000-1040 " MAIN_ROWS MAIN_CALLS OTHERS);
}

/* Nothing names the functions that are inlined then: their rows are those of the call. */
static void no_ids(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.has_no_ids = true;
    expect_text(&s, "?main@@YAHXZ 1000-1040 0:C:\\a|m.c:10 8:C:\\a|m.c:11 28:C:\\a|m.c:12" OTHERS);
}

/* The list of streams ends before that of ids: what follows it is not read. */
static void no_stream_of_ids(void **state) {
    (void)state;
    struct pdb_sample s;
    struct csni_pdb *pdb;
    pdb_sample_init(&s);
    s.has_no_module = true;
    assert_int_equal(csni_pdb_open(pdb_sample_build(&s), &csni_libc_allocator, &pdb, NULL), CSN_OK);
    pdb->streams.count = PDB_STREAM_IPI;
    pdb->streams.items[PDB_STREAM_IPI].size = UINT32_MAX;
    assert_int_equal(csni_pdb_open_types(pdb, NULL), CSN_OK);
    assert_int_equal(pdb->ids.count, 0);
    pdb->streams.count = PDB_S_COUNT;
    csni_pdb_close(pdb);
    pdb_sample_deinit(&s);
}

/* Each function has its own lines, and not those of the others that were folded into it. */
static void folded_functions(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.has_folded = true;
    expect_text(&s, "?main@@YAHXZ 1000-1040 " MAIN_ROWS MAIN_CALLS
                    "; hidden 1050-1060 0:C:\\a|m.c:20 8:C:\\a|m.c:21; ?main@@YAHXZ 1100-1108 0:C:\\a|m.c:15"
                    "; ImportedOne 1110-1116; asm_label 1140-1180; stub 1180-1200");
}

static void public_symbols_alone(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.has_no_module = true;
    expect_text(&s, "?folded@@YAHXZ 1000-1010; ?within@@YAXXZ 1010-1180; stub 1180-1200");
}

/* The halves of main went to different places, with their rows and calls. */
static void moved_code(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.has_moves = true;
    expect_text(&s,
                "hidden 1050-1060 0:C:\\a|m.c:20; ?main@@YAHXZ 1100-1108 0:C:\\a|m.c:15; ImportedOne 1110-1116; "
                "asm_label 1140-1180; stub 1180-2000; "
                "?main@@YAHXZ 2000-2020 0:C:\\a|m.c:10 8:C:\\inc|box.hpp:30 10:C:\\inc|box.hpp:39 18:C:\\inc|box.hpp:32" MAIN_CALLS
                "; ?main@@YAHXZ 3020-3040 0:C:\\a|m.c:11 8:C:\\a|m.c:12");
}

static void identity(void **state) {
    (void)state;
    struct pdb_sample s;
    uint8_t guid[16];
    uint32_t age;
    char text[CSNI_PDB_ID_SIZE];
    enum csni_pdb_fit fit;
    pdb_sample_init(&s);
    s.info_age = 7; /* counts tools that added streams */
    struct csni_span file = pdb_sample_build(&s);
    assert_int_equal(csni_pdb_identity(file, &csni_libc_allocator, guid, &age, NULL), CSN_OK);
    assert_memory_equal(guid, pdb_sample_guid, 16);
    assert_int_equal(age, PDB_SAMPLE_AGE);
    csni_pdb_id_text(guid, 0x1a, text);
    assert_string_equal(text, "00112233445566778899AABBCCDDEEFF1A");
    assert_int_equal(csni_pdb_compare(file, &csni_libc_allocator, guid, 16, PDB_SAMPLE_AGE, &fit, text, NULL), CSN_OK);
    assert_int_equal(fit, CSNI_PDB_FITS);
    assert_int_equal(csni_pdb_compare(file, &csni_libc_allocator, guid, 16, 7, &fit, text, NULL), CSN_OK);
    assert_int_equal(fit, CSNI_PDB_HAS_OTHER_ID);
    assert_string_equal(text, "00112233445566778899AABBCCDDEEFF3");
    assert_int_equal(csni_pdb_compare(file, &csni_libc_allocator, guid, 15, 3, &fit, text, NULL), CSN_OK);
    assert_int_equal(fit, CSNI_PDB_HAS_OTHER_ID);
    assert_int_equal(csni_pdb_compare(file, &csni_libc_allocator, NULL, 0, 0, &fit, text, NULL), CSN_OK);
    assert_int_equal(fit, CSNI_PDB_FITS);
    pdb_sample_deinit(&s);
}

/* ---- annotations ---- */

static void expect_runs(const char *annotations, size_t size, csn_status want_status, const char *want) {
    csni_pdb_runs runs = { .alloc = &csni_libc_allocator };
    const struct csni_pdb_inlinee inlinee = { 1, 8, 100 };
    char text[256] = "";
    size_t len = 0;
    assert_int_equal(csni_pdb_read_annotations((struct csni_span){ (const uint8_t *)annotations, size }, &inlinee,
                                               0x1000, &runs, NULL),
                     want_status);
    for (size_t i = 0; i < runs.count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%x-%x:%u:%u", i ? " " : "", runs.items[i].start,
                                runs.items[i].end, runs.items[i].file, runs.items[i].line);
    csni_vec_deinit(&runs);
    assert_string_equal(text, want);
}
#define EXPECT_RUNS(bytes, status, want) expect_runs(bytes, sizeof bytes - 1, status, want)

static void annotations(void **state) {
    (void)state;
    EXPECT_RUNS("", CSN_OK, "");
    EXPECT_RUNS("\x03\x04\x04\x05", CSN_OK, "4-9:8:100");
    EXPECT_RUNS("\x01\x20\x0b\x24\x0b\x36\x04\x02", CSN_OK, "24-2a:8:101 2a-2c:8:100");           /* -1 is 3 */
    EXPECT_RUNS("\x06\x04\x0c\x03\x10\x0c\x04\x20", CSN_OK, "10-13:8:102 30-34:8:102");
    EXPECT_RUNS("\x05\x10\x03\x81\x02\x04\x01", CSN_OK, "102-103:16:100");                       /* two bytes */
    EXPECT_RUNS("\x03\xc0\x00\x01\x02\x04\x01", CSN_OK, "102-103:8:100");                        /* four */
    EXPECT_RUNS("\x06\xc2\x00\x00\x08\x03\x04\x04\x01", CSN_OK, "4-5:8:16777320");               /* the highest bits of four */
    EXPECT_RUNS("\x03\x04\x04\x02\x03\x04\x04\x02", CSN_OK, "4-6:8:100 a-c:8:100");               /* a gap */
    EXPECT_RUNS("\x02\x01\x03\x04\x04\x02\x02\x00\x03\x04\x04\x01", CSN_OK, "a-b:8:100");           /* another part of the function */
    EXPECT_RUNS("\x07\x02\x08\x01\x09\x03\x0a\x03\x0d\x09\x03\x04\x04\x01", CSN_OK, "4-5:8:100");   /* columns */
    EXPECT_RUNS("\x03\x04\x04\x01\x00\x03\x04\x04\x01", CSN_OK, "4-5:8:100");                      /* 0 ends them */
    EXPECT_RUNS("\x03\x04", CSN_OK, "4-5:8:100");                                                   /* without an end: one byte */
    EXPECT_RUNS("\x03\x04\x04\x01\x0e\x01", CSN_E_FORMAT, "4-5:8:100");
    EXPECT_RUNS("\x03\x04\x04\x01\x03", CSN_E_FORMAT, "4-5:8:100");
    EXPECT_RUNS("\x03\x04\x04\x01\x03\xe0\x01\x01\x01", CSN_E_FORMAT, "4-5:8:100");
    EXPECT_RUNS("\x0c\x10\x08\x01\x04\x0c\x10\x02", CSN_OK, "6-16:8:100 16-18:8:100");              /* they overlap, and go down */
    EXPECT_RUNS("\x03\xc0\x00\x20\x00\x04\x01", CSN_OK, "");                                        /* beyond the function */
}

/* ---- damage ---- */

static void expect_failure(struct csni_span file, csn_status code, const char *want) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_pdb *pdb;
    assert_int_equal(csni_pdb_open(file, &csni_libc_allocator, &pdb, &err), code);
    if (!strstr(csn_error_text(&err), want)) fail_msg("\"%s\" is not in \"%s\"", want, csn_error_text(&err));
}

static void patched(size_t off, uint64_t value, unsigned size, csn_status code, const char *want) {
    struct pdb_sample s;
    pdb_sample_init(&s);
    pdb_sample_build(&s);
    wire_patch(&s.file, off, value, size);
    expect_failure(wire_span(&s.file), code, want);
    pdb_sample_deinit(&s);
}

static void what_damage_says(void **state) {
    (void)state;
    struct pdb_sample s;
    patched(0, 'X', 1, CSN_E_UNSUPPORTED, "no program database");
    patched(MSF_BLOCK_SIZE, 1000, 4, CSN_E_FORMAT, "MSF+0x20: blocks of 1000 bytes");
    patched(MSF_BLOCK_SIZE, 256, 4, CSN_E_FORMAT, "need a power of two from 512 to 1048576");
    patched(MSF_DIRECTORY_SIZE, 0x7fffffff, 4, CSN_E_TRUNCATED, "a directory of 0x7fffffff bytes");
    patched(MSF_DIRECTORY_SIZE, 0, 4, CSN_E_FORMAT, "a directory of 0x0 bytes");
    patched(MSF_BLOCK_MAP, 0x10000, 4, CSN_E_TRUNCATED, "block 65536 of a stream lies outside");
    pdb_sample_init(&s);
    s.is_minimal = true;
    expect_failure(pdb_sample_build(&s), CSN_E_UNSUPPORTED, "/DEBUG:FASTLINK");
    pdb_sample_deinit(&s);
}

/* A record that is cut short ends the walk; those before it were given. */
static void records_cut_short(void **state) {
    (void)state;
    static const uint8_t records[] = { 2, 0, 6, 0, 4, 0, 6, 0, 1, 2, 9, 0, 6, 0, 0 }; /* S_END twice, then one of 9 bytes, 3 of which are there */
    for (size_t size = 0; size <= sizeof records; size++) {
        struct csni_span copy = sample_copy((struct csni_span){ records, sizeof records }, size);
        struct csni_pdb_symbol_iter iter = { .records = copy };
        struct csni_pdb_symbol symbol;
        size_t count = 0;
        while (csni_pdb_next_symbol(&iter, &symbol)) {
            assert_int_equal(symbol.kind, 6);
            assert_int_equal(symbol.data.size, 2 * count);
            count++;
        }
        assert_int_equal(count, (size >= 4) + (size >= 10));
        assert_int_equal(iter.damaged, size != 0 && size != 4 && size != 10);
        assert_false(csni_pdb_next_symbol(&iter, &symbol));
        sample_free(copy);
    }
}

/* Each stream takes all blocks of the file: reading them all would take as long as a hostile producer likes. */
static void streams_share_no_blocks(void **state) {
    (void)state;
    struct wire w;
    enum { STREAMS = 16 };
    wire_init(&w, false);
    wire_bytes(&w, MSF_MAGIC, MSF_MAGIC_SIZE);
    wire_u32(&w, 512);
    wire_u32(&w, 1);
    wire_u32(&w, 8);
    wire_u32(&w, 4 + STREAMS * 4 + STREAMS * 4 * 4);
    wire_u32(&w, 0);
    wire_u32(&w, 2);
    wire_fill(&w, 0, 512 - w.size);
    wire_u32(&w, STREAMS); /* block 1: the directory */
    for (int i = 0; i < STREAMS; i++) wire_u32(&w, 4 * 512);
    for (int i = 0; i < STREAMS * 4; i++) wire_u32(&w, (uint32_t)i % 4);
    wire_align(&w, 512);
    wire_u32(&w, 1);
    wire_fill(&w, 0, 8 * 512 - w.size);
    expect_failure(wire_span(&w), CSN_E_TRUNCATED, "streams have 60 blocks together, the file 8");
    wire_deinit(&w);
}

static void exercise(struct csni_span file) {
    struct csn_bytes out = { NULL, 0, NULL };
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = pdb_sample_convert(file, NULL, 1, &out, &err);
    assert_true(status == CSN_OK || err.text[0]);
    csn_bytes_free(&out);
}

static void truncations(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    struct csni_span whole = pdb_sample_build(&s);
    for (size_t size = 0; size < whole.size; size++) {
        uint8_t *copy = malloc(size ? size : 1); /* ends where its block does */
        assert_non_null(copy);
        memcpy(copy, whole.ptr, size);
        exercise((struct csni_span){ copy, size });
        free(copy);
    }
    pdb_sample_deinit(&s);
}

/* Each stream cut at every byte: the container is whole. */
static void truncated_streams(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.imports = true;
    pdb_sample_build(&s);
    for (uint32_t stream = 1; stream < PDB_S_COUNT; stream++) {
        size_t whole = s.pdb.streams[stream].size;
        for (size_t size = 0; size < whole; size++) {
            s.pdb.streams[stream].size = size;
            s.file.size = 0;
            wire_pdb_build(&s.pdb, &s.file);
            exercise(wire_span(&s.file));
        }
        s.pdb.streams[stream].size = whole;
    }
    pdb_sample_deinit(&s);
}

static void changed_bytes(void **state) {
    (void)state;
    static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
    for (unsigned moves = 0; moves < 2; moves++) {
        struct pdb_sample s;
        pdb_sample_init(&s);
        s.has_moves = moves;
        s.imports = !moves;
        struct csni_span whole = pdb_sample_build(&s);
        for (size_t i = 0; i < whole.size; i += SWEEP_STEP) {
            uint8_t old = whole.ptr[i];
            for (size_t v = 0; v < sizeof values; v++) {
                if (values[v] == old) continue;
                s.file.bytes[i] = values[v];
                exercise(whole);
            }
            s.file.bytes[i] = old;
        }
        pdb_sample_deinit(&s);
    }
}

static csn_status convert_step(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *file = context;
    struct csn_bytes out = { NULL, 0, NULL };
    csn_status status = pdb_sample_convert(*file, alloc, 1, &out, NULL);
    if (status == CSN_OK) csn_bytes_free(&out);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    struct pdb_sample s;
    pdb_sample_init(&s);
    s.pdb.scattered = s.imports = s.has_overloads = true;
    struct csni_span file = pdb_sample_build(&s);
    assert_true(test_allocator_sweep(convert_step, &file, 0) > 30);
    assert_true(test_allocator_sweep(convert_step, &file, 1) > 30);
    pdb_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_lines_and_calls), cmocka_unit_test(overloaded_functions_by_their_types),
        cmocka_unit_test(a_type_that_points_to_itself),
        cmocka_unit_test(scattered_blocks),
        cmocka_unit_test(i386),                      cmocka_unit_test(counted_names),
        cmocka_unit_test(places_of_one_id),
        cmocka_unit_test(ids_of_another_module),     cmocka_unit_test(folded_functions),
        cmocka_unit_test(public_symbols_alone),      cmocka_unit_test(moved_code),
        cmocka_unit_test(identity),                  cmocka_unit_test(annotations),
        cmocka_unit_test(no_ids),                    cmocka_unit_test(no_stream_of_ids),
        cmocka_unit_test(records_cut_short),         cmocka_unit_test(what_damage_says),
        cmocka_unit_test(streams_share_no_blocks),   cmocka_unit_test(truncations),
        cmocka_unit_test(truncated_streams),         cmocka_unit_test(changed_bytes),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

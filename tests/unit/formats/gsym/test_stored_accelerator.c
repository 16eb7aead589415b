/* An accelerator stored in a GSYM file: it answers as the records do, `verify` finds every difference, and damage of it is never a
 * read outside the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "formats/gsym/gsym_accel_layout.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/read/gsym_accel.h"
#include "support/sweep.h"
#include "support/test_alloc.h"
#include "wire/wire_gsym.h"

enum { FRAMES = 8, LOW = 0xf80, HIGH = 0x1300 };

static struct csn_bytes convert(struct csni_span file, uint32_t format, uint32_t byte_order, uint32_t flags) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    options.format = format;
    options.byte_order = byte_order;
    options.flags = flags;
    options.threads = 1;
    assert_true(csn_convert_memory(file.ptr, file.size, &options, &out, NULL, NULL) >= 0);
    return out;
}

static struct csn_bytes example(uint32_t format, uint32_t byte_order, uint32_t flags) {
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csn_bytes out = convert(wire_gsym_build(&g), format, byte_order, flags);
    wire_gsym_deinit(&g);
    return out;
}

static struct csn_index *open_bytes(const void *ptr, size_t size) {
    struct csn_index *index = NULL;
    assert_int_equal(csn_index_open_memory(ptr, size, NULL, &index, NULL), CSN_OK);
    return index;
}

static uint64_t stored_bytes(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    assert_int_equal(info.accelerator_bytes, 0);
    return info.stored_accelerator_bytes;
}

static uint64_t problems_of(const struct csn_index *index) {
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    return counts.problems;
}

static void same_str(struct csn_str a, struct csn_str b) {
    assert_int_equal(a.len, b.len);
    if (a.len) assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void same_answer(const struct csn_index *plain, const struct csn_index *fast, uint64_t addr) {
    struct csn_frame a[FRAMES], b[FRAMES];
    struct csn_frame_ref refs[FRAMES];
    struct csn_lookup x, y;
    size_t count = 0, other = 0;
    csn_status status = csn_index_lookup(plain, addr, a, FRAMES, &count, NULL);
    assert_int_equal(csn_index_lookup(fast, addr, b, FRAMES, &other, NULL), status);
    assert_int_equal(count, other);
    for (size_t k = 0; k < count && k < FRAMES; k++) {
        same_str(a[k].name, b[k].name);
        same_str(a[k].directory, b[k].directory);
        same_str(a[k].base, b[k].base);
        assert_true(a[k].line == b[k].line && a[k].offset == b[k].offset && a[k].flags == b[k].flags && a[k].reason == b[k].reason);
    }
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    assert_int_equal(csn_index_lookup_refs(plain, addr, CSN_LOOKUP_DEFAULT, refs, FRAMES, &x, NULL), status);
    assert_int_equal(csn_index_lookup_refs(fast, addr, CSN_LOOKUP_DEFAULT, refs, FRAMES, &y, NULL), status);
    assert_memory_equal(&x, &y, sizeof x);
}

/* The accelerator in a file: its region, and its trailer elsewhere. */
struct parts {
    size_t region, size, trailer;
};

static struct parts accel_of(const struct csn_bytes *file) {
    struct csni_gsym gsym;
    assert_int_equal(csni_gsym_parse(&gsym, (struct csni_span){ file->ptr, file->size }, NULL), CSN_OK);
    assert_non_null(gsym.accel_trailer);
    return (struct parts){ (size_t)(gsym.accel.ptr - gsym.bytes.ptr), gsym.accel.size,
                           (size_t)(gsym.accel_trailer - gsym.bytes.ptr) };
}

static const uint32_t formats[] = { CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2 };

/* ---- what it says ---- */

static void answers(void **state) {
    (void)state;
    for (unsigned k = 0; k < 16; k++) {
        uint32_t accelerate = k & 8 ? CSN_CONVERT_REMOTE_LAYOUT : CSN_CONVERT_ACCELERATE;
        uint32_t order = k & 1 ? CSN_BYTE_ORDER_BIG : CSN_BYTE_ORDER_LITTLE, names = k & 4 ? CSN_CONVERT_NAME_TABLE : 0;
        struct csn_bytes without = example(formats[k >> 1 & 1], order, names);
        struct csn_bytes with = example(formats[k >> 1 & 1], order, names | accelerate);
        struct csn_index *plain = open_bytes(without.ptr, without.size), *fast = open_bytes(with.ptr, with.size);
        assert_int_equal(stored_bytes(plain), 0);
        assert_true(stored_bytes(fast) > 200);
        for (uint64_t addr = LOW; addr < HIGH; addr++) same_answer(plain, fast, addr);
        same_answer(plain, fast, 0);
        same_answer(plain, fast, UINT64_MAX);
        assert_int_equal(problems_of(fast), 0);
        struct parts accel = accel_of(&with);
        assert_int_equal(accel.region % CSNI_ACCEL_PAGE, 0);
        assert_true(accel.trailer + CSNI_ACCEL_TRAILER < accel.region);
        csn_index_close(plain);
        csn_index_close(fast);
        csn_bytes_free(&without);
        csn_bytes_free(&with);
    }
}

/* An index that is accelerated, and accelerated again, has the bytes of one converted so; without the flag it loses
 * the accelerator. */
static void again(void **state) {
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t format = formats[k & 1], accelerate = k & 2 ? CSN_CONVERT_REMOTE_LAYOUT : CSN_CONVERT_ACCELERATE;
        struct csn_bytes plain = example(format, 0, CSN_CONVERT_NAME_TABLE);
        struct csn_bytes direct = example(format, 0, CSN_CONVERT_NAME_TABLE | accelerate);
        struct csn_bytes later = convert((struct csni_span){ plain.ptr, plain.size }, format, 0, accelerate);
        struct csn_bytes twice = convert((struct csni_span){ later.ptr, later.size }, format, 0, accelerate);
        struct csn_bytes back = convert((struct csni_span){ twice.ptr, twice.size }, format, 0, CSN_CONVERT_NAME_TABLE);
        assert_int_equal(direct.size, later.size);
        assert_memory_equal(direct.ptr, later.ptr, later.size);
        assert_int_equal(twice.size, later.size);
        assert_memory_equal(twice.ptr, later.ptr, later.size);
        assert_int_equal(back.size, plain.size);
        assert_memory_equal(back.ptr, plain.ptr, plain.size);
        csn_bytes_free(&plain);
        csn_bytes_free(&direct);
        csn_bytes_free(&later);
        csn_bytes_free(&twice);
        csn_bytes_free(&back);
    }
}

static void counted(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V2, 0, CSN_CONVERT_ACCELERATE);
    struct csn_index *index = open_bytes(with.ptr, with.size);
    struct csn_stats_sums stats;
    assert_int_equal(csn_index_stats(index, NULL, NULL, &stats, NULL), CSN_OK);
    uint64_t sum = 0;
    for (uint32_t part = 0; part < CSN_PART_COUNT; part++) sum += stats.part_bytes[part];
    assert_int_equal(sum, with.size);
    assert_int_equal(stats.part_bytes[CSN_PART_ACCELERATOR], stored_bytes(index));
    assert_string_equal(csn_part_name(CSN_PART_ACCELERATOR), "accelerator");
    csn_index_close(index);
    csn_bytes_free(&with);
}

/* ---- damage ---- */

static void look_everywhere(const struct csn_index *index) {
    struct csn_frame frames[FRAMES];
    struct csn_frame_ref refs[2 * (CSN_INLINE_DEPTH_MAX + 1)];
    struct csn_batch_answer found[16];
    uint64_t addrs[16], sum = 0;
    for (uint64_t addr = LOW; addr < HIGH; addr += 3) {
        size_t count = 0, done = 0;
        if (csn_index_lookup(index, addr, frames, FRAMES, &count, NULL) == CSN_OK)
            for (size_t k = 0; k < count && k < FRAMES; k++) {
                assert_true(count <= CSN_INLINE_DEPTH_MAX + 1);
                for (size_t i = 0; i < frames[k].name.len; i++) sum += (unsigned char)frames[k].name.ptr[i];
                for (size_t i = 0; i < frames[k].base.len; i++) sum += (unsigned char)frames[k].base.ptr[i];
                for (size_t i = 0; i < frames[k].directory.len; i++) sum += (unsigned char)frames[k].directory.ptr[i];
            }
        for (unsigned k = 0; k < 16; k++) addrs[k] = addr + k * 37;
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        batch.addrs = addrs;
        batch.count = 16;
        batch.answers = found;
        batch.frames = refs;
        batch.frame_capacity = sizeof refs / sizeof *refs;
        assert_int_equal(csn_index_lookup_batch(index, &batch, &done, NULL), CSN_OK);
    }
    assert_true(sum < UINT64_MAX);
}

/* In a block of its own, so that a read past the end is seen. */
static void check_copy(const uint8_t *bytes, size_t size, bool must_tell) {
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    struct csn_index *index;
    if (csn_index_open_memory(copy, size, NULL, &index, NULL) == CSN_OK) {
        look_everywhere(index);
        if (must_tell) assert_true(problems_of(index) > 0);
        csn_index_close(index);
    }
    free(copy);
}

static void every_byte(void **state) {
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct csn_bytes with = example(formats[k], 0, CSN_CONVERT_ACCELERATE);
        struct parts accel = accel_of(&with);
        for (size_t i = 0; i < accel.size + CSNI_ACCEL_TRAILER; i += SWEEP_STEP) {
            uint8_t *byte = with.ptr + (i < accel.size ? accel.region + i : accel.trailer + i - accel.size);
            for (unsigned step = 0; step < 4; step++) {
                static const uint8_t flips[] = { 0x01, 0x80, 0xff, 0x10 };
                *byte ^= flips[step];
                check_copy(with.ptr, with.size, true);
                *byte ^= flips[step];
            }
        }
        csn_bytes_free(&with);
    }
}

static void random_bytes(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V1, 0, CSN_CONVERT_ACCELERATE);
    struct parts accel = accel_of(&with);
    uint8_t *bytes = malloc(with.size);
    assert_non_null(bytes);
    uint64_t seed = 11;
    for (unsigned round = 0; round < 3000 / SWEEP_STEP; round++) {
        memcpy(bytes, with.ptr, with.size);
        /* Tables and blocks, sometimes the trailer's numbers, never its magic number. */
        size_t from = round % 4 == 0 ? accel.trailer : accel.region + CSNI_ACCEL_START;
        size_t to = round % 4 == 0 ? accel.trailer + CSNI_ACCEL_TRAILER - 8 : accel.region + accel.size;
        if (round % 4 == 1) to = from + 100;
        for (unsigned k = 0; k < 1u << round % 9; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[from + (seed >> 20) % (to - from)] = (uint8_t)(seed >> 55);
        }
        check_copy(bytes, with.size, false);
    }
    free(bytes);
    csn_bytes_free(&with);
}

static void cut_short(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V1, 0, CSN_CONVERT_ACCELERATE);
    for (size_t size = 0; size < with.size; size += size < 300 || size > with.size - 300 ? 1 : 61)
        check_copy(with.ptr, size, false);
    csn_bytes_free(&with);
}

/* An accelerator of other records: every answer may be wrong, `verify` tells. */
static void of_another_file(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V1, 0, CSN_CONVERT_ACCELERATE);
    struct csni_gsym gsym;
    assert_int_equal(csni_gsym_parse(&gsym, (struct csni_span){ with.ptr, with.size }, NULL), CSN_OK);
    struct csni_gsym_record record = { .offset = 0 };
    assert_int_equal(csni_gsym_record(&gsym, 0, &record, NULL), CSN_OK);
    with.ptr[record.offset + CSNI_GSYM_R_SIZE] ^= 1;
    check_copy(with.ptr, with.size, true);
    csn_bytes_free(&with);
}

/* The example's file with an accelerator of other buckets: its region is the last part. */
static uint8_t *with_shift(const struct csn_bytes *file, unsigned shift, size_t *out_size) {
    const struct csni_accel_form form = { .shift = shift, .covered = UINT64_MAX };
    struct parts parts = accel_of(file);
    struct csni_gsym gsym;
    struct csn_bytes made;
    assert_int_equal(parts.region + parts.size, file->size);
    assert_int_equal(csni_gsym_parse(&gsym, (struct csni_span){ file->ptr, file->size }, NULL), CSN_OK);
    assert_int_equal(csni_gsym_accel_encode(&made, &gsym, &form, NULL, NULL), CSN_OK);
    size_t size = made.size - CSNI_ACCEL_TRAILER;
    uint8_t *copy = malloc(parts.region + size);
    assert_non_null(copy);
    memcpy(copy, file->ptr, parts.region);
    memcpy(copy + parts.region, made.ptr, size);
    memcpy(copy + parts.trailer, made.ptr + size, CSNI_ACCEL_TRAILER);
    csni_put64(copy + parts.trailer + CSNI_ACCEL_T_REGION, parts.region, false);
    csn_bytes_free(&made);
    *out_size = parts.region + size;
    return copy;
}

/* Which size of buckets a writer chooses is its own affair. */
static void any_shift(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V1, 0, CSN_CONVERT_ACCELERATE);
    struct csn_bytes without = example(CSN_FORMAT_GSYM_V1, 0, 0);
    struct csn_index *plain = open_bytes(without.ptr, without.size);
    for (unsigned shift = CSNI_ACCEL_SHIFT_MIN; shift <= CSNI_ACCEL_SHIFT_MAX; shift++) {
        size_t size;
        uint8_t *copy = with_shift(&with, shift, &size);
        struct csn_index *index = open_bytes(copy, size);
        assert_true(stored_bytes(index) != 0);
        assert_int_equal(problems_of(index), 0);
        for (uint64_t addr = LOW; addr < HIGH; addr++) same_answer(plain, index, addr);
        csn_index_close(index);
        free(copy);
    }
    csn_index_close(plain);
    csn_bytes_free(&without);
    csn_bytes_free(&with);
}

static size_t peak_of_verify(const struct csn_bytes *file) {
    struct test_allocator t;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_verify_counts counts;
    struct csn_index *index;
    test_allocator_init(&t);
    options.allocator = &t.base;
    assert_int_equal(csn_index_open_memory(file->ptr, file->size, &options, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    csn_index_close(index);
    test_allocator_check_empty(&t);
    return t.peak_bytes;
}

/* A trailer of few bytes of code in small buckets, over records of many: no table of such buckets is made for them. */
static void small_buckets(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 8, 0x1000);
    wire_gsym_function(&g, 0x1000, 0x10, "first");
    wire_gsym_function(&g, 0x91000, 0x10, "far");
    struct csn_bytes with = convert(wire_gsym_build(&g), CSN_FORMAT_GSYM_V1, 0, CSN_CONVERT_ACCELERATE);
    wire_gsym_deinit(&g);
    uint8_t *trailer = with.ptr + accel_of(&with).trailer;
    size_t before = peak_of_verify(&with);
    csni_put64(trailer + CSNI_ACCEL_T_COVERED, 0x10, false);
    trailer[CSNI_ACCEL_T_SHIFT] = CSNI_ACCEL_SHIFT_MIN;
    check_copy(with.ptr, with.size, true);
    assert_true(peak_of_verify(&with) <= before);
    csn_bytes_free(&with);
}

/* ---- where it lies ---- */

/* Functions of some lines each: of 2048 and more there is an address sample if lines take enough bytes. */
static struct csn_bytes many_functions(unsigned count, unsigned lines, uint32_t format) {
    enum { LINE_BYTES = 24, FUNCTION_BYTES = 40 };
    size_t room = 200 + (size_t)count * (FUNCTION_BYTES + lines * LINE_BYTES), size;
    char *text = malloc(room);
    assert_non_null(text);
    size = (size_t)snprintf(text, room, "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 many\nFILE 0 /src/many.c\n");
    for (unsigned i = 0; i < count; i++) {
        size += (size_t)snprintf(text + size, room - size, "FUNC %x 40 0 function_%x\n", 0x1000 + i * 0x40, i);
        for (unsigned k = 0; k < lines; k++)
            size += (size_t)snprintf(text + size, room - size, "%x 2 %u 0\n", 0x1000 + i * 0x40 + 2 * k, k * 71 % 997 + 1);
    }
    struct csn_bytes out = convert((struct csni_span){ (const uint8_t *)text, size }, format, 0, CSN_CONVERT_ACCELERATE);
    free(text);
    return out;
}

/* The trailer comes right after the tables, unless it then lay in two pages, or in another one than the address
 * sample after it: then it begins the next page. True: it does. */
static bool begins_page(const struct csn_bytes *file, bool has_sample) {
    struct csni_gsym gsym;
    assert_int_equal(csni_gsym_parse(&gsym, (struct csni_span){ file->ptr, file->size }, NULL), CSN_OK);
    assert_int_equal(gsym.sample_count != 0, has_sample);
    uint64_t tables = csni_gsym_files_end(&gsym), begin = (uint64_t)(gsym.accel_trailer - file->ptr), size = CSNI_ACCEL_TRAILER;
    if (has_sample) size += (uint64_t)gsym.sample_count * gsym.address_size + CSNI_GSYM_SAMPLE_TRAILER;
    assert_int_equal(begin / CSNI_ACCEL_PAGE, (begin + size - 1) / CSNI_ACCEL_PAGE);
    if (begin == tables) return false;
    assert_true(begin % CSNI_ACCEL_PAGE < 8);
    assert_int_not_equal(tables / CSNI_ACCEL_PAGE, (tables + size - 1) / CSNI_ACCEL_PAGE);
    return true;
}

static void one_page(void **state) {
    static const struct { unsigned first, last, lines; uint32_t format; bool has_sample; } cases[] = {
        { 640, 700, 0, CSN_FORMAT_GSYM_V1, false }, { 360, 400, 0, CSN_FORMAT_GSYM_V2, false },
        { 2510, 2565, 12, CSN_FORMAT_GSYM_V1, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned moved = 0, all = cases[i].last - cases[i].first;
        for (unsigned count = cases[i].first; count < cases[i].last; count++) {
            struct csn_bytes with = many_functions(count, cases[i].lines, cases[i].format);
            moved += begins_page(&with, cases[i].has_sample);
            csn_bytes_free(&with);
        }
        assert_true(moved > 3 && moved < all / 2);
    }
}

static csn_status convert_once(void *context, const struct csn_allocator *alloc) {
    const struct csn_bytes *plain = context;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    options.flags = CSN_CONVERT_ACCELERATE;
    options.threads = 1;
    options.allocator = alloc;
    csn_status status = csn_convert_memory(plain->ptr, plain->size, &options, &out, NULL, NULL);
    if (status >= 0) csn_bytes_free(&out);
    return status;
}

static void memory(void **state) {
    (void)state;
    struct csn_bytes plain = example(CSN_FORMAT_GSYM_V1, 0, 0);
    assert_true(test_allocator_sweep(convert_once, &plain, 0) > 5);
    csn_bytes_free(&plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),         cmocka_unit_test(again),        cmocka_unit_test(counted),
        cmocka_unit_test(every_byte),      cmocka_unit_test(random_bytes), cmocka_unit_test(cut_short),
        cmocka_unit_test(of_another_file), cmocka_unit_test(any_shift),    cmocka_unit_test(small_buckets),
        cmocka_unit_test(memory),          cmocka_unit_test(one_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

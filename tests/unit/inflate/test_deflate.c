/* object/: zlib streams. Known answers from streams made symbol by symbol; verdicts and bytes against libdeflate
 * and, where the build has it, zlib. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef CSNI_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef CSN_TEST_HAVE_ZLIB
#include <zlib.h>
#endif

#include "support/deflate_sample.h"
#include "inflate/adler32.h"
#include "inflate/deflate.h"

enum { SLACK = 64 };

struct outcome {
    bool good;
    uint8_t *bytes; /* of malloc() */
    size_t size;
    char fault[64];
};

/* In pieces of `piece` bytes, each into memory of its own size; `room` bytes at most, one more tells that there are more. */
static struct outcome inflate_pieces(struct csni_span data, size_t capacity, size_t piece) {
    struct outcome o = { .good = true, .bytes = malloc(capacity + 1) };
    uint8_t *copy = malloc(data.size + 1); /* so that sanitizers see reads past it */
    memcpy(copy, data.ptr, data.size);
    struct csni_deflate *d = csni_deflate_create((struct csni_span){ copy, data.size }, NULL);
    assert_non_null(d);
    for (size_t given = 1; o.good && given && o.size <= capacity;) {
        size_t want = capacity + 1 - o.size < piece ? capacity + 1 - o.size : piece;
        uint8_t *out = malloc(want + !want);
        o.good = csni_deflate_read(d, out, want, &given);
        assert_true(given <= want);
        memcpy(o.bytes + o.size, out, given);
        o.size += given;
        free(out);
        if (!want) break;
    }
    assert_true(csni_deflate_consumed(d) <= data.size);
    if (!o.good) strncpy(o.fault, csni_deflate_fault(d), sizeof o.fault - 1);
    csni_deflate_destroy(d);
    free(copy);
    return o;
}

static void expect(struct deflate_sample *s, size_t piece) {
    struct outcome o = inflate_pieces(wire_span(&s->stream), s->plain.size, piece);
    if (!o.good) fail_msg("%s after 0x%zx of 0x%zx bytes, pieces of %zu", o.fault, o.size, s->plain.size, piece);
    assert_int_equal(o.size, s->plain.size);
    if (o.size) assert_memory_equal(o.bytes, s->plain.bytes, o.size);
    free(o.bytes);
}

static void expect_in_pieces(struct deflate_sample *s) {
    static const size_t pieces[] = { 1, 7, 1000, 32767, 32768, 65536, 70001, 1 << 20 };
    for (size_t i = s->plain.size > 100000 ? 2 : 0; i < sizeof pieces / sizeof *pieces; i++) expect(s, pieces[i]);
}

static void all_kinds_of_blocks(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 24; seed++) {
        struct deflate_sample s;
        deflate_sample_init(&s, seed);
        for (unsigned i = 0; i < 6; i++) {
            unsigned kind = deflate_sample_pick(&s, 8);
            if (kind == 0) deflate_sample_stored(&s, i == 5, deflate_sample_pick(&s, 3) ? deflate_sample_pick(&s, 65536) : 0);
            else if (kind == 1) deflate_sample_fixed(&s, i == 5);
            else deflate_sample_dynamic(&s, i == 5, 9 + deflate_sample_pick(&s, 7));
            if (kind == 0) continue;
            deflate_sample_anything(&s, deflate_sample_pick(&s, 30000));
            deflate_sample_end_block(&s);
        }
        deflate_sample_end(&s);
        expect_in_pieces(&s);
        deflate_sample_deinit(&s);
    }
}

static void each_length_at_each_distance(void **state) {
    (void)state;
    static const unsigned distances[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 257, 24577, 32767, 32768 };
    for (unsigned longest = 9; longest <= 15; longest += 3) {
        struct deflate_sample s;
        deflate_sample_init(&s, longest);
        deflate_sample_stored(&s, false, 40000);
        deflate_sample_dynamic(&s, true, longest);
        for (unsigned size = 3; size <= 258; size++)
            for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
                deflate_sample_match(&s, size, distances[i]);
                deflate_sample_literal(&s, size & 0xff);
            }
        deflate_sample_end_block(&s);
        deflate_sample_end(&s);
        expect_in_pieces(&s);
        deflate_sample_deinit(&s);
    }
}

static void nothing_at_all(void **state) {
    (void)state;
    struct deflate_sample s;
    deflate_sample_init(&s, 1);
    deflate_sample_fixed(&s, true);
    deflate_sample_end_block(&s);
    deflate_sample_end(&s);
    expect_in_pieces(&s);
    deflate_sample_deinit(&s);
}

/* What begins with a good block of 600 literals, so that the fast loop sees the rest, or with nothing. */
static void refuse(void (*put)(struct deflate_sample *), const char *fault) {
    for (int past = 0; past < 2; past++) {
        struct deflate_sample s;
        deflate_sample_init(&s, 5);
        deflate_sample_fixed(&s, false);
        for (int i = 0; i < 600 * past; i++) deflate_sample_literal(&s, 'a');
        deflate_sample_end_block(&s);
        put(&s);
        deflate_sample_bits(&s, 0, (8 - s.count) % 8);
        wire_fill(&s.stream, 0, 1000 * (size_t)past + 8);
        struct outcome o = inflate_pieces(wire_span(&s.stream), 1 << 20, 1 << 20);
        assert_false(o.good);
        assert_string_equal(o.fault, fault);
        assert_int_equal(o.size, s.plain.size);
        assert_memory_equal(o.bytes, s.plain.bytes, o.size);
        free(o.bytes);
        deflate_sample_deinit(&s);
    }
}

static void block_of_type_3(struct deflate_sample *s) { deflate_sample_bits(s, 1 | 3 << 1, 3); }
static void stored_size_of_two_minds(struct deflate_sample *s) {
    deflate_sample_bits(s, 1, 3);
    deflate_sample_bits(s, 0, (8 - s->count) % 8);
    wire_u32(&s->stream, 0x12341234);
}
static void dynamic_of_287_lengths(struct deflate_sample *s) { deflate_sample_bits(s, 1 | 2 << 1 | 30 << 3, 17); }
static void dynamic_of_31_distances(struct deflate_sample *s) { deflate_sample_bits(s, 1 | 2 << 1 | 30 << 8, 17); }
static void no_code_sizes(struct deflate_sample *s) { deflate_sample_bits(s, 1 | 2 << 1, 17 + 12); }
static void too_many_code_sizes(struct deflate_sample *s) {
    deflate_sample_bits(s, 1 | 2 << 1, 17);
    deflate_sample_bits(s, 0x249, 12); /* four codes of one bit */
}
/* Codes of code sizes for what the others need: 18 and 1 of one bit each. */
static void begin_sizes(struct deflate_sample *s) {
    deflate_sample_bits(s, 1 | 2 << 1 | 14 << 13, 17);
    for (unsigned i = 0; i < 18; i++) deflate_sample_bits(s, i == 2 || i == 17, 3); /* 18, 1 */
}
static void sizes_of_zero(struct deflate_sample *s, unsigned count) {
    deflate_sample_bits(s, 1, 1);
    deflate_sample_bits(s, count - 11, 7);
}
static void no_end_of_block(struct deflate_sample *s) {
    begin_sizes(s);
    deflate_sample_bits(s, 0, 1);
    sizes_of_zero(s, 138);
    sizes_of_zero(s, 118);
    deflate_sample_bits(s, 0, 1);
}
static void too_many_sizes(struct deflate_sample *s) {
    begin_sizes(s);
    sizes_of_zero(s, 138);
    sizes_of_zero(s, 138);
}
static void three_codes_of_one_bit(struct deflate_sample *s) {
    begin_sizes(s);
    deflate_sample_bits(s, 0, 2);
    sizes_of_zero(s, 138);
    sizes_of_zero(s, 116);
    deflate_sample_bits(s, 0, 2);
}
static void code_that_nobody_has(struct deflate_sample *s) {
    begin_sizes(s);
    sizes_of_zero(s, 138);
    sizes_of_zero(s, 118);
    deflate_sample_bits(s, 0, 2); /* one symbol, the end of the block, and one distance */
    deflate_sample_bits(s, 1, 1);
}
static void length_286(struct deflate_sample *s) {
    deflate_sample_fixed(s, true);
    deflate_sample_symbol(s, 286);
}
static void distance_30(struct deflate_sample *s) {
    deflate_sample_fixed(s, true);
    deflate_sample_literal(s, 1);
    deflate_sample_symbol(s, 257);
    deflate_sample_distance(s, 30);
}
static void distance_too_far(struct deflate_sample *s) {
    deflate_sample_fixed(s, true);
    deflate_sample_literal(s, 1);
    deflate_sample_symbol(s, 257);
    deflate_sample_distance(s, 29);
    deflate_sample_bits(s, 0, 13);
}
static void wrong_checksum(struct deflate_sample *s) {
    deflate_sample_fixed(s, true);
    deflate_sample_end_block(s);
    deflate_sample_end(s);
    s->stream.bytes[s->stream.size - 1] ^= 1;
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    refuse(block_of_type_3, "invalid block type");
    refuse(stored_size_of_two_minds, "invalid stored block");
    refuse(dynamic_of_287_lengths, "too many codes of lengths or distances");
    refuse(dynamic_of_31_distances, "too many codes of lengths or distances");
    refuse(no_code_sizes, "invalid code of code sizes");
    refuse(too_many_code_sizes, "invalid code of code sizes");
    refuse(no_end_of_block, "no code ends the block");
    refuse(too_many_sizes, "invalid repeat of a code size");
    refuse(three_codes_of_one_bit, "invalid code of literals and lengths");
    refuse(code_that_nobody_has, "invalid code");
    refuse(length_286, "invalid length");
    refuse(distance_30, "invalid distance");
    refuse(distance_too_far, "reference to before its begin");
    refuse(wrong_checksum, "wrong checksum");
}

static void refuses_headers(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[2];
        const char *fault;
    } headers[] = { { { 0x78, 0x9d }, "invalid header" },
                    { { 0x79, 0x1c }, "invalid header" },
                    { { 0x88, 0x1c }, "invalid header" },
                    { { 0x78, 0xbb }, "needs a dictionary" } };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct outcome o = inflate_pieces((struct csni_span){ headers[i].bytes, 2 }, 10, 10);
        assert_false(o.good);
        assert_string_equal(o.fault, headers[i].fault);
        free(o.bytes);
    }
}

/* A stream of all kinds of blocks. */
static void make_mixed(struct deflate_sample *s, size_t size) {
    deflate_sample_init(s, 77);
    deflate_sample_stored(s, false, 20);
    for (unsigned longest = 10; longest <= 15; longest++) {
        deflate_sample_dynamic(s, false, longest);
        deflate_sample_anything(s, size);
        deflate_sample_end_block(s);
    }
    deflate_sample_fixed(s, true);
    deflate_sample_anything(s, size);
    deflate_sample_end_block(s);
    deflate_sample_end(s);
}

static void cut_at_every_byte(void **state) {
    (void)state;
    struct deflate_sample s;
    make_mixed(&s, 300);
    for (size_t size = 0; size < s.stream.size; size++) {
        struct outcome o = inflate_pieces((struct csni_span){ s.stream.bytes, size }, s.plain.size, 1 << 20);
        assert_false(o.good);
        assert_string_equal(o.fault, "it ends early");
        assert_true(o.size <= s.plain.size);
        if (o.size) assert_memory_equal(o.bytes, s.plain.bytes, o.size);
        free(o.bytes);
    }
    deflate_sample_deinit(&s);
}

/* ---- against others ---- */

static bool verdict_of_libdeflate(struct csni_span data, uint8_t *out, size_t capacity, size_t *size, bool *known) {
    *known = false;
#ifdef CSNI_HAVE_LIBDEFLATE
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result r = libdeflate_zlib_decompress(d, data.ptr, data.size, out, capacity, size);
    libdeflate_free_decompressor(d);
    *known = true;
    return r == LIBDEFLATE_SUCCESS;
#else
    (void)data, (void)out, (void)capacity, (void)size;
    return false;
#endif
}

#ifdef CSN_TEST_HAVE_ZLIB
static bool verdict_of_zlib(struct csni_span data, uint8_t *out, size_t capacity, size_t *size) {
    z_stream z = {
        .next_in = (uint8_t *)(uintptr_t)data.ptr, .avail_in = (uInt)data.size, .next_out = out, .avail_out = (uInt)capacity
    };
    assert_int_equal(inflateInit(&z), Z_OK);
    int result = inflate(&z, Z_FINISH);
    *size = z.total_out;
    inflateEnd(&z);
    return result == Z_STREAM_END;
}
#endif

/* Every verdict on changed data is that of zlib, whose refusals libdeflate does not always share, and so are the bytes. */
static void compare_damaged(struct csni_span data, size_t plain_size, uint32_t seed, unsigned changes) {
    size_t capacity = plain_size + 1000, size = 0;
    uint8_t *copy = malloc(data.size), *out = malloc(capacity + SLACK);
    struct deflate_sample dice = { .seed = seed };
    for (unsigned i = 0; i < changes; i++) {
        memcpy(copy, data.ptr, data.size);
        for (unsigned k = deflate_sample_pick(&dice, 3) + 1; k > 0; k--)
            copy[deflate_sample_pick(&dice, (uint32_t)data.size)] ^= (uint8_t)(1u << deflate_sample_pick(&dice, 8));
        struct csni_span damaged = { copy, data.size };
        struct outcome o = inflate_pieces(damaged, capacity, 1 + deflate_sample_pick(&dice, 100000));
        bool good = o.good && o.size <= capacity, known;
        bool theirs = verdict_of_libdeflate(damaged, out, capacity, &size, &known);
        if (known && good) assert_true(theirs);
        if (known && good && theirs) {
            assert_int_equal(size, o.size);
            if (size) assert_memory_equal(out, o.bytes, size);
        }
#ifdef CSN_TEST_HAVE_ZLIB
        theirs = verdict_of_zlib(damaged, out, capacity, &size);
        assert_int_equal(theirs, good);
        if (theirs) assert_int_equal(size, o.size);
        if (theirs && size) assert_memory_equal(out, o.bytes, size);
#endif
        free(o.bytes);
    }
    free(out);
    free(copy);
}

static void damaged_like_others(void **state) {
    (void)state;
    struct deflate_sample s;
    make_mixed(&s, 900);
    compare_damaged(wire_span(&s.stream), s.plain.size, 3, 3000);
    deflate_sample_deinit(&s);
    make_mixed(&s, 9000);
    compare_damaged(wire_span(&s.stream), s.plain.size, 4, 300);
    deflate_sample_deinit(&s);
}

#if defined(CSNI_HAVE_LIBDEFLATE) || defined(CSN_TEST_HAVE_ZLIB)
/* Something like debug information: records of a few kinds with numbers that repeat. */
static uint8_t *make_records(size_t size) {
    uint8_t *bytes = malloc(size + SLACK);
    struct deflate_sample dice = { .seed = 9 };
    for (size_t at = 0; at < size;) {
        unsigned kind = deflate_sample_pick(&dice, 6);
        bytes[at++] = (uint8_t)kind;
        for (unsigned i = 0; i < kind * 2 && at < size; i++) bytes[at++] = (uint8_t)deflate_sample_pick(&dice, i % 3 ? 200 : 4);
        for (unsigned i = 0; kind == 5 && i < deflate_sample_pick(&dice, 300) && at < size; i++) bytes[at++] = (uint8_t)(i % 7);
    }
    return bytes;
}
#endif

static void streams_of_libdeflate(void **state) {
    (void)state;
#ifdef CSNI_HAVE_LIBDEFLATE
    size_t size = 400000;
    uint8_t *plain = make_records(size), *packed = malloc(size * 2);
    static const int levels[] = { 0, 1, 6, 9, 12 };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct libdeflate_compressor *c = libdeflate_alloc_compressor(levels[i]);
        size_t got = libdeflate_zlib_compress(c, plain, size, packed, size * 2);
        libdeflate_free_compressor(c);
        struct deflate_sample s = { .stream = { .bytes = packed, .size = got }, .plain = { .bytes = plain, .size = size } };
        expect_in_pieces(&s);
        compare_damaged((struct csni_span){ packed, got }, size, (uint32_t)levels[i], 20);
    }
    free(plain);
    free(packed);
#else
    skip();
#endif
}

static void streams_of_zlib(void **state) {
    (void)state;
#ifdef CSN_TEST_HAVE_ZLIB
    size_t size = 400000;
    uint8_t *plain = make_records(size), *packed = malloc(size * 2);
    static const struct {
        int level, strategy;
    } ways[] = { { 0, Z_DEFAULT_STRATEGY }, { 1, Z_DEFAULT_STRATEGY }, { 6, Z_DEFAULT_STRATEGY }, { 9, Z_DEFAULT_STRATEGY },
                 { 6, Z_FIXED },            { 6, Z_RLE },              { 6, Z_HUFFMAN_ONLY },     { 6, Z_FILTERED } };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        z_stream z = { .next_in = plain, .avail_in = (uInt)size, .next_out = packed, .avail_out = (uInt)size * 2 };
        assert_int_equal(deflateInit2(&z, ways[i].level, Z_DEFLATED, 15, 8, ways[i].strategy), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        struct deflate_sample s = { .stream = { .bytes = packed, .size = z.total_out }, .plain = { .bytes = plain, .size = size } };
        deflateEnd(&z);
        expect_in_pieces(&s);
        compare_damaged((struct csni_span){ packed, s.stream.size }, size, (uint32_t)i + 100, 20);
    }
    free(plain);
    free(packed);
#else
    skip();
#endif
}

static void sums(void **state) {
    (void)state;
    static uint8_t bytes[20000];
    memset(bytes, 0xff, sizeof bytes);
    uint32_t a = 1, b = 0;
    for (size_t size = 0; size < sizeof bytes; size++) {
        if (size < 200 || size % 997 == 0) assert_int_equal(csni_adler32(1, bytes, size), b << 16 | a);
        a = (a + bytes[size]) % 65521;
        b = (b + a) % 65521;
    }
    assert_int_equal(csni_adler32(csni_adler32(1, bytes, 777), bytes, 12345), csni_adler32(1, bytes, 777 + 12345));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_blocks), cmocka_unit_test(each_length_at_each_distance),
        cmocka_unit_test(nothing_at_all),      cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(refuses_headers),     cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(damaged_like_others), cmocka_unit_test(streams_of_libdeflate),
        cmocka_unit_test(streams_of_zlib),     cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Checkpoints in a GSYM file: lookups answer as without them, `verify` finds every difference, and damage of them is never a read
 * outside the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "formats/gsym/read/gsym_checkpoint_build.h"
#include "support/test_alloc.h"

enum { FRAMES = 48, BASE = 0x10000, LONG_SIZE = 5000, SHORT_SIZE = 40, DEEP = 40 };

/* ---- the example ---- */

static uint64_t seed;
static uint32_t any(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* A text that grows. */
struct text {
    char *ptr;
    size_t size;
};
enum { TEXT_MAX = 4 << 20 };

static void put(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int size = vsnprintf(t->ptr + t->size, TEXT_MAX - t->size, format, args);
    va_end(args);
    assert_true(size >= 0 && (size_t)size < TEXT_MAX - t->size);
    t->size += (size_t)size;
}

/* Inlined calls of [from, to): siblings in any order, some of two ranges, within each other. */
static void put_inlines(struct text *t, unsigned nest, uint32_t from, uint32_t to) {
    if (to - from < 8 || nest > 6) return;
    uint32_t third = (to - from) / 3, parts[3] = { from, from + third, from + 2 * third };
    bool swap = any(2);
    for (unsigned k = 0; k < 3; k++) {
        uint32_t at = parts[swap ? 2 - k : k], size = third - any(third / 2);
        if (any(4) == 0) continue;
        put(t, "INLINE %u %u %u %u %x %x", nest, any(3000), any(9), any(50), at, size / 2);
        if (any(2)) put(t, " %x %x", at + size / 2 + 1, size - size / 2 - 1);
        put(t, "\n");
        put_inlines(t, nest + 1, at, at + size / 2);
    }
}

/* Calls around each other, as deep as answers go. */
static void put_deep(struct text *t, uint32_t from, uint32_t to) {
    for (unsigned nest = 0; nest < DEEP; nest++) put(t, "INLINE %u %u 1 %u %x %x\n", nest, nest, nest, from, to - from);
}

static void put_function(struct text *t, uint32_t start, uint32_t size, unsigned kind) {
    put(t, "FUNC %x %x 0 function_%x\n", start, size, start);
    if (kind == 1) put_deep(t, start, start + size - 4);
    else if (kind == 2) put_inlines(t, 0, start + 1, start + size - 100);
    for (uint32_t at = start; at < start + size;) {
        uint32_t step = 1 + any(15);
        if (step > start + size - at) step = start + size - at;
        put(t, "%x %x %u %u\n", at, step, any(8) ? 100 + any(60) : any(100000), any(20) ? 1 : any(9));
        at += step;
    }
}

static struct text example_text(unsigned shorts) {
    struct text text = { malloc(TEXT_MAX), 0 }, *t = &text;
    assert_non_null(text.ptr);
    seed = 7;
    put(t, "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 example\n");
    for (unsigned k = 0; k < 9; k++) put(t, "FILE %u /src/dir%u/file%u.c\n", k, k % 3, k);
    for (unsigned k = 0; k < 50; k++) put(t, "INLINE_ORIGIN %u inlined_%u\n", k, k);
    uint32_t at = BASE;
    for (unsigned k = 0; k < 30; k++, at += LONG_SIZE + (k % 4 ? 0u : 700u)) put_function(t, at, LONG_SIZE, k % 5 == 0 ? 1 : 2);
    for (unsigned k = 0; k < shorts; k++, at += SHORT_SIZE) put_function(t, at, SHORT_SIZE - (k % 3 ? 0u : 8u), 0);
    return text;
}

static struct csn_bytes example(uint32_t format, uint32_t byte_order, uint32_t flags, unsigned shorts) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    struct text text = example_text(shorts);
    options.format = format;
    options.byte_order = byte_order;
    options.flags = flags;
    options.threads = shorts ? 2 : 1;
    assert_true(csn_convert_memory(text.ptr, text.size, &options, &out, NULL, NULL) >= 0);
    free(text.ptr);
    return out;
}

static struct csni_gsym parse(const struct csn_bytes *file) {
    struct csni_gsym gsym;
    assert_int_equal(csni_gsym_parse(&gsym, (struct csni_span){ file->ptr, file->size }, NULL), CSN_OK);
    return gsym;
}

/* Without its magic number the file is one without checkpoints. */
static struct csn_bytes without_checkpoints(const struct csn_bytes *file) {
    struct csni_gsym gsym = parse(file);
    struct csn_bytes copy = { malloc(file->size), file->size, NULL };
    assert_non_null(copy.ptr);
    memcpy(copy.ptr, file->ptr, file->size);
    copy.ptr[csni_gsym_checkpoint_head(&gsym) + CSNI_CP_H_MAGIC - file->ptr] ^= 1;
    gsym = parse(&copy);
    assert_null(gsym.checkpoints.entries);
    return copy;
}

static struct csn_index *open_bytes(const struct csn_bytes *file) {
    struct csn_index *index = NULL;
    assert_int_equal(csn_index_open_memory(file->ptr, file->size, NULL, &index, NULL), CSN_OK);
    return index;
}

static uint64_t problems_of(const struct csn_index *index) {
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    return counts.problems;
}

/* ---- answers ---- */

static void same_answer(const struct csn_index *plain, const struct csn_index *fast, uint64_t addr, enum csn_lookup_mode mode) {
    struct csn_frame_ref a[FRAMES], b[FRAMES];
    struct csn_lookup x, y;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    csn_status status = csn_index_lookup_refs(plain, addr, mode, a, FRAMES, &x, NULL);
    assert_int_equal(csn_index_lookup_refs(fast, addr, mode, b, FRAMES, &y, NULL), status);
    assert_memory_equal(&x, &y, sizeof x);
    assert_memory_equal(a, b, sizeof a);
}

static void same_text(struct csn_str a, struct csn_str b) {
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.ptr, b.ptr, a.len);
}

/* Frames with their strings, all of them and the first few. */
static void same_frames(const struct csn_index *plain, const struct csn_index *fast, uint64_t addr) {
    struct csn_frame_ref refs[FRAMES];
    struct csn_frame frames[FRAMES];
    struct csn_lookup found = { .frame_count = 0 };
    csn_status status = csn_index_lookup_refs(plain, addr, CSN_LOOKUP_DEFAULT, refs, FRAMES, &found, NULL);
    for (size_t cap = FRAMES; cap; cap /= 4) {
        size_t count = 0;
        assert_int_equal(csn_index_lookup(fast, addr, frames, cap, &count, NULL), status);
        assert_int_equal(count, found.frame_count);
        for (size_t k = 0; k < count && k < cap; k++) {
            struct csn_frame want;
            csn_index_resolve(plain, &refs[k], &want);
            same_text(frames[k].name, want.name);
            same_text(frames[k].directory, want.directory);
            same_text(frames[k].base, want.base);
            assert_int_equal(frames[k].offset, want.offset);
            assert_int_equal(frames[k].line, want.line);
            assert_int_equal(frames[k].flags, want.flags);
            assert_int_equal(frames[k].reason, want.reason);
        }
    }
}

static void same_batch(const struct csn_index *plain, const struct csn_index *fast, uint64_t from, uint64_t step) {
    enum { COUNT = 16 };
    static struct csn_frame_ref a[COUNT * FRAMES * 4], b[COUNT * FRAMES * 4];
    struct csn_batch_answer x[COUNT], y[COUNT];
    uint64_t addrs[COUNT];
    for (unsigned k = 0; k < COUNT; k++) addrs[k] = from + k * step;
    struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
    size_t done = 0;
    batch.addrs = addrs;
    batch.count = COUNT;
    batch.frame_capacity = sizeof a / sizeof *a;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    batch.answers = x;
    batch.frames = a;
    assert_int_equal(csn_index_lookup_batch(plain, &batch, &done, NULL), CSN_OK);
    batch.answers = y;
    batch.frames = b;
    assert_int_equal(csn_index_lookup_batch(fast, &batch, &done, NULL), CSN_OK);
    assert_memory_equal(x, y, sizeof x);
    assert_memory_equal(a, b, sizeof a);
}

static const uint32_t formats[] = { CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2 };

static void answers(void **state) {
    (void)state;
    for (unsigned k = 0; k < 12; k++) {
        uint32_t order = k & 1 ? CSN_BYTE_ORDER_BIG : CSN_BYTE_ORDER_LITTLE, names = k & 4 ? CSN_CONVERT_NAME_TABLE : 0;
        struct csn_bytes with = example(formats[k >> 1 & 1], order, names, k & 8 ? 3000 : 0);
        struct csni_gsym gsym = parse(&with);
        assert_non_null(gsym.checkpoints.entries);
        assert_true(gsym.checkpoints.call_count > 20);
        assert_int_equal(gsym.sample_count != 0, (k & 8) != 0);
        struct csn_bytes without = without_checkpoints(&with);
        struct csn_index *plain = open_bytes(&without), *fast = open_bytes(&with);
        uint64_t end = BASE + 31 * (LONG_SIZE + 300) + (k & 8 ? 3000 * SHORT_SIZE : 0), step = k < 2 ? 3 : 13;
        for (uint64_t addr = BASE - 3; addr < end; addr += step) same_answer(plain, fast, addr, CSN_LOOKUP_DEFAULT);
        for (uint64_t addr = BASE - 3; addr < end; addr += 31) same_answer(plain, fast, addr, CSN_LOOKUP_LLVM);
        for (uint64_t addr = BASE - 3; addr < end; addr += 11) same_frames(plain, fast, addr);
        for (uint64_t addr = BASE; addr < end; addr += 977) same_batch(plain, fast, addr, 3);
        for (uint64_t addr = BASE; addr < end; addr += 7977) same_batch(plain, fast, addr, 511);
        same_answer(plain, fast, 0, CSN_LOOKUP_DEFAULT);
        same_answer(plain, fast, UINT64_MAX, CSN_LOOKUP_DEFAULT);
        assert_int_equal(problems_of(fast), 0);
        csn_index_close(plain);
        csn_index_close(fast);
        free(without.ptr);
        csn_bytes_free(&with);
    }
}

/* ---- revision 1 ---- */

static void add_function(struct csni_checkpoint_share *share, const struct csni_gsym *gsym, uint32_t idx) {
    struct csni_gsym_record record;
    uint64_t start = csni_gsym_address(gsym, idx);
    struct csni_checkpoint_function f = { .idx = idx, .start = start, .record_at = csni_gsym_info_offset(gsym, idx) };
    assert_int_equal(csni_gsym_record(gsym, idx, &record, NULL), CSN_OK);
    f.next = idx + 1 < gsym->address_count ? csni_gsym_address(gsym, idx + 1) : start + record.size;
    f.shares_start = idx && csni_gsym_address(gsym, idx - 1) == start;
    csni_checkpoint_add(share, gsym, &f, &record);
}

/* The file as it was written before 2026-11-28: its checkpoints are made again, and follow those that it has. */
static struct csn_bytes with_revision_1(const struct csn_bytes *file) {
    struct csni_gsym gsym = parse(file);
    struct csni_checkpoint_share share;
    const struct csni_checkpoint_share *measured = &share;
    struct csni_checkpoint_plan plan;
    csni_checkpoint_share_init(&share, NULL, csni_gsym_address(&gsym, 0), 8, CSNI_CP_REVISION_1);
    for (uint32_t idx = 0; idx < gsym.address_count; idx++) add_function(&share, &gsym, idx);
    csni_checkpoint_share_measure(&share);
    csni_checkpoint_plan(&plan, &measured, 1);
    struct csn_bytes copy = { calloc(1, file->size + (size_t)plan.size), file->size + (size_t)plan.size, NULL };
    assert_non_null(copy.ptr);
    memcpy(copy.ptr, file->ptr, file->size);
    csni_checkpoint_put(&plan, &share, 0, 0, copy.ptr + file->size);
    csni_checkpoint_put_head(&plan, file->size, copy.ptr + (csni_gsym_checkpoint_head(&gsym) - file->ptr));
    csni_checkpoint_share_free(&share);
    return copy;
}

static void older_revision(void **state) {
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct csn_bytes with = example(formats[k & 1], k & 2 ? CSN_BYTE_ORDER_BIG : CSN_BYTE_ORDER_LITTLE, 0, 0);
        struct csn_bytes without = without_checkpoints(&with), older = with_revision_1(&with);
        struct csni_gsym gsym = parse(&older);
        assert_non_null(gsym.checkpoints.entries);
        assert_null(gsym.checkpoints.places);
        struct csn_index *plain = open_bytes(&without), *fast = open_bytes(&older);
        for (uint64_t addr = BASE - 3; addr < BASE + 31 * (LONG_SIZE + 300); addr += 17)
            same_answer(plain, fast, addr, CSN_LOOKUP_DEFAULT);
        for (uint64_t addr = BASE; addr < BASE + 31 * LONG_SIZE; addr += 977) same_batch(plain, fast, addr, 3);
        assert_int_equal(problems_of(fast), 0);
        older.ptr[csni_checkpoint_table(&gsym.checkpoints) + 1000 - older.ptr] ^= 1;
        assert_int_equal(problems_of(fast), 1);
        csn_index_close(plain);
        csn_index_close(fast);
        free(without.ptr);
        free(older.ptr);
        csn_bytes_free(&with);
    }
}

/* Two files of the same content have the same bytes, however they were made. */
static void again(void **state) {
    (void)state;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes direct = example(CSN_FORMAT_GSYM_V1, 0, 0, 3000), second = { NULL, 0, NULL }, fast = { NULL, 0, NULL };
    options.format = CSN_FORMAT_GSYM_V1;
    assert_true(csn_convert_memory(direct.ptr, direct.size, &options, &second, NULL, NULL) >= 0);
    assert_int_equal(second.size, direct.size);
    assert_memory_equal(second.ptr, direct.ptr, direct.size);
    options.flags = CSN_CONVERT_ACCELERATE; /* in place of them */
    assert_true(csn_convert_memory(direct.ptr, direct.size, &options, &fast, NULL, NULL) >= 0);
    struct csni_gsym gsym = parse(&fast);
    assert_null(gsym.checkpoints.entries);
    assert_true(gsym.accel.size > 0);
    csn_bytes_free(&fast);
    csn_bytes_free(&second);
    csn_bytes_free(&direct);
}

static void counted(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V2, 0, 0, 0);
    struct csni_gsym gsym = parse(&with);
    struct csn_index *index = open_bytes(&with);
    struct csn_stats_sums stats;
    assert_int_equal(csn_index_stats(index, NULL, NULL, &stats, NULL), CSN_OK);
    uint64_t sum = 0;
    for (uint32_t part = 0; part < CSN_PART_COUNT; part++) sum += stats.part_bytes[part];
    assert_int_equal(sum, with.size);
    assert_int_equal(stats.part_bytes[CSN_PART_CHECKPOINTS], CSNI_CP_HEAD + csni_checkpoint_bytes(&gsym.checkpoints));
    assert_true(stats.part_bytes[CSN_PART_CHECKPOINTS] < with.size / 6);
    assert_string_equal(csn_part_name(CSN_PART_CHECKPOINTS), "checkpoints");
    csn_index_close(index);
    csn_bytes_free(&with);
}

/* ---- damage ---- */

static void look_around(const struct csn_index *index) {
    struct csn_frame frames[FRAMES];
    struct csn_frame_ref refs[FRAMES];
    struct csn_batch_answer found[1];
    uint64_t sum = 0;
    for (uint64_t addr = BASE; addr < BASE + 31 * LONG_SIZE; addr += 797) {
        size_t count = 0, done = 0;
        if (csn_index_lookup(index, addr, frames, FRAMES, &count, NULL) == CSN_OK)
            for (size_t k = 0; k < count && k < FRAMES; k++)
                for (size_t i = 0; i < frames[k].name.len; i++) sum += (unsigned char)frames[k].name.ptr[i];
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        batch.addrs = &addr;
        batch.count = 1;
        batch.answers = found;
        batch.frames = refs;
        batch.frame_capacity = FRAMES;
        (void)csn_index_lookup_batch(index, &batch, &done, NULL);
    }
    assert_true(sum < UINT64_MAX);
}

/* In a block of its own, so that a read past the end is seen. */
static void check_copy(const uint8_t *bytes, size_t size, bool must_report) {
    struct csn_bytes copy = { malloc(size), size, NULL };
    assert_non_null(copy.ptr);
    memcpy(copy.ptr, bytes, size);
    struct csn_index *index = open_bytes(&copy);
    look_around(index);
    if (must_report) assert_true(problems_of(index) > 0);
    csn_index_close(index);
    free(copy.ptr);
}

static void every_byte(void **state) {
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct csn_bytes with = example(formats[k], 0, 0, 0);
        struct csni_gsym gsym = parse(&with);
        size_t head = (size_t)(csni_gsym_checkpoint_head(&gsym) - with.ptr);
        size_t table = (size_t)(csni_checkpoint_table(&gsym.checkpoints) - with.ptr),
               size = (size_t)csni_checkpoint_bytes(&gsym.checkpoints);
        for (size_t at = 0; at < CSNI_CP_HEAD - 4; at++) { /* without the magic number there is no head */
            with.ptr[head + at] ^= 0x11;
            check_copy(with.ptr, with.size, true);
            with.ptr[head + at] ^= 0x11;
        }
        for (size_t at = 0; at < size; at += 1 + size / 40) {
            with.ptr[table + at] ^= 0x80;
            check_copy(with.ptr, with.size, true);
            with.ptr[table + at] ^= 0x80;
        }
        for (size_t cut = with.size - 40; cut < with.size; cut += 4) check_copy(with.ptr, cut, true);
        csn_bytes_free(&with);
    }
}

static void random_bytes(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V1, 0, 0, 0);
    struct csni_gsym gsym = parse(&with);
    uint8_t *head = with.ptr + (csni_gsym_checkpoint_head(&gsym) - with.ptr);
    uint8_t *table = with.ptr + (csni_checkpoint_table(&gsym.checkpoints) - with.ptr), *copy = malloc(with.size);
    size_t size = (size_t)csni_checkpoint_bytes(&gsym.checkpoints);
    assert_non_null(copy);
    memcpy(copy, with.ptr, with.size);
    for (unsigned round = 0; round < 60; round++) {
        uint8_t *at = round % 3 ? table : head;
        size_t bytes = round % 3 ? size : CSNI_CP_HEAD - 8;
        for (unsigned k = 0; k < 1u << round % 11; k++) at[any((uint32_t)bytes)] = (uint8_t)any(256);
        check_copy(with.ptr, with.size, false);
        memcpy(with.ptr, copy, with.size);
    }
    free(copy);
    csn_bytes_free(&with);
}

/* ---- out of memory ---- */

static csn_status convert_once(void *context, const struct csn_allocator *alloc) {
    const struct csn_bytes *file = context;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    options.threads = 1;
    options.allocator = alloc;
    csn_status status = csn_convert_memory(file->ptr, file->size, &options, &out, NULL, NULL);
    if (status >= 0) csn_bytes_free(&out);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    struct csn_bytes with = example(CSN_FORMAT_GSYM_V1, 0, 0, 0);
    assert_true(test_allocator_sweep(convert_once, &with, 0) > 20);
    csn_bytes_free(&with);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers), cmocka_unit_test(older_revision), cmocka_unit_test(again), cmocka_unit_test(counted),
        cmocka_unit_test(every_byte), cmocka_unit_test(random_bytes), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

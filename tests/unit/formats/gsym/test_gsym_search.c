/* formats/gsym/read/gsym_search.c and formats/gsym/write/gsym_write_sample.c: searches with a sample and without,
 * honest or not, give one answer; where a sample is written, and that everything that reads files minds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/core/endian.h"
#include "base/sink.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/write/gsym_write.h"
#include "formats/gsym/write/gsym_write_sample.h"
#include "support/model_sample.h"
#include "wire/wire_gsym.h"

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* ---- searching ---- */

enum { ENTRIES_MAX = 300, BASE = 0x1000 };

struct table {
    uint8_t entries[ENTRIES_MAX * 8], sample[ENTRIES_MAX * 8], infos[ENTRIES_MAX * 4];
    uint64_t keys[ENTRIES_MAX];
    struct csni_gsym gsym;
};

/* Ascending, with equal ones. */
static void make_table(struct table *t, uint32_t count, unsigned width, bool big, uint64_t *seed) {
    t->gsym = (struct csni_gsym){ .addresses = t->entries, .infos = t->infos, .base_address = BASE, .address_count = count,
                                  .address_size = (uint8_t)width, .info_size = 4, .big = big };
    uint64_t key = 0;
    for (uint32_t i = 0; i < count; i++) {
        t->keys[i] = key;
        csni_put_sized(t->entries + i * width, key, width, big);
        key += width == 1 ? next_random(seed) % 2 : next_random(seed) % 4;
        if (width == 1 && key > UINT8_MAX) key = UINT8_MAX;
    }
}

static void make_sample(struct table *t, unsigned shift, bool honest, uint64_t *seed) {
    struct csni_gsym *g = &t->gsym;
    g->sample = t->sample;
    g->sample_shift = (uint8_t)shift;
    g->sample_count = ((g->address_count - 1) >> shift) + 1;
    uint64_t last = t->keys[g->address_count - 1];
    for (uint32_t k = 0; k < g->sample_count; k++) {
        uint64_t mark = t->keys[k << shift];
        if (!honest) mark = next_random(seed) % 3 ? next_random(seed) % (last + 2) : UINT64_MAX * (next_random(seed) % 2);
        csni_put_sized(t->sample + k * g->address_size, mark, g->address_size, g->big);
    }
}

static void check_searches(const struct table *t) {
    uint64_t last = t->keys[t->gsym.address_count - 1], addrs[CSNI_GSYM_SEARCHES];
    size_t got[CSNI_GSYM_SEARCHES], filled = 0;
    for (uint64_t addr = BASE - 1; addr <= BASE + last + 1; addr++) {
        size_t want = 0;
        while (want < t->gsym.address_count && BASE + t->keys[want] <= addr) want++;
        assert_int_equal(csni_gsym_count_up_to(&t->gsym, addr), want);
        addrs[filled++] = addr;
        if (filled < CSNI_GSYM_SEARCHES && addr <= BASE + last) continue;
        csni_gsym_search(&t->gsym, addrs, filled, got);
        for (size_t k = 0; k < filled; k++) assert_int_equal(got[k], csni_gsym_count_up_to(&t->gsym, addrs[k]));
        filled = 0;
    }
}

static void searches(void **state) {
    (void)state;
    static struct table t;
    uint64_t seed = 7;
    static const uint32_t counts[] = { 1, 2, 3, 16, 17, 100, 255, 256, 257, 300 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (unsigned width = 1; width <= 8; width *= 2)
            for (int big = 0; big < 2; big++) {
                make_table(&t, counts[c], width, big, &seed);
                check_searches(&t);
                for (unsigned shift = 1; (uint32_t)1 << shift < counts[c]; shift++)
                    for (int round = 0; round < 4; round++) {
                        make_sample(&t, shift, round == 0, &seed);
                        check_searches(&t);
                    }
            }
}

/* ---- finding it in a file ---- */

static uint32_t sample_entries(struct csni_span file) {
    struct csni_gsym gsym;
    assert_int_equal(csni_gsym_parse(&gsym, file, NULL), CSN_OK);
    return gsym.sample_count;
}

/* What is not quite a sample is none. */
static void recognition(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        wire_gsym_example(&g, big, 4);
        assert_int_equal(sample_entries(wire_gsym_build(&g)), 0);
        g.sample_shift = 1;
        assert_int_equal(sample_entries(wire_gsym_build(&g)), 2);
        uint8_t *end = (uint8_t *)(uintptr_t)wire_gsym_build(&g).ptr + g.string_table;
        for (int bit = 0; bit < 64; bit++) {
            end[-8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_equal(sample_entries(wire_span(&g.out)), 0);
            end[-8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        /* With too little room before it. */
        g.sample_shift = 2; /* one entry, less than what shift 1 needs; and too few functions for it */
        struct csni_span file = wire_gsym_build(&g);
        assert_int_equal(sample_entries(file), 0);
        csni_put32((uint8_t *)(uintptr_t)file.ptr + g.string_table - 8, 1, big);
        assert_int_equal(sample_entries(file), 0);
        wire_gsym_deinit(&g);
    }
}

/* ---- writing ---- */

static void plans(void **state) {
    (void)state;
    const uint64_t much = 1 << 24;
    struct csni_gsym_sample_plan p = csni_gsym_plan_sample(100, 0, 2047, 4, much);
    assert_int_equal(p.shift, 0);
    assert_int_equal(p.end, 100);
    p = csni_gsym_plan_sample(100, 0, 2048, 4, much);
    assert_int_equal(p.shift, 7);
    assert_int_equal(p.offset, 100);
    assert_int_equal(p.end, 100 + 16 * 4 + 8);
    /* It begins with a page rather than to lie in two. */
    assert_int_equal(csni_gsym_plan_sample(4096 - 72, 0, 2048, 4, much).offset, 4096 - 72);
    assert_int_equal(csni_gsym_plan_sample(4096 - 71, 0, 2048, 4, much).offset, 4096);
    /* With what is before it. */
    p = csni_gsym_plan_sample(100, 64, 2048, 4, much);
    assert_int_equal(p.offset, 164);
    assert_int_equal(p.end, 164 + 16 * 4 + 8);
    assert_int_equal(csni_gsym_plan_sample(4096 - 136, 64, 2048, 4, much).offset, 4096 - 72);
    assert_int_equal(csni_gsym_plan_sample(4096 - 135, 64, 2048, 4, much).offset, 4096 + 64);
    assert_int_equal(csni_gsym_plan_sample(100, 64, 2047, 4, much).end, 164);
    /* Never more than half a page, nor a 256th of the line tables. */
    p = csni_gsym_plan_sample(0, 0, 65536, 4, much);
    assert_int_equal(p.shift, 7);
    assert_int_equal(p.end, 2048 + 8);
    assert_int_equal(csni_gsym_plan_sample(0, 0, 65537, 4, much).shift, 8);
    assert_int_equal(csni_gsym_plan_sample(0, 0, 65536, 8, much).shift, 8);
    assert_in_range(csni_gsym_plan_sample(0, 0, UINT32_MAX, 8, much).end, 1024, 2048 + 8);
    assert_int_equal(csni_gsym_plan_sample(100, 0, 2048, 4, 72 * 256).shift, 7);
    assert_int_equal(csni_gsym_plan_sample(100, 0, 2048, 4, 72 * 256 - 1).shift, 0);
}

enum { WRITTEN = 3000 };

static struct csn_bytes write_sample(uint32_t rows, enum csni_gsym_target target, bool big) {
    static struct model_sample s;
    model_sample_init(&s, NULL);
    s.model.image.big_endian = big;
    uint32_t file = model_sample_file(&s, "/d", "f.c");
    for (uint32_t i = 0; i < WRITTEN; i++) {
        model_sample_function(&s, 0x10000 + 40 * i, 40, "f");
        model_sample_rows(&s, file, 100 * (i % 7), rows);
    }
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csn_bytes out = { NULL, 0, s.alloc };
    struct csni_sink sink = csni_memory_sink(&out);
    assert_int_equal(csni_gsym_write(&s.model, target, NULL, &sink, &s.report, NULL), CSN_OK);
    assert_int_equal(s.report.output_bytes, out.size);
    model_sample_deinit(&s);
    return out;
}

static bool count_sample_problem(void *context, const struct csn_error *err) {
    assert_string_equal(err->section, "address sample");
    ++*(uint32_t *)context;
    return true;
}

static uint32_t sample_problems(const struct csn_index *index) {
    uint32_t count = 0;
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_verify(index, count_sample_problem, &count, &counts, NULL), CSN_OK);
    return count;
}

static void check_written(struct csn_bytes *bytes, uint64_t *seed) {
    struct csni_gsym gsym;
    struct csn_index *index;
    assert_int_equal(csni_gsym_parse(&gsym, (struct csni_span){ bytes->ptr, bytes->size }, NULL), CSN_OK);
    assert_int_equal(gsym.sample_count, (WRITTEN + 127) / 128);
    assert_int_equal(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(sample_problems(index), 0);
    struct csn_stats_sums stats;
    assert_int_equal(csn_index_stats(index, NULL, NULL, &stats, NULL), CSN_OK);
    assert_int_equal(stats.part_bytes[CSN_PART_ADDRESSES],
                     (uint64_t)(WRITTEN + gsym.sample_count) * gsym.address_size + CSNI_GSYM_SAMPLE_TRAILER);
    for (int damaged = 0; damaged < 3; damaged++) {
        for (uint32_t i = 0; i < WRITTEN; i++) {
            struct csn_lookup found;
            assert_int_equal(csn_index_lookup_refs(index, 0x10000 + 40 * i + i % 40, CSN_LOOKUP_DEFAULT, NULL, 0, &found, NULL),
                             CSN_OK);
            assert_int_equal(found.function_index, i);
        }
        size_t at = (size_t)(gsym.sample - gsym.bytes.ptr);
        for (uint32_t k = 0; k < gsym.sample_count * gsym.address_size; k++)
            ((uint8_t *)bytes->ptr)[at + k] = (uint8_t)next_random(seed);
        if (damaged) assert_in_range(sample_problems(index), gsym.sample_count / 2, gsym.sample_count);
    }
    csn_index_close(index);
}

static void written(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int big = 0; big < 2; big++)
        for (int target = CSNI_GSYM_WRITE_V1; target <= CSNI_GSYM_WRITE_V2; target++) {
            struct csn_bytes bytes = write_sample(30, (enum csni_gsym_target)target, big);
            check_written(&bytes, &seed);
            csn_bytes_free(&bytes);
            /* Symbols alone are no smaller here than in files of other writers. */
            bytes = write_sample(0, (enum csni_gsym_target)target, big);
            assert_int_equal(sample_entries((struct csni_span){ bytes.ptr, bytes.size }), 0);
            csn_bytes_free(&bytes);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches), cmocka_unit_test(recognition), cmocka_unit_test(plans), cmocka_unit_test(written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Abbreviation tables compiled together, where equal abbreviations are compiled once, against each compiled alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread_pool.h"
#include "dwarf/dwarf_private.h"
#include "support/dwarf_sample.h"

#define BYTES(...) { sizeof((const uint8_t[]){ __VA_ARGS__ }), { __VA_ARGS__ } }

/* What stands after the code. Some begin alike, or differ in nothing but a constant of 0 before the end. */
static const struct { size_t size; uint8_t bytes[40]; } pool[] = {
    BYTES(DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_strp, DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0),
    BYTES(DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0, 0),
    BYTES(DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_udata, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_decl_file, DW_FORM_implicit_const, 0, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_decl_file, DW_FORM_implicit_const, 1, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_decl_file, DW_FORM_implicit_const, 0, DW_AT_name, DW_FORM_string, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_decl_line, DW_FORM_implicit_const, 0xff, 0x7e, DW_AT_inline, DW_FORM_data1, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_declaration, DW_FORM_flag_present, DW_AT_abstract_origin, DW_FORM_ref_addr, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_name, (DW_FORM_GNU_strp_alt & 0x7f) | 0x80, DW_FORM_GNU_strp_alt >> 7, 0, 0),
    BYTES(DW_TAG_subprogram, 0, DW_AT_linkage_name, DW_FORM_strp, (DW_AT_MIPS_linkage_name & 0x7f) | 0x80,
          DW_AT_MIPS_linkage_name >> 7, DW_FORM_strp, 0, 0),
    BYTES(DW_TAG_variable, 0, DW_AT_name, DW_FORM_strp, 0x49, DW_FORM_ref4, 0x02, DW_FORM_exprloc, 0, 0),
    BYTES(DW_TAG_variable, 0, 0, 0),
    BYTES(0x24, 0, 0x0b, DW_FORM_data1, 0x3e, DW_FORM_data1, DW_AT_name, DW_FORM_strp, 0, 0),
    BYTES(0x24, 0, 0x0b, DW_FORM_data1, 0x3e, DW_FORM_data1, DW_AT_name, DW_FORM_string, 0, 0),
    BYTES(0x24, 0, 0x0b, 0x7e, 0, 0), /* a form that is not known */
    BYTES(DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_strp, 0x0b, DW_FORM_data2, DW_AT_decl_file, DW_FORM_data1, 0x3b,
          DW_FORM_data2, 0x39, DW_FORM_data1, DW_AT_sibling, DW_FORM_ref4, 0x34, DW_FORM_flag, 0x34, DW_FORM_flag, 0, 0),
};
enum { POOL = sizeof pool / sizeof *pool, TABLES = 60, PER_TABLE = 24 };

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525 + 1013904223, *seed >> 16; }

/* Tables of abbreviations by chance; some with gaps between their codes, some read by other sizes, one that is damaged. */
static void fill(struct dwarf_sample *s, uint32_t seed) {
    for (unsigned t = 0; t < TABLES; t++) {
        s->abbrev_off = s->abbrev.size;
        s->address_size = t % 7 == 3 ? 4 : 8;
        size_t unit = dwarf_sample_unit(s);
        wire_u8(&s->info, 0);
        dwarf_sample_end(s, unit);
        unsigned step = t % 5 == 4 ? 3 : 1;
        for (unsigned i = 0; i < PER_TABLE; i++) {
            unsigned which = next_random(&seed) % POOL;
            wire_uleb(&s->abbrev, 1 + i * step);
            wire_bytes(&s->abbrev, pool[which].bytes, pool[which].size);
        }
        if (t == 20) wire_bytes(&s->abbrev, (const uint8_t[]){ 99, DW_TAG_variable, 0, DW_AT_name, 0 }, 5);
        dwarf_sample_abbrevs_end(s);
    }
}

static void assert_same_steps(const struct csni_abbrevs *a, uint32_t at_a, const struct csni_abbrevs *b, uint32_t at_b) {
    for (;; at_a++, at_b++) {
        const union csni_step *x = &a->steps[at_a], *y = &b->steps[at_b];
        assert_memory_equal(x, y, sizeof *x);
        if (x->op == CSNI_STEP_END) return;
        if (x->op == CSNI_STEP_CONST) assert_true(a->steps[++at_a].value == b->steps[++at_b].value);
    }
}

static void assert_same_tables(const struct csni_abbrevs *a, const struct csni_abbrevs *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->plan_count, b->plan_count);
    assert_int_equal(a->codes != NULL, b->codes != NULL);
    if (a->status != CSN_OK) return;
    assert_int_equal(a->cross_references, b->cross_references);
    assert_int_equal(a->supplement_references, b->supplement_references);
    for (uint32_t i = 0; i < a->plan_count; i++) {
        struct csni_plan x = a->plans[i], y = b->plans[i];
        if (x.kind & CSNI_KIND_BAD) assert_int_equal(x.steps, y.steps);
        else assert_same_steps(a, x.steps, b, y.steps);
        x.steps = y.steps = 0;
        assert_memory_equal(&x, &y, sizeof x);
        if (a->codes && i) assert_true(a->codes[i - 1] == b->codes[i - 1]);
    }
}

static void compare(struct dwarf_sample *s, struct csni_pool *workers) {
    struct csni_dwarf *alone, *together;
    struct csni_dwarf_sections sections = dwarf_sample_sections(s);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &alone, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &together, NULL), CSN_OK);
    unsigned damaged = 0;
    for (uint32_t i = 0; i < alone->abbrev_table_count; i++) damaged += csni_dwarf_compile_abbrevs(alone, i, NULL) != CSN_OK;
    assert_int_equal(csni_dwarf_compile_all(together, workers, NULL), CSN_OK);
    assert_int_equal(damaged, 1);
    assert_int_equal(alone->abbrev_table_count, TABLES);
    for (uint32_t i = 0; i < TABLES; i++) assert_same_tables(&alone->priv->tables[i], &together->priv->tables[i]);
    csni_dwarf_close(alone);
    csni_dwarf_close(together);
}

static void together_as_alone(void **state) {
    (void)state;
    struct csni_pool *workers;
    assert_int_equal(csni_pool_create(3, NULL, &workers, NULL), CSN_OK);
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct dwarf_sample s;
        dwarf_sample_init(&s, seed & 1);
        fill(&s, seed);
        compare(&s, NULL);
        compare(&s, workers);
        dwarf_sample_deinit(&s);
    }
    csni_pool_destroy(workers);
}

/* What one reader compiled stays as it is while the next ones add to it. */
static void one_reader_after_the_other(void **state) {
    (void)state;
    enum { READERS = 4 };
    struct csni_shared_abbrevs *shared;
    assert_int_equal(csni_shared_abbrevs_create(0, NULL, &shared, NULL), CSN_OK);
    struct dwarf_sample s;
    dwarf_sample_init(&s, false);
    fill(&s, 7);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&s);
    struct csni_dwarf *alone, *readers[READERS];
    assert_int_equal(csni_dwarf_open(&sections, NULL, &alone, NULL), CSN_OK);
    for (uint32_t i = 0; i < TABLES; i++) (void)csni_dwarf_compile_abbrevs(alone, i, NULL);
    sections.info.size /= 2; /* the first has half of the units, as a portion has */
    for (unsigned r = 0; r < READERS; r++) {
        assert_int_equal(csni_dwarf_open(&sections, NULL, &readers[r], NULL), CSN_OK);
        assert_int_equal(csni_dwarf_compile_shared(readers[r], shared, NULL), CSN_OK);
        sections = dwarf_sample_sections(&s);
    }
    assert_in_range(readers[0]->abbrev_table_count, 1, TABLES - 1);
    for (unsigned r = 0; r < READERS; r++)
        for (uint32_t i = 0; i < readers[r]->abbrev_table_count; i++)
            assert_same_tables(&alone->priv->tables[i], &readers[r]->priv->tables[i]);
    const struct csni_abbrevs *before = &readers[1]->priv->tables[0], *after = &readers[3]->priv->tables[0];
    unsigned known = 0;
    for (uint32_t i = 1; i < before->plan_count; i++) known += before->plans[i].steps == after->plans[i].steps;
    assert_true(known > 0);
    for (unsigned r = 0; r < READERS; r++) csni_dwarf_close(readers[r]);
    csni_dwarf_close(alone);
    dwarf_sample_deinit(&s);
    csni_shared_abbrevs_destroy(shared);
}

/* A table of abbreviations that differ in a constant, each of 16 steps. */
static void put_constants(struct dwarf_sample *s, unsigned first, unsigned count) {
    s->abbrev_off = s->abbrev.size;
    size_t unit = dwarf_sample_unit(s);
    wire_u8(&s->info, 0);
    dwarf_sample_end(s, unit);
    for (unsigned i = 0; i < count; i++)
        dwarf_sample_abbrev(s, 1 + i, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
                            DW_FORM_data8, DW_AT_decl_line, DW_FORM_implicit_const, (int)(first + i), 0);
    dwarf_sample_abbrevs_end(s);
}

/* Steps that need more room move: what was compiled before goes with them, and stays where a reader has it. */
static void outgrows_its_first_room(void **state) {
    (void)state;
    enum { EACH = 700 };
    struct csni_shared_abbrevs *shared;
    struct csni_dwarf *alone, *first, *second;
    struct dwarf_sample s;
    assert_int_equal(csni_shared_abbrevs_create(0, NULL, &shared, NULL), CSN_OK);
    dwarf_sample_init(&s, false);
    put_constants(&s, 1000, EACH);
    put_constants(&s, 3000, EACH);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&s);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &alone, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &second, NULL), CSN_OK);
    sections.info.size /= 2;
    assert_int_equal(csni_dwarf_open(&sections, NULL, &first, NULL), CSN_OK);
    for (uint32_t i = 0; i < 2; i++) assert_int_equal(csni_dwarf_compile_abbrevs(alone, i, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_compile_shared(first, shared, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_compile_shared(second, shared, NULL), CSN_OK);
    assert_true(first->priv->tables[0].steps != second->priv->tables[0].steps);
    assert_same_tables(&alone->priv->tables[0], &first->priv->tables[0]);
    for (uint32_t i = 0; i < 2; i++) assert_same_tables(&alone->priv->tables[i], &second->priv->tables[i]);
    csni_dwarf_close(first);
    csni_dwarf_close(second);
    csni_dwarf_close(alone);
    dwarf_sample_deinit(&s);
    csni_shared_abbrevs_destroy(shared);
}

/* Equal abbreviations share their steps: what is compiled does not grow with the number of tables. */
static void equal_ones_are_shared(void **state) {
    (void)state;
    struct dwarf_sample s;
    dwarf_sample_init(&s, false);
    fill(&s, 1);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&s);
    struct csni_dwarf *dwarf;
    assert_int_equal(csni_dwarf_open(&sections, NULL, &dwarf, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_compile_all(dwarf, NULL, NULL), CSN_OK);
    const struct csni_abbrevs *a = &dwarf->priv->tables[0], *b = &dwarf->priv->tables[1];
    unsigned shared = 0;
    for (uint32_t i = 1; i < a->plan_count; i++)
        for (uint32_t k = 1; k < b->plan_count; k++) shared += a->plans[i].steps && a->plans[i].steps == b->plans[k].steps;
    assert_true(shared > 0);
    csni_dwarf_close(dwarf);
    dwarf_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together_as_alone),
        cmocka_unit_test(one_reader_after_the_other),
        cmocka_unit_test(outgrows_its_first_room),
        cmocka_unit_test(equal_ones_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

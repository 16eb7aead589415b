/* model/model_merge.c: which of several functions at one range is on top, what becomes of the others, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "support/model_sample.h"
#include "support/test_alloc.h"

/* "top+size(child child) ..." */
static const char *shape(const struct model_sample *s) {
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < s->model.entry_count; i++) {
        const struct csni_entry *e = &s->model.entries[i];
        const struct csni_function *f = csni_model_function(&s->model, e);
        assert_true(f->kept);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s+%x", i ? " " : "", s->batches[e->batch].strings[f->name].ptr,
                               f->size);
        for (uint32_t k = 0; k < e->child_count; k++) {
            const struct csni_entry *child = &s->model.children[e->first_child + k];
            const struct csni_function *g = csni_model_function(&s->model, child);
            assert_true(g->kept && g->start == f->start && g->size == f->size && !child->child_count);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", k ? " " : "(",
                                   s->batches[child->batch].strings[g->name].ptr);
        }
        if (e->child_count) at += (size_t)snprintf(text + at, sizeof text - at, ")");
    }
    return text;
}

static void begin(struct model_sample *s, uint32_t merge) {
    model_sample_init(s, NULL);
    s->model.merge = merge;
}

static void expect(struct model_sample *s, const char *text) {
    assert_int_equal(model_sample_finalize(s), CSN_OK);
    assert_string_equal(shape(s), text);
    uint64_t all = 0;
    for (uint32_t b = 0; b < s->model.batch_count; b++) all += s->batches[b].function_count;
    assert_int_equal(s->report.functions_written + s->report.functions_merged + s->report.functions_pruned, all);
    model_sample_deinit(s);
}

static void add(struct model_sample *s, uint64_t start, uint32_t size, const char *name, enum csni_source source,
                uint32_t rows) {
    model_sample_function(s, start, size, name);
    s->writer.functions.items[s->writer.functions.count - 1].source = (uint8_t)source;
    model_sample_rows(s, 0, 10, rows);
}

static void symbol(struct model_sample *s, uint64_t start, uint32_t size, const char *name, bool weak) {
    add(s, start, size, name, CSNI_SOURCE_SYMBOL, 0);
    s->writer.functions.items[s->writer.functions.count - 1].weak = weak;
}

static void the_best_known_is_on_top(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    add(&s, 0x10, 8, "one", CSNI_SOURCE_DWARF, 1);
    add(&s, 0x10, 8, "three", CSNI_SOURCE_DWARF, 3);
    model_sample_next_batch(&s);
    add(&s, 0x10, 8, "two", CSNI_SOURCE_DWARF, 2);
    add(&s, 0x10, 8, "none", CSNI_SOURCE_DWARF, 0);
    symbol(&s, 0x10, 8, "only", false);
    symbol(&s, 0x10, 8, "two", false);
    add(&s, 0x40, 8, "alone", CSNI_SOURCE_DWARF, 1);
    expect(&s, "three+8(one two none only) alone+8");
}

static void a_folded_one_is_not_on_top(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    add(&s, 0x10, 8, "folded", CSNI_SOURCE_FOLDED, 1);
    add(&s, 0x10, 8, "kept", CSNI_SOURCE_DWARF, 0);
    symbol(&s, 0x10, 8, "name", false);
    symbol(&s, 0x10, 8, "folded", false);
    symbol(&s, 0x10, 8, "kept", false);
    expect(&s, "kept+8(folded name)");
    /* Nor is its symbol, where only one tells of the code that was kept; they are one function. */
    for (int is_weak = 0; is_weak < 2; is_weak++) {
        begin(&s, CSN_MERGE_ALL);
        symbol(&s, 0x10, 8, "kept", is_weak);
        symbol(&s, 0x10, 8, "folded", false);
        add(&s, 0x10, 8, "folded", CSNI_SOURCE_FOLDED, 1);
        expect(&s, "kept+8(folded)");
    }
}

static void sizes_that_are_not_known(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    add(&s, 0x10, 8, "known", CSNI_SOURCE_DWARF, 2);
    symbol(&s, 0x10, 0, "first", false);
    symbol(&s, 0x10, 0, "second", false);
    symbol(&s, 0x20, 0, "a", false);
    symbol(&s, 0x20, 0, "b", false);
    expect(&s, "known+8(first second) b+0(a)");
}

static void other_sizes_stay_apart(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    add(&s, 0x10, 8, "short", CSNI_SOURCE_DWARF, 1);
    add(&s, 0x10, 16, "long", CSNI_SOURCE_DWARF, 1);
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    assert_string_equal(shape(&s), "short+8 long+10");
    assert_string_equal(model_sample_events(&s.report), "functions-overlap:1");
    model_sample_deinit(&s);
}

static void second_names(void **state) {
    (void)state;
    struct model_sample s;
    for (int mode = 0; mode < 2; mode++) {
        begin(&s, mode ? CSN_MERGE_ALIASES : CSN_MERGE_ALL);
        add(&s, 0x10, 8, "f", CSNI_SOURCE_DWARF, 1);
        symbol(&s, 0x10, 8, "f", false);
        symbol(&s, 0x10, 8, "strong", false);
        symbol(&s, 0x10, 8, "weak", true);
        symbol(&s, 0x10, 8, "f@@V2", false);
        expect(&s, mode ? "f+8(strong weak f@@V2)" : "f+8(strong)");
    }
}

/* Whatever the order of the symbols. */
static void second_names_are_not_on_top(void **state) {
    (void)state;
    static const char *const names[] = { "f@@V2", "weak", "strong" };
    struct model_sample s;
    for (int first = 0; first < 3; first++) {
        begin(&s, CSN_MERGE_ALL);
        for (int k = 0; k < 3; k++) symbol(&s, 0x10, 8, names[(first + k) % 3], (first + k) % 3 == 1);
        expect(&s, "strong+8");
        begin(&s, CSN_MERGE_ALIASES);
        for (int k = 0; k < 3; k++) symbol(&s, 0x10, 8, names[(first + k) % 3], (first + k) % 3 == 1);
        assert_int_equal(model_sample_finalize(&s), CSN_OK);
        assert_memory_equal(shape(&s), "strong+8(", 9);
        model_sample_deinit(&s);
    }
}

/* Assemblers tell of every label as of a function; the symbols tell which are second names. */
static void labels_of_assembler_source(void **state) {
    (void)state;
    struct model_sample s;
    for (int order = 0; order < 2; order++) {
        begin(&s, CSN_MERGE_ALL);
        for (int k = 0; k < 2; k++) {
            add(&s, 0x10, 8, k == order ? "__clone" : "clone", CSNI_SOURCE_DWARF, 1);
            s.writer.functions.items[s.writer.functions.count - 1].label = true;
        }
        symbol(&s, 0x10, 8, "__clone", false);
        symbol(&s, 0x10, 8, "clone", true);
        symbol(&s, 0x10, 8, "__GI___clone", false);
        s.writer.functions.items[s.writer.functions.count - 1].local = true;
        expect(&s, "__clone+8(__GI___clone)");
    }
}

/* Weak ones alone are instances of templates. */
static void weak_ones_alone(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    symbol(&s, 0x10, 8, "_ZN1AIiE1fEv", true);
    symbol(&s, 0x10, 8, "_ZN1AIjE1fEv", true);
    expect(&s, "_ZN1AIjE1fEv+8(_ZN1AIiE1fEv)");
}

static void kinds_of_constructors(void **state) {
    (void)state;
    struct model_sample s;
    for (int mode = 0; mode < 2; mode++) {
        begin(&s, mode ? CSN_MERGE_ALIASES : CSN_MERGE_ALL);
        add(&s, 0x10, 8, "_ZN1VC2Ei", CSNI_SOURCE_DWARF, 1);
        symbol(&s, 0x10, 8, "_ZN1VC1Ei", false);
        symbol(&s, 0x10, 8, "_ZN1VC1Ej", false);
        symbol(&s, 0x10, 8, "_ZN2C1C2Ei", false);
        symbol(&s, 0x10, 8, "_ZN2C2C2Ei", false);
        expect(&s, mode ? "_ZN1VC2Ei+8(_ZN1VC1Ei _ZN1VC1Ej _ZN2C1C2Ei _ZN2C2C2Ei)"
                        : "_ZN1VC2Ei+8(_ZN1VC1Ej _ZN2C1C2Ei _ZN2C2C2Ei)");
    }
}

static void plain_and_mangled_names_of_one_function(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    add(&s, 0x10, 8, "ns::hidden", CSNI_SOURCE_DWARF, 1);
    symbol(&s, 0x10, 8, "_ZN2nsL6hiddenEi", false);
    symbol(&s, 0x10, 8, "_ZN2nsL5otherEi", false);
    symbol(&s, 0x10, 8, "clone.isra.0", false);
    add(&s, 0x10, 8, "clone", CSNI_SOURCE_DWARF, 0);
    /* Which of two belongs to the one with debug information is not known. */
    add(&s, 0x30, 8, "call", CSNI_SOURCE_DWARF, 1);
    symbol(&s, 0x30, 8, "_ZN1A4callEi", false);
    symbol(&s, 0x30, 8, "_ZN1B4callEi", false);
    expect(&s, "ns::hidden+8(clone _ZN2nsL5otherEi) call+8(_ZN1A4callEi _ZN1B4callEi)");
}

/* Of one name, but declared at different places. */
static void namesakes(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_ALL);
    for (int batch = 0; batch < 3; batch++) {
        uint32_t file = model_sample_file(&s, "/src", batch == 2 ? "b.c" : "a.c");
        model_sample_function(&s, 0x10, 8, "helper");
        model_sample_rows(&s, file, 3, 2);
        if (batch < 2) model_sample_next_batch(&s);
    }
    expect(&s, "helper+8(helper)");
}

/* ---- as the reference converter does ---- */

static void llvm_least_known_on_top(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_LLVM);
    add(&s, 0x10, 8, "three", CSNI_SOURCE_DWARF, 3);
    add(&s, 0x10, 8, "one", CSNI_SOURCE_DWARF, 1);
    add(&s, 0x10, 8, "two", CSNI_SOURCE_DWARF, 2);
    symbol(&s, 0x10, 8, "symbol", false);
    expect(&s, "one+8(two three)");
}

static void llvm_skips_equal_neighbours(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_LLVM);
    add(&s, 0x10, 8, "f", CSNI_SOURCE_DWARF, 1);
    add(&s, 0x10, 8, "f", CSNI_SOURCE_DWARF, 1); /* the first child is compared with nothing */
    add(&s, 0x10, 8, "f", CSNI_SOURCE_DWARF, 1);
    add(&s, 0x10, 8, "g", CSNI_SOURCE_DWARF, 1);
    add(&s, 0x10, 8, "f", CSNI_SOURCE_DWARF, 1);
    expect(&s, "f+8(f g f)");
}

/* A symbol takes the place of a function of which nothing is known, and of its children. */
static void llvm_symbol_instead(void **state) {
    (void)state;
    struct model_sample s;
    begin(&s, CSN_MERGE_LLVM);
    add(&s, 0x10, 8, "f", CSNI_SOURCE_DWARF, 0);
    add(&s, 0x10, 8, "g", CSNI_SOURCE_DWARF, 0);
    symbol(&s, 0x10, 8, "s", false);
    expect(&s, "s+8");
}

/* ---- costs ---- */

static void many_at_one_address(void **state) {
    (void)state;
    static char names[40000][16];
    for (int mode = CSN_MERGE_ALL; mode <= CSN_MERGE_LLVM; mode++) {
        struct model_sample s;
        begin(&s, (uint32_t)mode);
        for (int i = 0; i < 40000; i++) {
            snprintf(names[i], sizeof names[i], "f%d", i);
            add(&s, 0x10, 8, names[i], CSNI_SOURCE_DWARF, 1);
            if (i % 2) symbol(&s, 0x10, 8, names[i], false);
        }
        assert_int_equal(model_sample_finalize(&s), CSN_OK);
        assert_int_equal(s.model.entry_count, 1);
        assert_int_equal(s.model.entries[0].child_count, 39999);
        model_sample_deinit(&s);
    }
}

static csn_status merge_step(void *context, const struct csn_allocator *alloc) {
    struct model_sample s;
    model_sample_init(&s, alloc);
    s.model.merge = *(const uint32_t *)context;
    for (int i = 0; i < 40; i++) {
        static const char *const names[] = { "a", "b", "c", "_ZN1VC1Ei", "_ZN1VC2Ei", "e", "f" };
        model_sample_function(&s, 0x10 * (uint64_t)(i / 5), 8, names[i % 7]);
        if (!s.writer.failed) s.writer.functions.items[s.writer.functions.count - 1].source = (uint8_t)(i % 5);
    }
    csn_status status = s.writer.failed ? CSN_E_MEMORY : model_sample_finalize(&s);
    model_sample_deinit(&s);
    return status;
}

static void every_allocation_failing(void **state) {
    (void)state;
    for (uint32_t mode = CSN_MERGE_ALL; mode <= CSN_MERGE_LLVM; mode++)
        for (int then_all = 0; then_all < 2; then_all++) test_allocator_sweep(merge_step, &mode, then_all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_known_is_on_top),
        cmocka_unit_test(a_folded_one_is_not_on_top),
        cmocka_unit_test(sizes_that_are_not_known),
        cmocka_unit_test(other_sizes_stay_apart),
        cmocka_unit_test(second_names),
        cmocka_unit_test(second_names_are_not_on_top),
        cmocka_unit_test(labels_of_assembler_source),
        cmocka_unit_test(weak_ones_alone),
        cmocka_unit_test(kinds_of_constructors),
        cmocka_unit_test(plain_and_mangled_names_of_one_function),
        cmocka_unit_test(namesakes),
        cmocka_unit_test(llvm_least_known_on_top),
        cmocka_unit_test(llvm_skips_equal_neighbours),
        cmocka_unit_test(llvm_symbol_instead),
        cmocka_unit_test(many_at_one_address),
        cmocka_unit_test(every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The dwarf layer over damaged input: every truncation, every byte changed, every allocation failing once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dwarf_sample.h"
#include "support/test_alloc.h"

static struct csni_span *section(struct csni_dwarf_sections *s, size_t i) {
    struct csni_span *all[] = { &s->info, &s->abbrev, &s->line, &s->str, &s->line_str, &s->ranges, &s->rnglists };
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

static void make(struct dwarf_sample *s, uint16_t version, bool big) {
    dwarf_sample_init(s, big);
    s->version = version;
    if (version == 3) s->address_size = 4;
    dwarf_sample_fill(s);
}

static void whole_sample_has_all_names(void **state) {
    (void)state;
    for (uint16_t version = 2; version <= 5; version++) {
        struct dwarf_sample s;
        make(&s, version, version & 1);
        struct csni_dwarf_sections sections = dwarf_sample_sections(&s);
        size_t names;
        assert_int_equal(dwarf_sample_exercise(&sections, NULL, &names), CSN_OK);
        /* Unit, namespace, class, abstract, definition, inlined, plain: all have names. */
        assert_int_equal(names, 7);
        dwarf_sample_deinit(&s);
    }
}

/* Each shorter section sits at the very end of a heap block, so that a sanitizer sees a read past it. */
static void truncations(void **state) {
    (void)state;
    for (uint16_t version = 2; version <= 5; version++) {
        struct dwarf_sample s;
        make(&s, version, !(version & 1));
        struct csni_dwarf_sections sections = dwarf_sample_sections(&s), shorter = sections;
        for (size_t i = 0; section(&sections, i); i++) {
            struct csni_span whole = *section(&sections, i);
            for (size_t size = 0; size < whole.size; size++) {
                uint8_t *copy = malloc(size ? size : 1);
                assert_non_null(copy);
                if (size) memcpy(copy, whole.ptr, size);
                *section(&shorter, i) = (struct csni_span){ copy, size };
                assert_int_equal(dwarf_sample_exercise(&shorter, NULL, NULL), CSN_OK);
                free(copy);
            }
            *section(&shorter, i) = whole;
        }
        dwarf_sample_deinit(&s);
    }
}

static void changed_bytes(void **state) {
    (void)state;
    for (uint16_t version = 4; version <= 5; version++) {
        struct dwarf_sample s;
        make(&s, version, false);
        struct csni_dwarf_sections sections = dwarf_sample_sections(&s), changed = sections;
        static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
        for (size_t i = 0; section(&sections, i); i++) {
            struct csni_span whole = *section(&sections, i);
            uint8_t *copy = malloc(whole.size + 1);
            assert_non_null(copy);
            for (size_t at = 0; at < whole.size; at++) {
                memcpy(copy, whole.ptr, whole.size);
                *section(&changed, i) = (struct csni_span){ copy, whole.size };
                for (size_t v = 0; v < sizeof values; v++) {
                    copy[at] = values[v];
                    assert_int_equal(dwarf_sample_exercise(&changed, NULL, NULL), CSN_OK);
                }
            }
            free(copy);
            *section(&changed, i) = whole;
        }
        dwarf_sample_deinit(&s);
    }
}

static csn_status exercise_step(void *context, const struct csn_allocator *alloc) {
    return dwarf_sample_exercise(context, alloc, NULL);
}

static void allocation_failures(void **state) {
    (void)state;
    struct dwarf_sample s;
    make(&s, 5, false);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&s);
    assert_true(test_allocator_sweep(exercise_step, &sections, 0) > 10);
    assert_true(test_allocator_sweep(exercise_step, &sections, 1) > 10);
    dwarf_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_sample_has_all_names),
        cmocka_unit_test(truncations),
        cmocka_unit_test(changed_bytes),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

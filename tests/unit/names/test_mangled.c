/* names/mangled.c: parts of mangled names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "names/mangled.h"

static void internal_names(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { "_ZL4stati", "stat" }, { "_ZN2nsL6hiddenEi", "ns::hidden" }, { "_ZN2ns12_GLOBAL__N_16hiddenEi", "ns::hidden" },
        { "_ZNK12_GLOBAL__N_11S1fEv", "S::f" }, { "_Z4stati", "" }, { "_ZN2ns6hiddenEi", "" }, { "_ZL4statIiEvT_", "" },
        { "_ZL99stat", "" }, { "_ZL", "" }, { "_ZN", "" }, { "main", "" }, { "_ZNL", "" }, { "_ZL0", "" },
        { "_ZL99999999999999999999999999999a", "" },
    };
    char out[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = csni_mangled_internal_name(csni_str(cases[i][0]), out, sizeof out);
        assert_true(csni_str_is((struct csn_str){ out, len }, cases[i][1]));
    }
    assert_int_equal(csni_mangled_internal_name(csni_str("_ZL4stati"), out, 3), 0);
}

static void parts(void **state) {
    (void)state;
    assert_true(csni_mangled_has_part(csni_str("_ZN2ns12_GLOBAL__N_16hiddenEi"), csni_str("ns::hidden")));
    assert_true(csni_mangled_has_part(csni_str("_ZL4stati"), csni_str("stat")));
    assert_false(csni_mangled_has_part(csni_str("_ZL5statii"), csni_str("stat")));
    assert_false(csni_mangled_has_part(csni_str("4stat"), csni_str("stat")));
    assert_false(csni_mangled_has_part(csni_str("_ZL4stati"), csni_str("ns::")));
    assert_false(csni_mangled_has_part(csni_str("_Z"), csni_str("a")));
}

static void clones(void **state) {
    (void)state;
    assert_true(csni_str_is(csni_clone_base(csni_str("f.isra.0")), "f"));
    assert_true(csni_str_is(csni_clone_base(csni_str("f.constprop.0.isra.1")), "f"));
    assert_true(csni_str_is(csni_clone_base(csni_str("f.cold")), "f"));
    assert_true(csni_str_is(csni_clone_base(csni_str(".isra.0")), ".isra.0"));
    assert_true(csni_str_is(csni_clone_base(csni_str("f.other")), "f.other"));
    assert_true(csni_str_is(csni_clone_base(csni_str("f.col")), "f.col"));
    assert_true(csni_str_is(csni_clone_base(csni_str("")), ""));
}

static uint64_t hash(const char *name) { return csni_mangled_hash(csni_str(name)); }

static void hashes(void **state) {
    (void)state;
    assert_true(hash("_ZN1VC1Ei") == hash("_ZN1VC2Ei"));
    assert_true(hash("_ZN1AIiED0Ev") == hash("_ZN1AIiED2Ev"));
    assert_true(hash("_ZN1VC1IiEET_") == hash("_ZN1VC2IiEET_"));
    assert_true(hash("_ZN1AIA10_cEC1EPS0_") == hash("_ZN1AIA10_cEC2EPS0_")); /* arrays: 10 is no length of a name */
    assert_true(hash("_ZN1AIA123_KcED1Ev") == hash("_ZN1AIA123_KcED2Ev"));
    assert_true(hash("f.isra.0") == hash("f"));
    assert_false(hash("_ZN1VC1Ei") == hash("_ZN1VC1Ej"));
    assert_false(hash("_ZN1VC1Ei") == hash("_ZN1VD1Ei"));
    assert_false(hash("_ZN3C1EC1Ei") == hash("_ZN3C2EC1Ei"));
    assert_false(hash("a") == hash("b"));
}

/* Every name and every beginning of it ends. */
static void beginnings(void **state) {
    (void)state;
    static const char *const names[] = { "_ZN1AILi5E3fooC1IJS0_T0_EEC2Ev", "_ZN12_GLOBAL__N_1L4statEv", "_ZN999999999999999999a" };
    char out[64];
    for (size_t i = 0; i < 3; i++)
        for (size_t len = 0; len <= strlen(names[i]); len++) {
            char *copy = malloc(len + 1);
            assert_non_null(copy);
            memcpy(copy, names[i], len);
            struct csn_str name = { copy, len };
            (void)csni_mangled_hash(name);
            (void)csni_mangled_internal_name(name, out, sizeof out);
            (void)csni_mangled_has_part(name, csni_str("stat"));
            assert_true(csni_clone_base(name).len <= len);
            free(copy);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(internal_names), cmocka_unit_test(parts), cmocka_unit_test(clones), cmocka_unit_test(hashes),
        cmocka_unit_test(beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* base/core/byte_blocks.c: what it says of the processor, against the compiler's own question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/byte_blocks.h"

static void as_the_compiler_says(void **state) {
    (void)state;
#if CSNI_BYTE_BLOCKS
    bool usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
    assert_int_equal(csni_find_byte_blocks() == CSNI_BYTE_BLOCKS_USABLE, usable);
    assert_int_equal(csni_byte_blocks_found, csni_find_byte_blocks());
    assert_int_equal(csni_has_byte_blocks(), usable); /* all that have AVX2 and BMI have lzcnt, too */
#else
    assert_false(csni_has_byte_blocks());
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_compiler_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whether the processor has what the vector code needs.
 *
 * glibc knows since the program started. __builtin_cpu_supports() would ask the processor itself, in each program
 * before main(): a dozen cpuid instructions, which a hypervisor answers in 12 us each (a tenth of the time of a
 * lookup of one address). */
#include "base/core/byte_blocks.h"

#if CSNI_BYTE_BLOCKS

#include <stdlib.h> /* __GLIBC__ */

#if defined(__GLIBC__) && defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

#ifdef CPU_FEATURE_ACTIVE
static bool are_usable(void) {
    return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(POPCNT) &&
           CPU_FEATURE_ACTIVE(PCLMULQDQ) && CPU_FEATURE_ACTIVE(LZCNT);
}
#else
/* Older versions of clang cannot check for lzcnt, and do not use it. */
#if defined(__clang__) && __clang_major__ < 19
#define HAS_LZCNT true
#else
#define HAS_LZCNT __builtin_cpu_supports("lzcnt")
#endif
static bool are_usable(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul") && HAS_LZCNT;
}
#endif

int csni_byte_blocks_found;

int csni_find_byte_blocks(void) {
    int found = are_usable() ? CSNI_BYTE_BLOCKS_USABLE : CSNI_BYTE_BLOCKS_NONE;
    __atomic_store_n(&csni_byte_blocks_found, found, __ATOMIC_RELAXED);
    return found;
}
#endif

/* Where images begin. */
#ifndef CSNI_IMAGE_BASE_H
#define CSNI_IMAGE_BASE_H

#include <stddef.h>
#include <stdint.h>

enum { CSNI_LOWEST_IMAGE = 1 << 16 }; /* no image is linked below, but at 0; images begin at multiples of it */

/* Where an image begins of which only the first function is known: its headers are before that. Linkers put images that are not
 * relocated at usual places, which are multiples of 64 KiB but for one, and others at 0. Kernels begin with a function, in the
 * upper half. */
static inline uint64_t csni_guess_image_base(uint64_t first_function) {
    static const struct {
        uint64_t base, reach;
    } usual[] = {
        { 0x180000000, 1 << 28 }, { 0x140000000, 1 << 28 }, /* PE, 64 bits: libraries, programs */
        { 0x100000000, 1 << 28 },                           /* Mach-O programs */
        { 0x10000000, 1 << 26 },                            /* PE libraries, ELF programs of PowerPC */
        { 0x8048000, 1 << 24 },                             /* ELF programs of i386 */
        { 0x400000, 1 << 26 },                              /* ELF programs of x86-64 and AArch64, PE programs of i386 */
        { 0x200000, 1 << 21 },                              /* the same by lld */
        { 0x10000, 1 << 13 },                               /* ELF programs of Arm and RISC-V; libraries have code there, too */
    };
    if (first_function >> 63) return first_function;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (first_function >= usual[i].base && first_function - usual[i].base < usual[i].reach) return usual[i].base;
    return first_function < 0x200000 ? 0 : first_function & ~(uint64_t)(CSNI_LOWEST_IMAGE - 1);
}

#endif

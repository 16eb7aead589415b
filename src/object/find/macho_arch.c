/* Names of Mach-O machines, as lipo prints them and takes them. */
#include "object/find/macho_arch.h"

#include <stddef.h>

#include "object/macho/macho_layout.h"

struct arch {
    uint32_t type, subtype;
    const char *name;
};

/* The name for any other subtype of a machine comes last. */
enum { ANY_SUBTYPE = CPU_SUBTYPE_MASK };
static const struct arch archs[] = {
    { CPU_TYPE_X86_64, CPU_SUBTYPE_X86_64_H, "x86_64h" },
    { CPU_TYPE_X86_64, ANY_SUBTYPE, "x86_64" },
    { CPU_TYPE_ARM64, CPU_SUBTYPE_ARM64E, "arm64e" },
    { CPU_TYPE_ARM64, CPU_SUBTYPE_ARM64_V8, "arm64v8" },
    { CPU_TYPE_ARM64, ANY_SUBTYPE, "arm64" },
    { CPU_TYPE_ARM64_32, ANY_SUBTYPE, "arm64_32" },
    { CPU_TYPE_I386, ANY_SUBTYPE, "i386" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V4T, "armv4t" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V5TEJ, "armv5" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_XSCALE, "xscale" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V6, "armv6" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V6M, "armv6m" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V7, "armv7" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V7S, "armv7s" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V7K, "armv7k" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V7M, "armv7m" },
    { CPU_TYPE_ARM, CPU_SUBTYPE_ARM_V7EM, "armv7em" },
    { CPU_TYPE_ARM, ANY_SUBTYPE, "arm" },
    { CPU_TYPE_POWERPC, CPU_SUBTYPE_POWERPC_750, "ppc750" },
    { CPU_TYPE_POWERPC, CPU_SUBTYPE_POWERPC_7400, "ppc7400" },
    { CPU_TYPE_POWERPC, CPU_SUBTYPE_POWERPC_7450, "ppc7450" },
    { CPU_TYPE_POWERPC, CPU_SUBTYPE_POWERPC_970, "ppc970" },
    { CPU_TYPE_POWERPC, ANY_SUBTYPE, "ppc" },
    { CPU_TYPE_POWERPC64, CPU_SUBTYPE_POWERPC_970, "ppc970-64" },
    { CPU_TYPE_POWERPC64, ANY_SUBTYPE, "ppc64" },
};

const char *csni_macho_arch_name(uint32_t cpu_type, uint32_t cpu_subtype) {
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if (archs[i].type != cpu_type) continue;
        /* The high byte holds capabilities: 64-bit libraries, the version of the pointer authentication ABI. */
        if (archs[i].subtype == ANY_SUBTYPE || archs[i].subtype == (cpu_subtype & CPU_SUBTYPE_MASK)) return archs[i].name;
    }
    return "";
}

/* Names of Mach-O machines. */
#ifndef CSNI_MACHO_ARCH_H
#define CSNI_MACHO_ARCH_H

#include <stdint.h>

/* The name that lipo prints for a machine, "" where it has none. */
const char *csni_macho_arch_name(uint32_t cpu_type, uint32_t cpu_subtype);

#endif

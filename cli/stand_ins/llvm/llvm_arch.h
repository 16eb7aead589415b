/* What LLVM calls the machine of an object file. */
#ifndef CALLSIGN_CLI_LLVM_ARCH_H
#define CALLSIGN_CLI_LLVM_ARCH_H

#include "stand_ins/llvm/llvm_module.h"

/* The architecture of LLVM's triple: "x86_64", "aarch64", "armv7" ... */
const char *llvm_arch_name(const struct llvm_module *module);
/* The number of a Mach-O architecture; 0: unknown. */
uint32_t macho_cpu_type(const char *arch);

#endif

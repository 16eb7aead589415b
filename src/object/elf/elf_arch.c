/* Names of ELF's machines, as other containers name theirs. */
#include "object/elf/elf_layout.h"
#include "object/object_private.h"

const char *csni_elf_arch_name(uint32_t machine, bool is_64) {
    switch (machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86_64";
    case EM_ARM: return "arm";
    case EM_AARCH64: return "arm64";
    case EM_MIPS: return is_64 ? "mips64" : "mips";
    case EM_PPC: return "ppc";
    case EM_PPC64: return "ppc64";
    case EM_S390: return is_64 ? "s390x" : "s390";
    case EM_RISCV: return is_64 ? "riscv64" : "riscv32";
    default: return "";
    }
}

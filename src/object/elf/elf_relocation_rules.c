/* What relocations of debug sections mean, machine by machine: plain addresses, offsets of thread-local variables, distances. */
#include "object/elf/elf_layout.h"
#include "object/elf/elf_relocation.h"
#include "object/elf/elf_relocation_types.h"

enum { IGNORE = CSNI_RELOCATION_IGNORE, ABSOLUTE = CSNI_RELOCATION_ABSOLUTE, RELATIVE = CSNI_RELOCATION_RELATIVE,
       WORDS = CSNI_RELOCATION_WORDS, ADD = CSNI_RELOCATION_ADD, ADD_RELATIVE = CSNI_RELOCATION_ADD_RELATIVE,
       SUB = CSNI_RELOCATION_SUB, SET6 = CSNI_RELOCATION_SET6,
       ADD6 = CSNI_RELOCATION_ADD6, SUB6 = CSNI_RELOCATION_SUB6, SET_ULEB = CSNI_RELOCATION_SET_ULEB,
       ADD_ULEB = CSNI_RELOCATION_ADD_ULEB, SUB_ULEB = CSNI_RELOCATION_SUB_ULEB };

static const struct csni_relocation_rule rules_x86_64[] = {
    { R_X86_64_32, ABSOLUTE, 4 }, { R_X86_64_64, ABSOLUTE, 8 }, { R_X86_64_32S, ABSOLUTE, 4 },
    { R_X86_64_PC32, RELATIVE, 4 }, { R_X86_64_PC64, RELATIVE, 8 }, { R_X86_64_DTPOFF64, ABSOLUTE, 8 },
    { R_X86_64_DTPOFF32, ABSOLUTE, 4 }, { R_X86_64_16, ABSOLUTE, 2 }, { R_X86_64_8, ABSOLUTE, 1 },
    { R_X86_64_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_386[] = {
    { R_386_32, ABSOLUTE, 4 }, { R_386_PC32, RELATIVE, 4 }, { R_386_TLS_LDO_32, ABSOLUTE, 4 },
    { R_386_16, ABSOLUTE, 2 }, { R_386_8, ABSOLUTE, 1 }, { R_386_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_aarch64[] = {
    { R_AARCH64_ABS32, ABSOLUTE, 4 }, { R_AARCH64_ABS64, ABSOLUTE, 8 }, { R_AARCH64_ABS16, ABSOLUTE, 2 },
    { R_AARCH64_PREL32, RELATIVE, 4 }, { R_AARCH64_PREL64, RELATIVE, 8 }, { R_AARCH64_TLS_DTPREL64, ABSOLUTE, 8 },
    { R_AARCH64_NONE, IGNORE, 0 }, { R_AARCH64_NONE_OLD, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_arm[] = {
    { R_ARM_ABS32, ABSOLUTE, 4 }, { R_ARM_REL32, RELATIVE, 4 }, { R_ARM_TLS_LDO32, ABSOLUTE, 4 },
    { R_ARM_ABS16, ABSOLUTE, 2 }, { R_ARM_ABS8, ABSOLUTE, 1 }, { R_ARM_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_riscv[] = {
    { R_RISCV_32, ABSOLUTE, 4 }, { R_RISCV_64, ABSOLUTE, 8 }, { R_RISCV_ADD8, ADD, 1 }, { R_RISCV_SUB8, SUB, 1 },
    { R_RISCV_ADD16, ADD, 2 }, { R_RISCV_SUB16, SUB, 2 }, { R_RISCV_ADD32, ADD, 4 }, { R_RISCV_SUB32, SUB, 4 },
    { R_RISCV_ADD64, ADD, 8 }, { R_RISCV_SUB64, SUB, 8 }, { R_RISCV_SET6, SET6, 1 }, { R_RISCV_SUB6, SUB6, 1 },
    { R_RISCV_SET8, ABSOLUTE, 1 }, { R_RISCV_SET16, ABSOLUTE, 2 }, { R_RISCV_SET32, ABSOLUTE, 4 },
    { R_RISCV_32_PCREL, RELATIVE, 4 }, { R_RISCV_SET_ULEB128, SET_ULEB, 1 }, { R_RISCV_SUB_ULEB128, SUB_ULEB, 1 },
    { R_RISCV_TLS_DTPREL32, ABSOLUTE, 4 }, { R_RISCV_TLS_DTPREL64, ABSOLUTE, 8 }, { R_RISCV_RELAX, IGNORE, 0 },
    { R_RISCV_ALIGN, IGNORE, 0 }, { R_RISCV_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_ppc[] = {
    { R_PPC_ADDR32, ABSOLUTE, 4 }, { R_PPC_UADDR32, ABSOLUTE, 4 }, { R_PPC_REL32, RELATIVE, 4 },
    { R_PPC_DTPREL32, ABSOLUTE, 4 }, { R_PPC_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_ppc64[] = {
    { R_PPC64_ADDR32, ABSOLUTE, 4 }, { R_PPC64_ADDR64, ABSOLUTE, 8 }, { R_PPC64_UADDR32, ABSOLUTE, 4 },
    { R_PPC64_UADDR64, ABSOLUTE, 8 }, { R_PPC64_REL32, RELATIVE, 4 }, { R_PPC64_REL64, RELATIVE, 8 },
    { R_PPC64_DTPREL64, ABSOLUTE, 8 }, { R_PPC64_TOC, IGNORE, 0 }, { R_PPC64_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_s390[] = {
    { R_390_32, ABSOLUTE, 4 }, { R_390_64, ABSOLUTE, 8 }, { R_390_16, ABSOLUTE, 2 }, { R_390_8, ABSOLUTE, 1 },
    { R_390_PC32, RELATIVE, 4 }, { R_390_PC64, RELATIVE, 8 }, { R_390_TLS_LDO32, ABSOLUTE, 4 },
    { R_390_TLS_LDO64, ABSOLUTE, 8 }, { R_390_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_aarch64_ilp32[] = {
    { R_AARCH64_P32_ABS32, ABSOLUTE, 4 }, { R_AARCH64_P32_ABS16, ABSOLUTE, 2 }, { R_AARCH64_P32_PREL32, RELATIVE, 4 },
    { R_AARCH64_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_loongarch[] = {
    { R_LARCH_32, ABSOLUTE, 4 }, { R_LARCH_64, ABSOLUTE, 8 }, { R_LARCH_ADD8, ADD, 1 }, { R_LARCH_SUB8, SUB, 1 },
    { R_LARCH_ADD16, ADD, 2 }, { R_LARCH_SUB16, SUB, 2 }, { R_LARCH_ADD24, ADD, 3 }, { R_LARCH_SUB24, SUB, 3 },
    { R_LARCH_ADD32, ADD, 4 }, { R_LARCH_SUB32, SUB, 4 }, { R_LARCH_ADD64, ADD, 8 }, { R_LARCH_SUB64, SUB, 8 },
    { R_LARCH_ADD6, ADD6, 1 }, { R_LARCH_SUB6, SUB6, 1 }, { R_LARCH_ADD_ULEB128, ADD_ULEB, 1 },
    { R_LARCH_SUB_ULEB128, SUB_ULEB, 1 }, { R_LARCH_32_PCREL, RELATIVE, 4 }, { R_LARCH_64_PCREL, RELATIVE, 8 },
    { R_LARCH_TLS_DTPREL32, ABSOLUTE, 4 }, { R_LARCH_TLS_DTPREL64, ABSOLUTE, 8 }, { R_LARCH_RELAX, IGNORE, 0 },
    { R_LARCH_ALIGN, IGNORE, 0 }, { R_LARCH_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_mips[] = {
    { R_MIPS_32, ABSOLUTE, 4 }, { R_MIPS_64, ABSOLUTE, 8 }, { R_MIPS_PC32, RELATIVE, 4 }, { R_MIPS_16, ABSOLUTE, 2 },
    { R_MIPS_TLS_DTPREL32, ABSOLUTE, 4 }, { R_MIPS_TLS_DTPREL64, ABSOLUTE, 8 }, { R_MIPS_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_sparc[] = {
    { R_SPARC_32, ABSOLUTE, 4 }, { R_SPARC_UA32, ABSOLUTE, 4 }, { R_SPARC_64, ABSOLUTE, 8 },
    { R_SPARC_UA64, ABSOLUTE, 8 }, { R_SPARC_DISP32, RELATIVE, 4 }, { R_SPARC_DISP64, RELATIVE, 8 },
    { R_SPARC_UA16, ABSOLUTE, 2 }, { R_SPARC_16, ABSOLUTE, 2 }, { R_SPARC_8, ABSOLUTE, 1 },
    { R_SPARC_TLS_DTPOFF32, ABSOLUTE, 4 }, { R_SPARC_TLS_DTPOFF64, ABSOLUTE, 8 }, { R_SPARC_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_bpf[] = {
    { R_BPF_64_ABS32, ABSOLUTE, 4 }, { R_BPF_64_ABS64, ABSOLUTE, 8 }, { R_BPF_64_NODYLD32, ABSOLUTE, 4 },
    { R_BPF_64_64, ABSOLUTE, 8 }, { R_BPF_64_32, ABSOLUTE, 4 }, { R_BPF_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_amdgpu[] = {
    { R_AMDGPU_ABS32, ABSOLUTE, 4 }, { R_AMDGPU_ABS64, ABSOLUTE, 8 }, { R_AMDGPU_REL32, RELATIVE, 4 },
    { R_AMDGPU_REL64, RELATIVE, 8 }, { R_AMDGPU_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_hexagon[] = {
    { R_HEX_32, ABSOLUTE, 4 }, { R_HEX_16, ABSOLUTE, 2 }, { R_HEX_8, ABSOLUTE, 1 }, { R_HEX_32_PCREL, RELATIVE, 4 },
    { R_HEX_DTPREL_32, ABSOLUTE, 4 }, { R_HEX_DTPREL_16, ABSOLUTE, 2 }, { R_HEX_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_68k[] = {
    { R_68K_32, ABSOLUTE, 4 }, { R_68K_16, ABSOLUTE, 2 }, { R_68K_8, ABSOLUTE, 1 }, { R_68K_PC32, RELATIVE, 4 },
    { R_68K_TLS_LDO32, ABSOLUTE, 4 }, { R_68K_TLS_DTPREL32, ABSOLUTE, 4 }, { R_68K_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_avr[] = {
    { R_AVR_32, ABSOLUTE, 4 }, { R_AVR_16, ABSOLUTE, 2 }, { R_AVR_16_PM, WORDS, 2 }, { R_AVR_8, ABSOLUTE, 1 },
    { R_AVR_32_PCREL, RELATIVE, 4 }, { R_AVR_DIFF8, IGNORE, 0 }, { R_AVR_DIFF16, IGNORE, 0 },
    { R_AVR_DIFF32, IGNORE, 0 }, { R_AVR_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_msp430[] = {
    { R_MSP430_32, ABSOLUTE, 4 }, { R_MSP430_16, ABSOLUTE, 2 }, { R_MSP430_16_BYTE, ABSOLUTE, 2 },
    { R_MSP430_8, ABSOLUTE, 1 }, { R_MSP430_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_lanai[] = {
    { R_LANAI_32, ABSOLUTE, 4 }, { R_LANAI_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_ve[] = {
    { R_VE_REFLONG, ABSOLUTE, 4 }, { R_VE_REFQUAD, ABSOLUTE, 8 }, { R_VE_SREL32, RELATIVE, 4 },
    { R_VE_DTPOFF64, ABSOLUTE, 8 }, { R_VE_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_xtensa[] = {
    { R_XTENSA_32, ABSOLUTE, 4 }, { R_XTENSA_32_PCREL, RELATIVE, 4 }, { R_XTENSA_TLS_DTPOFF, ABSOLUTE, 4 },
    { R_XTENSA_DIFF8, IGNORE, 0 }, { R_XTENSA_DIFF16, IGNORE, 0 }, { R_XTENSA_DIFF32, IGNORE, 0 },
    { R_XTENSA_PDIFF8, IGNORE, 0 }, { R_XTENSA_PDIFF16, IGNORE, 0 }, { R_XTENSA_PDIFF32, IGNORE, 0 },
    { R_XTENSA_NDIFF8, IGNORE, 0 }, { R_XTENSA_NDIFF16, IGNORE, 0 }, { R_XTENSA_NDIFF32, IGNORE, 0 },
    { R_XTENSA_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_cuda[] = {
    { R_CUDA_32, ABSOLUTE, 4 }, { R_CUDA_64, ABSOLUTE, 8 }, { R_CUDA_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_alpha[] = {
    { R_ALPHA_REFLONG, ABSOLUTE, 4 }, { R_ALPHA_REFQUAD, ABSOLUTE, 8 }, { R_ALPHA_SREL32, RELATIVE, 4 },
    { R_ALPHA_SREL64, RELATIVE, 8 }, { R_ALPHA_DTPREL64, ABSOLUTE, 8 }, { R_ALPHA_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_parisc[] = {
    { R_PARISC_DIR32, ABSOLUTE, 4 }, { R_PARISC_DIR64, ABSOLUTE, 8 }, { R_PARISC_SECREL32, ABSOLUTE, 4 },
    { R_PARISC_SECREL64, ABSOLUTE, 8 }, { R_PARISC_SEGREL32, ABSOLUTE, 4 }, { R_PARISC_SEGREL64, ABSOLUTE, 8 },
    { R_PARISC_PCREL32, RELATIVE, 4 }, { R_PARISC_PCREL64, RELATIVE, 8 }, { R_PARISC_TLS_DTPOFF32, ABSOLUTE, 4 },
    { R_PARISC_TLS_DTPOFF64, ABSOLUTE, 8 }, { R_PARISC_NONE, IGNORE, 0 },
};
/* Addends stand at the place, although entries have one, too. */
static const struct csni_relocation_rule rules_sh[] = {
    { R_SH_DIR32, ADD, 4 }, { R_SH_REL32, ADD_RELATIVE, 4 }, { R_SH_DIR16, ADD, 2 }, { R_SH_DIR8, ADD, 1 },
    { R_SH_TLS_LDO_32, ADD, 4 }, { R_SH_TLS_DTPOFF32, ADD, 4 }, { R_SH_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_arc[] = {
    { R_ARC_32, ABSOLUTE, 4 }, { R_ARC_16, ABSOLUTE, 2 }, { R_ARC_8, ABSOLUTE, 1 }, { R_ARC_PC32, RELATIVE, 4 },
    { R_ARC_32_PCREL, RELATIVE, 4 }, { R_ARC_TLS_DTPOFF, ABSOLUTE, 4 }, { R_ARC_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_csky[] = {
    { R_CKCORE_ADDR32, ABSOLUTE, 4 }, { R_CKCORE_PCREL32, RELATIVE, 4 }, { R_CKCORE_TLS_LDO32, ABSOLUTE, 4 },
    { R_CKCORE_TLS_DTPOFF32, ABSOLUTE, 4 }, { R_CKCORE_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_ia64[] = {
    { R_IA64_DIR32LSB, ABSOLUTE, 4 }, { R_IA64_DIR64LSB, ABSOLUTE, 8 }, { R_IA64_DIR32MSB, ABSOLUTE, 4 },
    { R_IA64_DIR64MSB, ABSOLUTE, 8 }, { R_IA64_PCREL32LSB, RELATIVE, 4 }, { R_IA64_PCREL64LSB, RELATIVE, 8 },
    { R_IA64_SECREL32LSB, ABSOLUTE, 4 }, { R_IA64_SECREL64LSB, ABSOLUTE, 8 }, { R_IA64_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_microblaze[] = {
    { R_MICROBLAZE_32, ABSOLUTE, 4 }, { R_MICROBLAZE_32_PCREL, RELATIVE, 4 }, { R_MICROBLAZE_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_nios2[] = {
    { R_NIOS2_BFD_RELOC_32, ABSOLUTE, 4 }, { R_NIOS2_BFD_RELOC_16, ABSOLUTE, 2 },
    { R_NIOS2_BFD_RELOC_8, ABSOLUTE, 1 }, { R_NIOS2_TLS_DTPREL, ABSOLUTE, 4 }, { R_NIOS2_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_or1k[] = {
    { R_OR1K_32, ABSOLUTE, 4 }, { R_OR1K_16, ABSOLUTE, 2 }, { R_OR1K_8, ABSOLUTE, 1 },
    { R_OR1K_32_PCREL, RELATIVE, 4 }, { R_OR1K_TLS_DTPOFF, ABSOLUTE, 4 }, { R_OR1K_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_m32r[] = {
    { R_M32R_32_RELA, ABSOLUTE, 4 }, { R_M32R_REL32, RELATIVE, 4 }, { R_M32R_NONE, IGNORE, 0 },
};
static const struct csni_relocation_rule rules_tilegx[] = {
    { R_TILEGX_32, ABSOLUTE, 4 }, { R_TILEGX_64, ABSOLUTE, 8 }, { R_TILEGX_32_PCREL, RELATIVE, 4 },
    { R_TILEGX_TLS_DTPOFF32, ABSOLUTE, 4 }, { R_TILEGX_TLS_DTPOFF64, ABSOLUTE, 8 }, { R_TILEGX_NONE, IGNORE, 0 },
};

struct machine_rules {
    uint32_t machine;
    const struct csni_relocation_rule *items;
    size_t count;
};

#define RULES(table) rules_##table, sizeof rules_##table / sizeof *rules_##table
static const struct machine_rules machine_rules[] = {
    { EM_X86_64, RULES(x86_64) },
    { EM_386, RULES(386) },
    { EM_AARCH64, RULES(aarch64) },
    { EM_ARM, RULES(arm) },
    { EM_RISCV, RULES(riscv) },
    { EM_PPC, RULES(ppc) },
    { EM_PPC64, RULES(ppc64) },
    { EM_S390, RULES(s390) },
    { EM_LOONGARCH, RULES(loongarch) },
    { EM_MIPS, RULES(mips) },
    { EM_SPARC, RULES(sparc) },
    { EM_SPARC32PLUS, RULES(sparc) },
    { EM_SPARCV9, RULES(sparc) },
    { EM_BPF, RULES(bpf) },
    { EM_AMDGPU, RULES(amdgpu) },
    { EM_HEXAGON, RULES(hexagon) },
    { EM_68K, RULES(68k) },
    { EM_AVR, RULES(avr) },
    { EM_MSP430, RULES(msp430) },
    { EM_LANAI, RULES(lanai) },
    { EM_VE, RULES(ve) },
    { EM_XTENSA, RULES(xtensa) },
    { EM_CUDA, RULES(cuda) },
    { EM_ALPHA, RULES(alpha) },
    { EM_PARISC, RULES(parisc) },
    { EM_SH, RULES(sh) },
    { EM_ARC_COMPACT, RULES(arc) },
    { EM_ARC_COMPACT2, RULES(arc) },
    { EM_CSKY, RULES(csky) },
    { EM_IA_64, RULES(ia64) },
    { EM_MICROBLAZE, RULES(microblaze) },
    { EM_ALTERA_NIOS2, RULES(nios2) },
    { EM_OPENRISC, RULES(or1k) },
    { EM_M32R, RULES(m32r) },
    { EM_TILEGX, RULES(tilegx) },
};

struct csni_relocation_rules csni_elf_relocation_rules(const struct csni_object *object) {
    if (object->machine == EM_AARCH64 && object->address_size == 4) return (struct csni_relocation_rules){ RULES(aarch64_ilp32) };
    for (size_t i = 0; i < sizeof machine_rules / sizeof *machine_rules; i++)
        if (machine_rules[i].machine == object->machine)
            return (struct csni_relocation_rules){ machine_rules[i].items, machine_rules[i].count };
    return (struct csni_relocation_rules){ NULL, 0 };
}
#undef RULES

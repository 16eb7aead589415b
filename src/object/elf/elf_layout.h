/* ELF on the wire: constants and field offsets, nothing else. Names are those of the ELF specification and of the psABIs. */
#ifndef CSNI_ELF_LAYOUT_H
#define CSNI_ELF_LAYOUT_H

enum { ELF_MAGIC_SIZE = 4, EI_CLASS = 4, EI_DATA = 5, EI_NIDENT = 16 };
enum { ELFCLASS32 = 1, ELFCLASS64 = 2 };
enum { ELFDATA2LSB = 1, ELFDATA2MSB = 2 };
enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, ET_CORE = 4 };
enum { EM_386 = 3, EM_MIPS = 8, EM_PPC = 20, EM_PPC64 = 21, EM_S390 = 22, EM_ARM = 40, EM_X86_64 = 62,
       EM_AARCH64 = 183, EM_RISCV = 243 };
enum { EHDR32_SIZE = 52, EHDR64_SIZE = 64, PHDR32_SIZE = 32, PHDR64_SIZE = 56, SHDR32_SIZE = 40, SHDR64_SIZE = 64 };

/* Extended numbering: the value is in section header 0. */
enum { PN_XNUM = 0xffff };

enum { PT_LOAD = 1, PT_NOTE = 4 };
enum { PF_X = 1 };

enum { SHN_UNDEF = 0, SHN_LORESERVE = 0xff00, SHN_ABS = 0xfff1, SHN_COMMON = 0xfff2, SHN_XINDEX = 0xffff };
enum { SHT_NULL = 0, SHT_PROGBITS = 1, SHT_SYMTAB = 2, SHT_STRTAB = 3, SHT_RELA = 4, SHT_NOTE = 7, SHT_NOBITS = 8,
       SHT_REL = 9, SHT_DYNSYM = 11, SHT_GROUP = 17, SHT_SYMTAB_SHNDX = 18 };
enum { SHF_WRITE = 0x1, SHF_ALLOC = 0x2, SHF_EXECINSTR = 0x4, SHF_GROUP = 0x200, SHF_COMPRESSED = 0x800 };

enum { ELFCOMPRESS_ZLIB = 1, ELFCOMPRESS_ZSTD = 2 };
enum { CHDR32_SIZE = 12, CHDR64_SIZE = 24 };
/* .zdebug_: "ZLIB" and the inflated size, 8 bytes, big-endian in every file. */
enum { ZDEBUG_MAGIC_SIZE = 4, ZDEBUG_HEADER_SIZE = 12 };

enum { NHDR_SIZE = 12, NT_GNU_BUILD_ID = 3 };

enum { SYM32_NAME = 0, SYM32_VALUE = 4, SYM32_SIZE = 8, SYM32_INFO = 12, SYM32_OTHER = 13, SYM32_SHNDX = 14,
       SYM32_ENTRY_SIZE = 16 };
enum { SYM64_NAME = 0, SYM64_INFO = 4, SYM64_OTHER = 5, SYM64_SHNDX = 6, SYM64_VALUE = 8, SYM64_SIZE = 16,
       SYM64_ENTRY_SIZE = 24 };
enum { STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_SECTION = 3, STT_FILE = 4, STT_COMMON = 5, STT_TLS = 6,
       STT_GNU_IFUNC = 10 };
enum { STB_LOCAL = 0, STB_GLOBAL = 1, STB_WEAK = 2, STB_GNU_UNIQUE = 10 };
/* Visibility: the low two bits of st_other. */
enum { STV_INTERNAL = 1, STV_HIDDEN = 2 };
/* MIPS: the instruction set of a function, in st_other. */
enum { STO_MIPS_ISA = 0xc0, STO_MICROMIPS = 0x80, STO_MIPS16 = 0xf0 };

/* r_offset, r_info and, in Elf_Rela, r_addend: a word of the class each. */
enum { REL32_SIZE = 8, RELA32_SIZE = 12, REL64_SIZE = 16, RELA64_SIZE = 24 };

enum { R_X86_64_NONE = 0, R_X86_64_64 = 1, R_X86_64_PC32 = 2, R_X86_64_32 = 10, R_X86_64_32S = 11, R_X86_64_16 = 12,
       R_X86_64_8 = 14, R_X86_64_DTPOFF64 = 17, R_X86_64_DTPOFF32 = 21, R_X86_64_PC64 = 24 };
enum { R_386_NONE = 0, R_386_32 = 1, R_386_PC32 = 2, R_386_16 = 20, R_386_8 = 22, R_386_TLS_LDO_32 = 32 };
enum { R_AARCH64_NONE = 0, R_AARCH64_NONE_OLD = 256, R_AARCH64_ABS64 = 257, R_AARCH64_ABS32 = 258, R_AARCH64_ABS16 = 259,
       R_AARCH64_PREL64 = 260, R_AARCH64_PREL32 = 261, R_AARCH64_TLS_DTPREL64 = 1029 };
enum { R_ARM_NONE = 0, R_ARM_ABS32 = 2, R_ARM_REL32 = 3, R_ARM_ABS16 = 5, R_ARM_ABS8 = 8, R_ARM_TLS_LDO32 = 106 };
enum { R_RISCV_NONE = 0, R_RISCV_32 = 1, R_RISCV_64 = 2, R_RISCV_TLS_DTPREL32 = 8, R_RISCV_TLS_DTPREL64 = 9,
       R_RISCV_ADD8 = 33, R_RISCV_ADD16 = 34, R_RISCV_ADD32 = 35, R_RISCV_ADD64 = 36, R_RISCV_SUB8 = 37,
       R_RISCV_SUB16 = 38, R_RISCV_SUB32 = 39, R_RISCV_SUB64 = 40, R_RISCV_ALIGN = 43, R_RISCV_RELAX = 51,
       R_RISCV_SUB6 = 52, R_RISCV_SET6 = 53, R_RISCV_SET8 = 54, R_RISCV_SET16 = 55, R_RISCV_SET32 = 56,
       R_RISCV_32_PCREL = 57, R_RISCV_SET_ULEB128 = 60, R_RISCV_SUB_ULEB128 = 61 };
enum { R_PPC_NONE = 0, R_PPC_ADDR32 = 1, R_PPC_UADDR32 = 24, R_PPC_REL32 = 26, R_PPC_DTPREL32 = 78 };
enum { R_PPC64_NONE = 0, R_PPC64_ADDR32 = 1, R_PPC64_UADDR32 = 24, R_PPC64_REL32 = 26, R_PPC64_ADDR64 = 38,
       R_PPC64_UADDR64 = 43, R_PPC64_REL64 = 44, R_PPC64_DTPREL64 = 78 };
enum { R_390_NONE = 0, R_390_8 = 1, R_390_16 = 3, R_390_32 = 4, R_390_PC32 = 5, R_390_64 = 22, R_390_PC64 = 23,
       R_390_TLS_LDO32 = 52, R_390_TLS_LDO64 = 53 };

/* Dynamic relocations: the load bias + A. */
enum { R_X86_64_RELATIVE = 8, R_AARCH64_RELATIVE = 1027, R_RISCV_RELATIVE = 3, R_PPC64_RELATIVE = 22, R_390_RELATIVE = 12 };

#endif

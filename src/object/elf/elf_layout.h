/* ELF on the wire: constants and field offsets, nothing else. Names are those of the ELF specification and of the psABIs. */
#ifndef CSNI_ELF_LAYOUT_H
#define CSNI_ELF_LAYOUT_H

enum { ELF_MAGIC_SIZE = 4, EI_CLASS = 4, EI_DATA = 5, EI_NIDENT = 16 };
enum { ELFCLASS32 = 1, ELFCLASS64 = 2 };
enum { ELFDATA2LSB = 1, ELFDATA2MSB = 2 };
enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, ET_CORE = 4 };
enum { EM_SPARC = 2, EM_386 = 3, EM_68K = 4, EM_MIPS = 8, EM_PARISC = 15, EM_SPARC32PLUS = 18, EM_PPC = 20, EM_PPC64 = 21,
       EM_S390 = 22, EM_ARM = 40, EM_SH = 42, EM_SPARCV9 = 43, EM_IA_64 = 50, EM_X86_64 = 62, EM_AVR = 83, EM_M32R = 88,
       EM_OPENRISC = 92, EM_ARC_COMPACT = 93, EM_XTENSA = 94, EM_MSP430 = 105, EM_ALTERA_NIOS2 = 113, EM_HEXAGON = 164,
       EM_AARCH64 = 183, EM_MICROBLAZE = 189, EM_CUDA = 190, EM_TILEGX = 191, EM_ARC_COMPACT2 = 195, EM_AMDGPU = 224,
       EM_RISCV = 243, EM_LANAI = 244, EM_BPF = 247, EM_VE = 251, EM_CSKY = 252, EM_LOONGARCH = 258, EM_ALPHA = 0x9026 };
/* Of 32-bit ARM, in e_flags, whose place is EHDR32_FLAGS: data are big-endian, instructions are not. */
enum { EHDR32_FLAGS = 36, EF_ARM_BE8 = 0x00800000 };
enum { EHDR32_SIZE = 52, EHDR64_SIZE = 64, PHDR32_SIZE = 32, PHDR64_SIZE = 56, SHDR32_SIZE = 40, SHDR64_SIZE = 64 };

/* Extended numbering: the value is in section header 0. */
enum { PN_XNUM = 0xffff };

enum { PT_LOAD = 1, PT_NOTE = 4 };
enum { PF_X = 1 };

enum { SHN_UNDEF = 0, SHN_LORESERVE = 0xff00, SHN_ABS = 0xfff1, SHN_COMMON = 0xfff2, SHN_XINDEX = 0xffff };
enum { SHT_NULL = 0, SHT_PROGBITS = 1, SHT_SYMTAB = 2, SHT_STRTAB = 3, SHT_RELA = 4, SHT_DYNAMIC = 6, SHT_NOTE = 7, SHT_NOBITS = 8,
       SHT_REL = 9, SHT_DYNSYM = 11, SHT_GROUP = 17, SHT_SYMTAB_SHNDX = 18 };
enum { SHF_WRITE = 0x1, SHF_ALLOC = 0x2, SHF_EXECINSTR = 0x4, SHF_GROUP = 0x200, SHF_COMPRESSED = 0x800 };

enum { ELFCOMPRESS_ZLIB = 1, ELFCOMPRESS_ZSTD = 2 };
enum { CHDR32_SIZE = 12, CHDR64_SIZE = 24 };
/* .zdebug_: "ZLIB" and the inflated size, 8 bytes, big-endian in every file. */
enum { ZDEBUG_MAGIC_SIZE = 4, ZDEBUG_HEADER_SIZE = 12 };

/* Entries of .dynamic: a tag and a value, a word of the class each. */
enum { DT_PLTGOT = 3, DT_PPC64_GLINK = 0x70000000 };

enum { NHDR_SIZE = 12, NT_GNU_BUILD_ID = 3, NT_FILE = 0x46494c45 };

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

#endif

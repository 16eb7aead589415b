/* The numbers of Go's function table (.gopclntab) and of the record (moduledata) that says where things are. Facts: Go's
 * runtime/symtab.go, runtime/runtime2.go and cmd/link/internal/ld/pcln.go of 1.12 to 1.27. docs/formats/go.md has the layouts. */
#ifndef CSNI_GO_LAYOUT_H
#define CSNI_GO_LAYOUT_H

/* The first four bytes; written in the target's byte order. */
enum {
    GO_MAGIC_1_2_LOW = 0xfb, GO_MAGIC_1_16_LOW = 0xfa, GO_MAGIC_1_18_LOW = 0xf0, GO_MAGIC_1_20_LOW = 0xf1
};
/* Magic, two zeros, quantum, pointer size; then pointer-sized words, the first of them the number of functions. */
enum { GO_HEADER_QUANTUM = 6, GO_HEADER_POINTER = 7, GO_HEADER_WORDS = 8 };
enum {
    GO_1_16_NAMES = 2, GO_1_16_UNITS, GO_1_16_FILES, GO_1_16_PC_VALUES, GO_1_16_FUNCTIONS, GO_1_16_WORDS,
    GO_1_18_TEXT_START = 2, GO_1_18_NAMES, GO_1_18_UNITS, GO_1_18_FILES, GO_1_18_PC_VALUES, GO_1_18_FUNCTIONS,
    GO_1_18_WORDS
};

/* 4-byte fields of a function record after its entry, which is a pointer up to 1.17 and an offset of 4 bytes since. */
enum {
    GO_FUNC_NAME, GO_FUNC_ARGS, GO_FUNC_DEFER_RETURN, GO_FUNC_PC_SP, GO_FUNC_PC_FILE, GO_FUNC_PC_LINE, GO_FUNC_PC_DATA_COUNT,
    GO_FUNC_UNIT, /* since 1.16 */
    GO_FUNC_WORDS_1_2 = 8, GO_FUNC_WORDS_1_16 = 9, GO_FUNC_WORDS_1_18 = 9, GO_FUNC_WORDS_1_20 = 10
};

/* Numbers of the per-function tables. Before 1.16 they depend on the release. */
enum {
    GO_PCDATA_INLINE_TREE = 2, GO_FUNCDATA_INLINE_TREE = 3,           /* since 1.16 */
    GO_PCDATA_INLINE_TREE_1_13 = 2, GO_FUNCDATA_INLINE_TREE_1_13 = 4, /* 1.13 to 1.15 */
    GO_PCDATA_INLINE_TREE_1_12 = 1, GO_FUNCDATA_INLINE_TREE_1_12 = 2
};

/* An inlined call. Up to 1.19: i16 parent, u8, u8, u32 file, u32 line, u32 name, u32 parent pc. Since: u8, 3 unused,
 * u32 name, u32 parent pc, u32 line that the function begins at. */
enum {
    GO_INLINED_1_12_SIZE = 20, GO_INLINED_1_12_FILE = 4, GO_INLINED_1_12_LINE = 8, GO_INLINED_1_12_NAME = 12,
    GO_INLINED_1_12_PARENT_PC = 16,
    GO_INLINED_1_20_SIZE = 16, GO_INLINED_1_20_NAME = 4, GO_INLINED_1_20_PARENT_PC = 8
};

/* Pointer-sized words of moduledata since 1.16. */
enum {
    GO_MODULE_HEADER = 0, GO_MODULE_NAMES = 1, GO_MODULE_MIN_PC = 20, GO_MODULE_MAX_PC = 21, GO_MODULE_TEXT = 22,
    GO_MODULE_FUNC_DATA_1_18 = 38, GO_MODULE_FUNC_DATA_1_20 = 40, GO_MODULE_FUNC_DATA_1_27 = 43
};

#endif

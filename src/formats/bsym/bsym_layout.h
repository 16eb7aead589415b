/* BSYM on disk: Symbian's binary symbol files. Versions 1 and 2 are big-endian on every host; docs/formats/bsym.md has the
 * whole. */
#ifndef CSNI_BSYM_LAYOUT_H
#define CSNI_BSYM_LAYOUT_H

enum {
    CSNI_BSYM_MAGIC_SIZE = 4, /* "BSYM" */
    /* Offsets in the header, words all. */
    CSNI_BSYM_H_VERSION = 4,  /* major << 16 | minor */
    CSNI_BSYM_H_SEGMENTS = 8,
    CSNI_BSYM_H_SYMBOLS = 12,
    CSNI_BSYM_H_TOKENS = 16,   /* from 2.0 on */
    CSNI_BSYM_H_RENAMES = 20,  /* from 2.1 on; 0: there is no such section */
    CSNI_BSYM_H_CHECKSUM = 24, /* from 2.2 on */

    /* Every section begins with a word: how many records follow. */
    CSNI_BSYM_SEGMENT_SIZE = 20,
    CSNI_BSYM_S_ADDRESS = 0,  /* 0: not executed in place */
    CSNI_BSYM_S_COUNT = 4,    /* symbols */
    CSNI_BSYM_S_NAME = 8,
    CSNI_BSYM_S_FIRST = 12,   /* index of its first symbol */
    CSNI_BSYM_S_PREFIXES = 16, /* table of words, at any alignment; 0: none */

    CSNI_BSYM_SYMBOL_SIZE = 12,
    CSNI_BSYM_Y_ADDRESS = 0,
    CSNI_BSYM_Y_PREFIX = 4,   /* prefix number << 16 | length */
    CSNI_BSYM_Y_NAME = 8,

    CSNI_BSYM_RENAME_SIZE = 8,
    CSNI_BSYM_R_SEGMENT = 0,
    CSNI_BSYM_R_NAME = 4,

    CSNI_BSYM_LONG = 0xff,    /* a string's length byte: 16 bits of length follow */
    CSNI_BSYM_STRING_MAX = 0xffff,
    CSNI_BSYM_NAME_MAX = 1 << 20, /* of one that is put together: tokens could make it 4 GB. Longer ones read as empty */
    CSNI_BSYM_LENGTH_MAX = 0xffff,
    CSNI_BSYM_PREFIX_MAX = 0xfffe,
    CSNI_BSYM_TOKEN_BIT = 0x80,
    CSNI_BSYM_TOKEN_MAX = 128,
    /* A symbol longer than 16 bits is written as several of one name; this is the size of all but the last. Even, since
     * addresses are. */
    CSNI_BSYM_SPLIT = 0xfffe
};

enum csni_bsym_version {
    CSNI_BSYM_1_0 = 0x10000,
    CSNI_BSYM_2_0 = 0x20000,
    CSNI_BSYM_2_1 = 0x20001,
    CSNI_BSYM_2_2 = 0x20002,
    CSNI_BSYM_2_3 = 0x20003,
    CSNI_BSYM_3_0 = 0x30000
};

/* Version 3.0: another layout after the same magic. */
enum {
    CSNI_BSYM3_H_COMPRESSION = 9, /* byte: 0 none, 1 pages of byte pairs */
    CSNI_BSYM3_H_BODY = 12,       /* offset in the file */
    CSNI_BSYM3_H_UNIT_COUNT = 16,
    CSNI_BSYM3_H_SYMBOLS = 20,    /* offset in the expanded body */
    CSNI_BSYM3_H_SYMBOL_COUNT = 24,
    CSNI_BSYM3_H_STRINGS = 28,    /* offset in the expanded body */
    CSNI_BSYM3_H_STRING_BYTES = 32,
    CSNI_BSYM3_H_PACKED_SIZE = 36,
    CSNI_BSYM3_H_BODY_SIZE = 40,
    CSNI_BSYM3_H_PAGES = 44,      /* offset in the file */
    CSNI_BSYM3_HEADER_SIZE = 48,
    CSNI_BSYM3_CHECKSUM = 48,     /* where there is room for it */

    CSNI_BSYM3_PAGE_SIZE = 4096,
    CSNI_BSYM3_PAGE_ENTRY = 8,    /* offset from the body, size */

    CSNI_BSYM3_UNIT_SIZE = 36,    /* address and count of code, data and bss; then: */
    CSNI_BSYM3_U_PC_NAME = 24,
    CSNI_BSYM3_U_DEVICE_NAME = 28,
    CSNI_BSYM3_U_FIRST = 32,
    CSNI_BSYM3_UNIT_PARTS = 3,

    CSNI_BSYM3_SYMBOL_SIZE = 20,
    CSNI_BSYM3_Y_ADDRESS = 0,
    CSNI_BSYM3_Y_LENGTH = 4,
    CSNI_BSYM3_Y_SCOPE = 8,
    CSNI_BSYM3_Y_NAME = 12,
    CSNI_BSYM3_Y_SECTION = 16
};

#endif

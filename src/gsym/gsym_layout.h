/* GSYM version 1 as it lies in a file: offsets, sizes and codes, nothing else. Every offset is from the start of the
 * file; every fixed-width number is in the file's byte order. docs/formats/gsym.md tells the whole. */
#ifndef CSNI_GSYM_LAYOUT_H
#define CSNI_GSYM_LAYOUT_H

/* The magic number as a u32 in the file's byte order: it alone decides that order. */
#define CSNI_GSYM_MAGIC 0x4753594du

enum {
    CSNI_GSYM_VERSION_1 = 1,
    CSNI_GSYM_UUID_MAX = 20 /* version 1 */
};

/* Header of version 1: 48 bytes without padding. */
enum {
    CSNI_GSYM_H_MAGIC = 0,          /* u32 */
    CSNI_GSYM_H_VERSION = 4,        /* u16 */
    CSNI_GSYM_H_ADDR_OFF_SIZE = 6,  /* u8: 1, 2, 4 or 8 */
    CSNI_GSYM_H_UUID_SIZE = 7,      /* u8: 0..20 */
    CSNI_GSYM_H_BASE_ADDRESS = 8,   /* u64 */
    CSNI_GSYM_H_NUM_ADDRESSES = 16, /* u32 */
    CSNI_GSYM_H_STRTAB_OFFSET = 20, /* u32 */
    CSNI_GSYM_H_STRTAB_SIZE = 24,   /* u32 */
    CSNI_GSYM_H_UUID = 28,          /* 20 bytes, zero behind uuid_size */
    CSNI_GSYM_HEADER_SIZE = 48
};

/* Behind the header: the address offsets, aligned to their own width; the info offsets (u32 each), the file table (u32
 * count, then entries) and each record, aligned to 4. The string table stands where the header says. */
enum {
    CSNI_GSYM_ALIGN = 4,
    CSNI_GSYM_INFO_OFFSET_SIZE = 4,
    CSNI_GSYM_FILE_COUNT_SIZE = 4,
    CSNI_GSYM_FILE_ENTRY_SIZE = 8, /* u32 directory strp, u32 base name strp */
    CSNI_GSYM_STRP_SIZE = 4
};

/* A record (FunctionInfo): u32 size, strp name, then parts {u32 type, u32 length, bytes} up to the part {0, 0}. */
enum {
    CSNI_GSYM_R_SIZE = 0,
    CSNI_GSYM_R_NAME = 4,
    CSNI_GSYM_R_PARTS = 8,
    CSNI_GSYM_PART_HEADER_SIZE = 8
};

enum csni_gsym_part {
    CSNI_GSYM_PART_END = 0,
    CSNI_GSYM_PART_LINES = 1,
    CSNI_GSYM_PART_INLINE = 2,
    CSNI_GSYM_PART_MERGED = 3,
    CSNI_GSYM_PART_CALL_SITES = 4
};

/* Line table: SLEB smallest and SLEB largest line delta of the special opcodes, ULEB first line, then opcodes. */
enum csni_gsym_line_op {
    CSNI_GSYM_LINE_END = 0,
    CSNI_GSYM_LINE_SET_FILE = 1,     /* ULEB file */
    CSNI_GSYM_LINE_ADVANCE_PC = 2,   /* ULEB address delta; emits a row */
    CSNI_GSYM_LINE_ADVANCE_LINE = 3, /* SLEB line delta */
    CSNI_GSYM_LINE_FIRST_SPECIAL = 4 /* this and above: line and address delta in one byte; emits a row */
};
enum { CSNI_GSYM_LINE_FIRST_FILE = 1 }; /* the file before the first SET_FILE */

/* Merged functions: u32 count, then {u32 size, a record of that size}, with no alignment. */
enum { CSNI_GSYM_MERGED_MIN = 4 }; /* bytes of an entry without its record */

/* Call sites: u32 count, then {u64 return offset, u8 flags, u32 count, count strp}. */
enum {
    CSNI_GSYM_CALL_INTERNAL = 1, /* the callee is in the same image */
    CSNI_GSYM_CALL_EXTERNAL = 2, /* the callee is in another image */
    CSNI_GSYM_CALL_SITE_MIN = 13 /* bytes of a call site without patterns */
};

#endif

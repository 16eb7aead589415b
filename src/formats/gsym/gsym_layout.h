/* GSYM versions 1 and 2 as they lie in a file: offsets, sizes and codes, nothing else. Every offset is from the start of
 * the file; every fixed-width number is in the file's byte order. docs/formats/gsym.md tells the whole. */
#ifndef CSNI_GSYM_LAYOUT_H
#define CSNI_GSYM_LAYOUT_H

/* The magic number as a u32 in the file's byte order: it alone decides that order. */
#define CSNI_GSYM_MAGIC 0x4753594du

enum {
    CSNI_GSYM_VERSION_1 = 1,
    CSNI_GSYM_VERSION_2 = 2,
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
    CSNI_GSYM_H_UUID = 28,          /* 20 bytes, zero after uuid_size */
    CSNI_GSYM_HEADER_SIZE = 48
};

/* After the header: the address offsets, aligned to their own width; the info offsets (u32 each), the file table (u32
 * count, then entries) and each record, aligned to 4. The string table stands where the header says. */
enum {
    CSNI_GSYM_ALIGN = 4,
    CSNI_GSYM_INFO_OFFSET_SIZE = 4,
    CSNI_GSYM_FILE_COUNT_SIZE = 4,
    CSNI_GSYM_FILE_ENTRY_SIZE = 8, /* u32 directory strp, u32 base name strp */
    CSNI_GSYM_STRP_SIZE = 4
};

/* The format sets no limit. Without one, records that overlap could make walks along all of them take forever. */
enum { CSNI_GSYM_PARTS_MAX = 1024 };
/* Functions with one start that a lookup reads. Real programs have a handful. */
enum { CSNI_GSYM_SAME_START_MAX = 1024 };
/* Functions may share records (GSYM's older revisions do), but each is read for itself. So many times the bytes of the file, and
 * of as many more, may be read. */
enum { CSNI_GSYM_SHARED_TIMES = 16, CSNI_GSYM_SHARED_FREE = 1 << 20 };

/* Header of version 2: 20 bytes, the first 8 but for the last of them and the base address as in version 1. After it the
 * directory: entries {u32 type, u64 file offset, u64 size} up to one of type 0. Sections stand anywhere. */
enum {
    CSNI_GSYM_2_STRING_ENCODING = 7,  /* u8: 0, NUL-terminated strings, is the only one */
    CSNI_GSYM_2_HEADER_SIZE = 20,
    CSNI_GSYM_2_ENTRY_TYPE = 0,       /* u32 */
    CSNI_GSYM_2_ENTRY_OFFSET = 4,     /* u64 */
    CSNI_GSYM_2_ENTRY_SIZE = 12,      /* u64 */
    CSNI_GSYM_2_ENTRY_BYTES = 20,
    CSNI_GSYM_2_STRP_SIZE = 8,        /* everywhere */
    CSNI_GSYM_2_INFO_OFFSET_SIZE = 8, /* from the start of the section of records */
    CSNI_GSYM_2_RECORD_PARTS = 12     /* in place of CSNI_GSYM_R_PARTS */
};

/* Ours, and may be missing: the address sample, which ends where the string table begins, after the file table. Copies of the
 * address offsets 0, 1 << shift, 2 << shift ..., then u32 shift, u32 magic number in the file's byte order. Other readers
 * never look at these bytes. */
#define CSNI_GSYM_SAMPLE_MAGIC 0x44534743u
enum {
    CSNI_GSYM_SAMPLE_SHIFT = -8,  /* u32, from the start of the string table */
    CSNI_GSYM_SAMPLE_MAGIC_AT = -4,
    CSNI_GSYM_SAMPLE_TRAILER = 8, /* bytes */
    CSNI_GSYM_SAMPLE_SHIFT_MAX = 31
};

/* Ours, and may be missing: the members of an archive. Right before the string table, after the address sample, which
 * then ends where
 * the members begin: for each, ascending by address, {u64 address, u32 offset of its name, u32 bytes of it}; names,
 * from the table's start; zero bytes up to a multiple of 8; u64 bytes of all of it, u32 count, u32 magic number. */
#define CSNI_GSYM_MEMBERS_MAGIC 0x424d5343u
enum {
    CSNI_GSYM_MEMBER_ADDRESS = 0,
    CSNI_GSYM_MEMBER_NAME = 8,
    CSNI_GSYM_MEMBER_NAME_SIZE = 12,
    CSNI_GSYM_MEMBER_BYTES = 16,
    CSNI_GSYM_MEMBERS_SIZE = -16,     /* u64, from the start of the string table */
    CSNI_GSYM_MEMBERS_COUNT = -8,
    CSNI_GSYM_MEMBERS_MAGIC_AT = -4,
    CSNI_GSYM_MEMBERS_TRAILER = 16    /* bytes */
};

/* Ours, and may be missing: the name table, at the very end of the file, aligned to 4. Entries {u32 hash, u32
 * function}, ascending by
 * both: a function has one for its name and one for that of each function merged with it. Then u32 count of entries, u32 revision,
 * u32 0, u32 magic number in the file's byte order. The hash is FNV-1a. Other readers never look at these bytes. */
#define CSNI_GSYM_NAMES_MAGIC 0x4e4e5343u
enum {
    CSNI_GSYM_NAMES_ENTRY = 8,    /* bytes */
    CSNI_GSYM_NAMES_TRAILER = 16,
    CSNI_GSYM_NAMES_REVISION = 1
};
static inline unsigned csni_gsym_name_hash(const char *name, unsigned long size) {
    unsigned hash = 2166136261u;
    for (unsigned long i = 0; i < size; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash & 0xffffffffu;
}

enum csni_gsym_section {
    CSNI_GSYM_SECTION_END = 0,
    CSNI_GSYM_SECTION_ADDRESSES = 1, /* address offsets, aligned to their width */
    CSNI_GSYM_SECTION_INFOS = 2,     /* info offsets, aligned to 8 */
    CSNI_GSYM_SECTION_STRINGS = 3,
    CSNI_GSYM_SECTION_FILES = 4,     /* u32 count, then entries of two strp without padding; aligned to 4 */
    CSNI_GSYM_SECTION_RECORDS = 5,   /* aligned to 4, and so is each record in it */
    CSNI_GSYM_SECTION_UUID = 6,      /* may be missing; any length */
    CSNI_GSYM_SECTION_KNOWN = 7      /* types below are known */
};

/* A record (FunctionInfo): u32 size, strp name, then parts {u32 type, u32 length, bytes} up to the part {0, 0}. What
 * depends on the width of a strp is here that of version 1. */
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

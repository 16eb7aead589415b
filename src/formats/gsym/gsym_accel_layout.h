/* The stored accelerator as it lies in a GSYM file of version 1 or 2: ours, and may be missing. All numbers are little-endian,
 * whatever the byte order of the file. docs/formats/gsym.md tells the whole.
 *
 * A region after the records that begins at a multiple of a page: u32 magic, u32 revision, u64 0; the table of buckets:
 * where its block begins, from the table's end on, and the name of its first function; blocks and nodes; files. The
 * trailer says where the region is. It ends where the address sample, the members or the string table begins, whichever
 * is first, so that tables and the first strings
 * stay together: a remote reader has them with one request. Version 2 also has a section of its own type for the region. */
#ifndef CSNI_GSYM_ACCEL_LAYOUT_H
#define CSNI_GSYM_ACCEL_LAYOUT_H

#define CSNI_ACCEL_MAGIC 0x434c4143u         /* "CALC" */
#define CSNI_GSYM_SECTION_ACCEL 0x4e534343u  /* version 2: the type of its section */

enum {
    CSNI_ACCEL_REVISION = 2,
    CSNI_ACCEL_PAGE = 4096,
    CSNI_ACCEL_START = 16,         /* bytes before the table */
    CSNI_ACCEL_ENTRY = 8,          /* of the table: u32 block, u32 name of its first function, which can be asked for with it */
    CSNI_ACCEL_FILE = 16,          /* u64 directory, u64 base name: offset << 8 | length, each */
    CSNI_ACCEL_FUNCTION = 17,      /* u32 start, u32 size, u32 name, u32 index, u8 length of the name */
    CSNI_ACCEL_LONG = 255,         /* the length of a string: at least that */
    CSNI_ACCEL_SHIFT_MIN = 4, CSNI_ACCEL_SHIFT_MAX = 8,
    CSNI_ACCEL_FILE_MAX = (1 << 24) - 1
};

/* The trailer. */
enum {
    CSNI_ACCEL_T_FIRST = 0,        /* u64, address of the first function */
    CSNI_ACCEL_T_COVERED = 8,      /* u64, bytes of code from there on */
    CSNI_ACCEL_T_BLOCK_BYTES = 16, /* u32, of blocks and nodes */
    CSNI_ACCEL_T_FIRST_READ = 20,  /* u32, bytes of the file that a remote reader has before it reads a block; 0: older, blocks have nothing for it */
    CSNI_ACCEL_T_NODES = 24,       /* u32, number of nodes */
    CSNI_ACCEL_T_FILES = 28,       /* u32, number of them, as in the file table */
    CSNI_ACCEL_T_SHIFT = 32,       /* u8, log2 of a bucket's bytes */
    CSNI_ACCEL_T_NODE_BYTES = 33,  /* u8, of a node */
    CSNI_ACCEL_T_BITS = 34,        /* u8 each, of a node's fields */
    CSNI_ACCEL_T_PLAIN = 40,       /* u32, functions that are left to the index */
    CSNI_ACCEL_T_REGION = 48,      /* u64, where the region begins in the file */
    CSNI_ACCEL_T_REVISION = 56,    /* u32 */
    CSNI_ACCEL_T_MAGIC = 60,       /* u32 */
    CSNI_ACCEL_TRAILER = 64
};

/* Node n is at n times the bytes of a node after the table's end; the nodes of a function are one after the other, before its first
 * block. Node 0 stands for none. The fields of a node, an inlined call, one after the other without gaps, from the
 * lowest bit of its first byte on. */
enum csni_accel_node_field {
    CSNI_ACCEL_F_NAME,
    CSNI_ACCEL_F_LENGTH,           /* of the name */
    CSNI_ACCEL_F_PARENT,           /* how many nodes before this one; 0: none */
    CSNI_ACCEL_F_FILE,             /* of the call */
    CSNI_ACCEL_F_LINE,
    CSNI_ACCEL_F_OFFSET,           /* of its lowest address, from the function's start */
    CSNI_ACCEL_FIELDS
};

/* A block: header, functions, the low address bits at which segments but the first begin (u8 each), segments as bits: node,
 * function within the block, line, file. Of functions there are as many bits as the last one's number needs. */
enum {
    CSNI_ACCEL_B_LAST_SEGMENT = 0, /* u8, number of segments less one: a bucket has 256 bytes at most */
    CSNI_ACCEL_B_LAST_FUNCTION = 1,
    CSNI_ACCEL_B_NODE_BITS = 2,    /* u8 each; and CSNI_ACCEL_HAS_NAMES */
    CSNI_ACCEL_B_LINE_BITS = 3,
    CSNI_ACCEL_B_FILE = 4,         /* u24, what is added to a segment's */
    CSNI_ACCEL_B_FILE_BITS = 7,
    CSNI_ACCEL_B_LINE = 8,         /* u32 */
    CSNI_ACCEL_B_NODE = 12,        /* u32 */
    CSNI_ACCEL_BLOCK_HEADER = 16,
    CSNI_ACCEL_BLOCK_MOST = 1 << 14, /* bytes of any block, and of what is read with it */
    CSNI_ACCEL_OVERREAD = 16       /* bytes after a block that may be read with it */
};

/* For remote readers, where the trailer has CSNI_ACCEL_T_FIRST_READ: inlined calls and some names that a block's stacks
 * need lie at most CSNI_ACCEL_NEAR bytes before it. Calls that are farther away are repeated as nodes of their own.
 * Names end right before a block
 * that has CSNI_ACCEL_HAS_NAMES, copies of strings of the table: u32 count; for each u32 offset in the string table,
 * u32 length; texts with their NULs; u32 bytes from the end of the names before these, which belong to the block,
 * too, as far as they are near; 0: none are; u32 bytes of all this. */
enum {
    CSNI_ACCEL_FIRST_READ = 400 << 10, /* as written */
    CSNI_ACCEL_HAS_NAMES = 0x40,
    CSNI_ACCEL_NEAR = 1 << 14,
    CSNI_ACCEL_NAMES_MOST = 12 << 10, /* bytes, as written */
    CSNI_ACCEL_NAMES_START = 4, CSNI_ACCEL_NAMES_ENTRY = 8, CSNI_ACCEL_NAMES_END = 8
};

/* What a segment says in place of a node. */
enum {
    CSNI_ACCEL_CODE_GAP = 1,       /* after the end of its function */
    CSNI_ACCEL_CODE_PLAIN = 2,     /* to be looked up in the index */
    CSNI_ACCEL_NODES = 3           /* this and above: a node, counted from the block's */
};
#define CSNI_ACCEL_NO_NODE 0u      /* the same once it is decoded */
#define CSNI_ACCEL_GAP (UINT32_MAX - 1)
#define CSNI_ACCEL_PLAIN UINT32_MAX

#endif

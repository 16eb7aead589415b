/* Checkpoints as they lie in a GSYM file of version 1 or 2: ours, and may be missing. All numbers are little-endian,
 * whatever the byte order of the file. docs/formats/gsym.md tells the whole.
 *
 * A head, which ends where the address sample, the members or the string table begins, whichever is first, and a table after the
 * records, at the end of the file or before the name table: places, entries, calls, zero bytes up to a multiple of 4, eight at
 * least. A place has the first two fields of an entry, which in revision 1 are in the entry. */
#ifndef CSNI_GSYM_CHECKPOINT_LAYOUT_H
#define CSNI_GSYM_CHECKPOINT_LAYOUT_H

#define CSNI_CHECKPOINT_MAGIC 0x504b4343u /* "CCKP" */

/* The fields of an entry and of a call, one after the other without gaps, from the lowest bit of its first byte on. */
enum csni_checkpoint_field {
    CSNI_CP_FUNCTION,  /* the last one that starts at or below the entry's address */
    CSNI_CP_RECORD,    /* its record's offset in units of 4, counted as in the table of record offsets; 0: see there */
    CSNI_CP_LINE_AT,   /* where a search of its line table goes on, from the table's start; 0: no such place */
    CSNI_CP_BACK,      /* the row before that place: how many bytes before the entry's address, its line and file */
    CSNI_CP_LINE,
    CSNI_CP_FILE,
    CSNI_CP_CALL,      /* number of the innermost call that the entry's code lies in, from 1 on; 0: none */
    CSNI_CP_TREE_AT,   /* the calls within that one, which the search is left with: from the record's start, in revision 1
                        * from the tree's; 0: all of the tree; 1: none */
    CSNI_CP_TREE_SIZE, /* their bytes */
    CSNI_CP_FIELDS
};
enum csni_checkpoint_call_field {
    CSNI_CP_CALL_AT,     /* the node, from the tree's start */
    CSNI_CP_CALL_PARENT, /* how many calls before this one is the one around it; 0: there is none */
    CSNI_CP_CALL_FIELDS
};

/* The head. */
enum {
    CSNI_CP_H_TABLE = 0,      /* u64, offset of the table in the file */
    CSNI_CP_H_FIRST = 8,      /* u64, address of the first function */
    CSNI_CP_H_ENTRIES = 16,   /* u32, one for each 1 << shift bytes of code from there on */
    CSNI_CP_H_CALLS = 20,     /* u32 */
    CSNI_CP_H_SHIFT = 24,     /* u8 */
    CSNI_CP_H_BITS = 25,      /* u8 each, of an entry's fields; of a place's they are rounded to whole bytes */
    CSNI_CP_H_CALL_BITS = 34, /* u8 each, of a call's */
    CSNI_CP_H_REVISION = 56,  /* u32 */
    CSNI_CP_H_MAGIC = 60,     /* u32 */
    CSNI_CP_HEAD = 64
};

enum {
    CSNI_CP_REVISION_1 = 1,   /* before 2026-11-28 */
    CSNI_CP_REVISION = 2,
    CSNI_CP_OVERREAD = 8, /* bytes after the calls that may be read with them */
    CSNI_CP_SHIFT_MAX = 20,
    CSNI_CP_TREE_EMPTY = 1, /* TREE_AT of an entry none of whose code lies in a further call */
    CSNI_CP_DEPTH_MAX = 32 /* calls around each other */
};

#endif

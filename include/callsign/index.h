/* Callsign: open an index and ask it what stands at an address.
 *
 * This header is the whole of the lookup-only library (libcallsign-lookup), which needs nothing but libc.
 * An open index is immutable: any number of threads may use it at once without locks, until csn_index_close().
 * It reads its bytes in place. A mapped file must not shrink while it is open (replace files by rename, as
 * `callsign convert` does, never by writing over them). */
#ifndef CALLSIGN_INDEX_H
#define CALLSIGN_INDEX_H

#include <stdbool.h>

#include <callsign/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csn_index;

struct csn_index_options {
    size_t struct_size;                    /* set by CSN_INDEX_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the index */
    /* Most memory to spend on an accelerator: the index decoded once, while it is opened, into a form that answers most
     * addresses from two places in memory. For programs that look up many addresses over a long time. 0: none, and
     * opening costs next to nothing; UINT64_MAX: what it takes, 1.3 to 8 times the file's size (and as much again while it
     * is built, at about 100 MB of index a second). What does not fit, and what is damaged, is answered from the index
     * itself: answers never differ. */
    uint64_t accelerator_bytes;
    const char *arch;                      /* of a universal file with several indexes: which image; NULL: the only one */
};
#define CSN_INDEX_OPTIONS_INIT { sizeof(struct csn_index_options), NULL, 0, NULL }

/* Maps `path` and checks its header and the bounds of its tables, nothing else.
 * *out is owned by the caller and released by csn_index_close(). Cost: a few system calls, whatever the file's size. */
CSN_API csn_status csn_index_open_file(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                       struct csn_error *err);

/* The same over bytes that the caller keeps alive and unchanged until csn_index_close(). Any alignment. */
CSN_API csn_status csn_index_open_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                         struct csn_index **out, struct csn_error *err);

/* As csn_index_open_file(), which opens the index in an object file's section .gsym, too (__gsym in Mach-O); but CSN_NONE where
 * `path` is no ELF, Mach-O, PE or COFF file, nor a GSYM file of 2017, or has no such section. */
CSN_API csn_status csn_index_open_embedded(const char *path, const struct csn_index_options *options,
                                           struct csn_index **out, struct csn_error *err);

CSN_API void csn_index_close(struct csn_index *index); /* NULL is fine */

/* Whether the bytes begin like an index that csn_index_open_memory() reads; the first 4 KiB are enough. */
CSN_API bool csn_is_index(const void *bytes, size_t size);

/* ---- what it is ---- */

enum csn_format {
    CSN_FORMAT_GSYM_V1 = 1,
    CSN_FORMAT_GSYM_V2 = 2,
    CSN_FORMAT_GSYM_SECTION = 3, /* the section-embedded GSYM of 2017 */
    CSN_FORMAT_BSYM = 4,
    CSN_FORMAT_BREAKPAD = 5,     /* to be written only */
    CSN_FORMAT_GSYM_AUTO = 256   /* to be written only: version 1 where that can hold the input, else version 2 */
};

struct csn_index_info {
    uint32_t format;             /* enum csn_format */
    uint8_t big_endian;          /* byte order of the file */
    uint8_t address_size;        /* bytes per entry of the address table: 1, 2, 4 or 8 */
    uint8_t uuid_size;           /* bytes used in uuid */
    char revision;               /* of CSN_FORMAT_GSYM_SECTION: 'A' to 'G', as far as its bytes tell; else 0 */
    uint64_t base_address;
    uint64_t file_size;          /* bytes */
    uint32_t function_count;     /* entries of the address table */
    uint32_t file_count;         /* entries of the file table, the reserved entry 0 included */
    uint64_t string_bytes;       /* size of the string table */
    uint8_t uuid[32];            /* build id or UUID */
    uint64_t accelerator_bytes;  /* memory that the accelerator takes; 0: there is none */
    uint32_t plain_functions;    /* functions that it leaves to the index itself */
    uint32_t format_version;     /* major << 16 | minor, as stored; of BSYM */
    uint32_t binary_count;       /* binaries of the image, for csn_index_binary(); 0: it is one itself */
    uint32_t image_checksum;     /* of a ROM; 0: none */
    uint32_t rename_count;       /* for csn_index_rename() */
    uint32_t guide_count;        /* entries of the search guide of a GSYM file; 0: it has none */
    uint64_t uuid_bytes;         /* of the file's UUID, of which uuid has the first 32 */
};
CSN_API void csn_index_get_info(const struct csn_index *index, struct csn_index_info *out);

/* ---- looking up ---- */

/* Why an answer lacks something. */
enum csn_reason {
    CSN_REASON_COMPLETE = 0,      /* nothing is missing */
    CSN_REASON_BEFORE_FIRST = 1,  /* the address is below the first function */
    CSN_REASON_GAP = 2,           /* the address is behind the end of the function that starts before it */
    CSN_REASON_NO_LINE_TABLE = 3, /* the function has no line table: a symbol, or built without line information */
    CSN_REASON_NO_ROW = 4,        /* the function's first line row starts behind the address, or names no file */
    CSN_REASON_BAD_FILE = 5,      /* the row names a file that the index does not have */
    CSN_REASON_NO_BINARY = 6,     /* the index has no binary of that name */
    CSN_REASON_NO_CALL_FILE = 7,  /* of a frame around an inlined call: the call names no file */
    CSN_REASON_NO_MODULE = 16,    /* of a stack's frame: no module covers it */
    CSN_REASON_NO_INDEX = 17      /* of a stack's frame: its module has no index */
};
/* A reason in English, to stand within a line: "the function has no line table". Never NULL. */
CSN_API const char *csn_reason_text(uint32_t reason);

enum {
    CSN_FRAME_INLINED = 1,
    CSN_FRAME_UNCERTAIN = 2,      /* the address is behind the function, in front of the next one: maybe it is not this one */
    CSN_FRAME_NAME_IN_PIECES = 4  /* the name is empty because it must be put together: csn_index_resolve_into() */
};

/* One line of an answer. Strings point into the index and live until csn_index_close(). */
struct csn_frame {
    struct csn_str name;     /* as stored: mangled where the producer gave a mangled name */
    struct csn_str directory;
    struct csn_str base;     /* file name without directory; empty when unknown */
    uint64_t offset;         /* bytes from the start of the function, or of the inlined block */
    uint32_t line;           /* 0 when unknown */
    uint32_t flags;          /* CSN_FRAME_ */
    uint32_t reason;         /* enum csn_reason: why file and line are missing */
    uint32_t reserved;
};

/* Finds the frames for one image address, innermost first.
 * addr: image virtual address, load bias already removed.
 * frames: room for `cap`; *out_count gets the number needed, even if larger than cap (the innermost `cap` are stored).
 * CSN_OK, CSN_NONE (no function covers addr), CSN_E_FORMAT or CSN_E_TRUNCATED (that record is damaged).
 * A function without usable line rows still answers with its name; `reason` of the frame says what is missing.
 * Any thread. One search of the address table plus one record decode; no allocation.
 * Serves: GSYM "address table" and "FunctionInfo". */
CSN_API csn_status csn_index_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                    size_t *out_count, struct csn_error *err);

/* A frame whose strings have not been looked at: what csn_index_lookup_refs() finds without touching the string and
 * file tables. Turn it into a csn_frame with csn_index_resolve(). */
struct csn_frame_ref {
    uint64_t name;           /* offset in the string table; BSYM: number of the function */
    uint64_t offset;         /* as in csn_frame */
    uint32_t file;           /* index in the file table; 0: none */
    uint32_t line;
    uint32_t flags;
    uint32_t reason;
};

enum csn_lookup_mode {
    CSN_LOOKUP_DEFAULT = 0, /* the most useful answer */
    CSN_LOOKUP_LLVM = 1     /* the reference reader's answer: an address before the first row is not found at all */
};

struct csn_lookup {
    uint64_t function_start; /* image address of the record that answered */
    uint64_t function_size;  /* bytes; 0: up to the next function */
    uint32_t function_index; /* for csn_index_function() */
    uint32_t reason;         /* enum csn_reason, for CSN_NONE as well */
    size_t frame_count;      /* frames needed, even if larger than cap */
    uint32_t binary;         /* 1 + the index of the binary for csn_index_binary(); 0: none */
    uint32_t reserved0;
    uint64_t reserved;
};

/* As csn_index_lookup(), without touching any string; `out` may be NULL. */
CSN_API csn_status csn_index_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                         struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                         struct csn_error *err);

/* One answer of a batch. */
struct csn_batch_answer {
    struct csn_lookup found;
    uint64_t first_frame;    /* its place in the array of frames; found.frame_count of them stand there */
    csn_status status;       /* as csn_index_lookup_refs() returns */
    uint32_t reserved;
};

/* As csn_index_lookup_refs() for each of `count` addresses, in any order: the waits for memory of neighbouring addresses
 * overlap, which makes it the fastest way to ask for many. Ascending addresses are faster still.
 * answers: room for `count`. frames: room for `cap`, shared by all answers, at least CSN_INLINE_DEPTH_MAX + 1.
 * *out_done gets the number of addresses answered: less than `count`, but never 0, where `cap` frames are not enough; call
 * again with the rest. A damaged record fails its own addresses, not the batch: ask again one by one for the error text.
 * CSN_OK, or CSN_E_ARGUMENT where `cap` is too small. Any thread; no allocation. */
CSN_API csn_status csn_index_lookup_batch(const struct csn_index *index, const uint64_t *addrs, size_t count,
                                          enum csn_lookup_mode mode, struct csn_batch_answer *answers,
                                          struct csn_frame_ref *frames, size_t cap, size_t *out_done,
                                          struct csn_error *err);

/* Reads the strings of a frame. Cost: the length of the name and of the two parts of the path. Cannot fail: what is out
 * of range reads as empty. */
CSN_API void csn_index_resolve(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out);

/* The same, with memory for a name that the index keeps in pieces (BSYM: prefixes and tokens). Such a name is put together in
 * `scratch`, where it lives until the caller uses that again; other names are views, as ever. Returns the bytes needed there: 0
 * for a view; more than scratch_size: the name does not fit, reads as empty and has CSN_FRAME_NAME_IN_PIECES. So a call
 * with NULL and 0 tells the size first; 64 KiB are enough for every real name. Any thread; no allocation.
 * Serves: BSYM "prefix tables", "strings and tokens". */
CSN_API size_t csn_index_resolve_into(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch,
                                      size_t scratch_size, struct csn_frame *out);

/* ---- images of many binaries (BSYM) ---- */

struct csn_binary {
    struct csn_str name;     /* path on the build machine, lower-case */
    uint64_t address;        /* where it runs; 0: it is loaded anywhere, its functions have offsets from its start */
    uint64_t size;           /* bytes up to the end of its last function */
    uint32_t first_function, function_count; /* for csn_index_function() */
    uint64_t reserved[2];
};

/* Binary `idx`, 0 <= idx < binary_count of the info. Its name goes through `scratch` as that of csn_index_resolve_into();
 * *out_need is what that would return. CSN_E_ARGUMENT beyond. */
CSN_API csn_status csn_index_binary(const struct csn_index *index, uint32_t idx, void *scratch, size_t scratch_size,
                                    struct csn_binary *out, size_t *out_need, struct csn_error *err);

/* Rename `idx`, 0 <= idx < rename_count: a name on the device, and 1 + the binary that has it (0: the file names none). */
CSN_API csn_status csn_index_rename(const struct csn_index *index, uint32_t idx, void *scratch, size_t scratch_size,
                                    struct csn_str *out, uint32_t *out_binary, size_t *out_need, struct csn_error *err);

/* How a binary was found. */
enum csn_binary_match {
    CSN_BINARY_NAMED = 0,    /* its file name */
    CSN_BINARY_RENAMED = 1,  /* its name on the device */
    CSN_BINARY_GUESSED = 2,  /* a variant's name (euser_variant.dll), in files without names on the device */
    CSN_BINARY_AMBIGUOUS = 3 /* the same; there are others */
};

/* The binary that a name means, upper or lower case, either slash: a path on the device, or a file name. CSN_NONE: there is
 * none. Cost: the names of all binaries; keep the answer for many lookups. No allocation.
 * Serves: BSYM "renames section", "lookup". */
CSN_API csn_status csn_index_find_binary(const struct csn_index *index, struct csn_str name, uint32_t *out_idx,
                                         uint32_t *out_match, struct csn_error *err);

/* As csn_index_lookup_refs(), for an offset from the start of a binary's code. CSN_NONE with `binary` set: the offset is in
 * none of its functions. */
CSN_API csn_status csn_index_lookup_in_binary(const struct csn_index *index, uint32_t binary, uint64_t offset,
                                              struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                              struct csn_error *err);

/* csn_index_find_binary() and csn_index_lookup_in_binary() in one. */
CSN_API csn_status csn_index_lookup_named(const struct csn_index *index, struct csn_str name, uint64_t offset,
                                          struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                          struct csn_error *err);

/* ---- looking inside ---- */

struct csn_function {
    uint64_t start;          /* image address */
    uint64_t size;           /* bytes */
    struct csn_str name;
    uint64_t record_offset;  /* byte offset of the record in the index file */
    uint8_t has_lines, has_inlines, has_merged, has_call_sites;
    uint32_t unknown_parts;  /* payloads of types this version does not know, skipped */
    uint32_t binary;         /* 1 + the index of its binary for csn_index_binary(); 0: none */
    uint32_t reserved0;
    uint64_t reserved;
};

/* Function `idx` in address order (BSYM: as the file has them, binary by binary), 0 <= idx < function_count. A name in pieces
 * reads as empty: csn_index_resolve_into() with `idx` as the name. CSN_E_ARGUMENT beyond. */
CSN_API csn_status csn_index_function(const struct csn_index *index, uint32_t idx, struct csn_function *out,
                                      struct csn_error *err);

/* File `idx`; file 0 is reserved and reads as two empty strings. CSN_E_ARGUMENT beyond the table. */
CSN_API csn_status csn_index_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory,
                                  struct csn_str *base, struct csn_error *err);

/* The string at byte offset `offset` of the string table; out of range reads as empty. */
CSN_API struct csn_str csn_index_string(const struct csn_index *index, uint64_t offset);

/* A section of GSYM version 2: an entry of the file's directory. Types that are not known are the format's way to grow. */
struct csn_section {
    uint32_t type;           /* as stored */
    uint32_t reserved0;
    uint64_t offset, size;   /* bytes, from the start of the index */
};

/* Section `idx` in the order of the directory, from 0 on. CSN_NONE: there are no more, or the format has no directory. */
CSN_API csn_status csn_index_section(const struct csn_index *index, uint32_t idx, struct csn_section *out,
                                     struct csn_error *err);
/* "address_table" and the like, as csn_part_name() calls them; NULL: a type that is not known. */
CSN_API const char *csn_section_type_name(uint32_t type);

/* Iterators are plain memory of the caller: no allocation, nothing to release. Each keeps pointers into the index.
 * `function` and its merged children are named by a csn_record. */
struct csn_record {
    const uint8_t *bytes;    /* private */
    uint64_t size;           /* private */
    uint64_t start;          /* image address of the function */
    uint64_t offset;         /* byte offset in the index file */
};

/* The record of function `idx`, for the iterators below. */
CSN_API csn_status csn_index_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                                    struct csn_error *err);
/* What csn_index_function() tells, of a record (a merged child has no index). CSN_E_LIMIT: it has more than 1,024 parts. */
CSN_API csn_status csn_record_function(const struct csn_index *index, const struct csn_record *record,
                                       struct csn_function *out, struct csn_error *err);

struct csn_row {
    uint64_t addr;
    uint32_t file;           /* index in the file table */
    uint32_t line;
};
struct csn_row_iter {
    uint64_t state[10];      /* private */
};
/* Rows of a function in address order. A function without a line table has none: next answers CSN_NONE at once. */
CSN_API csn_status csn_row_iter_init(struct csn_row_iter *iter, const struct csn_index *index,
                                     const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_row_iter_next(struct csn_row_iter *iter, struct csn_row *out, struct csn_error *err);

struct csn_range {
    uint64_t start, end;     /* image addresses, half-open */
};
struct csn_inline_node {
    struct csn_str name;
    uint32_t depth;          /* 0: the root, which repeats the function itself */
    uint32_t call_file;      /* index in the file table */
    uint32_t call_line;
    uint32_t range_count;    /* for csn_inline_node_range() */
    uint64_t ranges[6];      /* private */
};
enum { CSN_INLINE_DEPTH_MAX = 512 }; /* also of a lookup, which needs 12 KB of stack for it */
struct csn_inline_iter {
    uint64_t state[8];       /* private */
    uint64_t bases[CSN_INLINE_DEPTH_MAX]; /* private */
};
/* Inline nodes of a function, a parent before its children. Nesting beyond CSN_INLINE_DEPTH_MAX is CSN_E_LIMIT. */
CSN_API csn_status csn_inline_iter_init(struct csn_inline_iter *iter, const struct csn_index *index,
                                        const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_inline_iter_next(struct csn_inline_iter *iter, struct csn_inline_node *out,
                                        struct csn_error *err);
/* Range `k` of a node that csn_inline_iter_next() has returned, as stored: every producer known writes them ascending,
 * neither empty nor touching. CSN_E_ARGUMENT beyond range_count. Cost: one step when k is 0 or follows the k before. */
CSN_API csn_status csn_inline_node_range(struct csn_inline_node *node, uint32_t k, struct csn_range *out,
                                         struct csn_error *err);

enum {
    CSN_CALL_SITE_INTERNAL = 1,  /* the callee is defined in the image */
    CSN_CALL_SITE_EXTERNAL = 2,  /* it is defined in another one */
    CSN_CALL_SITE_TAIL = 64,     /* a tail call: it returns to nowhere in this function, and return_offset means nothing */
    CSN_CALL_SITE_RECOVERED = 128 /* of a folded function: its place is that of the same call of the code that was kept */
};
struct csn_call_site {
    uint64_t return_offset;  /* return address less the function's start */
    uint32_t flags;          /* CSN_CALL_SITE_ */
    uint32_t pattern_count;  /* for csn_call_site_pattern() */
    uint64_t patterns[3];    /* private */
};
struct csn_call_site_iter {
    uint64_t state[8];       /* private */
};
CSN_API csn_status csn_call_site_iter_init(struct csn_call_site_iter *iter, const struct csn_index *index,
                                           const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_call_site_iter_next(struct csn_call_site_iter *iter, struct csn_call_site *out,
                                           struct csn_error *err);
/* Pattern `k` of a call site: a regular expression for the callee's name. */
CSN_API csn_status csn_call_site_pattern(const struct csn_index *index, const struct csn_call_site *site, uint32_t k,
                                         struct csn_str *out, struct csn_error *err);

struct csn_merged_iter {
    uint64_t state[8];       /* private */
};
/* Functions folded into this one (same code, other names), as records. */
CSN_API csn_status csn_merged_iter_init(struct csn_merged_iter *iter, const struct csn_index *index,
                                        const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_merged_iter_next(struct csn_merged_iter *iter, struct csn_record *out, struct csn_error *err);

/* ---- checking ---- */

struct csn_verify_counts {
    uint64_t functions, rows;
    uint64_t inline_nodes;   /* without roots, which stand for the functions themselves */
    uint64_t call_sites, merged_functions;
    uint64_t files;          /* without file 0, which stands for none */
    uint64_t strings;
    uint64_t problems;       /* also the number of calls of the callback */
    uint64_t reserved[4];
};
/* Called for each problem found; `err` names place and values. Return false to stop. */
typedef bool csn_verify_callback(void *context, const struct csn_error *err);

/* Decodes every record and checks every rule of the format: order, bounds, alignment, names, nesting, terminators.
 * CSN_OK whether or not there were problems (see counts); a failure only where checking could not go on.
 * Cost: linear in the file. Where records share their bytes far more than those of a real index, which would take for ever,
 * that is told as the last problem (its code CSN_E_LIMIT) and checking ends there. */
CSN_API csn_status csn_index_verify(const struct csn_index *index, csn_verify_callback *callback, void *context,
                                    struct csn_verify_counts *out, struct csn_error *err);

/* ---- where the bytes go ---- */

/* What the bytes of an index file are there for. New ones are added at the end. */
enum csn_part {
    CSN_PART_HEADER,
    CSN_PART_ADDRESSES,      /* the address table, and the search guide */
    CSN_PART_RECORD_OFFSETS, /* where each function's record stands */
    CSN_PART_FILES,          /* the file table, without its strings */
    CSN_PART_STRINGS,
    CSN_PART_RECORDS,        /* of each record: size, name, headers of its parts, end mark */
    CSN_PART_LINES,          /* line tables */
    CSN_PART_INLINES,        /* trees of inlined calls */
    CSN_PART_MERGED,         /* merged functions, all of their records */
    CSN_PART_CALL_SITES,
    CSN_PART_OTHER,          /* parts of types that this version does not know, and what it does not tell apart */
    CSN_PART_PADDING,        /* bytes that nothing refers to: alignment, gaps, what is behind damage */
    CSN_PART_COUNT,
    CSN_PART_ROOM = 24       /* parts that the structs below have room for: their size stays when parts are added */
};
/* "header", "address_table" and the like. NULL from CSN_PART_COUNT on. */
CSN_API const char *csn_part_name(uint32_t part);

/* One function. Of code that several functions cover, each byte counts for the first of them. */
struct csn_function_stats {
    struct csn_function function;
    uint32_t idx;
    uint32_t file;                   /* of its first row that names one; 0: none */
    uint64_t record_bytes;           /* all of its record */
    uint64_t line_bytes, inline_bytes, merged_bytes, call_site_bytes;
    uint64_t rows, inline_nodes, call_sites, merged_functions; /* nodes without the root */
    uint64_t code_bytes;
    uint64_t code_bytes_with_lines;  /* for which a row names file and line */
    uint64_t code_bytes_inlined;     /* that come from inlined calls */
    uint64_t damaged;                /* 1: it could not be read to its end */
    uint64_t reserved[3];
};

/* Sums over the whole index. */
struct csn_stats_sums {
    uint64_t file_size;
    uint64_t part_bytes[CSN_PART_ROOM]; /* by enum csn_part; they add up to file_size, each byte counted once */
    uint64_t functions, damaged_functions;
    uint64_t rows, inline_nodes, call_sites, merged_functions;
    uint64_t code_bytes, code_bytes_with_lines, code_bytes_inlined;
    uint64_t reserved[6];
};

/* Called for each function in the order of the index. Return false to stop: the sums are then those up to there. */
typedef bool csn_stats_callback(void *context, const struct csn_function_stats *function);

/* Tells where the bytes of the file go, and how much of the code has lines and comes from inlined calls. `callback` may be
 * NULL. A damaged record is counted as far as it can be read. CSN_E_LIMIT: records share their bytes far more than those of
 * a real index. Cost: decodes everything once, some 100 MB a second; allocates 8 bytes a function. */
CSN_API csn_status csn_index_stats(const struct csn_index *index, csn_stats_callback *callback, void *context,
                                   struct csn_stats_sums *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif

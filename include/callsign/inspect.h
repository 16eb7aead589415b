/* Callsign: inspect an index: its functions, files, line rows, inlined calls, call sites and merged functions; check
 * every record; measure what its bytes are used for. Part of the lookup-only library. Threads and lifetimes are as in
 * index.h. */
#ifndef CALLSIGN_INSPECT_H
#define CALLSIGN_INSPECT_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the index. `name` points into the index. */
struct csn_function {
    uint64_t start;          /* image address */
    uint64_t size;           /* bytes */
    struct csn_str name;
    uint64_t record_offset;  /* byte offset of the record in the index file */
    uint8_t has_lines, has_inlines, has_merged, has_call_sites;
    uint32_t unknown_parts;  /* parts of unknown types, which were skipped */
    uint32_t binary;         /* 1 + the index of its binary for csn_index_binary(); 0: none */
    uint32_t reserved0;
    uint64_t record_size;    /* bytes of the record, functions that are merged into it included (BSYM: and of the stored name): what
                              * reading all of it costs */
};

/* Reads function `idx`, 0 <= idx < function_count. Functions are in address order (BSYM: in file order, binary by
 * binary). A name that is stored in pieces reads as empty; pass `idx` as the name to csn_index_resolve_into() to
 * assemble it.
 * CSN_E_ARGUMENT: idx is out of range. */
CSN_API csn_status csn_index_function(const struct csn_index *index, uint32_t idx, struct csn_function *out,
                                      struct csn_error *err);

/* Finds the functions of a name, as it is stored: mangled where the producer gave a mangled name. Names of merged
 * functions count too. At most `cap` indexes for csn_index_function() are stored in `functions`, in ascending order;
 * *out_count receives how many there are.
 * CSN_OK; CSN_NONE: there is no such function; CSN_E_ARGUMENT: the name is empty; CSN_E_MEMORY (BSYM only); CSN_E_LIMIT: functions
 * share long names or records, so that all names together have more than 32 times the bytes of the file and 32 MiB.
 * Any thread. Cost: a binary search if the index has a name table (CSN_CONVERT_NAME_TABLE); else it reads the name of
 * every function. */
CSN_API csn_status csn_index_find_name(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap,
                                       size_t *out_count, struct csn_error *err);

/* Returns the address that the image's first byte has in the index: its base address, unless that is where the first
 * function begins. No image but a kernel begins with a function, so the base of such an index (a list of symbols, or
 * llvm-gsymutil's of a PE image) is taken down to where linkers usually put images (0x400000, 0x140000000 ...), or else to
 * a multiple of 64 KiB; 0 if it is below 2 MiB and no usual place, as in libraries, which are linked at 0.
 * Any thread; no allocation. */
CSN_API uint64_t csn_index_image_base(const struct csn_index *index);

/* Returns the address in the index of the byte at `offset` from the image's first one, as logs have it
 * (MODULE+0xOFFSET). An index whose base is its first function does not tell whether its addresses count from the
 * first byte; then an offset not below that function is taken for an address.
 * Any thread; no allocation. */
CSN_API uint64_t csn_index_offset_address(const struct csn_index *index, uint64_t offset);

/* Returns what an address of the image is more than its address in the index, where the image is linked at `image_base`: that, if
 * the index begins below 64 KiB and the image does not; it then counts from the image's first byte, as those made of Breakpad
 * files and PDBs do. Else 0.
 * Any thread; no allocation. */
CSN_API uint64_t csn_index_link_bias(const struct csn_index *index, uint64_t image_base);

/* Returns what an address of a running Linux kernel is more than its address in the index: perf and pprof have the kernel's mapping
 * begin, at `start`, where `symbol` lies; "_text", "_stext", or empty, which is "_stext" as in pprof. An index that lacks the
 * symbol has it where its image begins; arm64 has a header of 64 KiB from _text to _stext.
 * Any thread. Cost: that of csn_index_find_name(). */
CSN_API uint64_t csn_index_kernel_bias(const struct csn_index *index, struct csn_str symbol, uint64_t start);

/* Reads only the start address of function `idx`, which is available even if the record is damaged.
 * CSN_E_ARGUMENT: idx is out of range. */
CSN_API csn_status csn_index_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out,
                                            struct csn_error *err);

/* Reads file `idx` of the file table. File 0 is reserved and has two empty strings.
 * CSN_E_ARGUMENT: idx is out of range. */
CSN_API csn_status csn_index_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory,
                                  struct csn_str *base, struct csn_error *err);

/* Returns the string at byte offset `offset` of the string table, or an empty string if the offset is out of range. */
CSN_API struct csn_str csn_index_string(const struct csn_index *index, uint64_t offset);

/* A section of a GSYM version 2 file, as its directory lists it. The format grows by new section types, so types may
 * be unknown. */
struct csn_section {
    uint32_t type;           /* as stored */
    uint32_t reserved0;
    uint64_t offset, size;   /* bytes, from the start of the index */
};

/* Reads section `idx` of the directory, counted from 0. CSN_NONE: there are no more sections, or the format has no
 * directory. */
CSN_API csn_status csn_index_section(const struct csn_index *index, uint32_t idx, struct csn_section *out,
                                     struct csn_error *err);
/* Returns the name of a section type, such as "address_table", with the names of csn_part_name(). NULL: the type is
 * unknown. */
CSN_API const char *csn_section_type_name(uint32_t type);

/* The record of a function or of a merged function, as input for the iterators below. Iterators are plain structs in
 * the caller's memory. They allocate nothing and need no release. Records and iterators point into the index. */
struct csn_record {
    const uint8_t *bytes;    /* private */
    uint64_t size;           /* private */
    uint64_t start;          /* image address of the function */
    uint64_t offset;         /* byte offset in the index file */
};

/* Reads the record of function `idx`, for the iterators below. */
CSN_API csn_status csn_index_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                                    struct csn_error *err);
/* Reads a function from its record, as csn_index_function() does by index. Merged functions have no index.
 * CSN_E_LIMIT: the record has more than 1,024 parts. */
CSN_API csn_status csn_record_function(const struct csn_index *index, const struct csn_record *record,
                                       struct csn_function *out, struct csn_error *err);

/* Reads a record to its end, with the functions merged into it, and checks that every name, path and pattern that it
 * refers to is in the index. Functions of inspect.h give empty strings for those that are not.
 * CSN_OK; CSN_E_FORMAT and others: what is damaged first.
 * Any thread; no allocation. Cost: linear in the size of the record. */
CSN_API csn_status csn_record_check(const struct csn_index *index, const struct csn_record *record, struct csn_error *err);

struct csn_row_iter {
    uint64_t state[10];      /* private */
};
/* Iterates over the line rows of a function in address order. csn_row_iter_next() returns CSN_NONE after the last
 * row, and at once if the function has no line table. */
CSN_API csn_status csn_row_iter_init(struct csn_row_iter *iter, const struct csn_index *index,
                                     const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_row_iter_next(struct csn_row_iter *iter, struct csn_row *out, struct csn_error *err);

struct csn_inline_node {
    struct csn_str name;
    uint32_t depth;          /* 0: the root, which repeats the function itself */
    uint32_t call_file;      /* index in the file table */
    uint32_t call_line;
    uint32_t range_count;    /* for csn_inline_node_range() */
    uint64_t ranges[6];      /* private */
    uint64_t reserved[2];
};
struct csn_inline_iter {
    uint64_t state[8];       /* private */
    uint64_t bases[CSN_INLINE_DEPTH_MAX]; /* private */
};
/* Iterates over the inline nodes of a function. A parent comes before its children.
 * CSN_E_LIMIT: the nesting exceeds CSN_INLINE_DEPTH_MAX. */
CSN_API csn_status csn_inline_iter_init(struct csn_inline_iter *iter, const struct csn_index *index,
                                        const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_inline_iter_next(struct csn_inline_iter *iter, struct csn_inline_node *out,
                                        struct csn_error *err);
/* Reads range `k` of a node that csn_inline_iter_next() returned, as stored. All known producers write the ranges in
 * ascending order, not empty and not adjacent.
 * CSN_E_ARGUMENT: k >= range_count.
 * Cost: constant if k is 0 or follows the previous k. */
CSN_API csn_status csn_inline_node_range(struct csn_inline_node *node, uint32_t k, struct csn_range *out,
                                         struct csn_error *err);

struct csn_call_site {
    uint64_t return_offset;  /* return address minus the function's start */
    uint32_t flags;          /* CSN_CALL_SITE_ */
    uint32_t pattern_count;  /* for csn_call_site_pattern() */
    uint64_t patterns[3];    /* private */
    uint64_t reserved;
};
struct csn_call_site_iter {
    uint64_t state[8];       /* private */
};
/* Iterates over the call sites of a function. */
CSN_API csn_status csn_call_site_iter_init(struct csn_call_site_iter *iter, const struct csn_index *index,
                                           const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_call_site_iter_next(struct csn_call_site_iter *iter, struct csn_call_site *out,
                                           struct csn_error *err);
/* Reads pattern `k` of a call site: a regular expression for the callee's name. */
CSN_API csn_status csn_call_site_pattern(const struct csn_index *index, const struct csn_call_site *site, uint32_t k,
                                         struct csn_str *out, struct csn_error *err);

struct csn_merged_iter {
    uint64_t state[8];       /* private */
};
/* Iterates over the functions that were folded into this one (same code, other names), as records. */
CSN_API csn_status csn_merged_iter_init(struct csn_merged_iter *iter, const struct csn_index *index,
                                        const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_merged_iter_next(struct csn_merged_iter *iter, struct csn_record *out, struct csn_error *err);

/* ---- checking ---- */

/* What csn_index_verify() counted. */
struct csn_verify_counts {
    uint64_t functions, rows;
    uint64_t inline_nodes;   /* without root nodes, which represent the functions themselves */
    uint64_t call_sites, merged_functions;
    uint64_t files;          /* without the reserved file 0 */
    uint64_t strings;
    uint64_t problems;       /* number of problems, equal to the number of callback calls */
    uint64_t reserved[4];
};
/* Called for each problem. `err` contains the position and the values. Return false to stop. */
typedef bool csn_verify_callback(void *context, const struct csn_error *err);

/* Decodes every record and checks every rule of the format: order, bounds, alignment, names, nesting and terminators.
 * CSN_OK, even if there are problems: see *out. Fails only if the check cannot continue.
 * Cost: linear in the size of the file. If records share far more bytes than those of a real index, the check stops
 * and reports a last problem with the code CSN_E_LIMIT. */
CSN_API csn_status csn_index_verify(const struct csn_index *index, csn_verify_callback *callback, void *context,
                                    struct csn_verify_counts *out, struct csn_error *err);

/* ---- statistics ---- */

/* The purposes of the bytes of an index file. New parts are added at the end. */
enum csn_part {
    CSN_PART_HEADER,
    CSN_PART_ADDRESSES,      /* the address table and its address sample */
    CSN_PART_RECORD_OFFSETS, /* the offsets of the records */
    CSN_PART_FILES,          /* the file table, without its strings */
    CSN_PART_STRINGS,
    CSN_PART_RECORDS,        /* of each record: size, name, headers of its parts, end mark; BSYM: the symbols */
    CSN_PART_LINES,          /* line tables */
    CSN_PART_INLINES,        /* trees of inlined calls */
    CSN_PART_MERGED,         /* merged functions, all of their records */
    CSN_PART_CALL_SITES,
    CSN_PART_OTHER,          /* parts of types that this version does not know */
    CSN_PART_PADDING,        /* unreferenced bytes: alignment, gaps, the rest of damaged data */
    CSN_PART_OBJECT,         /* the rest of an object file that contains the index; strings shared with other sections */
    CSN_PART_BINARIES,       /* BSYM: the binaries of an image */
    CSN_PART_PREFIXES,       /* BSYM: entries of prefix tables that symbols use */
    CSN_PART_TOKENS,         /* BSYM: the table of tokens */
    CSN_PART_ALIASES,        /* BSYM: other names of binaries */
    CSN_PART_PACKED,         /* BSYM 3: a compressed body with any content */
    CSN_PART_ACCELERATOR,    /* the stored accelerator (CSN_CONVERT_ACCELERATE) */
    CSN_PART_CHECKPOINTS,    /* GSYM: checkpoints, from which lookups begin within functions */
    CSN_PART_NAMES,          /* GSYM: the name table (CSN_CONVERT_NAME_TABLE) */
    CSN_PART_COUNT,
    CSN_PART_CAPACITY = 24       /* array size in the structs below, which stays the same when parts are added */
};
/* Returns the name of a part, such as "header" or "address_table". NULL: part >= CSN_PART_COUNT. */
CSN_API const char *csn_part_name(uint32_t part);

/* Statistics of one function. If several functions cover the same code, each byte counts for the first of them. */
struct csn_function_stats {
    struct csn_function function;
    uint32_t idx;
    uint32_t file;                   /* file of the first row that has one; 0: none */
    uint64_t record_bytes;           /* the whole record; BSYM: the symbol and its name,
                                      * if none before has it; 0 if the body is compressed */
    uint64_t line_bytes, inline_bytes, merged_bytes, call_site_bytes;
    uint64_t rows, inline_nodes, call_sites, merged_functions; /* nodes without the root */
    uint64_t code_bytes;
    uint64_t code_bytes_with_lines;  /* code with a file and a line */
    uint64_t code_bytes_inlined;     /* code from inlined calls */
    uint64_t damaged;                /* 1: the record could not be read completely */
    uint64_t reserved[3];
};

/* Totals of the whole index. */
struct csn_stats_sums {
    uint64_t file_size;              /* size of the whole file, even if the index is a section of it */
    uint64_t part_bytes[CSN_PART_CAPACITY]; /* by enum csn_part; they add up to file_size, each byte counted once */
    uint64_t functions, damaged_functions;
    uint64_t rows, inline_nodes, call_sites, merged_functions;
    uint64_t code_bytes, code_bytes_with_lines, code_bytes_inlined;
    uint64_t reserved[6];
};

/* Called for each function in the order of the index. Return false to stop; the totals then include only the
 * functions so far. */
typedef bool csn_stats_callback(void *context, const struct csn_function_stats *function);

/* Measures what the bytes of the file are used for, how much code has line information, and how much comes from
 * inlined calls. `callback` may be NULL. A damaged record counts as far as it can be read.
 * CSN_E_LIMIT: records share far more bytes than those of a real index.
 * Cost: decodes everything once, at about 100 MB per second; allocates 8 bytes per function (BSYM: 24), and 16 for
 * each range of the inlined calls of one function. */
CSN_API csn_status csn_index_stats(const struct csn_index *index, csn_stats_callback *callback, void *context,
                                   struct csn_stats_sums *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif

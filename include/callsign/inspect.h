/* Callsign: look inside an index: functions, files, line rows, inlined calls, call sites, merged functions; check every record;
 * see where the bytes go. Part of the lookup-only library; threads and lifetimes as in index.h. */
#ifndef CALLSIGN_INSPECT_H
#define CALLSIGN_INSPECT_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* The start of function `idx` alone, which is known even if its record is damaged. CSN_E_ARGUMENT beyond function_count. */
CSN_API csn_status csn_index_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out,
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

struct csn_row_iter {
    uint64_t state[10];      /* private */
};
/* Rows of a function in address order. A function without a line table has none: next answers CSN_NONE at once. */
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
/* Inline nodes of a function, a parent before its children. Nesting beyond CSN_INLINE_DEPTH_MAX is CSN_E_LIMIT. */
CSN_API csn_status csn_inline_iter_init(struct csn_inline_iter *iter, const struct csn_index *index,
                                        const struct csn_record *record, struct csn_error *err);
CSN_API csn_status csn_inline_iter_next(struct csn_inline_iter *iter, struct csn_inline_node *out,
                                        struct csn_error *err);
/* Range `k` of a node that csn_inline_iter_next() has returned, as stored: every producer known writes them ascending,
 * neither empty nor touching. CSN_E_ARGUMENT beyond range_count. Cost: one step when k is 0 or follows the k before. */
CSN_API csn_status csn_inline_node_range(struct csn_inline_node *node, uint32_t k, struct csn_range *out,
                                         struct csn_error *err);

struct csn_call_site {
    uint64_t return_offset;  /* return address less the function's start */
    uint32_t flags;          /* CSN_CALL_SITE_ */
    uint32_t pattern_count;  /* for csn_call_site_pattern() */
    uint64_t patterns[3];    /* private */
    uint64_t reserved;
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
 * Cost: linear in the file. Where records share their bytes far more than those of a real index, which would take forever,
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
    CSN_PART_RECORDS,        /* of each record: size, name, headers of its parts, end mark; BSYM: the symbols */
    CSN_PART_LINES,          /* line tables */
    CSN_PART_INLINES,        /* trees of inlined calls */
    CSN_PART_MERGED,         /* merged functions, all of their records */
    CSN_PART_CALL_SITES,
    CSN_PART_OTHER,          /* parts of types that this version does not know */
    CSN_PART_PADDING,        /* bytes that nothing refers to: alignment, gaps, what is after damage */
    CSN_PART_OBJECT,         /* the rest of an object file in which the index is a section; strings that it shares with others */
    CSN_PART_BINARIES,       /* BSYM: the binaries of an image */
    CSN_PART_PREFIXES,       /* BSYM: entries of prefix tables that symbols use */
    CSN_PART_TOKENS,         /* BSYM: the table of tokens */
    CSN_PART_ALIASES,        /* BSYM: other names of binaries */
    CSN_PART_PACKED,         /* BSYM 3: a compressed body, of whatever it holds */
    CSN_PART_COUNT,
    CSN_PART_CAPACITY = 24       /* parts that the structs below have room for: their size stays when parts are added */
};
/* "header", "address_table" and the like. NULL from CSN_PART_COUNT on. */
CSN_API const char *csn_part_name(uint32_t part);

/* One function. Of code that several functions cover, each byte counts for the first of them. */
struct csn_function_stats {
    struct csn_function function;
    uint32_t idx;
    uint32_t file;                   /* of its first row that names one; 0: none */
    uint64_t record_bytes;           /* all of its record; BSYM: the symbol and its name */
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
    uint64_t file_size;              /* of the whole file, also where the index is a section of it */
    uint64_t part_bytes[CSN_PART_CAPACITY]; /* by enum csn_part; they add up to file_size, each byte counted once */
    uint64_t functions, damaged_functions;
    uint64_t rows, inline_nodes, call_sites, merged_functions;
    uint64_t code_bytes, code_bytes_with_lines, code_bytes_inlined;
    uint64_t reserved[6];
};

/* Called for each function in the order of the index. Return false to stop: the sums are then those up to there. */
typedef bool csn_stats_callback(void *context, const struct csn_function_stats *function);

/* Tells where the bytes of the file go, and how much of the code has lines and comes from inlined calls. `callback` may be
 * NULL. A damaged record is counted as far as it can be read. CSN_E_LIMIT: records share their bytes far more than those of
 * a real index. Cost: decodes everything once, some 100 MB a second; allocates 8 bytes a function (BSYM: 24). */
CSN_API csn_status csn_index_stats(const struct csn_index *index, csn_stats_callback *callback, void *context,
                                   struct csn_stats_sums *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif

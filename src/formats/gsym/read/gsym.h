/* Reading GSYM versions 1 and 2 in place: the contract between the files of this folder and src/lookup. Nothing here
 * allocates; a csni_gsym and everything taken from it are views of the bytes that were parsed. */
#ifndef CSNI_GSYM_H
#define CSNI_GSYM_H

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/core/prefetch.h"
#include "base/core/search.h"
#include "base/core/span.h"
#include "base/core/text_length.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym_checkpoint.h"

/* A whole file. Only the bounds of the tables have been checked: every value in them is still untrusted. The versions
 * differ in the widths and in what info offsets count from; nothing else looks at the version. */
struct csni_gsym {
    struct csni_span bytes;
    struct csni_span records;  /* what info offsets count from: version 1: all bytes; version 2: the section of records */
    const uint8_t *addresses;  /* address_count entries of address_size bytes, ascending in an undamaged file */
    const uint8_t *infos;      /* address_count info offsets of info_size bytes */
    const uint8_t *files;      /* file_count pairs of strp */
    const uint8_t *sample;      /* every 1 << sample_shift'th entry of `addresses`, or so it says: see gsym_search.c */
    struct csni_span accel;    /* the stored accelerator, or what its trailer says is one; empty: there is none */
    const uint8_t *accel_trailer; /* NULL: there is none */
    const uint8_t *members;    /* of an archive: member_count entries, whose names lie before members_end */
    const uint8_t *members_end;
    struct csni_span strings;
    uint64_t base_address;
    uint64_t records_offset;   /* of `records` in the file */
    uint64_t strings_offset;   /* file offset */
    uint64_t tables_end;       /* file offset after the file table of version 1, after the directory of version 2 */
    uint32_t address_count, file_count;
    uint32_t sample_count;      /* 0: the file has none */
    uint32_t member_count;      /* 0: the index is of no archive */
    uint8_t sample_shift;
    uint8_t address_size;
    uint8_t strp_size, info_size; /* 4 in version 1, 8 in version 2 */
    uint8_t parts_at;          /* bytes of a record before its parts */
    uint8_t version;
    uint8_t file_bias;         /* what line tables number files too high: 0 but in files of 2017 (src/gsection) */
    bool big;
    bool direct;               /* see gsym_direct.h */
    struct csni_span uuid;
    struct csni_gsym_checkpoints checkpoints;
};

/* Whether the bytes begin with the magic number, in either byte order. */
bool csni_gsym_recognize(struct csni_span file);
/* Checks the header and that the tables lie within the bytes. O(1), but for the directory of version 2. */
csn_status csni_gsym_parse(struct csni_gsym *gsym, struct csni_span bytes, struct csn_error *err);
/* The part of it after the magic number of version 2. */
csn_status csni_gsym_parse_v2(struct csni_gsym *gsym, struct csn_error *err);
/* Entry `idx` of the directory of version 2, in file order. CSN_NONE for the one that ends it. */
struct csni_gsym_entry {
    uint32_t type;
    uint64_t offset, size;
};
csn_status csni_gsym_directory_entry(const struct csni_gsym *gsym, uint64_t idx, struct csni_gsym_entry *out,
                                     struct csn_error *err);

/* Looks for the members of an archive, the address sample and the accelerator, in this order, once the tables and the strings
 * are known. */
void csni_gsym_find_members(struct csni_gsym *gsym);
void csni_gsym_find_sample(struct csni_gsym *gsym);
void csni_gsym_find_accel(struct csni_gsym *gsym);
static inline uint64_t csni_gsym_files_end(const struct csni_gsym *gsym) {
    return (uint64_t)(gsym->files - gsym->bytes.ptr) + (uint64_t)gsym->file_count * 2 * gsym->strp_size;
}

/* A member of an archive: its name, which may be damaged and is empty then, and where it begins. idx < member_count. */
uint64_t csni_gsym_member(const struct csni_gsym *gsym, uint32_t idx, struct csn_str *name);
/* 1 + the member that an address belongs to; 0: none. */
uint32_t csni_gsym_member_at(const struct csni_gsym *gsym, uint64_t addr);

/* Widths of version 1, whose records are anywhere in the file. For src/gsection, too. */
static inline void csni_gsym_use_v1_widths(struct csni_gsym *gsym) {
    gsym->strp_size = CSNI_GSYM_STRP_SIZE;
    gsym->info_size = CSNI_GSYM_INFO_OFFSET_SIZE;
    gsym->parts_at = CSNI_GSYM_R_PARTS;
    gsym->records = gsym->bytes;
}

/* What every lookup calls is inline; failures are not. Steps that several kinds of lookups share are part of each of them,
 * so that what they hand on stays in registers. */
#if defined(__GNUC__)
#define CSNI_GSYM_INLINE __attribute__((always_inline)) inline
#else
#define CSNI_GSYM_INLINE inline
#endif

/* idx < address_count */
static inline uint64_t csni_gsym_address(const struct csni_gsym *gsym, uint32_t idx) {
    const uint8_t *entry = gsym->addresses + (size_t)idx * gsym->address_size;
    return gsym->base_address + csni_get_sized(entry, gsym->address_size, gsym->big);
}

/* Whether entry `index` of the address table is below the address at `key`. */
CSNI_SEARCH_INLINE bool csni_gsym_is_start_below(const void *gsym, size_t index, const void *key) {
    return csni_gsym_address((const struct csni_gsym *)gsym, (uint32_t)index) < *(const uint64_t *)key;
}

/* The first function that starts where function `last` does. In a table that does not ascend it may be a later one of them, and
 * functions between the two may start elsewhere. */
static inline uint32_t csni_gsym_first_of_start(const struct csni_gsym *gsym, uint32_t last) {
    uint64_t start = csni_gsym_address(gsym, last);
    if (!last || csni_gsym_address(gsym, last - 1) != start) return last;
    uint32_t first = (uint32_t)csni_search_in(0, last, csni_gsym_is_start_below, gsym, &start);
    return csni_gsym_address(gsym, first) == start ? first : last;
}

/* `first`: the first function of a start that too many share. */
csn_status csni_gsym_fail_starts(const struct csni_gsym *gsym, uint32_t first, struct csn_error *err);

/* idx < address_count */
static inline uint64_t csni_gsym_info_offset(const struct csni_gsym *gsym, uint32_t idx) {
    if (gsym->info_size == CSNI_GSYM_INFO_OFFSET_SIZE)
        return csni_get32(gsym->infos + (size_t)idx * CSNI_GSYM_INFO_OFFSET_SIZE, gsym->big);
    return csni_get64(gsym->infos + (size_t)idx * CSNI_GSYM_2_INFO_OFFSET_SIZE, gsym->big);
}

/* The strp at `p`. */
static inline uint64_t csni_gsym_strp(const struct csni_gsym *gsym, const uint8_t *p) {
    return gsym->strp_size == CSNI_GSYM_STRP_SIZE ? csni_get32(p, gsym->big) : csni_get64(p, gsym->big);
}

/* idx < file_count */
static inline const uint8_t *csni_gsym_file_entry(const struct csni_gsym *gsym, uint32_t idx) {
    return gsym->files + (size_t)idx * 2 * gsym->strp_size;
}

/* Whether the last byte of the string table is NUL. Lookups do not ask: it is a page of its own. */
static inline bool csni_gsym_strings_terminated(const struct csni_gsym *gsym) {
    return gsym->strings.size && gsym->strings.ptr[gsym->strings.size - 1] == 0;
}

static inline struct csn_str csni_gsym_string(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset >= gsym->strings.size) return (struct csn_str){ "", 0 };
    const char *text = (const char *)gsym->strings.ptr + offset;
    return (struct csn_str){ text, csni_length_of(text, gsym->strings.size - (size_t)offset) };
}

/* A string whose end is to be found yet, and which is asked for: its length is that of the bytes to the end of the table. */
static inline struct csn_str csni_gsym_string_begin(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset >= gsym->strings.size) return (struct csn_str){ "", 0 };
    const char *text = (const char *)gsym->strings.ptr + offset;
    csni_prefetch(text);
    return (struct csn_str){ text, gsym->strings.size - (size_t)offset };
}

/* Asks for the beginning of a string that will be read. */
static inline void csni_gsym_prefetch_string(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset < gsym->strings.size) csni_prefetch(gsym->strings.ptr + offset);
}

/* False, and two empty strings, where idx >= file_count. */
static inline bool csni_gsym_file(const struct csni_gsym *gsym, uint32_t idx, struct csn_str *directory,
                                  struct csn_str *base) {
    if (idx >= gsym->file_count) {
        *directory = *base = (struct csn_str){ "", 0 };
        return false;
    }
    const uint8_t *entry = csni_gsym_file_entry(gsym, idx);
    *directory = csni_gsym_string(gsym, csni_gsym_strp(gsym, entry));
    *base = csni_gsym_string(gsym, csni_gsym_strp(gsym, entry + gsym->strp_size));
    return true;
}

/* ---- records and their parts ---- */

/* A record: a function, or a function merged into one. */
struct csni_gsym_record {
    struct csni_span bytes; /* from the record to the end of the file or section, or of the merged entry */
    uint64_t offset;        /* of bytes.ptr in the file */
    uint64_t start;         /* image address */
    uint64_t name;
    uint32_t size;
};

CSNI_COLD void csni_gsym_fail_record(const struct csni_gsym *gsym, uint32_t idx, uint64_t offset,
                                     struct csn_error *err);
CSNI_COLD void csni_gsym_fail_short(const struct csni_gsym *gsym, uint64_t offset, size_t left,
                                    struct csn_error *err);
CSNI_COLD void csni_gsym_fail_part(const struct csni_gsym_record *record, uint64_t pos, struct csn_error *err);
CSNI_COLD csn_status csni_gsym_fail_parts(const struct csni_gsym_record *record, struct csn_error *err);
CSNI_COLD void csni_gsym_fail_length(const struct csni_gsym_record *record, uint64_t pos, uint32_t type,
                                     uint64_t length, struct csn_error *err);

/* The record in these bytes: reads size and name. */
static inline csn_status csni_gsym_record_at(const struct csni_gsym *gsym, struct csni_span bytes, uint64_t offset,
                                             uint64_t start, struct csni_gsym_record *out, struct csn_error *err) {
    if (bytes.size < gsym->parts_at) {
        csni_gsym_fail_short(gsym, offset, bytes.size, err);
        return CSN_E_TRUNCATED;
    }
    uint32_t size = csni_get32(bytes.ptr + CSNI_GSYM_R_SIZE, gsym->big);
    uint64_t name = csni_gsym_strp(gsym, bytes.ptr + CSNI_GSYM_R_NAME);
    *out = (struct csni_gsym_record){ bytes, offset, start, name, size };
    return CSN_OK;
}

/* Function idx < address_count. CSN_E_FORMAT where its info offset leads outside the records, CSN_E_TRUNCATED where it
 * leads too near to their end. */
static inline csn_status csni_gsym_record(const struct csni_gsym *gsym, uint32_t idx, struct csni_gsym_record *out,
                                          struct csn_error *err) {
    uint64_t offset = csni_gsym_info_offset(gsym, idx);
    if (offset >= gsym->records.size) {
        csni_gsym_fail_record(gsym, idx, offset, err);
        return CSN_E_FORMAT;
    }
    struct csni_span rest = { gsym->records.ptr + offset, gsym->records.size - (size_t)offset };
    return csni_gsym_record_at(gsym, rest, gsym->records_offset + offset, csni_gsym_address(gsym, idx), out, err);
}

struct csni_gsym_payload {
    struct csni_span bytes;
    uint64_t offset; /* of bytes.ptr in the file */
    uint32_t type;   /* enum csni_gsym_part, or one that this version does not know */
};

/* The part at *pos (gsym->parts_at for the first), moving *pos after it. CSN_NONE at the end of the list, with *pos
 * after the end mark. */
static inline csn_status csni_gsym_part_next(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                             uint64_t *pos, struct csni_gsym_payload *out, struct csn_error *err) {
    struct csni_span header;
    if (!csni_span_sub(record->bytes, *pos, CSNI_GSYM_PART_HEADER_SIZE, &header)) {
        csni_gsym_fail_part(record, *pos, err);
        return CSN_E_TRUNCATED;
    }
    out->type = csni_get32(header.ptr, gsym->big);
    uint64_t length = csni_get32(header.ptr + 4, gsym->big);
    uint64_t at = *pos + CSNI_GSYM_PART_HEADER_SIZE;
    out->offset = record->offset + at;
    if (!csni_span_sub(record->bytes, at, length, &out->bytes)) {
        csni_gsym_fail_length(record, at, out->type, length, err);
        return CSN_E_TRUNCATED;
    }
    *pos = at + length;
    return out->type == CSNI_GSYM_PART_END ? CSN_NONE : CSN_OK;
}
/* The first part of that type; CSN_NONE where there is none. */
csn_status csni_gsym_part_find(const struct csni_gsym *gsym, const struct csni_gsym_record *record, uint32_t type,
                               struct csni_gsym_payload *out, struct csn_error *err);

/* ---- line tables ---- */

/* A line table, the function it belongs to, and its place for error texts. */
struct csni_gsym_lines {
    struct csni_span bytes;
    uint64_t start;
    const char *section;
    uint64_t offset;         /* of bytes.ptr within the section */
    const uint8_t *readable; /* end of the bytes that may be read, at or after the end of `bytes` */
};

struct csni_gsym_row_iter {
    const uint8_t *begin, *p, *end;
    const char *section;
    uint64_t offset, addr, range;
    uint32_t min, file, line;
    uint8_t file_bias; /* see struct csni_gsym */
    bool done; /* `p` is then the byte after the end mark */
};
csn_status csni_gsym_rows(struct csni_gsym_row_iter *iter, const struct csni_gsym_lines *lines, struct csn_error *err);
/* CSN_NONE after the last row. */
csn_status csni_gsym_row_next(struct csni_gsym_row_iter *iter, struct csn_row *out, struct csn_error *err);

/* The last row at or below `addr`; CSN_NONE where the first row is after it. */
csn_status csni_gsym_line_find(const struct csni_gsym_lines *lines, uint64_t addr, struct csn_row *out,
                               struct csn_error *err);
/* The same from a row on that is at or below `addr`: the next opcode is at `at`, which is not 0. */
struct csni_gsym_line_place {
    uint32_t at;
    struct csn_row row;
};
csn_status csni_gsym_line_find_from(const struct csni_gsym_lines *lines, const struct csni_gsym_line_place *place, uint64_t addr,
                                    struct csn_row *out, struct csn_error *err);

/* ---- inline trees ---- */

struct csni_gsym_node {
    struct csni_span ranges; /* range_count pairs of ULEB start - base, ULEB size */
    uint64_t base;           /* what the range starts are relative to */
    uint64_t first;          /* lowest start of a range that is not empty; base where all are empty */
    uint64_t name;
    uint32_t range_count, call_file, call_line;
    bool has_children;
};

/* Whether a node is an inlined call, which need not name the file that it was called from (DWARF without DW_AT_call_file,
 * Breakpad's -1). The root stands for the function, and a node that tells nothing is a lexical block of 2017. */
static inline bool csni_gsym_node_is_call(const struct csni_gsym_node *node, bool root) {
    return node->call_file || (!root && (node->call_line || node->name));
}

/* Walks a tree in file order, a parent before its children. */
struct csni_gsym_inline_iter {
    const uint8_t *begin, *p, *end;
    uint64_t offset; /* file offset of `begin` */
    uint32_t depth;  /* of the node at `p` */
    uint8_t strp_size;
    bool big;
    bool done;       /* `p` is then the byte after the tree */
};
void csni_gsym_nodes(struct csni_gsym_inline_iter *iter, const struct csni_gsym *gsym,
                     const struct csni_gsym_payload *payload);
/* `bases` has room for CSN_INLINE_DEPTH_MAX and is kept between calls; bases[0] is the function's start, set by the
 * caller; NULL: addresses are of no interest. *out_depth is the depth of the node. CSN_NONE at the end. */
csn_status csni_gsym_node_next(struct csni_gsym_inline_iter *iter, uint64_t *bases, struct csni_gsym_node *out,
                               uint32_t *out_depth, struct csn_error *err);
/* Takes the first range off `ranges`, which csni_gsym_node_next() has checked. */
struct csn_range csni_gsym_range(struct csni_span *ranges, uint64_t base);

/* An inlined call that covers an address. */
struct csni_gsym_inlined {
    uint64_t first; /* lowest address of the block */
    uint64_t name;
    uint32_t call_file, call_line;
};
/* Which of the calls that cover an address are of interest. */
enum csni_gsym_call_filter {
    CSNI_GSYM_CALLS_ALL,
    CSNI_GSYM_CALLS_WITH_FILE, /* the reference reader shows no inlined call without a file */
    CSNI_GSYM_CALLS_LLVM       /* nor one whose file entry is empty; a file that the table does not have is CSN_E_FORMAT */
};
/* The inlined calls that cover an address, outermost first; call_file 0: unknown. Only some are held, to keep lookups within a
 * signal handler's stack: deeper answers are rare, and read again. */
enum { CSNI_GSYM_CALLS_HELD = 32 };
struct csni_gsym_calls {
    size_t count;
    size_t end; /* call n is held at n % HELD, where n < end <= n + HELD */
    /* What they were found by. */
    struct csni_gsym_payload tree;
    uint64_t start, addr;
    enum csni_gsym_call_filter filter;
    struct csni_gsym_inlined held[CSNI_GSYM_CALLS_HELD];
};
/* Finds the calls; the innermost are held. At each level the first node that covers the address is taken. */
csn_status csni_gsym_calls_find(const struct csni_gsym *gsym, const struct csni_gsym_payload *tree, uint64_t start,
                                uint64_t addr, enum csni_gsym_call_filter filter, struct csni_gsym_calls *out,
                                struct csn_error *err);
/* The same by `entry`, the checkpoint of the address in this function; NULL: there is none. `from_record`: bytes
 * from the start of the record to that of the tree. */
csn_status csni_gsym_calls_find_from(const struct csni_gsym *gsym, const struct csni_gsym_payload *tree, uint64_t start,
                                     uint64_t addr, enum csni_gsym_call_filter filter, const uint8_t *entry, size_t from_record,
                                     struct csni_gsym_calls *out, struct csn_error *err);
/* Holds the calls before number `end`, in place of others. */
void csni_gsym_calls_hold(const struct csni_gsym *gsym, struct csni_gsym_calls *calls, size_t end);

/* ---- call sites and merged functions ---- */

struct csni_gsym_list {
    const uint8_t *begin, *p, *end;
    uint64_t offset;       /* file offset of `begin` */
    uint32_t left;         /* entries not yet read */
    uint32_t idx;
};
/* Reads the count of a call-site or merged-function payload. */
csn_status csni_gsym_list_open(struct csni_gsym_list *list, const struct csni_gsym *gsym,
                               const struct csni_gsym_payload *payload, struct csn_error *err);

struct csni_gsym_call_site {
    uint64_t return_offset;
    const uint8_t *patterns; /* pattern_count strp */
    uint32_t pattern_count;
    uint8_t flags;
};
csn_status csni_gsym_call_site_next(const struct csni_gsym *gsym, struct csni_gsym_list *list,
                                    struct csni_gsym_call_site *out, struct csn_error *err);
/* Pattern k < site->pattern_count, as an offset in the string table. */
uint64_t csni_gsym_pattern(const struct csni_gsym *gsym, const uint8_t *patterns, uint32_t k);

csn_status csni_gsym_merged_next(const struct csni_gsym *gsym, struct csni_gsym_list *list, uint64_t start,
                                 struct csni_gsym_record *out, struct csn_error *err);

/* ---- lookup ---- */

/* The number of functions that start at or below `addr`. */
size_t csni_gsym_count_up_to(const struct csni_gsym *gsym, uint64_t addr);
/* The same, where function `last` is one of them and few follow it; 0: it is not, or many. */
size_t csni_gsym_count_from(const struct csni_gsym *gsym, uint32_t last, uint64_t addr);
/* The same for several addresses side by side. */
enum { CSNI_GSYM_SEARCHES = 16 }; /* most at once */
void csni_gsym_search(const struct csni_gsym *gsym, const uint64_t *addrs, size_t count, size_t *out_behind);

/* Everything known of an address, without a string touched. */
struct csni_gsym_answer {
    uint64_t addr, start, name;
    uint32_t idx, size;
    uint32_t file, line, reason; /* of the innermost frame */
    struct csni_gsym_calls calls; /* frames are one more */
};
/* CSN_NONE sets `reason`, and idx, start and size where a function was reached. */
csn_status csni_gsym_lookup(const struct csni_gsym *gsym, uint64_t addr, enum csn_lookup_mode mode,
                            struct csni_gsym_answer *out, struct csn_error *err);
/* After a search: `upper` functions start at or below `addr`. */
csn_status csni_gsym_lookup_at(const struct csni_gsym *gsym, size_t upper, uint64_t addr, enum csn_lookup_mode mode,
                               struct csni_gsym_answer *out, struct csn_error *err);
/* Why the frame around an inlined call lacks its file. */
static inline uint32_t csni_gsym_call_reason(uint32_t call_file, uint32_t file_count) {
    if (!call_file) return CSN_REASON_NO_CALL_FILE;
    return call_file < file_count ? CSN_REASON_COMPLETE : CSN_REASON_BAD_FILE;
}

/* Frame k of an answer, innermost first, k <= calls.count. */
static inline void csni_gsym_frame(const struct csni_gsym *gsym, struct csni_gsym_answer *answer, size_t k,
                                   struct csn_frame_ref *out) {
    struct csni_gsym_calls *calls = &answer->calls;
    bool inlined = k < calls->count;
    size_t own = inlined ? calls->count - 1 - k : 0, callee = calls->count - k; /* numbers of calls, callee's for k > 0 */
    if (own + CSNI_GSYM_CALLS_HELD < calls->end || (k && callee >= calls->end)) csni_gsym_calls_hold(gsym, calls, callee + 1);
    const struct csni_gsym_inlined *call = &calls->held[own % CSNI_GSYM_CALLS_HELD];
    out->name = inlined ? call->name : answer->name;
    out->offset = answer->addr - (inlined ? call->first : answer->start);
    out->flags = inlined ? CSN_FRAME_INLINED : 0;
    out->file = answer->file;
    out->line = answer->line;
    out->reason = answer->reason;
    if (k == 0) return;
    /* An outer frame stands where the frame inside it was called. */
    call = &calls->held[callee % CSNI_GSYM_CALLS_HELD];
    out->reason = csni_gsym_call_reason(call->call_file, gsym->file_count);
    out->file = out->reason == CSN_REASON_COMPLETE ? call->call_file : 0;
    out->line = call->call_line;
}

/* ---- verify ---- */

csn_status csni_gsym_verify(const struct csni_gsym *gsym, csn_verify_callback *callback, void *context,
                            struct csn_verify_counts *out);

#endif

/* DWARF 2 to 5: section spans in; units, DIEs, names, address ranges and line rows out. Knows no container. */
#ifndef CSNI_DWARF_H
#define CSNI_DWARF_H

#include "base/core/alloc.h"
#include "base/arena.h"
#include "base/core/span.h"
#include "base/core/vec.h"
#include "dwarf/dwarf_constants.h"

/* Sections that are absent are empty spans. */
struct csni_dwarf_sections {
    struct csni_span info, types, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists;
    struct csni_span cu_index, tu_index; /* of a package of split DWARF; .debug_cu_index tells that it is one */
    uint64_t info_from;      /* `info` is a part of .debug_info that begins at this offset, with a unit */
    bool big_endian;
    bool is_supplement;      /* errors say so */
    /* While units are listed, and prepared on any thread: bytes [begin, end) of `info` were looked at, and are not needed for
     * now. NULL: nobody wants to know. */
    void (*passed)(void *context, uint64_t begin, uint64_t end);
    void *passed_context;
};

/* The sections that a program's DWARF lies in, and where their bytes go in struct csni_dwarf_sections. */
enum csni_dwarf_section {
    CSNI_DWARF_INFO, CSNI_DWARF_TYPES, CSNI_DWARF_ABBREV, CSNI_DWARF_LINE, CSNI_DWARF_STR, CSNI_DWARF_LINE_STR,
    CSNI_DWARF_STR_OFFSETS, CSNI_DWARF_ADDR, CSNI_DWARF_RANGES, CSNI_DWARF_RNGLISTS, CSNI_DWARF_SECTION_COUNT
};
extern const char *const csni_dwarf_section_names[CSNI_DWARF_SECTION_COUNT]; /* without .debug_ */
struct csni_span *csni_dwarf_section_bytes(struct csni_dwarf_sections *sections, enum csni_dwarf_section section);

/* ---- attributes that a conversion wants; everything else is stepped over ---- */

enum csni_at {
    CSNI_AT_SIBLING, CSNI_AT_NAME, CSNI_AT_LINKAGE_NAME, CSNI_AT_LOW_PC, CSNI_AT_HIGH_PC, CSNI_AT_RANGES,
    CSNI_AT_SPECIFICATION, CSNI_AT_ABSTRACT_ORIGIN, CSNI_AT_DECL_FILE, CSNI_AT_DECL_LINE, CSNI_AT_CALL_FILE,
    CSNI_AT_CALL_LINE, CSNI_AT_RETURN_PC, CSNI_AT_CALL_ORIGIN, CSNI_AT_TAIL_CALL, CSNI_AT_DECLARATION, CSNI_AT_INLINE,
    CSNI_AT_STMT_SEQUENCE, CSNI_AT_STMT_LIST, CSNI_AT_COMP_DIR, CSNI_AT_LANGUAGE, CSNI_AT_PRODUCER,
    CSNI_AT_STR_OFFSETS_BASE, CSNI_AT_ADDR_BASE, CSNI_AT_RNGLISTS_BASE, CSNI_AT_GNU_RANGES_BASE, CSNI_AT_DWO_NAME,
    CSNI_AT_DWO_ID, CSNI_AT_SIGNATURE, CSNI_AT_COUNT
};

/* One attribute as it stands in .debug_info. For DW_FORM_string and blocks, `value` is the offset of the bytes in the unit's
 * section. Use the csni_attr_ calls to make sense of it. */
struct csni_attr {
    uint64_t value;
    uint32_t form; /* DW_FORM_ */
    uint32_t size; /* of a block */
};

struct csni_dwarf;
struct csni_abbrevs;

struct csni_unit {
    uint64_t off, end;       /* of the unit, header included, in its section */
    uint64_t first_die;      /* offset of the unit DIE */
    uint64_t abbrev_off;
    uint64_t type_signature, type_off, dwo_id;
    uint16_t version;
    uint8_t address_size, offset_size; /* offset_size: 4 or 8 (64-bit DWARF) */
    uint8_t str_offset_size; /* the same, of its table of strings' offsets */
    uint8_t unit_type;       /* DW_UT_; DW_UT_compile or DW_UT_type before version 5 */
    bool in_types;           /* in .debug_types (DWARF 4), else in .debug_info */
    const struct csni_abbrevs *abbrevs;
    const struct csni_dwarf *dwarf; /* that lists it: an image's, or that of its supplementary file */
    /* From the unit DIE; valid once csni_unit_prepare() gave CSN_OK. */
    bool prepared, has_stmt_list, has_low_pc, is_skeleton;
    bool is_split;           /* csni_split_bind() gave it the bases of its skeleton */
    uint64_t str_offsets_at, rnglists_at; /* where its parts of these sections begin: other than 0 in packages */
    uint16_t tag;            /* DW_TAG_compile_unit, DW_TAG_partial_unit, ... */
    uint32_t language;       /* DW_LANG_, 0 when absent */
    uint64_t low_pc, stmt_list;
    uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
    struct csn_str name, comp_dir, producer, dwo_name;
};

struct csni_dwarf {
    const struct csn_allocator *alloc;
    struct csni_dwarf_sections sections;
    struct csni_unit *units; /* .debug_info in offset order, then .debug_types */
    uint32_t unit_count, info_unit_count;
    uint32_t abbrev_table_count;
    /* Where the list of units broke off: a damaged header. code 0: it did not. */
    struct csn_error damage;
    /* The supplementary file that its DIEs refer to, with all units prepared; NULL: none. Set before units are prepared,
     * and never in a supplement, so that references lead into one file and no further. */
    const struct csni_dwarf *supplement;
    struct csni_dwarf_private *priv;
};

/* Lists the units (headers only). CSN_OK even where a damaged header ends the list early; see `damage`. */
csn_status csni_dwarf_open(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                           struct csni_dwarf **out, struct csn_error *err);
void csni_dwarf_close(struct csni_dwarf *dwarf);

/* How many bytes a unit has, its length included, which stands at the start of `header`; of that CSNI_UNIT_LENGTH_SIZE bytes at
 * most are looked at. 0: that is no length, or the end of the section's padding. */
enum { CSNI_UNIT_LENGTH_SIZE = 12 };
uint64_t csni_dwarf_unit_size(struct csni_span header, bool big_endian);

/* Compiles abbreviation table `table` < abbrev_table_count into decode plans. Different tables from different threads at
 * once. A damaged table makes the units that use it fail in csni_unit_prepare(), with its error. */
csn_status csni_dwarf_compile_abbrevs(struct csni_dwarf *dwarf, uint32_t table, struct csn_error *err);
struct csni_pool;
/* Compiles all tables, once, on all workers of the pool (NULL: on the caller alone). Tables may be damaged: only out of memory
 * fails. */
csn_status csni_dwarf_compile_all(struct csni_dwarf *dwarf, struct csni_pool *pool, struct csn_error *err);
/* The same for one after the other of several readers of the same .debug_abbrev, whose .debug_info are portions of
 * one section: what was compiled for one is known to the next. By one thread at a time; it has to outlive the
 * readers. `section_size`: of .debug_abbrev. */
struct csni_shared_abbrevs;
csn_status csni_shared_abbrevs_create(uint64_t section_size, const struct csn_allocator *alloc, struct csni_shared_abbrevs **out,
                                      struct csn_error *err);
void csni_shared_abbrevs_destroy(struct csni_shared_abbrevs *shared); /* NULL is fine */
csn_status csni_dwarf_compile_shared(struct csni_dwarf *dwarf, struct csni_shared_abbrevs *shared, struct csn_error *err);
/* After all tables are compiled: whether any DIE can refer to another unit (DW_FORM_ref_addr, ref_sig8), and whether any
 * refers to a supplementary file. */
bool csni_dwarf_has_cross_references(const struct csni_dwarf *dwarf);
bool csni_dwarf_has_supplement_references(const struct csni_dwarf *dwarf);

/* Reads the unit DIE. Needs the compiled abbreviations. Different units from different threads at once; all units must be
 * prepared (or have failed) before DIEs of other units are followed. */
csn_status csni_unit_prepare(struct csni_dwarf *dwarf, struct csni_unit *unit, struct csn_error *err);
/* All units, as csni_dwarf_compile_all() does tables. A damaged one is left unprepared: csni_unit_prepare() says why. */
csn_status csni_dwarf_prepare_all(struct csni_dwarf *dwarf, struct csni_pool *pool, struct csn_error *err);

/* The unit of .debug_info that contains offset `off`, or NULL. */
const struct csni_unit *csni_dwarf_unit_at(const struct csni_dwarf *dwarf, uint64_t off);

/* ---- DIEs ----
 *
 * Where a call takes a unit or a DIE, that one tells which file is read: DIEs of the supplement may be given together with
 * the image's `dwarf`. */

struct csni_die {
    const struct csni_unit *unit;
    uint64_t off;            /* in the unit's section */
    uint64_t next;           /* offset after its attributes: the first child, or the next sibling */
    uint32_t depth;          /* nesting; the unit DIE has 0 */
    uint32_t closed;         /* DIEs given before at this depth or deeper have ended: at most `depth`, less where a DIE that
                              * is not given, such as a lexical block, has begun since */
    uint16_t tag;
    bool has_children;
    bool codeless;           /* a subprogram that is no declaration, but has no addresses, as its abbreviation tells */
    uint64_t present;        /* bit (1 << CSNI_AT_x) for each attribute in `at` */
    struct csni_attr at[CSNI_AT_COUNT];
};
static inline bool csni_die_has(const struct csni_die *die, enum csni_at at) { return die->present >> at & 1; }

/* Kinds of DIEs. */
enum csni_header_kinds { CSNI_HEADERS_OF_CODELESS = 2048 /* see csni_die.codeless */, CSNI_HEADERS_OF_ALL = UINT16_MAX };

/* What a walk leaves out. csni_die_walk_init() sets them; all but skip_types may be changed before the first step, the last two
 * before any. */
struct csni_die_walk_options {
    bool skip_types;         /* types and declarations are neither given nor entered: no function can stand in them (C) */
    uint32_t headers_only;   /* enum csni_header_kinds: of these DIEs no attribute but the sibling is sure to be given; 0: none */
    bool skip_call_sites;    /* call sites are neither given nor entered */
    bool skip_codeless;      /* neither subprograms without addresses nor inlined calls are given, but what is in them is: the
                              * functions of GNU C within others stand there */
    bool jump_over_types;    /* types and declarations are neither given nor entered if they have a sibling attribute. For
                              * producers that put no function there, outside of functions */
};

/* Walks a unit in document order and gives only the DIEs that matter here: units, namespaces, modules, classes, structures,
 * unions, interfaces, subprograms, inlined subroutines, call sites (DWARF 5 and GNU). All others are stepped over by
 * their plan, without their attributes being looked at. Nesting is told by `closed`: a DIE is inside the last one
 * before it with a depth smaller than that. */
struct csni_die_walk {
    const struct csni_dwarf *dwarf;
    const struct csni_unit *unit;
    const uint8_t *begin, *p, *end; /* of the unit; `begin` is its section's start */
    uint32_t depth;          /* of the next DIE */
    uint32_t closed;         /* smallest depth since a DIE was given */
    struct csni_die_walk_options options;
};
csn_status csni_die_walk_init(struct csni_die_walk *walk, const struct csni_dwarf *dwarf, const struct csni_unit *unit,
                              struct csn_error *err);
/* CSN_OK: *out is filled. CSN_NONE: the unit is at its end. Failure: damaged at the offset the error names. */
csn_status csni_die_walk_next(struct csni_die_walk *walk, struct csni_die *out, struct csn_error *err);
/* Goes on after all children of `die`, which is the last one given: by its sibling attribute where it has one, else by
 * stepping over them without giving any. */
csn_status csni_die_walk_skip_children(struct csni_die_walk *walk, const struct csni_die *die, struct csn_error *err);

/* Reads the one DIE at an offset of .debug_info (or of the unit's section when `unit` is not NULL); its depth is 0. */
csn_status csni_die_at(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t off, struct csni_die *out,
                       struct csn_error *err);
/* Whether the name of the DIE at an offset of the unit's section, or a DIE that it refers to for its name, is in the supplement. */
bool csni_name_is_in_supplement(const struct csni_unit *unit, uint64_t off);
/* Where a reference attribute leads: unit and offset of the DIE, which is not read. CSN_NONE as below. */
csn_status csni_die_far_target(const struct csni_die *die, enum csni_at at, const struct csni_unit **unit, uint64_t *off);
static inline csn_status csni_die_target(const struct csni_die *die, enum csni_at at, const struct csni_unit **unit,
                                         uint64_t *off) {
    const struct csni_attr *ref = &die->at[at];
    if (!csni_die_has(die, at) || ref->form != DW_FORM_ref4 || ref->value >= die->unit->end - die->unit->off)
        return csni_die_far_target(die, at, unit, off);
    *unit = die->unit; /* nearly always */
    *off = die->unit->off + ref->value;
    return CSN_OK;
}
/* Follows a reference attribute. CSN_NONE: absent, or it leads into a supplementary file that is not there or to an unknown
 * type unit. */
csn_status csni_die_follow(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at,
                           struct csni_die *out, struct csn_error *err);

/* ---- attribute values ---- */

/* Every string form. CSN_NONE: absent, or in a supplementary file that is not there. */
csn_status csni_attr_string(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at,
                            struct csn_str *out, struct csn_error *err);
/* Constants of every form, and section offsets. CSN_NONE: absent, or of a form that is no number. */
static inline csn_status csni_attr_unsigned(const struct csni_die *die, enum csni_at at, uint64_t *out) {
    const uint64_t numbers = UINT64_C(1) << DW_FORM_data1 | UINT64_C(1) << DW_FORM_data2 | UINT64_C(1) << DW_FORM_data4 |
                             UINT64_C(1) << DW_FORM_data8 | UINT64_C(1) << DW_FORM_udata | UINT64_C(1) << DW_FORM_sdata |
                             UINT64_C(1) << DW_FORM_implicit_const | UINT64_C(1) << DW_FORM_sec_offset |
                             UINT64_C(1) << DW_FORM_flag | UINT64_C(1) << DW_FORM_flag_present |
                             UINT64_C(1) << DW_FORM_rnglistx | UINT64_C(1) << DW_FORM_loclistx;
    if (!csni_die_has(die, at) || die->at[at].form >= 64 || !(numbers >> die->at[at].form & 1)) return CSN_NONE;
    *out = die->at[at].value;
    return CSN_OK;
}
/* Addresses: addr, addrx and its sizes, GNU_addr_index. */
csn_status csni_attr_address(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at, uint64_t *out,
                             struct csn_error *err);

/* ---- address ranges ---- */

struct csni_address_range { uint64_t low, high; };
typedef CSNI_VEC(struct csni_address_range) csni_address_ranges;

/* low_pc with high_pc in either form, or DW_AT_ranges from .debug_ranges or .debug_rnglists, as they stand: neither sorted nor
 * checked against each other; empty ranges (low == high) of range lists are left out, of low_pc/high_pc kept. Appends to `out`.
 * CSN_OK; CSN_NONE when the DIE has no addresses. */
csn_status csni_die_ranges(const struct csni_dwarf *dwarf, const struct csni_die *die, csni_address_ranges *out,
                           struct csn_error *err);
/* With the empty ranges of range lists. */
csn_status csni_die_all_ranges(const struct csni_dwarf *dwarf, const struct csni_die *die, csni_address_ranges *out,
                               struct csn_error *err);

/* ---- names ---- */

/* For names by the rules of GSYM producers: the linkage name, else DW_AT_name, both looked for through specification and
 * abstract origin; in C++ and Objective-C++ (and DW_LANG_C, as the reference does) a plain name is qualified by the scopes
 * that it is declared in ("ns::S::f"). One for each worker. */
struct csni_scopes;
csn_status csni_scopes_create(const struct csni_dwarf *dwarf, struct csni_scopes **out, struct csn_error *err);
void csni_scopes_destroy(struct csni_scopes *scopes);
/* From now on for the units of another `dwarf` of the same file, whose string sections are the same bytes. After a failure the
 * scopes can only be destroyed. */
csn_status csni_scopes_rebind(struct csni_scopes *scopes, const struct csni_dwarf *dwarf, struct csn_error *err);
/* The same name where the DIE's own attributes decide it, without following anything. CSN_NONE: they do not. */
csn_status csni_die_own_name(const struct csni_dwarf *dwarf, const struct csni_unit *language_unit,
                             const struct csni_die *die, struct csn_str *out, struct csn_error *err);
/* The name of the DIE at `off` of the unit's section. `language_unit`: the unit whose language decides. A name that
 * had to be put together is allocated in `arena`; others are views into sections. CSN_NONE: it has no name. */
csn_status csni_scopes_name(struct csni_scopes *scopes, const struct csni_unit *language_unit, const struct csni_die *die,
                            struct csni_arena *arena, struct csn_str *out, struct csn_error *err);
/* The same of the DIE at an offset of a unit's section, which is read. */
csn_status csni_scopes_name_at(struct csni_scopes *scopes, const struct csni_unit *language_unit,
                               const struct csni_unit *unit, uint64_t off, struct csni_arena *arena, struct csn_str *out,
                               struct csn_error *err);
/* How much looking up names took since this was last asked, in a measure of its own that depends on the names alone. A hostile
 * file makes one name take a thousand times what others do. */
uint64_t csni_scopes_take_cost(struct csni_scopes *scopes);

/* ---- line tables ---- */

struct csni_line_row {
    uint64_t addr;
    uint32_t file;           /* DWARF file number; CSNI_LINE_END for the end of a sequence */
    uint32_t line;
    uint32_t changes;        /* of a folded table: rows of the sequence so far that differ from the one before in file or line */
};
enum { CSNI_LINE_END = UINT32_MAX };

struct csni_line_sequence {
    uint64_t low, high;      /* address of the first row, of the end */
    uint64_t off;            /* where its opcodes begin in .debug_line: what DW_AT_LLVM_stmt_sequence names */
    uint32_t first_row;
    uint32_t row_count;      /* the end row included */
    uint32_t first_file, first_line; /* of its first row, which folding may have taken */
    bool folded;             /* its rows ascend by address, and are of files that there are */
};

struct csni_line_file {
    struct csn_str name;     /* ptr NULL: not looked for yet, `len` is its offset in .debug_line_str; see csni_line_file_name() */
    uint64_t directory;      /* index in `directories`, as the format numbers them */
};

/* What an opcode of a line program does, for the fast loops. */
struct csni_line_effect {
    uint16_t addr;   /* advance */
    uint16_t row;    /* 1: a row is made */
    uint32_t line;   /* advance, in two's complement */
};

/* The same for all opcodes of a machine, as the header describes it: nearly all tables of a file have the same. */
struct csni_line_effects {
    uint8_t min_inst_length, line_range, opcode_base; /* line_range 0: not made yet */
    int8_t line_base;
    struct csni_line_effect items[256];
};

/* A line table with buffers that are used again for the next one. */
struct csni_line_table {
    uint16_t version;
    uint8_t address_size, offset_size;
    bool fold;               /* set after init: of rows at one address only the last is kept. Sequences that cannot be folded
                              * have all their rows, and say so. */
    uint64_t size;           /* bytes of the table in .debug_line; 0 where its length cannot be read */
    struct csni_span line_str;
    CSNI_VEC(struct csn_str) directories; /* [0] exists from version 5 on only; before, index 1 is items[0] */
    CSNI_VEC(struct csni_line_file) files; /* version 5: numbered from 0; before: from 1, items[0] is file 1 */
    CSNI_VEC(struct csni_line_row) rows;
    CSNI_VEC(struct csni_line_sequence) sequences; /* by ascending `high`, stable; only those with low < high */
    struct csni_line_effects effects; /* of the last program that was run */
};
void csni_line_table_init(struct csni_line_table *table, const struct csn_allocator *alloc);
void csni_line_table_deinit(struct csni_line_table *table);

/* Reads header and all sequences of the unit's line program. On damage, what stands before it is kept in `table`, and the
 * failure is returned. Vendor opcodes and content types are passed over. CSN_NONE: the unit has no line program. */
csn_status csni_line_table_read(struct csni_line_table *table, const struct csni_dwarf *dwarf,
                                const struct csni_unit *unit, struct csn_error *err);

/* The name in files.items[index]: a unit lists many more files than it has rows of. */
struct csn_str csni_line_file_name(const struct csni_line_table *table, size_t index);
/* In version 5 file 0 is the unit's own, which GCC and GNU as list again as file 1. Rows of folded tables then name file 1. */
bool csni_line_table_repeats_first(const struct csni_line_table *table);
/* Directory and file name as they stand for DWARF file number `file`. *relative_to_comp_dir: the compilation directory
 * belongs before *directory. False: there is no such file. */
bool csni_line_table_file(const struct csni_line_table *table, uint32_t file, struct csn_str *directory,
                          struct csn_str *name, bool *relative_to_comp_dir);

#endif

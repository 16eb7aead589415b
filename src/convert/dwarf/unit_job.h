/* One DWARF unit on its way into a batch: the state that the files unit_*.c work on. One job per worker, used for unit after
 * unit. */
#ifndef CSNI_UNIT_JOB_H
#define CSNI_UNIT_JOB_H

#include "convert/conversion.h"

/* A name that is looked up when the unit has been walked, because it may stand further on. */
struct csni_pending_name {
    const struct csni_unit *unit; /* that the DIE belongs to */
    uint64_t die_off;
    uint32_t string;              /* of the batch, to be filled in */
};

/* A name already asked for; valid where `stamp` is the job's. */
struct csni_name_slot {
    uint64_t key; /* offset of the DIE; the top bit tells .debug_types */
    uint32_t string, stamp;
};

/* An inlined call below an open function. Ranges are image addresses, ascending and not touching. */
struct csni_inlined {
    uint32_t parent;      /* index in `inlined`, or CSNI_NO_PARENT: the function itself */
    uint32_t depth;       /* 1 below the function, and so on */
    uint32_t name;
    uint32_t call_file;   /* of the batch */
    uint32_t call_line;
    uint32_t first_range, range_count; /* in `ranges` */
    uint32_t node;        /* while its function is written: which of its nodes, or CSNI_NO_NODE */
};
enum { CSNI_NO_PARENT = UINT32_MAX, CSNI_NO_NODE = UINT32_MAX };

struct csni_found_call {
    uint64_t return_pc;
    uint32_t callee;      /* string of the batch; 0: not known who is called */
    uint32_t flags;       /* CSNI_SITE_ */
};

/* A DIE that encloses the place where the walk is: a function, an inlined call, or one of either kind that is left out with
 * all it contains. */
struct csni_open_die {
    uint32_t depth;
    uint32_t index;                    /* in `functions`, or in `inlined` of an inlined call that is not left out */
    bool is_function;
    bool ignored;                      /* the inlined calls in it are left out */
};

/* A function that encloses the place where the walk is. */
struct csni_open_function {
    bool ignored;                      /* left out */
    bool is_unplaced;                  /* has no code of its own in the image, but counts */
    bool has_no_die;                   /* a symbol tells of it */
    bool has_stmt_sequence;
    bool ranges_nest;                  /* its ranges are apart and all of them become functions, and each range of an inlined
                                        * call lies within one of its parent's */
    bool has_strays;                   /* an inlined call has code of none of its ranges */
    bool inlined_elsewhere;            /* an inlined call has a range that is no problem but is not kept either */
    uint32_t name;
    uint32_t first_inlined, first_call; /* where its own part of the stacks begins */
    uint32_t first_own, own_count;     /* ranges that become functions, as the DIE lists them, in `ranges` */
    uint32_t first_range, range_count; /* all ranges of the DIE, ascending and joined, in `ranges` */
    uint64_t die_off, stmt_sequence;
    struct csni_address_range removed; /* of a unplaced function: where it would be */
};

typedef CSNI_VEC(uint32_t) csni_numbers;

/* Code [low, high) of a row that a function has another part of. */
struct csni_row_part {
    uint64_t low, high;
    uint32_t row;         /* in the line table */
};

/* Which views into sections stay valid until the model is written. */
enum csni_string_lifetime {
    CSNI_LIFETIME_ALL,
    CSNI_LIFETIME_STRING_SECTIONS,              /* of string sections; .debug_info is given back before */
    CSNI_LIFETIME_NONE                  /* the file is closed before */
};

/* Code [low, high) of an inlined call. */
struct csni_inline_range {
    uint64_t low, high;
    uint32_t call;        /* in `inlined` */
};

struct csni_symbol_list;

/* Where a unit is read from. */
struct csni_unit_source {
    const struct csni_dwarf *dwarf;    /* of the DIEs */
    struct csni_scopes *scopes;        /* of `dwarf` */
    const struct csni_unit *unit;
    const struct csni_dwarf *line_dwarf; /* of the line table: the image's, where that of split DWARF has no rows */
    const struct csni_unit *line_unit; /* that names the line table and the compilation directory */
    enum csni_string_lifetime lifetime;
    struct csni_shared_budget *budget; /* the conversion's, or that of the file with split DWARF */
    /* Of a split unit: where the units of its file break off. Of a skeleton whose split unit is not there: why. Code 0: it
     * was not found. */
    const struct csn_error *damage;
    const struct csni_symbol_list *symbols; /* that tell which functions such a skeleton may have */
};

struct csni_unit_job {
    struct csni_conversion *conversion;
    const struct csni_address_map *map; /* from addresses of the object to those of the image; NULL: they are the same */
    struct csni_batch_writer *writer;
    struct csni_arena *arena;
    struct csni_unit_source image;     /* where units are read from that are not split; without a unit */

    struct csni_coverage *coverage;    /* of the worker; NULL: not wanted */
    size_t covered_lines, covered_inlined; /* ranges in it when the unit began */

    /* The unit at hand. */
    const struct csni_dwarf *dwarf, *line_dwarf;
    struct csni_scopes *scopes;
    const struct csni_unit *unit, *line_unit;
    enum csni_string_lifetime lifetime;
    struct csni_shared_budget *budget;
    uint64_t spent;                    /* of this budget */
    struct csni_line_table lines;
    bool ignores_codeless;             /* functions without code are of no use, nor are their inlined calls */
    bool skips_codeless;                    /* and the walk need not give them: nothing in a type is a function */
    bool lines_read, has_lines;        /* read when the first function is met */
    csni_numbers file_numbers;         /* batch file + 1 by DWARF file number; 0: not asked for yet */
    csni_numbers directories;          /* batch string + 1 by directory index */
    csni_numbers by_offset;            /* sequences ordered by `off`; made when the first DW_AT_LLVM_stmt_sequence is met */
    CSNI_VEC(uint8_t) claimed;         /* by row of the line table: whether a function has it */
    CSNI_VEC(struct csni_row_part) row_parts; /* of claimed rows, that the functions which claimed them do not have */
    CSNI_VEC(struct csni_pending_name) pending;
    struct csni_name_slot *names;      /* hash table: DIE offset -> batch string */
    uint32_t name_slots, name_count, stamp;
    uint32_t name_capacity;            /* slots in memory, of which a unit uses the first */

    /* Stacks that follow the nesting of the walk. */
    CSNI_VEC(struct csni_open_die) open;
    CSNI_VEC(struct csni_open_function) functions;
    CSNI_VEC(struct csni_inlined) inlined;
    CSNI_VEC(struct csni_found_call) calls;
    csni_address_ranges ranges;
    CSNI_VEC(struct csni_inline_range) inline_ranges; /* within the function being written */
    csni_numbers unclosed;             /* nodes of the batch that are not closed yet, with their inlined calls */
    CSNI_APART;
};

void csni_unit_job_init(struct csni_unit_job *job, struct csni_conversion *c, uint32_t worker);
/* Says where units come from that are not split; at any time between units. */
csn_status csni_unit_job_rebind(struct csni_unit_job *job, const struct csni_dwarf *dwarf, enum csni_string_lifetime lifetime,
                                struct csn_error *err);
void csni_unit_job_deinit(struct csni_unit_job *job);

/* CSN_E_LIMIT: this unit alone spends more than all may, which ends the conversion. */
static inline csn_status csni_unit_charge(struct csni_unit_job *job, uint64_t amount) {
    job->spent += amount;
    return job->spent <= csni_shared_budget_limit(job->budget) ? CSN_OK : CSN_E_LIMIT;
}

/* The innermost function that is open, or NULL. */
static inline struct csni_open_function *csni_unit_enclosing_function(struct csni_unit_job *job) {
    return job->functions.count ? &job->functions.items[job->functions.count - 1] : NULL;
}

/* ---- ranges of DIEs ---- */

/* Notes why the ranges of a DIE cannot be read, and takes back those from `first` on. */
void csni_unit_note_damaged_ranges(struct csni_unit_job *job, const struct csni_die *die, uint32_t first);
/* Sorts ranges [first, count) of job->ranges, drops empty ones, joins what touches; the rest is taken off. */
void csni_unit_join_ranges(struct csni_unit_job *job, uint32_t first);

#endif

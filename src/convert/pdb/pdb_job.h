/* One worker's way through the modules of a PDB. */
#ifndef CSNI_PDB_JOB_H
#define CSNI_PDB_JOB_H

#include "convert/pdb/pdb_imports.h"
#include "convert/pdb/pdb_publics.h"

/* What workers share. */
struct csni_pdb_reading {
    struct csni_conversion *conversion;
    struct csni_pdb *pdb;
    struct csni_pdb_publics publics;
    struct csni_pdb_imports imports;
    uint64_t base;                /* of the image */
};

enum { CSNI_PDB_NO_PARENT = UINT32_MAX };

/* An inlined call of the function at hand, as its module tells of it. */
struct csni_pdb_site {
    struct csni_pdb_inline_site record;
    uint32_t parent;              /* of the sites; CSNI_PDB_NO_PARENT: the function itself */
    uint32_t depth;               /* 1: in the function itself */
    uint32_t first_call, call_end; /* the calls that it becomes */
};

/* A run of code in one call: where it is called from need not be one line, but a node of the model has only one, so that a site
 * becomes as many calls as there are lines that it is called from. The function itself is the first call. */
struct csni_pdb_piece {
    uint32_t start, end, file, line; /* file number of the batch; line 0: unknown */
    uint32_t depth, order;
};
struct csni_pdb_call {
    uint32_t name, call_file, call_line, depth;
    uint32_t first_piece, piece_count;
    uint32_t parent, first_child, last_child, next_sibling, node;
};

struct csni_pdb_scope {
    bool is_function, is_site;
    uint32_t site;                /* the innermost one from here on */
};

struct csni_pdb_job {
    struct csni_pdb_reading *reading;
    struct csni_batch_writer *writer;
    struct csni_arena *arena;
    uint64_t spent;               /* on the module at hand */
    bool copies_names;            /* bytes of the module do not outlive it */
    struct csni_pdb_lines lines;
    uint32_t next_fragment;       /* of the lines, in their order: after the last that a function has */
    CSNI_VEC(uint32_t) files;     /* of the batch plus 1, by offset in the module's checksums / 4 */
    CSNI_VEC(struct csni_pdb_scope) scopes;
    bool has_function;
    struct csni_pdb_code function;
    CSNI_VEC(struct csni_pdb_site) sites;
    csni_pdb_runs runs;
    csni_pdb_places places;
    CSNI_VEC(struct csni_pdb_piece) pieces, cuts, sorted, stack;
    CSNI_VEC(struct csni_pdb_call) calls;
    CSNI_VEC(struct csni_row) rows;
};
void csni_pdb_job_init(struct csni_pdb_job *job, struct csni_pdb_reading *reading, uint32_t worker);
void csni_pdb_job_deinit(struct csni_pdb_job *job);

/* Counts work against the conversion's budget. False: it is more than real programs take. */
bool csni_pdb_charge(struct csni_pdb_job *job, uint64_t amount);
/* A string of the batch that outlives the module; 0 where it is empty or memory is out, which makes the writer fail. */
uint32_t csni_pdb_add_string(struct csni_pdb_job *job, struct csn_str s);

/* Reads one module into a batch. Damage is noted. */
csn_status csni_pdb_convert_module(struct csni_pdb_job *job, uint32_t module, struct csni_batch *out, struct csn_error *err);

/* Writes job->function with its sites. CSN_E_LIMIT: the budget is spent. */
csn_status csni_pdb_write_function(struct csni_pdb_job *job, struct csn_error *err);

/* Fills job->calls and job->pieces for the function: its lines and inlined calls. */
csn_status csni_pdb_find_calls(struct csni_pdb_job *job, struct csn_error *err);
/* Fills job->rows from them. */
csn_status csni_pdb_find_rows(struct csni_pdb_job *job, struct csn_error *err);

#endif

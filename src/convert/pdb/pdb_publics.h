/* Public symbols of a PDB: decorated names of functions, and functions that modules tell nothing of. */
#ifndef CSNI_PDB_PUBLICS_H
#define CSNI_PDB_PUBLICS_H

#include "convert/conversion.h"
#include "pdb/pdb.h"

struct csni_pdb_public_entry {
    uint64_t at;             /* section << 32 | offset */
    struct csn_str name;
};

/* The hash of a function's name at a place with several public symbols (pdb_names.h). */
struct csni_pdb_public_name {
    uint64_t at, hash;
    uint32_t entry;
};

struct csni_pdb_publics {
    const struct csni_pdb *pdb;
    CSNI_VEC(struct csni_pdb_public_entry) entries; /* in code, ascending; equal ones in the order of the file */
    CSNI_VEC(struct csni_pdb_public_name) names; /* ascending */
    uint64_t damaged;        /* records that cannot be read */
};

/* `limit`: of work for telling names apart. */
csn_status csni_pdb_publics_read(struct csni_pdb_publics *publics, const struct csni_pdb *pdb, uint64_t limit,
                                 struct csn_error *err);
void csni_pdb_publics_deinit(struct csni_pdb_publics *publics);

/* The name to store for a function: that of the public symbol at its start that is its, else its own. *work counts what it took. */
struct csn_str csni_pdb_function_name(const struct csni_pdb_publics *publics, const struct csni_pdb_code *code, uint64_t *work);

/* Adds functions for public symbols outside of the functions in the conversion's batches from `first_batch` on, and second names of
 * those; takes labels within functions away. `base`: the image's. */
csn_status csni_pdb_add_publics(struct csni_conversion *c, const struct csni_pdb_publics *publics, uint32_t first_batch,
                                uint64_t base, struct csn_error *err);

#endif

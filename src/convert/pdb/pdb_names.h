/* Which of several public symbols at one place is a function's own: where identical code was folded, those of all
 * its functions stand there. They are told apart by their demangled names, and overloaded functions by the types of
 * their parameters. */
#ifndef CSNI_PDB_NAMES_H
#define CSNI_PDB_NAMES_H

#include "convert/pdb/pdb_publics.h"

/* Fills publics->names for all places with several public symbols, once they are sorted. `limit`: of work; what lies
 * beyond it is not told apart. */
csn_status csni_pdb_names_read(struct csni_pdb_publics *publics, uint64_t limit, struct csn_error *err);

/* The number of the public symbol at `at` that names the function; false: none does for certain. *work counts what it took. */
bool csni_pdb_names_find(const struct csni_pdb_publics *publics, uint64_t at, const struct csni_pdb_code *code, uint32_t *out,
                         uint64_t *work);

/* Whether a public symbol may name the function: it has its name, or cannot be read. */
bool csni_pdb_names_agree(struct csn_str public, struct csn_str function, uint64_t *work);

#endif

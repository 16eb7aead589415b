/* STACK WIN records for Breakpad's symbol files, from a PDB. */
#ifndef CSNI_PDB_STACK_H
#define CSNI_PDB_STACK_H

#include "convert/conversion.h"

/* Adds them to c->image.extras where the output is such a file and has records for unwinding. */
csn_status csni_pdb_add_stack_records(struct csni_conversion *c, const struct csni_pdb *pdb, struct csn_error *err);

#endif

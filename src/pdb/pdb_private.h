/* What the files of this folder share. */
#ifndef CSNI_PDB_PRIVATE_H
#define CSNI_PDB_PRIVATE_H

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "pdb/pdb.h"
#include "pdb/pdb_layout.h"

/* Reads the container's header and directory. */
csn_status csni_msf_open(struct csni_pdb *pdb, struct csn_error *err);
/* Frees what csni_msf_open() made. */
void csni_msf_close(struct csni_pdb *pdb);

/* Sections and moved code, from streams that the DBI stream names. */
csn_status csni_pdb_read_sections(struct csni_pdb *pdb, struct csni_span debug_headers, struct csn_error *err);

void csni_pdb_close_types(struct csni_pdb *pdb);

#endif

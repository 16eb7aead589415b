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
/* The record of a number, without its size; its kind comes first. False: there is none. */
bool csni_pdb_find_record(const struct csni_pdb_types *types, uint32_t number, struct csni_cursor *out);
/* The qualified name of a class, union or enumeration; empty: it is none. */
struct csn_str csni_pdb_class_name(const struct csni_pdb *pdb, uint32_t type);

#endif

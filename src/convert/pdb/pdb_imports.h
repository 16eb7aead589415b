/* Ids of functions that a module takes from another one. */
#ifndef CSNI_PDB_IMPORTS_H
#define CSNI_PDB_IMPORTS_H

#include <pthread.h>

#include "pdb/pdb.h"

/* What modules export, read when it is first wanted. Any thread. */
struct csni_pdb_imports {
    const struct csni_pdb *pdb;
    pthread_mutex_t lock;
    struct csni_pdb_exporter *exporters; /* by module; NULL: none was wanted yet */
    uint32_t *by_name;                   /* modules, ascending by name */
};
void csni_pdb_imports_init(struct csni_pdb_imports *imports, const struct csni_pdb *pdb);
void csni_pdb_imports_deinit(struct csni_pdb_imports *imports);

/* The id that an imported one of a module stands for; one that is not imported stays as it is. CSN_NONE: it leads nowhere. */
csn_status csni_pdb_imports_resolve(struct csni_pdb_imports *imports, const struct csni_pdb_lines *lines, uint32_t id,
                                    uint32_t *out, struct csn_error *err);

#endif

/* Small program databases for tests: streams put into blocks, and the records that a module is made of. */
#ifndef CSNI_WIRE_PDB_H
#define CSNI_WIRE_PDB_H

#include "wire/wire.h"

enum { WIRE_PDB_STREAMS = 16, WIRE_PDB_BLOCK = 512 };

struct wire_pdb {
    struct wire streams[WIRE_PDB_STREAMS];
    uint32_t stream_count;
    bool scattered;          /* blocks of a stream are no neighbours, and go down */
};
void wire_pdb_init(struct wire_pdb *pdb, uint32_t stream_count);
void wire_pdb_deinit(struct wire_pdb *pdb);
void wire_pdb_build(struct wire_pdb *pdb, struct wire *out);

/* A record of symbols or types: its size and kind, then what is written until it ends, padded to 4 bytes. */
size_t wire_pdb_begin_record(struct wire *w, uint16_t kind);
void wire_pdb_end_record(struct wire *w, size_t begun);
/* A subsection of C13 lines, in the same way. */
size_t wire_pdb_begin_subsection(struct wire *w, uint32_t kind);
void wire_pdb_end_subsection(struct wire *w, size_t begun);

#endif

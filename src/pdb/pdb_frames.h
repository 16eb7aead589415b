/* How to unwind x86 code, by the FPO and frame data streams that a PDB's debug header names. */
#ifndef CSNI_PDB_FRAMES_H
#define CSNI_PDB_FRAMES_H

#include "pdb/pdb.h"

enum { CSNI_PDB_FRAME_FPO = 0, CSNI_PDB_FRAME_DATA = 4 }; /* of the types; others are kernel traps and plain frames */

struct csni_pdb_frame {
    uint32_t rva, code_size;      /* before code was moved: csni_pdb_places_of_rva() */
    uint32_t local_size, parameter_size, max_stack_size;
    uint16_t prologue_size, saved_register_size;
    uint8_t type;
    bool allocates_base_pointer;
    struct csn_str program;       /* of CSNI_PDB_FRAME_DATA; empty: it cannot be read */
};

/* Both streams, in the order of their code. Where both have an address the frame data is taken. */
struct csni_pdb_frames {
    const struct csni_pdb *pdb;
    struct csni_pdb_bytes fpo, data;
    size_t fpo_off, data_off;
};
/* Close in any case. */
csn_status csni_pdb_frames_open(const struct csni_pdb *pdb, struct csni_pdb_frames *out, struct csn_error *err);
void csni_pdb_frames_close(struct csni_pdb_frames *frames);
bool csni_pdb_next_frame(struct csni_pdb_frames *frames, struct csni_pdb_frame *out);

#endif

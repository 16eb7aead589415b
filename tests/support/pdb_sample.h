/* A program database put together field by field: a module with two functions, one of which has inlined calls and a part that
 * stands elsewhere, an assembler label, and public symbols. */
#ifndef PDB_SAMPLE_H
#define PDB_SAMPLE_H

#include "pdb/pdb.h"
#include "wire/wire_pdb.h"

enum { PDB_TEXT_RVA = 0x1000, PDB_TEXT_SIZE = 0x200, PDB_MOVED_TEXT_SIZE = 0x3000, PDB_SAMPLE_AGE = 3 };
enum { PDB_S_INFO = 1, PDB_S_TPI, PDB_S_DBI, PDB_S_IPI, PDB_S_NAMES, PDB_S_SECTIONS, PDB_S_SYMBOLS, PDB_S_MODULE, PDB_S_OMAP,
       PDB_S_ORIGINAL, PDB_S_LENDER, PDB_S_COUNT };
extern const uint8_t pdb_sample_guid[16];

struct pdb_sample {
    uint16_t machine;         /* 0x8664 */
    bool has_moves;           /* functions were moved after they were linked: main by 0x1000, its second half by 0x2000 */
    bool is_minimal;          /* /DEBUG:FASTLINK */
    bool is_old;              /* counted names, as before Visual C++ 8 */
    bool has_no_module;       /* public symbols only */
    bool imports;             /* the id of square is that of another module */
    bool has_no_ids;          /* the stream of ids is empty */
    bool has_folded;          /* three functions of the code of hidden, of which two have lines */
    bool has_overloads;       /* functions of one code and one name, told apart by their types, and one that only its module sees */
    bool has_endless_type;    /* the pointer that one of these has as parameter points to itself */
    uint32_t twin_line;       /* a second place of area's id, before the first one; its first run is line 0 then */
    uint32_t info_age;        /* 0: as the DBI stream's */
    struct wire_pdb pdb;
    struct wire file;
};

void pdb_sample_init(struct pdb_sample *s);
void pdb_sample_deinit(struct pdb_sample *s);
struct csni_span pdb_sample_build(struct pdb_sample *s);

/* Converts the bytes of a PDB to an index; csn_bytes_free() releases it. */
csn_status pdb_sample_convert(struct csni_span file, const struct csn_allocator *alloc, uint32_t threads,
                              struct csn_bytes *out, struct csn_error *err);
/* The functions of an index: "name START-END" with " OFF:file:line" for rows and " [depth name START-END call
 * file:line]", separated by "; ". */
void pdb_sample_text(struct csn_bytes index, char *text, size_t capacity);

#endif

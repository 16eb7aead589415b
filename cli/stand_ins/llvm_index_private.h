/* What the files of the address index of LLVM's symbolizer share. */
#ifndef CALLSIGN_CLI_LLVM_INDEX_PRIVATE_H
#define CALLSIGN_CLI_LLVM_INDEX_PRIVATE_H

#include "stand_ins/llvm_index.h"
#include "stand_ins/llvm_index_unit.h"

/* The units that requests have needed so far, which answer as the index does. */
struct llvm_index_units {
    struct llvm_module *module;    /* NULL: not begun */
    uint64_t base, size;           /* addresses of code */
    struct address_part part;
    struct address_texts texts;
    uint32_t *range_indexes;       /* of module->ranges, by unit */
    uint32_t *first_range;         /* by unit, in `range_indexes`; two more than there are units */
    uint32_t *chunks;              /* of the part, by range; ADDRESS_NONE: none */
    bool *is_added;                /* by unit */
};

struct llvm_index {
    char *object_path;
    char *path;              /* of the kept file; NULL: there is no cache folder */
    struct file_identity object;
    enum llvm_path_kind paths;
    struct address_index *index; /* NULL: none */
    struct llvm_index_units units;
    uint32_t requests;       /* that the object was asked for */
    bool is_given_up;
};

/* False: the module is not one that is indexed. */
bool llvm_index_units_begin(struct llvm_index_units *units, struct llvm_module *module);
void llvm_index_units_free(struct llvm_index_units *units);
/* What is at an address; the unit is read where that has not been done. False: the module has to be asked. */
bool llvm_index_units_find(struct llvm_index_units *units, enum llvm_path_kind paths, uint64_t addr, struct address_place *out);

/* Adds the units that are missing, in several threads, and makes the index of all. NULL: it cannot be made. Afterwards the units have ended. */
struct address_index *llvm_index_make(struct llvm_index *index);

#endif

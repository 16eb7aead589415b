/* What the files of the address index of LLVM's symbolizer share. */
#ifndef CALLSIGN_CLI_LLVM_INDEX_PRIVATE_H
#define CALLSIGN_CLI_LLVM_INDEX_PRIVATE_H

#include <stdatomic.h>

#include "stand_ins/address_index/kept_index.h"
#include "stand_ins/llvm_symbolizer/llvm_index.h"
#include "stand_ins/llvm_symbolizer/llvm_index_unit.h"

enum { LLVM_INDEX_MAX_WORKERS = 8 };

struct llvm_index_worker {
    struct llvm_index_units *units;
    struct llvm_module *module;    /* its own, opened when it begins; of the first, that of the session */
    struct address_part part;
};

/* The units that requests have needed so far, which answer as the index does. */
struct llvm_index_units {
    const char *object_path;
    enum llvm_path_kind paths;
    struct llvm_module *module;    /* NULL: not begun */
    uint64_t base, size;           /* addresses of code */
    struct llvm_index_worker workers[LLVM_INDEX_MAX_WORKERS];
    size_t worker_count;
    struct address_texts texts;
    uint32_t *range_indexes;       /* of module->ranges, by unit */
    uint32_t *first_range;         /* by unit, in `range_indexes`; two more than there are units */
    uint32_t *chunks;              /* of the part of the unit's worker, by range; ADDRESS_NONE: none */
    uint8_t *added_by;             /* by unit: the worker, counted from 1; 0: not added; or LLVM_UNIT_UNREADABLE */
    bool *wanted;                  /* by unit: to be added */
    uint64_t *addrs;               /* ascending: that are asked for while units are added; NULL: all */
    size_t addr_count;
    bool is_partial;               /* functions at other addresses were not read */
    atomic_uint next_unit;
};
enum { LLVM_UNIT_UNREADABLE = UINT8_MAX };

struct llvm_index {
    struct kept_index kept;
    enum llvm_path_kind paths;
    struct llvm_index_units units;
    bool had_batch;          /* of addresses that arrived together */
    uint32_t requests;       /* that the object was asked for */
};

/* False: the module is not one that is indexed. */
bool llvm_index_units_begin(struct llvm_index *index, struct llvm_module *module);
void llvm_index_units_free(struct llvm_index_units *units);
/* Forgets units of which a part was read, so that they are read as a whole. False: there are none. */
bool llvm_index_units_restart(struct llvm_index *index);
/* What is at an address; the unit is read where that has not been done. False: the module has to be asked. */
bool llvm_index_units_find(struct llvm_index_units *units, uint64_t addr, struct address_place *out);
/* The part that has the scopes of a place. */
const struct address_part *llvm_index_units_part(const struct llvm_index_units *units, uint64_t addr);
/* Adds the units that are wanted, in several threads. */
void llvm_index_units_add(struct llvm_index_units *units);

/* Adds the units that are missing and makes the index of all. NULL: it cannot be made. Afterwards the units have ended. */
struct address_index *llvm_index_make(struct llvm_index *index, const char *path);

#endif

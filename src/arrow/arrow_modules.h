/* The modules of a batch: each distinct id is looked for in the store once. */
#ifndef CSNI_ARROW_MODULES_H
#define CSNI_ARROW_MODULES_H

#include "arrow/arrow_column.h"
#include "arrow/arrow_strings.h"
#include "base/core/vec.h"

struct csni_arrow_modules {
    const struct csn_allocator *alloc;
    struct csn_store *store;
    CSNI_VEC(struct csn_module) list; /* module 0 has no index: of rows whose address is null */
    struct csni_arrow_strings ids;    /* the distinct ids so far */
    CSNI_VEC(uint32_t) of_id;         /* id number to module number */
    CSNI_VEC(size_t) refusals;        /* by module number: where in `texts` it stands why an index was refused; 0: none was */
    CSNI_VEC(char) texts;
    struct csn_store_explanation *explanation;
    uint32_t *of_entry;               /* dictionary entry to module number, UINT32_MAX: not looked for yet; NULL: no dictionary */
    size_t entry_count;
};

/* `store` may be NULL: every module is without an index then. */
csn_status csni_arrow_modules_init(struct csni_arrow_modules *m, const struct csn_allocator *alloc, struct csn_store *store,
                                   struct csn_error *err);
void csni_arrow_modules_deinit(struct csni_arrow_modules *m);

/* Adds a module with an index of the caller's. */
csn_status csni_arrow_modules_add(struct csni_arrow_modules *m, const struct csn_index *index, uint32_t *out,
                                  struct csn_error *err);

/* Why the store refused an index of the module: "PATH: reason". NULL: it refused none. */
const char *csni_arrow_modules_refusal(const struct csni_arrow_modules *m, uint32_t module);

/* The module of each row into out[row]; 0: its id is null. `ids` are the same for all calls with one `m`. */
csn_status csni_arrow_modules_resolve(struct csni_arrow_modules *m, const struct csni_arrow_ids *ids, int64_t rows, uint32_t *out,
                                      struct csn_error *err);

#endif

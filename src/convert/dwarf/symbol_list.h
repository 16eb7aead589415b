/* The functions that an image's symbol table names, in order of address, for units of which nothing else tells the
 * functions. */
#ifndef CSNI_SYMBOL_LIST_H
#define CSNI_SYMBOL_LIST_H

#include "convert/conversion.h"

struct csni_listed_symbol {
    uint64_t addr;
    struct csn_str name;  /* a view into the object's strings */
    uint32_t size;        /* not 0 */
    uint32_t order;       /* place in the symbol table */
    bool weak, local;
};

/* Of symbols of one start and size only the last in the symbol table is listed: the one that a conversion from symbols
 * alone would show. Where functions are merged, it is one that is no second name. */
struct csni_symbol_list {
    CSNI_VEC(struct csni_listed_symbol) items;
};

/* From the image's own symbol table, else that of its debug file, which may be NULL, else from what the image exports. */
csn_status csni_symbol_list_read(struct csni_symbol_list *list, struct csni_conversion *c, struct csni_object *debug,
                                 struct csn_error *err);
void csni_symbol_list_deinit(struct csni_symbol_list *list);
/* Index of the first at or after `addr`. */
size_t csni_symbol_list_find(const struct csni_symbol_list *list, uint64_t addr);

#endif

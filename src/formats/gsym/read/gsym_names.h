/* The name table at the end of a GSYM file. */
#ifndef CSNI_GSYM_NAMES_H
#define CSNI_GSYM_NAMES_H

#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym.h"

struct csni_gsym_names {
    const uint8_t *entries;
    uint32_t count;
    bool big;
};

/* False: the file has none. */
bool csni_gsym_find_names(struct csni_span file, bool big, struct csni_gsym_names *out);
/* Number of the first entry of a name's hash; the entries of that hash follow. */
uint32_t csni_gsym_names_first(const struct csni_gsym_names *names, struct csn_str name);
/* The function of entry `i`, if it is one of the hash of `name`. A hash says little: compare the name. */
bool csni_gsym_names_at(const struct csni_gsym_names *names, uint32_t i, struct csn_str name, uint32_t *function);

/* ---- making one ---- */

struct csni_gsym_name_entry {
    uint32_t hash, function;
};
static inline struct csni_gsym_name_entry csni_gsym_name_entry(struct csn_str name, uint32_t function) {
    return (struct csni_gsym_name_entry){ csni_gsym_name_hash(name.ptr, name.len), function };
}
/* Sorts the entries, and writes the table of them. */
void csni_gsym_names_put(struct csni_gsym_name_entry *entries, uint32_t count, bool big, uint8_t *p);

/* Makes the table of a file again and compares: a problem where it has other entries. CSN_OK with *out_equal, the problem in
 * *problem; CSN_E_MEMORY in *err. After csni_gsym_verify(): what it tells of records is not told again. */
csn_status csni_gsym_names_verify(const struct csni_gsym *gsym, const struct csn_allocator *allocator, bool *out_equal,
                                  struct csn_error *problem, struct csn_error *err);

#endif

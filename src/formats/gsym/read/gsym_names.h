/* The name table at the end of a GSYM file. */
#ifndef CSNI_GSYM_NAMES_H
#define CSNI_GSYM_NAMES_H

#include "base/core/span.h"

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

#endif

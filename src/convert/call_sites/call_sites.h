/* Call sites of all functions, from names of callees to what is written. */
#ifndef CSNI_CALL_SITES_H
#define CSNI_CALL_SITES_H

#include "convert/call_sites/call_site_file.h"
#include "convert/dwarf/name_table.h"

/* Sets the flags of call sites, adds the ends of tail calls and what files give, and makes patterns of names. */
csn_status csni_finish_call_sites(struct csni_conversion *c, const struct csni_name_table *table,
                                  const struct csni_given_sites *given, struct csn_error *err);

/* ---- names that the image has from others (undefined_names.c) ---- */

struct csni_undefined_names {
    CSNI_VEC(uint64_t) hashes; /* ascending */
};
csn_status csni_undefined_names_read(struct csni_undefined_names *names, const struct csni_conversion *c,
                                     struct csn_error *err);
bool csni_undefined_names_have(const struct csni_undefined_names *names, struct csn_str name);

/* ---- where tail calls lead (tail_calls.c) ---- */

struct csni_tail_call {
    uint64_t hash;             /* of the name of the function that makes it */
    struct csn_str callee;     /* empty: not known */
    uint32_t batch, site;      /* for the order */
};
struct csni_tail_calls {
    CSNI_VEC(struct csni_tail_call) items; /* by hash, then in order of input */
};
csn_status csni_tail_calls_find(struct csni_tail_calls *calls, const struct csni_conversion *c, struct csn_error *err);
enum { CSNI_TAIL_ENDS_MAX = 8 };
/* Names of functions that run in place of `name` when it was called: those that it calls last, and so on. 0: none, or they
 * cannot all be told. */
size_t csni_tail_calls_ends(const struct csni_tail_calls *calls, struct csn_str name,
                            struct csn_str out[CSNI_TAIL_ENDS_MAX]);

#endif

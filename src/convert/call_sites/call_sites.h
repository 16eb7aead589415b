/* Call sites of all functions, from names of callees to what is written. */
#ifndef CSNI_CALL_SITES_H
#define CSNI_CALL_SITES_H

#include "convert/call_sites/call_site_file.h"
#include "convert/call_sites/name_table.h"

/* Sets the flags of call sites, adds the ends of tail calls and what files give, and makes patterns of names. */
csn_status csni_finish_call_sites(struct csni_conversion *c, const struct csni_name_table *table,
                                  const struct csni_given_sites *given, struct csn_error *err);

#endif

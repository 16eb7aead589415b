/* Punycode (RFC 3492), as Rust's names use it. */
#ifndef CSNI_PUNYCODE_H
#define CSNI_PUNYCODE_H

#include "names/name_text.h"

/* "gdel_5qa": text before the last '_' is as it is, the rest codes where other characters go. Names of more than 256 characters are
 * written as "punycode{gdel-5qa}". False: damaged. */
bool csni_put_punycode(struct csni_name_text *out, struct csn_str coded);

#endif

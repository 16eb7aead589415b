/* Punycode (RFC 3492), as names of Rust and Swift use it. */
#ifndef CSNI_PUNYCODE_H
#define CSNI_PUNYCODE_H

#include "names/name_text.h"

/* "gdel_5qa": text before the last '_' is as it is, the rest codes where other characters go. Names of more than 256 characters are
 * written as "punycode{gdel-5qa}". False: damaged. */
bool csni_put_punycode(struct csni_name_text *out, struct csn_str coded);

/* Swift's form: the digits after 'z' are 'A' to 'J', and ASCII characters that no identifier has are moved up by
 * 0xD800. False: damaged, or more than 256 characters. */
bool csni_put_swift_punycode(struct csni_name_text *out, struct csn_str coded);

#endif

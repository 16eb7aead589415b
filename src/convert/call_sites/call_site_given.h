/* Call sites that files give, gathered; and the words that the forms of these files share. */
#ifndef CSNI_CALL_SITE_GIVEN_H
#define CSNI_CALL_SITE_GIVEN_H

#include "base/arena.h"
#include "base/core/vec.h"

#include <callsign/convert.h>

struct csni_given_pattern {
    struct csn_str text;
    bool is_name;            /* a function's name; else a regular expression that is searched for */
};

/* One call site of a file. */
struct csni_given_site {
    struct csn_str function;
    uint64_t return_off;
    uint32_t flags;          /* CSN_CALL_SITE_INTERNAL and EXTERNAL */
    uint32_t line;           /* of the file */
    uint32_t file;           /* number of the file */
    size_t first_pattern, pattern_count; /* in `patterns` */
};

struct csni_given_sites {
    CSNI_VEC(struct csni_given_site) sites;
    CSNI_VEC(struct csni_given_pattern) patterns;
    struct csni_arena *arena; /* of strings */
};

csn_status csni_given_add_site(struct csni_given_sites *out, const struct csni_given_site *site, struct csn_error *err);
/* A pattern of the last site; the text is copied. */
csn_status csni_given_add_pattern(struct csni_given_sites *out, struct csn_str text, bool is_name, struct csn_error *err);
/* Decimal, 0x, 0b, 0o and a leading 0, as the reference tool reads numbers. */
bool csni_call_site_number(struct csn_str text, uint64_t *out);
/* CSN_CALL_SITE_ of "InternalCall" and "ExternalCall", of "internal" and "external" with `plain`; 0: no flag. */
uint32_t csni_call_site_flag(struct csn_str text, bool plain);

#endif

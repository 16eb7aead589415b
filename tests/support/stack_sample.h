/* Small indexes with merged functions and call sites, and stacks over them, for tests. */
#ifndef STACK_SAMPLE_H
#define STACK_SAMPLE_H

#include <callsign/symbolicate.h>

#include "wire/wire_gsym.h"

/* A function's part of call sites: each with patterns up to a NULL. */
struct sample_site {
    uint64_t return_offset;
    uint8_t flags;
    const char *patterns[4];
};
void sample_sites(struct wire_gsym *g, struct wire *parts, const struct sample_site *sites, unsigned count);

/* Functions folded into one that wire_gsym_function() made. */
struct sample_merged {
    const char *name;
    const struct sample_site *sites;
    unsigned site_count;
    uint32_t line; /* of its only row; 0: no line table */
};
void sample_merge(struct wire_gsym *g, struct wire_gsym_function *into, const struct sample_merged *merged,
                  unsigned count);

struct csn_index *sample_open(struct wire_gsym *g);

/* "NAME" where it is the only one; "NAME<caller@FRAME PATTERN", "<outer@...", "<pattern@..."; "A|B?" for what remains; "-" where
 * nothing is known, all joined by spaces. */
void sample_describe(const struct csn_stack_answer *answers, size_t count, char *out, size_t cap);

#endif

/* The units of a .debug_info that inflates in portions, converted by all workers meanwhile. */
#ifndef CSNI_UNIT_STREAM_H
#define CSNI_UNIT_STREAM_H

#include "convert/dwarf/info_portions.h"
#include "convert/dwarf/lone_lines.h"
#include "convert/dwarf/unit_workers.h"

struct csni_unit_stream;

/* `portions` are closed by their owner, after the stream. */
csn_status csni_unit_stream_create(struct csni_conversion *c, struct csni_info_portions *portions,
                                   struct csni_unit_stream **out, struct csn_error *err);
void csni_unit_stream_destroy(struct csni_unit_stream *stream); /* NULL is fine */

/* What else has to be read: items of a parallel loop, of which the first should be the longest. Units are looked at when all of
 * them are done, which leave their bytes in `sections`; .debug_info inflates meanwhile. */
struct csni_other_sections {
    csni_pool_task *read;
    void *context;
    size_t count;
    const struct csni_dwarf_sections *sections;
    void (*forget_lines)(void *context, uint64_t begin, uint64_t end); /* this part of .debug_line is not read again; any thread; or NULL */
    struct csni_line_claims *claims; /* gets what units name; with forget_lines the tables, too, before any is forgotten */
};

/* Converts units until there are no more, or one of a portion refers to anything outside of itself or to line tables that were
 * given back, or what comes next cannot be inflated in portions: then the section has to be read as a whole, for the units from
 * *until on, and .debug_line again. Adds their batches and reports them. The other sections are read in any case. */
csn_status csni_unit_stream_run(struct csni_unit_stream *stream, struct csni_unit_workers *workers,
                                const struct csni_other_sections *others, uint64_t *until, struct csn_error *err);

#endif

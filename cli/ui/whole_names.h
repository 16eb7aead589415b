/* Names of functions that an index keeps in pieces (BSYM: prefixes and tokens), put together, one at a time or kept. */
#ifndef CALLSIGN_CLI_WHOLE_NAMES_H
#define CALLSIGN_CLI_WHOLE_NAMES_H

#include <stdbool.h>

#include <callsign/index.h>

/* Memory for one name at a time. All zeros at first; free(bytes) at the end. */
struct name_scratch {
    char *bytes;
    size_t size;
};
/* The whole name of function `idx`; lives until the next call. False: out of memory. */
bool name_scratch_read(struct name_scratch *scratch, const struct csn_index *index, uint32_t idx, struct csn_str *name);

struct name_chunk;

struct whole_names {
    const struct csn_index *index;
    bool in_pieces;            /* its format keeps names so */
    struct name_chunk *chunks; /* the newest first */
};

void whole_names_init(struct whole_names *names, const struct csn_index *index);
void whole_names_deinit(struct whole_names *names);

/* *name: what csn_record_function() says of function `idx`; becomes the whole name, which lives as long as `names`. False:
 * out of memory. */
bool whole_names_read(struct whole_names *names, uint32_t idx, struct csn_str *name);

#endif

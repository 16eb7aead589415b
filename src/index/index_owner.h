/* Open indexes that own their bytes: for the layer that opens what an index has to be made from first. */
#ifndef CSNI_INDEX_OWNER_H
#define CSNI_INDEX_OWNER_H

#include <callsign/index.h>

#include "base/core/file_map.h"
#include "base/core/span.h"

/* csn_index_close() releases what the index was opened over with csn_index_open_memory(). */
void csni_index_own_map(struct csn_index *index, const struct csni_file_map *map);
void csni_index_own_bytes(struct csn_index *index, const struct csn_bytes *bytes);

/* Whether the bytes are those of an object file that carries an index. */
bool csni_index_is_embedded(struct csni_span bytes, const char *arch);

#endif

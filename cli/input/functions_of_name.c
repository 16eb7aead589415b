/* Asking again with more room. */
#define _GNU_SOURCE
#include "input/functions_of_name.h"

#include <stdlib.h>

csn_status functions_of_name(const struct csn_index *index, struct csn_str name, uint32_t **out, size_t *count,
                             struct csn_error *err) {
    enum { USUAL_COUNT = 64 };
    *out = NULL;
    *count = 0;
    if (!name.len) return CSN_NONE;
    for (size_t room = USUAL_COUNT;; room = *count) {
        uint32_t *found = reallocarray(NULL, room, sizeof(*found));
        if (!found) return CSN_E_MEMORY;
        csn_status status = csn_index_find_name(index, name, found, room, count, err);
        if (status >= 0 && *count <= room) {
            *out = found;
            return status;
        }
        free(found);
        if (status < 0) return status;
    }
}

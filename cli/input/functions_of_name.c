/* Asking again with more room. */
#define _GNU_SOURCE
#include "input/functions_of_name.h"

#include <stdlib.h>

uint32_t *functions_of_name(const struct csn_index *index, struct csn_str name, size_t *count) {
    enum { USUAL_COUNT = 64 };
    for (size_t room = USUAL_COUNT;; room = *count) {
        uint32_t *found = reallocarray(NULL, room, sizeof(*found));
        if (!found) return NULL;
        if (csn_index_find_name(index, name, found, room, count, NULL) != CSN_OK) *count = 0;
        if (*count <= room) return found;
        free(found);
    }
}

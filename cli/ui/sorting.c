/* Bytes first, then sizes. */
#include "ui/sorting.h"

#include <string.h>

int compare_strings(struct csn_str a, struct csn_str b) {
    size_t size = a.len < b.len ? a.len : b.len;
    int order = size ? memcmp(a.ptr, b.ptr, size) : 0;
    if (order) return order;
    return (a.len > b.len) - (a.len < b.len);
}

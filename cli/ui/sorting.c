/* Comparing strings, growing arrays. */
#define _GNU_SOURCE
#include "ui/sorting.h"

#include <stdlib.h>
#include <string.h>

int compare_strings(struct csn_str a, struct csn_str b) {
    size_t size = a.len < b.len ? a.len : b.len;
    int order = size ? memcmp(a.ptr, b.ptr, size) : 0;
    if (order) return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool reserve_items(void *items_pointer, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) return true;
    void *items;
    memcpy(&items, items_pointer, sizeof(items));
    size_t larger = need > *capacity * 2 ? need : *capacity * 2;
    void *made = reallocarray(items, larger, size);
    if (!made) return false;
    memcpy(items_pointer, &made, sizeof(made));
    *capacity = larger;
    return true;
}

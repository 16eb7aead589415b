/* Addresses where answers may change. */
#include "stand_ins/address_index/address_bounds.h"

#include <stdlib.h>

static int by_number(const void *pa, const void *pb) {
    const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

size_t sort_addresses(uint64_t *addrs, size_t count) {
    size_t kept = 0;
    if (count) qsort(addrs, count, sizeof *addrs, by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || addrs[kept - 1] != addrs[i]) addrs[kept++] = addrs[i];
    return kept;
}

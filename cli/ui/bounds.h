/* Binary search among elements that ascend by a field of 64 bits. Where they do not, some index of the range comes out. */
#ifndef CALLSIGN_CLI_BOUNDS_H
#define CALLSIGN_CLI_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bound_field {
    const void *items;
    size_t stride, offset;
};

/* How many of the elements have a field below the key, or with `equal_too` at it. */
static inline size_t find_bound(struct bound_field field, size_t count, uint64_t key, bool equal_too) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t value;
        memcpy(&value, (const char *)field.items + middle * field.stride + field.offset, sizeof(value));
        if (value < key || (equal_too && value == key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Fields of other types do not compile. */
#define BOUND_FIELD(items, field)                                                                                      \
    ((struct bound_field){ (items), sizeof(*(items)),                                                                  \
                           offsetof(__typeof__(*(items)), field) + 0 * _Generic((items)->field, uint64_t: 1) })

/* The index of the first whose field is not below the key; of the first whose field is above it. */
#define LOWER_BOUND(items, count, field, key) find_bound(BOUND_FIELD(items, field), (count), (key), false)
#define UPPER_BOUND(items, count, field, key) find_bound(BOUND_FIELD(items, field), (count), (key), true)

#endif

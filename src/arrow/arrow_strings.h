/* The distinct strings of a column: what becomes a dictionary, or the values themselves. */
#ifndef CSNI_ARROW_STRINGS_H
#define CSNI_ARROW_STRINGS_H

#include "arrow/arrow_node.h"
#include "base/core/vec.h"

#define CSNI_ARROW_NULL UINT32_MAX

struct csni_arrow_strings {
    const struct csn_allocator *alloc;
    CSNI_VEC(char) bytes;
    CSNI_VEC(uint64_t) ends;     /* of string k, which begins where the one before ends */
    CSNI_VEC(uint64_t) hashes;
    uint32_t *slots;             /* hash table: number + 1; 0: free */
    size_t slot_count;
};

void csni_arrow_strings_init(struct csni_arrow_strings *s, const struct csn_allocator *alloc);
void csni_arrow_strings_deinit(struct csni_arrow_strings *s);

/* The number of a string, equal ones have one. CSN_E_LIMIT: more than 2^31 - 1 bytes or strings. */
csn_status csni_arrow_strings_add(struct csni_arrow_strings *s, struct csn_str text, uint32_t *out, struct csn_error *err);

/* An array whose value k is string numbers[k]; CSNI_ARROW_NULL: null. With dictionary: indices of all strings. */
csn_status csni_arrow_strings_array(const struct csni_arrow_strings *s, const uint32_t *numbers, int64_t count,
                                    bool with_dictionary, struct ArrowArray *out, struct csn_error *err);

#endif

/* A multiple of the file. */
#include "input/read_budget.h"

#include <stdio.h>

enum { SHARED_TIMES = 32, SHARED_FREE = 1 << 20 };

static uint64_t file_size_of(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.file_size;
}

uint64_t read_budget_of(const struct csn_index *index) { return (file_size_of(index) + SHARED_FREE) * SHARED_TIMES; }

bool read_budget_spend(uint64_t *left, uint64_t count) {
    bool enough = *left > count;
    *left = enough ? *left - count : 0;
    return enough;
}

csn_status read_budget_fail(const struct csn_index *index, struct csn_error *err) {
    *err = (struct csn_error)CSN_ERROR_INIT;
    snprintf(err->text, sizeof(err->text),
             "functions share names or records: together they have more than %llu bytes, the limit for a file of %llu bytes",
             (unsigned long long)read_budget_of(index), (unsigned long long)file_size_of(index));
    return CSN_E_LIMIT;
}

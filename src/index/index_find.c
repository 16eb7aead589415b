/* Functions by name. */
#include "index/index_private.h"

#include <callsign/inspect.h>

#include "base/core/alloc.h"
#include "base/core/budget.h"
#include "base/core/fail.h"
#include "formats/gsym/read/gsym_names.h"

enum { NAMES_SHARING = 32, NAMES_BASE = 1 << 25 };

/* One search. Functions are kept in ascending order. */
struct name_search {
    const struct csn_index *index;
    struct csn_str name;
    uint32_t *functions;
    size_t cap, count;
    char *scratch;           /* for names in pieces, of the size of `name`: no other is equal; NULL: the index has none */
    struct csni_budget names; /* bytes of those that may be read: functions of a hostile index share a long name, or records */
};

static void keep_function(struct name_search *search, uint32_t idx) {
    if (search->count < search->cap) search->functions[search->count] = idx;
    search->count++;
}

/* `cost`: bytes that were read for it. */
static bool is_wanted(struct name_search *search, struct csn_str name, uint64_t cost) {
    return csni_budget_charge(&search->names, cost) && csni_str_equal(name, search->name);
}

static bool merged_has_name(struct name_search *search, uint32_t idx) {
    struct csn_record record, merged;
    struct csn_merged_iter iter;
    struct csn_function function;
    if (csn_index_record(search->index, idx, &record, NULL) != CSN_OK) return false;
    if (csn_merged_iter_init(&iter, search->index, &record, NULL) != CSN_OK) return false;
    while (csn_merged_iter_next(&iter, &merged, NULL) == CSN_OK && !csni_budget_is_exhausted(&search->names))
        if (csn_record_function(search->index, &merged, &function, NULL) == CSN_OK &&
            is_wanted(search, function.name, 1 + function.name.len))
            return true;
    return false;
}

static bool has_name(struct name_search *search, uint32_t idx) {
    struct csn_function function;
    if (csn_index_function(search->index, idx, &function, NULL) != CSN_OK) return false;
    uint64_t cost = 1 + function.name.len + function.record_size;
    if (search->scratch && !function.name.len) {
        const struct csn_frame_ref ref = { .name = idx };
        struct csn_frame frame;
        cost += csn_index_resolve_into(search->index, &ref, search->scratch, search->name.len, &frame);
        function.name = frame.name; /* empty if it is larger */
    }
    return is_wanted(search, function.name, cost) || (function.has_merged && merged_has_name(search, idx));
}

/* By the name table. False: the index has none. */
static bool find_in_table(struct name_search *search, uint32_t function_count) {
    struct csni_gsym_names names;
    uint32_t function, last = UINT32_MAX;
    const struct csn_index *index = search->index;
    if (index->format != &csni_index_gsym || !csni_gsym_find_names(index->gsym.bytes, index->gsym.big, &names)) return false;
    for (uint32_t i = csni_gsym_names_first(&names, search->name); csni_gsym_names_at(&names, i, search->name, &function); i++) {
        if (csni_budget_is_exhausted(&search->names)) break;
        if (function == last || function >= function_count || !has_name(search, function)) continue;
        keep_function(search, function);
        last = function;
    }
    return true;
}

csn_status csni_index_find_name(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap,
                                size_t *out_count, struct csn_error *err) {
    struct name_search search = { .index = index, .name = name, .functions = functions, .cap = cap };
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof info);
    search.names = csni_budget_for(NAMES_BASE, info.file_size, NAMES_SHARING);
    if (!name.len) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the name is empty");
    if (info.format == CSN_FORMAT_BSYM) {
        search.scratch = csni_alloc(index->allocator, name.len);
        if (!search.scratch) return csni_fail_memory(err, name.len);
    }
    bool by_table = find_in_table(&search, info.function_count);
    for (uint32_t i = 0; !by_table && i < info.function_count && !csni_budget_is_exhausted(&search.names); i++)
        if (has_name(&search, i)) keep_function(&search, i);
    csni_free(index->allocator, search.scratch, name.len);
    if (csni_budget_is_exhausted(&search.names))
        return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                         "functions share names or records: together they have more than %llu bytes, the limit for a "
                         "file of %llu bytes",
                         (unsigned long long)search.names.limit, (unsigned long long)info.file_size);
    *out_count = search.count;
    return search.count ? CSN_OK : CSN_NONE;
}

csn_status csn_index_find_name(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap,
                               size_t *out_count, struct csn_error *err) {
    return (index->format->find_name ? index->format->find_name : csni_index_find_name)(index, name, functions, cap,
                                                                                        out_count, err);
}

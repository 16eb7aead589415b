/* Checking the name table of a file: made again of the names in the records, it has the same bytes. */
#include "formats/gsym/read/gsym_names.h"

#include "base/core/budget.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/core/vec.h"
#include "formats/gsym/gsym_layout.h"

static const char names_name[] = "name table";

struct gathering {
    const struct csni_gsym *gsym;
    struct csni_budget budget; /* bytes of names and of lists: functions of a hostile file share them */
    CSNI_VEC(struct csni_gsym_name_entry) entries;
    bool no_memory;
};

/* False: it is of no use to go on. */
static bool add_name(struct gathering *g, const struct csni_gsym_record *record, uint32_t function) {
    struct csn_str name = csni_gsym_string(g->gsym, record->name);
    if (!csni_budget_charge(&g->budget, name.len + 1)) return false;
    g->no_memory = !csni_vec_push(&g->entries, csni_gsym_name_entry(name, function));
    return !g->no_memory;
}

static bool add_function(struct gathering *g, uint32_t function) {
    struct csni_gsym_record record, merged;
    struct csni_gsym_payload part;
    struct csni_gsym_list list;
    if (csni_gsym_record(g->gsym, function, &record, NULL) < 0 || !add_name(g, &record, function)) return false;
    csn_status status = csni_gsym_part_find(g->gsym, &record, CSNI_GSYM_PART_MERGED, &part, NULL);
    if (status != CSN_OK) return status == CSN_NONE;
    if (!csni_budget_charge(&g->budget, part.bytes.size) || csni_gsym_list_open(&list, g->gsym, &part, NULL) < 0) return false;
    while ((status = csni_gsym_merged_next(g->gsym, &list, record.start, &merged, NULL)) == CSN_OK)
        if (!add_name(g, &merged, function)) return false;
    return status == CSN_NONE;
}

static void compare_tables(const struct gathering *g, const struct csni_gsym_names *names, const uint8_t *made,
                           struct csn_error *problem) {
    uint32_t i = 0;
    const uint8_t *stored = names->entries;
    for (; i < names->count && !memcmp(stored, made, CSNI_GSYM_NAMES_ENTRY); i++) {
        stored += CSNI_GSYM_NAMES_ENTRY;
        made += CSNI_GSYM_NAMES_ENTRY;
    }
    uint64_t at = (uint64_t)(stored - g->gsym->bytes.ptr);
    if (i == names->count)
        csni_fail(problem, CSN_E_FORMAT, names_name, at + 8, "0x%x before the magic number, need 0",
                  csni_get32(stored + 8, names->big));
    else
        csni_fail(problem, CSN_E_FORMAT, names_name, at,
                  "entry %u is 0x%08x of function %u, need 0x%08x of function %u as the names have it", i,
                  csni_get32(stored, names->big), csni_get32(stored + 4, names->big), g->entries.items[i].hash,
                  g->entries.items[i].function);
}

static csn_status compare_names(const struct gathering *g, const struct csni_gsym_names *names, bool *out_equal,
                                struct csn_error *problem, struct csn_error *err) {
    *out_equal = g->entries.count == names->count;
    if (!*out_equal) {
        csni_fail(problem, CSN_E_FORMAT, names_name, (uint64_t)(names->entries - g->gsym->bytes.ptr),
                  "%u entries, need %zu as functions have names", names->count, g->entries.count);
        return CSN_OK;
    }
    size_t size = (size_t)names->count * CSNI_GSYM_NAMES_ENTRY + CSNI_GSYM_NAMES_TRAILER;
    uint8_t *made = csni_alloc(g->entries.alloc, size);
    if (!made) return csni_fail_memory(err, size);
    csni_gsym_names_put(g->entries.items, names->count, names->big, made);
    *out_equal = !memcmp(made, names->entries, size);
    if (!*out_equal) compare_tables(g, names, made, problem);
    csni_free(g->entries.alloc, made, size);
    return CSN_OK;
}

csn_status csni_gsym_names_verify(const struct csni_gsym *gsym, const struct csn_allocator *allocator, bool *out_equal,
                                  struct csn_error *problem, struct csn_error *err) {
    struct csni_gsym_names names;
    *out_equal = true;
    if (!csni_gsym_find_names(gsym->bytes, gsym->big, &names)) return CSN_OK;
    struct gathering g = { .gsym = gsym, .entries.alloc = allocator };
    g.budget = csni_budget_for((uint64_t)CSNI_GSYM_SHARED_FREE * CSNI_GSYM_SHARED_TIMES, gsym->bytes.size, CSNI_GSYM_SHARED_TIMES);
    uint32_t idx = 0;
    while (idx < gsym->address_count && add_function(&g, idx)) idx++;
    csn_status status = CSN_OK;
    if (g.no_memory) {
        status = csni_fail_memory(err, (g.entries.count + 1) * sizeof *g.entries.items);
    } else if (csni_budget_is_exhausted(&g.budget)) {
        *out_equal = false;
        csni_fail(problem, CSN_E_LIMIT, names_name, (uint64_t)(names.entries - gsym->bytes.ptr),
                  "names share bytes: need no more than %d times as many as the file has", CSNI_GSYM_SHARED_TIMES);
    } else if (idx == gsym->address_count) {
        status = compare_names(&g, &names, out_equal, problem, err);
    }
    csni_vec_deinit(&g.entries);
    return status;
}

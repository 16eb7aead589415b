/* Walking every table that a lookup consults. Damage shows as what could not be counted. */
#include "explain_find.h"

#include <string.h>

/* Functions are in address order: entries up to `addr`. */
static uint32_t count_up_to(const struct csn_index *index, uint32_t count, uint64_t addr) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct csn_function function;
        bool good = csn_index_function(index, middle, &function, NULL) == CSN_OK;
        /* A damaged record hides its start; those around it do not. */
        if (good && function.start <= addr) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void find_neighbours(const struct csn_index *index, struct explanation *out) {
    uint32_t up_to = count_up_to(index, out->info.function_count, out->addr);
    out->has_before = up_to > 0 && csn_index_function(index, up_to - 1, &out->before, NULL) == CSN_OK;
    out->has_after = up_to < out->info.function_count && csn_index_function(index, up_to, &out->after, NULL) == CSN_OK;
}

static void find_row(const struct csn_index *index, const struct csn_record *record, struct explanation *out) {
    struct csn_row_iter iter;
    struct csn_row row;
    if (csn_row_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK) {
        if (!out->row_count++) {
            out->first_row = row;
            out->has_first_row = true;
        }
        if (row.addr > out->addr) continue;
        out->row = row;
        out->has_row = true;
    }
    if (out->has_row) csn_index_file(index, out->row.file, &out->row_directory, &out->row_base, NULL);
}

static void count_inlines(const struct csn_index *index, const struct csn_record *record, struct explanation *out) {
    static struct csn_inline_iter iter;
    struct csn_inline_node node;
    if (csn_inline_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (csn_inline_iter_next(&iter, &node, NULL) == CSN_OK)
        if (node.depth) out->inline_count++;
}

static void find_merged(const struct csn_index *index, const struct csn_record *record, struct explanation *out) {
    struct csn_merged_iter iter;
    struct csn_record child;
    struct csn_function function;
    if (csn_merged_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (csn_merged_iter_next(&iter, &child, NULL) == CSN_OK) {
        if (csn_record_function(index, &child, &function, NULL) != CSN_OK) return;
        if (out->merged_count < EXPLAIN_NAMES) out->merged[out->merged_count] = function.name;
        out->merged_count++;
    }
}

static void find_sites(const struct csn_index *index, const struct csn_record *record, struct explanation *out) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK) {
        out->site_count++;
        if (record->start + site.return_offset != out->addr) continue;
        out->has_site = true;
        out->site_flags |= site.flags;
        for (uint32_t k = 0; k < site.pattern_count && out->pattern_count < EXPLAIN_PATTERNS; k++)
            if (csn_call_site_pattern(index, &site, k, &out->patterns[out->pattern_count], NULL) == CSN_OK)
                out->pattern_count++;
    }
}

void explain_find(const struct csn_index *index, uint64_t addr, struct explanation *out) {
    struct csn_frame_ref refs[EXPLAIN_FRAMES];
    struct csn_record record;
    memset(out, 0, sizeof(*out));
    out->addr = addr;
    csn_index_get_info(index, &out->info);
    find_neighbours(index, out);
    out->status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, EXPLAIN_FRAMES, &out->found, &out->err);
    if (out->status != CSN_OK) return;
    if (out->found.frame_count > EXPLAIN_FRAMES) out->found.frame_count = EXPLAIN_FRAMES;
    for (size_t i = 0; i < out->found.frame_count; i++) csn_index_resolve(index, &refs[i], &out->frames[i]);
    if (csn_index_record(index, out->found.function_index, &record, NULL) != CSN_OK) return;
    if (csn_record_function(index, &record, &out->function, NULL) != CSN_OK) return;
    find_row(index, &record, out);
    count_inlines(index, &record, out);
    find_merged(index, &record, out);
    find_sites(index, &record, out);
}

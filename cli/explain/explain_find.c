/* Walking every table that a lookup consults. Damage shows as what could not be counted. */
#include "explain/explain_find.h"

#include <string.h>

/* *out with its start alone, and `err`, where the rest cannot be read. */
static void read_neighbour(const struct csn_index *index, uint32_t idx, struct whole_names *names, struct csn_function *out,
                           struct csn_error *err) {
    csn_status status = csn_index_function(index, idx, out, err);
    if (status == CSN_OK) whole_names_read(names, idx, &out->name);
    else (void)csn_index_function_start(index, idx, &out->start, NULL);
}

/* The functions around `addr`, which BSYM has binary by binary and not in the order of their addresses: all are looked at. The
 * start of a damaged one is known, too. */
static void find_neighbours(const struct csn_index *index, struct whole_names *names, struct explanation *out) {
    uint64_t below = 0, above = UINT64_MAX;
    uint32_t before = 0, after = 0;
    bool has_before = false, has_after = false;
    for (uint32_t idx = 0; idx < out->info.function_count; idx++) {
        uint64_t start;
        if (csn_index_function_start(index, idx, &start, NULL) != CSN_OK) continue;
        if (start <= out->addr && (!has_before || start >= below)) {
            has_before = true;
            below = start;
            before = idx;
        } else if (start > out->addr && (!has_after || start < above)) {
            has_after = true;
            above = start;
            after = idx;
        }
    }
    out->has_before = has_before;
    out->has_after = has_after;
    if (has_before) read_neighbour(index, before, names, &out->before, &out->before_err);
    if (has_after) read_neighbour(index, after, names, &out->after, &out->after_err);
}

/* The only binary that a lookup searches: the last one that begins at or below the address, of several that begin at one
 * address the last of these. One without an address is searched by its name alone. */
static void find_binary(const struct csn_index *index, struct explanation *out) {
    const uint64_t addr = out->addr & ~UINT64_C(1); /* bit 0 is that of Thumb code */
    if (addr > UINT32_MAX) return;
    for (uint32_t idx = 0; out->info.format == CSN_FORMAT_BSYM && idx < out->info.binary_count; idx++) {
        struct csn_binary binary;
        size_t need;
        if (csn_index_binary(index, idx, NULL, 0, &binary, &need, NULL) != CSN_OK) continue;
        if (!binary.address || binary.address > addr || (out->has_binary && binary.address < out->binary.address)) continue;
        out->has_binary = true;
        (void)csn_index_binary(index, idx, out->binary_name, sizeof(out->binary_name), &out->binary, &need, NULL);
    }
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

/* Adds the sites of one record that return here (or, with `tail`, its tail calls) as one. */
static void explain_sites(const struct csn_index *index, const struct csn_record *record, bool tail,
                          struct explained_site here, struct explanation *out) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    bool found = false;
    if (out->explained_count == EXPLAIN_SITES || csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    here.first_pattern = out->pattern_count;
    while (csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK) {
        bool is_tail = site.flags & CSN_CALL_SITE_TAIL;
        if (is_tail != tail || (!tail && record->start + site.return_offset != out->addr)) continue;
        found = true;
        here.flags |= site.flags;
        for (uint32_t k = 0; k < site.pattern_count && out->pattern_count < EXPLAIN_PATTERNS; k++)
            if (csn_call_site_pattern(index, &site, k, &out->patterns[out->pattern_count], NULL) == CSN_OK)
                out->pattern_count++;
    }
    here.pattern_count = out->pattern_count - here.first_pattern;
    if (found) out->sites[out->explained_count++] = here;
}

static void find_sites(const struct csn_index *index, const struct csn_record *record, struct csn_str function, bool merged,
                       struct explanation *out) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    struct explained_site here = { .function = function, .merged = merged };
    if (!merged && csn_call_site_iter_init(&iter, index, record, NULL) == CSN_OK) {
        while (csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK) {
            out->site_count++;
            out->tail_count += (site.flags & CSN_CALL_SITE_TAIL) != 0;
        }
    }
    explain_sites(index, record, false, here, out);
    explain_sites(index, record, true, here, out);
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
        find_sites(index, &child, function.name, true, out);
    }
}

void explain_find(const struct csn_index *index, uint64_t addr, struct whole_names *names, struct explanation *out) {
    struct csn_frame_ref refs[EXPLAIN_FRAMES];
    struct csn_record record;
    memset(out, 0, sizeof(*out));
    out->addr = addr;
    csn_index_get_info(index, &out->info, sizeof(out->info));
    find_neighbours(index, names, out);
    find_binary(index, out);
    out->status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, EXPLAIN_FRAMES, &out->found, &out->err);
    if (out->status != CSN_OK) return;
    if (out->found.frame_count > EXPLAIN_FRAMES) out->found.frame_count = EXPLAIN_FRAMES;
    for (size_t i = 0; i < out->found.frame_count; i++) csn_index_resolve(index, &refs[i], &out->frames[i]);
    if (out->found.frame_count == 1) whole_names_read(names, out->found.function_index, &out->frames[0].name);
    if (csn_index_record(index, out->found.function_index, &record, NULL) != CSN_OK) return;
    if (csn_record_function(index, &record, &out->function, NULL) != CSN_OK) return;
    whole_names_read(names, out->found.function_index, &out->function.name);
    find_row(index, &record, out);
    count_inlines(index, &record, out);
    find_sites(index, &record, out->function.name, false, out);
    find_merged(index, &record, out);
}

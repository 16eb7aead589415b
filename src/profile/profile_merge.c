/* Readers number the locations of an input as they come, without a look at those of others. */
#include "profile/profile_merge.h"

#include <string.h>

struct merge {
    struct csn_profile *p;
    struct profile_before before;
    uint32_t *locations, *nodes; /* new numbers, of what is behind `before` */
    struct csn_error *err;
};

static csn_status fail_memory(struct merge *m, size_t size) { return csni_fail_memory(m->err, size); }

struct profile_before csni_profile_before_input(const struct csn_profile *p) {
    return (struct profile_before){ p->locations.count, p->lines.count, p->nodes.count, p->samples.count };
}

static uint32_t new_number(uint32_t number, size_t before, const uint32_t *numbers) {
    return number < before ? number : numbers[number - before];
}

/* A location whose lines are the last of the profile. They go if there is an equal one. */
static csn_status place_location(struct merge *m, const struct profile_location *location, uint32_t *out) {
    struct csn_profile *p = m->p;
    if (csni_profile_find_location(p, location, out)) {
        p->lines.count -= location->line_count;
        return CSN_OK;
    }
    CSNI_TRY(csni_profile_push_location(p, location, out, m->err));
    return csni_profile_list_location(p, *out) ? CSN_OK : fail_memory(m, sizeof *location);
}

/* What is kept moves down: there is room for it. */
static csn_status merge_locations(struct merge *m) {
    struct csn_profile *p = m->p;
    const size_t from = m->before.locations, count = p->locations.count - from;
    const size_t size = (p->lines.count - m->before.lines) * sizeof *p->lines.items;
    struct profile_line *lines = csni_alloc(p->alloc, size + 1);
    csn_status status = CSN_OK;
    if (!lines) return fail_memory(m, size);
    if (size) memcpy(lines, p->lines.items + m->before.lines, size);
    csni_profile_cut_locations(p, from);
    p->lines.count = m->before.lines;
    for (size_t i = 0; status == CSN_OK && i < count; i++) {
        struct profile_location location = p->locations.items[from + i];
        const struct profile_line *own = lines + (location.line_count ? location.first_line - m->before.lines : 0);
        location.first_line = (uint32_t)p->lines.count;
        for (uint32_t k = 0; status == CSN_OK && k < location.line_count; k++) status = csni_profile_push_line(p, &own[k], m->err);
        if (status == CSN_OK) status = place_location(m, &location, &m->locations[i]);
    }
    csni_free(p->alloc, lines, size + 1);
    return status;
}

static csn_status merge_nodes(struct merge *m) {
    struct csn_profile *p = m->p;
    const size_t from = m->before.nodes, count = p->nodes.count - from;
    csni_profile_cut_nodes(p, from);
    for (size_t i = 0; i < count; i++) {
        const struct profile_node node = p->nodes.items[from + i];
        CSNI_TRY(csni_profile_child(p, new_number(node.caller, from, m->nodes),
                                    new_number(node.location, m->before.locations, m->locations), &m->nodes[i], m->err));
    }
    return CSN_OK;
}

static csn_status merge_samples(struct merge *m) {
    struct csn_profile *p = m->p;
    const size_t from = m->before.samples, count = p->samples.count - from, size = p->value_stride * sizeof(int64_t);
    const uint64_t read = p->samples_read;
    int64_t own[PROFILE_VALUE_TYPES_MAX];
    csni_profile_cut_samples(p, from);
    for (size_t i = 0; i < count; i++) {
        struct profile_sample_row row = p->samples.items[from + i];
        memcpy(own, p->values.items + (from + i) * p->value_stride, size);
        row.stack = new_number(row.stack, m->before.nodes, m->nodes);
        if (csni_profile_merges_inputs(p, &row)) row.input = 0;
        int64_t *values = csni_profile_sample(p, &row, m->err);
        if (!values) return m->err ? m->err->code : CSN_E_MEMORY;
        for (uint32_t k = 0; k < p->value_stride; k++) p->sums_cut += !csni_profile_add_value(&values[k], own[k]);
    }
    p->samples_read = read;
    return CSN_OK;
}

/* Those of the inputs before, of which not all were put into the table. */
static csn_status list_locations(struct merge *m) {
    struct csn_profile *p = m->p;
    uint32_t number;
    for (; p->listed_locations < m->before.locations; p->listed_locations++)
        if (!csni_profile_find_location(p, &p->locations.items[p->listed_locations], &number)
            && !csni_profile_list_location(p, (uint32_t)p->listed_locations))
            return fail_memory(m, sizeof number);
    return CSN_OK;
}

csn_status csni_profile_merge_input(struct csn_profile *p, const struct profile_before *before, struct csn_error *err) {
    struct merge m = { .p = p, .before = *before, .err = err };
    const size_t locations = p->locations.count - before->locations + 1, nodes = p->nodes.count - before->nodes + 1;
    if (p->inputs.count < 2) return CSN_OK;
    m.locations = csni_alloc(p->alloc, locations * sizeof *m.locations);
    m.nodes = csni_alloc(p->alloc, nodes * sizeof *m.nodes);
    csn_status status = m.locations && m.nodes ? list_locations(&m) : fail_memory(&m, nodes * sizeof *m.nodes);
    if (status == CSN_OK) status = merge_locations(&m);
    if (status == CSN_OK) status = merge_nodes(&m);
    if (status == CSN_OK) status = merge_samples(&m);
    if (status == CSN_OK) p->listed_locations = p->locations.count;
    csni_free(p->alloc, m.locations, locations * sizeof *m.locations);
    csni_free(p->alloc, m.nodes, nodes * sizeof *m.nodes);
    return status;
}

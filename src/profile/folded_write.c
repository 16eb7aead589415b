/* Folded stacks: what scripts for flame graphs read. */
#include "base/buffer.h"
#include "base/core/sort.h"
#include "base/hash.h"
#include "profile/profile_out.h"
#include "profile/profile_places.h"

static const char NO_FRAMES[] = "[no frames]"; /* so that the counts add up to those of the profile */

struct folded_row {
    uint32_t stack;
    int64_t value;
    uint64_t hash; /* of the stack's text */
};

static bool row_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct folded_row *)a)->stack < ((const struct folded_row *)b)->stack;
}

static bool row_is_smaller(const void *context, const void *a, const void *b) {
    const struct folded_row *x = a, *y = b;
    (void)context;
    return x->hash != y->hash ? x->hash < y->hash : x->stack < y->stack;
}

/* Semicolons separate names, and line ends stacks. */
static void put_folded_name(struct csni_buffer *line, struct csn_str name) {
    uint8_t *at = name.len ? csni_buffer_reserve(line, name.len) : NULL;
    for (size_t i = 0; at && i < name.len; i++) {
        const unsigned char c = (unsigned char)name.ptr[i];
        at[i] = c == ';' ? ':' : c < 0x20 ? ' ' : c;
    }
    if (at) line->size += name.len;
}

/* Of a caller the return address, from whatever format: "app+0x1139", or as inferno has offsets in files "[app <1139>]". */
static void put_unknown(struct csni_buffer *line, const struct csn_profile *p, const struct profile_location *location,
                        bool is_caller) {
    static const char digits[] = "0123456789abcdef";
    char text[2 + 16], *at = text + sizeof text;
    bool is_in_file;
    uint64_t value = csni_profile_folded_place(p, location, is_caller, &is_in_file);
    if (is_in_file) csni_buffer_put(line, "[", 1);
    if (location->module != CSN_PROFILE_NO_MODULE) {
        put_folded_name(line, csni_profile_base_name(csni_profile_str(p, p->modules.items[location->module].path)));
        csni_buffer_put(line, is_in_file ? " <" : "+", is_in_file ? 2 : 1);
    }
    do *--at = digits[value & 15];
    while (value >>= 4);
    if (!is_in_file) {
        *--at = 'x';
        *--at = '0';
    }
    csni_buffer_put(line, at, (size_t)(text + sizeof text - at));
    if (is_in_file) csni_buffer_put(line, ">]", 2);
}

static void put_location_names(struct csni_buffer *line, const struct csn_profile *p,
                               const struct profile_location *location, bool is_caller) {
    if (!location->line_count) put_unknown(line, p, location, is_caller);
    for (uint32_t k = location->line_count; k-- > 0;) {
        const struct profile_function *function = &p->functions.items[p->lines.items[location->first_line + k].function];
        put_folded_name(line, csni_profile_str(p, function->name));
        if (k) csni_buffer_put(line, ";", 1);
    }
}

/* The stack, outermost first. False: no memory. */
static bool put_folded_stack(struct csni_buffer *line, const struct csn_profile *p, uint32_t stack, uint32_t *path) {
    size_t depth = 0;
    for (uint32_t node = stack; node; node = p->nodes.items[node].caller) path[depth++] = node;
    line->size = 0;
    if (!depth) csni_buffer_put(line, NO_FRAMES, sizeof NO_FRAMES - 1);
    while (depth-- > 0) {
        put_location_names(line, p, &p->locations.items[p->nodes.items[path[depth]].location], depth > 0);
        if (depth) csni_buffer_put(line, ";", 1);
    }
    csni_buffer_put(line, " ", 1);
    return !line->failed;
}

/* Callers have smaller numbers than those they call. 0: no memory. */
static size_t deepest_stack(const struct csn_profile *p) {
    size_t most = 1;
    uint32_t *depths = csni_alloc_zeroed(p->alloc, p->nodes.count, sizeof *depths);
    if (!depths) return 0;
    for (size_t i = 1; i < p->nodes.count; i++) depths[i] = depths[p->nodes.items[i].caller] + 1;
    for (size_t i = 0; i < p->samples.count; i++)
        if (depths[p->samples.items[i].stack] > most) most = depths[p->samples.items[i].stack];
    csni_free(p->alloc, depths, p->nodes.count * sizeof *depths);
    return most;
}

struct folded_writer {
    const struct csn_profile *p;
    struct csni_buffer line, other;
    struct folded_row *rows; /* and as many spare ones */
    size_t count, row_count;
    uint64_t sums_cut;
    uint32_t *path;
};

/* A row for each stack of a sample, also where its values are 0: what is written is never empty unless the profile is. */
static void gather_rows(struct folded_writer *w) {
    const struct csn_profile *p = w->p;
    const uint32_t value = csni_profile_shown_value(p);
    struct folded_row *rows = w->rows;
    for (size_t i = 0; i < w->count; i++)
        rows[i] = (struct folded_row){ .stack = p->samples.items[i].stack,
                                       .value = p->value_count ? p->values.items[i * p->value_stride + value] : 0 };
    csni_merge_sort(rows, rows + w->count, w->count, sizeof *rows, row_before, NULL);
    for (size_t i = 0, next; i < w->count; i = next) {
        struct folded_row row = { .stack = rows[i].stack };
        for (next = i; next < w->count && rows[next].stack == row.stack; next++)
            w->sums_cut += !csni_profile_add_value(&row.value, rows[next].value);
        rows[w->row_count++] = row;
    }
}

static bool put_row(struct folded_writer *w, struct csni_buffer *line, const struct folded_row *row) {
    return put_folded_stack(line, w->p, row->stack, w->path);
}

/* Adds up the rows whose stacks have the same text, as those of one function at other addresses do. False: no memory. */
static bool join_rows(struct folded_writer *w) {
    struct folded_row *rows = w->rows;
    size_t kept = 0;
    for (size_t i = 0; i < w->row_count; i++) {
        if (!put_row(w, &w->line, &rows[i])) return false;
        rows[i].hash = csni_hash_bytes(w->line.bytes, w->line.size);
    }
    csni_merge_sort(rows, rows + w->count, w->row_count, sizeof *rows, row_is_smaller, NULL);
    for (size_t i = 0; i < w->row_count; i++) {
        struct folded_row *last = kept ? &rows[kept - 1] : NULL;
        bool is_same = last && last->hash == rows[i].hash;
        if (is_same && (!put_row(w, &w->line, last) || !put_row(w, &w->other, &rows[i]))) return false;
        is_same = is_same && w->line.size == w->other.size && memcmp(w->line.bytes, w->other.bytes, w->line.size) == 0;
        if (is_same) w->sums_cut += !csni_profile_add_value(&last->value, rows[i].value);
        else rows[kept++] = rows[i];
    }
    w->row_count = kept;
    csni_merge_sort(rows, rows + w->count, kept, sizeof *rows, row_before, NULL);
    return true;
}

static bool write_rows(struct folded_writer *w, struct profile_out *out) {
    for (size_t i = 0; i < w->row_count; i++) {
        if (!put_row(w, &w->line, &w->rows[i])) return false;
        csni_profile_put(out, w->line.bytes, w->line.size);
        csni_profile_put_decimal(out, w->rows[i].value);
        csni_profile_put(out, "\n", 1);
    }
    return true;
}

csn_status csni_folded_write(struct csn_profile *p, struct profile_out *out, struct csn_error *err) {
    const size_t depth = deepest_stack(p);
    if (!depth) return csni_fail_memory(err, p->nodes.count * sizeof(uint32_t));
    struct folded_writer w = { .p = p, .line = { .alloc = p->alloc }, .other = { .alloc = p->alloc }, .count = p->samples.count };
    w.rows = csni_alloc_zeroed(p->alloc, 2 * w.count + 1, sizeof *w.rows);
    w.path = csni_alloc_zeroed(p->alloc, depth, sizeof *w.path);
    if (w.rows && w.path) gather_rows(&w);
    const bool good = w.rows && w.path && join_rows(&w) && write_rows(&w, out);
    p->sums_cut += w.sums_cut;
    csni_free(p->alloc, w.rows, (2 * w.count + 1) * sizeof *w.rows);
    csni_free(p->alloc, w.path, depth * sizeof *w.path);
    csni_buffer_deinit(&w.line);
    csni_buffer_deinit(&w.other);
    return good ? CSN_OK : csni_fail_memory(err, w.count * sizeof *w.rows);
}

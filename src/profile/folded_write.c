/* Folded stacks: what scripts for flame graphs read. */
#include "base/buffer.h"
#include "base/core/sort.h"
#include "profile/profile_out.h"

struct folded_row {
    uint32_t stack;
    int64_t value;
};

static bool row_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct folded_row *)a)->stack < ((const struct folded_row *)b)->stack;
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

static void put_unknown(struct csni_buffer *line, const struct csn_profile *p, const struct profile_location *location) {
    static const char digits[] = "0123456789abcdef";
    char text[2 + 16], *at = text + sizeof text;
    uint64_t value = location->value;
    if (location->module != CSN_PROFILE_NO_MODULE) {
        struct csn_str path = csni_profile_str(p, p->modules.items[location->module].path);
        for (size_t i = path.len; i > 0; i--)
            if (path.ptr[i - 1] == '/') {
                path = (struct csn_str){ path.ptr + i, path.len - i };
                break;
            }
        put_folded_name(line, path);
        csni_buffer_put(line, "+", 1);
    }
    do *--at = digits[value & 15];
    while (value >>= 4);
    *--at = 'x';
    *--at = '0';
    csni_buffer_put(line, at, (size_t)(text + sizeof text - at));
}

static void put_location_names(struct csni_buffer *line, const struct csn_profile *p, const struct profile_location *location) {
    if (!location->line_count) put_unknown(line, p, location);
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
    while (depth-- > 0) {
        put_location_names(line, p, &p->locations.items[p->nodes.items[path[depth]].location]);
        if (depth) csni_buffer_put(line, ";", 1);
    }
    csni_buffer_put(line, " ", 1);
    return !line->failed;
}

static size_t deepest_stack(const struct csn_profile *p) {
    size_t most = 1;
    for (size_t i = 0; i < p->samples.count; i++) {
        size_t depth = 0;
        for (uint32_t node = p->samples.items[i].stack; node; node = p->nodes.items[node].caller) depth++;
        if (depth > most) most = depth;
    }
    return most;
}

csn_status csni_folded_write(struct csn_profile *p, struct profile_out *out, struct csn_error *err) {
    struct csni_buffer line = { .alloc = p->alloc };
    const uint32_t value = csni_profile_shown_value(p);
    const size_t depth = deepest_stack(p), count = p->samples.count;
    struct folded_row *rows = csni_alloc_zeroed(p->alloc, 2 * count + 1, sizeof *rows);
    uint32_t *path = csni_alloc_zeroed(p->alloc, depth, sizeof *path);
    bool good = rows && path;
    for (size_t i = 0; good && i < count; i++)
        rows[i] = (struct folded_row){ p->samples.items[i].stack, p->value_count ? p->values.items[i * p->value_stride + value] : 0 };
    if (good) csni_merge_sort(rows, rows + count, count, sizeof *rows, row_before, NULL);
    for (size_t i = 0, next; good && i < count; i = next) {
        int64_t sum = 0;
        for (next = i; next < count && rows[next].stack == rows[i].stack; next++) csni_profile_add_value(&sum, rows[next].value);
        if (!rows[i].stack || !sum) continue;
        good = put_folded_stack(&line, p, rows[i].stack, path);
        if (!good) break;
        csni_profile_put(out, line.bytes, line.size);
        csni_profile_put_decimal(out, sum);
        csni_profile_put(out, "\n", 1);
    }
    csni_free(p->alloc, rows, (2 * count + 1) * sizeof *rows);
    csni_free(p->alloc, path, depth * sizeof *path);
    csni_buffer_deinit(&line);
    return good ? CSN_OK : csni_fail_memory(err, count * sizeof *rows);
}

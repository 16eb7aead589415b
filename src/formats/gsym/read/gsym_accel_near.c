/* What a remote reader needs of a block's stacks, brought near to the block: it has the beginning of the file, where the busiest
 * strings are, then reads entry and block, and after them the names, which may lie all over the string table. Those that would take
 * more than two requests are copied. */
#include "formats/gsym/read/gsym_accel_build.h"

#include "base/core/file_map.h"

/* A remote reader joins places that are no farther apart, reads in blocks of as many bytes, and of a long name so
 * many; and so many blocks are left for names. */
enum { JOINED = 8192, LONG_NAME = 2048, BLOCKS_MOST = 8 };
/* What is between tables and strings, which accelerating the file changes: alignment, a directory, a trailer. */
enum { BETWEEN = CSNI_ACCEL_PAGE + 1024 };

void csni_accel_near_init(struct csni_accel_near *near, const struct csni_accel_content *content) {
    const struct csni_gsym *g = content->gsym;
    uint64_t tables = (uint64_t)g->address_count * (g->address_size + g->info_size) + (uint64_t)g->file_count * 2 * g->strp_size +
                      (uint64_t)g->sample_count * g->address_size + BETWEEN;
    near->recent_count = 0;
    near->last_end = 0;
    near->cold = tables < content->form.first_read ? content->form.first_read - tables : 0;
}

static uint32_t measure_name(const struct csni_gsym *gsym, uint32_t offset) {
    const uint8_t *text = gsym->strings.ptr + offset, *nul = memchr(text, 0, gsym->strings.size - offset);
    return nul ? (uint32_t)(nul - text) : 0;
}

/* ---- the names of a stack ---- */

static bool is_copied(const struct csni_accel_near *near, uint32_t offset) {
    for (uint32_t i = 0; i < near->name_count; i++)
        if (near->names[i].offset == offset) return true;
    return false;
}

static bool is_recent(const struct csni_accel_near *near, uint32_t offset) {
    for (uint32_t i = near->recent_count; i-- > 0;)
        if (near->recent[i].offset == offset) return true;
    return false;
}

/* Copies that will be too far from a block at `at`, or a bit later. */
static void forget_far(struct csni_accel_near *near, uint64_t at) {
    enum { LATER = 8192 };
    uint32_t far = 0;
    while (far < near->recent_count && near->recent[far].at + CSNI_ACCEL_NEAR < at + LATER) far++;
    near->recent_count -= far;
    memmove(near->recent, near->recent + far, near->recent_count * sizeof *near->recent);
}

/* Ascending by offset, each once; lengths are not yet known. */
static void add_stack_name(struct csni_accel_near *near, const struct csni_gsym *gsym, uint64_t offset) {
    if (offset < near->cold || offset >= gsym->strings.size || near->stack_count == CSNI_ACCEL_STACK_NAMES ||
        is_copied(near, (uint32_t)offset))
        return;
    uint32_t i = near->stack_count;
    while (i && near->stack[i - 1].offset > offset) i--;
    if (i && near->stack[i - 1].offset == offset) return;
    memmove(near->stack + i + 1, near->stack + i, (near->stack_count - i) * sizeof *near->stack);
    near->stack[i] = (struct csni_accel_name){ (uint32_t)offset, 0 };
    near->stack_count++;
}

static void collect_stack(struct csni_accel_near *near, const struct csni_accel_content *content,
                          const struct csni_accel_stretch *s) {
    struct csni_gsym_record record;
    near->stack_count = 0;
    if (csni_gsym_record(content->gsym, s->function, &record, NULL) == CSN_OK)
        add_stack_name(near, content->gsym, (uint32_t)record.name);
    for (uint32_t node = s->node; node; node = content->nodes[node].parent)
        add_stack_name(near, content->gsym, content->nodes[node].name);
}

/* The number of the first name after those that one range has with name `first`. */
static uint32_t end_of_range(const struct csni_accel_near *near, uint32_t first) {
    uint32_t end = first + 1;
    while (end < near->stack_count &&
           near->stack[end].offset - (near->stack[end - 1].offset + near->stack[end - 1].length) <= JOINED)
        end++;
    return end;
}

/* Blocks of a range, as it may lie worst. */
static uint32_t blocks_of(const struct csni_accel_near *near, uint32_t first, uint32_t end) {
    const struct csni_accel_name *last = &near->stack[end - 1];
    uint32_t length = last->length > LONG_NAME ? last->length : LONG_NAME;
    return (last->offset - near->stack[first].offset + length) / JOINED + 2;
}

static bool fits_two_ranges(const struct csni_accel_near *near) {
    uint32_t ranges = 0, blocks = 0;
    for (uint32_t i = 0; i < near->stack_count; ranges++) {
        uint32_t end = end_of_range(near, i);
        blocks += blocks_of(near, i, end);
        i = end;
    }
    return ranges <= 2 && blocks <= BLOCKS_MOST;
}

/* ---- copies ---- */

static uint32_t bytes_of(const struct csni_accel_near *near, uint32_t first, uint32_t end) {
    uint32_t bytes = 0;
    for (uint32_t i = first; i < end; i++) bytes += near->stack[i].length;
    return bytes;
}

/* The range with the most bytes that needs no more than that many blocks, apart from the one that begins at `but`. */
static uint32_t find_largest(const struct csni_accel_near *near, uint32_t blocks, uint32_t but) {
    uint32_t best = UINT32_MAX, most = 0;
    for (uint32_t i = 0, end; i < near->stack_count; i = end) {
        end = end_of_range(near, i);
        uint32_t bytes = bytes_of(near, i, end);
        if (i == but || blocks_of(near, i, end) > blocks || bytes <= most) continue;
        best = i;
        most = bytes;
    }
    return best;
}

static void copy_name(struct csni_accel_near *near, const struct csni_accel_name *name) {
    uint32_t bytes = CSNI_ACCEL_NAMES_ENTRY + name->length + 1;
    if (near->name_count == CSNI_ACCEL_NEAR_NAMES ||
        bytes > CSNI_ACCEL_NAMES_MOST - CSNI_ACCEL_NAMES_START - CSNI_ACCEL_NAMES_END - near->bytes)
        return;
    near->names[near->name_count++] = *name;
    near->bytes += bytes;
}

/* All but the names of two ranges. */
static void copy_scattered(struct csni_accel_near *near) {
    uint32_t kept = find_largest(near, BLOCKS_MOST - 2, UINT32_MAX), also = UINT32_MAX;
    if (kept != UINT32_MAX) also = find_largest(near, BLOCKS_MOST - blocks_of(near, kept, end_of_range(near, kept)), kept);
    for (uint32_t i = 0, end; i < near->stack_count; i = end) {
        end = end_of_range(near, i);
        for (uint32_t k = i; k < end && i != kept && i != also; k++) copy_name(near, &near->stack[k]);
    }
}

static void drop_recent(struct csni_accel_near *near) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < near->stack_count; i++)
        if (!is_recent(near, near->stack[i].offset)) near->stack[kept++] = near->stack[i];
    near->needs_recent |= kept < near->stack_count;
    near->stack_count = kept;
}

static void choose_names(struct csni_accel_near *near, const struct csni_accel_content *content,
                         const struct csni_accel_stretch *s) {
    collect_stack(near, content, s);
    if (near->stack_count <= 2) return;
    for (uint32_t i = 0; i < near->stack_count; i++) near->stack[i].length = measure_name(content->gsym, near->stack[i].offset);
    if (fits_two_ranges(near)) return;
    drop_recent(near);
    if (!fits_two_ranges(near)) copy_scattered(near);
}

static void remember_names(struct csni_accel_near *near, uint64_t end) {
    for (uint32_t i = 0; i < near->name_count; i++) {
        if (near->recent_count == CSNI_ACCEL_RECENT_NAMES)
            memmove(near->recent, near->recent + 1, --near->recent_count * sizeof *near->recent);
        near->recent[near->recent_count++] = (struct csni_accel_recent){ near->names[i].offset, end - near->bytes };
    }
    near->last_end = end;
}

static void put_names(const struct csni_accel_near *near, const struct csni_gsym *gsym, uint32_t back, uint8_t *p) {
    uint8_t *entry = p + CSNI_ACCEL_NAMES_START, *text = entry + (size_t)near->name_count * CSNI_ACCEL_NAMES_ENTRY;
    csni_put32(p, near->name_count, false);
    for (uint32_t i = 0; i < near->name_count; i++, entry += CSNI_ACCEL_NAMES_ENTRY) {
        csni_put32(entry, near->names[i].offset, false);
        csni_put32(entry + 4, near->names[i].length, false);
        memcpy(text, gsym->strings.ptr + near->names[i].offset, near->names[i].length);
        text += near->names[i].length + 1; /* the NUL is there */
    }
    csni_put32(p + near->bytes - CSNI_ACCEL_NAMES_END, back, false);
    csni_put32(p + near->bytes - CSNI_ACCEL_NAMES_END + 4, near->bytes, false);
}

void csni_accel_near_put_names(struct csni_accel_near *near, const struct csni_gsym *gsym, uint64_t end, uint8_t *p) {
    uint64_t back = near->last_end ? end - near->last_end : 0;
    if (p) put_names(near, gsym, back < CSNI_ACCEL_NEAR ? (uint32_t)back : 0, p);
    remember_names(near, end);
}

/* ---- nodes ---- */

/* Ascending, each once. False: they are too many. */
static bool add_near_node(struct csni_accel_near *near, uint32_t node) {
    uint32_t i = near->node_count;
    while (i && near->nodes[i - 1] > node) i--;
    if (i && near->nodes[i - 1] == node) return true;
    if (near->node_count == CSNI_ACCEL_NEAR_NODES) return false;
    memmove(near->nodes + i + 1, near->nodes + i, (near->node_count - i) * sizeof *near->nodes);
    near->nodes[i] = node;
    near->node_count++;
    return true;
}

static bool add_near_nodes(struct csni_accel_near *near, const struct csni_accel_content *content, uint32_t node) {
    for (; node; node = content->nodes[node].parent)
        if (!add_near_node(near, node)) return false;
    return true;
}

void csni_accel_near_choose(struct csni_accel_near *near, const struct csni_accel_content *content,
                            const struct csni_accel_stretch *s, size_t count, uint64_t at) {
    near->name_count = near->bytes = near->node_count = 0;
    near->needs_recent = false;
    forget_far(near, at);
    bool has_all = true;
    for (size_t k = 0; k < count; k++) {
        if (s[k].node >= CSNI_ACCEL_GAP || (k && s[k].node == s[k - 1].node && s[k].function == s[k - 1].function)) continue;
        choose_names(near, content, &s[k]);
        has_all = has_all && add_near_nodes(near, content, s[k].node);
    }
    if (!has_all) near->node_count = 0;
    if (near->name_count || near->needs_recent) near->bytes += CSNI_ACCEL_NAMES_START + CSNI_ACCEL_NAMES_END;
}

/* Functions that are removed again, as a JIT does: finding them by their start, and giving back their memory. */
#include "base/core/fail.h"
#include "base/hash.h"
#include "convert/builder_private.h"

enum { SLOTS_MIN = 64, COMPACT_MIN = 256 };

static uint32_t *slot_of(const struct csn_builder *b, uint64_t start) {
    return &b->slots[csni_hash_u64(start) & (b->slot_count - 1)];
}

static void link_function(struct csn_builder *b, uint32_t number) {
    uint32_t *slot = slot_of(b, b->writer.functions.items[number].start);
    b->built.items[number].next = *slot;
    *slot = number + 1;
}

/* With at least as many slots as there are functions. */
static bool reserve_slots(struct csn_builder *b, size_t count) {
    if (count <= b->slot_count) return true;
    size_t wanted = b->slot_count ? 2 * b->slot_count : SLOTS_MIN;
    while (wanted < count) wanted *= 2;
    uint32_t *slots = csni_alloc_zeroed(b->alloc, wanted, sizeof *slots);
    if (!slots) return false;
    csni_free(b->alloc, b->slots, b->slot_count * sizeof *slots);
    b->slots = slots;
    b->slot_count = wanted;
    for (size_t i = 0; i < b->built.count; i++) link_function(b, (uint32_t)i);
    return true;
}

bool csni_builder_note_function(struct csn_builder *b) {
    size_t number = b->built.count;
    if (!reserve_slots(b, number + 1) || !csni_vec_push(&b->built, (struct csni_built_function){ 0 })) return false;
    link_function(b, (uint32_t)number);
    return true;
}

csn_status csn_builder_remove_function(struct csn_builder *b, uint64_t start, struct csn_error *err) {
    if (b->finished) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the index is saved, nothing can be removed");
    if (b->writer.failed) return csni_fail_memory(err, 0);
    if (b->open_inlines.count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%zu inlined calls are still open", b->open_inlines.count);
    csn_status status = CSN_NONE;
    for (uint32_t next = b->slot_count ? *slot_of(b, start) : 0; next; next = b->built.items[next - 1].next) {
        struct csni_built_function *built = &b->built.items[next - 1];
        if (built->removed || b->writer.functions.items[next - 1].start != start) continue;
        built->removed = true;
        b->removed_count++;
        if (next == b->built.count) b->in_function = false;
        status = CSN_OK;
    }
    return status;
}

void csni_builder_drop_removed(const struct csn_builder *b, struct csni_batch *batch) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->function_count; i++)
        if (!b->built.items[i].removed) batch->functions[kept++] = batch->functions[i];
    batch->function_count = kept;
}

/* ---- compaction ---- */

/* What is kept, in memory of its own. */
struct compaction {
    const struct csni_batch_writer *from;
    struct csni_batch_writer to;
    struct csni_arena arena;
    uint32_t *strings; /* numbers in `to` by those in `from`; 0: not copied yet */
};

static uint32_t copy_string(struct compaction *c, uint32_t number) {
    if (!number || c->strings[number]) return c->strings[number];
    struct csn_str s = c->from->strings.items[number];
    const char *copy = csni_arena_copy(&c->arena, s.ptr, s.len);
    if (!copy) {
        c->to.failed = true;
        return 0;
    }
    return c->strings[number] = csni_batch_add_string(&c->to, (struct csn_str){ copy, s.len });
}

static void copy_inlines(struct compaction *c, const struct csni_function *f) {
    for (uint32_t i = 0; i < f->inline_count; i++) {
        struct csni_inline_node node = c->from->inlines.items[f->first_inline + i];
        const struct csni_part *parts = &c->from->parts.items[node.first_part];
        node.first_part = (uint32_t)c->to.parts.count;
        node.name = copy_string(c, node.name);
        for (uint32_t k = 0; k < node.part_count; k++) c->to.failed |= !csni_vec_push(&c->to.parts, parts[k]);
        c->to.failed |= !csni_vec_push(&c->to.inlines, node);
    }
}

static void copy_sites(struct compaction *c, const struct csni_function *f) {
    for (uint32_t i = 0; i < f->site_count; i++) {
        struct csni_call_site site = c->from->sites.items[f->first_site + i];
        const uint32_t *patterns = &c->from->patterns.items[site.first_pattern];
        site.first_pattern = (uint32_t)c->to.patterns.count;
        for (uint32_t k = 0; k < site.pattern_count; k++)
            c->to.failed |= !csni_vec_push(&c->to.patterns, copy_string(c, patterns[k]));
        c->to.failed |= !csni_vec_push(&c->to.sites, site);
    }
}

static void copy_function(struct compaction *c, const struct csni_function *from) {
    struct csni_function f = *from;
    f.name = copy_string(c, from->name);
    f.first_row = (uint32_t)c->to.rows.count;
    f.first_inline = (uint32_t)c->to.inlines.count;
    f.first_site = (uint32_t)c->to.sites.count;
    for (uint32_t i = 0; i < from->row_count; i++)
        c->to.failed |= !csni_vec_push(&c->to.rows, c->from->rows.items[from->first_row + i]);
    copy_inlines(c, from);
    copy_sites(c, from);
    c->to.failed |= !csni_vec_push(&c->to.functions, f);
}

static void copy_kept(struct compaction *c, const struct csn_builder *b) {
    for (size_t i = 1; i < c->from->files.count && !c->to.failed; i++) {
        struct csni_file file = c->from->files.items[i];
        uint32_t directory = copy_string(c, file.directory);
        csni_batch_add_file(&c->to, directory, copy_string(c, file.base));
    }
    for (size_t i = 0; i < c->from->functions.count && !c->to.failed; i++)
        if (!b->built.items[i].removed) copy_function(c, &c->from->functions.items[i]);
}

/* The kept functions in place of all. */
static void adopt(struct csn_builder *b, struct compaction *c) {
    csni_batch_writer_deinit(&b->writer);
    csni_arena_deinit(&b->arena);
    b->writer = c->to;
    b->arena = c->arena;
    b->writer.arena = &b->arena;
    b->built.count = b->writer.functions.count; /* fewer than before */
    memset(b->built.items, 0, b->built.count * sizeof *b->built.items);
    memset(b->slots, 0, b->slot_count * sizeof *b->slots);
    for (size_t i = 0; i < b->built.count; i++) link_function(b, (uint32_t)i);
    b->removed_count = 0;
    b->in_function = false;
}

void csni_builder_compact(struct csn_builder *b) {
    if (b->built.count < COMPACT_MIN || b->removed_count <= b->built.count / 2) return;
    struct compaction c = { .from = &b->writer };
    size_t string_count = b->writer.strings.count;
    c.strings = csni_alloc_zeroed(b->alloc, string_count, sizeof *c.strings);
    if (!c.strings) return;
    csni_arena_init(&c.arena, b->alloc, 4096);
    csni_batch_writer_init(&c.to, b->alloc);
    csni_batch_begin(&c.to, &c.arena);
    copy_kept(&c, b);
    const void *uuid = b->uuid ? csni_arena_copy(&c.arena, b->uuid, b->options.uuid_size) : NULL;
    if (!c.to.failed && (uuid || !b->uuid)) {
        adopt(b, &c);
        b->uuid = uuid;
    } else {
        csni_batch_writer_deinit(&c.to);
        csni_arena_deinit(&c.arena);
    }
    csni_free(b->alloc, c.strings, string_count * sizeof *c.strings);
}

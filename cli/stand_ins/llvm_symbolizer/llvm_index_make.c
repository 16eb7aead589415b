/* Making the index of all units. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm_symbolizer/llvm_index_private.h"

/* Those that begin below the base count from there. */
static void add_symbols(struct llvm_index_units *u, struct address_content *content) {
    const struct llvm_module *m = u->module;
    for (size_t i = 0; i < m->symbols.count; i++) {
        const struct llvm_symbol *s = &m->symbols.items[i];
        const bool is_below = s->addr < u->base;
        if (is_below && i + 1 < m->symbols.count && m->symbols.items[i + 1].addr <= u->base) continue;
        if (!is_below && s->addr - u->base >= u->size) break;
        const uint64_t end = s->addr + s->size;
        struct address_symbol made = { is_below ? 0 : (uint32_t)(s->addr - u->base), UINT32_MAX, ADDRESS_NONE, ADDRESS_NONE };
        if (s->size) made.end = end <= u->base ? 0 : end - u->base < UINT32_MAX ? (uint32_t)(end - u->base) : UINT32_MAX - 1;
        made.name = address_texts_add(&u->texts, s->name, strlen(s->name));
        if (s->file && *s->file) made.file = address_texts_add(&u->texts, s->file, strlen(s->file));
        GROW_PUSH(&content->symbols, made);
    }
}

static bool add_missing_units(struct llvm_index_units *u) {
    const uint32_t count = u->module->object.info_unit_count;
    for (uint32_t i = 0; i < count; i++) u->wanted[i] = !u->added_by[i] && u->first_range[i + 1] > u->first_range[i];
    llvm_index_units_add(u);
    for (uint32_t i = 0; i < count; i++)
        if (u->added_by[i] == LLVM_UNIT_UNREADABLE) return false;
    return true;
}

struct address_index *llvm_index_make(struct llvm_index *ix, const char *path) {
    struct llvm_index_units *u = &ix->units;
    (void)llvm_index_units_restart(ix);
    struct address_content content = { .base = u->base, .size = u->size, .texts = &u->texts };
    const struct address_part *parts[LLVM_INDEX_MAX_WORKERS];
    struct address_index *made = NULL;
    content.subject.object = ix->kept.object;
    if (kept_subject_describe(u->module->info, &content.subject) && add_missing_units(u)) {
        for (size_t i = 0; i < u->worker_count; i++) parts[i] = &u->workers[i].part;
        content.parts = parts;
        content.part_count = u->worker_count;
        add_symbols(u, &content);
        made = address_index_make(&content, path);
        free(content.symbols.items);
    }
    llvm_index_units_free(u);
    return made;
}

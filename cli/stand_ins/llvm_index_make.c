/* Making the index of all units, in several threads. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/growth.h"
#include "stand_ins/llvm_index_private.h"
#include "ui/turns.h"

enum { MAX_WORKERS = 8, BATCH = 8 /* units that a worker takes at once: they share pages */ };

struct making {
    struct llvm_index *ix;
    struct llvm_index_units *units;
    struct address_content content;
    atomic_uint next_unit;
    atomic_bool failed;
};

struct worker {
    struct making *making;
    struct llvm_module *module;    /* its own; NULL: it opens one */
    struct address_part *part;
};

static void add_unit(const struct worker *w, const struct llvm_index_output *out, uint32_t idx) {
    const struct llvm_index_units *u = w->making->units;
    const uint32_t first = u->first_range[idx], count = u->first_range[idx + 1] - first;
    if (!count || u->is_added[idx]) return;
    struct llvm_unit *unit = llvm_module_unit_at(w->module, idx);
    if (unit) llvm_index_add_unit(out, w->module, unit, u->module->ranges.items, u->range_indexes + first, count, NULL);
    else atomic_store(&w->making->failed, true);
    llvm_module_release_unit(w->module, idx);
}

static void *add_units(void *argument) {
    struct worker *w = argument;
    struct making *k = w->making;
    const bool opens = !w->module;
    if (opens) w->module = llvm_module_open_units(k->ix->object_path);
    if (!w->module) return NULL; /* the others do it all */
    const struct llvm_index_output out = { w->part, &k->units->texts, k->ix->paths, k->units->base, k->units->size };
    const uint32_t total = k->units->module->object.info_unit_count;
    for (uint32_t begin; (begin = atomic_fetch_add(&k->next_unit, BATCH)) < total;)
        for (uint32_t i = begin; i < total && i < begin + BATCH; i++) add_unit(w, &out, i);
    if (opens) llvm_module_close(w->module);
    return NULL;
}

static void add_symbols(struct making *k) {
    const uint64_t base = k->units->base, size = k->units->size;
    const struct llvm_module *m = k->units->module;
    for (size_t i = 0; i < m->symbols.count; i++) {
        const struct llvm_symbol *s = &m->symbols.items[i];
        const bool is_below = s->addr < base;
        if (is_below && i + 1 < m->symbols.count && m->symbols.items[i + 1].addr <= base) continue;
        if (!is_below && s->addr - base >= size) break;
        const uint64_t end = s->addr + s->size;
        struct address_symbol made = { is_below ? 0 : (uint32_t)(s->addr - base), UINT32_MAX, ADDRESS_NONE, ADDRESS_NONE };
        if (s->size) made.end = end <= base ? 0 : end - base < UINT32_MAX ? (uint32_t)(end - base) : UINT32_MAX - 1;
        made.name = address_texts_add(&k->units->texts, s->name, strlen(s->name));
        if (s->file && *s->file) made.file = address_texts_add(&k->units->texts, s->file, strlen(s->file));
        GROW_PUSH(&k->content.symbols, made);
    }
}

/* The first part has what requests have needed before. */
static void add_all(struct making *k) {
    const unsigned cores = usable_cores();
    const size_t count = cores < MAX_WORKERS ? cores : MAX_WORKERS;
    struct worker workers[MAX_WORKERS];
    pthread_t threads[MAX_WORKERS];
    size_t started = 0;
    k->content.parts = zeroed_memory(count, sizeof *k->content.parts);
    k->content.part_count = count;
    k->content.parts[0] = k->units->part;
    k->units->part = (struct address_part){ 0 };
    while (started + 1 < count) {
        workers[started] = (struct worker){ k, NULL, &k->content.parts[started + 1] };
        if (!worker_thread_start(&threads[started], add_units, &workers[started])) break;
        started++;
    }
    struct worker self = { k, k->units->module, &k->content.parts[0] };
    add_symbols(k);
    add_units(&self);
    for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

struct address_index *llvm_index_make(struct llvm_index *ix) {
    struct making *k = zeroed_memory(1, sizeof *k);
    struct address_index *made = NULL;
    k->ix = ix;
    k->units = &ix->units;
    k->content.subject.object = ix->object;
    k->content.base = ix->units.base;
    k->content.size = ix->units.size;
    k->content.texts = &ix->units.texts;
    if (kept_subject_describe(ix->units.module->info, &k->content.subject)) {
        add_all(k);
        if (!k->failed) made = address_index_make(&k->content, ix->path);
        for (size_t i = 0; i < k->content.part_count; i++) address_part_deinit(&k->content.parts[i]);
        free(k->content.parts);
        free(k->content.symbols.items);
    }
    free(k);
    llvm_index_units_free(&ix->units);
    return made;
}

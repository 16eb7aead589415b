/* When an index is made, and what it answers. */
#define _GNU_SOURCE
#include "stand_ins/llvm_index.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/growth.h"
#include "stand_ins/llvm_index_unit.h"
#include "ui/turns.h"

/* An index is made after so many requests, if they needed this part of .debug_info: by then reading unit after unit takes longer. */
enum { MIN_REQUESTS = 64, MIN_PART = 32 };
enum { MAX_WORKERS = 8, BATCH = 8 /* units that a worker takes at once: they share pages */ };

struct llvm_index {
    char *object_path;
    char *path;              /* of the kept file; NULL: there is no cache folder */
    struct file_identity object;
    enum llvm_path_kind paths;
    struct address_index *index; /* NULL: none */
    uint32_t requests;       /* that the object was asked for */
    bool is_given_up;
};

/* ---- opening ---- */

static bool is_served(const struct llvm_options *o) {
    return o->names != LLVM_NAME_SHORT && o->style != LLVM_STYLE_JSON && !o->verbose && !o->skip_line_zero && !o->dwp && !o->fallback_debug_path &&
           !o->debug_dirs.count && !o->dsym_hints.count;
}

struct llvm_index *llvm_index_open(const char *path, const struct llvm_options *o) {
    static const char *const path_words[] = { "absolute", "relative", "base" };
    struct file_identity object;
    if (!is_served(o) || !file_identify(path, &object)) return NULL;
    const char *const words[] = { "llvm", path_words[o->paths], o->untag ? "untag" : "" };
    struct llvm_index *ix = zeroed_memory(1, sizeof *ix);
    ix->object_path = copy_text(path, strlen(path));
    ix->object = object;
    ix->paths = o->paths;
    ix->path = kept_file_path("addresses", &object, words, 3);
    if (ix->path) ix->index = address_index_open(ix->path, &object);
    return ix;
}

void llvm_index_close(struct llvm_index *ix) {
    if (!ix) return;
    address_index_close(ix->index);
    free(ix->object_path);
    free(ix->path);
    free(ix);
}

bool llvm_index_exists(const struct llvm_index *ix) { return ix && ix->index; }

/* ---- answers ---- */

static char *copy_or_null(const char *text) { return text ? copy_text(text, strlen(text)) : NULL; }

static struct llvm_frame row_frame(const struct address_place *place) {
    return (struct llvm_frame){ .file = copy_or_null(place->file), .line = place->line, .column = place->column,
                                .discriminator = place->discriminator };
}

static void name_frame(struct llvm_frame *f, const struct llvm_request *request, const char *name) {
    if (!name || request->names == LLVM_NAME_NONE) return;
    free(f->function);
    f->function = copy_text(name, strlen(name));
}

/* Frames of DWARF, innermost first; with `one`, the innermost alone. */
static bool find_frames(struct llvm_index *ix, const struct llvm_request *request, uint64_t addr, bool one, struct llvm_frames *out) {
    struct address_place place;
    struct address_call call;
    if (!address_index_find(ix->index, addr, &place)) return false;
    struct llvm_frame f = row_frame(&place);
    for (uint32_t scope = place.scope; scope != ADDRESS_NONE; scope = call.parent) {
        if (!address_index_scope(ix->index, scope, &call)) {
            llvm_frame_free(&f);
            return false;
        }
        name_frame(&f, request, call.name);
        if (one || call.parent == ADDRESS_NONE) break;
        GROW_PUSH(out, f);
        f = (struct llvm_frame){ .file = copy_or_null(call.file), .line = call.line, .column = call.column, .discriminator = call.discriminator };
    }
    GROW_PUSH(out, f);
    return true;
}

/* The symbol's name is better than that of DWARF, as in llvm_find_inlined(). */
static bool name_by_symbol(struct llvm_index *ix, const struct llvm_request *request, uint64_t addr, struct llvm_frame *f) {
    struct address_name symbol;
    if (request->names != LLVM_NAME_LINKAGE) return true;
    if (!address_index_symbol(ix->index, addr, &symbol)) return false;
    name_frame(f, request, symbol.name);
    if (symbol.name && !f->file) f->file = copy_or_null(symbol.file);
    return true;
}

/* A damaged file goes, so that another one can be made. */
static void drop_index(struct llvm_index *ix) {
    if (!address_index_is_damaged(ix->index)) return;
    address_index_close(ix->index);
    ix->index = NULL;
}

bool llvm_index_find(struct llvm_index *ix, const struct llvm_request *request, uint64_t addr, bool one, struct llvm_frames *out) {
    if (!llvm_index_exists(ix)) return false;
    *out = (struct llvm_frames){ 0 };
    const bool found = find_frames(ix, request, addr, one, out) && name_by_symbol(ix, request, addr, &out->items[out->count - 1]);
    if (!found) {
        llvm_frames_free(out);
        *out = (struct llvm_frames){ 0 };
        drop_index(ix);
        return false;
    }
    for (size_t i = 0; i < out->count && request->demangle; i++) {
        char *mangled = out->items[i].function;
        if (mangled) out->items[i].function = llvm_demangle_name(mangled, false);
        free(mangled);
    }
    return true;
}

/* ---- making it ---- */

struct making {
    struct llvm_index *ix;
    struct llvm_module *module;
    struct address_content content;
    struct address_texts texts;
    uint32_t *range_indexes;       /* of module->ranges, by unit */
    uint32_t *first_range;         /* by unit, in `range_indexes`; one more than there are units */
    atomic_uint next_unit;
    atomic_bool failed;
};

struct worker {
    struct making *making;
    struct llvm_module *module;    /* its own; NULL: it opens one */
    struct address_part *part;
};

/* The addresses of code. False: there is none, or it is too large. */
static bool find_bounds(struct making *k) {
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 1; i < k->module->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(k->module->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
        if (!(s.flags & CSN_SECTION_EXEC) || !s.size) continue;
        if (s.addr < low) low = s.addr;
        if (s.addr + s.size > high) high = s.addr + s.size;
    }
    k->content.base = low;
    k->content.size = high - low;
    return low < high && high - low < UINT32_MAX - 1;
}

static void group_ranges(struct making *k) {
    const struct llvm_module *m = k->module;
    const uint32_t units = m->object.info_unit_count;
    k->range_indexes = zeroed_memory(m->ranges.count, sizeof *k->range_indexes);
    k->first_range = zeroed_memory((size_t)units + 2, sizeof *k->first_range);
    for (size_t i = 0; i < m->ranges.count; i++) k->first_range[m->ranges.items[i].unit + 2]++;
    for (uint32_t i = 2; i < units + 2; i++) k->first_range[i] += k->first_range[i - 1];
    for (size_t i = 0; i < m->ranges.count; i++) k->range_indexes[k->first_range[m->ranges.items[i].unit + 1]++] = (uint32_t)i;
}

static void add_unit(const struct worker *w, const struct llvm_index_output *out, uint32_t idx) {
    struct making *k = w->making;
    const uint32_t first = k->first_range[idx], count = k->first_range[idx + 1] - first;
    if (!count) return;
    struct llvm_unit *unit = llvm_module_unit_at(w->module, idx);
    if (unit) llvm_index_add_unit(out, w->module, unit, k->module->ranges.items, k->range_indexes + first, count);
    else atomic_store(&k->failed, true);
    llvm_module_release_unit(w->module, idx);
}

static void *add_units(void *argument) {
    struct worker *w = argument;
    struct making *k = w->making;
    const bool opens = !w->module;
    if (opens) w->module = llvm_module_open_units(k->ix->object_path);
    if (!w->module) return NULL; /* the others do it all */
    const struct llvm_index_output out = { w->part, &k->texts, k->ix->paths, k->content.base, k->content.size };
    const uint32_t total = k->module->object.info_unit_count;
    for (uint32_t begin; (begin = atomic_fetch_add(&k->next_unit, BATCH)) < total;)
        for (uint32_t i = begin; i < total && i < begin + BATCH; i++) add_unit(w, &out, i);
    if (opens) llvm_module_close(w->module);
    return NULL;
}

static void add_symbols(struct making *k) {
    const uint64_t base = k->content.base, size = k->content.size;
    for (size_t i = 0; i < k->module->symbols.count; i++) {
        const struct llvm_symbol *s = &k->module->symbols.items[i];
        const bool is_below = s->addr < base;
        if (is_below && i + 1 < k->module->symbols.count && k->module->symbols.items[i + 1].addr <= base) continue;
        if (!is_below && s->addr - base >= size) break;
        const uint64_t end = s->addr + s->size;
        struct address_symbol made = { is_below ? 0 : (uint32_t)(s->addr - base), UINT32_MAX, ADDRESS_NONE, ADDRESS_NONE };
        if (s->size) made.end = end <= base ? 0 : end - base < UINT32_MAX ? (uint32_t)(end - base) : UINT32_MAX - 1;
        made.name = address_texts_add(&k->texts, s->name, strlen(s->name));
        if (s->file && *s->file) made.file = address_texts_add(&k->texts, s->file, strlen(s->file));
        GROW_PUSH(&k->content.symbols, made);
    }
}

/* Adds all, in several threads, each with a module of its own. */
static void add_all(struct making *k) {
    const unsigned cores = usable_cores();
    const size_t count = cores < MAX_WORKERS ? cores : MAX_WORKERS;
    struct worker workers[MAX_WORKERS];
    pthread_t threads[MAX_WORKERS];
    size_t started = 0;
    k->content.parts = zeroed_memory(count, sizeof *k->content.parts);
    k->content.part_count = count;
    while (started + 1 < count) {
        workers[started] = (struct worker){ k, NULL, &k->content.parts[started + 1] };
        if (!worker_thread_start(&threads[started], add_units, &workers[started])) break;
        started++;
    }
    struct worker self = { k, k->module, &k->content.parts[0] };
    add_symbols(k);
    add_units(&self);
    for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

static struct address_index *make_index(struct llvm_index *ix, struct llvm_module *m) {
    struct making *k = zeroed_memory(1, sizeof *k);
    struct address_index *made = NULL;
    k->ix = ix;
    k->module = m;
    k->content.subject.object = ix->object;
    k->content.texts = &k->texts;
    if (kept_subject_describe(m->info, &k->content.subject) && find_bounds(k)) {
        address_texts_init(&k->texts);
        (void)llvm_module_unit(m, 0); /* reads the ranges */
        group_ranges(k);
        add_all(k);
        if (!k->failed) made = address_index_make(&k->content, ix->path);
        for (size_t i = 0; i < k->content.part_count; i++) address_part_deinit(&k->content.parts[i]);
        free(k->content.parts);
        free(k->content.symbols.items);
        free(k->range_indexes);
        free(k->first_range);
        address_texts_deinit(&k->texts);
    }
    free(k);
    return made;
}

static bool is_worth_it(const struct llvm_index *ix, const struct llvm_module *m) {
    const struct csn_debug_unit *last;
    const uint32_t count = m->object.info_unit_count;
    if (ix->requests < MIN_REQUESTS || !count || csn_debug_info_unit(m->info, count - 1, &last, NULL) != CSN_OK) return false;
    return m->bytes_read >= last->end / MIN_PART;
}

void llvm_index_consider(struct llvm_index *ix, struct llvm_module *m) {
    if (!ix || ix->index || ix->is_given_up || !m) return;
    ix->requests++;
    if (!is_worth_it(ix, m)) return;
    if (m->object.container != CSN_CONTAINER_ELF || (m->object.kind != CSN_OBJECT_EXECUTABLE && m->object.kind != CSN_OBJECT_SHARED)) {
        ix->is_given_up = true;
        return;
    }
    /* Of several runs at once, one makes it. */
    const int lock = ix->path ? kept_file_lock(ix->path) : -1;
    if (lock == KEPT_LOCK_BUSY) {
        ix->requests = 0;
        return;
    }
    if (ix->path) ix->index = address_index_open(ix->path, &ix->object);
    if (!ix->index) ix->index = make_index(ix, m);
    ix->is_given_up = !ix->index;
    kept_file_unlock(lock);
}

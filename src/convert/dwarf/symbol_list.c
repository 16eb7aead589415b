/* The functions that an image's symbol table names, in order of address. */
#include "convert/dwarf/symbol_list.h"

#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/search.h"

static int listed_symbol_by_place(const void *pa, const void *pb) {
    const struct csni_listed_symbol *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* As model_merge.c ranks them. */
static unsigned rank_of(const struct csni_listed_symbol *s) {
    if (memchr(s->name.ptr, '@', s->name.len)) return 0;
    return s->weak ? 1 : s->local ? 2 : 3;
}

static void drop_covered(struct csni_symbol_list *list, bool merges) {
    struct csni_listed_symbol *s = list->items.items;
    size_t kept = 0;
    for (size_t i = 0; i < list->items.count; i++) {
        bool same = kept && s[kept - 1].addr == s[i].addr && s[kept - 1].size == s[i].size;
        if (!same) s[kept++] = s[i];
        else if (!merges || rank_of(&s[i]) >= rank_of(&s[kept - 1])) s[kept - 1] = s[i];
    }
    list->items.count = kept;
}

/* CSN_NONE: there is no table. */
static csn_status choose_table(struct csni_conversion *c, struct csni_object *debug, struct csni_symbol_iter *iter,
                               struct csn_error *err) {
    csn_status status = csni_symbol_iter_init(iter, c->object, CSNI_SYMBOLS_STATIC, err);
    if (status == CSN_NONE && debug) status = csni_symbol_iter_init(iter, debug, CSNI_SYMBOLS_STATIC, err);
    if (status == CSN_NONE) status = csni_symbol_iter_init(iter, c->object, CSNI_SYMBOLS_DYNAMIC, err);
    return status;
}

csn_status csni_symbol_list_read(struct csni_symbol_list *list, struct csni_conversion *c, struct csni_object *debug,
                                 struct csn_error *err) {
    struct csni_symbol_iter iter;
    struct csni_symbol s;
    csn_status status = choose_table(c, debug, &iter, err);
    if (status != CSN_OK) return status;
    for (uint32_t order = 0; csni_symbol_iter_next(&iter, &s) == CSN_OK; order++) {
        if (s.kind != CSNI_SYMBOL_FUNCTION || !s.defined || !s.name.len || !s.size || !csni_in_text(c, s.addr)) continue;
        if (s.size > UINT32_MAX || s.addr > UINT64_MAX - s.size) continue;
        struct csni_listed_symbol listed = { s.addr, s.name, (uint32_t)s.size, order, s.bind == CSNI_BIND_WEAK,
                                             s.bind == CSNI_BIND_LOCAL };
        if (!csni_vec_push(&list->items, listed)) return csni_fail_memory(err, sizeof listed);
    }
    if (list->items.count)
        qsort(list->items.items, list->items.count, sizeof *list->items.items, listed_symbol_by_place);
    uint32_t merge = c->options.merged_functions;
    drop_covered(list, merge == CSN_MERGE_ALL || merge == CSN_MERGE_ALIASES);
    return CSN_OK;
}

void csni_symbol_list_deinit(struct csni_symbol_list *list) { csni_vec_deinit(&list->items); }

size_t csni_symbol_list_find(const struct csni_symbol_list *list, uint64_t addr) {
    return csni_lower_bound(list->items.items, list->items.count, addr, addr);
}

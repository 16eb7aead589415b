/* A hash table by place in the strings of the index. */
#include "convert/sources/index_strings.h"

#include "base/hash.h"

static struct csni_index_string *find_slot(const struct csni_index_strings *s, uint64_t strp) {
    size_t mask = s->slots.count - 1, at = (size_t)csni_hash_u64(strp) & mask;
    while (s->slots.items[at].number && s->slots.items[at].strp != strp) at = (at + 1) & mask;
    return &s->slots.items[at];
}

static bool grow(struct csni_index_strings *s) {
    struct csni_index_strings grown = { .slots.alloc = s->slots.alloc, .used = s->used, .text = s->text };
    size_t count = s->slots.count ? 2 * s->slots.count : 1024;
    if (!csni_vec_reserve(&grown.slots, count)) return false;
    grown.slots.count = count;
    memset(grown.slots.items, 0, count * sizeof *grown.slots.items);
    for (size_t i = 0; i < s->slots.count; i++)
        if (s->slots.items[i].number) *find_slot(&grown, s->slots.items[i].strp) = s->slots.items[i];
    csni_vec_deinit(&s->slots);
    *s = grown;
    return true;
}

uint32_t csni_index_strings_add_text(struct csni_index_strings *s, struct csni_batch_writer *w, struct csn_str text) {
    if (csni_budget_charge(&s->text, text.len)) return csni_batch_add_string(w, text);
    w->failed = true;
    return 0;
}

uint32_t csni_index_strings_add(struct csni_index_strings *s, struct csni_batch_writer *w, const struct csni_gsym *gsym,
                                uint64_t strp) {
    if (strp >= gsym->strings.size) return 0;
    if (4 * s->used >= 3 * s->slots.count && !grow(s)) {
        w->failed = true;
        return 0;
    }
    struct csni_index_string *slot = find_slot(s, strp);
    if (slot->number) return slot->number;
    uint32_t number = csni_index_strings_add_text(s, w, csni_gsym_string(gsym, strp));
    if (number) {
        *slot = (struct csni_index_string){ strp, number };
        s->used++;
    }
    return number;
}

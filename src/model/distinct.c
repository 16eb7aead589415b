/* Hash tables of distinct strings and files, with linear probing and at most half full. */
#include "model/distinct.h"

#include "base/core/budget.h"
#include "base/core/fail.h"
#include "base/hash.h"
#include "names/rename.h"

/* ---- strings ---- */

static bool grow_distinct_strings(struct csni_distinct_strings *s) {
    size_t count = s->slot_count ? s->slot_count * 2 : 256;
    uint32_t *slots = csni_alloc_present(s->items.alloc, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < s->items.count; i++) {
        size_t at = (size_t)s->items.items[i].hash & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    csni_free(s->items.alloc, s->slots, s->slot_count * sizeof *slots);
    s->slots = slots;
    s->slot_count = count;
    return true;
}

bool csni_distinct_strings_add(struct csni_distinct_strings *s, struct csn_str text, uint64_t hash, uint32_t *out_index) {
    if (s->items.count * 2 >= s->slot_count && !grow_distinct_strings(s)) return false;
    size_t at = (size_t)hash & (s->slot_count - 1);
    for (; s->slots[at]; at = (at + 1) & (s->slot_count - 1)) {
        const struct csni_distinct_string *d = &s->items.items[s->slots[at] - 1];
        if (d->hash != hash || (d->text.ptr != text.ptr && !csni_str_equal(d->text, text))) continue;
        *out_index = s->slots[at] - 1;
        return true;
    }
    if (!csni_vec_push(&s->items, ((struct csni_distinct_string){ .text = text, .hash = hash }))) return false;
    s->slots[at] = (uint32_t)s->items.count;
    *out_index = s->slots[at] - 1;
    return true;
}

void csni_distinct_strings_deinit(struct csni_distinct_strings *s) {
    csni_free(s->items.alloc, s->slots, s->slot_count * sizeof *s->slots);
    csni_vec_deinit(&s->items);
}

/* ---- other names ---- */

/* A short mangled name can be a very long one: bytes of new names for a byte of the old ones, in one table. */
enum { GROWTH_MAX = 256, GROWTH_BASE = 1 << 23 };

static uint64_t growth_limit(const struct csni_distinct_strings *strings) {
    uint64_t size = 0;
    for (size_t i = 0; i < strings->items.count; i++) size += strings->items.items[i].text.len;
    return csni_budget_for(GROWTH_BASE, size, GROWTH_MAX).limit;
}

static csn_status rename_names(struct csni_distinct_strings *strings, struct csni_renamer *renamer, struct csni_arena *arena,
                               struct csn_error *err) {
    struct csni_budget text = { .limit = growth_limit(strings) };
    for (size_t i = 0; i < strings->items.count; i++) {
        struct csni_distinct_string *d = &strings->items.items[i];
        struct csn_str name;
        if (!(d->hash & CSNI_NAME_BIT)) continue;
        csn_status status = csni_renamer_call(renamer, d->text, &name, err);
        if (status < 0) return status;
        if (status != CSN_OK) continue;
        if (!csni_budget_charge(&text, name.len))
            return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                             "new names have more than %llu bytes, the limit for the lengths of the old ones",
                             (unsigned long long)text.limit);
        const char *copy = csni_arena_copy(arena, name.ptr, name.len);
        if (!copy) return csni_fail_memory(err, name.len);
        d->text = (struct csn_str){ copy, name.len };
    }
    return CSN_OK;
}

csn_status csni_distinct_strings_rename(struct csni_distinct_strings *strings, const struct csni_model *model,
                                        struct csni_arena *arena, struct csn_error *err) {
    struct csni_renamer renamer;
    CSNI_TRY(csni_renamer_init(&renamer, model->rename, model->rename_context, model->alloc, err));
    csn_status status = rename_names(strings, &renamer, arena, err);
    csni_renamer_deinit(&renamer);
    return status;
}

/* ---- files ---- */

static size_t file_hash(const struct csni_distinct_string *directory, const struct csni_distinct_string *base) {
    return (size_t)csni_hash_u64((directory ? directory->hash : 0) * 3 + (base ? base->hash : 0));
}

static bool grow_files(struct csni_distinct_files *t) {
    size_t count = t->slot_count ? t->slot_count * 2 : 1024;
    uint32_t *slots = csni_alloc_present(t->items.alloc, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < t->items.count; i++) {
        size_t at = file_hash(t->items.items[i].directory, t->items.items[i].base) & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    csni_free(t->items.alloc, t->slots, t->slot_count * sizeof *slots);
    t->slots = slots;
    t->slot_count = count;
    return true;
}

struct csni_distinct_file *csni_distinct_files_add(struct csni_distinct_files *t, struct csni_distinct_string *directory,
                                                   struct csni_distinct_string *base) {
    if (t->items.count * 2 >= t->slot_count && !grow_files(t)) return NULL;
    size_t at = file_hash(directory, base) & (t->slot_count - 1);
    for (; t->slots[at]; at = (at + 1) & (t->slot_count - 1)) {
        struct csni_distinct_file *f = &t->items.items[t->slots[at] - 1];
        if (f->directory == directory && f->base == base) return f;
    }
    struct csni_distinct_file file = { directory, base, 0, (uint32_t)t->items.count + 1 };
    if (!csni_vec_push(&t->items, file)) return NULL;
    t->slots[at] = (uint32_t)t->items.count;
    return &t->items.items[t->items.count - 1];
}

void csni_distinct_files_deinit(struct csni_distinct_files *t) {
    csni_free(t->items.alloc, t->slots, t->slot_count * sizeof *t->slots);
    csni_vec_deinit(&t->items);
}

/* FILE and INLINE_ORIGIN records: what the numbers in other records stand for. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "formats/breakpad/breakpad.h"

/* An older form had a file number, or -1, before the name. A name that is a bare number is no such. */
static struct csn_str origin_name(struct csni_breakpad_line line) {
    struct csni_breakpad_line after = line;
    struct csn_str first = csni_breakpad_field(&after);
    size_t at = first.len && first.ptr[0] == '-';
    bool digits = first.len > at && after.p < after.end;
    for (; digits && at < first.len; at++) digits = first.ptr[at] >= '0' && first.ptr[at] <= '9';
    if (digits) line = after;
    return (struct csn_str){ line.p, (size_t)(line.end - line.p) };
}

bool csni_breakpad_define(struct csni_breakpad *b, struct csni_breakpad_chunk *chunk, const char *whole,
                          enum csni_breakpad_keyword keyword, struct csni_breakpad_line line) {
    bool is_file = keyword == CSNI_BREAKPAD_FILE;
    struct csni_breakpad_table *table = is_file ? &b->files : &b->origins;
    struct csni_breakpad_definition d = { .order = (uint32_t)table->items.count };
    if (!csni_breakpad_dec(&line, &d.number) || !csni_breakpad_rest(&line, &d.text) || table->items.count == UINT32_MAX - 1) {
        csni_breakpad_damage(chunk, whole, "no number and name");
        return true;
    }
    if (!is_file) d.text = origin_name(line);
    return csni_vec_push(&table->items, d);
}

static int by_number(const void *pa, const void *pb) {
    const struct csni_breakpad_definition *a = pa, *b = pb;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The first definition of a number stays. */
static void seal(struct csni_breakpad *b, struct csni_breakpad_table *t) {
    bool ascending = true;
    for (size_t i = 1; ascending && i < t->items.count; i++)
        ascending = t->items.items[i - 1].number < t->items.items[i].number;
    if (ascending) return;
    qsort(t->items.items, t->items.count, sizeof *t->items.items, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < t->items.count; i++) {
        const struct csni_breakpad_definition *d = &t->items.items[i];
        if (!kept || t->items.items[kept - 1].number != d->number) t->items.items[kept++] = *d;
        else csni_breakpad_damage(&b->chunks.items[0], d->text.ptr, "a number that is defined already");
    }
    t->items.count = kept;
}

void csni_breakpad_seal(struct csni_breakpad *b) {
    seal(b, &b->files);
    seal(b, &b->origins);
}

uint32_t csni_breakpad_find(const struct csni_breakpad_table *t, uint32_t number) {
    const struct csni_breakpad_definition *items = t->items.items;
    size_t count = t->items.count;
    if (!count || number < items[0].number) return UINT32_MAX;
    /* Writers number without gaps. */
    size_t guess = number - items[0].number;
    if (guess < count && items[guess].number == number) return (uint32_t)guess;
    size_t at = csni_lower_bound(items, count, number, number);
    return at < count && items[at].number == number ? (uint32_t)at : UINT32_MAX;
}

static csn_status define_in(struct csni_breakpad *b, struct csni_breakpad_chunk *chunk, struct csn_error *err) {
    for (const char *p = chunk->begin; p < chunk->end;) {
        struct csni_breakpad_line line;
        const char *whole = p;
        p = csni_breakpad_next_line(p, chunk->end, &line);
        enum csni_breakpad_keyword keyword = csni_breakpad_keyword(&line);
        if (keyword != CSNI_BREAKPAD_FILE && keyword != CSNI_BREAKPAD_INLINE_ORIGIN) continue;
        if (!csni_breakpad_define(b, chunk, whole, keyword, line))
            return csni_fail_memory(err, sizeof(struct csni_breakpad_definition));
    }
    return CSN_OK;
}

csn_status csni_breakpad_gather_definitions(struct csni_breakpad *b, bool *out_again, struct csn_error *err) {
    bool again = false;
    for (size_t i = 0; i < b->chunks.count; i++) again |= b->chunks.items[i].defines;
    if (again) {
        for (size_t i = 1; i < b->chunks.count; i++) {
            struct csni_breakpad_chunk *c = &b->chunks.items[i];
            c->defines = false;
            c->damaged = 0;
            c->first_damaged = NULL;
            c->symbols.count = c->extras.count = 0;
            CSNI_TRY(define_in(b, c, err));
        }
        csni_breakpad_seal(b);
    }
    b->has_all_definitions = true;
    *out_again = again;
    return CSN_OK;
}

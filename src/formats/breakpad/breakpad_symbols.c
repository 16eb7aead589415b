/* What is known once all chunks are read: symbols without a size, and which lines could not be used. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/ranges.h"
#include "formats/breakpad/breakpad.h"

/* A symbol, or the code of functions that follow each other. */
struct place {
    uint64_t start, end;
    struct csn_str name;
    size_t order;
};
typedef CSNI_VEC(struct place) places;

static int place_by_start(const void *pa, const void *pb) {
    const struct place *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The code of all functions, ascending and joined. */
static bool gather_code(const struct csni_breakpad *b, const struct csni_batch *batches, places *out) {
    for (size_t i = 1; i < b->chunks.count; i++)
        for (uint32_t k = 0; k < batches[i].function_count; k++) {
            const struct csni_function *f = &batches[i].functions[k];
            struct place place = { .start = f->start, .end = f->start + f->size, .order = out->count };
            if (!csni_vec_push(out, place)) return false;
        }
    out->count = csni_join_ranges(out->items, out->count, start, end);
    return true;
}

static bool gather_symbols(const struct csni_breakpad *b, places *out) {
    for (size_t i = 1; i < b->chunks.count; i++)
        for (size_t k = 0; k < b->chunks.items[i].symbols.count; k++) {
            const struct csni_breakpad_symbol *s = &b->chunks.items[i].symbols.items[k];
            struct place place = { s->addr, s->addr, s->name, out->count };
            if (!csni_vec_push(out, place)) return false;
        }
    if (out->count) qsort(out->items, out->count, sizeof *out->items, place_by_start);
    return true;
}

static void note_dropped(struct csni_batch_writer *out, const struct place *symbol, const char *why) {
    csni_batch_note(out, CSN_EVENT_DUPLICATE_DROPPED, "%.*s at 0x%llx: %s",
                    (int)(symbol->name.len < 100 ? symbol->name.len : 100), symbol->name.ptr,
                    (unsigned long long)symbol->start, why);
}

/* A symbol reaches to whatever comes next. Of several at one address the first in the file stays; functions go before it. */
static void add_breakpad_symbols(const places *symbols, const places *code, struct csni_batch_writer *out) {
    size_t at = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct place *s = &symbols->items[i];
        while (at < code->count && code->items[at].end <= s->start) at++;
        const struct place *next = at < code->count ? &code->items[at] : NULL;
        if (!s->start) {
            note_dropped(out, s, "Breakpad ignores a symbol at 0");
        } else if (next && next->start <= s->start) {
            note_dropped(out, s, "a function covers it");
        } else if (i && symbols->items[i - 1].start == s->start) {
            note_dropped(out, s, "another symbol came first");
        } else {
            size_t upper = i + 1;
            while (upper < symbols->count && symbols->items[upper].start == s->start) upper++;
            uint64_t end = next ? next->start : s->start;
            if (upper < symbols->count && (!next || symbols->items[upper].start < end)) end = symbols->items[upper].start;
            uint64_t size = end - s->start;
            csni_batch_begin_function(out, s->start, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                                      csni_batch_add_string(out, s->name), CSNI_SOURCE_SYMBOL);
        }
    }
}

/* ---- lines that could not be used ---- */

static uint64_t line_number(const struct csni_breakpad *b, const char *line) {
    uint64_t number = 1;
    for (const char *p = (const char *)b->file.ptr; (p = memchr(p, '\n', (size_t)(line - p))); p++) number++;
    return number;
}

static void note_breakpad_damage(const struct csni_breakpad *b, struct csni_batch_writer *out) {
    for (size_t i = 0; i < b->chunks.count; i++) {
        const struct csni_breakpad_chunk *c = &b->chunks.items[i];
        if (!c->damaged) continue;
        if (!out->note_counts[CSN_EVENT_DAMAGED_TEXT_LINE]) {
            struct csni_breakpad_line line;
            csni_breakpad_next_line(c->first_damaged, (const char *)b->file.ptr + b->file.size, &line);
            size_t len = (size_t)(line.end - line.p);
            csni_batch_note(out, CSN_EVENT_DAMAGED_TEXT_LINE, "line %llu: %s: %.*s",
                            (unsigned long long)line_number(b, c->first_damaged), c->damage, (int)(len < 80 ? len : 80), line.p);
        } else {
            csni_batch_note(out, CSN_EVENT_DAMAGED_TEXT_LINE, NULL);
        }
        out->note_counts[CSN_EVENT_DAMAGED_TEXT_LINE] += c->damaged - 1;
    }
}

csn_status csni_breakpad_read_symbols(struct csni_breakpad *b, const struct csni_batch *batches, struct csni_batch_writer *out,
                                      struct csn_error *err) {
    places symbols = { .alloc = b->alloc }, code = { .alloc = b->alloc };
    bool ok = gather_symbols(b, &symbols) && (!symbols.count || gather_code(b, batches, &code));
    if (ok) add_breakpad_symbols(&symbols, &code, out);
    csni_vec_deinit(&symbols);
    csni_vec_deinit(&code);
    if (!ok) return csni_fail_memory(err, sizeof(struct place));
    note_breakpad_damage(b, out);
    return CSN_OK;
}

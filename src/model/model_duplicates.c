/* Two functions of one address: whether they are the same, and which of them stays. */
#include <stdio.h>

#include "model/model_key.h"

/* ---- equality ---- */

static bool same_string(const struct csni_batch *a, uint32_t x, const struct csni_batch *b, uint32_t y) {
    return csni_str_equal(a->strings[x], b->strings[y]);
}

static bool same_file(const struct csni_batch *a, uint32_t x, const struct csni_batch *b, uint32_t y) {
    return same_string(a, a->files[x].directory, b, b->files[y].directory) &&
           same_string(a, a->files[x].base, b, b->files[y].base);
}

static bool same_rows(const struct csni_batch *a, const struct csni_function *f, const struct csni_batch *b,
                      const struct csni_function *g) {
    uint32_t file_x = 0, file_y = 0; /* known to be the same: the empty one */
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct csni_row *x = &a->rows[f->first_row + i], *y = &b->rows[g->first_row + i];
        if (x->off != y->off || x->line != y->line || csni_row_superseded(*x) != csni_row_superseded(*y)) return false;
        if (csni_row_file(*x) == file_x && csni_row_file(*y) == file_y) continue;
        file_x = csni_row_file(*x);
        file_y = csni_row_file(*y);
        if (!same_file(a, file_x, b, file_y)) return false;
    }
    return true;
}

static bool same_inlines(const struct csni_batch *a, const struct csni_function *f, const struct csni_batch *b,
                         const struct csni_function *g) {
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *x = &a->inlines[f->first_inline + i], *y = &b->inlines[g->first_inline + i];
        if (x->descendants != y->descendants || x->call_line != y->call_line || x->part_count != y->part_count ||
            !same_string(a, x->name, b, y->name) || !same_file(a, x->call_file, b, y->call_file) ||
            memcmp(&a->parts[x->first_part], &b->parts[y->first_part], x->part_count * sizeof *a->parts) != 0)
            return false;
    }
    return true;
}

bool csni_model_same_function(const struct csni_model *m, const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_batch *a = &m->batches[ka->batch], *b = &m->batches[kb->batch];
    const struct csni_function *f = csni_key_function(m, ka), *g = csni_key_function(m, kb);
    if (f->row_count != g->row_count || f->given_rows != g->given_rows || f->inline_count != g->inline_count) return false;
    return same_string(a, f->name, b, g->name) && same_rows(a, f, b, g) && same_inlines(a, f, b, g);
}

/* ---- choosing ---- */

void csni_model_note_pair(const struct csni_model *m, struct csn_convert_report *report, enum csn_event event,
                          const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_function *f = csni_key_function(m, ka), *g = csni_key_function(m, kb);
    struct csn_str a = m->batches[ka->batch].strings[f->name], b = m->batches[kb->batch].strings[g->name];
    char text[CSN_EXAMPLE_SIZE];
    int len = report->events[event].count ? 0
                                          : snprintf(text, sizeof text, "%.*s at 0x%llx+0x%x, %.*s at 0x%llx+0x%x",
                                                     (int)(a.len < 60 ? a.len : 60), a.ptr,
                                                     (unsigned long long)f->start, f->size,
                                                     (int)(b.len < 60 ? b.len : 60), b.ptr,
                                                     (unsigned long long)g->start, g->size);
    csni_report_add(report, event, 1, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

enum csni_verdict csni_model_judge(const struct csni_model *m, const struct csni_key *last,
                                   const struct csni_key *current, struct csn_convert_report *report) {
    const struct csni_function *p = csni_key_function(m, last), *c = csni_key_function(m, current);
    if (p->binary != c->binary) return CSNI_KEEP_BOTH;
    if (p->start == c->start && p->size == c->size) {
        if (csni_model_same_function(m, last, current)) {
            csni_model_note_pair(m, report, CSN_EVENT_DUPLICATE_DROPPED, current, last);
            return CSNI_DROP;
        }
        if (m->keeps_aliases) return CSNI_KEEP_BOTH;
        bool both = csni_function_is_rich(p) && csni_function_is_rich(c);
        csni_model_note_pair(m, report, both ? CSN_EVENT_DUPLICATE_REPLACED : CSN_EVENT_DUPLICATE_DROPPED, last, current);
        return CSNI_REPLACE;
    }
    /* start <= start holds by order, so only the end of the earlier one decides. */
    if (p->start < c->start + c->size && c->start < p->start + p->size) {
        csni_model_note_pair(m, report, CSN_EVENT_OVERLAP, last, current);
        return CSNI_KEEP_BOTH;
    }
    if (!p->size && p->start == c->start && c->size) {
        csni_model_note_pair(m, report, CSN_EVENT_DUPLICATE_DROPPED, last, current);
        return CSNI_REPLACE;
    }
    return CSNI_KEEP_BOTH;
}

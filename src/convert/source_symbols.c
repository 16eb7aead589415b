/* Functions from the symbol table: .symtab, or .dynsym where a file has no other. */
#include "base/fail.h"
#include "convert/source.h"

static void add_symbol(struct csni_conversion *c, struct csni_batch_writer *w, const struct csni_symbol *s) {
    if (s->kind != CSNI_SYMBOL_FUNCTION || !s->defined || !s->name.len || !csni_in_text(c, s->addr)) return;
    uint64_t size = s->size < UINT32_MAX ? s->size : UINT32_MAX;
    if (s->addr > UINT64_MAX - size) size = UINT64_MAX - s->addr;
    if (s->size > size)
        csni_batch_note(w, CSN_EVENT_FUNCTION_TOO_LARGE, "symbol at 0x%llx has 0x%llx bytes",
                        (unsigned long long)s->addr, (unsigned long long)s->size);
    csni_batch_begin_function(w, s->addr, (uint32_t)size, csni_batch_add_string(w, s->name), CSNI_SOURCE_SYMBOL);
}

/* Names are found by looking for their NUL: a hostile table of overlapping ones must not take for ever. */
static const uint64_t MAX_NAME_BYTES = (uint64_t)4 << 30;

static csn_status add_symbols(struct csni_conversion *c, struct csni_batch_writer *w, struct csni_symbol_iter *iter,
                              struct csn_error *err) {
    struct csni_symbol symbol;
    uint64_t name_bytes = 0;
    while (csni_symbol_iter_next(iter, &symbol) == CSN_OK) {
        name_bytes += symbol.name.len;
        if (name_bytes > MAX_NAME_BYTES)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "symbol names take over %llu bytes, the limit",
                             (unsigned long long)MAX_NAME_BYTES);
        add_symbol(c, w, &symbol);
    }
    if (iter->damaged) {
        csni_batch_note(w, CSN_EVENT_DAMAGED_SYMBOL, "names or sections out of range");
        w->note_counts[CSN_EVENT_DAMAGED_SYMBOL] = iter->damaged;
    }
    return CSN_OK;
}

csn_status csni_choose_symbol_table(struct csni_conversion *c, struct csni_object *debug, struct csni_symbol_iter *iter,
                                    struct csn_error *err) {
    csn_status status = csni_symbol_iter_init(iter, c->object, CSNI_SYMBOLS_STATIC, err);
    if (status == CSN_NONE && debug) status = csni_symbol_iter_init(iter, debug, CSNI_SYMBOLS_STATIC, err);
    if (status == CSN_NONE) status = csni_symbol_iter_init(iter, c->object, CSNI_SYMBOLS_DYNAMIC, err);
    return status;
}

csn_status csni_source_symbols(struct csni_conversion *c, struct csni_object *debug, struct csn_error *err) {
    struct csni_symbol_iter iter;
    csn_status status = csni_choose_symbol_table(c, debug, &iter, err);
    if (status < 0) return status;
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    struct csni_batch_writer *w = &c->writers[0];
    csni_batch_begin(w, &c->arenas[0]);
    if (status == CSN_OK) CSNI_TRY(add_symbols(c, w, &iter, err));
    c->report->functions_from_symbols += w->functions.count;
    return csni_batch_finish(w, batch, err);
}

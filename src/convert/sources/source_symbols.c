/* Functions from symbol tables (.symtab, or .dynsym and .gnu_debugdata where a file has no other), and from tables that
 * give functions without names. */
#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "convert/companions.h"
#include "convert/sources/covered_ranges.h"
#include "convert/sources/source.h"
#include "dwarf/dwarf_frames.h"

/* The symbols of one object on their way into a batch. */
struct reading {
    struct csni_conversion *conversion;
    struct csni_batch_writer *writer;
    struct csni_covered_ranges covered;
};

static void add_table_symbol(struct reading *r, const struct csni_symbol *s) {
    struct csni_conversion *c = r->conversion;
    struct csni_batch_writer *w = r->writer;
    if (s->kind != CSNI_SYMBOL_FUNCTION || !s->defined || !s->name.len || !csni_in_text(c, s->addr)) return;
    uint64_t size = s->size < UINT32_MAX ? s->size : UINT32_MAX;
    if (s->addr > UINT64_MAX - size) size = UINT64_MAX - s->addr;
    if (s->size > size)
        csni_batch_note(w, CSN_EVENT_FUNCTION_TOO_LARGE, "symbol at 0x%llx has 0x%llx bytes",
                        (unsigned long long)s->addr, (unsigned long long)s->size);
    if (csni_covered_ranges_have(&r->covered, s->addr, (uint32_t)size)) {
        c->symbols_left_out++;
        return;
    }
    csni_batch_begin_function(w, s->addr, (uint32_t)size, csni_batch_add_string(w, s->name), CSNI_SOURCE_SYMBOL);
    if (w->failed) return;
    struct csni_function *f = &w->functions.items[w->functions.count - 1];
    f->weak = s->bind == CSNI_BIND_WEAK;
    f->local = s->bind == CSNI_BIND_LOCAL;
}

/* Names are found by looking for their NUL: a hostile table of overlapping ones must not take forever. */
static const uint64_t MAX_NAME_BYTES = (uint64_t)4 << 30;

static csn_status add_table_symbols(struct reading *r, struct csni_symbol_iter *iter, struct csn_error *err) {
    struct csni_symbol symbol;
    uint64_t name_bytes = 0;
    iter->only_functions = true;
    while (csni_symbol_iter_next(iter, &symbol) == CSN_OK) {
        name_bytes += symbol.name.len;
        if (name_bytes > MAX_NAME_BYTES)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "symbol names take over %llu bytes, the limit",
                             (unsigned long long)MAX_NAME_BYTES);
        add_table_symbol(r, &symbol);
    }
    if (iter->damaged) {
        csni_batch_note(r->writer, CSN_EVENT_DAMAGED_SYMBOL, "names or sections out of range");
        r->writer->note_counts[CSN_EVENT_DAMAGED_SYMBOL] += iter->damaged - 1;
    }
    return CSN_OK;
}

/* Symbols of a stripped image that its own .gnu_debugdata holds. That it cannot be read is a note. CSN_NONE: none. */
static csn_status mini_debug_symbols(struct csni_conversion *c, struct csni_batch_writer *w, struct csni_symbol_iter *iter,
                                     struct csn_error *err) {
    struct csni_companion_file *mini;
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = csni_companion_open_mini_debug(c, c->object, &mini, &inner);
    if (status == CSN_OK) status = csni_symbol_iter_init(iter, mini->object, CSNI_SYMBOLS_STATIC, &inner);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status >= 0) return status;
    csni_batch_note(w, CSN_EVENT_DAMAGED_SYMBOL, "%s", csn_error_text(&inner));
    return CSN_NONE;
}

/* The image's own table, else that of its debug file. CSN_NONE: neither has one. */
static csn_status open_table(struct csni_object *image, struct csni_object *debug, struct csni_symbol_iter *iter,
                             struct csn_error *err) {
    csn_status status = csni_symbol_iter_init(iter, image, CSNI_SYMBOLS_STATIC, err);
    return status == CSN_NONE && debug ? csni_symbol_iter_init(iter, debug, CSNI_SYMBOLS_STATIC, err) : status;
}

/* That table, else what the image exports and what its .gnu_debugdata adds to it: that leaves out what .dynsym has. */
static csn_status read_tables(struct reading *r, struct csni_object *debug, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    struct csni_symbol_iter iter;
    csn_status status = open_table(c->object, debug, &iter, err);
    if (status != CSN_NONE) return status < 0 ? status : add_table_symbols(r, &iter, err);
    status = mini_debug_symbols(c, r->writer, &iter, err);
    if (status == CSN_OK) CSNI_TRY(add_table_symbols(r, &iter, err));
    if (status < 0) return status;
    status = csni_symbol_iter_init(&iter, c->object, CSNI_SYMBOLS_DYNAMIC, err);
    return status == CSN_OK ? add_table_symbols(r, &iter, err) : status;
}

/* ---- functions without names ---- */

static int table_by_address(const void *pa, const void *pb) {
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

/* The starts of all functions that a writer holds, ascending. */
static csn_status sorted_starts(const struct csni_conversion *c, const struct csni_batch_writer *w, uint64_t **out,
                                struct csn_error *err) {
    size_t count = w->functions.count;
    *out = csni_alloc_zeroed(c->alloc, count, sizeof **out);
    if (count && !*out) return csni_fail_memory(err, count * sizeof **out);
    for (size_t i = 0; i < count; i++) (*out)[i] = w->functions.items[i].start;
    if (count) qsort(*out, count, sizeof **out, table_by_address);
    return CSN_OK;
}

static csn_status add_nameless(struct csni_batch_writer *w, uint64_t start, struct csn_error *err) {
    char text[32];
    int len = snprintf(text, sizeof text, "sub_%llx", (unsigned long long)start);
    char *name = csni_arena_copy(w->arena, text, (size_t)len);
    if (!name) return csni_fail_memory(err, (size_t)len);
    csni_batch_begin_function(w, start, 0, csni_batch_add_string(w, (struct csn_str){ name, (size_t)len }),
                              CSNI_SOURCE_SYMBOL);
    return CSN_OK;
}

/* LC_FUNCTION_STARTS lists every function of an image, also where its symbol was stripped: they are named by address. Other
 * containers have no such list that is sure to be of functions. */
static csn_status add_functions_without_symbols(struct csni_conversion *c, struct csni_batch_writer *w,
                                                struct csn_error *err) {
    uint64_t *starts;
    size_t count = w->functions.count, at = 0;
    csn_status status = sorted_starts(c, w, &starts, err);
    for (size_t i = 0; status >= 0 && i < c->image.bounds.count; i++) {
        uint64_t start = c->image.bounds.items[i].start;
        while (at < count && starts[at] < start) at++;
        if ((at < count && starts[at] == start) || !csni_in_text(c, start)) continue;
        status = add_nameless(w, start, err);
    }
    csni_free(c->alloc, starts, count * sizeof *starts);
    return status;
}

/* ---- as a background task ---- */

static csn_status read_in_background(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)item;
    struct csni_symbol_source *s = context;
    struct csni_conversion *c = s->conversion;
    struct reading r = { .conversion = c, .writer = &c->writers[c->workers] };
    csni_batch_begin(r.writer, &c->arenas[c->workers]);
    CSNI_TRY(add_table_symbols(&r, &s->iter, err));
    csn_status status = csni_batch_finish(r.writer, &s->batch, err);
    csni_batch_writer_deinit(r.writer); /* megabytes that nothing else would use again */
    return status;
}

/* Only where that takes nothing of the object but what is read here: an ELF image's table is three sections at most. What goes
 * wrong here goes wrong once more when it is wanted, and is told then. */
void csni_source_symbols_begin(struct csni_symbol_source *s, struct csni_conversion *c, struct csni_object *debug) {
    *s = (struct csni_symbol_source){ .conversion = c, .debug = debug };
    if (c->workers == 1 || c->object->container != CSNI_CONTAINER_ELF) return;
    s->begun = open_table(c->object, debug, &s->iter, NULL) == CSN_OK;
    if (s->begun) csni_pool_start(c->pool, read_in_background, s);
}

/* The background task read its table before it was known which ranges are covered. */
static csn_status leave_out_covered(struct csni_symbol_source *s, struct csn_error *err) {
    struct csni_covered_ranges covered;
    struct csni_batch *b = &s->batch;
    CSNI_TRY(csni_covered_ranges_make(&covered, s->conversion, err));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->function_count; i++)
        if (!csni_covered_ranges_have(&covered, b->functions[i].start, b->functions[i].size))
            b->functions[kept++] = b->functions[i];
    s->conversion->symbols_left_out += b->function_count - kept;
    b->function_count = kept;
    csni_covered_ranges_deinit(&covered);
    return CSN_OK;
}

/* ---- bounds of functions ---- */

static csn_status add_bounds(struct csni_conversion *c, const csni_address_ranges *ranges, struct csn_error *err) {
    if (!csni_vec_reserve(&c->image.bounds, ranges->count))
        return csni_fail_memory(err, ranges->count * sizeof *c->image.bounds.items);
    for (size_t i = 0; i < ranges->count; i++)
        c->image.bounds.items[c->image.bounds.count++] =
            (struct csni_text_range){ ranges->items[i].low, ranges->items[i].high };
    return CSN_OK;
}

/* The bytes of a section, false where it is absent, not in this file, or cannot be read. */
static bool find_table_bytes(struct csni_object *object, const char *name, struct csni_frame_section *out) {
    uint32_t section = csni_object_find_section(object, name);
    if (section == CSNI_NO_SECTION || (object->sections[section].flags & CSNI_SECTION_NOBITS)) return false;
    out->addr = object->sections[section].addr;
    return csni_object_read_section(object, section, &out->bytes, NULL) == CSN_OK && out->bytes.size;
}

static uint64_t section_addr(const struct csni_object *object, const char *name) {
    uint32_t section = csni_object_find_section(object, name);
    return section == CSNI_NO_SECTION ? 0 : object->sections[section].addr;
}

/* Of an ELF image that has no other bounds: those of its unwind table. */
static csn_status find_frame_bounds(struct csni_conversion *c, struct csn_error *err) {
    struct csni_object *object = c->object;
    struct csni_frame_section frame = { .address_size = object->address_size, .big_endian = object->big_endian };
    bool linked = object->kind == CSNI_OBJECT_EXECUTABLE || object->kind == CSNI_OBJECT_SHARED;
    if (object->container != CSNI_CONTAINER_ELF || !linked || c->image.bounds.count) return CSN_OK;
    if (!find_table_bytes(object, ".eh_frame", &frame)) return CSN_OK;
    frame.text_base = section_addr(object, ".text");
    frame.data_base = section_addr(object, ".got");
    csni_address_ranges ranges = { .alloc = c->alloc };
    csn_status status = csni_dwarf_frame_ranges(&frame, &ranges, NULL); /* damage ends the list */
    status = status == CSN_E_MEMORY ? csni_fail_memory(err, 0) : add_bounds(c, &ranges, err);
    csni_vec_deinit(&ranges);
    return status;
}

/* ---- all of it ---- */

static csn_status read_now(struct csni_symbol_source *s, struct csn_error *err) {
    struct csni_conversion *c = s->conversion;
    struct reading r = { .conversion = c, .writer = &c->writers[0] };
    CSNI_TRY(csni_covered_ranges_make(&r.covered, c, err));
    csni_batch_begin(r.writer, &c->arenas[0]);
    csn_status status = read_tables(&r, s->debug, err);
    csni_covered_ranges_deinit(&r.covered);
    if (status < 0) return status;
    if (c->object->container == CSNI_CONTAINER_MACHO) CSNI_TRY(add_functions_without_symbols(c, r.writer, err));
    return csni_batch_finish(r.writer, &s->batch, err);
}

static bool lacks_sizes(const struct csni_batch *b) {
    for (uint32_t i = 0; i < b->function_count; i++)
        if (!b->functions[i].size) return true;
    return false;
}

csn_status csni_source_symbols(struct csni_symbol_source *s, struct csn_error *err) {
    struct csni_conversion *c = s->conversion;
    CSNI_TRY(s->begun ? csni_pool_join(c->pool, err) : read_now(s, err));
    if (s->begun) CSNI_TRY(leave_out_covered(s, err));
    if (lacks_sizes(&s->batch)) CSNI_TRY(find_frame_bounds(c, err));
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    *batch = s->batch;
    c->report->functions_from_symbols += batch->function_count + c->symbols_left_out;
    return CSN_OK;
}

void csni_source_symbols_end(struct csni_symbol_source *s) {
    if (s->begun) (void)csni_pool_join(s->conversion->pool, NULL); /* nothing is left unless a source failed */
}

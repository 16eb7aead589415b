/* Functions from symbol tables (.symtab, or .dynsym and .gnu_debugdata where a file has no other), and from tables that
 * give functions without names. */
#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "convert/companions.h"
#include "convert/sources/covered_ranges.h"
#include "convert/sources/source.h"
#include "dwarf/dwarf_frames.h"
#include "convert/sources/symbol_names.h"

/* The symbols of one object on their way into a batch. */
struct reading {
    struct csni_conversion *conversion;
    struct csni_symbol_source *source;
    struct csni_batch_writer *writer;
    struct csni_covered_ranges covered;
    struct csni_descriptors descriptors;
    bool has_descriptors;
};

/* GCC names the part of a section that a function gets after it, also where the function's symbol was stripped: .text$NAME,
 * .text.unlikely.NAME. Empty: another name. */
static struct csn_str function_of_section(struct csn_str name) {
    static const char *const prefixes[] = { ".text$", ".text.unlikely.", ".text.startup.", ".text.exit.", ".text.hot." };
    enum { SHORTEST = 3 }; /* .text$mn, .text$x and the like are groups of a linker */
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i]);
        if (csni_str_starts(name, prefixes[i]) && name.len - len >= SHORTEST)
            return (struct csn_str){ name.ptr + len, name.len - len };
    }
    return (struct csn_str){ "", 0 };
}

/* Symbols of PE images for parts of sections: code before them ends there. */
static csn_status add_contribution(struct reading *r, const struct csni_symbol *s) {
    struct csni_symbol named = *s;
    struct csni_function_bound bound = { s->addr, 0 };
    named.name = function_of_section(s->name);
    named.bind = CSNI_BIND_LOCAL;
    if (named.name.len && !csni_add_code_label(&r->source->labels, r->conversion->object, &named)) return CSN_E_MEMORY;
    return csni_vec_push(&r->source->contributions, bound) ? CSN_OK : CSN_E_MEMORY;
}

/* Symbols that are no functions, and may name code all the same. */
static csn_status add_other_symbol(struct reading *r, const struct csni_symbol *s) {
    const struct csni_object *object = r->conversion->object;
    bool in_code = s->section != CSNI_NO_SECTION && s->section < object->section_count && s->defined &&
                   (object->sections[s->section].flags & CSNI_SECTION_EXEC);
    if (!in_code || !s->name.len) return CSN_OK;
    if (object->container == CSNI_CONTAINER_PE && s->kind == CSNI_SYMBOL_SECTION && object->kind != CSNI_OBJECT_RELOCATABLE)
        return add_contribution(r, s);
    bool is_sized_data = s->kind == CSNI_SYMBOL_DATA && s->size; /* GHC marks code as data that tables stand before */
    if (object->container != CSNI_CONTAINER_ELF || (s->kind != CSNI_SYMBOL_NONE && !is_sized_data)) return CSN_OK;
    if (csni_is_local_label(object, s->name, false)) return CSN_OK;
    return csni_add_code_label(&r->source->labels, object, s) ? CSN_OK : CSN_E_MEMORY;
}

/* Where the code of a function is. False: not in this image. */
static bool find_code(const struct reading *r, const struct csni_symbol *s, uint64_t *addr) {
    *addr = s->addr;
    if (csni_in_text(r->conversion, s->addr)) return true;
    return r->has_descriptors && csni_descriptor_code(&r->descriptors, s->addr, addr) && csni_in_text(r->conversion, *addr);
}

static void add_function_symbol(struct reading *r, struct csni_symbol *s) {
    struct csni_conversion *c = r->conversion;
    struct csni_batch_writer *w = r->writer;
    if (!s->defined || !s->name.len || !find_code(r, s, &s->addr)) return;
    if (csni_is_local_label(c->object, s->name, true)) return;
    const uint32_t size = csni_batch_clip_size(w, 0, s->addr, s->size);
    if (!csni_mangled_symbols_add(&r->source->mangled, s->addr, size, s->name)) w->failed = true;
    if (csni_covered_ranges_have(&r->covered, s->addr, size)) {
        c->symbols_left_out++;
        return;
    }
    csni_batch_begin_function(w, s->addr, size, csni_batch_add_string(w, s->name), CSNI_SOURCE_SYMBOL);
    if (w->failed) return;
    struct csni_function *f = &w->functions.items[w->functions.count - 1];
    f->weak = s->bind == CSNI_BIND_WEAK;
    f->local = s->bind == CSNI_BIND_LOCAL;
}

/* Names are found by looking for their NUL: a hostile table of overlapping ones must not take forever. */
static const uint64_t MAX_NAME_BYTES = (uint64_t)4 << 30;

static void begin_symbols(struct reading *r, struct csni_symbol_source *s, struct csni_batch_writer *w) {
    *r = (struct reading){ .conversion = s->conversion, .source = s, .writer = w };
    r->has_descriptors = csni_object_descriptors(s->conversion->object, &r->descriptors, NULL) == CSN_OK;
}

static void end_symbols(struct reading *r) {
    if (r->has_descriptors) csni_descriptors_deinit(&r->descriptors);
}

static csn_status add_table_symbols(struct reading *r, struct csni_symbol_iter *iter, struct csn_error *err) {
    struct csni_symbol symbol;
    uint64_t name_bytes = 0;
    iter->only_functions = true;
    while (csni_symbol_iter_next(iter, &symbol) == CSN_OK) {
        name_bytes += symbol.name.len;
        if (name_bytes > MAX_NAME_BYTES)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "symbol names take over %llu bytes, the limit",
                             (unsigned long long)MAX_NAME_BYTES);
        bool is_function = symbol.kind == CSNI_SYMBOL_FUNCTION || symbol.kind == CSNI_SYMBOL_IFUNC;
        if (is_function) add_function_symbol(r, &symbol);
        else if (add_other_symbol(r, &symbol) < 0) return csni_fail_memory(err, sizeof symbol);
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
    struct reading r;
    begin_symbols(&r, s, &c->writers[c->workers]);
    csni_batch_begin(r.writer, &c->arenas[c->workers]);
    csn_status status = add_table_symbols(&r, &s->iter, err);
    end_symbols(&r);
    if (status < 0) return status;
    status = csni_batch_finish(r.writer, &s->batch, err);
    csni_batch_writer_deinit(r.writer); /* megabytes that nothing else would use again */
    return status;
}

/* Only where that takes nothing of the object but what is read here: an ELF image's table is three sections at most. What goes
 * wrong here goes wrong once more when it is wanted, and is told then. Not for Breakpad, whose goal is memory: read last, most
 * symbols are left out as they come (ceph-osd: 10 of 320 MB). */
void csni_source_symbols_begin(struct csni_symbol_source *s, struct csni_conversion *c, struct csni_object *debug) {
    *s = (struct csni_symbol_source){ .conversion = c, .debug = debug, .mangled.alloc = c->alloc,
                                      .labels.alloc = c->alloc, .contributions.alloc = c->alloc };
    if (c->workers == 1 || c->options.format == CSN_FORMAT_BREAKPAD || c->object->container != CSNI_CONTAINER_ELF) return;
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

static int bound_by_start(const void *pa, const void *pb) {
    const struct csni_text_range *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

/* Parts of sections begin where functions do that need have no names. */
static csn_status add_contributions(struct csni_symbol_source *s, struct csn_error *err) {
    struct csni_image *image = &s->conversion->image;
    if (!s->contributions.count) return CSN_OK;
    if (!csni_vec_reserve(&image->bounds, image->bounds.count + s->contributions.count))
        return csni_fail_memory(err, s->contributions.count * sizeof *image->bounds.items);
    for (size_t i = 0; i < s->contributions.count; i++)
        image->bounds.items[image->bounds.count++] = (struct csni_text_range){ s->contributions.items[i].start, 0 };
    qsort(image->bounds.items, image->bounds.count, sizeof *image->bounds.items, bound_by_start);
    return CSN_OK;
}

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

/* Of an ELF or PE image that has no other bounds: those of its unwind table. */
static csn_status find_frame_bounds(struct csni_conversion *c, struct csn_error *err) {
    struct csni_object *object = c->object;
    struct csni_frame_section frame = { .address_size = object->address_size, .big_endian = object->big_endian };
    bool linked = object->kind == CSNI_OBJECT_EXECUTABLE || object->kind == CSNI_OBJECT_SHARED;
    bool has_frames = object->container == CSNI_CONTAINER_ELF || object->container == CSNI_CONTAINER_PE;
    if (!has_frames || !linked || c->image.bounds.count) return CSN_OK;
    /* Names of sections in PE images may be cut. */
    if (!find_table_bytes(object, ".eh_frame", &frame) && !find_table_bytes(object, ".eh_fram", &frame)) return CSN_OK;
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
    struct reading r;
    begin_symbols(&r, s, &c->writers[0]);
    csn_status status = csni_covered_ranges_make(&r.covered, c, err);
    csni_batch_begin(r.writer, &c->arenas[0]);
    if (status >= 0) status = read_tables(&r, s->debug, err);
    csni_covered_ranges_deinit(&r.covered);
    end_symbols(&r);
    if (status < 0) return status;
    if (c->object->container == CSNI_CONTAINER_MACHO) CSNI_TRY(add_functions_without_symbols(c, r.writer, err));
    return csni_batch_finish(r.writer, &s->batch, err);
}

static bool lacks_sizes(const struct csni_batch *b) {
    for (uint32_t i = 0; i < b->function_count; i++)
        if (!b->functions[i].size) return true;
    return false;
}

/* What the reference converter makes of merged functions has neither labels nor stubs. */
static bool leaves_out_labels(const struct csni_conversion *c) { return c->options.merged_functions == CSN_MERGE_LLVM; }

/* Stubs alone tell nothing of a program: then it is the debug file that is missing. */
static bool has_functions(const struct csni_symbol_source *s) {
    if (s->batch.function_count || s->labels.count) return true;
    for (uint32_t b = s->conversion->first_batch; b < s->conversion->batch_count; b++)
        if (s->conversion->batches[b].function_count) return true;
    return false;
}

static bool labels_lack_sizes(const csni_code_labels *labels) {
    for (size_t i = 0; i < labels->count; i++)
        if (!labels->items[i].size) return true;
    return false;
}

/* Breakpad's file has another use for the background task. */
bool csni_source_symbols_release(const struct csni_symbol_source *s) {
    return s->is_last && s->conversion->workers > 1 && s->conversion->options.format != CSN_FORMAT_BREAKPAD;
}

static csn_status release_and_hash(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct csni_conversion *c = context;
    for (uint32_t i = 0; i < c->read_sections.count; i++)
        csni_object_release_section(c->read_sections.object, c->read_sections.section[i]);
    return csni_early_hashes_make(&c->early_hashes, worker, item, err);
}

/* Once no name changes any more. */
static void begin_hashing(const struct csni_symbol_source *s) {
    struct csni_conversion *c = s->conversion;
    if (!csni_source_symbols_release(s)) return;
    if (csni_early_hashes_init(&c->early_hashes, c->batches, c->batch_count, c->pool, c->arenas))
        csni_pool_start(c->pool, release_and_hash, c);
}

csn_status csni_source_symbols(struct csni_symbol_source *s, struct csn_error *err) {
    struct csni_conversion *c = s->conversion;
    CSNI_TRY(s->begun ? csni_pool_join(c->pool, err) : read_now(s, err));
    CSNI_TRY(csni_take_symbol_names(c, &s->mangled, err));
    bool has_all_names = !atomic_load(&c->has_nameless);
    if (has_all_names) begin_hashing(s);
    if (s->begun) CSNI_TRY(leave_out_covered(s, err));
    CSNI_TRY(csni_name_nameless(c, &s->batch, err));
    if (!has_all_names) begin_hashing(s);
    struct csni_batch labels = { .function_count = 0 };
    if (!leaves_out_labels(c) && has_functions(s)) CSNI_TRY(csni_add_stub_labels(&s->labels, c, err));
    if (lacks_sizes(&s->batch) || labels_lack_sizes(&s->labels)) CSNI_TRY(find_frame_bounds(c, err));
    CSNI_TRY(add_contributions(s, err));
    if (!leaves_out_labels(c)) CSNI_TRY(csni_place_code_labels(&s->labels, c, &s->batch, &labels, err));
    struct csni_batch *batch = csni_add_batches(c, 2);
    if (!batch) return csni_fail_memory(err, 2 * sizeof *batch);
    batch[0] = s->batch;
    batch[1] = labels;
    c->report->functions_from_symbols += batch[0].function_count + batch[1].function_count + c->symbols_left_out;
    return CSN_OK;
}

void csni_source_symbols_end(struct csni_symbol_source *s) {
    bool hashes = s->conversion->early_hashes.batches != NULL; /* what runs now is that */
    if (s->begun && !hashes) (void)csni_pool_join(s->conversion->pool, NULL); /* nothing is left unless a source failed */
    csni_vec_deinit(&s->labels);
    csni_vec_deinit(&s->contributions);
    csni_vec_deinit(&s->mangled);
}

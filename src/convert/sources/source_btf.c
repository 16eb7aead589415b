/* Functions and lines from BTF, for eBPF programs whose DWARF was stripped. */
#include "base/core/fail.h"
#include "base/core/sort.h"
#include "btf/btf.h"
#include "convert/sources/source.h"

/* A function or a line, at its address in the image. */
struct btf_item {
    uint64_t addr, section_end;
    uint32_t index;             /* in the list of struct csni_btf */
};

struct btf_items {
    struct btf_item *items;
    size_t count;
};

/* The section of code that the last item was in: lists name each once, for many items. */
struct section_range {
    struct csn_str name;
    uint64_t start, end;
    bool is_found;
};

static bool goes_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct btf_item *)a)->addr < ((const struct btf_item *)b)->addr;
}

static void find_code_section(const struct csni_object *object, struct csn_str name, struct section_range *range) {
    if (range->name.ptr == name.ptr && range->name.ptr) return;
    *range = (struct section_range){ .name = name };
    for (uint32_t i = 1; i < object->section_count && !range->is_found; i++) {
        const struct csni_section *s = &object->sections[i];
        if (!(s->flags & CSNI_SECTION_EXEC) || !csni_str_equal(s->name, name) || s->addr > UINT64_MAX - s->size) continue;
        *range = (struct section_range){ name, s->addr, s->addr + s->size, true };
    }
}

/* Ascending by address. Each of the `count` items of `size` bytes begins with its place. Those of sections that are
 * not there are left out. */
static csn_status place_items(struct csni_conversion *c, const void *items, size_t count, size_t size, struct btf_items *out,
                              struct csn_error *err) {
    struct section_range range = { .name = { NULL, 0 } };
    out->items = csni_alloc_zeroed(c->alloc, count, sizeof *out->items);
    struct btf_item *spare = csni_alloc_zeroed(c->alloc, count, sizeof *spare);
    bool has_memory = !count || (out->items && spare);
    for (size_t i = 0; has_memory && i < count; i++) {
        const struct csni_btf_place *place = (const void *)((const char *)items + i * size);
        find_code_section(c->object, place->section, &range);
        if (!range.is_found || place->off >= range.end - range.start) continue;
        out->items[out->count++] = (struct btf_item){ range.start + place->off, range.end, (uint32_t)i };
    }
    if (has_memory) csni_merge_sort(out->items, spare, out->count, sizeof *spare, goes_before, NULL);
    csni_free(c->alloc, spare, count * sizeof *spare);
    return has_memory ? CSN_OK : csni_fail_memory(err, count * sizeof *spare);
}

/* Lines of [start, end) from *line on. */
static void add_btf_rows(struct csni_batch_writer *w, const struct csni_btf *btf, const struct btf_items *lines, size_t *line,
                         uint64_t start, uint64_t end) {
    struct csn_str path = { NULL, 0 };
    uint32_t file = 0;
    while (*line < lines->count && lines->items[*line].addr < start) ++*line;
    for (; *line < lines->count && lines->items[*line].addr < end; ++*line) {
        const struct csni_btf_line *row = &btf->lines.items[lines->items[*line].index];
        if (!row->path.len) continue;
        if (row->path.ptr != path.ptr) file = csni_batch_add_path(w, row->path);
        path = row->path;
        csni_batch_add_row(w, (uint32_t)(lines->items[*line].addr - start), file, row->line);
    }
}

/* A function reaches to the next one, or to the end of its section. */
static void add_btf_functions(struct csni_batch_writer *w, const struct csni_btf *btf, const struct btf_items *functions,
                              const struct btf_items *lines) {
    size_t line = 0;
    for (size_t i = 0; i < functions->count; i++) {
        const struct btf_item *f = &functions->items[i];
        struct csn_str name = btf->functions.items[f->index].name;
        uint64_t end = f->section_end;
        if (i + 1 < functions->count && functions->items[i + 1].addr < end) end = functions->items[i + 1].addr;
        if (!name.len || end == f->addr || end - f->addr > UINT32_MAX) continue;
        csni_batch_begin_function(w, f->addr, (uint32_t)(end - f->addr), csni_batch_add_string(w, name), CSNI_SOURCE_BTF);
        add_btf_rows(w, btf, lines, &line, f->addr, end);
    }
}

static csn_status add_btf_batch(struct csni_conversion *c, const struct csni_btf *btf, const struct csn_error *damage,
                                struct csn_error *err) {
    struct csni_batch *batch = csni_add_batches(c, 1);
    struct btf_items functions = { NULL, 0 }, lines = { NULL, 0 };
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    csn_status status = place_items(c, btf->functions.items, btf->functions.count, sizeof *btf->functions.items, &functions, err);
    if (status >= 0) status = place_items(c, btf->lines.items, btf->lines.count, sizeof *btf->lines.items, &lines, err);
    if (status >= 0) {
        struct csni_batch_writer *w = &c->writers[0];
        csni_batch_begin(w, &c->arenas[0]);
        if (damage->code) csni_batch_note(w, CSN_EVENT_DAMAGED_UNIT, "BTF: %s", csn_error_text(damage));
        add_btf_functions(w, btf, &functions, &lines);
        c->report->functions_from_btf += w->functions.count;
        status = csni_batch_finish(w, batch, err);
    }
    csni_free(c->alloc, functions.items, btf->functions.count * sizeof *functions.items);
    csni_free(c->alloc, lines.items, btf->lines.count * sizeof *lines.items);
    return status;
}

/* As it is stored: its offsets count from the section of code, which a relocation would add. */
static bool stored_bytes(const struct csni_object *object, const char *name, struct csni_span *out) {
    uint32_t section = csni_object_find_section(object, name);
    if (section == CSNI_NO_SECTION) return false;
    const struct csni_section *s = &object->sections[section];
    return !(s->flags & (CSNI_SECTION_NOBITS | CSNI_SECTION_COMPRESSED)) &&
           csni_span_sub(object->file, s->file_off, s->file_size, out);
}

csn_status csni_source_btf(struct csni_conversion *c, struct csn_error *err) {
    struct csni_span types, lines;
    if (!stored_bytes(c->object, ".BTF", &types) || !stored_bytes(c->object, ".BTF.ext", &lines)) return CSN_OK;
    struct csni_btf btf;
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = csni_btf_read(types, lines, c->alloc, &btf, &damage);
    status = status == CSN_E_MEMORY ? csni_fail_memory(err, 0) : add_btf_batch(c, &btf, &damage, err);
    csni_btf_deinit(&btf);
    return status;
}

/* A model as a whole: its life, an image of many binaries made one, sizes of functions that have none. */
#include "model/model.h"

#include <stdio.h>

#include "base/core/search.h"

void csni_model_init(struct csni_model *model, const struct csn_allocator *alloc) {
    *model = (struct csni_model){ .alloc = alloc };
}

void csni_model_deinit(struct csni_model *m) {
    csni_free(m->alloc, m->entries, m->entry_capacity * sizeof *m->entries);
    csni_free(m->alloc, m->children, m->child_capacity * sizeof *m->children);
    csni_free(m->alloc, m->strings, m->string_capacity * sizeof *m->strings);
    csni_free(m->alloc, m->files, m->file_count * sizeof *m->files);
}

/* ---- many binaries ---- */

static void note_binary(struct csn_convert_report *report, enum csn_event event, uint64_t count, const char *what,
                        struct csn_str name) {
    char text[CSN_EXAMPLE_SIZE];
    int len = snprintf(text, sizeof text, "%s%.*s", what, (int)(name.len < 150 ? name.len : 150), name.ptr);
    if (count) csni_report_add(report, event, count, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

/* Leaves out functions of binaries without an address. */
static void flatten_batch(struct csni_model *m, struct csni_batch *b, struct csn_convert_report *report) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->function_count; i++) {
        struct csni_function f = b->functions[i];
        const struct csni_binary *binary = f.binary ? &m->image.binaries[f.binary - 1] : NULL;
        if (binary && !binary->address && m->image.binary_count > 1) {
            note_binary(report, CSN_EVENT_FUNCTION_NOT_PLACED, 1, "of ", binary->name);
            continue;
        }
        f.binary = 0;
        b->functions[kept++] = f;
    }
    b->function_count = kept;
}

void csni_model_flatten(struct csni_model *m, struct csn_convert_report *report) {
    struct csni_image *image = &m->image;
    if (!image->binary_count) return;
    for (uint32_t i = 0; i < m->batch_count; i++) flatten_batch(m, &m->batches[i], report);
    if (image->binary_count > 1)
        note_binary(report, CSN_EVENT_BINARY_LOST, image->binary_count, "", image->binaries[0].name);
    if (image->rename_count)
        note_binary(report, CSN_EVENT_PART_LOST, image->rename_count, "name on the device ", image->renames[0].name);
    image->binaries = NULL;
    image->renames = NULL;
    image->binary_count = image->rename_count = 0;
}

/* ---- sizes ----
 *
 * Mach-O and COFF symbols have no size at all, ELF's have none where an assembler source gave none. */

/* Index of the first bound that starts above `addr`. */
static size_t first_bound_above(const struct csni_model *m, uint64_t addr) {
    return csni_upper_bound(m->image.bounds.items, m->image.bounds.count, start, addr);
}

static uint64_t text_end(const struct csni_model *m, uint64_t addr) {
    const struct csni_text_range *text = m->image.text.items;
    for (size_t i = 0; i < m->image.text.count; i++)
        if (addr >= text[i].start && addr < text[i].end) return text[i].end;
    return addr;
}

/* Where entry `index` ends if nothing but its neighbours is known: at the next function, the next bound, the text's end. */
static uint64_t end_by_neighbours(const struct csni_model *m, uint32_t index, size_t next_bound) {
    uint64_t start = csni_model_function(m, &m->entries[index])->start, end = text_end(m, start);
    for (uint32_t i = index + 1; i < m->entry_count; i++) {
        uint64_t next = csni_model_function(m, &m->entries[i])->start;
        if (next == start) continue;
        if (next < end) end = next;
        break;
    }
    const struct csni_text_range *bounds = m->image.bounds.items;
    if (next_bound < m->image.bounds.count && bounds[next_bound].start < end) end = bounds[next_bound].start;
    return end;
}

void csni_model_size_functions(struct csni_model *m) {
    for (uint32_t i = 0; i < m->entry_count; i++) {
        struct csni_function *f = csni_model_function(m, &m->entries[i]);
        if (f->size) continue;
        size_t above = first_bound_above(m, f->start);
        const struct csni_text_range *own = above ? &m->image.bounds.items[above - 1] : NULL;
        uint64_t end = f->start;
        if (own && own->start == f->start && own->end > own->start) end = own->end;
        else if (m->image.symbols_lack_sizes || i + 1 == m->entry_count) end = end_by_neighbours(m, i, above);
        uint64_t size = end > f->start ? end - f->start : 0;
        f->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
}

uint64_t csni_model_text_size(const struct csni_model *model) {
    enum { TEXT_A_FUNCTION = 64 };
    uint64_t size = (uint64_t)model->entry_count * TEXT_A_FUNCTION;
    for (uint32_t i = 1; i < model->string_count; i++) size += model->strings[i].len;
    return size;
}

/* Sizes of functions whose source tells none: Mach-O and COFF symbols have none at all, ELF's have none where an assembler
 * source did not say. */
#include "base/core/search.h"
#include "model/model.h"

/* Index of the first bound that starts behind `addr`. */
static size_t bounds_behind(const struct csni_model *m, uint64_t addr) {
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
        size_t behind = bounds_behind(m, f->start);
        const struct csni_text_range *own = behind ? &m->image.bounds.items[behind - 1] : NULL;
        uint64_t end = f->start;
        if (own && own->start == f->start && own->end > own->start) end = own->end;
        else if (m->image.symbols_lack_sizes || i + 1 == m->entry_count) end = end_by_neighbours(m, i, behind);
        uint64_t size = end > f->start ? end - f->start : 0;
        f->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
}

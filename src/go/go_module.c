/* Moduledata: the record in which a Go program keeps where its parts are. It has no mark of its own. It begins with the
 * address of the function table, and what follows has to agree with that table. */
#include "base/core/search.h"
#include "go/go_private.h"

bool csni_go_bytes_at(const struct csni_go_image *image, uint64_t addr, struct csni_span *out) {
    for (size_t i = 0; i < image->section_count; i++) {
        const struct csni_go_section *s = &image->sections[i];
        if (addr < s->addr || addr - s->addr >= s->bytes.size) continue;
        *out = csni_span_from(s->bytes, addr - s->addr);
        return true;
    }
    return false;
}

static bool linked_pointer(const struct csni_go_image *image, uint64_t place, uint64_t *out) {
    size_t at = csni_lower_bound(image->pointers, image->pointer_count, place, place);
    if (at == image->pointer_count || image->pointers[at].place != place) return false;
    *out = image->pointers[at].value;
    return true;
}

bool csni_go_pointer_at(const struct csni_go_table *table, uint64_t addr, uint64_t *out) {
    struct csni_span bytes;
    if (linked_pointer(&table->image, addr, out)) return true;
    return csni_go_bytes_at(&table->image, addr, &bytes) &&
           csni_go_number_at(bytes, 0, table->pointer_size, table->big_endian, out);
}

static bool moduledata_word(const struct csni_go_table *t, uint64_t module, unsigned index, uint64_t *out) {
    uint64_t off = (uint64_t)index * t->pointer_size;
    return module <= UINT64_MAX - off && csni_go_pointer_at(t, module + off, out);
}

/* Where what functions refer to begins. Go 1.27 moved the word without changing the table's magic; there it points into the
 * table's section, and the section's end follows. */
static void read_func_data(struct csni_go_table *t, uint64_t module) {
    uint64_t start, end, section_end = t->addr + t->bytes.size;
    struct csni_span bytes;
    unsigned index = t->version == CSNI_GO_1_18 ? GO_MODULE_FUNC_DATA_1_18 : GO_MODULE_FUNC_DATA_1_20;
    bool moved = t->version == CSNI_GO_1_20 && moduledata_word(t, module, GO_MODULE_FUNC_DATA_1_27, &start) &&
                 moduledata_word(t, module, GO_MODULE_FUNC_DATA_1_27 + 1, &end) && start > t->addr && start <= end &&
                        end <= section_end;
    if (!moved && !moduledata_word(t, module, index, &start)) return;
    t->func_data = start;
    t->has_func_data = csni_go_bytes_at(&t->image, start, &bytes);
}

/* Whether moduledata stands at `addr`, whose first word points to the table. */
static bool agrees(struct csni_go_table *t, uint64_t addr) {
    uint64_t names, text, min_pc, max_pc, first;
    if (!moduledata_word(t, addr, GO_MODULE_NAMES, &names) ||
        names != t->addr + (uint64_t)(t->names.ptr - t->bytes.ptr)) return false;
    if (t->version < CSNI_GO_1_18) return true;
    if (!moduledata_word(t, addr, GO_MODULE_MIN_PC, &min_pc) || !moduledata_word(t, addr, GO_MODULE_MAX_PC, &max_pc) ||
        !moduledata_word(t, addr, GO_MODULE_TEXT, &text))
        return false;
    if (!csni_go_number_at(t->functions, 0, 4, t->big_endian, &first)) return false;
    if (min_pc != (text + first) << t->entry_shift || max_pc < min_pc) return false;
    t->text_start = text;
    read_func_data(t, addr);
    return true;
}

static bool find_in(struct csni_go_table *t, const struct csni_go_section *s) {
    uint8_t size = t->pointer_size;
    uint64_t skip = (size - s->addr % size) % size;
    for (uint64_t off = skip; off + size <= s->bytes.size; off += size)
        if (csni_get_sized(s->bytes.ptr + off, size, t->big_endian) == t->addr && agrees(t, s->addr + off)) return true;
    return false;
}

csn_status csni_go_read_module(struct csni_go_table *t) {
    const struct csni_go_image *image = &t->image;
    for (size_t i = 0; i < image->pointer_count; i++)
        if (image->pointers[i].value == t->addr && agrees(t, image->pointers[i].place)) return CSN_OK;
    for (size_t i = 0; i < image->section_count; i++)
        if (image->sections[i].bytes.size && find_in(t, &image->sections[i])) return CSN_OK;
    return CSN_NONE;
}

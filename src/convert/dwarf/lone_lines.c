/* Line tables that no unit names. */
#include "convert/dwarf/lone_lines.h"

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "convert/dwarf/unit_walk.h"

struct table_place {
    uint64_t off;
};

struct lone_lines {
    struct csni_unit_workers *workers;
    const struct csni_dwarf *dwarf;
    CSNI_VEC(struct table_place) named;
    CSNI_VEC(struct csni_unit) units; /* one made up for each table */
    struct csni_batch *batches;
};

static bool place_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct table_place *)a)->off < ((const struct table_place *)b)->off;
}

/* False: a unit could not be read, or memory is out, which `status` tells. */
static bool find_named(struct lone_lines *l, csn_status *status) {
    const struct csni_dwarf *dwarf = l->dwarf;
    *status = CSN_OK;
    if (dwarf->damage.code) return false;
    if (!csni_vec_reserve(&l->named, dwarf->unit_count)) {
        *status = CSN_E_MEMORY;
        return false;
    }
    for (uint32_t i = 0; i < dwarf->unit_count; i++) {
        if (!dwarf->units[i].prepared) return false;
        if (dwarf->units[i].has_stmt_list) l->named.items[l->named.count++].off = dwarf->units[i].stmt_list;
    }
    csni_heap_sort(l->named.items, l->named.count, sizeof *l->named.items, place_before, NULL);
    return true;
}

static bool is_named(const struct lone_lines *l, uint64_t off) {
    size_t at = csni_lower_bound(l->named.items, l->named.count, off, off);
    return at < l->named.count && l->named.items[at].off == off;
}

/* What is no line table ends the search: sections may be padded. The head of each takes this much at least, so that a hostile section
 * has few for its size. */
enum { TABLE_SIZE_MIN = 18 };
static csn_status find_tables(struct lone_lines *l, uint8_t address_size) {
    const struct csni_span section = l->dwarf->sections.line;
    const bool big = l->dwarf->sections.big_endian;
    for (uint64_t off = 0; off < section.size;) {
        const struct csni_span rest = { section.ptr + off, section.size - (size_t)off };
        uint64_t size = csni_dwarf_unit_size(rest, big);
        if (size < TABLE_SIZE_MIN || size > rest.size) break;
        struct csni_cursor c = csni_cursor_at(rest, big);
        bool is_long = csni_cursor_u32(&c) == UINT32_MAX;
        csni_cursor_skip(&c, is_long ? 8 : 0);
        unsigned version = csni_cursor_u16(&c);
        if (c.failed || version < 2 || version > 5) break;
        const struct csni_unit unit = { .off = off, .end = off + size, .version = (uint16_t)version, .address_size = address_size,
                                        .offset_size = is_long ? 8 : 4, .dwarf = l->dwarf, .prepared = true, .has_stmt_list = true,
                                        .stmt_list = off, .tag = DW_TAG_compile_unit };
        if (!is_named(l, off) && !csni_vec_push(&l->units, unit)) return CSN_E_MEMORY;
        off += size;
    }
    return CSN_OK;
}

static csn_status convert_table(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct lone_lines *l = context;
    return csni_unit_convert_lines(&l->workers->jobs[worker], &l->units.items[item], &l->batches[item], err);
}

static csn_status convert_tables(struct lone_lines *l, uint8_t address_size, struct csn_error *err) {
    struct csni_conversion *c = l->workers->conversion;
    csn_status status;
    if (!find_named(l, &status)) return status < 0 ? csni_fail_memory(err, 0) : CSN_OK;
    if (find_tables(l, address_size) < 0) return csni_fail_memory(err, sizeof *l->units.items);
    if (!l->units.count) return CSN_OK;
    l->batches = csni_add_batches(c, (uint32_t)l->units.count);
    if (!l->batches) return csni_fail_memory(err, l->units.count * sizeof *l->batches);
    return csni_pool_run(c->pool, l->units.count, convert_table, l, err);
}

csn_status csni_lone_lines_convert(struct csni_unit_workers *workers, const struct csni_dwarf *dwarf, uint8_t address_size,
                                   struct csn_error *err) {
    const struct csn_allocator *alloc = workers->conversion->alloc;
    struct lone_lines l = { .workers = workers, .dwarf = dwarf, .named.alloc = alloc, .units.alloc = alloc };
    csn_status status = convert_tables(&l, address_size, err);
    csni_vec_deinit(&l.named);
    csni_vec_deinit(&l.units);
    return status;
}

/* Line tables that no unit names. */
#include "convert/dwarf/lone_lines.h"

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/core/sort.h"
#include "convert/dwarf/unit_walk.h"

void csni_line_claims_init(struct csni_line_claims *claims, const struct csn_allocator *alloc) {
    *claims = (struct csni_line_claims){ .tables.alloc = alloc, .named.alloc = alloc };
}

void csni_line_claims_deinit(struct csni_line_claims *claims) {
    csni_vec_deinit(&claims->tables);
    csni_vec_deinit(&claims->named);
}

bool csni_line_claims_add_units(struct csni_line_claims *claims, const struct csni_dwarf *dwarf) {
    claims->is_incomplete |= dwarf->damage.code != 0;
    for (uint32_t i = 0; i < dwarf->unit_count; i++) {
        const struct csni_unit *unit = &dwarf->units[i];
        claims->is_incomplete |= !unit->prepared;
        if (unit->prepared && unit->has_stmt_list && !csni_vec_push(&claims->named, unit->stmt_list)) return false;
    }
    return true;
}

/* The head of each takes this much at least, so that a hostile section has few for its size. */
enum { TABLE_SIZE_MIN = 18 };

/* What is no line table ends the search: sections may be padded. */
bool csni_line_claims_find_tables(struct csni_line_claims *claims, struct csni_span section, bool big) {
    claims->has_tables = true;
    for (uint64_t off = 0; off < section.size;) {
        const struct csni_span rest = { section.ptr + off, section.size - (size_t)off };
        uint64_t size = csni_dwarf_unit_size(rest, big);
        if (size < TABLE_SIZE_MIN || size > rest.size) break;
        struct csni_cursor c = csni_cursor_at(rest, big);
        bool is_long = csni_cursor_u32(&c) == UINT32_MAX;
        csni_cursor_skip(&c, is_long ? 8 : 0);
        unsigned version = csni_cursor_u16(&c);
        if (c.failed || version < 2 || version > 5) break;
        const struct csni_lone_table table = { off, off + size, (uint16_t)version, is_long ? 8 : 4 };
        if (!csni_vec_push(&claims->tables, table)) return false;
        off += size;
    }
    return true;
}

static bool place_before(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

void csni_line_claims_keep_lone(struct csni_line_claims *claims) {
    size_t kept = 0, at = 0;
    csni_heap_sort(claims->named.items, claims->named.count, sizeof *claims->named.items, place_before, NULL);
    for (size_t i = 0; i < claims->tables.count; i++) {
        const struct csni_lone_table table = claims->tables.items[i];
        while (at < claims->named.count && claims->named.items[at] < table.off) at++;
        bool is_named = at < claims->named.count && claims->named.items[at] == table.off;
        if (!is_named && !claims->is_incomplete) claims->tables.items[kept++] = table;
    }
    claims->tables.count = kept;
}

struct lone_lines {
    struct csni_unit_workers *workers;
    const struct csni_dwarf *dwarf;
    const struct csni_line_claims *claims;
    uint8_t address_size;
    struct csni_batch *batches;
};

/* By a unit made up for the table. */
static csn_status convert_table(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct lone_lines *l = context;
    const struct csni_lone_table *table = &l->claims->tables.items[item];
    const struct csni_unit unit = { .off = table->off, .end = table->end, .version = table->version,
                                    .address_size = l->address_size,
                                    .offset_size = table->offset_size, .dwarf = l->dwarf, .prepared = true, .has_stmt_list = true,
                                    .stmt_list = table->off, .tag = DW_TAG_compile_unit };
    return csni_unit_convert_lines(&l->workers->jobs[worker], &unit, &l->batches[item], err);
}

csn_status csni_lone_lines_convert(struct csni_unit_workers *workers, const struct csni_dwarf *dwarf,
                                   const struct csni_line_claims *claims, uint8_t address_size, struct csn_error *err) {
    struct csni_conversion *c = workers->conversion;
    struct lone_lines l = { workers, dwarf, claims, address_size, csni_add_batches(c, (uint32_t)claims->tables.count) };
    if (!l.batches) return csni_fail_memory(err, claims->tables.count * sizeof *l.batches);
    return csni_pool_run(c->pool, claims->tables.count, convert_table, &l, err);
}

/* Abbreviation tables with every attribute. */
#include "base/core/search.h"
#include "base/core/sort.h"
#include "debug/debug_private.h"
#include "dwarf/dwarf_private.h"

void csni_debug_abbrevs_deinit(struct csni_debug_abbrevs *abbrevs) {
    if (!abbrevs->is_read) return;
    csni_vec_deinit(&abbrevs->items);
    csni_vec_deinit(&abbrevs->attrs);
}

static bool step_is_fixed(uint8_t op) {
    return op == CSNI_STEP_FIXED || op == CSNI_STEP_BYTES || op == CSNI_STEP_FLAG || op == CSNI_STEP_CONST;
}

/* One attribute. False: it is the pair of zeros at the end, or cannot be read. */
static bool read_attribute(struct csni_debug_abbrevs *abbrevs, struct csni_debug_abbrev *abbrev, struct csni_cursor *c,
                           const struct csni_abbrevs *sizes) {
    union csni_step step = { .op = CSNI_STEP_UNKNOWN };
    uint64_t name = csni_cursor_uleb(c), form = csni_cursor_uleb(c);
    if (c->failed || (!name && !form)) return false;
    struct csni_debug_attr attr = { .name = name > UINT16_MAX ? 0 : (uint16_t)name,
                                    .form = form > UINT16_MAX ? 0 : (uint16_t)form };
    if (form == DW_FORM_implicit_const) attr.implicit = csni_cursor_sleb(c);
    if (!csni_form_step(form, sizes, &step)) step.op = CSNI_STEP_UNKNOWN;
    attr.op = step.op;
    attr.size = step.op == CSNI_STEP_FIXED || step.op == CSNI_STEP_BYTES || step.op == CSNI_STEP_BLOCK_FIXED ||
                        step.op == CSNI_STEP_ULEB_FIXED
                    ? step.size : 0;
    if (!step_is_fixed(step.op)) abbrev->fixed_size = CSNI_NOT_FIXED;
    else if (abbrev->fixed_size != CSNI_NOT_FIXED) abbrev->fixed_size += attr.size;
    if (c->failed) return false;
    if (!csni_vec_push(&abbrevs->attrs, attr)) {
        abbrevs->status = CSN_E_MEMORY;
        return false;
    }
    abbrev->count++;
    return true;
}

static bool code_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct csni_debug_abbrev *)a)->code < ((const struct csni_debug_abbrev *)b)->code;
}

static csn_status read_table(struct csni_debug_abbrevs *abbrevs, const struct csni_dwarf *dwarf,
                             const struct csni_abbrevs *table) {
    struct csni_cursor c = csni_cursor_at(dwarf->sections.abbrev, dwarf->sections.big_endian);
    csni_cursor_seek(&c, table->off);
    abbrevs->is_dense = true;
    for (;;) {
        struct csni_debug_abbrev abbrev = { .code = csni_cursor_uleb(&c), .first = (uint32_t)abbrevs->attrs.count };
        if (c.failed || !abbrev.code || abbrevs->attrs.count > UINT32_MAX / 2) break;
        abbrev.tag = (uint16_t)csni_cursor_uleb(&c);
        abbrev.has_children = csni_cursor_u8(&c) != 0;
        while (read_attribute(abbrevs, &abbrev, &c, table)) continue;
        if (abbrevs->status == CSN_E_MEMORY) return CSN_E_MEMORY;
        if (c.failed) break;
        if (abbrev.code != abbrevs->items.count + 1) abbrevs->is_dense = false;
        if (!csni_vec_push(&abbrevs->items, abbrev)) return CSN_E_MEMORY;
    }
    if (!abbrevs->is_dense)
        csni_heap_sort(abbrevs->items.items, abbrevs->items.count, sizeof *abbrevs->items.items, code_before, NULL);
    return c.failed ? CSN_E_FORMAT : CSN_OK;
}

const struct csni_debug_abbrevs *csni_debug_unit_abbrevs(const struct csn_debug_unit *unit) {
    const struct csni_unit *of = csni_debug_dwarf_unit(unit);
    struct csni_debug_file *file = csni_debug_unit_file(unit);
    if (!of->abbrevs) return NULL;
    struct csni_debug_abbrevs *abbrevs = &file->abbrevs[of->abbrevs - file->dwarf->priv->tables];
    if (!abbrevs->is_read) {
        abbrevs->items.alloc = abbrevs->attrs.alloc = file->info->alloc;
        abbrevs->is_read = true;
        abbrevs->status = read_table(abbrevs, file->dwarf, of->abbrevs);
    }
    return abbrevs;
}

/* A table that the neighbours use too, as after dwz, stays: reading it again for each unit would take too long. */
void csni_debug_abbrevs_release(const struct csn_debug_unit *unit) {
    const struct csni_unit *of = csni_debug_dwarf_unit(unit);
    struct csni_debug_file *file = csni_debug_unit_file(unit);
    const struct csni_dwarf *dwarf = file->dwarf;
    if (!of->abbrevs) return;
    if (of > dwarf->units && of[-1].abbrevs == of->abbrevs) return;
    if (of + 1 < dwarf->units + dwarf->unit_count && of[1].abbrevs == of->abbrevs) return;
    struct csni_debug_abbrevs *abbrevs = &file->abbrevs[of->abbrevs - dwarf->priv->tables];
    csni_debug_abbrevs_deinit(abbrevs);
    *abbrevs = (struct csni_debug_abbrevs){ 0 };
}

/* Units: prepared when they are asked for, so that a file of thousands of them opens at once. */
#include <callsign/debug_info.h>

#include "base/core/fail.h"
#include "debug/debug_private.h"
#include "dwarf/dwarf_private.h"

static void describe_header(struct csn_debug_unit *out, const struct csni_unit *unit) {
    out->offset = unit->off;
    out->end = unit->end;
    out->root = unit->first_die;
    out->version = unit->version;
    out->address_size = unit->address_size;
    out->offset_size = unit->offset_size;
    out->unit_type = unit->unit_type;
    out->in_types = unit->in_types;
    out->dwo_id = unit->dwo_id;
    out->is_skeleton = unit->is_skeleton;
}

static void describe_root(struct csn_debug_unit *out, const struct csni_unit *unit) {
    describe_header(out, unit);
    out->low_pc = unit->has_low_pc ? unit->low_pc : 0;
    out->has_low_pc = unit->has_low_pc;
    out->line_offset = unit->stmt_list;
    out->has_lines = unit->has_stmt_list;
    out->name = unit->name;
    out->comp_dir = unit->comp_dir;
    out->producer = unit->producer;
    out->dwo_name = unit->dwo_name;
    out->tag = unit->tag;
    out->language = unit->language;
}

static csn_status prepare(struct csni_debug_file *file, uint32_t idx, struct csn_error *err) {
    struct csni_dwarf *dwarf = file->dwarf;
    struct csni_unit *unit = &dwarf->units[idx];
    struct csn_debug_unit *made = csni_arena_alloc(&file->info->arena, sizeof *made);
    if (!made) return csni_fail_memory(err, sizeof *made);
    *made = (struct csn_debug_unit){ .idx = idx, .name = { "", 0 }, .comp_dir = { "", 0 }, .producer = { "", 0 },
                                     .dwo_name = { "", 0 }, .priv = { unit, file, NULL } };
    describe_header(made, unit);
    file->units[idx] = made;
    if (unit->abbrevs && !unit->abbrevs->compiled
        && csni_dwarf_compile_abbrevs(dwarf, (uint32_t)(unit->abbrevs - dwarf->priv->tables), NULL) == CSN_E_MEMORY)
        return csni_fail_memory(err, 0);
    CSNI_TRY(csni_unit_prepare(dwarf, unit, err));
    describe_root(made, unit);
    return CSN_OK;
}

/* Preparing a unit looks at its root, which brings many pages around it into memory: now and then they are given back. */
static void forget_roots(struct csni_debug_file *file, const struct csni_unit *unit) {
    enum { UNITS = 64 };
    if (unit->in_types || file != &file->info->main) return;
    if (!file->roots || unit->off < file->roots_begin) file->roots_begin = unit->off;
    if (!file->roots || unit->end > file->roots_end) file->roots_end = unit->end;
    if (++file->roots < UNITS) return;
    file->roots = 0;
    csni_debug_file_forget(file, "info", file->roots_begin, file->roots_end - file->roots_begin);
}

csn_status csni_debug_file_unit(struct csni_debug_file *file, uint32_t idx, const struct csn_debug_unit **out,
                                struct csn_error *err) {
    if (!file->dwarf || idx >= file->dwarf->unit_count) return CSN_NONE;
    if (!file->prepared[idx]) {
        file->prepared[idx] = 1;
        file->status[idx] = prepare(file, idx, err);
        forget_roots(file, &file->dwarf->units[idx]);
    } else if (file->status[idx] < 0) {
        csni_fail(err, file->status[idx], ".debug_info", file->dwarf->units[idx].off, "the unit cannot be read");
    }
    if (file->units[idx]) *out = file->units[idx];
    return file->units[idx] ? file->status[idx] : csni_fail_memory(err, sizeof **out);
}

csn_status csn_debug_info_unit(struct csn_debug_info *info, uint32_t idx, const struct csn_debug_unit **out,
                               struct csn_error *err) {
    return csni_debug_file_unit(&info->main, idx, out, err);
}

csn_status csn_debug_info_unit_at(struct csn_debug_info *info, uint64_t offset, const struct csn_debug_unit **out,
                                  struct csn_error *err) {
    const struct csni_unit *unit = csni_dwarf_unit_at(info->main.dwarf, offset);
    return unit ? csni_debug_file_unit(&info->main, (uint32_t)(unit - info->main.dwarf->units), out, err) : CSN_NONE;
}

csn_status csn_debug_info_unit_index_at(const struct csn_debug_info *info, uint64_t offset, uint32_t *idx, uint64_t *begin) {
    const struct csni_unit *unit = csni_dwarf_unit_at(info->main.dwarf, offset);
    if (!unit) return CSN_NONE;
    *idx = (uint32_t)(unit - info->main.dwarf->units);
    *begin = unit->off;
    return CSN_OK;
}

void csn_debug_unit_release(const struct csn_debug_unit *unit) {
    if (!unit) return;
    const struct csni_unit *of = csni_debug_dwarf_unit(unit);
    const struct csni_debug_file *file = csni_debug_unit_file(unit);
    const struct csni_span line = of->dwarf->sections.line;
    csni_debug_abbrevs_release(unit);
    if (unit->is_split || unit->in_types || of->dwarf != file->info->main.dwarf) return;
    csni_debug_file_forget(file, "info", of->off, of->end - of->off);
    if (!unit->has_lines || unit->line_offset >= line.size) return;
    const struct csni_span table = { line.ptr + unit->line_offset, line.size - (size_t)unit->line_offset };
    const uint64_t size = csni_dwarf_unit_size(table, of->dwarf->sections.big_endian);
    if (size && size <= table.size) csni_debug_file_forget(file, "line", unit->line_offset, size);
}

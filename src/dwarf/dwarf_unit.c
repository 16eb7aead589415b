/* The unit DIE: what all other DIEs of a unit need to be read. */
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

#include "base/thread_pool.h"

/* llvm-dwp makes the tables of packages with strings beyond 4 GiB 64 bits wide: then the length says so (7.4), not the unit. */
static bool has_wide_strings(const struct csni_unit *unit) {
    const struct csni_dwarf_sections *sections = &unit->dwarf->sections;
    struct csni_span length;
    return csni_span_sub(sections->str_offsets, unit->str_offsets_at, 4, &length) &&
           csni_get32(length.ptr, sections->big_endian) == UINT32_MAX;
}

/* Bases of the indexed sections. Where a producer leaves one out, the table is taken to be the first of its section, whose
 * header has a size that depends on the offset size (DWARF 5, 7.26 to 7.29); GNU's extension of version 4 has no headers. */
static void read_bases(struct csni_unit *unit, const struct csni_die *die) {
    bool five = unit->version >= 5, wide = unit->offset_size == 8;
    unit->str_offset_size = unit->offset_size;
    if (five && !csni_die_has(die, CSNI_AT_STR_OFFSETS_BASE) && has_wide_strings(unit)) unit->str_offset_size = 8;
    unit->str_offsets_base = unit->str_offsets_at + (five ? (unit->str_offset_size == 8 ? 16 : 8) : 0);
    unit->addr_base = five ? (wide ? 16 : 8) : 0;
    unit->rnglists_base = unit->rnglists_at + (wide ? 20 : 12);
    unit->ranges_base = 0;
    csni_attr_unsigned(die, CSNI_AT_STR_OFFSETS_BASE, &unit->str_offsets_base);
    csni_attr_unsigned(die, CSNI_AT_ADDR_BASE, &unit->addr_base);
    csni_attr_unsigned(die, CSNI_AT_RNGLISTS_BASE, &unit->rnglists_base);
    csni_attr_unsigned(die, CSNI_AT_GNU_RANGES_BASE, &unit->ranges_base);
}

/* A string that cannot be read counts as absent: it must not cost the unit's functions their names. */
static struct csn_str string_of(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at) {
    struct csn_str s = { "", 0 };
    if (csni_attr_string(dwarf, die, at, &s, NULL) != CSN_OK) s = (struct csn_str){ "", 0 };
    return s;
}

static csn_status check_readable(struct csni_dwarf *dwarf, const struct csni_unit *unit, struct csn_error *err) {
    const char *section = csni_unit_section(unit);
    if (unit->version < 2 || unit->version > 5)
        return csni_fail(err, CSN_E_UNSUPPORTED, section, unit->off, "unit has DWARF version %u, need 2 to 5", unit->version);
    bool has_size = unit->address_size == 2 || unit->address_size == 4 || unit->address_size == 8;
    if (!unit->abbrevs && has_size)
        return csni_fail(err, CSN_E_FORMAT, section, unit->off, "no row of the package's index has this unit");
    if (!unit->abbrevs)
        return csni_fail(err, CSN_E_UNSUPPORTED, section, unit->off, "unit has addresses of %u bytes, need 2, 4 or 8",
                         unit->address_size);
    uint32_t table = (uint32_t)(unit->abbrevs - dwarf->priv->tables);
    if (!unit->abbrevs->compiled)
        return csni_fail(err, CSN_E_ARGUMENT, section, unit->off, "abbreviation table %" PRIu32 " has not been compiled",
                         table);
    if (unit->abbrevs->status == CSN_OK) return CSN_OK;
    /* Compiled again for the text of its error, into a copy, because other threads may be looking at the table. */
    struct csni_abbrevs copy = *unit->abbrevs;
    struct csni_dwarf_private priv = { .tables = &copy };
    struct csni_dwarf shadow = *dwarf;
    shadow.priv = &priv;
    csn_status status = csni_dwarf_compile_abbrevs(&shadow, 0, err);
    csni_free(dwarf->alloc, copy.memory, copy.memory_size);
    return status < 0 ? status : csni_fail_memory(err, sizeof copy);
}

csn_status csni_unit_prepare(struct csni_dwarf *dwarf, struct csni_unit *unit, struct csn_error *err) {
    CSNI_TRY(check_readable(dwarf, unit, err));
    struct csni_die die;
    CSNI_TRY(csni_die_at(dwarf, unit, unit->first_die, &die, err));
    unit->tag = die.tag;
    read_bases(unit, &die);
    uint64_t v;
    if (csni_attr_unsigned(&die, CSNI_AT_LANGUAGE, &v) == CSN_OK) unit->language = v > UINT32_MAX ? 0 : (uint32_t)v;
    unit->has_stmt_list = csni_attr_unsigned(&die, CSNI_AT_STMT_LIST, &unit->stmt_list) == CSN_OK;
    unit->has_low_pc = csni_attr_address(dwarf, &die, CSNI_AT_LOW_PC, &unit->low_pc, NULL) == CSN_OK;
    if (csni_die_has(&die, CSNI_AT_DWO_ID)) csni_attr_unsigned(&die, CSNI_AT_DWO_ID, &unit->dwo_id);
    unit->name = string_of(dwarf, &die, CSNI_AT_NAME);
    unit->comp_dir = string_of(dwarf, &die, CSNI_AT_COMP_DIR);
    unit->producer = string_of(dwarf, &die, CSNI_AT_PRODUCER);
    unit->dwo_name = string_of(dwarf, &die, CSNI_AT_DWO_NAME);
    if (unit->version < 5 && unit->dwo_name.len) unit->is_skeleton = true;
    unit->prepared = true;
    return CSN_OK;
}

enum { PREPARED_AT_ONCE = 32 }; /* units */

static csn_status prepare_item(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct csni_dwarf *dwarf = context;
    const struct csni_dwarf_sections *sections = &dwarf->sections;
    uint32_t first = (uint32_t)item * PREPARED_AT_ONCE;
    uint32_t end = dwarf->unit_count - first < PREPARED_AT_ONCE ? dwarf->unit_count : first + PREPARED_AT_ONCE;
    for (uint32_t i = first; i < end; i++) {
        csn_status status = csni_unit_prepare(dwarf, &dwarf->units[i], err);
        if (status == CSN_E_MEMORY) return status; /* damage comes out when the unit is looked for or converted */
    }
    if (end > dwarf->info_unit_count) end = dwarf->info_unit_count;
    if (sections->passed && first < end)
        sections->passed(sections->passed_context, dwarf->units[first].off, dwarf->units[end - 1].end);
    return CSN_OK;
}

csn_status csni_dwarf_prepare_all(struct csni_dwarf *dwarf, struct csni_pool *pool, struct csn_error *err) {
    return csni_pool_run(pool, (dwarf->unit_count + (size_t)PREPARED_AT_ONCE - 1) / PREPARED_AT_ONCE, prepare_item, dwarf, err);
}

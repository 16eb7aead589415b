/* Split DWARF: which unit belongs to a skeleton, and what it takes over from there. */
#include "dwarf/dwarf_split.h"

#include <inttypes.h>

#include "dwarf/dwarf_private.h"

static bool is_code(const struct csni_unit *unit) {
    return unit->prepared && unit->unit_type != DW_UT_type && unit->unit_type != DW_UT_split_type;
}

csn_status csni_split_index(struct csni_dwarf *dwarf, struct csn_error *err) {
    struct csni_dwarf_private *priv = dwarf->priv;
    if (priv->package) return CSN_OK;
    uint32_t count = dwarf->info_unit_count;
    priv->split_ids = csni_alloc_zeroed(dwarf->alloc, count, sizeof *priv->split_ids);
    if (count && !priv->split_ids) return csni_fail_memory(err, count * sizeof *priv->split_ids);
    priv->split_ids_capacity = count;
    for (uint32_t i = 0; i < count; i++)
        if (is_code(&dwarf->units[i]))
            priv->split_ids[priv->split_id_count++] = (struct csni_signature){ dwarf->units[i].dwo_id, i };
    csni_sort_signatures(priv->split_ids, priv->split_id_count);
    return CSN_OK;
}

static struct csni_unit *find_in_package(const struct csni_dwarf *dwarf, uint64_t dwo_id) {
    uint64_t off;
    if (!csni_package_find(dwarf->priv->package, dwo_id, &off)) return NULL;
    const struct csni_unit *unit = csni_dwarf_unit_at(dwarf, off);
    return unit && unit->off == off ? &dwarf->units[unit - dwarf->units] : NULL;
}

struct csni_unit *csni_split_find(const struct csni_dwarf *dwarf, uint64_t dwo_id) {
    const struct csni_dwarf_private *priv = dwarf->priv;
    if (priv->package) return find_in_package(dwarf, dwo_id);
    const struct csni_signature *found = csni_find_signature(priv->split_ids, priv->split_id_count, dwo_id);
    return found ? &dwarf->units[found->unit] : NULL;
}

const struct csni_unit *csni_split_first(const struct csni_dwarf *dwarf) {
    for (uint32_t i = 0; i < dwarf->info_unit_count; i++)
        if (is_code(&dwarf->units[i])) return &dwarf->units[i];
    return NULL;
}

csn_status csni_split_bind(struct csni_unit *unit, const struct csni_unit *skeleton, struct csn_error *err) {
    const char *section = csni_unit_section(unit);
    if (!is_code(unit)) return csni_fail(err, CSN_E_FORMAT, section, unit->off, "the unit has no code");
    if (unit->dwo_id != skeleton->dwo_id)
        return csni_fail(err, CSN_E_FORMAT, section, unit->off,
                         "unit has dwo_id 0x%016" PRIx64 ", its skeleton needs 0x%016" PRIx64, unit->dwo_id,
                         skeleton->dwo_id);
    if (unit->address_size != skeleton->address_size)
        return csni_fail(err, CSN_E_FORMAT, section, unit->off,
                         "unit has addresses of %u bytes, its skeleton of %u", unit->address_size, skeleton->address_size);
    unit->is_split = true;
    unit->addr_base = skeleton->addr_base;
    unit->ranges_base = skeleton->ranges_base;
    unit->low_pc = skeleton->low_pc;
    unit->has_low_pc = skeleton->has_low_pc;
    return CSN_OK;
}

/* The list of units: headers of .debug_info and .debug_types, and which abbreviation table each one uses. */
#include "base/core/checked.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/hash.h"
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

/* An abbreviation table is compiled once per way of reading it. Open addressing; 0 is an empty place. */
struct table_map {
    uint32_t *slots; /* table index + 1 */
    size_t size;     /* a power of two */
};

struct opener {
    struct csni_dwarf *dwarf;
    struct table_map map;
    CSNI_VEC(struct csni_unit) units;
    CSNI_VEC(struct csni_abbrevs) tables;
    CSNI_VEC(uint32_t) unit_tables;
    CSNI_VEC(struct csni_signature) signatures;
};

enum { NO_TABLE = UINT32_MAX };

static bool same_table(const struct csni_abbrevs *a, const struct csni_abbrevs *b) {
    return a->off == b->off && a->address_size == b->address_size && a->offset_size == b->offset_size &&
           a->version2 == b->version2;
}

static size_t table_slot(const struct opener *o, const struct csni_abbrevs *key) {
    uint64_t bits = key->off << 9 ^ (uint64_t)key->address_size << 5 ^ (uint64_t)key->offset_size << 1 ^ key->version2;
    size_t i = (size_t)csni_hash_u64(bits) & (o->map.size - 1);
    while (o->map.slots[i] && !same_table(&o->tables.items[o->map.slots[i] - 1], key)) i = (i + 1) & (o->map.size - 1);
    return i;
}

static bool grow_map(struct opener *o) {
    size_t size = o->map.size ? 2 * o->map.size : 64;
    uint32_t *slots = csni_alloc_zeroed(o->dwarf->alloc, size, sizeof *slots);
    if (!slots) return false;
    csni_free(o->dwarf->alloc, o->map.slots, o->map.size * sizeof *slots);
    o->map = (struct table_map){ slots, size };
    for (size_t i = 0; i < o->tables.count; i++) slots[table_slot(o, &o->tables.items[i])] = (uint32_t)i + 1;
    return true;
}

/* Index of the table that a unit reads by, or NO_TABLE when out of memory. */
static uint32_t table_of(struct opener *o, const struct csni_unit *unit) {
    struct csni_abbrevs key = { .off = unit->abbrev_off, .address_size = unit->address_size,
                                .offset_size = unit->offset_size, .version2 = unit->version == 2 };
    if (o->tables.count && same_table(&o->tables.items[o->tables.count - 1], &key)) return (uint32_t)o->tables.count - 1;
    if (2 * (o->tables.count + 1) > o->map.size && !grow_map(o)) return NO_TABLE;
    size_t slot = table_slot(o, &key);
    if (!o->map.slots[slot]) {
        if (!csni_vec_push(&o->tables, key)) return NO_TABLE;
        o->map.slots[slot] = (uint32_t)o->tables.count;
    }
    return o->map.slots[slot] - 1;
}

static bool is_supported(const struct csni_unit *u) {
    bool address = u->address_size == 2 || u->address_size == 4 || u->address_size == 8;
    return u->version >= 2 && u->version <= 5 && address;
}

/* What follows unit_length and version. */
static void read_header_rest(struct csni_cursor *c, struct csni_unit *u) {
    if (u->version >= 5) {
        u->unit_type = csni_cursor_u8(c);
        u->address_size = csni_cursor_u8(c);
        u->abbrev_off = csni_cursor_uint(c, u->offset_size);
        if (u->unit_type == DW_UT_skeleton || u->unit_type == DW_UT_split_compile) u->dwo_id = csni_cursor_u64(c);
    } else {
        u->abbrev_off = csni_cursor_uint(c, u->offset_size);
        u->address_size = csni_cursor_u8(c);
        u->unit_type = u->in_types ? DW_UT_type : DW_UT_compile;
    }
    if (u->unit_type == DW_UT_type || u->unit_type == DW_UT_split_type) {
        u->type_signature = csni_cursor_u64(c);
        u->type_off = csni_cursor_uint(c, u->offset_size);
    }
    u->first_die = csni_cursor_off(c);
    u->is_skeleton = u->unit_type == DW_UT_skeleton;
}

static bool only_zeros(const uint8_t *p, const uint8_t *end) {
    while (p < end && !*p) p++;
    return p == end;
}

/* The unit's length, and with it the size of its offsets. */
static uint64_t read_length(struct csni_cursor *c, uint8_t *offset_size) {
    uint64_t length = csni_cursor_u32(c);
    *offset_size = length == 0xffffffff ? 8 : 4;
    return length == 0xffffffff ? csni_cursor_u64(c) : length;
}

static bool is_reserved(uint64_t length, uint8_t offset_size) { return offset_size == 4 && length >= 0xfffffff0; }

uint64_t csni_dwarf_unit_size(struct csni_span header, bool big_endian) {
    struct csni_cursor c = csni_cursor_at(header, big_endian);
    uint8_t offset_size;
    uint64_t length = read_length(&c, &offset_size), whole;
    if (c.failed || !length || is_reserved(length, offset_size)) return 0;
    return csni_add_u64(length, csni_cursor_off(&c), &whole) ? whole : 0;
}

/* Reads one header at the cursor and moves after the unit. CSN_NONE: nothing but padding follows. */
static csn_status read_unit_header(struct csni_cursor *c, struct csni_unit *u, struct csn_error *err) {
    const char *name = csni_unit_section(u);
    const uint8_t *begin = c->p;
    u->off = csni_cursor_off(c);
    uint64_t length = read_length(c, &u->offset_size);
    if (is_reserved(length, u->offset_size))
        return csni_fail(err, CSN_E_FORMAT, name, u->off, "unit length 0x%" PRIx64 " is reserved, need < 0xfffffff0", length);
    if (c->failed)
        return csni_fail(err, CSN_E_TRUNCATED, name, u->off, "unit length needs more than the %" PRIu64 " bytes left",
                         (uint64_t)(c->end - begin));
    uint64_t left = csni_cursor_left(c);
    if (!length && only_zeros(begin, c->end)) return CSN_NONE;
    if (length > left)
        return csni_fail(err, CSN_E_TRUNCATED, name, u->off, "unit has 0x%" PRIx64 " bytes, 0x%" PRIx64 " are left", length,
                         left);
    u->end = csni_cursor_off(c) + length;
    struct csni_cursor header = *c;
    header.end = c->begin + u->end;
    csni_cursor_seek(c, u->end);
    u->version = csni_cursor_u16(&header);
    if (header.failed || (u->version >= 2 && u->version <= 5)) read_header_rest(&header, u);
    if (header.failed)
        return csni_fail(err, CSN_E_TRUNCATED, name, u->off, "unit of 0x%" PRIx64 " bytes ends within its header", length);
    if (!is_supported(u)) u->first_die = u->end;
    return CSN_OK;
}

static csn_status add_unit(struct opener *o, struct csni_unit *unit, struct csn_error *err) {
    uint32_t table = NO_TABLE;
    const struct csni_package *package = o->dwarf->priv->package;
    bool is_placed = !package || csni_package_place(package, unit);
    if (is_supported(unit) && is_placed) {
        table = table_of(o, unit);
        if (table == NO_TABLE) return csni_fail_memory(err, sizeof(struct csni_abbrevs));
    }
    if (o->units.count == UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, csni_unit_section(unit), unit->off, "more than %u units", UINT32_MAX);
    if (unit->unit_type == DW_UT_type || unit->unit_type == DW_UT_split_type) {
        struct csni_signature s = { unit->type_signature, (uint32_t)o->units.count };
        if (!csni_vec_push(&o->signatures, s)) return csni_fail_memory(err, sizeof s);
    }
    if (!csni_vec_push(&o->unit_tables, table) || !csni_vec_push(&o->units, *unit))
        return csni_fail_memory(err, sizeof *unit);
    return CSN_OK;
}

/* Lists the units of one section. A damaged header ends it; the first one is remembered. */
static csn_status scan(struct opener *o, bool in_types, struct csn_error *err) {
    const struct csni_dwarf_sections *sections = &o->dwarf->sections;
    struct csni_cursor c = csni_cursor_at(in_types ? sections->types : sections->info, sections->big_endian);
    enum { REPORT = 4 << 20 }; /* bytes: a look at each header brings much of a mapped section into memory */
    uint64_t reported = in_types ? 0 : sections->info_from;
    if (!in_types) c.begin = csni_info_base(sections);
    while (csni_cursor_left(&c)) {
        const uint64_t at = csni_cursor_off(&c);
        if (!in_types && sections->passed && at - reported >= REPORT) {
            sections->passed(sections->passed_context, reported, at);
            reported = at;
        }
        struct csni_unit unit = { .in_types = in_types, .dwarf = o->dwarf };
        struct csn_error damage = CSN_ERROR_INIT;
        csn_status status = read_unit_header(&c, &unit, &damage);
        if (status < 0 && o->dwarf->damage.code == CSN_OK) o->dwarf->damage = damage;
        if (status != CSN_OK) break;
        CSNI_TRY(add_unit(o, &unit, err));
    }
    if (!in_types && sections->passed) sections->passed(sections->passed_context, reported, csni_cursor_off(&c));
    return CSN_OK;
}

static bool signature_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_signature *a = pa, *b = pb;
    return a->signature != b->signature ? a->signature < b->signature : a->unit < b->unit;
}

void csni_sort_signatures(struct csni_signature *s, size_t count) {
    csni_heap_sort(s, count, sizeof *s, signature_before, NULL);
}

const struct csni_signature *csni_find_signature(const struct csni_signature *s, size_t count, uint64_t signature) {
    size_t at = csni_lower_bound(s, count, signature, signature);
    return at < count && s[at].signature == signature ? &s[at] : NULL;
}

/* Hands what was gathered to the handle. */
static void adopt(struct opener *o) {
    struct csni_dwarf *dwarf = o->dwarf;
    struct csni_dwarf_private *priv = dwarf->priv;
    for (size_t i = 0; i < o->units.count; i++)
        if (o->unit_tables.items[i] != NO_TABLE) o->units.items[i].abbrevs = &o->tables.items[o->unit_tables.items[i]];
    dwarf->units = o->units.items;
    dwarf->unit_count = (uint32_t)o->units.count;
    dwarf->abbrev_table_count = (uint32_t)o->tables.count;
    priv->units_capacity = o->units.capacity;
    priv->tables = o->tables.items;
    priv->tables_capacity = o->tables.capacity;
    csni_sort_signatures(o->signatures.items, o->signatures.count);
    priv->signatures = o->signatures.items;
    priv->signature_count = o->signatures.count;
    priv->signatures_capacity = o->signatures.capacity;
    o->units.items = NULL;
    o->tables.items = NULL;
    o->signatures.items = NULL;
    o->units.capacity = o->tables.capacity = o->signatures.capacity = 0;
}

csn_status csni_dwarf_open(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                           struct csni_dwarf **out, struct csn_error *err) {
    alloc = csni_allocator_or_default(alloc);
    struct csni_dwarf *dwarf = csni_alloc_zeroed(alloc, 1, sizeof *dwarf);
    if (!dwarf) return csni_fail_memory(err, sizeof *dwarf);
    dwarf->alloc = alloc;
    dwarf->sections = *sections;
    dwarf->priv = csni_alloc_zeroed(alloc, 1, sizeof *dwarf->priv);
    if (!dwarf->priv) {
        csni_dwarf_close(dwarf);
        return csni_fail_memory(err, sizeof *dwarf->priv);
    }
    struct opener o = { .dwarf = dwarf };
    o.units.alloc = o.tables.alloc = o.unit_tables.alloc = o.signatures.alloc = alloc;
    csn_status status = CSN_OK;
    if (sections->cu_index.size)
        status = csni_package_create(sections, alloc, &dwarf->priv->package, &dwarf->damage, err);
    if (status == CSN_OK) status = scan(&o, false, err);
    dwarf->info_unit_count = (uint32_t)o.units.count;
    csni_abbrev_lookup_make(&dwarf->priv->lookup, 8, 4, false);
    if (status == CSN_OK) status = scan(&o, true, err);
    if (status == CSN_OK) adopt(&o);
    csni_vec_deinit(&o.units);
    csni_vec_deinit(&o.tables);
    csni_vec_deinit(&o.unit_tables);
    csni_vec_deinit(&o.signatures);
    csni_free(alloc, o.map.slots, o.map.size * sizeof *o.map.slots);
    if (status < 0) csni_dwarf_close(dwarf);
    else *out = dwarf;
    return status;
}

void csni_dwarf_close(struct csni_dwarf *dwarf) {
    if (!dwarf) return;
    const struct csn_allocator *alloc = dwarf->alloc;
    struct csni_dwarf_private *priv = dwarf->priv;
    if (priv) {
        for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++)
            csni_free(alloc, priv->tables[i].memory, priv->tables[i].memory_size);
        for (uint32_t i = 0; priv->steps && i < priv->workers; i++) csni_vec_deinit(&priv->steps[i]);
        for (uint32_t i = 0; priv->plans && i < priv->workers; i++) csni_arena_deinit(&priv->plans[i]);
        csni_free(alloc, priv->steps, priv->workers * sizeof *priv->steps);
        csni_free(alloc, priv->plans, priv->workers * sizeof *priv->plans);
        csni_free(alloc, priv->tables, priv->tables_capacity * sizeof *priv->tables);
        csni_free(alloc, priv->signatures, priv->signatures_capacity * sizeof *priv->signatures);
        csni_free(alloc, priv->split_ids, priv->split_ids_capacity * sizeof *priv->split_ids);
        csni_package_destroy(priv->package);
        csni_free(alloc, dwarf->units, priv->units_capacity * sizeof *dwarf->units);
        csni_free(alloc, priv, sizeof *priv);
    }
    csni_free(alloc, dwarf, sizeof *dwarf);
}

const struct csni_unit *csni_dwarf_unit_at(const struct csni_dwarf *dwarf, uint64_t off) {
    size_t at = csni_upper_bound(dwarf->units, dwarf->info_unit_count, end, off);
    return at < dwarf->info_unit_count && dwarf->units[at].off <= off ? &dwarf->units[at] : NULL;
}

/* Opening a module, its symbols, its units by range. */
#define _GNU_SOURCE
#include "stand_ins/llvm/llvm_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/coff_names.h"
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_damage.h"
#include "stand_ins/llvm/llvm_refusal.h"
#include "ui/bounds.h"

/* ---- symbols ---- */

static bool is_mapping_symbol(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    enum { EM_ARM = 40, EM_AARCH64 = 183, EM_RISCV = 243 };
    const char *name = s->name.ptr;
    const bool is_fake = !s->name.len || (s->name.len == 4 && memcmp(name, ".L0 ", 4) == 0); /* one end of a difference */
    if (is_fake && m->object.machine == EM_RISCV) return true;
    if (s->name.len < 2 || name[0] != '$') return false;
    switch (m->object.machine) {
    case EM_ARM: return name[1] == 'a' || name[1] == 'd' || name[1] == 't';
    case EM_AARCH64: case EM_RISCV: return name[1] == 'd' || name[1] == 'x';
    default: return false;
    }
}

bool llvm_is_stub(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    static const char prefix[] = "symbol stub for: ";
    return m->object.container == CSN_CONTAINER_MACHO && s->name.len > sizeof prefix - 1 &&
           memcmp(s->name.ptr, prefix, sizeof prefix - 1) == 0;
}

/* Of COFF, what defines a section only ends the symbol before. */
static bool defines_section(const struct csn_debug_symbol *s) { return s->kind == CSN_SYMBOL_SECTION && s->has_aux; }

/* Labels in sections that are not loaded: compilers put them into DWARF where the linker may still change sizes
 * (RISC-V, LoongArch). */
static bool is_in_unloaded_section(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    struct csn_debug_section section;
    return m->object.container == CSN_CONTAINER_ELF && csn_debug_info_section(m->info, s->section, &section, NULL) == CSN_OK &&
           !(section.flags & CSN_SECTION_ALLOC);
}

static bool is_wanted(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    if (s->section == CSN_NO_SECTION || is_in_unloaded_section(m, s) || llvm_is_stub(m, s)) return false;
    switch (s->kind) {
    case CSN_SYMBOL_NONE: return !is_mapping_symbol(m, s);
    case CSN_SYMBOL_FUNCTION: case CSN_SYMBOL_DATA: case CSN_SYMBOL_IFUNC: return true;
    case CSN_SYMBOL_FILE: return false;
    default: return m->object.container == CSN_CONTAINER_PE && !defines_section(s);
    }
}

static int by_addr_and_size(const void *pa, const void *pb) {
    const struct llvm_symbol *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

/* A stable sort: equal ones stay in the order of the table. */
static void sort_symbols(struct llvm_symbol *items, size_t count) {
    if (count < 2) return;
    struct llvm_symbol *left = zeroed_memory(count, sizeof *left);
    size_t half = count / 2;
    sort_symbols(items, half);
    sort_symbols(items + half, count - half);
    memcpy(left, items, half * sizeof *left);
    for (size_t i = 0, k = half, to = 0; i < half;)
        items[to++] = k < count && by_addr_and_size(&items[k], &left[i]) < 0 ? items[k++] : left[i++];
    free(left);
}

/* Bits 56 to 63 may be a tag: all are as bit 55 is. */
static uint64_t untagged(uint64_t addr) { return (addr & ((UINT64_C(1) << 56) - 1)) | (addr >> 55 & 1 ? UINT64_C(0xff) << 56 : 0); }

/* LLVM leaves the bit for Thumb in the value of an IFUNC. */
static uint64_t symbol_addr(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    struct csn_debug_section section;
    uint64_t addr = s->addr + (s->kind == CSN_SYMBOL_IFUNC ? s->had_low_bit : 0);
    if (llvm_is_unlinked(m) && csn_debug_info_section(m->info, s->section, &section, NULL) == CSN_OK) addr -= section.addr;
    return llvm_described_addr(m, m->untag ? untagged(addr) : addr);
}

/* A symbol, or what ends the one before. */
struct boundary {
    uint64_t value;
    uint32_t section;
    size_t symbol;           /* SIZE_MAX: no symbol */
};

static int by_section(const void *pa, const void *pb) {
    const struct boundary *a = pa, *b = pb;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Values of COFF count from the section. Those of an object that is not linked do so already: see symbol_addr(). */
static struct boundary boundary_at(const struct llvm_module *m, uint64_t addr, uint32_t section, size_t symbol) {
    struct csn_debug_section found;
    bool is_coff = m->object.container == CSN_CONTAINER_PE && csn_debug_info_section(m->info, section, &found, NULL) == CSN_OK;
    return (struct boundary){ addr - (is_coff && !llvm_is_unlinked(m) ? found.addr : 0), section, symbol };
}

/* Where symbols have no sizes they reach to the next one of their section, or to its end. That of COFF does not
 * count from the section: LLVM takes both as they are. */
static void guess_sizes(struct llvm_module *m, const struct csn_debug_symbol *table, size_t table_count) {
    struct { struct boundary *items; size_t count, capacity; } all = { 0 };
    struct csn_debug_section section;
    for (size_t i = 0; i < m->all_symbols.count; i++) {
        const struct boundary made = boundary_at(m, m->all_symbols.items[i].addr, m->all_symbols.items[i].section, i);
        GROW_PUSH(&all, made);
    }
    for (size_t i = 0; i < table_count; i++) {
        if (table[i].section == CSN_NO_SECTION || !defines_section(&table[i])) continue;
        const struct boundary made = boundary_at(m, symbol_addr(m, &table[i]), table[i].section, SIZE_MAX);
        GROW_PUSH(&all, made);
    }
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        if (csn_debug_info_section(m->info, i, &section, NULL) != CSN_OK) continue;
        const struct boundary made = { section.size + (llvm_is_unlinked(m) ? 0 : section.addr), i, SIZE_MAX };
        GROW_PUSH(&all, made);
    }
    if (all.count) qsort(all.items, all.count, sizeof *all.items, by_section);
    for (size_t i = 0; i + 1 < all.count; i++) {
        size_t next = i + 1;
        while (next + 1 < all.count && all.items[next].value == all.items[i].value) next++;
        if (all.items[i].symbol != SIZE_MAX)
            m->all_symbols.items[all.items[i].symbol].size = all.items[next].value - all.items[i].value;
    }
    free(all.items);
}

char *llvm_table_name(const struct llvm_module *m, struct csn_str name) {
    const bool is_win32 = m->object.container == CSN_CONTAINER_PE && m->object.machine == 0x14c;
    return is_win32 ? coff_table_name(name) : copy_text(name.ptr, name.len);
}

/* For as long as the module. In ELF and Mach-O a name ends with a NUL where it stands. */
static const char *plain_name(const struct llvm_module *m, struct csn_str name) {
    const bool is_terminated = m->object.container == CSN_CONTAINER_ELF || m->object.container == CSN_CONTAINER_MACHO;
    return !is_terminated ? llvm_table_name(m, name) : name.len ? name.ptr : "";
}

static void read_wasm_symbols(struct llvm_module *m, const char *path) {
    llvm_wasm_read_symbols(path, &m->wasm);
    for (size_t i = 0; i < m->wasm.count; i++) {
        const struct llvm_wasm_symbol *s = &m->wasm.items[i];
        const struct llvm_symbol made = { s->addr, s->size, s->name, NULL, 0 };
        GROW_PUSH(&m->all_symbols, made);
    }
}

static void read_object_symbols(struct llvm_module *m) {
    const struct csn_debug_symbol *symbols;
    size_t count = 0;
    const char *file = NULL;
    if (csn_debug_info_symbols(m->info, CSN_SYMBOLS_STATIC, &symbols, &count, NULL) != CSN_OK || !count)
        if (csn_debug_info_symbols(m->info, CSN_SYMBOLS_DYNAMIC, &symbols, &count, NULL) != CSN_OK) return;
    for (size_t i = 0; i < count; i++) {
        const struct csn_debug_symbol *s = &symbols[i];
        if (s->kind == CSN_SYMBOL_FILE && m->object.container == CSN_CONTAINER_ELF) {
            GROW_PUSH(&m->file_names, copy_text(s->name.ptr, s->name.len));
            file = m->file_names.items[m->file_names.count - 1];
        }
        if (!is_wanted(m, s)) continue;
        struct csn_str name = s->name;
        const char *plain = plain_name(m, name);
        bool is_local = s->bind == CSN_BIND_LOCAL && m->object.container == CSN_CONTAINER_ELF;
        const struct llvm_symbol made = { symbol_addr(m, s), s->size, plain, is_local ? file : NULL,
                                          s->section };
        GROW_PUSH(&m->all_symbols, made);
    }
    if (m->object.container != CSN_CONTAINER_ELF) guess_sizes(m, symbols, count);
}

static void read_symbols(struct llvm_module *m, const char *path) {
    if (m->object.container == CSN_CONTAINER_WASM) read_wasm_symbols(m, path);
    llvm_read_descriptors(m, path);
    if (m->object.container != CSN_CONTAINER_WASM) read_object_symbols(m);
    sort_symbols(m->all_symbols.items, m->all_symbols.count);
    for (size_t i = 0; i < m->all_symbols.count; i++) {
        bool is_last = i + 1 == m->all_symbols.count || m->all_symbols.items[i + 1].addr != m->all_symbols.items[i].addr;
        if (is_last) GROW_PUSH(&m->symbols, m->all_symbols.items[i]);
    }
}

const struct llvm_symbol *llvm_module_symbol(const struct llvm_module *m, uint64_t addr) {
    size_t low = UPPER_BOUND(m->symbols.items, m->symbols.count, addr, addr);
    if (!low) return NULL;
    const struct llvm_symbol *s = &m->symbols.items[low - 1];
    return s->size && s->addr + s->size <= addr ? NULL : s;
}

/* ---- units by range ---- */

struct endpoint {
    uint64_t addr;
    uint64_t unit_offset;
    uint32_t unit;
    bool is_start;
};

struct endpoints {
    struct endpoint *items;
    size_t count, capacity;
};

static void push_range(struct endpoints *to, uint32_t unit, uint64_t offset, uint64_t low, uint64_t high) {
    if (low >= high) return;
    const struct endpoint begin = { low, offset, unit, true }, end = { high, offset, unit, false };
    GROW_PUSH(to, begin);
    GROW_PUSH(to, end);
}

static void add_range(struct llvm_module *m, struct endpoints *to, uint32_t unit, uint64_t offset, uint64_t low, uint64_t high) {
    low = llvm_raw_addr(m, low, NULL);
    if (llvm_is_unlinked(m)) high = llvm_raw_addr(m, high - 1, NULL) + 1;
    push_range(to, unit, offset, low, high);
}

/* What .debug_aranges tells. */
struct arange_reading {
    struct llvm_module *module;
    struct endpoints *to;
    bool *has_unit;
};

bool llvm_has_section(const struct llvm_module *m, const char *name) {
    struct csn_debug_section s;
    for (uint32_t i = 1; i < m->object.section_count; i++)
        if (csn_debug_info_section(m->info, i, &s, NULL) == CSN_OK && s.name.len == strlen(name) &&
            memcmp(s.name.ptr, name, s.name.len) == 0)
            return true;
    return false;
}

static void take_arange(void *context, uint64_t unit_offset, uint64_t low, uint64_t high) {
    const struct arange_reading *r = context;
    uint32_t unit;
    uint64_t begin;
    if (csn_debug_info_unit_index_at(r->module->info, unit_offset, &unit, &begin) != CSN_OK) return;
    if (begin == unit_offset) r->has_unit[unit] = true; /* else the set is for another one, as LLVM sees it */
    push_range(r->to, unit, begin, low, high);
}

static void add_unit_ranges(struct llvm_module *m, const struct csn_debug_unit *unit, struct endpoints *to) {
    struct csn_debug_die die;
    struct csn_range few[16], *ranges = few;
    size_t count = 0;
    if (csn_debug_die_at(unit, unit->root, &die, NULL) != CSN_OK) return;
    if (csn_debug_die_ranges(&die, few, 16, &count, NULL) != CSN_OK) return;
    if (count > 16) {
        ranges = zeroed_memory(count, sizeof *ranges);
        (void)csn_debug_die_ranges(&die, ranges, count, &count, NULL);
    }
    count = llvm_listed_ranges(m, unit, ranges, count);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].start != ranges[i].end) add_range(m, to, unit->idx, unit->offset, ranges[i].start, ranges[i].end);
    if (ranges != few) free(ranges);
}

static int by_addr(const void *pa, const void *pb) {
    const struct endpoint *a = pa, *b = pb;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Where several units cover an address, the one that covers what is before it goes on, else the first of the file counts. */
static void cut_ranges(struct llvm_module *m, struct endpoints *points) {
    struct { uint32_t *items; size_t count, capacity; } valid = { 0 };
    uint64_t previous = UINT64_MAX;
    if (points->count) qsort(points->items, points->count, sizeof *points->items, by_addr);
    for (size_t i = 0; i < points->count; i++) {
        const struct endpoint *e = &points->items[i];
        if (previous < e->addr && valid.count) {
            struct llvm_unit_range *last = m->ranges.count ? &m->ranges.items[m->ranges.count - 1] : NULL;
            bool goes_on = false;
            uint32_t first = valid.items[0];
            for (size_t k = 0; k < valid.count; k++) {
                if (last && last->high == previous && valid.items[k] == last->unit) goes_on = true;
                if (valid.items[k] < first) first = valid.items[k];
            }
            const struct llvm_unit_range made = { previous, e->addr, first };
            if (goes_on) last->high = e->addr;
            else GROW_PUSH(&m->ranges, made);
        }
        if (e->is_start) {
            GROW_PUSH(&valid, e->unit);
        } else {
            for (size_t k = 0; k < valid.count; k++)
                if (valid.items[k] == e->unit) {
                    valid.items[k] = valid.items[--valid.count];
                    break;
                }
        }
        previous = e->addr;
    }
    free(valid.items);
}

static void read_ranges(struct llvm_module *m) {
    struct endpoints points = { 0 };
    bool *has_unit = zeroed_memory(m->object.unit_count, sizeof *has_unit);
    struct arange_reading reading = { m, &points, has_unit };
    m->has_ranges = true;
    llvm_read_aranges(m, take_arange, &reading);
    m->has_no_units = llvm_report_units(m);
    for (uint32_t i = 0; i < m->object.info_unit_count; i++) {
        const struct csn_debug_unit *unit = NULL;
        if (has_unit[i]) continue;
        if (csn_debug_info_unit(m->info, i, &unit, NULL) == CSN_OK) add_unit_ranges(m, unit, &points);
        else if (unit) llvm_report_root(m, unit);
    }
    cut_ranges(m, &points);
    llvm_drop_lost_units(m);
    free(points.items);
    free(has_unit);
}

struct llvm_unit *llvm_module_unit_at(struct llvm_module *m, uint32_t idx) {
    const struct csn_debug_unit *unit;
    if (idx >= m->object.info_unit_count) return NULL;
    if (m->units[idx]) return m->units[idx];
    if (csn_debug_info_unit(m->info, idx, &unit, NULL) != CSN_OK) return NULL;
    m->units[idx] = zeroed_memory(1, sizeof *m->units[idx]);
    m->units[idx]->unit = m->units[idx]->code = unit;
    if (unit->is_skeleton) (void)csn_debug_unit_split(unit, &m->units[idx]->code, NULL);
    return m->units[idx];
}

const struct llvm_unit_range *llvm_module_range(struct llvm_module *m, uint64_t addr) {
    if (!m->has_ranges) read_ranges(m);
    size_t low = UPPER_BOUND(m->ranges.items, m->ranges.count, high, addr);
    return low == m->ranges.count || m->ranges.items[low].low > addr ? NULL : &m->ranges.items[low];
}

struct llvm_unit *llvm_module_unit(struct llvm_module *m, uint64_t addr) {
    const struct llvm_unit_range *range = llvm_module_range(m, addr);
    if (m->has_no_units) (void)llvm_report_units(m); /* LLVM looks for them again */
    return range ? llvm_module_unit_at(m, range->unit) : NULL;
}

/* ---- opening ---- */

/* LLVM looks for debug files by build id in some folders, and by the names of links in others. */
struct llvm_searches {
    struct csn_companion_search *by_id, *by_link;
};

static void close_searches(struct llvm_searches *s) {
    if (!s) return;
    csn_companion_search_destroy(s->by_id);
    csn_companion_search_destroy(s->by_link);
    free(s);
}

static struct llvm_searches *open_searches(const struct llvm_module_options *options, const char *debug_file) {
    struct csn_companion_search_options companions = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    struct llvm_searches *made = zeroed_memory(1, sizeof *made);
    companions.allocator = &ending_allocator;
    companions.dwp_files = options->dwp ? &options->dwp : NULL;
    companions.dwp_file_count = options->dwp ? 1 : 0;
    companions.debug_dirs = options->fallback_dir ? &options->fallback_dir : NULL;
    companions.debug_dir_count = options->fallback_dir ? 1 : 0;
    (void)csn_companion_search_create(&companions, &made->by_link, NULL);
    companions.debug_file = debug_file;
    companions.debug_dirs = options->debug_dirs;
    companions.debug_dir_count = options->debug_dir_count;
    (void)csn_companion_search_create(&companions, &made->by_id, NULL);
    return made;
}

static csn_status find_debug_file(const struct llvm_searches *s, const struct csn_companion_request *request,
                                  struct csn_companion *out, struct csn_error *err) {
    struct csn_companion_request one = *request;
    one.name = NULL;
    const csn_status status = csn_companion_search_resolve(s->by_id, &one, out, err);
    if (status != CSN_NONE || !s->by_link) return status;
    one.name = request->name;
    one.id = NULL;
    one.id_size = 0;
    return csn_companion_search_resolve(s->by_link, &one, out, err);
}

/* From the working folder, and not beside the image. */
static csn_status find_split_file(const struct llvm_searches *s, const struct csn_companion_request *request,
                                  struct csn_companion *out, struct csn_error *err) {
    struct csn_companion_request one = *request;
    one.image_path = NULL;
    if (!one.directory) one.directory = ".";
    return csn_companion_search_resolve(s->by_id, &one, out, err);
}

/* LLVM does not look for the supplement that dwz makes. */
static csn_status resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                          struct csn_error *err) {
    const struct llvm_searches *s = context;
    if (request->kind == CSN_COMPANION_SUPPLEMENT || !s->by_id) return CSN_NONE;
    if (request->kind == CSN_COMPANION_DEBUG_FILE && request->has_crc) return find_debug_file(s, request, out, err);
    if (request->kind == CSN_COMPANION_DWO) return find_split_file(s, request, out, err);
    return csn_companion_search_resolve(s->by_id, request, out, err);
}

/* llvm-gsymutil looks for split DWARF alone. */
static csn_status resolve_split(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                                struct csn_error *err) {
    const bool is_wanted = request->kind == CSN_COMPANION_DWO || request->kind == CSN_COMPANION_DWP;
    return is_wanted ? resolve(context, request, out, err) : CSN_NONE;
}

/* NULL: it is no object file, of which *status tells. debug_file: that of the image; NULL: it is looked for. *used:
 * what the result needs for as long as it is open. */
static struct csn_debug_info *open_info(const char *path, const struct llvm_module_options *options, const char *debug_file,
                                        struct llvm_searches **used, csn_status *status) {
    struct llvm_searches *searches = open_searches(options, debug_file);
    struct csn_debug_info_options open = CSN_DEBUG_INFO_OPTIONS_INIT;
    struct csn_debug_info *info;
    open.allocator = &ending_allocator;
    open.resolver = options->only_split ? resolve_split : resolve;
    open.resolver_context = searches;
    open.arch = options->arch;
    *status = csn_debug_info_open_file(path, &open, &info, NULL);
    if (*status == CSN_E_NOT_FOUND && open.arch && !llvm_is_universal(path)) { /* LLVM chooses only where there are several */
        open.arch = NULL;
        *status = csn_debug_info_open_file(path, &open, &info, NULL);
    }
    if (*status == CSN_OK) {
        *used = searches; /* split DWARF is asked for later */
        return info;
    }
    close_searches(searches);
    return NULL;
}

/* The image with the debug information of a dSYM that was hinted at. */
static struct csn_debug_info *use_hints(const char *path, const struct llvm_module_options *options, struct csn_debug_info *info,
                                        struct llvm_searches **used) {
    struct csn_debug_object object;
    struct llvm_searches *searches;
    csn_status status;
    csn_debug_info_get_object(info, &object, sizeof object);
    for (size_t i = 0; i < options->dsym_hint_count && object.container == CSN_CONTAINER_MACHO && !object.unit_count; i++) {
        struct csn_debug_info *other = open_info(path, options, options->dsym_hints[i], &searches, &status);
        if (!other) continue;
        csn_debug_info_close(info);
        close_searches(*used);
        info = other;
        *used = searches;
        csn_debug_info_get_object(info, &object, sizeof object);
    }
    return info;
}

enum { MAX_LOCATIONS = 1 << 28 }; /* of variables: lists of damaged files may be those of all variables, each to the end of its section */

static struct llvm_module *make_module(const char *name, struct csn_debug_info *info, struct llvm_searches *searches) {
    struct llvm_module *m = zeroed_memory(1, sizeof *m);
    m->name = copy_text(name, strlen(name));
    m->info = info;
    m->searches = searches;
    csn_debug_info_get_object(info, &m->object, sizeof m->object);
    m->units = zeroed_memory(m->object.info_unit_count, sizeof *m->units);
    m->locations_left = MAX_LOCATIONS;
    llvm_read_sections(m);
    return m;
}

struct llvm_module *llvm_module_open_units(const char *path) {
    const struct llvm_module_options options = { 0 };
    struct llvm_searches *searches = NULL;
    csn_status status;
    struct csn_debug_info *info = open_info(path, &options, NULL, &searches, &status);
    return info ? make_module(path, info, searches) : NULL;
}

struct llvm_module *llvm_module_open(const char *name, const char *path, const struct llvm_module_options *options,
                                     const char **message) {
    csn_status status;
    struct llvm_searches *searches = NULL;
    if ((*message = llvm_refusal_before(path, options->arch, options->only_split))) return NULL;
    struct csn_debug_info *info = open_info(path, options, NULL, &searches, &status);
    if (!info) {
        *message = llvm_refusal_after(path, options->arch, options->only_split);
        return NULL;
    }
    info = use_hints(path, options, info, &searches);
    struct llvm_module *m = make_module(name, info, searches);
    m->untag = options->untag;
    m->reports_damage = true;
    read_symbols(m, path);
    return m;
}

void llvm_module_release_unit(struct llvm_module *m, uint32_t idx) {
    if (!m->units[idx]) return;
    const struct csn_debug_unit *unit = m->units[idx]->unit;
    llvm_unit_free(m->units[idx]);
    m->units[idx] = NULL;
    csn_debug_unit_release(unit);
}

void llvm_module_close(struct llvm_module *m) {
    if (!m) return;
    for (uint32_t i = 0; i < m->object.info_unit_count; i++) llvm_unit_free(m->units[i]);
    free(m->units);
    free(m->symbols.items);
    free(m->all_symbols.items);
    for (size_t i = 0; i < m->file_names.count; i++) free(m->file_names.items[i]);
    free(m->file_names.items);
    for (size_t i = 0; i < m->wasm.count; i++) free(m->wasm.items[i].name);
    free(m->wasm.items);
    free(m->ranges.items);
    free(m->sections.items);
    free(m->descriptors.bytes);
    csn_debug_info_close(m->info);
    close_searches(m->searches);
    free(m->name);
    free(m);
}

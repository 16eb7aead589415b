/* Opening, units and symbols. */
#define _GNU_SOURCE
#include "stand_ins/libdw/libdw_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/elf_ident.h"
#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

/* ---- opening ---- */

/* Of units that are held. */
enum { MIN_BUDGET = 8 << 20, MAX_BUDGET = 64 << 20, BUDGET_STEP = 128 << 10, MIN_UNITS = 4 };

static void find_bounds(struct libdw_module *m) {
    m->low = UINT64_MAX;
    for (uint32_t i = 0; i < m->object.segment_count; i++) {
        struct csn_debug_segment s;
        if (csn_debug_info_segment(m->info, i, &s, NULL) != CSN_OK || !s.size) continue;
        if (s.addr < m->low) m->low = s.addr;
        if (s.addr + s.size > m->high) m->high = s.addr + s.size;
    }
    if (m->object.kind == CSN_OBJECT_RELOCATABLE) {
        m->low = 0;
        for (uint32_t i = 1; i < m->object.section_count; i++) {
            struct csn_debug_section s;
            if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
            if (s.addr + s.size > m->high) m->high = s.addr + s.size;
        }
    }
    enum { PAGE = 4096 };
    m->low &= ~(uint64_t)(PAGE - 1);
}

static void read_symbols(struct libdw_module *m) {
    static const enum csn_symbol_source sources[] = { CSN_SYMBOLS_STATIC, CSN_SYMBOLS_DEBUG_FILE, CSN_SYMBOLS_DYNAMIC };
    for (int i = 0; i < 3 && !m->symbol_count; i++)
        if (csn_debug_info_symbols(m->info, sources[i], &m->symbols, &m->symbol_count, NULL) != CSN_OK) m->symbol_count = 0;
    while (m->first_global < m->symbol_count && m->symbols[m->first_global].bind == CSN_BIND_LOCAL) m->first_global++;
}

static uint64_t take_number(const unsigned char **p, const unsigned char *end, unsigned size, bool big) {
    uint64_t value = 0;
    if ((size_t)(end - *p) < size) {
        *p = end;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)(*p)[i] << 8 * (big ? size - 1 - i : i);
    *p += size;
    return value;
}

static int by_addr(const void *pa, const void *pb) {
    const struct libdw_range *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The header of a set, which begins at *at. 0: it is damaged; else how large addresses are. */
static unsigned read_set_header(struct libdw_module *m, const unsigned char **at, const unsigned char *end, uint32_t *unit) {
    const bool big = m->object.big_endian;
    uint64_t unit_offset;
    unsigned offset_size = 4;
    uint64_t size = take_number(at, end, 4, big);
    if (size == 0xffffffff) {
        size = take_number(at, end, 8, big);
        offset_size = 8;
    } else if (size >= 0xfffffff0) {
        return 0;
    }
    if (take_number(at, end, 2, big) != 2) return 0;
    const uint64_t offset = take_number(at, end, offset_size, big);
    const unsigned addr_size = (unsigned)take_number(at, end, 1, big);
    const bool is_good = *at < end && !take_number(at, end, 1, big) && (addr_size == 4 || addr_size == 8);
    return is_good && csn_debug_info_unit_index_at(m->info, offset, unit, &unit_offset) == CSN_OK ? addr_size : 0;
}

/* As libdw, to the pair of zeros, whatever the header says of its size. False: it is damaged. */
static bool read_set(struct libdw_module *m, const unsigned char *section, const unsigned char **at, const unsigned char *end) {
    const bool big = m->object.big_endian;
    uint32_t unit;
    const unsigned addr_size = read_set_header(m, at, end, &unit);
    const size_t tuple = 2 * (size_t)addr_size;
    if (!tuple) return false;
    const size_t past = (size_t)(*at - section) % tuple;
    if (past && (size_t)(end - *at) >= tuple - past) *at += tuple - past;
    while ((size_t)(end - *at) >= tuple) {
        struct libdw_range made = { .unit = unit, .order = (uint32_t)m->ranges.count };
        made.addr = take_number(at, end, addr_size, big);
        made.size = take_number(at, end, addr_size, big);
        if (!made.addr && !made.size) return true;
        GROW_PUSH(&m->ranges, made);
    }
    return false;
}

/* One damaged set makes all of them unknown. */
static void read_ranges(struct libdw_module *m) {
    struct csn_str bytes;
    if (csn_debug_info_dwarf_section(m->info, "aranges", &bytes, NULL) != CSN_OK) return;
    const unsigned char *section = (const unsigned char *)bytes.ptr, *p = section, *end = p + bytes.len;
    while (p < end)
        if (!read_set(m, section, &p, end)) m->ranges.count = 0, p = end;
    if (!m->ranges.count) return;
    qsort(m->ranges.items, m->ranges.count, sizeof *m->ranges.items, by_addr);
    m->ranges_end = m->ranges.items[m->ranges.count - 1].addr + m->ranges.items[m->ranges.count - 1].size;
    size_t kept = 1;
    for (size_t i = 1; i < m->ranges.count; i++)
        if (m->ranges.items[i].unit != m->ranges.items[kept - 1].unit) m->ranges.items[kept++] = m->ranges.items[i];
    m->ranges.count = kept;
}

static void read_sections(struct libdw_module *m);

/* Of a list "DIR:DIR" the roots of debug files, which are absolute; '+' or '-' before one is for checksums. */
static const char **debug_dirs_of(char *list, size_t *count) {
    struct { const char **items; size_t count, capacity; } dirs = { 0 };
    for (char *dir; (dir = strsep(&list, ":"));) {
        if (*dir == '+' || *dir == '-') dir++;
        if (*dir == '/') GROW_PUSH(&dirs, (const char *)dir);
    }
    if (!dirs.count) GROW_PUSH(&dirs, "/dev/null");
    *count = dirs.count;
    return dirs.items;
}

/* As for a file in the current folder. */
static csn_status resolve_here(void *search, const struct csn_companion_request *request, struct csn_companion *out,
                               struct csn_error *err) {
    struct csn_companion_request here = *request;
    here.image_path = "./";
    return csn_companion_search_resolve(search, &here, out, err);
}

/* In folders of debug files alone. */
static csn_status resolve_nowhere(void *search, const struct csn_companion_request *request, struct csn_companion *out,
                                  struct csn_error *err) {
    struct csn_companion_request here = *request;
    here.image_path = NULL;
    return csn_companion_search_resolve(search, &here, out, err);
}

/* Whether a list has the folder of the object, or one within that. */
static bool has_relative(const char *list) {
    if (!list) return true;
    list += *list == '+' || *list == '-';
    while (*list == '/') {
        list += strcspn(list, ":");
        if (!*list++) return false;
        list += *list == '+' || *list == '-';
    }
    return true;
}

static struct libdw_module *open_module(const char *path, const char *debuginfo_path, csn_companion_resolver *resolver,
                                        const char **message) {
    struct csn_companion_search *search = NULL;
    struct csn_companion_search_options companions = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    struct csn_debug_info_options options = CSN_DEBUG_INFO_OPTIONS_INIT;
    struct csn_debug_info *info;
    struct stat st;
    if (stat(path, &st) != 0 || access(path, R_OK) != 0) {
        *message = strerror(errno);
        return NULL;
    }
    if (S_ISDIR(st.st_mode)) {
        *message = "invalid file descriptor";
        return NULL;
    }
    char *list = debuginfo_path ? copy_text(debuginfo_path, strlen(debuginfo_path)) : NULL;
    const char **dirs = list ? debug_dirs_of(list, &companions.debug_dir_count) : NULL;
    companions.debug_dirs = dirs;
    options.allocator = companions.allocator = &ending_allocator;
    if (csn_companion_search_create(&companions, &search, NULL) == CSN_OK) {
        options.resolver = resolver;
        options.resolver_context = search;
    }
    free(dirs);
    free(list);
    csn_status status = csn_debug_info_open_file(path, &options, &info, NULL);
    struct libdw_module *m = zeroed_memory(1, sizeof *m);
    if (status == CSN_OK) csn_debug_info_get_object(info, &m->object, sizeof m->object);
    if (status != CSN_OK || m->object.container != CSN_CONTAINER_ELF || !elf_ident_is_current(path)) {
        if (status == CSN_OK) csn_debug_info_close(info);
        csn_companion_search_destroy(search);
        free(m);
        *message = "not a valid ELF file";
        return NULL;
    }
    m->info = info;
    m->search = search;
    m->held_budget = MIN_BUDGET;
    m->units = zeroed_memory(m->object.unit_count, sizeof *m->units);
    find_bounds(m);
    read_symbols(m);
    read_sections(m);
    read_ranges(m);
    return m;
}

struct libdw_module *libdw_module_open(const char *path, const char *debuginfo_path, const char **message) {
    return open_module(path, debuginfo_path, csn_companion_search_resolve, message);
}

struct libdw_module *libdw_module_open_unnamed(const char *path, const char *debuginfo_path, const char **message) {
    return open_module(path, debuginfo_path, has_relative(debuginfo_path) ? resolve_here : resolve_nowhere, message);
}

static void free_unit(struct libdw_unit *u) {
    csn_debug_lines_free(u->lines);
    free(u->rows.items);
    free(u->dies.items);
    free(u->ranges.items);
    free(u);
}

void libdw_module_close(struct libdw_module *m) {
    for (size_t i = 0; i < m->held.count; i++) free_unit(m->units[m->held.items[i]]);
    free(m->held.items);
    free(m->units);
    free(m->sorted_symbols.items);
    free(m->ranges.items);
    free(m->sections.items);
    csn_debug_info_close(m->info);
    csn_companion_search_destroy(m->search);
    free(m);
}

bool libdw_module_contains(const struct libdw_module *m, uint64_t addr) { return addr >= m->low && addr <= m->high; }

/* ---- units ---- */

/* The range of an address, as libdwfl finds it: of several that start there, the one that its binary search meets first. */
static const struct libdw_range *find_range(const struct libdw_module *m, uint64_t addr) {
    for (size_t low = 0, high = m->ranges.count; low < high;) {
        const size_t idx = (low + high) / 2;
        const struct libdw_range *range = &m->ranges.items[idx];
        const bool is_last = idx + 1 == m->ranges.count;
        if (addr < range->addr) high = idx;
        else if (addr > range->addr && !is_last && addr >= range[1].addr) low = idx + 1;
        else return addr > range->addr && is_last && addr > m->ranges_end ? NULL : range;
    }
    return NULL;
}

uint32_t libdw_module_unit_index(const struct libdw_module *m, uint64_t addr) {
    const struct libdw_range *range = find_range(m, addr);
    return range ? range->unit : UINT32_MAX;
}

struct libdw_unit *libdw_module_unit(struct libdw_module *m, uint64_t addr) {
    const uint32_t idx = libdw_module_unit_index(m, addr);
    if (idx == UINT32_MAX) return NULL;
    if (!m->units[idx]) {
        const struct csn_debug_unit *unit;
        if (csn_debug_info_unit(m->info, idx, &unit, NULL) != CSN_OK) return NULL;
        m->units[idx] = zeroed_memory(1, sizeof *m->units[idx]);
        m->units[idx]->unit = unit;
        m->units[idx]->module = m;
        GROW_PUSH(&m->held, idx);
        m->bytes_read += unit->end - unit->root;
    }
    m->units[idx]->used = ++m->use_count;
    return m->units[idx];
}

static size_t bytes_of_rows(const struct libdw_unit *u) {
    return (u->lines ? u->lines->row_count * sizeof *u->lines->rows : 0) + u->rows.capacity * sizeof *u->rows.items;
}

static size_t bytes_of_dies(const struct libdw_unit *u) {
    return u->dies.capacity * sizeof *u->dies.items + u->ranges.capacity * sizeof *u->ranges.items;
}

void libdw_module_grow_budget(struct libdw_module *m) {
    if (m->held_budget < MAX_BUDGET) m->held_budget += BUDGET_STEP;
}

void libdw_module_trim(struct libdw_module *m) {
    while (m->held_bytes > m->held_budget && m->held.count > MIN_UNITS) {
        size_t oldest = 0;
        for (size_t i = 1; i < m->held.count; i++)
            if (m->units[m->held.items[i]]->used < m->units[m->held.items[oldest]]->used) oldest = i;
        struct libdw_unit *u = m->units[m->held.items[oldest]];
        const struct csn_debug_unit *unit = u->unit;
        m->held_bytes -= bytes_of_rows(u) + bytes_of_dies(u);
        m->units[m->held.items[oldest]] = NULL;
        m->held.items[oldest] = m->held.items[--m->held.count];
        free_unit(u);
        csn_debug_unit_release(unit);
    }
}

void libdw_module_reset_budget(struct libdw_module *m) {
    m->held_budget = MIN_BUDGET;
    libdw_module_trim(m);
}

static bool is_end(const struct csn_debug_row *row) { return row->flags & CSN_LINE_END_SEQUENCE; }

/* Rows of one table; where they are in it decides at last. */
static int compare_rows(const struct csn_debug_row *a, const struct csn_debug_row *b) {
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    if (is_end(a) != is_end(b)) return is_end(a) ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Rows from one index up to another, ascending as they stand. */
struct row_run { const struct csn_debug_row *first, *end; };

static int by_first_row(const void *pa, const void *pb) {
    const struct row_run *a = pa, *b = pb;
    return compare_rows(a->first, b->first);
}

static int by_row(const void *pa, const void *pb) {
    const struct csn_debug_row *const *a = pa, *const *b = pb;
    return compare_rows(*a, *b);
}

/* Rows that no order of runs brings into theirs. */
static void sort_rows(struct libdw_unit *u) {
    const struct csn_debug_row **rows = zeroed_memory(u->rows.count, sizeof *rows);
    for (size_t i = 0; i < u->rows.count; i++) rows[i] = &u->lines->rows[i];
    qsort(rows, u->rows.count, sizeof *rows, by_row);
    for (size_t i = 0; i < u->rows.count; i++) u->rows.items[i] = (uint32_t)(rows[i] - u->lines->rows);
    free(rows);
}

/* Tables are made of sequences, which ascend and do not overlap; they need not be in order. */
static void order_rows(struct libdw_unit *u) {
    struct { struct row_run *items; size_t count, capacity; } runs = { 0 };
    const struct csn_debug_row *rows = u->lines->rows, *end = rows + u->rows.count;
    for (const struct csn_debug_row *row = rows; row < end;) {
        struct row_run run = { row, row + 1 };
        while (run.end < end && compare_rows(run.end - 1, run.end) < 0) run.end++;
        GROW_PUSH(&runs, run);
        row = run.end;
    }
    qsort(runs.items, runs.count, sizeof *runs.items, by_first_row);
    bool is_ordered = true;
    for (size_t i = 0, at = 0; i < runs.count; i++) {
        if (i && compare_rows(runs.items[i - 1].end - 1, runs.items[i].first) > 0) is_ordered = false;
        for (const struct csn_debug_row *row = runs.items[i].first; row < runs.items[i].end; row++)
            u->rows.items[at++] = (uint32_t)(row - rows);
    }
    if (!is_ordered) sort_rows(u);
    free(runs.items);
}

static void read_rows(struct libdw_unit *u) {
    u->has_rows = true;
    if (csn_debug_unit_lines(u->unit, &u->lines, NULL) != CSN_OK) {
        u->lines = NULL;
        return;
    }
    u->rows.count = u->rows.capacity = u->lines->row_count;
    u->rows.items = zeroed_memory(u->rows.count, sizeof *u->rows.items);
    if (u->rows.count) order_rows(u);
    u->module->held_bytes += bytes_of_rows(u);
}

const struct csn_debug_row *libdw_unit_row_at(const struct libdw_unit *u, size_t place) {
    return &u->lines->rows[u->rows.items[place]];
}

size_t libdw_unit_first_row(const struct libdw_unit *u, uint64_t addr) {
    size_t low = 0, high = u->rows.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (libdw_unit_row_at(u, mid)->addr < addr) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* The last row of a unit ends, for libdw, whatever it says: a table may end with two rows of one address, or without an end. */
const struct csn_debug_row *libdw_unit_row(struct libdw_unit *u, uint64_t addr) {
    if (!u->has_rows) read_rows(u);
    const size_t low = addr == UINT64_MAX ? u->rows.count : libdw_unit_first_row(u, addr + 1);
    if (!low || low == u->rows.count) return NULL;
    const struct csn_debug_row *row = libdw_unit_row_at(u, low - 1);
    return is_end(row) ? NULL : row;
}

char *libdw_unit_file(struct libdw_unit *u, uint64_t file) {
    struct csn_str directory = { "", 0 }, name;
    uint64_t idx;
    char *path;
    if (!u->has_rows) read_rows(u);
    if (!u->lines) return NULL;
    if (u->lines->version < 5 && !file) return copy_text("???", 3);
    if (csn_debug_lines_file(u->lines, file, &directory, &name, &idx) != CSN_OK) return NULL;
    if (u->lines->version < 5 && !idx) directory = u->lines->comp_dir;
    if ((name.len && name.ptr[0] == '/') || !directory.len) return copy_text(name.ptr, name.len);
    path = zeroed_memory(directory.len + name.len + 2, 1);
    memcpy(path, directory.ptr, directory.len);
    path[directory.len] = '/';
    memcpy(path + directory.len + 1, name.ptr, name.len);
    return path;
}

/* ---- DIEs ---- */

static void read_die_ranges(struct libdw_unit *u, const struct csn_debug_die *die) {
    struct csn_range few[4];
    size_t count = 0;
    if (csn_debug_die_ranges(die, few, 4, &count, NULL) != CSN_OK || !count) return;
    struct csn_range *all = count > 4 ? zeroed_memory(count, sizeof *all) : few;
    if (count > 4) (void)csn_debug_die_ranges(die, all, count, &count, NULL);
    for (size_t i = 0; i < count; i++)
        if (all[i].start != all[i].end) GROW_PUSH(&u->ranges, all[i]);
    if (all != few) free(all);
}

static bool may_be_origin(uint32_t tag) {
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

/* DIEs that are no scope, hold none and stand for no function are not asked for: most of a unit. */
static void add_die(struct libdw_unit *u, const struct csn_debug_die *die, uint32_t parent) {
    struct libdw_die made = { .die = *die, .parent = parent, .first_range = (uint32_t)u->ranges.count };
    read_die_ranges(u, die);
    made.range_count = (uint32_t)(u->ranges.count - made.first_range);
    if (parent != LIBDW_NO_PARENT && !die->has_children && !made.range_count && !may_be_origin(die->tag)) return;
    made.end = (uint32_t)u->dies.count + 1;
    GROW_PUSH(&u->dies, made);
}

/* Where to go on after a type that holds no functions; 0: within it. */
static uint64_t after_type(const struct libdw_unit *u, const struct csn_debug_die *die) {
    struct csn_debug_value value;
    struct csn_debug_die sibling;
    const bool is_plain =
        die->tag == DW_TAG_array_type || die->tag == DW_TAG_enumeration_type || die->tag == DW_TAG_subroutine_type;
    if (!is_plain || !die->has_children || csn_debug_die_attribute(die, DW_AT_sibling, &value) != CSN_OK) return 0;
    if (csn_debug_die_follow(die, &value, &sibling, NULL) != CSN_OK || sibling.unit != u->unit) return 0;
    return sibling.offset > die->next ? sibling.offset : 0;
}

static void read_dies(struct libdw_unit *u) {
    struct csn_debug_die die;
    uint32_t parent = 0;
    u->has_dies = true;
    if (csn_debug_die_at(u->unit, u->unit->root, &die, NULL) != CSN_OK) return;
    add_die(u, &die, LIBDW_NO_PARENT);
    for (uint64_t offset = die.next; die.has_children && offset < u->unit->end;) {
        struct csn_debug_die next;
        csn_status status = csn_debug_die_at(u->unit, offset, &next, NULL);
        offset = next.next;
        if (status < 0) break;
        if (status == CSN_NONE) {
            u->dies.items[parent].end = (uint32_t)u->dies.count;
            parent = u->dies.items[parent].parent;
            if (parent == LIBDW_NO_PARENT) break;
            continue;
        }
        const uint64_t after = after_type(u, &next);
        if (after) {
            offset = after;
            continue;
        }
        add_die(u, &next, parent);
        if (next.has_children) parent = (uint32_t)u->dies.count - 1;
    }
    for (; parent != LIBDW_NO_PARENT; parent = u->dies.items[parent].parent) u->dies.items[parent].end = (uint32_t)u->dies.count;
    FIT_ITEMS(&u->dies);
    FIT_ITEMS(&u->ranges);
    u->module->held_bytes += bytes_of_dies(u);
}

static bool holds(const struct libdw_unit *u, const struct libdw_die *d, uint64_t addr) {
    for (uint32_t i = 0; i < d->range_count; i++) {
        const struct csn_range *r = &u->ranges.items[d->first_range + i];
        if (addr >= r->start && addr < r->end) return true;
    }
    return false;
}

/* What does not hold the address is not entered; of several children that do, the first counts. */
uint32_t libdw_unit_scope(struct libdw_unit *u, uint64_t addr) {
    if (!u->has_dies) read_dies(u);
    uint32_t found = LIBDW_NO_PARENT, end = u->dies.count ? u->dies.items[0].end : 0;
    for (uint32_t i = 1; i < end;) {
        if (!holds(u, &u->dies.items[i], addr)) {
            i = u->dies.items[i].end;
            continue;
        }
        found = i;
        end = u->dies.items[i].end;
        i++;
    }
    return found;
}

uint32_t libdw_unit_find(const struct libdw_unit *u, uint64_t offset) {
    size_t low = LOWER_BOUND(u->dies.items, u->dies.count, die.offset, offset);
    return low < u->dies.count && u->dies.items[low].die.offset == offset ? (uint32_t)low : LIBDW_NO_PARENT;
}

/* ---- sections ---- */

static int by_bounds(const void *pa, const void *pb) {
    const struct libdw_section *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return a->idx < b->idx ? -1 : a->idx > b->idx;
}

static void read_sections(struct libdw_module *m) {
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
        const struct libdw_section made = { s.addr, s.addr + s.size, i };
        GROW_PUSH(&m->sections, made);
    }
    if (m->sections.count) qsort(m->sections.items, m->sections.count, sizeof *m->sections.items, by_bounds);
}

/* The end of a section belongs to it, unless the next one begins there. Of sections that overlap, as .tbss does others, the search
 * takes the one that it comes to. */
uint32_t libdw_module_section(const struct libdw_module *m, uint64_t addr, struct csn_debug_section *out) {
    const struct libdw_section *sections = m->sections.items;
    size_t low = 0, high = m->sections.count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (addr < sections[mid].start) {
            high = mid;
        } else if (addr > sections[mid].end) {
            low = mid + 1;
        } else {
            if (addr == sections[mid].end && mid + 1 < m->sections.count && addr == sections[mid + 1].start) mid++;
            return csn_debug_info_section(m->info, sections[mid].idx, out, NULL) == CSN_OK ? sections[mid].idx : 0;
        }
    }
    return 0;
}

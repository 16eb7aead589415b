/* Any bytes as an object whose own debug information is read by number and by offset: sections, symbols, units, DIEs and their
 * attributes, functions, line tables. Invariants: what is given lies within its bounds; DIEs and units ascend; a
 * unit is found by each offset in it; parents come first. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <callsign/debug_info.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DIES_MAX = 3000, ATTRIBUTES_MAX = 100, RANGES_MAX = 64, UNITS_MAX = 100 };

static uint8_t touched; /* every byte of a result is read, so that a sanitizer sees a bad view */

static void require(bool condition) {
    if (!condition) abort();
}

static void touch(struct csn_str s) {
    for (size_t i = 0; i < s.len; i++) touched = (uint8_t)(touched + (uint8_t)s.ptr[i]);
}

static void read_sections(struct csn_debug_info *info, const struct csn_debug_object *object) {
    static const char *const names[] = { "info", "line", "str", "abbrev", "ranges", "rnglists", "loc" };
    struct csn_debug_section section;
    struct csn_debug_segment segment;
    struct csn_str bytes;
    for (uint32_t i = 0; i < object->section_count; i++) {
        require(csn_debug_info_section(info, i, &section, NULL) == CSN_OK);
        touch(section.name);
    }
    for (uint32_t i = 0; i < object->segment_count; i++) require(csn_debug_info_segment(info, i, &segment, NULL) == CSN_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        static char copy[4096];
        size_t size;
        if (csn_debug_info_dwarf_section(info, names[i], &bytes, NULL) == CSN_OK) touch(bytes);
        if (csn_debug_info_copy_unrelocated(info, names[i], copy, sizeof copy, &size, NULL) == CSN_OK && size <= sizeof copy)
            touch((struct csn_str){ copy, size });
    }
}

static void read_symbols(struct csn_debug_info *info, const struct csn_debug_object *object) {
    for (int source = CSN_SYMBOLS_STATIC; source <= CSN_SYMBOLS_DEBUG_FILE; source++) {
        const struct csn_debug_symbol *symbols;
        size_t count;
        if (csn_debug_info_symbols(info, (enum csn_symbol_source)source, &symbols, &count, NULL) != CSN_OK) continue;
        for (size_t i = 0; i < count; i++) {
            require(symbols[i].section == CSN_NO_SECTION || symbols[i].section < object->section_count
                    || source == CSN_SYMBOLS_DEBUG_FILE);
            touch(symbols[i].name);
            touch(symbols[i].version);
        }
    }
}

static void read_attributes(const struct csn_debug_die *die) {
    struct csn_debug_value value, same;
    struct csn_debug_die other;
    uint64_t position = 0, address;
    uint32_t attribute;
    for (int i = 0; i < ATTRIBUTES_MAX && csn_debug_die_next_attribute(die, &position, &attribute, &value) == CSN_OK; i++) {
        if (value.kind == CSN_VALUE_STRING || value.kind == CSN_VALUE_BLOCK) touch(value.bytes);
        if (value.kind == CSN_VALUE_REFERENCE && csn_debug_die_follow(die, &value, &other, NULL) == CSN_OK)
            require(other.next > other.offset);
        if (csn_debug_die_attribute(die, attribute, &same) == CSN_OK && same.kind == CSN_VALUE_STRING) touch(same.bytes);
        csn_debug_unit_address(die->unit, value.number, &address);
        csn_debug_unit_range_list(die->unit, value.number, &address);
    }
}

static void read_dies(const struct csn_debug_unit *unit) {
    struct csn_debug_die die;
    struct csn_range ranges[RANGES_MAX];
    size_t count;
    uint64_t at = unit->root;
    for (int i = 0; i < DIES_MAX; i++) {
        csn_status status = csn_debug_die_at(unit, at, &die, NULL);
        if (status < 0) break;
        require(die.next > at && die.next <= unit->end);
        at = die.next;
        if (status != CSN_OK) continue;
        read_attributes(&die);
        if (csn_debug_die_ranges(&die, ranges, RANGES_MAX, &count, NULL) == CSN_OK)
            require(count == 0 || ranges[0].start <= UINT64_MAX);
    }
}

static void read_functions(const struct csn_debug_unit *unit) {
    struct csn_debug_functions *functions;
    if (csn_debug_unit_functions(unit, &functions, NULL) != CSN_OK) return;
    uint64_t last = 0, sum = 0;
    for (size_t i = 0; i < functions->count; i++) {
        const struct csn_debug_function *f = &functions->items[i];
        require(f->offset > last && f->offset < unit->end && (f->parent == CSN_NO_FUNCTION || f->parent < i));
        last = f->offset;
        for (uint32_t k = 0; k < f->range_count; k++) sum += functions->ranges[f->first_range + k].start;
    }
    touched = (uint8_t)(touched + sum);
    csn_debug_functions_free(functions);
}

static void read_lines(const struct csn_debug_unit *unit) {
    struct csn_debug_lines *lines;
    struct csn_str directory, name;
    uint64_t number;
    if (csn_debug_unit_lines(unit, &lines, NULL) != CSN_OK) return;
    touch(lines->comp_dir);
    for (size_t i = 0; i < lines->row_count; i++) {
        touched = (uint8_t)(touched + lines->rows[i].line);
        if (i % 16 == 0) csn_debug_lines_sequence(lines, i, &number);
    }
    for (uint64_t i = 0; i <= lines->file_count; i++) {
        if (csn_debug_lines_file(lines, i, &directory, &name, &number) != CSN_OK) continue;
        touch(directory);
        touch(name);
        if (csn_debug_lines_directory(lines, number, &directory) == CSN_OK) touch(directory);
    }
    csn_debug_lines_free(lines);
}

static void read_unit(struct csn_debug_info *info, const struct csn_debug_unit *unit, const struct csn_debug_object *object) {
    const struct csn_debug_unit *split, *found;
    uint64_t begin;
    uint32_t idx;
    touch(unit->name);
    touch(unit->comp_dir);
    touch(unit->producer);
    touch(unit->dwo_name);
    if (unit->idx < object->info_unit_count) {
        require(csn_debug_info_unit_index_at(info, unit->offset, &idx, &begin) == CSN_OK && idx == unit->idx);
        require(begin == unit->offset);
        if (csn_debug_info_unit_at(info, unit->end - 1, &found, NULL) == CSN_OK) {
            require(found->idx == unit->idx);
            csn_debug_unit_release(found);
        }
    }
    read_dies(unit);
    read_functions(unit);
    read_lines(unit);
    if (unit->is_skeleton) csn_debug_unit_split(unit, &split, NULL);
}

static void read_object(struct csn_debug_info *info) {
    struct csn_debug_object object;
    csn_debug_info_get_object(info, &object, sizeof object);
    read_sections(info, &object);
    read_symbols(info, &object);
    for (uint32_t i = 0; i < object.unit_count && i < UNITS_MAX; i++) {
        const struct csn_debug_unit *unit;
        if (csn_debug_info_unit(info, i, &unit, NULL) != CSN_OK) continue;
        require(unit->idx == i && unit->offset < unit->end);
        read_unit(info, unit, &object);
        csn_debug_unit_release(unit);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    struct csn_debug_info *info = NULL;
    int fd = memfd_create("object", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_debug_info_open_file(path, NULL, &info, &err);
    require(status == CSN_OK ? info != NULL : status < 0 && err.text[0]);
    if (status == CSN_OK) read_object(info);
    csn_debug_info_close(info);
    close(fd);
    return 0;
}

/* callsign/debug_info.h: units, DIEs, line tables, symbols and split DWARF, whole and damaged; versions of symbols. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <callsign/debug_info.h>

#include "object/elf/elf_layout.h"
#include "support/split_sample.h"
#include "support/test_alloc.h"
#include "wire/wire_elf.h"

static char folder[] = "/tmp/callsign-debug-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    return snprintf(path, sizeof path, "%s/file", folder) < 0;
}

static int drop_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_path(struct csni_span bytes) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.size, f), bytes.size);
    assert_int_equal(fclose(f), 0);
}

/* f [1000,1040) with g inlined at [1008,1010), symbol f. */
static struct csni_span small_object(struct convert_sample *s, uint16_t version, bool big) {
    static const struct line lines[] = { { 0x1000, 1, 10 }, { 0x1008, 2, 3 }, { 0x1010, 1, 11 }, { 0x1040, LINE_END, 0 } };
    convert_sample_init(s, version, big);
    convert_sample_lines(s, lines, 4, NULL);
    convert_sample_unit(s);
    size_t inlined = die_abstract(s, "g");
    die_function(s, "f", 0x1000, 0x40);
    die_inlined(s, inlined, 0x1008, 8, 1, 7);
    die_end(s);
    die_end(s);
    convert_sample_unit_end(s);
    convert_sample_symbol(s, "f", 0x1000, 0x40);
    return convert_sample_build(s);
}

static bool next_die(struct csn_debug_die *die) {
    uint64_t at = die->next;
    const struct csn_debug_unit *unit = die->unit;
    csn_status status;
    while ((status = csn_debug_die_at(unit, at, die, NULL)) == CSN_NONE && die->next < unit->end) at = die->next;
    return status == CSN_OK;
}

static void want_text(struct csn_str got, const char *wanted) {
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.ptr, wanted, got.len);
}

static void expect_dies(const struct csn_debug_unit *unit) {
    struct csn_debug_die die, origin;
    struct csn_debug_value value;
    struct csn_range range;
    size_t count = 0;
    assert_int_equal(csn_debug_die_at(unit, unit->root, &die, NULL), CSN_OK);
    assert_int_equal(die.tag, DW_TAG_compile_unit);
    assert_true(die.has_children);
    assert_true(next_die(&die));
    assert_int_equal(csn_debug_die_ranges(&die, &range, 1, &count, NULL), CSN_NONE);
    assert_true(next_die(&die));
    assert_int_equal(die.tag, DW_TAG_subprogram);
    assert_int_equal(csn_debug_die_attribute(&die, DW_AT_name, &value), CSN_OK);
    assert_int_equal(value.kind, CSN_VALUE_STRING);
    want_text(value.bytes, "f");
    assert_int_equal(csn_debug_die_attribute(&die, DW_AT_low_pc, &value), CSN_OK);
    assert_int_equal(value.kind, CSN_VALUE_ADDRESS);
    assert_int_equal(value.number, 0x1000);
    assert_int_equal(csn_debug_die_ranges(&die, &range, 1, &count, NULL), CSN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(range.start, 0x1000);
    assert_int_equal(range.end, 0x1040);
    assert_int_equal(csn_debug_die_attribute(&die, DW_AT_ranges, &value), CSN_NONE);
    assert_true(next_die(&die));
    assert_int_equal(die.tag, DW_TAG_inlined_subroutine);
    assert_int_equal(csn_debug_die_attribute(&die, DW_AT_abstract_origin, &value), CSN_OK);
    assert_int_equal(value.kind, CSN_VALUE_REFERENCE);
    assert_int_equal(csn_debug_die_follow(&die, &value, &origin, NULL), CSN_OK);
    assert_int_equal(csn_debug_die_attribute(&origin, DW_AT_name, &value), CSN_OK);
    want_text(value.bytes, "g");
    uint64_t position = 0;
    uint32_t attribute, seen = 0;
    while (csn_debug_die_next_attribute(&die, &position, &attribute, &value) == CSN_OK) seen++;
    assert_int_equal(seen, 5);
    assert_false(next_die(&die));
}

static void expect_lines(const struct csn_debug_unit *unit) {
    struct csn_debug_lines *lines;
    struct csn_str directory, name;
    uint64_t idx;
    assert_int_equal(csn_debug_unit_lines(unit, &lines, NULL), CSN_OK);
    assert_int_equal(lines->row_count, 4);
    assert_false(lines->is_damaged);
    static const struct { uint64_t addr; uint32_t file, line; } wanted[] = { { 0x1000, 1, 10 }, { 0x1008, 2, 3 },
                                                                             { 0x1010, 1, 11 } };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lines->rows[i].addr, wanted[i].addr);
        assert_int_equal(lines->rows[i].file, wanted[i].file);
        assert_int_equal(lines->rows[i].line, wanted[i].line);
        assert_true(lines->rows[i].flags & CSN_LINE_STATEMENT);
    }
    assert_true(lines->rows[3].flags & CSN_LINE_END_SEQUENCE);
    assert_int_equal(csn_debug_lines_file(lines, 2, &directory, &name, &idx), CSN_OK);
    want_text(name, "b.h");
    want_text(directory, "include");
    assert_int_equal(idx, 1);
    assert_int_equal(csn_debug_lines_directory(lines, 1, &directory), CSN_OK);
    want_text(directory, "include");
    uint64_t first, other;
    assert_int_equal(csn_debug_lines_sequence(lines, 0, &first), CSN_OK);
    assert_true(first > unit->line_offset);
    assert_int_equal(csn_debug_lines_sequence(lines, 1, &other), CSN_NONE);
    assert_int_equal(csn_debug_lines_sequence(lines, lines->row_count, &other), CSN_NONE); /* nothing follows the last end */
    assert_int_equal(csn_debug_lines_file(lines, 99, &directory, &name, &idx), CSN_NONE);
    csn_debug_lines_free(lines);
}

/* The abstract g, f, and g inlined in f. */
static void expect_functions(const struct csn_debug_unit *unit) {
    struct csn_debug_functions *functions;
    assert_int_equal(csn_debug_unit_functions(unit, &functions, NULL), CSN_OK);
    assert_int_equal(functions->count, 3);
    const struct csn_debug_function *g = functions->items, *f = g + 1, *call = g + 2;
    assert_int_equal(g->range_count, 0);
    assert_int_equal(g->parent, CSN_NO_FUNCTION);
    assert_int_equal(f->parent, CSN_NO_FUNCTION);
    assert_int_equal(f->range_count, 1);
    assert_int_equal(functions->ranges[f->first_range].start, 0x1000);
    assert_int_equal(functions->ranges[f->first_range].end, 0x1040);
    assert_int_equal(call->tag, DW_TAG_inlined_subroutine);
    assert_int_equal(call->parent, 1);
    assert_int_equal(functions->ranges[call->first_range].start, 0x1008);
    csn_debug_functions_free(functions);
}

static void expect_symbols(struct csn_debug_info *info) {
    const struct csn_debug_symbol *symbols;
    size_t count, found = 0;
    assert_int_equal(csn_debug_info_symbols(info, CSN_SYMBOLS_STATIC, &symbols, &count, NULL), CSN_OK);
    for (size_t i = 0; i < count; i++)
        found += symbols[i].name.len == 1 && symbols[i].name.ptr[0] == 'f' && symbols[i].addr == 0x1000 && symbols[i].size == 0x40;
    assert_int_equal(found, 1);
}

static void expect_sections(struct csn_debug_info *info) {
    struct csn_debug_object object;
    struct csn_debug_section section;
    struct csn_str bytes;
    bool found = false;
    csn_debug_info_get_object(info, &object, sizeof object);
    assert_int_equal(object.container, CSN_CONTAINER_ELF);
    assert_int_equal(object.unit_count, 1);
    assert_int_equal(object.info_unit_count, 1);
    assert_null(object.debug_path);
    for (uint32_t i = 0; i < object.section_count; i++) {
        assert_int_equal(csn_debug_info_section(info, i, &section, NULL), CSN_OK);
        found |= section.flags & CSN_SECTION_EXEC && section.addr == CONVERT_SAMPLE_TEXT;
    }
    assert_true(found);
    assert_int_equal(csn_debug_info_section(info, object.section_count, &section, NULL), CSN_E_ARGUMENT);
    assert_int_equal(csn_debug_info_dwarf_section(info, "abbrev", &bytes, NULL), CSN_OK);
    assert_true(bytes.len > 0);
    assert_int_equal(csn_debug_info_dwarf_section(info, "loclists", &bytes, NULL), CSN_NONE);
    uint8_t copy[4096];
    size_t copied;
    assert_int_equal(csn_debug_info_copy_unrelocated(info, "abbrev", copy, sizeof copy, &copied, NULL), CSN_OK);
    assert_int_equal(csn_debug_info_copy_unrelocated(info, "loclists", copy, sizeof copy, &copied, NULL), CSN_NONE);
    assert_int_equal(csn_debug_info_dwarf_section(info, "abbrev", &bytes, NULL), CSN_OK);
    assert_int_equal(copied, bytes.len);
    assert_memory_equal(copy, bytes.ptr, bytes.len); /* a linked image has no relocations of it */
    const uint8_t first = (uint8_t)bytes.ptr[0], last = (uint8_t)bytes.ptr[bytes.len - 1];
    csn_debug_info_forget_section(info, "abbrev", 0, bytes.len);
    csn_debug_info_forget_section(info, "abbrev", 1, UINT64_MAX);
    csn_debug_info_forget_section(info, "abbrev", UINT64_MAX, UINT64_MAX);
    csn_debug_info_forget_section(info, "loclists", 0, 1);
    assert_int_equal((uint8_t)bytes.ptr[0], first);
    assert_int_equal((uint8_t)bytes.ptr[bytes.len - 1], last);
}

static void whole(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct convert_sample s;
        struct csn_debug_info *info;
        const struct csn_debug_unit *unit, *same;
        write_path(small_object(&s, i & 1 ? 5 : 4, i & 2));
        assert_int_equal(csn_debug_info_open_file(path, NULL, &info, NULL), CSN_OK);
        expect_sections(info);
        expect_symbols(info);
        assert_int_equal(csn_debug_info_unit(info, 0, &unit, NULL), CSN_OK);
        assert_int_equal(unit->version, i & 1 ? 5 : 4);
        assert_int_equal(unit->language, DW_LANG_C99);
        want_text(unit->name, "a.c");
        want_text(unit->comp_dir, "/src");
        assert_true(unit->has_lines);
        assert_int_equal(csn_debug_info_unit_at(info, unit->root, &same, NULL), CSN_OK);
        assert_ptr_equal(same, unit);
        assert_int_equal(csn_debug_unit_split(unit, &same, NULL), CSN_NONE);
        expect_dies(unit);
        expect_lines(unit);
        expect_functions(unit);
        csn_debug_unit_release(unit);
        expect_functions(unit);
        expect_dies(unit);
        expect_lines(unit);
        assert_int_equal(csn_debug_info_unit(info, 1, &same, NULL), CSN_NONE);
        assert_int_equal(csn_debug_info_unit_at(info, unit->end, &same, NULL), CSN_NONE);
        csn_debug_info_close(info);
        convert_sample_deinit(&s);
    }
}

static void split(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct split_sample s;
        struct csn_debug_info *info;
        const struct csn_debug_unit *skeleton, *unit;
        struct csn_debug_die die;
        struct csn_debug_value value;
        split_sample_init(&s, i & 1 ? 5 : 4, i & 2);
        struct split_files files = { .dwo = { split_sample_dwo(&s, 0) } };
        struct csn_debug_info_options options = CSN_DEBUG_INFO_OPTIONS_INIT;
        options.resolver = split_files_resolve;
        options.resolver_context = &files;
        write_path(split_sample_image(&s, s.ids));
        assert_int_equal(csn_debug_info_open_file(path, &options, &info, NULL), CSN_OK);
        assert_int_equal(csn_debug_info_unit(info, 0, &skeleton, NULL), CSN_OK);
        assert_true(skeleton->is_skeleton);
        assert_int_equal(csn_debug_unit_split(skeleton, &unit, NULL), CSN_OK);
        assert_true(unit->is_split);
        assert_true(unit->dwo_id == s.ids[0]);
        assert_int_equal(csn_debug_die_at(unit, unit->root, &die, NULL), CSN_OK);
        while (die.tag != DW_TAG_subprogram || csn_debug_die_attribute(&die, DW_AT_low_pc, &value) != CSN_OK)
            assert_true(next_die(&die));
        assert_int_equal(value.number, 0x1000);
        assert_int_equal(csn_debug_die_attribute(&die, DW_AT_name, &value), CSN_OK);
        want_text(value.bytes, "f0");
        assert_int_equal(csn_debug_info_unit(info, 1, &skeleton, NULL), CSN_OK);
        assert_int_equal(csn_debug_unit_split(skeleton, &unit, NULL), CSN_NONE);
        csn_debug_info_close(info);
        assert_int_equal(files.open, 0);
        split_sample_deinit(&s);
    }
}

/* ---- damage ---- */

static csn_status use_die(const struct csn_debug_die *die) {
    struct csn_debug_value value;
    struct csn_range ranges[4];
    struct csn_debug_die other;
    uint64_t position = 0;
    uint32_t attribute;
    size_t count;
    csn_status status = csn_debug_die_ranges(die, ranges, 4, &count, NULL);
    while (status != CSN_E_MEMORY && csn_debug_die_next_attribute(die, &position, &attribute, &value) == CSN_OK) {
        unsigned sum = 0;
        if (value.kind == CSN_VALUE_STRING || value.kind == CSN_VALUE_BLOCK)
            for (size_t i = 0; i < value.bytes.len; i++) sum += (unsigned char)value.bytes.ptr[i];
        assert_true(sum <= value.bytes.len * 255);
        if (value.kind == CSN_VALUE_REFERENCE) status = csn_debug_die_follow(die, &value, &other, NULL);
    }
    return status;
}

static csn_status use_unit(const struct csn_debug_unit *unit) {
    struct csn_debug_die die;
    struct csn_debug_lines *lines;
    struct csn_str directory, name;
    uint64_t idx;
    csn_status status = csn_debug_unit_lines(unit, &lines, NULL);
    if (status == CSN_OK) {
        for (size_t i = 0; i < lines->row_count; i++) csn_debug_lines_file(lines, lines->rows[i].file, &directory, &name, &idx);
        csn_debug_lines_free(lines);
    }
    for (uint64_t at = unit->root; status != CSN_E_MEMORY; at = die.next) {
        status = csn_debug_die_at(unit, at, &die, NULL);
        if (status != CSN_OK && status != CSN_NONE) break;
        assert_true(die.next > at && die.next <= unit->end);
        if (status == CSN_OK) status = use_die(&die);
    }
    return status;
}

static csn_status use_info(struct csn_debug_info *info) {
    const struct csn_debug_unit *unit;
    const struct csn_debug_symbol *symbols;
    size_t count;
    csn_status status = CSN_OK;
    for (int i = 0; i <= CSN_SYMBOLS_DEBUG_FILE && status != CSN_E_MEMORY; i++)
        status = csn_debug_info_symbols(info, (enum csn_symbol_source)i, &symbols, &count, NULL);
    for (uint32_t i = 0; status != CSN_E_MEMORY; i++) {
        unit = NULL;
        status = csn_debug_info_unit(info, i, &unit, NULL);
        if (status == CSN_NONE) return CSN_OK;
        if (status == CSN_OK) status = use_unit(unit);
    }
    return status;
}

static void open_and_use(struct csni_span file) {
    struct csn_debug_info *info;
    struct csn_error err = CSN_ERROR_INIT;
    write_path(file);
    csn_status status = csn_debug_info_open_file(path, NULL, &info, &err);
    assert_int_equal(status, err.code);
    if (status != CSN_OK) return;
    use_info(info);
    csn_debug_info_close(info);
}

static void damaged(void **state) {
    (void)state;
    uint32_t random = 12345;
    for (int i = 0; i < 4; i++) {
        struct convert_sample s;
        struct csni_span file = small_object(&s, i & 1 ? 5 : 4, i & 2);
        uint8_t *copy = malloc(file.size);
        assert_non_null(copy);
        for (size_t size = 0; size < file.size; size += 11) open_and_use((struct csni_span){ file.ptr, size });
        for (int k = 0; k < 300; k++) {
            memcpy(copy, file.ptr, file.size);
            for (int flips = 1 + k % 4; flips; flips--) {
                random = random * 1664525 + 1013904223;
                copy[(random >> 8) % file.size] ^= (uint8_t)(1u << (random >> 4 & 7));
            }
            open_and_use((struct csni_span){ copy, file.size });
        }
        free(copy);
        convert_sample_deinit(&s);
    }
}

/* ---- versions of dynamic symbols ---- */

enum { VERSIONED = 100000, DEFINED = 33000, NAME_V1 = 1, NAME_V2 = 4 }; /* offsets in VERSION_NAMES */
static const char VERSION_NAMES[] = "\0V1\0V2";

static void add_defined(struct wire *w, uint16_t flags, uint16_t number, uint32_t name, bool is_last) {
    wire_u16(w, 1), wire_u16(w, flags), wire_u16(w, number), wire_u16(w, 1), wire_u32(w, 0);
    wire_u32(w, 20), wire_u32(w, is_last ? 0 : 28);
    wire_u32(w, name), wire_u32(w, 0);
}

static void add_needed(struct wire *w, uint16_t number, uint32_t name, bool is_last) {
    wire_u32(w, 0), wire_u16(w, 0), wire_u16(w, number), wire_u32(w, name), wire_u32(w, is_last ? 0 : 16);
}

/* As many symbols and versions as a file of a few megabytes can have: numbers 0x8002, 2, 3, 4, 5, and one that is nowhere. */
static void write_versioned(bool wide, bool big) {
    static struct wire_symbol symbols[VERSIONED];
    struct wire_elf elf;
    struct wire of_symbols, defined, needed, out;
    static const uint16_t numbers[] = { 0x8002, 2, 3, 4, 5, 0x7ffe };
    wire_elf_init(&elf, wide, big, ET_DYN, wide ? EM_X86_64 : EM_386);
    wire_elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, (struct csni_span){ (const uint8_t *)"code", 4 });
    uint32_t names = wire_elf_add(&elf, ".names", SHT_STRTAB, 0, 0,
                                  (struct csni_span){ (const uint8_t *)VERSION_NAMES, sizeof VERSION_NAMES });
    wire_init(&of_symbols, big), wire_init(&defined, big), wire_init(&needed, big);
    wire_u16(&of_symbols, 0);
    for (size_t i = 0; i < VERSIONED; i++) {
        symbols[i] =
            (struct wire_symbol){ .name = "f", .value = 0x1000, .size = 4, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1 };
        wire_u16(&of_symbols, numbers[i < 5 ? i : 5]);
    }
    add_defined(&defined, 0, 2, NAME_V1, false);
    add_defined(&defined, 0, 2, NAME_V2, false);
    add_defined(&defined, 1, 3, NAME_V2, false);
    add_defined(&defined, 0, 5, 100, false); /* no such name */
    for (size_t i = 0; i < DEFINED; i++) add_defined(&defined, 0, 6, NAME_V1, i == DEFINED - 1);
    wire_u16(&needed, 1), wire_u16(&needed, 3), wire_u32(&needed, 0), wire_u32(&needed, 16), wire_u32(&needed, 0);
    add_needed(&needed, 2, NAME_V2, false);
    add_needed(&needed, 4, NAME_V2, false);
    add_needed(&needed, 5, NAME_V1, true);
    wire_elf_add_symbols(&elf, SHT_DYNSYM, symbols, VERSIONED);
    wire_elf_add_wire(&elf, ".gnu.version", SHT_PROGBITS, 0, 0, &of_symbols);
    elf.sections[wire_elf_add_wire(&elf, ".gnu.version_d", SHT_PROGBITS, 0, 0, &defined)].link = names;
    wire_elf_add_wire(&elf, ".gnu.version_r", SHT_PROGBITS, 0, 0, &needed);
    wire_init(&out, big);
    wire_elf_build(&elf, &out, NULL);
    write_path((struct csni_span){ out.bytes, out.size });
    wire_deinit(&of_symbols), wire_deinit(&defined), wire_deinit(&needed), wire_deinit(&out);
    wire_elf_deinit(&elf);
}

static void versions(void **state) {
    (void)state;
    static const char *const expected[] = { "V1", "V1", "", "V2", "V1", "" };
    for (int kind = 0; kind < 4; kind++) {
        struct csn_debug_info *info;
        const struct csn_debug_symbol *symbols;
        size_t count;
        write_versioned(kind & 1, kind & 2);
        clock_t begun = clock();
        assert_int_equal(csn_debug_info_open_file(path, NULL, &info, NULL), CSN_OK);
        assert_int_equal(csn_debug_info_symbols(info, CSN_SYMBOLS_DYNAMIC, &symbols, &count, NULL), CSN_OK);
        assert_true(clock() - begun < 4 * CLOCKS_PER_SEC); /* the list is not read for each symbol */
        assert_int_equal(count, VERSIONED);
        for (size_t i = 0; i < count; i++) {
            const char *version = expected[i < 5 ? i : 5];
            assert_int_equal(symbols[i].version.len, strlen(version));
            assert_memory_equal(symbols[i].version.ptr, version, strlen(version));
            assert_int_equal(symbols[i].is_default_version, *version && i > 0);
        }
        csn_debug_info_close(info);
    }
}

/* ---- failures ---- */

/* A file of one image is not taken for another machine's. */
static void other_machines(void **state) {
    (void)state;
    static const char *const wrong[] = { "mips", "x86", "X86_64", "x86_64h" }, *const right[] = { "x86_64", "", NULL };
    struct convert_sample s;
    struct csn_debug_info *info;
    struct csn_debug_info_options options = CSN_DEBUG_INFO_OPTIONS_INIT;
    struct csni_span file = small_object(&s, 5, false);
    write_path(file);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct csn_error err = CSN_ERROR_INIT;
        char text[100];
        options.arch = wrong[i];
        snprintf(text, sizeof text, "no image for '%s'; the file has x86_64", wrong[i]);
        assert_int_equal(csn_debug_info_open_file(path, &options, &info, &err), CSN_E_NOT_FOUND);
        assert_string_equal(csn_error_text(&err), text);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        options.arch = right[i];
        assert_int_equal(csn_debug_info_open_file(path, &options, &info, NULL), CSN_OK);
        csn_debug_info_close(info);
    }
    convert_sample_deinit(&s);
}

static csn_status open_whole(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct csn_debug_info *info;
    struct csn_debug_info_options options = CSN_DEBUG_INFO_OPTIONS_INIT;
    options.allocator = alloc;
    csn_status status = csn_debug_info_open_file(path, &options, &info, NULL);
    if (status != CSN_OK) return status;
    status = use_info(info);
    csn_debug_info_close(info);
    return status;
}

static void failures(void **state) {
    (void)state;
    struct convert_sample s;
    struct csn_debug_info *info;
    struct csn_error err = CSN_ERROR_INIT;
    write_path(small_object(&s, 5, false));
    assert_true(test_allocator_sweep(open_whole, NULL, 1) > 5);
    assert_true(test_allocator_sweep(open_whole, NULL, 0) > 5);
    convert_sample_deinit(&s);
    assert_int_equal(csn_debug_info_open_file("/nonexistent/object", NULL, &info, &err), CSN_E_IO);
    write_path((struct csni_span){ (const uint8_t *)"no object\n", 10 });
    assert_int_equal(csn_debug_info_open_file(path, NULL, &info, NULL), CSN_E_UNSUPPORTED);
    csn_debug_info_close(NULL);
    csn_debug_lines_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(whole), cmocka_unit_test(split), cmocka_unit_test(damaged),
                                        cmocka_unit_test(versions), cmocka_unit_test(other_machines), cmocka_unit_test(failures) };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

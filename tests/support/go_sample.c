/* A Go function table put together field by field. */
#include "support/go_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value { uint32_t end; int32_t value; };

void go_sample_init(struct go_sample *s, enum csni_go_version version, bool big, uint8_t pointer_size, uint8_t quantum) {
    *s = (struct go_sample){ .version = version, .big = big, .pointer_size = pointer_size, .quantum = quantum };
    wire_init(&s->out, big);
}

void go_sample_deinit(struct go_sample *s) { wire_deinit(&s->out); }

static size_t put_pointer(struct go_sample *s, uint64_t v) { return wire_uint(&s->out, v, s->pointer_size); }

/* A list of values by address; returns its offset from `base`. */
static uint32_t put_values(struct go_sample *s, size_t base, const struct value *values, size_t count) {
    size_t at = s->out.size;
    int32_t last = -1;
    uint32_t off = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t delta = values[i].value - last;
        wire_uleb(&s->out, (uint32_t)delta << 1 ^ (delta < 0 ? UINT32_MAX : 0));
        wire_uleb(&s->out, (values[i].end - off) / s->quantum);
        last = values[i].value;
        off = values[i].end;
    }
    wire_u8(&s->out, 0);
    return (uint32_t)(at - base);
}

struct lists { uint32_t main_file, main_line, main_inlined, leaf_file, leaf_line; };

static void put_lists(struct go_sample *s, size_t base, struct lists *out) {
    int32_t first = s->version == CSNI_GO_1_2 ? 1 : 0; /* file numbers of 1.2 count from 1 */
    const struct value files[] = { { 0x10, first }, { 0x30, first + 1 }, { 0x38, first } };
    const struct value lines[] = { { 0xc, 10 }, { 0x10, 11 }, { 0x20, 30 }, { 0x28, 40 }, { 0x30, 31 }, { 0x38, 12 } };
    const struct value inlined[] = { { 0x10, -1 }, { 0x20, 0 }, { 0x28, 1 }, { 0x30, 0 }, { 0x38, -1 } };
    const struct value leaf_file[] = { { 0x20, first + 1 } }, leaf_line[] = { { 0x20, 50 } };
    wire_u8(&s->out, 0); /* 0 is no list */
    out->main_file = put_values(s, base, files, 3);
    out->main_line = put_values(s, base, lines, 6);
    out->main_inlined = put_values(s, base, inlined, 5);
    out->leaf_file = put_values(s, base, leaf_file, 1);
    out->leaf_line = put_values(s, base, leaf_line, 1);
}

enum { NAME_MAIN, NAME_LEAF, NAME_TWICE, NAME_ADD, NAMES };

static void put_strings(struct go_sample *s, size_t base, const char *const *texts, size_t count, uint32_t *offs) {
    for (size_t i = 0; i < count; i++) offs[i] = (uint32_t)(wire_cstr(&s->out, texts[i]) - base);
}

static unsigned func_data_number(const struct go_sample *s) {
    if (s->version != CSNI_GO_1_2) return 3;
    return s->lists_of_1_12 ? 2 : 4;
}
static unsigned pc_data_number(const struct go_sample *s) { return s->version == CSNI_GO_1_2 && s->lists_of_1_12 ? 1 : 2; }

/* A record; returns where the tree's place is to be filled in, 0 without one. */
static size_t put_record(struct go_sample *s, uint64_t entry, uint32_t name, uint32_t file, uint32_t line, uint32_t inlined) {
    unsigned func_data = inlined ? func_data_number(s) + 1 : 0, pc_data = inlined ? pc_data_number(s) + 1 : 0;
    if (s->version >= CSNI_GO_1_18) wire_u32(&s->out, entry - GO_SAMPLE_TEXT);
    else put_pointer(s, entry);
    const uint32_t words[] = { name, 0, 0, 0, file, line, pc_data };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) wire_u32(&s->out, words[i]);
    if (s->version >= CSNI_GO_1_16) wire_u32(&s->out, 0);
    if (s->version >= CSNI_GO_1_20) wire_u32(&s->out, 9);
    wire_u8(&s->out, 0);
    wire_u8(&s->out, 0);
    wire_u8(&s->out, 0);
    wire_u8(&s->out, func_data);
    for (unsigned i = 0; i < pc_data; i++) wire_u32(&s->out, i + 1 == pc_data ? inlined : 0);
    unsigned size = s->version >= CSNI_GO_1_18 ? 4 : s->pointer_size;
    wire_align(&s->out, size);
    size_t place = 0;
    for (unsigned i = 0; i < func_data; i++)
        place = wire_uint(&s->out, s->version >= CSNI_GO_1_18 ? UINT32_MAX : 0, size);
    return place;
}

static void put_tree(struct go_sample *s, const uint32_t *names) {
    wire_align(&s->out, 8);
    s->tree = s->out.size;
    int32_t first = s->version == CSNI_GO_1_2 ? 1 : 0;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t name = names[i ? NAME_ADD : NAME_TWICE], parent_pc = i ? 0x1f : 0xf;
        if (s->version < CSNI_GO_1_20) {
            wire_u16(&s->out, i ? 0 : 0xffff);
            wire_u16(&s->out, 0);
            wire_u32(&s->out, i ? (uint32_t)first + 1 : (uint32_t)first);
            wire_u32(&s->out, i ? 30 : 11);
            wire_u32(&s->out, name);
            wire_u32(&s->out, parent_pc);
        } else {
            wire_u32(&s->out, 0);
            wire_u32(&s->out, name);
            wire_u32(&s->out, parent_pc);
            wire_u32(&s->out, 29);
        }
    }
}

static void put_module(struct go_sample *s) {
    wire_align(&s->out, 8);
    s->module = s->out.size;
    unsigned tree = s->version == CSNI_GO_1_18 ? 38 : s->module_of_1_27 ? 43 : 40;
    for (unsigned i = 0; i < 46; i++) {
        uint64_t word = 0;
        if (i == 0) word = GO_SAMPLE_ADDR;
        else if (i == 1) word = GO_SAMPLE_ADDR + s->names;
        else if (i == 20 || i == 22) word = GO_SAMPLE_TEXT;
        else if (i == 21) word = GO_SAMPLE_TEXT + GO_SAMPLE_END;
        else if (i == tree) word = GO_SAMPLE_ADDR + s->tree - 16; /* the tree does not begin there */
        else if (i == tree + 1 && s->module_of_1_27) word = GO_SAMPLE_ADDR + s->module;
        put_pointer(s, word);
    }
}

static void put_magic(struct go_sample *s) {
    static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };
    wire_u32(&s->out, magics[s->version]);
    wire_u16(&s->out, 0);
    wire_u8(&s->out, s->quantum);
    wire_u8(&s->out, s->pointer_size);
    put_pointer(s, 2);
}

static void patch_tree(struct go_sample *s, size_t place) {
    if (s->version >= CSNI_GO_1_18) wire_patch(&s->out, place, 16, 4);
    else wire_patch(&s->out, place, GO_SAMPLE_ADDR + s->tree, s->pointer_size);
}

static const char *const names_text[] = { "main.main", "main.leaf", "main.twice", "main.add" };
static const char *const files_text[] = { "/src/main.go", "/src/lib/lib.go" };

static size_t put_records(struct go_sample *s, const uint32_t *names, const struct lists *lists) {
    wire_align(&s->out, s->pointer_size);
    s->main_record = s->out.size;
    size_t place = put_record(s, GO_SAMPLE_TEXT, names[NAME_MAIN], lists->main_file, lists->main_line, lists->main_inlined);
    wire_align(&s->out, s->pointer_size);
    s->leaf_record = s->out.size;
    put_record(s, GO_SAMPLE_TEXT + GO_SAMPLE_LEAF, names[NAME_LEAF], lists->leaf_file, lists->leaf_line, 0);
    return place;
}

/* Go 1.2: one table for all, offsets from its beginning. */
static void build_old(struct go_sample *s, uint32_t *names, size_t *place) {
    struct lists lists;
    uint32_t files[2];
    s->functions = s->out.size;
    wire_fill(&s->out, 0, 5u * s->pointer_size);
    size_t file_off = wire_u32(&s->out, 0);
    s->names = s->out.size;
    put_strings(s, 0, names_text, NAMES, names);
    put_strings(s, 0, files_text, 2, files);
    put_lists(s, 0, &lists);
    *place = put_records(s, names, &lists);
    wire_align(&s->out, 4);
    wire_patch(&s->out, file_off, s->out.size, 4);
    s->files = wire_u32(&s->out, 3);
    wire_u32(&s->out, files[0]);
    wire_u32(&s->out, files[1]);
    const uint64_t entries[] = { GO_SAMPLE_TEXT, s->main_record, GO_SAMPLE_TEXT + GO_SAMPLE_LEAF, s->leaf_record,
                                 GO_SAMPLE_TEXT + GO_SAMPLE_END };
    for (size_t i = 0; i < 5; i++) wire_patch(&s->out, s->functions + i * s->pointer_size, entries[i], s->pointer_size);
}

static void build_new(struct go_sample *s, uint32_t *names, size_t *place) {
    struct lists lists;
    uint32_t files[2];
    bool offsets = s->version >= CSNI_GO_1_18;
    put_pointer(s, 2);
    if (offsets) put_pointer(s, s->header_tells_text ? GO_SAMPLE_TEXT : 0);
    size_t header = s->out.size;
    wire_fill(&s->out, 0, 5u * s->pointer_size);
    s->names = s->out.size;
    put_strings(s, s->names, names_text, NAMES, names);
    s->files = s->out.size;
    put_strings(s, s->files, files_text, 2, files);
    wire_align(&s->out, 4);
    s->units = s->out.size;
    wire_u32(&s->out, files[0]);
    wire_u32(&s->out, files[1]);
    s->pc_values = s->out.size;
    put_lists(s, s->pc_values, &lists);
    wire_align(&s->out, 8);
    unsigned size = offsets ? 4 : s->pointer_size;
    s->functions = wire_fill(&s->out, 0, 5u * size);
    *place = put_records(s, names, &lists);
    const size_t parts[] = { s->names, s->units, s->files, s->pc_values, s->functions };
    for (size_t i = 0; i < 5; i++) wire_patch(&s->out, header + i * s->pointer_size, parts[i], s->pointer_size);
    uint64_t base = offsets ? 0 : GO_SAMPLE_TEXT;
    const uint64_t entries[] = { base, s->main_record - s->functions, base + GO_SAMPLE_LEAF, s->leaf_record - s->functions,
                                 base + GO_SAMPLE_END };
    for (size_t i = 0; i < 5; i++) wire_patch(&s->out, s->functions + i * size, entries[i], size);
}

struct csni_span go_sample_build(struct go_sample *s) {
    uint32_t names[NAMES];
    size_t place;
    put_magic(s);
    if (s->version == CSNI_GO_1_2) build_old(s, names, &place);
    else build_new(s, names, &place);
    put_tree(s, names);
    patch_tree(s, place);
    if (!s->without_module) put_module(s);
    return wire_span(&s->out);
}

/* ---- reading ---- */

static csn_status open_sample(struct csni_span bytes, const struct csn_allocator *alloc, struct csni_go_section *section,
                              struct csni_go_table *table, struct csn_error *err) {
    *section = (struct csni_go_section){ GO_SAMPLE_ADDR, bytes };
    const struct csni_go_image image = { .sections = section, .section_count = 1, .text_start = GO_SAMPLE_TEXT };
    return csni_go_open(&image, GO_SAMPLE_ADDR, bytes, alloc, table, err);
}

csn_status go_sample_exercise(struct csni_span bytes, const struct csn_allocator *alloc, size_t *functions, size_t *calls) {
    struct csni_go_section section;
    struct csni_go_table table;
    struct csni_go_reader reader;
    *functions = *calls = 0;
    csn_status status = open_sample(bytes, csni_allocator_or_default(alloc), &section, &table, NULL);
    if (status < 0) return status == CSN_E_MEMORY ? status : CSN_OK;
    csni_go_reader_init(&reader, &table);
    for (uint64_t i = 0; i < table.function_count && status != CSN_E_MEMORY && status != CSN_E_LIMIT; i++) {
        struct csni_go_function f;
        struct csn_str path;
        status = csni_go_read_function(&reader, i, &f, NULL);
        *functions += status == CSN_OK;
        *calls += f.call_count;
        for (size_t r = 0; r < f.row_count; r++) {
            if (f.rows[r].off >= f.end - f.start || (r && f.rows[r].off <= f.rows[r - 1].off)) abort();
            csni_go_file(&table, f.rows[r].file, &path, NULL);
        }
        for (size_t c = 0; c < f.call_count; c++)
            for (uint32_t p = 0; p < f.calls[c].part_count; p++)
                if (f.parts[f.calls[c].first_part + p].start >= f.parts[f.calls[c].first_part + p].end) abort();
    }
    csni_go_reader_deinit(&reader);
    return status == CSN_E_MEMORY ? status : CSN_OK;
}

static const char *base_name(const struct csni_go_table *table, uint32_t file, char *capacity, size_t size) {
    struct csn_str path;
    if (csni_go_file(table, file, &path, NULL) != CSN_OK) return "?";
    snprintf(capacity, size, "%.*s", (int)path.len, path.ptr);
    return capacity;
}

void go_sample_text(struct csni_span bytes, char *text, size_t capacity) {
    struct csni_go_section section;
    struct csni_go_table table;
    struct csni_go_reader reader;
    struct csn_error err = CSN_ERROR_INIT;
    char path[64];
    size_t n = 0;
    text[0] = 0;
#define PUT(...) n += (size_t)snprintf(text + n, n < capacity ? capacity - n : 0, __VA_ARGS__)
    if (open_sample(bytes, &csni_libc_allocator, &section, &table, &err) < 0) {
        PUT("%s", csn_error_text(&err));
        return;
    }
    csni_go_reader_init(&reader, &table);
    for (uint64_t i = 0; i < table.function_count; i++) {
        struct csni_go_function f;
        err = (struct csn_error)CSN_ERROR_INIT;
        csn_status status = csni_go_read_function(&reader, i, &f, &err);
        PUT("%s%.*s %llx-%llx", i ? "; " : "", (int)f.name.len, f.name.ptr, (unsigned long long)f.start,
            (unsigned long long)f.end);
        for (size_t r = 0; r < f.row_count; r++)
            PUT(" %x:%s:%u", f.rows[r].off, base_name(&table, f.rows[r].file, path, sizeof path), f.rows[r].line);
        for (size_t c = 0; c < f.call_count; c++) {
            PUT(" [%u %.*s", f.calls[c].depth, (int)f.calls[c].name.len, f.calls[c].name.ptr);
            for (uint32_t p = 0; p < f.calls[c].part_count; p++)
                PUT(" %x-%x", f.parts[f.calls[c].first_part + p].start, f.parts[f.calls[c].first_part + p].end);
            PUT(" %s:%u]", base_name(&table, f.calls[c].call_file, path, sizeof path), f.calls[c].call_line);
        }
        if (status < 0) PUT(" <%s>", csn_error_text(&err));
    }
    csni_go_reader_deinit(&reader);
#undef PUT
}

/* GSYM files for tests. */
#include "wire/wire_gsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/gsym/gsym_layout.h"

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "wire_gsym: %s\n", what);
    abort();
}

void wire_gsym_init(struct wire_gsym *g, bool big, unsigned width, uint64_t base) {
    memset(g, 0, sizeof *g);
    g->big = big;
    g->width = (uint8_t)width;
    g->base = base;
    g->string_size = 1;
    g->file_count = 1;
    wire_init(&g->out, big);
}

void wire_gsym_deinit(struct wire_gsym *g) {
    for (uint32_t i = 0; i < g->function_count; i++) wire_deinit(&g->functions[i].parts);
    wire_deinit(&g->out);
}

uint32_t wire_gsym_string(struct wire_gsym *g, const char *text) {
    for (uint32_t at = 0; at < g->string_size; at += (uint32_t)strlen(g->strings + at) + 1)
        if (strcmp(g->strings + at, text) == 0) return at;
    uint32_t at = g->string_size, size = (uint32_t)strlen(text) + 1;
    require(size <= WIRE_GSYM_MAX_STRINGS - at, "too many strings");
    memcpy(g->strings + at, text, size);
    g->string_size += size;
    return at;
}

uint32_t wire_gsym_file(struct wire_gsym *g, const char *directory, const char *base) {
    require(g->file_count < WIRE_GSYM_MAX_FILES, "too many files");
    g->files[g->file_count].directory = wire_gsym_string(g, directory);
    g->files[g->file_count].base = wire_gsym_string(g, base);
    return g->file_count++;
}

struct wire_gsym_function *wire_gsym_function(struct wire_gsym *g, uint64_t start, uint32_t size, const char *name) {
    require(g->function_count < WIRE_GSYM_MAX_FUNCTIONS, "too many functions");
    struct wire_gsym_function *f = &g->functions[g->function_count++];
    f->start = start;
    f->size = size;
    f->name = wire_gsym_string(g, name);
    wire_init(&f->parts, g->big);
    return f;
}

void wire_gsym_part(struct wire *parts, uint32_t type, struct csni_span payload) {
    wire_u32(parts, type);
    wire_u32(parts, payload.size);
    wire_bytes(parts, payload.ptr, payload.size);
}

void wire_gsym_part_wire(struct wire *parts, uint32_t type, struct wire *payload) {
    wire_gsym_part(parts, type, wire_span(payload));
}

void wire_gsym_record(struct wire *out, uint32_t size, uint32_t name, struct wire *parts) {
    wire_u32(out, size);
    wire_u32(out, name);
    wire_append(out, parts);
    wire_gsym_part(out, CSNI_GSYM_PART_END, (struct csni_span){ NULL, 0 });
}

void wire_gsym_node(struct wire *w, unsigned range_count, const uint32_t *ranges, bool has_children, uint32_t name,
                    uint32_t call_file, uint32_t call_line) {
    wire_uleb(w, range_count);
    for (unsigned k = 0; k < 2 * range_count; k++) wire_uleb(w, ranges[k]);
    wire_u8(w, has_children);
    wire_u32(w, name);
    wire_uleb(w, call_file);
    wire_uleb(w, call_line);
}

static void write_header(struct wire_gsym *g) {
    struct wire *w = &g->out;
    wire_u32(w, CSNI_GSYM_MAGIC);
    wire_u16(w, CSNI_GSYM_VERSION_1);
    wire_u8(w, g->width);
    wire_u8(w, g->uuid_size);
    wire_u64(w, g->base);
    wire_u32(w, g->function_count);
    wire_u32(w, 0);
    wire_u32(w, g->string_size);
    wire_bytes(w, g->uuid, sizeof g->uuid);
}

static void write_sample(struct wire_gsym *g) {
    struct wire *w = &g->out;
    if (!g->sample_shift) return;
    for (uint32_t i = 0; i < g->function_count; i += 1u << g->sample_shift)
        wire_uint(w, g->functions[i].start - g->base, g->width);
    wire_u32(w, g->sample_shift);
    wire_u32(w, CSNI_GSYM_SAMPLE_MAGIC);
}

struct csni_span wire_gsym_build(struct wire_gsym *g) {
    wire_deinit(&g->out);
    wire_init(&g->out, g->big);
    struct wire *w = &g->out;
    write_header(g);
    g->address_table = w->size;
    for (uint32_t i = 0; i < g->function_count; i++) wire_uint(w, g->functions[i].start - g->base, g->width);
    wire_align(w, CSNI_GSYM_ALIGN);
    g->info_table = w->size;
    wire_fill(w, 0, g->function_count * (size_t)CSNI_GSYM_INFO_OFFSET_SIZE);
    g->file_table = wire_u32(w, g->file_count);
    for (uint32_t i = 0; i < g->file_count; i++) {
        wire_u32(w, g->files[i].directory);
        wire_u32(w, g->files[i].base);
    }
    write_sample(g);
    g->string_table = wire_bytes(w, g->strings, g->string_size);
    wire_patch(w, CSNI_GSYM_H_STRTAB_OFFSET, g->string_table, 4);
    for (uint32_t i = 0; i < g->function_count; i++) {
        wire_align(w, CSNI_GSYM_ALIGN);
        g->records[i] = w->size;
        wire_patch(w, g->info_table + i * (size_t)CSNI_GSYM_INFO_OFFSET_SIZE, w->size, 4);
        wire_gsym_record(w, g->functions[i].size, g->functions[i].name, &g->functions[i].parts);
    }
    return wire_span(w);
}

void wire_gsym_example(struct wire_gsym *g, bool big, unsigned width) {
    wire_gsym_init(g, big, width, 0x1000);
    memset(g->uuid, 0xab, g->uuid_size = 20);
    uint32_t demo = wire_gsym_file(g, "/src", "demo.c"), shapes = wire_gsym_file(g, "/src", "shapes.h");
    struct wire_gsym_function *die = wire_gsym_function(g, 0x1000, 0x23, "die");
    /* line deltas 0..1: rows (0x1000, 10), (0x1004, 11), (0x1019, 12) */
    static const uint8_t die_lines[] = { 0, 1, 10, 0x04, 0x0d, 0x2f, 0 };
    wire_gsym_part(&die->parts, CSNI_GSYM_PART_LINES, (struct csni_span){ die_lines, sizeof die_lines });
    struct wire_gsym_function *total = wire_gsym_function(g, 0x11e0, 0x47, "total");
    /* line deltas -4..3, first line 6: (0x11e0, demo 6) (0x11ea, demo 5) (0x11f0, demo 7) (0x11f0, shapes 4)
     * (0x11f0, shapes 5) (0x11f3, shapes 3), then op 3 and op 2: (0x1215, shapes 6), (0x1215, demo 8) */
    static const uint8_t total_lines[] = { 0x7c, 3, 6, 0x08, 0x57, 0x3a, 1, 2, 0x05, 0x09, 0x1e, 3, 3, 2, 0x22, 1, 1, 0x0a, 0 };
    wire_gsym_part(&total->parts, CSNI_GSYM_PART_LINES, (struct csni_span){ total_lines, sizeof total_lines });
    struct wire tree;
    wire_init(&tree, big);
    uint32_t area = wire_gsym_string(g, "area"), scale = wire_gsym_string(g, "scale");
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 0x47 }, true, total->name, 0, 0);
    wire_gsym_node(&tree, 2, (const uint32_t[]){ 0x10, 5, 0x19, 0x1c }, true, area, demo, 7);
    wire_gsym_node(&tree, 2, (const uint32_t[]){ 9, 9, 0x15, 3 }, false, scale, shapes, 5);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0x18, 9 }, false, scale, shapes, 6);
    wire_u8(&tree, 0);
    wire_u8(&tree, 0);
    wire_gsym_part_wire(&total->parts, CSNI_GSYM_PART_INLINE, &tree);
    wire_deinit(&tree);
    wire_gsym_function(g, 0x1228, 9, "_fini");
}

void wire_gsym_equal_starts(struct wire *w, uint32_t count) {
    static const char names[] = "\0short\0long";
    enum { HEADER = 48, FILES = 12, RECORD = 16 };
    size_t infos = HEADER + (count + 3) / 4 * 4, files = infos + (size_t)count * 4, strings = files + FILES;
    size_t records = strings + (sizeof names + 3) / 4 * 4;
    wire_init(w, false);
    wire_u32(w, 0x4753594d);
    wire_u16(w, 1);
    wire_u8(w, 1); /* bytes of an address offset */
    wire_u8(w, 0);
    wire_u64(w, 0x1000);
    wire_u32(w, count);
    wire_u32(w, strings);
    wire_u32(w, sizeof names);
    wire_fill(w, 0, 20 + infos - HEADER);
    for (uint32_t k = 0; k < count; k++) wire_u32(w, records + (k + 1 == count ? RECORD : 0));
    wire_u32(w, 1); /* file 0 alone */
    wire_fill(w, 0, 8);
    wire_bytes(w, names, sizeof names);
    wire_align(w, 4);
    for (unsigned k = 0; k < 2; k++) {
        wire_u32(w, k ? 0x20 : 4);
        wire_u32(w, k ? 7 : 1);
        wire_u64(w, 0); /* no parts */
    }
}

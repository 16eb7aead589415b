/* Small GSYM version 1 files for tests: either byte order, any address width, parts given as raw bytes. */
#ifndef CSNI_WIRE_GSYM_H
#define CSNI_WIRE_GSYM_H

#include "wire/wire.h"

enum { WIRE_GSYM_MAX_FUNCTIONS = 16, WIRE_GSYM_MAX_FILES = 8, WIRE_GSYM_MAX_STRINGS = 1024 };

struct wire_gsym_function {
    uint64_t start;
    uint32_t size, name;
    struct wire parts; /* up to but without the end mark */
};

struct wire_gsym {
    bool big;
    uint8_t width;           /* of the address offsets */
    uint64_t base;
    uint8_t uuid[20], uuid_size;
    char strings[WIRE_GSYM_MAX_STRINGS];
    uint32_t string_size;
    struct { uint32_t directory, base; } files[WIRE_GSYM_MAX_FILES];
    uint32_t file_count;
    struct wire_gsym_function functions[WIRE_GSYM_MAX_FUNCTIONS];
    uint32_t function_count;
    unsigned sample_shift;    /* 0: without a address sample */
    struct wire out;         /* what wire_gsym_build() wrote */
    size_t address_table, info_table, file_table, string_table; /* their offsets in it */
    size_t records[WIRE_GSYM_MAX_FUNCTIONS];
};

/* Holds the empty string and file 0. */
void wire_gsym_init(struct wire_gsym *g, bool big, unsigned width, uint64_t base);
void wire_gsym_deinit(struct wire_gsym *g);

uint32_t wire_gsym_string(struct wire_gsym *g, const char *text);
uint32_t wire_gsym_file(struct wire_gsym *g, const char *directory, const char *base);
/* In ascending order of start. */
struct wire_gsym_function *wire_gsym_function(struct wire_gsym *g, uint64_t start, uint32_t size, const char *name);
/* Adds a part to a function or to a record of wire_gsym_record(). */
void wire_gsym_part(struct wire *parts, uint32_t type, struct csni_span payload);
void wire_gsym_part_wire(struct wire *parts, uint32_t type, struct wire *payload);
/* A record as it stands in a merged-function part: size, name, parts, end mark. */
void wire_gsym_record(struct wire *out, uint32_t size, uint32_t name, struct wire *parts);

/* An inline node; its ranges follow count as start and size. */
void wire_gsym_node(struct wire *w, unsigned range_count, const uint32_t *ranges, bool has_children, uint32_t name,
                    uint32_t call_file, uint32_t call_line);

/* The file. Lives until the next build or wire_gsym_deinit(). */
struct csni_span wire_gsym_build(struct wire_gsym *g);

/* The file of the worked example: three functions at 0x1000, 0x11e0 and 0x1228. "total" has a line table, inlined calls
 * of "area" and, in it, of "scale"; "die" is a plain function with lines; "_fini" is a bare symbol. */
void wire_gsym_example(struct wire_gsym *g, bool big, unsigned width);

/* A file of `count` functions at 0x1000: all but the last have 4 bytes, the last has 0x20. */
void wire_gsym_equal_starts(struct wire *w, uint32_t count);

#endif

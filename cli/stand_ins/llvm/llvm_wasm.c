/* Symbols of WebAssembly modules: sections, bodies of functions, data segments, and the three tables that name them. */
#include "stand_ins/llvm/llvm_wasm.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

enum { SECTION_CUSTOM, SECTION_IMPORT = 2, SECTION_EXPORT = 7, SECTION_CODE = 10, SECTION_DATA = 11 };
enum { EXTERNAL_FUNCTION, EXTERNAL_TABLE, EXTERNAL_MEMORY, EXTERNAL_GLOBAL, EXTERNAL_TAG };
enum { KIND_FUNCTION, KIND_DATA, KIND_GLOBAL, KIND_SECTION };
enum { FLAG_UNDEFINED = 0x10, FLAG_EXPLICIT_NAME = 0x40 };
enum { NAMES_FUNCTION = 1, NAMES_SEGMENT = 9, LINKING_SYMBOLS = 8, LINKING_VERSION = 2 };
enum { HEADER_SIZE = 8, OPCODE_END = 0x0b, OPCODE_I32_CONST = 0x41, OPCODE_I64_CONST = 0x42 };

/* Bytes that are read one after the other; `bad` once there are too few. */
struct wasm_bytes {
    const unsigned char *at, *end;
    bool bad;
};

static unsigned take_byte(struct wasm_bytes *b) {
    if (b->at == b->end) b->bad = true;
    return b->bad ? 0 : *b->at++;
}

static uint64_t take_uleb(struct wasm_bytes *b) {
    uint64_t value = 0;
    for (unsigned shift = 0; !b->bad; shift += 7) {
        const unsigned byte = take_byte(b);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t take_sleb(struct wasm_bytes *b) {
    uint64_t value = 0;
    unsigned shift = 0, byte = 0x80;
    for (; (byte & 0x80) && !b->bad; shift += 7) {
        byte = take_byte(b);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    }
    if (shift < 64 && (byte & 0x40)) value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static struct wasm_bytes take_bytes(struct wasm_bytes *b, uint64_t size) {
    struct wasm_bytes taken = { b->at, b->at, b->bad };
    if (size > (uint64_t)(b->end - b->at)) b->bad = taken.bad = true;
    if (b->bad) return taken;
    taken.end = b->at += size;
    return taken;
}

static struct wasm_bytes take_sized(struct wasm_bytes *b) { return take_bytes(b, take_uleb(b)); }

struct wasm_body {
    uint64_t off, size;      /* in the section, with the size that stands before it */
};

struct wasm_segment {
    uint64_t addr, size;
};

struct wasm_file {
    const unsigned char *start;
    uint64_t imported;       /* functions, which come first */
    uint64_t code_off, code_size; /* of the code section's content in the file */
    struct { struct wasm_body *items; size_t count, capacity; } bodies;
    struct { struct wasm_segment *items; size_t count, capacity; } segments;
    struct wasm_bytes exports, names, linking;
};

/* ---- sections ---- */

static void skip_limits(struct wasm_bytes *b) {
    const uint64_t flags = take_uleb(b);
    take_uleb(b);
    if (flags & 1) take_uleb(b);
    if (flags & 8) take_uleb(b);
}

static void read_imports(struct wasm_file *f, struct wasm_bytes b) {
    for (uint64_t left = take_uleb(&b); left && !b.bad; left--) {
        take_sized(&b);
        take_sized(&b);
        switch (take_byte(&b)) {
        case EXTERNAL_FUNCTION: take_uleb(&b); f->imported += !b.bad; break;
        case EXTERNAL_TABLE: take_byte(&b); skip_limits(&b); break;
        case EXTERNAL_MEMORY: skip_limits(&b); break;
        case EXTERNAL_GLOBAL: take_byte(&b); take_byte(&b); break;
        case EXTERNAL_TAG: take_byte(&b); take_uleb(&b); break;
        default: return;
        }
    }
}

static void read_code(struct wasm_file *f, struct wasm_bytes b) {
    const unsigned char *start = b.at;
    f->code_off = (uint64_t)(start - f->start);
    f->code_size = (uint64_t)(b.end - start);
    for (uint64_t left = take_uleb(&b); left; left--) {
        const unsigned char *body = b.at;
        take_sized(&b);
        if (b.bad) return;
        const struct wasm_body made = { (uint64_t)(body - start), (uint64_t)(b.at - body) };
        GROW_PUSH(&f->bodies, made);
    }
}

static uint64_t take_constant(struct wasm_bytes *b) {
    const unsigned opcode = take_byte(b);
    uint64_t value = 0;
    if (opcode == OPCODE_I32_CONST) value = (uint32_t)take_sleb(b);
    else if (opcode == OPCODE_I64_CONST) value = (uint64_t)take_sleb(b);
    while (!b->bad && take_byte(b) != OPCODE_END) continue;
    return value;
}

static void read_data(struct wasm_file *f, struct wasm_bytes b) {
    for (uint64_t left = take_uleb(&b); left; left--) {
        const uint64_t flags = take_uleb(&b);
        if (flags & 2) take_uleb(&b);
        const uint64_t addr = flags & 1 ? 0 : take_constant(&b);
        const struct wasm_bytes content = take_sized(&b);
        if (b.bad) return;
        const struct wasm_segment made = { addr, (uint64_t)(content.end - content.at) };
        GROW_PUSH(&f->segments, made);
    }
}

static bool is_text(struct wasm_bytes b, const char *text) {
    return (size_t)(b.end - b.at) == strlen(text) && memcmp(b.at, text, strlen(text)) == 0;
}

static void read_sections(struct wasm_file *f, struct wasm_bytes file) {
    take_bytes(&file, HEADER_SIZE);
    while (!file.bad && file.at < file.end) {
        const unsigned id = take_byte(&file);
        struct wasm_bytes content = take_sized(&file);
        if (id == SECTION_IMPORT) read_imports(f, content);
        else if (id == SECTION_EXPORT) f->exports = content;
        else if (id == SECTION_CODE) read_code(f, content);
        else if (id == SECTION_DATA) read_data(f, content);
        if (id != SECTION_CUSTOM) continue;
        const struct wasm_bytes name = take_sized(&content);
        if (is_text(name, "name")) f->names = content;
        else if (is_text(name, "linking")) f->linking = content;
    }
}

/* ---- symbols ---- */

static void put_symbol(struct llvm_wasm_symbols *out, struct wasm_bytes name, struct llvm_wasm_symbol made) {
    made.name = copy_text((const char *)name.at, (size_t)(name.end - name.at));
    GROW_PUSH(out, made);
}

static uint64_t code_start(const struct wasm_file *f) { return f->linking.at ? 0 : f->code_off; }

static void put_function(const struct wasm_file *f, struct llvm_wasm_symbols *out, struct wasm_bytes name, uint64_t idx) {
    if (idx < f->imported || idx - f->imported >= f->bodies.count) return;
    const struct wasm_body *body = &f->bodies.items[idx - f->imported];
    put_symbol(out, name,
               (struct llvm_wasm_symbol){ .addr = body->off + code_start(f), .size = body->size, .is_function = true, .idx = idx });
}

static void put_data(const struct wasm_file *f, struct llvm_wasm_symbols *out, struct wasm_bytes name, uint64_t segment,
                     uint64_t off, uint64_t size) {
    if (segment < f->segments.count)
        put_symbol(out, name, (struct llvm_wasm_symbol){ .addr = f->segments.items[segment].addr + off, .size = size });
}

static void read_linking_symbol(const struct wasm_file *f, struct wasm_bytes *b, struct llvm_wasm_symbols *out) {
    const unsigned kind = take_byte(b);
    const uint64_t flags = take_uleb(b);
    const bool is_defined = !(flags & FLAG_UNDEFINED);
    struct wasm_bytes name = { 0 };
    if (kind == KIND_DATA) {
        name = take_sized(b);
        const uint64_t segment = is_defined ? take_uleb(b) : 0, off = is_defined ? take_uleb(b) : 0,
                       size = is_defined ? take_uleb(b) : 0;
        if (is_defined && !b->bad) put_data(f, out, name, segment, off, size);
        return;
    }
    const uint64_t idx = take_uleb(b);
    if (kind != KIND_SECTION && (is_defined || (flags & FLAG_EXPLICIT_NAME))) name = take_sized(b);
    if (kind == KIND_FUNCTION && is_defined && !b->bad) put_function(f, out, name, idx);
}

static void read_linking(const struct wasm_file *f, struct llvm_wasm_symbols *out) {
    struct wasm_bytes b = f->linking;
    if (take_uleb(&b) != LINKING_VERSION) return;
    while (!b.bad && b.at < b.end) {
        const unsigned type = take_byte(&b);
        struct wasm_bytes content = take_sized(&b);
        if (type != LINKING_SYMBOLS) continue;
        for (uint64_t left = take_uleb(&content); left && !content.bad; left--) read_linking_symbol(f, &content, out);
    }
}

static void read_names(const struct wasm_file *f, struct llvm_wasm_symbols *out) {
    struct wasm_bytes b = f->names;
    while (!b.bad && b.at < b.end) {
        const unsigned type = take_byte(&b);
        struct wasm_bytes content = take_sized(&b);
        if (type != NAMES_FUNCTION && type != NAMES_SEGMENT) continue;
        for (uint64_t left = take_uleb(&content); left; left--) {
            const uint64_t idx = take_uleb(&content);
            const struct wasm_bytes name = take_sized(&content);
            if (content.bad) break;
            if (type == NAMES_FUNCTION) put_function(f, out, name, idx);
            else if (idx < f->segments.count) put_data(f, out, name, idx, 0, f->segments.items[idx].size);
        }
    }
}

static void read_exports(const struct wasm_file *f, struct llvm_wasm_symbols *out) {
    struct wasm_bytes b = f->exports;
    for (uint64_t left = b.at ? take_uleb(&b) : 0; left; left--) {
        const struct wasm_bytes name = take_sized(&b);
        const unsigned kind = take_byte(&b);
        const uint64_t idx = take_uleb(&b);
        if (b.bad) return;
        if (kind == EXTERNAL_FUNCTION) put_function(f, out, name, idx);
    }
}

/* NULL: the file cannot be read. */
static unsigned char *read_whole(const char *path, size_t *size) {
    struct { unsigned char *items; size_t count, capacity; } data = { 0 };
    unsigned char block[1 << 16];
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;) {
        data.items = grow_items(data.items, data.count + got, &data.capacity, 1);
        memcpy(data.items + data.count, block, got);
        data.count += got;
    }
    fclose(in);
    *size = data.count;
    return data.items;
}

void llvm_wasm_read_symbols(const char *path, struct llvm_wasm_symbols *out) {
    size_t size = 0;
    unsigned char *data = read_whole(path, &size);
    if (!data) return;
    struct wasm_file f = { .start = data };
    read_sections(&f, (struct wasm_bytes){ data, data + size, false });
    if (f.linking.at) read_linking(&f, out);
    else if (f.names.at) read_names(&f, out);
    else read_exports(&f, out);
    out->code_start = code_start(&f);
    out->code_end = out->code_start + f.code_size;
    free(f.bodies.items);
    free(f.segments.items);
    free(data);
}

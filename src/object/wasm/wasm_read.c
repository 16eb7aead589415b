/* WebAssembly modules: sections, imports, bodies of functions, build id.
 *
 * Sections of DWARF are custom sections under their own names. Its addresses count from the start of the code section's
 * content, the number of functions included. Here the section begins after that number, at address 1 to 5: so no code is
 * at 0, the address of functions that a tool removed. A module that is not linked needs no relocation: LLVM writes the values
 * that are right for the file itself, beside the relocations. */
#include <inttypes.h>

#include "base/core/fail.h"
#include "object/wasm/wasm_layout.h"
#include "object/wasm/wasm_private.h"

enum { SECTIONS_MAX = 1 << 20, NAME_MAX_BYTES = 1 << 16 };

static bool wasm_recognize(struct csni_span file) {
    return file.size >= WASM_MAGIC_SIZE && memcmp(file.ptr, "\0asm", WASM_MAGIC_SIZE) == 0;
}

static csn_status check_wasm_header(struct csni_span file, struct csn_error *err) {
    if (file.size < WASM_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "wasm header: %zu bytes, need %d", file.size, WASM_HEADER_SIZE);
    uint32_t version = csni_get32(file.ptr + WASM_MAGIC_SIZE, false);
    if (version != WASM_VERSION)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, WASM_MAGIC_SIZE, "wasm header: version 0x%" PRIx32
                         ", need 1 (a module)", version);
    return CSN_OK;
}

/* ---- sections ---- */

/* One section of the file; false at the end and on damage, which `c` tells apart. */
static bool next_section(struct csni_cursor *c, uint8_t *id, struct csni_span *content) {
    if (!csni_cursor_left(c)) return false;
    *id = csni_cursor_u8(c);
    *content = csni_cursor_bytes(c, csni_cursor_uleb(c));
    return !c->failed;
}

static csn_status count_wasm_sections(struct csni_span file, uint32_t *out, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(file, false);
    struct csni_span content;
    uint32_t count = 0;
    uint8_t id;
    csni_cursor_skip(&c, WASM_HEADER_SIZE);
    while (next_section(&c, &id, &content))
        if (++count > SECTIONS_MAX) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "over %d sections", SECTIONS_MAX);
    if (c.failed)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, c.failed_at,
                         "section %" PRIu32 ": at 0x%" PRIx64 ", exceeds the file's 0x%zx bytes", count + 1, c.failed_at,
                         file.size);
    *out = count;
    return CSN_OK;
}

/* Custom sections have a name before their content. */
static struct csn_str take_name(uint8_t id, struct csni_span *content) {
    static const char *const names[] = { "", "type", "import", "function", "table", "memory", "global",
                                         "export", "start", "element", "code", "data", "data_count", "tag" };
    if (id != WASM_SEC_CUSTOM) return csni_str(id <= WASM_SEC_TAG ? names[id] : "");
    struct csni_cursor c = csni_cursor_at(*content, false);
    struct csn_str name = csni_wasm_name(&c);
    if (c.failed || name.len > NAME_MAX_BYTES) return (struct csn_str){ "", 0 };
    *content = csni_span_from(*content, csni_cursor_off(&c));
    return name;
}

/* ---- what sections say ---- */

static void skip_type(struct csni_cursor *c) {
    uint8_t type = csni_cursor_u8(c);
    if (type == WASM_TYPE_NULLABLE || type == WASM_TYPE_NONNULLABLE) (void)csni_cursor_sleb(c);
}

/* Returns whether addresses have 64 bits. */
static bool skip_limits(struct csni_cursor *c) {
    uint64_t flags = csni_cursor_uleb(c);
    (void)csni_cursor_uleb(c);
    if (flags & WASM_LIMITS_HAS_MAX) (void)csni_cursor_uleb(c);
    if (flags & WASM_LIMITS_HAS_PAGE_SIZE) (void)csni_cursor_uleb(c);
    return flags & WASM_LIMITS_IS_64;
}

/* Damage ends it: then the functions after have wrong numbers, but names of none are worse than that of the first. */
static void read_imports(struct csni_object *object, struct csni_wasm *wasm, struct csni_span content) {
    struct csni_cursor c = csni_cursor_at(content, false);
    for (uint64_t left = csni_cursor_uleb(&c); left && !c.failed; left--) {
        (void)csni_wasm_name(&c);
        (void)csni_wasm_name(&c);
        switch (csni_cursor_u8(&c)) {
        case WASM_EXTERNAL_FUNCTION:
            (void)csni_cursor_uleb(&c);
            if (!c.failed) wasm->imported_functions++;
            break;
        case WASM_EXTERNAL_TABLE:
            skip_type(&c);
            (void)skip_limits(&c);
            break;
        case WASM_EXTERNAL_MEMORY:
            if (skip_limits(&c) && !c.failed) object->address_size = 8;
            break;
        case WASM_EXTERNAL_GLOBAL:
            skip_type(&c);
            csni_cursor_skip(&c, 1);
            break;
        case WASM_EXTERNAL_TAG:
            csni_cursor_skip(&c, 1);
            (void)csni_cursor_uleb(&c);
            break;
        default: return;
        }
    }
}

static void read_memories(struct csni_object *object, struct csni_span content) {
    struct csni_cursor c = csni_cursor_at(content, false);
    if (csni_cursor_uleb(&c) && skip_limits(&c) && !c.failed) object->address_size = 8;
}

/* Up to the first that does not fit; `bodies` NULL: only counts. */
static uint32_t read_bodies(struct csni_span code, struct csni_wasm_body *bodies) {
    struct csni_cursor c = csni_cursor_at(code, false);
    uint64_t promised = csni_cursor_uleb(&c);
    uint32_t count = 0;
    for (; count < promised && csni_cursor_left(&c); count++) {
        uint64_t size = csni_cursor_uleb(&c), off = csni_cursor_off(&c);
        csni_cursor_skip(&c, size);
        if (c.failed || !size) break;
        if (bodies) bodies[count] = (struct csni_wasm_body){ (uint32_t)off, (uint32_t)size };
    }
    return count;
}

static csn_status take_wasm_code(struct csni_object_private *priv, struct csni_wasm *wasm, uint32_t section,
                                 struct csni_span content, struct csn_error *err) {
    if (wasm->code != CSNI_NO_SECTION) return csni_fail(err, CSN_E_FORMAT, "code", 0, "there are two of it");
    if (content.size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, "code", 0, "0x%zx bytes, need < 4 GiB", content.size);
    struct csni_cursor c = csni_cursor_at(content, false);
    (void)csni_cursor_uleb(&c);
    struct csni_section *s = &priv->sections[section];
    s->flags = CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC;
    uint64_t start = csni_cursor_off(&c);
    s->addr = start;
    s->file_off += start;
    s->size = s->file_size = content.size - start;
    wasm->code = section;
    wasm->body_count = read_bodies(content, NULL);
    wasm->bodies = csni_alloc_zeroed(priv->alloc, wasm->body_count, sizeof *wasm->bodies);
    if (wasm->body_count && !wasm->bodies) return csni_fail_memory(err, wasm->body_count * sizeof *wasm->bodies);
    (void)read_bodies(content, wasm->bodies);
    return CSN_OK;
}

static void take_custom(struct csni_object *object, struct csni_wasm *wasm, struct csn_str name, struct csni_span content) {
    if (csni_str_is(name, "name")) {
        wasm->names = content;
    } else if (csni_str_is(name, "linking")) {
        wasm->linking = content;
        object->kind = CSNI_OBJECT_RELOCATABLE;
    } else if (csni_str_is(name, "dylink.0") || csni_str_is(name, "dylink")) {
        object->kind = CSNI_OBJECT_SHARED;
    } else if (csni_str_is(name, "build_id")) {
        struct csni_cursor c = csni_cursor_at(content, false);
        object->build_id = csni_cursor_bytes(&c, csni_cursor_uleb(&c));
    }
}

static csn_status read_wasm_sections(struct csni_object_private *priv, struct csni_wasm *wasm, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct csni_cursor c = csni_cursor_at(object->file, false);
    struct csni_span content;
    uint8_t id;
    csni_cursor_skip(&c, WASM_HEADER_SIZE);
    for (uint32_t i = 1; i < object->section_count && next_section(&c, &id, &content); i++) {
        struct csn_str name = take_name(id, &content);
        uint64_t off = content.ptr ? (uint64_t)(content.ptr - object->file.ptr) : 0;
        priv->sections[i] = (struct csni_section){ .name = name, .size = content.size, .file_off = off,
                                                   .file_size = content.size, .type = id, .align = 1 };
        if (id == WASM_SEC_CUSTOM) take_custom(object, wasm, name, content);
        else if (id == WASM_SEC_IMPORT) read_imports(object, wasm, content);
        else if (id == WASM_SEC_MEMORY) read_memories(object, content);
        else if (id == WASM_SEC_EXPORT) wasm->exports = content;
        else if (id == WASM_SEC_DATA) wasm->data = content;
        else if (id == WASM_SEC_CODE) CSNI_TRY(take_wasm_code(priv, wasm, i, content, err));
    }
    return CSN_OK;
}

/* Whether a module is linked is known once all its sections are. */
static void move_object(struct csni_object_private *priv, const struct csni_wasm *wasm) {
    if (priv->object.kind != CSNI_OBJECT_RELOCATABLE || wasm->code == CSNI_NO_SECTION) return;
    priv->object.moved_by = priv->place_at;
    priv->sections[wasm->code].addr += priv->place_at;
}

static csn_status wasm_read(struct csni_object_private *priv, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct csni_wasm *wasm = csni_alloc_zeroed(priv->alloc, 1, sizeof *wasm);
    if (!wasm) return csni_fail_memory(err, sizeof *wasm);
    priv->own = wasm;
    wasm->code = CSNI_NO_SECTION;
    object->kind = CSNI_OBJECT_EXECUTABLE;
    object->address_size = 4;
    uint32_t count = 0;
    CSNI_TRY(check_wasm_header(object->file, err));
    CSNI_TRY(count_wasm_sections(object->file, &count, err));
    CSNI_TRY(csni_make_sections(priv, count + 1, err));
    priv->sections[0] = (struct csni_section){ .name = { "", 0 }, .flags = CSNI_SECTION_NOBITS };
    CSNI_TRY(read_wasm_sections(priv, wasm, err));
    move_object(priv, wasm);
    memcpy(object->arch, object->address_size == 8 ? "wasm64" : "wasm32", sizeof "wasm32");
    return CSN_OK;
}

static csn_status wasm_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err) {
    const struct csni_wasm *wasm = csni_wasm_of(object);
    if (!wasm->body_count) return CSN_NONE;
    if (!csni_vec_reserve(out, out->count + wasm->body_count))
        return csni_fail_memory(err, (out->count + wasm->body_count) * sizeof *out->items);
    for (uint32_t i = 0; i < wasm->body_count; i++) {
        const struct csni_wasm_body *body = &wasm->bodies[i];
        out->items[out->count++] =
            (struct csni_function_bound){ object->moved_by + body->off, object->moved_by + body->off + body->size };
    }
    return CSN_OK;
}

static void wasm_close(struct csni_object_private *priv) {
    struct csni_wasm *wasm = priv->own;
    if (!wasm) return;
    csni_free(priv->alloc, wasm->bodies, wasm->body_count * sizeof *wasm->bodies);
    csni_free(priv->alloc, wasm, sizeof *wasm);
}

const struct csni_container_reader csni_wasm_reader = {
    .container = CSNI_CONTAINER_WASM,
    .recognize = wasm_recognize,
    .read = wasm_read,
    .debug_prefix = ".debug_",
    .symbols = csni_wasm_symbols,
    .next_symbol = csni_wasm_next_symbol,
    .function_bounds = wasm_function_bounds,
    .data_segments = csni_wasm_data_segments,
    .close = wasm_close,
};

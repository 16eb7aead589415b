/* Names of WebAssembly functions: the name section, the symbol table of a module that is not linked, exports. */
#include "base/core/fail.h"
#include "object/wasm/wasm_layout.h"
#include "object/wasm/wasm_private.h"

/* The subsection of that type; empty without one, or when the list ends in damage before it. */
static struct csni_span find_subsection(struct csni_span section, uint8_t type) {
    struct csni_cursor c = csni_cursor_at(section, false);
    while (csni_cursor_left(&c)) {
        uint8_t found = csni_cursor_u8(&c);
        struct csni_span content = csni_cursor_bytes(&c, csni_cursor_uleb(&c));
        if (found == type) return content;
    }
    return (struct csni_span){ NULL, 0 };
}

static struct csni_span find_symbol_table(struct csni_span linking) {
    struct csni_cursor c = csni_cursor_at(linking, false);
    if (csni_cursor_uleb(&c) != WASM_METADATA_VERSION) return (struct csni_span){ NULL, 0 };
    return find_subsection(csni_span_from(linking, csni_cursor_off(&c)), WASM_SYMBOL_TABLE);
}

/* Entries have no fixed size: iter->symbols is what is left of them. strings: those of the linking section, if it is those. */
csn_status csni_wasm_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                             struct csn_error *err) {
    (void)err;
    const struct csni_wasm *wasm = csni_wasm_of(object);
    struct csni_symbol_iter set_up = { .object = object, .table = table };
    struct csni_span entries = wasm->exports;
    if (table == CSNI_SYMBOLS_STATIC) {
        entries = set_up.strings = find_symbol_table(wasm->linking);
        if (!entries.size) entries = find_subsection(wasm->names, WASM_NAMES_FUNCTION);
    }
    if (!entries.size) return CSN_NONE;
    struct csni_cursor c = csni_cursor_at(entries, false);
    set_up.count = csni_cursor_uleb(&c);
    set_up.symbols = csni_span_from(entries, csni_cursor_off(&c));
    if (set_up.count > set_up.symbols.size) set_up.count = set_up.symbols.size; /* each has a byte at least */
    *iter = set_up;
    return CSN_OK;
}

/* Puts a function's place in; false when there is no such function. */
static bool place_function(const struct csni_object *object, uint64_t index, struct csni_symbol *out) {
    const struct csni_wasm *wasm = csni_wasm_of(object);
    out->kind = CSNI_SYMBOL_FUNCTION;
    if (index < wasm->imported_functions) return true;
    if (index - wasm->imported_functions >= wasm->body_count) return false;
    const struct csni_wasm_body *body = &wasm->bodies[index - wasm->imported_functions];
    out->addr = object->moved_by + body->off;
    out->size = body->size;
    out->section = wasm->code;
    out->defined = true;
    return true;
}

static bool read_wasm_name(struct csni_cursor *c, const struct csni_object *object, struct csni_symbol *out) {
    uint64_t index = csni_cursor_uleb(c);
    out->name = csni_wasm_name(c);
    return c->failed || place_function(object, index, out);
}

static bool read_export(struct csni_cursor *c, const struct csni_object *object, struct csni_symbol *out) {
    out->name = csni_wasm_name(c);
    uint8_t kind = csni_cursor_u8(c);
    uint64_t index = csni_cursor_uleb(c);
    out->bind = CSNI_BIND_GLOBAL;
    out->kind = CSNI_SYMBOL_OTHER;
    return c->failed || kind != WASM_EXTERNAL_FUNCTION || place_function(object, index, out);
}

static bool read_linking_symbol(struct csni_cursor *c, const struct csni_object *object, struct csni_symbol *out) {
    uint8_t type = csni_cursor_u8(c);
    uint64_t flags = csni_cursor_uleb(c);
    bool undefined = flags & WASM_SYMBOL_UNDEFINED;
    out->bind = flags & WASM_SYMBOL_BINDING_WEAK ? CSNI_BIND_WEAK
                : flags & WASM_SYMBOL_BINDING_LOCAL ? CSNI_BIND_LOCAL : CSNI_BIND_GLOBAL;
    out->kind = type == WASM_SYMBOL_TYPE_SECTION ? CSNI_SYMBOL_SECTION : CSNI_SYMBOL_OTHER;
    if (type == WASM_SYMBOL_TYPE_DATA) {
        out->kind = CSNI_SYMBOL_DATA;
        out->name = csni_wasm_name(c);
        for (int i = 0; i < 3 && !undefined; i++) (void)csni_cursor_uleb(c); /* segment, offset, size */
        return true;
    }
    uint64_t index = csni_cursor_uleb(c);
    if (type != WASM_SYMBOL_TYPE_SECTION && (!undefined || (flags & WASM_SYMBOL_EXPLICIT_NAME)))
        out->name = csni_wasm_name(c);
    return c->failed || type != WASM_SYMBOL_TYPE_FUNCTION || place_function(object, index, out);
}

/* An entry that cannot be read is the last one: where the next begins is not known. */
bool csni_wasm_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    struct csni_symbol symbol = { .name = { "", 0 }, .section = CSNI_NO_SECTION };
    struct csni_cursor c = csni_cursor_at(iter->symbols, false);
    bool good;
    if (iter->table == CSNI_SYMBOLS_DYNAMIC) good = read_export(&c, iter->object, &symbol);
    else if (iter->strings.size) good = read_linking_symbol(&c, iter->object, &symbol);
    else good = read_wasm_name(&c, iter->object, &symbol);
    iter->symbols = csni_span_from(iter->symbols, csni_cursor_off(&c));
    iter->index = c.failed ? iter->count : iter->index + 1;
    if (c.failed || !good) return false;
    *out = symbol;
    return true;
}

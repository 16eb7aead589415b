/* The export trie of a Mach-O image: what dyld finds symbols by. It still names functions when the symbol table was stripped.
 * A node: ULEB128 size of its payload, payload (flags, address or ordinal), number of children, and for each child the
 * characters that follow, NUL-terminated, and the offset of its node. */
#include <inttypes.h>

#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

/* A node that is still to be read: its name is `prefix_len` characters of its parent's and then `edge`. */
struct trie_node {
    uint64_t off;
    size_t prefix_len;
    struct csn_str edge;
};

/* One walk on its way. Depth first with a stack of its own, so that depth costs nothing but memory. */
struct trie_walk {
    struct csni_object *object;
    struct csni_macho *own;
    struct csni_span trie;
    CSNI_VEC(struct trie_node) todo;
    CSNI_VEC(char) name;      /* of the node at hand */
    /* What a trie can have where each node is reached once. More comes of loops and of nodes that are shared. */
    uint64_t nodes_left, edge_bytes_left;
    uint64_t name_bytes_left;
};

/* Names of a trie take more than it does: that is what it is for. The longest that compilers make (Swift) are a few hundred
 * characters, and each has some bytes of its own. */
enum { MIN_NODE_SIZE = 2, NAME_BYTES_A_BYTE = 32, SPARE_NAME_BYTES = 65536 };

static csn_status add_export(struct trie_walk *w, struct csni_span payload, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(payload, false);
    uint64_t flags = csni_cursor_uleb(&c), value = csni_cursor_uleb(&c);
    if (flags & EXPORT_SYMBOL_FLAGS_REEXPORT) return CSN_OK; /* another image's */
    if (c.failed || w->name.count > w->name_bytes_left) {
        w->own->exported.damaged++;
        return CSN_OK;
    }
    w->name_bytes_left -= w->name.count;
    char *text = csni_arena_copy(&w->own->names, w->name.items, w->name.count);
    if (!text) return csni_fail_memory(err, w->name.count);
    struct csn_str name = { text, w->name.count };
    uint64_t kind = flags & EXPORT_SYMBOL_FLAGS_KIND_MASK;
    struct csni_symbol s = { .name = csni_macho_plain_name(name), .section = CSNI_NO_SECTION, .defined = true };
    s.bind = flags & EXPORT_SYMBOL_FLAGS_WEAK_DEFINITION ? CSNI_BIND_WEAK : CSNI_BIND_GLOBAL;
    s.addr = kind == EXPORT_SYMBOL_FLAGS_KIND_ABSOLUTE ? value : w->object->image_base + value;
    if (kind != EXPORT_SYMBOL_FLAGS_KIND_ABSOLUTE) s.section = csni_macho_section_at(w->object, s.addr);
    if (s.section == CSNI_NO_SECTION) s.kind = CSNI_SYMBOL_NONE;
    else if (kind == EXPORT_SYMBOL_FLAGS_KIND_THREAD_LOCAL) s.kind = CSNI_SYMBOL_TLS;
    else if (w->object->sections[s.section].flags & CSNI_SECTION_EXEC) {
        s.kind = CSNI_SYMBOL_FUNCTION;
        s.addr = csni_macho_code_addr(w->object, s.addr);
    } else s.kind = CSNI_SYMBOL_DATA;
    if (!csni_vec_push(&w->own->exported.symbols, s)) return csni_fail_memory(err, sizeof s);
    return CSN_OK;
}

/* Puts the children on the stack in reverse, so that they are read in their order. */
static csn_status add_macho_children(struct trie_walk *w, struct csni_cursor *c, struct csn_error *err) {
    size_t first = w->todo.count;
    uint8_t count = csni_cursor_u8(c);
    if (c->failed) w->own->exported.damaged++;
    for (uint8_t left = count; left; left--) {
        struct csn_str edge = csni_cursor_cstr(c);
        struct trie_node child = { csni_cursor_uleb(c), w->name.count, edge };
        if (c->failed || child.off >= w->trie.size || !w->nodes_left || edge.len > w->edge_bytes_left) {
            w->own->exported.damaged++;
            break;
        }
        w->nodes_left--;
        w->edge_bytes_left -= edge.len;
        if (!csni_vec_push(&w->todo, child)) return csni_fail_memory(err, sizeof child);
    }
    for (size_t a = first, b = w->todo.count; a + 1 < b; a++, b--) {
        struct trie_node node = w->todo.items[a];
        w->todo.items[a] = w->todo.items[b - 1];
        w->todo.items[b - 1] = node;
    }
    return CSN_OK;
}

static csn_status visit(struct trie_walk *w, struct trie_node node, struct csn_error *err) {
    size_t len = node.prefix_len + node.edge.len;
    if (!csni_vec_reserve(&w->name, len)) return csni_fail_memory(err, len);
    if (node.edge.len) memcpy(w->name.items + node.prefix_len, node.edge.ptr, node.edge.len);
    w->name.count = len;
    struct csni_cursor c = csni_cursor_at(w->trie, false);
    csni_cursor_seek(&c, node.off);
    struct csni_span payload = csni_cursor_bytes(&c, csni_cursor_uleb(&c));
    if (!c.failed && payload.size && len) CSNI_TRY(add_export(w, payload, err));
    return add_macho_children(w, &c, err);
}

static csn_status walk_trie(struct trie_walk *w, struct csn_error *err) {
    const struct trie_node root = { 0, 0, { "", 0 } };
    if (!csni_vec_push(&w->todo, root)) return csni_fail_memory(err, sizeof root);
    while (w->todo.count) CSNI_TRY(visit(w, w->todo.items[--w->todo.count], err));
    return CSN_OK;
}

csn_status csni_macho_make_exports(struct csni_object *object, struct csn_error *err) {
    struct csni_macho *own = csni_macho_own(object);
    if (own->exported.is_made) return CSN_OK;
    struct trie_walk w = { .object = object, .own = own };
    w.todo.alloc = w.name.alloc = own->exported.symbols.alloc;
    own->exported.symbols.count = 0; /* of an attempt that ran out of memory */
    own->exported.damaged = 0;
    CSNI_TRY(csni_macho_part_bytes(object, "export trie", own->exports, 1, &w.trie, err));
    w.nodes_left = w.trie.size / MIN_NODE_SIZE;
    w.edge_bytes_left = w.trie.size;
    w.name_bytes_left = NAME_BYTES_A_BYTE * (uint64_t)w.trie.size + SPARE_NAME_BYTES;
    csn_status status = walk_trie(&w, err);
    csni_vec_deinit(&w.todo);
    csni_vec_deinit(&w.name);
    if (status < 0) return status;
    own->exported.is_made = true;
    return CSN_OK;
}

/* ---- LC_FUNCTION_STARTS: where functions begin, each as the ULEB128 distance from the one before ---- */

csn_status csni_macho_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err) {
    const struct csni_macho *own = csni_macho_own(object);
    struct csni_span bytes;
    if (!own->function_starts.count) return CSN_NONE;
    CSNI_TRY(csni_macho_part_bytes(object, "function starts", own->function_starts, 1, &bytes, err));
    struct csni_cursor c = csni_cursor_at(bytes, false);
    /* The first distance is from __TEXT. That of Thumb code carries its mark, bit 0, into the sum. */
    uint64_t addr = object->image_base;
    for (;;) {
        uint64_t distance = csni_cursor_uleb(&c);
        if (c.failed || !distance || !csni_add_u64(addr, distance, &addr)) return CSN_OK;
        const struct csni_function_bound bound = { csni_macho_code_addr(object, addr), 0 };
        if (out->count && out->items[out->count - 1].start >= bound.start) continue;
        if (!csni_vec_push(out, bound)) return csni_fail_memory(err, sizeof bound);
    }
}

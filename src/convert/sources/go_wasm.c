/* The memory of a WebAssembly module, as far as its data section has it. Go's linker leaves out runs of zeros, also within its
 * function table, so segments that are near each other are put together again. */
#include "convert/sources/go_wasm.h"

#include "base/core/fail.h"
#include "object/object.h"

/* Zeros between segments of one piece; bytes of them in all; where pieces begin. */
enum { GAP_MAX = 1 << 14, GAPS_MAX = 32 << 20, PIECE_ALIGN = 16 };

struct wasm_piece {
    size_t first, end;   /* segments */
    uint64_t addr, size; /* from a multiple of PIECE_ALIGN on */
};

/* The longest piece that begins with segment `first`, while *gaps lasts. */
static struct wasm_piece next_piece(const csni_data_segments *segments, size_t first, uint64_t *gaps) {
    const struct csni_data_segment *s = segments->items;
    struct wasm_piece piece = { first, first + 1, s[first].addr & ~(uint64_t)(PIECE_ALIGN - 1), 0 };
    uint64_t end = s[first].addr + s[first].bytes.size;
    for (size_t i = piece.end; i < segments->count; i++, piece.end++) {
        if (s[i].addr < end || s[i].addr - end > GAP_MAX || s[i].addr - end > *gaps) break;
        *gaps -= s[i].addr - end;
        end = s[i].addr + s[i].bytes.size;
    }
    piece.size = end - piece.addr;
    return piece;
}

static csn_status add_piece(const csni_data_segments *segments, const struct wasm_piece *piece, struct csni_arena *arena,
                            csni_go_sections *out, struct csn_error *err) {
    if (!piece->size) return CSN_OK;
    uint8_t *bytes = piece->size <= SIZE_MAX ? csni_arena_alloc(arena, (size_t)piece->size) : NULL;
    if (!bytes) return csni_fail_memory(err, (size_t)piece->size);
    memset(bytes, 0, (size_t)piece->size);
    for (size_t i = piece->first; i < piece->end; i++) {
        const struct csni_data_segment *s = &segments->items[i];
        if (s->bytes.size) memcpy(bytes + (s->addr - piece->addr), s->bytes.ptr, s->bytes.size);
    }
    struct csni_go_section section = { piece->addr, { bytes, (size_t)piece->size } };
    return csni_vec_push(out, section) ? CSN_OK : csni_fail_memory(err, sizeof section);
}

csn_status csni_go_wasm_memory(struct csni_conversion *c, struct csni_arena *arena, csni_go_sections *out, struct csn_error *err) {
    if (c->object->container != CSNI_CONTAINER_WASM || c->object->kind == CSNI_OBJECT_RELOCATABLE) return CSN_NONE;
    csni_data_segments segments = { .alloc = c->alloc };
    csn_status status = csni_object_data_segments(c->object, &segments, err);
    uint64_t gaps = GAPS_MAX;
    for (size_t i = 0; status == CSN_OK && i < segments.count;) {
        struct wasm_piece piece = next_piece(&segments, i, &gaps);
        status = add_piece(&segments, &piece, arena, out, err);
        i = piece.end;
    }
    csni_vec_deinit(&segments);
    return status;
}

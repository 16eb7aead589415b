/* From sections and offsets to RVAs, also of code that was moved after it was linked. */
#include <inttypes.h>

#include "base/core/search.h"
#include "pdb/pdb_private.h"

/* ---- reading ---- */

/* The number of a stream; PDB_NO_STREAM: none. */
static uint32_t debug_header(struct csni_span headers, unsigned which) {
    return headers.size >= 2 * ((size_t)which + 1) ? csni_get16(headers.ptr + 2 * (size_t)which, false) : PDB_NO_STREAM;
}

static csn_status read_section_headers(const struct csni_pdb *pdb, uint32_t stream, csni_pdb_sections *out, struct csn_error *err) {
    struct csni_pdb_bytes bytes;
    if (stream == PDB_NO_STREAM) return CSN_OK;
    CSNI_TRY(csni_pdb_read_stream(pdb, stream, &bytes, err));
    size_t count = bytes.span.size / SECTION_RECORD_SIZE;
    bool ok = csni_vec_reserve(out, count);
    for (size_t i = 0; ok && i < count; i++) {
        const uint8_t *p = bytes.span.ptr + i * SECTION_RECORD_SIZE;
        out->items[out->count++] =
            (struct csni_pdb_section){ csni_get32(p + SECTION_RECORD_RVA, false),
                                       csni_get32(p + SECTION_RECORD_SIZE_OF_MEMORY, false),
                                       csni_get32(p + SECTION_RECORD_FLAGS, false) };
    }
    csni_pdb_free_bytes(pdb, &bytes);
    return ok ? CSN_OK : csni_fail_memory(err, count * sizeof *out->items);
}

/* Descending ones end the list. */
static csn_status read_moves(struct csni_pdb *pdb, uint32_t stream, struct csn_error *err) {
    struct csni_pdb_bytes bytes;
    CSNI_TRY(csni_pdb_read_stream(pdb, stream, &bytes, err));
    size_t count = bytes.span.size / OMAP_RECORD_SIZE;
    bool ok = csni_vec_reserve(&pdb->moves, count);
    for (size_t i = 0; ok && i < count; i++) {
        const uint8_t *p = bytes.span.ptr + i * OMAP_RECORD_SIZE;
        struct csni_pdb_move move = { csni_get32(p, false), csni_get32(p + 4, false) };
        if (i && move.from < pdb->moves.items[i - 1].from) break;
        pdb->moves.items[pdb->moves.count++] = move;
    }
    csni_pdb_free_bytes(pdb, &bytes);
    return ok ? CSN_OK : csni_fail_memory(err, count * sizeof *pdb->moves.items);
}

/* Symbols of moved code name the sections that it was in before. */
csn_status csni_pdb_read_sections(struct csni_pdb *pdb, struct csni_span headers, struct csn_error *err) {
    uint32_t moves = debug_header(headers, DEBUG_HEADER_OMAP_FROM_SRC), of_image = debug_header(headers, DEBUG_HEADER_SECTIONS);
    uint32_t original = debug_header(headers, DEBUG_HEADER_SECTIONS_ORIGINAL);
    pdb->fpo_stream = (uint16_t)debug_header(headers, DEBUG_HEADER_FPO);
    pdb->frame_stream = (uint16_t)debug_header(headers, DEBUG_HEADER_FRAME_DATA);
    bool was_moved = moves != PDB_NO_STREAM && original != PDB_NO_STREAM;
    CSNI_TRY(read_section_headers(pdb, of_image, &pdb->image_sections, err));
    CSNI_TRY(read_section_headers(pdb, was_moved ? original : of_image, &pdb->sections, err));
    return was_moved ? read_moves(pdb, moves, err) : CSN_OK;
}

/* ---- addresses ---- */

static bool original_rva(const struct csni_pdb *pdb, uint32_t section, uint32_t offset, uint32_t *out) {
    if (!section || section > pdb->sections.count) return false;
    uint32_t rva = pdb->sections.items[section - 1].rva;
    if (offset > UINT32_MAX - rva) return false;
    *out = rva + offset;
    return true;
}

bool csni_pdb_rva(const struct csni_pdb *pdb, uint32_t section, uint32_t offset, uint32_t *out) {
    uint32_t rva;
    if (!original_rva(pdb, section, offset, &rva)) return false;
    if (pdb->moves.count) {
        size_t after = csni_upper_bound(pdb->moves.items, pdb->moves.count, from, rva);
        if (!after || !pdb->moves.items[after - 1].to) return false;
        const struct csni_pdb_move *move = &pdb->moves.items[after - 1];
        if (rva - move->from > UINT32_MAX - move->to) return false;
        rva = move->to + (rva - move->from);
    }
    *out = rva;
    return true;
}

/* Appends; what continues the last place joins it. */
static bool add_place(csni_pdb_places *out, struct csni_pdb_place place) {
    struct csni_pdb_place *last = out->count ? &out->items[out->count - 1] : NULL;
    if (place.size > UINT32_MAX - place.rva) return true;
    if (last && last->off + last->size == place.off && last->rva + last->size == place.rva) {
        last->size += place.size;
        return true;
    }
    return csni_vec_push(out, place);
}

/* The part of [rva, stop) that a move is of. */
static bool add_moved(const struct csni_pdb *pdb, size_t at, uint32_t rva, uint64_t stop, csni_pdb_places *out) {
    const struct csni_pdb_move *move = &pdb->moves.items[at];
    uint64_t next = at + 1 < pdb->moves.count ? pdb->moves.items[at + 1].from : UINT32_MAX;
    uint64_t low = move->from > rva ? move->from : rva, high = stop < next ? stop : next;
    if (!move->to || low >= high || low - move->from > UINT32_MAX - move->to) return true;
    return add_place(out, (struct csni_pdb_place){ (uint32_t)(low - rva), (uint32_t)(high - low),
                                                   move->to + (uint32_t)(low - move->from) });
}

bool csni_pdb_places_of(const struct csni_pdb *pdb, uint32_t section, uint32_t offset, uint32_t size, csni_pdb_places *out) {
    uint32_t rva;
    out->count = 0;
    if (!size) return !csni_pdb_rva(pdb, section, offset, &rva) || add_place(out, (struct csni_pdb_place){ 0, 0, rva });
    return !original_rva(pdb, section, offset, &rva) || csni_pdb_places_of_rva(pdb, rva, size, out);
}

bool csni_pdb_places_of_rva(const struct csni_pdb *pdb, uint32_t rva, uint32_t size, csni_pdb_places *out) {
    out->count = 0;
    if (size > UINT32_MAX - rva) size = UINT32_MAX - rva;
    if (!pdb->moves.count) return add_place(out, (struct csni_pdb_place){ 0, size, rva });
    uint64_t stop = (uint64_t)rva + size;
    size_t at = csni_upper_bound(pdb->moves.items, pdb->moves.count, from, rva);
    for (at -= at > 0; at < pdb->moves.count && pdb->moves.items[at].from < stop; at++)
        if (!add_moved(pdb, at, rva, stop, out)) return false;
    return true;
}

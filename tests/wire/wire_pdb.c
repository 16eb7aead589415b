/* Small program databases for tests. */
#include "wire/wire_pdb.h"

void wire_pdb_init(struct wire_pdb *pdb, uint32_t stream_count) {
    *pdb = (struct wire_pdb){ .stream_count = stream_count };
    for (uint32_t i = 0; i < stream_count; i++) wire_init(&pdb->streams[i], false);
}

void wire_pdb_deinit(struct wire_pdb *pdb) {
    for (uint32_t i = 0; i < pdb->stream_count; i++) wire_deinit(&pdb->streams[i]);
}

static uint32_t blocks_of(size_t size) { return (uint32_t)((size + WIRE_PDB_BLOCK - 1) / WIRE_PDB_BLOCK); }

/* Header, two free block maps, the streams' blocks, the directory, the list of its blocks. */
void wire_pdb_build(struct wire_pdb *pdb, struct wire *out) {
    enum { FIRST = 3 };
    struct wire directory;
    uint32_t at = FIRST, total = 0;
    wire_init(&directory, false);
    wire_u32(&directory, pdb->stream_count);
    for (uint32_t i = 0; i < pdb->stream_count; i++) {
        wire_u32(&directory, pdb->streams[i].size);
        total += blocks_of(pdb->streams[i].size);
    }
    for (uint32_t i = 0; i < pdb->stream_count; i++)
        for (uint32_t b = 0; b < blocks_of(pdb->streams[i].size); b++, at++)
            wire_u32(&directory, pdb->scattered ? FIRST + total - 1 - (at - FIRST) : at);
    uint32_t directory_blocks = blocks_of(directory.size);
    wire_bytes(out, "Microsoft C/C++ MSF 7.00\r\n\x1a" "DS\0\0", 32);
    wire_u32(out, WIRE_PDB_BLOCK);
    wire_u32(out, 1);
    wire_u32(out, FIRST + total + directory_blocks + 1);
    wire_u32(out, directory.size);
    wire_u32(out, 0);
    wire_u32(out, FIRST + total + directory_blocks);
    wire_fill(out, 0, FIRST * WIRE_PDB_BLOCK - out->size);
    size_t begin = out->size;
    wire_fill(out, 0, (size_t)total * WIRE_PDB_BLOCK);
    at = 0;
    for (uint32_t i = 0; i < pdb->stream_count; i++) {
        struct csni_span bytes = wire_span(&pdb->streams[i]);
        for (size_t off = 0; off < bytes.size; off += WIRE_PDB_BLOCK, at++) {
            uint32_t block = pdb->scattered ? total - 1 - at : at;
            for (size_t k = off; k < bytes.size && k < off + WIRE_PDB_BLOCK; k++)
                wire_patch(out, begin + (size_t)block * WIRE_PDB_BLOCK + (k - off), bytes.ptr[k], 1);
        }
    }
    wire_append(out, &directory);
    wire_align(out, WIRE_PDB_BLOCK);
    for (uint32_t b = 0; b < directory_blocks; b++) wire_u32(out, FIRST + total + b);
    wire_align(out, WIRE_PDB_BLOCK);
    wire_deinit(&directory);
}

size_t wire_pdb_begin_record(struct wire *w, uint16_t kind) {
    size_t begun = wire_u16(w, 0);
    wire_u16(w, kind);
    return begun;
}

void wire_pdb_end_record(struct wire *w, size_t begun) {
    wire_align(w, 4);
    wire_patch(w, begun, w->size - begun - 2, 2);
}

size_t wire_pdb_begin_subsection(struct wire *w, uint32_t kind) {
    wire_u32(w, kind);
    return wire_u32(w, 0);
}

void wire_pdb_end_subsection(struct wire *w, size_t begun) {
    wire_patch(w, begun, w->size - begun - 4, 4);
    wire_align(w, 4);
}

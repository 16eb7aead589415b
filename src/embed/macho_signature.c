/* Signatures as a "super blob" of blobs, all numbers big-endian: the layout of <kern/cs_blobs.h>, whose names these are. */
#include "embed/macho_signature.h"

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/sha256.h"

static const uint32_t CSMAGIC_EMBEDDED_SIGNATURE = 0xfade0cc0, CSMAGIC_CODEDIRECTORY = 0xfade0c02;
enum { CSSLOT_CODEDIRECTORY = 0, CSSLOT_ALTERNATE_CODEDIRECTORIES = 0x1000, CSSLOT_ALTERNATE_END = 0x1005,
       CSSLOT_SIGNATURESLOT = 0x10000 };
enum { CS_ADHOC = 0x2, CS_LINKER_SIGNED = 0x20000 };
enum { CS_HASHTYPE_SHA256 = 2, CS_SUPPORTSEXECSEG = 0x20400 };
enum { SUPER_BLOB_SIZE = 12, BLOB_INDEX_SIZE = 8, BLOB_HEADER_SIZE = 8, BLOB_ALIGN = 8 };
/* Of a code directory, by offset. */
enum { CD_VERSION = 8, CD_FLAGS = 12, CD_HASH_OFFSET = 16, CD_IDENT_OFFSET = 20, CD_SPECIAL_SLOTS = 24, CD_CODE_SLOTS = 28,
       CD_CODE_LIMIT = 32, CD_HASH_SIZE = 36, CD_HASH_TYPE = 37, CD_PAGE_SIZE = 39, CD_EARLIEST_SIZE = 44, CD_EXEC_BASE = 64,
       CD_EXEC_LIMIT = 72, CD_EXEC_FLAGS = 80, CD_SIZE = 88 };
enum { PAGE_BITS_MIN = 12, PAGE_BITS_MAX = 16, HASHES_ALIGN = 16, SPECIAL_MAX = 32 };

/* ---- reading ---- */

static csn_status damaged(uint64_t off, struct csn_error *err) {
    return csni_fail(err, CSN_E_FORMAT, "code signature", off, "a blob lies outside of the signature's bytes");
}

/* The blob at `off`, header included. */
static bool take_blob(struct csni_span bytes, uint64_t off, struct csni_span *out) {
    struct csni_span header;
    return csni_span_sub(bytes, off, BLOB_HEADER_SIZE, &header) &&
           csni_span_sub(bytes, off, csni_get32(header.ptr + 4, true), out) && out->size >= BLOB_HEADER_SIZE;
}

/* CSN_NONE: of a kind that is not made here. */
static csn_status read_signature_directory(struct csni_span blob, struct csni_macho_signature *out,
                                           struct csn_error *err) {
    if (blob.size < CD_EARLIEST_SIZE || csni_get32(blob.ptr, true) != CSMAGIC_CODEDIRECTORY) return damaged(0, err);
    out->flags = csni_get32(blob.ptr + CD_FLAGS, true);
    out->page_bits = blob.ptr[CD_PAGE_SIZE];
    out->special_count = csni_get32(blob.ptr + CD_SPECIAL_SLOTS, true);
    bool known = blob.ptr[CD_HASH_TYPE] == CS_HASHTYPE_SHA256 && blob.ptr[CD_HASH_SIZE] == CSNI_SHA256_SIZE;
    if (!(out->flags & CS_ADHOC) || !known || out->special_count > SPECIAL_MAX) return CSN_NONE;
    if (out->page_bits < PAGE_BITS_MIN || out->page_bits > PAGE_BITS_MAX) return CSN_NONE;
    uint64_t hashes = csni_get32(blob.ptr + CD_HASH_OFFSET, true), special = (uint64_t)out->special_count * CSNI_SHA256_SIZE;
    struct csni_span name = csni_span_from(blob, csni_get32(blob.ptr + CD_IDENT_OFFSET, true));
    const uint8_t *nul = name.size ? memchr(name.ptr, 0, name.size) : NULL;
    if (!nul || hashes < special || !csni_span_sub(blob, hashes - special, special, &out->special)) return damaged(0, err);
    out->identifier = (struct csni_span){ name.ptr, (size_t)(nul - name.ptr) };
    if (csni_get32(blob.ptr + CD_VERSION, true) >= CS_SUPPORTSEXECSEG && blob.size >= CD_SIZE) {
        out->segment_off = csni_get64(blob.ptr + CD_EXEC_BASE, true);
        out->segment_size = csni_get64(blob.ptr + CD_EXEC_LIMIT, true);
        out->segment_flags = csni_get64(blob.ptr + CD_EXEC_FLAGS, true);
    }
    return CSN_OK;
}

static bool is_alternate(uint32_t slot) { return slot >= CSSLOT_ALTERNATE_CODEDIRECTORIES && slot < CSSLOT_ALTERNATE_END; }

csn_status csni_macho_signature_read(struct csni_span bytes, struct csni_macho_signature *out, struct csn_error *err) {
    struct csni_macho_signature s = { .blob_count = 0 };
    struct csni_span whole, entry, blob, directory = { NULL, 0 };
    if (!take_blob(bytes, 0, &whole) || whole.size < SUPER_BLOB_SIZE || csni_get32(whole.ptr, true) != CSMAGIC_EMBEDDED_SIGNATURE)
        return damaged(0, err);
    uint32_t count = csni_get32(whole.ptr + 8, true);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = SUPER_BLOB_SIZE + (uint64_t)i * BLOB_INDEX_SIZE;
        if (!csni_span_sub(whole, at, BLOB_INDEX_SIZE, &entry)) return damaged(at, err);
        uint32_t slot = csni_get32(entry.ptr, true);
        if (!take_blob(whole, csni_get32(entry.ptr + 4, true), &blob)) return damaged(at, err);
        if (slot == CSSLOT_SIGNATURESLOT) {
            if (blob.size > BLOB_HEADER_SIZE) return CSN_NONE; /* a certificate's */
        } else if (slot == CSSLOT_CODEDIRECTORY) {
            directory = blob;
        } else if (!is_alternate(slot)) {
            if (s.blob_count == CSNI_SIGNATURE_BLOBS_MAX) return CSN_NONE;
            s.blobs[s.blob_count].slot = slot;
            s.blobs[s.blob_count++].bytes = blob;
        }
    }
    csn_status status = read_signature_directory(directory, &s, err);
    if (status == CSN_OK) *out = s;
    return status;
}

/* ---- writing ---- */

/* Where things stand. */
struct layout {
    uint64_t directory, hashes; /* from the start; those of the code */
    uint64_t directory_size, pages, blobs, size;
};

static struct layout lay_out_signature(const struct csni_macho_signature *s, uint64_t limit) {
    struct layout l = { .pages = (limit + ((uint64_t)1 << s->page_bits) - 1) >> s->page_bits };
    l.directory = csni_align_up(SUPER_BLOB_SIZE + (uint64_t)BLOB_INDEX_SIZE * (1 + s->blob_count), BLOB_ALIGN);
    l.hashes = csni_align_up(l.directory + CD_SIZE + s->identifier.size + 1, HASHES_ALIGN) + s->special.size;
    l.blobs = l.hashes + l.pages * CSNI_SHA256_SIZE;
    l.directory_size = l.blobs - l.directory;
    l.size = l.blobs;
    for (unsigned i = 0; i < s->blob_count; i++) l.size = csni_align_up(l.size + s->blobs[i].bytes.size, BLOB_ALIGN);
    l.size = csni_align_up(l.size, HASHES_ALIGN);
    return l;
}

uint64_t csni_macho_signature_size(const struct csni_macho_signature *s, uint64_t limit) {
    return lay_out_signature(s, limit).size;
}

static void put_directory(const struct csni_macho_signature *s, const struct layout *l, uint64_t limit, uint8_t *p) {
    csni_put32(p, CSMAGIC_CODEDIRECTORY, true);
    csni_put32(p + 4, (uint32_t)l->directory_size, true);
    csni_put32(p + CD_VERSION, CS_SUPPORTSEXECSEG, true);
    csni_put32(p + CD_FLAGS, s->flags | CS_ADHOC | CS_LINKER_SIGNED, true);
    csni_put32(p + CD_HASH_OFFSET, (uint32_t)(l->hashes - l->directory), true);
    csni_put32(p + CD_IDENT_OFFSET, CD_SIZE, true);
    csni_put32(p + CD_SPECIAL_SLOTS, s->special_count, true);
    csni_put32(p + CD_CODE_SLOTS, (uint32_t)l->pages, true);
    csni_put32(p + CD_CODE_LIMIT, (uint32_t)limit, true);
    p[CD_HASH_SIZE] = CSNI_SHA256_SIZE;
    p[CD_HASH_TYPE] = CS_HASHTYPE_SHA256;
    p[CD_PAGE_SIZE] = (uint8_t)s->page_bits;
    csni_put64(p + CD_EXEC_BASE, s->segment_off, true);
    csni_put64(p + CD_EXEC_LIMIT, s->segment_size, true);
    csni_put64(p + CD_EXEC_FLAGS, s->segment_flags, true);
    memcpy(p + CD_SIZE, s->identifier.ptr, s->identifier.size);
}

static void put_blob_index(uint8_t *p, unsigned i, uint32_t slot, uint64_t off) {
    csni_put32(p + SUPER_BLOB_SIZE + (size_t)i * BLOB_INDEX_SIZE, slot, true);
    csni_put32(p + SUPER_BLOB_SIZE + (size_t)i * BLOB_INDEX_SIZE + 4, (uint32_t)off, true);
}

/* A hash for each page of what the assembly holds so far, in order. */
static void hash_pages(const struct csni_assembly *file, unsigned page_bits, uint8_t *hashes) {
    struct csni_sha256 hash;
    uint64_t left = (uint64_t)1 << page_bits;
    csni_sha256_init(&hash);
    for (size_t i = 0; i < file->pieces.count; i++) {
        struct csni_span rest = file->pieces.items[i].bytes;
        while (rest.size) {
            size_t some = rest.size < left ? rest.size : (size_t)left;
            csni_sha256_add(&hash, rest.ptr, some);
            rest = csni_span_from(rest, some);
            left -= some;
            if (left) continue;
            csni_sha256_finish(&hash, hashes);
            hashes += CSNI_SHA256_SIZE;
            csni_sha256_init(&hash);
            left = (uint64_t)1 << page_bits;
        }
    }
    if (left != (uint64_t)1 << page_bits) csni_sha256_finish(&hash, hashes);
}

csn_status csni_macho_signature_add(const struct csni_macho_signature *s, struct csni_assembly *out, struct csn_error *err) {
    uint64_t limit = out->size;
    struct layout l = lay_out_signature(s, limit);
    if (limit > UINT32_MAX || l.size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, "code signature", 0, "the image has 0x%llx bytes, a signature covers 0x%x",
                         (unsigned long long)limit, UINT32_MAX);
    struct csni_assembly file = *out; /* without the signature */
    uint8_t *p = csni_alloc_zeroed(out->pieces.alloc, 1, (size_t)l.size);
    if (!p || out->failed) {
        csni_free(out->pieces.alloc, p, (size_t)l.size);
        return csni_fail_memory(err, l.size);
    }
    csni_put32(p, CSMAGIC_EMBEDDED_SIGNATURE, true);
    csni_put32(p + 4, (uint32_t)l.size, true);
    csni_put32(p + 8, 1 + s->blob_count, true);
    put_blob_index(p, 0, CSSLOT_CODEDIRECTORY, l.directory);
    put_directory(s, &l, limit, p + l.directory);
    if (s->special.size) memcpy(p + l.hashes - s->special.size, s->special.ptr, s->special.size);
    uint64_t at = l.blobs;
    for (unsigned i = 0; i < s->blob_count; i++) {
        put_blob_index(p, 1 + i, s->blobs[i].slot, at);
        memcpy(p + at, s->blobs[i].bytes.ptr, s->blobs[i].bytes.size);
        at = csni_align_up(at + s->blobs[i].bytes.size, BLOB_ALIGN);
    }
    hash_pages(&file, s->page_bits, p + l.hashes);
    bool added = csni_assembly_add_own(out, p, (size_t)l.size);
    return added ? CSN_OK : csni_fail_memory(err, l.size);
}

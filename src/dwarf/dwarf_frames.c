/* Where functions are by .eh_frame: each of its records tells how to unwind one range of code. Read for the ranges alone.
 * Layout: DWARF 5, 6.4.1; what .eh_frame does otherwise: Linux Standard Base 5.0, 10.6. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "dwarf/dwarf.h"

static const char SECTION[] = ".eh_frame";

/* Pointer encodings: how it is stored, what it is relative to. */
enum {
    DW_EH_PE_absptr = 0x00, DW_EH_PE_uleb128 = 0x01, DW_EH_PE_udata2 = 0x02, DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04, DW_EH_PE_sleb128 = 0x09, DW_EH_PE_sdata2 = 0x0a, DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c, DW_EH_PE_format = 0x0f,
    DW_EH_PE_pcrel = 0x10, DW_EH_PE_textrel = 0x20, DW_EH_PE_datarel = 0x30, DW_EH_PE_aligned = 0x50,
    DW_EH_PE_application = 0x70, DW_EH_PE_indirect = 0x80, DW_EH_PE_omit = 0xff
};
enum { AUGMENTATION_MAX = 16 }; /* letters; real ones have up to 6 */

struct record {
    uint64_t off, id_off, id;    /* of the length field, of the field after it */
    struct csni_cursor body;     /* after the id, up to the record's end */
    bool ends_list;
};

struct frames {
    const struct csni_eh_frame *section;
    uint64_t mask;               /* highest address */
    uint64_t cie_off;            /* of the CIE that `encoding` is from; UINT64_MAX: none yet */
    uint8_t encoding;
    bool usable;                 /* that CIE could be read */
};

/* ---- pointers ---- */

static uint64_t read_frame_format(const struct frames *f, struct csni_cursor *c, uint8_t encoding) {
    switch (encoding & DW_EH_PE_format) {
    case DW_EH_PE_absptr: return csni_cursor_uint(c, f->section->address_size);
    case DW_EH_PE_uleb128: return csni_cursor_uleb(c);
    case DW_EH_PE_udata2: return csni_cursor_u16(c);
    case DW_EH_PE_udata4: return csni_cursor_u32(c);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: return csni_cursor_u64(c);
    case DW_EH_PE_sleb128: return (uint64_t)csni_cursor_sleb(c);
    case DW_EH_PE_sdata2: return (uint64_t)(int64_t)(int16_t)csni_cursor_u16(c);
    case DW_EH_PE_sdata4: return (uint64_t)(int64_t)(int32_t)csni_cursor_u32(c);
    default: csni_cursor_fail(c); return 0;
    }
}

static void align_cursor(const struct frames *f, struct csni_cursor *c) {
    uint64_t at = f->section->addr + csni_cursor_off(c), size = f->section->address_size;
    csni_cursor_skip(c, (size - at % size) % size);
}

/* An address; fails the cursor where it cannot be known. */
static uint64_t read_frame_pointer(const struct frames *f, struct csni_cursor *c, uint8_t encoding) {
    if (encoding == DW_EH_PE_aligned) {
        align_cursor(f, c);
        return csni_cursor_uint(c, f->section->address_size);
    }
    uint64_t at = f->section->addr + csni_cursor_off(c), value = read_frame_format(f, c, encoding);
    switch (encoding & (DW_EH_PE_application | DW_EH_PE_indirect)) {
    case DW_EH_PE_absptr: break;
    case DW_EH_PE_pcrel: value += at; break;
    case DW_EH_PE_textrel: value += f->section->text_base; break;
    case DW_EH_PE_datarel: value += f->section->data_base; break;
    default: csni_cursor_fail(c);
    }
    return value & f->mask;
}

static void skip_pointer(const struct frames *f, struct csni_cursor *c, uint8_t encoding) {
    if (encoding == DW_EH_PE_omit) return;
    if (encoding == DW_EH_PE_aligned) read_frame_pointer(f, c, encoding);
    else read_frame_format(f, c, encoding);
}

/* ---- records ---- */

static csn_status read_frame_record(const struct frames *f, uint64_t off, struct record *out, uint64_t *next,
                                    struct csn_error *err) {
    struct csni_span whole = f->section->bytes, bytes;
    struct csni_cursor c = csni_cursor_at(whole, f->section->big_endian);
    csni_cursor_seek(&c, off);
    uint64_t size = csni_cursor_u32(&c);
    unsigned id_size = size == UINT32_MAX ? 8 : 4;
    if (size == UINT32_MAX) size = csni_cursor_u64(&c);
    *out = (struct record){ .off = off, .id_off = csni_cursor_off(&c), .ends_list = !size };
    *next = out->id_off + size;
    if (c.failed || !csni_span_sub(whole, out->id_off, size, &bytes) || (size && size < id_size))
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, off, "record of 0x%" PRIx64 " bytes, 0x%zx are left", size,
                         csni_cursor_left(&c));
    if (!size) return CSN_OK;
    /* Offsets of the body count from the section's start: pointers are relative to their own place. */
    struct csni_span up_to_end = { whole.ptr, (size_t)*next };
    out->body = csni_cursor_at(up_to_end, f->section->big_endian);
    csni_cursor_seek(&out->body, out->id_off);
    out->id = csni_cursor_uint(&out->body, id_size);
    return CSN_OK;
}

/* The letters of an augmentation, which tell what the CIE has besides; false: unknown ones, or too many. */
static bool read_letters(struct csni_cursor *c, char letters[AUGMENTATION_MAX]) {
    for (unsigned i = 0; i < AUGMENTATION_MAX; i++) {
        letters[i] = (char)csni_cursor_u8(c);
        if (!letters[i]) return !c->failed;
    }
    return false;
}

static void read_augmentation(struct frames *f, struct csni_cursor *c, const char *letters) {
    if (letters[0] != 'z') return;
    csni_cursor_uleb(c);
    for (const char *p = letters + 1; *p; p++) {
        if (*p == 'R') f->encoding = csni_cursor_u8(c);
        else if (*p == 'L') csni_cursor_skip(c, 1);
        else if (*p == 'P') skip_pointer(f, c, csni_cursor_u8(c));
        else if (*p != 'S' && *p != 'B' && *p != 'G') return; /* the rest is for somebody else */
    }
}

/* Sets f->encoding from the CIE at `off`, unless it is there already. */
static void use_cie(struct frames *f, uint64_t off) {
    struct record r;
    uint64_t next;
    char letters[AUGMENTATION_MAX];
    if (off == f->cie_off) return;
    f->cie_off = off;
    f->usable = false;
    f->encoding = DW_EH_PE_absptr;
    if (read_frame_record(f, off, &r, &next, NULL) != CSN_OK || r.ends_list || r.id) return;
    struct csni_cursor *c = &r.body;
    uint8_t version = csni_cursor_u8(c);
    if (!read_letters(c, letters) || (version != 1 && version != 3 && version != 4)) return;
    if (letters[0] == 'e' && letters[1] == 'h') csni_cursor_skip(c, f->section->address_size);
    if (version == 4) csni_cursor_skip(c, 2);
    csni_cursor_uleb(c);
    csni_cursor_sleb(c);
    if (version == 1) csni_cursor_skip(c, 1);
    else csni_cursor_uleb(c);
    read_augmentation(f, c, letters);
    f->usable = !c->failed;
}

/* A range, where the record and its CIE can be understood. */
static csn_status read_range(struct frames *f, struct record *r, csni_address_ranges *out, struct csn_error *err) {
    if (r->id > r->id_off) return CSN_OK;
    use_cie(f, r->id_off - r->id);
    if (!f->usable) return CSN_OK;
    uint64_t start = read_frame_pointer(f, &r->body, f->encoding), size;
    if (f->encoding == DW_EH_PE_aligned) size = csni_cursor_uint(&r->body, f->section->address_size);
    else size = read_frame_format(f, &r->body, f->encoding);
    if (r->body.failed || !start || !size || size > f->mask - start) return CSN_OK;
    struct csni_address_range range = { start, start + size };
    return csni_vec_push(out, range) ? CSN_OK : csni_fail_memory(err, sizeof range);
}

/* ---- all ---- */

static int address_range_by_start(const void *pa, const void *pb) {
    const struct csni_address_range *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->high < b->high ? -1 : a->high > b->high;
}

/* Of several ranges with one start the longest stays. */
static void sort_ranges(csni_address_ranges *out, size_t first) {
    if (out->count == first) return; /* perhaps without memory */
    struct csni_address_range *r = out->items + first;
    size_t count = out->count - first, kept = 0;
    qsort(r, count, sizeof *r, address_range_by_start);
    for (size_t i = 0; i < count; i++) {
        if (kept && r[kept - 1].low == r[i].low) r[kept - 1] = r[i];
        else r[kept++] = r[i];
    }
    out->count = first + kept;
}

csn_status csni_dwarf_frame_ranges(const struct csni_eh_frame *section, csni_address_ranges *out, struct csn_error *err) {
    struct frames f = { .section = section, .cie_off = UINT64_MAX };
    size_t first = out->count;
    csn_status status = CSN_OK;
    f.mask = UINT64_MAX >> (64 - 8 * section->address_size);
    for (uint64_t off = 0; off < section->bytes.size && status == CSN_OK;) {
        struct record r;
        status = read_frame_record(&f, off, &r, &off, err);
        /* A record of no bytes ends a list, but linkers join lists. An id of 0 is a CIE. */
        if (status == CSN_OK && !r.ends_list && r.id) status = read_range(&f, &r, out, err);
    }
    sort_ranges(out, first);
    return status;
}

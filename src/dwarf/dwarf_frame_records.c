/* Reading CIEs and FDEs. */
#include "dwarf/dwarf_frames.h"

#include <inttypes.h>

#include "base/core/fail.h"

/* Pointer encodings: how it is stored, what it is relative to. */
enum {
    DW_EH_PE_absptr = 0x00, DW_EH_PE_uleb128 = 0x01, DW_EH_PE_udata2 = 0x02, DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04, DW_EH_PE_sleb128 = 0x09, DW_EH_PE_sdata2 = 0x0a, DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c, DW_EH_PE_format = 0x0f,
    DW_EH_PE_pcrel = 0x10, DW_EH_PE_textrel = 0x20, DW_EH_PE_datarel = 0x30, DW_EH_PE_aligned = 0x50,
    DW_EH_PE_application = 0x70, DW_EH_PE_indirect = 0x80, DW_EH_PE_omit = 0xff
};
enum { AUGMENTATION_MAX = 16 }; /* letters; real ones have up to 6 */

/* ---- pointers ---- */

static uint64_t highest_address(const struct csni_frame_cie *cie) { return UINT64_MAX >> (64 - 8 * cie->address_size); }

static uint64_t read_frame_format(const struct csni_frame_cie *cie, struct csni_cursor *c, uint8_t encoding) {
    switch (encoding & DW_EH_PE_format) {
    case DW_EH_PE_absptr: return csni_cursor_uint(c, cie->address_size);
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

static uint64_t read_aligned_pointer(const struct csni_frame_cie *cie, struct csni_cursor *c, uint64_t section_addr) {
    uint64_t at = section_addr + csni_cursor_off(c), size = cie->address_size;
    csni_cursor_skip(c, (size - at % size) % size);
    return csni_cursor_uint(c, cie->address_size);
}

uint64_t csni_frame_pointer_read(const struct csni_frame_section *section, const struct csni_frame_cie *cie,
                                 struct csni_cursor *c, uint64_t section_addr) {
    if (cie->encoding == DW_EH_PE_aligned) return read_aligned_pointer(cie, c, section_addr);
    uint64_t at = section_addr + csni_cursor_off(c), value = read_frame_format(cie, c, cie->encoding);
    switch (cie->encoding & (DW_EH_PE_application | DW_EH_PE_indirect)) {
    case DW_EH_PE_absptr: break;
    case DW_EH_PE_pcrel: value += at; break;
    case DW_EH_PE_textrel: value += section->text_base; break;
    case DW_EH_PE_datarel: value += section->data_base; break;
    default: csni_cursor_fail(c);
    }
    return value & highest_address(cie);
}

static void skip_personality(const struct csni_frame_section *section, const struct csni_frame_cie *cie, struct csni_cursor *c) {
    uint8_t encoding = csni_cursor_u8(c);
    if (encoding == DW_EH_PE_omit) return;
    if (encoding == DW_EH_PE_aligned) read_aligned_pointer(cie, c, section->addr);
    else read_frame_format(cie, c, encoding);
}

/* ---- records ---- */

static bool is_cie_id(const struct csni_frame_section *section, uint64_t id, unsigned id_size) {
    if (!section->is_debug_frame) return !id;
    return id == (id_size == 8 ? UINT64_MAX : UINT32_MAX);
}

csn_status csni_frame_record_read(const struct csni_frame_section *section, uint64_t off, struct csni_frame_record *out,
                                  uint64_t *next, struct csn_error *err) {
    struct csni_span bytes;
    struct csni_cursor c = csni_cursor_at(section->bytes, section->big_endian);
    csni_cursor_seek(&c, off);
    uint64_t size = csni_cursor_u32(&c);
    unsigned id_size = size == UINT32_MAX ? 8 : 4;
    if (size == UINT32_MAX) size = csni_cursor_u64(&c);
    *out = (struct csni_frame_record){ .off = off, .id_off = csni_cursor_off(&c), .ends_list = !size };
    *next = out->id_off + size;
    if (c.failed || !csni_span_sub(section->bytes, out->id_off, size, &bytes) || (size && size < id_size))
        return csni_fail(err, CSN_E_TRUNCATED, section->is_debug_frame ? ".debug_frame" : ".eh_frame", off,
                         "record of 0x%" PRIx64 " bytes, 0x%zx are left", size, csni_cursor_left(&c));
    if (!size) return CSN_OK;
    /* Offsets of the body count from the section's start: pointers are relative to their own place. */
    struct csni_span up_to_end = { section->bytes.ptr, (size_t)*next };
    out->body = csni_cursor_at(up_to_end, section->big_endian);
    csni_cursor_seek(&out->body, out->id_off);
    out->id = csni_cursor_uint(&out->body, id_size);
    out->is_cie = is_cie_id(section, out->id, id_size);
    return CSN_OK;
}

/* ---- CIEs ---- */

/* The letters of an augmentation, which tell what the CIE has besides; false: unknown ones, or too many. */
static bool read_letters(struct csni_cursor *c, char letters[AUGMENTATION_MAX]) {
    for (unsigned i = 0; i < AUGMENTATION_MAX; i++) {
        letters[i] = (char)csni_cursor_u8(c);
        if (!letters[i]) return !c->failed;
    }
    return false;
}

static void read_augmentation(const struct csni_frame_section *section, struct csni_frame_cie *cie, struct csni_cursor *c,
                              const char *letters) {
    if (letters[0] != 'z') return;
    uint64_t size = csni_cursor_uleb(c), end = csni_cursor_off(c) + size;
    if (size > csni_cursor_left(c)) cie->has_instructions = false;
    for (const char *p = letters + 1; *p; p++) {
        if (*p == 'R') cie->encoding = csni_cursor_u8(c);
        else if (*p == 'L') csni_cursor_skip(c, 1);
        else if (*p == 'P') skip_personality(section, cie, c);
        else if (*p != 'S' && *p != 'B' && *p != 'G') break; /* the rest is for somebody else */
    }
    if (cie->has_instructions) csni_cursor_seek(c, end);
}

/* From version 4 on, which .eh_frame does not use. */
static bool read_address_size(struct csni_frame_cie *cie, struct csni_cursor *c) {
    cie->address_size = csni_cursor_u8(c);
    uint8_t segment_size = csni_cursor_u8(c);
    return !segment_size && (cie->address_size == 4 || cie->address_size == 8);
}

static void read_cie_body(const struct csni_frame_section *section, struct csni_frame_cie *cie, struct csni_cursor *c) {
    char letters[AUGMENTATION_MAX];
    uint8_t version = csni_cursor_u8(c);
    if (!read_letters(c, letters) || (version != 1 && version != 3 && version != 4)) return;
    bool is_old = letters[0] == 'e' && letters[1] == 'h';
    cie->has_augmentation_data = letters[0] == 'z';
    cie->has_instructions = !letters[0] || cie->has_augmentation_data || is_old;
    if (is_old) csni_cursor_skip(c, section->address_size);
    if (version == 4 && !read_address_size(cie, c)) return;
    cie->code_align = csni_cursor_uleb(c);
    cie->data_align = csni_cursor_sleb(c);
    cie->return_register = version == 1 ? csni_cursor_u8(c) : csni_cursor_uleb(c);
    read_augmentation(section, cie, c, letters);
    cie->is_usable = !c->failed;
    cie->instructions = csni_cursor_bytes(c, csni_cursor_left(c));
}

static void use_cie(const struct csni_frame_section *section, struct csni_frame_cie *cie, uint64_t off) {
    struct csni_frame_record r;
    uint64_t next;
    if (off == cie->off) return;
    *cie = (struct csni_frame_cie){ .off = off, .encoding = DW_EH_PE_absptr, .address_size = section->address_size };
    if (csni_frame_record_read(section, off, &r, &next, NULL) != CSN_OK || r.ends_list || !r.is_cie) return;
    read_cie_body(section, cie, &r.body);
}

/* ---- FDEs ---- */

static void find_fde_instructions(const struct csni_frame_section *section, const struct csni_frame_cie *cie,
                                  struct csni_cursor *c, struct csni_frame_fde *out) {
    if (cie->has_augmentation_data) csni_cursor_skip(c, csni_cursor_uleb(c));
    out->instructions_addr = section->addr + csni_cursor_off(c);
    out->instructions = csni_cursor_bytes(c, csni_cursor_left(c));
}

bool csni_frame_fde_read(const struct csni_frame_section *section, struct csni_frame_record *r, struct csni_frame_cie *cie,
                         struct csni_frame_fde *out) {
    if (!section->is_debug_frame && r->id > r->id_off) return false;
    use_cie(section, cie, section->is_debug_frame ? r->id : r->id_off - r->id);
    if (!cie->is_usable) return false;
    *out = (struct csni_frame_fde){ .start = csni_frame_pointer_read(section, cie, &r->body, section->addr) };
    out->size = cie->encoding == DW_EH_PE_aligned ? csni_cursor_uint(&r->body, cie->address_size)
                                                  : read_frame_format(cie, &r->body, cie->encoding);
    /* Code of 32 bits may end at 2^32. */
    uint64_t room = highest_address(cie) - out->start + (cie->address_size < 8);
    if (r->body.failed || !out->start || !out->size || out->size > room) return false;
    if (cie->has_instructions) find_fde_instructions(section, cie, &r->body, out);
    return true;
}

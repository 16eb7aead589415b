/* Putting an index into a PE image or a COFF object. Section headers stand in one table after the file's headers: an image has
 * unused bytes after it, as sections begin at a multiple of the file alignment; in an object all that follows moves back. */
#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "embed/embed_private.h"
#include "object/pe/pe_layout.h"

#include <callsign/embed.h>

typedef unsigned long long ull; /* for %llx */

enum { FILE_ALIGN_MAX = 0x10000 }; /* as the PE specification has it: padding stays small */

enum { SECTION_ALIGN = 16, ADDED_MAX = 2 };
/* Optional header: the same places in both kinds. */
enum { OPT_INITIALIZED_SIZE = 8, OPT_SECTION_ALIGNMENT = 32, OPT_FILE_ALIGNMENT = 36, OPT_IMAGE_SIZE = 56, OPT_HEADERS_SIZE = 60,
       OPT_CHECKSUM = 64, OPT_SIZE_MIN = 96, DIRECTORY_SECURITY = 4 };
enum { CNT_INITIALIZED = 0x40, MEM_DISCARDABLE = 0x02000000, MEM_READ = 0x40000000, ALIGN_16 = 0x00500000,
       ALIGN_1 = 0x00100000 };
/* Section header. */
enum { SH_VIRTUAL_SIZE = 8, SH_VIRTUAL_ADDRESS = 12, SH_RAW_SIZE = 16, SH_RAW_OFF = 20, SH_RELOC_OFF = 24, SH_LINE_OFF = 28,
       SH_CHARACTERISTICS = 36 };

struct section {
    struct csn_str name;
    bool is_strings;
    uint64_t size, off, raw_size;
    uint64_t address;
};

struct pe {
    const struct csni_embed *e;
    struct csni_span file;
    bool is_image, is_bigobj;
    uint64_t coff, optional, table, table_end; /* places of COFF header, optional header, section headers */
    uint32_t count;
    unsigned count_at, count_size, symbols_at; /* places of these fields within the COFF header */
    struct section added[ADDED_MAX];
    unsigned added_count;
    uint64_t shift;                            /* of everything after the headers of an object */
    uint64_t end;                              /* of what is kept of the file */
};

static uint32_t get32(const struct pe *x, uint64_t at) { return csni_get32(x->file.ptr + at, false); }
static uint16_t get16(const struct pe *x, uint64_t at) { return csni_get16(x->file.ptr + at, false); }

/* The object was opened, so its headers lie in the file. */
static csn_status read_headers(struct pe *x, struct csn_error *err) {
    x->is_image = x->file.ptr[0] == 'M' && x->file.ptr[1] == 'Z';
    x->is_bigobj = !x->is_image && get16(x, 0) == 0;
    if (x->is_bigobj) {
        x->count_at = BIGOBJ_SECTIONS;
        x->count_size = 4;
        x->symbols_at = BIGOBJ_SECTIONS + 4;
        x->table = BIGOBJ_HEADER_SIZE;
    } else {
        if (x->is_image) x->coff = (uint64_t)get32(x, DOS_E_LFANEW) + PE_SIGNATURE_SIZE;
        x->count_at = 2;
        x->count_size = 2;
        x->symbols_at = 8;
        x->optional = x->coff + COFF_HEADER_SIZE;
        x->table = x->optional + get16(x, x->coff + 16);
    }
    x->count = x->count_size == 4 ? get32(x, x->count_at) : get16(x, x->coff + x->count_at);
    x->table_end = x->table + (uint64_t)x->count * SECTION_HEADER_SIZE;
    x->end = x->file.size;
    if (x->is_image && x->table - x->optional < OPT_SIZE_MIN)
        return csni_fail(err, CSN_E_FORMAT, NULL, x->optional, "optional header of %llu bytes, need >= %d",
                         (ull)(x->table - x->optional), OPT_SIZE_MIN);
    return CSN_OK;
}

static csn_status plan(struct pe *x, struct csn_error *err) {
    const struct csni_payload *p = x->e->payload;
    bool adds_strings;
    CSNI_TRY(csni_plan_added(x->e, &adds_strings, err));
    x->added[x->added_count++] = (struct section){ .name = csni_str(".gsym"), .size = csni_payload_size(p) };
    if (adds_strings) {
        if (p->strings_name.len > SECTION_NAME_SIZE)
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "section %.*s: a new one may have a name of %d characters only",
                             (int)p->strings_name.len, p->strings_name.ptr, SECTION_NAME_SIZE);
        x->added[x->added_count++] =
            (struct section){ .name = p->strings_name, .is_strings = true, .size = p->strings.size };
    }
    return CSN_OK;
}

/* ---- an image ---- */

/* A certificate table ends the file; it is the one directory that holds a file offset. */
static csn_status handle_signature(struct pe *x, struct csn_error *err) {
    bool wide = get16(x, x->optional) == PE32_PLUS_MAGIC;
    uint64_t at = x->optional + (wide ? PE32_PLUS_DIRECTORY_COUNT : PE32_DIRECTORY_COUNT);
    uint64_t entry = at + 4 + DIRECTORY_SECURITY * DATA_DIRECTORY_SIZE;
    if (entry + DATA_DIRECTORY_SIZE > x->table || get32(x, at) <= DIRECTORY_SECURITY || !get32(x, entry)) return CSN_OK;
    if (!(x->e->flags & CSN_EMBED_DROP_SIGNATURE))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, get32(x, entry),
                         "the image is signed, and the signature would be void; embed before signing, or drop the signature");
    uint64_t off = get32(x, entry), size = get32(x, entry + 4);
    if (off > x->file.size || size > x->file.size - off || off + size != x->file.size)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, off, "the signature, 0x%llx bytes at 0x%llx, does not end the file",
                         (ull)size, (ull)off);
    if (off < x->table_end + (uint64_t)x->added_count * SECTION_HEADER_SIZE)
        return csni_fail(err, CSN_E_FORMAT, NULL, off, "the signature stands at 0x%llx, within the headers", (ull)off);
    x->end = off;
    return CSN_OK;
}

/* Sections, and symbols with their strings, which mingw leaves behind them. */
static csn_status check_appended_to_pe(const struct pe *x, struct csn_error *err) {
    uint64_t end = x->table_end, symbols = get32(x, x->coff + x->symbols_at), strings;
    for (uint32_t i = 0; i < x->count; i++) {
        uint64_t header = x->table + (uint64_t)i * SECTION_HEADER_SIZE;
        uint64_t off = get32(x, header + SH_RAW_OFF), section_end = off ? off + get32(x, header + SH_RAW_SIZE) : 0;
        if (section_end > end) end = section_end;
    }
    strings = symbols + (uint64_t)get32(x, x->coff + x->symbols_at + 4) * SYMBOL_SIZE;
    if (symbols && strings > end && strings <= x->end) end = strings;
    if (symbols && strings + 4 <= x->end && strings + get32(x, strings) > end) end = strings + get32(x, strings);
    return csni_check_appended(x->e->flags, x->file, end, x->end, err);
}

static csn_status pe_place_in_image(struct pe *x, struct csn_error *err) {
    uint64_t need = x->table_end + (uint64_t)x->added_count * SECTION_HEADER_SIZE,
             capacity = get32(x, x->optional + OPT_HEADERS_SIZE);
    uint64_t section_align = get32(x, x->optional + OPT_SECTION_ALIGNMENT), align = get32(x, x->optional + OPT_FILE_ALIGNMENT);
    if (!section_align || !align || (section_align & (section_align - 1)) || (align & (align - 1)))
        return csni_fail(err, CSN_E_FORMAT, NULL, x->optional, "alignments 0x%llx and 0x%llx, need powers of 2", (ull)section_align,
                         (ull)align);
    if (align > FILE_ALIGN_MAX)
        return csni_fail(err, CSN_E_FORMAT, NULL, x->optional + OPT_FILE_ALIGNMENT,
                         "file alignment 0x%llx, need <= 0x%x", (ull)align, FILE_ALIGN_MAX);
    for (uint32_t i = 0; i < x->count; i++) {
        uint64_t off = get32(x, x->table + (uint64_t)i * SECTION_HEADER_SIZE + SH_RAW_OFF);
        if (off && off < capacity) capacity = off;
    }
    bool is_free = need <= capacity && need <= x->file.size;
    for (uint64_t i = x->table_end; is_free && i < need; i++) is_free = x->file.ptr[i] == 0;
    if (!is_free)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, x->table_end,
                         "no room for %u more section headers: they would end at 0x%llx, sections begin at 0x%llx", x->added_count,
                         (ull)need, (ull)capacity);
    CSNI_TRY(handle_signature(x, err));
    CSNI_TRY(check_appended_to_pe(x, err));
    uint64_t address = get32(x, x->optional + OPT_IMAGE_SIZE), off = csni_align_up(x->end, align);
    for (unsigned i = 0; i < x->added_count; i++) {
        struct section *s = &x->added[i];
        s->address = csni_align_up(address, section_align);
        s->off = off;
        s->raw_size = csni_align_up(s->size, align);
        address = s->address + s->size;
        off += s->raw_size;
    }
    if (off > UINT32_MAX || csni_align_up(address, section_align) > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the image would have 0x%llx bytes, PE holds 0x%x", (ull)off, UINT32_MAX);
    return CSN_OK;
}

/* The sum of all 16-bit words with the carry brought back, the field itself taken as 0, and the file's size. */
static uint32_t checksum(const struct csni_assembly *a, uint64_t skip) {
    uint64_t sum = 0, at = 0;
    for (size_t i = 0; i < a->pieces.count; i++) {
        struct csni_span bytes = a->pieces.items[i].bytes;
        for (size_t k = 0; k < bytes.size; k++, at++) {
            if (at - skip < 4) continue;
            sum += (uint64_t)bytes.ptr[k] << (at & 1 ? 8 : 0);
        }
    }
    while (sum > UINT16_MAX) sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint32_t)(sum + at);
}

static void patch_optional_header(const struct pe *x, uint8_t *headers) {
    uint8_t *optional = headers + x->optional;
    const struct section *last = &x->added[x->added_count - 1];
    uint64_t data = get32(x, x->optional + OPT_INITIALIZED_SIZE);
    for (unsigned i = 0; i < x->added_count; i++) data += x->added[i].raw_size;
    csni_put32(optional + OPT_INITIALIZED_SIZE, (uint32_t)data, false);
    csni_put32(optional + OPT_IMAGE_SIZE,
               (uint32_t)csni_align_up(last->address + last->size, get32(x, x->optional + OPT_SECTION_ALIGNMENT)), false);
    if (x->end != x->file.size) {
        bool wide = get16(x, x->optional) == PE32_PLUS_MAGIC;
        memset(optional + (wide ? PE32_PLUS_DIRECTORY_COUNT : PE32_DIRECTORY_COUNT) + 4 + DIRECTORY_SECURITY * DATA_DIRECTORY_SIZE,
               0, DATA_DIRECTORY_SIZE);
    }
}

/* ---- an object ---- */

static csn_status pe_place_in_object(struct pe *x, struct csn_error *err) {
    x->shift = csni_align_up((uint64_t)x->added_count * SECTION_HEADER_SIZE, SECTION_ALIGN);
    uint64_t off = x->end + x->shift;
    for (unsigned i = 0; i < x->added_count; i++) {
        struct section *s = &x->added[i];
        s->off = csni_align_up(off, SECTION_ALIGN);
        s->raw_size = s->size;
        off = s->off + s->size;
    }
    if (off > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the object would have 0x%llx bytes, COFF holds 0x%x", (ull)off, UINT32_MAX);
    return CSN_OK;
}

static void shift_field(const struct pe *x, uint8_t *field) {
    uint32_t off = csni_get32(field, false);
    if (off) csni_put32(field, (uint32_t)(off + x->shift), false);
}

static void shift_offsets(const struct pe *x, uint8_t *headers) {
    shift_field(x, headers + x->coff + x->symbols_at);
    for (uint32_t i = 0; i < x->count; i++) {
        uint8_t *header = headers + x->table + (uint64_t)i * SECTION_HEADER_SIZE;
        shift_field(x, header + SH_RAW_OFF);
        shift_field(x, header + SH_RELOC_OFF);
        shift_field(x, header + SH_LINE_OFF);
    }
}

/* ---- both ---- */

static void put_section_header(const struct pe *x, const struct section *s, uint8_t *header) {
    uint32_t kind = CNT_INITIALIZED | MEM_READ;
    if (!(x->e->flags & CSN_EMBED_LOADED)) kind |= MEM_DISCARDABLE;
    if (!x->is_image) kind |= s->is_strings ? ALIGN_1 : ALIGN_16;
    memset(header, 0, SECTION_HEADER_SIZE);
    memcpy(header, s->name.ptr, s->name.len);
    csni_put32(header + SH_VIRTUAL_SIZE, x->is_image ? (uint32_t)s->size : 0, false);
    csni_put32(header + SH_VIRTUAL_ADDRESS, (uint32_t)s->address, false);
    csni_put32(header + SH_RAW_SIZE, (uint32_t)s->raw_size, false);
    csni_put32(header + SH_RAW_OFF, (uint32_t)s->off, false);
    csni_put32(header + SH_CHARACTERISTICS, kind, false);
}

static csn_status assemble_pe(struct pe *x, struct csni_assembly *out, struct csn_error *err) {
    size_t grown = (size_t)x->added_count * SECTION_HEADER_SIZE;
    uint8_t *headers = csni_assembly_add_zeros(out, (size_t)(x->is_image ? x->table_end + grown : x->table_end + x->shift));
    if (!headers) return csni_fail_memory(err, x->table_end + grown);
    memcpy(headers, x->file.ptr, (size_t)x->table_end);
    if (x->is_image) patch_optional_header(x, headers);
    else shift_offsets(x, headers);
    for (unsigned i = 0; i < x->added_count; i++)
        put_section_header(x, &x->added[i], headers + x->table_end + (size_t)i * SECTION_HEADER_SIZE);
    csni_put_sized(headers + x->coff + x->count_at, x->count + x->added_count, x->count_size, false);

    uint64_t from = x->is_image ? x->table_end + grown : x->table_end;
    csni_assembly_add(out, (struct csni_span){ x->file.ptr + from, (size_t)(x->end - from) });
    for (unsigned i = 0; i < x->added_count; i++) {
        const struct section *s = &x->added[i];
        csni_assembly_add_zeros(out, (size_t)(s->off - out->size));
        if (s->is_strings) csni_assembly_add(out, x->e->payload->strings);
        else csni_payload_add(x->e->payload, out);
        csni_assembly_add_zeros(out, (size_t)(s->raw_size - s->size));
    }
    if (out->failed) return csni_fail_memory(err, out->size);
    if (x->is_image && get32(x, x->optional + OPT_CHECKSUM))
        csni_put32(headers + x->optional + OPT_CHECKSUM, checksum(out, x->optional + OPT_CHECKSUM), false);
    return CSN_OK;
}

csn_status csni_embed_pe(const struct csni_embed *e, struct csni_assembly *out, struct csn_error *err) {
    struct pe x = { .e = e, .file = e->object->file };
    CSNI_TRY(read_headers(&x, err));
    CSNI_TRY(plan(&x, err));
    if (!x.is_bigobj && x.count + x.added_count > UINT16_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%u sections, need < %u", x.count, UINT16_MAX);
    CSNI_TRY(x.is_image ? pe_place_in_image(&x, err) : pe_place_in_object(&x, err));
    return assemble_pe(&x, out, err);
}

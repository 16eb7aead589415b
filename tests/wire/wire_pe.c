/* Small PE images and COFF objects. */
#include "wire/wire_pe.h"

#include <stdio.h>
#include <string.h>

#include "object/pe/pe_layout.h"

static bool is_image(const struct wire_pe *pe) { return pe->shape == WIRE_PE_IMAGE32 || pe->shape == WIRE_PE_IMAGE64; }

static size_t put_text(struct wire *strings, const char *text) { return wire_cstr(strings, text) + 4; }

static void put_field(struct wire *out, const char *text, size_t size) {
    char field[16] = { 0 };
    memcpy(field, text, strlen(text) < size ? strlen(text) : size);
    wire_bytes(out, field, size);
}

static void put_section_name(struct wire *out, struct wire *strings, const struct wire_pe_section *s) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[16];
    if (strlen(s->name) <= SECTION_NAME_SIZE) {
        put_field(out, s->name, SECTION_NAME_SIZE);
        return;
    }
    size_t off = put_text(strings, s->name);
    if (s->base64_name) {
        memcpy(text, "//", 2);
        for (int i = 5; i >= 0; i--, off /= 64) text[2 + i] = digits[off % 64];
        text[8] = 0;
    } else {
        snprintf(text, sizeof text, "/%zu", off);
    }
    put_field(out, text, SECTION_NAME_SIZE);
}

static void put_optional_header(const struct wire_pe *pe, struct wire *out) {
    bool wide = pe->shape == WIRE_PE_IMAGE64;
    size_t begin = out->size;
    wire_u16(out, wide ? PE32_PLUS_MAGIC : PE32_MAGIC);
    wire_fill(out, 0, (wide ? PE32_PLUS_IMAGE_BASE : PE32_IMAGE_BASE) - (out->size - begin));
    wire_uint(out, pe->image_base, wide ? 8 : 4);
    wire_fill(out, 0, (wide ? PE32_PLUS_DIRECTORY_COUNT : PE32_DIRECTORY_COUNT) - (out->size - begin));
    wire_u32(out, WIRE_PE_DIRECTORIES);
    for (int i = 0; i < WIRE_PE_DIRECTORIES; i++) {
        wire_u32(out, pe->directories[i].rva);
        wire_u32(out, pe->directories[i].size);
    }
}

/* With the symbol table's offset and count to be patched; returns the place of the offset. */
static size_t put_header(const struct wire_pe *pe, struct wire *out, struct wire_pe_places *places) {
    if (is_image(pe)) {
        wire_bytes(out, "MZ", 2);
        wire_fill(out, 0, DOS_E_LFANEW - 2);
        wire_u32(out, DOS_HEADER_SIZE);
        wire_bytes(out, "PE\0\0", PE_SIGNATURE_SIZE);
    }
    places->coff_header = out->size;
    if (pe->shape == WIRE_PE_BIGOBJ) {
        static const uint8_t class_id[] = { 0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b,
                                            0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8 };
        wire_u32(out, 0xffff0000);
        wire_u16(out, BIGOBJ_VERSION_MIN);
        wire_u16(out, pe->machine);
        wire_u32(out, 0);
        wire_bytes(out, class_id, sizeof class_id);
        wire_fill(out, 0, 16);
        wire_u32(out, pe->section_count);
        return wire_u64(out, 0);
    }
    wire_u16(out, pe->machine);
    wire_u16(out, pe->section_count);
    wire_u32(out, 0);
    size_t place = wire_u64(out, 0);
    size_t optional_size = wire_u16(out, 0);
    wire_u16(out, pe->characteristics);
    places->optional_header = out->size;
    if (is_image(pe)) put_optional_header(pe, out);
    wire_patch(out, optional_size, out->size - places->optional_header, 2);
    return place;
}

static void put_section_headers(const struct wire_pe *pe, struct wire *out, struct wire *strings) {
    for (uint32_t i = 0; i < pe->section_count; i++) {
        const struct wire_pe_section *s = &pe->sections[i];
        put_section_name(out, strings, s);
        wire_u32(out, s->virtual_size);
        wire_u32(out, s->rva);
        wire_u32(out, s->bss_size);
        wire_fill(out, 0, 12);
        wire_u16(out, s->overflown_relocations ? NRELOC_OVFL_COUNT : s->relocation_count);
        wire_u16(out, 0);
        wire_u32(out, s->characteristics | (s->overflown_relocations ? IMAGE_SCN_LNK_NRELOC_OVFL : 0));
    }
}

static void put_relocations(const struct wire_pe_section *s, struct wire *out) {
    if (s->overflown_relocations) {
        wire_u32(out, s->relocation_count + 1);
        wire_fill(out, 0, RELOCATION_SIZE - 4);
    }
    for (uint32_t i = 0; i < s->relocation_count; i++) {
        wire_u32(out, s->relocations[i].off);
        wire_u32(out, s->relocations[i].symbol);
        wire_u16(out, s->relocations[i].type);
    }
}

static void put_sections(const struct wire_pe *pe, struct wire *out, size_t headers) {
    for (uint32_t i = 0; i < pe->section_count; i++) {
        const struct wire_pe_section *s = &pe->sections[i];
        size_t header = headers + (size_t)i * SECTION_HEADER_SIZE;
        if (s->bytes.size) {
            size_t off = wire_bytes(out, s->bytes.ptr, s->bytes.size);
            if (is_image(pe)) wire_align(out, 16);
            wire_patch(out, header + 16, out->size - off, 4);
            wire_patch(out, header + 20, off, 4);
        }
        if (!s->relocation_count) continue;
        wire_patch(out, header + 24, out->size, 4);
        put_relocations(s, out);
    }
}

static uint32_t put_symbols(const struct wire_pe *pe, struct wire *out, struct wire *strings) {
    uint32_t count = 0, size = pe->shape == WIRE_PE_BIGOBJ ? BIGOBJ_SYMBOL_SIZE : SYMBOL_SIZE;
    for (uint32_t i = 0; i < pe->symbol_count; i++) {
        const struct wire_pe_symbol *s = &pe->symbols[i];
        if (strlen(s->name) <= SYMBOL_NAME_SIZE) put_field(out, s->name, SYMBOL_NAME_SIZE);
        else wire_u64(out, (uint64_t)put_text(strings, s->name) << 32);
        wire_u32(out, s->value);
        wire_uint(out, (uint32_t)s->section, size - 16);
        wire_u16(out, s->type);
        wire_u8(out, s->storage_class);
        wire_u8(out, s->aux_count);
        for (uint32_t k = 0; k < s->aux_count; k++) {
            size_t aux = wire_fill(out, 0, size);
            wire_patch(out, aux + AUX_FUNCTION_TOTAL_SIZE, s->aux_value, 4);
        }
        count += 1u + s->aux_count;
    }
    return count;
}

void wire_pe_build(const struct wire_pe *pe, struct wire *out, struct wire_pe_places *places) {
    struct wire_pe_places none;
    struct wire strings;
    if (!places) places = &none;
    wire_init(&strings, false);
    size_t table = put_header(pe, out, places);
    places->section_headers = out->size;
    put_section_headers(pe, out, &strings);
    put_sections(pe, out, places->section_headers);
    places->symbols = out->size;
    uint32_t count = put_symbols(pe, out, &strings);
    places->strings = out->size;
    if (count || strings.size) {
        wire_patch(out, table, places->symbols, 4);
        wire_patch(out, table + 4, count, 4);
        wire_u32(out, strings.size + 4);
        wire_append(out, &strings);
    }
    wire_deinit(&strings);
}

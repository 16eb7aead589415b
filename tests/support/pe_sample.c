/* Samples for the tests of the PE reader. */
#include "support/pe_sample.h"

#include <string.h>

const uint8_t pe_sample_guid[16] = { 0xde, 0xad, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };

enum { CODE = IMAGE_SCN_CNT_CODE | IMAGE_SCN_MEM_EXECUTE, DEBUG = IMAGE_SCN_MEM_DISCARDABLE };

static const struct wire_pe_symbol symbols[] = {
    { ".file", 0, IMAGE_SYM_DEBUG, 0, IMAGE_SYM_CLASS_FILE, 1, 0x632e61 },
    { ".text", 0, PE_TEXT, 0, IMAGE_SYM_CLASS_STATIC, 1, 0 },
    { "_main", 0x10, PE_TEXT, 0x20, IMAGE_SYM_CLASS_EXTERNAL, 1, 0x30 },
    { "a_static_function", 0x40, PE_TEXT, 0x20, IMAGE_SYM_CLASS_STATIC, 0, 0 },
    { "from_asm", 0x60, PE_TEXT, 0, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
    { "label", 0x64, PE_TEXT, 0, 6, 0, 0 },
    { "variable", 4, PE_DATA, 0, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
    { "nowhere", 0, IMAGE_SYM_UNDEFINED, 0x20, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
    { "weak", 0, IMAGE_SYM_UNDEFINED, 0, IMAGE_SYM_CLASS_WEAK_EXTERNAL, 1, 0 },
    { "absolute", 0x55, IMAGE_SYM_ABSOLUTE, 0, IMAGE_SYM_CLASS_STATIC, 0, 0 },
    { "second", 8, PE_RDATA, 0, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
};

static struct wire *part(struct pe_sample *s, uint32_t section, const char *name, uint32_t characteristics, uint32_t rva) {
    s->sections[section - 1] = (struct wire_pe_section){ .name = name, .characteristics = characteristics, .rva = rva };
    if (section > s->pe.section_count) s->pe.section_count = section;
    return &s->parts[section];
}

/* Exports, then the debug directory and its record. */
static void put_rdata(struct pe_sample *s, struct wire *w) {
    static const char *const names[PE_EXPORT_NAMES] = { "api_data", "api_function", "forwarded" };
    static const uint32_t targets[] = { PE_TEXT_RVA + 0x10, PE_DATA_RVA + 4, 0 };
    static const uint16_t ordinals[PE_EXPORT_NAMES] = { 1, 0, 2 };
    size_t functions = EXPORT_DIRECTORY_SIZE, name_rvas = functions + 12, indexes = name_rvas + 12, texts = indexes + 8;
    wire_fill(w, 0, texts);
    wire_patch(w, EXPORT_FUNCTION_COUNT, 3, 4);
    wire_patch(w, EXPORT_NAME_COUNT, PE_EXPORT_NAMES, 4);
    wire_patch(w, EXPORT_FUNCTIONS, PE_RDATA_RVA + functions, 4);
    wire_patch(w, EXPORT_NAMES, PE_RDATA_RVA + name_rvas, 4);
    wire_patch(w, EXPORT_ORDINALS, PE_RDATA_RVA + indexes, 4);
    for (size_t i = 0; i < PE_EXPORT_NAMES; i++) {
        wire_patch(w, functions + 4 * i, targets[i], 4);
        wire_patch(w, name_rvas + 4 * i, PE_RDATA_RVA + wire_cstr(w, names[i]), 4);
        wire_patch(w, indexes + 2 * i, ordinals[i], 2);
    }
    wire_patch(w, functions + 8, PE_RDATA_RVA + wire_cstr(w, "OTHER.function"), 4);
    s->pe.directories[IMAGE_DIRECTORY_ENTRY_EXPORT].rva = PE_RDATA_RVA;
    s->pe.directories[IMAGE_DIRECTORY_ENTRY_EXPORT].size = (uint32_t)w->size;
    wire_align(w, 4);
    s->pe.directories[IMAGE_DIRECTORY_ENTRY_DEBUG].rva = PE_RDATA_RVA + (uint32_t)w->size;
    s->pe.directories[IMAGE_DIRECTORY_ENTRY_DEBUG].size = 2 * DEBUG_ENTRY_SIZE;
    wire_fill(w, 0, DEBUG_ENTRY_SIZE); /* of another type */
    size_t entry = wire_fill(w, 0, DEBUG_ENTRY_SIZE);
    wire_patch(w, entry + DEBUG_ENTRY_TYPE, IMAGE_DEBUG_TYPE_CODEVIEW, 4);
    wire_patch(w, entry + DEBUG_ENTRY_DATA_SIZE, RSDS_HEADER_SIZE + 1, 4);
    wire_patch(w, entry + DEBUG_ENTRY_DATA_OFF, w->size, 4); /* in this section, until the file is built */
    wire_bytes(w, "RSDS", 4);
    wire_bytes(w, pe_sample_guid, sizeof pe_sample_guid);
    wire_u32(w, 1);
    wire_cstr(w, "");
}

static void put_entry(struct wire *w, uint32_t begin, uint32_t end, uint32_t unwind) {
    wire_u32(w, begin);
    wire_u32(w, end);
    wire_u32(w, unwind);
}

/* x86-64: two functions; of the second, a part right after it and one apart. */
static void put_unwind(struct wire *xdata, struct wire *pdata) {
    wire_u32(xdata, 1);                                                 /* 0: version 1, no flags, no codes */
    wire_u32(xdata, 0x30001 | UNW_FLAG_CHAININFO << UNWIND_FLAGS_SHIFT); /* 4: three codes, chained */
    wire_fill(xdata, 0, 8);
    put_entry(xdata, PE_TEXT_RVA + 0x40, PE_TEXT_RVA + 0x60, PE_XDATA_RVA);
    put_entry(pdata, PE_TEXT_RVA + 0x10, PE_TEXT_RVA + 0x40, PE_XDATA_RVA);
    put_entry(pdata, PE_TEXT_RVA + 0x40, PE_TEXT_RVA + 0x60, PE_XDATA_RVA);
    put_entry(pdata, PE_TEXT_RVA + 0x60, PE_TEXT_RVA + 0x70, PE_XDATA_RVA + 4);
    put_entry(pdata, PE_TEXT_RVA + 0x80, PE_TEXT_RVA + 0x90, PE_XDATA_RVA + 4);
}

static void fill_image(struct pe_sample *s) {
    wire_fill(part(s, PE_TEXT, ".text", CODE, PE_TEXT_RVA), 0xcc, PE_TEXT_SIZE);
    wire_fill(part(s, PE_DATA, ".data", 0, PE_DATA_RVA), 0x11, 16);
    s->sections[PE_DATA - 1].characteristics = IMAGE_SCN_MEM_WRITE;
    put_rdata(s, part(s, PE_RDATA, "eight_ch", 0, PE_RDATA_RVA));
    struct wire *xdata = part(s, PE_XDATA, ".xdata", 0, PE_XDATA_RVA);
    put_unwind(xdata, part(s, PE_PDATA, ".pdata", 0, PE_PDATA_RVA));
    (void)part(s, PE_BSS, ".bss", IMAGE_SCN_CNT_UNINITIALIZED_DATA, PE_BSS_RVA);
    wire_fill(part(s, PE_INFO, ".debug_info", DEBUG, PE_INFO_RVA), 0x77, PE_INFO_SIZE);
    wire_fill(part(s, PE_LINE, ".debug_line", DEBUG, PE_LINE_RVA), 0x55, 20);
    s->sections[PE_LINE - 1].base64_name = true;
    s->pe.directories[IMAGE_DIRECTORY_ENTRY_EXCEPTION].rva = PE_PDATA_RVA;
    s->pe.directories[IMAGE_DIRECTORY_ENTRY_EXCEPTION].size = (uint32_t)s->parts[PE_PDATA].size;
    for (uint32_t i = PE_TEXT; i < PE_SECTIONS; i++) s->sections[i - 1].virtual_size = (uint32_t)s->parts[i].size;
    s->sections[PE_BSS - 1].virtual_size = 0x300;
}

static void fill_object(struct pe_sample *s) {
    static const struct wire_pe_relocation relocations[] = {
        { 0, 2, IMAGE_REL_AMD64_ADDR64 },    { 8, 14, IMAGE_REL_AMD64_SECREL }, { 12, 2, IMAGE_REL_AMD64_SECTION },
        { 16, 14, IMAGE_REL_AMD64_ADDR32 }, { 20, 2, IMAGE_REL_AMD64_REL32 },
    };
    wire_fill(part(s, PE_TEXT, ".text", CODE | 5 << IMAGE_SCN_ALIGN_SHIFT, 0), 0xcc, 0x48);
    wire_fill(part(s, PE_DATA, ".data", 0, 0), 0x11, 16);
    wire_fill(part(s, PE_RDATA, ".text$b", CODE | IMAGE_SCN_LNK_COMDAT | 7 << IMAGE_SCN_ALIGN_SHIFT, 0), 0xcc, 0x20);
    wire_fill(part(s, PE_XDATA, ".debug_info", DEBUG, 0), 0, PE_INFO_SIZE);
    wire_patch(&s->parts[PE_XDATA], 0, 5, 8); /* an addend */
    s->sections[PE_XDATA - 1].relocations = relocations;
    s->sections[PE_XDATA - 1].relocation_count = sizeof relocations / sizeof *relocations;
}

void pe_sample_begin(struct pe_sample *s, enum wire_pe_shape shape, uint16_t machine) {
    *s = (struct pe_sample){ .pe = { .shape = shape, .machine = machine, .sections = s->sections, .image_base = PE_BASE,
                                     .symbols = symbols, .symbol_count = sizeof symbols / sizeof *symbols } };
    wire_init(&s->file, false);
    for (uint32_t i = 0; i < PE_SECTIONS; i++) wire_init(&s->parts[i], false);
    if (shape == WIRE_PE_IMAGE32 || shape == WIRE_PE_IMAGE64) fill_image(s);
    else fill_object(s);
}

/* The debug directory leads to its record by file offset. */
static void patch_debug_record(struct pe_sample *s) {
    size_t header = s->places.section_headers + (PE_RDATA - 1) * (size_t)SECTION_HEADER_SIZE;
    uint32_t section_off = csni_get32(s->file.bytes + header + 20, false);
    uint32_t directory = s->pe.directories[IMAGE_DIRECTORY_ENTRY_DEBUG].rva - PE_RDATA_RVA;
    size_t place = section_off + directory + DEBUG_ENTRY_SIZE + DEBUG_ENTRY_DATA_OFF;
    wire_patch(&s->file, place, section_off + csni_get32(s->file.bytes + place, false), 4);
}

void pe_sample_build(struct pe_sample *s) {
    for (uint32_t i = PE_TEXT; i <= s->pe.section_count; i++) s->sections[i - 1].bytes = wire_span(&s->parts[i]);
    wire_pe_build(&s->pe, &s->file, &s->places);
    if (s->pe.directories[IMAGE_DIRECTORY_ENTRY_DEBUG].size) patch_debug_record(s);
}

csn_status pe_sample_open(struct pe_sample *s) {
    if (!s->file.size) pe_sample_build(s);
    s->err = (struct csn_error)CSN_ERROR_INIT;
    return csni_object_open(wire_span(&s->file), NULL, &s->object, &s->err);
}

void pe_sample_end(struct pe_sample *s) {
    csni_object_close(s->object);
    wire_deinit(&s->file);
    for (uint32_t i = 0; i < PE_SECTIONS; i++) wire_deinit(&s->parts[i]);
}

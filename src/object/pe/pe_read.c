/* PE images and COFF objects: headers, sections and their names, build id. */
#include <inttypes.h>

#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/pe/pe_layout.h"
#include "object/pe/pe_private.h"

static const uint8_t bigobj_class_id[BIGOBJ_CLASS_ID_SIZE] = { 0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b,
                                                               0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8 };

/* What COFF headers of all kinds tell. */
struct coff_header {
    uint16_t machine, characteristics;
    uint32_t section_count, symbols_off, symbol_count, optional_size;
    uint64_t optional_off, sections_off;
    bool is_image, is_bigobj;
};

/* ---- recognition ---- */

struct machine {
    uint16_t number;
    uint8_t address_size;
    char arch[8];
};

static const struct machine *find_machine(uint32_t number) {
    static const struct machine machines[] = {
        { IMAGE_FILE_MACHINE_AMD64, 8, "x86_64" }, { IMAGE_FILE_MACHINE_I386, 4, "i386" },
        { IMAGE_FILE_MACHINE_ARM64, 8, "arm64" },  { IMAGE_FILE_MACHINE_ARM64EC, 8, "arm64ec" },
        { IMAGE_FILE_MACHINE_ARM64X, 8, "arm64" }, { IMAGE_FILE_MACHINE_ARMNT, 4, "armv7" },
        { IMAGE_FILE_MACHINE_ARM, 4, "arm" },      { IMAGE_FILE_MACHINE_THUMB, 4, "arm" },
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].number == number) return &machines[i];
    return NULL;
}

static bool is_image(struct csni_span file) { return file.size >= 2 && file.ptr[0] == 'M' && file.ptr[1] == 'Z'; }

static bool is_bigobj(struct csni_span file) {
    return file.size >= BIGOBJ_HEADER_SIZE && csni_get32(file.ptr, false) == 0xffff0000 &&
           csni_get16(file.ptr + 4, false) >= BIGOBJ_VERSION_MIN &&
           memcmp(file.ptr + BIGOBJ_CLASS_ID, bigobj_class_id, sizeof bigobj_class_id) == 0;
}

static void read_coff_header(struct csni_cursor *c, struct coff_header *h) {
    h->machine = csni_cursor_u16(c);
    h->section_count = csni_cursor_u16(c);
    csni_cursor_skip(c, 4); /* TimeDateStamp */
    h->symbols_off = csni_cursor_u32(c);
    h->symbol_count = csni_cursor_u32(c);
    h->optional_size = csni_cursor_u16(c);
    h->characteristics = csni_cursor_u16(c);
    h->optional_off = csni_cursor_off(c);
    h->sections_off = h->optional_off + h->optional_size;
}

/* An object begins with nothing but the two bytes of its machine, so the rest of its header must be plausible. */
static bool is_plain_object(struct csni_span file) {
    if (file.size < COFF_HEADER_SIZE || !find_machine(csni_get16(file.ptr, false))) return false;
    struct coff_header h = { 0 };
    struct csni_cursor c = csni_cursor_at(file, false);
    read_coff_header(&c, &h);
    uint64_t headers_end = COFF_HEADER_SIZE + SECTION_HEADER_SIZE * (uint64_t)h.section_count;
    return !h.optional_size && !(h.characteristics & IMAGE_FILE_EXECUTABLE_IMAGE) &&
           (h.symbols_off ? h.symbols_off >= headers_end : !h.symbol_count);
}

static bool pe_recognize(struct csni_span file) { return is_image(file) || is_bigobj(file) || is_plain_object(file); }

/* ---- headers ---- */

static void read_bigobj_header(struct csni_cursor *c, struct coff_header *h) {
    h->is_bigobj = true;
    csni_cursor_skip(c, BIGOBJ_MACHINE);
    h->machine = csni_cursor_u16(c);
    csni_cursor_seek(c, BIGOBJ_SECTIONS);
    h->section_count = csni_cursor_u32(c);
    h->symbols_off = csni_cursor_u32(c);
    h->symbol_count = csni_cursor_u32(c);
    h->sections_off = csni_cursor_off(c);
}

static csn_status read_image_header(struct csni_span file, struct csni_cursor *c, struct coff_header *h,
                                    struct csn_error *err) {
    h->is_image = true;
    if (file.size < DOS_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "DOS header: %zu bytes, need %d", file.size, DOS_HEADER_SIZE);
    uint32_t off = csni_get32(file.ptr + DOS_E_LFANEW, false);
    struct csni_span signature;
    if (!csni_span_sub(file, off, PE_SIGNATURE_SIZE + COFF_HEADER_SIZE, &signature))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, DOS_E_LFANEW,
                         "PE header: at 0x%" PRIx32 ", but the file has 0x%zx bytes", off, file.size);
    if (memcmp(signature.ptr, "PE\0\0", PE_SIGNATURE_SIZE) != 0)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, off,
                         "PE header: begins with %02x %02x %02x %02x, need 50 45 00 00: a DOS program?", signature.ptr[0],
                         signature.ptr[1], signature.ptr[2], signature.ptr[3]);
    csni_cursor_seek(c, off + (uint64_t)PE_SIGNATURE_SIZE);
    read_coff_header(c, h);
    return CSN_OK;
}

static csn_status read_pe_header(struct csni_object *object, struct coff_header *h, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(object->file, false);
    if (is_image(object->file)) CSNI_TRY(read_image_header(object->file, &c, h, err));
    else if (is_bigobj(object->file)) read_bigobj_header(&c, h);
    else read_coff_header(&c, h);
    const struct machine *machine = find_machine(h->machine);
    object->machine = h->machine;
    object->address_size = machine ? machine->address_size : 8;
    if (machine) memcpy(object->arch, machine->arch, sizeof machine->arch);
    object->kind = !h->is_image ? CSNI_OBJECT_RELOCATABLE
                   : h->characteristics & IMAGE_FILE_DLL ? CSNI_OBJECT_SHARED : CSNI_OBJECT_EXECUTABLE;
    return CSN_OK;
}

static struct csni_pe_directory read_pe_directory(struct csni_span directories, uint32_t index) {
    struct csni_span entry;
    if (!csni_span_sub(directories, (uint64_t)index * DATA_DIRECTORY_SIZE, DATA_DIRECTORY_SIZE, &entry))
        return (struct csni_pe_directory){ 0, 0 };
    return (struct csni_pe_directory){ csni_get32(entry.ptr, false), csni_get32(entry.ptr + 4, false) };
}

/* A header that is cut short has fewer directories. */
static void read_directories(struct csni_pe *pe, struct csni_span optional, bool wide) {
    uint32_t count_off = wide ? PE32_PLUS_DIRECTORY_COUNT : PE32_DIRECTORY_COUNT;
    struct csni_cursor c = csni_cursor_at(optional, false);
    csni_cursor_seek(&c, count_off);
    uint64_t size = csni_cursor_u32(&c) * (uint64_t)DATA_DIRECTORY_SIZE;
    struct csni_span directories = csni_span_from(optional, count_off + 4);
    if (directories.size > size) directories.size = (size_t)size;
    pe->exports = read_pe_directory(directories, IMAGE_DIRECTORY_ENTRY_EXPORT);
    pe->exceptions = read_pe_directory(directories, IMAGE_DIRECTORY_ENTRY_EXCEPTION);
    pe->debug = read_pe_directory(directories, IMAGE_DIRECTORY_ENTRY_DEBUG);
}

static csn_status read_optional_header(struct csni_object *object, struct csni_pe *pe, const struct coff_header *h,
                                       struct csn_error *err) {
    struct csni_span optional;
    if (!csni_span_sub(object->file, h->optional_off, h->optional_size, &optional))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, h->optional_off,
                         "optional header: %" PRIu32 " bytes at 0x%" PRIx64 ", but the file has 0x%zx bytes",
                         h->optional_size, h->optional_off, object->file.size);
    struct csni_cursor c = csni_cursor_at(optional, false);
    uint16_t magic = csni_cursor_u16(&c);
    if (magic != PE32_MAGIC && magic != PE32_PLUS_MAGIC)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, h->optional_off,
                         "optional header: magic 0x%x, need 0x10b (PE32) or 0x20b (PE32+)", magic);
    bool wide = magic == PE32_PLUS_MAGIC;
    object->address_size = wide ? 8 : 4;
    csni_cursor_seek(&c, wide ? PE32_PLUS_IMAGE_BASE : PE32_IMAGE_BASE);
    object->image_base = csni_cursor_uint(&c, object->address_size);
    if (c.failed)
        return csni_fail(err, CSN_E_FORMAT, NULL, h->optional_off,
                         "optional header: %" PRIu32 " bytes, too few for ImageBase", h->optional_size);
    object->has_image_base = true;
    read_directories(pe, optional, wide);
    return CSN_OK;
}

/* A damaged symbol table costs names; the rest of the file is as good as without. */
static void find_pe_symbols(struct csni_pe *pe, struct csni_span file, const struct coff_header *h) {
    pe->symbol_size = h->is_bigobj ? BIGOBJ_SYMBOL_SIZE : SYMBOL_SIZE;
    uint64_t size = (uint64_t)h->symbol_count * pe->symbol_size;
    if (!h->symbols_off || !csni_span_sub(file, h->symbols_off, size, &pe->symbols)) return;
    struct csni_span strings = csni_span_from(file, h->symbols_off + size);
    if (strings.size < 4) return;
    uint32_t strings_size = csni_get32(strings.ptr, false);
    if (strings_size < strings.size) strings.size = strings_size;
    pe->strings = strings;
}

/* ---- sections ---- */

/* The number after a slash: decimal, or after two of them in base 64 with the most significant digit first. */
static bool name_offset(struct csn_str name, uint64_t *out) {
    bool is_base64 = name.len > 1 && name.ptr[1] == '/';
    uint64_t v = 0;
    size_t i = is_base64 ? 2 : 1;
    if (i >= name.len) return false;
    for (; i < name.len; i++) {
        char ch = name.ptr[i];
        if (ch >= '0' && ch <= '9') v = is_base64 ? v * 64 + (uint64_t)(ch - '0') + 52 : v * 10 + (uint64_t)(ch - '0');
        else if (is_base64 && ch >= 'A' && ch <= 'Z') v = v * 64 + (uint64_t)(ch - 'A');
        else if (is_base64 && ch >= 'a' && ch <= 'z') v = v * 64 + (uint64_t)(ch - 'a') + 26;
        else if (is_base64 && (ch == '+' || ch == '/')) v = v * 64 + (ch == '+' ? 62 : 63);
        else return false;
    }
    *out = v;
    return true;
}

/* Eight bytes, or the longer name that they lead to. One that leads nowhere stays as it is. */
static struct csn_str section_name(const struct csni_pe *pe, const uint8_t *field) {
    const uint8_t *nul = memchr(field, 0, SECTION_NAME_SIZE);
    struct csn_str name = { (const char *)field, nul ? (size_t)(nul - field) : SECTION_NAME_SIZE }, longer;
    uint64_t off;
    if (!name.len || name.ptr[0] != '/' || !name_offset(name, &off)) return name;
    return csni_span_cstr(pe->strings, off, &longer) ? longer : name;
}

static uint32_t pe_section_flags(uint32_t characteristics) {
    uint32_t flags = 0;
    if (!(characteristics & (IMAGE_SCN_MEM_DISCARDABLE | IMAGE_SCN_LNK_REMOVE | IMAGE_SCN_LNK_INFO)))
        flags |= CSNI_SECTION_ALLOC;
    if (characteristics & (IMAGE_SCN_CNT_CODE | IMAGE_SCN_MEM_EXECUTE)) flags |= CSNI_SECTION_EXEC;
    if (characteristics & IMAGE_SCN_MEM_WRITE) flags |= CSNI_SECTION_WRITE;
    if (characteristics & IMAGE_SCN_LNK_COMDAT) flags |= CSNI_SECTION_GROUP;
    return flags;
}

static uint64_t section_align(uint32_t characteristics) {
    uint32_t align = (characteristics >> IMAGE_SCN_ALIGN_SHIFT) & IMAGE_SCN_ALIGN_MASK;
    if (!align || align > IMAGE_SCN_ALIGN_MAX) return 16; /* the specification's default */
    return (uint64_t)1 << (align - 1);
}

/* `p`: a section header. In an image the raw size is padded to the file's alignment, and the virtual size is what the
 * linker had; either may be the smaller. An object has no virtual size. */
static void read_pe_section(const struct csni_object *object, const struct csni_pe *pe, const uint8_t *p,
                            struct csni_section *out) {
    bool is_image = object->kind != CSNI_OBJECT_RELOCATABLE;
    uint32_t virtual_size = is_image ? csni_get32(p + 8, false) : 0, raw_size = csni_get32(p + 16, false);
    uint32_t file_off = csni_get32(p + 20, false), characteristics = csni_get32(p + 36, false);
    *out = (struct csni_section){
        .name = section_name(pe, p), .size = virtual_size ? virtual_size : raw_size, .file_off = file_off,
        .flags = pe_section_flags(characteristics), .type = characteristics, .align = section_align(characteristics),
    };
    if (is_image) out->addr = object->image_base + csni_get32(p + 12, false);
    else out->link = csni_get32(p + 24, false), out->info = csni_get16(p + 32, false);
    bool has_bytes = file_off && raw_size && (is_image || !(characteristics & IMAGE_SCN_CNT_UNINITIALIZED_DATA));
    if (!has_bytes) out->flags |= CSNI_SECTION_NOBITS;
    else out->file_size = virtual_size && virtual_size < raw_size ? virtual_size : raw_size;
}

static csn_status read_pe_sections(struct csni_object_private *priv, const struct coff_header *h,
                                   struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct csni_span headers;
    uint64_t size = (uint64_t)h->section_count * SECTION_HEADER_SIZE;
    if (!csni_span_sub(object->file, h->sections_off, size, &headers))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, h->sections_off,
                         "section headers: %" PRIu32 " of 40 bytes at 0x%" PRIx64 ", but the file has 0x%zx bytes",
                         h->section_count, h->sections_off, object->file.size);
    CSNI_TRY(csni_make_sections(priv, h->section_count + 1, err));
    priv->sections[0] = (struct csni_section){ .name = { "", 0 }, .flags = CSNI_SECTION_NOBITS };
    for (uint32_t i = 0; i < h->section_count; i++)
        read_pe_section(object, priv->own, headers.ptr + (size_t)i * SECTION_HEADER_SIZE, &priv->sections[i + 1]);
    return CSN_OK;
}

/* ---- build id ---- */

/* The GUID that links an image to its PDB. ld --build-id and lld write one made from a hash of the image. */
static void read_pe_build_id(struct csni_object *object, struct csni_pe_directory debug) {
    struct csni_span entries, record;
    if (!debug.size || !csni_pe_bytes_from(object, debug.rva, &entries)) return;
    if (entries.size > debug.size) entries.size = debug.size;
    for (size_t off = 0; DEBUG_ENTRY_SIZE <= entries.size - off; off += DEBUG_ENTRY_SIZE) {
        const uint8_t *entry = entries.ptr + off;
        uint32_t size = csni_get32(entry + DEBUG_ENTRY_DATA_SIZE, false);
        uint32_t data_off = csni_get32(entry + DEBUG_ENTRY_DATA_OFF, false);
        if (csni_get32(entry + DEBUG_ENTRY_TYPE, false) != IMAGE_DEBUG_TYPE_CODEVIEW || size < RSDS_HEADER_SIZE ||
            !csni_span_sub(object->file, data_off, size, &record) || memcmp(record.ptr, "RSDS", RSDS_GUID) != 0)
            continue;
        object->build_id = (struct csni_span){ record.ptr + RSDS_GUID, RSDS_GUID_SIZE };
        object->build_id_age = csni_get32(record.ptr + RSDS_GUID + RSDS_GUID_SIZE, false);
        if (!csni_span_cstr(record, RSDS_HEADER_SIZE, &object->pdb_path)) object->pdb_path = (struct csn_str){ "", 0 };
        return;
    }
}

static csn_status pe_read(struct csni_object_private *priv, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct coff_header header = { 0 };
    struct csni_pe *pe = csni_alloc_zeroed(priv->alloc, 1, sizeof *pe);
    if (!pe) return csni_fail_memory(err, sizeof *pe);
    priv->own = pe;
    CSNI_TRY(read_pe_header(object, &header, err));
    if (header.is_image) CSNI_TRY(read_optional_header(object, pe, &header, err));
    find_pe_symbols(pe, object->file, &header);
    CSNI_TRY(read_pe_sections(priv, &header, err));
    csni_size_compressed_sections(priv);
    if (!header.is_image) return csni_place_sections(priv, err);
    CSNI_TRY(csni_pe_order_sections(priv, err));
    read_pe_build_id(object, pe->debug);
    return CSN_OK;
}

static void pe_close(struct csni_object_private *priv) {
    struct csni_pe *pe = priv->own;
    if (!pe) return;
    csni_free(priv->alloc, pe->by_addr, pe->by_addr_count * sizeof *pe->by_addr);
    csni_free(priv->alloc, pe, sizeof *pe);
}

const struct csni_container_reader csni_pe_reader = {
    .container = CSNI_CONTAINER_PE,
    .recognize = pe_recognize,
    .read = pe_read,
    .debug_prefix = ".debug_",
    .compressed_prefix = ".zdebug_",
    .symbols = csni_pe_symbols,
    .next_symbol = csni_pe_next_symbol,
    .needs_relocation = csni_pe_needs_relocation,
    .relocate = csni_pe_relocate,
    .function_bounds = csni_pe_function_bounds,
    .close = pe_close,
};

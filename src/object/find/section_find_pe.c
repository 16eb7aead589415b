/* Finding a section of a PE image or COFF object in place. */
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/pe/pe_layout.h"
#include "object/find/section_find.h"

typedef unsigned long long ull; /* for %llx */

/* Where the section headers and the string table for their long names are. */
struct coff {
    struct csni_span image, sections, strings;
    uint32_t count;
    bool is_image;
};

static bool is_image(struct csni_span file) { return file.size >= DOS_HEADER_SIZE && file.ptr[0] == 'M' && file.ptr[1] == 'Z'; }

static bool is_bigobj(struct csni_span file) {
    return file.size >= BIGOBJ_HEADER_SIZE && csni_get32(file.ptr, false) == 0xffff0000 &&
           csni_get16(file.ptr + 4, false) >= BIGOBJ_VERSION_MIN;
}

/* An object begins with nothing but the two bytes of its machine, so the rest of its header must be plausible. */
static bool is_object(struct csni_span file) {
    static const uint16_t machines[] = { IMAGE_FILE_MACHINE_I386,  IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64,
                                         IMAGE_FILE_MACHINE_ARM,   IMAGE_FILE_MACHINE_THUMB, IMAGE_FILE_MACHINE_ARMNT,
                                         IMAGE_FILE_MACHINE_ARM64EC, IMAGE_FILE_MACHINE_ARM64X };
    if (file.size < COFF_HEADER_SIZE) return false;
    bool known = false;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) known |= csni_get16(file.ptr, false) == machines[i];
    uint64_t headers_end = COFF_HEADER_SIZE + (uint64_t)SECTION_HEADER_SIZE * csni_get16(file.ptr + 2, false);
    uint32_t symbols = csni_get32(file.ptr + 8, false), symbol_count = csni_get32(file.ptr + 12, false);
    return known && !csni_get16(file.ptr + 16, false) && headers_end <= file.size &&
           !(csni_get16(file.ptr + 18, false) & IMAGE_FILE_EXECUTABLE_IMAGE) &&
           (symbols ? symbols >= headers_end : !symbol_count);
}

bool csni_section_find_is_pe(struct csni_span image) { return is_image(image) || is_bigobj(image) || is_object(image); }

static csn_status out_of_file(const struct coff *f, const char *what, uint64_t off, uint64_t size, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, NULL, off, "%s: 0x%llx bytes at 0x%llx, but the file has 0x%zx", what, (ull)size,
                     (ull)off, f->image.size);
}

/* CSN_NONE: no PE file. */
static csn_status open_coff(struct coff *f, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(f->image, false);
    uint64_t symbol_size = SYMBOL_SIZE, symbols, symbol_count, sections;
    f->is_image = is_image(f->image);
    if (is_bigobj(f->image)) {
        csni_cursor_seek(&c, BIGOBJ_SECTIONS);
        f->count = csni_cursor_u32(&c);
        symbols = csni_cursor_u32(&c);
        symbol_count = csni_cursor_u32(&c);
        sections = BIGOBJ_HEADER_SIZE;
        symbol_size = BIGOBJ_SYMBOL_SIZE;
    } else {
        if (f->is_image) {
            csni_cursor_seek(&c, DOS_E_LFANEW);
            uint32_t pe = csni_cursor_u32(&c);
            csni_cursor_seek(&c, pe);
            if (csni_cursor_u32(&c) != 0x4550) return CSN_NONE; /* "PE\0\0" */
        }
        csni_cursor_skip(&c, 2);
        f->count = csni_cursor_u16(&c);
        csni_cursor_skip(&c, 4); /* TimeDateStamp */
        symbols = csni_cursor_u32(&c);
        symbol_count = csni_cursor_u32(&c);
        sections = csni_cursor_u16(&c);
        csni_cursor_skip(&c, 2);
        sections += csni_cursor_off(&c);
    }
    uint64_t size = (uint64_t)f->count * SECTION_HEADER_SIZE;
    if (c.failed || !csni_span_sub(f->image, sections, size, &f->sections))
        return out_of_file(f, "section headers", sections, size, err);
    f->strings = symbols ? csni_span_from(f->image, symbols + symbol_count * symbol_size) : (struct csni_span){ NULL, 0 };
    return CSN_OK;
}

/* A long name is "/" and its decimal offset in the string table. */
static bool is_name(const struct coff *f, const uint8_t *field, struct csn_str name) {
    if (name.len <= SECTION_NAME_SIZE && memcmp(field, name.ptr, name.len) == 0 &&
        (name.len == SECTION_NAME_SIZE || field[name.len] == 0))
        return true;
    if (field[0] != '/') return false;
    uint64_t off = 0;
    for (size_t i = 1; i < SECTION_NAME_SIZE && field[i] >= '0' && field[i] <= '9'; i++)
        off = off * 10 + (uint64_t)(field[i] - '0');
    struct csni_span text;
    return csni_span_sub(f->strings, off, name.len + 1, &text) && text.ptr[name.len] == 0 &&
           memcmp(text.ptr, name.ptr, name.len) == 0;
}

csn_status csni_section_find_pe(struct csni_span image, struct csn_str name, struct csni_span *out, struct csn_error *err) {
    struct coff f = { .image = image };
    csn_status status = open_coff(&f, err);
    if (status != CSN_OK) return status;
    for (uint32_t i = 0; i < f.count; i++) {
        const uint8_t *header = f.sections.ptr + (size_t)i * SECTION_HEADER_SIZE;
        if (!is_name(&f, header, name)) continue;
        uint64_t virtual_size = csni_get32(header + 8, false), size = csni_get32(header + 16, false);
        uint64_t off = csni_get32(header + 20, false);
        /* The raw size of an image's section is padded. */
        if (f.is_image && virtual_size && virtual_size < size) size = virtual_size;
        if (csni_span_sub(image, off, size, out)) return CSN_OK;
        return out_of_file(&f, "section", off, size, err);
    }
    return CSN_NONE;
}

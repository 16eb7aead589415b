/* Finding a section of an ELF file in place. */
#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/find/section_find.h"

typedef unsigned long long ull; /* for %llx */

/* What is needed of the ELF header: the table of section headers, and the section of their names. */
struct table {
    struct csni_span file, headers;
    uint64_t count, entry_size, names;
    bool big, wide;
};

struct header {
    uint32_t name, type;
    uint64_t flags, off, size;
    uint32_t link;
};

bool csni_section_find_is_elf(struct csni_span image) {
    return image.size >= EHDR32_SIZE && memcmp(image.ptr, "\x7f" "ELF", ELF_MAGIC_SIZE) == 0;
}

static struct header read_found_elf_header(const struct table *t, struct csni_span bytes) {
    unsigned word = t->wide ? 8 : 4;
    struct csni_cursor c = csni_cursor_at(bytes, t->big);
    struct header h = { .name = csni_cursor_u32(&c) };
    h.type = csni_cursor_u32(&c);
    h.flags = csni_cursor_uint(&c, word);
    csni_cursor_skip(&c, word); /* sh_addr */
    h.off = csni_cursor_uint(&c, word);
    h.size = csni_cursor_uint(&c, word);
    h.link = csni_cursor_u32(&c);
    return h;
}

static csn_status out_of_file(const struct table *t, const char *what, uint64_t off, uint64_t size, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, NULL, off, "%s: 0x%llx bytes at 0x%llx, but the file has 0x%zx", what, (ull)size,
                     (ull)off, t->file.size);
}

/* CSN_NONE: there are no sections. */
static csn_status open_found_elf_table(struct table *t, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(t->file, t->big);
    unsigned word = t->wide ? 8 : 4;
    csni_cursor_seek(&c, EI_NIDENT + 8 + 2 * (uint64_t)word); /* e_type to e_version, e_entry, e_phoff */
    uint64_t off = csni_cursor_uint(&c, word);
    csni_cursor_skip(&c, 4 + 3 * 2); /* e_flags, e_ehsize, e_phentsize, e_phnum */
    t->entry_size = csni_cursor_u16(&c);
    t->count = csni_cursor_u16(&c);
    t->names = csni_cursor_u16(&c);
    uint64_t need = t->wide ? SHDR64_SIZE : SHDR32_SIZE;
    if (c.failed) return out_of_file(t, "ELF header", 0, EHDR64_SIZE, err);
    if (!off) return CSN_NONE;
    if (t->entry_size < need)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "section headers: entries of %llu bytes, need >= %llu",
                         (ull)t->entry_size, (ull)need);
    if (!t->count || t->names == SHN_XINDEX) {
        struct csni_span first;
        if (!csni_span_sub(t->file, off, t->entry_size, &first))
            return out_of_file(t, "section headers", off, t->entry_size, err);
        struct header h = read_found_elf_header(t, first);
        if (!t->count) t->count = h.size;
        if (t->names == SHN_XINDEX) t->names = h.link;
    }
    uint64_t size;
    if (!csni_mul_u64(t->count, t->entry_size, &size) || !csni_span_sub(t->file, off, size, &t->headers))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, off, "section headers: %llu of %llu bytes at 0x%llx, but the file has 0x%zx",
                         (ull)t->count, (ull)t->entry_size, (ull)off, t->file.size);
    return t->names < t->count ? CSN_OK : CSN_NONE;
}

/* idx < count */
static struct header header_at(const struct table *t, uint64_t idx) {
    struct csni_span bytes = { NULL, 0 };
    csni_span_sub(t->headers, idx * t->entry_size, t->entry_size, &bytes);
    return read_found_elf_header(t, bytes);
}

static csn_status take_found_section(const struct table *t, const struct header *h, struct csn_str name,
                                     struct csni_span *out,
                                     struct csn_error *err) {
    if (h->type == SHT_NOBITS)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, h->off, "section %.*s has no bytes in this file", (int)name.len,
                         name.ptr);
    if (h->flags & SHF_COMPRESSED)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, h->off,
                         "section %.*s is compressed, and is read in place: decompress it (objcopy --decompress-debug-sections)",
                         (int)name.len, name.ptr);
    if (csni_span_sub(t->file, h->off, h->size, out)) return CSN_OK;
    return out_of_file(t, "section", h->off, h->size, err);
}

csn_status csni_section_find_elf(struct csni_span image, struct csn_str name, struct csni_span *out,
                                 struct csn_error *err) {
    struct table t = { .file = image, .wide = image.ptr[EI_CLASS] == ELFCLASS64,
                       .big = image.ptr[EI_DATA] == ELFDATA2MSB };
    csn_status status = open_found_elf_table(&t, err);
    if (status != CSN_OK) return status;
    struct header names = header_at(&t, t.names);
    struct csni_span texts;
    if (names.type == SHT_NOBITS) return CSN_NONE;
    if (!csni_span_sub(image, names.off, names.size, &texts))
        return out_of_file(&t, "section names", names.off, names.size, err);
    for (uint64_t i = 1; i < t.count; i++) {
        struct header h = header_at(&t, i);
        struct csni_span text;
        /* Compared where it stands: names may lie in one another. */
        if (!csni_span_sub(texts, h.name, name.len + 1, &text) || text.ptr[name.len] ||
            memcmp(text.ptr, name.ptr, name.len) != 0)
            continue;
        return take_found_section(&t, &h, name, out, err);
    }
    return CSN_NONE;
}

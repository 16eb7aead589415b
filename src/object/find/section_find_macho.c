/* Finding a section of a Mach-O image in place. */
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/find/section_find.h"

typedef unsigned long long ull; /* for %llx */

bool csni_section_find_is_macho(struct csni_span image) {
    if (image.size < MACH_HEADER_SIZE) return false;
    uint32_t little = csni_get32(image.ptr, false), big = csni_get32(image.ptr, true);
    return little == MH_MAGIC || little == MH_MAGIC_64 || big == MH_MAGIC || big == MH_MAGIC_64;
}

/* Names fill up to 16 bytes, without a NUL when they take all of them. */
static bool is_name(const uint8_t *field, struct csn_str name) {
    if (name.len > MACHO_NAME_SIZE) return false;
    return memcmp(field, name.ptr, name.len) == 0 && (name.len == MACHO_NAME_SIZE || field[name.len] == 0);
}

struct search {
    struct csni_span image;
    struct csn_str name;
    bool big, found;
    uint64_t off, size;
    uint32_t flags;
};

/* Looks through the sections of one segment command; true: the one of segment __GSYM, which no other can beat. */
static bool search_segment(struct search *s, struct csni_cursor *c, bool wide, const uint8_t *end) {
    unsigned word = wide ? 8 : 4;
    csni_cursor_skip(c, LOAD_COMMAND_SIZE + MACHO_NAME_SIZE + 4 * (uint64_t)word + 2 * 4); /* to nsects */
    uint32_t count = csni_cursor_u32(c);
    csni_cursor_skip(c, 4);
    uint64_t size = wide ? SECTION_64_SIZE : SECTION_SIZE;
    /* A command may be shorter than what was read of it. */
    for (; count && !c->failed && c->p < end && (uint64_t)(end - c->p) >= size; count--) {
        struct csni_cursor section = *c;
        csni_cursor_skip(c, size);
        const uint8_t *names = section.p;
        bool is_home = is_name(names + MACHO_NAME_SIZE, csni_str("__GSYM"));
        if (!is_name(names, s->name) || (s->found && !is_home)) continue;
        csni_cursor_skip(&section, 2 * MACHO_NAME_SIZE + (uint64_t)word); /* addr */
        s->size = csni_cursor_uint(&section, word);
        s->off = csni_cursor_u32(&section);
        csni_cursor_skip(&section, 3 * 4); /* align, reloff, nreloc */
        s->flags = csni_cursor_u32(&section);
        s->found = true;
        if (is_home) return true;
    }
    return false;
}

csn_status csni_section_find_macho(struct csni_span image, struct csn_str name, struct csni_span *out,
                                   struct csn_error *err) {
    uint32_t magic = csni_get32(image.ptr, false);
    struct search s = { .image = image, .name = name, .big = magic != MH_MAGIC && magic != MH_MAGIC_64 };
    struct csni_cursor c = csni_cursor_at(image, s.big);
    bool wide_file = csni_cursor_u32(&c) == MH_MAGIC_64;
    csni_cursor_skip(&c, 3 * 4); /* cputype, cpusubtype, filetype */
    uint32_t count = csni_cursor_u32(&c);
    csni_cursor_seek(&c, wide_file ? MACH_HEADER_64_SIZE : MACH_HEADER_SIZE);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = csni_cursor_off(&c);
        struct csni_cursor command = c;
        uint32_t type = csni_cursor_u32(&c), size = csni_cursor_u32(&c);
        if (c.failed || size < LOAD_COMMAND_SIZE || size > image.size - at)
            return csni_fail(err, CSN_E_TRUNCATED, NULL, at, "load command %u: 0x%x bytes at 0x%llx, but the file has 0x%zx", i,
                             size, (ull)at, image.size);
        bool wide = type == LC_SEGMENT_64;
        if ((wide || type == LC_SEGMENT) && search_segment(&s, &command, wide, image.ptr + at + size)) break;
        csni_cursor_seek(&c, at + size);
    }
    if (!s.found) return CSN_NONE;
    uint32_t kind = s.flags & SECTION_TYPE;
    if (kind == S_ZEROFILL || kind == S_GB_ZEROFILL || kind == S_THREAD_LOCAL_ZEROFILL)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, s.off, "section %.*s has no bytes in this file", (int)name.len, name.ptr);
    if (csni_span_sub(image, s.off, s.size, out)) return CSN_OK;
    return csni_fail(err, CSN_E_TRUNCATED, NULL, s.off, "section %.*s: 0x%llx bytes at 0x%llx, but the file has 0x%zx",
                     (int)name.len, name.ptr, (ull)s.size, (ull)s.off, image.size);
}

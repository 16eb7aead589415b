/* Reading `ar` archives: a magic, then members, each a header of 60 characters and its bytes, at even offsets. */
#include "object/archive.h"

#include <inttypes.h>

#include "base/core/fail.h"

enum { MAGIC_SIZE = 8, HEADER_SIZE = 60, NAME_SIZE = 16, MTIME_OFF = 16, MTIME_SIZE = 12, SIZE_OFF = 48, SIZE_SIZE = 10,
       END_OFF = 58 };
static const char magic[MAGIC_SIZE + 1] = "!<arch>\n", thin_magic[MAGIC_SIZE + 1] = "!<thin>\n";

static bool has_magic(struct csni_span file, const char *text) {
    return file.size >= MAGIC_SIZE && memcmp(file.ptr, text, MAGIC_SIZE) == 0;
}

bool csni_archive_recognize(struct csni_span file) { return has_magic(file, magic) || has_magic(file, thin_magic); }

csn_status csni_archive_open(struct csni_span file, struct csni_archive *out, struct csn_error *err) {
    if (!csni_archive_recognize(file))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "not an archive: does not begin with !<arch>");
    *out = (struct csni_archive){ .file = file, .off = MAGIC_SIZE, .is_thin = has_magic(file, thin_magic) };
    return CSN_OK;
}

/* A decimal number, padded with spaces; an empty field is 0. False: anything else. */
static bool read_archive_number(const uint8_t *text, size_t size, uint64_t *out) {
    uint64_t v = 0;
    size_t i = 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9'; i++) {
        if (v > (UINT64_MAX - 9) / 10) return false;
        v = 10 * v + (uint64_t)(text[i] - '0');
    }
    for (; i < size; i++)
        if (text[i] != ' ') return false;
    *out = v;
    return true;
}

static struct csn_str without_trailing(struct csn_str text, char c) {
    while (text.len && text.ptr[text.len - 1] == c) text.len--;
    return text;
}

/* System V's `/123`: a name in the member `//`, that ends with a slash and a line feed. `/123:456`: of an archive at that path, the
 * member whose header is at 456. */
static bool long_name(const struct csni_archive *archive, struct csn_str field, struct csni_archive_member *m) {
    uint64_t off;
    const char *colon = archive->is_thin ? memchr(field.ptr, ':', field.len) : NULL;
    struct csn_str *out = &m->name;
    if (colon) {
        size_t len = (size_t)(colon - field.ptr);
        if (!read_archive_number((const uint8_t *)colon + 1, field.len - len - 1, &m->nested_at) || !m->nested_at) return false;
        field.len = len;
    }
    if (!read_archive_number((const uint8_t *)field.ptr + 1, field.len - 1, &off)) return false;
    struct csni_span rest = csni_span_from(archive->long_names, off);
    const uint8_t *end = rest.size ? memchr(rest.ptr, '\n', rest.size) : NULL;
    if (!end) return false;
    *out = (struct csn_str){ (const char *)rest.ptr, (size_t)(end - rest.ptr) };
    if (out->len && out->ptr[out->len - 1] == '/') out->len--;
    return true;
}

/* BSD's `#1/20`: the name's 20 characters, filled up with NUL, stand before the member's bytes. */
static bool leading_name(struct csn_str field, struct csni_span *bytes, struct csn_str *out) {
    uint64_t len;
    struct csni_span name;
    if (!read_archive_number((const uint8_t *)field.ptr + 3, field.len - 3, &len) ||
        !csni_span_sub(*bytes, 0, len, &name)) return false;
    const uint8_t *nul = name.size ? memchr(name.ptr, 0, name.size) : NULL;
    *out = (struct csn_str){ (const char *)name.ptr, nul ? (size_t)(nul - name.ptr) : name.size };
    *bytes = (struct csni_span){ bytes->ptr + len, bytes->size - (size_t)len };
    return true;
}

/* Symbols, names, and on Windows `/<ECSYMBOLS>/` and the like: these have their bytes in thin archives, too. */
static bool is_table(struct csn_str field) {
    return csni_str_is(field, "/") || csni_str_is(field, "//") || csni_str_is(field, "/SYM64/") || csni_str_starts(field, "/<");
}

/* Takes the name from the field of 16 characters. Empty: a symbol or name table. */
static bool member_name(struct csni_archive *archive, const uint8_t *header, struct csni_archive_member *m) {
    struct csn_str field = without_trailing((struct csn_str){ (const char *)header, NAME_SIZE }, ' ');
    struct csn_str none = { "", 0 };
    m->name = field;
    if (csni_str_is(field, "//")) {
        archive->long_names = m->bytes;
        m->name = none;
    } else if (is_table(field)) {
        m->name = none;
    } else if (csni_str_starts(field, "#1/")) {
        if (!leading_name(field, &m->bytes, &m->name)) return false;
    } else if (csni_str_starts(field, "/")) {
        return long_name(archive, field, m);
    } else if (field.len && field.ptr[field.len - 1] == '/') {
        m->name.len--;
    }
    if (csni_str_starts(m->name, "__.SYMDEF")) m->name = none;
    return true;
}

static csn_status read_member(struct csni_archive *archive, struct csni_archive_member *m, struct csn_error *err) {
    struct csni_span header;
    uint64_t off = archive->off, size;
    if (!csni_span_sub(archive->file, off, HEADER_SIZE, &header))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, off, "archive member at 0x%" PRIx64 ": header of %zu bytes, need %d", off,
                         archive->file.size - (size_t)off, HEADER_SIZE);
    if (header.ptr[END_OFF] != '`' || header.ptr[END_OFF + 1] != '\n')
        return csni_fail(err, CSN_E_FORMAT, NULL, off, "archive member at 0x%" PRIx64 ": header ends with %02x %02x, need 60 0a",
                         off, header.ptr[END_OFF], header.ptr[END_OFF + 1]);
    if (!read_archive_number(header.ptr + SIZE_OFF, SIZE_SIZE, &size))
        return csni_fail(err, CSN_E_FORMAT, NULL, off, "archive member at 0x%" PRIx64 ": size \"%.10s\", need decimal", off,
                         (const char *)header.ptr + SIZE_OFF);
    if (!read_archive_number(header.ptr + MTIME_OFF, MTIME_SIZE, &m->mtime)) m->mtime = 0;
    struct csn_str field = without_trailing((struct csn_str){ (const char *)header.ptr, NAME_SIZE }, ' ');
    if (archive->is_thin && !is_table(field)) size = 0;
    if (!csni_span_sub(archive->file, off + HEADER_SIZE, size, &m->bytes))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, off,
                         "archive member at 0x%" PRIx64 ": 0x%" PRIx64 " bytes, but the file has 0x%zx after its header", off,
                         size, archive->file.size - (size_t)off - HEADER_SIZE);
    if (!member_name(archive, header.ptr, m))
        return csni_fail(err, CSN_E_FORMAT, NULL, off, "archive member at 0x%" PRIx64 ": name \"%.16s\" leads nowhere", off,
                         (const char *)header.ptr);
    archive->off = off + HEADER_SIZE + size + (size & 1);
    return CSN_OK;
}

csn_status csni_archive_next(struct csni_archive *archive, struct csni_archive_member *out, struct csn_error *err) {
    while (archive->off < archive->file.size) {
        struct csni_archive_member member = { .mtime = 0 };
        csn_status status = read_member(archive, &member, err);
        if (status < 0) {
            archive->off = archive->file.size;
            return status;
        }
        if (!member.name.len) continue;
        *out = member;
        return CSN_OK;
    }
    return CSN_NONE;
}

csn_status csni_archive_at(struct csni_span file, uint64_t off, struct csni_archive_member *out, struct csn_error *err) {
    struct csni_archive archive;
    CSNI_TRY(csni_archive_open(file, &archive, err));
    CSNI_TRY(csni_archive_next(&archive, out, err)); /* the table of long names is before the first member */
    archive.off = off;
    return csni_archive_next(&archive, out, err);
}

csn_status csni_archive_find(struct csni_span file, struct csn_str name, uint64_t mtime, struct csni_archive_member *out,
                             struct csn_error *err) {
    struct csni_archive archive;
    struct csni_archive_member member;
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status;
    bool found = false;
    CSNI_TRY(csni_archive_open(file, &archive, err));
    if (archive.is_thin)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "thin archive: its members are files of their own");
    while ((status = csni_archive_next(&archive, &member, &damage)) == CSN_OK) {
        if (!csni_str_equal(member.name, name)) continue;
        if (!found || member.mtime == mtime) *out = member;
        found = true;
        if (member.mtime == mtime) return CSN_OK;
    }
    if (found) return CSN_OK;
    if (status < 0 && err) *err = damage;
    return status;
}

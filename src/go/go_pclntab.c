/* The header of Go's function table, and the names that it leads to. */
#include "go/go_private.h"

#include <inttypes.h>

/* ---- header ---- */

static bool read_magic(struct csni_span bytes, enum csni_go_version *version, bool *big) {
    if (bytes.size < GO_HEADER_WORDS) return false;
    const uint8_t *p = bytes.ptr;
    *big = p[0] == 0xff;
    uint8_t low = *big ? p[3] : p[0];
    if (p[1] != 0xff || p[2] != 0xff || (*big ? p[0] : p[3]) != 0xff) return false;
    switch (low) {
    case GO_MAGIC_1_2_LOW: *version = CSNI_GO_1_2; break;
    case GO_MAGIC_1_16_LOW: *version = CSNI_GO_1_16; break;
    case GO_MAGIC_1_18_LOW: *version = CSNI_GO_1_18; break;
    case GO_MAGIC_1_20_LOW: *version = CSNI_GO_1_20; break;
    default: return false;
    }
    uint8_t quantum = p[GO_HEADER_QUANTUM], pointer = p[GO_HEADER_POINTER];
    return !p[4] && !p[5] && (quantum == 1 || quantum == 2 || quantum == 4) && (pointer == 4 || pointer == 8);
}

static bool header_word(const struct csni_go_table *t, unsigned index, uint64_t *out) {
    return csni_go_number_at(t->bytes, GO_HEADER_WORDS + (uint64_t)index * t->pointer_size, t->pointer_size, t->big_endian,
                             out);
}

static csn_status part(const struct csni_go_table *t, unsigned index, struct csni_span *out, struct csn_error *err) {
    uint64_t off, at = GO_HEADER_WORDS + (uint64_t)index * t->pointer_size;
    if (!header_word(t, index, &off))
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, at, "header needs more than the %zu bytes of the section",
                         t->bytes.size);
    if (off >= t->bytes.size)
        return csni_fail(err, CSN_E_FORMAT, CSNI_GO_SECTION, at, "a table at 0x%" PRIx64 ", the section has 0x%zx bytes", off,
                         t->bytes.size);
    *out = csni_span_from(t->bytes, off);
    return CSN_OK;
}

static unsigned pclntab_entry_size(const struct csni_go_table *t) {
    return t->version >= CSNI_GO_1_18 ? 4 : t->pointer_size;
}

/* The files of Go 1.2: after the entries stands the offset of a list whose first element counts the list. */
static csn_status read_old_files(struct csni_go_table *t, struct csn_error *err) {
    uint64_t off, count, at = (2 * t->function_count + 1) * t->pointer_size;
    if (!csni_go_number_at(t->functions, at, 4, t->big_endian, &off) ||
        !csni_go_number_at(t->bytes, off, 4, t->big_endian, &count) || !csni_span_sub(t->bytes, off, 4 * count, &t->files))
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, GO_HEADER_WORDS + t->pointer_size + at,
                         "the list of files does not lie in the section's 0x%zx bytes", t->bytes.size);
    return CSN_OK;
}

static csn_status read_pclntab_parts(struct csni_go_table *t, struct csn_error *err) {
    if (t->version == CSNI_GO_1_2) {
        t->names = t->pc_values = t->bytes;
        t->functions = csni_span_from(t->bytes, GO_HEADER_WORDS + t->pointer_size);
        return CSN_OK;
    }
    /* The same five, one word further on since 1.18. */
    unsigned first = t->version == CSNI_GO_1_16 ? GO_1_16_NAMES : GO_1_18_NAMES;
    CSNI_TRY(part(t, first, &t->names, err));
    CSNI_TRY(part(t, first + GO_1_16_UNITS - GO_1_16_NAMES, &t->units, err));
    CSNI_TRY(part(t, first + GO_1_16_FILES - GO_1_16_NAMES, &t->files, err));
    CSNI_TRY(part(t, first + GO_1_16_PC_VALUES - GO_1_16_NAMES, &t->pc_values, err));
    return part(t, first + GO_1_16_FUNCTIONS - GO_1_16_NAMES, &t->functions, err);
}

csn_status csni_go_read_header(struct csni_go_table *t, struct csn_error *err) {
    if (!read_magic(t->bytes, &t->version, &t->big_endian))
        return csni_fail(err, CSN_E_UNSUPPORTED, CSNI_GO_SECTION, 0, "no function table of Go 1.2 or later");
    t->quantum = t->bytes.ptr[GO_HEADER_QUANTUM];
    t->pointer_size = t->bytes.ptr[GO_HEADER_POINTER];
    if (!header_word(t, 0, &t->function_count))
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, GO_HEADER_WORDS, "header ends past %zu bytes",
                         t->bytes.size);
    CSNI_TRY(read_pclntab_parts(t, err));
    uint64_t capacity = t->functions.size / pclntab_entry_size(t);
    if (!capacity || t->function_count > (capacity - 1) / 2)
        return csni_fail(err, CSN_E_FORMAT, CSNI_GO_SECTION, GO_HEADER_WORDS, "%" PRIu64 " functions, there is room for %" PRIu64,
                         t->function_count, capacity ? (capacity - 1) / 2 : 0);
    return t->version == CSNI_GO_1_2 ? read_old_files(t, err) : CSN_OK;
}

bool csni_go_recognize(struct csni_span bytes) {
    struct csni_go_table t = { .bytes = bytes };
    return csni_go_read_header(&t, NULL) == CSN_OK && t.function_count;
}

bool csni_go_find(struct csni_span bytes, uint64_t from, uint64_t *off) {
    for (uint64_t at = (from + 3) & ~(uint64_t)3; bytes.ptr && at + GO_HEADER_WORDS <= bytes.size; at += 4) {
        const uint8_t *p = bytes.ptr + at;
        if (p[1] != 0xff || p[2] != 0xff || !csni_go_recognize(csni_span_from(bytes, at))) continue;
        *off = at;
        return true;
    }
    return false;
}

/* ---- files and names ---- */

uint32_t csni_go_file_number(const struct csni_go_table *t, uint32_t unit, int32_t value) {
    uint64_t off;
    if (t->version == CSNI_GO_1_2) {
        if (value <= 0 || !csni_go_number_at(t->files, 4 * (uint64_t)value, 4, t->big_endian, &off)) return CSNI_GO_NO_FILE;
        return (uint32_t)off;
    }
    if (value < 0 || !csni_go_number_at(t->units, 4 * ((uint64_t)unit + (uint64_t)value), 4, t->big_endian, &off))
        return CSNI_GO_NO_FILE;
    return (uint32_t)off;
}

csn_status csni_go_file(const struct csni_go_table *t, uint32_t file, struct csn_str *out, struct csn_error *err) {
    struct csni_span table = t->version == CSNI_GO_1_2 ? t->bytes : t->files;
    struct csn_str path;
    if (file >= table.size)
        return csni_fail(err, CSN_E_FORMAT, CSNI_GO_SECTION, (uint64_t)(table.ptr - t->bytes.ptr),
                         "file name at 0x%x, there are 0x%zx bytes", file, table.size);
    if (!csni_span_cstr(table, file, &path))
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, (uint64_t)(table.ptr - t->bytes.ptr) + file,
                         "file name has no end");
    *out = path;
    return CSN_OK;
}

csn_status csni_go_name(struct csni_go_reader *r, uint32_t off, struct csn_str *out, struct csn_error *err) {
    const struct csni_go_table *t = r->table;
    uint64_t place = (uint64_t)(t->names.ptr - t->bytes.ptr) + off;
    if (off >= t->names.size)
        return csni_fail(err, CSN_E_FORMAT, CSNI_GO_SECTION, place, "function name outside of the section's 0x%zx bytes",
                         t->bytes.size);
    struct csn_str name;
    bool ended = csni_span_cstr(t->names, off, &name);
    CSNI_TRY(csni_go_charge(r, name.len, err));
    if (!ended) return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, place, "function name has no end");
    *out = name;
    return CSN_OK;
}

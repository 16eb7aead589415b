/* Reading BTF. */
#include "btf/btf.h"

#include "base/core/budget.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"

enum { MAGIC = 0xeb9f, VERSION = 1, HEADER_SIZE = 24, EXT_HEADER_SIZE = 24 };
enum { KIND_FUNC = 12, TYPE_SIZE = 12, LINE_SHIFT = 10 };
enum { FUNCTION_RECORD = 8, LINE_RECORD = 16 };

struct reading {
    const struct csn_allocator *alloc;
    bool big;
    struct csni_span types, strings;
    CSNI_VEC(uint32_t) type_offs; /* of type 1, 2, ... in `types` */
    struct csni_budget budget;    /* bytes of strings that records name: they may share a long one */
    struct csni_btf *out;
};

/* ---- headers ---- */

/* What follows the header, whose first fields both sections share. */
static csn_status read_header(struct csni_span section, const char *name, uint32_t size, bool *big, struct csni_cursor *fields,
                              struct csni_span *body, struct csn_error *err) {
    *fields = csni_cursor_at(section, false);
    uint16_t magic = csni_cursor_u16(fields);
    *big = magic == ((MAGIC & 0xff) << 8 | MAGIC >> 8);
    if (magic != MAGIC && !*big) return csni_fail(err, CSN_E_FORMAT, name, 0, "magic 0x%x, need 0x%x", magic, MAGIC);
    fields->big = *big;
    uint8_t version = csni_cursor_u8(fields);
    csni_cursor_skip(fields, 1);
    uint32_t header_size = csni_cursor_u32(fields);
    if (!fields->failed && version != VERSION)
        return csni_fail(err, CSN_E_UNSUPPORTED, name, 2, "version %u, need %d", version, VERSION);
    if (fields->failed || header_size < size || header_size > section.size)
        return csni_fail(err, CSN_E_FORMAT, name, 4, "a header of %u bytes, need %u to %zu", header_size, size, section.size);
    *body = csni_span_from(section, header_size);
    return CSN_OK;
}

/* A part that the header gives by offset and size. */
static csn_status read_part(struct csni_cursor *fields, struct csni_span body, const char *name, struct csni_span *out,
                            struct csn_error *err) {
    uint64_t at = csni_cursor_off(fields);
    uint32_t off = csni_cursor_u32(fields), size = csni_cursor_u32(fields);
    if (csni_span_sub(body, off, size, out)) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, name, at, "%u bytes at offset %u, the section has %zu", size, off, body.size);
}

static struct csn_str string_at(struct reading *r, uint32_t off) {
    struct csn_str text;
    (void)csni_span_cstr(r->strings, off, &text);
    csni_budget_charge(&r->budget, text.len);
    return text;
}

/* ---- types ---- */

/* Bytes behind a type of `count` members. False: the kind is not known. */
static bool size_behind_type(uint32_t kind, uint32_t count, uint64_t *out) {
    static const struct {
        uint8_t fixed, each;
        bool known;
    } sizes[] = {
        [1] = { 4, 0, true },    /* INT */
        [2] = { 0, 0, true },    /* PTR */
        [3] = { 12, 0, true },   /* ARRAY */
        [4] = { 0, 12, true },   /* STRUCT */
        [5] = { 0, 12, true },   /* UNION */
        [6] = { 0, 8, true },    /* ENUM */
        [7] = { 0, 0, true },    /* FWD */
        [8] = { 0, 0, true },    /* TYPEDEF */
        [9] = { 0, 0, true },    /* VOLATILE */
        [10] = { 0, 0, true },   /* CONST */
        [11] = { 0, 0, true },   /* RESTRICT */
        [12] = { 0, 0, true },   /* FUNC */
        [13] = { 0, 8, true },   /* FUNC_PROTO */
        [14] = { 4, 0, true },   /* VAR */
        [15] = { 0, 12, true },  /* DATASEC */
        [16] = { 0, 0, true },   /* FLOAT */
        [17] = { 4, 0, true },   /* DECL_TAG */
        [18] = { 0, 0, true },   /* TYPE_TAG */
        [19] = { 0, 12, true },  /* ENUM64 */
    };
    if (kind >= sizeof sizes / sizeof *sizes || !sizes[kind].known) return false;
    *out = sizes[kind].fixed + (uint64_t)sizes[kind].each * count;
    return true;
}

static csn_status list_types(struct reading *r, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(r->types, r->big);
    while (csni_cursor_left(&c)) {
        uint64_t off = csni_cursor_off(&c), behind;
        csni_cursor_skip(&c, 4);
        uint32_t info = csni_cursor_u32(&c), kind = info >> 24 & 0x1f;
        csni_cursor_skip(&c, 4);
        if (!c.failed && !size_behind_type(kind, info & 0xffff, &behind))
            return csni_fail(err, CSN_E_UNSUPPORTED, ".BTF", off, "type %zu is of kind %u, known are 1 to 19",
                             r->type_offs.count + 1, kind);
        if (!c.failed) csni_cursor_skip(&c, behind);
        if (c.failed)
            return csni_fail(err, CSN_E_FORMAT, ".BTF", off, "type %zu reaches beyond the %zu bytes of types",
                             r->type_offs.count + 1, r->types.size);
        if (!csni_vec_push(&r->type_offs, (uint32_t)off)) return csni_fail_memory(err, sizeof(uint32_t));
    }
    return CSN_OK;
}

/* Empty: the type is no function. */
static struct csn_str function_name(struct reading *r, uint32_t type) {
    if (!type || type > r->type_offs.count) return (struct csn_str){ "", 0 };
    struct csni_cursor c = csni_cursor_at(csni_span_from(r->types, r->type_offs.items[type - 1]), r->big);
    uint32_t name = csni_cursor_u32(&c), info = csni_cursor_u32(&c);
    return (info >> 24 & 0x1f) == KIND_FUNC ? string_at(r, name) : (struct csn_str){ "", 0 };
}

/* ---- functions and lines ---- */

static bool add_btf_function(struct reading *r, struct csn_str section, struct csni_cursor *record) {
    struct csni_btf_function function = { .place = { section, csni_cursor_u32(record) } };
    function.name = function_name(r, csni_cursor_u32(record));
    return csni_vec_push(&r->out->functions, function);
}

static bool add_btf_line(struct reading *r, struct csn_str section, struct csni_cursor *record) {
    struct csni_btf_line line = { .place = { section, csni_cursor_u32(record) } };
    line.path = string_at(r, csni_cursor_u32(record));
    csni_cursor_skip(record, 4); /* the line's text */
    line.line = csni_cursor_u32(record) >> LINE_SHIFT;
    return csni_vec_push(&r->out->lines, line);
}

/* The size of a record, then for each section of code its name, a count and records. */
static csn_status read_records(struct reading *r, struct csni_span part, uint32_t least,
                               bool (*add)(struct reading *, struct csn_str, struct csni_cursor *), struct csn_error *err) {
    if (!part.size) return CSN_OK;
    struct csni_cursor c = csni_cursor_at(part, r->big);
    uint32_t size = csni_cursor_u32(&c);
    if (c.failed || size < least)
        return csni_fail(err, CSN_E_FORMAT, ".BTF.ext", 0, "records of %u bytes, need %u or more", size, least);
    while (csni_cursor_left(&c)) {
        uint64_t off = csni_cursor_off(&c);
        struct csn_str section = string_at(r, csni_cursor_u32(&c));
        uint32_t count = csni_cursor_u32(&c);
        if (c.failed || count > csni_cursor_left(&c) / size)
            return csni_fail(err, CSN_E_FORMAT, ".BTF.ext", off,
                             "%u records of %u bytes reach beyond the %zu bytes of the list", count, size, part.size);
        for (uint32_t i = 0; i < count; i++) {
            struct csni_cursor record = csni_cursor_at(csni_cursor_bytes(&c, size), r->big);
            if (!add(r, section, &record)) return csni_fail_memory(err, sizeof(struct csni_btf_line));
            if (csni_budget_is_exhausted(&r->budget))
                return csni_fail(err, CSN_E_LIMIT, ".BTF.ext", off, "names and paths of records take %llu bytes, the limit",
                                 (unsigned long long)r->budget.limit);
        }
    }
    return CSN_OK;
}

static csn_status read_both(struct reading *r, struct csni_span btf, struct csni_span ext, struct csn_error *err) {
    struct csni_cursor fields;
    struct csni_span body, functions, lines;
    bool ext_big;
    CSNI_TRY(read_header(btf, ".BTF", HEADER_SIZE, &r->big, &fields, &body, err));
    CSNI_TRY(read_part(&fields, body, ".BTF", &r->types, err));
    CSNI_TRY(read_part(&fields, body, ".BTF", &r->strings, err));
    CSNI_TRY(list_types(r, err));
    CSNI_TRY(read_header(ext, ".BTF.ext", EXT_HEADER_SIZE, &ext_big, &fields, &body, err));
    if (ext_big != r->big)
        return csni_fail(err, CSN_E_FORMAT, ".BTF.ext", 0, "%s-endian, .BTF is not", ext_big ? "big" : "little");
    CSNI_TRY(read_part(&fields, body, ".BTF.ext", &functions, err));
    CSNI_TRY(read_part(&fields, body, ".BTF.ext", &lines, err));
    CSNI_TRY(read_records(r, functions, FUNCTION_RECORD, add_btf_function, err));
    return read_records(r, lines, LINE_RECORD, add_btf_line, err);
}

csn_status csni_btf_read(struct csni_span btf, struct csni_span ext, const struct csn_allocator *alloc, struct csni_btf *out,
                         struct csn_error *err) {
    *out = (struct csni_btf){ .functions = { .alloc = alloc }, .lines = { .alloc = alloc } };
    enum { BUDGET_BASE = 1 << 20, BUDGET_A_BYTE = 64 };
    struct reading r = { .alloc = alloc, .out = out, .type_offs = { .alloc = alloc },
                         .budget = csni_budget_for(BUDGET_BASE, (uint64_t)btf.size + ext.size, BUDGET_A_BYTE) };
    csn_status status = read_both(&r, btf, ext, err);
    csni_vec_deinit(&r.type_offs);
    return status;
}

void csni_btf_deinit(struct csni_btf *btf) {
    csni_vec_deinit(&btf->functions);
    csni_vec_deinit(&btf->lines);
}

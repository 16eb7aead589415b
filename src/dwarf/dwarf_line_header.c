/* Headers of line tables: what the program's opcodes mean, directories and files. */
#include "dwarf/dwarf_line.h"

#include <inttypes.h>

static csn_status header_truncated(const struct csni_cursor *c, const struct csni_line_header *h, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, csni_line_section, c->failed_at,
                     "header of the line table at 0x%" PRIx64 " runs beyond its end at 0x%" PRIx64, h->off,
                     (uint64_t)(c->end - c->begin));
}

csn_status csni_line_read_lengths(struct csni_cursor *c, struct csni_line_table *table, struct csni_line_header *h,
                                  struct csn_error *err) {
    table->offset_size = 4;
    uint64_t length = csni_cursor_u32(c);
    if (length == 0xffffffff) {
        table->offset_size = 8;
        length = csni_cursor_u64(c);
    } else if (length >= 0xfffffff0) {
        return csni_fail(err, CSN_E_FORMAT, csni_line_section, h->off,
                         "line table length 0x%" PRIx64 " is reserved, need < 0xfffffff0", length);
    }
    if (c->failed) return header_truncated(c, h, err);
    if (length > csni_cursor_left(c))
        return csni_fail(err, CSN_E_TRUNCATED, csni_line_section, h->off,
                         "line table has 0x%" PRIx64 " bytes, 0x%zx are left", length, csni_cursor_left(c));
    h->end = csni_cursor_off(c) + length;
    table->size = h->end - h->off;
    c->end = c->begin + h->end;
    table->version = csni_cursor_u16(c);
    if (!c->failed && (table->version < 2 || table->version > 5))
        return csni_fail(err, CSN_E_UNSUPPORTED, csni_line_section, h->off, "line table has version %u, need 2 to 5",
                         table->version);
    if (table->version >= 5) {
        table->address_size = csni_cursor_u8(c);
        csni_cursor_u8(c); /* segment selector size */
        if (table->address_size > 8)
            return csni_fail(err, CSN_E_UNSUPPORTED, csni_line_section, h->off,
                             "line table has addresses of %u bytes, need <= 8", table->address_size);
    }
    uint64_t header_length = csni_cursor_uint(c, table->offset_size);
    if (c->failed) return header_truncated(c, h, err);
    if (header_length > csni_cursor_left(c))
        return csni_fail(err, CSN_E_TRUNCATED, csni_line_section, h->off,
                         "line table header has 0x%" PRIx64 " bytes, 0x%zx are left", header_length, csni_cursor_left(c));
    h->program = csni_cursor_off(c) + header_length;
    c->end = c->begin + h->program;
    return CSN_OK;
}

csn_status csni_line_read_machine(struct csni_cursor *c, const struct csni_line_table *table,
                                  struct csni_line_header *h, struct csn_error *err) {
    h->min_inst_length = csni_cursor_u8(c);
    h->max_ops = table->version >= 4 ? csni_cursor_u8(c) : 1;
    csni_cursor_u8(c); /* default_is_stmt */
    h->line_base = (int8_t)csni_cursor_u8(c);
    h->line_range = csni_cursor_u8(c);
    uint64_t at = csni_cursor_off(c);
    h->opcode_base = csni_cursor_u8(c);
    if (c->failed) return header_truncated(c, h, err);
    if (!h->opcode_base) return csni_fail(err, CSN_E_FORMAT, csni_line_section, at, "opcode_base 0, need >= 1");
    if (!h->line_range) return csni_fail(err, CSN_E_FORMAT, csni_line_section, at - 1, "line_range 0, need >= 1");
    if (!h->max_ops) h->max_ops = 1;
    h->operands = csni_cursor_bytes(c, h->opcode_base - 1u).ptr;
    return c->failed ? header_truncated(c, h, err) : CSN_OK;
}

/* ---- directories and files, versions 2 to 4 ---- */

csn_status csni_line_read_old_file(struct csni_cursor *c, struct csni_line_table *table,
                                   const struct csni_line_header *h, struct csn_error *err) {
    struct csni_line_file file = { .name = csni_cursor_cstr(c) };
    file.directory = csni_cursor_uleb(c);
    csni_cursor_uleb(c); /* time */
    csni_cursor_uleb(c); /* size */
    if (c->failed) return header_truncated(c, h, err);
    return csni_vec_push(&table->files, file) ? CSN_OK : csni_fail_memory(err, sizeof file);
}

csn_status csni_line_read_old_tables(struct csni_cursor *c, struct csni_line_table *table,
                                     const struct csni_line_header *h, struct csn_error *err) {
    for (;;) {
        struct csn_str directory = csni_cursor_cstr(c);
        if (c->failed) return header_truncated(c, h, err);
        if (!directory.len) break;
        if (!csni_vec_push(&table->directories, directory)) return csni_fail_memory(err, sizeof directory);
    }
    while (csni_cursor_need(c, 1) && *c->p) CSNI_TRY(csni_line_read_old_file(c, table, h, err));
    return c->failed ? header_truncated(c, h, err) : CSN_OK;
}

/* ---- directories and files, version 5 ---- */

enum { MAX_FORMATS = 255 };

struct entry_format {
    uint8_t count;
    struct {
        uint64_t content;
        union csni_step step;
    } fields[MAX_FORMATS];
};

static csn_status read_line_header_format(struct csni_cursor *c, const struct csni_line_table *table,
                                          const struct csni_line_header *h,
                                          struct entry_format *format, struct csn_error *err) {
    const struct csni_abbrevs sizes = { .address_size = table->address_size, .offset_size = table->offset_size };
    format->count = csni_cursor_u8(c);
    for (unsigned i = 0; i < format->count; i++) {
        format->fields[i].content = csni_cursor_uleb(c);
        uint64_t at = csni_cursor_off(c), form = csni_cursor_uleb(c);
        if (c->failed) return header_truncated(c, h, err);
        if (!csni_form_step(form, &sizes, &format->fields[i].step) ||
            format->fields[i].step.op == CSNI_STEP_CONST || format->fields[i].step.op == CSNI_STEP_INDIRECT)
            return csni_fail(err, CSN_E_UNSUPPORTED, csni_line_section, at,
                             "content type 0x%" PRIx64 " has form 0x%" PRIx64 ", which is not known here",
                             format->fields[i].content, form);
    }
    return c->failed ? header_truncated(c, h, err) : CSN_OK;
}

/* A field's number; of strings and blocks, nothing but the bytes are passed. */
static uint64_t read_field(struct csni_cursor *c, const union csni_step *step) {
    switch (step->op) {
    case CSNI_STEP_FIXED: return csni_cursor_uint(c, step->size);
    case CSNI_STEP_FLAG: return 1;
    case CSNI_STEP_ULEB: return csni_cursor_uleb(c);
    case CSNI_STEP_SLEB: return (uint64_t)csni_cursor_sleb(c);
    case CSNI_STEP_BYTES: csni_cursor_skip(c, step->size); return 0;
    case CSNI_STEP_STRING: csni_cursor_cstr(c); return 0;
    case CSNI_STEP_BLOCK: csni_cursor_skip(c, csni_cursor_uleb(c)); return 0;
    case CSNI_STEP_BLOCK_FIXED: csni_cursor_skip(c, csni_cursor_uint(c, step->size)); return 0;
    case CSNI_STEP_ULEB_FIXED: csni_cursor_uleb(c); csni_cursor_skip(c, step->size); return 0;
    default: csni_cursor_fail(c); return 0;
    }
}

/* A DW_LNCT_path. A string that is in no section reads as empty, so that the numbers of the files after it stay right. */
static struct csn_str read_line_header_path(struct csni_cursor *c, const struct csni_dwarf *dwarf,
                                            const struct csni_unit *unit,
                                            const union csni_step *step) {
    struct csn_str s = { "", 0 };
    if (step->op == CSNI_STEP_STRING) return csni_cursor_cstr(c);
    uint64_t v = read_field(c, step);
    if (c->failed) return s;
    csn_status status = CSN_NONE;
    switch (step->form) {
    case DW_FORM_line_strp: status = csni_string_at(dwarf->sections.line_str, ".debug_line_str", v, &s, NULL); break;
    case DW_FORM_strp: status = csni_string_at(dwarf->sections.str, ".debug_str", v, &s, NULL); break;
    case DW_FORM_strx: case DW_FORM_strx1: case DW_FORM_strx2: case DW_FORM_strx3: case DW_FORM_strx4:
    case DW_FORM_GNU_str_index: status = csni_string_index(dwarf, unit, v, &s, NULL); break;
    default: break;
    }
    return status == CSN_OK ? s : (struct csn_str){ "", 0 };
}

/* Files as producers list them: a DW_FORM_line_strp, the directory, and what else is of fixed size. */
static bool is_usual(const struct entry_format *format, size_t *rest) {
    *rest = 0;
    if (format->count < 2 || format->fields[0].content != DW_LNCT_path ||
        format->fields[0].step.form != DW_FORM_line_strp || format->fields[1].content != DW_LNCT_directory_index ||
        (format->fields[1].step.op != CSNI_STEP_ULEB && format->fields[1].step.op != CSNI_STEP_FIXED))
        return false;
    for (unsigned i = 2; i < format->count; i++) {
        const union csni_step *step = &format->fields[i].step;
        if (format->fields[i].content == DW_LNCT_path || format->fields[i].content == DW_LNCT_directory_index) return false;
        if (step->op != CSNI_STEP_FIXED && step->op != CSNI_STEP_BYTES) return false;
        *rest += step->size;
    }
    return true;
}

/* `files` has room for `count`. */
static void read_usual_files(struct csni_cursor *c, struct csni_line_table *table, const struct entry_format *format,
                             size_t rest, uint64_t count) {
    const union csni_step directory = format->fields[1].step;
    struct csni_line_file *file = table->files.items;
    for (uint64_t k = 0; k < count && !c->failed; k++, file++) {
        uint64_t off = csni_cursor_uint(c, table->offset_size);
        file->name = off < table->line_str.size ? (struct csn_str){ NULL, (size_t)off } : (struct csn_str){ "", 0 };
        file->directory = directory.op == CSNI_STEP_ULEB ? csni_cursor_uleb(c) : csni_cursor_uint(c, directory.size);
        if (rest) csni_cursor_skip(c, rest);
    }
    table->files.count = (size_t)(file - table->files.items) - c->failed;
}

csn_status csni_line_read_entries(struct csni_cursor *c, struct csni_line_table *table, const struct csni_dwarf *dwarf,
                                  const struct csni_unit *unit, const struct csni_line_header *h, bool files,
                                  struct csn_error *err) {
    struct entry_format format;
    CSNI_TRY(read_line_header_format(c, table, h, &format, err));
    uint64_t at = csni_cursor_off(c), count = csni_cursor_uleb(c);
    if (c->failed) return header_truncated(c, h, err);
    if (count > csni_cursor_left(c))
        return csni_fail(err, CSN_E_FORMAT, csni_line_section, at, "%" PRIu64 " %s are to follow, %zu bytes are left", count,
                         files ? "files" : "directories", csni_cursor_left(c));
    bool capacity = files ? csni_vec_reserve(&table->files, (size_t)count) : csni_vec_reserve(&table->directories, (size_t)count);
    if (!capacity) return csni_fail_memory(err, count * sizeof(struct csni_line_file));
    size_t rest;
    if (files && is_usual(&format, &rest)) {
        read_usual_files(c, table, &format, rest, count);
        return c->failed ? header_truncated(c, h, err) : CSN_OK;
    }
    for (uint64_t k = 0; k < count; k++) {
        struct csni_line_file file = { .name = { "", 0 } };
        for (unsigned i = 0; i < format.count; i++) {
            const union csni_step *step = &format.fields[i].step;
            if (format.fields[i].content == DW_LNCT_path) file.name = read_line_header_path(c, dwarf, unit, step);
            else if (format.fields[i].content == DW_LNCT_directory_index) file.directory = read_field(c, step);
            else read_field(c, step);
        }
        if (c->failed) return header_truncated(c, h, err);
        if (files) table->files.items[table->files.count++] = file;
        else table->directories.items[table->directories.count++] = file.name;
    }
    return CSN_OK;
}

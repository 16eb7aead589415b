/* Linkers' maps: which symbols a binary has, and where. RVCT's (`ARM Linker ...`) and GNU ld's. */
#include "base/core/fail.h"
#include "formats/symbian/symbian_gather.h"

enum { HEAD_SIZE = 256, STUB_SIZE = 8, LAST_SIZE = 4, LINKED_DATA = 0x400000 };

static bool is_rvct(struct csni_span file) {
    return csni_str_starts((struct csn_str){ (const char *)file.ptr, file.size < HEAD_SIZE ? file.size : HEAD_SIZE },
                           "ARM Linker");
}

static bool is_gnu(struct csni_span file) {
    return csni_str_starts((struct csn_str){ (const char *)file.ptr, file.size < HEAD_SIZE ? file.size : HEAD_SIZE },
                           "Archive member included");
}

bool csni_linker_map_recognize(struct csni_span file) { return file.size && (is_rvct(file) || is_gnu(file)); }

static bool ends_with(struct csn_str text, const char *end) {
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

/* ---- RVCT ---- */

enum row_type { ROW_NONE, ROW_CODE, ROW_DATA, ROW_SECTION, ROW_OTHER };

struct row {
    struct csn_str name, object; /* object: with its section, "a.o(.text)" */
    uint64_t address, size;
    enum row_type type;
};

static enum row_type take_type(struct csn_str *text) {
    static const struct {
        const char *word;
        enum row_type type;
    } types[] = { { "ARM Code", ROW_CODE }, { "Thumb Code", ROW_CODE }, { "Data", ROW_DATA },
                  { "Section", ROW_SECTION }, { "Number", ROW_OTHER } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!csni_str_starts(*text, types[i].word)) continue;
        size_t len = strlen(types[i].word);
        *text = (struct csn_str){ text->ptr + len, text->len - len };
        return types[i].type;
    }
    return ROW_NONE;
}

/* What follows the name: address, type, size, object. */
static bool read_tail(struct csn_str tail, struct row *out) {
    if (!csni_text_take_hex(&tail, 1, 8, &out->address) || !csni_text_take_blanks(&tail)) return false;
    out->type = take_type(&tail);
    if (out->type == ROW_NONE || !csni_text_take_blanks(&tail)) return false;
    out->size = 0;
    size_t digits = 0;
    for (; digits < tail.len && digits < 9 && tail.ptr[digits] >= '0' && tail.ptr[digits] <= '9'; digits++)
        out->size = out->size * 10 + (unsigned)(tail.ptr[digits] - '0');
    if (!digits) return false;
    out->object = csni_text_trim((struct csn_str){ tail.ptr + digits, tail.len - digits });
    return true;
}

/* Names may have blanks, and 0x in them: the last place where a row can go on counts. */
static bool read_map_row(struct csn_str line, struct row *out) {
    for (size_t i = line.len; i >= 4; i--) {
        if (line.ptr[i - 1] != 'x' || line.ptr[i - 2] != '0' || line.ptr[i - 3] != ' ') continue;
        if (!read_tail((struct csn_str){ line.ptr + i, line.len - i }, out)) continue;
        out->name = csni_text_trim((struct csn_str){ line.ptr, i - 3 });
        return out->name.len > 0;
    }
    return false;
}

static bool has_section(struct csn_str object, const char *section) {
    size_t len = strlen(section);
    for (size_t i = 0; i + len < object.len; i++)
        if (object.ptr[i] == '(' && memcmp(object.ptr + i + 1, section, len) == 0) return true;
    return false;
}

/* Where a map's addresses go. */
struct places {
    uint64_t base;          /* where the linker put the code */
    uint32_t load, data;
};

static bool add_map_row(const struct row *row, bool is_local, const struct places *p, struct csni_symbian_gather *g) {
    bool is_stub = ends_with(row->object, "(StubCode)");
    uint64_t size = is_stub ? STUB_SIZE : row->size;
    if (!row->address || !size || ends_with(row->object, "Undefined Reference")) return true;
    bool is_code = row->type == ROW_CODE, is_constant = row->type == ROW_DATA && has_section(row->object, ".constdata");
    if (is_code || (is_constant && !is_local))
        return row->address < p->base || csni_symbian_add_symbol(g, row->name, row->address - p->base + p->load, size, false);
    bool is_moved = row->type == ROW_DATA && !is_local && p->data && row->address >= LINKED_DATA;
    return !is_moved || csni_symbian_add_symbol(g, row->name, row->address - LINKED_DATA + p->data, size, true);
}

static csn_status read_rvct(struct csni_span file, uint32_t load, uint32_t data, struct csni_batch_writer *w,
                            struct csni_symbian_gather *g, struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct places places = { 0, load, data };
    struct csn_str line;
    bool in_table = false, is_local = false, has_base = false;
    while (csni_lines_next(&lines, &line)) {
        struct csn_str text = csni_text_trim(line);
        struct row row;
        if (csni_str_starts(text, "Image Symbol Table")) in_table = true;
        else if (csni_str_starts(text, "Local Symbols")) is_local = true;
        else if (csni_str_starts(text, "Global Symbols")) is_local = false;
        if (!in_table || !read_map_row(line, &row)) continue;
        if (!has_base) {
            if (!row.size) continue;
            if (row.type != ROW_SECTION || (!csni_str_starts(row.name, ".text") && !csni_str_starts(row.name, ".emb_text"))) {
                csni_batch_note(w, CSN_EVENT_DAMAGED_TEXT_LINE, "line %llu of a map: the first row with a size is not .text: %.*s",
                                (unsigned long long)lines.number, (int)(text.len < 80 ? text.len : 80), text.ptr);
                return CSN_OK;
            }
            has_base = true;
            places.base = row.address & ~(uint64_t)1;
        }
        if (!add_map_row(&row, is_local, &places, g)) return csni_fail_memory(err, sizeof row);
    }
    return CSN_OK;
}

/* ---- GNU ---- */

struct gnu {
    struct csni_symbian_gather *g;
    uint64_t base, end;     /* of the output section; of the input section at hand */
    uint64_t last;          /* address of the symbol that waits for its size */
    struct csn_str name;    /* of it; empty: none waits */
    bool is_import;         /* the object at hand is an import library's */
    bool is_stub;           /* the symbol that waits is of such a one */
    bool in_text, has_base;
    uint32_t load;
    struct csni_batch_writer *w;
};

/* Members of import libraries have names like "euser{000a0000}.lib(d00012s00034.o)". */
static bool is_import(struct csn_str object) {
    const char *open = memchr(object.ptr, '(', object.len);
    if (!object.len || !open || !ends_with(object, ".o)") || open - object.ptr < 3 || memcmp(open - 3, "lib", 3) != 0) return false;
    const char *p = open + 1, *end = object.ptr + object.len - 3;
    for (const char *letter = "ds"; *letter; letter++) {
        if (p == end || *p++ != *letter) return false;
        const char *digits = p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == digits) return false;
    }
    return p == end;
}

/* Ends the symbol that waits at `end`. */
static bool finish_symbol(struct gnu *m, uint64_t end) {
    if (!m->name.len) return true;
    struct csn_str name = m->name;
    m->name.len = 0;
    if (m->last < m->base) return true;
    if (m->is_stub) {
        char *text = csni_arena_alloc(m->w->arena, name.len + 5);
        if (!text) return false;
        memcpy(text, "stub ", 5);
        memcpy(text + 5, name.ptr, name.len);
        name = (struct csn_str){ text, name.len + 5 };
    }
    return csni_symbian_add_symbol(m->g, name, m->last - m->base + m->load, end > m->last ? end - m->last : LAST_SIZE, false);
}

/* "0x00008000" from the front. */
static bool take_number(struct csn_str *text, uint64_t *out) {
    csni_text_take_blanks(text);
    if (!csni_str_starts(*text, "0x")) return false;
    *text = (struct csn_str){ text->ptr + 2, text->len - 2 };
    return csni_text_take_hex(text, 1, 16, out);
}

/* What an address is followed by: a size and an object, or a name. */
static bool read_place(struct gnu *m, uint64_t address, struct csn_str rest) {
    uint64_t size;
    struct csn_str tail = rest;
    if (take_number(&tail, &size)) {
        bool good = finish_symbol(m, m->end > m->last && m->end <= address ? m->end : address);
        m->end = address + size;
        m->is_import = is_import(csni_text_trim(tail));
        return good;
    }
    struct csn_str name = csni_text_trim(rest);
    if (!name.len || csni_str_starts(name, "PROVIDE") || name.ptr[0] == '.' || memchr(name.ptr, '=', name.len) == name.ptr)
        return true;
    if (m->name.len && address == m->last) return true; /* another name of the same place */
    if (!finish_symbol(m, m->end > m->last && m->end < address ? m->end : address)) return false;
    m->last = address;
    m->name = name;
    m->is_stub = m->is_import && address < m->end;
    return true;
}

static bool read_gnu_line(struct gnu *m, struct csn_str line) {
    struct csn_str text = csni_text_trim(line);
    uint64_t address;
    if (csni_str_starts(text, "Address of section .text set to")) {
        struct csn_str number = { text.ptr + 31, text.len - 31 };
        m->has_base = take_number(&number, &m->base);
        return true;
    }
    if (!m->in_text) {
        if (!csni_str_starts(line, ".text") || (line.len > 5 && !csni_is_blank(line.ptr[5]))) return true;
        m->in_text = true;
        struct csn_str number = { line.ptr + 5, line.len - 5 };
        if (take_number(&number, &address) && !m->has_base) {
            m->base = address;
            m->has_base = true;
        }
        return true;
    }
    /* " .text.name  0x.. 0x.. object": the section's name may fill a line of its own. */
    struct csn_str rest = text;
    if (rest.ptr[0] == '.' || rest.ptr[0] == '*') {
        size_t len = 0;
        while (len < rest.len && !csni_is_blank(rest.ptr[len])) len++;
        rest = (struct csn_str){ rest.ptr + len, rest.len - len };
    }
    if (!take_number(&rest, &address)) return true;
    if (!m->has_base) {
        m->base = address;
        m->has_base = true;
    }
    return read_place(m, address, rest);
}

static csn_status read_gnu(struct csni_span file, uint32_t load, struct csni_batch_writer *w, struct csni_symbian_gather *g,
                           struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct gnu m = { .g = g, .load = load, .w = w, .name = { "", 0 } };
    struct csn_str line;
    bool good = true;
    while (good && csni_lines_next(&lines, &line)) {
        bool is_empty = !csni_text_trim(line).len;
        if (m.in_text && (is_empty || csni_str_is(csni_text_trim(line), ".fini"))) break;
        if (!is_empty) good = read_gnu_line(&m, line);
    }
    if (good) good = finish_symbol(&m, m.end);
    return good ? CSN_OK : csni_fail_memory(err, sizeof m);
}

/* ---- either ---- */

csn_status csni_linker_map_symbols(struct csni_span file, uint32_t load, uint32_t data, struct csni_batch_writer *w,
                                   struct csni_symbian_gather *g, struct csn_error *err) {
    if (!csni_linker_map_recognize(file)) return CSN_NONE;
    g->binaries.items[g->binaries.count - 1].is_loaded = !load;
    return is_rvct(file) ? read_rvct(file, load, data, w, g, err) : read_gnu(file, load, w, g, err);
}

csn_status csni_linker_map_read(struct csni_span file, struct csn_str name, const struct csn_allocator *alloc,
                                struct csni_batch_writer *w, struct csni_symbian_image *out, struct csn_error *err) {
    struct csni_symbian_gather g;
    *out = (struct csni_symbian_image){ 0 };
    csni_symbian_gather_init(&g, alloc);
    csn_status status = csni_symbian_begin_binary(&g, name) ? CSN_OK : csni_fail_memory(err, sizeof name);
    if (status >= 0) status = csni_linker_map_symbols(file, 0, 0, w, &g, err);
    if (status >= 0) status = csni_symbian_finish(&g, w, out, NULL, err);
    csni_symbian_gather_deinit(&g);
    return status < 0 ? status : CSN_OK;
}

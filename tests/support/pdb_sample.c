/* A program database put together field by field. */
#include "support/pdb_sample.h"

#include <stdarg.h>
#include <stdio.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "pdb/pdb_layout.h"

const uint8_t pdb_sample_guid[16] = {
    0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff
};

/* File names, by their offsets in /names; entries of checksums are 8 bytes each. */
enum { NAME_MAIN = 1, NAME_INLINE = 10 };
enum { FILE_MAIN = 0, FILE_INLINE = 8 };
/* The module that lends the id of square, whose name is written in another way where it is lent to; what it calls the id. */
enum { NAME_LENDER = 25 };
static const uint32_t LENT_ID = 0x80001234, IMPORTED_SQUARE = 0x80000001;
enum { ID_SCOPE = 0x1000, ID_AREA, ID_SQUARE };
enum { TYPE_BOX = 0x1000, TYPE_CONST_BOX, TYPE_POINTER, TYPE_INT_LIST, TYPE_OF_INT, TYPE_POINTER_LIST, TYPE_OF_POINTER, TYPE_END,
       TYPE_COUNT = TYPE_END - TYPE_BOX, TYPE_INT = 0x74 };

void pdb_sample_init(struct pdb_sample *s) {
    *s = (struct pdb_sample){ .machine = 0x8664 };
    wire_init(&s->file, false);
}

void pdb_sample_deinit(struct pdb_sample *s) {
    wire_pdb_deinit(&s->pdb);
    wire_deinit(&s->file);
}

/* ---- streams ---- */

static void put_info(const struct pdb_sample *s, struct wire *w) {
    wire_u32(w, 20000404);
    wire_u32(w, 0x5f5e100);
    wire_u32(w, s->info_age ? s->info_age : PDB_SAMPLE_AGE);
    wire_bytes(w, pdb_sample_guid, 16);
    wire_u32(w, 7);
    wire_bytes(w, "/names", 7);
    wire_u32(w, 1); /* named streams, capacity, present, deleted */
    wire_u32(w, 1);
    wire_u32(w, 1);
    wire_u32(w, 1);
    wire_u32(w, 0);
    wire_u32(w, 0);
    wire_u32(w, PDB_S_NAMES);
    wire_u32(w, 0);
    if (s->is_minimal) wire_u32(w, FEATURE_MINIMAL_DEBUG_INFO);
    wire_u32(w, FEATURE_VC140);
}

static void put_names(struct wire *w) {
    wire_u32(w, NAMES_SIGNATURE);
    wire_u32(w, 1);
    wire_u32(w, 36);
    wire_bytes(w, "\0C:\\a\\m.c\0C:\\inc\\box.hpp\0c:\\a\\l.obj\0", 36);
}

static size_t begin_types(struct wire *w, uint32_t count) {
    wire_u32(w, 20040203);
    wire_u32(w, TPI_HEADER_SIZE);
    wire_u32(w, 0x1000);
    wire_u32(w, 0x1000 + count);
    size_t size = wire_u32(w, 0);
    wire_fill(w, 0, TPI_HEADER_SIZE - 20);
    return size;
}

static void end_types(struct wire *w, size_t size) { wire_patch(w, size, w->size - TPI_HEADER_SIZE, 4); }

/* A list of one parameter, and functions of it. */
static void put_function_type(struct wire *w, uint32_t parameter, uint32_t list) {
    size_t record = wire_pdb_begin_record(w, LF_ARGLIST);
    wire_u32(w, 1);
    wire_u32(w, parameter);
    wire_pdb_end_record(w, record);
    record = wire_pdb_begin_record(w, LF_PROCEDURE);
    wire_u32(w, TYPE_INT);
    wire_u32(w, 0x10000); /* one parameter */
    wire_u32(w, list);
    wire_pdb_end_record(w, record);
}

static void put_types(const struct pdb_sample *s, struct wire *w) {
    size_t size = begin_types(w, TYPE_COUNT), record = wire_pdb_begin_record(w, LF_STRUCTURE);
    wire_fill(w, 0, 16);
    wire_u16(w, LF_USHORT);
    wire_u16(w, 0x8123);
    wire_cstr(w, "geo::Box<int>");
    wire_pdb_end_record(w, record);
    record = wire_pdb_begin_record(w, LF_MODIFIER);
    wire_u32(w, TYPE_BOX);
    wire_u16(w, MODIFIER_CONST);
    wire_pdb_end_record(w, record);
    record = wire_pdb_begin_record(w, LF_POINTER);
    wire_u32(w, s->has_endless_type ? TYPE_POINTER : TYPE_CONST_BOX);
    wire_u32(w, 0x1000c); /* 64 bits */
    wire_pdb_end_record(w, record);
    put_function_type(w, TYPE_INT, TYPE_INT_LIST);
    put_function_type(w, TYPE_POINTER, TYPE_POINTER_LIST);
    end_types(w, size);
}

static void put_ids(struct wire *w) {
    size_t size = begin_types(w, 3), record = wire_pdb_begin_record(w, LF_STRING_ID);
    wire_u32(w, 0);
    wire_cstr(w, "geo");
    wire_pdb_end_record(w, record);
    record = wire_pdb_begin_record(w, LF_FUNC_ID);
    wire_u32(w, ID_SCOPE);
    wire_u32(w, 0);
    wire_cstr(w, "area");
    wire_pdb_end_record(w, record);
    record = wire_pdb_begin_record(w, LF_MFUNC_ID);
    wire_u32(w, TYPE_BOX);
    wire_u32(w, 0);
    wire_cstr(w, "square");
    wire_pdb_end_record(w, record);
    end_types(w, size);
}

static void put_public(const struct pdb_sample *s, struct wire *w, uint32_t offset, const char *name) {
    size_t record = wire_pdb_begin_record(w, s->is_old ? S_PUB32_ST : S_PUB32);
    wire_u32(w, PUBLIC_FUNCTION);
    wire_u32(w, offset);
    wire_u16(w, 1);
    if (s->is_old) wire_u8(w, strlen(name));
    wire_cstr(w, name);
    wire_pdb_end_record(w, record);
}

static void put_symbols(const struct pdb_sample *s, struct wire *w) {
    const char *front = s->machine == 0x14c ? "_" : "";
    char text[16];
    snprintf(text, sizeof text, "%sstub", front);
    put_public(s, w, 0x180, text);
    put_public(s, w, 0, "?main@@YAHXZ");
    put_public(s, w, 0, "?folded@@YAHXZ");
    put_public(s, w, 0x10, "?within@@YAXXZ"); /* inside of main: no function */
    if (!s->has_overloads) return;
    put_public(s, w, 0x150, "?over@geo@@YAHPEBU?$Box@H@1@@Z");
    put_public(s, w, 0x150, "?over@geo@@YAHH@Z");
    put_public(s, w, 0x150, "?lover@geo@@YAHH@Z");
}

static void put_sections(struct wire *w, uint32_t text_size) {
    wire_bytes(w, ".text\0\0\0", 8);
    wire_u32(w, text_size);
    wire_u32(w, PDB_TEXT_RVA);
    wire_fill(w, 0, 20);
    wire_u32(w, 0x60000020);
}

static void put_moves(struct wire *w) {
    static const uint32_t moves[][2] = { { 0x1000, 0x2000 }, { 0x1020, 0x3020 }, { 0x1040, 0 }, { 0x1050, 0x1050 } };
    for (size_t i = 0; i < 4; i++) {
        wire_u32(w, moves[i][0]);
        wire_u32(w, moves[i][1]);
    }
}

/* ---- the module ---- */

static void begin_typed_function(const struct pdb_sample *s, struct wire *w, bool local, uint32_t offset, uint32_t size,
                                 uint32_t type, const char *name) {
    uint16_t kind = s->is_old ? S_GPROC32_ST : S_GPROC32;
    size_t record = wire_pdb_begin_record(w, local ? (uint16_t)(kind - 1) : kind);
    wire_fill(w, 0, 12);
    wire_u32(w, size);
    wire_fill(w, 0, 8);
    wire_u32(w, type);
    wire_u32(w, offset);
    wire_u16(w, 1);
    wire_u8(w, 0);
    if (s->is_old) wire_u8(w, strlen(name));
    wire_cstr(w, name);
    wire_pdb_end_record(w, record);
}

static void begin_function(const struct pdb_sample *s, struct wire *w, bool local, uint32_t offset, uint32_t size,
                           const char *name) {
    begin_typed_function(s, w, local, offset, size, 0, name);
}

static void end_scope(struct wire *w, uint16_t kind) { wire_pdb_end_record(w, wire_pdb_begin_record(w, kind)); }

static void begin_site(struct wire *w, uint16_t kind, uint32_t inlinee, const char *annotations, size_t size) {
    size_t record = wire_pdb_begin_record(w, kind);
    wire_u32(w, 0);
    wire_u32(w, 0);
    wire_u32(w, inlinee);
    if (kind == S_INLINESITE2) wire_u32(w, 1);
    wire_bytes(w, annotations, size);
    wire_pdb_end_record(w, record);
}

static void put_label(struct wire *w, uint32_t offset, const char *name) {
    size_t record = wire_pdb_begin_record(w, S_LABEL32);
    wire_u32(w, offset);
    wire_u16(w, 1);
    wire_u8(w, 0);
    wire_cstr(w, name);
    wire_pdb_end_record(w, record);
}

/* main 0-0x40: area 0x8-0x20 inlined, square 0x10-0x18 in that. */
static void put_module_symbols(const struct pdb_sample *s, struct wire *w) {
    wire_u32(w, CV_SIGNATURE_C13);
    if (s->has_folded) {
        begin_function(s, w, true, 0x50, 0x10, "generated"); /* without lines of its own */
        end_scope(w, S_END);
    }
    begin_function(s, w, false, 0, 0x40, "main");
    if (s->twin_line)
        begin_site(w, S_INLINESITE, ID_AREA, "\x06\x3d\x03\x08\x06\x3e\x03\x08\x0b\x28\x04\x08", 12); /* 0x8: 30 less */
    else
        begin_site(w, S_INLINESITE, ID_AREA, "\x03\x08\x0b\x28\x0b\x28\x04\x08", 8); /* 0x8: 30, 0x10: 31, 0x18: 32, for 8 bytes */
    begin_site(w, S_INLINESITE2, s->imports ? IMPORTED_SQUARE : ID_SQUARE, "\x05\x08\x06\x03\x0c\x08\x10", 7);  /* 0x10-0x18: line 39 */
    end_scope(w, S_INLINESITE_END);
    end_scope(w, S_INLINESITE_END);
    size_t block = wire_pdb_begin_record(w, S_BLOCK32);
    wire_fill(w, 0, 18);
    wire_cstr(w, "");
    wire_pdb_end_record(w, block);
    end_scope(w, S_END);
    end_scope(w, S_END);
    begin_function(s, w, true, 0x50, 0x10, "hidden");
    end_scope(w, S_PROC_ID_END);
    if (s->has_folded) {
        begin_function(s, w, true, 0x50, 0x10, "other");
        end_scope(w, S_END);
    }
    size_t part = wire_pdb_begin_record(w, S_SEPCODE);
    wire_u32(w, 0);
    wire_u32(w, 0);
    wire_u32(w, 0x8);
    wire_u32(w, 0);
    wire_u32(w, 0x100);
    wire_u32(w, 0);
    wire_u16(w, 1);
    wire_u16(w, 1);
    wire_pdb_end_record(w, part);
    end_scope(w, S_END);
    size_t thunk = wire_pdb_begin_record(w, S_THUNK32);
    wire_fill(w, 0, 12);
    wire_u32(w, 0x110);
    wire_u16(w, 1);
    wire_u16(w, 6);
    wire_u8(w, 0);
    wire_cstr(w, "ImportedOne");
    wire_pdb_end_record(w, thunk);
    end_scope(w, S_END);
    if (s->has_overloads) {
        begin_typed_function(s, w, false, 0x150, 0x8, TYPE_OF_INT, "geo::over");
        end_scope(w, S_END);
        begin_typed_function(s, w, false, 0x150, 0x8, TYPE_OF_POINTER, "geo::over");
        end_scope(w, S_END);
        begin_function(s, w, true, 0x150, 0x8, "ove");
        end_scope(w, S_END);
    }
    put_label(w, 0x140, "asm_label");
    put_label(w, 0x14, "loop"); /* within main */
}

static void put_fragment(struct wire *w, uint32_t offset, uint32_t size, const uint32_t (*lines)[2], uint32_t count, bool columns) {
    size_t begun = wire_pdb_begin_subsection(w, DEBUG_S_LINES);
    wire_u32(w, offset);
    wire_u16(w, 1);
    wire_u16(w, columns);
    wire_u32(w, size);
    wire_u32(w, FILE_MAIN);
    wire_u32(w, count);
    wire_u32(w, 12 + count * (columns ? 12 : 8));
    for (uint32_t i = 0; i < count; i++) {
        wire_u32(w, lines[i][0]);
        wire_u32(w, lines[i][1] | 0x80000000u);
    }
    if (columns) wire_fill(w, 0, 4 * (size_t)count);
    wire_pdb_end_subsection(w, begun);
}

/* Two ids, of which the second is wanted. */
static void put_imports(struct wire *w) {
    size_t begun = wire_pdb_begin_subsection(w, DEBUG_S_CROSSSCOPEIMPORTS);
    wire_u32(w, NAME_LENDER);
    wire_u32(w, 2);
    wire_u32(w, 0x1000);
    wire_u32(w, LENT_ID);
    wire_pdb_end_subsection(w, begun);
}

static void put_lender(struct wire *w, uint32_t *symbol_size, uint32_t *c13_size) {
    wire_u32(w, CV_SIGNATURE_C13);
    *symbol_size = (uint32_t)w->size;
    size_t begun = wire_pdb_begin_subsection(w, DEBUG_S_CROSSSCOPEEXPORTS);
    wire_u32(w, LENT_ID);
    wire_u32(w, ID_SQUARE);
    wire_u32(w, 0x80000001);
    wire_u32(w, ID_AREA);
    wire_pdb_end_subsection(w, begun);
    *c13_size = (uint32_t)w->size - *symbol_size;
}

static void put_module_lines(const struct pdb_sample *s, struct wire *w) {
    static const uint32_t main_lines[][2] = { { 0, 10 }, { 8, 11 }, { 0x20, LINE_NEVER_STEP_INTO }, { 0x28, 12 } };
    static const uint32_t hidden_lines[][2] = { { 0, 20 }, { 8, 21 } }, other_lines[][2] = { { 0, 25 } },
                          part_lines[][2] = { { 0, 15 } };
    size_t begun = wire_pdb_begin_subsection(w, DEBUG_S_FILECHKSMS);
    wire_u32(w, NAME_MAIN);
    wire_u32(w, 0);
    wire_u32(w, NAME_INLINE);
    wire_u32(w, 0);
    wire_pdb_end_subsection(w, begun);
    put_fragment(w, 0, 0x40, main_lines, 4, false);
    put_fragment(w, 0x50, 0x10, hidden_lines, s->has_folded ? 2 : 1, true);
    if (s->has_folded) put_fragment(w, 0x50, 0x10, other_lines, 1, false);
    put_fragment(w, 0x100, 8, part_lines, 1, false);
    begun = wire_pdb_begin_subsection(w, DEBUG_S_INLINEELINES);
    wire_u32(w, INLINEE_LINES_EX);
    wire_u32(w, s->imports ? IMPORTED_SQUARE : ID_SQUARE);
    wire_u32(w, FILE_MAIN); /* the call's annotations change it */
    wire_u32(w, 40);
    wire_u32(w, 1);
    wire_u32(w, FILE_INLINE);
    wire_u32(w, ID_AREA);
    wire_u32(w, FILE_INLINE);
    wire_u32(w, 30);
    wire_u32(w, 0);
    if (s->twin_line) {
        wire_u32(w, ID_AREA);
        wire_u32(w, FILE_INLINE);
        wire_u32(w, s->twin_line);
        wire_u32(w, 0);
    }
    wire_pdb_end_subsection(w, begun);
    if (s->imports) put_imports(w);
    begun = wire_pdb_begin_subsection(w, DEBUG_S_IGNORE | DEBUG_S_LINES);
    wire_fill(w, 0xff, 7);
    wire_pdb_end_subsection(w, begun);
}

static void put_module_info(struct wire *w, uint16_t stream, const char *name, uint32_t symbol_size, uint32_t c13_size) {
    wire_fill(w, 0, MODULE_STREAM);
    wire_u16(w, stream);
    wire_u32(w, symbol_size);
    wire_u32(w, 0);
    wire_u32(w, c13_size);
    wire_fill(w, 0, MODULE_INFO_SIZE - MODULE_C13_SIZE - 4);
    wire_cstr(w, name);
    wire_cstr(w, name);
    wire_align(w, 4);
}

static void put_dbi(struct pdb_sample *s, struct wire *w, uint32_t symbol_size, uint32_t c13_size) {
    struct wire modules;
    wire_init(&modules, false);
    if (!s->has_no_module) put_module_info(&modules, PDB_S_MODULE, "C:\\a\\m.obj", symbol_size, c13_size);
    if (s->imports) {
        put_lender(&s->pdb.streams[PDB_S_LENDER], &symbol_size, &c13_size);
        put_module_info(&modules, PDB_S_LENDER, "C:\\a\\L.obj", symbol_size, c13_size);
    }
    wire_u32(w, UINT32_MAX);
    wire_u32(w, DBI_VERSION_V70);
    wire_u32(w, PDB_SAMPLE_AGE);
    wire_fill(w, 0xff, 8);
    wire_u16(w, PDB_S_SYMBOLS);
    wire_u16(w, 0);
    wire_u32(w, modules.size);
    wire_fill(w, 0, 20);
    wire_u32(w, 2 * DEBUG_HEADER_COUNT);
    wire_u32(w, 0);
    wire_u16(w, s->has_no_module ? DBI_FLAG_STRIPPED : 0);
    wire_u16(w, s->machine);
    wire_u32(w, 0);
    wire_append(w, &modules);
    for (unsigned i = 0; i < DEBUG_HEADER_COUNT; i++)
        wire_u16(w, i == DEBUG_HEADER_SECTIONS ? PDB_S_SECTIONS
                    : s->has_moves && i == DEBUG_HEADER_OMAP_FROM_SRC ? PDB_S_OMAP
                    : s->has_moves && i == DEBUG_HEADER_SECTIONS_ORIGINAL ? PDB_S_ORIGINAL : PDB_NO_STREAM);
    wire_deinit(&modules);
}

struct csni_span pdb_sample_build(struct pdb_sample *s) {
    struct wire *streams = s->pdb.streams;
    bool scattered = s->pdb.scattered;
    wire_pdb_deinit(&s->pdb);
    wire_pdb_init(&s->pdb, PDB_S_COUNT);
    s->pdb.scattered = scattered;
    s->file.size = 0;
    put_info(s, &streams[PDB_S_INFO]);
    put_types(s, &streams[PDB_S_TPI]);
    if (!s->has_no_ids) put_ids(&streams[PDB_S_IPI]);
    put_names(&streams[PDB_S_NAMES]);
    put_sections(&streams[PDB_S_SECTIONS], s->has_moves ? PDB_MOVED_TEXT_SIZE : PDB_TEXT_SIZE);
    put_sections(&streams[PDB_S_ORIGINAL], PDB_TEXT_SIZE);
    put_moves(&streams[PDB_S_OMAP]);
    put_symbols(s, &streams[PDB_S_SYMBOLS]);
    put_module_symbols(s, &streams[PDB_S_MODULE]);
    uint32_t symbol_size = (uint32_t)streams[PDB_S_MODULE].size;
    put_module_lines(s, &streams[PDB_S_MODULE]);
    put_dbi(s, &streams[PDB_S_DBI], symbol_size, (uint32_t)streams[PDB_S_MODULE].size - symbol_size);
    wire_pdb_build(&s->pdb, &s->file);
    return wire_span(&s->file);
}

/* ---- what comes of it ---- */

csn_status pdb_sample_convert(struct csni_span file, const struct csn_allocator *alloc, uint32_t threads,
                              struct csn_bytes *out, struct csn_error *err) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = threads;
    options.allocator = alloc;
    return csn_convert_memory(file.ptr, file.size, &options, out, NULL, err);
}

struct text {
    char *to;
    size_t len, capacity;
};

static void put_text(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int added = vsnprintf(t->to + t->len, t->capacity - t->len, format, args);
    va_end(args);
    if (added > 0 && (size_t)added < t->capacity - t->len) t->len += (size_t)added;
}

static const char *file_text(const struct csn_index *index, uint32_t file, char *room, size_t capacity) {
    struct csn_str directory = { "", 0 }, base = { "", 0 };
    csn_index_file(index, file, &directory, &base, NULL);
    snprintf(room, capacity, "%.*s%s%.*s", (int)directory.len, directory.ptr, directory.len ? "|" : "", (int)base.len, base.ptr);
    return room;
}

static void put_rows(struct text *t, const struct csn_index *index, const struct csn_record *record) {
    struct csn_row_iter rows;
    struct csn_row row;
    char file[64];
    csn_row_iter_init(&rows, index, record, NULL);
    while (csn_row_iter_next(&rows, &row, NULL) == CSN_OK)
        put_text(t, " %llx:%s:%u", (unsigned long long)(row.addr - record->start), file_text(index, row.file, file, sizeof file),
                 row.line);
}

static void put_nodes(struct text *t, const struct csn_index *index, const struct csn_record *record) {
    static struct csn_inline_iter nodes;
    struct csn_inline_node node;
    char file[64];
    csn_inline_iter_init(&nodes, index, record, NULL);
    while (csn_inline_iter_next(&nodes, &node, NULL) == CSN_OK) {
        if (!node.depth) continue;
        put_text(t, " [%u %.*s", node.depth, (int)node.name.len, node.name.ptr);
        for (uint32_t k = 0; k < node.range_count; k++) {
            struct csn_range range;
            if (csn_inline_node_range(&node, k, &range, NULL) == CSN_OK)
                put_text(t, " %llx-%llx", (unsigned long long)(range.start - record->start),
                         (unsigned long long)(range.end - record->start));
        }
        put_text(t, " %s:%u]", file_text(index, node.call_file, file, sizeof file), node.call_line);
    }
}

static void put_function(struct text *t, const struct csn_index *index, uint32_t n) {
    struct csn_record record;
    struct csn_function f;
    if (csn_index_record(index, n, &record, NULL) != CSN_OK || csn_index_function(index, n, &f, NULL) != CSN_OK) return;
    put_text(t, "%s%.*s %llx-%llx", n ? "; " : "", (int)f.name.len, f.name.ptr, (unsigned long long)f.start,
             (unsigned long long)(f.start + f.size));
    put_rows(t, index, &record);
    put_nodes(t, index, &record);
}

void pdb_sample_text(struct csn_bytes bytes, char *text, size_t capacity) {
    struct csn_index *index;
    struct csn_index_info info;
    struct text t = { text, 0, capacity };
    *text = 0;
    if (csn_index_open_memory(bytes.ptr, bytes.size, NULL, &index, NULL) != CSN_OK) return;
    csn_index_get_info(index, &info, sizeof info);
    for (uint32_t n = 0; n < info.function_count; n++) put_function(&t, index, n);
    csn_index_close(index);
}

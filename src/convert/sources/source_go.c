/* Functions from Go's function table, for programs without DWARF. */
#include <stdlib.h>

#include <callsign/convert.h>

#include "base/core/fail.h"
#include "base/core/ranges.h"
#include "convert/sources/go_wasm.h"
#include "convert/sources/source.h"
#include "go/go_pclntab.h"

/* Batch files by file number of the table; a file that was pushed out gets a second number, which the model joins. */
enum { FILE_SLOTS = 1024 };
struct file_slot {
    uint32_t key, file;
    bool used;
};

struct go_reading {
    struct csni_conversion *conversion;
    struct csni_batch_writer *writer;
    csni_go_sections sections;      /* data with addresses */
    bool is_wasm;
    CSNI_VEC(struct csni_go_pointer) pointers;
    struct csni_go_table table;
    struct csni_go_reader reader;
    struct file_slot files[FILE_SLOTS];
    uint64_t *known;                /* starts of functions of other sources, ascending */
    size_t known_count;
    CSNI_VEC(uint32_t) open;        /* nodes of the batch that are not closed yet */
};

/* ---- where the table is ---- */

static bool is_data(const struct csni_section *s) {
    const uint32_t without = CSNI_SECTION_EXEC | CSNI_SECTION_NOBITS | CSNI_SECTION_COMPRESSED;
    return (s->flags & CSNI_SECTION_ALLOC) && !(s->flags & without) && s->size && s->addr <= UINT64_MAX - s->size;
}

static uint32_t find_named(const struct csni_object *object) {
    static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab", "__gopclntab" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t section = csni_object_find_section(object, names[i]);
        if (section != CSNI_NO_SECTION) return section;
    }
    return CSNI_NO_SECTION;
}

static bool has_go_mark(const struct csni_object *object) {
    static const char *const marks[] = { ".note.go.buildid", ".go.buildinfo", ".go.module" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (csni_object_find_section(object, marks[i]) != CSNI_NO_SECTION) return true;
    return false;
}

/* In the memory of a WebAssembly module. */
static csn_status find_in_memory(struct go_reading *r, uint64_t *addr, struct csni_span *bytes) {
    for (size_t i = 0; i < r->sections.count; i++) {
        const struct csni_go_section *s = &r->sections.items[i];
        uint64_t off;
        if (!csni_go_find(s->bytes, 0, &off)) continue;
        *addr = s->addr + off;
        *bytes = csni_span_from(s->bytes, off);
        return CSN_OK;
    }
    return CSN_NONE;
}

/* CSN_NONE: the image has no table. */
static csn_status find_go_table(struct go_reading *r, uint64_t *addr, struct csni_span *bytes) {
    struct csni_object *object = r->conversion->object;
    if (r->is_wasm) return find_in_memory(r, addr, bytes);
    uint32_t named = find_named(object);
    /* Where no section is named for the table, it can be within another: PE has only a few sections, and what the GNU linker makes
     * position independent has it in .data.rel.ro. */
    bool is_pe = object->container == CSNI_CONTAINER_PE;
    if (named == CSNI_NO_SECTION && !is_pe && !has_go_mark(object)) return CSN_NONE;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        struct csni_span all;
        uint64_t off;
        bool wanted = named != CSNI_NO_SECTION ? i == named : is_pe || csni_str_is(s->name, ".data.rel.ro");
        if (!wanted || !is_data(s) || csni_object_read_section(object, i, &all, NULL) != CSN_OK) continue;
        if (!csni_go_find(all, 0, &off)) continue;
        *addr = s->addr + off;
        *bytes = csni_span_from(all, off);
        return CSN_OK;
    }
    return CSN_NONE;
}

/* ---- what the table refers to ---- */

static csn_status add_sections(struct go_reading *r, struct csn_error *err) {
    struct csni_object *object = r->conversion->object;
    for (uint32_t i = 1; !r->is_wasm && i < object->section_count; i++) {
        struct csni_go_section section = { .addr = object->sections[i].addr };
        if (!is_data(&object->sections[i]) || csni_object_read_section(object, i, &section.bytes, NULL) != CSN_OK) continue;
        if (!csni_vec_push(&r->sections, section)) return csni_fail_memory(err, sizeof section);
    }
    return CSN_OK;
}

static csn_status add_pointers(struct go_reading *r, struct csn_error *err) {
    csni_object_pointers found = { .alloc = r->conversion->alloc };
    csn_status status = csni_object_relative_pointers(r->conversion->object, &found, err);
    if (status >= 0 && !csni_vec_reserve(&r->pointers, found.count)) status = csni_fail_memory(err, found.count);
    for (size_t i = 0; status >= 0 && i < found.count; i++)
        r->pointers.items[r->pointers.count++] = (struct csni_go_pointer){ found.items[i].place, found.items[i].value };
    csni_vec_deinit(&found);
    return status;
}

static uint64_t text_start(const struct csni_conversion *c) {
    if (c->object->container == CSNI_CONTAINER_WASM) return CSNI_GO_WASM_TEXT;
    uint32_t section = csni_object_find_section(c->object, ".text");
    if (section == CSNI_NO_SECTION) section = csni_object_find_section(c->object, "__text");
    if (section != CSNI_NO_SECTION) return c->object->sections[section].addr;
    return c->image.text.count ? c->image.text.items[0].start : 0;
}

static csn_status open_go_table(struct go_reading *r, uint64_t addr, struct csni_span bytes, struct csn_error *err) {
    CSNI_TRY(add_sections(r, err));
    CSNI_TRY(add_pointers(r, err));
    const struct csni_go_image image = { r->sections.items, r->sections.count, r->pointers.items, r->pointers.count,
                                         text_start(r->conversion), r->is_wasm };
    CSNI_TRY(csni_go_open(&image, addr, bytes, r->conversion->alloc, &r->table, err));
    csni_go_reader_init(&r->reader, &r->table);
    return CSN_OK;
}

/* ---- functions that are known already ---- */

static int go_by_address(const void *pa, const void *pb) {
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

static csn_status list_known(struct go_reading *r, struct csn_error *err) {
    const struct csni_conversion *c = r->conversion;
    for (uint32_t b = 0; b < c->batch_count; b++) r->known_count += c->batches[b].function_count;
    r->known = csni_alloc_zeroed(c->alloc, r->known_count, sizeof *r->known);
    if (r->known_count && !r->known) return csni_fail_memory(err, r->known_count * sizeof *r->known);
    size_t n = 0;
    for (uint32_t b = 0; b < c->batch_count; b++)
        for (uint32_t f = 0; f < c->batches[b].function_count; f++) r->known[n++] = c->batches[b].functions[f].start;
    if (n) qsort(r->known, n, sizeof *r->known, go_by_address);
    return CSN_OK;
}

static bool is_known(const struct go_reading *r, uint64_t start) {
    return r->known_count && bsearch(&start, r->known, r->known_count, sizeof *r->known, go_by_address);
}

/* ---- into the batch ---- */

/* CSN_NONE: there is no such file. */
static csn_status batch_file(struct go_reading *r, uint32_t key, uint32_t *out) {
    struct file_slot *slot = &r->files[key % FILE_SLOTS];
    struct csn_str path;
    if (slot->used && slot->key == key) {
        *out = slot->file;
        return CSN_OK;
    }
    if (key == CSNI_GO_NO_FILE || csni_go_file(&r->table, key, &path, NULL) != CSN_OK || !path.len) return CSN_NONE;
    *slot = (struct file_slot){ key, csni_batch_add_path(r->writer, path), true };
    *out = slot->file;
    return CSN_OK;
}

static void add_go_rows(struct go_reading *r, const struct csni_go_function *f) {
    for (size_t i = 0; i < f->row_count; i++) {
        uint32_t file;
        if (batch_file(r, f->rows[i].file, &file) == CSN_OK)
            csni_batch_add_row(r->writer, f->rows[i].off, file, f->rows[i].line);
        else
            csni_batch_note(r->writer, CSN_EVENT_LINE_BAD_FILE, "Go function at 0x%llx, offset 0x%x",
                            (unsigned long long)f->start, f->rows[i].off);
    }
}

static void note_call(struct go_reading *r, const struct csni_go_function *f, const struct csni_go_call *call,
                      enum csn_event event) {
    csni_batch_note(r->writer, event, "%.*s in Go function at 0x%llx", (int)(call->name.len < 80 ? call->name.len : 80),
                    call->name.ptr, (unsigned long long)f->start);
}

/* A call that is too deep is left out with all below it; one of an unknown file (0) is not. */
static bool can_show(struct go_reading *r, const struct csni_go_function *f, const struct csni_go_call *call, uint32_t *file) {
    if (call->depth >= CSN_INLINE_DEPTH_MAX) {
        note_call(r, f, call, CSN_EVENT_INLINE_TOO_DEEP);
        return false;
    }
    *file = 0;
    if (batch_file(r, call->call_file, file) != CSN_OK) note_call(r, f, call, CSN_EVENT_INLINE_BAD_FILE);
    return true;
}

static void close_calls(struct go_reading *r, size_t depth) {
    while (r->open.count > depth) csni_batch_end_inline(r->writer, r->open.items[--r->open.count]);
}

static csn_status add_go_calls(struct go_reading *r, const struct csni_go_function *f) {
    uint32_t left_out = UINT32_MAX; /* depth of the call that is left out, with what is deeper */
    for (size_t i = 0; i < f->call_count; i++) {
        const struct csni_go_call *call = &f->calls[i];
        uint32_t file;
        if (call->depth > left_out) continue;
        left_out = UINT32_MAX;
        if (!call->part_count || !can_show(r, f, call, &file)) {
            left_out = call->depth;
            continue;
        }
        close_calls(r, call->depth - 1);
        uint32_t node = csni_batch_begin_inline(r->writer, csni_batch_add_string(r->writer, call->name), file, call->call_line);
        for (uint32_t p = 0; p < call->part_count; p++)
            csni_batch_add_part(r->writer, f->parts[call->first_part + p].start, f->parts[call->first_part + p].end);
        if (!csni_vec_push(&r->open, node)) return CSN_E_MEMORY;
    }
    close_calls(r, 0);
    return CSN_OK;
}

static csn_status add_go_function(struct go_reading *r, const struct csni_go_function *f) {
    struct csni_batch_writer *w = r->writer;
    struct csni_text_range range = { f->start, f->end };
    if (is_known(r, f->start)) return CSN_OK;
    if (r->is_wasm) { /* these addresses are of no section */
        if (!csni_vec_push(&r->conversion->image.text, range)) return CSN_E_MEMORY;
    } else if (!csni_in_text(r->conversion, f->start)) {
        csni_batch_note(w, CSN_EVENT_FUNCTION_OUTSIDE_TEXT, "Go function at 0x%llx", (unsigned long long)f->start);
        return CSN_OK;
    }
    csni_batch_begin_function(w, f->start, (uint32_t)(f->end - f->start), csni_batch_add_string(w, f->name), CSNI_SOURCE_GO);
    add_go_rows(r, f);
    return add_go_calls(r, f);
}

static csn_status add_go_functions(struct go_reading *r, struct csn_error *err) {
    csn_status status = CSN_OK;
    for (uint64_t i = 0; i < r->table.function_count && status != CSN_E_LIMIT; i++) {
        struct csni_go_function f;
        struct csn_error damage = CSN_ERROR_INIT;
        status = csni_go_read_function(&r->reader, i, &f, &damage);
        if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
        if (status < 0) csni_batch_note(r->writer, CSN_EVENT_DAMAGED_GO_FUNCTION, "%s", csn_error_text(&damage));
        if (f.end > f.start && f.name.len && add_go_function(r, &f) < 0) return csni_fail_memory(err, 0);
    }
    return CSN_OK;
}

static csn_status read_go_table(struct go_reading *r, struct csni_batch *batch, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    CSNI_TRY(list_known(r, err));
    csni_batch_begin(r->writer, &c->arenas[0]);
    CSNI_TRY(add_go_functions(r, err));
    c->report->functions_from_go += r->writer->functions.count;
    return csni_batch_finish(r->writer, batch, err);
}

/* A batch that says why there is nothing. */
static csn_status note_go_damage(struct go_reading *r, struct csni_batch *batch, const struct csn_error *damage,
                                 struct csn_error *err) {
    csni_batch_begin(r->writer, &r->conversion->arenas[0]);
    csni_batch_note(r->writer, CSN_EVENT_DAMAGED_GO_FUNCTION, "%s", csn_error_text(damage));
    return csni_batch_finish(r->writer, batch, err);
}

static csn_status read_go(struct go_reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    uint64_t addr;
    struct csni_span bytes;
    csn_status found = csni_go_wasm_memory(c, &c->arenas[0], &r->sections, err);
    if (found < 0) return found;
    r->is_wasm = found == CSN_OK;
    if (find_go_table(r, &addr, &bytes) != CSN_OK) return CSN_OK;
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = open_go_table(r, addr, bytes, &damage);
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch || status == CSN_E_MEMORY) return csni_fail_memory(err, sizeof *batch);
    if (status < 0) return note_go_damage(r, batch, &damage, err);
    status = read_go_table(r, batch, err);
    c->image.text.count = csni_join_ranges(c->image.text.items, c->image.text.count, start, end);
    return status;
}

csn_status csni_source_go(struct csni_conversion *c, struct csn_error *err) {
    struct go_reading *r = csni_alloc_zeroed(c->alloc, 1, sizeof *r);
    if (!r) return csni_fail_memory(err, sizeof *r);
    r->conversion = c;
    r->writer = &c->writers[0];
    r->sections.alloc = r->pointers.alloc = r->open.alloc = c->alloc;
    csn_status status = read_go(r, err);
    csni_go_reader_deinit(&r->reader);
    csni_vec_deinit(&r->sections);
    csni_vec_deinit(&r->pointers);
    csni_vec_deinit(&r->open);
    csni_free(c->alloc, r->known, r->known_count * sizeof *r->known);
    csni_free(c->alloc, r, sizeof *r);
    return status;
}

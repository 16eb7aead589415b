/* perf's maps of generated code: START SIZE NAME, both numbers hexadecimal, the name to the end of the line. A compiler that
 * puts new code where old code was adds a line, so code that begins within that of a later line is gone. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "formats/symbols/reused_code.h"
#include "formats/symbols/symbols_text.h"
#include "formats/symbols/text_lines.h"
#include "formats/symbols/v8_name.h"

struct mapped {
    uint64_t start, size, line;
    struct csn_str name;
};
typedef CSNI_VEC(struct mapped) mapped_code;

static bool read_perf_map_line(struct csn_str line, struct mapped *out) {
    struct csn_str start = csni_line_field(&line), size = csni_line_field(&line);
    out->name = csni_text_name(line);
    return out->name.len && csni_text_hex(start, &out->start) && csni_text_hex(size, &out->size);
}

static bool is_line(struct csn_str line) {
    struct mapped mapped;
    return read_perf_map_line(line, &mapped);
}

bool csni_perf_map_recognize(struct csni_span file) { return csni_lines_look_like(file, is_line); }

static int mapped_by_start(const void *pa, const void *pb) {
    const struct mapped *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* ---- into the batch ---- */

static void add_v8_place(struct csni_batch_writer *w, struct csn_str path, uint32_t line) {
    csni_batch_add_row(w, 0, csni_batch_add_path(w, path), line);
}

static void add_perf_map_function(struct csni_batch_writer *w, const struct mapped *m) {
    const uint32_t size = csni_batch_clip_size(w, m->line, m->start, m->size);
    struct csn_str name = m->name, path;
    uint32_t line;
    bool has_place = csni_split_v8_name(m->name, &name, &path, &line);
    csni_batch_begin_function(w, m->start, size, csni_batch_add_string(w, name), CSNI_SOURCE_SYMBOL);
    if (has_place && !w->failed) add_v8_place(w, path, line);
}

static csn_status read_perf_map_lines(mapped_code *code, struct csni_span file, struct csni_batch_writer *w,
                                      struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct csn_str line;
    while (csni_lines_next(&lines, &line)) {
        struct mapped m;
        if (!line.len) continue;
        if (!read_perf_map_line(line, &m)) {
            csni_note_line(w, lines.number, line, "no start, size and name");
            continue;
        }
        m.line = lines.number;
        if (!csni_vec_push(code, m)) return csni_fail_memory(err, sizeof m);
    }
    return CSN_OK;
}

static csn_status add_perf_map_functions(const mapped_code *code, struct csni_batch_writer *w, struct csn_error *err) {
    const size_t size = code->count * sizeof(struct csni_made_code);
    struct csni_made_code *made = csni_alloc_zeroed(code->alloc, code->count, sizeof *made);
    for (size_t i = 0; made && i < code->count; i++)
        made[i] = (struct csni_made_code){ code->items[i].start, code->items[i].size, code->items[i].line, false };
    const bool good = made && csni_find_reused_code(made, code->count, code->alloc);
    for (size_t i = 0; good && i < code->count; i++) {
        if (!made[i].is_gone) add_perf_map_function(w, &code->items[i]);
        else
            csni_batch_note(w, CSN_EVENT_DUPLICATE_REPLACED, "line %llu, by a later line", (unsigned long long)code->items[i].line);
    }
    csni_free(code->alloc, made, size);
    return good ? CSN_OK : csni_fail_memory(err, size);
}

csn_status csni_perf_map_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                              struct csn_error *err) {
    mapped_code code = { .alloc = alloc };
    csn_status status = read_perf_map_lines(&code, file, w, err);
    if (code.count) qsort(code.items, code.count, sizeof *code.items, mapped_by_start);
    if (status >= 0 && code.count) status = add_perf_map_functions(&code, w, err);
    csni_vec_deinit(&code);
    return status;
}

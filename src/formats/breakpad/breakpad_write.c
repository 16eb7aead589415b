/* Writing a Breakpad symbol file.
 *
 * Names of inlined functions get their numbers first, in the order in which they are used. Then names, functions and
 * STACK records are written in runs, each by one worker into a text of its own; the texts go out one after the
 * other. */
#include "base/core/budget.h"
#include "base/core/fail.h"
#include "base/lines.h"
#include "formats/breakpad/breakpad_pieces.h"
#include "formats/breakpad/breakpad_put.h"

enum { NAMES_LENGTH = 1024 }; /* of a run of names */
/* Records of a run of functions, after which the next one begins: some 60 KB of text, which stay in a processor's caches. */
enum { RUN_RECORDS = 2800 };
/* The format has each function's name in full, and paths, too: bytes of them for a byte of the model's strings, and for one of the
 * input, which may have them as often. A run asks for a portion at a time. */
enum { TEXT_SHARING = 32, TEXT_A_BYTE = 4, TEXT_BASE = 1 << 26, TEXT_PORTION = 1 << 20 };

struct run {
    struct csni_buffer *functions; /* the piece that is being made */
    struct csni_buffer symbols;    /* go out after all functions */
    uint64_t line_bytes, inline_bytes, rows, nodes;
    uint64_t asked;               /* bytes of names that the budget was not asked for yet */
    bool is_refused;
};

struct writer {
    const struct csni_model *model;
    const struct csni_breakpad_write_options *options;
    uint64_t base;
    uint32_t *origins;                /* number + 1 by string number of the model */
    uint32_t *files;                  /* number + 1 by file of the model; 0: no record written names it */
    uint32_t file_count;              /* of those that are written */
    CSNI_VEC(uint32_t) origin_strings; /* string of the model by number */
    CSNI_VEC(uint32_t) starts;        /* first entry by run, and where the last one ends */
    struct run *runs;
    size_t run_count;
    size_t name_pieces;               /* before those of functions */
    uint64_t origin_bytes;            /* threads add to it */
    struct csni_shared_budget text;   /* bytes of names and paths */
    struct csni_breakpad_pieces out;
    struct csni_buffer head;
};

static void begin_text(struct writer *w, uint64_t input_bytes) {
    const struct csni_budget own = csni_budget_for(TEXT_BASE, csni_model_text_size(w->model), TEXT_SHARING);
    csni_shared_budget_init(&w->text, csni_budget_for(own.limit, input_bytes, TEXT_A_BYTE).limit);
}

static csn_status fail_shared_text(struct writer *w, struct csn_error *err) {
    return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                     "functions share long names or files long paths: written for each of them, they have more than "
                     "%llu bytes, and all strings together %llu",
                     (unsigned long long)csni_shared_budget_limit(&w->text), (unsigned long long)csni_model_text_size(w->model));
}

/* Of a worker that has written `bytes` more; *asked: those that it did not ask for yet. */
static bool may_write(struct writer *w, uint64_t *asked, uint64_t bytes) {
    *asked += bytes;
    if (*asked < TEXT_PORTION) return true;
    bytes = *asked;
    *asked = 0;
    return csni_shared_budget_charge(&w->text, bytes);
}

/* ---- numbering ---- */

static bool is_written(const struct writer *w, const struct csni_function *f) { return f->start >= w->base; }

/* And cuts the functions into runs, as it looks at each of them. */
static csn_status number_origins(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    size_t records = RUN_RECORDS;
    w->origins = csni_alloc_zeroed(m->alloc, m->string_count, sizeof *w->origins);
    if (!w->origins) return csni_fail_memory(err, m->string_count * sizeof *w->origins);
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_batch *batch = &m->batches[m->entries[i].batch];
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        if (records >= RUN_RECORDS) {
            if (!csni_vec_push(&w->starts, i)) return csni_fail_memory(err, sizeof i);
            records = 0;
        }
        records += (size_t)1 + f->inline_count + f->row_count;
        for (uint32_t k = 0; k < f->inline_count && is_written(w, f); k++) {
            uint32_t string = batch->string_numbers[batch->inlines[f->first_inline + k].name];
            if (!string || w->origins[string]) continue;
            if (!csni_vec_push(&w->origin_strings, string)) return csni_fail_memory(err, sizeof string);
            w->origins[string] = (uint32_t)w->origin_strings.count;
        }
    }
    w->run_count = w->starts.count;
    return csni_vec_push(&w->starts, m->entry_count) ? CSN_OK : csni_fail_memory(err, sizeof *w->starts.items);
}

/* ---- the head ---- */

static void put_field(struct csni_buffer *t, struct csn_str field, const char *otherwise) {
    if (field.len) csni_buffer_put(t, field.ptr, field.len);
    else csni_breakpad_put_literal(t, otherwise);
    csni_breakpad_put_literal(t, " ");
}

/* Names of architectures that Breakpad spells in another way. */
static struct csn_str breakpad_arch(struct csn_str arch) {
    static const struct {
        const char *ours, *breakpad;
    } names[] = { { "i386", "x86" }, { "arm64v8", "arm64" }, { "s390x", "s390" }, { "riscv32", "riscv" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (csni_str_is(arch, names[i].ours)) return csni_str(names[i].breakpad);
    return arch.len > 3 && memcmp(arch.ptr, "armv", 4) == 0 ? csni_str("arm") : arch;
}

static void put_code_id(struct writer *w, struct csn_str os) {
    struct csni_span uuid = w->model->image.uuid;
    struct csn_str own = w->options->code_id;
    if (!own.len && (!uuid.size || csni_str_is(os, "windows"))) return;
    csni_breakpad_put_literal(&w->head, "INFO CODE_ID ");
    csni_buffer_put(&w->head, own.ptr, own.len);
    for (size_t i = 0; !own.len && i < uuid.size; i++) {
        const char digits[] = { "0123456789ABCDEF"[uuid.ptr[i] >> 4], "0123456789ABCDEF"[uuid.ptr[i] & 15] };
        csni_buffer_put(&w->head, digits, sizeof digits);
    }
    csni_breakpad_put_literal(&w->head, "\n");
}

static void put_module(struct writer *w) {
    const struct csni_identity *image = &w->model->image.identity;
    struct csni_span uuid = w->model->image.uuid;
    struct csn_str os = image->os.len ? image->os : csni_str("Linux");
    struct csn_str name = w->options->debug_name.len ? w->options->debug_name : image->name;
    char id[CSNI_BREAKPAD_ID_MAX + 1];
    csni_breakpad_id(os, uuid.size ? uuid : w->options->made_up_id, image->age, id);
    csni_breakpad_put_literal(&w->head, "MODULE ");
    put_field(&w->head, os, "");
    put_field(&w->head, breakpad_arch(image->arch), "unknown");
    put_field(&w->head, csni_str(id), "");
    csni_breakpad_put_name(&w->head, name.len ? name : csni_str("unknown"), NULL);
    put_code_id(w, os);
}

/* Records that tell of the image stand in front, as they came; others after all. */
static bool is_own(const struct csni_extra *e, bool in_front) {
    return e->format == CSN_FORMAT_BREAKPAD && in_front == !e->records;
}

static void put_identity(struct writer *w) {
    static const char module[] = "MODULE";
    const struct csni_extra *extras = w->model->image.extras.items;
    const size_t count = w->model->image.extras.count;
    const struct csni_extra *first = count && is_own(&extras[0], true) ? &extras[0] : NULL;
    bool has_module = first && first->text.len > strlen(module) && memcmp(first->text.ptr, module, strlen(module)) == 0 &&
                      csni_is_blank(first->text.ptr[strlen(module)]);
    if (!has_module) put_module(w);
    for (size_t i = 0; i < count; i++) {
        if (!is_own(&extras[i], true)) continue;
        csni_buffer_put(&w->head, extras[i].text.ptr, extras[i].text.len);
        csni_breakpad_put_literal(&w->head, "\n");
    }
}

/* Directories of Windows keep their separator. */
static csn_status put_files(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    struct csni_buffer path = { .alloc = m->alloc };
    bool good = true;
    for (uint32_t i = 1; good && i < m->file_count; i++) {
        if (!w->files[i]) continue;
        struct csn_str directory = m->strings[m->files[i].directory], base = m->strings[m->files[i].base];
        path.size = 0;
        csni_buffer_put(&path, directory.ptr, directory.len);
        bool slash = directory.len && memchr(directory.ptr, '/', directory.len);
        const char *separator = directory.len && !slash && memchr(directory.ptr, '\\', directory.len) ? "\\" : "/";
        if (directory.len && directory.ptr[directory.len - 1] != *separator) csni_breakpad_put_literal(&path, separator);
        csni_buffer_put(&path, base.ptr, base.len);
        csni_breakpad_put_literal(&w->head, "FILE ");
        csni_breakpad_put_dec(&w->head, w->files[i] - 1, ' ');
        csni_breakpad_put_name(&w->head, (struct csn_str){ (const char *)path.bytes, path.size }, NULL);
        good = csni_shared_budget_charge(&w->text, path.size);
    }
    w->head.failed |= path.failed;
    csni_buffer_deinit(&path);
    return good ? CSN_OK : fail_shared_text(w, err);
}

static csn_status encode_origins(struct writer *w, size_t item, struct csni_buffer *t, struct csn_error *err) {
    uint64_t asked = 0;
    for (size_t i = item * NAMES_LENGTH; i < (item + 1) * NAMES_LENGTH && i < w->origin_strings.count; i++) {
        csni_breakpad_put_literal(t, "INLINE_ORIGIN ");
        csni_breakpad_put_dec(t, (uint32_t)i, ' ');
        const size_t before = t->size;
        csni_breakpad_put_origin_name(t, w->model->strings[w->origin_strings.items[i]], w->options->demangle);
        if (!may_write(w, &asked, t->size - before)) return fail_shared_text(w, err);
    }
    if (!csni_shared_budget_charge(&w->text, asked)) return fail_shared_text(w, err);
    __atomic_fetch_add(&w->origin_bytes, t->size, __ATOMIC_RELAXED);
    return t->failed ? csni_fail_memory(err, t->capacity) : CSN_OK;
}

/* ---- functions ---- */

/* False: no part of it is below `size`. */
static bool put_inline(struct writer *w, struct run *run, const struct csni_batch *batch, const struct csni_function *f,
                       const struct csni_inline_node *node, uint32_t size, uint32_t level) {
    struct csni_buffer *t = run->functions;
    const struct csni_part *parts = batch->parts + node->first_part;
    uint32_t file = w->files[batch->file_numbers[node->call_file]];
    if (parts[0].start >= size) return false;
    csni_breakpad_put_literal(t, "INLINE ");
    csni_breakpad_put_dec(t, level, ' ');
    csni_breakpad_put_dec(t, node->call_line, ' ');
    if (file) csni_breakpad_put_dec(t, file - 1, ' ');
    else csni_breakpad_put_literal(t, "-1 ");
    csni_breakpad_put_dec(t, w->origins[batch->string_numbers[node->name]] - 1, ' ');
    for (uint32_t i = 0; i < node->part_count && parts[i].start < size; i++) {
        uint32_t end = parts[i].end < size ? parts[i].end : size;
        csni_breakpad_put_hex(t, f->start - w->base + parts[i].start, ' ');
        csni_breakpad_put_hex(t, end - parts[i].start, ' ');
    }
    if (!t->failed) t->bytes[t->size - 1] = '\n'; /* instead of the last blank */
    run->nodes++;
    return true;
}

/* A call without a name is left out; those in it move up. */
static void put_inlines(struct writer *w, struct run *run, const struct csni_batch *batch, const struct csni_function *f,
                        uint32_t size) {
    uint32_t ends[CSN_INLINE_DEPTH_MAX], depth = 0; /* of the written calls around: index after the last in each */
    size_t before = run->functions->size;
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *node = &batch->inlines[f->first_inline + i];
        while (depth && ends[depth - 1] <= i) depth--;
        if (!batch->string_numbers[node->name] || !put_inline(w, run, batch, f, node, size, depth)) continue;
        if (node->descendants && depth < CSN_INLINE_DEPTH_MAX) ends[depth++] = i + 1 + node->descendants;
    }
    run->inline_bytes += run->functions->size - before;
}

static bool is_row_written(const struct csni_batch *batch, const struct csni_row *row, uint32_t end) {
    return batch->file_numbers[row->file] && row->line && row->off < end;
}

/* Rows without a file or a line are left out: what they cover is a gap. */
static void put_rows(struct writer *w, struct run *run, const struct csni_batch *batch, const struct csni_function *f,
                     uint32_t size) {
    struct csni_buffer *t = run->functions;
    const struct csni_row *rows = batch->rows + f->first_row;
    struct csni_breakpad_lines lines = { 0 };
    size_t before = t->size;
    uint32_t written = 0;
    for (uint32_t i = 0; i < f->row_count; i++) {
        uint32_t end = i + 1 < f->row_count && rows[i + 1].off < size ? rows[i + 1].off : size;
        if (!is_row_written(batch, &rows[i], end)) continue;
        uint32_t file = w->files[batch->file_numbers[rows[i].file]];
        csni_breakpad_put_line(t, &lines, f->start - w->base + rows[i].off, end - rows[i].off, rows[i].line, file - 1);
        written++;
    }
    run->rows += written;
    run->line_bytes += t->size - before;
}

/* `distance`: bytes up to the next function. What lies after it answers for itself, here as in an index; readers of Breakpad's
 * files would leave out one of two functions that overlap. */
static void put_entry(struct writer *w, struct run *run, const struct csni_entry *e, uint64_t distance) {
    const struct csni_batch *batch = &w->model->batches[e->batch];
    const struct csni_function *f = &batch->functions[e->function];
    if (!is_written(w, f) || run->is_refused) return;
    uint32_t size = f->size < distance ? f->size : (uint32_t)distance;
    struct csni_buffer *t = size ? run->functions : &run->symbols;
    csni_breakpad_put_literal(t, size ? "FUNC " : "PUBLIC ");
    if (e->child_count) csni_breakpad_put_literal(t, "m ");
    csni_breakpad_put_hex(t, f->start - w->base, ' ');
    if (size) csni_breakpad_put_hex(t, size, ' ');
    csni_breakpad_put_literal(t, "0 ");
    const size_t before = t->size;
    csni_breakpad_put_name(t, w->model->strings[batch->string_numbers[f->name]], w->options->demangle);
    run->is_refused = !may_write(w, &run->asked, t->size - before);
    if (!size) return;
    put_inlines(w, run, batch, f, size);
    put_rows(w, run, batch, f, size);
}

static uint64_t start_of(const struct csni_model *m, uint32_t entry) {
    return csni_model_function(m, &m->entries[entry])->start;
}

/* Other threads do the same. */
static void mark_file(struct writer *w, uint32_t file) {
    if (!__atomic_load_n(&w->files[file], __ATOMIC_RELAXED)) __atomic_store_n(&w->files[file], 1, __ATOMIC_RELAXED);
}

/* What put_entry() would name. */
static void mark_files(struct writer *w, struct run *run, const struct csni_entry *e, uint64_t distance) {
    (void)run;
    const struct csni_batch *batch = &w->model->batches[e->batch];
    const struct csni_function *f = &batch->functions[e->function];
    if (!is_written(w, f)) return;
    uint32_t size = f->size < distance ? f->size : (uint32_t)distance;
    for (uint32_t i = 0; size && i < f->inline_count; i++) {
        const struct csni_inline_node *node = &batch->inlines[f->first_inline + i];
        if (batch->parts[node->first_part].start < size && batch->string_numbers[node->name])
            mark_file(w, batch->file_numbers[node->call_file]);
    }
    const struct csni_row *rows = batch->rows + f->first_row;
    uint32_t marked = 0; /* a row without a file names 0 */
    for (uint32_t i = 0; size && i < f->row_count; i++) {
        uint32_t end = i + 1 < f->row_count && rows[i + 1].off < size ? rows[i + 1].off : size;
        if (rows[i].file == marked || !is_row_written(batch, &rows[i], end)) continue;
        marked = rows[i].file;
        mark_file(w, batch->file_numbers[marked]);
    }
}

/* Of functions with one start the largest goes first: it is the one that readers keep. Such a group belongs to the run that it
 * begins in. */
static void visit_run(struct writer *w, size_t item, struct run *run,
                      void (*visit)(struct writer *w, struct run *run, const struct csni_entry *e, uint64_t distance)) {
    const struct csni_model *m = w->model;
    uint32_t i = w->starts.items[item], end = w->starts.items[item + 1];
    while (i && i < m->entry_count && start_of(m, i) == start_of(m, i - 1)) i++;
    while (i < end && i < m->entry_count) {
        uint32_t upper = i + 1;
        while (upper < m->entry_count && start_of(m, upper) == start_of(m, i)) upper++;
        uint32_t next = upper; /* the next function with a size, if this one has any: the largest is the last */
        bool has_size = csni_model_function(m, &m->entries[upper - 1])->size > 0;
        while (has_size && next < m->entry_count && !csni_model_function(m, &m->entries[next])->size) next++;
        uint64_t distance = next < m->entry_count ? start_of(m, next) - start_of(m, i) : UINT64_MAX;
        for (uint32_t k = upper; k-- > i;) visit(w, run, &m->entries[k], distance);
        i = upper;
    }
}

static csn_status encode_run(struct writer *w, size_t item, struct csni_buffer *t, struct csn_error *err) {
    struct run run = { .functions = t, .symbols.alloc = w->model->alloc }; /* not where other workers' runs are: they share cache lines */
    visit_run(w, item, &run, put_entry);
    w->runs[item] = run;
    if (run.is_refused || !csni_shared_budget_charge(&w->text, run.asked)) return fail_shared_text(w, err);
    return t->failed || run.symbols.failed ? csni_fail_memory(err, t->capacity) : CSN_OK;
}

static csn_status mark_run(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)err;
    visit_run(context, item, NULL, mark_files);
    return CSN_OK;
}

/* Files that some record names keep their order. */
static csn_status number_files(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    w->files = csni_alloc_zeroed(m->alloc, (size_t)m->file_count + 1, sizeof *w->files);
    if (!w->files) return csni_fail_memory(err, m->file_count * sizeof *w->files);
    CSNI_TRY(csni_pool_run(w->out.pool, w->run_count, mark_run, w, err));
    w->files[0] = 0;
    for (uint32_t i = 1; i < m->file_count; i++)
        if (w->files[i]) w->files[i] = ++w->file_count;
    return CSN_OK;
}

/* ---- the file ---- */

/* What follows the functions: symbols that came up with them, and records that are kept as they are. */
static csn_status put_symbols(struct writer *w, struct csni_buffer *t, struct csn_error *err) {
    for (size_t i = 0; i < w->run_count; i++) csni_buffer_put(t, w->runs[i].symbols.bytes, w->runs[i].symbols.size);
    for (size_t i = 0; i < w->model->image.extras.count; i++) {
        const struct csni_extra *extra = &w->model->image.extras.items[i];
        if (!is_own(extra, false)) continue;
        csni_buffer_put(t, extra->text.ptr, extra->text.len);
        csni_buffer_put(t, "\n", 1);
    }
    return t->failed ? csni_fail_memory(err, t->capacity) : CSN_OK;
}

static csn_status make_writer_piece(void *context, size_t item, struct csni_buffer *t, struct csn_error *err) {
    struct writer *w = context;
    if (item < w->name_pieces) return encode_origins(w, item, t, err);
    item -= w->name_pieces;
    if (item < w->run_count) return encode_run(w, item, t, err);
    item -= w->run_count;
    return item ? w->options->make_stack(w->options->stack_context, item - 1, t, err) : put_symbols(w, t, err);
}

static csn_status write_head(struct writer *w, struct csn_error *err) {
    put_identity(w);
    CSNI_TRY(put_files(w, err));
    return csni_breakpad_pieces_add(&w->out, &w->head, err);
}

static csn_status write_all(struct writer *w, struct csn_error *err) {
    CSNI_TRY(number_origins(w, err));
    CSNI_TRY(number_files(w, err));
    CSNI_TRY(write_head(w, err));
    w->runs = csni_alloc_zeroed(w->model->alloc, w->run_count, sizeof *w->runs);
    if (w->run_count && !w->runs) return csni_fail_memory(err, w->run_count * sizeof *w->runs);
    w->name_pieces = (w->origin_strings.count + NAMES_LENGTH - 1) / NAMES_LENGTH;
    size_t symbols = w->name_pieces + w->run_count, count = symbols + 1 + w->options->stack_count;
    CSNI_TRY(csni_breakpad_pieces_make(&w->out, count, symbols, make_writer_piece, w, err));
    return csni_breakpad_pieces_finish(&w->out, err);
}

static void report_sizes(const struct writer *w, struct csn_convert_report *report) {
    for (size_t i = 0; i < w->run_count; i++) {
        report->line_bytes += w->runs[i].line_bytes;
        report->inline_bytes += w->runs[i].inline_bytes;
        report->rows_written += w->runs[i].rows;
        report->inline_nodes_written += w->runs[i].nodes;
    }
    report->string_bytes += w->origin_bytes;
    report->files_written = w->file_count;
    report->output_bytes = w->out.size;
}

static void release(struct writer *w) {
    for (size_t i = 0; w->runs && i < w->run_count; i++) csni_buffer_deinit(&w->runs[i].symbols);
    csni_free(w->model->alloc, w->runs, w->run_count * sizeof *w->runs);
    csni_free(w->model->alloc, w->origins, w->model->string_count * sizeof *w->origins);
    csni_free(w->model->alloc, w->files, ((size_t)w->model->file_count + 1) * sizeof *w->files);
    csni_vec_deinit(&w->origin_strings);
    csni_vec_deinit(&w->starts);
    csni_buffer_deinit(&w->head);
    csni_breakpad_pieces_deinit(&w->out);
}

csn_status csni_breakpad_write(const struct csni_model *model, const struct csni_breakpad_write_options *options,
                               struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                               struct csn_error *err) {
    struct writer w = { .model = model, .options = options };
    w.base = csni_image_first_byte(&model->image);
    begin_text(&w, report->input_bytes);
    w.origin_strings.alloc = w.starts.alloc = w.head.alloc = model->alloc;
    csni_breakpad_pieces_init(&w.out, sink, pool, model->alloc);
    csn_status status = write_all(&w, err);
    if (status >= 0) report_sizes(&w, report);
    release(&w);
    return status;
}

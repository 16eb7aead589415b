/* Writing the section-embedded GSYM of 2017.
 *
 * Strings and files are numbered first, in the order in which the tools of that time met them; then the tables and records are
 * put down front to back in one buffer. */
#include "formats/gsection/write/gsection_write.h"

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/leb128.h"
#include "formats/gsection/gsection_layout.h"
#include "formats/gsym/gsym_layout.h"

typedef unsigned long long ull; /* for %llx */

/* What writers of a revision did: see docs/formats/gsym-sections.md. */
struct habits {
    bool lines_count_themselves, inlines_count_themselves; /* lengths 4 too high */
    bool short_ends;     /* lists end with 4 bytes of 0, else 8 */
    bool padded;         /* parts are padded to multiples of 4, and lengths count that */
    bool files_from_2;   /* in line tables */
    bool empty_lines;    /* functions without rows have a line table of one end mark */
    bool no_inlines;
};

struct writer {
    const struct csni_model *model;
    const struct csni_gsection_options *options;
    struct habits habits;
    csni_bytes *out, *strings;
    uint32_t *strps;        /* by string number of the model */
    uint32_t *file_numbers; /* by file number of the model */
    uint32_t *files;        /* files of the model by number - 1 */
    uint32_t file_count;
    uint32_t no_file;       /* what a row without a file has for its number */
    bool has_fileless_rows;
    bool big, failed, overflow;
    uint32_t entry_count;   /* merged functions included */
    uint64_t base;
    unsigned addr_size;
    CSNI_VEC(uint32_t) ends; /* of the open lists of inlined calls: pairs of end and base */
    struct csn_convert_report *report;
};

static struct habits habits_of(const struct csni_gsection_options *o) {
    bool script = o->revision == 'C' || (o->revision == 'B' && o->script);
    switch (o->revision) {
    case 'A':
        return (struct habits){ .lines_count_themselves = true, .empty_lines = true, .no_inlines = true };
    case 'D':
        return (struct habits){ .inlines_count_themselves = true };
    case 'E':
        return (struct habits){ .short_ends = false };
    default:
        return (struct habits){ .lines_count_themselves = script, .inlines_count_themselves = script, .short_ends = script,
                                .padded = !script, .files_from_2 = script };
    }
}

/* ---- bytes ---- */

/* Room for `size` more bytes at the end of the section; NULL when out of memory. */
static uint8_t *capacity(struct writer *w, size_t size) {
    if (!w->failed && csni_vec_reserve(w->out, w->out->count + size)) return w->out->items + w->out->count;
    w->failed = true;
    return NULL;
}

static void put_gsection_bytes(struct writer *w, const void *bytes, size_t size) {
    uint8_t *p = size ? capacity(w, size) : NULL;
    if (!p) return;
    memcpy(p, bytes, size);
    w->out->count += size;
}

static void put_uint(struct writer *w, uint64_t value, unsigned size) {
    uint8_t bytes[8];
    csni_put_sized(bytes, value, size, w->big);
    put_gsection_bytes(w, bytes, size);
}

static void put_u8(struct writer *w, uint8_t value) { put_gsection_bytes(w, &value, 1); }

static void put_gsection_uleb(struct writer *w, uint64_t value) {
    uint8_t bytes[CSNI_LEB_MAX];
    put_gsection_bytes(w, bytes, (size_t)(csni_put_uleb(bytes, value) - bytes));
}

static void put_sleb(struct writer *w, int64_t value) {
    uint8_t bytes[CSNI_LEB_MAX];
    put_gsection_bytes(w, bytes, (size_t)(csni_put_sleb(bytes, value) - bytes));
}

static void align(struct writer *w, unsigned to) {
    static const uint8_t zeros[8];
    put_gsection_bytes(w, zeros, (size_t)(csni_align_up(w->out->count, to) - w->out->count));
}

static void patch_u32(struct writer *w, size_t at, uint64_t value) {
    if (w->failed) return;
    w->overflow |= value > UINT32_MAX;
    csni_put32(w->out->items + at, (uint32_t)value, w->big);
}

/* ---- functions, in the order of the tables ---- */

struct visit {
    const struct csni_batch *batch;
    const struct csni_function *function;
};
typedef void visitor(struct writer *w, const struct visit *v);

static struct visit visit_of(const struct writer *w, const struct csni_entry *e) {
    const struct csni_batch *batch = &w->model->batches[e->batch];
    return (struct visit){ batch, &batch->functions[e->function] };
}

/* Merged functions follow the one that they were merged into: the format allows for equal starts, and a lookup takes the
 * first. */
static void visit_all(struct writer *w, visitor *call) {
    const struct csni_model *m = w->model;
    for (uint32_t i = 0; i < m->entry_count && !w->failed; i++) {
        struct visit v = visit_of(w, &m->entries[i]);
        call(w, &v);
        for (uint32_t k = 0; k < m->entries[i].child_count; k++) {
            v = visit_of(w, &m->children[m->entries[i].first_child + k]);
            call(w, &v);
        }
    }
}

/* ---- strings and files ---- */

static void use_gsection_string(struct writer *w, uint32_t string) {
    if (w->strps[string] != CSNI_NO_STRING) return;
    struct csn_str s = w->model->strings[string];
    uint64_t at = w->options->shared.size + w->strings->count;
    if (at + s.len + 1 >= UINT32_MAX) w->overflow = true;
    if (w->overflow || !csni_vec_reserve(w->strings, w->strings->count + s.len + 1)) {
        w->failed = true;
        return;
    }
    w->strps[string] = (uint32_t)at;
    if (s.len) memcpy(w->strings->items + w->strings->count, s.ptr, s.len);
    w->strings->items[w->strings->count + s.len] = 0;
    w->strings->count += s.len + 1;
}

static void use_file(struct writer *w, uint32_t file) {
    if (!file || w->file_numbers[file]) return;
    w->files[w->file_count++] = file;
    w->file_numbers[file] = w->file_count;
    use_gsection_string(w, w->model->files[file].directory);
    use_gsection_string(w, w->model->files[file].base);
}

static void use_rows(struct writer *w, const struct visit *v) {
    use_gsection_string(w, v->batch->string_numbers[v->function->name]);
    for (uint32_t i = 0; i < v->function->row_count; i++) {
        uint32_t file = v->batch->file_numbers[v->batch->rows[v->function->first_row + i].file];
        w->has_fileless_rows |= !file;
        use_file(w, file);
    }
}

static void use_inlines(struct writer *w, const struct visit *v) {
    for (uint32_t i = 0; i < v->function->inline_count && !w->habits.no_inlines; i++) {
        const struct csni_inline_node *node = &v->batch->inlines[v->function->first_inline + i];
        use_gsection_string(w, v->batch->string_numbers[node->name]);
        use_file(w, v->batch->file_numbers[node->call_file]);
    }
}

/* Numbers rows from 2, as the scripts did, for which 1 is no file. A reader sees that by the number behind the table's last
 * file, so that one has to be a row's: where 1 occurs, files that only inlined calls name go first. If no row has a file, 0
 * serves. */
static void number_from_2(struct writer *w, uint32_t row_files) {
    uint32_t others = w->file_count - row_files;
    w->no_file = row_files || !others;
    if (!w->has_fileless_rows || !row_files || !others) return;
    for (uint32_t i = 0; i < w->file_count; i++) w->file_numbers[w->files[i]] = (i + others) % w->file_count + 1;
    for (uint32_t file = 1; file < w->model->file_count; file++)
        if (w->file_numbers[file]) w->files[w->file_numbers[file] - 1] = file;
}

static csn_status number_strings(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    w->strps = csni_alloc(m->alloc, m->string_count * sizeof *w->strps);
    w->file_numbers = csni_alloc_zeroed(m->alloc, m->file_count, sizeof *w->file_numbers);
    w->files = csni_alloc_zeroed(m->alloc, m->file_count, sizeof *w->files);
    if (!w->strps || !w->file_numbers || !w->files) return csni_fail_memory(err, m->string_count * sizeof *w->strps);
    CSNI_TRY(csni_gsection_find_strings(m, w->options->shared, w->options->script, w->strps, err));
    use_gsection_string(w, 0);
    visit_all(w, use_rows);
    uint32_t row_files = w->file_count;
    visit_all(w, use_inlines);
    if (w->habits.files_from_2) number_from_2(w, row_files);
    return CSN_OK;
}

/* ---- records ---- */

/* Begins a part; returns where its data begins. */
static size_t begin_gsection_part(struct writer *w, enum csni_gsym_part type) {
    put_uint(w, type, 4);
    put_uint(w, 0, 4);
    return w->out->count;
}

static uint64_t end_gsection_part(struct writer *w, size_t begin, bool counts_itself) {
    uint64_t size = w->out->count - begin;
    if (w->habits.padded) align(w, CSNI_GSYM_ALIGN);
    patch_u32(w, begin - 4, w->out->count - begin + (counts_itself ? CSNI_GSECTION_SELF_COUNT : 0));
    return size;
}

/* A row: one special opcode where line and address advance little enough. */
static void put_gsection_row(struct writer *w, uint64_t advance, int64_t lines) {
    enum { RANGE = CSNI_GSECTION_MAX_DELTA - CSNI_GSECTION_MIN_DELTA + 1,
           SPECIAL_MAX = UINT8_MAX - CSNI_GSYM_LINE_FIRST_SPECIAL };
    if (lines >= CSNI_GSECTION_MIN_DELTA && lines <= CSNI_GSECTION_MAX_DELTA && advance <= SPECIAL_MAX / RANGE) {
        uint64_t operand = (uint64_t)(lines - CSNI_GSECTION_MIN_DELTA) + advance * RANGE;
        if (operand <= SPECIAL_MAX) {
            put_u8(w, (uint8_t)(operand + CSNI_GSYM_LINE_FIRST_SPECIAL));
            return;
        }
    }
    if (lines) {
        put_u8(w, CSNI_GSYM_LINE_ADVANCE_LINE);
        put_sleb(w, lines);
    }
    put_u8(w, CSNI_GSYM_LINE_ADVANCE_PC);
    put_gsection_uleb(w, advance);
}

static void put_gsection_lines(struct writer *w, const struct visit *v) {
    const struct csni_row *rows = v->batch->rows + v->function->first_row;
    size_t part = begin_gsection_part(w, CSNI_GSYM_PART_LINES);
    uint32_t off = 0, file = CSNI_GSYM_LINE_FIRST_FILE, line = v->function->row_count ? rows[0].line : 0;
    if (v->function->row_count) {
        put_sleb(w, CSNI_GSECTION_MIN_DELTA);
        put_sleb(w, CSNI_GSECTION_MAX_DELTA);
        put_gsection_uleb(w, line);
    }
    for (uint32_t i = 0; i < v->function->row_count; i++) {
        uint32_t number = w->file_numbers[v->batch->file_numbers[rows[i].file]];
        number = number ? number + w->habits.files_from_2 : w->no_file;
        if (number != file) {
            put_u8(w, CSNI_GSYM_LINE_SET_FILE);
            put_gsection_uleb(w, number);
        }
        put_gsection_row(w, rows[i].off - off, (int64_t)rows[i].line - line);
        off = rows[i].off;
        file = number;
        line = rows[i].line;
    }
    put_u8(w, CSNI_GSYM_LINE_END);
    w->report->line_bytes += end_gsection_part(w, part, w->habits.lines_count_themselves);
    w->report->rows_written += v->function->row_count;
}

static void put_gsection_node(struct writer *w, const struct visit *v, const struct csni_inline_node *node,
                              uint32_t base) {
    put_gsection_uleb(w, node->part_count);
    for (uint32_t i = 0; i < node->part_count; i++) {
        const struct csni_part *part = &v->batch->parts[node->first_part + i];
        put_gsection_uleb(w, part->start - base);
        put_gsection_uleb(w, part->end - part->start);
    }
    put_u8(w, node->descendants > 0);
    put_uint(w, w->strps[v->batch->string_numbers[node->name]], 4);
    put_gsection_uleb(w, w->file_numbers[v->batch->file_numbers[node->call_file]]);
    put_gsection_uleb(w, node->call_line);
}

/* The root, which stands for the function, then all nodes in document order, each list of siblings closed by a 0. */
static void put_gsection_inlines(struct writer *w, const struct visit *v) {
    const struct csni_function *f = v->function;
    size_t part = begin_gsection_part(w, CSNI_GSYM_PART_INLINE);
    put_gsection_uleb(w, 1);
    put_gsection_uleb(w, 0);
    put_gsection_uleb(w, f->size);
    put_u8(w, 1);
    put_uint(w, w->strps[v->batch->string_numbers[f->name]], 4);
    put_gsection_uleb(w, 0);
    put_gsection_uleb(w, 0);
    uint32_t end = f->inline_count, base = 0; /* of the children: index after the last, offset they count from */
    w->ends.count = 0;
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *node = &v->batch->inlines[f->first_inline + i];
        put_gsection_node(w, v, node, base);
        if (node->descendants) {
            if (!csni_vec_push(&w->ends, end) || !csni_vec_push(&w->ends, base)) {
                w->failed = true;
                return;
            }
            end = i + 1 + node->descendants;
            base = v->batch->parts[node->first_part].start;
        }
        while (i + 1 == end && w->ends.count) {
            put_gsection_uleb(w, 0);
            base = w->ends.items[--w->ends.count];
            end = w->ends.items[--w->ends.count];
        }
    }
    put_gsection_uleb(w, 0);
    w->report->inline_bytes += end_gsection_part(w, part, w->habits.inlines_count_themselves);
    w->report->inline_nodes_written += f->inline_count;
}

static void put_gsection_record(struct writer *w, const struct visit *v, size_t info_at) {
    const struct csni_function *f = v->function;
    align(w, CSNI_GSYM_ALIGN);
    patch_u32(w, info_at, w->out->count);
    put_uint(w, f->size, 4);
    put_uint(w, w->strps[v->batch->string_numbers[f->name]], 4);
    if (f->row_count || w->habits.empty_lines) put_gsection_lines(w, v);
    if (f->inline_count && !w->habits.no_inlines) put_gsection_inlines(w, v);
    put_uint(w, CSNI_GSYM_PART_END, 4);
    if (!w->habits.short_ends) put_uint(w, 0, 4);
    bool lost = f->site_count || (f->inline_count && w->habits.no_inlines);
    if (lost)
        csni_report_add(w->report, CSN_EVENT_NOT_REPRESENTABLE, 1,
                        csni_str(f->site_count ? "call sites" : "inlined calls in revision A"));
}

/* ---- tables ---- */

static void count_entry(struct writer *w, const struct visit *v) {
    (void)v;
    w->entry_count++;
}

static void put_address(struct writer *w, const struct visit *v) { put_uint(w, v->function->start - w->base, w->addr_size); }

static csn_status choose_gsection_base(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    if (!m->entry_count) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no functions found, nothing to write");
    uint64_t reach = 0, first = csni_model_function(m, &m->entries[0])->start;
    /* The lowest start. An image that is linked at 64 KiB or higher has its own base, and so has what counts from an image's first byte:
     * MODULE+0xOFFSET counts from there, and nothing else in the section tells where that is. */
    uint64_t image = csni_image_base_below(&m->image, first, first);
    w->base = image >> 16 || m->image.from_first_byte ? image : first;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        uint64_t end = f->start - w->base + f->size;
        if (end > reach) reach = end;
    }
    w->addr_size = reach <= UINT16_MAX ? 2 : reach <= UINT32_MAX ? 4 : 8;
    return CSN_OK;
}

static void put_header(struct writer *w) {
    put_uint(w, CSNI_GSYM_MAGIC, 4);
    put_uint(w, CSNI_GSYM_VERSION_1, 2);
    put_u8(w, (uint8_t)w->addr_size);
    put_u8(w, 0);
    put_uint(w, w->base, 8);
    put_uint(w, w->entry_count, 4);
    if (w->options->revision <= 'B') {
        put_gsection_bytes(w, w->options->strings_name.ptr, w->options->strings_name.len);
        put_u8(w, 0);
    } else {
        put_uint(w, 0, 4); /* filled in once the place is known */
        put_uint(w, w->strings->count, 4);
    }
}

static void put_strings_inside(struct writer *w) {
    patch_u32(w, CSNI_GSECTION_H_STRTAB_OFFSET, w->out->count);
    put_gsection_bytes(w, w->strings->items, w->strings->count);
    w->strings->count = 0;
}

/* Records, whose places go into the table at `infos`. */
static void put_records(struct writer *w, size_t infos) {
    const struct csni_model *m = w->model;
    for (uint32_t i = 0; i < m->entry_count && !w->failed; i++) {
        struct visit v = visit_of(w, &m->entries[i]);
        put_gsection_record(w, &v, infos);
        infos += CSNI_GSYM_INFO_OFFSET_SIZE;
        for (uint32_t k = 0; k < m->entries[i].child_count; k++, infos += CSNI_GSYM_INFO_OFFSET_SIZE) {
            v = visit_of(w, &m->children[m->entries[i].first_child + k]);
            put_gsection_record(w, &v, infos);
        }
    }
}

static csn_status write_gsection_all(struct writer *w, struct csn_error *err) {
    CSNI_TRY(choose_gsection_base(w, err));
    CSNI_TRY(number_strings(w, err));
    w->report->string_bytes += w->strings->count;
    visit_all(w, count_entry);
    put_header(w);
    align(w, w->addr_size);
    visit_all(w, put_address);
    align(w, CSNI_GSYM_ALIGN);
    size_t infos = w->out->count, infos_size = (size_t)w->entry_count * CSNI_GSYM_INFO_OFFSET_SIZE;
    uint8_t *table = capacity(w, infos_size);
    if (table) {
        memset(table, 0, infos_size);
        w->out->count += infos_size;
    }
    put_uint(w, w->file_count, 4);
    for (uint32_t i = 0; i < w->file_count; i++) {
        put_uint(w, w->strps[w->model->files[w->files[i]].directory], 4);
        put_uint(w, w->strps[w->model->files[w->files[i]].base], 4);
    }
    if (w->options->revision == 'E') put_strings_inside(w);
    put_records(w, infos);
    if (w->overflow || w->out->count > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the index or its strings need over 4 GiB: 0x%llx and 0x%llx bytes so far",
                         (ull)w->out->count, (ull)(w->options->shared.size + w->strings->count));
    if (w->failed) return csni_fail_memory(err, w->out->capacity);
    w->report->files_written = w->file_count;
    if (w->model->image.uuid.size) csni_report_add(w->report, CSN_EVENT_PART_LOST, 1, csni_str("build id"));
    return CSN_OK;
}

void csni_gsection_image_free(struct csni_gsection_image *image) {
    csni_vec_deinit(&image->section);
    csni_vec_deinit(&image->strings);
}

csn_status csni_gsection_build(const struct csni_model *model, const struct csni_gsection_options *options,
                               struct csni_gsection_image *out, struct csn_convert_report *report, struct csn_error *err) {
    *out = (struct csni_gsection_image){ .section = { .alloc = model->alloc }, .strings = { .alloc = model->alloc } };
    struct writer w = { .model = model, .options = options, .habits = habits_of(options), .out = &out->section,
                        .strings = &out->strings, .big = model->image.big_endian, .report = report };
    w.ends.alloc = model->alloc;
    csn_status status = write_gsection_all(&w, err);
    csni_vec_deinit(&w.ends);
    csni_free(model->alloc, w.strps, model->string_count * sizeof *w.strps);
    csni_free(model->alloc, w.file_numbers, model->file_count * sizeof *w.file_numbers);
    csni_free(model->alloc, w.files, model->file_count * sizeof *w.files);
    if (status < 0) csni_gsection_image_free(out);
    return status;
}

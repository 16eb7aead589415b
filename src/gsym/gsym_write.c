/* Writing GSYM version 1.
 *
 * Everything in front of the records has a known size, so the records' place is known before the first is encoded. They are
 * encoded in runs of functions, each run by one worker into a buffer of its own; then the file is written front to back. */
#include "gsym/gsym_write.h"

#include "base/checked.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/leb128.h"
#include "gsym/gsym_layout.h"
#include "gsym/gsym_line_encode.h"

enum { RUN_LENGTH = 1024 }; /* functions */

/* A growing buffer; `failed` stays set once memory ran out. */
struct buffer {
    uint8_t *bytes;
    size_t size, room;
    const struct csn_allocator *alloc;
    bool failed;
};

enum { FIRST_ROOM = 16 << 10 };

static CSNI_COLD uint8_t *grow_buffer(struct buffer *b, size_t size) {
    size_t need = b->size + size, room = b->room < FIRST_ROOM / 2 ? FIRST_ROOM : 2 * b->room;
    if (b->failed || size > SIZE_MAX - b->size || !csni_vec_grow(&b->bytes, &b->room, need > room ? need : room, 1, b->alloc)) {
        b->failed = true;
        return NULL;
    }
    return b->bytes + b->size;
}

/* Room for `size` more bytes, or NULL. */
static inline uint8_t *buffer_room(struct buffer *b, size_t size) {
    if (!b->failed && size <= b->room - b->size) return b->bytes + b->size;
    return grow_buffer(b, size);
}

/* The encoded records of one run of functions. */
struct run {
    struct buffer records;
    uint32_t *offsets; /* of each function's record within `records` */
    uint64_t line_bytes, inline_bytes, rows, nodes, sites;
};

struct writer {
    const struct csni_model *model;
    const struct csni_sink *sink;
    bool big;
    uint64_t base;
    unsigned addr_size;
    uint32_t *strps; /* by string number of the model */
    uint64_t string_size;
    uint64_t infos_off, files_off, strings_off, records_off, end;
    struct run *runs;
    size_t run_count;
};

/* ---- records ---- */

static void put_u32(struct writer *w, struct buffer *b, uint32_t v) {
    uint8_t *p = buffer_room(b, 4);
    if (!p) return;
    csni_put32(p, v, w->big);
    b->size += 4;
}

static uint32_t strp_of(const struct writer *w, const struct csni_batch *batch, uint32_t string) {
    return w->strps[batch->string_numbers[string]];
}

/* Begins a part of a record; end_part() fills in its length. */
static size_t begin_part(struct writer *w, struct buffer *b, enum csni_gsym_part type) {
    put_u32(w, b, type);
    put_u32(w, b, 0);
    return b->size;
}

static uint64_t end_part(struct writer *w, struct buffer *b, size_t start) {
    if (b->failed) return 0;
    csni_put32(b->bytes + start - 4, (uint32_t)(b->size - start), w->big);
    return b->size - start;
}

static void put_lines(struct writer *w, struct run *run, const struct csni_batch *batch,
                      const struct csni_function *f) {
    struct buffer *b = &run->records;
    size_t part = begin_part(w, b, CSNI_GSYM_PART_LINES);
    uint8_t *p = buffer_room(b, csni_gsym_line_bound(f->row_count));
    if (!p) return;
    b->size += csni_gsym_encode_lines(batch->rows + f->first_row, f->row_count, batch->file_numbers, p);
    run->line_bytes += end_part(w, b, part);
    run->rows += f->row_count;
}

static void put_node(struct writer *w, struct buffer *b, const struct csni_batch *batch,
                     const struct csni_inline_node *node, uint32_t base) {
    uint8_t *p = buffer_room(b, (2 * (size_t)node->part_count + 3) * CSNI_LEB_MAX + 5);
    if (!p) return;
    uint8_t *begin = p;
    p = csni_put_uleb(p, node->part_count);
    for (uint32_t i = 0; i < node->part_count; i++) {
        const struct csni_part *part = &batch->parts[node->first_part + i];
        p = csni_put_uleb(p, part->start - base);
        p = csni_put_uleb(p, part->end - part->start);
    }
    *p++ = node->descendants > 0;
    csni_put32(p, strp_of(w, batch, node->name), w->big);
    p = csni_put_uleb(p + 4, batch->file_numbers[node->call_file]);
    p = csni_put_uleb(p, node->call_line);
    b->size += (size_t)(p - begin);
}

/* The root, which stands for the function itself, then all nodes in document order, each list of siblings closed by a 0.
 * Where the lists end follows from `descendants`; the open ones are kept in `ends`, of which there is one per level. */
static void put_inlines(struct writer *w, struct run *run, const struct csni_batch *batch,
                        const struct csni_function *f, struct buffer *ends) {
    struct buffer *b = &run->records;
    size_t part = begin_part(w, b, CSNI_GSYM_PART_INLINE);
    uint8_t *p = buffer_room(b, 5 * CSNI_LEB_MAX + 5);
    if (!p) return;
    uint8_t *begin = p;
    *p++ = 1;
    *p++ = 0;
    p = csni_put_uleb(p, f->size);
    *p++ = 1;
    csni_put32(p, strp_of(w, batch, f->name), w->big);
    p += 4;
    *p++ = 0;
    *p++ = 0;
    b->size += (size_t)(p - begin);

    struct level { uint32_t end, base; }; /* of the children: index behind the last, offset they count from */
    ends->size = 0;
    struct level level = { f->inline_count, 0 };
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *node = &batch->inlines[f->first_inline + i];
        put_node(w, b, batch, node, level.base);
        if (node->descendants) {
            uint8_t *slot = buffer_room(ends, sizeof level);
            if (!slot) { b->failed = true; return; }
            memcpy(slot, &level, sizeof level);
            ends->size += sizeof level;
            level = (struct level){ i + 1 + node->descendants, batch->parts[node->first_part].start };
        }
        while (i + 1 == level.end) {
            uint8_t *close = buffer_room(b, 1);
            if (!close) return;
            *close = 0;
            b->size++;
            if (!ends->size) break;
            ends->size -= sizeof level;
            memcpy(&level, ends->bytes + ends->size, sizeof level);
        }
    }
    run->inline_bytes += end_part(w, b, part);
    run->nodes += f->inline_count;
}

static void put_call_sites(struct writer *w, struct run *run, const struct csni_batch *batch,
                           const struct csni_function *f) {
    struct buffer *b = &run->records;
    size_t part = begin_part(w, b, CSNI_GSYM_PART_CALL_SITES);
    put_u32(w, b, f->site_count);
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *site = &batch->sites[f->first_site + i];
        uint8_t *p = buffer_room(b, 9);
        if (!p) return;
        csni_put64(p, site->return_off, w->big);
        p[8] = (uint8_t)site->flags;
        b->size += 9;
        put_u32(w, b, site->pattern_count);
        for (uint32_t k = 0; k < site->pattern_count; k++)
            put_u32(w, b, strp_of(w, batch, batch->patterns[site->first_pattern + k]));
    }
    end_part(w, b, part);
    run->sites += f->site_count;
}

static void put_record(struct writer *w, struct run *run, const struct csni_entry *e, struct buffer *ends) {
    const struct csni_batch *batch = &w->model->batches[e->batch];
    const struct csni_function *f = &batch->functions[e->function];
    struct buffer *b = &run->records;
    put_u32(w, b, f->size);
    put_u32(w, b, strp_of(w, batch, f->name));
    if (f->row_count) put_lines(w, run, batch, f);
    if (f->inline_count) put_inlines(w, run, batch, f, ends);
    if (e->child_count) {
        size_t part = begin_part(w, b, CSNI_GSYM_PART_MERGED);
        put_u32(w, b, e->child_count);
        for (uint32_t i = 0; i < e->child_count; i++) {
            put_u32(w, b, 0);
            size_t child = b->size;
            put_record(w, run, &w->model->children[e->first_child + i], ends);
            end_part(w, b, child);
        }
        end_part(w, b, part);
    }
    if (f->site_count) put_call_sites(w, run, batch, f);
    put_u32(w, b, CSNI_GSYM_PART_END);
    put_u32(w, b, 0);
}

static csn_status encode_run(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct writer *w = context;
    struct run *run = &w->runs[item];
    uint32_t first = (uint32_t)item * RUN_LENGTH;
    uint32_t count = w->model->entry_count - first < RUN_LENGTH ? w->model->entry_count - first : RUN_LENGTH;
    run->records.alloc = w->model->alloc;
    run->offsets = csni_alloc_zeroed(w->model->alloc, count, sizeof *run->offsets);
    if (!run->offsets) return csni_fail_memory(err, count * sizeof *run->offsets);
    struct buffer ends = { .alloc = w->model->alloc };
    for (uint32_t i = 0; i < count && !run->records.failed; i++) {
        run->offsets[i] = (uint32_t)run->records.size;
        put_record(w, run, &w->model->entries[first + i], &ends);
        size_t padding = (size_t)(csni_align_up(run->records.size, CSNI_GSYM_ALIGN) - run->records.size);
        uint8_t *p = buffer_room(&run->records, CSNI_GSYM_ALIGN);
        if (!p) break;
        memset(p, 0, padding);
        run->records.size += padding;
        if (run->records.size > UINT32_MAX) break;
    }
    csni_free(w->model->alloc, ends.bytes, ends.room);
    if (run->records.failed) return csni_fail_memory(err, run->records.room);
    if (run->records.size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "GSYM version 1 is limited to 4 GiB, %u functions alone take %zu bytes",
                         count, run->records.size);
    return CSN_OK;
}

/* ---- layout ---- */

static void choose_base(struct writer *w) {
    const struct csni_model *m = w->model;
    uint64_t first = csni_model_function(m, &m->entries[0])->start;
    uint64_t last = csni_model_function(m, &m->entries[m->entry_count - 1])->start;
    w->base = m->has_base_address && m->base_address <= first ? m->base_address : first;
    uint64_t span = last - w->base;
    w->addr_size = span <= UINT8_MAX ? 1 : span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 4 : 8;
}

static csn_status lay_out_strings(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    w->strps = csni_alloc_zeroed(m->alloc, m->string_count, sizeof *w->strps);
    if (!w->strps) return csni_fail_memory(err, m->string_count * sizeof *w->strps);
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->string_count; i++) {
        if (at > UINT32_MAX) break;
        w->strps[i] = (uint32_t)at;
        at += m->strings[i].len + 1;
    }
    w->string_size = at;
    if (at > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, "StringTable", 0, "names need over %llu bytes, GSYM version 1 holds %u",
                         (unsigned long long)at, UINT32_MAX);
    return CSN_OK;
}

static csn_status lay_out(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    if (!m->entry_count) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no functions found, nothing to write");
    if (m->uuid.size > CSNI_GSYM_UUID_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the build id has %zu bytes, GSYM version 1 holds %d", m->uuid.size,
                         CSNI_GSYM_UUID_MAX);
    choose_base(w);
    CSNI_TRY(lay_out_strings(w, err));
    uint64_t addresses = csni_align_up(CSNI_GSYM_HEADER_SIZE, w->addr_size);
    w->infos_off = csni_align_up(addresses + (uint64_t)m->entry_count * w->addr_size, CSNI_GSYM_ALIGN);
    w->files_off = w->infos_off + (uint64_t)m->entry_count * CSNI_GSYM_INFO_OFFSET_SIZE;
    w->strings_off = w->files_off + CSNI_GSYM_FILE_COUNT_SIZE + (uint64_t)m->file_count * CSNI_GSYM_FILE_ENTRY_SIZE;
    w->records_off = csni_align_up(w->strings_off + w->string_size, CSNI_GSYM_ALIGN);
    return CSN_OK;
}

static csn_status check_end(struct writer *w, struct csn_error *err) {
    w->end = w->records_off;
    for (size_t i = 0; i < w->run_count; i++) w->end += w->runs[i].records.size;
    if (w->end > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the index needs %llu bytes, GSYM version 1 holds %u",
                         (unsigned long long)w->end, UINT32_MAX);
    return CSN_OK;
}

/* ---- the file, front to back ---- */

static csn_status write_header(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    uint8_t h[CSNI_GSYM_HEADER_SIZE] = { 0 };
    csni_put32(h + CSNI_GSYM_H_MAGIC, CSNI_GSYM_MAGIC, w->big);
    csni_put16(h + CSNI_GSYM_H_VERSION, CSNI_GSYM_VERSION_1, w->big);
    h[CSNI_GSYM_H_ADDR_OFF_SIZE] = (uint8_t)w->addr_size;
    h[CSNI_GSYM_H_UUID_SIZE] = (uint8_t)m->uuid.size;
    csni_put64(h + CSNI_GSYM_H_BASE_ADDRESS, w->base, w->big);
    csni_put32(h + CSNI_GSYM_H_NUM_ADDRESSES, m->entry_count, w->big);
    csni_put32(h + CSNI_GSYM_H_STRTAB_OFFSET, (uint32_t)w->strings_off, w->big);
    csni_put32(h + CSNI_GSYM_H_STRTAB_SIZE, (uint32_t)w->string_size, w->big);
    if (m->uuid.size) memcpy(h + CSNI_GSYM_H_UUID, m->uuid.ptr, m->uuid.size);
    return w->sink->write(w->sink->context, 0, h, sizeof h, err);
}

/* Everything between the header and the records in one buffer. */
static void fill_tables(const struct writer *w, uint8_t *tables) {
    const struct csni_model *m = w->model;
    uint8_t *p = tables + csni_align_up(CSNI_GSYM_HEADER_SIZE, w->addr_size) - CSNI_GSYM_HEADER_SIZE;
    for (uint32_t i = 0; i < m->entry_count; i++, p += w->addr_size)
        csni_put_sized(p, csni_model_function(m, &m->entries[i])->start - w->base, w->addr_size, w->big);
    p = tables + w->infos_off - CSNI_GSYM_HEADER_SIZE;
    uint64_t record = w->records_off;
    for (uint32_t i = 0; i < m->entry_count; i++, p += CSNI_GSYM_INFO_OFFSET_SIZE) {
        const struct run *run = &w->runs[i / RUN_LENGTH];
        csni_put32(p, (uint32_t)(record + run->offsets[i % RUN_LENGTH]), w->big);
        if (i % RUN_LENGTH == RUN_LENGTH - 1) record += run->records.size;
    }
    csni_put32(p, m->file_count, w->big);
    p += CSNI_GSYM_FILE_COUNT_SIZE;
    for (uint32_t i = 0; i < m->file_count; i++, p += CSNI_GSYM_FILE_ENTRY_SIZE) {
        csni_put32(p, w->strps[m->files[i].directory], w->big);
        csni_put32(p + 4, w->strps[m->files[i].base], w->big);
    }
    for (uint32_t i = 0; i < m->string_count; i++) {
        memcpy(p, m->strings[i].ptr, m->strings[i].len);
        p += m->strings[i].len + 1;
    }
}

static csn_status write_tables(struct writer *w, struct csn_error *err) {
    size_t size = (size_t)(w->records_off - CSNI_GSYM_HEADER_SIZE);
    uint8_t *tables = csni_alloc_zeroed(w->model->alloc, 1, size);
    if (!tables) return csni_fail_memory(err, size);
    fill_tables(w, tables);
    csn_status status = w->sink->write(w->sink->context, CSNI_GSYM_HEADER_SIZE, tables, size, err);
    csni_free(w->model->alloc, tables, size);
    return status;
}

static csn_status write_records(struct writer *w, struct csn_error *err) {
    uint64_t at = w->records_off;
    for (size_t i = 0; i < w->run_count; i++) {
        const struct buffer *b = &w->runs[i].records;
        CSNI_TRY(w->sink->write(w->sink->context, at, b->bytes, b->size, err));
        at += b->size;
    }
    return CSN_OK;
}

static csn_status write_all(struct writer *w, struct csni_pool *pool, struct csn_error *err) {
    CSNI_TRY(lay_out(w, err));
    w->run_count = (w->model->entry_count + (size_t)RUN_LENGTH - 1) / RUN_LENGTH;
    w->runs = csni_alloc_zeroed(w->model->alloc, w->run_count, sizeof *w->runs);
    if (!w->runs) return csni_fail_memory(err, w->run_count * sizeof *w->runs);
    CSNI_TRY(csni_pool_run(pool, w->run_count, encode_run, w, err));
    CSNI_TRY(check_end(w, err));
    CSNI_TRY(w->sink->reserve(w->sink->context, w->end, err));
    CSNI_TRY(write_header(w, err));
    CSNI_TRY(write_tables(w, err));
    return write_records(w, err);
}

static void report_sizes(const struct writer *w, struct csn_convert_report *report) {
    for (size_t i = 0; i < w->run_count; i++) {
        report->line_bytes += w->runs[i].line_bytes;
        report->inline_bytes += w->runs[i].inline_bytes;
        report->rows_written += w->runs[i].rows;
        report->inline_nodes_written += w->runs[i].nodes;
        report->call_sites_written += w->runs[i].sites;
    }
    report->string_bytes = w->string_size;
    report->files_written = w->model->file_count ? w->model->file_count - 1 : 0;
    report->output_bytes = w->end;
}

static void free_runs(struct writer *w) {
    for (size_t i = 0; i < w->run_count && w->runs; i++) {
        uint32_t first = (uint32_t)i * RUN_LENGTH;
        uint32_t count = w->model->entry_count - first < RUN_LENGTH ? w->model->entry_count - first : RUN_LENGTH;
        csni_free(w->model->alloc, w->runs[i].offsets, count * sizeof *w->runs[i].offsets);
        csni_free(w->model->alloc, w->runs[i].records.bytes, w->runs[i].records.room);
    }
    csni_free(w->model->alloc, w->runs, w->run_count * sizeof *w->runs);
}

csn_status csni_gsym_write_v1(const struct csni_model *model, struct csni_pool *pool, const struct csni_sink *sink,
                              struct csn_convert_report *report, struct csn_error *err) {
    struct writer w = { .model = model, .sink = sink, .big = model->big_endian };
    csn_status status = write_all(&w, pool, err);
    if (status >= 0) report_sizes(&w, report);
    free_runs(&w);
    csni_free(model->alloc, w.strps, model->string_count * sizeof *w.strps);
    return status;
}

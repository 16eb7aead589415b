/* Writing GSYM.
 *
 * Records are encoded in runs of functions, each run by one worker into a buffer of its own; when all have been, everything
 * has a known size. gsym_write_file.c writes the file. */
#include "formats/gsym/write/gsym_writer.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/core/prefetch.h"

typedef unsigned long long ull; /* for %llx */

enum { MAX_ESTIMATE = 16 << 20 }; /* bytes of records that room is made for at once */

static const char advice[] = "version 2 (--to gsym-v2) has room";

/* ---- records ---- */

static uint32_t run_size(const struct csni_gsym_writer *w, size_t item) {
    uint32_t left = w->model->entry_count - (uint32_t)item * CSNI_GSYM_RUN_LENGTH;
    return left < CSNI_GSYM_RUN_LENGTH ? left : CSNI_GSYM_RUN_LENGTH;
}

static csn_status check_run(const struct csni_gsym_writer *w, const struct csni_gsym_encoded *encoded, uint32_t count,
                            struct csn_error *err) {
    if (encoded->records.failed) return csni_fail_memory(err, encoded->records.capacity);
    if (encoded->too_long)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "a part of type %u of a function needs %llu bytes, GSYM holds %u",
                         encoded->too_long_type, (ull)encoded->too_long, UINT32_MAX);
    if (csni_gsym_writer_is_v1(w) && encoded->records.size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%u functions alone need %zu bytes, GSYM version 1 holds %u; %s",
                         count, encoded->records.size, UINT32_MAX, advice);
    return CSN_OK;
}

/* About how many bytes the records of these entries take; more rather than less, for memory that is never written costs
 * nothing, and copying does. */
static size_t estimate_run_size(const struct csni_gsym_writer *w, const struct csni_entry *entries, uint32_t count) {
    uint64_t size = (uint64_t)count * 64;
    for (uint32_t i = 0; i < count; i++) {
        const struct csni_function *f = csni_model_function(w->model, &entries[i]);
        size += (uint64_t)f->row_count * 5 + (uint64_t)f->inline_count * 20;
    }
    return size < MAX_ESTIMATE ? (size_t)size : MAX_ESTIMATE;
}

static void fetch_lines(const void *p, size_t size) {
    enum { MOST = 512 };
    csni_prefetch_lines(p, size < MOST ? size : MOST);
}

/* Functions in the order of their addresses are scattered in memory by units: rows and inlined calls of a function are asked
 * for some functions ahead, and ranges, which are found by those calls, when these have come. */
static void fetch_ahead(const struct csni_model *model, const struct csni_entry *entries, uint32_t i, uint32_t count) {
    enum { AHEAD = 3 };
    if (i + AHEAD < count) {
        const struct csni_batch *b = &model->batches[entries[i + AHEAD].batch];
        const struct csni_function *f = &b->functions[entries[i + AHEAD].function];
        if (f->row_count) fetch_lines(&b->rows[f->first_row], f->row_count * sizeof *b->rows);
        if (f->inline_count) fetch_lines(&b->inlines[f->first_inline], f->inline_count * sizeof *b->inlines);
    }
    if (i + 1 < count) {
        const struct csni_batch *b = &model->batches[entries[i + 1].batch];
        const struct csni_function *f = &b->functions[entries[i + 1].function];
        if (!f->inline_count) return;
        fetch_lines(&b->parts[b->inlines[f->first_inline].first_part], f->inline_count * sizeof *b->parts);
    }
}

static csn_status add_run_checkpoints(const struct csni_gsym_writer *w, struct csni_gsym_run *run, size_t item, uint32_t count,
                                      struct csn_error *err) {
    const struct csni_model *m = w->model;
    struct csni_checkpoint_share *share = &run->checkpoints;
    if (!w->checkpoint_shift) return CSN_OK;
    csni_checkpoint_share_init(share, m->alloc, csni_model_function(m, &m->entries[0])->start, w->checkpoint_shift,
                               CSNI_CP_REVISION);
    const struct csni_buffer *records = &run->encoded.records;
    const struct csni_gsym_checkpoint_run source = { m, (uint32_t)(item * CSNI_GSYM_RUN_LENGTH), count,
                                                     { records->bytes, records->size }, run->offsets, w->encoder.strp_size,
                                                     w->encoder.big };
    csni_gsym_add_checkpoints(share, &source);
    return share->failed ? csni_fail_memory(err, share->entries.capacity * sizeof(struct csni_checkpoint)) : CSN_OK;
}

static void put_address(struct csni_gsym_writer *w, size_t idx) {
    uint64_t start = csni_model_function(w->model, &w->model->entries[idx])->start;
    csni_put_sized(w->addresses + idx * w->addr_size, start - w->base, w->addr_size, w->encoder.big);
}

static csn_status encode_gsym_run(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct csni_gsym_writer *w = context;
    struct csni_gsym_run *run = &w->runs[item];
    struct csni_buffer *records = &run->encoded.records;
    uint32_t count = run_size(w, item);
    records->alloc = run->encoded.ends.alloc = w->model->alloc;
    run->offsets = csni_alloc_zeroed(w->model->alloc, count, sizeof *run->offsets);
    if (!run->offsets) return csni_fail_memory(err, count * sizeof *run->offsets);
    const struct csni_entry *entries = &w->model->entries[(size_t)item * CSNI_GSYM_RUN_LENGTH];
    (void)csni_buffer_reserve(records, estimate_run_size(w, entries, count)); /* failure is remembered */
    for (uint32_t i = 0; i < count && !run->encoded.too_long; i++) {
        run->offsets[i] = records->size;
        put_address(w, item * CSNI_GSYM_RUN_LENGTH + i);
        fetch_ahead(w->model, entries, i, count);
        csni_gsym_encode_record(&w->encoder, &entries[i], &run->encoded);
        size_t padding = (size_t)(csni_align_up(records->size, CSNI_GSYM_ALIGN) - records->size);
        uint8_t *p = csni_buffer_reserve(records, CSNI_GSYM_ALIGN);
        if (!p) break;
        memset(p, 0, padding);
        records->size += padding;
        if (csni_gsym_writer_is_v1(w) && records->size > UINT32_MAX) break;
    }
    csni_buffer_deinit(&run->encoded.ends);
    CSNI_TRY(check_run(w, &run->encoded, count, err));
    CSNI_TRY(add_run_checkpoints(w, run, item, count, err));
    return csni_gsym_writer_run_done(w, run, err);
}

/* ---- layout ---- */

static void choose_gsym_base(struct csni_gsym_writer *w) {
    const struct csni_model *m = w->model;
    uint64_t first = csni_model_function(m, &m->entries[0])->start;
    uint64_t last = csni_model_function(m, &m->entries[m->entry_count - 1])->start;
    w->base = csni_image_base_below(&m->image, first, first);
    uint64_t span = last - w->base;
    w->addr_size = span <= UINT8_MAX ? 1 : span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 4 : 8;
}

static csn_status lay_out_strings(struct csni_gsym_writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    w->strps = csni_alloc_zeroed(m->alloc, m->string_count, sizeof *w->strps);
    if (!w->strps) return csni_fail_memory(err, m->string_count * sizeof *w->strps);
    w->encoder.strps = w->strps;
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->string_count; i++) {
        w->strps[i] = at;
        at += (uint64_t)m->strings[i].len + 1;
    }
    w->string_size = m->string_count < 2 ? at + 1 : at; /* a second empty one names functions without names */
    if (csni_gsym_writer_is_v1(w) && at > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, "StringTable", 0, "names need %llu bytes, GSYM version 1 holds %u; %s", (ull)at,
                         UINT32_MAX, advice);
    return CSN_OK;
}

static csn_status lay_out_gsym(struct csni_gsym_writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    if (!m->entry_count) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no functions found, nothing to write");
    if (csni_gsym_writer_is_v1(w) && m->image.uuid.size > CSNI_GSYM_UUID_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the build id has %zu bytes, GSYM version 1 holds %d; %s",
                         m->image.uuid.size, CSNI_GSYM_UUID_MAX, advice);
    choose_gsym_base(w);
    w->addresses = csni_alloc(m->alloc, (size_t)m->entry_count * w->addr_size);
    if (!w->addresses) return csni_fail_memory(err, (size_t)m->entry_count * w->addr_size);
    CSNI_TRY(lay_out_strings(w, err));
    uint64_t front = CSNI_GSYM_HEADER_SIZE;
    if (!csni_gsym_writer_is_v1(w)) {
        w->uuid_off = CSNI_GSYM_2_HEADER_SIZE + csni_gsym_writer_directory_entries(w) * CSNI_GSYM_2_ENTRY_BYTES;
        front = w->uuid_off + m->image.uuid.size;
    }
    w->addresses_off = csni_align_up(front, w->addr_size);
    w->infos_off = csni_align_up(w->addresses_off + (uint64_t)m->entry_count * w->addr_size, w->info_size);
    w->files_off = w->infos_off + (uint64_t)m->entry_count * w->info_size;
    w->checkpoint_shift = w->plain ? 0 : csni_gsym_checkpoint_shift(m);
    w->files_end = w->files_off + CSNI_GSYM_FILE_COUNT_SIZE + (uint64_t)m->file_count * 2 * w->encoder.strp_size;
    return CSN_OK;
}

/* Once the records are encoded: whether there is a sample hangs on their sizes. */
static csn_status lay_out_rest(struct csni_gsym_writer *w, struct csn_error *err) {
    uint64_t line_bytes = 0;
    for (size_t i = 0; i < w->run_count; i++) line_bytes += w->runs[i].encoded.line_bytes;
    csni_gsym_writer_place(w, line_bytes);
    w->records_end = w->records_off;
    for (size_t i = 0; i < w->run_count; i++) w->records_end += w->runs[i].size;
    if (csni_gsym_writer_is_v1(w) && w->records_end > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the index needs %llu bytes, GSYM version 1 holds %u; %s", (ull)w->records_end,
                         UINT32_MAX, advice);
    return csni_gsym_writer_plan_checkpoints(w, err);
}

/* ---- all of it ---- */

/* Here is what can fail for want of room in the version. Of a file, strings and records may have been written by then: the next
 * version has all of them further on, and writes over them. */
static csn_status prepare(struct csni_gsym_writer *w, struct csni_pool *pool, struct csn_error *err) {
    CSNI_TRY(lay_out_gsym(w, err));
    w->run_count = (w->model->entry_count + (size_t)CSNI_GSYM_RUN_LENGTH - 1) / CSNI_GSYM_RUN_LENGTH;
    w->runs = csni_alloc_zeroed(w->model->alloc, w->run_count, sizeof *w->runs);
    if (!w->runs) return csni_fail_memory(err, w->run_count * sizeof *w->runs);
    CSNI_TRY(csni_pool_run(pool, w->run_count, encode_gsym_run, w, err));
    return lay_out_rest(w, err);
}

static void begin_gsym_file(struct csni_gsym_writer *w, const struct csni_model *model, const struct csni_sink *sink,
                            unsigned version, bool plain) {
    bool v1 = version == CSNI_GSYM_VERSION_1;
    *w = (struct csni_gsym_writer){ .model = model, .sink = sink, .version = version, .plain = plain };
    pthread_mutex_init(&w->delivery.lock, NULL);
    w->info_size = v1 ? CSNI_GSYM_INFO_OFFSET_SIZE : CSNI_GSYM_2_INFO_OFFSET_SIZE;
    w->encoder = (struct csni_gsym_encoder){ model, NULL, v1 ? CSNI_GSYM_STRP_SIZE : CSNI_GSYM_2_STRP_SIZE,
                                             model->image.big_endian };
}

static void release_gsym_writer(struct csni_gsym_writer *w) {
    for (size_t i = 0; i < w->run_count && w->runs; i++) {
        csni_free(w->model->alloc, w->runs[i].offsets, run_size(w, i) * sizeof *w->runs[i].offsets);
        csni_gsym_encoded_free(&w->runs[i].encoded);
        csni_checkpoint_share_free(&w->runs[i].checkpoints);
    }
    csni_free(w->model->alloc, w->runs, w->run_count * sizeof *w->runs);
    csni_free(w->model->alloc, w->addresses, w->addresses ? (size_t)w->model->entry_count * w->addr_size : 0);
    csni_free(w->model->alloc, w->strps, w->model->string_count * sizeof *w->strps);
    pthread_mutex_destroy(&w->delivery.lock);
}

static void report_gsym_sizes(const struct csni_gsym_writer *w, struct csn_convert_report *report) {
    for (size_t i = 0; i < w->run_count; i++) {
        const struct csni_gsym_encoded *encoded = &w->runs[i].encoded;
        report->line_bytes += encoded->line_bytes;
        report->inline_bytes += encoded->inline_bytes;
        report->rows_written += encoded->rows;
        report->inline_nodes_written += encoded->nodes;
        report->call_sites_written += encoded->sites;
    }
    report->string_bytes += w->string_size;
    report->files_written += w->model->file_count ? w->model->file_count - 1 : 0;
    report->output_bytes += w->end;
}

csn_status csni_gsym_write(const struct csni_model *model, enum csni_gsym_target target, struct csni_pool *pool,
                           const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csni_gsym_writer w;
    bool plain = (target & CSNI_GSYM_WRITE_PLAIN) != 0;
    unsigned wanted = target & ~(unsigned)CSNI_GSYM_WRITE_PLAIN;
    begin_gsym_file(&w, model, sink, wanted == CSNI_GSYM_WRITE_V2 ? CSNI_GSYM_VERSION_2 : CSNI_GSYM_VERSION_1, plain);
    csn_status status = prepare(&w, pool, err);
    if (status == CSN_E_LIMIT && wanted == CSNI_GSYM_WRITE_ANY) {
        release_gsym_writer(&w);
        begin_gsym_file(&w, model, sink, CSNI_GSYM_VERSION_2, plain);
        status = prepare(&w, pool, err);
    }
    if (status >= 0) status = csni_gsym_writer_finish(&w, pool, err);
    if (status >= 0) report_gsym_sizes(&w, report);
    release_gsym_writer(&w);
    return status;
}

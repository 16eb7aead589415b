/* Writing GSYM.
 *
 * Records are encoded in runs of functions, each run by one worker into a buffer of its own; then everything has a known size,
 * and the file is written front to back. */
#include "gsym/gsym_write.h"

#include "base/checked.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/prefetch.h"
#include "gsym/gsym_layout.h"
#include "gsym/gsym_write_guide.h"
#include "gsym/gsym_write_record.h"

typedef unsigned long long ull; /* for %llx */

enum {
    RUN_LENGTH = 1024,             /* functions */
    MAX_ESTIMATE = 16 << 20,       /* bytes of records that room is made for at once */
    STRING_CHUNK = 256 * 1024      /* bytes of strings that are written at once */
};

static const char advice[] = "version 2 (--to gsym-v2) has room";

/* The encoded records of one run of functions. */
struct run {
    struct csni_gsym_encoded encoded;
    uint64_t *offsets; /* of each function's record within them */
};

struct writer {
    const struct csni_model *model;
    const struct csni_sink *sink;
    unsigned version;
    struct csni_gsym_encoder encoder;
    uint64_t base;
    unsigned addr_size, info_size;
    uint64_t *strps; /* by string number of the model */
    uint64_t string_size;
    uint64_t uuid_off, addresses_off, infos_off, files_off, files_end, strings_off, records_off, end;
    struct csni_gsym_guide_plan guide; /* between files and strings */
    struct run *runs;
    size_t run_count;
};

static bool is_v1(const struct writer *w) { return w->version == CSNI_GSYM_VERSION_1; }

/* ---- records ---- */

static uint32_t run_size(const struct writer *w, size_t item) {
    uint32_t left = w->model->entry_count - (uint32_t)item * RUN_LENGTH;
    return left < RUN_LENGTH ? left : RUN_LENGTH;
}

static csn_status check_run(const struct writer *w, const struct csni_gsym_encoded *encoded, uint32_t count,
                            struct csn_error *err) {
    if (encoded->records.failed) return csni_fail_memory(err, encoded->records.room);
    if (encoded->too_long)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "a part of type %u of a function needs %llu bytes, GSYM holds %u",
                         encoded->too_long_type, (ull)encoded->too_long, UINT32_MAX);
    if (is_v1(w) && encoded->records.size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%u functions alone need %zu bytes, GSYM version 1 holds %u; %s",
                         count, encoded->records.size, UINT32_MAX, advice);
    return CSN_OK;
}

/* About how many bytes the records of these entries take; more rather than less, for memory that is never written costs
 * nothing, and copying does. */
static size_t estimate(const struct writer *w, const struct csni_entry *entries, uint32_t count) {
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

static csn_status encode_run(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct writer *w = context;
    struct run *run = &w->runs[item];
    struct csni_buffer *records = &run->encoded.records;
    uint32_t count = run_size(w, item);
    records->alloc = run->encoded.ends.alloc = w->model->alloc;
    run->offsets = csni_alloc_zeroed(w->model->alloc, count, sizeof *run->offsets);
    if (!run->offsets) return csni_fail_memory(err, count * sizeof *run->offsets);
    const struct csni_entry *entries = &w->model->entries[(size_t)item * RUN_LENGTH];
    (void)csni_buffer_room(records, estimate(w, entries, count)); /* failure is remembered */
    for (uint32_t i = 0; i < count && !run->encoded.too_long; i++) {
        run->offsets[i] = records->size;
        fetch_ahead(w->model, entries, i, count);
        csni_gsym_encode_record(&w->encoder, &entries[i], &run->encoded);
        size_t padding = (size_t)(csni_align_up(records->size, CSNI_GSYM_ALIGN) - records->size);
        uint8_t *p = csni_buffer_room(records, CSNI_GSYM_ALIGN);
        if (!p) break;
        memset(p, 0, padding);
        records->size += padding;
        if (is_v1(w) && records->size > UINT32_MAX) break;
    }
    csni_buffer_deinit(&run->encoded.ends);
    return check_run(w, &run->encoded, count, err);
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
    w->encoder.strps = w->strps;
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->string_count; i++) {
        w->strps[i] = at;
        at += (uint64_t)m->strings[i].len + 1;
    }
    w->string_size = at;
    if (is_v1(w) && at > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, "StringTable", 0, "names need %llu bytes, GSYM version 1 holds %u; %s", (ull)at,
                         UINT32_MAX, advice);
    return CSN_OK;
}

/* The directory of version 2 with its end. */
static unsigned directory_entries(const struct writer *w) {
    return w->model->uuid.size ? CSNI_GSYM_SECTION_KNOWN : CSNI_GSYM_SECTION_KNOWN - 1;
}

static csn_status lay_out(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    if (!m->entry_count) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no functions found, nothing to write");
    if (is_v1(w) && m->uuid.size > CSNI_GSYM_UUID_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the build id has %zu bytes, GSYM version 1 holds %d; %s",
                         m->uuid.size, CSNI_GSYM_UUID_MAX, advice);
    choose_base(w);
    CSNI_TRY(lay_out_strings(w, err));
    uint64_t front = CSNI_GSYM_HEADER_SIZE;
    if (!is_v1(w)) {
        w->uuid_off = CSNI_GSYM_2_HEADER_SIZE + directory_entries(w) * CSNI_GSYM_2_ENTRY_BYTES;
        front = w->uuid_off + m->uuid.size;
    }
    w->addresses_off = csni_align_up(front, w->addr_size);
    w->infos_off = csni_align_up(w->addresses_off + (uint64_t)m->entry_count * w->addr_size, w->info_size);
    w->files_off = w->infos_off + (uint64_t)m->entry_count * w->info_size;
    w->files_end = w->files_off + CSNI_GSYM_FILE_COUNT_SIZE + (uint64_t)m->file_count * 2 * w->encoder.strp_size;
    return CSN_OK;
}

/* Once the records are encoded: whether there is a guide hangs on their sizes. */
static csn_status lay_out_rest(struct writer *w, struct csn_error *err) {
    uint64_t line_bytes = 0;
    for (size_t i = 0; i < w->run_count; i++) line_bytes += w->runs[i].encoded.line_bytes;
    w->guide = csni_gsym_plan_guide(w->files_end, w->model->entry_count, w->addr_size, line_bytes);
    w->strings_off = w->guide.end;
    w->records_off = csni_align_up(w->strings_off + w->string_size, CSNI_GSYM_ALIGN);
    w->end = w->records_off;
    for (size_t i = 0; i < w->run_count; i++) w->end += w->runs[i].encoded.records.size;
    if (is_v1(w) && w->end > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the index needs %llu bytes, GSYM version 1 holds %u; %s", (ull)w->end,
                         UINT32_MAX, advice);
    return CSN_OK;
}

/* ---- the file, front to back ---- */

static void fill_header(const struct writer *w, uint8_t *h) {
    const struct csni_model *m = w->model;
    bool big = w->encoder.big;
    csni_put32(h + CSNI_GSYM_H_MAGIC, CSNI_GSYM_MAGIC, big);
    csni_put16(h + CSNI_GSYM_H_VERSION, (uint16_t)w->version, big);
    h[CSNI_GSYM_H_ADDR_OFF_SIZE] = (uint8_t)w->addr_size;
    csni_put64(h + CSNI_GSYM_H_BASE_ADDRESS, w->base, big);
    csni_put32(h + CSNI_GSYM_H_NUM_ADDRESSES, m->entry_count, big);
    uint8_t *uuid = h + CSNI_GSYM_H_UUID;
    if (is_v1(w)) {
        h[CSNI_GSYM_H_UUID_SIZE] = (uint8_t)m->uuid.size;
        csni_put32(h + CSNI_GSYM_H_STRTAB_OFFSET, (uint32_t)w->strings_off, big);
        csni_put32(h + CSNI_GSYM_H_STRTAB_SIZE, (uint32_t)w->string_size, big);
    } else {
        uuid = h + w->uuid_off;
    }
    if (m->uuid.size) memcpy(uuid, m->uuid.ptr, m->uuid.size);
}

/* The sections in the order in which the reference writer has them; the end is zero already. */
static void fill_directory(const struct writer *w, uint8_t *p) {
    const struct csni_model *m = w->model;
    bool big = w->encoder.big;
    const struct { uint32_t type; uint64_t offset, size; } entries[] = {
        { CSNI_GSYM_SECTION_UUID, w->uuid_off, m->uuid.size },
        { CSNI_GSYM_SECTION_ADDRESSES, w->addresses_off, (uint64_t)m->entry_count * w->addr_size },
        { CSNI_GSYM_SECTION_INFOS, w->infos_off, (uint64_t)m->entry_count * w->info_size },
        { CSNI_GSYM_SECTION_FILES, w->files_off, w->files_end - w->files_off },
        { CSNI_GSYM_SECTION_STRINGS, w->strings_off, w->string_size },
        { CSNI_GSYM_SECTION_RECORDS, w->records_off, w->end - w->records_off },
    };
    for (size_t i = m->uuid.size ? 0 : 1; i < sizeof entries / sizeof *entries; i++, p += CSNI_GSYM_2_ENTRY_BYTES) {
        csni_put32(p + CSNI_GSYM_2_ENTRY_TYPE, entries[i].type, big);
        csni_put64(p + CSNI_GSYM_2_ENTRY_OFFSET, entries[i].offset, big);
        csni_put64(p + CSNI_GSYM_2_ENTRY_SIZE, entries[i].size, big);
    }
}

static uint8_t *put_strp(const struct writer *w, uint8_t *p, uint32_t string) {
    csni_put_sized(p, w->strps[string], w->encoder.strp_size, w->encoder.big);
    return p + w->encoder.strp_size;
}

/* Everything in front of the strings. */
static void fill_tables(const struct writer *w, uint8_t *file) {
    const struct csni_model *m = w->model;
    fill_header(w, file);
    if (!is_v1(w)) fill_directory(w, file + CSNI_GSYM_2_HEADER_SIZE);
    uint8_t *p = file + w->addresses_off;
    for (uint32_t i = 0; i < m->entry_count; i++, p += w->addr_size)
        csni_put_sized(p, csni_model_function(m, &m->entries[i])->start - w->base, w->addr_size, w->encoder.big);
    p = file + w->infos_off;
    uint64_t record = is_v1(w) ? w->records_off : 0;
    for (uint32_t i = 0; i < m->entry_count; i++, p += w->info_size) {
        const struct run *run = &w->runs[i / RUN_LENGTH];
        csni_put_sized(p, record + run->offsets[i % RUN_LENGTH], w->info_size, w->encoder.big);
        if (i % RUN_LENGTH == RUN_LENGTH - 1) record += run->encoded.records.size;
    }
    csni_put32(p, m->file_count, w->encoder.big);
    p += CSNI_GSYM_FILE_COUNT_SIZE;
    for (uint32_t i = 0; i < m->file_count; i++) {
        p = put_strp(w, p, m->files[i].directory);
        p = put_strp(w, p, m->files[i].base);
    }
    csni_gsym_fill_guide(&w->guide, file, file + w->addresses_off, m->entry_count, w->addr_size, w->encoder.big);
}

static csn_status write_tables(struct writer *w, struct csn_error *err) {
    if (w->strings_off > SIZE_MAX) return csni_fail_memory(err, w->strings_off);
    size_t size = (size_t)w->strings_off;
    uint8_t *tables = csni_alloc_zeroed(w->model->alloc, 1, size);
    if (!tables) return csni_fail_memory(err, size);
    fill_tables(w, tables);
    csn_status status = w->sink->write(w->sink->context, 0, tables, size, err);
    csni_free(w->model->alloc, tables, size);
    return status;
}

/* Strings on their way to the sink. */
struct string_writer {
    const struct csni_sink *sink;
    uint64_t at;      /* file offset of the chunk */
    uint8_t *chunk;
    size_t size;
};

static csn_status flush_strings(struct string_writer *s, struct csn_error *err) {
    CSNI_TRY(s->sink->write(s->sink->context, s->at, s->chunk, s->size, err));
    s->at += s->size;
    s->size = 0;
    return CSN_OK;
}

static csn_status write_string(struct string_writer *s, struct csn_str text, struct csn_error *err) {
    if (text.len >= STRING_CHUNK - s->size) CSNI_TRY(flush_strings(s, err));
    if (text.len >= STRING_CHUNK) {
        CSNI_TRY(s->sink->write(s->sink->context, s->at, text.ptr, text.len, err));
        s->at += text.len;
    } else if (text.len) {
        memcpy(s->chunk + s->size, text.ptr, text.len);
        s->size += text.len;
    }
    s->chunk[s->size++] = 0;
    return CSN_OK;
}

/* With the padding behind them. */
static csn_status write_strings(struct writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    struct string_writer s = { w->sink, w->strings_off, csni_alloc(m->alloc, STRING_CHUNK + CSNI_GSYM_ALIGN), 0 };
    if (!s.chunk) return csni_fail_memory(err, STRING_CHUNK + CSNI_GSYM_ALIGN);
    csn_status status = CSN_OK;
    for (uint32_t i = 0; i < m->string_count && status >= 0; i++) status = write_string(&s, m->strings[i], err);
    if (status >= 0) {
        size_t padding = (size_t)(w->records_off - w->strings_off - w->string_size);
        memset(s.chunk + s.size, 0, padding);
        s.size += padding;
        status = flush_strings(&s, err);
    }
    csni_free(m->alloc, s.chunk, STRING_CHUNK + CSNI_GSYM_ALIGN);
    return status;
}

static csn_status write_records(struct writer *w, struct csn_error *err) {
    uint64_t at = w->records_off;
    for (size_t i = 0; i < w->run_count; i++) {
        const struct csni_buffer *b = &w->runs[i].encoded.records;
        CSNI_TRY(w->sink->write(w->sink->context, at, b->bytes, b->size, err));
        at += b->size;
    }
    return CSN_OK;
}

static csn_status write_file(struct writer *w, struct csn_error *err) {
    CSNI_TRY(w->sink->reserve(w->sink->context, w->end, err));
    CSNI_TRY(write_tables(w, err));
    CSNI_TRY(write_strings(w, err));
    return write_records(w, err);
}

/* ---- all of it ---- */

/* Everything that can fail for want of room in the version comes before the first byte is written. */
static csn_status prepare(struct writer *w, struct csni_pool *pool, struct csn_error *err) {
    CSNI_TRY(lay_out(w, err));
    w->run_count = (w->model->entry_count + (size_t)RUN_LENGTH - 1) / RUN_LENGTH;
    w->runs = csni_alloc_zeroed(w->model->alloc, w->run_count, sizeof *w->runs);
    if (!w->runs) return csni_fail_memory(err, w->run_count * sizeof *w->runs);
    CSNI_TRY(csni_pool_run(pool, w->run_count, encode_run, w, err));
    return lay_out_rest(w, err);
}

static struct writer begin(const struct csni_model *model, const struct csni_sink *sink, unsigned version) {
    bool v1 = version == CSNI_GSYM_VERSION_1;
    struct writer w = { .model = model, .sink = sink, .version = version };
    w.info_size = v1 ? CSNI_GSYM_INFO_OFFSET_SIZE : CSNI_GSYM_2_INFO_OFFSET_SIZE;
    w.encoder = (struct csni_gsym_encoder){ model, NULL, v1 ? CSNI_GSYM_STRP_SIZE : CSNI_GSYM_2_STRP_SIZE,
                                            model->big_endian };
    return w;
}

static void release(struct writer *w) {
    for (size_t i = 0; i < w->run_count && w->runs; i++) {
        csni_free(w->model->alloc, w->runs[i].offsets, run_size(w, i) * sizeof *w->runs[i].offsets);
        csni_gsym_encoded_free(&w->runs[i].encoded);
    }
    csni_free(w->model->alloc, w->runs, w->run_count * sizeof *w->runs);
    csni_free(w->model->alloc, w->strps, w->model->string_count * sizeof *w->strps);
}

static void report_sizes(const struct writer *w, struct csn_convert_report *report) {
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
    struct writer w = begin(model, sink, target == CSNI_GSYM_WRITE_V2 ? CSNI_GSYM_VERSION_2 : CSNI_GSYM_VERSION_1);
    csn_status status = prepare(&w, pool, err);
    if (status == CSN_E_LIMIT && target == CSNI_GSYM_WRITE_ANY) {
        release(&w);
        w = begin(model, sink, CSNI_GSYM_VERSION_2);
        status = prepare(&w, pool, err);
    }
    if (status >= 0) status = write_file(&w, err);
    if (status >= 0) report_sizes(&w, report);
    release(&w);
    return status;
}

/* Writing the file: tables, strings, records.
 *
 * To a file on a disk, strings and records go while others are still encoded: one worker writes then, as kernels let one write to
 * a file at a time. Tables come last, as they tell where each record is. */
#include "formats/gsym/write/gsym_writer.h"

#include <string.h>

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"

enum { STRING_CHUNK = 256 * 1024 }; /* bytes of strings that are written at once */

/* ---- places ---- */

void csni_gsym_writer_place(struct csni_gsym_writer *w, uint64_t line_bytes) {
    uint64_t head = w->checkpoint_shift ? CSNI_CP_HEAD : 0;
    w->sample = csni_gsym_plan_sample(w->files_end, head, w->model->entry_count, w->addr_size, line_bytes);
    uint64_t members = csni_gsym_members_size(&w->model->image);
    w->strings_off = members ? csni_align_up(w->sample.end, 8) + members : w->sample.end;
    /* The sample ends where the members begin. */
    if (members && w->sample.shift) w->sample.offset += w->strings_off - members - w->sample.end;
    if (members && w->sample.shift) w->sample.end = w->strings_off - members;
    w->records_off = csni_align_up(w->strings_off + w->string_size, CSNI_GSYM_ALIGN);
}

/* ---- tables ---- */

static void fill_header(const struct csni_gsym_writer *w, uint8_t *h) {
    const struct csni_model *m = w->model;
    bool big = w->encoder.big;
    csni_put32(h + CSNI_GSYM_H_MAGIC, CSNI_GSYM_MAGIC, big);
    csni_put16(h + CSNI_GSYM_H_VERSION, (uint16_t)w->version, big);
    h[CSNI_GSYM_H_ADDR_OFF_SIZE] = (uint8_t)w->addr_size;
    csni_put64(h + CSNI_GSYM_H_BASE_ADDRESS, w->base, big);
    csni_put32(h + CSNI_GSYM_H_NUM_ADDRESSES, m->entry_count, big);
    uint8_t *uuid = h + CSNI_GSYM_H_UUID;
    if (csni_gsym_writer_is_v1(w)) {
        h[CSNI_GSYM_H_UUID_SIZE] = (uint8_t)m->image.uuid.size;
        csni_put32(h + CSNI_GSYM_H_STRTAB_OFFSET, (uint32_t)w->strings_off, big);
        csni_put32(h + CSNI_GSYM_H_STRTAB_SIZE, (uint32_t)w->string_size, big);
    } else {
        uuid = h + w->uuid_off;
    }
    if (m->image.uuid.size) memcpy(uuid, m->image.uuid.ptr, m->image.uuid.size);
}

/* The sections in the order in which the reference writer has them; the end is zero already. */
static void fill_directory(const struct csni_gsym_writer *w, uint8_t *p) {
    const struct csni_model *m = w->model;
    bool big = w->encoder.big;
    const struct { uint32_t type; uint64_t offset, size; } entries[] = {
        { CSNI_GSYM_SECTION_UUID, w->uuid_off, m->image.uuid.size },
        { CSNI_GSYM_SECTION_ADDRESSES, w->addresses_off, (uint64_t)m->entry_count * w->addr_size },
        { CSNI_GSYM_SECTION_INFOS, w->infos_off, (uint64_t)m->entry_count * w->info_size },
        { CSNI_GSYM_SECTION_FILES, w->files_off, w->files_end - w->files_off },
        { CSNI_GSYM_SECTION_STRINGS, w->strings_off, w->string_size },
        { CSNI_GSYM_SECTION_RECORDS, w->records_off, w->records_end - w->records_off },
    };
    const size_t first = m->image.uuid.size ? 0 : 1;
    for (size_t i = first; i < sizeof entries / sizeof *entries; i++, p += CSNI_GSYM_2_ENTRY_BYTES) {
        csni_put32(p + CSNI_GSYM_2_ENTRY_TYPE, entries[i].type, big);
        csni_put64(p + CSNI_GSYM_2_ENTRY_OFFSET, entries[i].offset, big);
        csni_put64(p + CSNI_GSYM_2_ENTRY_SIZE, entries[i].size, big);
    }
}

static uint8_t *put_strp(const struct csni_gsym_writer *w, uint8_t *p, uint32_t string) {
    csni_put_sized(p, w->strps[string], w->encoder.strp_size, w->encoder.big);
    return p + w->encoder.strp_size;
}

/* Where the head of the checkpoints ends. */
static uint64_t head_end(const struct csni_gsym_writer *w) {
    return w->sample.shift ? w->sample.offset : w->strings_off - csni_gsym_members_size(&w->model->image);
}

/* Everything before the strings. */
static void fill_tables(const struct csni_gsym_writer *w, uint8_t *file) {
    const struct csni_model *m = w->model;
    fill_header(w, file);
    if (!csni_gsym_writer_is_v1(w)) fill_directory(w, file + CSNI_GSYM_2_HEADER_SIZE);
    memcpy(file + w->addresses_off, w->addresses, (size_t)m->entry_count * w->addr_size);
    uint8_t *p = file + w->infos_off;
    uint64_t record = csni_gsym_writer_is_v1(w) ? w->records_off : 0;
    for (uint32_t i = 0; i < m->entry_count; i++, p += w->info_size) {
        const struct csni_gsym_run *run = &w->runs[i / CSNI_GSYM_RUN_LENGTH];
        csni_put_sized(p, record + run->offsets[i % CSNI_GSYM_RUN_LENGTH], w->info_size, w->encoder.big);
        if (i % CSNI_GSYM_RUN_LENGTH == CSNI_GSYM_RUN_LENGTH - 1) record += run->size;
    }
    csni_put32(p, m->file_count, w->encoder.big);
    p += CSNI_GSYM_FILE_COUNT_SIZE;
    for (uint32_t i = 0; i < m->file_count; i++) {
        p = put_strp(w, p, m->files[i].directory);
        p = put_strp(w, p, m->files[i].base);
    }
    if (w->checkpoint_shift) csni_checkpoint_put_head(&w->checkpoints, w->records_end, file + head_end(w) - CSNI_CP_HEAD);
    csni_gsym_fill_members(&m->image, file + w->strings_off - csni_gsym_members_size(&m->image), w->encoder.big);
    csni_gsym_fill_sample(&w->sample, file, file + w->addresses_off, m->entry_count, w->addr_size, w->encoder.big);
}

static csn_status write_tables(struct csni_gsym_writer *w, struct csn_error *err) {
    if (w->strings_off > SIZE_MAX) return csni_fail_memory(err, w->strings_off);
    size_t size = (size_t)w->strings_off;
    uint8_t *tables = csni_alloc_zeroed(w->model->alloc, 1, size);
    if (!tables) return csni_fail_memory(err, size);
    fill_tables(w, tables);
    csn_status status = w->sink->write(w->sink->context, 0, tables, size, err);
    csni_free(w->model->alloc, tables, size);
    return status;
}

/* ---- strings ---- */

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

/* With the padding after them. */
static csn_status write_strings(struct csni_gsym_writer *w, struct csn_error *err) {
    const struct csni_model *m = w->model;
    struct string_writer s = { w->sink, w->strings_off, csni_alloc(m->alloc, STRING_CHUNK + CSNI_GSYM_ALIGN), 0 };
    if (!s.chunk) return csni_fail_memory(err, STRING_CHUNK + CSNI_GSYM_ALIGN);
    csn_status status = CSN_OK;
    for (uint32_t i = 0; i < m->string_count && status >= 0; i++) status = write_string(&s, m->strings[i], err);
    if (status >= 0 && m->string_count < 2) s.chunk[s.size++] = 0;
    if (status >= 0) {
        size_t padding = (size_t)(w->records_off - w->strings_off - w->string_size);
        memset(s.chunk + s.size, 0, padding);
        s.size += padding;
        status = flush_strings(&s, err);
    }
    csni_free(m->alloc, s.chunk, STRING_CHUNK + CSNI_GSYM_ALIGN);
    return status;
}

/* ---- records ---- */

/* The next run's, which then need no memory any more. */
static csn_status write_run(struct csni_gsym_writer *w, struct csn_error *err) {
    struct csni_gsym_delivery *d = &w->delivery;
    struct csni_gsym_run *run = &w->runs[d->next_run++];
    CSNI_TRY(w->sink->write(w->sink->context, d->at, run->encoded.records.bytes, (size_t)run->size, err));
    d->at += run->size;
    csni_buffer_deinit(&run->encoded.records);
    return CSN_OK;
}

/* Strings and records, as far as they are there. With the lock, which is open while bytes are written. */
static csn_status deliver(struct csni_gsym_writer *w, struct csn_error *err) {
    struct csni_gsym_delivery *d = &w->delivery;
    csn_status status = CSN_OK;
    while (status >= 0 && (!d->strings_done || (d->next_run < w->run_count && w->runs[d->next_run].encoded_all))) {
        pthread_mutex_unlock(&d->lock);
        if (d->strings_done) {
            status = write_run(w, err);
        } else {
            status = write_strings(w, err);
            d->strings_done = true;
            d->at = w->records_off;
        }
        pthread_mutex_lock(&d->lock);
    }
    return status;
}

/* Once there are line tables enough for a sample, more of them change nothing. */
static bool place_early(struct csni_gsym_writer *w) {
    struct csni_gsym_delivery *d = &w->delivery;
    if (d->placed) return true;
    csni_gsym_writer_place(w, d->line_bytes);
    d->placed = w->sample.shift != 0;
    return d->placed;
}

csn_status csni_gsym_writer_run_done(struct csni_gsym_writer *w, struct csni_gsym_run *run, struct csn_error *err) {
    struct csni_gsym_delivery *d = &w->delivery;
    csn_status status = CSN_OK;
    pthread_mutex_lock(&d->lock);
    run->size = run->encoded.records.size;
    run->encoded_all = true;
    d->line_bytes += run->encoded.line_bytes;
    if (w->sink->takes_any_order && !d->busy && place_early(w)) {
        d->busy = true;
        status = deliver(w, err);
        d->busy = status < 0; /* nobody goes on after a failure */
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* ---- checkpoints ---- */

csn_status csni_gsym_writer_plan_checkpoints(struct csni_gsym_writer *w, struct csn_error *err) {
    w->end = w->records_end;
    if (!w->checkpoint_shift) return CSN_OK;
    const struct csni_checkpoint_share **shares = csni_alloc(w->model->alloc, w->run_count * sizeof *shares);
    if (!shares) return csni_fail_memory(err, w->run_count * sizeof *shares);
    uint64_t at = csni_gsym_writer_is_v1(w) ? w->records_off : 0;
    uint32_t entries = 0, calls = 0;
    for (size_t i = 0; i < w->run_count; i++) {
        struct csni_gsym_run *run = &w->runs[i];
        run->checkpoints.records_at = at;
        run->first_checkpoint = entries;
        run->first_call = calls;
        at += run->size;
        entries += (uint32_t)run->checkpoints.entries.count;
        calls += (uint32_t)run->checkpoints.calls.count;
        shares[i] = &run->checkpoints;
    }
    csni_checkpoint_plan(&w->checkpoints, shares, w->run_count);
    w->end += w->checkpoints.size;
    csni_free(w->model->alloc, shares, w->run_count * sizeof *shares);
    return CSN_OK;
}

/* The table on its way. */
struct checkpoint_filling {
    const struct csni_gsym_writer *w;
    uint8_t *table;
};

static csn_status fill_checkpoints(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)err;
    const struct checkpoint_filling *filling = context;
    const struct csni_gsym_run *run = &filling->w->runs[item];
    csni_checkpoint_put(&filling->w->checkpoints, &run->checkpoints, run->first_checkpoint, run->first_call, filling->table);
    return CSN_OK;
}

static csn_status write_checkpoints(struct csni_gsym_writer *w, struct csni_pool *pool, struct csn_error *err) {
    if (!w->checkpoint_shift) return CSN_OK;
    size_t size = (size_t)w->checkpoints.size;
    struct checkpoint_filling filling = { w, csni_alloc_zeroed(w->model->alloc, 1, size) };
    if (!filling.table) return csni_fail_memory(err, size);
    csn_status status = csni_pool_run(pool, w->run_count, fill_checkpoints, &filling, err);
    if (status >= 0) status = w->sink->write(w->sink->context, w->records_end, filling.table, size, err);
    csni_free(w->model->alloc, filling.table, size);
    return status;
}

csn_status csni_gsym_writer_finish(struct csni_gsym_writer *w, struct csni_pool *pool, struct csn_error *err) {
    CSNI_TRY(w->sink->reserve(w->sink->context, w->end, err));
    CSNI_TRY(write_tables(w, err));
    pthread_mutex_lock(&w->delivery.lock);
    csn_status status = deliver(w, err);
    pthread_mutex_unlock(&w->delivery.lock);
    return status < 0 ? status : write_checkpoints(w, pool, err);
}

/* A Breakpad symbol file as a source: one batch per chunk. */
#include "base/core/fail.h"
#include "formats/breakpad/breakpad.h"
#include "convert/sources/source.h"

struct reading {
    struct csni_conversion *conversion;
    struct csni_breakpad breakpad;
    struct csni_breakpad_worker *workers; /* one per worker */
    struct csni_batch *batches;           /* by chunk */
};

static csn_status read_chunk(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct reading *r = context;
    struct csni_conversion *c = r->conversion;
    uint32_t index = (uint32_t)item + 1;
    const struct csni_breakpad_chunk *chunk = &r->breakpad.chunks.items[index];
    struct csni_batch_writer *w = &c->writers[worker];
    csni_batch_begin(w, &c->arenas[worker]);
    CSNI_TRY(csni_breakpad_read_chunk(&r->breakpad, &r->workers[worker], index, w, err));
    CSNI_TRY(csni_batch_finish(w, &r->batches[index], err));
    return csni_progress(c, "symbols", (uint64_t)(chunk->end - chunk->begin), err);
}

static csn_status read_chunks(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    for (uint32_t i = 0; i < c->workers; i++) csni_breakpad_worker_init(&r->workers[i], c->alloc);
    csn_status status = csni_pool_run(c->pool, r->breakpad.chunks.count - 1, read_chunk, r, err);
    for (uint32_t i = 0; i < c->workers; i++) csni_breakpad_worker_deinit(&r->workers[i]);
    return status;
}

static csn_status read_breakpad_symbols(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    struct csni_batch_writer *w = &c->writers[0];
    csni_batch_begin(w, &c->arenas[0]);
    bool keeps_aliases = c->options.merged_functions != CSN_MERGE_NONE;
    CSNI_TRY(csni_breakpad_drop_overlaps(&r->breakpad, r->batches, keeps_aliases, w, err));
    CSNI_TRY(csni_breakpad_read_symbols(&r->breakpad, r->batches, w, err));
    return csni_batch_finish(w, &r->batches[0], err);
}

static csn_status describe_image(struct csni_conversion *c, const struct csni_breakpad *b, struct csn_error *err) {
    uint8_t *uuid = csni_arena_alloc(&c->arenas[0], CSNI_BREAKPAD_UUID_MAX);
    if (!uuid) return csni_fail_memory(err, CSNI_BREAKPAD_UUID_MAX);
    c->image.uuid = (struct csni_span){ uuid, csni_breakpad_uuid(b->os, b->id, b->code_id, uuid) };
    c->image.identity = (struct csni_identity){ .os = b->os, .arch = b->arch, .name = b->name };
    c->image.has_base_address = c->image.from_first_byte = true;
    for (size_t i = 0; i < b->chunks.count; i++)
        for (size_t k = 0; k < b->chunks.items[i].extras.count; k++)
            if (!csni_vec_push(&c->image.extras, b->chunks.items[i].extras.items[k]))
                return csni_fail_memory(err, sizeof *c->image.extras.items);
    return CSN_OK;
}

static csn_status read_breakpad_file(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    CSNI_TRY(csni_breakpad_open(&r->breakpad, c->input.file, 0, c->alloc, err));
    uint32_t chunk_count = (uint32_t)r->breakpad.chunks.count;
    r->batches = csni_add_batches(c, chunk_count);
    r->workers = csni_alloc_zeroed(c->alloc, c->workers, sizeof *r->workers);
    if (!r->batches || !r->workers) return csni_fail_memory(err, chunk_count * sizeof *r->batches);
    c->progress_total += c->input.file.size;
    CSNI_TRY(read_chunks(r, err));
    bool again;
    CSNI_TRY(csni_breakpad_gather_definitions(&r->breakpad, &again, err));
    if (again) {
        c->progress_total += c->input.file.size;
        CSNI_TRY(read_chunks(r, err));
    }
    CSNI_TRY(read_breakpad_symbols(r, err));
    for (uint32_t i = 0; i < chunk_count; i++) c->report->functions_from_symbols += r->batches[i].function_count;
    return describe_image(c, &r->breakpad, err);
}

csn_status csni_source_breakpad(struct csni_conversion *c, struct csn_error *err) {
    struct reading *r = csni_alloc_zeroed(c->alloc, 1, sizeof *r);
    if (!r) return csni_fail_memory(err, sizeof *r);
    r->conversion = c;
    csn_status status = read_breakpad_file(r, err);
    csni_breakpad_close(&r->breakpad);
    csni_free(c->alloc, r->workers, c->workers * sizeof *r->workers);
    csni_free(c->alloc, r, sizeof *r);
    return status;
}

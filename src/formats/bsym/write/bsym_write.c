/* Writing BSYM: the strings are encoded by the pool's workers, then everything gets its place in the order of Symbian's own
 * tool, and the file is written front to back. */
#include "formats/bsym/write/bsym_write.h"

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "formats/bsym/write/bsym_write_private.h"

enum { RUN_LENGTH = 8192 }; /* strings */

/* Strings as they are stored, length bytes included. */
struct run {
    uint8_t *bytes;
    size_t size, capacity;
};

struct writer {
    struct csni_bsym_plan plan;
    struct csni_bsym_tokens tokens;
    struct run *runs;
    size_t run_count;
    const uint8_t **stored;  /* by piece */
    uint32_t *sizes;         /* by piece */
    uint32_t *offsets;       /* by piece; 0: not placed yet */
    uint64_t end;            /* of what has been placed */
    uint32_t token_offsets[CSNI_BSYM_TOKEN_MAX];
};

/* ---- encoding ---- */

static size_t put_bsym_length(uint8_t *out, size_t length) {
    if (length < CSNI_BSYM_LONG) {
        out[0] = (uint8_t)length;
        return 1;
    }
    out[0] = CSNI_BSYM_LONG;
    csni_put16(out + 1, (uint16_t)length, true);
    return 3;
}

static csn_status encode_bsym_run(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct writer *w = context;
    struct run *run = &w->runs[item];
    const struct csni_distinct_string *pieces = w->plan.pieces.items.items;
    size_t first = item * RUN_LENGTH, end = first + RUN_LENGTH, longest = 0;
    if (end > w->plan.pieces.items.count) end = w->plan.pieces.items.count;
    for (size_t i = first; i < end; i++) {
        run->capacity += pieces[i].text.len + 3;
        if (pieces[i].text.len > longest) longest = pieces[i].text.len;
    }
    run->bytes = csni_alloc(w->plan.alloc, run->capacity);
    uint32_t *costs = csni_alloc_zeroed(w->plan.alloc, longest + 1, sizeof *costs);
    uint8_t *one = csni_alloc(w->plan.alloc, longest + 1);
    bool good = run->bytes && costs && one;
    for (size_t i = first; good && i < end; i++) {
        size_t size = csni_bsym_encode(&w->tokens, pieces[i].text, one, costs);
        size_t head = put_bsym_length(run->bytes + run->size, size);
        memcpy(run->bytes + run->size + head, one, size);
        w->stored[i] = run->bytes + run->size;
        w->sizes[i] = (uint32_t)(head + size);
        run->size += head + size;
    }
    csni_free(w->plan.alloc, costs, (longest + 1) * sizeof *costs);
    csni_free(w->plan.alloc, one, longest + 1);
    return good ? CSN_OK : csni_fail_memory(err, run->capacity);
}

static csn_status choose_tokens(struct writer *w, const struct csni_bsym_write_options *options, struct csn_error *err) {
    struct csni_bsym_plan *plan = &w->plan;
    bool none = plan->version < CSNI_BSYM_2_0;
    if (!none && options->own_tokens)
        return csni_bsym_tokens_choose(&w->tokens, plan->pieces.items.items, plan->pieces.items.count, plan->alloc, &plan->arena,
                                       err);
    csni_bsym_tokens_set(&w->tokens, options->tokens, none ? 0 : options->token_count);
    return CSN_OK;
}

static csn_status encode_bsym(struct writer *w, struct csni_pool *pool, struct csn_error *err) {
    size_t count = w->plan.pieces.items.count;
    w->run_count = (count + RUN_LENGTH - 1) / RUN_LENGTH;
    w->runs = csni_alloc_zeroed(w->plan.alloc, w->run_count, sizeof *w->runs);
    w->stored = csni_alloc_zeroed(w->plan.alloc, count, sizeof *w->stored);
    w->sizes = csni_alloc_zeroed(w->plan.alloc, count, sizeof *w->sizes);
    w->offsets = csni_alloc_zeroed(w->plan.alloc, count, sizeof *w->offsets);
    if (!w->runs || !w->stored || !w->sizes || !w->offsets) return csni_fail_memory(err, count * sizeof *w->stored);
    return csni_pool_run(pool, w->run_count, encode_bsym_run, w, err);
}

/* ---- places ---- */

static unsigned bsym_header_size(uint32_t version) {
    return version >= CSNI_BSYM_2_2 ? 28 : version >= CSNI_BSYM_2_1 ? 24 : version >= CSNI_BSYM_2_0 ? 20 : 16;
}

static void place(struct writer *w, uint32_t piece) {
    if (w->offsets[piece]) return;
    w->offsets[piece] = (uint32_t)w->end;
    w->end += w->sizes[piece];
}

static csn_status place_all(struct writer *w, uint64_t strings, struct csn_error *err) {
    struct csni_bsym_plan *plan = &w->plan;
    w->end = strings;
    for (size_t i = 0; i < plan->segments.count; i++) {
        struct csni_bsym_out_segment *s = &plan->segments.items[i];
        place(w, s->name);
        if (s->prefix_count) s->prefix_offset = (uint32_t)w->end;
        w->end += 4 * (uint64_t)s->prefix_count;
        for (uint32_t k = 0; k < s->prefix_count; k++) place(w, plan->prefixes.items[s->first_prefix + k]);
        for (uint32_t k = 0; k < s->count; k++) place(w, plan->symbols.items[s->first + k].name);
    }
    for (uint32_t i = 0; i < w->tokens.count; i++) {
        w->token_offsets[i] = (uint32_t)w->end;
        w->end += w->tokens.items[i].len + (w->tokens.items[i].len < CSNI_BSYM_LONG ? 1 : 3);
    }
    for (uint32_t i = 0; i < plan->rename_count; i++) place(w, plan->rename_pieces[i]);
    if (w->end < UINT32_MAX) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the file would have %llu bytes, BSYM has at most %u",
                     (unsigned long long)w->end, UINT32_MAX - 1);
}

/* ---- output ---- */

enum { OUT_ROOM = 1 << 16 };

struct out {
    const struct csni_sink *sink;
    uint64_t written;
    size_t used;
    csn_status status;
    struct csn_error *err;
    uint8_t bytes[OUT_ROOM];
};

static void flush(struct out *o) {
    if (o->status >= 0 && o->used) o->status = o->sink->write(o->sink->context, o->written, o->bytes, o->used, o->err);
    o->written += o->used;
    o->used = 0;
}

static void put_bsym_bytes(struct out *o, const void *bytes, size_t size) {
    const uint8_t *p = bytes;
    while (size) {
        if (o->used == OUT_ROOM) flush(o);
        size_t n = size < OUT_ROOM - o->used ? size : OUT_ROOM - o->used;
        memcpy(o->bytes + o->used, p, n);
        o->used += n;
        p += n;
        size -= n;
    }
}

static void put_word(struct out *o, uint64_t value) {
    uint8_t bytes[4];
    csni_put32(bytes, (uint32_t)value, true);
    put_bsym_bytes(o, bytes, sizeof bytes);
}

/* A string where it was placed: at the end of what has been written, the first time. */
static void put_piece(struct writer *w, struct out *o, uint32_t piece) {
    if (w->offsets[piece] == o->written + o->used) put_bsym_bytes(o, w->stored[piece], w->sizes[piece]);
}

static void put_bsym_sections(struct writer *w, struct out *o) {
    struct csni_bsym_plan *plan = &w->plan;
    put_word(o, plan->segments.count);
    for (size_t i = 0; i < plan->segments.count; i++) {
        const struct csni_bsym_out_segment *s = &plan->segments.items[i];
        put_word(o, s->address);
        put_word(o, s->count);
        put_word(o, w->offsets[s->name]);
        put_word(o, s->first);
        put_word(o, s->prefix_offset);
    }
    put_word(o, plan->symbols.count);
    for (size_t i = 0; i < plan->symbols.count; i++) {
        const struct csni_bsym_out_symbol *y = &plan->symbols.items[i];
        put_word(o, y->address);
        put_word(o, (uint32_t)y->prefix << 16 | y->length);
        put_word(o, w->offsets[y->name]);
    }
    if (plan->version >= CSNI_BSYM_2_0) {
        put_word(o, w->tokens.count);
        for (uint32_t i = 0; i < w->tokens.count; i++) put_word(o, w->token_offsets[i]);
    }
    if (plan->version >= CSNI_BSYM_2_1) {
        put_word(o, plan->rename_count);
        for (uint32_t i = 0; i < plan->rename_count; i++) {
            put_word(o, plan->rename_segments[i]);
            put_word(o, w->offsets[plan->rename_pieces[i]]);
        }
    }
}

static void put_strings(struct writer *w, struct out *o) {
    struct csni_bsym_plan *plan = &w->plan;
    for (size_t i = 0; i < plan->segments.count; i++) {
        const struct csni_bsym_out_segment *s = &plan->segments.items[i];
        put_piece(w, o, s->name);
        for (uint32_t k = 0; k < s->prefix_count; k++) put_word(o, w->offsets[plan->prefixes.items[s->first_prefix + k]]);
        for (uint32_t k = 0; k < s->prefix_count; k++) put_piece(w, o, plan->prefixes.items[s->first_prefix + k]);
        for (uint32_t k = 0; k < s->count; k++) put_piece(w, o, plan->symbols.items[s->first + k].name);
    }
    for (uint32_t i = 0; i < w->tokens.count; i++) {
        uint8_t head[3];
        put_bsym_bytes(o, head, put_bsym_length(head, w->tokens.items[i].len));
        put_bsym_bytes(o, w->tokens.items[i].ptr, w->tokens.items[i].len);
    }
    for (uint32_t i = 0; i < plan->rename_count; i++) put_piece(w, o, plan->rename_pieces[i]);
}

static csn_status put_bsym_file(struct writer *w, const struct csni_sink *sink, struct csn_error *err) {
    struct csni_bsym_plan *plan = &w->plan;
    uint64_t segments = bsym_header_size(plan->version);
    uint64_t symbols = segments + 4 + plan->segments.count * (uint64_t)CSNI_BSYM_SEGMENT_SIZE;
    uint64_t tokens = symbols + 4 + plan->symbols.count * (uint64_t)CSNI_BSYM_SYMBOL_SIZE;
    uint64_t renames = plan->version >= CSNI_BSYM_2_0 ? tokens + 4 + 4 * (uint64_t)w->tokens.count : tokens;
    uint64_t strings = plan->version >= CSNI_BSYM_2_1 ? renames + 4 + plan->rename_count * (uint64_t)CSNI_BSYM_RENAME_SIZE
                                                      : renames;
    CSNI_TRY(place_all(w, strings, err));
    CSNI_TRY(sink->reserve(sink->context, w->end, err));
    struct out *o = csni_alloc_zeroed(plan->alloc, 1, sizeof *o);
    if (!o) return csni_fail_memory(err, sizeof *o);
    o->sink = sink;
    o->err = err;
    put_bsym_bytes(o, "BSYM", CSNI_BSYM_MAGIC_SIZE);
    put_word(o, plan->version);
    put_word(o, segments);
    put_word(o, symbols);
    if (plan->version >= CSNI_BSYM_2_0) put_word(o, tokens);
    if (plan->version >= CSNI_BSYM_2_1) put_word(o, renames);
    if (plan->version >= CSNI_BSYM_2_2) put_word(o, plan->model->image.checksum);
    put_bsym_sections(w, o);
    put_strings(w, o);
    flush(o);
    csn_status status = o->status;
    csni_free(plan->alloc, o, sizeof *o);
    plan->report->string_bytes = w->end - strings;
    plan->report->output_bytes = w->end;
    return status;
}

/* ---- the whole ---- */

bool csni_bsym_is_written(uint32_t version) {
    return version == CSNI_BSYM_1_0 || (version >= CSNI_BSYM_2_0 && version <= CSNI_BSYM_2_3);
}

static csn_status write_plan(struct writer *w, const struct csni_bsym_write_options *options, struct csni_pool *pool,
                             const struct csni_sink *sink, struct csn_error *err) {
    CSNI_TRY(csni_bsym_plan_symbols(&w->plan, err));
    CSNI_TRY(csni_bsym_plan_names(&w->plan, err));
    CSNI_TRY(choose_tokens(w, options, err));
    CSNI_TRY(encode_bsym(w, pool, err));
    return put_bsym_file(w, sink, err);
}

static void release_bsym_writer(struct writer *w) {
    const struct csn_allocator *alloc = w->plan.alloc;
    size_t count = w->plan.pieces.items.count;
    for (size_t i = 0; w->runs && i < w->run_count; i++) csni_free(alloc, w->runs[i].bytes, w->runs[i].capacity);
    csni_free(alloc, w->runs, w->run_count * sizeof *w->runs);
    csni_free(alloc, w->stored, count * sizeof *w->stored);
    csni_free(alloc, w->sizes, count * sizeof *w->sizes);
    csni_free(alloc, w->offsets, count * sizeof *w->offsets);
    csni_vec_deinit(&w->plan.segments);
    csni_vec_deinit(&w->plan.symbols);
    csni_vec_deinit(&w->plan.prefixes);
    csni_distinct_strings_deinit(&w->plan.pieces);
    csni_arena_deinit(&w->plan.arena);
}

csn_status csni_bsym_write(const struct csni_model *model, const struct csni_bsym_write_options *options,
                           struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                           struct csn_error *err) {
    const struct csn_allocator *alloc = model->alloc;
    struct writer *w = csni_alloc_zeroed(alloc, 1, sizeof *w);
    if (!w) return csni_fail_memory(err, sizeof *w);
    struct csni_bsym_plan *plan = &w->plan;
    plan->model = model;
    plan->alloc = plan->segments.alloc = plan->symbols.alloc = plan->prefixes.alloc = plan->pieces.items.alloc = alloc;
    plan->report = report;
    plan->all_prefixes = options->all_prefixes;
    plan->version = options->version ? options->version
                    : model->image.rename_count || model->image.checksum ? (uint32_t)CSNI_BSYM_2_3
                                                                   : (uint32_t)CSNI_BSYM_2_1;
    csni_arena_init(&plan->arena, alloc, 4096);
    csn_status status = write_plan(w, options, pool, sink, err);
    release_bsym_writer(w);
    csni_free(alloc, w, sizeof *w);
    return status;
}

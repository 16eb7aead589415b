/* Single addresses: each distinct one is looked up once, module by module in ascending order. */
#include "arrow/arrow_session.h"
#include "base/core/fail.h"
#include "base/core/sort.h"

enum { BATCH = 1024, BATCH_FRAMES = 8 * BATCH + CSN_INLINE_DEPTH_MAX + 1 };

struct query {
    uint64_t addr;
    uint32_t module, row;
};

/* Distinct queries of one module, looked up together. */
struct lookups {
    struct csni_arrow_session *session;
    uint64_t addrs[BATCH];
    struct csn_batch_answer answers[BATCH];
    struct csn_frame_ref refs[BATCH_FRAMES];
    struct csni_arrow_answer results[BATCH];
};

static bool query_before(const void *context, const void *a, const void *b) {
    const struct query *x = a, *y = b;
    (void)context;
    return x->module != y->module ? x->module < y->module : x->addr < y->addr;
}

static csn_status add_batch_answer(struct lookups *l, uint32_t module, const struct csn_batch_answer *answer,
                                   struct csni_arrow_answer *out, struct csn_error *err) {
    struct csni_arrow_session *s = l->session;
    const struct csn_index *index = s->modules.list.items[module].index;
    uint64_t adjust = s->options->flags & CSN_ARROW_RETURN_ADDRESSES ? 1 : 0;
    *out = (struct csni_arrow_answer){ .first = (uint32_t)s->frames.rows.count, .reason = CSNI_ARROW_NULL };
    for (size_t k = 0; answer->status == CSN_OK && k < answer->found.frame_count; k++) {
        struct csn_frame_ref ref = l->refs[answer->first_frame + k];
        ref.offset += adjust;
        CSNI_TRY(csni_arrow_frames_add_ref(&s->frames, module, index, &ref, err));
    }
    out->count = (uint32_t)(s->frames.rows.count - out->first);
    if (answer->status < 0) return csni_arrow_frames_reason(&s->frames, "the record of the function is damaged", &out->reason, err);
    if (answer->found.reason == CSN_REASON_COMPLETE) return CSN_OK;
    return csni_arrow_frames_reason(&s->frames, csn_reason_text(answer->found.reason), &out->reason, err);
}

static csn_status run_lookups(struct lookups *l, uint32_t module, size_t count, struct csn_error *err) {
    const struct csn_index *index = l->session->modules.list.items[module].index;
    for (size_t first = 0; first < count;) {
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        batch.addrs = l->addrs + first;
        batch.count = count - first;
        batch.answers = l->answers;
        batch.frames = l->refs;
        batch.frame_capacity = BATCH_FRAMES;
        size_t done;
        CSNI_TRY(csn_index_lookup_batch(index, &batch, &done, err));
        for (size_t k = 0; k < done; k++) CSNI_TRY(add_batch_answer(l, module, &l->answers[k], &l->results[first + k], err));
        first += done;
    }
    return CSN_OK;
}

/* Sorted queries [at, count), as far as they are of one module and their distinct addresses fit a batch. Gives where it ended. */
static csn_status answer_group(struct lookups *l, const struct query *queries, size_t at, size_t count,
                               struct csni_arrow_answer *answers, size_t *end, struct csn_error *err) {
    uint32_t module = queries[at].module;
    uint64_t adjust = l->session->options->flags & CSN_ARROW_RETURN_ADDRESSES ? 1 : 0;
    size_t distinct = 0, k = at;
    for (; k < count && queries[k].module == module; k++) {
        bool is_new = k == at || queries[k].addr != queries[k - 1].addr;
        if (is_new && distinct == BATCH) break;
        if (is_new) l->addrs[distinct++] = queries[k].addr - (queries[k].addr ? adjust : 0);
    }
    *end = k;
    CSNI_TRY(run_lookups(l, module, distinct, err));
    for (size_t i = at, number = 0; i < k; i++) {
        if (i > at && queries[i].addr != queries[i - 1].addr) number++;
        answers[queries[i].row] = l->results[number];
    }
    return CSN_OK;
}

/* Answers what needs no lookup, and gathers the rest, in order. */
static size_t gather_queries(struct csni_arrow_session *s, struct query *queries, struct csni_arrow_answer *answers) {
    size_t count = 0;
    for (int64_t row = 0; row < s->input.rows; row++) {
        uint64_t addr = 0;
        if (csni_arrow_answer_unasked(s, row, &addr, &answers[row])) continue;
        queries[count++] = (struct query){ addr, s->module_of[row], (uint32_t)row };
    }
    return count;
}

static csn_status answer_queries(struct csni_arrow_session *s, struct query *queries, struct csni_arrow_answer *answers,
                                 struct csn_error *err) {
    size_t rows = (size_t)s->input.rows, count = gather_queries(s, queries, answers);
    if (!csni_is_sorted(queries, count, sizeof *queries, query_before, NULL))
        csni_merge_sort(queries, queries + rows, count, sizeof *queries, query_before, NULL);
    struct lookups *l = csni_alloc(s->alloc, sizeof *l);
    if (!l) return csni_fail_memory(err, sizeof *l);
    l->session = s;
    csn_status status = CSN_OK;
    for (size_t at = 0; at < count && status >= 0;) status = answer_group(l, queries, at, count, answers, &at, err);
    csni_free(s->alloc, l, sizeof *l);
    return status;
}

static csn_status make_columns(struct csni_arrow_session *s, const struct csni_arrow_answer *answers,
                               struct ArrowSchema *out_schema, struct ArrowArray *out, struct csn_error *err) {
    const struct csni_arrow_type type = {
        .format = "+s", .name = "", .child_count = 2,
        .children = { &csni_arrow_frames_type[s->with_dictionary], &csni_arrow_reason_type[s->with_dictionary] },
    };
    CSNI_TRY(csni_arrow_array_make(s->alloc, s->input.rows, 1, (size_t[]){ 0 }, out, err));
    csni_arrow_array_add_children(out, 2);
    csn_status status = csni_arrow_frames_array(&s->frames, answers, s->input.rows, s->with_dictionary, out->children[0], err);
    if (status >= 0)
        status = csni_arrow_reasons_array(&s->frames, answers, s->input.rows, s->with_dictionary, out->children[1], err);
    if (status >= 0) status = csni_arrow_schema_make(&type, s->alloc, out_schema, err);
    if (status < 0) csni_arrow_array_release(out);
    return status;
}

csn_status csni_arrow_answer_addresses(struct csni_arrow_session *s, struct ArrowSchema *out_schema, struct ArrowArray *out_array,
                                       struct csn_error *err) {
    if (s->input.rows > INT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%lld rows, at most %d: pass smaller batches",
                         (long long)s->input.rows, INT32_MAX);
    size_t rows = (size_t)s->input.rows;
    size_t query_bytes = 2 * (rows + 1) * sizeof(struct query), answer_bytes = (rows + 1) * sizeof(struct csni_arrow_answer);
    struct query *queries = csni_alloc(s->alloc, query_bytes);
    struct csni_arrow_answer *answers = csni_alloc(s->alloc, answer_bytes);
    csn_status status = queries && answers ? answer_queries(s, queries, answers, err)
                                           : csni_fail_memory(err, query_bytes + answer_bytes);
    if (status >= 0) status = make_columns(s, answers, out_schema, out_array, err);
    csni_free(s->alloc, queries, query_bytes);
    csni_free(s->alloc, answers, answer_bytes);
    return status;
}

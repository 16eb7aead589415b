/* Whole stacks: merged functions are told apart by their callers. */
#include <string.h>

#include "arrow/arrow_session.h"
#include "base/core/fail.h"

/* What the frames of all stacks have, one after the other. */
struct stack_columns {
    struct csni_arrow_session *session;
    CSNI_VEC(struct csni_arrow_answer) answers;
    CSNI_VEC(uint32_t) chosen, confidence; /* numbers of strings, or CSNI_ARROW_NULL */
    CSNI_VEC(uint32_t) candidates;         /* of all frames */
    CSNI_VEC(int32_t) candidate_ends;      /* by frame; -1: null */
    CSNI_VEC(struct csn_stack_frame) stack;
    struct csni_arrow_strings confidences;
};

static const char *const confidence_names[] = { "none", "low", "medium", "high", "certain" };

static csn_status add_candidates(struct stack_columns *c, const struct csn_stack_answer *a, struct csn_error *err) {
    struct csni_arrow_session *s = c->session;
    for (uint32_t k = 0; a->candidate_count > 1 && k < a->candidate_count; k++) {
        uint32_t number;
        CSNI_TRY(csni_arrow_frames_name(&s->frames, a->candidates[k], &number, err));
        if (c->candidates.count == INT32_MAX)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "more than %d candidates: pass smaller batches", INT32_MAX);
        if (!csni_vec_push(&c->candidates, number)) return csni_fail_memory(err, sizeof number);
    }
    int32_t end = a->candidate_count > 1 ? (int32_t)c->candidates.count : -1;
    return csni_vec_push(&c->candidate_ends, end) ? CSN_OK : csni_fail_memory(err, sizeof end);
}

static csn_status add_choice(struct stack_columns *c, const struct csn_stack_answer *a, struct csn_error *err) {
    uint32_t chosen = CSNI_ARROW_NULL, confidence;
    bool is_merged = a->candidate_count > 1 && a->chosen != CSN_NOT_CHOSEN;
    uint32_t level = a->confidence < sizeof confidence_names / sizeof *confidence_names ? a->confidence : 0;
    struct csn_str name = { confidence_names[level], strlen(confidence_names[level]) };
    if (is_merged) CSNI_TRY(csni_arrow_frames_name(&c->session->frames, a->candidates[a->chosen], &chosen, err));
    CSNI_TRY(csni_arrow_strings_add(&c->confidences, name, &confidence, err));
    if (!csni_vec_push(&c->chosen, chosen) || !csni_vec_push(&c->confidence, confidence))
        return csni_fail_memory(err, sizeof chosen);
    return add_candidates(c, a, err);
}

static csn_status reason_of(struct csni_arrow_session *s, const struct csn_stack_answer *a, uint32_t *out, struct csn_error *err) {
    if (a->status < 0)
        return csni_arrow_frames_reason(&s->frames, a->error ? a->error : "the record of the function is damaged", out,
                                        err);
    if (a->reason == CSN_REASON_COMPLETE) return CSN_OK;
    return csni_arrow_frames_reason(&s->frames, csn_reason_text(a->reason), out, err);
}

/* Frame `k` of the input, for which the symbolicator gave `a`. */
static csn_status add_stack_frame(struct stack_columns *c, int64_t k, const struct csn_stack_answer *a, struct csn_error *err) {
    struct csni_arrow_session *s = c->session;
    struct csni_arrow_answer answer;
    uint64_t addr = 0;
    if (!csni_arrow_answer_unasked(s, k, &addr, &answer)) {
        uint64_t generation = csn_symbolicator_generation(s->symbolicator);
        CSNI_TRY(csni_arrow_frames_add_all(&s->frames, generation, a->frames, a->frame_count, &answer.first, err));
        answer.count = a->frame_count;
        CSNI_TRY(reason_of(s, a, &answer.reason, err));
    }
    if (!csni_vec_push(&c->answers, answer)) return csni_fail_memory(err, sizeof answer);
    return add_choice(c, a, err);
}

static csn_status answer_stack(struct stack_columns *c, int64_t start, int64_t end, struct csn_error *err) {
    struct csni_arrow_session *s = c->session;
    c->stack.count = 0;
    for (int64_t k = start; k < end; k++) {
        struct csn_stack_frame frame = { .module = s->module_of[k], .flags = CSN_STACK_ADDRESS };
        if (!csni_arrow_input_address(&s->input, k, &frame.pc)) frame.module = 0;
        if (k == start && s->options->flags & CSN_ARROW_RETURN_ADDRESSES) frame.flags |= CSN_STACK_RETURN;
        if (!csni_vec_push(&c->stack, frame)) return csni_fail_memory(err, sizeof frame);
    }
    const struct csn_stack_answer *answers = NULL;
    CSNI_TRY(csn_symbolicator_answer(s->symbolicator, c->stack.items, c->stack.count, &answers, err));
    for (int64_t k = start; k < end; k++) CSNI_TRY(add_stack_frame(c, k, &answers[k - start], err));
    return CSN_OK;
}

/* ---- columns ---- */

static const struct csni_arrow_type string_item = { .format = "u", .name = "item" };
static const struct csni_arrow_type chosen_type = { .format = "u", .name = "chosen", .is_nullable = true };
static const struct csni_arrow_type level_dictionary = { .format = "u", .name = "" };
static const struct csni_arrow_type confidence_type[2] = {
    { .format = "u", .name = "confidence" },
    { .format = "i", .name = "confidence", .dictionary = &level_dictionary },
};
static const struct csni_arrow_type candidates_type = { .format = "+l", .name = "candidates", .is_nullable = true, .child_count = 1,
                                                        .children = { &string_item } };

enum { FRAMES, REASON, CHOSEN, CONFIDENCE, CANDIDATES, STACK_FIELDS };

static csn_status make_candidates(const struct stack_columns *c, struct ArrowArray *out, struct csn_error *err) {
    int64_t count = (int64_t)c->answers.count;
    size_t sizes[] = { csni_arrow_bits_size(count) + 1, ((size_t)count + 1) * sizeof(int32_t) };
    CSNI_TRY(csni_arrow_array_make(c->session->alloc, count, 2, sizes, out, err));
    uint8_t *bits = csni_arrow_buffer(out, 0);
    int32_t *offsets = csni_arrow_buffer(out, 1);
    for (int64_t k = 0; k < count; k++) {
        bool is_null = c->candidate_ends.items[k] < 0;
        offsets[k + 1] = is_null ? offsets[k] : c->candidate_ends.items[k];
        if (is_null) out->null_count++;
        else csni_arrow_set_bit(bits, k);
    }
    csni_arrow_array_add_children(out, 1);
    return csni_arrow_strings_array(&c->session->frames.functions, c->candidates.items, (int64_t)c->candidates.count, false,
                                    out->children[0], err);
}

static csn_status make_frame_struct(const struct stack_columns *c, struct ArrowArray *item, struct csn_error *err) {
    const struct csni_arrow_session *s = c->session;
    int64_t count = (int64_t)c->answers.count;
    CSNI_TRY(csni_arrow_array_make(s->alloc, count, 1, (size_t[]){ 0 }, item, err));
    csni_arrow_array_add_children(item, STACK_FIELDS);
    struct ArrowArray **to = item->children;
    CSNI_TRY(csni_arrow_frames_array(&s->frames, c->answers.items, count, s->with_dictionary, to[FRAMES], err));
    CSNI_TRY(csni_arrow_reasons_array(&s->frames, c->answers.items, count, s->with_dictionary, to[REASON], err));
    CSNI_TRY(csni_arrow_strings_array(&s->frames.functions, c->chosen.items, count, false, to[CHOSEN], err));
    CSNI_TRY(csni_arrow_strings_array(&c->confidences, c->confidence.items, count, s->with_dictionary, to[CONFIDENCE], err));
    return make_candidates(c, to[CANDIDATES], err);
}

static csn_status make_stack_schema(const struct csni_arrow_session *s, struct ArrowSchema *out, struct csn_error *err) {
    const struct csni_arrow_type item = {
        .format = "+s", .name = "item", .child_count = STACK_FIELDS,
        .children = { &csni_arrow_frames_type[s->with_dictionary], &csni_arrow_reason_type[s->with_dictionary], &chosen_type,
                      &confidence_type[s->with_dictionary], &candidates_type },
    };
    const struct csni_arrow_type type = {
        .format = "+l", .name = "", .is_nullable = true, .child_count = 1, .children = { &item }
    };
    return csni_arrow_schema_make(&type, s->alloc, out, err);
}

/* All stacks into `offsets` and the columns; a null stack stays null. */
static csn_status answer_all(struct stack_columns *c, struct ArrowArray *lists, struct csn_error *err) {
    struct csni_arrow_session *s = c->session;
    uint8_t *bits = csni_arrow_buffer(lists, 0);
    int32_t *offsets = csni_arrow_buffer(lists, 1);
    for (int64_t row = 0; row < s->input.rows; row++) {
        int64_t start = 0, end = 0;
        bool is_valid = csni_arrow_input_list(&s->input, row, &start, &end);
        if ((uint64_t)(end - start) + c->answers.count > INT32_MAX)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "more than %d frames: pass smaller batches", INT32_MAX);
        if (is_valid) csni_arrow_set_bit(bits, row);
        else lists->null_count++;
        if (end > start) CSNI_TRY(answer_stack(c, start, end, err));
        offsets[row + 1] = (int32_t)c->answers.count;
    }
    return CSN_OK;
}

static csn_status make_stacks(struct stack_columns *c, struct ArrowSchema *out_schema, struct ArrowArray *out,
                              struct csn_error *err) {
    const struct csni_arrow_session *s = c->session;
    size_t rows = (size_t)s->input.rows;
    CSNI_TRY(csn_symbolicator_set_modules(s->symbolicator, s->modules.list.items, s->modules.list.count, err));
    CSNI_TRY(csni_arrow_array_make(s->alloc, s->input.rows, 2,
                                   (size_t[]){ csni_arrow_bits_size(s->input.rows) + 1, (rows + 1) * sizeof(int32_t) }, out, err));
    csni_arrow_array_add_children(out, 1);
    csn_status status = answer_all(c, out, err);
    if (status >= 0) status = make_frame_struct(c, out->children[0], err);
    if (status >= 0) status = make_stack_schema(s, out_schema, err);
    if (status < 0) csni_arrow_array_release(out);
    return status;
}

csn_status csni_arrow_answer_stacks(struct csni_arrow_session *s, struct ArrowSchema *out_schema, struct ArrowArray *out_array,
                                    struct csn_error *err) {
    const struct csn_allocator *alloc = s->alloc;
    struct stack_columns c = { .session = s, .answers = { .alloc = alloc }, .chosen = { .alloc = alloc },
                               .confidence = { .alloc = alloc }, .candidates = { .alloc = alloc },
                               .candidate_ends = { .alloc = alloc }, .stack = { .alloc = alloc } };
    csni_arrow_strings_init(&c.confidences, alloc);
    csn_status status = make_stacks(&c, out_schema, out_array, err);
    csni_vec_deinit(&c.answers);
    csni_vec_deinit(&c.chosen);
    csni_vec_deinit(&c.confidence);
    csni_vec_deinit(&c.candidates);
    csni_vec_deinit(&c.candidate_ends);
    csni_vec_deinit(&c.stack);
    csni_arrow_strings_deinit(&c.confidences);
    return status;
}

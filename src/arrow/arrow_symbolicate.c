/* csn_symbolicate_arrow(): one batch from beginning to end. */
#include "arrow/arrow_session.h"
#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "symbolicate/symbolicator.h"

void csn_arrow_options_init(struct csn_arrow_options *options) { *options = (struct csn_arrow_options)CSN_ARROW_OPTIONS_INIT; }

static csn_status find_modules(struct csni_arrow_session *s, struct csn_error *err) {
    size_t size = ((size_t)s->input.count + 1) * sizeof *s->module_of;
    s->module_of = csni_alloc(s->alloc, size);
    if (!s->module_of) return csni_fail_memory(err, size);
    if (s->input.has_ids && !s->options->index)
        return csni_arrow_modules_resolve(&s->modules, &s->input.ids, s->input.count, s->module_of, err);
    CSNI_TRY(csni_arrow_modules_add(&s->modules, s->options->index, &s->index_module, err));
    for (int64_t k = 0; k < s->input.count; k++) s->module_of[k] = s->index_module;
    return CSN_OK;
}

static csn_status index_reason(struct csni_arrow_session *s, uint32_t module, uint32_t *out, struct csn_error *err) {
    enum { TEXT_SIZE = 1024 };
    const char *missing = csn_reason_text(CSN_REASON_NO_INDEX), *refusal = csni_arrow_modules_refusal(&s->modules, module);
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%s; refused: %s", missing, refusal ? refusal : "");
    return csni_arrow_frames_reason(&s->frames, refusal ? text : missing, out, err);
}

static csn_status make_index_reasons(struct csni_arrow_session *s, struct csn_error *err) {
    for (uint32_t module = 0; module < s->modules.list.count; module++) {
        uint32_t reason = CSNI_ARROW_NULL;
        if (!s->modules.list.items[module].index) CSNI_TRY(index_reason(s, module, &reason, err));
        if (!csni_vec_push(&s->no_index, reason)) return csni_fail_memory(err, sizeof reason);
    }
    return CSN_OK;
}

static csn_status prepare(struct csni_arrow_session *s, const struct ArrowSchema *schema, const struct ArrowArray *array,
                          struct csn_error *err) {
    const struct csn_arrow_options *o = s->options;
    if (o->flags & ~(uint32_t)(CSN_ARROW_RETURN_ADDRESSES | CSN_ARROW_PLAIN_STRINGS))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x", o->flags);
    if (!o->store == !o->index) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "need either a store or an index");
    CSNI_TRY(csni_arrow_modules_init(&s->modules, s->alloc, o->store, err));
    CSNI_TRY(csni_arrow_frames_init(&s->frames, o, s->alloc, err));
    CSNI_TRY(csni_arrow_input_open(schema, array, o, &s->input, err));
    if (s->input.is_list && !s->symbolicator) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "stacks need a symbolicator");
    CSNI_TRY(csni_arrow_frames_reason(&s->frames, "the address is null", &s->no_address, err));
    CSNI_TRY(csni_arrow_frames_reason(&s->frames, "the address has more than 64 bits", &s->wide_address, err));
    CSNI_TRY(csni_arrow_frames_reason(&s->frames, "the module is null", &s->no_module, err));
    if (o->store && csn_store_is_full(o->store)) csn_store_trim(o->store);
    /* Another symbolicator's batch may have closed indexes that this one knows answers of. */
    if (s->symbolicator) csni_symbolicator_follow(s->symbolicator, o->store, o->store ? csn_store_generation(o->store) : 0);
    CSNI_TRY(find_modules(s, err));
    return make_index_reasons(s, err);
}

static void finish(struct csni_arrow_session *s) {
    csni_free(s->alloc, s->module_of, ((size_t)s->input.count + 1) * sizeof *s->module_of);
    csni_arrow_frames_deinit(&s->frames);
    csni_vec_deinit(&s->no_index);
    csni_arrow_modules_deinit(&s->modules);
}

csn_status csn_symbolicate_arrow(struct csn_symbolicator *symbolicator, struct ArrowSchema *schema, struct ArrowArray *array,
                                 const struct csn_arrow_options *options, struct ArrowSchema *out_schema,
                                 struct ArrowArray *out_array, struct csn_error *err) {
    struct csn_arrow_options known = CSN_ARROW_OPTIONS_INIT;
    *out_schema = (struct ArrowSchema){ 0 };
    *out_array = (struct ArrowArray){ 0 };
    csn_status status = options ? csni_options_copy(&known, sizeof known, options, options->struct_size, err) : CSN_OK;
    if (status >= 0) status = csni_check_reserved("csn_arrow_options.reserved", known.reserved, err);
    struct csni_arrow_session s = { .options = &known, .symbolicator = symbolicator,
                                    .alloc = csni_allocator_or_default(known.allocator),
                                    .with_dictionary = !(known.flags & CSN_ARROW_PLAIN_STRINGS) };
    s.no_index.alloc = s.alloc;
    if (status >= 0) status = prepare(&s, schema, array, err);
    if (status >= 0) status = s.input.is_list ? csni_arrow_answer_stacks(&s, out_schema, out_array, err)
                                              : csni_arrow_answer_addresses(&s, out_schema, out_array, err);
    finish(&s);
    csni_arrow_array_release(array);
    csni_arrow_schema_release(schema);
    return status < 0 ? status : CSN_OK;
}

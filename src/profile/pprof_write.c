/* pprof out: one message after the other, strings last. */
#include "profile/profile_out.h"
#include "profile/profile_places.h"
#include "profile/profile_used.h"
#include "profile/proto_wire.h"

struct pprof_writer {
    struct csn_profile *p;
    struct profile_out *out;
    struct profile_used used;
    struct csni_buffer field, message, inner;
};

static uint32_t string_number(struct pprof_writer *w, uint32_t string) {
    const uint32_t number = csni_profile_used_string(&w->used, string);
    if (number == UINT32_MAX) w->field.failed = true;
    return number;
}

static void end_field(struct pprof_writer *w, uint32_t number) {
    csni_proto_put_message(&w->field, number, &w->message);
    csni_profile_put(w->out, w->field.bytes, w->field.size);
    w->field.size = 0;
}

static void put_type(struct pprof_writer *w, uint32_t number, uint32_t type, uint32_t unit) {
    csni_proto_put_number(&w->message, 1, string_number(w, type));
    csni_proto_put_number(&w->message, 2, string_number(w, unit));
    end_field(w, number);
}

static void put_label(struct pprof_writer *w, const struct profile_label *label) {
    csni_proto_put_number(&w->inner, 1, string_number(w, label->key));
    csni_proto_put_number(&w->inner, 2, string_number(w, label->text));
    csni_proto_put_number(&w->inner, 3, label->kind == LABEL_DOUBLE ? 0 : (uint64_t)label->number);
    csni_proto_put_number(&w->inner, 4, string_number(w, label->unit));
    csni_proto_put_message(&w->message, 3, &w->inner);
}

static void put_sample(struct pprof_writer *w, size_t i) {
    const struct csn_profile *p = w->p;
    const struct profile_sample_row *row = &p->samples.items[i];
    const struct profile_label_set *set = &p->label_sets.items[row->labels];
    for (uint32_t node = row->stack; node; node = p->nodes.items[node].caller)
        csni_proto_put_varint(&w->inner, w->used.locations[p->nodes.items[node].location]);
    csni_proto_put_message(&w->message, 1, &w->inner);
    for (uint32_t k = 0; k < p->value_count; k++)
        csni_proto_put_varint(&w->inner, (uint64_t)p->values.items[i * p->value_stride + k]);
    csni_proto_put_message(&w->message, 2, &w->inner);
    for (uint32_t k = 0; k < set->count; k++) put_label(w, &p->labels.items[set->first + k]);
    end_field(w, 2);
}

static uint32_t build_id_string(struct pprof_writer *w, const struct profile_module *module) {
    char digits[PROFILE_ID_DIGITS];
    uint32_t string = 0;
    if (csni_profile_string(w->p, csni_profile_build_id(w->p, module, digits), &string, NULL) < 0) w->field.failed = true;
    return string;
}

static void put_module(struct pprof_writer *w, uint32_t number) {
    enum { FIRST_KNOWN = 7 };
    const struct profile_module *module = &w->p->modules.items[number];
    const bool mapped = module->start || module->end;
    csni_proto_put_number(&w->message, 1, w->used.modules[number]);
    csni_proto_put_number(&w->message, 2, module->start);
    csni_proto_put_number(&w->message, 3, mapped ? module->end : csni_profile_module_end(&w->used, number));
    csni_proto_put_number(&w->message, 4, module->file_off);
    csni_proto_put_number(&w->message, 5, string_number(w, csni_profile_mapping_name(module)));
    if (module->build_id_size || module->build_id_text)
        csni_proto_put_number(&w->message, 6, string_number(w, build_id_string(w, module)));
    for (uint32_t i = 0; i < 4; i++) csni_proto_put_number(&w->message, FIRST_KNOWN + i, w->used.module_known[number] >> i & 1);
    end_field(w, 3);
}

static void put_location(struct pprof_writer *w, size_t i) {
    const struct profile_location *location = &w->p->locations.items[i];
    csni_proto_put_number(&w->message, 1, w->used.locations[i]);
    if (location->module != CSN_PROFILE_NO_MODULE) csni_proto_put_number(&w->message, 2, w->used.modules[location->module]);
    if (location->kind != CSN_PROFILE_AT_NAME) csni_proto_put_number(&w->message, 3, csni_profile_mapped_place(w->p, location));
    csni_profile_put_lines(&w->message, 4, &w->inner, w->p, &w->used, location);
    csni_proto_put_number(&w->message, 5, (location->flags & LOCATION_FOLDED) != 0);
    end_field(w, 4);
}

static void put_function(struct pprof_writer *w, size_t i) {
    const struct profile_function *function = &w->p->functions.items[i];
    csni_proto_put_number(&w->message, 1, w->used.functions[i]);
    csni_proto_put_number(&w->message, 2, string_number(w, function->name));
    csni_proto_put_number(&w->message, 3, string_number(w, function->system_name ? function->system_name : function->name));
    csni_proto_put_number(&w->message, 4, string_number(w, function->file));
    csni_proto_put_number(&w->message, 5, function->start_line);
    end_field(w, 5);
}

/* A number of the profile itself. */
static void put_number(struct pprof_writer *w, uint32_t number, uint64_t value) {
    csni_proto_put_number(&w->field, number, value);
    csni_profile_put(w->out, w->field.bytes, w->field.size);
    w->field.size = 0;
}

/* Ids ascend, as the tables of readers expect. */
static void put_tables(struct pprof_writer *w) {
    const struct csn_profile *p = w->p;
    for (size_t i = 0; i < w->used.module_count; i++) put_module(w, w->used.module_order[i]);
    for (size_t i = 0; i < p->locations.count; i++)
        if (w->used.locations[i]) put_location(w, i);
    for (size_t i = 0; i < p->functions.count; i++)
        if (w->used.functions[i]) put_function(w, i);
}

static void put_rest(struct pprof_writer *w) {
    const struct csn_profile *p = w->p;
    put_number(w, 7, string_number(w, p->drop_frames));
    put_number(w, 8, string_number(w, p->keep_frames));
    put_number(w, 9, (uint64_t)p->time_ns);
    put_number(w, 10, (uint64_t)p->duration_ns);
    if (p->period_type || p->period_unit) put_type(w, 11, p->period_type, p->period_unit);
    put_number(w, 12, (uint64_t)p->period);
    for (size_t i = 0; i < p->comments.count; i++) {
        csni_proto_put_varint(&w->field, 13u << 3);
        csni_proto_put_varint(&w->field, string_number(w, p->comments.items[i]));
        put_number(w, 13, 0);
    }
    put_number(w, 14, string_number(w, p->default_type));
    put_number(w, 15, string_number(w, p->doc_url));
    for (size_t i = 0; i < w->used.string_order.count && !w->field.failed; i++) {
        const struct csn_str text = csni_profile_str(p, w->used.string_order.items[i]);
        csni_buffer_put(&w->message, text.ptr, text.len);
        end_field(w, 6);
    }
}

csn_status csni_pprof_write(struct csn_profile *p, struct profile_out *out, struct csn_error *err) {
    struct pprof_writer w = { .p = p, .out = out };
    w.field.alloc = w.message.alloc = w.inner.alloc = p->alloc;
    /* Build ids become strings, which must be there before strings are numbered. */
    for (uint32_t i = 0; i < p->modules.count && !w.field.failed; i++) build_id_string(&w, &p->modules.items[i]);
    csn_status status = w.field.failed ? csni_fail_memory(err, 0) : csni_profile_used_init(&w.used, p, true, err);
    if (status == CSN_OK) {
        for (uint32_t i = 0; i < p->value_count; i++) put_type(&w, 1, p->value_types[i].type, p->value_types[i].unit);
        for (size_t i = 0; i < p->samples.count; i++) put_sample(&w, i);
        put_tables(&w);
        put_rest(&w);
        if (w.field.failed || w.message.failed || w.inner.failed) status = csni_fail_memory(err, w.field.size);
    }
    csni_profile_used_deinit(&w.used);
    csni_buffer_deinit(&w.field);
    csni_buffer_deinit(&w.message);
    csni_buffer_deinit(&w.inner);
    return status;
}

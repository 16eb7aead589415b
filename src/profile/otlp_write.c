/* OTLP out: a profile for each type of values, then the dictionary. */
#include "profile/profile_out.h"
#include "profile/profile_places.h"
#include "profile/profile_used.h"
#include "profile/proto_wire.h"

struct otlp_writer {
    const struct csn_profile *p;
    struct profile_used used;
    struct csni_buffer all, dictionary, profile, message, inner, times;
    uint32_t *attributes;        /* by label of the profile: its index + 1; those of build ids come behind */
    uint32_t attribute_count;
};

static uint32_t string_index(struct otlp_writer *w, uint32_t string) {
    const uint32_t number = csni_profile_used_string(&w->used, string);
    if (number == UINT32_MAX) w->all.failed = true;
    return number;
}

static struct csn_str utf8_text(const struct otlp_writer *w, uint32_t string) {
    return csni_profile_str(w->p, csni_profile_used_utf8(&w->used, string));
}

static void put_value_type(struct otlp_writer *w, uint32_t number, uint32_t type, uint32_t unit) {
    csni_proto_put_number(&w->inner, 1, string_index(w, type));
    csni_proto_put_number(&w->inner, 2, string_index(w, unit));
    csni_proto_put_message(&w->profile, number, &w->inner);
}

/* Whether the profile of a type has the sample: those without any value are in the first. */
static bool has_sample(const struct csn_profile *p, size_t i, uint32_t type) {
    const int64_t *values = p->values.items + i * p->value_stride;
    for (uint32_t k = 0; type == 0 && k < p->value_count; k++)
        if (values[k]) return values[type] != 0;
    return type == 0 || values[type];
}

/* Samples of one stack with times are one message. */
static bool is_same_message(const struct csn_profile *p, size_t first, size_t i) {
    const struct profile_sample_row *a = &p->samples.items[first], *b = &p->samples.items[i];
    return a->stack == b->stack && a->labels == b->labels && a->time_ns && b->time_ns;
}

/* A message of the samples from `first` on; behind them. */
static size_t put_samples(struct otlp_writer *w, size_t first, uint32_t type) {
    const struct csn_profile *p = w->p;
    const struct profile_sample_row *row = &p->samples.items[first];
    const struct profile_label_set *set = &p->label_sets.items[row->labels];
    size_t i = first;
    csni_proto_put_number(&w->message, 1, w->used.nodes[row->stack]);
    for (uint32_t k = 0; k < set->count; k++) csni_proto_put_varint(&w->inner, w->attributes[set->first + k]);
    if (set->count) csni_proto_put_message(&w->message, 2, &w->inner);
    do {
        if (has_sample(p, i, type)) {
            uint8_t bytes[8];
            csni_put64(bytes, (uint64_t)p->samples.items[i].time_ns, false);
            csni_proto_put_varint(&w->inner, (uint64_t)p->values.items[i * p->value_stride + type]);
            if (row->time_ns) csni_buffer_put(&w->times, bytes, sizeof bytes);
        }
        i++;
    } while (i < p->samples.count && is_same_message(p, first, i));
    csni_proto_put_message(&w->message, 4, &w->inner);
    if (row->time_ns) csni_proto_put_message(&w->message, 5, &w->times);
    csni_proto_put_message(&w->profile, 2, &w->message);
    return i;
}

static void put_profile(struct otlp_writer *w, uint32_t type, struct csni_buffer *scope) {
    const struct csn_profile *p = w->p;
    put_value_type(w, 1, p->value_types[type].type, p->value_types[type].unit);
    for (size_t i = 0; i < p->samples.count;) i = has_sample(p, i, type) ? put_samples(w, i, type) : i + 1;
    csni_proto_put_fixed64(&w->profile, 3, (uint64_t)p->time_ns);
    csni_proto_put_number(&w->profile, 4, (uint64_t)p->duration_ns);
    if (p->period_type || p->period_unit) put_value_type(w, 5, p->period_type, p->period_unit);
    csni_proto_put_number(&w->profile, 6, (uint64_t)p->period);
    csni_proto_put_message(scope, 2, &w->profile);
}

/* ---- the dictionary ---- */

static void put_attribute(struct otlp_writer *w, uint32_t key, struct csn_str text, int64_t number, uint32_t unit) {
    csni_proto_put_number(&w->message, 1, key);
    if (text.len) csni_proto_put_bytes(&w->inner, 1, text.ptr, text.len);
    else {
        csni_proto_put_varint(&w->inner, 3u << 3 | PROTO_VARINT);
        csni_proto_put_varint(&w->inner, (uint64_t)number);
    }
    csni_proto_put_message(&w->message, 2, &w->inner);
    csni_proto_put_number(&w->message, 3, unit);
    csni_proto_put_message(&w->dictionary, 6, &w->message);
}

/* Before the samples, which refer to attributes by index: only labels of sets that samples have. */
static void put_labels(struct otlp_writer *w) {
    const struct csn_profile *p = w->p;
    csni_proto_put_message(&w->dictionary, 6, &w->message); /* attribute 0 */
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct profile_label_set *set = &p->label_sets.items[p->samples.items[i].labels];
        for (uint32_t k = 0; k < set->count; k++) {
            const struct profile_label *label = &p->labels.items[set->first + k];
            if (w->attributes[set->first + k]) continue;
            w->attributes[set->first + k] = ++w->attribute_count;
            put_attribute(w, string_index(w, label->key), utf8_text(w, label->text), label->number,
                          string_index(w, label->unit));
        }
    }
}

static void put_mapping(struct otlp_writer *w, uint32_t number, uint32_t build_id_key) {
    const struct profile_module *module = &w->p->modules.items[number];
    char digits[PROFILE_ID_DIGITS];
    uint32_t attribute = 0;
    const struct csn_str id =
        module->build_id_text ? utf8_text(w, module->build_id_text) : csni_profile_build_id(w->p, module, digits);
    if (id.len) {
        put_attribute(w, string_index(w, build_id_key), id, 0, 0);
        attribute = ++w->attribute_count;
    }
    const bool mapped = module->start || module->end;
    csni_proto_put_number(&w->message, 1, module->start);
    csni_proto_put_number(&w->message, 2, mapped ? module->end : csni_profile_module_end(&w->used, number));
    csni_proto_put_number(&w->message, 3, module->file_off);
    csni_proto_put_number(&w->message, 4, string_index(w, module->path));
    if (attribute) {
        csni_proto_put_varint(&w->inner, attribute);
        csni_proto_put_message(&w->message, 5, &w->inner);
    }
    csni_proto_put_message(&w->dictionary, 1, &w->message);
}

static void put_location(struct otlp_writer *w, size_t i) {
    const struct profile_location *location = &w->p->locations.items[i];
    if (location->module != CSN_PROFILE_NO_MODULE) csni_proto_put_number(&w->message, 1, w->used.modules[location->module]);
    if (location->kind != CSN_PROFILE_AT_NAME) csni_proto_put_number(&w->message, 2, csni_profile_mapped_place(w->p, location));
    csni_profile_put_lines(&w->message, 3, &w->inner, w->p, &w->used, location);
    csni_proto_put_message(&w->dictionary, 2, &w->message);
}

static void put_function(struct otlp_writer *w, size_t i) {
    const struct profile_function *function = &w->p->functions.items[i];
    csni_proto_put_number(&w->message, 1, string_index(w, function->name));
    csni_proto_put_number(&w->message, 2, string_index(w, function->system_name ? function->system_name : function->name));
    csni_proto_put_number(&w->message, 3, string_index(w, function->file));
    csni_proto_put_number(&w->message, 4, function->start_line);
    csni_proto_put_message(&w->dictionary, 3, &w->message);
}

static void put_stack(struct otlp_writer *w, uint32_t stack) {
    for (uint32_t node = stack; node; node = w->p->nodes.items[node].caller)
        csni_proto_put_varint(&w->inner, w->used.locations[w->p->nodes.items[node].location]);
    csni_proto_put_message(&w->message, 1, &w->inner);
    csni_proto_put_message(&w->dictionary, 7, &w->message);
}

/* Only stacks that a sample has are written: the numbers of nodes become those. */
static void number_stacks(struct otlp_writer *w) {
    const struct csn_profile *p = w->p;
    uint32_t count = 0;
    for (size_t i = 0; i < p->nodes.count; i++) w->used.nodes[i] = 0;
    for (size_t i = 0; i < p->samples.count; i++) {
        const uint32_t stack = p->samples.items[i].stack;
        if (!stack || w->used.nodes[stack]) continue;
        w->used.nodes[stack] = ++count;
        put_stack(w, stack);
    }
}

/* Entry 0 of each table is nothing. */
static void put_dictionary(struct otlp_writer *w, uint32_t build_id_key) {
    const struct csn_profile *p = w->p;
    static const uint32_t empty_first[] = { 1, 2, 3, 4 };
    for (size_t i = 0; i < 4; i++) csni_proto_put_message(&w->dictionary, empty_first[i], &w->message);
    for (size_t i = 0; i < w->used.module_count; i++) put_mapping(w, w->used.module_order[i], build_id_key);
    for (size_t i = 0; i < p->locations.count; i++)
        if (w->used.locations[i]) put_location(w, i);
    for (size_t i = 0; i < p->functions.count; i++)
        if (w->used.functions[i]) put_function(w, i);
    for (size_t i = 0; i < w->used.string_order.count; i++) {
        const struct csn_str text = csni_profile_str(p, w->used.string_order.items[i]);
        csni_proto_put_bytes(&w->dictionary, 5, text.ptr, text.len);
    }
}

static void put_all(struct otlp_writer *w, uint32_t build_id_key) {
    struct csni_buffer scope = { .alloc = w->p->alloc }, resource = { .alloc = w->p->alloc };
    put_labels(w);
    csni_proto_put_message(&w->dictionary, 7, &w->message); /* stack 0 */
    number_stacks(w);
    for (uint32_t type = 0; type < w->p->value_count; type++) put_profile(w, type, &scope);
    csni_proto_put_message(&resource, 2, &scope);
    csni_proto_put_message(&w->all, 1, &resource);
    put_dictionary(w, build_id_key);
    csni_proto_put_message(&w->all, 2, &w->dictionary);
    csni_buffer_deinit(&scope);
    csni_buffer_deinit(&resource);
}

csn_status csni_otlp_write(struct csn_profile *p, bool json, struct profile_out *out, struct csn_error *err) {
    struct otlp_writer w = { .p = p };
    uint32_t build_id_key;
    CSNI_TRY(csni_profile_string(p, CSN_STR("process.executable.build_id.gnu"), &build_id_key, err));
    CSNI_TRY(csni_profile_used_init(&w.used, p, false, err));
    w.all.alloc = w.dictionary.alloc = w.profile.alloc = w.message.alloc = w.inner.alloc = w.times.alloc = p->alloc;
    w.attributes = csni_alloc_zeroed(p->alloc, p->labels.count + 1, sizeof *w.attributes);
    if (w.attributes) put_all(&w, build_id_key);
    const bool failed = !w.attributes || w.all.failed || w.dictionary.failed || w.profile.failed || w.message.failed
                        || w.inner.failed || w.times.failed;
    if (!failed && json) csni_otlp_json_put(out, (struct csni_span){ w.all.bytes, w.all.size });
    else if (!failed) csni_profile_put(out, w.all.bytes, w.all.size);
    csni_free(p->alloc, w.attributes, (p->labels.count + 1) * sizeof *w.attributes);
    csni_profile_used_deinit(&w.used);
    csni_buffer_deinit(&w.all);
    csni_buffer_deinit(&w.dictionary);
    csni_buffer_deinit(&w.profile);
    csni_buffer_deinit(&w.message);
    csni_buffer_deinit(&w.inner);
    csni_buffer_deinit(&w.times);
    return failed ? csni_fail_memory(err, w.all.size) : CSN_OK;
}

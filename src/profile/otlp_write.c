/* OTLP out: of each resource a profile for each type of values, then the dictionary. */
#include "base/core/sort.h"
#include "profile/otlp_pprof.h"
#include "profile/profile_out.h"
#include "profile/profile_places.h"
#include "profile/profile_used.h"
#include "profile/proto_wire.h"

/* What is known of a thread. */
enum { THREAD_NAME, THREAD_ID, PROCESS_ID, PROCESS_NAME, THREAD_KEYS };

/* A sample, and the set of labels that is the attributes of its resource. */
struct sample_order {
    uint32_t resource, sample;
};

struct otlp_writer {
    struct csn_profile *p;
    struct profile_used used;
    struct csni_buffer all, dictionary, profile, message, inner, times;
    uint32_t *attributes;        /* by label of the profile: its index; those of build ids come behind */
    uint32_t attribute_count, label_count;
    uint32_t build_id_key, thread_keys[THREAD_KEYS]; /* strings */
    uint32_t pprof_keys[OTLP_PPROF_KEYS]; /* strings */
    uint32_t flags[OTLP_PPROF_KEYS][2];   /* by key of a truth value, and value: indexes of attributes; 0: none yet */
    uint32_t profile_attributes[OTLP_PPROF_KEYS], profile_attribute_count; /* the same of all profiles */
    uint32_t (*threads)[THREAD_KEYS]; /* by thread: indexes of attributes; 0: not known */
    struct sample_order *order;  /* samples of one resource stand together */
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

/* ---- values of attributes ---- */

static void put_text_value(struct csni_buffer *value, struct csn_str text) { csni_proto_put_bytes(value, 1, text.ptr, text.len); }

/* A value of a oneof is there, also if it is 0. */
static void put_number_value(struct csni_buffer *value, uint32_t number, uint64_t of) {
    csni_proto_put_varint(value, (uint64_t)number << 3 | PROTO_VARINT);
    csni_proto_put_varint(value, of);
}

/* As it came from OTLP; of pprof's labels, the text or the number. */
static void put_label_value(const struct otlp_writer *w, struct csni_buffer *value, const struct profile_label *label) {
    enum { BOOL = 2, INT = 3, DOUBLE = 4 };
    uint8_t bits[8];
    switch (label->kind) {
    case LABEL_EMPTY: return;
    case LABEL_BOOL: put_number_value(value, BOOL, (uint64_t)label->number); return;
    case LABEL_DOUBLE:
        csni_put64(bits, (uint64_t)label->number, false);
        csni_proto_put_varint(value, DOUBLE << 3 | PROTO_FIXED64);
        csni_buffer_put(value, bits, sizeof bits);
        return;
    default: break;
    }
    if (label->text || label->kind == LABEL_TEXT) put_text_value(value, utf8_text(w, label->text));
    else put_number_value(value, INT, (uint64_t)label->number);
}

/* ---- samples ---- */

static const struct profile_label_set *labels_of(const struct csn_profile *p, size_t i) {
    return &p->label_sets.items[p->samples.items[i].labels];
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
    return a->stack == b->stack && a->labels == b->labels && a->thread == b->thread && a->time_ns && b->time_ns;
}

static bool has_label(const struct csn_profile *p, const struct profile_label_set *set, uint32_t key) {
    for (uint32_t k = 0; k < set->count; k++)
        if (p->labels.items[set->first + k].key == key) return true;
    return false;
}

/* Labels, and what is known of the thread where no label says it: a key stands once. */
static void put_attributes(struct otlp_writer *w, size_t i) {
    const struct csn_profile *p = w->p;
    const struct profile_label_set *set = labels_of(p, i);
    const uint32_t *thread = w->threads[p->samples.items[i].thread];
    for (uint32_t k = 0; k < set->count; k++)
        if (!p->labels.items[set->first + k].is_of_resource) csni_proto_put_varint(&w->inner, w->attributes[set->first + k]);
    for (uint32_t k = 0; k < THREAD_KEYS; k++)
        if (thread[k] && !has_label(p, set, w->thread_keys[k])) csni_proto_put_varint(&w->inner, thread[k]);
    if (w->inner.size) csni_proto_put_message(&w->message, 2, &w->inner);
}

/* A message of the samples from place `first` on; behind them. */
static size_t put_samples(struct otlp_writer *w, size_t first, size_t end, uint32_t type) {
    const struct csn_profile *p = w->p;
    const struct profile_sample_row *row = &p->samples.items[w->order[first].sample];
    size_t at = first;
    csni_proto_put_number(&w->message, 1, w->used.nodes[row->stack]);
    put_attributes(w, w->order[first].sample);
    do {
        const size_t i = w->order[at++].sample;
        uint8_t bytes[8];
        if (!has_sample(p, i, type)) continue;
        csni_put64(bytes, (uint64_t)p->samples.items[i].time_ns, false);
        csni_proto_put_varint(&w->inner, (uint64_t)p->values.items[i * p->value_stride + type]);
        if (row->time_ns) csni_buffer_put(&w->times, bytes, sizeof bytes);
    } while (at < end && is_same_message(p, w->order[first].sample, w->order[at].sample));
    csni_proto_put_message(&w->message, 4, &w->inner);
    if (row->time_ns) csni_proto_put_message(&w->message, 5, &w->times);
    csni_proto_put_message(&w->profile, 2, &w->message);
    return at;
}

static void put_indexes(struct otlp_writer *w, struct csni_buffer *message, uint32_t number, const uint32_t *indexes,
                        size_t count) {
    for (size_t i = 0; i < count; i++) csni_proto_put_varint(&w->inner, indexes[i]);
    if (count) csni_proto_put_message(message, number, &w->inner);
}

/* Of the samples at the places [first, end). The first resource has a profile for each type, the others where they have samples. */
static void put_profile(struct otlp_writer *w, size_t first, size_t end, uint32_t type, struct csni_buffer *scope) {
    const struct csn_profile *p = w->p;
    size_t some = first;
    while (some < end && !has_sample(p, w->order[some].sample, type)) some++;
    if (first && some == end) return;
    put_value_type(w, 1, p->value_types[type].type, p->value_types[type].unit);
    for (size_t at = some; at < end;) at = has_sample(p, w->order[at].sample, type) ? put_samples(w, at, end, type) : at + 1;
    csni_proto_put_fixed64(&w->profile, 3, (uint64_t)p->time_ns);
    csni_proto_put_number(&w->profile, 4, (uint64_t)p->duration_ns);
    if (p->period_type || p->period_unit) put_value_type(w, 5, p->period_type, p->period_unit);
    csni_proto_put_number(&w->profile, 6, (uint64_t)p->period);
    put_indexes(w, &w->profile, 11, w->profile_attributes, w->profile_attribute_count);
    csni_proto_put_message(scope, 2, &w->profile);
}

/* ---- resources ---- */

/* The set of the resource's labels alone, which come last. */
static csn_status resource_of(struct otlp_writer *w, const struct profile_label_set *set, uint32_t *out, struct csn_error *err) {
    const struct csn_profile *p = w->p;
    CSNI_VEC(struct profile_label) own = { .alloc = p->alloc };
    csn_status status = CSN_OK;
    for (uint32_t k = 0; k < set->count && status == CSN_OK; k++)
        if (p->labels.items[set->first + k].is_of_resource && !csni_vec_push(&own, p->labels.items[set->first + k]))
            status = csni_fail_memory(err, sizeof *own.items);
    if (status == CSN_OK) status = csni_profile_label_set(w->p, own.items, own.count, out, err);
    csni_vec_deinit(&own);
    return status;
}

static bool resource_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct sample_order *)a)->resource < ((const struct sample_order *)b)->resource;
}

/* Samples of one resource stand together, in their order. Each set of labels is asked for its resource once. */
static csn_status order_samples(struct otlp_writer *w, struct csn_error *err) {
    struct csn_profile *p = w->p;
    const size_t count = p->samples.count, sets = p->label_sets.count, size = (count + 1) * sizeof *w->order;
    struct sample_order *spare = csni_alloc(p->alloc, size);
    uint32_t *resources = csni_alloc_zeroed(p->alloc, sets, sizeof *resources);
    w->order = csni_alloc(p->alloc, size);
    csn_status status = spare && resources && w->order ? CSN_OK : csni_fail_memory(err, size);
    for (size_t i = 1; i < sets && status == CSN_OK; i++) {
        const struct profile_label_set set = p->label_sets.items[i];
        status = resource_of(w, &set, &resources[i], err);
    }
    for (size_t i = 0; i < count && status == CSN_OK; i++)
        w->order[i] = (struct sample_order){ resources[p->samples.items[i].labels], (uint32_t)i };
    if (status == CSN_OK) csni_merge_sort(w->order, spare, count, sizeof *w->order, resource_before, NULL);
    csni_free(p->alloc, spare, size);
    csni_free(p->alloc, resources, sets * sizeof *resources);
    return status;
}

/* A KeyValue, as field `number` of the message. */
static void put_key_value(struct otlp_writer *w, uint32_t number, const struct profile_label *label) {
    put_text_value(&w->profile, utf8_text(w, label->key)); /* the key is a field of the same number */
    put_label_value(w, &w->inner, label);
    csni_proto_put_message(&w->profile, 2, &w->inner);
    csni_proto_put_message(&w->message, number, &w->profile);
}

static void put_resource_attributes(struct otlp_writer *w, uint32_t resource, struct csni_buffer *out) {
    const struct profile_label_set *set = &w->p->label_sets.items[resource];
    for (uint32_t k = 0; k < set->count; k++) put_key_value(w, 1, &w->p->labels.items[set->first + k]);
    if (set->count) csni_proto_put_message(out, 1, &w->message);
}

static void put_scope(struct otlp_writer *w, struct csni_buffer *out) {
    const struct profile_label type = { .key = w->pprof_keys[OTLP_DEFAULT_TYPE], .text = w->p->default_type };
    if (!type.text) return;
    put_key_value(w, 3, &type);
    csni_proto_put_message(out, 1, &w->message);
}

/* ---- the dictionary ---- */

/* With the value that is in `inner`. */
static uint32_t put_attribute(struct otlp_writer *w, uint32_t key, uint32_t unit) {
    csni_proto_put_number(&w->message, 1, string_index(w, key));
    csni_proto_put_message(&w->message, 2, &w->inner);
    csni_proto_put_number(&w->message, 3, string_index(w, unit));
    csni_proto_put_message(&w->dictionary, 6, &w->message);
    return ++w->attribute_count;
}

static void put_thread(struct otlp_writer *w, uint32_t number) {
    const struct profile_thread *thread = &w->p->threads.items[number];
    const uint32_t names[THREAD_KEYS] = { [THREAD_NAME] = thread->name, [PROCESS_NAME] = thread->process };
    const uint64_t ids[THREAD_KEYS] = { [THREAD_ID] = thread->tid, [PROCESS_ID] = thread->pid };
    for (uint32_t k = 0; k < THREAD_KEYS; k++) {
        const struct profile_label label = { .text = names[k], .number = (int64_t)ids[k] };
        if ((!names[k] && !ids[k]) || w->threads[number][k]) continue;
        put_label_value(w, &w->inner, &label);
        w->threads[number][k] = put_attribute(w, w->thread_keys[k], 0);
    }
}

/* Before the samples, which refer to attributes by index: only labels of sets that samples have. */
static void put_labels(struct otlp_writer *w) {
    const struct csn_profile *p = w->p;
    csni_proto_put_message(&w->dictionary, 6, &w->message); /* attribute 0 */
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct profile_label_set *set = labels_of(p, i);
        put_thread(w, p->samples.items[i].thread);
        for (uint32_t k = 0; k < set->count; k++) {
            const struct profile_label *label = &p->labels.items[set->first + k];
            if (label->is_of_resource || w->attributes[set->first + k]) continue;
            put_label_value(w, &w->inner, label);
            w->attributes[set->first + k] = put_attribute(w, label->key, label->unit);
        }
    }
}

static void put_comments(struct otlp_writer *w) {
    enum { LIST = 5 };
    struct csni_buffer list = { .alloc = w->p->alloc };
    for (size_t i = 0; i < w->p->comments.count; i++) {
        put_text_value(&w->inner, utf8_text(w, w->p->comments.items[i]));
        csni_proto_put_message(&list, 1, &w->inner);
    }
    csni_proto_put_message(&w->inner, LIST, &list);
    csni_buffer_deinit(&list);
    w->profile_attributes[w->profile_attribute_count++] = put_attribute(w, w->pprof_keys[OTLP_COMMENT], 0);
}

static void put_profile_text(struct otlp_writer *w, uint32_t key, uint32_t text) {
    if (!text) return;
    put_text_value(&w->inner, utf8_text(w, text));
    w->profile_attributes[w->profile_attribute_count++] = put_attribute(w, w->pprof_keys[key], 0);
}

/* Before the profiles, which refer to them by index. */
static void put_profile_attributes(struct otlp_writer *w) {
    if (w->p->comments.count) put_comments(w);
    put_profile_text(w, OTLP_DROP_FRAMES, w->p->drop_frames);
    put_profile_text(w, OTLP_KEEP_FRAMES, w->p->keep_frames);
    put_profile_text(w, OTLP_DOC_URL, w->p->doc_url);
}

/* The attribute of a truth value of pprof. */
static uint32_t put_flag(struct otlp_writer *w, uint32_t key, bool value) {
    enum { BOOL = 2 };
    uint32_t *const index = &w->flags[key][value];
    if (*index) return *index;
    put_number_value(&w->inner, BOOL, value);
    return *index = put_attribute(w, w->pprof_keys[key], 0);
}

/* What is known of its locations is told, also that it is not, where the input did. */
static void put_mapping(struct otlp_writer *w, uint32_t number) {
    const struct profile_module *module = &w->p->modules.items[number];
    char digits[PROFILE_ID_DIGITS];
    uint32_t attributes[1 + OTLP_KNOWN_KEYS], count = 0;
    const struct csn_str id =
        module->build_id_text ? utf8_text(w, module->build_id_text) : csni_profile_build_id(w->p, module, digits);
    if (id.len) {
        put_text_value(&w->inner, id);
        attributes[count++] = put_attribute(w, w->build_id_key, 0);
    }
    for (uint32_t i = 0; i < OTLP_KNOWN_KEYS; i++) {
        const bool is_known = w->used.module_known[number] >> i & 1;
        if (is_known || !(module->known & MODULE_BY_LOCATIONS)) attributes[count++] = put_flag(w, i, is_known);
    }
    const bool mapped = module->start || module->end;
    csni_proto_put_number(&w->message, 1, module->start);
    csni_proto_put_number(&w->message, 2, mapped ? module->end : csni_profile_module_end(&w->used, number));
    csni_proto_put_number(&w->message, 3, module->file_off);
    csni_proto_put_number(&w->message, 4, string_index(w, csni_profile_mapping_name(module)));
    put_indexes(w, &w->message, 5, attributes, count);
    csni_proto_put_message(&w->dictionary, 1, &w->message);
}

static void put_location(struct otlp_writer *w, size_t i) {
    const struct profile_location *location = &w->p->locations.items[i];
    const uint32_t folded = location->flags & LOCATION_FOLDED ? put_flag(w, OTLP_IS_FOLDED, true) : 0;
    if (location->module != CSN_PROFILE_NO_MODULE) csni_proto_put_number(&w->message, 1, w->used.modules[location->module]);
    if (location->kind != CSN_PROFILE_AT_NAME) csni_proto_put_number(&w->message, 2, csni_profile_mapped_place(w->p, location));
    csni_profile_put_lines(&w->message, 3, &w->inner, w->p, &w->used, location);
    put_indexes(w, &w->message, 4, &folded, folded != 0);
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
static void put_dictionary(struct otlp_writer *w) {
    const struct csn_profile *p = w->p;
    static const uint32_t empty_first[] = { 1, 2, 3, 4 };
    for (size_t i = 0; i < 4; i++) csni_proto_put_message(&w->dictionary, empty_first[i], &w->message);
    for (size_t i = 0; i < w->used.module_count; i++) put_mapping(w, w->used.module_order[i]);
    for (size_t i = 0; i < p->locations.count; i++)
        if (w->used.locations[i]) put_location(w, i);
    for (size_t i = 0; i < p->functions.count; i++)
        if (w->used.functions[i]) put_function(w, i);
    for (size_t i = 0; i < w->used.string_order.count; i++) {
        const struct csn_str text = csni_profile_str(p, w->used.string_order.items[i]);
        csni_proto_put_bytes(&w->dictionary, 5, text.ptr, text.len);
    }
}

/* The profiles of the samples from place `first` on that are of one resource; behind them. */
static size_t put_resource(struct otlp_writer *w, size_t first) {
    struct csni_buffer scope = { .alloc = w->p->alloc }, resource = { .alloc = w->p->alloc };
    const size_t count = w->p->samples.count;
    size_t end = first;
    while (end < count && w->order[end].resource == w->order[first].resource) end++;
    if (first < count) put_resource_attributes(w, w->order[first].resource, &resource);
    put_scope(w, &scope);
    for (uint32_t type = 0; type < w->p->value_count; type++) put_profile(w, first, end, type, &scope);
    csni_proto_put_message(&resource, 2, &scope);
    csni_proto_put_message(&w->all, 1, &resource);
    csni_buffer_deinit(&scope);
    csni_buffer_deinit(&resource);
    return end;
}

static void put_all(struct otlp_writer *w) {
    size_t at = 0;
    put_labels(w);
    put_profile_attributes(w);
    csni_proto_put_message(&w->dictionary, 7, &w->message); /* stack 0 */
    number_stacks(w);
    do at = put_resource(w, at); /* also without samples */
    while (at < w->p->samples.count);
    put_dictionary(w);
    csni_proto_put_message(&w->all, 2, &w->dictionary);
}

/* What becomes strings and sets of labels must be there before those are numbered. */
static csn_status prepare(struct otlp_writer *w, struct csn_error *err) {
    static const char *const keys[] = { [THREAD_NAME] = "thread.name", [THREAD_ID] = "thread.id", [PROCESS_ID] = "process.pid",
                                        [PROCESS_NAME] = "process.executable.name" };
    CSNI_TRY(csni_profile_string(w->p, CSN_STR("process.executable.build_id.gnu"), &w->build_id_key, err));
    for (uint32_t k = 0; k < THREAD_KEYS; k++) CSNI_TRY(csni_profile_string(w->p, csni_str(keys[k]), &w->thread_keys[k], err));
    for (uint32_t k = 0; k < OTLP_PPROF_KEYS; k++)
        CSNI_TRY(csni_profile_string(w->p, csni_str(csni_otlp_pprof_keys[k]), &w->pprof_keys[k], err));
    CSNI_TRY(order_samples(w, err));
    w->label_count = (uint32_t)w->p->labels.count + 1;
    w->attributes = csni_alloc_zeroed(w->p->alloc, w->label_count, sizeof *w->attributes);
    w->threads = csni_alloc_zeroed(w->p->alloc, w->p->threads.count, sizeof *w->threads);
    if (!w->attributes || !w->threads) return csni_fail_memory(err, w->label_count * sizeof *w->attributes);
    return csni_profile_used_init(&w->used, w->p, true, err);
}

csn_status csni_otlp_write(struct csn_profile *p, bool json, struct profile_out *out, struct csn_error *err) {
    struct otlp_writer w = { .p = p };
    w.all.alloc = w.dictionary.alloc = w.profile.alloc = w.message.alloc = w.inner.alloc = w.times.alloc = p->alloc;
    csn_status status = prepare(&w, err);
    if (status == CSN_OK) put_all(&w);
    const bool failed = w.all.failed || w.dictionary.failed || w.profile.failed || w.message.failed || w.inner.failed ||
                        w.times.failed;
    if (status == CSN_OK && failed) status = csni_fail_memory(err, w.all.size);
    if (status == CSN_OK && json) csni_otlp_json_put(out, (struct csni_span){ w.all.bytes, w.all.size });
    else if (status == CSN_OK) csni_profile_put(out, w.all.bytes, w.all.size);
    csni_free(p->alloc, w.attributes, w.label_count * sizeof *w.attributes);
    csni_free(p->alloc, w.threads, p->threads.count * sizeof *w.threads);
    csni_free(p->alloc, w.order, (p->samples.count + 1) * sizeof *w.order);
    csni_profile_used_deinit(&w.used);
    csni_buffer_deinit(&w.all);
    csni_buffer_deinit(&w.dictionary);
    csni_buffer_deinit(&w.profile);
    csni_buffer_deinit(&w.message);
    csni_buffer_deinit(&w.inner);
    csni_buffer_deinit(&w.times);
    return status;
}

/* OpenTelemetry's profiles: of each resource and scope a profile for each type of values. Their tables: otlp_dictionary.c. */
#include <string.h>

#include "profile/otlp_reader.h"

/* ---- samples ---- */

static csn_status read_numbers(struct otlp_reader *r, const struct proto_field *field, bool fixed) {
    struct csni_cursor packed = csni_cursor_at(field->bytes, false);
    uint64_t value = field->value;
    if (field->type != PROTO_BYTES) {
        const bool added = fixed ? csni_vec_push(&r->times, value) : csni_vec_push(&r->values, (int64_t)value);
        return added ? CSN_OK : csni_otlp_fail_memory(r);
    }
    while (packed.p < packed.end) {
        value = fixed ? csni_cursor_u64(&packed) : csni_cursor_uleb(&packed);
        if (packed.failed) return csni_otlp_fail_message(r, "a list of numbers", &packed);
        if (!(fixed ? csni_vec_push(&r->times, value) : csni_vec_push(&r->values, (int64_t)value))) return csni_otlp_fail_memory(r);
    }
    return CSN_OK;
}

static bool key_is(const struct otlp_reader *r, const struct profile_label *label, const char *key) {
    return csni_str_equal(csni_profile_str(r->p, label->key), csni_str(key));
}

static csn_status sample_thread(struct otlp_reader *r, uint32_t *out) {
    struct profile_thread thread = { .process = r->executable, .pid = r->pid };
    for (size_t i = 0; i < r->labels.count; i++) {
        const struct profile_label *label = &r->labels.items[i];
        if (key_is(r, label, "thread.name")) thread.name = label->text;
        if (key_is(r, label, "thread.id")) thread.tid = (uint64_t)label->number;
        if (key_is(r, label, "process.pid")) thread.pid = (uint64_t)label->number;
        if (key_is(r, label, "process.executable.name")) thread.process = label->text;
    }
    return csni_profile_thread(r->p, &thread, out, r->err);
}

/* A profile has one type of values: the same samples follow once more for the next type, in the same order, perhaps
 * without those that have none of it. Where each sample is kept, they are found again among the next few of the
 * first profile. NULL: it is another sample. */
static int64_t *find_twin(struct otlp_reader *r, const struct profile_sample_row *row) {
    enum { TWINS_AHEAD = 64 };
    const size_t end = r->twins_end - r->twin > TWINS_AHEAD ? r->twin + TWINS_AHEAD : r->twins_end;
    for (size_t i = r->twin; i < end; i++) {
        const struct profile_sample_row *twin = &r->p->samples.items[i];
        if (twin->stack != row->stack || twin->labels != row->labels || twin->thread != row->thread ||
            twin->time_ns != row->time_ns)
            continue;
        r->twin = i + 1;
        return r->p->values.items + i * r->p->value_stride;
    }
    return NULL;
}

/* One observation: `value` of the type `type`. */
static csn_status add_observation(struct otlp_reader *r, struct profile_sample_row *row, uint32_t type, int64_t value,
                                  uint64_t time) {
    row->time_ns = (int64_t)time;
    int64_t *twin = find_twin(r, row);
    if (twin) {
        r->p->sums_cut += !csni_profile_add_value(&twin[type], value);
        return CSN_OK;
    }
    int64_t *values = csni_profile_sample(r->p, row, r->err);
    if (!values) return r->err ? r->err->code : CSN_E_MEMORY;
    r->p->sums_cut += !csni_profile_add_value(&values[type], value);
    return CSN_OK;
}

/* Adds it to the labels, if labels can have it. */
static csn_status take_label(struct otlp_reader *r, const struct otlp_attribute *attribute, void *context) {
    (void)context;
    if (attribute->label.key && attribute->label.kind != LABEL_NONE)
        return csni_vec_push(&r->labels, attribute->label) ? CSN_OK : csni_otlp_fail_memory(r);
    r->p->attributes_left_out++;
    return CSN_OK;
}

static csn_status read_sample(struct otlp_reader *r, struct csni_span bytes, uint32_t type) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_sample_row row = { .input = (uint32_t)r->p->inputs.count - 1 };
    struct proto_field field;
    uint64_t stack = 0;
    r->values.count = r->times.count = r->labels.count = 0;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_VARINT) stack = field.value;
        if (field.number == 2) CSNI_TRY(csni_otlp_each_attribute(r, &field, take_label, NULL));
        if (field.number == 3) r->p->attributes_left_out += field.value != 0; /* a link */
        if (field.number == 4 || field.number == 5) CSNI_TRY(read_numbers(r, &field, field.number == 5));
    }
    if (c.failed) return csni_otlp_fail_message(r, "a sample", &c);
    CSNI_TRY(csni_otlp_number_of(r, &r->stacks, stack, bytes, "stack", &row.stack));
    if (r->p->flags & CSN_PROFILE_EVERY_SAMPLE) CSNI_TRY(sample_thread(r, &row.thread));
    for (size_t i = 0; i < r->resource.count; i++)
        if (!csni_vec_push(&r->labels, r->resource.items[i])) return csni_otlp_fail_memory(r);
    CSNI_TRY(csni_profile_label_set(r->p, r->labels.items, r->labels.count, &row.labels, r->err));
    /* Times without values count 1 each; a value without times is a sum. A sample with neither stays, with the sum 0. */
    const size_t values = r->values.count, times = r->times.count;
    if (values && times && values != times)
        return csni_fail(r->err, CSN_E_FORMAT, OTLP_SECTION, (uint64_t)(bytes.ptr - r->all.ptr),
                         "a sample has %zu values and %zu times, need as many of both, or one kind alone", values, times);
    for (size_t i = 0; i < values || i < times || !i; i++)
        CSNI_TRY(add_observation(r, &row, type, values ? r->values.items[i] : times != 0, times ? r->times.items[i] : 0));
    return CSN_OK;
}

/* ---- profiles ---- */

static bool is_text(const struct profile_label *label) {
    return label->kind == LABEL_TEXT || (label->kind == LABEL_PLAIN && label->text);
}

static csn_status add_comment(struct otlp_reader *r, const struct profile_label *label) {
    if (is_text(label)) return csni_profile_add_comment(r->p, label->text, r->first_comment, r->err);
    r->p->attributes_left_out++;
    return CSN_OK;
}

static csn_status read_comment(struct otlp_reader *r, struct csni_span bytes) {
    struct profile_label label = { .kind = LABEL_EMPTY };
    CSNI_TRY(csni_otlp_read_value(r, bytes, &label));
    return add_comment(r, &label);
}

static csn_status read_comments(struct otlp_reader *r, struct csni_span list) {
    return csni_otlp_each_message(r, list, 1, "a list", read_comment);
}

/* The collector's translator of pprof numbers them: "pprof.profile.comment.0". */
static bool is_comment(const struct otlp_reader *r, const struct profile_label *label) {
    const struct csn_str key = csni_profile_str(r->p, label->key), comment = csni_str(csni_otlp_pprof_keys[OTLP_COMMENT]);
    if (key.len <= comment.len || memcmp(key.ptr, comment.ptr, comment.len) != 0 || key.ptr[comment.len] != '.')
        return label->key == r->pprof_keys[OTLP_COMMENT];
    for (size_t i = comment.len + 1; i < key.len; i++)
        if (key.ptr[i] < '0' || key.ptr[i] > '9') return false;
    return true;
}

/* The first that is told counts, as of pprof's inputs. */
static csn_status take_of_profile(struct otlp_reader *r, const struct otlp_attribute *attribute, void *context) {
    static const uint8_t keys[] = { OTLP_DROP_FRAMES, OTLP_KEEP_FRAMES, OTLP_DOC_URL };
    uint32_t *const texts[] = { &r->p->drop_frames, &r->p->keep_frames, &r->p->doc_url };
    const struct profile_label *label = &attribute->label;
    (void)context;
    if (is_comment(r, label) && label->kind != LABEL_NONE) return add_comment(r, label);
    if (is_comment(r, label)) return csni_otlp_each_message(r, attribute->value, 5, "a value", read_comments);
    for (size_t i = 0; i < sizeof keys; i++) {
        if (label->key != r->pprof_keys[keys[i]] || !is_text(label)) continue;
        if (!*texts[i]) *texts[i] = label->text;
        return CSN_OK;
    }
    r->p->attributes_left_out++;
    return CSN_OK;
}

static csn_status read_type(struct otlp_reader *r, struct csni_span bytes, uint32_t *type, uint32_t *unit) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, type));
        if (field.number == 2) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, unit));
    }
    return c.failed ? csni_otlp_fail_message(r, "a type of values", &c) : CSN_OK;
}

/* Another profile of a type that there was has samples of its own. */
static void begin_twins(struct otlp_reader *r, uint32_t type) {
    const bool is_new_type = !(r->scope_types >> type & 1);
    const bool every = r->p->flags & (CSN_PROFILE_EVERY_SAMPLE | CSN_PROFILE_UNIX_TIMES);
    r->scope_types |= 1u << type;
    r->twin = every && is_new_type ? r->first_twin : r->twins_end;
}

/* The profiles of an input are of one time, one for each type of values: the longest duration counts. */
static void take_times(struct otlp_reader *r, struct profile_times times) {
    const int64_t longest = times.duration_ns > r->duration_ns ? times.duration_ns : r->duration_ns;
    times.duration_ns = longest - r->duration_ns;
    r->duration_ns = longest;
    csni_profile_add_times(r->p, &times);
}

static csn_status read_profile(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct csn_profile *p = r->p;
    struct proto_field field;
    struct profile_times times = { .time_ns = 0 };
    uint32_t type = 0, unit = 0, number;
    r->first_comment = p->comments.count;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_BYTES) CSNI_TRY(read_type(r, field.bytes, &type, &unit));
        if (field.number == 3 && field.type == PROTO_FIXED64) times.time_ns = (int64_t)field.value;
        if (field.number == 4 && field.type == PROTO_VARINT) times.duration_ns = (int64_t)field.value;
        if (field.number == 5 && field.type == PROTO_BYTES)
            CSNI_TRY(read_type(r, field.bytes, &times.period_type, &times.period_unit));
        if (field.number == 6) times.period = (int64_t)field.value;
        if (field.number == 7 || field.number == 10) csni_otlp_leave_out(r, &field); /* its id, and where it was made of */
        if (field.number == 11) CSNI_TRY(csni_otlp_each_attribute(r, &field, take_of_profile, NULL));
    }
    if (c.failed) return csni_otlp_fail_message(r, "a profile", &c);
    take_times(r, times);
    CSNI_TRY(csn_profile_add_value_type(p, csni_profile_str(p, type), csni_profile_str(p, unit), &number, r->err));
    begin_twins(r, number);
    c = csni_cursor_at(bytes, false);
    while (csni_proto_next(&c, &field))
        if (field.number == 2 && field.type == PROTO_BYTES) CSNI_TRY(read_sample(r, field.bytes, number));
    if (r->first_twin == r->twins_end) r->twins_end = p->samples.count;
    return CSN_OK;
}

/* ---- scopes and resources ---- */

/* Fields by the bit of their number: entities, and the addresses of schemas. */
static csn_status leave_out_fields(struct otlp_reader *r, struct csni_span bytes, uint32_t numbers, const char *what) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field))
        if (field.number < 32 && numbers >> field.number & 1) csni_otlp_leave_out(r, &field);
    return c.failed ? csni_otlp_fail_message(r, what, &c) : CSN_OK;
}

/* KeyValue: the key is a text, or the number of one. */
static csn_status read_key_value(struct otlp_reader *r, struct csni_span bytes, struct profile_label *out) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_BYTES)
            CSNI_TRY(csni_profile_string(r->p, (struct csn_str){ (const char *)field.bytes.ptr, field.bytes.size }, &out->key,
                                         r->err));
        if (field.number == 2 && field.type == PROTO_BYTES) CSNI_TRY(csni_otlp_read_value(r, field.bytes, out));
        if (field.number == 3 && field.type == PROTO_VARINT && field.value)
            CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &out->key));
    }
    return c.failed ? csni_otlp_fail_message(r, "an attribute of a resource or scope", &c) : CSN_OK;
}

static csn_status read_scope_attribute(struct otlp_reader *r, struct csni_span bytes) {
    struct profile_label label = { .kind = LABEL_EMPTY };
    CSNI_TRY(read_key_value(r, bytes, &label));
    const bool is_type = label.key == r->pprof_keys[OTLP_DEFAULT_TYPE] && is_text(&label);
    if (is_type && !r->p->default_type) r->p->default_type = label.text;
    r->p->attributes_left_out += !is_type;
    return CSN_OK;
}

/* Its name and version have no place. */
static csn_status read_scope(struct otlp_reader *r, struct csni_span bytes) {
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 1 | 1 << 2, "a scope"));
    return csni_otlp_each_message(r, bytes, 3, "a scope", read_scope_attribute);
}

static csn_status read_scope_profiles(struct otlp_reader *r, struct csni_span bytes) {
    r->first_twin = r->twins_end = r->p->samples.count;
    r->scope_types = 0;
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 3, "profiles of a scope"));
    CSNI_TRY(csni_otlp_each_message(r, bytes, 1, "profiles of a scope", read_scope));
    return csni_otlp_each_message(r, bytes, 2, "profiles of a scope", read_profile);
}

static csn_status read_resource_attribute(struct otlp_reader *r, struct csni_span bytes) {
    struct profile_label label = { .kind = LABEL_EMPTY, .is_of_resource = true };
    CSNI_TRY(read_key_value(r, bytes, &label));
    if (key_is(r, &label, "process.executable.name")) r->executable = label.text;
    if (key_is(r, &label, "process.pid")) r->pid = (uint64_t)label.number;
    if (label.key && label.kind != LABEL_NONE) return csni_vec_push(&r->resource, label) ? CSN_OK : csni_otlp_fail_memory(r);
    r->p->attributes_left_out++;
    return CSN_OK;
}

static csn_status read_resource(struct otlp_reader *r, struct csni_span bytes) {
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 3, "a resource"));
    return csni_otlp_each_message(r, bytes, 1, "a resource", read_resource_attribute);
}

static csn_status read_resource_profiles(struct otlp_reader *r, struct csni_span bytes) {
    r->executable = 0;
    r->pid = 0;
    r->resource.count = 0;
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 3, "profiles of a resource"));
    CSNI_TRY(csni_otlp_each_message(r, bytes, 1, "profiles of a resource", read_resource));
    return csni_otlp_each_message(r, bytes, 2, "profiles of a resource", read_scope_profiles);
}

csn_status csni_otlp_read(struct csn_profile *p, struct csni_span bytes, struct csn_error *err) {
    struct otlp_reader r = { .p = p, .err = err, .all = bytes };
    p->inputs.items[p->inputs.count - 1].has_unix_times = true;
    r.strings.items.alloc = r.functions.items.alloc = r.mappings.items.alloc = r.locations.items.alloc = r.stacks.items.alloc =
        p->alloc;
    r.attributes.alloc = r.stack.alloc = r.values.alloc = r.times.alloc = r.labels.alloc = r.resource.alloc = p->alloc;
    csn_status status = CSN_OK;
    for (size_t i = 0; i < OTLP_PPROF_KEYS && status == CSN_OK; i++)
        status = csni_profile_string(p, csni_str(csni_otlp_pprof_keys[i]), &r.pprof_keys[i], err);
    if (status == CSN_OK) status = csni_otlp_each_message(&r, bytes, 2, "the input", csni_otlp_read_dictionary);
    if (status == CSN_OK) status = csni_otlp_each_message(&r, bytes, 1, "the input", read_resource_profiles);
    csni_vec_deinit(&r.strings.items);
    csni_vec_deinit(&r.functions.items);
    csni_vec_deinit(&r.mappings.items);
    csni_vec_deinit(&r.locations.items);
    csni_vec_deinit(&r.stacks.items);
    csni_vec_deinit(&r.attributes);
    csni_vec_deinit(&r.stack);
    csni_vec_deinit(&r.values);
    csni_vec_deinit(&r.times);
    csni_vec_deinit(&r.labels);
    csni_vec_deinit(&r.resource);
    return status;
}

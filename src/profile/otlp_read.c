/* OpenTelemetry's profiles: tables that everything else refers to by index, index 0 being nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "profile/profile_read.h"
#include "profile/proto_wire.h"

/* Numbers in the profile, by index of the table. */
struct otlp_table {
    CSNI_VEC(uint32_t) items;
};

struct otlp_reader {
    struct csn_profile *p;
    struct csn_error *err;
    struct csni_span all;
    struct otlp_table strings, functions, mappings, locations, stacks;
    CSNI_VEC(struct profile_label) attributes;
    CSNI_VEC(uint32_t) stack;    /* of locations */
    CSNI_VEC(int64_t) values;
    CSNI_VEC(uint64_t) times;
    CSNI_VEC(struct profile_label) labels, resource; /* of a sample, and of the resource that it is of */
    size_t twin, first_twin, twins_end; /* samples of the scope's first profile: the next one, the first, behind the last */
    uint32_t scope_types;        /* bits of the value types of the scope's profiles */
    uint32_t executable;         /* name of the resource's process; a string */
    uint64_t pid;
    int64_t duration_ns;         /* the longest */
};

static const char SECTION[] = "OTLP";

static csn_status fail_memory(struct otlp_reader *r) { return csni_fail_memory(r->err, 0); }

static csn_status fail_message(struct otlp_reader *r, const char *what, const struct csni_cursor *c) {
    return csni_fail(r->err, CSN_E_FORMAT, SECTION, (uint64_t)(c->begin - r->all.ptr),
                     "%s of %zu bytes is damaged at byte %llu", what, (size_t)(c->end - c->begin),
                     (unsigned long long)c->failed_at);
}

static csn_status fail_index(struct otlp_reader *r, struct csni_span at, const char *what, uint64_t index, size_t count) {
    return csni_fail(r->err, CSN_E_FORMAT, SECTION, at.ptr ? (uint64_t)(at.ptr - r->all.ptr) : 0,
                     "%s %llu does not exist, there are %zu", what, (unsigned long long)index, count);
}

static csn_status fail_frames(struct otlp_reader *r, struct csni_span at, const char *what) {
    return csni_profile_fail_frames(r->err, SECTION, (uint64_t)(at.ptr - r->all.ptr), what);
}

/* The table's number; index 0 may be missing in an empty table. */
static csn_status number_of(struct otlp_reader *r, const struct otlp_table *table, uint64_t index, struct csni_span at,
                            const char *what, uint32_t *out) {
    *out = 0;
    if (index < table->items.count) *out = table->items.items[index];
    else if (index) return fail_index(r, at, what, index, table->items.count);
    return CSN_OK;
}

static csn_status string_of(struct otlp_reader *r, uint64_t index, struct csni_span at, uint32_t *out) {
    return number_of(r, &r->strings, index, at, "string", out);
}

typedef csn_status otlp_message(struct otlp_reader *r, struct csni_span bytes);

/* Calls `read` for each field `number` of a message. */
static csn_status each_message(struct otlp_reader *r, struct csni_span bytes, uint32_t number, const char *what,
                               otlp_message *read) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field))
        if (field.number == number && field.type == PROTO_BYTES) CSNI_TRY(read(r, field.bytes));
    return c.failed ? fail_message(r, what, &c) : CSN_OK;
}

/* ---- the dictionary ---- */

static csn_status read_string(struct otlp_reader *r, struct csni_span bytes) {
    uint32_t number;
    CSNI_TRY(csni_profile_string(r->p, (struct csn_str){ (const char *)bytes.ptr, bytes.size }, &number, r->err));
    return csni_vec_push(&r->strings.items, number) ? CSN_OK : fail_memory(r);
}

/* With as many digits as tell it from its neighbours. The decimal point may be another one in the locale of the program. */
static csn_status read_double(struct otlp_reader *r, uint64_t bits, uint32_t *out) {
    char text[48];
    double value;
    size_t used = 0;
    memcpy(&value, &bits, sizeof value);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    for (const char *at = text; *at; at++) {
        if (strchr("0123456789+-einfa", *at)) text[used++] = *at;
        else if (!used || text[used - 1] != '.') text[used++] = '.';
    }
    return csni_profile_string(r->p, (struct csn_str){ text, used }, out, r->err);
}

enum { VALUE_TEXT = 1, VALUE_BOOL, VALUE_INT, VALUE_DOUBLE, VALUE_LIST, VALUE_MAP, VALUE_BYTES, VALUE_STRING }; /* fields */

/* AnyValue: a text, or a number. Of several fields the last counts, as of any oneof. */
static csn_status read_value(struct otlp_reader *r, struct csni_span bytes, struct profile_label *out) {
    static const uint16_t kinds[] = { [VALUE_TEXT] = LABEL_TEXT,     [VALUE_BOOL] = LABEL_BOOL, [VALUE_INT] = LABEL_PLAIN,
                                      [VALUE_DOUBLE] = LABEL_DOUBLE, [VALUE_LIST] = LABEL_NONE, [VALUE_MAP] = LABEL_NONE,
                                      [VALUE_BYTES] = LABEL_NONE,    [VALUE_STRING] = LABEL_TEXT };
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (!field.number || field.number > VALUE_STRING) continue;
        out->kind = kinds[field.number];
        out->number = (int64_t)field.value;
        out->text = 0;
        if (field.number == VALUE_TEXT && field.type == PROTO_BYTES)
            CSNI_TRY(csni_profile_string(r->p, (struct csn_str){ (const char *)field.bytes.ptr, field.bytes.size },
                                         &out->text, r->err));
        if (field.number == VALUE_BOOL) out->number = field.value != 0;
        if (field.number == VALUE_DOUBLE && field.type == PROTO_FIXED64) CSNI_TRY(read_double(r, field.value, &out->text));
        if (field.number == VALUE_STRING) CSNI_TRY(string_of(r, field.value, bytes, &out->text));
        if (out->kind == LABEL_TEXT) out->number = 0;
        if (out->kind == LABEL_TEXT && out->text) out->kind = LABEL_PLAIN;
    }
    return c.failed ? fail_message(r, "a value", &c) : CSN_OK;
}

static csn_status read_attribute(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_label label = { .kind = LABEL_EMPTY };
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_VARINT) CSNI_TRY(string_of(r, field.value, bytes, &label.key));
        if (field.number == 2 && field.type == PROTO_BYTES) CSNI_TRY(read_value(r, field.bytes, &label));
        if (field.number == 3) CSNI_TRY(string_of(r, field.value, bytes, &label.unit));
    }
    if (c.failed) return fail_message(r, "an attribute", &c);
    return csni_vec_push(&r->attributes, label) ? CSN_OK : fail_memory(r);
}

/* Adds the attributes of a repeated field of indexes, those that labels can have. */
static csn_status take_attributes(struct otlp_reader *r, const struct proto_field *field) {
    struct csni_cursor packed = csni_cursor_at(field->bytes, false);
    uint64_t index = field->value;
    bool more = field->type == PROTO_VARINT || csni_proto_next_number(&packed, &index);
    for (; more; more = csni_proto_next_number(&packed, &index)) {
        if (index >= r->attributes.count) return fail_index(r, field->bytes, "attribute", index, r->attributes.count);
        if (!index) continue;
        const struct profile_label *label = &r->attributes.items[index];
        if (!label->key || label->kind == LABEL_NONE) r->p->attributes_left_out++;
        else if (!csni_vec_push(&r->labels, *label)) return fail_memory(r);
    }
    return packed.failed ? fail_message(r, "a list of attributes", &packed) : CSN_OK;
}

/* Attributes of things that have no labels. */
static csn_status leave_out_attributes(struct otlp_reader *r, const struct proto_field *field) {
    r->labels.count = 0;
    CSNI_TRY(take_attributes(r, field));
    r->p->attributes_left_out += r->labels.count;
    return CSN_OK;
}

/* Texts, bytes and messages that the profile has no place for. */
static void leave_out(struct otlp_reader *r, const struct proto_field *field) {
    r->p->attributes_left_out += field->type == PROTO_BYTES && field->bytes.size;
}

static csn_status read_function(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_function function = { .name = 0 };
    struct proto_field field;
    uint32_t number;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) CSNI_TRY(string_of(r, field.value, bytes, &function.name));
        if (field.number == 2) CSNI_TRY(string_of(r, field.value, bytes, &function.system_name));
        if (field.number == 3) CSNI_TRY(string_of(r, field.value, bytes, &function.file));
        if (field.number == 4) function.start_line = csni_profile_line_number(r->p, field.value);
    }
    if (c.failed) return fail_message(r, "a function", &c);
    if (function.system_name == function.name) function.system_name = 0;
    CSNI_TRY(csni_profile_function(r->p, &function, &number, r->err));
    return csni_vec_push(&r->functions.items, number) ? CSN_OK : fail_memory(r);
}

static bool is_build_id_key(struct csn_str key) {
    static const char gnu[] = "process.executable.build_id.gnu";
    return key.len == sizeof gnu - 1 && memcmp(key.ptr, gnu, key.len) == 0;
}

static csn_status read_mapping(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    uint64_t numbers[5] = { 0 };
    struct proto_field field;
    uint32_t path, number = CSN_PROFILE_NO_MODULE;
    struct csn_str build_id = { "", 0 };
    r->labels.count = 0;
    while (csni_proto_next(&c, &field)) {
        if (field.number < 5 && field.type == PROTO_VARINT) numbers[field.number] = field.value;
        if (field.number == 5) CSNI_TRY(take_attributes(r, &field));
    }
    if (c.failed) return fail_message(r, "a mapping", &c);
    CSNI_TRY(string_of(r, numbers[4], bytes, &path));
    for (size_t i = 0; i < r->labels.count; i++) {
        if (is_build_id_key(csni_profile_str(r->p, r->labels.items[i].key)))
            build_id = csni_profile_str(r->p, r->labels.items[i].text);
        else r->p->attributes_left_out++;
    }
    if (r->mappings.items.count) /* the first is no mapping */
        CSNI_TRY(csni_profile_hex_module(r->p, csni_profile_str(r->p, path), build_id, numbers[1], numbers[2],
                                         numbers[3], &number, r->err));
    if (number != CSN_PROFILE_NO_MODULE) r->p->modules.items[number].known = MODULE_BY_LOCATIONS;
    return csni_vec_push(&r->mappings.items, number) ? CSN_OK : fail_memory(r);
}

static csn_status read_line(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_line line = { .function = 0 };
    struct proto_field field;
    uint64_t function = 0;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) function = field.value;
        if (field.number == 2) line.line = csni_profile_line_number(r->p, field.value);
        if (field.number == 3) line.column = csni_profile_line_number(r->p, field.value);
    }
    if (c.failed) return fail_message(r, "a line", &c);
    if (function >= r->functions.items.count) return fail_index(r, bytes, "function", function, r->functions.items.count);
    line.function = r->functions.items.items[function];
    line.inlined = true; /* but the last of the location */
    return csni_profile_push_line(r->p, &line, r->err);
}

static csn_status read_location(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_location location = { .module = CSN_PROFILE_NO_MODULE, .first_line = (uint32_t)r->p->lines.count };
    struct proto_field field;
    uint64_t mapping = 0;
    uint32_t number;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) mapping = field.value;
        if (field.number == 2) location.value = field.value;
        if (field.number == 3 && r->p->lines.count - location.first_line == PROFILE_FRAMES_MAX)
            return fail_frames(r, bytes, "a location");
        if (field.number == 3 && field.type == PROTO_BYTES) CSNI_TRY(read_line(r, field.bytes));
        if (field.number == 4) CSNI_TRY(leave_out_attributes(r, &field));
    }
    if (c.failed) return fail_message(r, "a location", &c);
    if (mapping) CSNI_TRY(number_of(r, &r->mappings, mapping, bytes, "mapping", &location.module));
    location.line_count = (uint32_t)(r->p->lines.count - location.first_line);
    if (location.line_count) r->p->lines.items[r->p->lines.count - 1].inlined = false;
    location.kind = location.value ? CSN_PROFILE_AT_PC : CSN_PROFILE_AT_NAME;
    CSNI_TRY(csni_profile_push_location(r->p, &location, &number, r->err));
    return csni_vec_push(&r->locations.items, number) ? CSN_OK : fail_memory(r);
}

static csn_status read_stack(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    uint32_t number, stack;
    r->stack.count = 0;
    while (csni_proto_next(&c, &field)) {
        struct csni_cursor packed = csni_cursor_at(field.bytes, false);
        uint64_t index = field.value;
        bool more = field.number == 1 && (field.type == PROTO_VARINT || csni_proto_next_number(&packed, &index));
        for (; more; more = csni_proto_next_number(&packed, &index)) {
            if (index >= r->locations.items.count) return fail_index(r, bytes, "location", index, r->locations.items.count);
            if (r->stack.count == PROFILE_FRAMES_MAX) return fail_frames(r, bytes, "a stack");
            number = r->locations.items.items[index];
            if (!csni_vec_push(&r->stack, number)) return fail_memory(r);
        }
        if (packed.failed) return fail_message(r, "a stack", &packed);
    }
    if (c.failed) return fail_message(r, "a stack", &c);
    CSNI_TRY(csn_profile_add_stack(r->p, r->stack.items, r->stack.count, &stack, r->err));
    return csni_vec_push(&r->stacks.items, stack) ? CSN_OK : fail_memory(r);
}

/* Each table needs those before it in this order, whatever theirs is in the message. */
static csn_status read_dictionary(struct otlp_reader *r, struct csni_span bytes) {
    static const struct {
        uint32_t field;
        otlp_message *read;
    } tables[] = { { 5, read_string },  { 6, read_attribute }, { 3, read_function },
                   { 1, read_mapping }, { 2, read_location },  { 7, read_stack } };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        CSNI_TRY(each_message(r, bytes, tables[i].field, "the dictionary", tables[i].read));
    return CSN_OK;
}

/* ---- profiles ---- */

static csn_status read_numbers(struct otlp_reader *r, const struct proto_field *field, bool fixed) {
    struct csni_cursor packed = csni_cursor_at(field->bytes, false);
    uint64_t value = field->value;
    if (field->type != PROTO_BYTES)
        return (fixed ? csni_vec_push(&r->times, value) : csni_vec_push(&r->values, (int64_t)value)) ? CSN_OK : fail_memory(r);
    while (packed.p < packed.end) {
        value = fixed ? csni_cursor_u64(&packed) : csni_cursor_uleb(&packed);
        if (packed.failed) return fail_message(r, "a list of numbers", &packed);
        if (!(fixed ? csni_vec_push(&r->times, value) : csni_vec_push(&r->values, (int64_t)value))) return fail_memory(r);
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

static csn_status read_sample(struct otlp_reader *r, struct csni_span bytes, uint32_t type) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_sample_row row = { .input = (uint32_t)r->p->inputs.count - 1 };
    struct proto_field field;
    uint64_t stack = 0;
    r->values.count = r->times.count = r->labels.count = 0;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_VARINT) stack = field.value;
        if (field.number == 2) CSNI_TRY(take_attributes(r, &field));
        if (field.number == 3) r->p->attributes_left_out += field.value != 0; /* a link */
        if (field.number == 4 || field.number == 5) CSNI_TRY(read_numbers(r, &field, field.number == 5));
    }
    if (c.failed) return fail_message(r, "a sample", &c);
    CSNI_TRY(number_of(r, &r->stacks, stack, bytes, "stack", &row.stack));
    if (r->p->flags & CSN_PROFILE_EVERY_SAMPLE) CSNI_TRY(sample_thread(r, &row.thread));
    for (size_t i = 0; i < r->resource.count; i++)
        if (!csni_vec_push(&r->labels, r->resource.items[i])) return fail_memory(r);
    CSNI_TRY(csni_profile_label_set(r->p, r->labels.items, r->labels.count, &row.labels, r->err));
    /* Times without values count 1 each; a value without times is a sum. A sample with neither stays, with the sum 0. */
    const size_t values = r->values.count, times = r->times.count;
    if (values && times && values != times)
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, (uint64_t)(bytes.ptr - r->all.ptr),
                         "a sample has %zu values and %zu times, need as many of both, or one kind alone", values, times);
    for (size_t i = 0; i < values || i < times || !i; i++)
        CSNI_TRY(add_observation(r, &row, type, values ? r->values.items[i] : times != 0, times ? r->times.items[i] : 0));
    return CSN_OK;
}

static csn_status read_type(struct otlp_reader *r, struct csni_span bytes, uint32_t *type, uint32_t *unit) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) CSNI_TRY(string_of(r, field.value, bytes, type));
        if (field.number == 2) CSNI_TRY(string_of(r, field.value, bytes, unit));
    }
    return c.failed ? fail_message(r, "a type of values", &c) : CSN_OK;
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
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_BYTES) CSNI_TRY(read_type(r, field.bytes, &type, &unit));
        if (field.number == 3 && field.type == PROTO_FIXED64) times.time_ns = (int64_t)field.value;
        if (field.number == 4 && field.type == PROTO_VARINT) times.duration_ns = (int64_t)field.value;
        if (field.number == 5 && field.type == PROTO_BYTES)
            CSNI_TRY(read_type(r, field.bytes, &times.period_type, &times.period_unit));
        if (field.number == 6) times.period = (int64_t)field.value;
        if (field.number == 7 || field.number == 10) leave_out(r, &field); /* its id, and where it was made of */
        if (field.number == 11) CSNI_TRY(leave_out_attributes(r, &field));
    }
    if (c.failed) return fail_message(r, "a profile", &c);
    take_times(r, times);
    CSNI_TRY(csn_profile_add_value_type(p, csni_profile_str(p, type), csni_profile_str(p, unit), &number, r->err));
    begin_twins(r, number);
    c = csni_cursor_at(bytes, false);
    while (csni_proto_next(&c, &field))
        if (field.number == 2 && field.type == PROTO_BYTES) CSNI_TRY(read_sample(r, field.bytes, number));
    if (r->first_twin == r->twins_end) r->twins_end = p->samples.count;
    return CSN_OK;
}

/* Fields by the bit of their number: the scope itself, entities, and the addresses of schemas. */
static csn_status leave_out_fields(struct otlp_reader *r, struct csni_span bytes, uint32_t numbers, const char *what) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field))
        if (field.number < 32 && numbers >> field.number & 1) leave_out(r, &field);
    return c.failed ? fail_message(r, what, &c) : CSN_OK;
}

static csn_status read_scope(struct otlp_reader *r, struct csni_span bytes) {
    r->first_twin = r->twins_end = r->p->samples.count;
    r->scope_types = 0;
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 1 | 1 << 3, "profiles of a scope"));
    return each_message(r, bytes, 2, "profiles of a scope", read_profile);
}

/* KeyValue: the key is a text, or the number of one. */
static csn_status read_resource_attribute(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_label label = { .kind = LABEL_EMPTY, .is_of_resource = true };
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_BYTES)
            CSNI_TRY(csni_profile_string(r->p, (struct csn_str){ (const char *)field.bytes.ptr, field.bytes.size },
                                         &label.key, r->err));
        if (field.number == 2 && field.type == PROTO_BYTES) CSNI_TRY(read_value(r, field.bytes, &label));
        if (field.number == 3 && field.type == PROTO_VARINT && field.value) CSNI_TRY(string_of(r, field.value, bytes, &label.key));
    }
    if (c.failed) return fail_message(r, "an attribute of a resource", &c);
    if (key_is(r, &label, "process.executable.name")) r->executable = label.text;
    if (key_is(r, &label, "process.pid")) r->pid = (uint64_t)label.number;
    if (label.key && label.kind != LABEL_NONE) return csni_vec_push(&r->resource, label) ? CSN_OK : fail_memory(r);
    r->p->attributes_left_out++;
    return CSN_OK;
}

static csn_status read_resource(struct otlp_reader *r, struct csni_span bytes) {
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 3, "a resource"));
    return each_message(r, bytes, 1, "a resource", read_resource_attribute);
}

static csn_status read_resource_profiles(struct otlp_reader *r, struct csni_span bytes) {
    r->executable = 0;
    r->pid = 0;
    r->resource.count = 0;
    CSNI_TRY(leave_out_fields(r, bytes, 1 << 3, "profiles of a resource"));
    CSNI_TRY(each_message(r, bytes, 1, "profiles of a resource", read_resource));
    return each_message(r, bytes, 2, "profiles of a resource", read_scope);
}

csn_status csni_otlp_read(struct csn_profile *p, struct csni_span bytes, struct csn_error *err) {
    struct otlp_reader r = { .p = p, .err = err, .all = bytes };
    p->inputs.items[p->inputs.count - 1].has_unix_times = true;
    r.strings.items.alloc = r.functions.items.alloc = r.mappings.items.alloc = r.locations.items.alloc = r.stacks.items.alloc =
        p->alloc;
    r.attributes.alloc = r.stack.alloc = r.values.alloc = r.times.alloc = r.labels.alloc = r.resource.alloc = p->alloc;
    csn_status status = each_message(&r, bytes, 2, "the input", read_dictionary);
    if (status == CSN_OK) status = each_message(&r, bytes, 1, "the input", read_resource_profiles);
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

/* pprof in a stream: samples come before the locations, functions and strings that they name. A location is made when the first
 * sample names it, and filled in when it comes. */
#include <string.h>

#include "base/hash.h"
#include "base/hex.h"
#include "profile/profile_read.h"
#include "profile/proto_wire.h"

struct raw_line {
    uint64_t function;
    uint32_t line, column;
};
struct raw_location {
    uint64_t mapping;
    uint32_t first_line, line_count; /* of `lines` */
    bool is_defined, is_folded;
};
struct raw_function {
    uint64_t id, name, system_name, file, start_line; /* start_line: of 32 bits once it is read */
};
struct raw_mapping {
    uint64_t id, start, end, file_off, path, build_id;
    uint32_t known;              /* MODULE_ */
};
struct raw_type {
    uint64_t type, unit;
};
struct value_count {
    bool is_known;
    uint32_t count;
    uint64_t off;                /* of the sample */
};
/* Numbers by id: a table for ids of any size. */
struct id_map {
    struct csni_profile_table table;
    CSNI_VEC(uint64_t) ids;
};

struct pprof_reader {
    struct csn_profile *p;
    struct csni_profile_stream *stream;
    struct csn_error *err;
    struct csn_profile *labels;  /* sets of labels whose strings are numbers of this file */
    size_t first_location, first_sample;
    struct id_map location_ids;  /* number: location - first_location */
    struct id_map function_ids, mapping_ids;
    CSNI_VEC(uint32_t) direct;   /* location + 1 by id, of small ids */
    CSNI_VEC(struct raw_location) locations;
    CSNI_VEC(struct raw_line) lines;
    CSNI_VEC(struct raw_function) functions;
    CSNI_VEC(struct raw_mapping) mappings;
    CSNI_VEC(struct raw_type) types;
    CSNI_VEC(uint32_t) strings;  /* the profile's number of each string */
    CSNI_VEC(uint32_t) stack;    /* of one sample */
    CSNI_VEC(int64_t) values;
    CSNI_VEC(struct profile_label) label;
    CSNI_VEC(uint64_t) comments;
    uint32_t first_value, most_values;
    struct value_count first_count, other_count; /* of the first sample, and of the first that has another number of values */
    uint64_t field_off;          /* of the field that is being read */
    struct raw_type period_type;
    uint64_t period, time_ns, duration_ns, default_type, drop_frames, keep_frames, doc_url;
};

static const char SECTION[] = "pprof";
enum { DIRECT_MAX = 1 << 22 };

static csn_status fail_memory(struct pprof_reader *r) { return csni_fail_memory(r->err, 0); }

static csn_status fail_field(struct pprof_reader *r, const char *what, const struct csni_cursor *c) {
    return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->field_off, "%s of %zu bytes is damaged at byte %llu", what,
                     (size_t)(c->end - c->begin), (unsigned long long)(c->failed ? c->failed_at : csni_cursor_off(c)));
}

static csn_status fail_concatenated(struct pprof_reader *r, const char *what, uint64_t id) {
    return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->field_off,
                     "%s %llu comes a second time: two profiles, one behind the other? Each is an input of its own", what,
                     (unsigned long long)id);
}

/* A number or bytes: a field of another type is damaged, and what it has instead is something else. */
static uint64_t number_of(struct csni_cursor *c, const struct proto_field *field) {
    if (field->type != PROTO_VARINT) csni_cursor_fail(c);
    return field->value;
}

static bool is_message(struct csni_cursor *c, const struct proto_field *field) {
    if (field->type != PROTO_BYTES) csni_cursor_fail(c);
    return field->type == PROTO_BYTES;
}

/* ---- ids ---- */

static bool id_equals(const void *context, uint32_t number, const void *key) {
    const struct id_map *map = context;
    return map->ids.items[number] == *(const uint64_t *)key;
}

static bool find_id(const struct id_map *map, uint64_t id, uint32_t *out) {
    return csni_profile_table_find(&map->table, csni_hash_u64(id), id_equals, map, &id, out);
}

static bool add_id(struct id_map *map, uint64_t id) {
    return csni_vec_push(&map->ids, id) && csni_profile_table_add(&map->table, csni_hash_u64(id), (uint32_t)map->ids.count - 1);
}

static csn_status check_id(struct pprof_reader *r, const char *what, uint64_t id, bool is_known) {
    if (!id) return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->field_off, "%s has the id 0, which stands for none", what);
    return is_known ? fail_concatenated(r, what, id) : CSN_OK;
}

/* The id of a mapping or a function. */
static csn_status define_id(struct pprof_reader *r, struct id_map *map, const char *what, uint64_t id) {
    uint32_t number;
    CSNI_TRY(check_id(r, what, id, find_id(map, id, &number)));
    return add_id(map, id) ? CSN_OK : fail_memory(r);
}

/* The profile's location of an id; one that is not known yet is made. */
static csn_status location_of_id(struct pprof_reader *r, uint64_t id, uint32_t *out) {
    const struct profile_location placeholder = { .module = CSN_PROFILE_NO_MODULE, .kind = CSN_PROFILE_AT_NAME };
    uint32_t number;
    if (id < r->direct.count && r->direct.items[id]) {
        *out = r->direct.items[id] - 1;
        return CSN_OK;
    }
    if (id >= DIRECT_MAX && find_id(&r->location_ids, id, &number)) {
        *out = (uint32_t)r->first_location + number;
        return CSN_OK;
    }
    const struct raw_location raw = { .mapping = 0 };
    CSNI_TRY(csni_profile_push_location(r->p, &placeholder, out, r->err));
    if (!csni_vec_push(&r->locations, raw) || !add_id(&r->location_ids, id)) return fail_memory(r);
    if (id >= DIRECT_MAX) return CSN_OK;
    while (r->direct.count <= id)
        if (!csni_vec_push(&r->direct, 0)) return fail_memory(r);
    r->direct.items[id] = *out + 1;
    return CSN_OK;
}

/* ---- samples ---- */

static csn_status add_location_id(struct pprof_reader *r, uint64_t id) {
    uint32_t location;
    if (r->stack.count == PROFILE_FRAMES_MAX) return csni_profile_fail_frames(r->err, SECTION, r->field_off, "a stack");
    CSNI_TRY(location_of_id(r, id, &location));
    return csni_vec_push(&r->stack, location) ? CSN_OK : fail_memory(r);
}

static csn_status add_sample_value(struct pprof_reader *r, uint64_t value) {
    if (r->values.count == PROFILE_VALUE_TYPES_MAX)
        return csni_fail(r->err, CSN_E_LIMIT, SECTION, r->field_off, "a sample has more than %d values", PROFILE_VALUE_TYPES_MAX);
    return csni_vec_push(&r->values, (int64_t)value) ? CSN_OK : fail_memory(r);
}

static csn_status add_sample_numbers(struct pprof_reader *r, const struct proto_field *field,
                                     csn_status add(struct pprof_reader *r, uint64_t value)) {
    uint64_t value;
    struct csni_cursor packed = csni_cursor_at(field->bytes, false);
    if (field->type == PROTO_VARINT) return add(r, field->value);
    if (!is_message(&packed, field)) return fail_field(r, "a list of numbers", &packed);
    while (csni_proto_next_number(&packed, &value)) CSNI_TRY(add(r, value));
    return packed.failed ? fail_field(r, "a list of numbers", &packed) : CSN_OK;
}

/* Labels have numbers of strings in 32 bits. One that has more is none of a string. */
static uint32_t label_string(uint64_t index) { return index < UINT32_MAX ? (uint32_t)index : UINT32_MAX; }

static csn_status read_label(struct pprof_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_label label = { .key = 0 };
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) label.key = label_string(number_of(&c, &field));
        if (field.number == 2) label.text = label_string(number_of(&c, &field));
        if (field.number == 3) label.number = (int64_t)number_of(&c, &field);
        if (field.number == 4) label.unit = label_string(number_of(&c, &field));
    }
    if (c.failed) return fail_field(r, "a label", &c);
    return csni_vec_push(&r->label, label) ? CSN_OK : fail_memory(r);
}

static csn_status read_sample_fields(struct pprof_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    r->stack.count = r->values.count = r->label.count = 0;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) CSNI_TRY(add_sample_numbers(r, &field, add_location_id));
        if (field.number == 2) CSNI_TRY(add_sample_numbers(r, &field, add_sample_value));
        if (field.number == 3 && is_message(&c, &field)) CSNI_TRY(read_label(r, field.bytes));
    }
    return c.failed ? fail_field(r, "a sample", &c) : CSN_OK;
}

/* The types of values may still come: what does not fit is told then. */
static void note_value_count(struct pprof_reader *r, uint32_t count) {
    const struct value_count own = { true, count, r->field_off };
    if (!r->first_count.is_known) r->first_count = own;
    else if (!r->other_count.is_known && count != r->first_count.count) r->other_count = own;
}

static csn_status read_sample(struct pprof_reader *r, struct csni_span bytes) {
    struct profile_sample_row row = { .input = (uint32_t)r->p->inputs.count - 1 };
    CSNI_TRY(read_sample_fields(r, bytes));
    CSNI_TRY(csn_profile_add_stack(r->p, r->stack.items, r->stack.count, &row.stack, r->err));
    CSNI_TRY(csni_profile_label_set(r->labels, r->label.items, r->label.count, &row.labels, r->err));
    const uint32_t count = (uint32_t)r->values.count;
    note_value_count(r, count);
    if (count > r->most_values) {
        r->most_values = count;
        if (!csni_profile_widen_values(r->p, r->first_value + count)) return fail_memory(r);
    }
    int64_t *values = csni_profile_sample(r->p, &row, r->err);
    if (!values) return r->err ? r->err->code : CSN_E_MEMORY;
    for (uint32_t i = 0; i < count; i++) r->p->sums_cut += !csni_profile_add_value(&values[r->first_value + i], r->values.items[i]);
    return CSN_OK;
}

/* ---- the other fields ---- */

static csn_status read_type(struct pprof_reader *r, struct csni_span bytes, struct raw_type *out) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) out->type = number_of(&c, &field);
        if (field.number == 2) out->unit = number_of(&c, &field);
    }
    return c.failed ? fail_field(r, "a type of values", &c) : CSN_OK;
}

static csn_status read_sample_type(struct pprof_reader *r, struct csni_span bytes) {
    struct raw_type type = { 0, 0 };
    CSNI_TRY(read_type(r, bytes, &type));
    return csni_vec_push(&r->types, type) ? CSN_OK : fail_memory(r);
}

static csn_status read_mapping(struct pprof_reader *r, struct csni_span bytes) {
    enum { FIRST_KNOWN = 7 };
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct raw_mapping mapping = { .id = 0 };
    uint64_t *const fields[] = { &mapping.id, &mapping.start, &mapping.end, &mapping.file_off, &mapping.path, &mapping.build_id };
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number <= sizeof fields / sizeof fields[0]) *fields[field.number - 1] = number_of(&c, &field);
        if (field.number >= FIRST_KNOWN && field.number < FIRST_KNOWN + 4 && number_of(&c, &field))
            mapping.known |= 1u << (field.number - FIRST_KNOWN);
    }
    if (c.failed) return fail_field(r, "a mapping", &c);
    CSNI_TRY(define_id(r, &r->mapping_ids, "mapping", mapping.id));
    return csni_vec_push(&r->mappings, mapping) ? CSN_OK : fail_memory(r);
}

static csn_status read_function(struct pprof_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct raw_function function = { .id = 0 };
    uint64_t *const fields[] = { &function.id, &function.name, &function.system_name, &function.file, &function.start_line };
    struct proto_field field;
    while (csni_proto_next(&c, &field))
        if (field.number <= sizeof fields / sizeof fields[0]) *fields[field.number - 1] = number_of(&c, &field);
    if (c.failed) return fail_field(r, "a function", &c);
    CSNI_TRY(define_id(r, &r->function_ids, "function", function.id));
    function.start_line = csni_profile_line_number(r->p, function.start_line);
    return csni_vec_push(&r->functions, function) ? CSN_OK : fail_memory(r);
}

static csn_status read_location_line(struct pprof_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct raw_line line = { 0, 0, 0 };
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) line.function = number_of(&c, &field);
        if (field.number == 2) line.line = csni_profile_line_number(r->p, number_of(&c, &field));
        if (field.number == 3) line.column = csni_profile_line_number(r->p, number_of(&c, &field));
    }
    if (c.failed) return fail_field(r, "a line", &c);
    return csni_vec_push(&r->lines, line) ? CSN_OK : fail_memory(r);
}

static csn_status read_location(struct pprof_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct raw_location raw = { .is_defined = true, .first_line = (uint32_t)r->lines.count };
    struct proto_field field;
    uint64_t id = 0, address = 0;
    uint32_t location;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) id = number_of(&c, &field);
        if (field.number == 2) raw.mapping = number_of(&c, &field);
        if (field.number == 3) address = number_of(&c, &field);
        if (field.number == 4 && r->lines.count - raw.first_line == PROFILE_FRAMES_MAX)
            return csni_profile_fail_frames(r->err, SECTION, r->field_off, "a location");
        if (field.number == 4 && is_message(&c, &field)) CSNI_TRY(read_location_line(r, field.bytes));
        if (field.number == 5) raw.is_folded = number_of(&c, &field);
    }
    if (c.failed) return fail_field(r, "a location", &c);
    if (r->lines.count > UINT32_MAX) return csni_fail(r->err, CSN_E_LIMIT, SECTION, r->field_off, "more than %u lines", UINT32_MAX);
    raw.line_count = (uint32_t)r->lines.count - raw.first_line;
    CSNI_TRY(location_of_id(r, id, &location));
    CSNI_TRY(check_id(r, "location", id, r->locations.items[location - r->first_location].is_defined));
    r->p->locations.items[location].value = address;
    r->locations.items[location - r->first_location] = raw;
    return CSN_OK;
}

static csn_status read_string(struct pprof_reader *r, struct csni_span bytes) {
    uint32_t number;
    CSNI_TRY(csni_profile_string(r->p, (struct csn_str){ (const char *)bytes.ptr, bytes.size }, &number, r->err));
    return csni_vec_push(&r->strings, number) ? CSN_OK : fail_memory(r);
}

static csn_status read_message(struct pprof_reader *r, uint32_t number, struct csni_span bytes) {
    switch (number) {
    case 1: return read_sample_type(r, bytes);
    case 2: return read_sample(r, bytes);
    case 3: return read_mapping(r, bytes);
    case 4: return read_location(r, bytes);
    case 5: return read_function(r, bytes);
    case 6: return read_string(r, bytes);
    case 11: return read_type(r, bytes, &r->period_type);
    default: return CSN_OK;
    }
}

static csn_status read_number(struct pprof_reader *r, uint32_t number, uint64_t value) {
    if (number == 7) r->drop_frames = value;
    if (number == 8) r->keep_frames = value;
    if (number == 9 && r->time_ns) return fail_concatenated(r, "a time,", r->time_ns); /* pprof's sign of two profiles, too */
    if (number == 9) r->time_ns = value;
    if (number == 10) r->duration_ns = value;
    if (number == 12) r->period = value;
    if (number == 13 && !csni_vec_push(&r->comments, value)) return fail_memory(r);
    if (number == 14) r->default_type = value;
    if (number == 15) r->doc_url = value;
    return CSN_OK;
}

/* ---- the stream ---- */

static csn_status read_packed_comments(struct pprof_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    uint64_t value;
    while (csni_proto_next_number(&c, &value)) CSNI_TRY(read_number(r, 13, value));
    return c.failed ? fail_field(r, "a list of comments", &c) : CSN_OK;
}

/* One field. Its tag and size are in the window, the rest is fetched. */
static csn_status read_field(struct pprof_reader *r) {
    enum { HEAD_MAX = 2 * PROTO_VARINT_MAX, FIELD_MAX = (1 << 29) - 1 };
    struct csni_profile_stream *s = r->stream;
    CSNI_TRY(csni_profile_stream_need(s, HEAD_MAX, r->err));
    r->field_off = s->off;
    struct csni_cursor c = csni_cursor_at((struct csni_span){ csni_profile_stream_at(s), csni_profile_stream_left(s) }, false);
    const uint64_t tag = csni_cursor_uleb(&c);
    const uint32_t type = tag & 7, number = (uint32_t)(tag >> 3);
    uint64_t value = 0;
    if (!c.failed && (!(tag >> 3) || tag >> 3 > FIELD_MAX || !csni_pprof_has_type(number, type)))
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, s->off, "no field of a profile has the number %llu and the type %u",
                         (unsigned long long)(tag >> 3), type);
    if (type == PROTO_VARINT || type == PROTO_BYTES) value = csni_cursor_uleb(&c);
    else if (type == PROTO_FIXED64 || type == PROTO_FIXED32) csni_cursor_skip(&c, type == PROTO_FIXED64 ? 8 : 4);
    else return csni_fail(r->err, CSN_E_FORMAT, SECTION, s->off, "field %u has the type %u, need 0, 1, 2 or 5", number, type);
    if (c.failed) return csni_fail(r->err, CSN_E_TRUNCATED, SECTION, s->off, "the input ends within a field, after %zu bytes of it",
                                   csni_profile_stream_left(s));
    const size_t head = (size_t)csni_cursor_off(&c);
    if (type != PROTO_BYTES) {
        CSNI_TRY(type == PROTO_VARINT ? read_number(r, number, value) : CSN_OK);
        csni_profile_stream_skip(s, head);
        return CSN_OK;
    }
    if (value > r->p->max_input_bytes)
        return csni_fail(r->err, CSN_E_LIMIT, SECTION, s->off, "field %u has %llu bytes, the limit is %llu", number,
                         (unsigned long long)value, (unsigned long long)r->p->max_input_bytes);
    CSNI_TRY(csni_profile_stream_need(s, head + (size_t)value, r->err));
    if (csni_profile_stream_left(s) - head < value)
        return csni_fail(r->err, CSN_E_TRUNCATED, SECTION, s->off, "field %u has %llu bytes, but %zu are left", number,
                         (unsigned long long)value, csni_profile_stream_left(s) - head);
    const struct csni_span bytes = { csni_profile_stream_at(s) + head, (size_t)value };
    CSNI_TRY(number == 13 ? read_packed_comments(r, bytes) : read_message(r, number, bytes));
    csni_profile_stream_skip(s, head + (size_t)value);
    return CSN_OK;
}

/* ---- what the numbers mean ---- */

static csn_status string_of(struct pprof_reader *r, uint64_t index, const char *what, uint32_t *out) {
    if (index >= r->strings.count && index)
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->stream->off, "%s is string %llu, but there are %zu", what,
                         (unsigned long long)index, r->strings.count);
    *out = index ? r->strings.items[index] : 0;
    return CSN_OK;
}

static csn_status resolve_module(struct pprof_reader *r, uint64_t id, uint32_t *out) {
    uint32_t number, path, text;
    *out = CSN_PROFILE_NO_MODULE;
    if (!id) return CSN_OK;
    if (!find_id(&r->mapping_ids, id, &number))
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->stream->off, "a location is in mapping %llu, which does not exist",
                         (unsigned long long)id);
    const struct raw_mapping *mapping = &r->mappings.items[number];
    CSNI_TRY(string_of(r, mapping->path, "the file name of a mapping", &path));
    CSNI_TRY(string_of(r, mapping->build_id, "the build id of a mapping", &text));
    const size_t count = r->p->modules.count;
    CSNI_TRY(csni_profile_hex_module(r->p, csni_profile_str(r->p, path), csni_profile_str(r->p, text), mapping->start, mapping->end,
                                     mapping->file_off, out, r->err));
    csni_profile_note_known(&r->p->modules.items[*out], *out == count, mapping->known);
    return CSN_OK;
}

static csn_status resolve_function(struct pprof_reader *r, uint64_t id, uint32_t *out) {
    uint32_t number;
    struct profile_function function = { .name = 0 };
    if (!find_id(&r->function_ids, id, &number))
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->stream->off, "a line is of function %llu, which does not exist",
                         (unsigned long long)id);
    const struct raw_function *raw = &r->functions.items[number];
    CSNI_TRY(string_of(r, raw->name, "the name of a function", &function.name));
    CSNI_TRY(string_of(r, raw->system_name, "the system name of a function", &function.system_name));
    CSNI_TRY(string_of(r, raw->file, "the file of a function", &function.file));
    function.start_line = (uint32_t)raw->start_line;
    return csni_profile_function(r->p, &function, out, r->err);
}

static csn_status resolve_location(struct pprof_reader *r, size_t number) {
    const struct raw_location *raw = &r->locations.items[number];
    struct profile_location location = r->p->locations.items[r->first_location + number];
    if (!raw->is_defined)
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->stream->off, "a sample has location %llu, which does not exist",
                         (unsigned long long)r->location_ids.ids.items[number]);
    CSNI_TRY(resolve_module(r, raw->mapping, &location.module));
    location.kind = location.value ? CSN_PROFILE_AT_PC : CSN_PROFILE_AT_NAME;
    location.flags = raw->is_folded ? LOCATION_FOLDED : 0;
    location.first_line = (uint32_t)r->p->lines.count;
    location.line_count = raw->line_count;
    for (uint32_t i = 0; i < raw->line_count; i++) {
        const struct raw_line *from = &r->lines.items[raw->first_line + i];
        struct profile_line line = { .line = from->line,
                                     .column = from->column,
                                     .inlined = i + 1 < raw->line_count };
        CSNI_TRY(resolve_function(r, from->function, &line.function));
        CSNI_TRY(csni_profile_push_line(r->p, &line, r->err));
    }
    r->p->locations.items[r->first_location + number] = location;
    return CSN_OK;
}

static csn_status check_value_counts(struct pprof_reader *r) {
    const struct value_count *wrong = r->first_count.count != r->types.count ? &r->first_count : &r->other_count;
    if (!wrong->is_known) return CSN_OK;
    return csni_fail(r->err, CSN_E_FORMAT, SECTION, wrong->off, "a sample has %u values, but %zu types of values are declared",
                     wrong->count, r->types.count);
}

/* The values stand behind those of other inputs, until their types are known. */
static csn_status resolve_types(struct pprof_reader *r) {
    struct csn_profile *p = r->p;
    uint32_t places[PROFILE_VALUE_TYPES_MAX] = { 0 };
    CSNI_TRY(check_value_counts(r));
    if (r->first_count.is_known && !r->types.count)
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->first_count.off, "a sample, but no types of values are declared");
    for (size_t i = 0; i < r->types.count; i++) {
        struct profile_value_type type;
        uint32_t place, equal = 0;
        CSNI_TRY(string_of(r, r->types.items[i].type, "a type of values", &type.type));
        CSNI_TRY(string_of(r, r->types.items[i].unit, "a unit of values", &type.unit));
        for (size_t k = 0; k < i && k < PROFILE_VALUE_TYPES_MAX; k++)
            equal += p->value_types[places[k]].type == type.type && p->value_types[places[k]].unit == type.unit;
        CSNI_TRY(csni_profile_value_type(p, type, equal, &place, r->err));
        if (i < PROFILE_VALUE_TYPES_MAX) places[i] = place;
    }
    for (size_t i = r->first_sample; i < p->samples.count; i++) {
        int64_t *values = p->values.items + i * p->value_stride, own[PROFILE_VALUE_TYPES_MAX];
        memcpy(own, values + r->first_value, r->most_values * sizeof *own);
        memset(values + r->first_value, 0, r->most_values * sizeof *own);
        for (uint32_t k = 0; k < r->most_values; k++) p->sums_cut += !csni_profile_add_value(&values[places[k]], own[k]);
    }
    return CSN_OK;
}

static csn_status resolve_labels(struct pprof_reader *r) {
    CSNI_VEC(uint32_t) sets = { .alloc = r->p->alloc };
    csn_status status = CSN_OK;
    for (size_t i = 0; i < r->labels->label_sets.count && status == CSN_OK; i++) {
        const struct profile_label_set set = r->labels->label_sets.items[i];
        uint32_t number = 0;
        for (uint32_t k = 0; k < set.count && status == CSN_OK; k++) {
            struct profile_label *label = &r->labels->labels.items[set.first + k];
            status = string_of(r, label->key, "the key of a label", &label->key);
            if (status == CSN_OK) status = string_of(r, label->text, "the text of a label", &label->text);
            if (status == CSN_OK) status = string_of(r, label->unit, "the unit of a label", &label->unit);
        }
        const struct profile_label *first = set.count ? &r->labels->labels.items[set.first] : NULL;
        if (status == CSN_OK) status = csni_profile_label_set(r->p, first, set.count, &number, r->err);
        if (status == CSN_OK && !csni_vec_push(&sets, number)) status = fail_memory(r);
    }
    for (size_t i = r->first_sample; i < r->p->samples.count && status == CSN_OK; i++)
        if (!csni_profile_relabel_sample(r->p, i, sets.items[r->p->samples.items[i].labels])) status = fail_memory(r);
    csni_vec_deinit(&sets);
    return status;
}

/* Of several inputs, the first that has it, as pprof does. */
static csn_status keep_first(struct pprof_reader *r, uint64_t index, const char *what, uint32_t *out) {
    uint32_t text;
    CSNI_TRY(string_of(r, index, what, &text));
    if (!*out) *out = text;
    return CSN_OK;
}

static csn_status resolve_times(struct pprof_reader *r) {
    struct profile_times times = { (int64_t)r->time_ns, (int64_t)r->duration_ns, (int64_t)r->period, 0, 0 };
    CSNI_TRY(string_of(r, r->period_type.type, "the type of the period", &times.period_type));
    CSNI_TRY(string_of(r, r->period_type.unit, "the unit of the period", &times.period_unit));
    csni_profile_add_times(r->p, &times);
    return CSN_OK;
}

static csn_status resolve_rest(struct pprof_reader *r) {
    struct csn_profile *p = r->p;
    CSNI_TRY(resolve_times(r));
    CSNI_TRY(keep_first(r, r->default_type, "the default type", &p->default_type));
    CSNI_TRY(keep_first(r, r->drop_frames, "the names of frames to drop", &p->drop_frames));
    CSNI_TRY(keep_first(r, r->keep_frames, "the names of frames to keep", &p->keep_frames));
    CSNI_TRY(keep_first(r, r->doc_url, "the address of the documentation", &p->doc_url));
    const size_t known = p->comments.count;
    for (size_t i = 0; i < r->comments.count; i++) {
        uint32_t text;
        CSNI_TRY(string_of(r, r->comments.items[i], "a comment", &text));
        CSNI_TRY(csni_profile_add_comment(p, text, known, r->err));
    }
    return CSN_OK;
}

static csn_status read_all(struct pprof_reader *r) {
    for (;;) {
        CSNI_TRY(csni_profile_stream_need(r->stream, 1, r->err));
        if (!csni_profile_stream_left(r->stream)) break;
        CSNI_TRY(read_field(r));
    }
    if (r->strings.count && r->strings.items[0])
        return csni_fail(r->err, CSN_E_FORMAT, SECTION, r->stream->off, "string 0 is not empty");
    for (size_t i = 0; i < r->mappings.count; i++) {
        uint32_t module; /* numbered in their order: the first is the program */
        CSNI_TRY(resolve_module(r, r->mappings.items[i].id, &module));
    }
    for (size_t i = 0; i < r->locations.count; i++) CSNI_TRY(resolve_location(r, i));
    CSNI_TRY(resolve_types(r));
    CSNI_TRY(resolve_labels(r));
    return resolve_rest(r);
}

static void set_allocator(struct pprof_reader *r, const struct csn_allocator *alloc) {
    r->location_ids.table.alloc = r->location_ids.ids.alloc = r->function_ids.table.alloc = r->function_ids.ids.alloc = alloc;
    r->mapping_ids.table.alloc = r->mapping_ids.ids.alloc = r->direct.alloc = r->locations.alloc = r->lines.alloc = alloc;
    r->functions.alloc = r->mappings.alloc = r->types.alloc = r->strings.alloc = r->stack.alloc = r->values.alloc = alloc;
    r->label.alloc = r->comments.alloc = alloc;
}

static void free_id_map(struct id_map *map) {
    csni_profile_table_deinit(&map->table);
    csni_vec_deinit(&map->ids);
}

static void free_reader(struct pprof_reader *r) {
    free_id_map(&r->location_ids);
    free_id_map(&r->function_ids);
    free_id_map(&r->mapping_ids);
    csni_vec_deinit(&r->direct);
    csni_vec_deinit(&r->locations);
    csni_vec_deinit(&r->lines);
    csni_vec_deinit(&r->functions);
    csni_vec_deinit(&r->mappings);
    csni_vec_deinit(&r->types);
    csni_vec_deinit(&r->strings);
    csni_vec_deinit(&r->stack);
    csni_vec_deinit(&r->values);
    csni_vec_deinit(&r->label);
    csni_vec_deinit(&r->comments);
    csn_profile_destroy(r->labels);
}

csn_status csni_pprof_read(struct csn_profile *p, struct csni_profile_stream *stream, struct csn_error *err) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct pprof_reader r = { .p = p, .stream = stream, .err = err, .first_location = p->locations.count,
                              .first_sample = p->samples.count, .first_value = p->value_count };
    set_allocator(&r, p->alloc);
    options.allocator = p->alloc;
    CSNI_TRY(csn_profile_create(&options, &r.labels, err));
    csn_status status = read_all(&r);
    free_reader(&r);
    return status;
}

/* OpenTelemetry's profiles: tables that everything else refers to by index, index 0 being nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "profile/otlp_reader.h"

csn_status csni_otlp_fail_memory(struct otlp_reader *r) { return csni_fail_memory(r->err, 0); }

csn_status csni_otlp_fail_message(struct otlp_reader *r, const char *what, const struct csni_cursor *c) {
    return csni_fail(r->err, CSN_E_FORMAT, OTLP_SECTION, (uint64_t)(c->begin - r->all.ptr),
                     "%s of %zu bytes is damaged at byte %llu", what, (size_t)(c->end - c->begin),
                     (unsigned long long)c->failed_at);
}

static csn_status fail_index(struct otlp_reader *r, struct csni_span at, const char *what, uint64_t index, size_t count) {
    return csni_fail(r->err, CSN_E_FORMAT, OTLP_SECTION, at.ptr ? (uint64_t)(at.ptr - r->all.ptr) : 0,
                     "%s %llu does not exist, there are %zu", what, (unsigned long long)index, count);
}

static csn_status fail_frames(struct otlp_reader *r, struct csni_span at, const char *what) {
    return csni_profile_fail_frames(r->err, OTLP_SECTION, (uint64_t)(at.ptr - r->all.ptr), what);
}

csn_status csni_otlp_number_of(struct otlp_reader *r, const struct otlp_table *table, uint64_t index, struct csni_span at,
                            const char *what, uint32_t *out) {
    *out = 0;
    if (index < table->items.count) *out = table->items.items[index];
    else if (index) return fail_index(r, at, what, index, table->items.count);
    return CSN_OK;
}

csn_status csni_otlp_string_of(struct otlp_reader *r, uint64_t index, struct csni_span at, uint32_t *out) {
    return csni_otlp_number_of(r, &r->strings, index, at, "string", out);
}

csn_status csni_otlp_each_message(struct otlp_reader *r, struct csni_span bytes, uint32_t number, const char *what,
                               otlp_message *read) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field field;
    while (csni_proto_next(&c, &field))
        if (field.number == number && field.type == PROTO_BYTES) CSNI_TRY(read(r, field.bytes));
    return c.failed ? csni_otlp_fail_message(r, what, &c) : CSN_OK;
}

/* ---- attributes ---- */

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

csn_status csni_otlp_read_value(struct otlp_reader *r, struct csni_span bytes, struct profile_label *out) {
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
        if (field.number == VALUE_STRING) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &out->text));
        if (out->kind == LABEL_TEXT) out->number = 0;
        if (out->kind == LABEL_TEXT && out->text) out->kind = LABEL_PLAIN;
    }
    return c.failed ? csni_otlp_fail_message(r, "a value", &c) : CSN_OK;
}

static csn_status read_attribute(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct otlp_attribute attribute = { .label = { .kind = LABEL_EMPTY } };
    struct proto_field field;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1 && field.type == PROTO_VARINT)
            CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &attribute.label.key));
        if (field.number == 3) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &attribute.label.unit));
        if (field.number != 2 || field.type != PROTO_BYTES) continue;
        CSNI_TRY(csni_otlp_read_value(r, field.bytes, &attribute.label));
        attribute.value = field.bytes;
    }
    if (c.failed) return csni_otlp_fail_message(r, "an attribute", &c);
    return csni_vec_push(&r->attributes, attribute) ? CSN_OK : csni_otlp_fail_memory(r);
}

csn_status csni_otlp_each_attribute(struct otlp_reader *r, const struct proto_field *field, otlp_take *take, void *context) {
    struct csni_cursor packed = csni_cursor_at(field->bytes, false);
    uint64_t index = field->value;
    bool more = field->type == PROTO_VARINT || csni_proto_next_number(&packed, &index);
    for (; more; more = csni_proto_next_number(&packed, &index)) {
        if (index >= r->attributes.count)
            return fail_index(r, field->bytes, "attribute", index, r->attributes.count);
        if (index) CSNI_TRY(take(r, &r->attributes.items[index], context));
    }
    return packed.failed ? csni_otlp_fail_message(r, "a list of attributes", &packed) : CSN_OK;
}

void csni_otlp_leave_out(struct otlp_reader *r, const struct proto_field *field) {
    r->p->attributes_left_out += field->type == PROTO_BYTES && field->bytes.size;
}

/* ---- the tables ---- */

static csn_status read_string(struct otlp_reader *r, struct csni_span bytes) {
    uint32_t number;
    CSNI_TRY(csni_profile_string(r->p, (struct csn_str){ (const char *)bytes.ptr, bytes.size }, &number, r->err));
    return csni_vec_push(&r->strings.items, number) ? CSN_OK : csni_otlp_fail_memory(r);
}

static csn_status read_function(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct profile_function function = { .name = 0 };
    struct proto_field field;
    uint32_t number;
    while (csni_proto_next(&c, &field)) {
        if (field.number == 1) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &function.name));
        if (field.number == 2) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &function.system_name));
        if (field.number == 3) CSNI_TRY(csni_otlp_string_of(r, field.value, bytes, &function.file));
        if (field.number == 4) function.start_line = csni_profile_line_number(r->p, field.value);
    }
    if (c.failed) return csni_otlp_fail_message(r, "a function", &c);
    if (function.system_name == function.name) function.system_name = 0;
    CSNI_TRY(csni_profile_function(r->p, &function, &number, r->err));
    return csni_vec_push(&r->functions.items, number) ? CSN_OK : csni_otlp_fail_memory(r);
}

/* What attributes of a mapping tell. */
struct mapping_attributes {
    struct csn_str build_id;
    uint32_t known;              /* MODULE_ */
};

static csn_status take_of_mapping(struct otlp_reader *r, const struct otlp_attribute *attribute, void *context) {
    struct mapping_attributes *mapping = context;
    const struct profile_label *label = &attribute->label;
    for (uint32_t i = 0; i < OTLP_KNOWN_KEYS; i++) {
        if (label->key != r->pprof_keys[i] || label->kind != LABEL_BOOL) continue;
        mapping->known = (mapping->known & ~(uint32_t)MODULE_BY_LOCATIONS) | (label->number ? 1u << i : 0);
        return CSN_OK;
    }
    if (label->kind != LABEL_NONE && csni_str_is(csni_profile_str(r->p, label->key), "process.executable.build_id.gnu"))
        mapping->build_id = csni_profile_str(r->p, label->text);
    else r->p->attributes_left_out++;
    return CSN_OK;
}

static csn_status read_mapping(struct otlp_reader *r, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    uint64_t numbers[5] = { 0 };
    struct mapping_attributes more = { .build_id = { "", 0 }, .known = MODULE_BY_LOCATIONS };
    struct proto_field field;
    uint32_t path, number = CSN_PROFILE_NO_MODULE;
    const size_t modules = r->p->modules.count;
    while (csni_proto_next(&c, &field)) {
        if (field.number < 5 && field.type == PROTO_VARINT) numbers[field.number] = field.value;
        if (field.number == 5) CSNI_TRY(csni_otlp_each_attribute(r, &field, take_of_mapping, &more));
    }
    if (c.failed) return csni_otlp_fail_message(r, "a mapping", &c);
    CSNI_TRY(csni_otlp_string_of(r, numbers[4], bytes, &path));
    if (r->mappings.items.count) { /* the first is no mapping */
        CSNI_TRY(csni_profile_hex_module(r->p, csni_profile_str(r->p, path), more.build_id, numbers[1], numbers[2], numbers[3],
                                         &number, r->err));
        csni_profile_note_known(&r->p->modules.items[number], number == modules, more.known);
    }
    return csni_vec_push(&r->mappings.items, number) ? CSN_OK : csni_otlp_fail_memory(r);
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
    if (c.failed) return csni_otlp_fail_message(r, "a line", &c);
    if (function >= r->functions.items.count) return fail_index(r, bytes, "function", function, r->functions.items.count);
    line.function = r->functions.items.items[function];
    line.inlined = true; /* but the last of the location */
    return csni_profile_push_line(r->p, &line, r->err);
}

static csn_status take_of_location(struct otlp_reader *r, const struct otlp_attribute *attribute, void *context) {
    struct profile_location *location = context;
    const bool is_known = attribute->label.key == r->pprof_keys[OTLP_IS_FOLDED] && attribute->label.kind == LABEL_BOOL;
    if (is_known && attribute->label.number) location->flags = LOCATION_FOLDED;
    r->p->attributes_left_out += !is_known;
    return CSN_OK;
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
        if (field.number == 4) CSNI_TRY(csni_otlp_each_attribute(r, &field, take_of_location, &location));
    }
    if (c.failed) return csni_otlp_fail_message(r, "a location", &c);
    if (mapping) CSNI_TRY(csni_otlp_number_of(r, &r->mappings, mapping, bytes, "mapping", &location.module));
    location.line_count = (uint32_t)(r->p->lines.count - location.first_line);
    if (location.line_count) r->p->lines.items[r->p->lines.count - 1].inlined = false;
    location.kind = location.value ? CSN_PROFILE_AT_PC : CSN_PROFILE_AT_NAME;
    CSNI_TRY(csni_profile_push_location(r->p, &location, &number, r->err));
    return csni_vec_push(&r->locations.items, number) ? CSN_OK : csni_otlp_fail_memory(r);
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
            if (!csni_vec_push(&r->stack, number)) return csni_otlp_fail_memory(r);
        }
        if (packed.failed) return csni_otlp_fail_message(r, "a stack", &packed);
    }
    if (c.failed) return csni_otlp_fail_message(r, "a stack", &c);
    CSNI_TRY(csn_profile_add_stack(r->p, r->stack.items, r->stack.count, &stack, r->err));
    return csni_vec_push(&r->stacks.items, stack) ? CSN_OK : csni_otlp_fail_memory(r);
}

/* Each table needs those before it in this order, whatever theirs is in the message. */
csn_status csni_otlp_read_dictionary(struct otlp_reader *r, struct csni_span bytes) {
    static const struct {
        uint32_t field;
        otlp_message *read;
    } tables[] = { { 5, read_string },  { 6, read_attribute }, { 3, read_function },
                   { 1, read_mapping }, { 2, read_location },  { 7, read_stack } };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        CSNI_TRY(csni_otlp_each_message(r, bytes, tables[i].field, "the dictionary", tables[i].read));
    return CSN_OK;
}

/* Arrow's IPC messages of the answers; the schema is always the same. */
#define _GNU_SOURCE
#include "routes/arrow_answer.h"

#include <string.h>

#include "udf/flat_write.h"

enum { VERSION_5 = 4, KIND_SCHEMA = 1, KIND_BATCH = 3, METADATA_MAX = 4096 };
enum arrow_type { TYPE_INT = 2, TYPE_UTF8 = 5, TYPE_BOOL = 6, TYPE_LIST = 12, TYPE_STRUCT = 13 };

/* ---- rows ---- */

static void put_le(struct text *out, uint64_t value, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> 8 * i);
    text_bytes(out, bytes, size);
}

static void put_bit(struct text *out, uint64_t i, bool bit) {
    if (i % 8 == 0) text_char(out, 0);
    if (bit && out->size) out->ptr[out->size - 1] = (char)((unsigned char)out->ptr[out->size - 1] | 1u << i % 8);
}

static void end_element(struct arrow_column *column, bool is_valid) {
    put_bit(&column->validity, column->count++, is_valid);
    column->nulls += !is_valid;
}

/* Of elements that vary in size: `end` is where this one ends. */
static void end_varying(struct arrow_column *column, uint64_t end, bool is_valid) {
    if (!column->count) put_le(&column->ends, 0, 4);
    put_le(&column->ends, end, 4);
    end_element(column, is_valid);
}

static void add_string(struct arrow_column *column, const char *ptr, size_t size) {
    text_utf8(&column->data, ptr, size);
    end_varying(column, column->data.size, size != 0);
}

static void add_number(struct arrow_column *column, uint64_t value, size_t size, bool is_valid) {
    put_le(&column->data, value, size);
    end_element(column, is_valid);
}

static void add_frame(struct arrow_answer *answer, struct lookup *lookup, struct symbols *symbols, size_t i) {
    const struct csn_frame *frame = &lookup->frames[i];
    struct csn_str name = lookup_name(lookup, symbols, i), path = lookup_path(lookup, i);
    add_string(&answer->function, name.ptr, name.len);
    add_number(&answer->offset, frame->offset, 8, true);
    add_string(&answer->file, path.ptr, path.len);
    add_number(&answer->line, frame->line, 4, path.len && frame->line);
    put_bit(&answer->inlined.data, answer->inlined.count++, frame->flags & CSN_FRAME_INLINED);
}

void arrow_add_null(struct arrow_answer *answer) {
    end_varying(&answer->frames, answer->function.count, false);
    add_string(&answer->reason, "", 0);
}

void arrow_add_row(struct arrow_answer *answer, struct lookup *lookup, struct symbols *symbols, csn_status status,
                   const char *why) {
    size_t count = symbols ? lookup->found.frame_count : 0;
    for (size_t i = 0; i < count; i++) add_frame(answer, lookup, symbols, i);
    end_varying(&answer->frames, answer->function.count, true);
    const char *reason = symbols ? lookup_reason(lookup, status) : why;
    add_string(&answer->reason, reason ? reason : "", reason ? strlen(reason) : 0);
}

/* ---- columns ---- */

enum { COLUMNS = 7 };

static void list_columns(struct arrow_answer *answer, struct arrow_column *out[COLUMNS]) {
    struct arrow_column *all[COLUMNS] = { &answer->frames, &answer->function, &answer->offset, &answer->file,
                                          &answer->line,   &answer->inlined,  &answer->reason };
    memcpy(out, all, sizeof(all));
}

void arrow_answer_free(struct arrow_answer *answer) {
    struct arrow_column *columns[COLUMNS];
    list_columns(answer, columns);
    for (size_t i = 0; i < COLUMNS; i++) {
        text_free(&columns[i]->validity);
        text_free(&columns[i]->ends);
        text_free(&columns[i]->data);
    }
    *answer = (struct arrow_answer){ .frames.count = 0 };
}

uint64_t arrow_answer_size(const struct arrow_answer *answer) {
    return answer->frames.ends.size + answer->function.ends.size + answer->function.data.size +
           answer->offset.data.size + answer->file.ends.size + answer->file.data.size + answer->line.data.size +
           answer->reason.ends.size + answer->reason.data.size;
}

static bool is_writable(struct arrow_answer *answer) {
    struct arrow_column *columns[COLUMNS];
    list_columns(answer, columns);
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct arrow_column *column = columns[i];
        if (column->validity.failed || column->ends.failed || column->data.failed || column->data.size > INT32_MAX) return false;
    }
    return true;
}

/* ---- messages ---- */

struct field {
    const char *name;
    enum arrow_type type;
    unsigned bits;
    bool is_nullable;
    const struct field *children;
    size_t child_count;
};
static const struct field frame_fields[] = {
    { "function", TYPE_UTF8, 0, true, NULL, 0 }, { "offset", TYPE_INT, 64, false, NULL, 0 },
    { "file", TYPE_UTF8, 0, true, NULL, 0 },     { "line", TYPE_INT, 32, true, NULL, 0 },
    { "inlined", TYPE_BOOL, 0, false, NULL, 0 },
};
static const struct field item_fields[] = { { "item", TYPE_STRUCT, 0, false, frame_fields,
                                              sizeof(frame_fields) / sizeof(frame_fields[0]) } };
static const struct field answer_fields[] = { { "frames", TYPE_LIST, 0, true, item_fields, 1 },
                                              { "reason", TYPE_UTF8, 0, true, NULL, 0 } };

/* The depth is that of the tables above. */
static void put_fields(struct flat_out *flat, size_t from, const struct field *fields, size_t count) {
    flat_vector(flat, from, count, 4);
    size_t first = flat->size;
    for (size_t i = 0; i < count; i++) flat_put(flat, 0, 4);
    for (size_t i = 0; i < count; i++) {
        struct flat_member field[] = { { .id = 0, .size = 4 }, { .id = 1, .size = 1, .value = fields[i].is_nullable },
                                       { .id = 2, .size = 1, .value = fields[i].type }, { .id = 3, .size = 4 },
                                       { .id = 5, .size = 4 } };
        struct flat_member integer[] = { { .id = 0, .size = 4, .value = fields[i].bits }, { .id = 1, .size = 1, .value = 0 } };
        flat_table(flat, first + 4 * i, field, sizeof(field) / sizeof(field[0]));
        flat_string(flat, field[0].at, fields[i].name);
        flat_table(flat, field[3].at, integer, fields[i].type == TYPE_INT ? 2 : 0);
        put_fields(flat, field[4].at, fields[i].children, fields[i].child_count);
    }
}

static void begin_message(struct flat_out *flat, unsigned kind, uint64_t body, size_t *header_at) {
    struct flat_member message[] = { { .id = 0, .size = 2, .value = VERSION_5 },
                                     { .id = 1, .size = 1, .value = kind },
                                     { .id = 2, .size = 4 },
                                     { .id = 3, .size = 8, .value = body } };
    flat_put(flat, 0, 4);
    flat_table(flat, 0, message, 4);
    *header_at = message[2].at;
}

static void end_message(struct flat_out *flat, struct text *out) {
    flat_align(flat, 8);
    put_le(out, UINT32_MAX, 4);
    put_le(out, flat->size, 4);
    text_bytes(out, flat->bytes, flat->size);
}

void arrow_put_schema(struct text *out) {
    uint8_t bytes[METADATA_MAX];
    struct flat_out flat = { bytes, 0 };
    struct flat_member schema[] = { { .id = 1, .size = 4 } };
    size_t header;
    begin_message(&flat, KIND_SCHEMA, 0, &header);
    flat_table(&flat, header, schema, 1);
    put_fields(&flat, schema[0].at, answer_fields, 2);
    end_message(&flat, out);
}

void arrow_put_end(struct text *out) {
    put_le(out, UINT32_MAX, 4);
    put_le(out, 0, 4);
}

/* What a batch has of a field: a node, and buffers in the order of the fields, parents first. */
struct batch {
    uint64_t nodes[8][2];
    size_t node_count;
    const struct text *buffers[20];
    size_t buffer_count;
};
static const struct text no_bytes;

static void list_column(struct batch *batch, const struct arrow_column *column, bool has_ends, bool has_data) {
    uint64_t *node = batch->nodes[batch->node_count++];
    node[0] = column->count;
    node[1] = column->nulls;
    batch->buffers[batch->buffer_count++] = column->nulls ? &column->validity : &no_bytes;
    if (has_ends) batch->buffers[batch->buffer_count++] = &column->ends;
    if (has_data) batch->buffers[batch->buffer_count++] = &column->data;
}

static void list_batch(const struct arrow_answer *answer, struct batch *out) {
    const struct arrow_column item = { .count = answer->function.count };
    *out = (struct batch){ .node_count = 0 };
    list_column(out, &answer->frames, true, false);
    list_column(out, &item, false, false);
    list_column(out, &answer->function, true, true);
    list_column(out, &answer->offset, false, true);
    list_column(out, &answer->file, true, true);
    list_column(out, &answer->line, false, true);
    list_column(out, &answer->inlined, false, true);
    list_column(out, &answer->reason, true, true);
}

static uint64_t padded(uint64_t size) { return (size + 7) / 8 * 8; }

static void put_batch_header(struct flat_out *flat, size_t from, const struct batch *batch) {
    struct flat_member header[] = { { .id = 0, .size = 8, .value = batch->nodes[0][0] },
                                    { .id = 1, .size = 4 },
                                    { .id = 2, .size = 4 } };
    uint64_t at = 0;
    flat_table(flat, from, header, 3);
    flat_vector(flat, header[1].at, batch->node_count, 8);
    for (size_t i = 0; i < batch->node_count; i++) {
        flat_put(flat, batch->nodes[i][0], 8);
        flat_put(flat, batch->nodes[i][1], 8);
    }
    flat_vector(flat, header[2].at, batch->buffer_count, 8);
    for (size_t i = 0; i < batch->buffer_count; i++) {
        flat_put(flat, at, 8);
        flat_put(flat, batch->buffers[i]->size, 8);
        at += padded(batch->buffers[i]->size);
    }
}

bool arrow_put_batch(struct arrow_answer *answer, struct text *out) {
    uint8_t bytes[METADATA_MAX];
    struct flat_out flat = { bytes, 0 };
    struct batch batch;
    uint64_t body = 0;
    size_t header;
    if (!is_writable(answer)) return false;
    /* A string column of no elements has its first end, too. */
    if (!answer->function.count) put_le(&answer->function.ends, 0, 4), put_le(&answer->file.ends, 0, 4);
    if (!answer->frames.count) put_le(&answer->frames.ends, 0, 4), put_le(&answer->reason.ends, 0, 4);
    list_batch(answer, &batch);
    for (size_t i = 0; i < batch.buffer_count; i++) body += padded(batch.buffers[i]->size);
    begin_message(&flat, KIND_BATCH, body, &header);
    put_batch_header(&flat, header, &batch);
    end_message(&flat, out);
    for (size_t i = 0; i < batch.buffer_count; i++) {
        text_bytes(out, batch.buffers[i]->ptr, batch.buffers[i]->size);
        put_le(out, 0, padded(batch.buffers[i]->size) - batch.buffers[i]->size);
    }
    arrow_answer_free(answer);
    return !out->failed;
}

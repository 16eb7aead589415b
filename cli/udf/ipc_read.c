/* Arrow columnar format 1.4: Message.fbs, Schema.fbs. */
#include "udf/ipc_read.h"

#include <stdlib.h>
#include <string.h>

#include "udf/lz4_frame.h"

/* Numbers of Schema.fbs: the union Type. */
enum { TYPE_NULL = 1, TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_BINARY = 4, TYPE_UTF8 = 5, TYPE_BOOL = 6, TYPE_INTERVAL = 11, TYPE_FIXED_SIZE_BINARY = 15,
       TYPE_DURATION = 18, TYPE_LARGE_BINARY = 19, TYPE_LARGE_UTF8 = 20 };
enum { MESSAGE_KIND = 1, MESSAGE_HEADER = 2, MESSAGE_BODY_SIZE = 3 };
enum { SCHEMA_ENDIANNESS = 0, SCHEMA_FIELDS = 1 };
enum { FIELD_NAME = 0, FIELD_TYPE_KIND = 2, FIELD_TYPE = 3, FIELD_DICTIONARY = 4, FIELD_CHILDREN = 5 };
enum { INT_WIDTH = 0, INT_SIGNED = 1 };
enum { BATCH_LENGTH = 0, BATCH_NODES = 1, BATCH_BUFFERS = 2, BATCH_COMPRESSION = 3 };
enum { PAIR_SIZE = 16, OFFSET_SIZE = 4, COMPRESSION_CODEC = 0, CODEC_LZ4 = 0 };

bool ipc_message_read(struct csn_str metadata, struct ipc_message *out) {
    struct flat_table message = flat_root(metadata);
    int64_t size = flat_field(message, MESSAGE_BODY_SIZE, 8, 0);
    out->kind = flat_field(message, MESSAGE_KIND, 1, IPC_NONE);
    out->header = flat_field_table(message, MESSAGE_HEADER);
    out->body_size = (uint64_t)size;
    return out->header.at && size >= 0;
}

/* ---- the schema ---- */

/* Buffers of a column without children; -1: of a type that is not counted here. */
static int buffer_count(int64_t type) {
    if (type == TYPE_NULL) return 0;
    if (type == TYPE_BINARY || type == TYPE_UTF8 || type == TYPE_LARGE_BINARY || type == TYPE_LARGE_UTF8) return 3;
    bool is_fixed = (type >= TYPE_INT && type <= TYPE_INTERVAL) || type == TYPE_FIXED_SIZE_BINARY || type == TYPE_DURATION;
    return is_fixed ? 2 : -1;
}

static bool is_named(struct csn_str name, const char *text) {
    return name.len == strlen(text) && memcmp(name.ptr, text, name.len) == 0;
}

static bool read_module(struct flat_table field, int64_t type, struct ipc_column *out) {
    if (flat_field_table(field, FIELD_DICTIONARY).at) return false;
    out->offset_size = type == TYPE_LARGE_BINARY || type == TYPE_LARGE_UTF8 ? 8 : 4;
    return buffer_count(type) == 3;
}

static bool read_address(struct flat_table field, int64_t type, struct ipc_column *out) {
    struct flat_table integer = flat_field_table(field, FIELD_TYPE);
    int64_t bits = flat_field(integer, INT_WIDTH, 4, 0);
    out->width = (unsigned)(bits / 8);
    out->is_signed = flat_field(integer, INT_SIGNED, 1, 0);
    return type == TYPE_INT && (bits == 64 || bits == 32) && !flat_field_table(field, FIELD_DICTIONARY).at;
}

struct found_column {
    struct flat_table field;
    int64_t type;
    struct ipc_column place;
};

static bool find_columns(struct flat_vector fields, struct found_column *module, struct found_column *address) {
    unsigned buffer = 0;
    bool module_named = false, address_named = false;
    for (size_t i = 0; i < fields.count; i++) {
        struct flat_table field = flat_vector_table(fields, i);
        struct csn_str name = flat_field_string(field, FIELD_NAME);
        int64_t type = flat_field(field, FIELD_TYPE_KIND, 1, 0);
        struct found_column found = { field, type, { .first_buffer = buffer, .node = (unsigned)i } };
        bool is_module = is_named(name, "module"), is_address = is_named(name, "address");
        int buffers = flat_field_table(field, FIELD_DICTIONARY).at ? 2 : buffer_count(type);
        if (is_module || (i == 0 && !module_named)) *module = found;
        if (is_address || (i == 1 && !address_named)) *address = found;
        module_named = module_named || is_module;
        address_named = address_named || is_address;
        if (buffers < 0 || flat_field_vector(field, FIELD_CHILDREN, OFFSET_SIZE).count) return module_named && address_named;
        buffer += (unsigned)buffers;
    }
    return module->field.at && address->field.at;
}

bool ipc_schema_read(struct flat_table schema, struct ipc_schema *out, const char **fault) {
    struct found_column module = { .type = 0 }, address = { .type = 0 };
    if (flat_field(schema, SCHEMA_ENDIANNESS, 2, 0)) {
        *fault = "the batches are big-endian, need little-endian";
        return false;
    }
    if (!find_columns(flat_field_vector(schema, SCHEMA_FIELDS, OFFSET_SIZE), &module, &address)) {
        *fault = "the schema has no columns module and address";
        return false;
    }
    out->module = module.place;
    out->address = address.place;
    *fault = "the column module is not a column of strings (dictionaries are not read)";
    if (!read_module(module.field, module.type, &out->module)) return false;
    *fault = "the column address has no integers of 64 or 32 bits";
    return read_address(address.field, address.type, &out->address);
}

/* ---- a batch ---- */

struct batch_reader {
    struct flat_vector buffers;
    struct csn_str body;
    bool is_compressed;
    size_t inflated_max;
    unsigned inflated_count;
    struct ipc_batch *out;
    const char *fault;
};

static bool inflate(struct batch_reader *reader, struct csn_str *bytes) {
    enum { LENGTH_SIZE = 8 };
    uint64_t size;
    if (!bytes->len) return true;
    reader->fault = "a compressed buffer is damaged";
    if (!flat_number(*bytes, 0, LENGTH_SIZE, &size)) return false;
    struct csn_str packed = { bytes->ptr + LENGTH_SIZE, bytes->len - LENGTH_SIZE };
    *bytes = packed;
    if (size == UINT64_MAX) return true; /* stored as it is */
    reader->fault = "a compressed buffer is too large";
    if (size > reader->inflated_max) return false;
    reader->fault = "a compressed buffer is damaged";
    if (size > (uint64_t)packed.len * LZ4_MAX_RATIO) return false; /* before a few bytes have much memory */
    char *out = malloc((size_t)size + 1);
    reader->out->inflated[reader->inflated_count++] = out;
    if (!out || !lz4_frame_decode(packed, out, (size_t)size)) return false;
    *bytes = (struct csn_str){ out, (size_t)size };
    return true;
}

/* Buffer `i`; at least `need` bytes, unless it may be left out and is. */
static bool take_buffer(struct batch_reader *reader, unsigned i, uint64_t need, bool may_be_absent, struct csn_str *out) {
    reader->fault = "a buffer of the batch is outside of its body";
    if (i >= reader->buffers.count) return false;
    uint64_t offset = (uint64_t)flat_vector_i64(reader->buffers, i, PAIR_SIZE, 0),
             size = (uint64_t)flat_vector_i64(reader->buffers, i, PAIR_SIZE, 8);
    if (offset > reader->body.len || size > reader->body.len - offset) return false;
    *out = (struct csn_str){ reader->body.ptr + offset, (size_t)size };
    if (reader->is_compressed && !inflate(reader, out)) return false;
    reader->fault = "a buffer of the batch is too short for its rows";
    return out->len >= need || (may_be_absent && !out->len);
}

static bool take_buffers(struct batch_reader *reader, const struct ipc_schema *schema, size_t rows) {
    struct ipc_batch *out = reader->out;
    unsigned module = schema->module.first_buffer, address = schema->address.first_buffer;
    uint64_t bits = rows / 8 + (rows % 8 ? 1 : 0);
    return take_buffer(reader, module, bits, true, &out->module_validity) &&
           take_buffer(reader, module + 1, rows ? ((uint64_t)rows + 1) * schema->module.offset_size : 0, false,
                       &out->module_ends) &&
           take_buffer(reader, module + 2, 0, true, &out->module_text) &&
           take_buffer(reader, address, bits, true, &out->address_validity) &&
           take_buffer(reader, address + 1, (uint64_t)rows * schema->address.width, false, &out->addresses);
}

bool ipc_batch_open(const struct ipc_schema *schema, struct flat_table header, struct csn_str body, size_t inflated_max,
                    struct ipc_batch *out, const char **fault) {
    int64_t rows = flat_field(header, BATCH_LENGTH, 8, 0);
    struct flat_table compression = flat_field_table(header, BATCH_COMPRESSION);
    struct batch_reader reader = { .buffers = flat_field_vector(header, BATCH_BUFFERS, PAIR_SIZE), .body = body,
                                   .is_compressed = compression.at,
                                   .inflated_max = inflated_max, .out = out };
    *out = (struct ipc_batch){ .schema = *schema };
    *fault = "the batch has a negative number of rows, or more than 2^31";
    if (rows < 0 || rows > INT32_MAX) return false;
    *fault = "the batch is compressed by zstd: need LZ4 or none (output_format_arrow_compression_method)";
    if (compression.at && flat_field(compression, COMPRESSION_CODEC, 1, CODEC_LZ4) != CODEC_LZ4) return false;
    out->rows = (size_t)rows;
    if (take_buffers(&reader, schema, out->rows)) return true;
    *fault = reader.fault;
    ipc_batch_release(out);
    return false;
}

void ipc_batch_release(struct ipc_batch *batch) {
    for (size_t i = 0; i < sizeof(batch->inflated) / sizeof(batch->inflated[0]); i++) {
        free(batch->inflated[i]);
        batch->inflated[i] = NULL;
    }
}

static bool is_null(struct csn_str validity, size_t i) { return validity.len && !((uint8_t)validity.ptr[i / 8] >> i % 8 & 1); }

/* Offsets that do not fit read as an empty string. */
bool ipc_batch_module(const struct ipc_batch *batch, size_t i, struct csn_str *out) {
    unsigned size = batch->schema.module.offset_size;
    uint64_t start = 0, end = 0;
    *out = (struct csn_str){ "", 0 };
    if (is_null(batch->module_validity, i)) return false;
    if (flat_number(batch->module_ends, i * size, size, &start) && flat_number(batch->module_ends, (i + 1) * size, size, &end)
        && start <= end && end <= batch->module_text.len)
        *out = (struct csn_str){ batch->module_text.ptr + start, (size_t)(end - start) };
    return true;
}

bool ipc_batch_address(const struct ipc_batch *batch, size_t i, uint64_t *out) {
    unsigned width = batch->schema.address.width;
    if (is_null(batch->address_validity, i)) return false;
    flat_number(batch->addresses, i * width, width, out);
    if (width == 4 && batch->schema.address.is_signed) *out = (uint64_t)(int64_t)(int32_t)(uint32_t)*out;
    return true;
}

/* Arrow's messages, with one column of strings. */
#define _GNU_SOURCE
#include "udf/ipc_write.h"

#include <stdlib.h>
#include <string.h>

#include "udf/flat_write.h"

enum { VERSION_5 = 4, KIND_SCHEMA = 1, KIND_BATCH = 3, TYPE_UTF8 = 5 };
static const char magic[] = "ARROW1";

static void put_schema(struct flat_out *flat, size_t from) {
    struct flat_member schema[] = { { .id = 1, .size = 4 } };
    struct flat_member field[] = { { .id = 0, .size = 4 }, { .id = 1, .size = 1, .value = 1 },
                                   { .id = 2, .size = 1, .value = TYPE_UTF8 },
                                   { .id = 3, .size = 4 }, { .id = 5, .size = 4 } };
    flat_table(flat, from, schema, 1);
    flat_vector(flat, schema[0].at, 1, 4);
    size_t element = flat->size;
    flat_put(flat, 0, 4);
    flat_table(flat, element, field, sizeof(field) / sizeof(field[0]));
    flat_string(flat, field[0].at, "result");
    flat_table(flat, field[3].at, NULL, 0);
    flat_vector(flat, field[4].at, 0, 4);
}

/* Validity (left out), offsets, text. */
static void put_batch_header(struct flat_out *flat, size_t from, uint64_t rows, uint64_t ends_size, uint64_t text_size) {
    struct flat_member batch[] = { { .id = 0, .size = 8, .value = rows }, { .id = 1, .size = 4 }, { .id = 2, .size = 4 } };
    flat_table(flat, from, batch, 3);
    flat_vector(flat, batch[1].at, 1, 8);
    flat_put(flat, rows, 8);
    flat_put(flat, 0, 8);
    flat_vector(flat, batch[2].at, 3, 8);
    const uint64_t pairs[] = { 0, 0, 0, ends_size, (ends_size + 7) / 8 * 8, text_size };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) flat_put(flat, pairs[i], 8);
}

/* ---- messages ---- */

static uint64_t position(const struct ipc_writer *writer) { return writer->out->flushed + writer->out->used - writer->start; }

static void put_le32(struct out_buffer *out, uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) out_char(out, (char)(value >> shift));
}

static void put_padding(struct out_buffer *out, uint64_t size) {
    for (; size % 8; size++) out_char(out, 0);
}

/* The frame of a message around its header. Returns the bytes of metadata with their prefix. */
static uint32_t put_message(struct ipc_writer *writer, unsigned kind, uint64_t ends_size, uint64_t text_size) {
    enum { METADATA_MAX = 1024, PREFIX = 8 };
    uint8_t bytes[METADATA_MAX];
    struct flat_out flat = { bytes, 0 };
    uint64_t body = kind == KIND_BATCH ? (ends_size + 7) / 8 * 8 + (text_size + 7) / 8 * 8 : 0;
    struct flat_member message[] = { { .id = 0, .size = 2, .value = VERSION_5 },
                                     { .id = 1, .size = 1, .value = kind },
                                     { .id = 2, .size = 4 },
                                     { .id = 3, .size = 8, .value = body } };
    flat_put(&flat, 0, 4);
    flat_table(&flat, 0, message, 4);
    if (kind == KIND_SCHEMA) put_schema(&flat, message[2].at);
    else put_batch_header(&flat, message[2].at, writer->rows, ends_size, text_size);
    flat_align(&flat, 8);
    put_le32(writer->out, UINT32_MAX);
    put_le32(writer->out, (uint32_t)flat.size);
    out_bytes(writer->out, bytes, flat.size);
    return (uint32_t)flat.size + PREFIX;
}

void ipc_writer_begin(struct ipc_writer *writer, bool is_file) {
    writer->is_file = is_file;
    writer->start = writer->out->flushed + writer->out->used;
    writer->block_count = 0;
    writer->rows = 0;
    if (is_file) out_bytes(writer->out, "ARROW1\0", 8);
    put_message(writer, KIND_SCHEMA, 0, 0);
}

void ipc_writer_string(struct ipc_writer *writer, struct csn_str text) {
    size_t used = (size_t)writer->ends[writer->rows], need = used + text.len;
    if (need > INT32_MAX) writer->no_memory = true;
    if (need > writer->text_capacity && !writer->no_memory) {
        char *grown = realloc(writer->text, need * 2);
        if (!grown) writer->no_memory = true;
        writer->text = grown ? grown : writer->text;
        writer->text_capacity = grown ? need * 2 : writer->text_capacity;
    }
    if (writer->no_memory) return;
    if (text.len) memcpy(writer->text + used, text.ptr, text.len);
    writer->ends[++writer->rows] = (int32_t)need;
}

static bool add_block(struct ipc_writer *writer, struct ipc_block block) {
    struct ipc_block *grown = reallocarray(writer->blocks, writer->block_count + 1, sizeof(*grown));
    if (!grown) return false;
    writer->blocks = grown;
    writer->blocks[writer->block_count++] = block;
    return true;
}

void ipc_writer_put_batch(struct ipc_writer *writer) {
    uint64_t text_size = (uint64_t)writer->ends[writer->rows], ends_size = ((uint64_t)writer->rows + 1) * sizeof(int32_t);
    struct ipc_block block = { .offset = position(writer), .body_size = (ends_size + 7) / 8 * 8 + (text_size + 7) / 8 * 8 };
    if (writer->no_memory) return;
    block.metadata_size = put_message(writer, KIND_BATCH, ends_size, text_size);
    for (uint32_t i = 0; i <= writer->rows; i++) put_le32(writer->out, (uint32_t)writer->ends[i]);
    put_padding(writer->out, ends_size);
    out_bytes(writer->out, writer->text, (size_t)text_size);
    put_padding(writer->out, text_size);
    if (writer->is_file && !add_block(writer, block)) writer->no_memory = true;
    writer->rows = 0;
}

static void put_footer(struct ipc_writer *writer) {
    enum { FIXED = 1024, BLOCK_SIZE = 24 };
    struct flat_out flat = { malloc(FIXED + writer->block_count * BLOCK_SIZE), 0 };
    struct flat_member footer[] = {
        { .id = 0, .size = 2, .value = VERSION_5 }, { .id = 1, .size = 4 }, { .id = 2, .size = 4 }, { .id = 3, .size = 4 }
    };
    if (!flat.bytes) {
        writer->no_memory = true;
        return;
    }
    flat_put(&flat, 0, 4);
    flat_table(&flat, 0, footer, 4);
    put_schema(&flat, footer[1].at);
    flat_vector(&flat, footer[2].at, 0, 8);
    flat_vector(&flat, footer[3].at, writer->block_count, 8);
    for (size_t i = 0; i < writer->block_count; i++) {
        flat_put(&flat, writer->blocks[i].offset, 8);
        flat_put(&flat, writer->blocks[i].metadata_size, 8); /* 32 bits and padding */
        flat_put(&flat, writer->blocks[i].body_size, 8);
    }
    out_bytes(writer->out, flat.bytes, flat.size);
    put_le32(writer->out, (uint32_t)flat.size);
    out_bytes(writer->out, magic, sizeof(magic) - 1);
    free(flat.bytes);
}

void ipc_writer_end(struct ipc_writer *writer) {
    put_le32(writer->out, UINT32_MAX);
    put_le32(writer->out, 0);
    if (writer->is_file) put_footer(writer);
}

void ipc_writer_deinit(struct ipc_writer *writer) {
    free(writer->blocks);
    free(writer->text);
}

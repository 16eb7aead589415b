/* The loop of `callsign udf --format Arrow`: IPC streams or files in, the same kind out. */
#include <stdlib.h>
#include <string.h>

#include "ui/cli_message.h"
#include "udf/ipc_read.h"
#include "udf/ipc_write.h"
#include "udf/udf_stream.h"

enum { PREFIX = 8, METADATA_MAX = 1 << 24, BODY_MAX = 1 << 30, INFLATED_MAX = 1 << 30, MAGIC_SIZE = 6 };

struct arrow_run {
    struct udf_stream *stream;
    struct ipc_writer writer;
    struct ipc_schema schema;
    bool has_schema;
};

static bool fail(const char *fault) {
    cli_error("standard input", "%s", fault);
    return false;
}

static uint32_t le32_at(struct csn_str bytes, size_t at) {
    uint64_t value = 0;
    flat_number(bytes, at, 4, &value);
    return (uint32_t)value;
}

/* ---- rows ---- */

static void put_string(void *context, struct csn_str answer) { ipc_writer_string(context, answer); }

static bool answer_rows(struct arrow_run *run) {
    struct udf_stream *stream = run->stream;
    bool good = udf_answer_rows(stream->symbols, &stream->rows, put_string, &run->writer);
    udf_rows_clear(&stream->rows);
    if (good) ipc_writer_put_batch(&run->writer);
    if (run->writer.no_memory) cli_error_memory("answers");
    return out_flush(&stream->out) && good && !run->writer.no_memory;
}

/* Large batches become several. */
static bool answer_batch(struct arrow_run *run, const struct ipc_batch *batch) {
    struct udf_rows *rows = &run->stream->rows;
    for (size_t i = 0; i < batch->rows; i++) {
        struct csn_str module;
        uint64_t address = 0;
        bool has_module = ipc_batch_module(batch, i, &module), has_address = ipc_batch_address(batch, i, &address);
        udf_rows_add(rows, has_module ? &module : NULL, has_address ? &address : NULL);
        if (udf_rows_full(rows) && !answer_rows(run)) return false;
    }
    return !rows->count || answer_rows(run);
}

static bool run_message(struct arrow_run *run, const struct ipc_message *message, struct csn_str body) {
    struct ipc_batch batch;
    const char *fault = "a batch stands before the schema";
    if (message->kind == IPC_SCHEMA) {
        run->has_schema = ipc_schema_read(message->header, &run->schema, &fault);
        return run->has_schema || fail(fault);
    }
    if (message->kind == IPC_DICTIONARY) return true; /* of another column */
    if (message->kind != IPC_BATCH) return fail("a message is neither a schema nor a batch");
    if (!run->has_schema || !ipc_batch_open(&run->schema, message->header, body, INFLATED_MAX, &batch, &fault)) return fail(fault);
    bool good = answer_batch(run, &batch);
    ipc_batch_release(&batch);
    return good;
}

/* ---- messages ---- */

/* One message of a stream. False, with a message: it cannot be read. */
static bool next_message(struct arrow_run *run, bool *at_end) {
    struct udf_window *window = &run->stream->window;
    struct ipc_message message;
    if (!udf_window_need(window, PREFIX)) return fail("the stream ends without an end mark");
    if (le32_at(udf_window_bytes(window), 0) != UINT32_MAX)
        return fail("no Arrow message: need a stream or file of Arrow 0.15 or later");
    uint64_t size = le32_at(udf_window_bytes(window), 4);
    if (size > METADATA_MAX) return fail("a message has more than 16 MiB of metadata");
    *at_end = !size;
    if (*at_end) {
        window->start += PREFIX;
        return true;
    }
    if (!udf_window_need(window, PREFIX + (size_t)size)) return fail("the input ends within a message");
    struct csn_str bytes = udf_window_bytes(window);
    if (!ipc_message_read((struct csn_str){ bytes.ptr + PREFIX, (size_t)size }, &message)) return fail("a message is damaged");
    if (message.body_size > BODY_MAX) return fail("a message has more than 1 GiB");
    size_t whole = PREFIX + (size_t)size + (size_t)message.body_size;
    if (!udf_window_need(window, whole)) return fail("the input ends within a message");
    bytes = udf_window_bytes(window); /* it may have moved */
    ipc_message_read((struct csn_str){ bytes.ptr + PREFIX, (size_t)size }, &message);
    bool good = run_message(run, &message, (struct csn_str){ bytes.ptr + PREFIX + size, (size_t)message.body_size });
    window->start += whole;
    return good;
}

/* After the end mark of a file come a footer, its size and the magic number. */
static bool skip_footer(struct udf_window *window) {
    enum { FOOTER_MAX = 1 << 26 };
    for (size_t size = 0; size < FOOTER_MAX; size++) {
        if (!udf_window_need(window, size + 4 + MAGIC_SIZE)) return true; /* the answer is complete */
        struct csn_str bytes = udf_window_bytes(window);
        if (le32_at(bytes, size) != size || memcmp(bytes.ptr + size + 4, "ARROW1", MAGIC_SIZE) != 0) continue;
        window->start += size + 4 + MAGIC_SIZE;
        return true;
    }
    return fail("the footer of the file has no end");
}

static bool run_one(struct arrow_run *run) {
    struct udf_window *window = &run->stream->window;
    bool at_end = false,
         is_file = udf_window_need(window, PREFIX) && memcmp(udf_window_bytes(window).ptr, "ARROW1", MAGIC_SIZE) == 0;
    if (is_file) window->start += PREFIX;
    run->has_schema = false;
    bool begun = false;
    while (!at_end) {
        if (!next_message(run, &at_end)) return false;
        if (!begun && run->has_schema) ipc_writer_begin(&run->writer, is_file);
        begun = begun || run->has_schema;
    }
    if (!begun) return fail("the stream has no schema");
    ipc_writer_end(&run->writer);
    return out_flush(&run->stream->out) && (!is_file || skip_footer(window));
}

bool udf_arrow_run(struct udf_stream *stream) {
    struct arrow_run *run = calloc(1, sizeof(*run));
    if (!run) {
        cli_error_memory("batches");
        return false;
    }
    run->stream = stream;
    run->writer.out = &stream->out;
    bool good = true;
    for (;;) {
        uint64_t rows;
        int found = stream->has_headers ? udf_window_header(&stream->window, &rows) : 1;
        if (found < 0) good = false;
        if (found <= 0 || !udf_window_need(&stream->window, 1)) break;
        good = run_one(run);
        if (!good) break;
    }
    if (stream->window.os_error) cli_error("standard input", "%s", strerror(stream->window.os_error));
    good = good && !stream->window.os_error;
    ipc_writer_deinit(&run->writer);
    free(run);
    return good;
}

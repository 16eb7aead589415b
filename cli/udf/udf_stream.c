/* The loop of `callsign udf` for formats of rows. */
#include "udf/udf_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/cli_message.h"

/* ---- the window ---- */

bool udf_window_init(struct udf_window *window, int fd, size_t capacity) {
    *window = (struct udf_window){ .fd = fd, .bytes = malloc(capacity), .capacity = capacity };
    return window->bytes;
}

void udf_window_deinit(struct udf_window *window) { free(window->bytes); }

struct csn_str udf_window_bytes(const struct udf_window *window) {
    return (struct csn_str){ window->bytes + window->start, window->end - window->start };
}

bool udf_window_fill(struct udf_window *window) {
    if (window->at_end || window->os_error) return false;
    if (window->start) memmove(window->bytes, window->bytes + window->start, window->end - window->start);
    window->end -= window->start;
    window->start = 0;
    if (window->end == window->capacity) return false;
    ssize_t got;
    do got = read(window->fd, window->bytes + window->end, window->capacity - window->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) window->os_error = errno;
    if (got == 0) window->at_end = true;
    if (got > 0) window->end += (size_t)got;
    return got > 0;
}

/* The window grows as bytes come: a few of them may say that a message is large. */
bool udf_window_need(struct udf_window *window, size_t size) {
    while (window->end - window->start < size) {
        if (window->end - window->start == window->capacity) {
            const size_t most = size + size / 2, capacity = window->capacity < most / 2 ? window->capacity * 2 : most;
            char *grown = realloc(window->bytes, capacity);
            if (!grown) return false;
            window->bytes = grown;
            window->capacity = capacity;
        }
        if (!udf_window_fill(window)) return false;
    }
    return true;
}

static bool parse_count(struct csn_str text, uint64_t *out) {
    uint64_t value = 0;
    if (text.len && text.ptr[text.len - 1] == '\r') text.len--;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || value > UINT64_MAX / 10 - 1) return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = value;
    return text.len;
}

int udf_window_header(struct udf_window *window, uint64_t *rows) {
    enum { SIZE_MAX_HEADER = 24, SHOWN = 24 };
    for (;;) {
        struct csn_str bytes = udf_window_bytes(window);
        const char *end = bytes.len ? memchr(bytes.ptr, '\n', bytes.len < SIZE_MAX_HEADER ? bytes.len : SIZE_MAX_HEADER) : NULL;
        size_t size = end ? (size_t)(end - bytes.ptr) : bytes.len;
        if (end && parse_count((struct csn_str){ bytes.ptr, size }, rows)) {
            window->start += size + 1;
            return 1;
        }
        if (!end && bytes.len < SIZE_MAX_HEADER && udf_window_fill(window)) continue;
        if (!bytes.len) return window->os_error ? -1 : 0;
        cli_error(NULL, "chunk header '%.*s' is not a number of rows", (int)(size < SHOWN ? size : SHOWN), bytes.ptr);
        return -1;
    }
}

/* ---- rows ---- */

struct row_reader {
    struct udf_stream *stream;
    char *scratch;
    uint64_t skip;      /* bytes of a row that was answered already */
    bool skip_line;     /* the same, up to a newline */
    uint64_t left;      /* rows of the chunk; without headers, of everything */
};

/* Drops what belongs to a row that was answered. False: more of it is to come. */
static bool skip_rest(struct row_reader *reader) {
    struct udf_window *window = &reader->stream->window;
    struct csn_str bytes = udf_window_bytes(window);
    if (reader->skip_line) {
        const char *end = bytes.len ? memchr(bytes.ptr, '\n', bytes.len) : NULL;
        window->start += end ? (size_t)(end - bytes.ptr) + 1 : bytes.len;
        reader->skip_line = !end;
    }
    size_t drop = reader->skip < bytes.len ? (size_t)reader->skip : bytes.len;
    if (reader->skip) window->start += drop;
    reader->skip -= reader->skip ? drop : 0;
    return !reader->skip_line && !reader->skip;
}

static void add_row(struct row_reader *reader, const struct udf_row *row) {
    struct udf_rows *rows = &reader->stream->rows;
    reader->stream->window.start += row->size;
    reader->skip = row->skip;
    reader->left--;
    if (row->fault) udf_rows_add_fault(rows, row->fault);
    else udf_rows_add(rows, row->has_module ? &row->module : NULL, row->has_address ? &row->address : NULL);
}

/* The whole rows of the window, as many as may be answered together. */
static void take_rows(struct row_reader *reader) {
    struct udf_stream *stream = reader->stream;
    struct udf_row row;
    while (reader->left && !udf_rows_full(&stream->rows) && skip_rest(reader)) {
        struct csn_str bytes = udf_window_bytes(&stream->window);
        if (!bytes.len) return;
        stream->format->read(bytes, reader->scratch, &row);
        if (!row.size) return;
        add_row(reader, &row);
    }
}

/* What stands at the end, or fills the window, and is no whole row. A last line needs no newline. */
static void take_partial_row(struct row_reader *reader) {
    struct udf_stream *stream = reader->stream;
    struct udf_window *window = &stream->window;
    struct udf_row row;
    if (!reader->left || reader->skip || reader->skip_line || window->start == window->end) return;
    if (stream->format->by_line && window->at_end && window->end < window->capacity) {
        window->bytes[window->end++] = '\n';
        stream->format->read(udf_window_bytes(window), reader->scratch, &row);
    } else {
        row = (struct udf_row){ .size = window->end - window->start };
        row.fault = window->at_end ? "the input ends within the row" : "the row is too long";
        reader->skip_line = !window->at_end;
        stream->is_cut = window->at_end;
    }
    add_row(reader, &row);
}

static void put_answer(void *context, struct csn_str answer) {
    struct udf_stream *stream = context;
    stream->format->put(&stream->out, answer);
}

static bool answer_rows(struct udf_stream *stream) {
    bool good = udf_answer_rows(stream->symbols, &stream->rows, put_answer, stream);
    udf_rows_clear(&stream->rows);
    return out_flush(&stream->out) && good;
}

/* One chunk, or everything. False: the input or an output ended. */
static bool run_rows(struct row_reader *reader, bool *good) {
    struct udf_stream *stream = reader->stream;
    while (*good && reader->left) {
        take_rows(reader);
        if (stream->rows.count) {
            *good = answer_rows(stream);
            continue;
        }
        if (udf_window_fill(&stream->window)) continue;
        take_partial_row(reader);
        if (stream->rows.count) *good = answer_rows(stream);
        else if (stream->window.at_end || stream->window.os_error) return false;
    }
    return *good;
}

static bool run_chunks(struct row_reader *reader) {
    bool good = true;
    if (!reader->stream->has_headers) {
        reader->left = UINT64_MAX;
        run_rows(reader, &good);
        return good;
    }
    for (;;) {
        while (!skip_rest(reader) && udf_window_fill(&reader->stream->window)) {}
        int found = udf_window_header(&reader->stream->window, &reader->left);
        if (found <= 0) return found == 0;
        if (run_rows(reader, &good)) continue;
        if (good) cli_error(NULL, "the input ends %llu rows before the chunk does", (unsigned long long)reader->left);
        return false;
    }
}

bool udf_stream_run(struct udf_stream *stream) {
    struct row_reader reader = { .stream = stream, .scratch = malloc(stream->window.capacity) };
    if (!reader.scratch) {
        cli_error_memory("rows");
        return false;
    }
    bool good = run_chunks(&reader);
    if (stream->window.os_error) cli_error("standard input", "%s", strerror(stream->window.os_error));
    free(reader.scratch);
    return good && !stream->window.os_error;
}

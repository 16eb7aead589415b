/* Rows in from a descriptor, answers out, each flushed before reading may wait. */
#ifndef CALLSIGN_CLI_UDF_STREAM_H
#define CALLSIGN_CLI_UDF_STREAM_H

#include "udf/udf_format.h"
#include "udf/udf_symbols.h"

/* Bytes that were read and are not used yet. */
struct udf_window {
    int fd, os_error;
    bool at_end;
    char *bytes;
    size_t start, end, capacity;
};
bool udf_window_init(struct udf_window *window, int fd, size_t capacity); /* false: no memory */
void udf_window_deinit(struct udf_window *window);
struct csn_str udf_window_bytes(const struct udf_window *window);
/* Reads once; waits until there is something. False: the end, a failure, or the window is full. */
bool udf_window_fill(struct udf_window *window);
/* Reads until there are `size` bytes, for which the window grows. False: the input ends before, fails, or there is no memory. */
bool udf_window_need(struct udf_window *window, size_t size);
/* The number of rows in the line "N" before a chunk. 1: read; 0: the input ended; -1, with a message: there is none. */
int udf_window_header(struct udf_window *window, uint64_t *rows);

struct udf_stream {
    struct udf_window window;
    struct udf_symbols *symbols;
    struct udf_rows rows;
    struct out_buffer out;
    const struct udf_format *format;
    bool has_headers;
    bool is_cut;          /* the input ended within a row */
};

/* Until the input ends. False, with a message: it failed. */
bool udf_stream_run(struct udf_stream *stream);
/* The same for Arrow's IPC streams and files. */
bool udf_arrow_run(struct udf_stream *stream);

#endif

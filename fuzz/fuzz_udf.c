/* Any bytes as rows of a database, in the format that the first byte names. Invariant: each line of TSV and
 * JSONEachRow has one answer. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "udf/udf_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WINDOW_SIZE = 1 << 16 };

static void require(bool condition) {
    if (!condition) abort();
}

static bool count_lines(void *context, const char *bytes, size_t size) {
    size_t *lines = context;
    for (size_t i = 0; i < size; i++) *lines += bytes[i] == '\n';
    return true;
}

static size_t lines_of(const uint8_t *data, size_t size) {
    size_t lines = 0;
    count_lines(&lines, (const char *)data, size);
    return lines + (size && data[size - 1] != '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct udf_format *const formats[] = { &udf_row_binary, &udf_tsv, &udf_json_each_row, NULL };
    static struct udf_stream stream;
    const struct text_list none = { NULL, 0 };
    struct udf_symbols symbols;
    size_t answers = 0;
    if (!size || size > WINDOW_SIZE / 2) return 0;
    int fd = memfd_create("rows", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1) && lseek(fd, 0, SEEK_SET) == 0);
    memset(&stream, 0, sizeof(stream));
    stream.format = formats[data[0] & 3];
    stream.has_headers = data[0] & 4;
    stream.symbols = &symbols;
    out_init(&stream.out, -1);
    out_set_sink(&stream.out, count_lines, &answers);
    require(udf_symbols_init(&symbols, &none, &none, false, false) && udf_window_init(&stream.window, fd, WINDOW_SIZE)
            && udf_rows_init(&stream.rows));
    if (!stream.format) udf_arrow_run(&stream);
    else if (udf_stream_run(&stream) && stream.format->by_line && !stream.has_headers)
        require(answers == lines_of(data + 1, size - 1));
    out_flush(&stream.out);
    udf_window_deinit(&stream.window);
    udf_rows_deinit(&stream.rows);
    udf_symbols_deinit(&symbols);
    close(fd);
    return 0;
}

/* Paths and lines for people: how the two parts of a path in an index are joined, and what stands for a line. */
#ifndef CALLSIGN_CLI_PATH_TEXT_H
#define CALLSIGN_CLI_PATH_TEXT_H

#include <string.h>

#include <callsign/base.h>

#include "ui/out_buffer.h"

/* The character between directory and base name, 0: none. A directory with backslashes only is a Windows path. */
static inline char path_separator(struct csn_str directory, struct csn_str base) {
    if (!directory.len || !base.len) return 0;
    char last = directory.ptr[directory.len - 1];
    if (last == '/') return 0;
    if (memchr(directory.ptr, '/', directory.len) || !memchr(directory.ptr, '\\', directory.len)) return '/';
    return last == '\\' ? 0 : '\\';
}

/* DIRECTORY/BASE, with control characters made visible. Inline, as are the parts of a line in out_buffer.h. */
static inline void path_put(struct out_buffer *out, struct csn_str directory, struct csn_str base) {
    out_safe(out, directory);
    char separator = path_separator(directory, base);
    if (separator) out_char(out, separator);
    out_safe(out, base);
}

/* :LINE, or :? where no line is known (0). */
static inline void path_put_line(struct out_buffer *out, uint32_t line) {
    out_char(out, ':');
    if (line) out_decimal(out, line);
    else out_char(out, '?');
}

#endif

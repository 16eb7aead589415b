/* How the two parts of a path in an index are joined for people. */
#ifndef CALLSIGN_CLI_PATH_TEXT_H
#define CALLSIGN_CLI_PATH_TEXT_H

#include <string.h>

#include <callsign/base.h>

/* The character between directory and base name, 0: none. A directory with backslashes only is a Windows path. */
static inline char path_separator(struct csn_str directory, struct csn_str base) {
    if (!directory.len || !base.len) return 0;
    char last = directory.ptr[directory.len - 1];
    if (last == '/') return 0;
    if (memchr(directory.ptr, '/', directory.len) || !memchr(directory.ptr, '\\', directory.len)) return '/';
    return last == '\\' ? 0 : '\\';
}

#endif

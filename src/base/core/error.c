/* The texts of errors and statuses, and the library's version. */
#define _POSIX_C_SOURCE 200809L /* the strerror_r that returns int */

#include "base/core/fail.h"
#include "base/core/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#endif

#include <callsign/base.h>

#define STRING_OF(x) #x
#define VERSION_TEXT(major, minor, patch) STRING_OF(major) "." STRING_OF(minor) "." STRING_OF(patch)

const char *csn_version(void) { return VERSION_TEXT(CSN_VERSION_MAJOR, CSN_VERSION_MINOR, CSN_VERSION_PATCH); }

const char *csn_status_name(csn_status status) {
    switch (status) {
    case CSN_OK: return "ok";
    case CSN_NONE: return "nothing found";
    case CSN_E_TRUNCATED: return "truncated";
    case CSN_E_FORMAT: return "malformed";
    case CSN_E_LIMIT: return "limit exceeded";
    case CSN_E_UNSUPPORTED: return "unsupported";
    case CSN_E_MEMORY: return "out of memory";
    case CSN_E_IO: return "input or output error";
    case CSN_E_ARGUMENT: return "invalid argument";
    case CSN_E_NOT_FOUND: return "not found";
    case CSN_E_CANCELLED: return "cancelled";
    default: return "unknown status";
    }
}

void csn_error_init(struct csn_error *err) {
    if (err) *err = (struct csn_error)CSN_ERROR_INIT;
}

const char *csn_error_text(const struct csn_error *err) {
    if (!err) return "no details were asked for";
    return err->text[0] ? err->text : csn_status_name(err->code);
}

/* Names from damaged files end up in texts: keeps them to one line. */
static void blank_controls(char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) *text = '?';
    }
}

/* Ends a text that fills its buffer of CSN_ERROR_TEXT_SIZE with "...", not within a UTF-8 sequence. */
static void mark_cut(char *text) {
    size_t end = CSN_ERROR_TEXT_SIZE - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
    memcpy(text + end, "...", sizeof "...");
}

static void fill(struct csn_error *err, csn_status code, int os_error, const char *section, uint64_t offset,
                 const char *text) {
    err->code = code;
    err->os_error = os_error;
    err->offset = offset;
    csni_format(err->section, sizeof err->section, "%s", section ? section : "");
    memcpy(err->text, text, strlen(text) + 1);
    blank_controls(err->text);
}

csn_status csni_fail(struct csn_error *err, csn_status code, const char *section, uint64_t offset, const char *format,
                     ...) {
    if (!err) return code;
    /* Not straight into err: the arguments may be parts of an error that is being wrapped. */
    char text[CSN_ERROR_TEXT_SIZE];
    size_t len = 0;
    /* A section's name comes from the file too, and may be of any length. */
    if (section && *section) len = csni_format(text, sizeof text, "%.64s+0x%" PRIx64 ": ", section, offset);
    va_list args;
    va_start(args, format);
    len += csni_format_list(text + len, sizeof text - len, format, args);
    va_end(args);
    if (len >= sizeof text) mark_cut(text);
    fill(err, code, 0, section, offset, text);
    return code;
}

static void name_os_error(int number, char *out, size_t size) {
#ifdef _WIN32
    DWORD got = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)number, 0, out,
                               (DWORD)size, NULL);
    while (got && (out[got - 1] == '\n' || out[got - 1] == '\r' || out[got - 1] == '.')) out[--got] = 0;
    if (!got) csni_format(out, size, "error %d", number);
#else
    if (strerror_r(number, out, size) != 0) csni_format(out, size, "error %d", number);
#endif
}

csn_status csni_fail_os(struct csn_error *err, int os_error, const char *what) {
    if (!err) return CSN_E_IO;
    char reason[96];
    name_os_error(os_error, reason, sizeof reason);
    if (!what || !*what) {
        fill(err, CSN_E_IO, os_error, NULL, 0, reason);
        return CSN_E_IO;
    }
    /* A long path loses its middle, so that verb, file name and reason stay. */
    char text[CSN_ERROR_TEXT_SIZE];
    size_t len = strlen(what), capacity = sizeof text - 1 - strlen(": ") - strlen(reason);
    size_t head = len, tail = 0;
    if (len > capacity) {
        head = 24;
        tail = capacity - head - strlen("...");
    }
    size_t used = csni_format(text, sizeof text, "%.*s%s%s", (int)head, what, tail ? "..." : "", what + len - tail);
    csni_format(text + used, sizeof text - used, ": %s", reason);
    fill(err, CSN_E_IO, os_error, NULL, 0, text);
    return CSN_E_IO;
}

csn_status csni_fail_memory(struct csn_error *err, uint64_t size) {
    return csni_fail(err, CSN_E_MEMORY, NULL, 0, "out of memory: %" PRIu64 " bytes", size);
}

/* Callsign: status codes and errors.
 *
 * Every function that can fail returns a csn_status. It also fills the caller's csn_error, unless that pointer is
 * NULL. The library never prints, and keeps no global or thread-local state. Nothing is reported through errno: its
 * value after a call means nothing, whether the call failed or not. */
#ifndef CALLSIGN_ERROR_H
#define CALLSIGN_ERROR_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define CSN_API
#elif defined(__GNUC__)
#define CSN_API __attribute__((visibility("default")))
#else
#define CSN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call. 0: success. Positive: success, but there is nothing to return. Negative: failure; the
 * csn_error describes it. */
typedef int csn_status;

enum {
    CSN_OK = 0,
    CSN_NONE = 1,             /* no function covers the address; the end of an iteration */
    CSN_E_TRUNCATED = -1,     /* the data ends in the middle of a required value */
    CSN_E_FORMAT = -2,        /* the data violates its format */
    CSN_E_LIMIT = -3,         /* a limit of the options or of the output format is exceeded */
    CSN_E_UNSUPPORTED = -4,   /* valid, but this build or version does not support it */
    CSN_E_MEMORY = -5,        /* the allocator returned NULL */
    CSN_E_IO = -6,            /* a system call failed; see os_error */
    CSN_E_ARGUMENT = -7,      /* an argument is invalid */
    CSN_E_NOT_FOUND = -8,     /* a named thing (section, function, file) does not exist */
    CSN_E_CANCELLED = -9      /* a progress callback asked to stop */
};

enum { CSN_ERROR_TEXT_SIZE = 232 };

/* Describes a failure: what is wrong and where. The caller owns it. Its size never changes, and filling it allocates
 * nothing. Every parameter of this type may be NULL. */
struct csn_error {
    int32_t code;             /* a CSN_E_ value, or CSN_OK */
    int32_t os_error;         /* errno of the failed system call; EISDIR: a folder that is no file; 0: none */
    uint64_t offset;          /* byte offset within `section`, or within the file */
    char section[24];         /* ".debug_line", "FunctionInfo", "" where there is none */
    char text[CSN_ERROR_TEXT_SIZE]; /* one line, NUL-terminated, without the file's name */
};

#define CSN_ERROR_INIT { 0, 0, 0, { 0 }, { 0 } }
/* Sets *err to CSN_ERROR_INIT, for languages without the macro. `err` may be NULL. */
CSN_API void csn_error_init(struct csn_error *err);

/* Returns the message of an error: the affected item, its position and the values involved. Never NULL; valid as long
 * as `err`. Any thread; async-signal-safe. */
CSN_API const char *csn_error_text(const struct csn_error *err);

/* Returns a short English name of a status, such as "truncated" or "out of memory": a static string, never NULL.
 * Any thread; async-signal-safe. */
CSN_API const char *csn_status_name(csn_status status);

#ifdef __cplusplus
}
#endif
#endif

/* Callsign: status codes and errors.
 *
 * Every call that can fail returns a csn_status and fills a caller-owned csn_error when one is given.
 * Nothing here or elsewhere in the library prints, sets errno, or keeps global or thread-local state. */
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

/* 0: it worked. Above 0: a normal "nothing there". Below 0: a failure, described by the csn_error. */
typedef int csn_status;

enum {
    CSN_OK = 0,
    CSN_NONE = 1,             /* no function covers the address; the end of an iteration */
    CSN_E_TRUNCATED = -1,     /* data ends before a value that must be there */
    CSN_E_FORMAT = -2,        /* data contradicts its format */
    CSN_E_LIMIT = -3,         /* a limit of the options or of the output format is exceeded */
    CSN_E_UNSUPPORTED = -4,   /* valid, but not something this build or version handles */
    CSN_E_MEMORY = -5,        /* the allocator returned NULL */
    CSN_E_IO = -6,            /* the operating system refused; see os_error */
    CSN_E_ARGUMENT = -7,      /* the caller's arguments contradict the documentation */
    CSN_E_NOT_FOUND = -8,     /* a named thing (section, function, file) does not exist */
    CSN_E_CANCELLED = -9      /* a progress callback asked to stop */
};

enum { CSN_ERROR_TEXT_SIZE = 232 };

/* What went wrong and where. Owned by the caller, of frozen size, never allocates; NULL is accepted everywhere. */
struct csn_error {
    int32_t code;             /* a CSN_E_ value, or CSN_OK */
    int32_t os_error;         /* errno of the failed system call, or 0 */
    uint64_t offset;          /* byte offset within `section`, or within the file */
    char section[24];         /* ".debug_line", "FunctionInfo", "" where there is none */
    char text[CSN_ERROR_TEXT_SIZE]; /* one line, NUL-terminated, without the file's name */
};

#define CSN_ERROR_INIT { 0, 0, 0, { 0 }, { 0 } }
/* The same as a function. */
CSN_API void csn_error_init(struct csn_error *err);

/* The text of an error: thing, place and both values. Never NULL; lives as long as `err`. */
CSN_API const char *csn_error_text(const struct csn_error *err);

/* A short fixed English name of a status ("truncated", "out of memory"). Never NULL. */
CSN_API const char *csn_status_name(csn_status status);

#ifdef __cplusplus
}
#endif
#endif

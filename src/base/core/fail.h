/* Filling a csn_error. */
#ifndef CSNI_FAIL_H
#define CSNI_FAIL_H

#include <callsign/error.h>

#if defined(__GNUC__)
#if defined(__MINGW32__) && !defined(__clang__)
/* Callsign's own files are compiled with __USE_MINGW_ANSI_STDIO: "%zu" and "%llu" are as in C99. */
#define CSNI_PRINTF(f, a) __attribute__((format(gnu_printf, f, a)))
#else
#define CSNI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#endif
#define CSNI_COLD __attribute__((cold, noinline))
#else
#define CSNI_PRINTF(f, a)
#define CSNI_COLD
#endif

/* Sets `err` (NULL is fine) and returns `code`. `section` may be NULL; where it is given, the text is preceded by
 * "SECTION+0xOFFSET: ". `offset` is kept either way. */
CSNI_COLD csn_status csni_fail(struct csn_error *err, csn_status code, const char *section, uint64_t offset,
                               const char *format, ...) CSNI_PRINTF(5, 6);

/* CSN_E_IO with errno `os_error`: "what: strerror". */
CSNI_COLD csn_status csni_fail_os(struct csn_error *err, int os_error, const char *what);

/* CSN_E_MEMORY. */
CSNI_COLD csn_status csni_fail_memory(struct csn_error *err, uint64_t size);

/* Returns from the enclosing function when `expr` is a failure (below 0). */
#define CSNI_TRY(expr)                              \
    do {                                            \
        csn_status csni_try_status = (expr);        \
        if (csni_try_status < 0) return csni_try_status; \
    } while (0)

#endif

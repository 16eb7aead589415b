/* Texts of errors, written without the C library's stdio: in little stack and async-signal-safe, as lookups promise. */
#ifndef CSNI_FORMAT_H
#define CSNI_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf(), for %s, %c, %d, %i, %u, %x and %% with the flag 0, a width, a precision of %s and the lengths h to z.
 * Returns the length of the whole text. */
size_t csni_format_list(char *out, size_t cap, const char *format, va_list args);

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
size_t csni_format(char *out, size_t cap, const char *format, ...);

#endif

/* Messages on stderr: `callsign: FILE: message`, one line each. */
#ifndef CALLSIGN_CLI_MESSAGE_H
#define CALLSIGN_CLI_MESSAGE_H

#include <callsign/error.h>

#if defined(__GNUC__)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF(f, a)
#endif

/* `file` may be NULL. Of a URL, user, password and query are not shown. Control characters of the text are shown as
 * \xNN, so that it stays one line. */
void cli_error(const char *file, const char *format, ...) CLI_PRINTF(2, 3);

/* A line of its own on stderr, without the program's name: summaries and events of a conversion. */
void cli_report(const char *format, ...) CLI_PRINTF(1, 2);

/* What a call of the library failed with. */
void cli_error_status(const char *file, csn_status status, const struct csn_error *err);

/* Out of memory for `what`. */
void cli_error_memory(const char *what);

#endif

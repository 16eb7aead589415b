/* URLs in messages and logs: without user and password, and without the query, which may be what lets the reader in. */
#ifndef CALLSIGN_CLI_URL_TEXT_H
#define CALLSIGN_CLI_URL_TEXT_H

#include <stddef.h>

/* URLs with blanks between them; what does not fit is left out. Text without "://" stays as it is. */
void urls_show(const char *urls, char *out, size_t size);

#endif

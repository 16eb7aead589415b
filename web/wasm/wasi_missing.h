/* What the C library of WASI declares nowhere. */
#ifndef CALLSIGN_WEB_WASI_MISSING_H
#define CALLSIGN_WEB_WASI_MISSING_H

#include <stddef.h>

int mkstemp(char *name);
int madvise(void *ptr, size_t size, int advice);

#endif

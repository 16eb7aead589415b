/* What the C library of WASI lacks. Indexes are opened in memory only: nothing of this is called. */
#include "wasi_missing.h"

#include <errno.h>

int mkstemp(char *name) {
    (void)name;
    errno = ENOSYS;
    return -1;
}

/* Advice may be ignored. */
int madvise(void *ptr, size_t size, int advice) {
    (void)ptr, (void)size, (void)advice;
    return 0;
}

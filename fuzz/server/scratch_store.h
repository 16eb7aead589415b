/* A store in a folder of its own, in memory where the machine has such a file system; removed when the process ends. */
#ifndef CALLSIGN_FUZZ_SCRATCH_STORE_H
#define CALLSIGN_FUZZ_SCRATCH_STORE_H

#include "store/archive_intake.h"

/* Opens an empty one; what an earlier call made is removed, and its store must have been closed. Aborts on failure. */
struct symbol_store *scratch_store_open(void);
const char *scratch_store_dir(void);
/* The file as an upload. */
enum store_status scratch_store_take(struct symbol_store *store, const char *name, const void *bytes, size_t size,
                                     intake_note *note, void *context);

#endif

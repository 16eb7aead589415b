/* Files that come into the store: single ones, and those in archives (.deb, .rpm, .zip, .apk, .ipa, .tar ...). */
#ifndef CALLSIGN_SERVER_ARCHIVE_INTAKE_H
#define CALLSIGN_SERVER_ARCHIVE_INTAKE_H

#include "store/symbol_store.h"

/* Called for each file that was stored or rejected. */
typedef void intake_note(void *context, const char *name, enum store_status status, const struct artifact *artifact,
                         const char *why);

/* Stores the file, or what an archive has. The incoming file is used up. STORE_OK: something was stored;
 * STORE_REJECTED: nothing that a store keeps, or an archive that is damaged, of which `note` was told what could be
 * stored. */
enum store_status store_take_file(struct symbol_store *store, struct incoming *incoming, const char *name, const char *source,
                                  intake_note *note, void *context, char *why, size_t why_size);

#endif

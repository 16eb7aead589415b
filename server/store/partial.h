/* Uploads that come in several requests: what has arrived stays in DIR/.callsign/partial until the rest comes, also
 * when the server ends. Any thread; several servers over one folder. */
#ifndef CALLSIGN_SERVER_PARTIAL_H
#define CALLSIGN_SERVER_PARTIAL_H

#include "store/symbol_store.h"

enum { UPLOAD_ID_SIZE = 65 };

/* Which upload: parts with the same of all four are parts of one file. */
struct partial_key {
    const char *tenant, *name;
    const char *id;              /* the client's choice: 1 to 64 letters, digits, - and _ */
    uint64_t total;              /* bytes of the whole file */
};
bool upload_id_is_good(const char *id);

enum partial_status {
    PARTIAL_OPEN,
    PARTIAL_NONE,     /* nothing has arrived, and none was to be made */
    PARTIAL_BUSY,     /* another request writes it */
    PARTIAL_TOO_MANY,
    PARTIAL_FAILED    /* with errno */
};
/* Opens and locks what has arrived; *have receives its size. `most`: of partial uploads at the same time; 0: does not begin one. */
enum partial_status partial_open(struct symbol_store *store, const struct partial_key *key, uint64_t most,
                                 struct incoming *out, uint64_t *have);
/* Removes those that nobody has written for `age_s` seconds. */
void partials_remove_old(struct symbol_store *store, uint64_t age_s);

#endif

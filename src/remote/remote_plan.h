/* What a lookup is going to read, so that it is fetched in few requests. Only speed depends on it: what is forgotten here is
 * noticed when the lookup has run. */
#ifndef CSNI_REMOTE_PLAN_H
#define CSNI_REMOTE_PLAN_H

#include "remote/remote_index.h"

/* Fetches step by step what the lookups of all addresses need, up to their records. The inner index has its stored accelerator
 * afterwards if that suits them. */
csn_status csni_remote_plan(struct csni_remote *remote, const uint64_t *addrs, size_t count, enum csn_lookup_mode mode,
                            struct csn_error *err);

/* After the lookups: files come from the file table, if that was read when the index was opened. */
void csni_remote_end_plan(struct csni_remote *remote);

/* Wants the entry of a file. True: it is missing. */
bool csni_remote_want_file_entry(struct csni_remote *remote, uint32_t idx);

#endif

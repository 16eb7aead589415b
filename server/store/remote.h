/* Where a store gets what its folder does not have: a bucket, debuginfod, symbol servers, other Callsign servers. */
#ifndef CALLSIGN_SERVER_REMOTE_H
#define CALLSIGN_SERVER_REMOTE_H

#include "store/symbol_store.h"

struct remote;

/* `timeout_s`: without progress, after which a request is given up. `max_bytes`: the largest file that is taken of a
 * server. `url`: s3://BUCKET/PREFIX, or http(s)://... of a server that has one of the trees. */
int remote_open(const char *url, uint64_t timeout_s, uint64_t max_bytes, struct remote **out, char *why, size_t why_size);
void remote_close(struct remote *remote); /* NULL is fine */
struct bucket;
struct bucket *remote_bucket(struct remote *remote); /* NULL: it is a server */
const char *remote_url(const struct remote *remote);

/* Fetches the file that answers `query` into `incoming`, which has been created. STORE_OK, STORE_NONE, STORE_UNREACHABLE. *name
 * receives the file's name at the remote. */
enum store_status remote_fetch(struct remote *remote, const struct tree_query *query, struct incoming *incoming,
                               char name[NAME_SIZE], char *why, size_t why_size);
/* Stores the file at `path`. STORE_NONE: files cannot be written to this remote. */
enum store_status remote_put(struct remote *remote, const struct artifact *artifact, const char *path, char *why, size_t why_size);

#endif

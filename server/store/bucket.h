/* A bucket of S3: the store's files under PREFIX/, at the paths that they have in the folder. */
#ifndef CALLSIGN_SERVER_BUCKET_H
#define CALLSIGN_SERVER_BUCKET_H

#include "store/layout.h"
#include "store/symbol_store.h"

struct bucket;
/* `url`: s3://BUCKET/PREFIX. Keys, region and endpoint are those of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
 * AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. */
int bucket_open(const char *url, uint64_t timeout_s, struct bucket **out, char *why, size_t why_size);
void bucket_close(struct bucket *bucket); /* NULL is fine */

/* Tries `paths` in order; a debug id of an ELF image without them is searched by the build ids that begin like it. */
enum store_status bucket_fetch(struct bucket *bucket, const struct tree_query *query,
                               const char (*paths)[STORE_PATH_SIZE], size_t count, int fd, char *why, size_t why_size);
enum store_status bucket_put(struct bucket *bucket, const struct artifact *artifact, const char *path, char *why, size_t why_size);
enum store_status bucket_fetch_key(struct bucket *bucket, const char *path, int fd, char *why, size_t why_size);
enum store_status bucket_remove(struct bucket *bucket, const char *path, char *why, size_t why_size);
/* Calls `visit` for each file whose path begins with `prefix`; return false to stop. */
typedef bool bucket_visit(void *context, const char *path, uint64_t bytes);
enum store_status bucket_list(struct bucket *bucket, const char *prefix, bucket_visit *visit, void *context, char *why,
                              size_t why_size);

#endif

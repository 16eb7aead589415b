/* Ranges of a file by HTTP, and from buckets of S3. */
#ifndef CSNI_REMOTE_HTTP_H
#define CSNI_REMOTE_HTTP_H

#include <callsign/remote.h>

struct csni_remote_http;

/* CSN_E_UNSUPPORTED: libcurl cannot be loaded. CSN_E_ARGUMENT: the URL is none. */
csn_status csni_remote_http_open(const char *url, const struct csn_remote_options *options, const struct csn_allocator *allocator,
                                 struct csni_remote_http **out, struct csn_error *err);
void csni_remote_http_close(struct csni_remote_http *http); /* NULL is fine */

/* A csn_remote_callback, whose context is a csni_remote_http. */
csn_status csni_remote_http_read(void *http, struct csn_remote_range *ranges, size_t count, struct csn_remote_file *file,
                                 struct csn_error *err);

#endif

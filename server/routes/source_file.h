/* Source files that images name. */
#ifndef CALLSIGN_SERVER_SOURCE_FILE_H
#define CALLSIGN_SERVER_SOURCE_FILE_H

#include "http/http.h"

/* /buildid/ID/source/PATH; `path` begins with '/'. */
enum http_done answer_source(struct http_request *request, const char *build_id, const char *path);
/* Where the file of this path is; false: below the source root there is none. */
bool find_source_file(const struct http_request *request, const char *path, char *out, size_t out_size);

#endif

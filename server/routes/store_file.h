/* A file of the store, or one that is made from it, as an answer. */
#ifndef CALLSIGN_SERVER_STORE_FILE_H
#define CALLSIGN_SERVER_STORE_FILE_H

#include "http/http.h"
#include "store/index_pool.h"
#include "store/layout.h"

enum http_done answer_tree_query(struct http_request *request, const struct tree_query *query);
/* Of a file: that there is none is said in text, as debuginfod does. */
enum http_done respond_pool(struct http_request *request, enum pool_status status, const char *why);
/* Of a request that is answered in JSON. */
enum http_done respond_image(struct http_request *request, enum pool_status status, const char *why);

#endif

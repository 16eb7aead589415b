/* How many requests a second a client may make: a bucket for each tenant, else for each address. */
#ifndef CALLSIGN_SERVER_RATE_LIMIT_H
#define CALLSIGN_SERVER_RATE_LIMIT_H

#include "http/http.h"

struct rate_limit;
struct rate_limit *rate_limit_create(void);
void rate_limit_free(struct rate_limit *limit);
/* False: it has made too many. */
bool rate_limit_take(struct http_request *request);

#endif

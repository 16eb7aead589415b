/* POST /v1/symbolicate with a body of Arrow's IPC format. */
#ifndef CALLSIGN_SERVER_OWN_ARROW_H
#define CALLSIGN_SERVER_OWN_ARROW_H

#include "http/http.h"

bool is_arrow_request(const struct http_request *request);
enum http_done own_symbolicate_arrow(struct http_request *request);

#endif

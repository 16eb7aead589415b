/* The log: one JSON object a line on standard error. Any thread. */
#ifndef CALLSIGN_SERVER_HTTP_LOG_H
#define CALLSIGN_SERVER_HTTP_LOG_H

#include "http/http.h"

void log_set_level(const char *level);
/* `request`'s answer has been sent, or its connection ended. */
void log_request(const struct http_request *request, uint64_t microseconds, bool was_sent);
void log_event(const char *level, const char *message, const char *detail);
/* Random ids, and the trace id of the traceparent header (W3C Trace Context, 3.2) where there is one. */
void log_make_ids(struct http_request *request);

#endif

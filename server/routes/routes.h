/* The table of routes. */
#ifndef CALLSIGN_SERVER_ROUTES_H
#define CALLSIGN_SERVER_ROUTES_H

#include "http/http.h"

extern const struct route server_routes[];
extern const size_t server_route_count;

http_handler symbolicate_v5, symbolicate_v5_legacy, symbolicate_v4, source_v1;
http_handler debuginfod_file, debuginfod_metadata;
http_handler upload_file, own_symbolicate, trees_and_page, proxy_file;
http_handler pprof_symbolz;
http_handler sentry_symbolicate, sentry_request;
http_handler show_metrics, show_health, show_healthcheck, show_ready, show_version, show_openapi;

#endif

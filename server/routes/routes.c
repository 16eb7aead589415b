/* The table of routes: the first that fits answers. */
#include "routes/routes.h"

const struct route server_routes[] = {
    { "/symbolicate/v5", "POST", symbolicate_v5, ROUTE_QUICK, "symbolicate_v5" },
    { "/symbolicate/v5-legacy", "POST", symbolicate_v5_legacy, ROUTE_QUICK, "symbolicate_v5_legacy" },
    { "/symbolicate/v4", "POST", symbolicate_v4, ROUTE_QUICK, "symbolicate_v4" },
    { "/source/v1", "POST", source_v1, 0, "source_v1" },
    { "/symbolicate", "POST", sentry_symbolicate, 0, "sentry_symbolicate" },
    { "/requests/", "GET", sentry_request, ROUTE_PREFIX | ROUTE_NAMES, "sentry_requests" },
    { "/v1/symbolicate", "POST", own_symbolicate, 0, "symbolicate" },
    { "/v1/openapi.json", "GET HEAD", show_openapi, ROUTE_QUICK | ROUTE_OPEN, "openapi" },
    { "/symbolz", "GET POST", pprof_symbolz, ROUTE_NAMES, "symbolz" },
    { "/pprof/symbol", "GET POST", pprof_symbolz, ROUTE_NAMES, "symbolz" },
    { "/m/", "GET POST", pprof_symbolz, ROUTE_PREFIX | ROUTE_NAMES, "symbolz" },
    { "/proxy/", "GET HEAD", proxy_file, ROUTE_PREFIX, "proxy" },
    { "/v1/store/", "PUT", upload_file, ROUTE_PREFIX | ROUTE_FILE | ROUTE_UPLOAD, "upload" },
    { "/metadata", "GET HEAD", debuginfod_metadata, 0, "metadata" },
    { "/buildid/", "GET HEAD", debuginfod_file, ROUTE_PREFIX, "debuginfod" },
    { "/metrics", "GET HEAD", show_metrics, ROUTE_QUICK | ROUTE_OPEN, "metrics" },
    { "/healthz", "GET HEAD", show_health, ROUTE_QUICK | ROUTE_OPEN, "health" },
    { "/healthcheck", "GET HEAD", show_healthcheck, ROUTE_QUICK | ROUTE_OPEN, "health" },
    { "/__heartbeat__", "GET HEAD", show_ready, ROUTE_OPEN, "health" },
    { "/__lbheartbeat__", "GET HEAD", show_health, ROUTE_QUICK | ROUTE_OPEN, "health" },
    { "/readyz", "GET HEAD", show_ready, ROUTE_OPEN, "health" },
    { "/__version__", "GET HEAD", show_version, ROUTE_QUICK | ROUTE_OPEN, "version" },
    { "/", "GET HEAD", trees_and_page, ROUTE_PREFIX, "trees" },
};
const size_t server_route_count = sizeof(server_routes) / sizeof(server_routes[0]);

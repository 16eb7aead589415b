/* What operators and load balancers ask for. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <callsign/base.h>

#include "http/connections.h"
#include "http/server.h"
#include "routes/openapi.h"
#include "routes/poll.h"
#include "routes/routes.h"

enum http_done show_health(struct http_request *request) { return respond(request, 200, "text/plain", "ok\n"); }

/* Symbolicator's, to the letter. */
enum http_done show_healthcheck(struct http_request *request) { return respond(request, 200, "text/plain", "ok"); }

/* Ready: the store answers, its files are known, and no drain has begun. */
enum http_done show_ready(struct http_request *request) {
    struct server *server = request->server;
    if (atomic_load(&server->is_draining)) return respond_error(request, 503, "the server drains");
    if (!atomic_load(&server->is_scanned)) return respond_error(request, 503, "the catalogue is being made");
    if (access(symbol_store_dir(server->store), R_OK | X_OK) != 0 || catalogue_count(symbol_store_catalogue(server->store)) < 0)
        return respond_error(request, 503, "the store cannot be reached");
    return respond(request, 200, "text/plain", "ready\n");
}

enum http_done show_version(struct http_request *request) {
    struct text *body = &request->response.body;
    text_char(body, '{');
    text_json_member(body, "source", "callsign");
    text_json_member(body, "version", csn_version());
    text_put(body, "}\n");
    return respond_json(request, 200);
}

enum http_done show_openapi(struct http_request *request) {
    text_bytes(&request->response.body, server_openapi, server_openapi_size);
    return respond_json(request, 200);
}

static void put_metric(struct text *out, const char *name, const char *type, const char *help, uint64_t value) {
    text_format(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type, name, (unsigned long long)value);
}

/* Routes of one name are one in the metrics. */
static bool is_first_of_name(const struct server *server, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcmp(server->routes[i].name, server->routes[j].name) == 0) return false;
    return true;
}

static const char *route_name(const struct server *server, size_t i) {
    return i < server->route_count ? server->routes[i].name : "none";
}

static uint64_t sum_answers(const struct server *server, const char *name, int digit) {
    uint64_t sum = 0;
    for (size_t i = 0; i < METRIC_ROUTES; i++)
        if (strcmp(route_name(server, i), name) == 0) sum += atomic_load(&server->metrics.routes[i].answers[digit]);
    return sum;
}

static void put_durations(struct text *out, const struct server *server, const char *name) {
    uint64_t below = 0, all = 0, microseconds = 0;
    for (int bucket = 0; bucket < METRIC_BUCKETS; bucket++) {
        for (size_t i = 0; i < METRIC_ROUTES; i++)
            if (strcmp(route_name(server, i), name) == 0) below += atomic_load(&server->metrics.routes[i].buckets[bucket]);
        text_format(out, "callsign_request_duration_seconds_bucket{route=\"%s\",le=\"%g\"} %llu\n", name,
                    (double)metric_bucket_bound(bucket) / 1e6, (unsigned long long)below);
    }
    for (int digit = 0; digit < METRIC_CLASSES; digit++) all += sum_answers(server, name, digit);
    for (size_t i = 0; i < METRIC_ROUTES; i++)
        if (strcmp(route_name(server, i), name) == 0) microseconds += atomic_load(&server->metrics.routes[i].microseconds);
    text_format(out, "callsign_request_duration_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name, (unsigned long long)all);
    text_format(out, "callsign_request_duration_seconds_sum{route=\"%s\"} %.6f\n", name, (double)microseconds / 1e6);
    text_format(out, "callsign_request_duration_seconds_count{route=\"%s\"} %llu\n", name, (unsigned long long)all);
}

static void put_requests(struct text *out, const struct server *server) {
    text_put(out,
             "# HELP callsign_requests_total Requests by route and class of status.\n# TYPE callsign_requests_total counter\n");
    for (size_t i = 0; i <= server->route_count; i++) {
        if (i < server->route_count && !is_first_of_name(server, i)) continue;
        for (int digit = 1; digit < METRIC_CLASSES; digit++) {
            uint64_t count = sum_answers(server, route_name(server, i), digit);
            if (count)
                text_format(out, "callsign_requests_total{route=\"%s\",status=\"%dxx\"} %llu\n", route_name(server, i),
                            digit, (unsigned long long)count);
        }
    }
    text_put(out, "# HELP callsign_request_duration_seconds Time from a request's head to the end of its answer.\n"
                  "# TYPE callsign_request_duration_seconds histogram\n");
    for (size_t i = 0; i <= server->route_count; i++)
        if (i == server->route_count || is_first_of_name(server, i)) put_durations(out, server, route_name(server, i));
}

enum http_done show_metrics(struct http_request *request) {
    struct server *server = request->server;
    struct text *out = &request->response.body;
    struct pool_counts counts;
    int64_t files = catalogue_count(symbol_store_catalogue(server->store));
    pool_get_counts(server->pool, &counts);
    put_requests(out, server);
    put_metric(out, "callsign_frames_total", "counter", "Frames that requests had.", atomic_load(&server->metrics.frames));
    put_metric(out, "callsign_uploads_total", "counter", "Uploads that were stored.", atomic_load(&server->metrics.uploads));
    put_metric(out, "callsign_upload_bytes_total", "counter", "Bytes of these uploads.",
               atomic_load(&server->metrics.upload_bytes));
    put_metric(out, "callsign_rate_limited_total", "counter",
               "Requests that were refused because a client made too many.", atomic_load(&server->metrics.limited));
    put_metric(out, "callsign_index_hits_total", "counter", "Images whose index was open.", counts.hits);
    put_metric(out, "callsign_index_misses_total", "counter", "Images whose index had to be searched or made.", counts.misses);
    put_metric(out, "callsign_open_indexes", "gauge", "Images that are known at the moment.", counts.open);
    put_metric(out, "callsign_conversions_total", "counter", "Conversions.", counts.conversions);
    put_metric(out, "callsign_conversions_waiting", "gauge", "Conversions that wait for a worker.", counts.waiting);
    put_metric(out, "callsign_conversion_failures_total", "counter", "Files that could not be used.", counts.failures);
    put_metric(out, "callsign_pending_answers", "gauge", "Requests with a timeout that run, or whose answer is kept.",
               polls_count(server->polls));
    put_metric(out, "callsign_store_files", "gauge", "Files of the catalogue.", files < 0 ? 0 : (uint64_t)files);
    put_metric(out, "callsign_connections", "gauge", "Open connections.", connections_count());
    put_metric(out, "callsign_requests_active", "gauge", "Requests under way.", atomic_load(&server->active));
    request->response.status = 200;
    request->response.content_type = "text/plain; version=0.0.4";
    return HTTP_DONE;
}

/* Counts for /metrics. */
#include "http/metrics.h"

static const uint64_t bounds[METRIC_BUCKETS] = { 100,   250,   500,    1000,   2500,    5000,     10000,
                                                 25000, 50000, 100000, 250000, 1000000, 10000000, 60000000 };

uint64_t metric_bucket_bound(int bucket) { return bucket < METRIC_BUCKETS ? bounds[bucket] : 0; }

void metrics_count(struct metrics *metrics, unsigned route, unsigned status, uint64_t microseconds) {
    if (route >= METRIC_ROUTES) route = METRIC_ROUTES - 1;
    unsigned digit = status / 100 < METRIC_CLASSES ? status / 100 : 0;
    atomic_fetch_add_explicit(&metrics->routes[route].answers[digit], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->routes[route].microseconds, microseconds, memory_order_relaxed);
    for (int i = 0; i < METRIC_BUCKETS; i++) {
        if (microseconds > bounds[i]) continue;
        atomic_fetch_add_explicit(&metrics->routes[route].buckets[i], 1, memory_order_relaxed);
        return;
    }
}

/* Counts for /metrics. Any thread. */
#ifndef CALLSIGN_SERVER_METRICS_H
#define CALLSIGN_SERVER_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

enum { METRIC_ROUTES = 40, METRIC_CLASSES = 6, METRIC_BUCKETS = 14 };

struct metrics {
    struct {
        atomic_uint_least64_t answers[METRIC_CLASSES];  /* by the first digit of the status */
        atomic_uint_least64_t buckets[METRIC_BUCKETS];  /* of durations */
        atomic_uint_least64_t microseconds;
    } routes[METRIC_ROUTES];
    atomic_uint_least64_t frames, uploads, upload_bytes, sent_bytes, limited;
};
/* Upper bound of a bucket in microseconds; 0: none. */
uint64_t metric_bucket_bound(int bucket);
void metrics_count(struct metrics *metrics, unsigned route, unsigned status, uint64_t microseconds);

#endif

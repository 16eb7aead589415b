/* JSON where it stands: values are spans of the text, and only what is wanted is looked at. */
#ifndef CSNI_JSON_SCAN_H
#define CSNI_JSON_SCAN_H

#include "base/buffer.h"
#include "base/core/span.h"
#include "base/core/vec.h"

struct json_scan {
    struct csni_span all;
    struct csn_error *err;
    const struct csn_allocator *alloc;
};

/* The value that begins at `from`, checked as a whole: what else is here takes text for JSON that this has passed, and fails at
 * nothing but what a value means. */
csn_status csni_json_value(const struct json_scan *scan, const uint8_t *from, struct csni_span *out);

/* One wanted member of an object. */
struct json_member {
    const char *key;
    struct csni_span value;      /* NULL: the object has none, or null */
};
/* Finds members of an object in one pass; the last of a name counts. A value that is no object has none. */
void csni_json_members(struct csni_span object, struct json_member *members, size_t count);

/* The next item of an array, from *at on, which is the array at first. False: there is no more, or `at` was no array. */
bool csni_json_item(struct csni_span *at, struct csni_span *out);
/* An error if a value is none; one that is not there is fine. */
csn_status csni_json_array(const struct json_scan *scan, struct csni_span value);
bool csni_json_number(struct csni_span value, double *out);

/* A number as it stands: digits, the first and the last of which are not 0. */
struct json_decimal {
    struct csni_span digits;     /* a point may be among them */
    size_t count;                /* 0: the number is 0 */
    int64_t decimals;            /* how many of them are behind the point; below 0: as many zeros follow */
    bool negative;
};
/* False: it is no number. */
bool csni_json_decimal(struct csni_span value, struct json_decimal *out);
/* The number times 10^places without its sign, rounded. False: more than 64 bits. */
bool csni_json_decimal_size(const struct json_decimal *number, unsigned places, uint64_t *out, bool *is_whole);
/* The same with its sign. */
bool csni_json_decimal_value(const struct json_decimal *number, unsigned places, int64_t *out);
/* A whole number; false: it is none, or has more than 64 bits. */
bool csni_json_integer(struct csni_span value, int64_t *out);
/* A string's bytes behind those of `out`. CSN_NONE: it is no string. */
csn_status csni_json_string(const struct json_scan *scan, struct csni_span value, struct csni_buffer *out);
/* All numbers of an array, which must be whole; null is `missing`. */
struct json_column {
    CSNI_VEC(int64_t) items;
};
csn_status csni_json_column(const struct json_scan *scan, struct csni_span array, int64_t missing, struct json_column *out);

csn_status csni_json_fail(const struct json_scan *scan, const uint8_t *at, const char *text);

#endif

/* URLs, and where an object of S3 is. */
#include "remote/remote_address.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/fail.h"

static const char *first_variable(const char *a, const char *b) {
    const char *value = getenv(a);
    if (value && *value) return value;
    value = b ? getenv(b) : NULL;
    return value && *value ? value : NULL;
}

/* False: it does not fit. */
static bool put(char *out, size_t size, const char *before, const char *text, int len) {
    int added = snprintf(out, size, "%s%.*s", before, len, text);
    return added >= 0 && (size_t)added < size;
}

/* Characters that a path of a URL does not have, percent-encoded; '/' stays. */
static bool put_path(char *out, size_t size, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    size_t used = strlen(out);
    for (; *path; path++) {
        if (size - used < 4) return false;
        used += (size_t)snprintf(out + used, size - used, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    }
    return true;
}

static bool put_endpoint(struct csni_remote_address *out, const char *bucket, int bucket_len, const char *region) {
    const char *endpoint = first_variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    int added;
    if (endpoint) {
        size_t len = strlen(endpoint);
        while (len && endpoint[len - 1] == '/') len--;
        added = snprintf(out->url, sizeof out->url, "%.*s/%.*s", (int)len, endpoint, bucket_len, bucket);
    } else {
        added = snprintf(out->url, sizeof out->url, "https://%.*s.s3.%s.amazonaws.com", bucket_len, bucket, region);
    }
    return added > 0 && (size_t)added < sizeof out->url;
}

/* libcurl 7.88 signs the host without its port unless the header is given. */
static bool put_host(struct csni_remote_address *out) {
    const char *host = strstr(out->url, "://");
    host = host ? host + 3 : out->url;
    return put(out->host_header, sizeof out->host_header, "Host: ", host, (int)strcspn(host, "/"));
}

static bool put_credentials(struct csni_remote_address *out, const char *region) {
    const char *key = first_variable("AWS_ACCESS_KEY_ID", NULL), *secret = first_variable("AWS_SECRET_ACCESS_KEY", NULL);
    const char *token = first_variable("AWS_SESSION_TOKEN", NULL);
    if (!key || !secret) return true;
    int user = snprintf(out->user, sizeof out->user, "%s:%s", key, secret);
    int signature = snprintf(out->signature, sizeof out->signature, "aws:amz:%s:s3", region);
    if (token && !put(out->token_header, sizeof out->token_header, "x-amz-security-token: ", token, (int)strlen(token)))
        return false;
    return user > 0 && (size_t)user < sizeof out->user && signature > 0 && (size_t)signature < sizeof out->signature;
}

static csn_status parse_bucket(const char *text, struct csni_remote_address *out, struct csn_error *err) {
    const char *bucket = text + strlen("s3://"), *slash = strchr(bucket, '/');
    const char *region = first_variable("AWS_REGION", "AWS_DEFAULT_REGION");
    if (!region) region = "us-east-1";
    if (!slash || slash == bucket || !slash[1]) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "must be s3://BUCKET/KEY");
    out->is_bucket = true;
    bool fits = slash - bucket < 256 && put_endpoint(out, bucket, (int)(slash - bucket), region) && put_host(out) &&
                put_path(out->url, sizeof out->url, slash) && put_credentials(out, region);
    return fits ? CSN_OK : csni_fail(err, CSN_E_LIMIT, NULL, 0, "the key, the endpoint or the credentials are too long");
}

csn_status csni_remote_address_parse(const char *text, struct csni_remote_address *out, struct csn_error *err) {
    *out = (struct csni_remote_address){ .is_bucket = false };
    if (strncasecmp(text, "s3://", 5) == 0) return parse_bucket(text, out, err);
    if (strncasecmp(text, "http://", 7) != 0 && strncasecmp(text, "https://", 8) != 0)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "must be http://, https:// or s3://BUCKET/KEY");
    if (put(out->url, sizeof out->url, "", text, (int)strcspn(text, "#"))) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the URL has %zu bytes, need < %zu", strlen(text), sizeof out->url);
}

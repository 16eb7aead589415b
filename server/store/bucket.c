/* A bucket of S3. */
#define _GNU_SOURCE
#include "store/bucket.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/remote_http.h"

enum { KEY_SIZE = 2 * STORE_PATH_SIZE, MOST_PAGES = 100000 /* of 1000 keys */, MOST_FOUND = 4, FOUND_SLOTS = 256, FOUND_S = 5 };

/* The keys below a prefix, kept for a moment: an image is looked for as an index, as a debug file, as a symbol file
 * ..., each by the same list, and lists are what a bucket costs most for. */
struct found_keys {
    char prefix[128];
    time_t until;
    uint32_t count;
    char paths[MOST_FOUND][STORE_PATH_SIZE];
};

struct bucket {
    char base[1024];      /* ENDPOINT/BUCKET */
    char prefix[512];     /* ends in '/' unless it is empty */
    char host_header[600];
    char signature[128];  /* aws:amz:REGION:s3 */
    char *user;           /* KEY:SECRET; NULL: requests are not signed */
    char *token_header;   /* NULL: none */
    uint64_t timeout_s;
    pthread_mutex_t lock; /* of `found` */
    struct found_keys *found;
};

static const char *first_variable(const char *a, const char *b) {
    const char *value = getenv(a);
    if (value && *value) return value;
    value = b ? getenv(b) : NULL;
    return value && *value ? value : NULL;
}

static bool take_credentials(struct bucket *bucket) {
    const char *key = first_variable("AWS_ACCESS_KEY_ID", NULL), *secret = first_variable("AWS_SECRET_ACCESS_KEY", NULL);
    const char *token = first_variable("AWS_SESSION_TOKEN", NULL);
    if (key && secret && asprintf(&bucket->user, "%s:%s", key, secret) < 0) return false;
    return !token || asprintf(&bucket->token_header, "x-amz-security-token: %s", token) >= 0;
}

int bucket_open(const char *url, uint64_t timeout_s, struct bucket **out, char *why, size_t why_size) {
    const char *name = url + strlen("s3://"), *slash = strchr(name, '/');
    const char *region = first_variable("AWS_REGION", "AWS_DEFAULT_REGION"),
               *endpoint = first_variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    int size = slash ? (int)(slash - name) : (int)strlen(name);
    struct bucket *bucket = calloc(1, sizeof(*bucket));
    if (!bucket) return -1;
    bucket->timeout_s = timeout_s;
    pthread_mutex_init(&bucket->lock, NULL);
    bucket->found = calloc(FOUND_SLOTS, sizeof(*bucket->found));
    if (!region) region = "us-east-1";
    if (endpoint)
        snprintf(bucket->base, sizeof(bucket->base), "%.*s/%.*s",
                 (int)(strlen(endpoint) - (endpoint[strlen(endpoint) - 1] == '/')), endpoint, size, name);
    else snprintf(bucket->base, sizeof(bucket->base), "https://%.*s.s3.%s.amazonaws.com", size, name, region);
    const char *host = strstr(bucket->base, "://");
    host = host ? host + 3 : bucket->base;
    snprintf(bucket->host_header, sizeof(bucket->host_header), "Host: %.*s", (int)strcspn(host, "/"), host);
    if (slash && slash[1]) snprintf(bucket->prefix, sizeof(bucket->prefix), "%s/", slash + 1);
    snprintf(bucket->signature, sizeof(bucket->signature), "aws:amz:%s:s3", region);
    if (size > 0 && bucket->found && take_credentials(bucket)) {
        *out = bucket;
        return 0;
    }
    snprintf(why, why_size, "%s: must be s3://BUCKET or s3://BUCKET/PREFIX", url);
    bucket_close(bucket);
    return -1;
}

void bucket_close(struct bucket *bucket) {
    if (!bucket) return;
    pthread_mutex_destroy(&bucket->lock);
    free(bucket->found);
    free(bucket->user);
    free(bucket->token_header);
    free(bucket);
}

/* ---- requests ---- */

struct bucket_request {
    CURL *curl;
    struct curl_slist *headers;
};

static bool begin_request(struct bucket *bucket, const char *path, const char *query, struct bucket_request *out) {
    struct text url = { 0 };
    text_put(&url, bucket->base);
    text_char(&url, '/');
    if (path) {
        http_put_path(&url, bucket->prefix);
        http_put_path(&url, path);
    }
    if (query) text_put(&url, query);
    *out = (struct bucket_request){ .curl = http_handle(text_cstr(&url), bucket->timeout_s) };
    text_free(&url);
    if (!out->curl) return false;
    curl_easy_setopt(out->curl, CURLOPT_FOLLOWLOCATION, 0L);
    if (bucket->user) {
        curl_easy_setopt(out->curl, CURLOPT_AWS_SIGV4, bucket->signature);
        curl_easy_setopt(out->curl, CURLOPT_USERPWD, bucket->user);
    }
    /* libcurl 7.88 signs the host without its port unless the header is given. */
    out->headers = curl_slist_append(out->headers, bucket->host_header);
    out->headers = curl_slist_append(out->headers, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (bucket->token_header) out->headers = curl_slist_append(out->headers, bucket->token_header);
    return true;
}

static enum store_status run_request(struct bucket_request *request, char *why, size_t why_size) {
    if (request->headers) curl_easy_setopt(request->curl, CURLOPT_HTTPHEADER, request->headers);
    enum store_status status = http_status(request->curl, curl_easy_perform(request->curl), why, why_size);
    curl_easy_cleanup(request->curl);
    curl_slist_free_all(request->headers);
    return status;
}

/* What a bucket says in words: NoSuchBucket is a 404 that means no bucket. */
static enum store_status bucket_is_missing(enum store_status status, struct text *body, char *why, size_t why_size) {
    if (status != STORE_NONE || !strstr(text_cstr(body), "NoSuchBucket")) return status;
    snprintf(why, why_size, "the bucket does not exist");
    return STORE_UNREACHABLE;
}

enum store_status bucket_fetch_key(struct bucket *bucket, const char *path, int fd, char *why, size_t why_size) {
    struct bucket_request request;
    char head[512] = "";
    if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0 || !begin_request(bucket, path, NULL, &request)) {
        snprintf(why, why_size, "%s", strerror(errno));
        return STORE_FAILED;
    }
    curl_easy_setopt(request.curl, CURLOPT_WRITEFUNCTION, http_write_file);
    curl_easy_setopt(request.curl, CURLOPT_WRITEDATA, &fd);
    enum store_status status = run_request(&request, why, why_size);
    if (status != STORE_NONE) return status;
    struct text body = { 0 };
    ssize_t got = pread(fd, head, sizeof(head) - 1, 0);
    text_bytes(&body, head, got > 0 ? (size_t)got : 0);
    status = bucket_is_missing(status, &body, why, why_size);
    text_free(&body);
    return status;
}

static size_t read_file(char *bytes, size_t size, size_t count, void *file) { return fread(bytes, size, count, file); }

enum store_status bucket_put(struct bucket *bucket, const struct artifact *artifact, const char *path, char *why, size_t why_size) {
    struct bucket_request request;
    struct text answer = { 0 };
    struct stat st;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &st) < 0 || !begin_request(bucket, artifact->path, NULL, &request)) {
        snprintf(why, why_size, "%s", strerror(errno));
        if (file) fclose(file);
        return STORE_FAILED;
    }
    struct text name = { 0 };
    text_put(&name, "x-amz-meta-callsign-name: ");
    http_put_path(&name, *artifact->name ? artifact->name : "-");
    request.headers = curl_slist_append(request.headers, text_cstr(&name));
    text_free(&name);
    curl_easy_setopt(request.curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(request.curl, CURLOPT_READFUNCTION, read_file);
    curl_easy_setopt(request.curl, CURLOPT_READDATA, file);
    curl_easy_setopt(request.curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)st.st_size);
    curl_easy_setopt(request.curl, CURLOPT_WRITEFUNCTION, http_write_text);
    curl_easy_setopt(request.curl, CURLOPT_WRITEDATA, &answer);
    enum store_status status = run_request(&request, why, why_size);
    if (status == STORE_NONE) snprintf(why, why_size, "the bucket does not exist");
    text_free(&answer);
    fclose(file);
    return status == STORE_NONE ? STORE_UNREACHABLE : status;
}

enum store_status bucket_remove(struct bucket *bucket, const char *path, char *why, size_t why_size) {
    struct bucket_request request;
    struct text answer = { 0 };
    if (!begin_request(bucket, path, NULL, &request)) return STORE_UNREACHABLE;
    curl_easy_setopt(request.curl, CURLOPT_CUSTOMREQUEST, "DELETE");
    curl_easy_setopt(request.curl, CURLOPT_WRITEFUNCTION, http_write_text);
    curl_easy_setopt(request.curl, CURLOPT_WRITEDATA, &answer);
    enum store_status status = run_request(&request, why, why_size);
    text_free(&answer);
    return status;
}

/* ---- lists ---- */

/* The text of <NAME>...</NAME> from *at on, which moves behind it. Keys have no markup but these references. */
static bool next_element(const char **at, const char *end, const char *name, char *out, size_t out_size) {
    char open[64], close[64];
    int open_size = snprintf(open, sizeof(open), "<%s>", name), close_size = snprintf(close, sizeof(close), "</%s>", name);
    const char *start = memmem(*at, (size_t)(end - *at), open, (size_t)open_size);
    const char *stop = start ? memmem(start, (size_t)(end - start), close, (size_t)close_size) : NULL;
    if (!stop) return false;
    start += open_size;
    size_t used = 0;
    while (start < stop && used + 1 < out_size) {
        static const struct { const char *reference; char c; } references[] = {
            { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' }, { "&#39;", '\'' } };
        size_t skip = 0;
        for (size_t i = 0; i < 6 && !skip; i++) {
            size_t size = strlen(references[i].reference);
            if ((size_t)(stop - start) < size || memcmp(start, references[i].reference, size) != 0) continue;
            out[used++] = references[i].c;
            skip = size;
        }
        if (!skip) out[used++] = *start;
        start += skip ? skip : 1;
    }
    out[used] = 0;
    *at = stop + close_size;
    return true;
}

static void put_argument(struct text *out, const char *value) {
    for (; *value; value++) {
        if (isalnum((unsigned char)*value) || strchr("-._~", *value)) text_char(out, *value);
        else text_format(out, "%%%02X", (unsigned char)*value);
    }
}

static enum store_status list_page(struct bucket *bucket, const char *prefix, const char *token, struct text *page,
                                   char *why, size_t why_size) {
    struct bucket_request request;
    struct text query = { 0 };
    text_put(&query, "?"); /* arguments in the order in which signatures want them */
    if (*token) {
        text_put(&query, "continuation-token=");
        put_argument(&query, token);
        text_char(&query, '&');
    }
    text_put(&query, "list-type=2&prefix=");
    put_argument(&query, prefix);
    bool worked = begin_request(bucket, NULL, text_cstr(&query), &request);
    text_free(&query);
    if (!worked) return STORE_UNREACHABLE;
    curl_easy_setopt(request.curl, CURLOPT_WRITEFUNCTION, http_write_text);
    curl_easy_setopt(request.curl, CURLOPT_WRITEDATA, page);
    enum store_status status = run_request(&request, why, why_size);
    if (status == STORE_NONE) snprintf(why, why_size, "the bucket does not exist");
    return status == STORE_NONE ? STORE_UNREACHABLE : status;
}

/* `wanted`: how keys begin, the bucket's prefix included. */
static bool visit_page(struct bucket *bucket, const struct text *page, const char *wanted, bucket_visit *visit, void *context) {
    const char *at = page->ptr, *end = page->ptr + page->size;
    char key[KEY_SIZE], size[32];
    size_t skip = strlen(bucket->prefix);
    while (next_element(&at, end, "Key", key, sizeof(key))) {
        const char *after = at;
        uint64_t bytes = next_element(&after, end, "Size", size, sizeof(size)) ? strtoull(size, NULL, 10) : 0;
        if (strncmp(key, wanted, strlen(wanted)) == 0 && !visit(context, key + skip, bytes)) return false;
    }
    return true;
}

static enum store_status list_keys(struct bucket *bucket, const char *asked, const char *wanted, bucket_visit *visit,
                                   void *context, char *why, size_t why_size) {
    char token[2048] = "";
    for (int i = 0; i < MOST_PAGES; i++) {
        struct text page = { 0 };
        enum store_status status = list_page(bucket, asked, token, &page, why, why_size);
        if (status != STORE_OK) {
            text_free(&page);
            return status;
        }
        const char *at = page.ptr;
        bool goes_on = page.size && visit_page(bucket, &page, wanted, visit, context) &&
                       next_element(&at, page.ptr + page.size, "NextContinuationToken", token, sizeof(token));
        text_free(&page);
        if (!goes_on) return STORE_OK;
    }
    snprintf(why, why_size, "the list of the bucket's files has no end");
    return STORE_UNREACHABLE;
}

/* Some servers (moto 5) decode the query before they check its signature, and then refuse a prefix with a '/'. They
 * are asked for the part before it. */
enum store_status bucket_list(struct bucket *bucket, const char *prefix, bucket_visit *visit, void *context, char *why,
                              size_t why_size) {
    char wanted[sizeof(bucket->prefix) + STORE_PATH_SIZE], asked[sizeof(wanted)];
    snprintf(wanted, sizeof(wanted), "%s%s", bucket->prefix, prefix);
    enum store_status status = list_keys(bucket, wanted, wanted, visit, context, why, why_size);
    if (status == STORE_OK || !strchr(wanted, '/')) return status;
    snprintf(asked, sizeof(asked), "%.*s", (int)strcspn(wanted, "/"), wanted);
    return list_keys(bucket, asked, wanted, visit, context, why, why_size);
}

/* ---- by debug id ---- */

static bool note_key(void *context, const char *path, uint64_t bytes) {
    struct found_keys *found = context;
    (void)bytes;
    size_t size = strlen(path);
    if (size < STORE_PATH_SIZE) memcpy(found->paths[found->count++], path, size + 1);
    return found->count < MOST_FOUND;
}

static time_t clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool take_kept(struct bucket *bucket, struct found_keys *kept, struct found_keys *out) {
    pthread_mutex_lock(&bucket->lock);
    bool is_kept = kept->until > clock_s() && strcmp(kept->prefix, out->prefix) == 0;
    if (is_kept) *out = *kept;
    pthread_mutex_unlock(&bucket->lock);
    return is_kept;
}

static enum store_status list_prefix(struct bucket *bucket, struct found_keys *out, char *why, size_t why_size) {
    struct found_keys *kept = &bucket->found[text_hash(out->prefix, strlen(out->prefix)) % FOUND_SLOTS];
    if (take_kept(bucket, kept, out)) return STORE_OK;
    enum store_status status = bucket_list(bucket, out->prefix, note_key, out, why, why_size);
    if (status != STORE_OK) return status;
    out->until = clock_s() + FOUND_S;
    pthread_mutex_lock(&bucket->lock);
    *kept = *out;
    pthread_mutex_unlock(&bucket->lock);
    return STORE_OK;
}

static const char *path_of_kind(const struct found_keys *found, uint32_t kinds) {
    struct tree_query query;
    for (uint32_t i = 0; i < found->count; i++)
        if (tree_query_parse(found->paths[i], &query) && (query.kinds & kinds)) return found->paths[i];
    return NULL;
}

/* The 16 first bytes of a build id, from a debug id of ELF. The conversion is its own reverse. */
static bool build_id_prefix(const char *debug_id, char out[DEBUG_ID_SIZE]) {
    char guid[33];
    if (strlen(debug_id) != 33 || debug_id[32] != '0') return false;
    snprintf(guid, sizeof(guid), "%.32s", debug_id);
    if (!debug_id_of_build_id(guid, out)) return false;
    out[32] = 0;
    for (char *c = out; *c; c++) *c = (char)tolower((unsigned char)*c);
    return true;
}

static enum store_status fetch_by_prefix(struct bucket *bucket, const struct tree_query *query, int fd, char *why,
                                         size_t why_size) {
    char id[DEBUG_ID_SIZE];
    struct found_keys found = { .count = 0 };
    if (!build_id_prefix(query->debug_id, id)) return STORE_NONE;
    snprintf(found.prefix, sizeof(found.prefix), ".build-id/%.2s/%s", id, id + 2);
    enum store_status status = list_prefix(bucket, &found, why, why_size);
    if (status != STORE_OK) return status;
    const char *path = path_of_kind(&found, query->kinds);
    return path ? bucket_fetch_key(bucket, path, fd, why, why_size) : STORE_NONE;
}

enum store_status bucket_fetch(struct bucket *bucket, const struct tree_query *query,
                               const char (*paths)[STORE_PATH_SIZE], size_t count, int fd, char *why, size_t why_size) {
    enum store_status status = STORE_NONE;
    for (size_t i = 0; i < count && status == STORE_NONE; i++) status = bucket_fetch_key(bucket, paths[i], fd, why, why_size);
    if (status == STORE_NONE && *query->debug_id) status = fetch_by_prefix(bucket, query, fd, why, why_size);
    return status;
}

/* Bodies that come compressed: libarchive reads the compression, without an archive in it. */
#define _GNU_SOURCE
#include "http/body.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

enum { PORTION = 64 * 1024 };

static enum body_status inflate(struct archive *reader, uint64_t max, struct text *out) {
    for (;;) {
        if (!text_reserve(out, PORTION)) return BODY_NO_MEMORY;
        la_ssize_t got = archive_read_data(reader, out->ptr + out->size, PORTION);
        if (got < 0) return BODY_DAMAGED;
        if (got == 0) return BODY_GOOD;
        out->size += (size_t)got;
        if (out->size > max) return BODY_TOO_LARGE;
    }
}

enum body_status body_decode(const char *encoding, uint64_t max, struct text *body) {
    if (!encoding || strcasecmp(encoding, "identity") == 0) return body->size > max ? BODY_TOO_LARGE : BODY_GOOD;
    bool is_gzip = strcasecmp(encoding, "gzip") == 0 || strcasecmp(encoding, "x-gzip") == 0;
    if (!is_gzip && strcasecmp(encoding, "zstd") != 0) return BODY_UNKNOWN_ENCODING;
    struct archive *reader = archive_read_new();
    struct archive_entry *entry;
    struct text out = { 0 };
    if (!reader) return BODY_NO_MEMORY;
    archive_read_support_format_raw(reader);
    if (is_gzip) archive_read_support_filter_gzip(reader);
    else archive_read_support_filter_zstd(reader);
    enum body_status status = BODY_DAMAGED;
    if (archive_read_open_memory(reader, body->ptr, body->size) == ARCHIVE_OK &&
        archive_read_next_header(reader, &entry) == ARCHIVE_OK && archive_filter_count(reader) > 1)
        status = inflate(reader, max, &out);
    archive_read_free(reader);
    if (status == BODY_GOOD) {
        text_free(body);
        *body = out;
    } else {
        text_free(&out);
    }
    return status;
}

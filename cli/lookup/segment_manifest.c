/* Reading a manifest. */
#define _GNU_SOURCE
#include "lookup/segment_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup/address_text.h"
#include "ui/cli_message.h"
#include "ui/json_span.h"

enum { MEMBER_MAX = 64 };

static const char manifest_head[] = "{\"segment_size\":";
static const char manifest_tail[] = "-manifest.json";

static bool has_manifest_name(const char *path) {
    size_t len = strlen(path), tail = strlen(manifest_tail);
    return len > tail && strcmp(path + len - tail, manifest_tail) == 0;
}

bool segment_manifest_is(const char *path) {
    if (!has_manifest_name(path)) return false;
    char head[sizeof(manifest_head) - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    ssize_t size = pread(fd, head, sizeof(head), 0);
    close(fd);
    return size == (ssize_t)sizeof(head) && memcmp(head, manifest_head, sizeof(head)) == 0;
}

void segment_manifest_deinit(struct segment_manifest *manifest) {
    for (size_t i = 0; i < manifest->count; i++) free(manifest->items[i].path);
    free(manifest->items);
    *manifest = (struct segment_manifest){ NULL, 0 };
}

/* A suffix names a file beside the manifest and nothing else: "-0x" and the start. */
static bool suffix_fits(const char *suffix, uint64_t start) {
    char expected[32];
    snprintf(expected, sizeof(expected), "-0x%llx", (unsigned long long)start);
    return strcmp(suffix, expected) == 0;
}

/* An address or a suffix, which are short. */
static bool text_of(struct csn_str entry, const char *key, char out[MEMBER_MAX + 1]) {
    struct csn_str value;
    if (!json_span_find(entry, key, &value) || value.len > MEMBER_MAX || value.ptr[0] != '"') return false;
    out[json_span_text(value, out)] = 0;
    return true;
}

static bool add_segment(const char *path, size_t number, struct csn_str entry, struct segment_manifest *out) {
    char start_text[MEMBER_MAX + 1], suffix[MEMBER_MAX + 1];
    struct manifest_segment *segment = &out->items[out->count];
    if (!text_of(entry, "start", start_text) || !text_of(entry, "suffix", suffix)) {
        cli_error(path, "segment %zu has no 'start' or no 'suffix'", number);
    } else if (!address_parse((struct csn_str){ start_text, strlen(start_text) }, &segment->start)) {
        cli_error(path, "segment %zu: 'start' is '%.40s', not a hexadecimal address", number, start_text);
    } else if (!suffix_fits(suffix, segment->start)) {
        cli_error(path, "segment %zu: 'suffix' is '%.40s', need '-0x%llx'", number, suffix, (unsigned long long)segment->start);
    } else if (out->count && segment->start <= segment[-1].start) {
        cli_error(path, "segment %zu starts at 0x%llx, the one before at 0x%llx", number, (unsigned long long)segment->start,
                  (unsigned long long)segment[-1].start);
    } else if (asprintf(&segment->path, "%.*s%s", (int)(strlen(path) - strlen(manifest_tail)), path, suffix) < 0) {
        segment->path = NULL;
        cli_error_memory("a segment");
    } else {
        out->count++;
        return true;
    }
    return false;
}

static bool add_segments(const char *path, struct csn_str root, struct segment_manifest *out) {
    struct csn_str list = { "", 0 }, key, entry;
    const bool has_list = json_span_find(root, "segments", &list) && json_span_is_array(list);
    const size_t count = has_list ? json_span_count(list) : 0;
    if (!count) {
        cli_error(path, "the manifest lists no segments");
        return false;
    }
    out->items = calloc(count, sizeof(*out->items));
    if (!out->items) {
        cli_error_memory("segments");
        return false;
    }
    struct json_items items = json_items_of(list);
    for (size_t i = 0; json_items_next(&items, &key, &entry); i++)
        if (!add_segment(path, i + 1, entry, out)) return false;
    return true;
}

static bool read_text(const char *path, struct csn_str text, struct segment_manifest *out) {
    struct csn_str root;
    struct json_fault fault;
    if (json_span_only_value(text, &root, &fault)) return add_segments(path, root, out);
    cli_error(path, "line %zu: %s", json_span_line(text, fault.at), fault.text);
    return false;
}

bool segment_manifest_read(const char *path, struct segment_manifest *out) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_file *file;
    *out = (struct segment_manifest){ NULL, 0 };
    csn_status status = csn_file_open(path, &file, &err);
    if (status < 0) {
        cli_error_status(path, status, &err);
        return false;
    }
    bool good = read_text(path, (struct csn_str){ csn_file_bytes(file), csn_file_size(file) }, out);
    csn_file_close(file);
    if (!good) segment_manifest_deinit(out);
    return good;
}

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
#ifdef CALLSIGN_HAVE_JANSSON
#include "ui/jansson_in.h"
#endif

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

#ifdef CALLSIGN_HAVE_JANSSON

/* A suffix names a file beside the manifest and nothing else: "-0x" and the start. */
static bool suffix_fits(const char *suffix, uint64_t start) {
    char expected[32];
    snprintf(expected, sizeof(expected), "-0x%llx", (unsigned long long)start);
    return strcmp(suffix, expected) == 0;
}

static bool add_segment(const char *path, size_t number, const json_t *entry, struct segment_manifest *out) {
    const char *start_text = json_string_value(json_object_get(entry, "start"));
    const char *suffix = json_string_value(json_object_get(entry, "suffix"));
    struct manifest_segment *segment = &out->items[out->count];
    if (!start_text || !suffix) {
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

static bool add_segments(const char *path, const json_t *root, struct segment_manifest *out) {
    const json_t *list = json_object_get(root, "segments");
    size_t count = json_array_size(list);
    if (!count) {
        cli_error(path, "the manifest lists no segments");
        return false;
    }
    out->items = calloc(count, sizeof(*out->items));
    if (!out->items) {
        cli_error_memory("segments");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!add_segment(path, i + 1, json_array_get(list, i), out)) return false;
    return true;
}

bool segment_manifest_read(const char *path, struct segment_manifest *out) {
    json_error_t wrong;
    *out = (struct segment_manifest){ NULL, 0 };
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);
    if (!root) {
        cli_error(path, "line %d: %s", wrong.line, wrong.text);
        return false;
    }
    bool good = add_segments(path, root, out);
    json_decref(root);
    if (!good) segment_manifest_deinit(out);
    return good;
}

#else

bool segment_manifest_read(const char *path, struct segment_manifest *out) {
    *out = (struct segment_manifest){ NULL, 0 };
    cli_error(path, "a list of segments is JSON, and callsign was built without jansson, which reads it");
    return false;
}

#endif

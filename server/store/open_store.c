/* The store that the settings name, with its remotes. */
#define _GNU_SOURCE
#include "store/open_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int add_remote(const struct settings *settings, struct opened_store *out, const char *url, char *why, size_t why_size) {
    if (remote_open(url, settings->fetch_timeout, settings->max_upload, &out->remotes[out->remote_count], why,
                    why_size) < 0)
        return -1;
    out->remote_count++;
    return 0;
}

/* Files of a bucket are kept in a folder, which is a store of its own. */
static int folder_of_bucket(const struct settings *settings, char *out, size_t size, char *why, size_t why_size) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const uint64_t hash = text_hash(settings->store, strlen(settings->store));
    if (*settings->cache_dir) snprintf(out, size, "%s", settings->cache_dir);
    else if (cache && *cache == '/') snprintf(out, size, "%s/callsign/bucket-%016llx", cache, (unsigned long long)hash);
    else if (home && *home == '/') snprintf(out, size, "%s/.cache/callsign/bucket-%016llx", home, (unsigned long long)hash);
    else {
        snprintf(why, why_size, "an s3:// store needs --cache-dir where $HOME is not set");
        return -1;
    }
    return 0;
}

int open_store_of_settings(const struct settings *settings, struct opened_store *out, char *why, size_t why_size) {
    char folder[SETTING_TEXT_SIZE + 64];
    struct store_options options = { .dir = settings->store, .negative_s = (uint32_t)settings->negative };
    *out = (struct opened_store){ .store = NULL };
    if (!*settings->store) {
        snprintf(why, why_size, "no store given (--store DIR or --store s3://BUCKET/PREFIX)");
        return -1;
    }
    if (!layout_find(settings->layout, &options.layout)) {
        snprintf(why, why_size, "layout: '%s' is not build-id, debuginfod, unified, breakpad or ssqp", settings->layout);
        return -1;
    }
    if (strncmp(settings->store, "s3://", 5) == 0) {
        if (folder_of_bucket(settings, folder, sizeof(folder), why, why_size) < 0 ||
            add_remote(settings, out, settings->store, why, why_size) < 0)
            return -1;
        out->bucket = remote_bucket(out->remotes[0]);
        options.dir = folder;
        options.layout = LAYOUT_BUILD_ID; /* of which a debug id finds the build ids that begin like it */
        if (options.negative_s > 5) options.negative_s = 5; /* others write to the bucket */
    } else if (*settings->cache_dir) {
        snprintf(why, why_size, "cache-dir is for the files of a bucket, and the store is a folder");
        return -1;
    }
    for (uint32_t i = 0; i < settings->upstream_count; i++)
        if (add_remote(settings, out, settings->upstreams[i], why, why_size) < 0) return -1;
    options.remotes = out->remotes;
    options.remote_count = out->remote_count;
    return symbol_store_open(&options, &out->store, why, why_size);
}

void close_store(struct opened_store *opened) {
    symbol_store_close(opened->store);
    for (size_t i = 0; i < opened->remote_count; i++) remote_close(opened->remotes[i]);
    *opened = (struct opened_store){ .store = NULL };
}

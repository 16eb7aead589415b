/* Finding a file in the catalogue, else at remotes. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/waiting.h"
#include "store/remote.h"
#include "store/store_private.h"

enum { MOST_CANDIDATES = 16, GUID_DIGITS = 32 };

/* ---- the catalogue ---- */

/* Keys of SSQP have build ids of 20 bytes, with zeros behind shorter ones. */
static int find_shorter_build_id(struct symbol_store *store, const struct tree_query *query, struct artifact *out) {
    char id[ID_TEXT_SIZE];
    int count = 0;
    for (size_t size = build_id_shorter(query->build_id, strlen(query->build_id)); size && !count;
         size = build_id_shorter(query->build_id, size)) {
        snprintf(id, sizeof(id), "%.*s", (int)size, query->build_id);
        count = catalogue_find(store->catalogue, CATALOGUE_BUILD_ID, id, query->kinds, out, MOST_CANDIDATES);
    }
    return count;
}

/* Indexes of images that have a GUID: an index does not tell whether it is Apple's, in the order of its text, or Windows's,
 * which is turned, nor the age. */
static int find_index_of_guid(struct symbol_store *store, const struct tree_query *query, struct artifact *out) {
    char id[ID_TEXT_SIZE], turned[DEBUG_ID_SIZE];
    const uint32_t kinds = query->kinds & ARTIFACT_GSYM;
    if (!kinds || strlen(query->debug_id) < GUID_DIGITS) return 0;
    snprintf(id, sizeof(id), "%.*s", GUID_DIGITS, query->debug_id);
    for (char *c = id; *c; c++) *c = (char)tolower((unsigned char)*c);
    int count = catalogue_find(store->catalogue, CATALOGUE_BUILD_ID, id, kinds, out, MOST_CANDIDATES);
    if (count || !debug_id_of_build_id(id, turned)) return count;
    snprintf(id, sizeof(id), "%.*s", GUID_DIGITS, turned);
    for (char *c = id; *c; c++) *c = (char)tolower((unsigned char)*c);
    return catalogue_find(store->catalogue, CATALOGUE_BUILD_ID, id, kinds, out, MOST_CANDIDATES);
}

static int find_candidates(struct symbol_store *store, const struct tree_query *query, struct artifact *out) {
    if (*query->build_id) {
        int count = catalogue_find(store->catalogue, CATALOGUE_BUILD_ID, query->build_id, query->kinds, out, MOST_CANDIDATES);
        if (!count)
            count = catalogue_find(store->catalogue, CATALOGUE_HTLHASH, query->build_id, query->kinds, out, MOST_CANDIDATES);
        return count ? count : find_shorter_build_id(store, query, out);
    }
    if (*query->debug_id) {
        int count = catalogue_find(store->catalogue, CATALOGUE_DEBUG_ID, query->debug_id, query->kinds, out, MOST_CANDIDATES);
        return count ? count : find_index_of_guid(store, query, out);
    }
    if (*query->code_id)
        return catalogue_find(store->catalogue, CATALOGUE_CODE_ID, query->code_id, query->kinds, out, MOST_CANDIDATES);
    return catalogue_find(store->catalogue, CATALOGUE_NAME, query->name, query->kinds, out, MOST_CANDIDATES);
}

/* A file that cannot be read now is there: opening it says why. */
static bool is_there(struct symbol_store *store, const struct artifact *artifact) {
    char path[2 * STORE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", store->dir, artifact->path);
    return access(path, R_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Of several files, one that is what was asked for and nothing else is better: a debug file without code. */
static int rank(const struct artifact *artifact, const struct tree_query *query) {
    int points = artifact->kind == query->kinds ? 2 : 0;
    if (*query->name && strcasecmp(artifact->name, query->name) == 0) points += 4;
    return points;
}

/* The best of those that are there; nobody can tell which of two images that are as good is meant. */
static enum store_status choose(struct symbol_store *store, const struct tree_query *query, struct artifact *found, int count,
                                struct artifact *out, char *why, size_t why_size) {
    int best = -1, equal = -1;
    for (int i = 0; i < count; i++) {
        if (!is_there(store, &found[i])) {
            symbol_store_forget(store, found[i].path);
            continue;
        }
        const int points = rank(&found[i], query), most = best >= 0 ? rank(&found[best], query) : -1;
        if (points > most) best = i, equal = -1;
        else if (points == most && *found[i].build_id && strcmp(found[best].build_id, found[i].build_id) != 0) equal = i;
    }
    if (equal >= 0) {
        snprintf(why, why_size, "several images share this id: %.80s and %.80s", found[best].build_id, found[equal].build_id);
        return STORE_AMBIGUOUS;
    }
    if (best >= 0) *out = found[best];
    return best >= 0 ? STORE_OK : STORE_NONE;
}

enum store_status symbol_store_find_local(struct symbol_store *store, const struct tree_query *query,
                                          struct artifact *out, char *why, size_t why_size) {
    struct artifact *found = malloc(MOST_CANDIDATES * sizeof(*found));
    int count = found ? find_candidates(store, query, found) : -1;
    enum store_status status = STORE_FAILED;
    if (count < 0) snprintf(why, why_size, "the catalogue cannot be read");
    else status = choose(store, query, found, count, out, why, why_size);
    free(found);
    return status;
}

/* ---- remotes ---- */

static bool is_shorter_build_id(const char *id, const char *wanted) {
    for (size_t size = build_id_shorter(wanted, strlen(wanted)); size; size = build_id_shorter(wanted, size))
        if (strlen(id) == size && memcmp(id, wanted, size) == 0) return true;
    return false;
}

static bool has_wanted_id(const struct artifact *artifact, const struct tree_query *query) {
    if (*query->build_id)
        return strcmp(artifact->build_id, query->build_id) == 0 || strcmp(artifact->htlhash, query->build_id) == 0 ||
               is_shorter_build_id(artifact->build_id, query->build_id);
    if (*query->debug_id) return strcmp(artifact->debug_id, query->debug_id) == 0;
    return *query->code_id && strcmp(artifact->code_id, query->code_id) == 0;
}

static enum store_status fetch_from(struct symbol_store *store, struct remote *remote, const struct tree_query *query, char *why,
                                    size_t why_size) {
    struct incoming incoming;
    struct artifact artifact;
    char name[NAME_SIZE] = "";
    if (incoming_create(store, &incoming, why, why_size) < 0) return STORE_FAILED;
    enum store_status status = remote_fetch(remote, query, &incoming, name, why, why_size);
    if (status == STORE_OK) {
        /* Servers lie: pages of proxies come with status 200. */
        int kind = artifact_identify(incoming.path, name, &artifact, why, why_size);
        if (kind == 0 && !has_wanted_id(&artifact, query)) snprintf(why, why_size, "%s: it has another id", remote_url(remote));
        if (kind == 0 && has_wanted_id(&artifact, query))
            return symbol_store_put(store, &incoming, *query->name ? query->name : name, remote_url(remote), &artifact,
                                    why, why_size);
        status = STORE_NONE;
    }
    incoming_discard(&incoming);
    return status;
}

/* A remote that took long to fail is left alone for as long. */
static enum store_status fetch(struct symbol_store *store, const struct tree_query *query, char *why, size_t why_size) {
    enum store_status result = STORE_NONE;
    for (size_t i = 0; i < store->options.remote_count; i++) {
        struct remote *remote = store->options.remotes[i];
        if (fetches_is_paused(store->fetches, i)) {
            snprintf(why, why_size, "%.150s: did not answer", remote_url(remote));
            result = STORE_UNREACHABLE;
            continue;
        }
        int64_t start = fetches_clock_ms();
        enum store_status status = fetch_from(store, remote, query, why, why_size);
        if (status == STORE_OK) return STORE_OK;
        if (status < 0) result = status;
        if (status == STORE_UNREACHABLE) fetches_pause(store->fetches, i, (fetches_clock_ms() - start) / 1000);
    }
    return result;
}

/* What others fetch meanwhile is waited for. */
static enum store_status find_remotely(struct symbol_store *store, const struct tree_query *query, const char *key,
                                       struct artifact *out, char *why, size_t why_size) {
    int slot = fetches_begin(store->fetches, key);
    enum store_status status = symbol_store_find_local(store, query, out, why, why_size);
    if (status == STORE_NONE && !fetches_is_miss(store->fetches, key)) {
        status = fetch(store, query, why, why_size);
        if (status == STORE_NONE) fetches_add_miss(store->fetches, key, store->options.negative_s);
    }
    fetches_end(store->fetches, slot);
    return status;
}

enum store_status symbol_store_find(struct symbol_store *store, const struct tree_query *query, struct artifact *out, char *why,
                                    size_t why_size) {
    char key[FETCH_KEY_SIZE];
    enum store_status status = symbol_store_find_local(store, query, out, why, why_size);
    if (status != STORE_NONE || store->options.remote_count == 0) return status;
    /* Trees have a name before the other ids: without it nobody was asked for what is searched under one. */
    snprintf(key, sizeof(key), "%u/%s%s%s/%s", query->kinds, query->build_id, query->debug_id, query->code_id,
             *query->build_id ? "" : query->name);
    if (fetches_is_miss(store->fetches, key)) return STORE_NONE;
    if (!waiting_begin()) {
        snprintf(why, why_size, "too many requests wait for upstreams (fetch-workers)");
        return STORE_UNREACHABLE;
    }
    status = find_remotely(store, query, key, out, why, why_size);
    waiting_end();
    return status == STORE_OK ? symbol_store_find_local(store, query, out, why, why_size) : status;
}

/* Opening an image's symbols: choosing among the store's files, and converting where there is no index. */
#define _GNU_SOURCE
#include "store/conversion.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/inspect.h>
#include <callsign/names.h>
#include <callsign/open.h>

#include "base/text.h"
#include "store/file_sync.h"

enum { PATH_SIZE = 2 * STORE_PATH_SIZE };

struct conversion {
    struct symbol_store *store;
    struct csn_cache *cache;
    struct csn_companion_search_options companions;
    const char *debug_dir;
    struct csn_opener *opener;
    struct csn_allocator allocator;  /* counts and limits what conversions take */
    uint64_t limit;
    atomic_uint_least64_t taken, done, waiting;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    uint32_t workers, busy;
    pthread_mutex_t breakpad;        /* one symbol file is made at a time */
};

/* ---- memory ---- */

static bool take(struct conversion *conversion, size_t size) {
    if (atomic_fetch_add(&conversion->taken, size) + size <= conversion->limit) return true;
    atomic_fetch_sub(&conversion->taken, size);
    return false;
}

static void *limited_alloc(void *context, size_t size) {
    struct conversion *conversion = context;
    if (!take(conversion, size)) return NULL;
    void *ptr = malloc(size);
    if (!ptr) atomic_fetch_sub(&conversion->taken, size);
    return ptr;
}

static void *limited_realloc(void *context, void *ptr, size_t old_size, size_t new_size) {
    struct conversion *conversion = context;
    if (new_size > old_size && !take(conversion, new_size - old_size)) return NULL;
    void *grown = realloc(ptr, new_size);
    if (!grown && new_size > old_size) atomic_fetch_sub(&conversion->taken, new_size - old_size);
    if (grown && new_size < old_size) atomic_fetch_sub(&conversion->taken, old_size - new_size);
    return grown;
}

static void limited_free(void *context, void *ptr, size_t size) {
    struct conversion *conversion = context;
    if (ptr) atomic_fetch_sub(&conversion->taken, size);
    free(ptr);
}

/* ---- the queue ---- */

static void begin_work(struct conversion *conversion) {
    atomic_fetch_add(&conversion->waiting, 1);
    pthread_mutex_lock(&conversion->lock);
    while (conversion->busy == conversion->workers) pthread_cond_wait(&conversion->freed, &conversion->lock);
    conversion->busy++;
    pthread_mutex_unlock(&conversion->lock);
    atomic_fetch_sub(&conversion->waiting, 1);
}

static void end_work(struct conversion *conversion) {
    pthread_mutex_lock(&conversion->lock);
    conversion->busy--;
    pthread_cond_signal(&conversion->freed);
    pthread_mutex_unlock(&conversion->lock);
}

void conversion_get_counts(struct conversion *conversion, uint64_t *done, uint64_t *waiting) {
    *done = atomic_load(&conversion->done);
    *waiting = atomic_load(&conversion->waiting);
}

/* ---- opening ---- */

int conversion_open(const struct index_pool_options *options, struct conversion **out, char *why, size_t why_size) {
    char path[PATH_SIZE];
    struct csn_error err = CSN_ERROR_INIT;
    struct conversion *c = calloc(1, sizeof(*c));
    if (!c) return -1;
    c->store = options->store;
    c->limit = options->conversion_bytes;
    c->workers = options->workers ? options->workers : 1;
    c->allocator = (struct csn_allocator){ limited_alloc, limited_realloc, limited_free, c };
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->breakpad, NULL);
    pthread_cond_init(&c->freed, NULL);
    snprintf(path, sizeof(path), "%s/.callsign/converted", symbol_store_dir(c->store));
    struct csn_cache_options cache = CSN_CACHE_OPTIONS_INIT;
    cache.max_bytes = options->cache_bytes;
    c->companions = (struct csn_companion_search_options)CSN_COMPANION_SEARCH_OPTIONS_INIT;
    c->debug_dir = symbol_store_dir(c->store); /* the machine's own debug files are not the store's */
    c->companions.debug_dirs = &c->debug_dir;
    c->companions.debug_dir_count = 1;
    c->companions.flags = options->named_files ? 0 : CSN_SEARCH_DEBUG_DIRS_ONLY;
    struct csn_opener_options opener = CSN_OPENER_OPTIONS_INIT;
    opener.allocator = &c->allocator;
    opener.companions = &c->companions;
    opener.threads = options->threads;
    csn_status status = csn_cache_open(path, &cache, &c->cache, &err);
    opener.cache = c->cache;
    if (status == CSN_OK) status = csn_opener_create(&opener, &c->opener, &err);
    if (status == CSN_OK) {
        *out = c;
        return 0;
    }
    snprintf(why, why_size, "%s: %s", path, csn_error_text(&err));
    conversion_close(c);
    return -1;
}

void conversion_close(struct conversion *conversion) {
    if (!conversion) return;
    csn_opener_destroy(conversion->opener);
    csn_cache_close(conversion->cache);
    pthread_cond_destroy(&conversion->freed);
    pthread_mutex_destroy(&conversion->breakpad);
    pthread_mutex_destroy(&conversion->lock);
    free(conversion);
}

/* ---- choosing a file ---- */

static void query_of(const struct symbols_key *key, uint32_t kinds, struct tree_query *out) {
    *out = (struct tree_query){ .kinds = kinds };
    memcpy(out->build_id, key->build_id, sizeof(out->build_id));
    if (!*out->build_id) memcpy(out->debug_id, key->debug_id, sizeof(out->debug_id));
    memcpy(out->name, key->name, sizeof(out->name));
}

static enum pool_status pool_status_of(enum store_status status) {
    switch (status) {
    case STORE_OK: return POOL_OK;
    case STORE_NONE: return POOL_NONE;
    case STORE_REJECTED: case STORE_AMBIGUOUS: return POOL_FAILED;
    case STORE_UNREACHABLE: return POOL_UNREACHABLE;
    case STORE_FULL: case STORE_FAILED: break;
    }
    return POOL_BROKEN;
}

/* Of a file of the store that was opened or converted: no fault of it, or its own. */
static enum pool_status pool_status_of_file(csn_status status) {
    if (status >= 0) return POOL_OK;
    return status == CSN_E_IO || status == CSN_E_MEMORY ? POOL_BROKEN : POOL_FAILED;
}

/* Files with all symbols of their image. */
static const uint32_t complete_kinds = ARTIFACT_GSYM | ARTIFACT_DEBUGINFO | ARTIFACT_PDB | ARTIFACT_BREAKPAD;

/* The best of the first kinds that the store has; remotes are asked if it has none with all symbols. */
static enum pool_status choose_file(struct conversion *c, const struct symbols_key *key, const uint32_t *kinds, size_t count,
                                    struct artifact *out, char *why, size_t why_size) {
    enum pool_status failure = POOL_NONE;
    for (size_t i = 0; i < count; i++) {
        struct tree_query query;
        query_of(key, kinds[i], &query);
        if (kinds[i] & complete_kinds && symbol_store_find_local(c->store, &query, out, why, why_size) == STORE_OK) return POOL_OK;
    }
    for (size_t i = 0; i < count; i++) {
        struct tree_query query;
        query_of(key, kinds[i], &query);
        enum pool_status status = pool_status_of(symbol_store_find(c->store, &query, out, why, why_size));
        if (status == POOL_OK) return status;
        if (status != POOL_NONE) failure = status;
    }
    if (failure == POOL_NONE) snprintf(why, why_size, "the store has no symbols of this image");
    return failure;
}

static const uint32_t best_first[] = { ARTIFACT_GSYM, ARTIFACT_DEBUGINFO, ARTIFACT_PDB, ARTIFACT_BREAKPAD, ARTIFACT_EXECUTABLE };
enum { BEST_COUNT = sizeof(best_first) / sizeof(best_first[0]) };

static void full_path(struct conversion *c, const struct artifact *artifact, char out[PATH_SIZE]) {
    snprintf(out, PATH_SIZE, "%s/%s", symbol_store_dir(c->store), artifact->path);
}

/* Where the image of a file is linked to, as it or another file of the store tells. */
static bool find_image_base(struct conversion *c, const struct artifact *artifact, uint64_t *out) {
    const uint32_t images = ARTIFACT_DEBUGINFO | ARTIFACT_EXECUTABLE;
    struct catalogue *catalogue = symbol_store_catalogue(c->store);
    struct artifact image = *artifact;
    const bool found =
        artifact->kind & images
        || (*artifact->build_id && catalogue_find(catalogue, CATALOGUE_BUILD_ID, artifact->build_id, images, &image, 1) == 1)
        || (*artifact->debug_id && catalogue_find(catalogue, CATALOGUE_DEBUG_ID, artifact->debug_id, images, &image, 1) == 1);
    *out = image.image_base;
    return found;
}

/* An index that was made from a Breakpad file or a PDB begins below the image. Of one that begins with a function, only a
 * usual base of programs that are not moved is believed: another image may count from 0. */
static uint64_t base_of_index(const struct csn_index *index, bool known, uint64_t image_base) {
    enum { UNMOVED_BASE = 0x400000, HEADERS_MAX = 1 << 17 };
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    if (known) return info.base_address >= image_base ? image_base : 0;
    const uint64_t base = csn_index_image_base(index);
    const bool is_unmoved = base == UNMOVED_BASE && info.base_address - base < HEADERS_MAX;
    return base == info.base_address || base >> 32 || is_unmoved ? base : 0;
}

static csn_status open_index(struct conversion *c, const struct artifact *artifact, struct csn_index **out,
                             struct csn_opened *opened, struct csn_error *err) {
    char path[PATH_SIZE];
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.demangle = csn_rename_demangled;
    options.allocator = &c->allocator;
    full_path(c, artifact, path);
    if (artifact->kind & ARTIFACT_GSYM) return csn_index_open_file(path, &options, out, err);
    begin_work(c);
    csn_status status = csn_opener_open(c->opener, path, NULL, &options, out, opened, NULL, err);
    if (status == CSN_OK && opened->flags & CSN_OPENED_CONVERTED) atomic_fetch_add(&c->done, 1);
    end_work(c);
    return status;
}

enum pool_status conversion_open_symbols(struct conversion *c, const struct symbols_key *key, struct symbols *out, char *why,
                                         size_t why_size) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_opened opened = CSN_OPENED_INIT;
    enum pool_status status = choose_file(c, key, best_first, BEST_COUNT, &out->artifact, why, why_size);
    if (status != POOL_OK) return status;
    status = pool_status_of_file(open_index(c, &out->artifact, &out->index, &opened, &err));
    if (status != POOL_OK) {
        snprintf(why, why_size, "%s: %s", out->artifact.path, csn_error_text(&err));
        return status;
    }
    out->has_lines = !(opened.flags & CSN_OPENED_SYMBOLS_ONLY);
    const bool known = find_image_base(c, &out->artifact, &out->linked_at);
    out->image_base = out->artifact.kind & ARTIFACT_GSYM ? base_of_index(out->index, known, out->linked_at)
                                                         : out->artifact.image_base;
    if (!known) out->linked_at = out->image_base;
    return POOL_OK;
}

/* ---- indexes as files ---- */

static uint64_t index_bytes(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.file_size;
}

static enum pool_status convert_to_file(struct conversion *c, const struct artifact *artifact, uint32_t format,
                                        const char *debug_file, const char *out_path, char *why, size_t why_size) {
    char path[PATH_SIZE];
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_companion_search *search = NULL;
    struct csn_companion_search_options companions = c->companions;
    companions.debug_file = debug_file;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.allocator = &c->allocator;
    options.format = format;
    options.resolver = csn_companion_search_resolve;
    full_path(c, artifact, path);
    if (make_parents(out_path) < 0) {
        snprintf(why, why_size, "%s: %s", out_path, strerror(errno));
        return POOL_BROKEN;
    }
    csn_status status = csn_companion_search_create(&companions, &search, &err);
    options.resolver_context = search;
    if (status == CSN_OK) {
        begin_work(c);
        status = csn_convert_file(path, out_path, &options, NULL, &err);
        atomic_fetch_add(&c->done, 1);
        end_work(c);
    }
    csn_companion_search_destroy(search);
    if (status < 0) snprintf(why, why_size, "%s: %s", artifact->path, csn_error_text(&err));
    return pool_status_of_file(status);
}

static void converted_path(struct conversion *c, const char *id, char *path, size_t path_size) {
    snprintf(path, path_size, "%s/%.2s/%s.gsym", csn_cache_dir(c->cache), id, id + 2);
}

enum pool_status conversion_index_file(struct conversion *c, const struct symbols_key *key, char *path,
                                       size_t path_size, uint64_t *bytes, char *why, size_t why_size) {
    struct artifact artifact;
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_opened opened = CSN_OPENED_INIT;
    enum pool_status status = choose_file(c, key, best_first, BEST_COUNT, &artifact, why, why_size);
    if (status != POOL_OK) return status;
    status = pool_status_of_file(open_index(c, &artifact, &index, &opened, &err));
    if (status != POOL_OK) {
        snprintf(why, why_size, "%s: %s", artifact.path, csn_error_text(&err));
        return status;
    }
    *bytes = index_bytes(index);
    csn_index_close(index);
    if (artifact.kind & ARTIFACT_GSYM) {
        snprintf(path, path_size, "%s/%s", symbol_store_dir(c->store), artifact.path);
        return POOL_OK;
    }
    converted_path(c, artifact_tree_id(&artifact), path, path_size);
    if (access(path, R_OK) == 0) return POOL_OK;
    /* What lost something to damage is not kept in the cache. */
    snprintf(path, path_size, "%s/.callsign/damaged/%s.gsym", symbol_store_dir(c->store), artifact_tree_id(&artifact));
    status = convert_to_file(c, &artifact, CSN_FORMAT_GSYM_AUTO, NULL, path, why, why_size);
    if (status == POOL_OK && csn_index_open_file(path, NULL, &index, &err) == CSN_OK) {
        *bytes = index_bytes(index);
        csn_index_close(index);
    }
    return status;
}

/* ---- Breakpad symbol files ---- */

/* The MODULE line of a conversion has the name of the file that was converted; here that is a place in the store. */
static int name_module(const char *from, const char *to, const char *name) {
    struct csn_file *file = NULL;
    if (csn_file_open(from, &file, NULL) < 0) return -1;
    const char *bytes = csn_file_bytes(file), *end = bytes + csn_file_size(file);
    const char *line = memchr(bytes, '\n', csn_file_size(file)), *at = bytes;
    for (int blanks = 0; line && at < line && blanks < 4; at++) blanks += *at == ' ';
    struct text text = { 0 };
    int result = -1;
    if (line && at < line && *name) {
        text_bytes(&text, bytes, (size_t)(at - bytes));
        text_put(&text, name);
    } else {
        line = bytes;
    }
    text_bytes(&text, line, (size_t)(end - line));
    if (!text.failed) result = write_whole_file(to, text.ptr, text.size);
    text_free(&text);
    csn_file_close(file);
    return result;
}

/* The image where the store has it, because it has the tables of unwinding; its debug file otherwise. */
static enum pool_status choose_image(struct conversion *c, const struct symbols_key *key, struct artifact *image,
                                     char debug[PATH_SIZE], char *why, size_t why_size) {
    static const uint32_t image_first[] = { ARTIFACT_EXECUTABLE, ARTIFACT_DEBUGINFO, ARTIFACT_PDB, ARTIFACT_GSYM };
    struct artifact debug_file;
    debug[0] = 0;
    enum pool_status status = choose_file(c, key, image_first, 4, image, why, why_size);
    if (status == POOL_OK && image->kind == ARTIFACT_EXECUTABLE &&
        choose_file(c, key, image_first + 1, 1, &debug_file, why, why_size) == POOL_OK)
        full_path(c, &debug_file, debug);
    return status;
}

static enum pool_status make_breakpad_file(struct conversion *c, const struct artifact *image, const char *debug, const char *name,
                                           const char *path, char *why, size_t why_size) {
    char raw[PATH_SIZE + 8];
    snprintf(raw, sizeof(raw), "%s.raw", path);
    enum pool_status status = convert_to_file(c, image, CSN_FORMAT_BREAKPAD, *debug ? debug : NULL, raw, why, why_size);
    if (status == POOL_OK && name_module(raw, path, name) < 0) {
        snprintf(why, why_size, "%s: %s", path, strerror(errno));
        status = POOL_BROKEN;
    }
    unlink(raw);
    return status;
}

enum pool_status conversion_breakpad_file(struct conversion *c, const struct symbols_key *key, char *path,
                                          size_t path_size, char *why, size_t why_size) {
    static const uint32_t breakpad = ARTIFACT_BREAKPAD;
    struct artifact image;
    char debug[PATH_SIZE];
    if (choose_file(c, key, &breakpad, 1, &image, why, why_size) == POOL_OK) {
        snprintf(path, path_size, "%s/%s", symbol_store_dir(c->store), image.path);
        return POOL_OK;
    }
    enum pool_status status = choose_image(c, key, &image, debug, why, why_size);
    if (status != POOL_OK) return status;
    const char *name = *image.name ? image.name : key->name;
    snprintf(path, path_size, "%s/.callsign/breakpad/%s/%lld-%s/%s.sym", symbol_store_dir(c->store), artifact_tree_id(&image),
             (long long)image.modified_ns, *debug ? "whole" : "image", *name ? name : "unknown");
    pthread_mutex_lock(&c->breakpad);
    if (access(path, R_OK) != 0) status = make_breakpad_file(c, &image, debug, name, path, why, why_size);
    pthread_mutex_unlock(&c->breakpad);
    return status;
}

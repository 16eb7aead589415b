/* One image: its identity, its entry in the cache, its conversion. */
#define _GNU_SOURCE
#include "open/opener.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/core/file_times.h"
#include "base/hash.h"
#include "convert/damage.h"
#include "index/index_owner.h"
#include "object/archive.h"
#include "object/debug_links.h"
#include "object/object.h"

/* ---- identity ---- */

static bool has_debug_section(const struct csni_object *object) {
    static const char *const names[] = { ".gopclntab", "__gopclntab" };
    if (csni_object_has_debug_section(object, "info")) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (csni_object_find_section(object, names[i]) != CSNI_NO_SECTION) return true;
    return false;
}

static void note_build_id(struct csni_image *image, const uint8_t *id, size_t size) {
    struct csn_opened *opened = image->opened;
    opened->build_id_size = (uint32_t)(size < sizeof opened->build_id ? size : sizeof opened->build_id);
    if (opened->build_id_size) memcpy(opened->build_id, id, opened->build_id_size);
}

/* What is no object, or cannot be read as one, is text, or shows when it is converted. */
static csn_status read_object_id(struct csni_image *image, struct csn_error *err) {
    struct csni_object_options options = { .allocator = image->opener->alloc, .file_is_mapped = true };
    struct csni_object *object;
    image->has_debug_info = true;
    if (!csni_object_recognize(image->bytes)) return CSN_OK;
    csn_status status = csni_object_open(image->bytes, &options, &object, NULL);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, sizeof *object);
    if (status != CSN_OK) return CSN_OK;
    image->has_debug_info = has_debug_section(object) || object->kind == CSNI_OBJECT_RELOCATABLE;
    note_build_id(image, object->build_id.ptr, object->build_id.size);
    image->age = object->container == CSNI_CONTAINER_PE ? object->build_id_age : 0;
    csni_object_close(object);
    return CSN_OK;
}

/* What tells one state of a file from another. Zeros: it is not there. */
struct member_state {
    uint64_t hash, size, seconds, nanoseconds, number; /* `hash` is that of the members before */
};

enum { MEMBER_PATH_SIZE = PATH_MAX };

static struct member_state state_of_member(const struct csni_image *image, struct csn_str name) {
    const char *slash = strrchr(image->path, '/');
    const size_t folder = slash && name.ptr[0] != '/' ? (size_t)(slash - image->path) + 1 : 0;
    char path[MEMBER_PATH_SIZE];
    struct stat st;
    int size = snprintf(path, sizeof path, "%.*s%.*s", (int)folder, image->path,
                        name.len < MEMBER_PATH_SIZE ? (int)name.len : 0, name.ptr);
    if (size < 0 || size >= MEMBER_PATH_SIZE || stat(path, &st) != 0) return (struct member_state){ .hash = 0 };
    const struct timespec changed = csni_time_changed(&st);
    return (struct member_state){ .size = (uint64_t)st.st_size, .seconds = (uint64_t)changed.tv_sec,
                                  .nanoseconds = (uint64_t)changed.tv_nsec, .number = (uint64_t)st.st_ino };
}

/* A thin archive stays as it is when its members change: they are part of what tells it from others. */
static void add_member_files(const struct csni_image *image, uint8_t htlhash[CSNI_HTLHASH_SIZE]) {
    struct csni_archive archive;
    struct csni_archive_member member;
    uint64_t hash = 0;
    uint8_t bytes[sizeof hash];
    if (csni_archive_open(image->bytes, &archive, NULL) != CSN_OK || !archive.is_thin) return;
    while (csni_archive_next(&archive, &member, NULL) == CSN_OK) {
        struct member_state state = state_of_member(image, member.name);
        state.hash = hash;
        hash = csni_hash_bytes(&state, sizeof state);
    }
    csni_put64(bytes, hash, true);
    for (size_t i = 0; i < sizeof bytes; i++) htlhash[i] ^= bytes[i];
}

/* Images of a universal file without build ids are told apart by their own bytes, and builds of Windows programs
 * that have one GUID, as incremental linking leaves it, by their age. */
static struct csni_cache_key key_of(const struct csni_image *image) {
    const struct csn_opened *opened = image->opened;
    uint8_t htlhash[CSNI_HTLHASH_SIZE], id[sizeof opened->build_id + sizeof image->age];
    size_t size = opened->build_id_size;
    memcpy(id, opened->build_id, size);
    if (image->age > 1) csni_put32(id + size, image->age, true);
    if (image->age > 1) size += sizeof image->age;
    csni_htlhash(image->bytes, htlhash);
    add_member_files(image, htlhash);
    return csni_cache_key_of(id, size, htlhash);
}

csn_status csni_image_identify(struct csni_image *image, struct csn_error *err) {
    struct stat st;
    CSNI_TRY(read_object_id(image, err));
    csni_htlhash(image->whole, image->source.htlhash);
    image->source.path = image->path;
    /* Files of /proc and the like have no size of their own, and other bytes each time. */
    if (stat(image->path, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != image->whole.size) return CSN_OK;
    const struct timespec modified = csni_time_changed(&st);
    image->source.size = (uint64_t)st.st_size;
    image->source.modified_ns = (uint64_t)modified.tv_sec * 1000000000u + (uint64_t)modified.tv_nsec;
    image->key = key_of(image);
    return CSN_OK;
}

/* ---- conversion ---- */

/* The stock search, which also notes what it did not find. */
static csn_status resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                          struct csn_error *err) {
    struct csni_image *image = context;
    csn_status status = csn_companion_search_resolve(image->opener->search, request, out, err);
    if (request->kind == CSN_COMPANION_PDB && status == CSN_NONE) image->lacks_pdb = true; /* the report names it */
    if (request->kind != CSN_COMPANION_DEBUG_FILE || request->has_debug_info || image->lacks_pdb) return status;
    image->lacks_debug_file = status == CSN_NONE;
    if (status != CSN_NONE) return status;
    size_t len = request->name ? strnlen(request->name, sizeof image->opened->link_name - 1) : 0;
    if (len) memcpy(image->opened->link_name, request->name, len);
    image->opened->link_name[len] = 0;
    note_build_id(image, request->id, request->id_size);
    return status;
}

csn_status csni_image_convert_to_memory(struct csni_image *image, struct csn_bytes *out, struct csn_error *err) {
    const struct csn_opener *opener = image->opener;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.allocator = opener->alloc;
    options.threads = opener->options.threads;
    options.arch = image->arch;
    options.input = image->file;
    options.format = CSN_FORMAT_GSYM_AUTO;
    options.progress = opener->options.progress;
    options.progress_context = opener->options.progress_context;
    options.resolver = resolve;
    options.resolver_context = image;
    image->opened->flags = CSN_OPENED_CONVERTED;
    csn_status status = csn_convert_file_to_memory(image->path, &options, out, image->report, err);
    const struct csn_convert_report *report = image->report;
    image->is_poor = !image->has_debug_info && !report->functions_from_dwarf && !report->functions_from_go &&
                     !report->functions_from_pdb && !report->functions_from_btf && !report->functions_from_index;
    if (image->is_poor && image->lacks_debug_file) image->opened->flags |= CSN_OPENED_SYMBOLS_ONLY;
    return status;
}

csn_status csni_open_bytes(struct csn_bytes *bytes, const struct csn_index_options *options, struct csn_index **out,
                           struct csn_error *err) {
    struct csn_index_options of_result = CSN_INDEX_OPTIONS_INIT;
    struct csn_index *index;
    if (options) of_result = *options;
    of_result.arch = NULL;
    csn_status status = csn_index_open_memory(bytes->ptr, bytes->size, &of_result, &index, err);
    if (status != CSN_OK) {
        csn_bytes_free(bytes);
        return status;
    }
    csni_index_own_bytes(index, bytes);
    *out = index;
    return CSN_OK;
}

/* ---- the cache ---- */

static bool is_same_source(const struct csni_image *image, const struct csni_cache_meta *meta) {
    const struct csni_cache_source *source = &image->source;
    return meta->source_size == source->size && meta->source_modified_ns == source->modified_ns
           && memcmp(meta->htlhash, source->htlhash, sizeof meta->htlhash) == 0;
}

csn_status csni_image_debug_file(const struct csn_opener *opener, const char *path, struct csni_object *object,
                                struct csn_companion *out) {
    struct csni_debug_link link;
    char name[256] = "";
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_DEBUG_FILE, .image_path = path,
                                             .id = object->build_id.ptr, .id_size = object->build_id.size };
    if (csni_object_debug_link(object, &link, NULL) == CSN_OK && link.name.len < sizeof name) {
        memcpy(name, link.name.ptr, link.name.len);
        request.name = name;
        request.crc = link.crc;
        request.has_crc = true;
    }
    return csn_companion_search_resolve(opener->local, &request, out, NULL);
}

/* Whether a debug file can be had by now that was missing when the entry was made. */
static bool has_debug_file_now(const struct csni_image *image) {
    struct csni_object_options options = { .allocator = image->opener->alloc, .file_is_mapped = true };
    struct csni_object *object;
    struct csn_companion found;
    if (csni_object_open(image->bytes, &options, &object, NULL) != CSN_OK) return false;
    /* Program databases are searched when the image is converted; without one, that takes no time. */
    if (object->container == CSNI_CONTAINER_PE) {
        csni_object_close(object);
        return true;
    }
    csn_status status = csni_image_debug_file(image->opener, image->path, object, &found);
    if (status == CSN_OK && found.release) found.release(&found);
    csni_object_close(object);
    return status == CSN_OK;
}

static bool is_expired(const struct csni_image *image, const struct csni_cache_meta *meta) {
    const struct csn_opener *opener = image->opener;
    uint64_t now = (uint64_t)time(NULL);
    if (!opener->has_servers) return false;
    return meta->settings != opener->settings || now < meta->made || now - meta->made >= opener->options.cache->options.negative_s;
}

/* An entry that another form of the image gave, as its debug file does, serves one that has nothing better itself. */
static bool fits_image(const struct csni_image *image, const struct csni_cache_meta *meta) {
    bool is_same = is_same_source(image, meta), is_poor = meta->flags & CSN_CACHE_SYMBOLS_ONLY;
    if (is_poor) return is_same && !is_expired(image, meta) && !has_debug_file_now(image);
    bool takes_others = !(image->opener->options.flags & CSN_OPENER_SAME_FILE) && !image->key.is_htlhash;
    return is_same || (!image->has_debug_info && takes_others);
}

static csn_status take_from_cache(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                                  struct csn_error *err) {
    struct csni_cache_read read;
    if (csni_cache_read(image->opener->options.cache, &image->key, !out, &read, NULL) != CSN_OK) return CSN_NONE;
    if (!fits_image(image, &read.meta)) {
        csni_cache_read_close(&read);
        return CSN_NONE;
    }
    bool is_poor = read.meta.flags & CSN_CACHE_SYMBOLS_ONLY;
    image->opened->flags = CSN_OPENED_FROM_CACHE | (is_poor ? (uint32_t)CSN_OPENED_SYMBOLS_ONLY : 0);
    if (out) return csni_cache_open_index(&read, options, out, err);
    csni_cache_read_close(&read);
    return CSN_OK;
}

/* A cache that cannot be written is done without, unless keeping is all that is wanted. */
static csn_status keep(struct csni_image *image, const struct csn_bytes *bytes, struct csn_error *err) {
    struct csn_cache *cache = image->opener->options.cache;
    const struct csni_span index = { bytes->ptr, bytes->size };
    uint32_t flags = image->is_poor ? CSN_CACHE_SYMBOLS_ONLY : 0;
    char *real = image->shown_path ? NULL : realpath(image->path, NULL);
    if (real) image->source.path = real;
    else if (image->shown_path) image->source.path = image->shown_path;
    csn_status status = csni_report_may_grow(image->report) ? CSN_NONE : CSN_OK;
    if (status == CSN_OK) csni_cache_remove_temporaries(cache, &image->key);
    if (status == CSN_OK && image->before_disk) image->before_disk(image->disk_context, index.size);
    if (status == CSN_OK)
        status = csni_cache_publish(cache, &image->key, index, &image->source, flags, image->opener->settings, err);
    if (status == CSN_OK) csni_cache_note_published(cache, index.size);
    image->source.path = image->path;
    free(real);
    if (status == CSN_OK) image->opened->flags |= CSN_OPENED_KEPT;
    return status;
}

static csn_status convert_and_keep(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                                   struct csn_error *err) {
    struct csn_bytes bytes;
    CSNI_TRY(csni_image_convert_to_memory(image, &bytes, err));
    csn_status kept = keep(image, &bytes, out ? NULL : err);
    if (!out) {
        csn_bytes_free(&bytes);
        return kept;
    }
    struct csni_cache_read read;
    /* Of the file, every process has the same pages. */
    if (kept == CSN_OK && csni_cache_read(image->opener->options.cache, &image->key, false, &read, NULL) == CSN_OK) {
        csn_bytes_free(&bytes);
        return csni_cache_open_index(&read, options, out, err);
    }
    return csni_open_bytes(&bytes, options, out, err);
}

csn_status csni_image_open(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                           struct csn_error *err) {
    struct csn_cache *cache = image->opener->options.cache;
    struct csn_index_options of_entry = CSN_INDEX_OPTIONS_INIT;
    struct csni_cache_lock lock = { .fd = -1 };
    if (options) of_entry = *options;
    of_entry.arch = NULL;
    if (!cache || !image->key.size) {
        struct csn_bytes bytes;
        CSNI_TRY(csni_image_convert_to_memory(image, &bytes, err));
        return csni_open_bytes(&bytes, &of_entry, out, err);
    }
    csn_status status = take_from_cache(image, &of_entry, out, err);
    if (status != CSN_NONE) return status;
    csni_cache_lock(cache, &image->key, &lock);
    /* Whoever had the lock may have made it meanwhile. */
    if (lock.fd >= 0) status = take_from_cache(image, &of_entry, out, err);
    if (status == CSN_NONE) status = convert_and_keep(image, &of_entry, out, err);
    csni_cache_unlock(&lock);
    return status;
}

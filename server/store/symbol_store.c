/* Opening a store, and files that arrive. */
#define _GNU_SOURCE
#include "store/store_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <callsign/convert.h>

#include "base/text.h"
#include "store/file_sync.h"
#include "store/remote.h"

enum { MAX_SLICES = 16 };

static int fail_os(char *why, size_t why_size, const char *path) {
    snprintf(why, why_size, "%s: %s", path, strerror(errno));
    return -1;
}

/* Files whose writer is gone: nobody holds their lock. */
static void remove_leftovers(const char *dir) {
    DIR *folder = opendir(dir);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        int fd = openat(dirfd(folder), entry->d_name, O_RDWR | O_CLOEXEC);
        if (fd < 0) continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(dirfd(folder), entry->d_name, 0);
        close(fd);
    }
    closedir(folder);
}

int symbol_store_open(const struct store_options *options, struct symbol_store **out, char *why, size_t why_size) {
    char path[STORE_PATH_SIZE + 64];
    if (strlen(options->dir) >= STORE_PATH_SIZE / 2) {
        snprintf(why, why_size, "%s: the path is too long", options->dir);
        return -1;
    }
    snprintf(path, sizeof(path), "%s/.callsign/incoming", options->dir);
    if (make_folders(path) < 0) return fail_os(why, why_size, path);
    remove_leftovers(path);
    struct symbol_store *store = calloc(1, sizeof(*store));
    if (!store) return fail_os(why, why_size, options->dir);
    store->options = *options;
    snprintf(store->dir, sizeof(store->dir), "%s", options->dir);
    snprintf(path, sizeof(path), "%s/.callsign/catalogue.db", options->dir);
    bool has_fetches = !options->remote_count || (store->fetches = fetches_create());
    if (!has_fetches) snprintf(why, why_size, "out of memory");
    if (has_fetches && catalogue_open(path, &store->catalogue, &store->is_new, why, why_size) == 0) {
        *out = store;
        return 0;
    }
    symbol_store_close(store);
    return -1;
}

void symbol_store_close(struct symbol_store *store) {
    if (!store) return;
    catalogue_close(store->catalogue);
    fetches_free(store->fetches);
    free(store);
}

const char *symbol_store_dir(const struct symbol_store *store) { return store->dir; }
struct catalogue *symbol_store_catalogue(struct symbol_store *store) { return store->catalogue; }
bool symbol_store_is_new(const struct symbol_store *store) { return store->is_new; }

/* ---- files that arrive ---- */

int incoming_create(struct symbol_store *store, struct incoming *out, char *why, size_t why_size) {
    snprintf(out->path, sizeof(out->path), "%s/.callsign/incoming/XXXXXX", store->dir);
    out->is_kept = false;
    out->fd = mkostemp(out->path, O_CLOEXEC);
    if (out->fd < 0) return fail_os(why, why_size, out->path);
    flock(out->fd, LOCK_EX); /* until it is closed: it is no leftover */
    fchmod(out->fd, 0644);
    return 0;
}

void incoming_discard(struct incoming *incoming) {
    if (incoming->fd < 0) return;
    if (!incoming->is_kept) unlink(incoming->path);
    close(incoming->fd);
    incoming->fd = -1;
}

/* Trees by build id do not name the image: its name stands in a file beside. */
static int write_meta(const char *path, const struct artifact *artifact) {
    char meta[2 * STORE_PATH_SIZE + 8];
    struct text text = { 0 };
    text_char(&text, '{');
    text_json_member(&text, "name", artifact->name);
    text_json_member(&text, "source", artifact->source);
    text_put(&text, "}\n");
    snprintf(meta, sizeof(meta), "%s.meta", path);
    int result = text.failed ? -1 : write_whole_file(meta, text.ptr, text.size);
    text_free(&text);
    return result;
}

static bool path_has_name(const struct artifact *artifact) {
    const char *last = strrchr(artifact->path, '/');
    return strncmp(last ? last + 1 : artifact->path, artifact->name, strlen(artifact->name)) == 0 && *artifact->name;
}

static enum store_status put_in_place(struct symbol_store *store, struct incoming *incoming, struct artifact *artifact, char *why,
                                      size_t why_size) {
    char path[2 * STORE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", store->dir, artifact->path);
    bool worked = fsync(incoming->fd) == 0 && make_parents(path) == 0;
    if (worked && !path_has_name(artifact)) worked = write_meta(path, artifact) == 0;
    if (worked) worked = rename(incoming->path, path) == 0 && sync_folder_of(path) == 0;
    if (!worked) {
        enum store_status status = is_full(errno) ? STORE_FULL : STORE_FAILED;
        fail_os(why, why_size, path);
        incoming_discard(incoming);
        return status;
    }
    close(incoming->fd);
    incoming->fd = -1;
    catalogue_put(store->catalogue, artifact); /* a failure is mended by the next scan */
    fetches_forget_misses(store->fetches);
    return STORE_OK;
}

static enum store_status put_remotely(struct symbol_store *store, const struct artifact *artifact, char *why, size_t why_size) {
    char path[2 * STORE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", store->dir, artifact->path);
    for (size_t i = 0; i < store->options.remote_count; i++) {
        enum store_status status = remote_put(store->options.remotes[i], artifact, path, why, why_size);
        if (status != STORE_OK && status != STORE_NONE) return status;
    }
    return STORE_OK;
}

static bool comes_from_remote(const char *source) { return strstr(source, "://") != NULL; }

static enum store_status put_single(struct symbol_store *store, struct incoming *incoming, const char *name, const char *source,
                                    struct artifact *out, char *why, size_t why_size) {
    int found = artifact_identify(incoming->path, name, out, why, why_size);
    if (found == 0 && !layout_path(store->options.layout, out, out->path)) {
        snprintf(why, why_size, "it has no id and no name");
        found = 1;
    }
    if (found != 0) {
        incoming_discard(incoming);
        return found > 0 ? STORE_REJECTED : STORE_FAILED;
    }
    snprintf(out->source, sizeof(out->source), "%s", source);
    enum store_status status = put_in_place(store, incoming, out, why, why_size);
    return status == STORE_OK && !comes_from_remote(source) ? put_remotely(store, out, why, why_size) : status;
}

/* One image of a universal file as a file of its own. */
static enum store_status put_slice(struct symbol_store *store, const uint8_t *bytes, const struct csn_image_info *slice,
                                   const char *name, const char *source, struct artifact *out, char *why,
                                   size_t why_size) {
    struct incoming part;
    if (incoming_create(store, &part, why, why_size) < 0) return STORE_FAILED;
    if (write_all(part.fd, bytes + slice->offset, slice->size) < 0) {
        enum store_status status = is_full(errno) ? STORE_FULL : STORE_FAILED;
        fail_os(why, why_size, part.path);
        incoming_discard(&part);
        return status;
    }
    return put_single(store, &part, name, source, out, why, why_size);
}

/* *out is the first of those that were stored. */
static enum store_status put_slices(struct symbol_store *store, struct csn_file *file,
                                    const struct csn_image_info *slices, size_t count, const char *name,
                                    const char *source, struct artifact *out, char *why, size_t why_size) {
    enum store_status result = STORE_REJECTED;
    for (size_t i = count; i-- > 0;) {
        struct artifact artifact;
        enum store_status status = put_slice(store, csn_file_bytes(file), &slices[i], name, source, &artifact, why, why_size);
        if (status < 0) return status;
        if (status != STORE_OK) continue;
        *out = artifact;
        result = STORE_OK;
    }
    return result;
}

enum store_status symbol_store_put(struct symbol_store *store, struct incoming *incoming, const char *name, const char *source,
                                   struct artifact *out, char *why, size_t why_size) {
    struct csn_file *file = NULL;
    struct csn_image_info slices[MAX_SLICES];
    size_t count = 0;
    if (csn_file_open(incoming->path, &file, NULL) == CSN_OK &&
        (csn_image_list_memory(csn_file_bytes(file), csn_file_size(file), slices, MAX_SLICES, &count, NULL) < 0 ||
         count > MAX_SLICES))
        count = 0;
    enum store_status status;
    if (count > 1) {
        status = put_slices(store, file, slices, count, name, source, out, why, why_size);
        incoming_discard(incoming);
    } else {
        status = put_single(store, incoming, name, source, out, why, why_size);
    }
    csn_file_close(file);
    return status;
}

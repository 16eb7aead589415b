/* One candidate: opened, proved to belong to the image, handed out or passed over. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "store/crc32.h"
#include "store/store_paths.h"
#include "object/debug_links.h"
#include "pdb/pdb.h"

enum { MAX_LINK_BYTES = 1 << 20 }; /* nobody compresses .debug_sup, and it is a path and a checksum */

/* A file that was handed out; the context of its csn_companion. */
struct found_file {
    const struct csn_allocator *alloc;
    struct csni_file_map map;
    size_t size;   /* of this block */
    char path[];
};

static void release_found(struct csn_companion *companion) {
    struct found_file *file = companion->context;
    csni_file_map_close(&file->map);
    csni_free(file->alloc, file, file->size);
}

/* `bytes`: the whole map, or the image in it that fits. Takes over the map. */
static csn_status hand_out(struct csni_locate_query *query, const char *path, const struct stat *st, struct csni_file_map *map,
                           struct csni_span bytes) {
    size_t len = strlen(path) + 1, size = sizeof(struct found_file) + len;
    struct found_file *file = csni_alloc(query->search->alloc, size);
    if (!file) {
        csni_file_map_close(map);
        return csni_fail_memory(query->err, size);
    }
    *file = (struct found_file){ query->search->alloc, *map, size };
    memcpy(file->path, path, len);
    *query->out = (struct csn_companion){ .bytes = bytes.ptr, .size = bytes.size, .is_mapped = true, .path = file->path,
                                         .modified = st->st_mtime > 0 ? (uint64_t)st->st_mtime : 0,
                                         .release = release_found, .context = file };
    return CSN_OK;
}

/* Keeps the first reason; the later ones are those of poorer candidates. */
static struct csn_error *reason(struct csni_locate_query *query) {
    return query->passed_over.code == CSN_OK ? &query->passed_over : NULL;
}

/* ---- proofs ---- */

static csn_status check_crc(struct csni_locate_query *query, const char *path, struct csni_span file) {
    if (!query->request->has_crc) return CSN_OK;
    uint32_t crc = csni_crc32_mapped(file);
    if (crc == query->request->crc) return CSN_OK;
    csni_fail(reason(query), CSN_E_FORMAT, NULL, 0, "%s has CRC 0x%08" PRIx32 ", the image needs 0x%08" PRIx32,
              csni_path_show(path).text, crc, query->request->crc);
    return CSN_NONE;
}

static bool is_wanted(const struct csn_companion_request *request, struct csni_span id) {
    return id.size && id.size == request->id_size && memcmp(id.ptr, request->id, id.size) == 0;
}

enum fit { FITS, HAS_NO_ID, HAS_OTHER_ID };

/* By the build id; of a dwz supplement in the manner of DWARF 5, also by the checksum in its .debug_sup. `has`: room for the
 * text of its id. */
static csn_status compare_ids(struct csni_locate_query *query, struct csni_span file, enum fit *fit, char has[CSNI_ID_TEXT_SIZE],
                              struct csn_error *err) {
    const struct csn_companion_request *request = query->request;
    struct csni_object_options options = { .allocator = query->search->alloc, .max_decompressed_bytes = MAX_LINK_BYTES,
                                           .file_is_mapped = true };
    struct csni_object *object;
    struct csni_alt_link own = { .is_supplementary = false };
    CSNI_TRY(csni_object_open(file, &options, &object, err));
    struct csni_span id = object->build_id;
    if (request->kind == CSN_COMPANION_SUPPLEMENT && !is_wanted(request, id) &&
        csni_object_alt_link(object, &own, NULL) == CSN_OK && own.is_supplementary && own.id.size)
        id = own.id;
    *fit = is_wanted(request, id) || (id.size && !request->id_size) ? FITS : id.size ? HAS_OTHER_ID : HAS_NO_ID;
    if (!csni_id_text(id.ptr, id.size, has)) memcpy(has, "too long", sizeof "too long");
    csni_object_close(object);
    return CSN_OK;
}

/* Finds the image of the file that fits: a universal dSYM has several. *out is it. */
static csn_status find_fitting(struct csni_locate_query *query, const struct csni_slice *slices, uint32_t count,
                               struct csni_span *out, enum fit *fit, char has[CSNI_ID_TEXT_SIZE], struct csn_error *err) {
    csn_status status = CSN_OK;
    if (count > 1 && !query->request->id_size)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "has %u images, and the one at hand has no UUID to choose by", count);
    for (uint32_t i = 0; i < count; i++) {
        *out = slices[i].file;
        status = compare_ids(query, *out, fit, has, err);
        if (status == CSN_E_MEMORY || (status == CSN_OK && *fit == FITS)) return status;
    }
    return status;
}

/* A program database proves that it belongs to the image by GUID and age. */
static csn_status check_pdb(struct csni_locate_query *query, const char *path, struct csni_span file) {
    const struct csn_companion_request *request = query->request;
    struct csn_error inner = CSN_ERROR_INIT;
    char has[CSNI_PDB_ID_SIZE], needs[CSNI_PDB_ID_SIZE] = "another kind of debug file";
    enum csni_pdb_fit fit;
    struct csni_path_shown shown = csni_path_show(path);
    csn_status status =
        csni_pdb_compare(file, query->search->alloc, request->id, request->id_size, request->id_age, &fit, has, &inner);
    if (status == CSN_E_MEMORY) return csni_fail_memory(query->err, 0);
    if (status < 0) csni_fail(reason(query), status, NULL, 0, "%s: %s", shown.text, csn_error_text(&inner));
    if (status < 0) return CSN_NONE;
    if (fit == CSNI_PDB_FITS) return CSN_OK;
    if (request->id_size == CSNI_PDB_GUID_SIZE) csni_pdb_id_text(request->id, request->id_age, needs);
    if (query->wrong_id.code == CSN_OK)
        csni_fail(&query->wrong_id, CSN_E_FORMAT, NULL, 0, "%s has id %s, the image needs %s", shown.text, has, needs);
    return CSN_NONE;
}

/* CSN_OK: *out is the part of the file that belongs to the image. */
static csn_status check_object(struct csni_locate_query *query, const char *path, struct csni_span file, bool needs_id,
                               struct csni_span *out) {
    const struct csn_allocator *alloc = query->search->alloc;
    struct csn_error inner = CSN_ERROR_INIT;
    struct csni_slice *slices;
    uint32_t count;
    enum fit fit = FITS;
    char has[CSNI_ID_TEXT_SIZE], needs[CSNI_ID_TEXT_SIZE] = "";
    csn_status status = csni_object_slices(file, alloc, &slices, &count, &inner);
    if (status == CSN_OK) {
        status = find_fitting(query, slices, count, out, &fit, has, &inner);
        csni_free(alloc, slices, count * sizeof *slices);
    }
    if (status == CSN_E_MEMORY) return csni_fail_memory(query->err, 0);
    struct csni_path_shown shown = csni_path_show(path);
    if (status < 0) {
        csni_fail(reason(query), status, NULL, 0, "%s: %s", shown.text, csn_error_text(&inner));
        return CSN_NONE;
    }
    if (!query->request->id_size || fit == FITS || (fit == HAS_NO_ID && !needs_id)) return CSN_OK;
    if (!csni_id_text(query->request->id, query->request->id_size, needs)) memcpy(needs, "a longer one", sizeof "a longer one");
    if (fit == HAS_NO_ID)
        csni_fail(reason(query), CSN_E_FORMAT, NULL, 0, "%s has no build id, the image needs %s", shown.text, needs);
    else if (query->wrong_id.code == CSN_OK)
        csni_fail(&query->wrong_id, CSN_E_FORMAT, NULL, 0, "%s has build id %s, the image needs %s", shown.text, has, needs);
    return CSN_NONE;
}

static bool is_from_then(const struct csni_locate_query *query, const struct stat *st) {
    uint64_t needs = query->request->modified;
    return !needs || (st->st_mtime > 0 && (uint64_t)st->st_mtime == needs);
}

static csn_status prove(struct csni_locate_query *query, const char *path, const struct stat *st, struct csni_span file,
                        enum csni_proof proof, struct csni_span *out) {
    csn_status status = CSN_OK;
    *out = file;
    if (proof == CSNI_PROOF_NONE) return CSN_OK;
    if (proof == CSNI_PROOF_TIME) return is_from_then(query, st) ? CSN_OK : CSN_NONE;
    if (csni_pdb_recognize(file)) return check_pdb(query, path, file);
    if (proof == CSNI_PROOF_CRC) status = check_crc(query, path, file);
    if (status == CSN_OK) status = check_object(query, path, file, proof == CSNI_PROOF_ID, out);
    return status;
}

/* ---- trying ---- */

static bool was_skipped(const struct csni_locate_query *query, const struct stat *st) {
    for (uint32_t i = 0; i < query->skipped_count; i++)
        if (query->skipped[i].device == st->st_dev && query->skipped[i].inode == st->st_ino) return true;
    return false;
}

static csn_status skip_it(struct csni_locate_query *query, const struct stat *st) {
    if (query->skipped_count < CSNI_SKIPPED_MAX)
        query->skipped[query->skipped_count++] = (struct csni_file_id){ st->st_dev, st->st_ino };
    query->skip--;
    return CSN_NONE;
}

static bool is_below(const char *dir, const char *path) {
    char resolved[CSNI_PATH_SIZE];
    if (!realpath(dir, resolved)) return false;
    size_t len = strlen(resolved);
    return strncmp(path, resolved, len) == 0 && (path[len] == '/' || (len == 1 && *resolved == '/'));
}

/* Whether the search may use files there (CSN_SEARCH_DEBUG_DIRS_ONLY). */
static bool is_allowed(struct csni_locate_query *query, const char *path) {
    const struct csn_companion_search_options *options = &query->search->options;
    char resolved[CSNI_PATH_SIZE];
    if (!(options->flags & CSN_SEARCH_DEBUG_DIRS_ONLY) || path == options->debug_file) return true;
    if (!realpath(path, resolved)) return false;
    for (size_t i = 0; i < options->debug_dir_count; i++)
        if (is_below(options->debug_dirs[i], resolved)) return true;
    return false;
}

/* Nothing but regular files is opened: opening a device can have effects. The file may be another one by the time that it is
 * opened, so mapping it checks again. */
static csn_status look_at(struct csni_locate_query *query, const char *path, struct stat *st) {
    if (stat(path, st) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) csni_fail_os(reason(query), errno, csni_path_show(path).text);
        return CSN_NONE;
    }
    if (!S_ISREG(st->st_mode)) {
        csni_fail(reason(query), CSN_E_UNSUPPORTED, NULL, 0, "%s is not a regular file", csni_path_show(path).text);
        return CSN_NONE;
    }
    bool may_be_image = query->request->kind == CSN_COMPANION_DWO; /* -gsplit-dwarf=single: the object file is the .dwo file */
    bool is_image = query->has_image && !may_be_image && st->st_dev == query->image.st_dev && st->st_ino == query->image.st_ino;
    return is_image || was_skipped(query, st) ? CSN_NONE : CSN_OK;
}

csn_status csni_locate_try(struct csni_locate_query *query, const char *path, enum csni_proof proof) {
    struct stat st;
    struct csni_file_map map;
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = look_at(query, path, &st);
    if (status != CSN_OK) return status;
    if (!is_allowed(query, path)) {
        csni_fail(reason(query), CSN_E_UNSUPPORTED, NULL, 0, "%s is not below the debug directories", csni_path_show(path).text);
        return CSN_NONE;
    }
    if (csni_file_map_open(&map, path, &inner) < 0) {
        csni_fail(reason(query), CSN_E_IO, NULL, 0, "%s: %s", csni_path_show(path).text, csn_error_text(&inner));
        return CSN_NONE;
    }
    struct csni_span bytes;
    status = prove(query, path, &st, map.bytes, proof, &bytes);
    if (status == CSN_OK && query->skip) status = skip_it(query, &st);
    if (status == CSN_OK) return hand_out(query, path, &st, &map, bytes);
    csni_file_map_close(&map);
    return status;
}

csn_status csni_locate_tryf(struct csni_locate_query *query, enum csni_proof proof, const char *format, ...) {
    char path[CSNI_PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof path) return CSN_NONE;
    return csni_locate_try(query, path, proof);
}

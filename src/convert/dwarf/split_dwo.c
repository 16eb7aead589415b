/* A .dwo file of an image. */
#include "convert/dwarf/split_dwo.h"

#include <inttypes.h>

#include "base/core/fail.h"
#include "dwarf/dwarf_split.h"

enum {
    MAX_NAME = 4096,
    MAX_CANDIDATES = 16 /* files of one name in the places where they are looked for */
};

void csni_split_dwo_init(struct csni_split_dwo *dwo, const struct csni_unit *named_by) {
    dwo->named_by = named_by;
    pthread_mutex_init(&dwo->lock, NULL);
}

void csni_split_dwo_deinit(struct csni_split_dwo *dwo, struct csni_conversion *c) {
    csni_split_file_close(&dwo->file, c);
    pthread_mutex_destroy(&dwo->lock);
}

bool csni_split_dwo_has_name(const struct csni_unit *skeleton) {
    return skeleton->dwo_name.len && skeleton->dwo_name.len <= MAX_NAME && skeleton->comp_dir.len <= MAX_NAME;
}

csn_status csni_split_dwo_fail_other_id(const struct csni_split_file *file, const struct csni_unit *skeleton,
                                        struct csn_error *err) {
    const struct csni_unit *other = csni_split_first(file->dwarf);
    const struct csn_error *damage = &file->dwarf->damage;
    const char *path = csni_companion_path(file->companion);
    if (!other && damage->code) return csni_fail(err, damage->code, NULL, 0, "%s: %s", path, csn_error_text(damage));
    if (!other) return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s: no unit that can be read", path);
    return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s has dwo_id 0x%016" PRIx64 ", the skeleton needs 0x%016" PRIx64, path,
                     other->dwo_id, skeleton->dwo_id);
}

/* Opens one candidate, and closes it again where it does not fit. */
static csn_status try_candidate(struct csni_split_dwo *dwo, struct csni_conversion *c, const struct csni_dwarf *image,
                                struct csn_error *damage) {
    struct csni_split_file *file = &dwo->file;
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = csni_companion_parse(c, file->companion, damage);
    file->object = file->companion->object;
    if (status >= 0) {
        status = csni_split_file_open(file, c, NULL, image, &inner);
        if (status < 0)
            csni_fail(damage, status, NULL, 0, "%s: %s", csni_companion_path(file->companion), csn_error_text(&inner));
    }
    if (status >= 0 && !csni_split_find(file->dwarf, dwo->named_by->dwo_id))
        status = csni_split_dwo_fail_other_id(file, dwo->named_by, damage);
    if (status < 0) csni_split_file_close(file, c);
    return status;
}

/* Goes through the files of that name until one fits: of several builds, the one beside the program may be the right
 * one. */
static csn_status try_candidates(struct csni_split_dwo *dwo, struct csni_conversion *c, const struct csni_dwarf *image,
                                 struct csn_companion_request *request, struct csn_error *err) {
    for (; request->skip < MAX_CANDIDATES; request->skip++) {
        struct csn_error damage = CSN_ERROR_INIT;
        csn_status status = csni_companion_find(c, request, &dwo->file.companion, err);
        if (status != CSN_OK) return status < 0 ? status : CSN_OK;
        status = try_candidate(dwo, c, image, &damage);
        if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
        if (status >= 0) {
            dwo->damage = (struct csn_error)CSN_ERROR_INIT;
            return CSN_OK;
        }
        if (!dwo->damage.code) dwo->damage = damage;
    }
    return CSN_OK;
}

/* A string with its NUL, as the resolver wants it; NULL when out of memory. */
static char *text_of(const struct csni_conversion *c, struct csn_str str) {
    char *text = csni_alloc_zeroed(c->alloc, str.len + 1, 1);
    if (text && str.len) memcpy(text, str.ptr, str.len);
    return text;
}

static csn_status open_dwo(struct csni_split_dwo *dwo, struct csni_conversion *c, const struct csni_dwarf *image,
                           struct csn_error *err) {
    struct csn_str name = dwo->named_by->dwo_name, directory = dwo->named_by->comp_dir;
    if (!csni_split_dwo_has_name(dwo->named_by)) return CSN_OK;
    char *name_text = text_of(c, name), *directory_text = text_of(c, directory);
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_DWO,
                                             .image_path = c->input.path, .name = name_text,
                                             .directory = directory.len ? directory_text : NULL,
                                             .dwo_id = dwo->named_by->dwo_id };
    csn_status status = CSN_E_MEMORY;
    if (name_text && directory_text) status = try_candidates(dwo, c, image, &request, err);
    else csni_fail_memory(err, name.len + directory.len);
    csni_free(c->alloc, name_text, name.len + 1);
    csni_free(c->alloc, directory_text, directory.len + 1);
    return status;
}

csn_status csni_split_dwo_take(struct csni_split_dwo *dwo, struct csni_conversion *c, const struct csni_dwarf *image,
                               struct csn_error *err) {
    csn_status status = CSN_OK;
    pthread_mutex_lock(&dwo->lock);
    if (!dwo->asked) status = open_dwo(dwo, c, image, err);
    dwo->asked = true;
    pthread_mutex_unlock(&dwo->lock);
    return status;
}

void csni_split_dwo_give_back(struct csni_split_dwo *dwo, struct csni_conversion *c) {
    if (atomic_fetch_sub(&dwo->users, 1) == 1) csni_split_file_close(&dwo->file, c);
}

/* Files that an image's debug information lies in besides the image: asked for, opened, kept, given back. */
#include "convert/companions.h"

#include "base/core/fail.h"
#include "base/hex.h"
#include "convert/read_files.h"
#include "object/elf/mini_debug.h"

const char *csni_companion_path(const struct csni_companion_file *file) {
    return file->found.path ? file->found.path : "companion file";
}

static void close_file(struct csni_conversion *c, struct csni_companion_file *file) {
    csni_object_close(file->object);
    for (size_t i = 0; i < file->members.count; i++) csni_object_close(file->members.items[i]);
    csni_vec_deinit(&file->members);
    if (file->found.release) file->found.release(&file->found);
    csni_free(c->alloc, file, sizeof *file);
}

/* Keeps the file until the conversion ends; where `status` says that there is none, or memory runs out, it is closed. */
static csn_status keep_companion(struct csni_conversion *c, struct csni_companion_file *file, csn_status status,
                                 struct csni_companion_file **out, struct csn_error *err) {
    file->members.alloc = c->alloc;
    bool kept = status == CSN_OK && csni_vec_push(&c->companions, file);
    if (!kept) {
        if (status != CSN_OK) file->found = (struct csn_companion){ 0 };
        close_file(c, file);
        return status == CSN_OK ? csni_fail_memory(err, sizeof *file) : status;
    }
    file->bytes = (struct csni_span){ file->found.bytes, file->found.size };
    *out = file;
    return CSN_OK;
}

csn_status csni_companion_request(struct csni_conversion *c, const struct csn_companion_request *request,
                                  struct csni_companion_file **out, struct csn_error *told) {
    *told = (struct csn_error)CSN_ERROR_INIT;
    if (!c->options.resolver) return CSN_NONE;
    struct csni_companion_file *file = csni_alloc_zeroed(c->alloc, 1, sizeof *file);
    if (!file) return csni_fail_memory(told, sizeof *file);
    pthread_mutex_lock(&c->lock);
    csn_status status = c->options.resolver(c->options.resolver_context, request, &file->found, told);
    status = keep_companion(c, file, status, out, told);
    if (status == CSN_OK) status = csni_note_read_file(c, (*out)->found.path, told);
    pthread_mutex_unlock(&c->lock);
    return status;
}

csn_status csni_companion_find(struct csni_conversion *c, const struct csn_companion_request *request,
                               struct csni_companion_file **out, struct csn_error *err) {
    struct csn_error told;
    csn_status status = csni_companion_request(c, request, out, &told);
    if (status < 0 && err) *err = told;
    return status;
}

/* The image of a universal file that is for the same machine as the one being converted. */
static csn_status matching_slice(const struct csni_conversion *c, struct csni_span file, struct csni_span *out,
                                 struct csn_error *err) {
    struct csni_slice *slices;
    uint32_t count;
    CSNI_TRY(csni_object_slices(file, c->alloc, &slices, &count, err));
    *out = slices[0].file;
    bool found = count == 1;
    for (uint32_t i = 0; i < count && !found; i++) {
        found = c->object && strcmp(slices[i].arch, c->object->arch) == 0;
        if (found) *out = slices[i].file;
    }
    csni_free(c->alloc, slices, count * sizeof *slices);
    if (found) return CSN_OK;
    return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "none of its %u images is for %s", count,
                     c->object ? c->object->arch : "this input");
}

csn_status csni_companion_parse(struct csni_conversion *c, struct csni_companion_file *file, struct csn_error *err) {
    struct csni_object_options options = csni_object_options_of(c, file->found.is_mapped);
    struct csn_error inner = CSN_ERROR_INIT;
    struct csni_span slice;
    csn_status status = matching_slice(c, file->bytes, &slice, &inner);
    if (status == CSN_OK) status = csni_object_open(slice, &options, &file->object, &inner);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status < 0) return csni_fail(err, status, NULL, 0, "%s: %s", csni_companion_path(file), csn_error_text(&inner));
    return CSN_OK;
}

csn_status csni_companion_open(struct csni_conversion *c, const struct csn_companion_request *request,
                               struct csni_companion_file **out, struct csn_error *told) {
    struct csni_companion_file *file;
    csn_status status = csni_companion_request(c, request, &file, told);
    if (status != CSN_OK) return status;
    CSNI_TRY(csni_companion_parse(c, file, told));
    *out = file;
    return CSN_OK;
}

csn_status csni_companion_open_part(struct csni_conversion *c, struct csni_companion_file *file, struct csni_span part,
                                    struct csni_object **out, struct csn_error *err) {
    struct csni_object_options options = csni_object_options_of(c, file->found.is_mapped);
    if (!csni_vec_reserve(&file->members, file->members.count + 1)) return csni_fail_memory(err, sizeof *out);
    CSNI_TRY(csni_object_open(part, &options, out, err));
    file->members.items[file->members.count++] = *out;
    return CSN_OK;
}

static void release_mini_debug(struct csn_companion *companion) { csni_mini_debug_free(companion->context); }

csn_status csni_companion_open_mini_debug(struct csni_conversion *c, struct csni_object *object,
                                          struct csni_companion_file **out, struct csn_error *err) {
    struct csni_object_options options = csni_object_options_of(c, false);
    struct csni_mini_debug *mini;
    csn_status status = csni_mini_debug_read(object, &options, &mini, err);
    if (status != CSN_OK) return status;
    struct csni_companion_file *file = csni_alloc_zeroed(c->alloc, 1, sizeof *file);
    if (!file) {
        csni_mini_debug_free(mini);
        return csni_fail_memory(err, sizeof *file);
    }
    file->found = (struct csn_companion){ .bytes = mini->bytes.ptr, .size = mini->bytes.size, .path = ".gnu_debugdata",
                                          .release = release_mini_debug, .context = mini };
    CSNI_TRY(keep_companion(c, file, CSN_OK, out, err));
    return csni_companion_parse(c, *out, err);
}

csn_status csni_companion_check_id(const struct csni_companion_file *file, const struct csn_companion_request *request,
                                   struct csn_error *err) {
    struct csni_span id = file->object->build_id;
    if (!id.size || !request->id_size) return CSN_OK;
    if (id.size == request->id_size && memcmp(id.ptr, request->id, id.size) == 0) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s has build id %s, the image needs %s", csni_companion_path(file),
                     csni_id_show(id.ptr, id.size).text, csni_id_show(request->id, request->id_size).text);
}

void csni_companion_close(struct csni_conversion *c, struct csni_companion_file *file) {
    if (!file) return;
    pthread_mutex_lock(&c->lock);
    size_t at = c->companions.count;
    while (at && c->companions.items[at - 1] != file) at--;
    if (at) c->companions.items[at - 1] = c->companions.items[--c->companions.count];
    pthread_mutex_unlock(&c->lock);
    close_file(c, file);
}

void csni_companions_release(struct csni_conversion *c) {
    for (size_t i = 0; i < c->companions.count; i++) close_file(c, c->companions.items[i]);
    csni_vec_deinit(&c->companions);
}

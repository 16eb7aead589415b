/* Text files of symbols as sources, one batch each: lists of symbols, which tell nothing of the image but its functions, and
 * Symbian's `.symbol` files, build logs with the maps that they lead to, and single maps. */
#include <string.h>

#include "base/core/fail.h"
#include "convert/companions.h"
#include "convert/sources/source.h"
#include "formats/symbian/symbian.h"
#include "formats/symbols/symbols_text.h"

/* ---- lists of symbols ---- */

typedef csn_status text_reader(struct csni_conversion *c, struct csni_span file, struct csni_batch_writer *w,
                               struct csn_error *err);

static csn_status read_text_file_text(struct csni_conversion *c, text_reader *reader, struct csn_error *err) {
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    struct csni_batch_writer *w = &c->writers[0];
    csni_batch_begin(w, &c->arenas[0]);
    CSNI_TRY(reader(c, c->input.file, w, err));
    c->report->functions_from_symbols += w->functions.count;
    return csni_batch_finish(w, batch, err);
}

static csn_status read_kallsyms(struct csni_conversion *c, struct csni_span file, struct csni_batch_writer *w,
                                struct csn_error *err) {
    struct csni_list_base base = { .is_known = false };
    CSNI_TRY(csni_kallsyms_read(file, c->alloc, w, &base, err));
    c->image.has_base_address = base.is_known;
    c->image.base_address = base.address;
    return CSN_OK;
}

csn_status csni_source_kallsyms(struct csni_conversion *c, struct csn_error *err) {
    return read_text_file_text(c, read_kallsyms, err);
}

static csn_status read_perf_map(struct csni_conversion *c, struct csni_span file, struct csni_batch_writer *w,
                                struct csn_error *err) {
    return csni_perf_map_read(file, c->alloc, w, err);
}

csn_status csni_source_perf_map(struct csni_conversion *c, struct csn_error *err) {
    return read_text_file_text(c, read_perf_map, err);
}

static csn_status read_jitdump(struct csni_conversion *c, struct csni_span file, struct csni_batch_writer *w,
                               struct csn_error *err) {
    return csni_jitdump_read(file, c->alloc, w, err);
}

csn_status csni_source_jitdump(struct csni_conversion *c, struct csn_error *err) {
    return read_text_file_text(c, read_jitdump, err);
}

/* ---- Symbian ---- */

static csn_status finish_image(struct csni_conversion *c, const struct csni_symbian_image *image, struct csni_batch *batch,
                               struct csn_error *err) {
    c->image.binaries = image->binaries;
    c->image.binary_count = image->binary_count;
    c->image.renames = image->renames;
    c->image.rename_count = image->rename_count;
    c->image.checksum = image->checksum;
    c->report->functions_from_symbols += c->writers[0].functions.count;
    return csni_batch_finish(&c->writers[0], batch, err);
}

static struct csni_batch *begin_batch(struct csni_conversion *c) {
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (batch) csni_batch_begin(&c->writers[0], &c->arenas[0]);
    return batch;
}

csn_status csni_source_symbol_file(struct csni_conversion *c, struct csn_error *err) {
    struct csni_symbian_image image;
    struct csni_batch *batch = begin_batch(c);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    CSNI_TRY(csni_symbol_file_read(c->input.file, c->alloc, &c->writers[0], &image, err));
    return finish_image(c, &image, batch, err);
}

/* A path of the build PC below the root of its tree: no drive, slashes. False: it leads out of the tree. */
static bool tree_path(struct csn_str path, char *out, size_t capacity) {
    if (path.len > 1 && path.ptr[1] == ':') path = (struct csn_str){ path.ptr + 2, path.len - 2 };
    while (path.len && (path.ptr[0] == '\\' || path.ptr[0] == '/')) path = (struct csn_str){ path.ptr + 1, path.len - 1 };
    if (!path.len || path.len >= capacity) return false;
    for (size_t i = 0; i < path.len; i++) {
        out[i] = path.ptr[i] == '\\' ? '/' : path.ptr[i];
        if (!out[i] || (out[i] == '.' && i && out[i - 1] == '.' && (i < 2 || out[i - 2] == '/'))) return false;
    }
    out[path.len] = 0;
    return true;
}

static csn_status find_map(void *context, struct csn_str path, struct csni_span *out, struct csn_error *err) {
    enum { PATH_ROOM = 1024 };
    struct csni_conversion *c = context;
    char name[PATH_ROOM];
    struct csni_companion_file *file;
    if (!tree_path(path, name, sizeof name)) return CSN_NONE;
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_MAP, .image_path = c->input.path,
                                             .name = name };
    csn_status status = csni_companion_find(c, &request, &file, err);
    if (status == CSN_OK) *out = file->bytes;
    return status;
}

csn_status csni_source_rom_log(struct csni_conversion *c, struct csn_error *err) {
    struct csni_symbian_image image;
    struct csni_batch *batch = begin_batch(c);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    CSNI_TRY(csni_rom_log_read(c->input.file, c->alloc, find_map, c, &c->writers[0], &image, err));
    return finish_image(c, &image, batch, err);
}

/* The binary is called as its map, less ".map". */
csn_status csni_source_linker_map(struct csni_conversion *c, struct csn_error *err) {
    struct csni_symbian_image image;
    struct csni_batch *batch = begin_batch(c);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    const char *path = c->input.path ? c->input.path : "", *slash = strrchr(path, '/');
    struct csn_str name = csni_str(slash ? slash + 1 : path);
    if (name.len > 4 && memcmp(name.ptr + name.len - 4, ".map", 4) == 0) name.len -= 4;
    CSNI_TRY(csni_linker_map_read(c->input.file, name, c->alloc, &c->writers[0], &image, err));
    return finish_image(c, &image, batch, err);
}

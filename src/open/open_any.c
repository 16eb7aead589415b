/* Opening what is an index, carries one, or has to be converted. Above index, convert and store, which know nothing
 * of one another. */
#include "open/opener.h"

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "index/index_owner.h"
#include "object/object.h"

/* CSN_NONE: it has to be converted. */
static csn_status open_index_bytes(struct csni_span bytes, const struct csn_index_options *options, struct csn_index **out,
                                   struct csn_error *err) {
    bool has_index = csn_is_index(bytes.ptr, bytes.size) || csni_index_is_embedded(bytes, options->arch);
    if (!has_index && csn_is_input(bytes.ptr, bytes.size)) return CSN_NONE;
    return csn_index_open_memory(bytes.ptr, bytes.size, options, out, err);
}

/* The part of a universal file that `arch` names. False: there is not one, which the conversion reports. */
static bool choose_slice(struct csni_image *image) {
    const struct csn_allocator *alloc = image->opener->alloc;
    struct csni_slice *slices;
    uint32_t count, found = 0;
    image->bytes = image->whole;
    if (!csni_object_recognize(image->bytes)) return true;
    if (csni_object_slices(image->whole, alloc, &slices, &count, NULL) != CSN_OK) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (count > 1 && (!image->arch || strcmp(image->arch, slices[i].arch) != 0)) continue;
        image->bytes = slices[i].file;
        found++;
    }
    csni_free(alloc, slices, count * sizeof *slices);
    return found == 1;
}

static csn_status open_by_converting(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                                     struct csn_error *err) {
    if (image->whole.size && choose_slice(image)) CSNI_TRY(csni_image_identify(image, err));
    return csni_image_open(image, options, out, err);
}

/* The caller's file, which the index goes on to use. */
static csn_status open_given(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                             struct csn_error *err) {
    image->whole = (struct csni_span){ csn_file_bytes(image->file), csn_file_size(image->file) };
    csn_status status = open_index_bytes(image->whole, options, out, err);
    return status == CSN_NONE ? open_by_converting(image, options, out, err) : status;
}

static csn_status open_path(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                            struct csn_error *err) {
    struct csni_file_map map;
    if (image->file) return open_given(image, options, out, err);
    /* What cannot be mapped is missing, or a bundle: the conversion finds out which. */
    if (csni_file_map_open(&map, image->path, NULL) != CSN_OK) return open_by_converting(image, options, out, err);
    image->whole = map.bytes;
    struct csn_index *index;
    csn_status status = open_index_bytes(map.bytes, options, &index, err);
    if (status == CSN_OK) {
        csni_index_own_map(index, &map);
        *out = index;
        return CSN_OK;
    }
    if (status == CSN_NONE) status = open_by_converting(image, options, out, err);
    csni_file_map_close(&map);
    return status;
}

csn_status csn_opener_open(struct csn_opener *opener, const char *path, const struct csn_file *file,
                           const struct csn_index_options *given, struct csn_index **out, struct csn_opened *given_opened,
                           struct csn_convert_report *given_report, struct csn_error *err) {
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_opened opened = CSN_OPENED_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    if (!options.allocator) options.allocator = opener->alloc;
    struct csn_convert_report *report = csni_alloc_zeroed(opener->alloc, 1, sizeof *report);
    if (!report) return csni_fail_memory(err, sizeof *report);
    struct csni_image image = {
        .opener = opener, .path = path, .file = file, .arch = options.arch, .opened = &opened, .report = report
    };
    csn_status status = open_path(&image, &options, out, err);
    if (given_opened) {
        size_t size = given_opened->struct_size;
        opened.struct_size = size;
        csni_result_copy(given_opened, size, &opened, sizeof opened);
    }
    if (given_report) *given_report = *report;
    csni_free(opener->alloc, report, sizeof *report);
    return status;
}

csn_status csn_index_open_any(const char *path, const struct csn_index_options *options, struct csn_index **out,
                              struct csn_error *err) {
    struct csn_index_options known = CSN_INDEX_OPTIONS_INIT;
    struct csn_opener_options of_opener = CSN_OPENER_OPTIONS_INIT;
    struct csn_opener *opener;
    if (options) CSNI_TRY(csni_options_copy(&known, sizeof known, options, options->struct_size, err));
    of_opener.allocator = known.allocator;
    CSNI_TRY(csn_opener_create(&of_opener, &opener, err));
    csn_status status = csn_opener_open(opener, path, NULL, &known, out, NULL, NULL, err);
    csn_opener_destroy(opener);
    return status;
}

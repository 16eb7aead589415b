/* Opening and closing an index, and what it is. */
#include "index/index_private.h"

#include "base/core/alloc.h"
#include "base/core/sized.h"
#include "index/index_owner.h"

void csn_index_options_init(struct csn_index_options *options) {
    *options = (struct csn_index_options)CSN_INDEX_OPTIONS_INIT;
}

static csn_status read_options(const struct csn_index_options *given, struct csn_index_options *out,
                               struct csn_error *err) {
    csn_index_options_init(out);
    return given ? csni_options_copy(out, sizeof *out, given, given->struct_size, err) : CSN_OK;
}

/* The only table of formats. Bytes of none of them are opened as GSYM, for its message. */
static const struct csni_index_format *const formats[] = { &csni_index_bsym, &csni_index_gsection, &csni_index_gsym };

static const struct csni_index_format *format_of(const struct csni_index_source *source) {
    if (source->section.ptr) return &csni_index_gsection;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->recognize(source->bytes)) return formats[i];
    return &csni_index_gsym;
}

/* By their first bytes, so that the beginning of a file is enough: an object with an index in a section is an object. */
bool csn_is_index(const void *bytes, size_t size) {
    struct csni_span head = { bytes, size };
    return csni_index_bsym.recognize(head) || csni_index_gsym.recognize(head);
}

/* CSN_NONE: the bytes are not those of an object that carries an index. */
static csn_status find_section(struct csni_index_source *source, struct csni_span bytes,
                               const struct csn_index_options *options, struct csn_error *err) {
    *source = (struct csni_index_source){ .bytes = bytes };
    if (csn_is_index(bytes.ptr, bytes.size)) return CSN_NONE;
    csn_status status = csni_index_locate(bytes, options->arch, &source->image, &source->section, err);
    /* A section that is a GSYM file of its own is opened as one. */
    if (status == CSN_OK && csni_gsection_is_whole(source->section))
        *source = (struct csni_index_source){ .bytes = source->section };
    return status;
}

static csn_status create(struct csn_index *index, const struct csni_index_source *source,
                         const struct csn_index_options *options, struct csn_index **out, struct csn_error *err) {
    index->format = format_of(source);
    CSNI_TRY(index->format->open(index, source, options, err));
    struct csn_index *made = csni_alloc(index->allocator, sizeof *made);
    if (!made) {
        index->format->close(index);
        return csni_fail_memory(err, sizeof *made);
    }
    *made = *index;
    *out = made;
    return CSN_OK;
}

static struct csn_index index_with(const struct csn_index_options *options) {
    return (struct csn_index){ .allocator = csni_allocator_or_default(options->allocator), .demangle = options->demangle,
                               .demangle_context = options->demangle_context };
}

/* Over index->whole. `embedded`: CSN_NONE for what is no object with an index. */
static csn_status open_whole(struct csn_index *index, const struct csn_index_options *options, bool embedded,
                             struct csn_index **out, struct csn_error *err) {
    struct csni_index_source source;
    csn_status status = find_section(&source, index->whole, options, err);
    if (embedded && status == CSN_NONE && csni_index_gsection.recognize(index->whole)) status = CSN_OK;
    /* Damaged headers: nothing is found by them. */
    if (embedded && (status == CSN_E_TRUNCATED || status == CSN_E_FORMAT)) status = CSN_NONE;
    return status == CSN_OK || (status == CSN_NONE && !embedded) ? create(index, &source, options, out, err) : status;
}

static csn_status open_bytes(struct csni_span bytes, const struct csn_index_options *options, bool embedded,
                             struct csn_index **out, struct csn_error *err) {
    struct csn_index_options known;
    CSNI_TRY(read_options(options, &known, err));
    struct csn_index index = index_with(&known);
    index.whole = bytes;
    return open_whole(&index, &known, embedded, out, err);
}

static csn_status open_path(const char *path, const struct csn_index_options *options, bool embedded,
                            struct csn_index **out, struct csn_error *err) {
    struct csn_index_options known;
    CSNI_TRY(read_options(options, &known, err));
    struct csn_index index = index_with(&known);
    index.mapped = true;
    CSNI_TRY(csni_file_map_open(&index.map, path, err));
    index.whole = index.map.bytes;
    csn_status status = open_whole(&index, &known, embedded, out, err);
    if (status != CSN_OK) csni_file_map_close(&index.map);
    return status;
}

csn_status csn_index_open_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                 struct csn_index **out, struct csn_error *err) {
    return open_bytes((struct csni_span){ bytes, size }, options, false, out, err);
}

csn_status csn_index_open_embedded_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                          struct csn_index **out, struct csn_error *err) {
    return open_bytes((struct csni_span){ bytes, size }, options, true, out, err);
}

csn_status csn_index_open_file(const char *path, const struct csn_index_options *options, struct csn_index **out,
                               struct csn_error *err) {
    return open_path(path, options, false, out, err);
}

csn_status csn_index_open_embedded(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                   struct csn_error *err) {
    return open_path(path, options, true, out, err);
}

void csni_index_own_map(struct csn_index *index, const struct csni_file_map *map) {
    index->map = *map;
    index->mapped = true;
}

void csni_index_own_bytes(struct csn_index *index, const struct csn_bytes *bytes) { index->owned = *bytes; }

bool csni_index_is_embedded(struct csni_span bytes, const char *arch) {
    struct csni_span image, section;
    return csni_index_locate(bytes, arch, &image, &section, NULL) == CSN_OK;
}

void csn_index_close(struct csn_index *index) {
    if (!index) return;
    index->format->close(index);
    if (index->mapped) csni_file_map_close(&index->map);
    csn_bytes_free(&index->owned);
    csni_free(index->allocator, index, sizeof *index);
}

void csn_index_get_info(const struct csn_index *index, struct csn_index_info *out, size_t out_size) {
    struct csn_index_info known;
    index->format->get_info(index, &known);
    csni_result_copy(out, out_size, &known, sizeof known);
}

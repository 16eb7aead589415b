/* Opening and closing an index, and what it is. */
#include "index/index_private.h"

#include "base/core/alloc.h"

/* Options from a caller built against another version of the header: what it does not have is default, what this
 * version does not know must be zero. */
static csn_status read_options(const struct csn_index_options *options, struct csn_index_options *out,
                               struct csn_error *err) {
    *out = (struct csn_index_options)CSN_INDEX_OPTIONS_INIT;
    if (!options) return CSN_OK;
    size_t size = options->struct_size;
    if (size < sizeof options->struct_size)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "csn_index_options.struct_size %zu, need >= %zu", size,
                         sizeof options->struct_size);
    for (size_t i = sizeof *out; i < size; i++)
        if (((const char *)options)[i])
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, i, "csn_index_options byte %zu is set, know %zu bytes", i,
                             sizeof *out);
    memcpy(out, options, size < sizeof *out ? size : sizeof *out);
    return CSN_OK;
}

/* ---- GSYM ---- */

static bool recognize_gsym(struct csni_span bytes) {
    return bytes.size >= 4 && (memcmp(bytes.ptr, "GSYM", 4) == 0 || memcmp(bytes.ptr, "MYSG", 4) == 0);
}

static csn_status open_gsym(struct csn_index *index, struct csni_span bytes, const struct csn_index_options *options,
                               struct csn_error *err) {
    CSNI_TRY(csni_gsym_parse(&index->gsym, bytes, err));
    return csni_gsym_accel_build(&index->accel, &index->gsym, options->accelerator_bytes, index->allocator, err);
}

static void close_gsym(struct csn_index *index) { csni_gsym_accel_free(&index->accel, index->allocator); }

static void get_gsym_info(const struct csn_index *index, struct csn_index_info *out) {
    const struct csni_gsym *gsym = &index->gsym;
    size_t uuid_size = gsym->uuid.size < sizeof out->uuid ? gsym->uuid.size : sizeof out->uuid;
    *out = (struct csn_index_info){
        .format = gsym->version == CSNI_GSYM_VERSION_1 ? CSN_FORMAT_GSYM_V1 : CSN_FORMAT_GSYM_V2,
        .big_endian = gsym->big,
        .address_size = gsym->address_size,
        .uuid_size = (uint8_t)uuid_size,
        .uuid_bytes = gsym->uuid.size,
        .base_address = gsym->base_address,
        .file_size = gsym->bytes.size,
        .function_count = gsym->address_count,
        .file_count = gsym->file_count,
        .string_bytes = gsym->strings.size,
        .accelerator_bytes = index->accel.memory_size,
        .plain_functions = index->accel.plain_functions,
        .guide_count = gsym->guide_count,
    };
    if (uuid_size) memcpy(out->uuid, gsym->uuid.ptr, uuid_size);
}

static const struct csni_index_reader gsym_reader = {
    .recognize = recognize_gsym, .open = open_gsym, .close = close_gsym, .get_info = get_gsym_info,
};

/* ---- all formats ---- */

/* The one place that tells formats apart. */
static const struct csni_index_reader *const readers[] = { &csni_bsym_index_reader, &csni_gsection_reader, &gsym_reader };

static const struct csni_index_reader *reader_of(struct csni_span bytes) {
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i]->recognize(bytes)) return readers[i];
    return NULL;
}

/* By their first bytes, so that the beginning of a file is enough: an object with an index in a section is an object. */
bool csn_is_index(const void *bytes, size_t size) {
    struct csni_span head = { bytes, size };
    return csni_bsym_recognize(head) || recognize_gsym(head);
}

static csn_status parse(struct csn_index *index, struct csni_span bytes, const struct csn_index_options *options,
                        struct csn_error *err) {
    struct csni_span image, section;
    /* A section that is a GSYM file of its own is opened as one. */
    if (csni_index_locate(bytes, options->arch, &image, &section, NULL) == CSN_OK && csni_gsection_is_whole(section))
        bytes = section;
    const struct csni_index_reader *reader = reader_of(bytes);
    index->reader = reader ? reader : &gsym_reader; /* whose message then says what the bytes are not */
    index->other = index->reader == &gsym_reader ? NULL : reader;
    return index->reader->open(index, bytes, options, err);
}

static csn_status create(struct csn_index *index, struct csni_span bytes, const struct csn_index_options *options,
                         struct csn_index **out, struct csn_error *err) {
    CSNI_TRY(parse(index, bytes, options, err));
    struct csn_index *made = csni_alloc(index->allocator, sizeof *made);
    if (!made) {
        index->reader->close(index);
        return csni_fail_memory(err, sizeof *made);
    }
    *made = *index;
    *out = made;
    return CSN_OK;
}

csn_status csn_index_open_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                 struct csn_index **out, struct csn_error *err) {
    struct csn_index_options known;
    CSNI_TRY(read_options(options, &known, err));
    struct csn_index index = { .allocator = csni_allocator_or_default(known.allocator) };
    return create(&index, (struct csni_span){ bytes, size }, &known, out, err);
}

csn_status csn_index_open_file(const char *path, const struct csn_index_options *options, struct csn_index **out,
                               struct csn_error *err) {
    struct csn_index_options known;
    CSNI_TRY(read_options(options, &known, err));
    struct csn_index index = { .allocator = csni_allocator_or_default(known.allocator), .mapped = true };
    CSNI_TRY(csni_file_map_open(&index.map, path, err));
    csn_status status = create(&index, index.map.bytes, &known, out, err);
    if (status < 0) csni_file_map_close(&index.map);
    return status;
}

csn_status csn_index_open_embedded(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                   struct csn_error *err) {
    struct csni_file_map map;
    struct csni_span image, section;
    struct csn_index_options known;
    CSNI_TRY(read_options(options, &known, err));
    CSNI_TRY(csni_file_map_open(&map, path, err));
    csn_status status = csni_index_locate(map.bytes, known.arch, &image, &section, err);
    if (status == CSN_NONE && csni_gsection_recognize(map.bytes)) status = CSN_OK;
    csni_file_map_close(&map);
    if (status == CSN_E_TRUNCATED || status == CSN_E_FORMAT) return CSN_NONE; /* damaged headers: nothing is found by them */
    return status == CSN_OK ? csn_index_open_file(path, options, out, err) : status;
}

void csn_index_close(struct csn_index *index) {
    if (!index) return;
    index->reader->close(index);
    if (index->mapped) csni_file_map_close(&index->map);
    csni_free(index->allocator, index, sizeof *index);
}

void csn_index_get_info(const struct csn_index *index, struct csn_index_info *out) { index->reader->get_info(index, out); }

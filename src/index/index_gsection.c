/* The section-embedded GSYM of 2017 as a format of indexes: in an object file's section, or as a file of its own. */
#include "index/index_gsym.h"

#include "object/find/section_find.h"

/* The image that carries an index, and its section. CSN_NONE: there is none. */
csn_status csni_index_locate(struct csni_span file, const char *arch, struct csni_span *out_image,
                             struct csni_span *out_section, struct csn_error *err) {
    if (!csni_section_find_recognize(file)) return CSN_NONE;
    bool found = false;
    uint32_t count = csni_section_find_images(file);
    for (uint32_t i = 0; i < count; i++) {
        struct csni_span image, section;
        if (!csni_section_find_image(file, i, &image)) continue;
        if (arch && count > 1 && !csni_str_is(csni_str(arch), csni_section_find_arch(image))) continue;
        csn_status status = csni_section_find_index(image, &section, err);
        if (status < 0) return status;
        if (status == CSN_NONE) continue;
        if (found)
            return csni_fail(err, CSN_E_ARGUMENT, NULL, 0,
                             "several images of this universal file carry an index; choose one (--arch)");
        found = true;
        *out_image = image;
        *out_section = section;
    }
    return found ? CSN_OK : CSN_NONE;
}

static csn_status open_gsection(struct csn_index *index, const struct csni_index_source *source,
                                const struct csn_index_options *options, struct csn_error *err) {
    (void)options;
    struct csni_gsection_home home = { source->image, csni_section_find };
    csn_status status = source->section.ptr ? csni_gsection_parse(&index->section, source->section, &home, err)
                                            : csni_gsection_parse(&index->section, source->bytes, NULL, err);
    if (status >= 0) index->gsym = index->section.gsym;
    return status;
}

static void close_gsection(struct csn_index *index) { (void)index; }

static void get_gsection_info(const struct csn_index *index, struct csn_index_info *out) {
    const struct csni_gsym *gsym = &index->gsym;
    *out = (struct csn_index_info){ .format = CSN_FORMAT_GSYM_SECTION, .big_endian = gsym->big,
                                    .address_size = gsym->address_size, .uuid_size = (uint8_t)gsym->uuid.size,
                                    .uuid_bytes = gsym->uuid.size,
                                    .revision = index->section.revision, .base_address = gsym->base_address,
                                    .file_size = gsym->bytes.size, .function_count = gsym->address_count,
                                    .file_count = gsym->file_count, .string_bytes = gsym->strings.size };
    if (gsym->uuid.size) memcpy(out->uuid, gsym->uuid.ptr, gsym->uuid.size);
}

static csn_status look_up_gsection_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                        struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                        struct csn_error *err) {
    struct csni_gsym_answer answer;
    csn_status status = csni_gsection_lookup(&index->section, addr, mode, &answer, err);
    if (status >= 0) csni_index_fill_answer(index, &answer, status, frames, cap, out);
    return status;
}

static void resolve_gsection(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out) {
    struct csn_str directory, base;
    csni_gsection_file(&index->section, ref->file, &directory, &base);
    *out = (struct csn_frame){ csni_gsym_string(&index->gsym, ref->name), directory, base, ref->offset, ref->line, ref->flags,
                               ref->reason, 0 };
}

static csn_status look_up_gsection(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                   size_t *out_count, struct csn_error *err) {
    struct csni_gsym_answer answer;
    csn_status status = csni_gsection_lookup(&index->section, addr, CSN_LOOKUP_DEFAULT, &answer, err);
    if (status < 0) return status;
    size_t count = status == CSN_OK ? answer.calls.count + 1 : 0;
    for (size_t k = 0; k < count && k < cap; k++) {
        struct csn_frame_ref ref;
        csni_gsym_frame(&index->gsym, &answer, k, &ref);
        resolve_gsection(index, &ref, &frames[k]);
    }
    *out_count = count;
    return status;
}

static csn_status get_gsection_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory,
                                    struct csn_str *base, struct csn_error *err) {
    if (idx >= index->gsym.file_count)
        return csni_index_fail_beyond("file", idx, index->gsym.file_count, err);
    csni_gsection_file(&index->section, idx, directory, base);
    return CSN_OK;
}

static csn_status get_gsection_function(const struct csn_index *index, const struct csn_record *given,
                                        struct csn_function *out, struct csn_error *err) {
    struct csni_gsym_record known;
    CSNI_TRY(csni_index_gsym_record(index, given, &known, err));
    struct csn_function f = { .start = known.start, .size = known.size, .name = csni_gsym_string(&index->gsym, known.name),
                              .record_offset = known.offset };
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsym_payload part;
    csn_status status;
    uint32_t count = 0;
    while ((status = csni_gsection_part_next(&index->section, &known, &pos, &part, err)) == CSN_OK) {
        if (++count > CSNI_GSYM_PARTS_MAX) return csni_gsym_fail_parts(&known, err);
        switch (part.type) {
        case CSNI_GSYM_PART_LINES: f.has_lines = 1; break;
        case CSNI_GSYM_PART_INLINE: f.has_inlines = 1; break;
        default: f.unknown_parts++;
        }
    }
    if (status < 0) return status;
    f.record_size = pos;
    *out = f;
    return CSN_OK;
}

static csn_status find_gsection_part(const struct csn_index *index, const struct csn_record *given, uint32_t type,
                                     struct csni_gsym_payload *out, struct csn_error *err) {
    struct csni_gsym_record known;
    CSNI_TRY(csni_index_gsym_record(index, given, &known, err));
    if (type != CSNI_GSYM_PART_LINES && type != CSNI_GSYM_PART_INLINE) return CSN_NONE;
    return csni_gsection_part_find(&index->section, &known, type, out, err);
}

static csn_status verify_gsection(const struct csn_index *index, csn_verify_callback *callback, void *context,
                                  struct csn_verify_counts *out, struct csn_error *err) {
    (void)err;
    return csni_gsection_verify(&index->section, callback, context, out);
}

/* ---- where the bytes go ---- */

/* Whether the image has a section of that name that begins where the strings do. */
static bool is_section_of(struct csni_span image, const char *name, struct csni_span strings) {
    struct csni_span section;
    return csni_section_find(image, csni_str(name), &section, NULL) == CSN_OK && section.ptr == strings.ptr;
}

/* Strings in a section that serves nothing but the index, as `convert --to gsym-section` makes it. */
static uint64_t size_of_own_strings(const struct csn_index *index) {
    static const char *const names[] = { ".gsymstrtab", ".gsym_strtab", "__gsym_strtab", ".gsymstr" };
    struct csni_span strings = index->gsym.strings, image;
    if (!csni_section_find_recognize(index->whole) || csni_span_holds(index->gsym.bytes, strings.ptr)) return 0;
    uint32_t count = csni_section_find_images(index->whole);
    for (uint32_t i = 0; i < count; i++) {
        if (!csni_section_find_image(index->whole, i, &image) || !csni_span_holds(image, strings.ptr)) continue;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (is_section_of(image, names[k], strings)) return strings.size;
    }
    return 0;
}

static csn_status get_gsection_part_bytes(const struct csn_index *index, uint64_t *out, struct csn_error *err) {
    uint64_t strings = size_of_own_strings(index);
    if (strings > out[CSN_PART_OBJECT]) strings = out[CSN_PART_OBJECT];
    out[CSN_PART_OBJECT] -= strings;
    out[CSN_PART_STRINGS] += strings;
    return csni_gsection_part_bytes(&index->section, index->allocator, out, err);
}

static csn_status get_gsection_record_sizes(const struct csn_index *index, const struct csn_record *record,
                                            struct csni_counted_bytes *counted, struct csn_function_stats *out) {
    (void)counted; /* names are strings of their own */
    struct csni_gsym_record known;
    CSNI_TRY(csni_index_gsym_record(index, record, &known, NULL));
    return csni_gsection_record_sizes(&index->section, &known, &out->record_bytes, &out->line_bytes, &out->inline_bytes);
}

const struct csni_index_format csni_index_gsection = {
    .recognize = csni_gsection_recognize, .open = open_gsection, .close = close_gsection, .get_info = get_gsection_info,
    .lookup = look_up_gsection, .lookup_refs = look_up_gsection_refs, .lookup_batch = csni_index_lookup_each,
    .resolve = resolve_gsection, .file = get_gsection_file, .string = csni_index_gsym_string,
    .record = csni_index_gsym_get_record, .function_start = csni_index_gsym_function_start,
    .function = get_gsection_function, .check = csni_index_gsym_check, .find_part = find_gsection_part, .verify = verify_gsection,
    .part_bytes = get_gsection_part_bytes, .record_sizes = get_gsection_record_sizes,
};

/* Embedding and extracting: the public calls. */
#include <callsign/embed.h>

#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "base/file_output.h"
#include "base/core/sized.h"
#include "base/sink.h"
#include "embed/embed_private.h"
#include "embed/new_object.h"
#include "object/find/section_find.h"

struct request {
    struct csn_embed_options options;
    const struct csn_allocator *alloc;
};

void csn_embed_options_init(struct csn_embed_options *options) {
    *options = (struct csn_embed_options)CSN_EMBED_OPTIONS_INIT;
}

static csn_status read_embedded_options(const struct csn_embed_options *given, struct request *out,
                                        struct csn_error *err) {
    csn_embed_options_init(&out->options);
    if (given) CSNI_TRY(csni_options_copy(&out->options, sizeof out->options, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_embed_options.reserved", out->options.reserved, err));
    out->alloc = csni_allocator_or_default(out->options.allocator);
    uint32_t unknown = out->options.flags & ~(uint32_t)(CSN_EMBED_LOADED | CSN_EMBED_DROP_SIGNATURE | CSN_EMBED_FORCE);
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown embedding flags 0x%x", unknown);
    return CSN_OK;
}

/* ---- images ---- */

struct images {
    struct csni_slice *items;
    uint32_t count, chosen;
    bool is_universal;
};

static csn_status choose_image(const struct images *images, const char *arch, uint32_t *out, struct csn_error *err) {
    char names[128] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < images->count; i++) {
        if (arch ? csni_str_is(csni_str(images->items[i].arch), arch) : images->count == 1) {
            *out = i;
            return CSN_OK;
        }
        int added = snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", images->items[i].arch);
        if (added > 0 && (size_t)added < sizeof names - len) len += (size_t)added;
    }
    if (arch) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'; the file has %s", arch, names);
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%u images: %s; choose one (--arch)", images->count, names);
}

static csn_status open_images(struct csni_span file, const struct request *r, struct images *out, struct csn_error *err) {
    *out = (struct images){ .items = NULL };
    CSNI_TRY(csni_object_slices(file, r->alloc, &out->items, &out->count, err));
    out->is_universal = out->count != 1 || out->items[0].file.ptr != file.ptr;
    if (!out->is_universal) return CSN_OK;
    csn_status status = choose_image(out, r->options.arch, &out->chosen, err);
    if (status < 0) csni_free(r->alloc, out->items, out->count * sizeof *out->items);
    return status;
}

static void close_images(struct images *images, const struct request *r) {
    csni_free(r->alloc, images->items, images->count * sizeof *images->items);
}

/* ---- embedding ---- */

static void put_id(struct csni_span id, char *out, size_t size) {
    size_t len = 0;
    for (size_t i = 0; i < id.size && len + 3 <= size; i++) len += (size_t)snprintf(out + len, size - len, "%02x", id.ptr[i]);
    if (!id.size) out[0] = 0;
}

/* Formats differ in how much of a build id they hold. */
static csn_status check_build(const struct csni_payload *payload, const struct csni_object *object, const struct request *r,
                              struct csn_error *err) {
    struct csni_span id = payload->uuid, other = object->build_id;
    if (!id.size && r->options.index_uuid) id = (struct csni_span){ r->options.index_uuid, r->options.index_uuid_size };
    size_t size = id.size < other.size ? id.size : other.size;
    if (!size || r->options.flags & CSN_EMBED_FORCE || memcmp(id.ptr, other.ptr, size) == 0) return CSN_OK;
    char texts[2][65];
    put_id(id, texts[0], sizeof texts[0]);
    put_id(other, texts[1], sizeof texts[1]);
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the index is of build id %s, the object of %s (--force embeds it all the same)",
                     texts[0], texts[1]);
}

csn_status csni_check_appended(uint32_t flags, struct csni_span file, uint64_t end, uint64_t file_end, struct csn_error *err) {
    if (flags & CSN_EMBED_FORCE) return CSN_OK;
    for (uint64_t i = end; i < file_end; i++)
        if (file.ptr[i])
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, end,
                             "0x%llx bytes are appended to the program, which may not find them behind an index; embed before they are "
                             "appended (--force embeds it all the same)", (unsigned long long)(file_end - end));
    return CSN_OK;
}

/* What is behind all images of a universal file. */
static csn_status check_appended_to_universal(struct csni_span file, const struct images *images, const struct request *r,
                                              struct csn_error *err) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < images->count; i++) {
        struct csni_span image = images->items[i].file;
        uint64_t image_end = (uint64_t)(image.ptr - file.ptr) + image.size;
        if (image_end > end) end = image_end;
    }
    return csni_check_appended(r->options.flags, file, end, file.size, err);
}

/* *out_object holds bytes of `out`, too: close it once that is written, also after a failure. */
static csn_status embed_in_image(struct csni_span image, struct csni_payload *payload, const struct request *r,
                                 struct csni_object **out_object, struct csni_assembly *out, struct csn_error *err) {
    struct csni_object_options options = { .allocator = r->alloc, .max_decompressed_bytes = CSNI_EMBED_INFLATE_MAX };
    struct csni_embed e = { .payload = payload, .flags = r->options.flags };
    CSNI_TRY(csni_object_open(image, &options, out_object, err));
    e.object = *out_object;
    if (r->options.arch && e.object->arch[0] && !csni_str_is(csni_str(r->options.arch), e.object->arch))
        return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'; the file has %s", r->options.arch, e.object->arch);
    CSNI_TRY(check_build(payload, e.object, r, err));
    CSNI_TRY(csni_payload_fit(payload, e.object, err));
    CSNI_TRY(csni_payload_place(payload, e.object, (r->options.flags & CSN_EMBED_FORCE) != 0, err));
    switch (e.object->container) {
    case CSNI_CONTAINER_ELF: return csni_embed_elf(&e, out, err);
    case CSNI_CONTAINER_MACHO: return csni_embed_macho(&e, out, err);
    case CSNI_CONTAINER_PE: return csni_embed_pe(&e, out, err);
    default: return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "an index stands in ELF, Mach-O, PE or COFF files, not in this");
    }
}

static csn_status embed(struct csni_span index, struct csni_span object, const struct request *r, const struct csni_sink *sink,
                        struct csn_error *err) {
    struct csni_payload payload;
    struct images images;
    struct csni_assembly image, whole;
    struct csni_object *opened = NULL;
    CSNI_TRY(csni_payload_open(&payload, index, r->alloc, err));
    csn_status status = open_images(object, r, &images, err);
    if (status >= 0) {
        csni_assembly_init(&image, r->alloc);
        csni_assembly_init(&whole, r->alloc);
        status = embed_in_image(images.items[images.chosen].file, &payload, r, &opened, &image, err);
        if (status >= 0 && images.is_universal) status = check_appended_to_universal(object, &images, r, err);
        if (status >= 0 && images.is_universal)
            status = csni_assemble_universal(object, images.chosen, &image, &whole, err);
        if (status >= 0) status = csni_assembly_write(images.is_universal ? &whole : &image, sink, err);
        csni_assembly_deinit(&whole);
        csni_assembly_deinit(&image);
        csni_object_close(opened);
        close_images(&images, r);
    }
    csni_payload_release(&payload);
    return status;
}

csn_status csn_embed_memory(const void *index, size_t index_size, const void *object, size_t object_size,
                            const struct csn_embed_options *options, struct csn_bytes *out, struct csn_error *err) {
    struct request r;
    CSNI_TRY(read_embedded_options(options, &r, err));
    struct csn_bytes result = { NULL, 0, r.alloc };
    struct csni_sink sink = csni_memory_sink(&result);
    csn_status status = embed((struct csni_span){ index, index_size }, (struct csni_span){ object, object_size }, &r, &sink, err);
    if (status >= 0) *out = result;
    else csn_bytes_free(&result);
    return status;
}

static csn_status embed_in_file(struct csni_span index, const char *object_path, const char *out_path, const struct request *r,
                                struct csn_error *err) {
    struct csni_file_map object;
    struct csni_file_output out;
    CSNI_TRY(csni_file_map_open(&object, object_path, err));
    csn_status status = csni_file_output_open(&out, out_path, r->alloc, err);
    if (status >= 0) {
        struct csni_sink sink = csni_file_sink(&out);
        status = csni_file_output_take_mode(&out, object_path, err);
        if (status >= 0) status = embed(index, object.bytes, r, &sink, err);
        if (status >= 0) status = csni_file_output_commit(&out, err);
        csni_file_output_abort(&out);
    }
    csni_file_map_close(&object);
    return status;
}

csn_status csn_embed_memory_in_file(const void *index, size_t index_size, const char *object_path, const char *out_path,
                                    const struct csn_embed_options *options, struct csn_error *err) {
    struct request r;
    CSNI_TRY(read_embedded_options(options, &r, err));
    return embed_in_file((struct csni_span){ index, index_size }, object_path, out_path, &r, err);
}

csn_status csn_embed_file(const char *index_path, const char *object_path, const char *out_path,
                          const struct csn_embed_options *options, struct csn_error *err) {
    struct request r;
    struct csni_file_map index;
    CSNI_TRY(read_embedded_options(options, &r, err));
    CSNI_TRY(csni_file_map_open(&index, index_path, err));
    csn_status status = embed_in_file(index.bytes, object_path, out_path, &r, err);
    csni_file_map_close(&index);
    return status;
}

/* ---- extracting ---- */

static csn_status write_payload(const struct csni_payload *p, const struct request *r, const struct csni_sink *sink,
                                struct csn_error *err) {
    struct csni_new_object made = { .like = p->from };
    if (!p->strings_name.len) {
        struct csni_assembly out;
        csni_assembly_init(&out, r->alloc);
        csni_payload_add(p, &out);
        csn_status status = csni_assembly_write(&out, sink, err);
        csni_assembly_deinit(&out);
        return status;
    }
    made.sections[0] = (struct csni_new_section){ .name = csni_str(csni_index_section_name(p->from)), .head = p->index.pieces[0] };
    made.sections[1] = (struct csni_new_section){ .name = p->strings_name, .head = p->strings, .is_strings = true };
    made.section_count = 2;
    CSNI_TRY(csni_new_object_lay_out(&made, err));
    return csni_new_object_write(&made, r->alloc, sink, err);
}

static csn_status extract(struct csni_span object, const struct request *r, const struct csni_sink *sink, struct csn_error *err) {
    struct images images;
    struct csni_payload payload;
    CSNI_TRY(open_images(object, r, &images, err));
    csn_status status = csni_payload_open(&payload, images.items[images.chosen].file, r->alloc, err);
    if (status >= 0) {
        status = payload.from ? write_payload(&payload, r, sink, err)
                              : csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "is no object file but a GSYM file");
        csni_payload_release(&payload);
    }
    close_images(&images, r);
    return status;
}

csn_status csn_extract_memory(const void *object, size_t object_size, const struct csn_embed_options *options,
                              struct csn_bytes *out, struct csn_error *err) {
    struct request r;
    CSNI_TRY(read_embedded_options(options, &r, err));
    struct csn_bytes result = { NULL, 0, r.alloc };
    struct csni_sink sink = csni_memory_sink(&result);
    csn_status status = extract((struct csni_span){ object, object_size }, &r, &sink, err);
    if (status >= 0) *out = result;
    else csn_bytes_free(&result);
    return status;
}

csn_status csn_extract_file(const char *object_path, const char *out_path, const struct csn_embed_options *options,
                            struct csn_error *err) {
    struct request r;
    struct csni_file_map object;
    struct csni_file_output out;
    CSNI_TRY(read_embedded_options(options, &r, err));
    CSNI_TRY(csni_file_map_open(&object, object_path, err));
    csn_status status = csni_file_output_open(&out, out_path, r.alloc, err);
    if (status >= 0) {
        struct csni_sink sink = csni_file_sink(&out);
        status = extract(object.bytes, &r, &sink, err);
        if (status >= 0) status = csni_file_output_commit(&out, err);
        csni_file_output_abort(&out);
    }
    csni_file_map_close(&object);
    return status;
}

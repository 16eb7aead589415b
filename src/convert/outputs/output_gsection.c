/* The section-embedded GSYM of 2017 as an output: an object file of the input's kind with the index in a section, and its strings
 * in another. */
#include "convert/outputs/output_gsection.h"

#include <callsign/convert.h>

#include "base/core/fail.h"
#include "base/sink.h"
#include "embed/new_object.h"
#include "formats/gsection/write/gsection_strings.h"
#include "formats/gsection/write/gsection_write.h"
#include "formats/gsym/write/gsym_write.h"

struct output {
    const struct csni_model *model;
    struct csni_object *object; /* of the input; NULL where it was none */
    struct csni_gsection_options options;
    struct csni_gsection_image image;
    struct csni_new_object made;
};

static csn_status read_output_options(struct output *o, const struct csn_gsection_options *given,
                                      struct csn_error *err) {
    uint32_t revision = given->revision ? given->revision : CSN_REVISION_B;
    o->options.script = revision == CSN_REVISION_B_SCRIPT;
    o->options.revision = o->options.script ? 'B' : (char)revision;
    if (!o->options.script && (revision < CSN_REVISION_A || revision > CSN_REVISION_G))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "section revision %u is not known", revision);
    if (given->strings_in && o->options.revision > 'B')
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "revision %c finds its strings by offset; only A and B share those of a section, by its name",
                         o->options.revision);
    return CSN_OK;
}

/* The strings to be shared. */
static csn_status find_shared(struct output *o, const char *name, struct csn_error *err) {
    if (!o->object) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the input is no object file, it has no section %s", name);
    uint32_t section = csni_object_find_section(o->object, name);
    if (section == CSNI_NO_SECTION) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "there is no section %s", name);
    uint32_t flags = o->object->sections[section].flags;
    if (flags & (CSNI_SECTION_COMPRESSED | CSNI_SECTION_NOBITS))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "section %s %s, its strings cannot be shared", name,
                         flags & CSNI_SECTION_NOBITS ? "has no bytes in this file" : "is compressed");
    if (o->object->kind == CSNI_OBJECT_RELOCATABLE && csni_str_equal(o->object->sections[section].name, csni_str(".debug_str")))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "the linker will merge section %s with others, its strings cannot be shared", name);
    struct csni_span *shared = &o->options.shared;
    CSNI_TRY(csni_object_read_section(o->object, section, shared, err));
    if (!shared->size || shared->ptr[shared->size - 1])
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "section %s does not end in NUL, it holds no strings", name);
    o->options.strings_name = o->object->sections[section].name;
    return CSN_OK;
}

static void add_output_section(struct output *o, struct csn_str name, struct csni_span head, struct csni_span tail,
                               bool is_strings) {
    o->made.sections[o->made.section_count++] =
        (struct csni_new_section){ .name = name, .head = head, .tail = tail, .is_strings = is_strings };
}

static csn_status write_object(struct output *o, struct csni_span index, struct csni_span strings,
                               const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    const struct csni_span nothing = { NULL, 0 };
    struct csni_new_object *made = &o->made;
    made->like = o->object;
    made->big_endian = o->model->image.big_endian;
    add_output_section(o, csni_str(csni_index_section_name(o->object)), index, nothing, false);
    if (o->options.shared.size) add_output_section(o, o->options.strings_name, o->options.shared, strings, true);
    else if (strings.size) add_output_section(o, o->options.strings_name, strings, nothing, true);
    CSNI_TRY(csni_new_object_lay_out(made, err));
    const struct csni_new_section *last = &made->sections[made->section_count - 1];
    if (o->options.revision == 'C' || o->options.revision == 'D') {
        if (last->off > UINT32_MAX) return csni_fail(err, CSN_E_LIMIT, NULL, last->off, "the strings begin beyond 4 GiB");
        csni_gsection_set_strings_offset(o->image.section.items, (uint32_t)last->off, o->model->image.big_endian);
    }
    report->output_bytes = last->off + csni_new_section_size(last);
    return csni_new_object_write(made, o->model->alloc, sink, err);
}

/* Revisions F and G: GSYM version 1, whole, with its strings inside. */
static csn_status write_whole(struct output *o, struct csni_pool *pool, const struct csni_sink *sink,
                              struct csn_convert_report *report, struct csn_error *err) {
    struct csn_bytes bytes = { NULL, 0, o->model->alloc };
    struct csni_sink memory = csni_memory_sink(&bytes);
    csn_status status = csni_gsym_write(o->model, (enum csni_gsym_target)(CSNI_GSYM_WRITE_V1 | CSNI_GSYM_WRITE_PLAIN),
                                        pool, &memory, report, err);
    if (status >= 0)
        status = write_object(o, (struct csni_span){ bytes.ptr, bytes.size }, (struct csni_span){ NULL, 0 }, sink, report, err);
    csn_bytes_free(&bytes);
    return status;
}

csn_status csni_write_gsection(const struct csni_model *model, const struct csn_convert_options *options,
                               struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                               struct csn_error *err) {
    struct output o = { .model = model, .object = model->object };
    CSNI_TRY(read_output_options(&o, options->gsection, err));
    o.options.strings_name = csni_str(csni_index_strings_name(o.object, o.options.revision > 'B'));
    if (options->gsection->strings_in) CSNI_TRY(find_shared(&o, options->gsection->strings_in, err));
    if (o.options.revision >= 'F') return write_whole(&o, pool, sink, report, err);
    CSNI_TRY(csni_gsection_build(model, &o.options, &o.image, report, err));
    csn_status status = write_object(&o, (struct csni_span){ o.image.section.items, o.image.section.count },
                                     (struct csni_span){ o.image.strings.items, o.image.strings.count }, sink, report, err);
    csni_gsection_image_free(&o.image);
    return status;
}

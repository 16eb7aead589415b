/* What a Breakpad symbol file has besides the model. */
#include "convert/outputs/output_breakpad.h"

#include <stdio.h>

#include <callsign/names.h>

#include "convert/outputs/stack_records.h"
#include "formats/breakpad/breakpad.h"
#include "object/pe/pe_code_id.h"

/* By the name that compilers give it; in PE images of others, the first with code. */
static uint32_t find_code_section(const struct csni_object *object) {
    const bool is_macho = object->container == CSNI_CONTAINER_MACHO, is_pe = object->container == CSNI_CONTAINER_PE;
    if (!is_macho && !is_pe && object->container != CSNI_CONTAINER_ELF) return CSNI_NO_SECTION;
    const uint32_t named = csni_object_find_section(object, is_macho ? "__text" : ".text");
    for (uint32_t i = 1; is_pe && named == CSNI_NO_SECTION && i < object->section_count; i++)
        if (object->sections[i].flags & CSNI_SECTION_EXEC) return i;
    return named;
}

/* Of an image without a build id. A debug file has no code. */
static struct csni_span make_up_id(const struct csni_model *model, uint8_t id[CSNI_BREAKPAD_FOLD_SIZE]) {
    const struct csni_span none = { NULL, 0 };
    struct csni_object *object = model->object;
    struct csni_span code;
    if (!object || model->image.uuid.size) return none;
    const uint32_t section = find_code_section(object);
    if (section == CSNI_NO_SECTION || csni_object_read_section(object, section, &code, NULL) < 0 || !code.size) return none;
    csni_breakpad_fold_code(code, id);
    return (struct csni_span){ id, CSNI_BREAKPAD_FOLD_SIZE };
}

enum { CODE_ID_SIZE = 300 };

/* Of a PE image, with its name, as readers look for the image by them. Empty for others. */
static struct csn_str make_code_id(const struct csni_model *model, char text[CODE_ID_SIZE]) {
    struct csni_pe_code_id id;
    struct csn_str name = model->image.identity.name;
    if (!model->object || !csni_pe_code_id_read(model->object, &id)) return (struct csn_str){ "", 0 };
    int len = snprintf(text, CODE_ID_SIZE, "%08X%X%s%.*s", id.time_stamp, id.image_size, name.len ? " " : "",
                       (int)(name.len < 255 ? name.len : 255), name.len ? name.ptr : "");
    for (int i = 0; i < len; i++)
        if (text[i] == '\n' || text[i] == '\r') text[i] = '_';
    return (struct csn_str){ text, len > 0 ? (size_t)len : 0 };
}

/* The PDB, by which readers look for symbols of a PE image. */
static struct csn_str debug_name_of(const struct csni_model *model) {
    struct csn_str path = model->object ? model->object->pdb_path : (struct csn_str){ "", 0 };
    size_t start = path.len;
    while (start && path.ptr[start - 1] != '\\' && path.ptr[start - 1] != '/') start--;
    return (struct csn_str){ path.ptr + start, path.len - start };
}

csn_status csni_begin_breakpad(struct csni_conversion *c, struct csn_error *err) {
    if (c->options.format != CSN_FORMAT_BREAKPAD || c->options.breakpad->no_unwind || !c->batch_count) return CSN_OK;
    const struct csni_stack_image image = { c->object, c->debug ? c->debug : c->stripped,
                                            csni_image_first_byte(&c->image), c->alloc };
    CSNI_TRY(csni_stack_records_create(&image, c->report, &c->stacks, err));
    csni_stack_records_begin(c->stacks, c->pool);
    return CSN_OK;
}

static csn_status write_with_stacks(const struct csni_model *model, const struct csn_convert_options *options,
                                    struct csni_stack_records *stacks, struct csni_pool *pool, const struct csni_sink *sink,
                                    struct csn_convert_report *report, struct csn_error *err) {
    uint8_t id[CSNI_BREAKPAD_FOLD_SIZE];
    char code_id[CODE_ID_SIZE];
    csni_stack_records_join(stacks);
    const struct csni_breakpad_write_options own = {
        .demangle = options->breakpad->keep_mangled ? NULL : csn_demangle, .made_up_id = make_up_id(model, id),
        .code_id = make_code_id(model, code_id), .debug_name = debug_name_of(model),
        .stack_count = csni_stack_records_count(stacks), .make_stack = csni_stack_records_make, .stack_context = stacks
    };
    csn_status status = csni_breakpad_write(model, &own, pool, sink, report, err);
    if (status >= 0 && stacks) csni_stack_records_report(stacks);
    return status;
}

csn_status csni_write_breakpad(const struct csni_model *model, const struct csn_convert_options *options, struct csni_pool *pool,
                               const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csni_stack_records *own = NULL;
    const struct csni_stack_image image = { model->object, model->other_object,
                                            csni_image_first_byte(&model->image), model->alloc };
    if (model->stacks) return write_with_stacks(model, options, model->stacks, pool, sink, report, err);
    if (!options->breakpad->no_unwind) CSNI_TRY(csni_stack_records_create(&image, report, &own, err));
    csn_status status = write_with_stacks(model, options, own, pool, sink, report, err);
    csni_stack_records_destroy(own);
    return status;
}

/* What a Breakpad symbol file has besides the model. */
#include "convert/outputs/output_breakpad.h"

#include <callsign/names.h>

#include "convert/outputs/stack_records.h"
#include "formats/breakpad/breakpad.h"
#include "object/object.h"

/* Of an ELF image without a build id. A debug file has no code. */
static struct csni_span make_up_id(const struct csni_model *model, uint8_t id[CSNI_BREAKPAD_FOLD_SIZE]) {
    const struct csni_span none = { NULL, 0 };
    struct csni_object *object = model->object;
    struct csni_span code;
    if (!object || model->image.uuid.size || object->container != CSNI_CONTAINER_ELF) return none;
    uint32_t section = csni_object_find_section(object, ".text");
    if (section == CSNI_NO_SECTION || csni_object_read_section(object, section, &code, NULL) < 0 || !code.size) return none;
    csni_breakpad_fold_code(code, id);
    return (struct csni_span){ id, CSNI_BREAKPAD_FOLD_SIZE };
}

csn_status csni_write_breakpad(const struct csni_model *model, const struct csn_convert_options *options, struct csni_pool *pool,
                               const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    uint8_t id[CSNI_BREAKPAD_FOLD_SIZE];
    struct csni_stack_records *stacks = NULL;
    if (!options->breakpad->no_unwind) CSNI_TRY(csni_stack_records_create(model, report, &stacks, err));
    const struct csni_breakpad_write_options own = {
        .demangle = options->breakpad->keep_mangled ? NULL : csn_demangle, .made_up_id = make_up_id(model, id),
        .stack_count = csni_stack_records_count(stacks), .make_stack = csni_stack_records_make, .stack_context = stacks
    };
    csn_status status = csni_breakpad_write(model, &own, pool, sink, report, err);
    if (status >= 0 && stacks) csni_stack_records_report(stacks);
    csni_stack_records_destroy(stacks);
    return status;
}

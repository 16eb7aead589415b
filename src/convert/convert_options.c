/* Options of a conversion and of each output format: defaults, and copies of the caller's. */
#include "convert/convert_options.h"

#include "base/core/fail.h"
#include "base/core/sized.h"

void csn_convert_options_init(struct csn_convert_options *options) {
    *options = (struct csn_convert_options)CSN_CONVERT_OPTIONS_INIT;
}

void csn_gsym_options_init(struct csn_gsym_options *options) { *options = (struct csn_gsym_options)CSN_GSYM_OPTIONS_INIT; }

void csn_gsection_options_init(struct csn_gsection_options *options) {
    *options = (struct csn_gsection_options)CSN_GSECTION_OPTIONS_INIT;
}

void csn_bsym_options_init(struct csn_bsym_options *options) { *options = (struct csn_bsym_options)CSN_BSYM_OPTIONS_INIT; }

void csn_breakpad_options_init(struct csn_breakpad_options *options) {
    *options = (struct csn_breakpad_options)CSN_BREAKPAD_OPTIONS_INIT;
}

csn_status csni_convert_options_copy(const struct csn_convert_options *given, struct csni_convert_options *out,
                                     struct csn_error *err) {
    csn_convert_options_init(&out->common);
    csn_gsym_options_init(&out->gsym);
    csn_gsection_options_init(&out->gsection);
    csn_bsym_options_init(&out->bsym);
    csn_breakpad_options_init(&out->breakpad);
    struct csn_convert_options *common = &out->common;
    if (given) CSNI_TRY(csni_options_copy(common, sizeof *common, given, given->struct_size, err));
    if (common->gsym)
        CSNI_TRY(csni_options_copy(&out->gsym, sizeof out->gsym, common->gsym, common->gsym->struct_size, err));
    if (common->gsection)
        CSNI_TRY(csni_options_copy(&out->gsection, sizeof out->gsection, common->gsection, common->gsection->struct_size, err));
    if (common->bsym)
        CSNI_TRY(csni_options_copy(&out->bsym, sizeof out->bsym, common->bsym, common->bsym->struct_size, err));
    if (common->breakpad)
        CSNI_TRY(csni_options_copy(&out->breakpad, sizeof out->breakpad, common->breakpad, common->breakpad->struct_size, err));
    common->gsym = &out->gsym;
    common->gsection = &out->gsection;
    common->bsym = &out->bsym;
    common->breakpad = &out->breakpad;
    CSNI_TRY(csni_check_reserved("csn_convert_options.reserved", common->reserved, err));
    CSNI_TRY(csni_check_reserved("csn_gsection_options.reserved", out->gsection.reserved, err));
    return CSN_OK;
}

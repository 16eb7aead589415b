/* The options of a conversion, as this version of the library knows them. */
#ifndef CSNI_CONVERT_OPTIONS_H
#define CSNI_CONVERT_OPTIONS_H

#include <callsign/convert.h>

/* Points into itself: not to be copied as a whole. */
struct csni_convert_options {
    struct csn_convert_options common; /* its pointers to options of formats are never NULL */
    struct csn_gsym_options gsym;
    struct csn_gsection_options gsection;
    struct csn_bsym_options bsym;
    struct csn_breakpad_options breakpad;
};

/* `given` may be NULL and from a program built against another version of the header. CSN_E_UNSUPPORTED: it sets something that
 * this version does not know. */
csn_status csni_convert_options_copy(const struct csn_convert_options *given, struct csni_convert_options *out,
                                     struct csn_error *err);

#endif

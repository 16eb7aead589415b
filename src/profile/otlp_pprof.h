/* What pprof's profiles say in fields that OTLP does not have: attributes of OpenTelemetry's semantic conventions
 * (registry, "pprof"), of mappings, locations, profiles and scopes. */
#ifndef CSNI_OTLP_PPROF_H
#define CSNI_OTLP_PPROF_H

#include <stddef.h>

enum otlp_pprof_key {
    OTLP_HAS_FUNCTIONS, OTLP_HAS_FILES, OTLP_HAS_LINES, OTLP_HAS_INLINES, /* bits of MODULE_, in their order */
    OTLP_KNOWN_KEYS,
    OTLP_IS_FOLDED = OTLP_KNOWN_KEYS,
    OTLP_COMMENT,                /* a list of texts */
    OTLP_DROP_FRAMES, OTLP_KEEP_FRAMES, OTLP_DOC_URL,
    OTLP_DEFAULT_TYPE,           /* of the scope */
    OTLP_PPROF_KEYS
};

extern const char *const csni_otlp_pprof_keys[OTLP_PPROF_KEYS];

#endif

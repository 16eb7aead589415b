#include "profile/otlp_pprof.h"

const char *const csni_otlp_pprof_keys[OTLP_PPROF_KEYS] = {
    [OTLP_HAS_FUNCTIONS] = "pprof.mapping.has_functions",
    [OTLP_HAS_FILES] = "pprof.mapping.has_filenames",
    [OTLP_HAS_LINES] = "pprof.mapping.has_line_numbers",
    [OTLP_HAS_INLINES] = "pprof.mapping.has_inline_frames",
    [OTLP_IS_FOLDED] = "pprof.location.is_folded",
    [OTLP_COMMENT] = "pprof.profile.comment",
    [OTLP_DROP_FRAMES] = "pprof.profile.drop_frames",
    [OTLP_KEEP_FRAMES] = "pprof.profile.keep_frames",
    [OTLP_DOC_URL] = "pprof.profile.doc_url",
    [OTLP_DEFAULT_TYPE] = "pprof.scope.default_sample_type",
};

/* The kinds of files that convert reads. */
#include "convert/source.h"
#include "gsection/gsection.h"
#include "symbols/symbols_text.h"

static const struct csni_input_kind kinds[] = {
    { "GSYM file of 2017", csni_gsection_recognize_head, csni_source_gsection_file },
    { "object file", csni_object_recognize, csni_source_object },
    { "kernel symbol list", csni_kallsyms_recognize, csni_source_kallsyms },
    { "perf map", csni_perf_map_recognize, csni_source_perf_map },
};

const struct csni_input_kind *csni_input_kind_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognize(file)) return &kinds[i];
    return NULL;
}

/* The kinds of files that convert reads. */
#include "breakpad/breakpad.h"
#include "convert/source.h"
#include "gsym/gsym.h"
#include "symbols/symbols_text.h"

static const struct csni_input_kind kinds[] = {
    { "object file", csni_object_recognize, csni_source_object },
    { "Breakpad symbol file", csni_breakpad_recognize, csni_source_breakpad },
    { "GSYM index", csni_gsym_recognize, csni_source_gsym },
    { "kernel symbol list", csni_kallsyms_recognize, csni_source_kallsyms },
    { "perf map", csni_perf_map_recognize, csni_source_perf_map },
};

const struct csni_input_kind *csni_input_kind_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognize(file)) return &kinds[i];
    return NULL;
}

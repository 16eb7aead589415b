/* The kinds of files that convert reads. */
#include "formats/breakpad/breakpad.h"
#include "formats/bsym/read/bsym.h"
#include "convert/sources/source.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/read/gsym.h"
#include "formats/symbian/symbian.h"
#include "formats/symbols/symbols_text.h"

static const struct csni_input_kind kinds[] = {
    { "GSYM file of 2017", csni_gsection_recognize_head, csni_source_gsection_file },
    { "object file", csni_object_recognize, csni_source_object },
    { "Breakpad symbol file", csni_breakpad_recognize, csni_source_breakpad },
    { "GSYM index", csni_gsym_recognize, csni_source_gsym },
    { "BSYM", csni_bsym_recognize, csni_source_bsym },
    { "Symbian symbol file", csni_symbol_file_recognize, csni_source_symbol_file },
    { "ROM build log", csni_rom_log_recognize, csni_source_rom_log },
    { "linker map", csni_linker_map_recognize, csni_source_linker_map },
    { "kernel symbol list", csni_kallsyms_recognize, csni_source_kallsyms },
    { "perf map", csni_perf_map_recognize, csni_source_perf_map },
};

const struct csni_input_kind *csni_input_kind_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognize(file)) return &kinds[i];
    return NULL;
}

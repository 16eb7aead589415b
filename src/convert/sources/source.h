/* Sources: each fills batches of the model. */
#ifndef CSNI_SOURCE_H
#define CSNI_SOURCE_H

#include "convert/conversion.h"
#include "convert/sources/code_labels.h"
#include "convert/sources/symbol_names.h"

/* ---- object files (source_object.c) ---- */

csn_status csni_source_object(struct csni_conversion *c, struct csn_error *err);

/* All object files of an archive, each at addresses of its own. */
csn_status csni_source_archive(struct csni_conversion *c, struct csn_error *err);

/* ---- indexes (source_gsym.c, source_gsection.c) ---- */

csn_status csni_source_gsym(struct csni_conversion *c, struct csn_error *err); /* versions 1 and 2 */
/* The same of a file within the input. */
csn_status csni_source_gsym_in(struct csni_conversion *c, struct csni_span file, struct csn_error *err);
/* Functions from an index in a section of the object. CSN_NONE: it has none. */
csn_status csni_source_gsection(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_gsection_file(struct csni_conversion *c, struct csn_error *err);

/* ---- text files of symbols (source_text.c) ---- */

csn_status csni_source_kallsyms(struct csni_conversion *c, struct csn_error *err); /* System.map too */
csn_status csni_source_perf_map(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_jitdump(struct csni_conversion *c, struct csn_error *err);

/* ---- Breakpad symbol files (source_breakpad.c) ---- */

csn_status csni_source_breakpad(struct csni_conversion *c, struct csn_error *err);

/* ---- images of many binaries ---- */

csn_status csni_source_bsym(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_symbol_file(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_rom_log(struct csni_conversion *c, struct csn_error *err);
csn_status csni_source_linker_map(struct csni_conversion *c, struct csn_error *err);

/* ---- sources of functions ---- */

/* Functions from the object files that a Mach-O debug map names. Nothing where there is none. */
csn_status csni_source_debug_map(struct csni_conversion *c, struct csn_error *err);
/* Functions from the table that every Go program carries, those that no batch has yet: one batch, none where there is no
 * table. */
csn_status csni_source_go(struct csni_conversion *c, struct csn_error *err);
/* Functions from the BTF of an eBPF object (source_btf.c): one batch, none where it has no line information. */
csn_status csni_source_btf(struct csni_conversion *c, struct csn_error *err);
/* Functions from symbol tables: two batches, of functions and of labels. An ELF image's own table is read by a
 * background task, while other sources are read; csni_source_symbols() adds its batch after theirs. */
struct csni_symbol_source {
    struct csni_conversion *conversion;
    struct csni_object *debug;        /* the image's debug file; NULL: none */
    bool begun;
    bool is_last;                     /* no source comes after it: set by the caller after csni_source_symbols_begin() */
    struct csni_symbol_iter iter;
    csni_mangled_symbols mangled;
    struct csni_batch batch;
    csni_code_labels labels;
    csni_function_bounds contributions; /* starts of the parts of sections that object files gave a PE image */
};
void csni_source_symbols_begin(struct csni_symbol_source *s, struct csni_conversion *c, struct csni_object *debug);
/* Whether csni_source_symbols() has what was read given back, by a background task. */
bool csni_source_symbols_release(const struct csni_symbol_source *s);
csn_status csni_source_symbols(struct csni_symbol_source *s, struct csn_error *err);
void csni_source_symbols_end(struct csni_symbol_source *s); /* in any case */

#endif

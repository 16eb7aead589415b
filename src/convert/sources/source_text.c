/* Text files of symbols as sources: one batch each. They tell nothing of the image but its functions. */
#include "base/core/fail.h"
#include "convert/sources/source.h"
#include "formats/symbols/symbols_text.h"

typedef csn_status text_reader(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                               struct csn_error *err);

static csn_status read_text(struct csni_conversion *c, text_reader *reader, struct csn_error *err) {
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    struct csni_batch_writer *w = &c->writers[0];
    csni_batch_begin(w, &c->arenas[0]);
    CSNI_TRY(reader(c->input.file, c->alloc, w, err));
    c->report->functions_from_symbols += w->functions.count;
    return csni_batch_finish(w, batch, err);
}

csn_status csni_source_kallsyms(struct csni_conversion *c, struct csn_error *err) {
    return read_text(c, csni_kallsyms_read, err);
}

csn_status csni_source_perf_map(struct csni_conversion *c, struct csn_error *err) {
    return read_text(c, csni_perf_map_read, err);
}

/* What is left to do when all sources are read: folded functions get their place, call sites their flags and patterns, and
 * call-site files are added to them. Nothing of it is done for a conversion that asks for neither. */
#include "convert/call_sites/finish_batches.h"

#include "base/core/fail.h"
#include "convert/call_sites/call_site_file.h"
#include "convert/call_sites/call_sites.h"
#include "convert/call_sites/folded.h"

static csn_status remake(struct csni_name_table *table, const struct csni_conversion *c, struct csn_error *err) {
    csni_name_table_deinit(table);
    return csni_name_table_make(table, c, err);
}

static csn_status read_site_files(struct csni_conversion *c, struct csni_given_sites *given, struct csn_error *err) {
    for (uint32_t i = 0; i < c->options.call_site_file_count; i++)
        CSNI_TRY(csni_call_site_file_read(&c->options.call_site_files[i], i, given, err));
    return CSN_OK;
}

static csn_status finish_sites(struct csni_conversion *c, struct csni_name_table *table, struct csni_given_sites *given,
                               struct csn_error *err) {
    CSNI_TRY(read_site_files(c, given, err));
    CSNI_TRY(csni_name_table_make(table, c, err));
    if (c->options.merged_functions != CSN_MERGE_NONE && c->options.merged_functions != CSN_MERGE_LLVM) {
        CSNI_TRY(csni_place_folded(c, table, err));
        CSNI_TRY(remake(table, c, err));
    }
    bool wanted = c->options.flags & CSN_CONVERT_CALL_SITES || given->sites.count;
    return wanted ? csni_finish_call_sites(c, table, given, err) : CSN_OK;
}

csn_status csni_finish_batches(struct csni_conversion *c, struct csn_error *err) {
    bool folded = c->options.merged_functions != CSN_MERGE_NONE && c->options.merged_functions != CSN_MERGE_LLVM;
    if (!folded && !(c->options.flags & CSN_CONVERT_CALL_SITES) && !c->options.call_site_file_count) return CSN_OK;
    struct csni_name_table table = { .conversion = c };
    struct csni_given_sites given = { .arena = &c->arenas[0] };
    given.sites.alloc = given.patterns.alloc = c->alloc;
    csn_status status = finish_sites(c, &table, &given, err);
    csni_name_table_deinit(&table);
    csni_vec_deinit(&given.sites);
    csni_vec_deinit(&given.patterns);
    return status;
}

/* The stock converter: a module's index as a store makes it. */
#include <string.h>

#include <callsign/backtrace.h>
#include <callsign/open.h>

#include "base/core/fail.h"

static csn_status find_index(struct csn_opener *opener, const struct csn_backtrace_module *module, struct csn_index **out,
                             struct csn_error *err) {
    struct csn_store_module wanted = CSN_STORE_MODULE_INIT;
    wanted.name = (struct csn_str){ module->path, strlen(module->path) };
    wanted.build_id = module->build_id;
    wanted.build_id_size = module->build_id_size;
    return csn_opener_find(opener, &wanted, out, NULL, err);
}

csn_status csn_backtrace_convert(void *opener, const struct csn_backtrace_module *module, struct csn_index **out,
                                 struct csn_error *err) {
    struct csn_opener *own;
    if (opener) return find_index(opener, module, out, err);
    CSNI_TRY(csn_opener_create(NULL, &own, err));
    csn_status status = find_index(own, module, out, err);
    csn_opener_destroy(own);
    return status;
}

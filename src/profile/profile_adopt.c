/* The texts of Go's net/http/pprof have no mappings at all, and so it may be with any pprof or OTLP profile. */
#include "profile/profile_adopt.h"

#include <callsign/index.h>
#include <callsign/inspect.h>

static bool is_unplaced(const struct profile_location *location) {
    return location->module == CSN_PROFILE_NO_MODULE && location->kind != CSN_PROFILE_AT_NAME;
}

static bool covers(const struct csn_index *index, const struct profile_location *location) {
    const bool is_offset = location->kind == CSN_PROFILE_AT_OFFSET;
    const uint64_t call = csni_profile_call_address(location), addr = is_offset ? csn_index_offset_address(index, call) : call;
    struct csn_frame frame;
    size_t count;
    return csn_index_lookup(index, addr, &frame, 1, &count, NULL) == CSN_OK;
}

csn_status csni_profile_adopt_locations(struct csn_profile *p, struct csn_store *store, struct csn_error *err) {
    struct csn_store_module wanted = CSN_STORE_MODULE_INIT;
    const struct csn_index *index = NULL;
    size_t first = 0;
    uint32_t module = CSN_PROFILE_NO_MODULE;
    while (first < p->locations.count && !is_unplaced(&p->locations.items[first])) first++;
    if (csn_store_given_count(store) != 1 || first == p->locations.count) return CSN_OK;
    const struct csn_profile_module named = { .path = csn_store_given_name(store, 0) };
    wanted.name = named.path;
    CSNI_TRY(csn_store_find(store, &wanted, &index, NULL, err));
    for (size_t i = first; index && i < p->locations.count; i++) {
        if (!is_unplaced(&p->locations.items[i]) || !covers(index, &p->locations.items[i])) continue;
        if (module == CSN_PROFILE_NO_MODULE) CSNI_TRY(csn_profile_add_module(p, &named, &module, err));
        p->locations.items[i].module = module;
    }
    return CSN_OK;
}

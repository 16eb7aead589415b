/* Which locations a search looked at. */
#include "store/index_store.h"

#include "base/core/fail.h"

csn_status csn_store_explanation_create(const struct csn_allocator *allocator, struct csn_store_explanation **out,
                                        struct csn_error *err) {
    const struct csn_allocator *alloc = csni_allocator_or_default(allocator);
    struct csn_store_explanation *explanation = csni_alloc_zeroed(alloc, 1, sizeof *explanation);
    if (!explanation) return csni_fail_memory(err, sizeof *explanation);
    explanation->alloc = explanation->records.alloc = explanation->bytes.alloc = alloc;
    *out = explanation;
    return CSN_OK;
}

void csn_store_explanation_destroy(struct csn_store_explanation *explanation) {
    if (!explanation) return;
    csni_vec_deinit(&explanation->records);
    csni_vec_deinit(&explanation->bytes);
    csni_free(explanation->alloc, explanation, sizeof *explanation);
}

void csni_explanation_clear(struct csn_store_explanation *explanation) {
    if (explanation) explanation->records.count = explanation->bytes.count = 0;
}

size_t csn_store_explanation_count(const struct csn_store_explanation *explanation) { return explanation->records.count; }

static struct csn_str recorded_text(const struct csn_store_explanation *explanation, size_t at, size_t len) {
    return (struct csn_str){ len ? explanation->bytes.items + at : "", len };
}

void csn_store_explanation_get(const struct csn_store_explanation *explanation, size_t i, struct csn_store_location *out) {
    const struct csni_location_record *record = &explanation->records.items[i];
    *out = (struct csn_store_location){ .place = record->place, .status = record->status,
                                        .path = recorded_text(explanation, record->path_at, record->path_len),
                                        .text = recorded_text(explanation, record->text_at, record->text_len) };
}

static bool append_text(struct csn_store_explanation *explanation, struct csn_str text, size_t *at) {
    if (!csni_vec_reserve(&explanation->bytes, explanation->bytes.count + text.len)) return false;
    *at = explanation->bytes.count;
    if (text.len) memcpy(explanation->bytes.items + *at, text.ptr, text.len);
    explanation->bytes.count += text.len;
    return true;
}

csn_status csn_store_explanation_add(struct csn_store_explanation *explanation, const struct csn_store_location *location,
                                     struct csn_error *err) {
    if (!explanation) return CSN_OK;
    struct csni_location_record record = { .place = location->place, .status = location->status, .path_len = location->path.len,
                                           .text_len = location->text.len };
    if (!append_text(explanation, location->path, &record.path_at) || !append_text(explanation, location->text, &record.text_at)
        || !csni_vec_push(&explanation->records, record))
        return csni_fail_memory(err, sizeof record);
    return CSN_OK;
}

csn_status csni_store_record(struct csni_store_query *query, uint32_t place, csn_status status, struct csn_str path,
                             const char *text) {
    const struct csn_store_location location = {
        .place = place, .status = status, .path = path, .text = csni_str(text ? text : "")
    };
    return csn_store_explanation_add(query->explanation, &location, query->err);
}

const char *csn_store_place_text(uint32_t place) {
    switch (place) {
    case CSN_STORE_PLACE_NAMED: return "the index that the input names";
    case CSN_STORE_PLACE_OPEN_BY_ID: return "open indexes, by build id";
    case CSN_STORE_PLACE_OPEN_BY_NAME: return "given indexes, by name";
    case CSN_STORE_PLACE_FOLDER_BY_ID: return "symbol folder, by build id";
    case CSN_STORE_PLACE_FOLDER_BREAKPAD: return "symbol folder, as a Breakpad store";
    case CSN_STORE_PLACE_FOLDER_BY_NAME: return "symbol folder, by name";
    case CSN_STORE_PLACE_BESIDE: return "beside the image";
    case CSN_STORE_PLACE_CACHE: return "the cache";
    case CSN_STORE_PLACE_IMAGE: return "the image";
    case CSN_STORE_PLACE_DEBUG_FILE: return "debug file";
    default: return "unknown";
    }
}

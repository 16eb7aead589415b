/* What is said of a frame before any lookup. */
#include "arrow/arrow_session.h"

bool csni_arrow_answer_unasked(const struct csni_arrow_session *s, int64_t k, uint64_t *addr, struct csni_arrow_answer *out) {
    *out = (struct csni_arrow_answer){ .reason = CSNI_ARROW_NULL };
    uint32_t module = s->module_of[k];
    bool has_address = csni_arrow_input_address(&s->input, k, addr);
    if (has_address && module && s->modules.list.items[module].index) return false;
    out->is_null = !has_address || !module;
    const uint32_t unread = csni_arrow_input_is_null(&s->input, k) ? s->no_address : s->wide_address;
    out->reason = !has_address ? unread : !module ? s->no_module : s->no_index.items[module];
    return true;
}

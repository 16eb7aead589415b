/* What a conversion met, for people and programs. */
#include "model/model.h"

static const struct {
    const char *name;
    uint8_t class;
    bool is_damage;
} events[CSN_EVENT_COUNT] = {
    [CSN_EVENT_DAMAGED_UNIT] = { "damaged-unit", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_DAMAGED_LINE_TABLE] = { "damaged-line-table", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_DAMAGED_RANGES] = { "damaged-ranges", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_DAMAGED_SYMBOL] = { "damaged-symbol", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_MISSING_SPLIT_UNIT] = { "missing-split-unit", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_MISSING_SUPPLEMENT] = { "missing-supplement", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_FUNCTION_WITHOUT_NAME] = { "function-without-name", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_FUNCTION_OUTSIDE_TEXT] = { "function-outside-text", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_FUNCTION_DISCARDED] = { "function-discarded-by-linker", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_FUNCTION_TOO_LARGE] = { "function-too-large", CSN_CLASS_CLIPPED, false },
    [CSN_EVENT_LINE_BAD_FILE] = { "line-bad-file", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_LINE_START_CLIPPED] = { "line-start-clipped", CSN_CLASS_CLIPPED, false },
    [CSN_EVENT_LINE_NOT_ASCENDING] = { "line-not-ascending", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_LINE_BAD_SEQUENCE] = { "line-bad-sequence", CSN_CLASS_CLIPPED, false },
    [CSN_EVENT_DECL_BAD_FILE] = { "declaration-bad-file", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_INLINE_OUTSIDE_PARENT] = { "inline-outside-parent", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_INLINE_BAD_FILE] = { "inline-bad-file", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_INLINE_WITHOUT_RANGES] = { "inline-without-ranges", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_DUPLICATE_REPLACED] = { "duplicate-replaced", CSN_CLASS_MERGED, false },
    [CSN_EVENT_DUPLICATE_DROPPED] = { "duplicate-dropped", CSN_CLASS_MERGED, false },
    [CSN_EVENT_OVERLAP] = { "functions-overlap", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_CALL_SITE_OUTSIDE] = { "call-site-outside-function", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_RELOCATION] = { "relocation-not-applied", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_INLINE_TOO_DEEP] = { "inline-too-deep", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_MISSING_DEBUG_FILE] = { "missing-debug-file", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_MISSING_OBJECT] = { "missing-object-file", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_DAMAGED_GO_FUNCTION] = { "damaged-go-function", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_DAMAGED_TEXT_LINE] = { "damaged-text-line", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_NOT_REPRESENTABLE] = { "not-representable", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_DAMAGED_RECORD] = { "damaged-record", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_UNKNOWN_PART] = { "unknown-part", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_FUNCTIONS_MERGED] = { "functions-merged", CSN_CLASS_MERGED, false },
    [CSN_EVENT_CALL_SITE_RECOVERED] = { "call-site-recovered", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_CALL_SITE_WITHOUT_PLACE] = { "call-site-without-place", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_CALL_SITE_NO_FUNCTION] = { "call-site-of-unknown-function", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_LINES_LOST] = { "lines-not-kept", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_INLINES_LOST] = { "inlined-calls-not-kept", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_PART_LOST] = { "part-not-kept", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_BINARY_LOST] = { "binary-not-kept", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_FUNCTION_NOT_PLACED] = { "function-of-unplaced-binary", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_NAME_CHANGED] = { "name-changed", CSN_CLASS_CLIPPED, false },
    [CSN_EVENT_ADDRESS_ROUNDED] = { "address-rounded", CSN_CLASS_CLIPPED, false },
    [CSN_EVENT_FUNCTION_WITHOUT_SIZE] = { "function-without-size", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_MISSING_MAP] = { "missing-map-file", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_INLINE_CLIPPED] = { "inline-clipped", CSN_CLASS_CLIPPED, false },
    [CSN_EVENT_LINES_CLAIMED] = { "lines-of-symbol", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_LINES_WITHOUT_FUNCTION] = { "lines-without-function", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_NAME_FROM_SYMBOL] = { "name-from-symbol", CSN_CLASS_NORMAL, false },
    [CSN_EVENT_OVERLAP_DROPPED] = { "overlapping-function", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_DAMAGED_UNWIND] = { "damaged-unwind-record", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_UNREAD_DEBUG_INFO] = { "unread-debug-information", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_DAMAGED_MEMBER] = { "damaged-member", CSN_CLASS_DROPPED, true },
    [CSN_EVENT_UNREAD_MEMBER] = { "unread-member", CSN_CLASS_DROPPED, false },
    [CSN_EVENT_FUNCTION_PAST_END] = { "function-past-last-address", CSN_CLASS_CLIPPED, false },
};

const char *csn_event_name(uint32_t event) { return event < CSN_EVENT_COUNT ? events[event].name : "unknown"; }

uint32_t csn_event_get_class(uint32_t event) {
    return event < CSN_EVENT_COUNT ? events[event].class : CSN_CLASS_NORMAL;
}

bool csn_event_is_damage(uint32_t event) { return event < CSN_EVENT_COUNT && events[event].is_damage; }

void csni_report_add(struct csn_convert_report *report, enum csn_event event, uint64_t count, struct csn_str example) {
    struct csn_event_count *e = &report->events[event];
    if (!e->count && example.len) {
        size_t len = example.len < CSN_EXAMPLE_SIZE ? example.len : CSN_EXAMPLE_SIZE - 1;
        memcpy(e->example, example.ptr, len);
        e->example[len] = 0;
    }
    e->count += count;
}

void csni_model_add_notes(const struct csni_model *model, struct csn_convert_report *report) {
    for (uint32_t b = 0; b < model->batch_count; b++)
        for (uint32_t i = 0; i < model->batches[b].note_count; i++) {
            const struct csni_note *note = &model->batches[b].notes[i];
            csni_report_add(report, (enum csn_event)note->event, note->count, note->example);
        }
}

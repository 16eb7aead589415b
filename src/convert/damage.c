/* What a conversion lost. */
#include "convert/damage.h"

bool csni_report_may_grow(const struct csn_convert_report *report) {
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++)
        if (csn_event_is_damage(event) && report->events[event].count) return true;
    return report->events[CSN_EVENT_MISSING_MAP].count > 0;
}

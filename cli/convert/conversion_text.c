/* Showing a conversion's report. */
#include "convert/conversion_text.h"

#include "ui/cli_message.h"

bool conversion_is_partial(const struct csn_convert_report *report) {
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++)
        if (csn_event_is_damage(event) && report->events[event].count) return true;
    return false;
}

bool conversion_has_symbols_only(const struct csn_convert_report *report) {
    return !report->functions_from_dwarf && !report->functions_from_go && !report->functions_from_pdb &&
           !report->functions_from_btf && !report->functions_from_index;
}

static const char *class_name(uint32_t event) {
    switch (csn_event_get_class(event)) {
    case CSN_CLASS_MERGED: return "merged";
    case CSN_CLASS_CLIPPED: return "clipped";
    case CSN_CLASS_DROPPED: return "dropped";
    default: return "normal";
    }
}

static void report_event(const struct csn_convert_report *report, uint32_t event) {
    const struct csn_event_count *met = &report->events[event];
    unsigned long long count = met->count;
    if (met->example[0])
        cli_report("%llu %s: %s (first: %.*s)", count, class_name(event), csn_event_name(event), CSN_EXAMPLE_SIZE - 1,
            met->example);
    else
        cli_report("%llu %s: %s", count, class_name(event), csn_event_name(event));
}

void conversion_report_summary(const char *out_path, const struct csn_convert_report *report) {
    cli_report("%s: %llu functions, %llu line rows, %llu inlined calls, %llu call sites, %llu files; %llu bytes from %llu",
        out_path, (unsigned long long)report->functions_written, (unsigned long long)report->rows_written,
        (unsigned long long)report->inline_nodes_written, (unsigned long long)report->call_sites_written,
        (unsigned long long)report->files_written, (unsigned long long)report->output_bytes,
        (unsigned long long)report->input_bytes);
    if (report->segments_written) cli_report("%s: %llu segments", out_path, (unsigned long long)report->segments_written);
}

/* What every program has: names that share their code, and what was recovered. */
static bool is_usual(uint32_t event) {
    return event == CSN_EVENT_DUPLICATE_DROPPED || event == CSN_EVENT_DUPLICATE_REPLACED || event == CSN_EVENT_OVERLAP ||
           event == CSN_EVENT_CALL_SITE_RECOVERED || event == CSN_EVENT_LINES_CLAIMED ||
           event == CSN_EVENT_LINES_WITHOUT_FUNCTION || event == CSN_EVENT_NAME_FROM_SYMBOL;
}

void conversion_report_events(const struct csn_convert_report *report, bool verbose) {
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++)
        if (report->events[event].count && (verbose || !is_usual(event))) report_event(report, event);
}

void conversion_report_damage(const char *path, const struct csn_convert_report *report) {
    if (!conversion_is_partial(report)) return;
    cli_error(path, "parts of the debug information are damaged or missing; answers are incomplete");
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++)
        if (csn_event_is_damage(event) && report->events[event].count) report_event(report, event);
}

static void put_counts(const struct csn_convert_report *report, struct json_out *json) {
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        { "units", report->units },
        { "units_failed", report->units_failed },
        { "functions_from_dwarf", report->functions_from_dwarf },
        { "functions_from_symbols", report->functions_from_symbols },
        { "functions_from_go", report->functions_from_go },
        { "functions_from_pdb", report->functions_from_pdb },
        { "functions_from_btf", report->functions_from_btf },
        { "segments_written", report->segments_written },
        { "functions_written", report->functions_written },
        { "functions_pruned", report->functions_pruned },
        { "rows_written", report->rows_written },
        { "inline_nodes_written", report->inline_nodes_written },
        { "call_sites_written", report->call_sites_written },
        { "files_written", report->files_written },
        { "string_bytes", report->string_bytes },
        { "line_bytes", report->line_bytes },
        { "inline_bytes", report->inline_bytes },
        { "input_bytes", report->input_bytes },
        { "inflated_bytes", report->inflated_bytes },
        { "output_bytes", report->output_bytes },
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        json_member_number(json, counts[i].key, counts[i].value);
}

static void put_event(const struct csn_convert_report *report, uint32_t event, struct json_out *json) {
    const struct csn_event_count *met = &report->events[event];
    json_begin_object(json);
    json_member_text(json, "name", csn_event_name(event));
    json_member_text(json, "class", class_name(event));
    json_member_number(json, "count", met->count);
    if (met->count && met->example[0]) json_member_text(json, "example", met->example);
    json_end_object(json);
}

void conversion_put_json(const char *input, const char *output, const char *error,
                         const struct csn_convert_report *report, const struct coverage *index, struct json_out *json) {
    json_begin_object(json);
    json_member_text(json, "input", input);
    if (error)
        json_member_text(json, "error", error);
    else
        json_member_text(json, "output", output);
    put_counts(report, json);
    if (!error) coverage_put_json(report, index, json);
    json_key(json, "events");
    json_begin_array(json);
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++) put_event(report, event, json);
    json_end_array(json);
    json_end_object(json);
    json_end_line(json);
}

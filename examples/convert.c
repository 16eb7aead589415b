/* Converts an object file with DWARF into an index: options, a progress callback, and the report of what was met.
 *
 *     cc convert.c $(pkg-config --cflags --libs callsign) -o convert
 *     ./convert app app.gsym */
#include <stdio.h>

#include <callsign/callsign.h>

/* Called from any worker, one call at a time; `done` rises up to `total`. Returning false would stop the conversion. */
static bool on_progress(void *context, const char *phase, uint64_t done, uint64_t total) {
    int *last = context;
    int percent = total ? (int)(done * 100 / total) : 100;
    if (percent / 10 > *last / 10) fprintf(stderr, "%s: %d %%\n", phase, percent);
    *last = percent;
    return true;
}

/* Nothing disappears silently: each kind of event has a count and the first example. */
static void print_report(const struct csn_convert_report *report) {
    static const char *const classes[] = { "normal", "merged", "clipped", "dropped" };
    printf("%llu functions, %llu of them from DWARF; %llu rows, %llu inlined calls, %llu call sites\n",
           (unsigned long long)report->functions_written, (unsigned long long)report->functions_from_dwarf,
           (unsigned long long)report->rows_written, (unsigned long long)report->inline_nodes_written,
           (unsigned long long)report->call_sites_written);
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++) {
        const struct csn_event_count *met = &report->events[event];
        if (met->count)
            printf("%s: %s, %llu times; first: %s\n", classes[csn_event_get_class(event)], csn_event_name(event),
                   (unsigned long long)met->count, met->example);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: convert OBJECT INDEX\n");
        return 2;
    }
    struct csn_error err = CSN_ERROR_INIT;
    static struct csn_convert_report report; /* some kilobytes */
    int last_percent = 0;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = 2; /* the output is the same for any number */
    options.flags = CSN_CONVERT_CALL_SITES;
    options.progress = on_progress;
    options.progress_context = &last_percent;
    /* On failure an existing index stays as it was. */
    if (csn_convert_file(argv[1], argv[2], &options, &report, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], csn_error_text(&err));
        return 1;
    }
    print_report(&report);
    return 0;
}

/* callsign profile: profiles in, the same with functions, lines and inlined calls out, in any of several formats. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "input/module_names.h"
#include "profile/profile_input.h"
#include "ui/cli_message.h"
#include "ui/output_path.h"
#include "ui/progress_bar.h"

enum { CACHE_BYTES = 1 << 20, MAX_FRAMES = 1 << 20 };

struct profile_values {
    struct text_list indexes, folders;
    const char *out, *from, *to, *title;
    bool mangled, explain, quiet;
    struct search_values search;
};

static const struct option_spec options[] = {
    { .name = "out", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct profile_values, out), .value_name = "FILE",
      .help = "write the profile here" },
    { .name = "from", .kind = OPTION_TEXT, .offset = offsetof(struct profile_values, from), .value_name = "FORMAT",
      .help = "kind of input (default: detected): pprof, firefox, otlp,\notlp-json, legacy, perf-script, folded" },
    { .name = "to", .kind = OPTION_TEXT, .offset = offsetof(struct profile_values, to), .value_name = "FORMAT",
      .help = "kind of output (default: by its name: .pb.gz .pprof .json\n.otlp .otlp.json .perf .folded .html): pprof, firefox, otlp,\notlp-json, perf-script, folded, html" },
    { .name = "index", .letter = 'i', .kind = OPTION_TEXTS, .offset = offsetof(struct profile_values, indexes),
      .value_name = "FILE", .help = "an index or object file; NAME=FILE: the one of modules\nnamed NAME; can be repeated" },
    { .name = "symbols", .letter = 's', .kind = OPTION_TEXTS, .offset = offsetof(struct profile_values, folders),
      .value_name = "DIR", .help = "a folder of indexes, as for callsign stack" },
    { .name = "no-demangle", .kind = OPTION_FLAG, .offset = offsetof(struct profile_values, mangled),
      .help = "show names as they are stored" },
    { .name = "title", .kind = OPTION_TEXT, .offset = offsetof(struct profile_values, title), .value_name = "TEXT",
      .help = "title of the page (html)" },
    { .name = "explain", .kind = OPTION_FLAG, .offset = offsetof(struct profile_values, explain),
      .help = "list the modules for which no symbols were found" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct profile_values, quiet),
      .help = "no summary" },
};

/* ---- formats ---- */

struct profile_format {
    const char *name;
    enum profile_kind input;     /* PROFILE_KIND_DETECT: output only */
    uint32_t output;             /* CSN_PROFILE_DETECT: input only */
    const char *suffixes[3];
};

static const struct profile_format formats[] = {
    { "pprof", PROFILE_KIND_PPROF, CSN_PROFILE_PPROF, { ".pb.gz", ".pprof", ".pb" } },
    { "otlp-json", PROFILE_KIND_OTLP_JSON, CSN_PROFILE_OTLP_JSON, { ".otlp.json" } }, /* before .json */
    { "firefox", PROFILE_KIND_FIREFOX, CSN_PROFILE_FIREFOX, { ".json" } },
    { "otlp", PROFILE_KIND_OTLP, CSN_PROFILE_OTLP, { ".otlp" } },
    { "legacy", PROFILE_KIND_LEGACY, CSN_PROFILE_DETECT, { NULL } },
    { "perf-script", PROFILE_KIND_PERF, CSN_PROFILE_PERF_SCRIPT, { ".perf" } },
    { "folded", PROFILE_KIND_FOLDED, CSN_PROFILE_FOLDED, { ".folded" } },
    { "html", PROFILE_KIND_DETECT, CSN_PROFILE_HTML, { ".html" } },
};
enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

static const struct profile_format *format_named(const char *name) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

static bool ends_in(const char *text, const char *suffix) {
    size_t size = strlen(text), suffix_size = strlen(suffix);
    return size > suffix_size && strcmp(text + size - suffix_size, suffix) == 0;
}

static const struct profile_format *format_of_path(const char *path) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        for (size_t k = 0; k < 3 && formats[i].suffixes[k]; k++)
            if (ends_in(path, formats[i].suffixes[k])) return &formats[i];
    return NULL;
}

/* False, with a message. */
static bool find_formats(const struct profile_values *values, enum profile_kind *from, const struct profile_format **to) {
    const struct profile_format *given = values->from ? format_named(values->from) : NULL;
    if (values->from && (!given || given->input == PROFILE_KIND_DETECT)) {
        cli_error(NULL, "no input format '%s' (pprof, firefox, otlp, otlp-json, legacy, perf-script, folded)", values->from);
        return false;
    }
    *from = given ? given->input : PROFILE_KIND_DETECT;
    *to = values->to ? format_named(values->to) : format_of_path(values->out);
    if (*to && (*to)->output != CSN_PROFILE_DETECT) return true;
    if (values->to)
        cli_error(NULL, "no output format '%s' (pprof, firefox, otlp, otlp-json, perf-script, folded, html)", values->to);
    else
        cli_error(values->out,
                  "the name does not tell the format: use --to (pprof, firefox, otlp, otlp-json, perf-script, folded, html)");
    return false;
}

/* ---- running ---- */

static void report_modules(const struct csn_profile *profile, const struct csn_profile_counts *counts) {
    for (size_t i = 0; i < counts->modules_without; i++) {
        const uint8_t *id;
        size_t id_size;
        char digits[2 * CSN_BUILD_ID_MAX + 1] = "";
        struct csn_str path = csn_profile_module_without(profile, i, &id, &id_size);
        for (size_t k = 0; k < id_size; k++) {
            digits[2 * k] = "0123456789abcdef"[id[k] >> 4];
            digits[2 * k + 1] = "0123456789abcdef"[id[k] & 15];
        }
        cli_report("%.*s: no symbols%s%s", (int)path.len, path.ptr, id_size ? ", build id " : "", digits);
    }
}

/* Distinct ones that samples have; the profile counts their callers', too. False: no memory. */
static bool count_stacks(const struct csn_profile *profile, const struct csn_profile_sizes *sizes, uint64_t *out) {
    struct csn_profile_sample sample;
    bool *is_seen = calloc((size_t)sizes->stacks + 1, sizeof(*is_seen));
    *out = 0;
    if (!is_seen) return false;
    for (uint64_t i = 0; csn_profile_get_sample(profile, i, &sample) == CSN_OK; i++) {
        *out += !is_seen[sample.stack];
        is_seen[sample.stack] = true;
    }
    free(is_seen);
    return true;
}

static bool report_summary(const struct csn_profile *profile, const struct csn_profile_counts *counts) {
    struct csn_profile_sizes sizes;
    uint64_t stacks;
    csn_profile_get_sizes(profile, &sizes);
    if (!count_stacks(profile, &sizes, &stacks)) {
        cli_error_memory("a summary");
        return false;
    }
    cli_report("%llu samples, %llu stacks, %llu addresses: %llu named, %llu named by the input, %llu not; %llu of %llu modules without symbols",
               (unsigned long long)sizes.samples, (unsigned long long)stacks, (unsigned long long)counts->locations,
               (unsigned long long)counts->named, (unsigned long long)counts->kept, (unsigned long long)counts->unknown,
               (unsigned long long)counts->modules_without, (unsigned long long)counts->modules);
    if (counts->merged)
        cli_report("%llu addresses are of merged functions: in %llu frames of stacks the callers decide, in %llu they do not",
                   (unsigned long long)counts->merged, (unsigned long long)counts->chosen, (unsigned long long)counts->undecided);
    if (sizes.lost_lines)
        cli_report("%llu lines and columns of the input do not fit into 32 bits, and are not known",
                   (unsigned long long)sizes.lost_lines);
    if (sizes.left_out)
        cli_report("%llu markers, counters and allocations of the input are left out", (unsigned long long)sizes.left_out);
    if (sizes.attributes_left_out)
        cli_report("%llu attributes, links, scopes and ids of the input are left out", (unsigned long long)sizes.attributes_left_out);
    return true;
}

/* Not part of the summary: -q is no wish for numbers that are not those of the input. */
static void report_cut_sums(const struct csn_profile *profile, const char *path) {
    struct csn_profile_sizes sizes;
    csn_profile_get_sizes(profile, &sizes);
    if (!sizes.sums_cut) return;
    cli_error(path, "sums have more than 64 bits: %llu additions gave %lld or %lld instead", (unsigned long long)sizes.sums_cut,
              (long long)INT64_MAX, (long long)INT64_MIN);
}

/* Neither is this. */
static void report_moved_times(const struct csn_profile *profile, const char *path) {
    struct csn_profile_sample sample;
    int64_t first = 0;
    for (uint64_t i = 0; csn_profile_get_sample(profile, i, &sample) == CSN_OK; i++)
        if (sample.time_ns < first) first = sample.time_ns;
    const uint64_t later = 0 - (uint64_t)first;
    if (later)
        cli_error(path, "the text of perf has no negative times: all are %llu.%09llu s later",
                  (unsigned long long)(later / 1000000000), (unsigned long long)(later % 1000000000));
}

/* A signal leaves the file as it was, and ends the process when everything is tidied up. */
static csn_status write_profile(struct csn_profile *profile, const struct profile_values *values, const struct profile_format *to,
                                struct csn_error *err) {
    struct csn_profile_write_options write = CSN_PROFILE_WRITE_OPTIONS_INIT;
    struct progress_bar bar;
    write.title = values->title;
    write.flags = ends_in(values->out, ".pb") ? CSN_PROFILE_PLAIN : 0;
    write.progress = progress_step;
    write.progress_context = &bar;
    progress_begin(&bar, values->quiet);
    const csn_status status = csn_profile_write_file(profile, to->output, values->out, &write, err);
    progress_end(&bar);
    return status;
}

static bool convert_profile(struct csn_profile *profile, struct stack_session *session, const struct profile_values *values,
                            const struct profile_format *to) {
    struct csn_profile_symbolicate_options how = CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT;
    struct csn_profile_counts counts;
    struct csn_error err = CSN_ERROR_INIT;
    how.flags = values->mangled ? CSN_PROFILE_MANGLED : 0;
    csn_status status = csn_profile_symbolicate(profile, session->store, &how, &counts, &err);
    if (status == CSN_OK) status = write_profile(profile, values, to, &err);
    if (status == CSN_E_CANCELLED) return false;
    if (status < 0) {
        cli_error_status(NULL, status, &err);
        return false;
    }
    report_cut_sums(profile, values->out);
    if (to->output == CSN_PROFILE_PERF_SCRIPT) report_moved_times(profile, values->out);
    if (values->explain) report_modules(profile, &counts);
    return values->quiet || report_summary(profile, &counts);
}

static bool profile_inputs(struct csn_profile *profile, const struct profile_values *values, enum profile_kind from,
                           const struct profile_format *to, char **operands, int operand_count) {
    static struct stack_session session;
    bool good = session_init(&session, &values->indexes, &values->folders, &values->search, MAX_FRAMES, CACHE_BYTES);
    for (int i = 0; good && i < operand_count; i++) good = profile_input_read(profile, &session, from, operands[i]);
    good = good && convert_profile(profile, &session, values, to);
    session_deinit(&session);
    return good;
}

static enum exit_code run_profile(const void *given, char **operands, int operand_count) {
    const struct profile_values *values = given;
    const struct profile_format *to;
    enum profile_kind from;
    struct csn_profile_options create = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile_sizes sizes = { .samples = 0 };
    struct csn_profile *profile;
    if (!values->out) {
        cli_error(NULL, "name the output with -o (see callsign profile --help)");
        return EXIT_FAILED;
    }
    if (!output_is_file(values->out) || !find_formats(values, &from, &to)) return EXIT_FAILED;
    if (values->title && to->output != CSN_PROFILE_HTML) {
        cli_error(NULL, "option '--title' goes with html, not with %s", to->name);
        return EXIT_FAILED;
    }
    for (int i = 0; i < operand_count; i++) {
        if (!is_same_target(operands[i], values->out)) continue;
        cli_error(operands[i], "is the output, too");
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < values->indexes.count; i++) {
        if (!is_same_file(index_option_path(values->indexes.items[i]), values->out)) continue;
        cli_error(values->out, "is a file of --index; choose another file with -o");
        return EXIT_FAILED;
    }
    if (to->output == CSN_PROFILE_FIREFOX || to->output == CSN_PROFILE_PERF_SCRIPT) create.flags = CSN_PROFILE_EVERY_SAMPLE;
    if (to->output == CSN_PROFILE_OTLP || to->output == CSN_PROFILE_OTLP_JSON) create.flags = CSN_PROFILE_UNIX_TIMES;
    if (to->output != CSN_PROFILE_HTML) create.flags |= CSN_PROFILE_MERGE_INPUTS;
    if (csn_profile_create(&create, &profile, NULL) < 0) {
        cli_error_memory("a profile");
        return EXIT_FAILED;
    }
    bool good = profile_inputs(profile, values, from, to, operands, operand_count);
    csn_profile_get_sizes(profile, &sizes);
    csn_profile_destroy(profile);
    progress_pass_on_signal();
    if (!good) return EXIT_FAILED;
    return sizes.samples ? EXIT_WORKED : EXIT_PARTIAL;
}

const struct command profile_command = {
    .name = "profile",
    .arguments = "IN... -o OUT",
    .summary = "fill functions and lines into a profile, and convert it",
    .description =
        "Reads profiles (IN; - is standard input), with gzip or without, finds the symbols of their modules as callsign stack does,\n"
        "fills in functions, files, lines and inlined calls, and writes OUT. Formats:\n"
        "\n"
        "  pprof         profile.proto of google/pprof\n"
        "  firefox       JSON of the Firefox Profiler, as samply writes it\n"
        "  otlp          OpenTelemetry's profiles, as protobuf\n"
        "  otlp-json     the same as JSON\n"
        "  legacy        texts of heaps, locks and counts of gperftools, tcmalloc, jemalloc and Go's ?debug=1, and gperftools'\n"
        "                CPU profile. Input only\n"
        "  perf-script   the text of perf script\n"
        "  folded        a stack a line, NAME;NAME;... COUNT, as flame graph scripts have it\n"
        "  html          one page: flame graph, search, table of functions, heat by file and line. Output only\n"
        "\n"
        "Several inputs become one profile. A page keeps them apart, and shows the difference of any two.\n"
        "\n"
        "Each distinct address is looked up once. Merged functions are chosen by whole stacks; those that the callers do not\n"
        "decide are marked as folded. Names are demangled. docs/profiles.md has what each format keeps.\n"
        "\n"
        "Exit status: 1 if the inputs have no samples. Unknown addresses do not change it.\n",
    .example = "perf script | callsign profile - -o profile.pb.gz",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct profile_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { search_options, SEARCH_OPTION_COUNT, offsetof(struct profile_values, search) },
    .run = run_profile,
};

/* callsign stats: where the bytes of an index go, and how much of the code it covers. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "input/companion_options.h"
#include "ui/cli_message.h"
#include "input/open_index.h"
#include "ui/output_path.h"
#include "convert/report_file.h"
#include "stats/stats_out.h"

enum { TOP_DEFAULT = 20, TOP_MAX = 1000000 };

struct stats_values {
    bool json, demangle;
    uint64_t top;
    const char *html;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct stats_values, json), .help = "one JSON object" },
    { .name = "html", .kind = OPTION_TEXT, .offset = offsetof(struct stats_values, html), .value_name = "FILE",
      .help = "also write a self-contained HTML page with a map of\ndirectories, files and functions" },
    { .name = "top", .letter = 'n', .kind = OPTION_NUMBER, .offset = offsetof(struct stats_values, top), .min = 1, .max = TOP_MAX,
      .value_name = "N", .help = "number of directories, files and functions to show\n(default 20)" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct stats_values, demangle),
      .help = "show demangled names" },
};

static bool write_page(const struct stats_view *view, const char *path) {
    static struct out_buffer out;
    struct report_file file;
    if (!report_file_open(&file, path)) return false;
    out_init(&out, file.output.fd);
    stats_put_page(view, &out);
    out_flush(&out);
    int os_error = output_file_finish(&file.output, out.os_error);
    if (os_error) cli_error(path, "%s", strerror(os_error));
    return !os_error;
}

static enum exit_code show(struct stats_view *view, const struct stats_values *values) {
    static struct out_buffer out;
    out_init(&out, STDOUT_FILENO);
    if (values->html && !write_page(view, values->html)) return EXIT_FAILED;
    if (values->json) stats_put_json(view, &out);
    else stats_put_text(view, &out);
    if (!out_finish_stdout(&out)) return EXIT_FAILED;
    uint64_t damaged = view->stats->sums.damaged_functions;
    if (!damaged) return EXIT_WORKED;
    cli_error(view->path, "damaged functions: %llu, counted as far as they can be read", (unsigned long long)damaged);
    return EXIT_PARTIAL;
}

static enum exit_code gather_and_show(struct stats_view *view, const struct stats_values *values,
                                      const struct csn_index *index) {
    struct stats stats;
    struct csn_error err = CSN_ERROR_INIT;
    size_t keep = values->html && view->top < STATS_PAGE_FUNCTIONS ? STATS_PAGE_FUNCTIONS : view->top;
    csn_status status = stats_init(&stats, index, keep, &err);
    if (status < 0) {
        cli_error_status(view->path, status, &err);
        return EXIT_FAILED;
    }
    view->stats = &stats;
    enum exit_code code = EXIT_FAILED;
    if (stats_by_directory(&stats, &view->directories) && stats_by_file(&stats, &view->files))
        code = show(view, values);
    else
        cli_error_memory("directories");
    free(view->directories.items);
    free(view->files.items);
    stats_deinit(&stats);
    return code;
}

static enum exit_code run_stats(const void *given, char **operands, int operand_count) {
    (void)operand_count;
    const struct stats_values *values = given;
    struct name_text names;
    struct stats_view view = { .path = operands[0], .names = &names, .top = values->top ? (size_t)values->top : TOP_DEFAULT };
    if (values->html && strcmp(values->html, "-") == 0) {
        cli_error(NULL, "option '--html' needs a file; standard output has the other results");
        return EXIT_FAILED;
    }
    if (values->html && is_same_file(values->html, operands[0])) {
        cli_error(values->html, "is the input itself; choose another file with --html");
        return EXIT_FAILED;
    }
    if (values->html && !companions_are_spared(&values->companions, values->html, "--html")) return EXIT_FAILED;
    struct companion_values companions = values->companions;
    companions.output = values->html;
    if (!name_text_init(&names, values->demangle)) return EXIT_FAILED;
    enum exit_code code = EXIT_FAILED;
    struct opened_index opened;
    if (open_index(operands[0], &companions, &opened)) {
        view.is_converted = opened.bytes.size > 0;
        code = gather_and_show(&view, values, opened.index);
        close_index(&opened);
    }
    name_text_deinit(&names);
    return code;
}

const struct command stats_command = {
    .name = "stats",
    .arguments = "INDEX",
    .summary = "where the bytes of an index go",
    .description =
        "Shows where the bytes of the file go (the parts add up to its size), how much of the code has lines and comes from\n"
        "inlined calls, and the largest directories, files and functions. A function belongs to the file of its first line\n"
        "row; its size is that of its record: lines, inlined calls, call sites, merged functions. INDEX may be an object file,\n"
        "which is converted in memory first.\n"
        "\n"
        "Exit status: 1 if functions are damaged.\n",
    .example = "callsign stats app.gsym --html app.html",
    .min_operands = 1,
    .max_operands = 1,
    .values_size = sizeof(struct stats_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct stats_values, companions) },
    .run = run_stats,
};

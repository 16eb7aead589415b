/* callsign accelerate: stores decoded answers in an index. */
#include <stddef.h>
#include <stdlib.h>

#include <callsign/convert.h>

#include "commands/commands.h"
#include "convert/conversion_text.h"
#include "ui/cli_message.h"
#include "ui/output_path.h"

struct accelerate_values {
    const char *out;
    uint64_t threads;
    bool remote_layout, quiet;
};

static const struct option_spec options[] = {
    { .name = "out", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct accelerate_values, out),
      .value_name = "OUT", .help = "the file to write (default: INDEX itself is replaced)" },
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct accelerate_values, threads),
      .max = 1024, .value_name = "N", .help = "number of threads (default 0: one per core)" },
    { .name = "remote-layout", .kind = OPTION_FLAG, .offset = offsetof(struct accelerate_values, remote_layout),
      .help = "for a file that is read from a server: a first lookup takes\nfive requests, hardly ever six; the file is a little larger" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct accelerate_values, quiet),
      .help = "print errors only: no summary" },
};

static bool fail_other_input(const char *path) {
    cli_error(path, "is no GSYM file of version 1 or 2; 'callsign convert --accelerate' makes one of it");
    return false;
}

/* A program, say, and no index. */
static bool is_convertible(const char *path) {
    struct csn_file *file;
    if (csn_file_open(path, &file, NULL) < 0) return false;
    const void *bytes = csn_file_bytes(file);
    size_t size = csn_file_size(file);
    bool is = csn_is_input(bytes, size) && !csn_is_index(bytes, size);
    csn_file_close(file);
    return is;
}

/* The version of a GSYM file; false, with a message: it is another index or none. */
static bool find_version(const char *path, uint32_t *out_format) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    csn_status status = csn_index_open_file(path, NULL, &index, &err);
    if (status == CSN_E_FORMAT && is_convertible(path)) return fail_other_input(path);
    if (status < 0) {
        cli_error_status(path, status, &err);
        return false;
    }
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    csn_index_close(index);
    *out_format = info.format;
    return info.format == CSN_FORMAT_GSYM_V1 || info.format == CSN_FORMAT_GSYM_V2 || fail_other_input(path);
}

static enum exit_code accelerate(const struct accelerate_values *values, const char *path, uint32_t format,
                                 struct csn_convert_report *report) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_convert_options convert_options = CSN_CONVERT_OPTIONS_INIT;
    convert_options.flags = values->remote_layout ? CSN_CONVERT_REMOTE_LAYOUT : CSN_CONVERT_ACCELERATE;
    convert_options.format = format;
    convert_options.threads = (uint32_t)values->threads;
    const char *out_path = values->out ? values->out : path;
    bool in_place = !values->out || is_same_file(values->out, path);
    if (in_place) convert_options.flags |= CSN_CONVERT_STRICT; /* what cannot be kept would be gone */
    csn_status status = csn_convert_file(path, out_path, &convert_options, report, &err);
    if (status < 0 && in_place && conversion_is_partial(report)) {
        cli_error(path, "%s; it stays as it is, -o FILE writes another one without that", csn_error_text(&err));
        return EXIT_FAILED;
    }
    if (status < 0) {
        cli_error_status(path, status, &err);
        return EXIT_FAILED;
    }
    if (!values->quiet) {
        conversion_report_summary(out_path, report);
        conversion_report_events(report, false);
    }
    if (!conversion_is_partial(report)) return EXIT_WORKED;
    cli_error(path, "parts of records are damaged or unknown; the index was written without them");
    return EXIT_PARTIAL;
}

static enum exit_code run_accelerate(const void *given, char **operands, int operand_count) {
    (void)operand_count;
    const struct accelerate_values *values = given;
    uint32_t format;
    if (values->out && !output_is_file(values->out)) return EXIT_FAILED;
    if (!find_version(operands[0], &format)) return EXIT_FAILED;
    struct csn_convert_report *report = calloc(1, sizeof(*report));
    enum exit_code code = EXIT_FAILED;
    if (report) code = accelerate(values, operands[0], format, report);
    else cli_error_memory("the report");
    free(report);
    return code;
}

const struct command accelerate_command = {
    .name = "accelerate",
    .arguments = "INDEX",
    .summary = "make lookups in an index faster",
    .description =
        "Stores decoded answers in a GSYM file of version 1 or 2: lookups then take two or three reads from memory, at once after\n"
        "opening, and processes share them. Other readers ignore them. The file of a large program becomes 1.4 to 2.2 times as\n"
        "large. Everything else in the index is kept, as 'callsign convert' keeps it; 'callsign verify' compares the answers\n"
        "with the records. The file is replaced at once when all is done.\n"
        "\n"
        "Exit status: 1 if parts of the index are damaged.\n",
    .example = "callsign accelerate app.gsym",
    .min_operands = 1,
    .max_operands = 1,
    .values_size = sizeof(struct accelerate_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .run = run_accelerate,
};

/* callsign diff: two indexes compared by what they say, whatever their formats. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "input/companion_options.h"
#include "ui/cli_message.h"
#include "diff/diff_out.h"
#include "input/open_index.h"

enum { DIFFERENCES_SHOWN = 20 };

struct diff_values {
    bool all, json, quiet, demangle;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "all", .letter = 'a', .kind = OPTION_FLAG, .offset = offsetof(struct diff_values, all),
      .help = "show all differences instead of the first 20 of each kind", .excluded_by = "quiet" },
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct diff_values, json),
      .help = "one JSON object with every difference", .excluded_by = "quiet" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct diff_values, demangle),
      .help = "show demangled names" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct diff_values, quiet),
      .help = "print nothing; use the exit status" },
};

/* ---- before the functions ---- */

static void hex_of(const struct csn_index_info *info, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < info->uuid_size; i++) {
        *out++ = digits[info->uuid[i] >> 4];
        *out++ = digits[info->uuid[i] & 15];
    }
    *out = 0;
}

/* Formats differ in how long a build id they hold and whether they hold one. */
static bool ids_agree(const struct csn_index_info *a, const struct csn_index_info *b) {
    uint8_t size = a->uuid_size < b->uuid_size ? a->uuid_size : b->uuid_size;
    if (a->format == b->format && a->uuid_size != b->uuid_size) return false;
    return memcmp(a->uuid, b->uuid, size) == 0;
}

static void compare_headers(const struct diff_input inputs[2], struct diff_result *result) {
    const struct csn_index_info *a = &inputs[0].info, *b = &inputs[1].info;
    if (!ids_agree(a, b)) {
        struct diff_header *header = &result->headers[result->header_count++];
        header->what = "uuid";
        hex_of(a, header->values[0]);
        hex_of(b, header->values[1]);
    }
    if (a->format == b->format && a->base_address != b->base_address) {
        struct diff_header *header = &result->headers[result->header_count++];
        header->what = "base_address";
        for (int side = 0; side < 2; side++)
            snprintf(header->values[side], sizeof(header->values[side]), "0x%llx",
                     (unsigned long long)inputs[side].info.base_address);
    }
}

/* ---- comparing ---- */

static void ignore_changed(void *context, const struct diff_function *a, const struct diff_function *b,
                           const struct function_diff *found) {
    (void)context, (void)a, (void)b, (void)found;
}
static void ignore_loose(void *context, int side, const struct diff_loose *function) {
    (void)context, (void)side, (void)function;
}
static void ignore_between(void *context, int side) { (void)context, (void)side; }
static const struct diff_listener silent = { .changed = ignore_changed, .loose = ignore_loose, .between = ignore_between,
                                             .damaged = diff_keep_damaged };

static bool walk(struct diff_out *diff, const struct diff_values *values, struct diff_result *result) {
    struct diff_listener listener = values->quiet ? silent : values->json ? diff_json_calls : diff_text_calls;
    listener.context = diff;
    if (!diff_walk(diff->inputs[0].index, diff->inputs[1].index, &listener, &result->counts)) return false;
    const struct diff_counts *counts = &result->counts;
    result->differ = result->header_count || counts->changed || counts->moved || counts->removed || counts->added;
    result->same = !result->differ && !counts->damaged[0] && !counts->damaged[1];
    return true;
}

/* Once more for what is damaged, which takes no memory however much it is. */
static bool walk_damaged(struct diff_out *diff, const struct diff_result *result,
                         void (*damaged)(void *context, const struct diff_damaged *function)) {
    if (!result->counts.damaged[0] && !result->counts.damaged[1]) return true;
    struct diff_listener listener = silent;
    struct diff_counts counts;
    listener.context = diff;
    listener.damaged = damaged;
    return diff_walk(diff->inputs[0].index, diff->inputs[1].index, &listener, &counts);
}

static bool compare(struct diff_out *diff, const struct diff_values *values, struct diff_result *result) {
    compare_headers(diff->inputs, result);
    if (values->quiet) return walk(diff, values, result);
    if (values->json) {
        diff_json_begin(diff, result);
        if (!walk(diff, values, result)) return false;
        diff_json_damaged_begin(diff);
        if (!walk_damaged(diff, result, diff_json_damaged)) return false;
        diff_json_files_begin(diff);
        if (!diff_files(diff, diff_json_file, result->counts.shares_too_much)) return false;
        diff_json_end(diff, result);
        return true;
    }
    diff_text_begin(diff, result);
    if (!walk(diff, values, result)) return false;
    diff_text_damaged_begin(diff);
    if (!walk_damaged(diff, result, diff_text_damaged)) return false;
    diff_text_files_begin(diff);
    if (!diff_files(diff, diff_text_file, result->counts.shares_too_much)) return false;
    diff_text_end(diff, result);
    return true;
}

static enum exit_code compare_opened(struct diff_out *diff, const struct diff_values *values) {
    struct diff_result result = { .header_count = 0 };
    bool good = compare(diff, values, &result);
    const bool *shares = result.counts.shares_too_much;
    for (int side = 0; side < 2; side++)
        if (shares[side])
            cli_error(diff->inputs[side].path, "functions share too many records, names or paths to be compared");
    if (!good && !shares[0] && !shares[1]) cli_error_memory("functions to compare");
    for (int side = 0; side < 2; side++) {
        if (!result.counts.damaged[side]) continue;
        good = false;
        cli_error(diff->inputs[side].path, "damaged functions: %llu (first: 0x%llx: %s)",
                 (unsigned long long)result.counts.damaged[side], (unsigned long long)diff->first_damaged[side].start,
                 csn_error_text(&diff->first_damaged[side].err));
    }
    if (!out_finish_stdout(diff->out) || !good) return EXIT_FAILED;
    return result.same ? EXIT_WORKED : EXIT_PARTIAL;
}

static enum exit_code run_diff(const void *given, char **operands, int operand_count) {
    (void)operand_count;
    const struct diff_values *values = given;
    static struct out_buffer out;
    out_init(&out, STDOUT_FILENO);
    struct diff_out diff = { .out = &out, .json = json_on(&out), .shown_max = values->all ? UINT64_MAX : DIFFERENCES_SHOWN };
    if (!name_text_init(&diff.names, values->demangle)) return EXIT_FAILED;
    struct opened_index opened[2] = { { 0 }, { 0 } };
    enum exit_code code = EXIT_FAILED;
    if (open_two_indexes(operands, &values->companions, opened)) {
        for (int side = 0; side < 2; side++) {
            diff.inputs[side] = (struct diff_input){ .path = operands[side], .index = opened[side].index };
            csn_index_get_info(opened[side].index, &diff.inputs[side].info, sizeof(diff.inputs[side].info));
        }
        code = compare_opened(&diff, values);
    }
    close_index(&opened[0]);
    close_index(&opened[1]);
    name_text_deinit(&diff.names);
    return code;
}

const struct command diff_command = {
    .name = "diff",
    .arguments = "A B",
    .summary = "compare two indexes by meaning",
    .description =
        "Functions are matched by address and name. For each pair, size, line rows, inlined calls, call sites and merged\n"
        "functions are compared; also build ids and, if the formats are equal, base addresses. A function that only one index\n"
        "has at its address is matched by name: it moved. File numbers, how paths are split, order, and repeated rows are\n"
        "ignored. A and B may be object files, which are converted in memory first.\n"
        "\n"
        "For a changed function, the first difference of each kind is shown: A's side | B's side.\n"
        "A function that cannot be read on one side is listed as damaged.\n"
        "Exit status: 0 if the two are equal, 1 if they differ, 2 if comparing failed or functions are damaged.\n",
    .example = "callsign diff old.gsym new.gsym",
    .min_operands = 2,
    .max_operands = 2,
    .values_size = sizeof(struct diff_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct diff_values, companions) },
    .run = run_diff,
};

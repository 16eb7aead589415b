/* callsign verify: checks every record of an index, and its answers against those of the object it was made from. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <callsign/convert.h>
#include <callsign/inspect.h>

#include "commands/commands.h"
#include "input/companion_options.h"
#include "convert/coverage.h"
#include "lookup/compare.h"
#include "ui/cli_message.h"
#include "input/open_index.h"

enum { PROBLEMS_SHOWN = 100 };

struct verify_values {
    const char *against;
    bool quiet;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "against", .kind = OPTION_TEXT, .offset = offsetof(struct verify_values, against),
      .value_name = "OBJECT", .help = "convert this object file in memory and compare the answers" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct verify_values, quiet),
      .help = "print nothing; use the exit status" },
};

struct verify_run {
    const struct verify_values *values;
    struct out_buffer out;
    uint64_t problems_met; /* by the callback */
    uint64_t call_sites, merged_functions; /* of the index */
    bool bad;              /* a problem or a difference */
    bool beyond_limit;     /* checking met a limit: asking for every address would not end */
};

static bool put_problem(void *context, const struct csn_error *err) {
    struct verify_run *run = context;
    if (err->code == CSN_E_LIMIT) run->beyond_limit = true;
    if (++run->problems_met > PROBLEMS_SHOWN || run->values->quiet) return true;
    out_text(&run->out, "problem: ");
    const char *text = csn_error_text(err);
    out_safe(&run->out, (struct csn_str){ text, strlen(text) });
    out_char(&run->out, '\n');
    return true;
}

static void put_count(struct verify_run *run, const char *before, uint64_t count, const char *after) {
    out_text(&run->out, before);
    out_decimal(&run->out, count);
    out_text(&run->out, after);
}

static void put_summary(struct verify_run *run, const struct csn_verify_counts *counts) {
    if (run->problems_met > PROBLEMS_SHOWN) put_count(run, "... and ", run->problems_met - PROBLEMS_SHOWN, " more\n");
    put_count(run, "checked ", counts->functions, " functions");
    put_count(run, ", ", counts->rows, " line rows");
    put_count(run, ", ", counts->inline_nodes, " inlined calls");
    put_count(run, ", ", counts->call_sites, " call sites");
    put_count(run, ", ", counts->merged_functions, " merged functions");
    put_count(run, ", ", counts->files, " files");
    put_count(run, ", ", counts->strings, " strings");
    put_count(run, ": ", counts->problems, " problems\n");
}

static bool check_records(struct verify_run *run, const char *path, const struct csn_index *index) {
    struct csn_verify_counts counts = { 0 };
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_index_verify(index, put_problem, run, &counts, &err);
    if (status < 0) {
        cli_error_status(path, status, &err);
        return false;
    }
    run->call_sites = counts.call_sites;
    run->merged_functions = counts.merged_functions;
    if (counts.problems) run->bad = true;
    if (!run->values->quiet) put_summary(run, &counts);
    return true;
}

static void put_build_id(struct out_buffer *out, const char *label, const struct csn_index_info *info) {
    out_text(out, label);
    out_hex_bytes(out, info->uuid, info->uuid_size);
    if (!info->uuid_size) out_text(out, "none");
}

/* Revisions of the section before F have no field for one, and BSYM has none; of an object without one Breakpad files have one
 * that dump_syms makes up. */
static bool have_build_ids(const struct csn_index_info *index, const struct csn_index_info *object) {
    const bool is_old_section = index->format == CSN_FORMAT_GSYM_SECTION && index->revision < 'F';
    return object->uuid_size && (index->uuid_size || !(is_old_section || index->format == CSN_FORMAT_BSYM));
}

static void compare_build_ids(struct verify_run *run, const struct csn_index *index, const struct csn_index *other) {
    struct csn_index_info info, other_info;
    csn_index_get_info(index, &info, sizeof(info));
    csn_index_get_info(other, &other_info, sizeof(other_info));
    if (!have_build_ids(&info, &other_info)) return;
    if (info.uuid_size == other_info.uuid_size && memcmp(info.uuid, other_info.uuid, info.uuid_size) == 0) return;
    run->bad = true;
    if (run->values->quiet) return;
    put_build_id(&run->out, "build ids differ: index ", &info);
    put_build_id(&run->out, ", object ", &other_info);
    out_char(&run->out, '\n');
}

/* A conversion of OBJECT, and how it compares. All zeros: none yet. */
struct trial {
    struct opened_index object;
    struct compare_counts counts;
};

/* Converts OBJECT in one more way, and keeps the better one. */
static bool try_conversion(struct verify_run *run, const struct csn_index *index, uint32_t flags, uint32_t merged,
                           struct trial *best) {
    struct trial trial = { .counts = { 0, 0 } };
    if (!open_object(run->values->against, &run->values->companions, flags, merged, &trial.object)) return false;
    const bool good = compare_answers(index, trial.object.index, NULL, &trial.counts);
    const bool is_better = good && (!best->object.index || trial.counts.different < best->counts.different);
    close_index(is_better ? &best->object : &trial.object);
    if (is_better) *best = trial;
    return good;
}

/* An index does not tell with which options it was made. Functions without a linkage name have other names where call sites are
 * kept, which a program need not have any of, and there are several ways to merge functions. */
static bool find_conversion(struct verify_run *run, const struct csn_index *index, struct trial *best) {
    static const uint32_t ways_to_merge[] = { CSN_MERGE_ALL, CSN_MERGE_ALIASES, CSN_MERGE_LLVM }, none[] = { CSN_MERGE_NONE };
    const uint32_t *merged = run->merged_functions ? ways_to_merge : none;
    const size_t count = run->merged_functions ? sizeof(ways_to_merge) / sizeof(*ways_to_merge) : 1;
    for (size_t i = 0; i < count; i++) {
        if (!try_conversion(run, index, run->call_sites ? CSN_CONVERT_CALL_SITES : 0, merged[i], best)) return false;
        if (!best->counts.different) return true;
        if (run->call_sites || !best->object.report->functions_from_dwarf) continue;
        if (!try_conversion(run, index, CSN_CONVERT_CALL_SITES, merged[i], best)) return false;
        if (!best->counts.different) return true;
    }
    return true;
}

static bool check_against(struct verify_run *run, const struct csn_index *index) {
    if (run->beyond_limit) {
        if (!run->values->quiet) out_text(&run->out, "not compared: the index is beyond a limit\n");
        return true;
    }
    struct trial best = { .counts = { 0, 0 } };
    bool good = find_conversion(run, index, &best);
    if (good) compare_build_ids(run, index, best.object.index);
    struct compare_counts shown = { 0, 0 };
    if (good && best.counts.different && !run->values->quiet) good = compare_answers(index, best.object.index, &run->out, &shown);
    if (good && !run->values->quiet) {
        put_count(run, "compared ", best.counts.addresses, " addresses");
        put_count(run, ": ", best.counts.different, " different\n");
    }
    if (best.counts.different) run->bad = true;
    struct coverage covered;
    good = good && coverage_of_index(index, &covered);
    if (good && !run->values->quiet) coverage_put_text(best.object.report, &covered, &run->out);
    close_index(&best.object);
    return good;
}

/* Those of INDEX: with --against, what is said of debug information goes with OBJECT, and so does the image unless
 * INDEX has several. */
static struct companion_values companions_of_index(const struct verify_values *values, const char *path) {
    struct companion_values out = values->companions;
    struct csn_file *file;
    if (!values->against) return out;
    out.debug_file = NULL;
    out.packages.count = 0;
    if (!out.arch || csn_file_open(path, &file, NULL) < 0) return out;
    const struct input_file input = { path, file, csn_file_bytes(file), csn_file_size(file) };
    if (!input_takes_arch(input_nature_of(&input))) out.arch = NULL;
    csn_file_close(file);
    return out;
}

/* False, with a message: an option that neither OBJECT nor, of `index`, INDEX has a use for. */
static bool options_fit_object(const struct verify_values *values, const struct companion_values *index) {
    struct companion_values companions = values->companions;
    struct input_file input;
    if (index->arch) companions.arch = NULL;
    if (!values->against || (!companions.arch && !companions.debug_file && !companions.packages.count)) return true;
    if (!input_file_open(values->against, &input)) return false;
    bool fits = options_fit_input(&input, &companions);
    input_file_close(&input);
    return fits;
}

static enum exit_code run_verify(const void *values, char **operands, int operand_count) {
    (void)operand_count;
    static struct verify_run run;
    run.values = values;
    out_init(&run.out, STDOUT_FILENO);
    struct opened_index opened;
    const struct companion_values of_index = companions_of_index(run.values, operands[0]);
    if (!options_fit_object(run.values, &of_index) || !open_index(operands[0], &of_index, &opened)) return EXIT_FAILED;
    bool good = check_records(&run, operands[0], opened.index) &&
                (!run.values->against || check_against(&run, opened.index));
    close_index(&opened);
    if (!out_finish_stdout(&run.out) || !good) return EXIT_FAILED;
    return run.bad ? EXIT_PARTIAL : EXIT_WORKED;
}

const struct command verify_command = {
    .name = "verify",
    .arguments = "INDEX",
    .summary = "check every record of an index",
    .description =
        "Decodes every record and checks every rule of the format. With --against, also compares build ids, and the answers and\n"
        "merged functions of the index with those of a fresh conversion of OBJECT at every address where an answer can change,\n"
        "and prints for how many bytes of code OBJECT and the index have a name, a line and inlined calls.\n"
        "\n"
        "Exit status: 1 if there is a problem or a difference.\n",
    .example = "callsign verify app.gsym --against app",
    .min_operands = 1,
    .max_operands = 1,
    .values_size = sizeof(struct verify_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct verify_values, companions) },
    .run = run_verify,
};

/* callsign lookup: addresses in, frames out. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <callsign/remote.h>

#include "lookup/address_text.h"
#include "lookup/answer_printer.h"
#include "commands/commands.h"
#include "input/companion_options.h"
#include "ui/cli_message.h"
#include "lookup/lookup_stream.h"
#include "input/open_index.h"

struct lookup_values {
    bool json, demangle, llvm, merged, shorten, shorten_nested;
    uint64_t threads;
    struct companion_values companions;
    struct cache_values cache;
    bool offline, return_addresses;
    const char *load_address, *slide, *pid, *maps;
};

static const struct option_spec options[] = {
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, json),
      .help = "one JSON object a line instead of text" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, demangle),
      .help = "show demangled names" },
    { .name = "merged", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, merged),
      .help = "list all functions that share the code at an address, if\nthe index has them (convert --merged-functions)" },
    { .name = "shorten-names", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, shorten),
      .help = "show names demangled and without default template\narguments of the C++ library" },
    { .name = "shorten-nested", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, shorten_nested),
      .help = "the same, also inside template arguments" },
    { .name = "llvm", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, llvm),
      .help = "answer exactly as LLVM's reader: an address before the\nfirst line row of its function is not found" },
    { .name = "load-address", .kind = OPTION_TEXT, .offset = offsetof(struct lookup_values, load_address), .value_name = "ADDR",
      .help = "ADDR are addresses of a process in which the image's first\nbyte lies here" },
    { .name = "slide", .kind = OPTION_TEXT, .offset = offsetof(struct lookup_values, slide), .value_name = "N",
      .help = "the same, by the difference to addresses in the image's file:\nhexadecimal, may be negative" },
    { .name = "pid", .kind = OPTION_TEXT, .offset = offsetof(struct lookup_values, pid), .value_name = "PID",
      .help = "ADDR are addresses of this process; there is no INDEX" },
    { .name = "maps", .kind = OPTION_TEXT, .offset = offsetof(struct lookup_values, maps), .value_name = "FILE",
      .help = "the same, with a copy of its /proc/PID/maps, its core dump, or\na crash report that lists its images" },
    { .name = "return-addresses", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, return_addresses),
      .help = "ADDR are return addresses: show the lines of the calls\nbefore them" },
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct lookup_values, threads),
      .max = 1024, .value_name = "N",
      .help = "number of threads for addresses on standard input (default\n0: one per core)" },
    { .name = "offline", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, offline),
      .help = "ask no server for debug files" },
    { .name = "cache-dir", .kind = OPTION_TEXT, .offset = offsetof(struct lookup_values, cache.dir), .value_name = "DIR",
      .help = "folder of converted indexes (default: $CALLSIGN_CACHE, else\n$XDG_CACHE_HOME/callsign, else ~/.cache/callsign)", .excluded_by = "no-cache" },
    { .name = "no-cache", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, cache.none),
      .help = "convert in memory; neither read nor fill the cache" },
};

/* What one run of the command needs for each address. */
struct lookup_run {
    const char *path; /* of the index */
    const struct csn_index *index; /* NULL: of a process, or in segments */
    bool is_remote;
    struct answer_printer printer;
    struct lookup_target target;
    struct symbol_search search;
    unsigned threads;
    struct out_buffer out;
};

/* One that is no address does not keep the others from their answers. False: none is one. */
static bool answer_operands(struct lookup_run *run, char **operands, int count) {
    int bad = 0;
    for (int i = 0; i < count; i++) {
        struct csn_str text = { operands[i], strlen(operands[i]) };
        const char *fault = lookup_target_run(&run->target, &run->printer, text, &run->out);
        if (!fault) continue;
        answer_printer_put_bad_operand(&run->printer, text, fault, bad + 1 < count, &run->out);
        bad++;
    }
    return bad < count;
}

/* False, with a message: the index is remote, and reading it has failed. */
static bool is_read_well(const struct lookup_run *run) {
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = run->is_remote ? csn_index_remote_state(run->index, NULL, 0, &err) : CSN_OK;
    if (status < 0) cli_error_status(run->path, status, &err);
    return status >= 0;
}

static enum exit_code look_up(struct lookup_run *run, char **addresses, int count) {
    bool good = count ? answer_operands(run, addresses, count)
                      : lookup_stream(&run->target, &run->printer, run->threads, &run->out);
    if (!out_finish_stdout(&run->out) || !good || !is_read_well(run)) return EXIT_FAILED;
    if (run->printer.damaged_count)
        cli_error(run->target.is_process ? NULL : run->path, "addresses in damaged records: %llu (see 'error' in the answers)",
                 (unsigned long long)run->printer.damaged_count);
    if (run->printer.loaded_addr && !run->target.is_process)
        cli_report("0x%llx " LOADED_HINT, (unsigned long long)run->printer.loaded_addr);
    return run->printer.partial ? EXIT_PARTIAL : EXIT_WORKED;
}

/* "0x1000" or "-0x1000". */
static bool parse_slide(const char *text, uint64_t *out) {
    bool is_negative = text[0] == '-';
    if (!address_parse((struct csn_str){ text + is_negative, strlen(text + is_negative) }, out)) return false;
    if (is_negative) *out = 0 - *out;
    return true;
}

static bool option_address(const char *name, const char *text, bool (*parse)(const char *, uint64_t *), uint64_t *out) {
    if (parse(text, out)) return true;
    cli_error(NULL, "option '--%s' needs a hexadecimal address of at most 64 bits, not '%s'", name, text);
    return false;
}

static bool parse_address_text(const char *text, uint64_t *out) {
    return address_parse((struct csn_str){ text, strlen(text) }, out);
}

static bool parse_pid(const char *text, uint64_t *out) {
    size_t digits = strspn(text, "0123456789");
    return digits && !text[digits] && option_size_parse(text, out);
}

/* Options that say where an image is, or where its debug information, need one image. NULL: there is none. */
static const char *option_of_index(const struct lookup_values *values) {
    const struct companion_values *companions = &values->companions;
    if (values->load_address) return "--load-address";
    if (values->slide) return "--slide";
    if (companions->arch) return "--arch";
    if (companions->debug_file) return "--debug-file";
    if (companions->packages.count) return "--dwp";
    if (companions->dwo_dirs.count) return "--dwo-dir";
    if (companions->object_prefix) return "--oso-prefix";
    return companions->none ? "--no-companions" : NULL;
}

static bool options_fit(const struct lookup_values *values, int operand_count) {
    const char *of_index = option_of_index(values);
    bool is_process = values->pid || values->maps;
    if (values->pid && values->maps) cli_error(NULL, "--pid and --maps exclude each other");
    else if (values->load_address && values->slide) cli_error(NULL, "--load-address and --slide exclude each other");
    else if (is_process && of_index)
        cli_error(NULL, "%s needs an INDEX: it does not go with %s", of_index, values->pid ? "--pid" : "--maps");
    else if (!is_process && !operand_count) cli_error(NULL, "lookup needs INDEX [ADDR...] (try 'callsign lookup --help')");
    else return true;
    return false;
}

static enum exit_code look_up_process(struct lookup_run *run, const struct lookup_values *values, char **addresses, int count) {
    uint64_t pid = 0;
    if (values->pid && !parse_pid(values->pid, &pid)) {
        cli_error(NULL, "option '--pid' needs a number, not '%s'", values->pid);
        return EXIT_FAILED;
    }
    if (!symbol_search_start(&run->search) ||
        !lookup_target_open_process(&run->target, pid, values->maps, &run->search))
        return EXIT_FAILED;
    return look_up(run, addresses, count);
}

static bool place_image(struct lookup_run *run, const struct lookup_values *values, const struct csn_index *index) {
    uint64_t load_addr;
    if (values->slide) {
        run->target.has_slide = true;
        return option_address("slide", values->slide, parse_slide, &run->target.slide);
    }
    if (!values->load_address) return true;
    if (!option_address("load-address", values->load_address, parse_address_text, &load_addr)) return false;
    lookup_target_set_load_address(&run->target, index, load_addr);
    return true;
}

static enum exit_code look_up_segments(struct lookup_run *run, const struct lookup_values *values, char **addresses, int count) {
    run->target.path = run->path;
    if (!options_fit_index(run->path, &values->companions)) return EXIT_FAILED;
    if (!lookup_target_open_segments(&run->target) || !place_image(run, values, NULL)) return EXIT_FAILED;
    return look_up(run, addresses, count);
}

static enum exit_code look_up_index(struct lookup_run *run, const struct lookup_values *values, char **addresses, int count) {
    enum exit_code code = EXIT_FAILED;
    struct opened_index opened;
    run->is_remote = input_is_remote(run->path);
    if (!run->is_remote && segment_manifest_is(run->path)) return look_up_segments(run, values, addresses, count);
    run->target.path = run->path;
    run->target.finder.is_remote = run->is_remote;
    if (run->is_remote ? !open_remote_index(run->path, &values->companions, &opened)
                  : !open_index_through(run->path, &values->companions, &run->search, &opened))
        return EXIT_FAILED;
    run->index = opened.index;
    if (!index_query_init(&run->printer.query, opened.index, run->target.mode)) cli_error_memory("frames");
    else if (place_image(run, values, opened.index)) code = look_up(run, addresses, count);
    index_query_deinit(&run->printer.query);
    lookup_target_deinit(&run->target);
    close_index(&opened);
    return code;
}

static enum exit_code run_lookup(const void *command_values, char **operands, int operand_count) {
    static struct lookup_run run;
    const struct lookup_values *values = command_values;
    struct answer_printer *printer = &run.printer;
    bool is_process = values->pid || values->maps;
    int first = is_process ? 0 : 1;
    if (!options_fit(values, operand_count)) return EXIT_FAILED;
    run.path = is_process ? NULL : operands[0];
    run.threads = (unsigned)values->threads;
    run.target.mode = values->llvm ? CSN_LOOKUP_LLVM : CSN_LOOKUP_DEFAULT;
    run.target.return_addresses = values->return_addresses;
    printer->json = values->json;
    printer->merged = values->merged;
    out_init(&run.out, STDOUT_FILENO);
    /* Before anything is opened; whether the index has binaries is not known yet. */
    if (!answer_printer_has_query(operands + first, operand_count - first, lookup_text_is_query)) return EXIT_FAILED;
    if (!name_text_init_for(&printer->names, values->demangle, values->shorten, values->shorten_nested)) return EXIT_FAILED;
    symbol_search_plan(&run.search, &values->companions, &values->cache, values->offline);
    enum exit_code code = is_process ? look_up_process(&run, values, operands, operand_count)
                                     : look_up_index(&run, values, operands + 1, operand_count - 1);
    if (run.target.modules) printer->query = (struct index_query){ .index = NULL };
    lookup_target_deinit(&run.target);
    symbol_search_end(&run.search);
    answer_printer_deinit(printer);
    return code;
}

const struct command lookup_command = {
    .name = "lookup",
    .arguments = "INDEX [ADDR...]",
    .summary = "function, source line and inlined calls at addresses",
    .description =
        "Prints the frames at each address, innermost first. ADDR is hexadecimal, with or without 0x: 1139 is 0x1139. It is\n"
        "an address in the image's file, without load bias, unless one of --load-address, --slide, --pid and --maps is given.\n"
        "ADDR may also be SYMBOL+0xOFFSET, where SYMBOL may be demangled ('ns::f(int)+0x10'); A-B: every line row from A up to\n"
        "B; or file:0xOFFSET, an offset in the object file INDEX. In an index of many binaries (BSYM), NAME+0xOFFSET is an\n"
        "offset from the start of a binary, which is named by its file name or its path on the device.\n"
        "\n"
        "Without ADDR, addresses are read from standard input, one a line, and answered in order; answers are flushed whenever\n"
        "the input pauses. Blank lines are skipped; a line that is not an address is answered by an error.\n"
        "\n"
        "INDEX may be an object file, which is converted first; the cache keeps the conversion (see 'callsign cache'). The\n"
        "list of an index in segments, OUT-manifest.json, answers like the whole index; only segments that are needed are\n"
        "opened. INDEX may also be the URL of an index: http://, https:// or s3://BUCKET/KEY (with the usual AWS_* variables).\n"
        "Only the ranges that are needed are read. With --pid or --maps there is no INDEX: the symbols of each module are\n"
        "searched as 'callsign stack' does.\n"
        "\n"
        "In JSON, an unknown field is left out, \"reason\" says why something is missing, and bytes that are not valid UTF-8\n"
        "become U+FFFD. In text, control characters are shown as \\xNN.\n"
        "\n"
        "Exit status: 1 if an address was not found, or one of several was not an address.\n",
    .example = "callsign lookup app.gsym 0x1139 --demangle",
    .min_operands = 0,
    .max_operands = -1,
    .values_size = sizeof(struct lookup_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct lookup_values, companions) },
    .run = run_lookup,
};

/* callsign lookup: addresses in, frames out. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

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
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct lookup_values, threads),
      .max = 1024, .value_name = "N",
      .help = "number of threads for addresses on standard input (default\n0: one per core)" },
};

/* What one run of the command needs for each address. */
struct lookup_run {
    const char *path; /* of the index */
    struct answer_printer printer;
    unsigned threads;
    struct out_buffer out;
};

/* Before anything is opened; whether the index has binaries is not known yet. */
static bool has_address(char **operands, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t addr;
        struct csn_str name, text = { operands[i], strlen(operands[i]) };
        if (address_parse(text, &addr) || named_address_parse(text, &name, &addr)) return true;
    }
    if (count) cli_error(NULL, "'%s' is not a hexadecimal address", operands[0]);
    return !count;
}

/* One that is no address does not keep the others from their answers. False: none is one. */
static bool answer_operands(struct lookup_run *run, char **operands, int count) {
    int bad = 0;
    for (int i = 0; i < count; i++) {
        struct csn_str name, text = { operands[i], strlen(operands[i]) };
        uint64_t addr;
        if (answer_printer_run(&run->printer, text, &run->out)) continue;
        bool named = named_address_parse(text, &name, &addr);
        answer_printer_put_bad_operand(&run->printer, text, named ? ", and the index is of one binary" : "", bad + 1 < count,
                                       &run->out);
        bad++;
    }
    return bad < count;
}

static enum exit_code look_up(struct lookup_run *run, char **addresses, int count) {
    bool good = count ? answer_operands(run, addresses, count) : lookup_stream(&run->printer, run->threads, &run->out);
    if (!out_finish_stdout(&run->out) || !good) return EXIT_FAILED;
    if (run->printer.damaged_count)
        cli_error(run->path, "addresses in damaged records: %llu (see 'error' in the answers)",
                 (unsigned long long)run->printer.damaged_count);
    if (run->printer.loaded_addr)
        cli_report("0x%llx " LOADED_HINT, (unsigned long long)run->printer.loaded_addr);
    return run->printer.partial ? EXIT_PARTIAL : EXIT_WORKED;
}

static enum exit_code run_lookup(const void *command_values, char **operands, int operand_count) {
    static struct lookup_run run;
    const struct lookup_values *values = command_values;
    struct answer_printer *printer = &run.printer;
    run.path = operands[0];
    run.threads = (unsigned)values->threads;
    printer->json = values->json;
    printer->merged = values->merged;
    out_init(&run.out, STDOUT_FILENO);
    if (!has_address(operands + 1, operand_count - 1)) return EXIT_FAILED;
    if (!name_text_init_for(&printer->names, values->demangle, values->shorten, values->shorten_nested)) return EXIT_FAILED;

    enum exit_code code = EXIT_FAILED;
    struct opened_index opened;
    if (open_index(operands[0], &values->companions, &opened)) {
        if (index_query_init(&printer->query, opened.index, values->llvm ? CSN_LOOKUP_LLVM : CSN_LOOKUP_DEFAULT))
            code = look_up(&run, operands + 1, operand_count - 1);
        else
            cli_error_memory("frames");
    }
    answer_printer_deinit(printer);
    close_index(&opened);
    return code;
}

const struct command lookup_command = {
    .name = "lookup",
    .arguments = "INDEX [ADDR...]",
    .summary = "function, source line and inlined calls at addresses",
    .description =
        "Prints the frames at each address, innermost first. ADDR is hexadecimal, with or without 0x: 1139 is 0x1139. It is\n"
        "an address in the image's file, without load bias. Without ADDR, addresses are read from standard input, one a line,\n"
        "and answered in order; answers are flushed whenever the input pauses. Blank lines are skipped; a line that is not an\n"
        "address is answered by an error. INDEX may be an object file, which is converted in memory first. In an index of\n"
        "many binaries (BSYM), ADDR may be NAME+0xOFFSET: an offset from the start of a binary, which is named by its file\n"
        "name or its path on the device.\n"
        "\n"
        "In JSON, an unknown field is left out, \"reason\" says why something is missing, and bytes that are not valid UTF-8\n"
        "become U+FFFD. In text, control characters are shown as \\xNN.\n"
        "\n"
        "Exit status: 1 if an address was not found, or one of several was not an address.\n",
    .example = "callsign lookup app.gsym 0x1139 --demangle",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct lookup_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct lookup_values, companions) },
    .run = run_lookup,
};

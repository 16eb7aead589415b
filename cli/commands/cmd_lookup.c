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
      .help = "C++, Rust and D names as in the source" },
    { .name = "merged", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, merged),
      .help = "list all functions that share the code at an address, where\nthe index has them (convert --merged-functions)" },
    { .name = "shorten-names", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, shorten),
      .help = "demangled names without what the C++ library's defaults\nadd to them" },
    { .name = "shorten-nested", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, shorten_nested),
      .help = "the same, and within template arguments too" },
    { .name = "llvm", .kind = OPTION_FLAG, .offset = offsetof(struct lookup_values, llvm),
      .help = "answer as LLVM's reader does: an address in front of the\nfirst line row of its function is not found" },
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct lookup_values, threads),
      .max = 1024, .value_name = "N",
      .help = "how many threads answer what comes on standard input; 0, the\ndefault: one per core" },
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
        "Prints the frames at each address, innermost first. ADDR is hexadecimal, with or without 0x: 1139 is 0x1139. It\n"
        "is an address of the image's file, load bias removed. Without ADDR, addresses are read from standard input,\n"
        "one a line, and answered in order; answers are flushed whenever the input pauses. Blank lines are skipped; a\n"
        "line that is no address is answered by an error in its place. INDEX may be an object file: it is then converted in\n"
        "memory first. In an index of many binaries (BSYM), ADDR may be NAME+0xOFFSET: an offset from the start of a\n"
        "binary, by its file name or its path on the device.\n"
        "\n"
        "A field that is not known is left out of the JSON, and \"reason\" says why. Bytes of names that are not UTF-8\n"
        "become U+FFFD there. In text, control characters are shown as \\xNN.\n"
        "\n"
        "Exit status: 1 when an address was not found or one of several was no address.\n",
    .example = "callsign lookup app.gsym 0x1139 --demangle",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct lookup_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct lookup_values, companions) },
    .run = run_lookup,
};

/* callsign dump: what an index holds. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup/address_text.h"
#include "lookup/answer_printer.h"
#include "commands/commands.h"
#include "input/companion_options.h"
#include "ui/cli_message.h"
#include "dump/dump_out.h"
#include "input/open_index.h"

struct dump_values {
    bool summary, json, demangle, shorten, shorten_nested;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "summary", .letter = 's', .kind = OPTION_FLAG, .offset = offsetof(struct dump_values, summary),
      .help = "show only the header" },
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct dump_values, json),
      .help = "one JSON object a line: the header, each file, each\nfunction" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct dump_values, demangle),
      .help = "show demangled names" },
    { .name = "shorten-names", .kind = OPTION_FLAG, .offset = offsetof(struct dump_values, shorten),
      .help = "show names demangled and without default template\narguments of the C++ library" },
    { .name = "shorten-nested", .kind = OPTION_FLAG, .offset = offsetof(struct dump_values, shorten_nested),
      .help = "the same, also inside template arguments" },
};

static void put_function(struct dump *dump, bool json, uint32_t idx) {
    if (dump->info.format == CSN_FORMAT_BSYM)
        dump_rom_function(dump, idx, json);
    else if (json)
        dump_json_function(dump, idx);
    else
        dump_text_function(dump, idx);
}

static void put_all(struct dump *dump, const struct dump_values *values, const char *path) {
    bool many = dump->info.format == CSN_FORMAT_BSYM;
    if (many)
        dump_rom_header(dump, path, values->json);
    else if (values->json)
        dump_json_header(dump, path);
    else
        dump_text_header(dump, path);
    if (values->summary) return;
    if (many)
        dump_rom_binaries(dump, values->json);
    else if (values->json)
        dump_json_files(dump);
    else
        dump_text_files(dump);
    /* A reader that went away, or a full disk, is not worth the rest of a large index. */
    for (uint32_t idx = 0; idx < dump->info.function_count && !dump->out.os_error; idx++)
        put_function(dump, values->json, idx);
}

/* One that is no address does not keep the others from their answers. */
static void put_at(struct dump *dump, bool json, const char *text) {
    struct answer answer = { 0 };
    const struct csn_str given = { text, strlen(text) };
    if (!address_parse(given, &answer.addr)) {
        struct answer_printer printer = { .json = json };
        answer_printer_put_bad_operand(&printer, given, address_fault(given), true, &dump->out);
        dump->partial = true;
        return;
    }
    answer.status = csn_index_lookup_refs(dump->index, answer.addr, CSN_LOOKUP_DEFAULT, NULL, 0, &answer.found,
                                          &answer.err);
    answer.found.frame_count = 0;
    if (answer.status == CSN_OK) {
        put_function(dump, json, answer.found.function_index);
        return;
    }
    dump->partial = true;
    if (json) {
        struct json_out line = json_on(&dump->out);
        answer_put_json(&answer, &dump->names, &line);
        json_end_line(&line);
    } else {
        answer_put_text(&answer, &dump->names, &dump->out);
    }
}

static enum exit_code dump_index(struct dump *dump, const struct dump_values *values, char **operands, int count) {
    csn_index_get_info(dump->index, &dump->info, sizeof(dump->info));
    if (count == 1) put_all(dump, values, operands[0]);
    for (int i = 1; i < count; i++) put_at(dump, values->json, operands[i]);
    if (!out_finish_stdout(&dump->out)) return EXIT_FAILED;
    if (dump->damaged) cli_error(operands[0], "some records are damaged (see 'error:' in the dump)");
    return dump->damaged || dump->partial ? EXIT_PARTIAL : EXIT_WORKED;
}

/* Before anything is opened. */
static bool operands_are_good(const struct dump_values *values, char **addresses, int count) {
    if (values->summary && count) {
        cli_error(NULL, "option '--summary' shows the header only: it does not go with an address");
        return false;
    }
    return answer_printer_has_query(addresses, count, text_is_address);
}

static enum exit_code run_dump(const void *given, char **operands, int operand_count) {
    const struct dump_values *values = given;
    static struct dump dump;
    if (!operands_are_good(values, operands + 1, operand_count - 1)) return EXIT_FAILED;
    out_init(&dump.out, STDOUT_FILENO);
    if (!name_text_init_for(&dump.names, values->demangle, values->shorten, values->shorten_nested)) return EXIT_FAILED;
    enum exit_code code = EXIT_FAILED;
    struct opened_index opened;
    if (open_index(operands[0], &values->companions, &opened)) {
        dump.index = opened.index;
        code = dump_index(&dump, values, operands, operand_count);
        close_index(&opened);
    }
    name_text_deinit(&dump.names);
    free(dump.scratch);
    return code;
}

const struct command dump_command = {
    .name = "dump",
    .arguments = "INDEX [ADDR...]",
    .summary = "show the contents of an index: header, files, functions",
    .description =
        "Prints the header, the files and every function with its lines, inlined calls, call sites and merged functions.\n"
        "With ADDR (hexadecimal), only the functions at these addresses are printed. INDEX may be an object file, which is\n"
        "converted in memory first.\n"
        "\n"
        "A damaged record is shown as far as it can be read, followed by 'error:'.\n"
        "Exit status: 1 if a record is damaged, an address was not found, or one of several was not an address.\n",
    .example = "callsign dump app.gsym 0x1139",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct dump_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct dump_values, companions) },
    .run = run_dump,
};

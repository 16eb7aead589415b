/* callsign explain: why the answer to an address is what it is. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lookup/address_text.h"
#include "lookup/answer_printer.h"
#include "commands/commands.h"
#include "input/companion_options.h"
#include "ui/cli_message.h"
#include "explain/explain_find.h"
#include "explain/explain_show.h"
#include "input/open_index.h"

struct explain_values {
    bool json, demangle;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct explain_values, json),
      .help = "one JSON object for each address instead of text" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct explain_values, demangle),
      .help = "show demangled names" },
};

/* False: it is no address, or was not found. */
static bool explain_one(const struct csn_index *index, const char *path, const char *operand, bool json,
                        struct name_text *names, struct out_buffer *out) {
    static struct explanation found;
    struct whole_names whole;
    const struct csn_str text = { operand, strlen(operand) };
    uint64_t addr;
    if (!address_parse(text, &addr)) {
        struct answer_printer printer = { .json = json };
        answer_printer_put_bad_operand(&printer, text, address_fault(text), true, out);
        return false;
    }
    whole_names_init(&whole, index);
    explain_find(index, addr, &whole, &found);
    if (json) explain_show_json(&found, path, names, out);
    else explain_show_text(&found, path, names, out);
    whole_names_deinit(&whole);
    return found.status == CSN_OK;
}

static enum exit_code run_explain(const void *values, char **operands, int operand_count) {
    const struct explain_values *v = values;
    static struct out_buffer out;
    struct name_text names;
    struct opened_index opened;
    out_init(&out, STDOUT_FILENO);
    if (!answer_printer_has_query(operands + 1, operand_count - 1, text_is_address)) return EXIT_FAILED;
    if (!name_text_init(&names, v->demangle)) return EXIT_FAILED;
    bool partial = false, good = open_index(operands[0], &v->companions, &opened);
    for (int i = 1; good && i < operand_count; i++) {
        if (i > 1 && !v->json) out_char(&out, '\n');
        if (!explain_one(opened.index, operands[0], operands[i], v->json, &names, &out)) partial = true;
    }
    if (good) close_index(&opened);
    name_text_deinit(&names);
    if (!good || !out_finish_stdout(&out)) return EXIT_FAILED;
    return partial ? EXIT_PARTIAL : EXIT_WORKED;
}

const struct command explain_command = {
    .name = "explain",
    .arguments = "INDEX ADDR...",
    .summary = "show why the answer to an address is what it is",
    .description =
        "Shows the lookup of each address step by step: the entry of the address table, the record, the line row, the inlined\n"
        "calls, the functions that share the code, the call sites that return here; and why something is missing.\n"
        "ADDR is hexadecimal. INDEX may be an object file, which is converted in memory first.\n"
        "\n"
        "Exit status: 1 if an address was not found, or one of several was not an address.\n",
    .example = "callsign explain app.gsym 0x1139",
    .min_operands = 2,
    .max_operands = -1,
    .values_size = sizeof(struct explain_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct explain_values, companions) },
    .run = run_explain,
};

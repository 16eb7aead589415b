/* callsign lookup: addresses in, frames out. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "address_input.h"
#include "answer.h"
#include "candidates.h"
#include "command.h"
#include "companion_options.h"
#include "complain.h"
#include "open_index.h"
#include "question_batch.h"

struct lookup_values {
    bool json, demangle, llvm, merged, shorten, shorten_nested;
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
};

/* What one run of the command needs for each address. */
struct lookup_run {
    const char *path; /* of the index */
    const struct lookup_values *values;
    struct asker asker;
    struct name_text names;
    struct out_buffer out;
    uint64_t damaged_count; /* addresses whose record could not be read */
    bool partial;
};

/* False: some of the functions that were folded into this one could not be read. */
static bool write_answer(struct lookup_run *run, const struct answer *answer, struct out_buffer *out) {
    bool merged = run->values->merged, good = true;
    if (run->values->json) {
        struct json_out json = json_on(out);
        answer_begin_json(answer, &run->names, &json);
        if (merged) good = candidates_put_json(run->asker.index, answer, &run->names, &json);
        json_end_object(&json);
        json_end_line(&json);
    } else {
        answer_put_text(answer, &run->names, out);
        if (merged) good = candidates_put_text(run->asker.index, answer, &run->names, out);
    }
    return good;
}

static void put_answer(struct lookup_run *run, const struct answer *answer, struct out_buffer *out) {
    if (answer->status != CSN_OK) run->partial = true;
    if (answer->status < 0) run->damaged_count++;
    if (write_answer(run, answer, out)) return;
    run->partial = true;
    run->damaged_count++;
}

/* A line that is no address is answered in its place, so that answers stay in step with questions. */
static void answer_bad_line(struct lookup_run *run, struct csn_str line, uint64_t number) {
    enum { SHOWN = 64 };
    if (line.len > SHOWN) line.len = SHOWN;
    run->partial = true;
    complain(NULL, "line %llu: '%.*s' is not a hexadecimal address", (unsigned long long)number, (int)line.len, line.ptr);
    if (run->values->json) {
        static const char tail[] = "' is not a hexadecimal address";
        char text[1 + SHOWN + sizeof(tail)] = "'";
        memcpy(text + 1, line.ptr, line.len);
        memcpy(text + 1 + line.len, tail, sizeof(tail));
        struct json_out json = json_on(&run->out);
        json_begin_object(&json);
        json_key(&json, "error");
        json_string(&json, (struct csn_str){ text, 1 + line.len + sizeof(tail) - 1 });
        json_end_object(&json);
        json_end_line(&json);
    } else {
        out_safe(&run->out, line);
        out_text(&run->out, ": error: not a hexadecimal address\n");
    }
}

static bool is_blank_line(struct csn_str line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r') return false;
    return true;
}

/* Answers are written in the order of their addresses, while what they name is at hand, and then given in that of the
 * questions. One that is too long for a page is written when its turn comes. */
static bool answer_batch(struct lookup_run *run, struct question_batch *batch) {
    static struct out_buffer page;
    if (!question_batch_ask(batch)) {
        complain_memory("frames");
        return false;
    }
    struct answer answer;
    for (size_t k = 0; k < batch->count; k++) {
        out_init(&page, -1);
        question_batch_answer(batch, k, &answer);
        put_answer(run, &answer, &page);
        if (!page.os_error) question_batch_keep(batch, k, page.bytes, page.used);
    }
    for (size_t place = 0; place < batch->count; place++) {
        size_t k = batch->answer_of[place];
        struct csn_str kept = question_batch_kept(batch, k);
        out_bytes(&run->out, kept.ptr, kept.len);
        if (kept.len) continue;
        question_batch_answer(batch, k, &answer);
        write_answer(run, &answer, &run->out);
    }
    batch->count = 0;
    return true;
}

/* One question of an image of many binaries: NAME+0xOFFSET or an address. False: neither. */
static bool answer_one(struct lookup_run *run, struct csn_str question) {
    struct answer answer;
    struct csn_str name;
    uint64_t addr;
    if (address_parse(question, &addr))
        asker_ask(&run->asker, addr, &answer);
    else if (run->asker.info.binary_count && named_address_parse(question, &name, &addr))
        asker_ask_named(&run->asker, name, addr, &answer);
    else
        return false;
    put_answer(run, &answer, &run->out);
    return true;
}

/* Names are put together one by one there, so questions are not gathered. */
static bool answer_lines_of_many(struct lookup_run *run, struct address_input *input) {
    struct csn_str line;
    enum input_result result;
    while ((result = address_input_next(input, &run->out, &line)) == INPUT_LINE)
        if (!is_blank_line(line) && !answer_one(run, line)) answer_bad_line(run, line, input->line);
    if (input->os_error) complain(NULL, "standard input: %s", strerror(input->os_error));
    return result == INPUT_END;
}

/* Lines that are there already are asked together; nothing waits for a line that is not. */
static bool answer_lines(struct lookup_run *run, struct address_input *input, struct question_batch *batch) {
    struct csn_str line;
    enum input_result result;
    while ((result = address_input_next(input, &run->out, &line)) == INPUT_LINE) {
        uint64_t addr;
        bool good = address_parse(line, &addr), bad = !good && !is_blank_line(line);
        if (good) question_batch_add(batch, addr);
        bool full = batch->count == QUESTIONS_MAX || bad || !address_input_has_line(input);
        if (full && batch->count && !answer_batch(run, batch)) return false;
        if (bad) answer_bad_line(run, line, input->line);
    }
    if (input->os_error) complain(NULL, "standard input: %s", strerror(input->os_error));
    return result == INPUT_END;
}

static bool answer_input(struct lookup_run *run) {
    static struct address_input input;
    static struct question_batch batch;
    address_input_init(&input, STDIN_FILENO);
    if (run->asker.info.binary_count) return answer_lines_of_many(run, &input);
    bool good = question_batch_init(&batch, &run->asker, !run->values->json);
    if (good)
        good = answer_lines(run, &input, &batch);
    else
        complain_memory("frames");
    question_batch_deinit(&batch);
    return good;
}

/* Before anything is opened; whether the index has binaries is not known yet. */
static bool operands_are_addresses(char **operands, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t addr;
        struct csn_str name, text = { operands[i], strlen(operands[i]) };
        if (address_parse(text, &addr) || named_address_parse(text, &name, &addr)) continue;
        complain(NULL, "'%s' is not a hexadecimal address", operands[i]);
        return false;
    }
    return true;
}

static bool answer_operands(struct lookup_run *run, char **operands, int count) {
    for (int i = 0; i < count; i++) {
        if (answer_one(run, (struct csn_str){ operands[i], strlen(operands[i]) })) continue;
        complain(NULL, "'%s' is not a hexadecimal address, and the index is of one binary", operands[i]);
        return false;
    }
    return true;
}

static enum exit_code look_up(struct lookup_run *run, char **addresses, int count) {
    bool good = count ? answer_operands(run, addresses, count) : answer_input(run);
    if (!out_finish_stdout(&run->out) || !good) return EXIT_FAILED;
    if (run->damaged_count)
        complain(run->path, "addresses in damaged records: %llu (see 'error' in the answers)",
                 (unsigned long long)run->damaged_count);
    return run->partial ? EXIT_PARTIAL : EXIT_WORKED;
}

static enum exit_code run_lookup(const void *values, char **operands, int operand_count) {
    static struct lookup_run run;
    run.path = operands[0];
    run.values = values;
    out_init(&run.out, STDOUT_FILENO);
    if (!operands_are_addresses(operands + 1, operand_count - 1)) return EXIT_FAILED;
    if (!name_text_init_for(&run.names, run.values->demangle, run.values->shorten, run.values->shorten_nested))
        return EXIT_FAILED;

    enum exit_code code = EXIT_FAILED;
    struct opened_index opened;
    if (open_index(operands[0], &run.values->companions, &opened)) {
        if (asker_init(&run.asker, opened.index, run.values->llvm ? CSN_LOOKUP_LLVM : CSN_LOOKUP_DEFAULT))
            code = look_up(&run, operands + 1, operand_count - 1);
        else
            complain_memory("frames");
        asker_deinit(&run.asker);
        close_index(&opened);
    }
    name_text_deinit(&run.names);
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
        "Exit status: 1 when an address was not found or a line was no address.\n",
    .example = "callsign lookup app.gsym 0x1139 --demangle",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct lookup_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct lookup_values, companions) },
    .run = run_lookup,
};

/* callsign stack: whole stacks in, functions and lines out, merged functions told apart. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "stack/dialects/dialects.h"
#include "stack/dialects/stack_json.h"
#include "stack/lines/jvm_libraries.h"
#include "stack/text/stack_text.h"
#include "stack/text/stack_threads.h"
#include "ui/cli_message.h"
#include "ui/json_span.h"
#include "ui/line_input.h"
#include "ui/turns.h"

enum { DEFAULT_MAX_FRAMES = 1 << 16, DEFAULT_CACHE = 128 << 20 /* of a thread */, DEFAULT_CACHES = 512 << 20, JSON_BYTES_PER_FRAME = 256, LINE_MIN = 1 << 20, REPORT_MAX = 256 << 20 };

struct stack_values {
    struct text_list indexes, folders;
    const char *format;
    bool json, in_place, explain, demangle;
    uint64_t max_frames, cache_bytes, threads;
    struct search_values search;
};

static const struct option_spec options[] = {
    { .name = "index", .letter = 'i', .kind = OPTION_TEXTS, .offset = offsetof(struct stack_values, indexes),
      .value_name = "FILE", .help = "an index or object file; NAME=FILE: the one of modules\nnamed NAME; can be repeated" },
    { .name = "symbols", .letter = 's', .kind = OPTION_TEXTS, .offset = offsetof(struct stack_values, folders),
      .value_name = "DIR",
      .help = "a folder of indexes by build id (ab/cdef....gsym), as Breakpad\nstores are (NAME/ID/NAME.sym), or by name (NAME.gsym)" },
    { .name = "format", .letter = 'f', .kind = OPTION_TEXT, .offset = offsetof(struct stack_values, format),
      .value_name = "FORMAT",
      .help = "kind of input (default: detected): json, ips, minidump-json,\ndotnet-json, or a kind of text: plain, perf, sanitizer, kernel,\n"
              "segfault, bsd, illumos, go, pprof, glibc, libunwind, boost,\nbackward, clickhouse, failure, rust, swift, gdb, lldb,\n"
              "coredump, elfutils, valgrind, jvm, mozilla, chromium,\nminidump, android, strace, bpftrace, folded, wasm, esp-idf,\n"
              "fault, windbg, windows, crash, runtime" },
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct stack_values, json),
      .help = "one JSON object for each stack instead of text" },
    { .name = "in-place", .kind = OPTION_FLAG, .offset = offsetof(struct stack_values, in_place),
      .help = "copy the input with its frames filled in" },
    { .name = "explain", .kind = OPTION_FLAG, .offset = offsetof(struct stack_values, explain),
      .help = "show why each name was chosen, and where the symbols of a\nmodule were searched in vain" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct stack_values, demangle),
      .help = "show demangled names" },
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct stack_values, threads), .max = 1024,
      .value_name = "N", .help = "number of threads (default: one per core); the output does\nnot depend on it" },
    { .name = "max-frames", .kind = OPTION_NUMBER, .offset = offsetof(struct stack_values, max_frames), .min = 1, .max = 1 << 24,
      .value_name = "N", .help = "longest stack to answer (default 65536)" },
    { .name = "cache", .kind = OPTION_SIZE, .offset = offsetof(struct stack_values, cache_bytes), .min = 1, .value_name = "SIZE",
      .help = "memory for cached answers (default 128M a thread, 512M in all)" },
};

struct stack_run {
    const struct stack_values *values;
    struct stack_session session;
    struct name_text names;
    struct out_buffer out;
    struct stack_output output;
    bool partial; /* something could not be understood */
    bool read_json;  /* a line of it may have modules alone */
    bool unopened;   /* a file; the others are answered */
};

enum input_kind { KIND_UNKNOWN, KIND_JSON, KIND_REPORT, KIND_TEXT };

static bool is_blank(struct csn_str line) {
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r\n", line.ptr[i])) return false;
    return true;
}

/* A report in JSON that spans many lines begins with a bracket alone; minidump-stackwalk writes one line by default. */
static bool is_report(struct csn_str line) {
    static const char minidump[] = "{\"crash_info\"";
    struct csn_str bare = line_text(line);
    while (bare.len && strchr(" \t", bare.ptr[bare.len - 1])) bare.len--;
    if (bare.len == 1) return true;
    return bare.len >= sizeof(minidump) - 1 && memcmp(bare.ptr, minidump, sizeof(minidump) - 1) == 0;
}

static bool has_text(struct csn_str line, const char *text) { return memmem(line.ptr, line.len, text, strlen(text)) != NULL; }

/* Stacks in JSON have "frames", or "modules" for those that follow; any other object is a record of a log, whose
 * strings may have stacks. */
static bool is_stack_json(struct csn_str line) {
    static const char *const members[] = { "frames", "modules" };
    struct csn_str root, value;
    struct json_fault fault;
    if (!has_text(line, "\"frames\"") && !has_text(line, "\"modules\"")) return !has_text(line, "\":") && !has_text(line, "\" :");
    if (!json_span_value(line, &root, &fault)) return true;
    for (size_t i = 0; i < 2; i++)
        if (json_span_find(root, members[i], &value)) return true;
    return false;
}

static bool is_report_format(const char *format) {
    static const char *const reports[] = { "ips", "minidump-json", "dotnet-json" };
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
        if (strcmp(format, reports[i]) == 0) return true;
    return false;
}

static enum input_kind kind_of(const char *format, struct csn_str line) {
    if (format && strcmp(format, "json") == 0) return KIND_JSON;
    if (format && is_report_format(format)) return KIND_REPORT;
    if (format) return KIND_TEXT;
    while (line.len && strchr(" \t", line.ptr[0])) line = (struct csn_str){ line.ptr + 1, line.len - 1 };
    if (!line.len || line.ptr[0] != '{') return KIND_TEXT;
    if (is_report(line) || stack_ips_recognize(line)) return KIND_REPORT;
    return is_stack_json(line) ? KIND_JSON : KIND_TEXT;
}

static bool input_failed(const struct line_input *input, const char *path) {
    if (input->os_error) cli_error(path ? path : "standard input", "%s", strerror(input->os_error));
    else if (input->no_memory) cli_error_memory("a line");
    return false;
}

/* ---- by several threads ---- */

static unsigned thread_count(const struct stack_run *run) {
    return run->values->threads ? (unsigned)run->values->threads : usable_cores();
}

/* Of all threads. Each has its own cache, and sees most places: with half of it, it would fill it again and again. */
static uint64_t cache_bytes(const struct stack_run *run, unsigned threads) {
    uint64_t wanted = (uint64_t)threads * DEFAULT_CACHE;
    if (run->values->cache_bytes) return run->values->cache_bytes;
    return wanted < DEFAULT_CACHES ? wanted : DEFAULT_CACHES;
}

static struct stack_feed feed_of(struct stack_run *run, struct line_input *input, void *context) {
    uint64_t share = cache_bytes(run, thread_count(run)) / thread_count(run);
    return (struct stack_feed){ .session = &run->session, .output = &run->output, .input = input, .in_place = run->values->in_place,
                                .cache_bytes = share ? share : 1, .context = context };
}

static bool feed_text_line(void *context, struct stack_part *part, struct csn_str line, bool is_part) {
    struct stack_text *text = context;
    text->part = part;
    return stack_text_line(text, line, is_part);
}

static bool feed_text_has_step(void *context) { return stack_text_has_step(context); }

static bool feed_text_step(void *context, struct stack_part *part) {
    struct stack_text *text = context;
    text->part = part;
    return stack_text_step(text);
}

static void feed_text_over(void *context) { stack_text_over(context); }

static bool feed_text_idle(void *context, struct stack_part *part) {
    struct stack_text *text = context;
    text->part = part;
    return stack_text_idle(text);
}

static bool feed_text_end(void *context, struct stack_part *part) {
    struct stack_text *text = context;
    text->part = part;
    return stack_text_end(text);
}

struct json_feed {
    struct stack_run *run;
    bool skipping; /* the rest of a line that is too long */
};

static bool feed_json_line(void *context, struct stack_part *part, struct csn_str line, bool is_part) {
    struct json_feed *json = context;
    struct stack_json_error error;
    bool has_frames = false, was_skipping = json->skipping;
    json->skipping = is_part;
    if (is_part) json->run->partial = true;
    if (is_part) return was_skipping || stack_part_add_error(part, "the line is too long (see --max-frames)");
    if (was_skipping || is_blank(line)) return true;
    json->run->read_json = true;
    if (stack_json_read(&json->run->session, line_text(line), &has_frames, &error))
        return !has_frames || stack_part_add_stack(part, &json->run->session, NULL, NULL, false);
    json->run->partial = true;
    return stack_part_add_error(part, error.text);
}

static bool feed_json_end(void *context, struct stack_part *part) {
    (void)context, (void)part;
    return true;
}

static bool read_json_threaded(struct stack_run *run, struct line_input *input, const char *path, struct csn_str line,
                               enum line_result result) {
    struct json_feed json = { run, false };
    struct stack_feed feed = feed_of(run, input, &json);
    feed.read = feed_json_line;
    feed.finish = feed_json_end;
    return stack_threads_run(&feed, thread_count(run), line, result == LINE_PART) && !input->os_error && !input->no_memory
           ? true : input_failed(input, path);
}

/* ---- by one ---- */

/* A line that is too long is answered once, whatever its parts are. */
static bool read_json(struct stack_run *run, struct line_input *input, const char *path, struct csn_str line,
                      enum line_result result) {
    bool skipping = false;
    if (thread_count(run) > 1) return read_json_threaded(run, input, path, line, result);
    do {
        if (result == LINE_PART) {
            if (!skipping) output_error(&run->output, "the line is too long (see --max-frames)");
            skipping = run->partial = true;
        } else if (skipping) {
            skipping = false;
        } else if (!is_blank(line)) {
            if (!stack_json_line(&run->session, line_text(line), &run->output)) run->partial = true;
            run->read_json = true;
        }
        result = line_input_next_flushed(input, &run->out, &line);
    } while (result == LINE_WHOLE || result == LINE_PART);
    return result == LINE_END || input_failed(input, path);
}

/* Everything that is left, with the line that has been read already. */
static bool read_report(struct stack_run *run, struct line_input *input, const char *path, struct csn_str line) {
    struct csn_str text;
    input->max = REPORT_MAX;
    if (!line_input_whole(input, line, &text)) {
        if (input->os_error || input->no_memory) return input_failed(input, path);
        cli_error(path ? path : "standard input", "a report of more than %d MiB", REPORT_MAX >> 20);
        return false;
    }
    struct stack_json_error error;
    if (stack_report(&run->session, text, run->values->format, run->values->in_place, &run->output, &error)) return true;
    run->partial = true;
    if (!error.text[0]) return true;
    if (run->values->in_place) cli_error(path ? path : "standard input", "%s", error.text);
    else output_error(&run->output, error.text);
    return true;
}

static bool ends_object(struct csn_str text) { return has_text(text, "\n}"); }

/* What begins with a bracket alone may also be a log whose records are spread over lines: its first object is no
 * report's. `line` may move.
 * False: it could not be read. */
static bool tell_report(struct line_input *input, struct csn_str *line, enum input_kind *kind) {
    enum { AHEAD_MAX = 1 << 20 };
    static const char *const members[] = { "threads", "crashing_thread", "bug_type", "incident_id", "crash_info", "modules" };
    struct csn_str text, head, value;
    struct json_fault fault;
    if (line_text(*line).len != 1) return true;
    if (!line_input_ahead(input, AHEAD_MAX, -1, ends_object, line, &text)) return false;
    if (!json_span_value(text, &head, &fault) || stack_dotnet_recognize(head)) return true;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (json_span_find(head, members[i], &value)) return true;
    *kind = KIND_TEXT;
    return true;
}

static bool read_text(struct stack_run *run, struct line_input *input, const char *path, struct csn_str line,
                      enum line_result result) {
    struct stack_text text;
    if (!stack_text_init(&text, &run->session, &run->output, run->values->in_place, stack_dialects,
                         DIALECT_COUNT, run->values->format)) {
        cli_error_memory("lines");
        return false;
    }
    if (!jvm_libraries_read(&text.modules, input, &line)) {
        stack_text_deinit(&text);
        return input_failed(input, path);
    }
    struct stack_feed feed = feed_of(run, input, &text);
    feed.read = feed_text_line;
    feed.has_step = feed_text_has_step;
    feed.step = feed_text_step;
    feed.over = feed_text_over;
    feed.idle = feed_text_idle;
    feed.finish = feed_text_end;
    bool answered = stack_threads_run(&feed, thread_count(run), line, result == LINE_PART);
    stack_text_deinit(&text);
    return answered && !input->os_error && !input->no_memory ? true : input_failed(input, path);
}

static bool is_index_or_program(struct csn_str line) {
    return csn_is_index(line.ptr, line.len) || (line.len >= 4 && memcmp(line.ptr, "\177ELF", 4) == 0);
}

/* What tells of the encoding is written as it came, and is no part of the first line. */
static void begin_text(struct stack_run *run, const char *path, struct csn_str *line) {
    const struct csn_str text = without_byte_order_mark(*line);
    const char *name = path ? path : "standard input";
    if (run->values->in_place) out_bytes(&run->out, line->ptr, line->len - text.len);
    if (is_utf16(text)) cli_error(name, "%s", utf16_advice);
    if (is_index_or_program(text)) cli_error(name, "is no log but an index or a program: give it with --index");
    *line = text;
}

static bool answer_input(struct stack_run *run, int fd, const char *path) {
    struct line_input input;
    struct csn_str line;
    enum line_result result;
    uint64_t frames = run->session.max_frames;
    size_t max = frames < SIZE_MAX / JSON_BYTES_PER_FRAME ? (size_t)frames * JSON_BYTES_PER_FRAME : SIZE_MAX;
    const char *format = run->values->format;
    if (!line_input_init(&input, fd, max < LINE_MIN ? LINE_MIN : max)) {
        cli_error_memory("a line");
        return false;
    }
    bool good, is_first = true;
    do {
        result = line_input_next_flushed(&input, &run->out, &line);
        if (is_first && (result == LINE_WHOLE || result == LINE_PART)) begin_text(run, path, &line);
        is_first = false;
    } while (result == LINE_WHOLE && is_blank(line) && !run->values->in_place);
    enum input_kind kind = result == LINE_WHOLE || result == LINE_PART ? kind_of(format, line) : KIND_UNKNOWN;
    if (kind == KIND_REPORT && !format && !tell_report(&input, &line, &kind)) good = input_failed(&input, path);
    else if (kind == KIND_UNKNOWN) good = result == LINE_END || input_failed(&input, path);
    else if (kind == KIND_REPORT) good = read_report(run, &input, path, line);
    else if (kind == KIND_JSON && !run->values->in_place) good = read_json(run, &input, path, line, result);
    else good = read_text(run, &input, path, line, result);
    line_input_deinit(&input);
    return good;
}

/* False: what fails here would fail with the next file, too. */
static bool answer_file(struct stack_run *run, const char *path) {
    if (strcmp(path, "-") == 0) return answer_input(run, STDIN_FILENO, NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cli_error(path, "%s", strerror(errno));
        return run->unopened = true;
    }
    bool good = answer_input(run, fd, path);
    close(fd);
    return good;
}

static bool format_is_known(const char *format) {
    if (strcmp(format, "json") == 0 || is_report_format(format)) return true;
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        if (strcmp(format, stack_dialects[i]->name) == 0) return true;
    cli_error(NULL, "no input format '%s' (see callsign stack --help)", format);
    return false;
}

static bool values_are_good(const struct stack_values *values) {
    if (values->format && !format_is_known(values->format)) return false;
    if (!values->in_place || !values->json) return true;
    cli_error(NULL, "--in-place and --json exclude each other");
    return false;
}

/* The last line on stderr. */
static void report_summary(struct stack_run *run) {
    const struct stack_tally *tally = &run->session.tally;
    if (tally->stacks) tally_report(tally);
    if (tally->stacks || run->partial || run->read_json || run->unopened) return;
    cli_error(NULL, "no call stacks recognized (see --format and docs/stacks.md)");
    run->partial = true;
}

static enum exit_code run_stack(const void *values, char **operands, int operand_count) {
    static struct stack_run run;
    run.values = values;
    if (!values_are_good(run.values)) return EXIT_FAILED;
    uint64_t max_frames = run.values->max_frames ? run.values->max_frames : DEFAULT_MAX_FRAMES;
    out_init(&run.out, STDOUT_FILENO);
    if (!name_text_init(&run.names, run.values->demangle)) return EXIT_FAILED;
    run.output = (struct stack_output){ .out = &run.out, .names = &run.names, .json = run.values->json,
                                        .explain = run.values->explain };
    /* A third of it for texts, which can be done without. */
    uint64_t cache = cache_bytes(&run, 1);
    text_cache_init(&run.output.kept, cache / 3);
    bool good = session_init(&run.session, &run.values->indexes, &run.values->folders, &run.values->search, max_frames,
                             cache - cache / 3);
    run.session.explain = run.values->explain;
    if (good && !operand_count) good = answer_input(&run, STDIN_FILENO, NULL);
    for (int i = 0; good && i < operand_count; i++) good = answer_file(&run, operands[i]);
    if (good) report_summary(&run);
    session_deinit(&run.session);
    text_cache_deinit(&run.output.kept);
    name_text_deinit(&run.names);
    if (!out_finish_stdout(&run.out) || !good || run.unopened) return EXIT_FAILED;
    return run.partial ? EXIT_PARTIAL : EXIT_WORKED;
}

const struct command stack_command = {
    .name = "stack",
    .arguments = "[FILE...]",
    .summary = "name whole call stacks, and tell merged functions apart",
    .description =
        "Reads call stacks from FILE or standard input and names every frame. If the linker folded functions with identical\n"
        "code, the callers' call sites choose among the names; if they do not decide, the answer is marked as undecided.\n"
        "\n"
        "The kind of input is detected: stacks as JSON, one a line; Apple's .ips reports; the JSON of minidump-stackwalk and of\n"
        ".NET's createdump; or text of any length that contains stacks: perf script, sanitizers, Linux kernel traces and\n"
        "segfault lines, glibc, libunwind, Boost, glog, Abseil, folly, Rust, Go, gdb, lldb, coredumpctl, eu-stack, Valgrind, the\n"
        "JVM, Firefox, Chromium, minidump-stackwalk, Android, strace -k, ltrace, bpftrace, folded stacks, WebAssembly engines,\n"
        "ESP-IDF, Zephyr, FreeRTOS, Windows, Apple's .crash reports, or plain MODULE+0xOFFSET and 0xPC. One file may have\n"
        "several. Logs in lines of JSON (Docker, journalctl -o json, structured logs) are read, too: a string with frames is\n"
        "such a text. Other text is left out, or passed through unchanged with --in-place, which is a filter for logs. The last\n"
        "line on stderr counts stacks and frames, named and not.\n"
        "\n"
        "The symbols of a module are searched in --index by build id and by file name without .gsym (liborders.so.1 also finds\n"
        "liborders.so.1.2.3.gsym), in --symbols by build id and name, beside the image, in the cache by build id; then the image\n"
        "or its debug file is converted and kept in the cache. An index with another build id is never used. docs/symbols.md\n"
        "has the search; docs/stacks.md has the JSON, an example of each input, and how merged functions are told apart.\n"
        "\n"
        "Exit status: 1 if a line could not be understood, or no stack was recognized; 2 if a file could not be opened: the other\n"
        "files are answered. Unknown frames do not change it.\n",
    .example = "callsign stack --index app.gsym --in-place < server.log",
    .max_operands = -1,
    .values_size = sizeof(struct stack_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { search_options, SEARCH_OPTION_COUNT, offsetof(struct stack_values, search) },
    .run = run_stack,
};

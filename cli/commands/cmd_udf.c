/* callsign udf: rows of a database in, names out, for its executable functions. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "udf/udf_stream.h"
#include "ui/cli_message.h"

enum { WINDOW_SIZE = 1 << 20 };

struct udf_values {
    struct text_list stores, indexes;
    const char *format;
    bool chunk_header, demangle, return_addresses;
};

static const struct option_spec options[] = {
    { .name = "format", .letter = 'f', .kind = OPTION_TEXT, .offset = offsetof(struct udf_values, format), .value_name = "FORMAT",
      .help = "RowBinary, TSV, JSONEachRow or Arrow (IPC stream or file)" },
    { .name = "store", .letter = 's', .kind = OPTION_TEXTS, .offset = offsetof(struct udf_values, stores), .value_name = "DIR",
      .help = "a folder of indexes by build id (ab/cdef....gsym) or by name\n(NAME.gsym); can be repeated" },
    { .name = "index", .letter = 'i', .kind = OPTION_TEXTS, .offset = offsetof(struct udf_values, indexes),
      .value_name = "NAME=FILE",
      .help = "the index of modules named NAME; can be repeated" },
    { .name = "chunk-header", .kind = OPTION_FLAG, .offset = offsetof(struct udf_values, chunk_header),
      .help = "a line with the number of rows is before each chunk\n(send_chunk_header of ClickHouse)" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct udf_values, demangle),
      .help = "show demangled names" },
    { .name = "return-addresses", .kind = OPTION_FLAG, .offset = offsetof(struct udf_values, return_addresses),
      .help = "addresses are return addresses: look up the byte before" },
};

/* Batches, not rows: it has a loop of its own. */
static const struct udf_format udf_arrow = { .name = "Arrow" };
static const struct udf_format *const formats[] = { &udf_row_binary, &udf_tsv, &udf_json_each_row, &udf_arrow };

static const struct udf_format *find_format(const char *name) {
    struct near_word word = { .given = name, .size = strlen(name) };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
        near_word_try(&word, formats[i]->name);
    }
    if (strcmp(name, "TabSeparated") == 0) return &udf_tsv;
    if (strcmp(name, "ArrowStream") == 0) return &udf_arrow;
    if (word.best) cli_error(NULL, "--format: unknown format '%s': did you mean '%s'?", name, word.best);
    else cli_error(NULL, "--format: unknown format '%s': need RowBinary, TSV, JSONEachRow or Arrow", name);
    return NULL;
}

static enum exit_code answer_all(struct udf_stream *stream) {
    if (!udf_window_init(&stream->window, STDIN_FILENO, WINDOW_SIZE) || !udf_rows_init(&stream->rows)) {
        cli_error_memory("rows");
        return EXIT_FAILED;
    }
    bool good = stream->format == &udf_arrow ? udf_arrow_run(stream) : udf_stream_run(stream);
    if (!out_finish_stdout(&stream->out) || !good) return EXIT_FAILED;
    return stream->is_cut ? EXIT_PARTIAL : EXIT_WORKED;
}

static enum exit_code run_udf(const void *values, char **operands, int operand_count) {
    const struct udf_values *v = values;
    static struct udf_stream stream;
    struct udf_symbols symbols;
    enum exit_code code = EXIT_FAILED;
    (void)operands, (void)operand_count;
    if (!v->format) {
        cli_error(NULL, "udf needs --format FORMAT (try 'callsign udf --help')");
        return EXIT_FAILED;
    }
    stream.format = find_format(v->format);
    if (!stream.format) return EXIT_FAILED;
    stream.symbols = &symbols;
    stream.has_headers = v->chunk_header;
    out_init(&stream.out, STDOUT_FILENO);
    if (udf_symbols_init(&symbols, &v->indexes, &v->stores, v->demangle, v->return_addresses)) code = answer_all(&stream);
    udf_window_deinit(&stream.window);
    udf_rows_deinit(&stream.rows);
    udf_symbols_deinit(&symbols);
    return code;
}

const struct command udf_command = {
    .name = "udf",
    .arguments = "--format FORMAT",
    .summary = "answer rows of a database: an executable function",
    .description =
        "Reads rows (module String, address UInt64) from standard input and writes one String for each: the names at the\n"
        "address joined by ';', innermost first. A module is a build id in hexadecimal, a name or a path. A row without an\n"
        "answer gets the reason in brackets, such as [the module has no index]. Answers are flushed whenever input pauses.\n"
        "docs/engines.md has the configuration for ClickHouse.\n"
        "\n"
        "Exit status: 0 even if rows could not be read, as these get a reason, too; 1 if the input ends within a row.\n",
    .example = "callsign udf --format TSV --index app=app.gsym <rows.tsv",
    .min_operands = 0,
    .max_operands = 0,
    .values_size = sizeof(struct udf_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .run = run_udf,
};

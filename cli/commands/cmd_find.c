/* callsign find: names and lines in, addresses out. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "find/find_again.h"
#include "find/find_walk.h"
#include "input/open_index.h"
#include "ui/cli_message.h"
#include "ui/json_out.h"
#include "ui/path_text.h"

struct find_values {
    bool json, demangle, offline;
    struct cache_values cache;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct find_values, json),
      .help = "one JSON object for each NAME instead of text" },
    { .name = "demangle", .letter = 'C', .kind = OPTION_FLAG, .offset = offsetof(struct find_values, demangle),
      .help = "show demangled names" },
    { .name = "offline", .kind = OPTION_FLAG, .offset = offsetof(struct find_values, offline),
      .help = "ask no server for debug files" },
    { .name = "cache-dir", .kind = OPTION_TEXT, .offset = offsetof(struct find_values, cache.dir), .value_name = "DIR",
      .help = "folder of converted indexes (default: $CALLSIGN_CACHE, else\n$XDG_CACHE_HOME/callsign, else ~/.cache/callsign)", .excluded_by = "no-cache" },
    { .name = "no-cache", .kind = OPTION_FLAG, .offset = offsetof(struct find_values, cache.none),
      .help = "convert in memory; neither read nor fill the cache" },
};

struct find_run {
    const struct find_values *values;
    struct find_walk walk;
    struct name_text names;
    struct out_buffer out;
};

static void file_of(const struct find_walk *walk, const struct find_match *match, struct csn_str *directory, struct csn_str *base) {
    *directory = *base = (struct csn_str){ "", 0 };
    if (match->file) csn_index_file(walk->index, match->file, directory, base, NULL);
}

static void put_match(struct find_run *run, const struct find_match *match) {
    struct csn_str directory, base;
    file_of(&run->walk, match, &directory, &base);
    out_hex(&run->out, match->addr);
    out_char(&run->out, ' ');
    out_safe(&run->out, name_text(&run->names, find_walk_name(&run->walk, match)));
    out_char(&run->out, ' ');
    out_decimal(&run->out, match->size);
    out_char(&run->out, ' ');
    if (base.len || directory.len) path_put(&run->out, directory, base);
    else out_char(&run->out, '?');
    path_put_line(&run->out, match->line);
    out_char(&run->out, '\n');
}

static void put_match_json(struct find_run *run, const struct find_match *match, struct json_out *json) {
    struct csn_str directory, base;
    file_of(&run->walk, match, &directory, &base);
    json_begin_object(json);
    json_key(json, "function");
    json_str(json, name_text(&run->names, find_walk_name(&run->walk, match)));
    json_member_hex(json, "address", match->addr);
    json_member_number(json, "size", match->size);
    if (base.len || directory.len) {
        json_key(json, "file");
        json_path(json, directory, base);
    }
    if (match->line) json_member_number(json, "line", match->line);
    json_end_object(json);
}

static void put_query(struct find_run *run, const struct find_query *query, const struct find_matches *matches) {
    if (!run->values->json) {
        for (size_t i = 0; i < matches->count; i++) put_match(run, &matches->items[i]);
        if (!matches->count) cli_error(NULL, "%s: not found", *query->text ? query->text : "''");
        return;
    }
    struct json_out json = json_on(&run->out);
    json_begin_object(&json);
    json_member_text(&json, "query", query->text);
    json_key(&json, "matches");
    json_begin_array(&json);
    for (size_t i = 0; i < matches->count; i++) put_match_json(run, &matches->items[i], &json);
    json_end_array(&json);
    json_end_object(&json);
    json_end_line(&json);
}

static enum exit_code find_all(struct find_run *run, const char *path, const struct csn_index *index,
                               const struct find_query *queries, size_t count) {
    bool has_all = true;
    if (!find_walk_init(&run->walk, index, queries, count)) {
        cli_error_memory("names");
        return EXIT_FAILED;
    }
    bool good = find_walk_run(&run->walk) && find_again(&run->walk);
    if (!good && run->walk.status == CSN_E_MEMORY) cli_error_memory("matches");
    else if (!good) cli_error_status(path, run->walk.status, &run->walk.err);
    for (size_t i = 0; good && i < count; i++) {
        put_query(run, &queries[i], &run->walk.matches[i]);
        has_all = has_all && run->walk.matches[i].count;
    }
    find_walk_deinit(&run->walk);
    if (!out_finish_stdout(&run->out) || !good) return EXIT_FAILED;
    return has_all ? EXIT_WORKED : EXIT_PARTIAL;
}

static enum exit_code find_in(struct find_run *run, const char *path, char **texts, size_t count) {
    struct symbol_search search;
    struct opened_index opened;
    enum exit_code code = EXIT_FAILED;
    struct find_query *queries = calloc(count, sizeof(*queries));
    for (size_t i = 0; queries && i < count; i++) find_query_parse(texts[i], &queries[i]);
    if (!queries) {
        cli_error_memory("names");
    } else if (symbol_search_begin_with(&search, &run->values->companions, &run->values->cache, run->values->offline)) {
        if (open_index_through(path, &run->values->companions, &search, &opened)) {
            code = find_all(run, path, opened.index, queries, count);
            if (code == EXIT_WORKED && opened.partial) code = EXIT_PARTIAL;
            close_index(&opened);
        }
        symbol_search_end(&search);
    }
    free(queries);
    return code;
}

static enum exit_code run_find(const void *values, char **operands, int operand_count) {
    struct find_run *run = calloc(1, sizeof(*run));
    enum exit_code code = EXIT_FAILED;
    if (!run) {
        cli_error_memory("names");
        return code;
    }
    run->values = values;
    out_init(&run->out, STDOUT_FILENO);
    if (name_text_init(&run->names, run->values->demangle))
        code = find_in(run, operands[0], operands + 1, (size_t)operand_count - 1);
    name_text_deinit(&run->names);
    free(run);
    return code;
}

const struct command find_names_command = {
    .name = "find",
    .arguments = "INDEX NAME...",
    .summary = "addresses of functions and source lines",
    .description =
        "Prints a line for each function that NAME means: address, name, size in bytes, and file and line of its first row.\n"
        "\n"
        "NAME is a function as the index has it or demangled, with or without parameters and return type; a glob, if it\n"
        "contains * or ? and no function is called so; or FILE:LINE, where FILE is a path or the end of one: then the\n"
        "addresses are those where rows of the line begin, in every function that has some, inlined code included. Names of\n"
        "merged functions count, too. A clone or part that is not known by the compiler's suffix (f.isra.0, f.cold) is among\n"
        "the functions without it (f).\n"
        "INDEX may be an object file, which is converted first; the cache keeps the conversion.\n"
        "\n"
        "Exit status: 1 if a NAME has no match.\n",
    .example = "callsign find app.gsym area 'shape_*' shapes.h:6",
    .min_operands = 2,
    .max_operands = -1,
    .values_size = sizeof(struct find_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct find_values, companions) },
    .run = run_find,
};

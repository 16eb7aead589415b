/* callsign cache: the folder of converted indexes. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "input/cache_folder.h"
#include "input/symbol_search.h"
#include "ui/cli_message.h"
#include "ui/json_out.h"
#include "ui/out_buffer.h"

struct cache_command_values {
    struct cache_values cache;
    struct companion_values companions;
    bool json, offline, quiet;
    uint64_t threads;
    uint64_t max_bytes;
    bool has_max_bytes;
};

static const struct option_spec options[] = {
    { .name = "cache-dir", .kind = OPTION_TEXT, .offset = offsetof(struct cache_command_values, cache.dir), .value_name = "DIR",
      .help = "the folder (default: $CALLSIGN_CACHE, else\n$XDG_CACHE_HOME/callsign, else ~/.cache/callsign)" },
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct cache_command_values, json),
      .help = "list, verify: one JSON object a line", .verbs = "list verify" },
    { .name = "max-bytes", .kind = OPTION_SIZE, .offset = offsetof(struct cache_command_values, max_bytes),
      .given = offsetof(struct cache_command_values, has_max_bytes), .value_name = "SIZE",
      .help = "prune: remove the least recently used entries until the rest\ntakes at most this (default 16G)", .verbs = "prune" },
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct cache_command_values, threads),
      .max = 1024,
      .value_name = "N", .help = "add: files that are converted at the same time (default 0:\none per core)", .verbs = "add" },
    { .name = "max-memory", .kind = OPTION_SIZE, .offset = offsetof(struct cache_command_values, cache.max_memory),
      .min = 1, .value_name = "SIZE",
      .help = "add: convert only as many files at the same time as this is\nlikely to be enough for (default: half of the memory)", .verbs = "add" },
    { .name = "debug-dir", .kind = OPTION_TEXTS, .offset = offsetof(struct cache_command_values, companions.debug_dirs),
      .value_name = "DIR", .help = "add: search this folder for debug files instead of\n/usr/lib/debug; can be repeated",
      .verbs = "add" },
    { .name = "offline", .kind = OPTION_FLAG, .offset = offsetof(struct cache_command_values, offline),
      .help = "add: ask no server for debug files", .verbs = "add" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct cache_command_values, quiet),
      .help = "add, prune: show errors only", .verbs = "add prune" },
};

struct cache_run {
    const struct cache_command_values *values;
    struct csn_cache *cache;
    struct out_buffer out;
    struct progress_bar bar;
    uint64_t damaged;
};

/* ---- list and verify ---- */

static void id_text(const struct csn_cache_entry *entry, char *out) {
    for (size_t i = 0; i < entry->id_size; i++) snprintf(out + 2 * i, 3, "%02x", entry->id[i]);
}

static void put_entry_json(struct out_buffer *out, const struct csn_cache_entry *entry, const char *id) {
    struct json_out json = json_on(out);
    json_begin_object(&json);
    json_member_text(&json, entry->flags & CSN_CACHE_HTLHASH ? "htlhash" : "build_id", id);
    json_member_text(&json, "path", entry->path);
    json_member_number(&json, "bytes", entry->file_size);
    if (*entry->source) json_member_text(&json, "source", entry->source);
    if (entry->flags & CSN_CACHE_SYMBOLS_ONLY) {
        json_key(&json, "symbols_only");
        json_bool(&json, true);
    }
    if (entry->status < 0) json_member_text(&json, "error", entry->text);
    json_end_object(&json);
    json_end_line(&json);
}

static void put_text(struct out_buffer *out, const char *text) { out_safe(out, (struct csn_str){ text, strlen(text) }); }

static bool put_entry(void *context, const struct csn_cache_entry *entry) {
    struct cache_run *run = context;
    char id[2 * 32 + 1] = "", number[32];
    id_text(entry, id);
    run->damaged += entry->status < 0;
    if (run->values->json) {
        put_entry_json(&run->out, entry, id);
        return !run->out.os_error;
    }
    snprintf(number, sizeof(number), " %10llu ", (unsigned long long)entry->file_size);
    out_text(&run->out, id);
    out_text(&run->out, number);
    out_text(&run->out, entry->status < 0 ? "damaged: " : *entry->source ? "" : "-");
    put_text(&run->out, entry->status < 0 ? entry->text : entry->source);
    if (entry->flags & CSN_CACHE_SYMBOLS_ONLY) out_text(&run->out, " (symbols only)");
    out_char(&run->out, '\n');
    return !run->out.os_error;
}

static bool put_damaged(void *context, const struct csn_cache_entry *entry) {
    struct cache_run *run = context;
    if (entry->status >= 0) return true;
    if (run->values->json) return put_entry(context, entry);
    run->damaged++;
    put_text(&run->out, entry->path);
    out_text(&run->out, ": ");
    put_text(&run->out, entry->text);
    out_char(&run->out, '\n');
    return !run->out.os_error;
}

static enum exit_code walk(struct cache_run *run, uint32_t flags, csn_cache_callback *callback) {
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_cache_list(run->cache, flags, callback, run, &err);
    if (status < 0) cli_error_status(NULL, status, &err);
    if (!out_finish_stdout(&run->out) || status < 0) return EXIT_FAILED;
    return run->damaged ? EXIT_PARTIAL : EXIT_WORKED;
}

static enum exit_code list_entries(struct cache_run *run, char **paths, int count) {
    (void)paths, (void)count;
    enum exit_code code = walk(run, 0, put_entry);
    return code == EXIT_PARTIAL ? EXIT_WORKED : code;
}

static enum exit_code verify_entries(struct cache_run *run, char **paths, int count) {
    (void)paths, (void)count;
    return walk(run, CSN_CACHE_CHECK, put_damaged);
}

/* ---- add ---- */

static bool show_step(void *context, const struct csn_fill_step *step) {
    struct cache_run *run = context;
    char phase[64];
    snprintf(phase, sizeof(phase), "%llu of %llu files", (unsigned long long)step->done_files,
             (unsigned long long)step->total_files);
    if (step->result == CSN_FILL_FAILED) {
        progress_erase(&run->bar);
        cli_error(step->path, "%s", step->text);
    }
    return progress_step(&run->bar, phase, step->done_bytes, step->total_bytes);
}

static enum exit_code code_of(const struct csn_fill_counts *counts) {
    uint64_t good = counts->converted + counts->present;
    if (counts->failed) return good ? EXIT_PARTIAL : EXIT_FAILED;
    return good ? EXIT_WORKED : EXIT_PARTIAL;
}

static enum exit_code add_paths(struct cache_run *run, char **paths, int count) {
    const struct cache_command_values *values = run->values;
    struct symbol_search search;
    struct csn_fill_counts counts = { .converted = 0 };
    struct csn_error err = CSN_ERROR_INIT;
    if (!symbol_search_begin_with(&search, &values->companions, &values->cache, values->offline)) return EXIT_FAILED;
    progress_begin(&run->bar, values->quiet);
    csn_status status = csn_opener_fill(search.opener, (const char *const *)paths, (size_t)count,
                                        (uint32_t)values->threads, show_step, run, &counts, &err);
    progress_end(&run->bar);
    symbol_search_end(&search);
    progress_pass_on_signal();
    if (status < 0) {
        cli_error_status(NULL, status, &err);
        return EXIT_FAILED;
    }
    if (!values->quiet)
        cli_report("%llu converted, %llu already there, %llu failed, %llu without symbols", (unsigned long long)counts.converted,
                   (unsigned long long)counts.present, (unsigned long long)counts.failed, (unsigned long long)counts.skipped);
    return code_of(&counts);
}

/* ---- prune and path ---- */

static enum exit_code prune_entries(struct cache_run *run, char **paths, int count) {
    enum { DEFAULT_GIB = 16 };
    struct csn_cache_pruned pruned;
    struct csn_error err = CSN_ERROR_INIT;
    const uint64_t max = run->values->has_max_bytes ? run->values->max_bytes : (uint64_t)DEFAULT_GIB << 30;
    (void)paths, (void)count;
    csn_status status = csn_cache_prune(run->cache, max, &pruned, &err);
    if (status < 0) {
        cli_error_status(NULL, status, &err);
        return EXIT_FAILED;
    }
    if (!run->values->quiet)
        cli_report("%llu entries removed (%llu bytes), %llu left (%llu bytes)", (unsigned long long)pruned.entries,
                   (unsigned long long)pruned.bytes, (unsigned long long)pruned.entries_left,
                   (unsigned long long)pruned.bytes_left);
    return EXIT_WORKED;
}

static enum exit_code show_path(struct cache_run *run, char **paths, int count) {
    (void)paths, (void)count;
    out_text(&run->out, csn_cache_dir(run->cache)); /* as it is, for scripts */
    out_char(&run->out, '\n');
    return out_finish_stdout(&run->out) ? EXIT_WORKED : EXIT_FAILED;
}

/* ---- the command ---- */

static const struct cache_verb {
    const char *name;
    bool takes_paths;
    enum exit_code (*run)(struct cache_run *run, char **paths, int count);
} verbs[] = {
    { "add", true, add_paths },
    { "list", false, list_entries },
    { "path", false, show_path },
    { "prune", false, prune_entries },
    { "verify", false, verify_entries },
};

static const struct cache_verb *find_verb(const char *name) {
    struct near_word word = { .given = name, .size = strlen(name) };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
        near_word_try(&word, verbs[i].name);
    }
    if (word.best) cli_error(NULL, "cache: '%s' is unknown: did you mean '%s'?", name, word.best);
    else cli_error(NULL, "cache: '%s' is unknown; use add, list, path, prune or verify", name);
    return NULL;
}

static bool operands_fit(const struct cache_verb *verb, char **paths, int count) {
    if (verb->takes_paths && !count) cli_error(NULL, "cache add needs PATH (try 'callsign cache --help')");
    else if (!verb->takes_paths && count) cli_error(NULL, "unexpected argument '%s' (try 'callsign cache --help')", paths[0]);
    return verb->takes_paths == (count != 0);
}

static enum exit_code run_cache(const void *values, char **operands, int operand_count) {
    struct cache_run *run = calloc(1, sizeof(*run));
    if (!run) {
        cli_error_memory("the cache");
        return EXIT_FAILED;
    }
    struct csn_error err = CSN_ERROR_INIT;
    enum exit_code code = EXIT_FAILED;
    run->values = values;
    out_init(&run->out, STDOUT_FILENO);
    const struct cache_verb *verb = find_verb(operands[0]);
    bool fits = verb && cache_folder_fits(run->values->cache.dir) && operands_fit(verb, operands + 1, operand_count - 1);
    char *folder = fits ? cache_folder(run->values->cache.dir) : NULL;
    if (folder) {
        csn_status status = csn_cache_open(folder, NULL, &run->cache, &err);
        if (status < 0) cli_error_status(NULL, status, &err);
        else code = verb->run(run, operands + 1, operand_count - 1);
    } else if (fits) {
        cli_error(NULL, "there is no folder for the cache: set --cache-dir, CALLSIGN_CACHE or HOME");
    }
    csn_cache_close(run->cache);
    free(folder);
    free(run);
    return code;
}

const struct command cache_command = {
    .name = "cache",
    .arguments = "add PATH... | list | path | prune | verify",
    .summary = "the cache of converted indexes",
    .description =
        "Looks after the folder in which lookup, stack and other commands keep the indexes that they convert.\n"
        "\n"
        "  add PATH...  convert object and debug files, and all of them in folders, in parallel; what is there already is kept,\n"
        "               so that a run that was stopped can be repeated\n"
        "  list         build id, bytes and source of every entry\n"
        "  path         the folder\n"
        "  prune        remove damaged entries and leftovers, then the least recently used entries\n"
        "  verify       compare the checksum of every entry; prints the damaged ones\n"
        "\n"
        "Exit status: 1 if add could convert only some of the files or found none, or if verify found a damaged entry.\n",
    .example = "callsign cache add /usr/lib/debug",
    .verbs = "add list path prune verify",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct cache_command_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .run = run_cache,
};

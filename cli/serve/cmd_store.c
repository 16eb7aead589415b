/* callsign store: files of a symbol store. */
#define _GNU_SOURCE
#include <stdio.h>

#include "commands/commands.h"
#include "serve/server_program.h"

enum { MOST_DAYS = 100000 };

struct store_values {
    const char *store, *layout, *cache_dir, *keep;
    uint64_t max_bytes, max_age;
    bool has_max_bytes, has_max_age, json, quiet, dry_run;
};

static const struct option_spec options[] = {
    { .name = "store", .kind = OPTION_TEXT, .offset = offsetof(struct store_values, store), .value_name = "DIR",
      .help = "the store: a folder, or s3://BUCKET/PREFIX" },
    { .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct store_values, json), .help = "one JSON object a line" },
    { .name = "layout", .kind = OPTION_TEXT, .offset = offsetof(struct store_values, layout), .value_name = "TREE",
      .help = "add: tree to write: build-id (default), debuginfod, unified,\nbreakpad, ssqp", .verbs = "add" },
    { .name = "max-bytes", .kind = OPTION_SIZE, .offset = offsetof(struct store_values, max_bytes),
      .given = offsetof(struct store_values, has_max_bytes), .value_name = "SIZE",
      .help = "prune: remove the oldest files until the rest takes at most\nthis", .verbs = "prune" },
    { .name = "max-age", .kind = OPTION_NUMBER, .offset = offsetof(struct store_values, max_age),
      .given = offsetof(struct store_values, has_max_age), .max = MOST_DAYS, .value_name = "DAYS",
      .help = "prune: remove files that were stored longer ago", .verbs = "prune" },
    { .name = "keep", .kind = OPTION_TEXT, .offset = offsetof(struct store_values, keep), .value_name = "FILE",
      .help = "prune: ids, names or paths, one a line, that stay", .verbs = "prune" },
    { .name = "dry-run", .kind = OPTION_FLAG, .offset = offsetof(struct store_values, dry_run),
      .help = "prune: only print what would be removed",
      .verbs = "prune" },
    { .name = "cache-dir", .kind = OPTION_TEXT, .offset = offsetof(struct store_values, cache_dir), .value_name = "DIR",
      .help = "of a bucket: where its files are kept" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct store_values, quiet),
      .help = "print errors only" },
};

static void put_flag(struct server_arguments *arguments, const char *word, bool is_given) {
    if (is_given) server_argument(arguments, word);
}

static enum exit_code run(const void *values, char **operands, int operand_count) {
    const struct store_values *v = values;
    struct server_arguments arguments = { .items = NULL };
    char text[4200];
    server_argument(&arguments, "callsign-server");
    server_argument(&arguments, "store");
    server_setting(&arguments, "store", v->store);
    server_setting(&arguments, "layout", v->layout);
    server_setting(&arguments, "cache-dir", v->cache_dir);
    put_flag(&arguments, "json", v->json);
    put_flag(&arguments, "quiet", v->quiet);
    put_flag(&arguments, "dry-run", v->dry_run);
    snprintf(text, sizeof(text), "max-bytes:%llu", (unsigned long long)v->max_bytes);
    put_flag(&arguments, text, v->has_max_bytes);
    snprintf(text, sizeof(text), "max-age:%llu", (unsigned long long)v->max_age * 86400);
    put_flag(&arguments, text, v->has_max_age);
    snprintf(text, sizeof(text), "keep:%s", v->keep ? v->keep : "");
    put_flag(&arguments, text, v->keep != NULL);
    server_argument(&arguments, "--");
    for (int i = 0; i < operand_count; i++) server_argument(&arguments, operands[i]);
    return server_program_run(&arguments);
}

const struct command store_command = {
    .name = "store",
    .arguments = "add|list|prune|fsck --store DIR [PATH...]",
    .summary = "fill, list and check a symbol store",
    .description =
        "add: stores images, debug files, Breakpad symbol files, PDBs and indexes; folders are searched for them, and so are\n"
        "packages and archives (.deb, .rpm, .apk, .ipa, .zip, .tar). list: what the store has. prune: removes old files.\n"
        "fsck: compares every file with the catalogue and names what is damaged; exit status 1 if there is any.\n",
    .example = "callsign store add --store symbols build/app",
    .verbs = "add list prune fsck",
    .min_operands = 1,
    .max_operands = -1,
    .values_size = sizeof(struct store_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .run = run,
};

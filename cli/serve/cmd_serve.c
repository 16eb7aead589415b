/* callsign serve: a symbol server. */
#define _GNU_SOURCE
#include <string.h>

#include "commands/commands.h"
#include "serve/server_program.h"
#include "ui/cli_message.h"

struct serve_values {
    const char *store, *listen, *config, *web, *layout, *cache_dir, *upload_token_file, *read_token_file,
        *tls_certificate, *tls_key;
    const char *log_level, *source_root;
    struct text_list upstreams, settings;
    uint64_t threads;
    bool demo;
};

#define SERVE_TEXT(option, field, word, text) \
    { .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct serve_values, field), .value_name = word, .help = text }
#define SERVE_TEXTS(option, field, word, text) \
    { .name = option, .kind = OPTION_TEXTS, .offset = offsetof(struct serve_values, field), .value_name = word, .help = text }

static const struct option_spec options[] = {
    SERVE_TEXT("store", store, "DIR", "the store: a folder, or s3://BUCKET/PREFIX"),
    SERVE_TEXT("listen", listen, "ADDR", "ADDRESS:PORT or unix:PATH; port 0 takes a free one\n(default 127.0.0.1:8788)"),
    SERVE_TEXT("config", config, "FILE", "settings, one KEY = VALUE a line; SIGHUP reads it again"),
    SERVE_TEXT("upload-token-file", upload_token_file, "FILE", "tokens, one a line, that may upload; without it nobody may"),
    SERVE_TEXT("read-token-file", read_token_file, "FILE", "tokens, one a line, that may read; without it everybody may"),
    SERVE_TEXTS("upstream", upstreams, "URL", "server that is asked for what the store does not have;\ncan be repeated"),
    SERVE_TEXT("web", web, "DIR", "folder of the page and its static files"),
    SERVE_TEXT("source-root", source_root, "DIR", "folder below which source files stand under their paths"),
    SERVE_TEXT("layout", layout, "TREE", "tree to write: build-id (default), debuginfod, unified,\nbreakpad, ssqp"),
    SERVE_TEXT("cache-dir", cache_dir, "DIR", "of a bucket: where its files are kept"),
    SERVE_TEXT("tls-certificate", tls_certificate, "FILE", "PEM file of the certificate: HTTPS"),
    SERVE_TEXT("tls-key", tls_key, "FILE", "PEM file of its private key"),
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct serve_values, threads), .max = 256,
      .value_name = "N",
      .help = "threads that serve connections (default: one per core)" },
    SERVE_TEXT("log-level", log_level, "LEVEL", "info (default), error or none"),
    SERVE_TEXTS("set", settings, "KEY=VALUE", "any setting of the configuration file; can be repeated"),
    { .name = "demo", .kind = OPTION_FLAG, .offset = offsetof(struct serve_values, demo),
      .help = "fill an empty store with examples" },
};

static void put_list(struct server_arguments *arguments, const char *key, const struct text_list *list) {
    for (size_t i = 0; i < list->count; i++) server_setting(arguments, key, list->items[i]);
}

static bool settings_are_good(const struct text_list *settings) {
    for (size_t i = 0; i < settings->count; i++) {
        const char *equals = strchr(settings->items[i], '=');
        if (equals && equals != settings->items[i]) continue;
        cli_error(NULL, "option '--set' needs KEY=VALUE, not '%s'", settings->items[i]);
        return false;
    }
    return true;
}

static enum exit_code run(const void *values, char **operands, int operand_count) {
    const struct serve_values *v = values;
    struct server_arguments arguments = { .items = NULL };
    (void)operands, (void)operand_count;
    if (!settings_are_good(&v->settings)) return EXIT_FAILED;
    const struct { const char *key, *value; } settings[] = {
        { "store", v->store }, { "listen", v->listen }, { "config", v->config }, { "upload-token-file", v->upload_token_file },
        { "read-token-file", v->read_token_file }, { "web", v->web }, { "source-root", v->source_root }, { "layout", v->layout },
        { "cache-dir", v->cache_dir }, { "tls-certificate", v->tls_certificate }, { "tls-key", v->tls_key }, { "log-level", v->log_level },
    };
    server_argument(&arguments, "callsign-server");
    server_argument(&arguments, "serve");
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        server_setting(&arguments, settings[i].key, settings[i].value);
    put_list(&arguments, "upstream", &v->upstreams);
    server_number(&arguments, "threads", v->threads);
    if (v->demo) server_setting(&arguments, "demo", "yes");
    for (size_t i = 0; i < v->settings.count; i++) server_argument(&arguments, v->settings.items[i]);
    return server_program_run(&arguments);
}

const struct command serve_command = {
    .name = "serve",
    .arguments = "--store DIR",
    .summary = "serve a store of symbols over HTTP",
    .description = "Answers symbolication requests (Mozilla v5 and v4, Sentry, pprof, its own) and serves files as debuginfod,\n"
                   "Breakpad and Microsoft symbol servers do. Prints the address when it is ready. SIGTERM ends it after the\n"
                   "requests that have arrived; SIGHUP reads configuration and tokens again.\n",
    .example = "callsign serve --store symbols --listen 127.0.0.1:8788",
    .min_operands = 0,
    .max_operands = 0,
    .values_size = sizeof(struct serve_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .run = run,
};

/* The settings of a server, as a table. */
#define _GNU_SOURCE
#include "base/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind { SETTING_TEXT, SETTING_NUMBER, SETTING_SIZE, SETTING_FLAG, SETTING_LIST };

struct setting {
    const char *key;
    enum setting_kind kind;
    size_t offset, size;     /* of the field; SETTING_LIST: offset of the texts */
    size_t count_offset;     /* SETTING_LIST */
    uint64_t min, max;
    const char *help;
};

#define TEXT_SETTING(name, field, text) { name, SETTING_TEXT, offsetof(struct settings, field), sizeof(((struct settings *)0)->field), 0, 0, 0, text }
#define NUMBER_SETTING(name, field, low, high, text) { name, SETTING_NUMBER, offsetof(struct settings, field), 0, 0, low, high, text }
#define SIZE_SETTING(name, field, low, text) { name, SETTING_SIZE, offsetof(struct settings, field), 0, 0, low, UINT64_MAX, text }

static const struct setting table[] = {
    TEXT_SETTING("store", store, "the store: a folder, or s3://BUCKET/PREFIX"),
    TEXT_SETTING("listen", listen, "ADDRESS:PORT or unix:PATH; port 0 takes a free one (default 127.0.0.1:8788)"),
    TEXT_SETTING("config", config, "the file that SIGHUP reads again"),
    TEXT_SETTING("web", web, "folder of the page and its static files"),
    TEXT_SETTING("layout", layout, "tree to write: build-id (default), debuginfod, unified, breakpad, ssqp"),
    TEXT_SETTING("cache-dir", cache_dir, "of an s3:// store: folder of the files that were fetched"),
    TEXT_SETTING("upload-token-file", upload_token_file,
                 "file of tokens, one a line, that may upload; without it uploads answer 403"),
    TEXT_SETTING("read-token-file", read_token_file,
                 "file of tokens, one a line, that may read; without it everybody may"),
    TEXT_SETTING("tls-certificate", tls_certificate, "PEM file of the certificate and its chain; with tls-key: HTTPS"),
    TEXT_SETTING("tls-key", tls_key, "PEM file of the certificate's private key"),
    TEXT_SETTING("log-level", log_level, "info (default): a line for each request; error: failures only; none"),
    TEXT_SETTING("source-root", source_root, "folder below which source files stand under their paths; without it no source is served"),
    { "upstream", SETTING_LIST, offsetof(struct settings, upstreams), SETTING_TEXT_SIZE, offsetof(struct settings, upstream_count), 0, 0,
      "URL of a debuginfod, symbol or Callsign server that is asked for what the store does not have; can be repeated" },
    { "named-files", SETTING_FLAG, offsetof(struct settings, named_files), 0, 0, 0, 0,
      "read files of this machine that images name (split DWARF, debug maps), not only the store's" },
    { "demo", SETTING_FLAG, offsetof(struct settings, demo), 0, 0, 0, 0, "fill an empty store with examples" },
    NUMBER_SETTING("threads", threads, 1, 256, "threads that serve connections (default: one per core)"),
    NUMBER_SETTING("workers", workers, 1, MOST_WORKERS, "threads for requests that wait (default 16)"),
    NUMBER_SETTING("fetch-workers", fetch_workers, 1, MOST_FETCH_WORKERS,
                   "requests that may wait for upstreams at the same time; more are refused with 502 (default 64)"),
    NUMBER_SETTING("conversion-workers", conversion_workers, 1, 64, "conversions at the same time (default 2)"),
    NUMBER_SETTING("conversion-threads", conversion_threads, 0, 256, "threads of one conversion; 0: one per core (default 0)"),
    SIZE_SETTING("conversion-memory", conversion_memory, 1 << 20, "memory of all conversions and open conversions (default 8G)"),
    SIZE_SETTING("converted-bytes", converted_bytes, 1 << 20, "disk space of converted indexes (default 64G)"),
    SIZE_SETTING("max-upload", max_upload, 1, "largest file that may be uploaded (default 16G)"),
    NUMBER_SETTING("max-partial-uploads", max_partial_uploads, 1, 1000000,
                   "uploads in parts that are unfinished at the same time (default 256)"),
    NUMBER_SETTING("partial-age", partial_age, 1, 31536000,
                   "seconds after its last part for which an unfinished upload is kept (default 86400)"),
    SIZE_SETTING("max-body", max_body, 1024, "largest body of other requests, also after decompression (default 64M)"),
    SIZE_SETTING("max-body-memory", max_body_memory, 1 << 20, "memory of the bodies of all requests together (default 512M)"),
    NUMBER_SETTING("max-jobs", max_jobs, 1, 1000000, "jobs of one request to /symbolicate/v5 (default 1000)"),
    NUMBER_SETTING("max-connections", max_connections, 4, 1000000, "connections at the same time (default 4096)"),
    NUMBER_SETTING("max-connections-per-address", max_connections_per_address, 0, 1000000, "the same of one address; 0: no limit (default 0)"),
    NUMBER_SETTING("idle-timeout", idle_timeout, 1, 86400, "seconds without progress after which a connection is closed (default 60)"),
    NUMBER_SETTING("header-timeout", header_timeout, 1, 86400, "seconds within which a request's head must arrive (default 30)"),
    NUMBER_SETTING("drain-timeout", drain_timeout, 0, 86400, "seconds for open requests after SIGTERM (default 30)"),
    NUMBER_SETTING("rescan", rescan, 1, 86400, "seconds between two looks for files that others put into the folder (default 10)"),
    NUMBER_SETTING("refresh", refresh, 1, 86400, "seconds for which an answer about an image is not looked up again (default 10)"),
    NUMBER_SETTING("negative", negative, 0, 86400, "seconds for which upstreams are not asked again for what they lack (default 20)"),
    NUMBER_SETTING("fetch-timeout", fetch_timeout, 1, 86400, "seconds without progress after which an upstream is given up (default 30)"),
    NUMBER_SETTING("keep-answers", keep_answers, 1, 86400, "seconds for which a finished answer to a /symbolicate?timeout=S that had to wait is kept (default 90)"),
    NUMBER_SETTING("open-indexes", open_indexes, 1, 1000000, "indexes that stay open (default 512)"),
    NUMBER_SETTING("rate-limit", rate_limit, 0, 1000000, "requests a second of one address or tenant; 0: no limit (default 0)"),
    NUMBER_SETTING("rate-burst", rate_burst, 1, 1000000, "requests that may come at once before the limit holds (default 100)"),
};
enum { SETTING_COUNT = sizeof(table) / sizeof(table[0]) };

const char *settings_key(size_t i, const char **out_help) {
    if (i >= SETTING_COUNT) return NULL;
    *out_help = table[i].help;
    return table[i].key;
}

void settings_init(struct settings *s) {
    *s = (struct settings){
        .listen = "127.0.0.1:8788", .layout = "build-id", .log_level = "info", .threads = 0, .workers = 16, .fetch_workers = 64, .conversion_workers = 2,
        .conversion_memory = (uint64_t)8 << 30, .converted_bytes = (uint64_t)64 << 30, .max_upload = (uint64_t)16 << 30, .max_body = 64 << 20,
        .max_body_memory = 512 << 20, .max_jobs = 1000, .max_connections = 4096, .idle_timeout = 60, .header_timeout = 30,
        .drain_timeout = 30, .rescan = 10, .refresh = 10, .negative = 20, .fetch_timeout = 30, .keep_answers = 90, .max_partial_uploads = 256,
        .partial_age = 86400, .open_indexes = 512, .rate_burst = 100,
    };
}

static bool parse_number(const char *text, bool has_unit, uint64_t *out) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    const char *units = "KMGT", *unit = *end ? strchr(units, *end) : NULL;
    if (errno || (*end && !(has_unit && unit && !end[1]))) return false;
    unsigned shift = *end ? 10 * (unsigned)(unit - units + 1) : 0;
    if (*out > UINT64_MAX >> shift) return false;
    *out <<= shift;
    return true;
}

static bool set_number(const struct setting *setting, void *field, const char *value, char *why, size_t why_size) {
    uint64_t number;
    if (!parse_number(value, setting->kind == SETTING_SIZE, &number)) {
        snprintf(why, why_size, "%s: '%s' is not a number%s", setting->key, value,
                 setting->kind == SETTING_SIZE ? " of bytes (16M, 4G)" : "");
        return false;
    }
    if (number < setting->min || number > setting->max) {
        snprintf(why, why_size, "%s: %llu, must be %llu to %llu", setting->key, (unsigned long long)number,
                 (unsigned long long)setting->min, (unsigned long long)setting->max);
        return false;
    }
    *(uint64_t *)field = number;
    return true;
}

static bool is_log_level(const char *value) {
    return strcmp(value, "info") == 0 || strcmp(value, "error") == 0 || strcmp(value, "none") == 0;
}

static bool set_text(const struct setting *setting, char *field, const char *value, char *why, size_t why_size) {
    if (strcmp(setting->key, "log-level") == 0 && !is_log_level(value)) {
        snprintf(why, why_size, "%s: '%.40s', must be info, error or none", setting->key, value);
        return false;
    }
    if (strlen(value) < setting->size) {
        strcpy(field, value);
        return true;
    }
    snprintf(why, why_size, "%s: the value is longer than %zu bytes", setting->key, setting->size - 1);
    return false;
}

static bool add_text(struct settings *settings, const struct setting *setting, const char *value, char *why, size_t why_size) {
    uint32_t *count = (uint32_t *)(void *)((char *)settings + setting->count_offset);
    if (*count == MOST_REMOTES) {
        snprintf(why, why_size, "%s: more than %d", setting->key, MOST_REMOTES);
        return false;
    }
    if (!set_text(setting, (char *)settings + setting->offset + *count * setting->size, value, why, why_size)) return false;
    ++*count;
    return true;
}

static bool set_flag(const struct setting *setting, bool *field, const char *value, char *why, size_t why_size) {
    bool yes = strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
    if (!yes && strcmp(value, "no") != 0 && strcmp(value, "false") != 0) {
        snprintf(why, why_size, "%s: '%s', must be yes or no", setting->key, value);
        return false;
    }
    *field = yes;
    return true;
}

bool settings_set(struct settings *settings, const char *key, const char *value, char *why, size_t why_size) {
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &table[i];
        void *field = (char *)settings + setting->offset;
        if (strcmp(setting->key, key) != 0) continue;
        switch (setting->kind) {
        case SETTING_TEXT: return set_text(setting, field, value, why, why_size);
        case SETTING_NUMBER: case SETTING_SIZE: return set_number(setting, field, value, why, why_size);
        case SETTING_FLAG: return set_flag(setting, field, value, why, why_size);
        case SETTING_LIST: return add_text(settings, setting, value, why, why_size);
        }
    }
    snprintf(why, why_size, "unknown key '%.100s'", key);
    return false;
}

/* ---- files ---- */

static bool are_scopes(const char *value) {
    static const char *const words[] = { "read", "symbolicate", "upload" };
    for (size_t size; *value; value += size) {
        bool is_known = false;
        value += strspn(value, " \t,");
        size = strcspn(value, " \t,");
        for (size_t i = 0; i < 3; i++) is_known = is_known || (strlen(words[i]) == size && strncmp(words[i], value, size) == 0);
        if (size && !is_known) return false;
    }
    return true;
}

static bool set_tenant(struct tenant_setting *tenant, const char *key, const char *value, char *why, size_t why_size) {
    char *field = strcmp(key, "token-file") == 0 ? tenant->token_file : strcmp(key, "scopes") == 0 ? tenant->scopes : NULL;
    size_t size = field == tenant->token_file ? sizeof(tenant->token_file) : sizeof(tenant->scopes);
    if (!field) snprintf(why, why_size, "unknown key '%.100s' of a tenant", key);
    else if (strlen(value) >= size) snprintf(why, why_size, "%s: the value is longer than %zu bytes", key, size - 1);
    else if (field == tenant->scopes && !are_scopes(value))
        snprintf(why, why_size, "scopes: '%s', must be of read, symbolicate and upload", value);
    else return strcpy(field, value);
    return false;
}

static bool begin_tenant(struct settings *settings, char *line, char *why, size_t why_size) {
    static const char word[] = "[tenant ";
    size_t size = strlen(line), skip = sizeof(word) - 1;
    struct tenant_setting *tenant = &settings->tenants[settings->tenant_count];
    bool is_good = strncmp(line, word, skip) == 0 && line[size - 1] == ']' && size - skip - 1 > 0 &&
                   size - skip - 1 < sizeof(tenant->name) && settings->tenant_count < MOST_TENANTS;
    if (!is_good) {
        snprintf(why, why_size, "'%.100s' is not [tenant NAME], or there are more than %d", line, MOST_TENANTS);
        return false;
    }
    *tenant = (struct tenant_setting){ .scopes = "read symbolicate" };
    memcpy(tenant->name, line + skip, size - skip - 1);
    settings->tenant_count++;
    return true;
}

static char *trim(char *text) {
    while (*text == ' ' || *text == '\t') text++;
    size_t size = strlen(text);
    while (size && (text[size - 1] == ' ' || text[size - 1] == '\t' || text[size - 1] == '\r')) text[--size] = 0;
    return text;
}

static bool parse_line(struct settings *settings, char *line, bool *in_tenant, char *why, size_t why_size) {
    line = trim(line);
    if (!*line || *line == '#') return true;
    if (*line == '[') return *in_tenant = begin_tenant(settings, line, why, why_size);
    char *equals = strchr(line, '=');
    if (!equals) {
        snprintf(why, why_size, "'%.100s' is not KEY = VALUE", line);
        return false;
    }
    *equals = 0;
    char *key = trim(line), *value = trim(equals + 1);
    if (*in_tenant) return set_tenant(&settings->tenants[settings->tenant_count - 1], key, value, why, why_size);
    return settings_set(settings, key, value, why, why_size);
}

bool settings_parse(struct settings *settings, const char *text, size_t size, char *why, size_t why_size) {
    char line[2 * SETTING_TEXT_SIZE], reason[256];
    bool in_tenant = false;
    for (size_t number = 1, at = 0; at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        if (length >= sizeof(line) || memchr(text + at, 0, length)) {
            snprintf(why, why_size, "line %zu: longer than %zu bytes, or not text", number, sizeof(line) - 1);
            return false;
        }
        memcpy(line, text + at, length);
        line[length] = 0;
        if (!parse_line(settings, line, &in_tenant, reason, sizeof(reason))) {
            snprintf(why, why_size, "line %zu: %s", number, reason);
            return false;
        }
        at += length + 1;
    }
    return true;
}

bool settings_read_file(struct settings *settings, const char *path, char *why, size_t why_size) {
    enum { LARGEST = 1 << 20 };
    FILE *file = fopen(path, "re");
    char *text = malloc(LARGEST), reason[320] = "";
    bool worked = false;
    if (!file || !text) snprintf(reason, sizeof(reason), "%s", strerror(errno));
    else {
        size_t size = fread(text, 1, LARGEST, file);
        if (ferror(file)) snprintf(reason, sizeof(reason), "%s", strerror(errno));
        else if (size == LARGEST) snprintf(reason, sizeof(reason), "larger than 1 MiB");
        else worked = settings_parse(settings, text, size, reason, sizeof(reason));
    }
    if (!worked) snprintf(why, why_size, "%s: %s", path, reason);
    if (file) fclose(file);
    free(text);
    return worked;
}

/* ---- the command line ---- */

bool settings_read_arguments(struct settings *settings, int argc, char **argv, int *first, char *why, size_t why_size) {
    settings_init(settings);
    for (int pass = 0; pass < 2; pass++) {
        for (*first = 2; *first < argc && strcmp(argv[*first], "--") != 0; ++*first) {
            char key[128], *equals = strchr(argv[*first], '=');
            if (!equals || memchr(argv[*first], ':', (size_t)(equals - argv[*first]))) continue; /* of a verb: store_command.c */
            snprintf(key, sizeof(key), "%.*s", (int)(equals - argv[*first]), argv[*first]);
            bool is_config = strcmp(key, "config") == 0;
            if (is_config != (pass == 0)) continue;
            if (!settings_set(settings, key, equals + 1, why, why_size)) return false;
            if (is_config && !settings_read_file(settings, equals + 1, why, why_size)) return false;
        }
    }
    return true;
}

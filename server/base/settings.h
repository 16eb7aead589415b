/* The settings of a server: `key = value` lines of a file, and the options of the command line, which have the same names. */
#ifndef CALLSIGN_SERVER_SETTINGS_H
#define CALLSIGN_SERVER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SETTING_TEXT_SIZE = 1024, MOST_REMOTES = 16, MOST_TENANTS = 64, MOST_WORKERS = 256, MOST_FETCH_WORKERS = 256 };

struct settings {
    char store[SETTING_TEXT_SIZE];
    char listen[SETTING_TEXT_SIZE];
    char config[SETTING_TEXT_SIZE];
    char web[SETTING_TEXT_SIZE];
    char layout[32];
    char cache_dir[SETTING_TEXT_SIZE];
    char upload_token_file[SETTING_TEXT_SIZE];
    char read_token_file[SETTING_TEXT_SIZE];
    char tls_certificate[SETTING_TEXT_SIZE];
    char tls_key[SETTING_TEXT_SIZE];
    char log_level[16];
    char source_root[SETTING_TEXT_SIZE];
    char upstreams[MOST_REMOTES][SETTING_TEXT_SIZE];
    uint32_t upstream_count;
    struct tenant_setting { char name[64], token_file[SETTING_TEXT_SIZE], scopes[64]; } tenants[MOST_TENANTS];
    uint32_t tenant_count;
    bool demo, named_files;
    uint64_t threads, workers, fetch_workers, conversion_workers, conversion_threads, conversion_memory;
    uint64_t converted_bytes, max_upload, max_body, max_jobs, max_connections, max_connections_per_address;
    uint64_t idle_timeout, header_timeout, drain_timeout, rescan, refresh, negative, open_indexes, rate_limit, rate_burst;
    uint64_t max_body_memory, fetch_timeout, keep_answers, max_partial_uploads, partial_age;
};

/* The defaults. */
void settings_init(struct settings *settings);
/* Sets one. False: there is no such key, or the value is not what it takes; `why` says what. */
bool settings_set(struct settings *settings, const char *key, const char *value, char *why, size_t why_size);
/* `key = value` lines; # begins a comment; [tenant NAME] begins the keys of a tenant. Messages name the line. */
bool settings_parse(struct settings *settings, const char *text, size_t size, char *why, size_t why_size);
bool settings_read_file(struct settings *settings, const char *path, char *why, size_t why_size);
/* The arguments KEY=VALUE after argv[1], up to "--"; those of the file that `config` names come before them, so that
 * the command line wins. *first receives where they end. */
bool settings_read_arguments(struct settings *settings, int argc, char **argv, int *first, char *why, size_t why_size);
/* The key and what it does, counted from 0; NULL: no more. For documentation and its test. */
const char *settings_key(size_t i, const char **out_help);

#endif

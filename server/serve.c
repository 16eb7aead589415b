/* callsign serve: from the settings to the last answer. */
#define _GNU_SOURCE
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread_start.h"
#include "http/connections.h"
#include "http/http_log.h"
#include "http/listen.h"
#include "http/rate_limit.h"
#include "http/server.h"
#include "routes/poll.h"
#include "routes/routes.h"
#include "store/archive_intake.h"
#include "store/file_sync.h"
#include "store/open_store.h"
#include "store/partial.h"
#include "store/remote.h"

static int fail(const char *why) {
    fprintf(stderr, "callsign: %s\n", why);
    return 2;
}

/* ---- what happens by the clock ---- */

struct housekeeping {
    struct server *server;
    pthread_t thread;
    atomic_bool is_over;
};

static void scan_store(struct server *server) {
    struct scan_counts counts;
    char why[256];
    if (symbol_store_scan(server->store, &counts, why, sizeof(why)) < 0) log_event("error", "the store cannot be scanned", why);
    else if (counts.added || counts.removed) pool_refresh(server->pool);
    atomic_store(&server->is_scanned, true);
}

static void *keep_house(void *context) {
    struct housekeeping *house = context;
    struct server *server = house->server;
    const struct settings *settings = &server->settings;
    for (uint64_t second = 0; !atomic_load(&house->is_over); second++) {
        if (second % settings->rescan == 0) scan_store(server);
        if (second % 60 == 0) partials_remove_old(server->store, settings->partial_age);
        polls_count(server->polls);
        connections_end_hung_up();
        connections_end_slow(settings->header_timeout, settings->idle_timeout * 2);
        for (int i = 0; i < 20 && !atomic_load(&house->is_over); i++) nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    }
    return NULL;
}

/* ---- start ---- */

static int open_pool(struct server *server, char *why, size_t why_size) {
    const struct settings *s = &server->settings;
    struct index_pool_options options = {
        .store = server->store, .max_open = (uint32_t)s->open_indexes, .workers = (uint32_t)s->conversion_workers,
        .threads = (uint32_t)s->conversion_threads, .conversion_bytes = s->conversion_memory, .cache_bytes = s->converted_bytes,
        .refresh_s = (uint32_t)s->refresh, .named_files = s->named_files,
    };
    return index_pool_open(&options, &server->pool, why, why_size);
}

/* A folder that is named and not there would answer nothing, in silence. */
static bool is_folder(const char *key, const char *path, char *why, size_t why_size) {
    struct stat st;
    if (!*path) return true;
    const char *fault = stat(path, &st) < 0 ? strerror(errno) : S_ISDIR(st.st_mode) ? NULL : "is not a folder";
    if (fault) snprintf(why, why_size, "%s: %s: %s", key, path, fault);
    return !fault;
}

static int open_all(struct server *server, struct opened_store *opened, char *why, size_t why_size) {
    const struct settings *s = &server->settings;
    if (!is_folder("web", s->web, why, why_size) || !is_folder("source-root", s->source_root, why, why_size)) return -1;
    server->tokens = tokens_load(&server->settings, why, why_size);
    if (!server->tokens) return -1;
    if (open_store_of_settings(&server->settings, opened, why, why_size) < 0) return -1;
    server->store = opened->store;
    if (open_pool(server, why, why_size) < 0) return -1;
    server->listen_fd = listen_at(server->settings.listen, why, why_size);
    server->rates = rate_limit_create();
    server->polls = polls_create(server->settings.keep_answers);
    return server->listen_fd < 0 ? -1 : 0;
}

/* Descriptors: of connections, open indexes and files that are sent. */
static void raise_limits(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void block_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* write() fails instead */
}

void server_use_settings(struct server *server, const struct settings *settings) {
    atomic_store(&server->live.rate_limit, settings->rate_limit);
    atomic_store(&server->live.rate_burst, settings->rate_burst);
    atomic_store(&server->live.max_jobs, settings->max_jobs);
    atomic_store(&server->live.max_upload, settings->max_upload);
}

/* Limits and tokens; what decides about the store and the address needs a restart. */
static void reload(struct server *server) {
    struct settings *next = malloc(sizeof(*next));
    char why[512] = "";
    if (!next) return;
    int first;
    if (!settings_read_arguments(next, server->argc, server->argv, &first, why, sizeof(why))) {
        log_event("error", "the configuration was not read again", why);
        free(next);
        return;
    }
    if (!tokens_reload(server->tokens, next, why, sizeof(why))) {
        log_event("error", "the tokens were not read again", why);
    } else {
        server_use_settings(server, next);
        log_set_level(next->log_level);
        pool_refresh(server->pool);
        log_event("info", "reloaded", NULL);
    }
    free(next);
}

/* ---- examples ---- */

static void forget_note(void *context, const char *name, enum store_status status, const struct artifact *artifact,
                        const char *why) {
    (void)context, (void)name, (void)status, (void)artifact, (void)why;
}

/* Takes a copy of the bytes into the store. */
static int add_example(struct server *server, const char *name, const void *bytes, size_t size, char *why, size_t why_size) {
    struct incoming incoming;
    if (incoming_create(server->store, &incoming, why, why_size) < 0) return -1;
    if (write_all(incoming.fd, bytes, size) == 0)
        return store_take_file(server->store, &incoming, name, "demo", forget_note, NULL, why, why_size) == STORE_OK ? 0 : -1;
    snprintf(why, why_size, "%s: cannot be written", incoming.path);
    incoming_discard(&incoming);
    return -1;
}

/* An empty store gets this program, and a symbol file that is easy to ask about. */
static int add_examples(struct server *server, char *why, size_t why_size) {
    static const char example[] = "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 libexample.so\nFILE 0 /src/example.c\n"
                                  "FUNC 1000 20 0 open_door\n1000 10 12 0\n1010 10 14 0\nFUNC 1020 30 0 ring_bell\n1020 30 21 0\n";
    struct csn_file *self = NULL;
    if (catalogue_count(symbol_store_catalogue(server->store)) != 0) return 0;
    if (add_example(server, "libexample.so.sym", example, sizeof(example) - 1, why, why_size) < 0) return -1;
    if (csn_file_open("/proc/self/exe", &self, NULL) < 0) return 0;
    int result = add_example(server, "callsign-server", csn_file_bytes(self), csn_file_size(self), why, why_size);
    csn_file_close(self);
    return result;
}

static void announce(struct server *server) {
    char url[512];
    listen_url(server->listen_fd, server->settings.listen, *server->settings.tls_certificate != 0, url, sizeof(url));
    printf("listening on %s\n", url);
    fflush(stdout);
    log_event("info", "listening", url);
}

static void wait_for_signal(struct server *server, const sigset_t *set) {
    int number = 0;
    while (sigwait(set, &number) == 0 && number == SIGHUP) reload(server);
    pthread_sigmask(SIG_UNBLOCK, set, NULL); /* a second one ends the process at once */
    signal(number, SIG_DFL);
}

static int run(struct server *server, const sigset_t *signals, char *why, size_t why_size) {
    struct housekeeping house = { .server = server };
    atomic_store(&house.is_over, false);
    if (symbol_store_is_new(server->store)) scan_store(server);
    if (server->settings.demo && add_examples(server, why, why_size) < 0) return -1;
    queue_start(server);
    if (server_start(server, why, why_size) < 0) {
        queue_stop(server);
        return -1;
    }
    if (!thread_start(&house.thread, keep_house, &house)) {
        snprintf(why, why_size, "no thread can be started");
        server_drain(server);
        return -1;
    }
    /* Of a store that is not huge, every file is known when the address is printed. */
    for (int i = 0; i < 50 && !atomic_load(&server->is_scanned); i++) nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    announce(server);
    wait_for_signal(server, signals);
    server_drain(server);
    atomic_store(&house.is_over, true);
    pthread_join(house.thread, NULL);
    return 0;
}

int serve(struct settings *settings, int argc, char **argv) {
    static struct server server;
    struct opened_store opened = { .store = NULL };
    sigset_t signals;
    char why[512] = "out of memory";
    server.settings = *settings;
    server_use_settings(&server, settings);
    server.argc = argc;
    server.argv = argv;
    server.routes = server_routes;
    server.route_count = server_route_count;
    server.listen_fd = -1;
    raise_limits();
    block_signals(&signals);
    log_set_level(settings->log_level);
    int code = open_all(&server, &opened, why, sizeof(why)) < 0 || run(&server, &signals, why, sizeof(why)) < 0 ? fail(why) : 0;
    polls_free(server.polls);
    index_pool_close(server.pool);
    close_store(&opened);
    tokens_free(server.tokens);
    rate_limit_free(server.rates);
    return code;
}

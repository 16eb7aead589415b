/* Running callsign-server: beside the command in a build tree, below libexec where it is installed. */
#define _GNU_SOURCE
#include "serve/server_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/cli_message.h"

enum { PATH_SIZE = 4096 };

void server_argument(struct server_arguments *arguments, const char *text) {
    char **grown = reallocarray(arguments->items, arguments->count + 2, sizeof(*grown));
    char *copy = strdup(text);
    if (grown) arguments->items = grown;
    if (!grown || !copy) {
        arguments->failed = true;
        free(copy);
        return;
    }
    arguments->items[arguments->count++] = copy;
    arguments->items[arguments->count] = NULL;
}

void server_setting(struct server_arguments *arguments, const char *key, const char *value) {
    char *text;
    if (!value) return;
    if (asprintf(&text, "%s=%s", key, value) < 0) {
        arguments->failed = true;
        return;
    }
    server_argument(arguments, text);
    free(text);
}

void server_number(struct server_arguments *arguments, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    if (value) server_setting(arguments, key, text);
}

static void free_arguments(struct server_arguments *arguments) {
    for (size_t i = 0; i < arguments->count; i++) free(arguments->items[i]);
    free(arguments->items);
}

#ifdef CALLSIGN_HAVE_SERVER
static bool find_program(char out[PATH_SIZE]) {
    static const char *const places[] = { "callsign-server", CALLSIGN_LIBEXEC "/callsign-server" };
    char self[PATH_SIZE];
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (size < 0) return false;
    self[size] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (snprintf(out, PATH_SIZE, "%s/%s", self, places[i]) < PATH_SIZE && access(out, X_OK) == 0) return true;
    return false;
}

static void run_program(struct server_arguments *arguments) {
    char path[PATH_SIZE];
    if (arguments->failed) {
        cli_error_memory("options");
    } else if (!find_program(path)) {
        cli_error(NULL, "callsign-server is neither beside this program nor in " CALLSIGN_LIBEXEC " from there: install it again");
    } else {
        execv(path, arguments->items);
        cli_error(path, "%s", strerror(errno));
    }
}
#else
static void run_program(struct server_arguments *arguments) {
    (void)arguments;
    cli_error(NULL, "this program was built without the server: %s",
              *CALLSIGN_SERVER_MISSING ? "missing then: " CALLSIGN_SERVER_MISSING : "it needs Linux");
}
#endif

enum exit_code server_program_run(struct server_arguments *arguments) {
    run_program(arguments);
    free_arguments(arguments);
    return EXIT_FAILED;
}

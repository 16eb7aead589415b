/* callsign-server: what `callsign serve` and `callsign store` run. It is a program of its own so that a lookup does not load the libraries
 * of a server. Its arguments are settings, KEY=VALUE, as the command has checked them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "http/server.h"
#include "store_command.h"

static int fail(const char *why) {
    fprintf(stderr, "callsign: %s\n", why);
    return 2;
}

/* Settings of the command line come after those of the file, and win. */
static int read_settings(struct settings *settings, int argc, char **argv, int *first, char *why, size_t why_size) {
    settings_init(settings);
    for (int pass = 0; pass < 2; pass++) {
        for (*first = 2; *first < argc && strcmp(argv[*first], "--") != 0; ++*first) {
            char key[64], *equals = strchr(argv[*first], '=');
            if (!equals || (size_t)(equals - argv[*first]) >= sizeof(key)) continue; /* of a verb: store_command.c */
            snprintf(key, sizeof(key), "%.*s", (int)(equals - argv[*first]), argv[*first]);
            bool is_config = strcmp(key, "config") == 0;
            if (is_config != (pass == 0)) continue;
            if (!settings_set(settings, key, equals + 1, why, why_size)) return -1;
            if (is_config && !settings_read_file(settings, equals + 1, why, why_size)) return -1;
        }
    }
    return 0;
}

/* The page: of the build tree, or of the installation. */
static void find_page(struct settings *settings) {
    static const char *const places[] = { "../web", "../../share/callsign/web" };
    char self[SETTING_TEXT_SIZE], path[2 * SETTING_TEXT_SIZE];
    ssize_t size = *settings->web ? -1 : readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (size <= 0) return;
    self[size] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s/index.html", self, places[i]);
        if (access(path, R_OK) != 0) continue;
        *strrchr(path, '/') = 0;
        if (strlen(path) < sizeof(settings->web)) strcpy(settings->web, path);
        return;
    }
}

int main(int argc, char **argv) {
    struct settings *settings = malloc(sizeof(*settings));
    char why[2048] = "out of memory";
    int first = 0;
    if (argc < 2 || (strcmp(argv[1], "serve") != 0 && strcmp(argv[1], "store") != 0))
        return fail("callsign-server is run by 'callsign serve' and 'callsign store'");
    int code;
    if (!settings || read_settings(settings, argc, argv, &first, why, sizeof(why)) < 0) {
        code = fail(why);
    } else {
        find_page(settings);
        code = strcmp(argv[1], "serve") == 0 ? serve(settings) : store_command(settings, argc, argv, first);
    }
    free(settings);
    return code;
}

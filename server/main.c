/* callsign-server: what `callsign serve` and `callsign store` run. It is a program of its own so that a lookup does
 * not load the libraries of a server. Its arguments are settings, KEY=VALUE, as the command has checked them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "serve.h"
#include "store_command.h"

static int fail(const char *why) {
    fprintf(stderr, "callsign: %s\n", why);
    return 2;
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
    char why[2048] = "out of memory";
    int first = 0;
    if (argc < 2 || (strcmp(argv[1], "serve") != 0 && strcmp(argv[1], "store") != 0))
        return fail("callsign-server is run by 'callsign serve' and 'callsign store'");
    struct settings *settings = malloc(sizeof(*settings));
    int code;
    if (!settings || !settings_read_arguments(settings, argc, argv, &first, why, sizeof(why))) {
        code = fail(why);
    } else {
        find_page(settings);
        code = strcmp(argv[1], "serve") == 0 ? serve(settings, argc, argv) : store_command(settings, argc, argv, first);
    }
    free(settings);
    return code;
}

/* Any bytes as a server's configuration file. Invariants: what is refused is explained with its line; what is read
 * is the same when it is read again; texts end within their fields. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static bool parse(struct settings *out, const uint8_t *data, size_t size, char *why, size_t why_size) {
    memset(out, 0, sizeof(*out));
    settings_init(out);
    return settings_parse(out, (const char *)data, size, why, why_size);
}

static bool ends(const char *text, size_t size) { return memchr(text, 0, size) != NULL; }

static void check(const struct settings *s) {
    require(ends(s->store, sizeof(s->store)) && ends(s->listen, sizeof(s->listen)) && ends(s->layout, sizeof(s->layout)));
    require(s->upstream_count <= MOST_REMOTES && s->tenant_count <= MOST_TENANTS && s->workers >= 1 && s->workers <= MOST_WORKERS);
    for (uint32_t i = 0; i < s->upstream_count; i++) require(ends(s->upstreams[i], sizeof(s->upstreams[i])));
    for (uint32_t i = 0; i < s->tenant_count; i++)
        require(*s->tenants[i].name && ends(s->tenants[i].name, sizeof(s->tenants[i].name)) &&
                ends(s->tenants[i].scopes, sizeof(s->tenants[i].scopes)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct settings first, again;
    char why[512] = "", why_again[512] = "";
    bool worked = parse(&first, data, size, why, sizeof(why));
    require(parse(&again, data, size, why_again, sizeof(why_again)) == worked && strcmp(why, why_again) == 0);
    if (!worked) {
        require(strncmp(why, "line ", 5) == 0);
        return 0;
    }
    require(memcmp(&first, &again, sizeof(first)) == 0);
    check(&first);
    return 0;
}

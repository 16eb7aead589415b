/* URLs in messages and logs. */
#include "ui/url_text.h"

#include <stdio.h>
#include <string.h>

/* Where the host begins: behind user and password. */
static size_t host_of(const char *url, size_t start, size_t size) {
    size_t host = start;
    for (size_t i = start; i < size && !strchr("/?#", url[i]); i++)
        if (url[i] == '@') host = i + 1;
    return host;
}

static int show_url(const char *url, size_t size, char *out, size_t room) {
    const char *scheme_end = strstr(url, "://");
    size_t start = scheme_end && scheme_end + 3 <= url + size ? (size_t)(scheme_end - url) + 3 : 0;
    if (!start) return snprintf(out, room, "%.*s", (int)size, url);
    size_t host = host_of(url, start, size), end = host;
    while (end < size && !strchr("?#", url[end])) end++;
    return snprintf(out, room, "%.*s%.*s", (int)start, url, (int)(end - host), url + host);
}

void urls_show(const char *urls, char *out, size_t size) {
    *out = 0;
    for (const char *at = urls; *at && size > 1;) {
        size_t blanks = strspn(at, " "), length = strcspn(at + blanks, " ");
        int used = snprintf(out, size, "%.*s", (int)blanks, at);
        if (used >= 0 && (size_t)used < size) used += show_url(at + blanks, length, out + used, size - (size_t)used);
        if (used < 0 || (size_t)used >= size) return;
        out += used;
        size -= (size_t)used;
        at += blanks + length;
    }
}

/* Parts of paths. */
#define _GNU_SOURCE
#include "store/store_paths.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"


const char *csni_path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t csni_path_root(const char *path) {
    static const char proc[] = "/proc/", root[] = "/root";
    if (strncmp(path, proc, sizeof proc - 1) != 0) return 0;
    size_t at = sizeof proc - 1;
    while (path[at] >= '0' && path[at] <= '9') at++;
    if (at == sizeof proc - 1 || strncmp(path + at, root, sizeof root - 1) != 0) return 0;
    at += sizeof root - 1;
    return path[at] == '/' ? at : 0;
}

/* Without the '/' at its end, so that the root is empty and anything may be put after it. */
static void add_folder(struct csni_folders *out, const char *path, size_t len) {
    if (len >= CSNI_PATH_SIZE) return;
    char *text = out->text[out->count];
    memcpy(text, path, len);
    text[len] = 0;
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->text[i], text) == 0) return;
    out->count++;
}

void csni_path_folders(const char *path, struct csni_folders *out) {
    char real[CSNI_PATH_SIZE], written[CSNI_PATH_SIZE];
    const char *base = csni_path_base(path);
    size_t len = (size_t)(base - path);
    out->count = 0;
    if (len >= sizeof written) return;
    if (len) add_folder(out, path, len - 1);
    else add_folder(out, ".", 1);
    /* A link to the image in another folder, then a folder that was reached by way of a link. */
    if (realpath(path, real)) add_folder(out, real, (size_t)(csni_path_base(real) - real) - 1);
    memcpy(written, path, len);
    written[len] = 0;
    if (realpath(len ? written : ".", real)) add_folder(out, real, strcmp(real, "/") == 0 ? 0 : strlen(real));
    const size_t root = csni_path_root(path);
    if (root) add_folder(out, path + root, len - 1 - root);
}

struct csni_path_shown csni_path_show(const char *path) {
    struct csni_path_shown shown;
    size_t len = strlen(path);
    bool cut = len > CSNI_PATH_SHOWN;
    snprintf(shown.text, sizeof shown.text, "%s%s", cut ? "..." : "", cut ? path + len - CSNI_PATH_SHOWN : path);
    return shown;
}

struct csni_path_shown csni_url_show(const char *url) {
    struct csni_path_shown shown;
    const char *scheme_end = strstr(url, "://"), *host = scheme_end ? scheme_end + 3 : url;
    const char *rest = host;
    for (size_t i = 0; i < strcspn(host, "/?#"); i++)
        if (host[i] == '@') rest = host + i + 1;
    snprintf(shown.text, sizeof shown.text, "%.*s%.*s", (int)(host - url), url, (int)strcspn(rest, "?#"), rest);
    return shown;
}

bool csni_small_letters(const char *text, char *out, size_t size) {
    bool differs = false;
    size_t i = 0;
    for (; text[i] && i + 1 < size; i++) {
        bool is_capital = text[i] >= 'A' && text[i] <= 'Z';
        out[i] = is_capital ? (char)(text[i] + ('a' - 'A')) : text[i];
        differs |= is_capital;
    }
    out[i] = 0;
    return differs;
}

bool csni_id_text(const uint8_t *id, size_t size, char out[CSNI_ID_TEXT_SIZE]) {
    if (size > CSNI_ID_MAX) return false;
    csni_hex_text(id, size, out);
    return true;
}

/* Paths as they are shown, kept by file number. */
#include "ui/path_texts.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "ui/path_text.h"
#include "ui/utf8.h"

/* Of an index that names a huge string in each of its files. */
enum { PATH_MAX_KEPT = 4096 };

struct path_text {
    size_t len;
    char text[];
};

bool path_texts_init(struct path_texts *paths, const struct csn_index *index, uint32_t file_count) {
    *paths = (struct path_texts){ .index = index, .count = file_count };
    if (file_count) paths->texts = calloc(file_count, sizeof(*paths->texts));
    return paths->texts || !file_count;
}

void path_texts_deinit(struct path_texts *paths) {
    for (uint32_t i = 0; paths->texts && i < paths->count; i++) free(paths->texts[i]);
    free(paths->texts);
    *paths = (struct path_texts){ 0 };
}

/* What out_safe() makes of the two parts is at most four times as long. */
static struct path_text *make(const struct path_texts *paths, uint32_t file) {
    struct csn_str directory = { "", 0 }, base = { "", 0 };
    csn_index_file(paths->index, file, &directory, &base, NULL);
    if (directory.len > PATH_MAX_KEPT || base.len > PATH_MAX_KEPT) return NULL;
    char separator = path_separator(directory, base);
    struct path_text *made = malloc(sizeof(*made) + 4 * (directory.len + base.len) + 1);
    if (!made) return NULL;
    size_t len = safe_text(made->text, directory);
    if (separator) made->text[len++] = separator;
    len += safe_text(made->text + len, base);
    made->len = len;
    struct path_text *fitting = realloc(made, sizeof(*made) + len);
    return fitting ? fitting : made;
}

bool path_texts_get(struct path_texts *paths, uint32_t file, struct csn_str *out) {
    *out = (struct csn_str){ "", 0 };
    if (file >= paths->count) return true;
    struct path_text **text = &paths->texts[file];
    if (!*text) *text = make(paths, file);
    if (!*text) return false;
    *out = (struct csn_str){ (*text)->text, (*text)->len };
    return true;
}

/* Call-site files from the command line. */
#include "convert/convert_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ui/cli_message.h"

/* Files may be pipes: they are read to their end, whatever size they say they have. */
static bool read_all(FILE *file, const char *path, struct csn_call_site_file *out) {
    char *bytes = NULL;
    size_t size = 0, capacity = 0;
    do {
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(bytes, capacity);
            if (!grown) {
                cli_error_memory(path);
                free(bytes);
                return false;
            }
            bytes = grown;
        }
        size += fread(bytes + size, 1, capacity - size, file);
    } while (size == capacity);
    *out = (struct csn_call_site_file){ path, bytes, size };
    if (!ferror(file)) return true;
    cli_error(path, "%s", strerror(errno));
    return false;
}

static bool read_file(const char *path, struct csn_call_site_file *out) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        cli_error(path, "%s", strerror(errno));
        return false;
    }
    bool good = read_all(file, path, out);
    fclose(file);
    return good;
}

bool call_site_files_read(struct call_site_files *files, const struct text_list *given) {
    *files = (struct call_site_files){ 0 };
    if (!given->count) return true;
    files->items = calloc(given->count, sizeof(*files->items));
    if (!files->items) {
        cli_error_memory("call sites");
        return false;
    }
    for (size_t i = 0; i < given->count; i++) {
        if (strcmp(given->items[i], "dwarf") == 0)
            files->dwarf = true;
        else if (!read_file(given->items[i], &files->items[files->count++]))
            return false;
    }
    return true;
}

void call_site_files_release(struct call_site_files *files) {
    for (size_t i = 0; i < files->count; i++) free((void *)(uintptr_t)files->items[i].bytes);
    free(files->items);
    *files = (struct call_site_files){ 0 };
}

/* ---- --revision ---- */

bool section_revision(const char *name, uint32_t *out) {
    *out = 0;
    if (!name) return true;
    if (strcasecmp(name, "b-script") == 0) *out = CSN_REVISION_B_SCRIPT;
    else if (strlen(name) == 1 && strchr("ABCDEFGabcdefg", name[0])) *out = (uint32_t)(name[0] & ~0x20);
    if (!*out) cli_error(NULL, "option '--revision': '%s' is unknown; use A to G or B-script", name);
    return *out != 0;
}

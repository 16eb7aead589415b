/* Names and places. */
#include "stand_ins/eu_addr2line/eu_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gnu_names/gnu_demangle.h"

char eu_separator(const struct eu *e) { return e->pretty ? ' ' : '\n'; }

void eu_put_name(const struct eu *e, const char *name, size_t size) {
    char *plain = copy_text(name, size), *demangled = e->demangle && strncmp(plain, "_Z", 2) == 0 ? gnu_demangle(plain) : NULL;
    fputs(demangled ? demangled : plain, stdout);
    free(plain);
    free(demangled);
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void eu_put_path(const struct eu *e, const char *path, struct csn_str comp_dir) {
    if (e->base_names) path = base_of(path);
    else if (!e->no_comp_dir && path[0] != '/' && comp_dir.len) printf("%.*s/", (int)comp_dir.len, comp_dir.ptr);
    fputs(path, stdout);
}

void eu_put_position(uint64_t line, uint64_t column) {
    printf(":%d", (int)line);
    if (column) printf(":%d", (int)column);
}

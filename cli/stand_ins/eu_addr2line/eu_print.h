/* What eu-addr2line has been asked for, and how it prints names and places. */
#ifndef CALLSIGN_CLI_EU_PRINT_H
#define CALLSIGN_CLI_EU_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

struct eu {
    const char *program, *short_name, *path, *section, *debuginfo_path;
    const char *pid_text, *maps_path, *core_path; /* of a process; NULL: none is asked for */
    long pid;
    bool is_of_kernel;
    bool addresses, functions, symbols, symbol_sections, inlines, demangle, pretty, base_names, no_comp_dir, flags;
    struct libdw_module *module;
    struct eu_images *images; /* of a process, in the place of one object; NULL: none */
    bool is_default;         /* `path` is a.out, since none was given */
    uint64_t bias;           /* of addresses in requests against those of `module` */
    int width;               /* digits of addresses, as for the first one; 0: there was none yet */
};

char eu_separator(const struct eu *e);
void eu_put_name(const struct eu *e, const char *name, size_t size);
/* A file with what belongs before it. */
void eu_put_path(const struct eu *e, const char *path, struct csn_str comp_dir);
void eu_put_position(uint64_t line, uint64_t column);

#endif

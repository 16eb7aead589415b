/* --convert: an object file becomes a GSYM file. */
#ifndef CALLSIGN_CLI_GSYM_CONVERT_H
#define CALLSIGN_CLI_GSYM_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gsym_conversion {
    const char *input, *out, *json_summary, *call_site_yaml, *symbol_file;
    uint64_t segment_size;
    const char *const *archs;
    size_t arch_count;
    bool verify, quiet, merged, call_sites;
};

/* Returns the exit code. */
int gsym_convert(const struct gsym_conversion *conversion);

#endif

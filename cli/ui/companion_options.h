/* The options that say where debug information outside of the input is, and the library's stock search set up by them. */
#ifndef CALLSIGN_CLI_COMPANION_OPTIONS_H
#define CALLSIGN_CLI_COMPANION_OPTIONS_H

#include <callsign/convert.h>

#include "commands/command.h"
#include "ui/progress_bar.h"

struct companion_values {
    const char *arch, *debug_file, *object_prefix;
    struct text_list debug_dirs, packages, dwo_dirs;
    uint64_t timeout_s, max_download;
    bool none;
};

enum { COMPANION_OPTION_COUNT = 9 };
extern const struct option_spec companion_options[COMPANION_OPTION_COUNT];

/* A search for one run, and the debug file that it found for the image. */
struct companion_search {
    struct csn_companion_search *search; /* NULL: nothing is looked for */
    char *debug_file;                    /* its path; NULL: none was found */
};

/* Sets image and resolver of `options`; downloads show in `bar`. */
csn_status companion_search_begin(struct companion_search *search, const struct companion_values *values,
                                  struct progress_bar *bar, struct csn_convert_options *options, struct csn_error *err);
void companion_search_end(struct companion_search *search);

#endif

/* The options that say where debug information outside of the input is, and the library's stock search set up by them. */
#ifndef CALLSIGN_CLI_COMPANION_OPTIONS_H
#define CALLSIGN_CLI_COMPANION_OPTIONS_H

#include <callsign/convert.h>

#include "ui/command.h"
#include "ui/progress_bar.h"

struct companion_values {
    const char *arch, *debug_file, *object_prefix;
    struct text_list debug_dirs, packages, dwo_dirs, symbol_servers;
    uint64_t timeout_s, max_download;
    bool none;
    bool offline; /* no server is asked */
    const char *output; /* of the command: what is opened may not read it. NULL: none, or convert's, which has a list */
};

enum { COMPANION_OPTION_COUNT = 10 };
extern const struct option_spec companion_options[COMPANION_OPTION_COUNT];

/* A search for one run, and the debug file that it found for the image. */
struct companion_search {
    struct csn_companion_search *search; /* NULL: nothing is looked for */
    char *debug_file;                    /* its path; NULL: none was found */
    bool is_missing;                     /* the image has no debug information, and its debug file was not found */
    bool lacks_pdb;                      /* the image names a PDB that was not found */
    const char *const *outputs;          /* files that will be written, none of which may be read; ends with NULL. NULL: none */
    const char *refused;                 /* one of them that was to be read */
    char build_id[2 * 64 + 1];           /* of that image; empty: it has none */
    char link_name[128];                 /* of the debug file, as the image names it; empty: it does not */
};

/* The places that hold for every image: folders and servers, but not symbol servers, whose strings symbol_path has. */
void companion_places(const struct companion_values *values, struct progress_bar *bar, struct csn_companion_search_options *out);
/* Sets image and resolver of `options`; downloads show in `bar`. A companion that is one of `outputs` fails the conversion, which
 * would replace it; the list ends with NULL and stays the caller's. */
csn_status companion_search_begin(struct companion_search *search, const struct companion_values *values, const char *const *outputs,
                                  struct progress_bar *bar, struct csn_convert_options *options, struct csn_error *err);
/* False, with a message: `out` is a file that the options name. `option`: that of `out`. */
bool companions_are_spared(const struct companion_values *values, const char *out, const char *option);
/* Where the debug file of an image was looked for in vain. NULL: none was looked for, or it was found. */
struct missing_text {
    char text[1024];
};
const char *companion_search_missing(const struct companion_search *search, const struct companion_values *values,
                                     struct missing_text *out);
void companion_search_end(struct companion_search *search);

#endif

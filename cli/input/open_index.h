/* What a command is given: an index, an object file that carries one, or an object file that is converted in memory. A file
 * is opened once, whatever it turns out to be. */
#ifndef CALLSIGN_CLI_OPEN_INDEX_H
#define CALLSIGN_CLI_OPEN_INDEX_H

#include <callsign/convert.h>
#include <callsign/index.h>

#include "input/symbol_search.h"

/* A file, or a folder: a dSYM bundle, which has no bytes of its own. */
struct input_file {
    const char *path;
    struct csn_file *file; /* NULL: it is a folder */
    const void *bytes;
    size_t size;
};
/* False, with a message: it cannot be read, or is empty. */
bool input_file_open(const char *path, struct input_file *out);
void input_file_close(struct input_file *input); /* a zeroed one is fine */
/* What a file is: by that, which options mean something for it. */
enum input_nature {
    INPUT_OBJECT, /* an object file, an archive or bundle of them, or nothing that is read */
    INPUT_INDEX,  /* an index or a Breakpad file */
    INPUT_PDB,
    INPUT_LIST    /* text of symbols, a jitdump, or the log of a ROM's build */
};
enum input_nature input_nature_of(const struct input_file *input);
const char *input_nature_text(enum input_nature nature); /* "an index" */
static inline bool input_takes_arch(enum input_nature nature) { return nature == INPUT_OBJECT || nature == INPUT_PDB; }

/* False, with a message: an option for debug information elsewhere, or for one of several images, that the input has no use for. */
bool options_fit_input(const struct input_file *input, const struct companion_values *companions);
/* The same of what is known to be an index, and of an object that carries one, which is used. */
bool options_fit_index(const char *path, const struct companion_values *companions);
bool options_fit_embedded(const char *path, const struct companion_values *companions);

/* False, with a message: the input is a thin file, whose image is of another machine. `arch` may be NULL. */
bool arch_fits(const struct input_file *input, const char *arch);

struct opened_index {
    struct csn_index *index;
    struct input_file input; /* that the index is read from */
    struct csn_bytes bytes;  /* of a conversion in memory */
    struct csn_convert_report *report; /* of that; NULL: nothing was converted */
    bool partial;            /* parts of the object's debug information could not be read */
};

/* False, with a message on stderr, when there is no index to be had. `companions`: for an object
 * file. */
bool open_index(const char *path, const struct companion_values *companions, struct opened_index *out);
/* The same; an object file is converted by the opener, which has a cache. NULL: as open_index(). */
bool open_index_through(const char *path, const struct companion_values *companions, struct symbol_search *search,
                        struct opened_index *out);
/* The same for two that are compared: options for what is converted may mean one of them only. False: close both all the same. */
bool open_two_indexes(char *const paths[2], const struct companion_values *companions, struct opened_index out[2]);
/* Whether it is a URL of http, https or s3, and not a path. */
bool input_is_remote(const char *path);
/* The index at a URL, with the time and size limits of `companions`. */
bool open_remote_index(const char *url, const struct companion_values *companions, struct opened_index *out);
/* As open_index() for an object file only; the report tells its coverage, too. `flags`: more CSN_CONVERT_ ones; `merged`: enum
 * csn_merge. */
bool open_object(const char *path, const struct companion_values *companions, uint32_t flags, uint32_t merged,
                 struct opened_index *out);
void close_index(struct opened_index *opened); /* a zeroed one is fine */

#endif

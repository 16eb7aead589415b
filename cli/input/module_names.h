/* How an input describes a module, and the store that finds its index. */
#ifndef CALLSIGN_CLI_MODULE_NAMES_H
#define CALLSIGN_CLI_MODULE_NAMES_H

#include <callsign/process.h>
#include <callsign/store.h>

#include "input/symbol_search.h"
#include "ui/option_table.h"

struct build_id {
    uint8_t bytes[CSN_BUILD_ID_MAX];
    size_t size; /* 0: not known */
};
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* From hexadecimal digits, dashes between them ignored; of a longer one the first bytes. False: it is none. */
bool build_id_parse(struct csn_str text, struct build_id *out);

/* From a debug id of Breakpad, "0D4EB06CE07FE68CE2371FF6A2F65A3C0": a GUID, whose first three fields are numbers, and an age.
 * False: it is none, or all zeros, which means that there is none. */
bool build_id_parse_guid(struct csn_str text, struct build_id *out);

/* Empty: not known. */
struct module_names {
    struct csn_str name;  /* may be a path */
    struct csn_str index; /* the index's own path */
    struct build_id id;
    struct csn_str image; /* path by which its file is opened, where that is not `name` */
    const struct csn_file *file; /* the open file; NULL: it is opened */
};

/* The part of a path after its last slash or backslash. */
struct csn_str base_name_of(struct csn_str path);

/* The file of an --index: FILE or NAME=FILE. */
const char *index_option_path(const char *text);
/* A store over the files of --index (FILE or NAME=FILE), which are open then, the folders of --symbols, and what the search
 * finds; it uses the search as long as it lives. False, with a message: one of them cannot be opened. */
bool module_store_create(const struct text_list *files, const struct text_list *folders, struct symbol_search *search,
                         struct csn_store **out);
/* NULL: there is none, or no memory. A file that cannot be opened, or has another build id, is reported once. */
/* `explain`: of a module without one, each place that was searched is shown on stderr. */
const struct csn_index *module_store_find(struct csn_store *store, const struct module_names *module, bool explain);

uint64_t module_base_address(const struct csn_index *index);
/* The load bias of a module for its index. */
uint64_t module_bias(const struct csn_process_module *module, const struct csn_index *index);

#endif

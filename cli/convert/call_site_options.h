/* The values of --call-sites: "dwarf", or files that are read here for the library. */
#ifndef CALLSIGN_CLI_CALL_SITE_OPTIONS_H
#define CALLSIGN_CLI_CALL_SITE_OPTIONS_H

#include <stdbool.h>

#include <callsign/convert.h>

#include "ui/option_table.h"

struct call_site_files {
    struct csn_call_site_file *items;
    size_t count;
    bool dwarf;
};

/* False: said why on stderr; release all the same. */
bool call_site_files_read(struct call_site_files *files, const struct text_list *given);
void call_site_files_release(struct call_site_files *files);

#endif

/* Values of options that several commands have or that take reading: --call-sites ("dwarf", or files that are read here for the
 * library) and --revision. */
#ifndef CALLSIGN_CLI_CONVERT_OPTIONS_H
#define CALLSIGN_CLI_CONVERT_OPTIONS_H

#include <stdbool.h>

#include <callsign/convert.h>

#include "ui/option_table.h"

struct call_site_files {
    struct csn_call_site_file *items;
    size_t count;
    bool dwarf;
};

/* False, with a message; release all the same. */
bool call_site_files_read(struct call_site_files *files, const struct text_list *given);
void call_site_files_release(struct call_site_files *files);

/* The value of '--revision' as enum csn_section_revision: 0 for NULL. False, with a message: it is not known. */
bool section_revision(const char *name, uint32_t *out);

#endif

/* The revision of a section GSYM, as commands take it. */
#ifndef CALLSIGN_CLI_SECTION_OPTIONS_H
#define CALLSIGN_CLI_SECTION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The value of '--revision' as enum csn_section_revision: 0 for NULL. False, with a message on stderr, where it is not known. */
bool section_revision(const char *name, uint32_t *out);

#endif

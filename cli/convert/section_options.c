/* The revision of a section GSYM, as commands take it. */
#define _GNU_SOURCE
#include "convert/section_options.h"

#include <string.h>
#include <strings.h>

#include <callsign/convert.h>

#include "ui/cli_message.h"

bool section_revision(const char *name, uint32_t *out) {
    *out = 0;
    if (!name) return true;
    if (strcasecmp(name, "b-script") == 0) *out = CSN_REVISION_B_SCRIPT;
    else if (strlen(name) == 1 && strchr("ABCDEFGabcdefg", name[0])) *out = (uint32_t)(name[0] & ~0x20);
    if (!*out) cli_error(NULL, "option '--revision': '%s' is not known, only 'A' to 'G' and 'B-script' are", name);
    return *out != 0;
}

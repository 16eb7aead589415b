/* Names of Ada as GNU's demangler reads them. */
#ifndef CALLSIGN_CLI_GNAT_NAMES_H
#define CALLSIGN_CLI_GNAT_NAMES_H

#include <stddef.h>

/* The name in words of Ada; what is none stands in "<>". Never NULL; for free(). */
char *gnat_name(const char *name, size_t size);

#endif

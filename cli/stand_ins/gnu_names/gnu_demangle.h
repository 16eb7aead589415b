/* Names as GNU's tools demangle them. */
#ifndef CALLSIGN_CLI_GNU_DEMANGLE_H
#define CALLSIGN_CLI_GNU_DEMANGLE_H

#include <stdbool.h>

/* A demangled name, which the caller frees; NULL: the name stays as it is. A suffix "@VERSION" and leading dots stay around what
 * is demangled. */
char *gnu_demangle(const char *name);

/* Of names that begin with the byte that the machine's compilers put before every name, '_' of PE on x86: without it. */
void gnu_demangle_skip_leading(char byte);

/* The style of --demangle=STYLE. False: there is no such style. */
bool gnu_demangle_choose_style(const char *style);

#endif

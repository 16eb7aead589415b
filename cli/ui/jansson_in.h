/* jansson's header. The archive is linked into the command, so none of our functions may have the name of one of its. */
#ifndef CALLSIGN_CLI_JANSSON_IN_H
#define CALLSIGN_CLI_JANSSON_IN_H

#include <jansson.h>

#endif

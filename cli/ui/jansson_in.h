/* jansson's header. Its json_string() is not used and would have the name of our writer's: it gets another one here. */
#ifndef CALLSIGN_CLI_JANSSON_IN_H
#define CALLSIGN_CLI_JANSSON_IN_H

#define json_string jansson_string
#include <jansson.h>
#undef json_string

#endif

/* The description of the API, server/deploy/openapi.json. */
#ifndef CALLSIGN_SERVER_OPENAPI_H
#define CALLSIGN_SERVER_OPENAPI_H

#include <stddef.h>

extern const unsigned char server_openapi[];
extern const size_t server_openapi_size;

#endif

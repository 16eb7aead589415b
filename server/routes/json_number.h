/* Numbers in JSON of requests. */
#ifndef CALLSIGN_SERVER_JSON_NUMBER_H
#define CALLSIGN_SERVER_JSON_NUMBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A number that is not negative, or a text as number_read() takes it. False: *out is as it was. */
bool json_number_read(const json_t *value, uint64_t *out);

#endif

/* Running callsign-server, the program that has the libraries of a server. */
#ifndef CALLSIGN_CLI_SERVER_PROGRAM_H
#define CALLSIGN_CLI_SERVER_PROGRAM_H

#include <stddef.h>

#include "ui/command.h"

/* Its arguments, which are put together one by one. */
struct server_arguments {
    char **items;
    size_t count;
    bool failed;
};
void server_argument(struct server_arguments *arguments, const char *text);
/* KEY=VALUE; nothing where `value` is NULL. */
void server_setting(struct server_arguments *arguments, const char *key, const char *value);
void server_number(struct server_arguments *arguments, const char *key, uint64_t value);

/* Becomes that program; comes back with a message where it cannot. Frees the arguments. */
enum exit_code server_program_run(struct server_arguments *arguments);

#endif

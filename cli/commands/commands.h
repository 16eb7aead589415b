/* The commands, for the table in main.c. */
#ifndef CALLSIGN_CLI_COMMANDS_H
#define CALLSIGN_CLI_COMMANDS_H

#include "ui/command.h"

extern const struct command convert_command;
extern const struct command lookup_command;
extern const struct command dump_command;
extern const struct command verify_command;
extern const struct command diff_command;
extern const struct command stats_command;
extern const struct command embed_command;
extern const struct command extract_command;
extern const struct command stack_command;
extern const struct command cache_command;
extern const struct command find_names_command;
extern const struct command explain_command;
extern const struct command udf_command;
extern const struct command accelerate_command;
extern const struct command profile_command;
extern const struct command serve_command;
extern const struct command store_command;

#endif

/* What a command of `callsign` is: a row of the table in main.c. */
#ifndef CALLSIGN_CLI_COMMAND_H
#define CALLSIGN_CLI_COMMAND_H

#include <stddef.h>

#include "ui/option_table.h"

enum exit_code {
    EXIT_WORKED = 0,
    EXIT_PARTIAL = 1, /* nothing found, or not all of it */
    EXIT_FAILED = 2
};

struct command {
    const char *name;
    const char *arguments;      /* operands, as in the usage line */
    const char *summary;        /* one line for `callsign --help` */
    const char *description;    /* paragraphs for `callsign COMMAND --help`, ending in a newline */
    const char *example;        /* a command line, without a prompt */
    int min_operands, max_operands; /* max -1: any number */
    size_t values_size;         /* of the structure that the option table fills */
    const struct option_spec *options;
    size_t option_count;
    struct option_group shared; /* all zeros: none */
    enum exit_code (*run)(const void *values, char **operands, int operand_count);
};

extern const struct command convert_command;
extern const struct command lookup_command;
extern const struct command dump_command;
extern const struct command verify_command;
extern const struct command diff_command;
extern const struct command stats_command;
extern const struct command embed_command;
extern const struct command extract_command;
extern const struct command stack_command;
extern const struct command explain_command;

#endif

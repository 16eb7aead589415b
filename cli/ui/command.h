/* What a command of `callsign` is: its options, its help and what it does. */
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
    const char *verbs;          /* words of which the first operand is one, with blanks between; NULL: it has none */
    size_t values_size;         /* of the structure that the option table fills */
    const struct option_spec *options;
    size_t option_count;
    struct option_group shared; /* all zeros: none */
    enum exit_code (*run)(const void *values, char **operands, int operand_count);
};

#endif

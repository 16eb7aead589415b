/* Command-line options as a table. Long options take `--name value` or `--name=value`, short ones `-x value` or `-xvalue`;
 * options and operands may be mixed; everything after `--` is an operand. */
#ifndef CALLSIGN_CLI_OPTION_TABLE_H
#define CALLSIGN_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_CHOICE, /* const char *: "" where no value is attached with "=" */
    OPTION_TEXTS,  /* struct text_list: may be given several times */
    OPTION_NUMBER, /* uint64_t, decimal */
    OPTION_SIZE    /* uint64_t, decimal with K, M, G or T for powers of 1024 */
};

struct text_list {
    const char **items;
    size_t count;
};

struct option_spec {
    const char *name;       /* without the dashes */
    char letter;            /* 0: none */
    enum option_kind kind;
    size_t offset;          /* of the member in the structure of values */
    size_t given;           /* of a bool there that is set: 0 is not the default; 0: there is none */
    uint64_t min, max;      /* smallest and largest number; max 0: any */
    const char *value_name; /* for the help */
    const char *help;       /* one line or several, separated by newlines */
    const char *verbs;      /* of command.verbs, those that take the option; NULL: all */
    const char *excluded_by; /* another option, with which it would mean nothing; NULL: none */
};

/* Options that several commands have: they fill a structure of their own within the command's values. */
struct option_group {
    const struct option_spec *options;
    size_t count;
    size_t offset;          /* of that structure */
};

/* Of words that were misspelt: the candidate that is nearest to what was given, if it is near. */
struct near_word {
    const char *given;
    size_t size;
    const char *best;  /* NULL: none is near */
    unsigned distance; /* of `best` */
};
void near_word_try(struct near_word *word, const char *candidate);

struct command;

enum options_result { OPTIONS_GOOD, OPTIONS_HELP, OPTIONS_BAD };

/* Fills `values`, moves the operands to the front of argv and counts them. Says on stderr what is wrong. */
enum options_result options_parse(const struct command *command, int argc, char **argv, void *values,
                                  int *out_operand_count);
/* Decimal, with K, M, G or T for powers of 1024: for options whose number may be 0. */
bool option_size_parse(const char *text, uint64_t *out);
/* Frees the lists in `values`. */
void options_release(const struct command *command, void *values);

#endif

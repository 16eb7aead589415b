/* The option parser. */
#include "option_table.h"

#include <stdbool.h>
#include <string.h>

#include "command.h"
#include "complain.h"

/* One option as it stands on the command line. */
struct given_option {
    const char *spelling;  /* "--threads" or "-o", for messages */
    int spelling_size;
    const char *value;     /* attached with "=" or behind the letter; NULL: none */
};

static const struct option_spec *find_long(const struct command *command, const char *name, size_t size) {
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option_spec *option = &command->options[i];
        if (strlen(option->name) == size && memcmp(option->name, name, size) == 0) return option;
    }
    return NULL;
}

static const struct option_spec *find_letter(const struct command *command, char letter) {
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].letter == letter) return &command->options[i];
    return NULL;
}

static bool parse_number(const char *text, bool with_suffix, uint64_t *out) {
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (at == text) return false;
    static const char suffixes[] = "KMGT";
    const char *suffix = with_suffix && *at ? strchr(suffixes, *at) : NULL;
    if (suffix) {
        unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);
        if (value > UINT64_MAX >> shift) return false;
        value <<= shift;
        at++;
    }
    if (*at) return false;
    *out = value;
    return true;
}

static bool store_number(const struct option_spec *option, const struct given_option *given, char *member) {
    bool size = option->kind == OPTION_SIZE;
    uint64_t value;
    if (!parse_number(given->value, size, &value) || (option->max && value > option->max)) {
        if (option->max)
            complain(NULL, "option '%.*s' needs a number up to %llu, not '%s'", given->spelling_size, given->spelling,
                     (unsigned long long)option->max, given->value);
        else
            complain(NULL, "option '%.*s' needs a number%s, not '%s'", given->spelling_size, given->spelling,
                     size ? " (K, M, G or T may follow)" : "", given->value);
        return false;
    }
    memcpy(member, &value, sizeof(value));
    return true;
}

/* Stores one option; takes the next argument for its value where none is attached. */
static bool store(const struct command *command, const struct option_spec *option, struct given_option given,
                  char **argv, int argc, int *next, void *values) {
    char *member = (char *)values + option->offset;
    if (option->kind == OPTION_FLAG) {
        if (given.value) {
            complain(NULL, "option '%.*s' takes no value", given.spelling_size, given.spelling);
            return false;
        }
        bool on = true;
        memcpy(member, &on, sizeof(on));
        return true;
    }
    if (!given.value) {
        if (*next >= argc) {
            complain(NULL, "option '%.*s' needs a value (try 'callsign %s --help')", given.spelling_size, given.spelling,
                     command->name);
            return false;
        }
        given.value = argv[(*next)++];
    }
    if (option->kind != OPTION_TEXT) return store_number(option, &given, member);
    memcpy(member, &given.value, sizeof(given.value));
    return true;
}

static enum options_result unknown(const struct command *command, const char *spelling, int size) {
    complain(NULL, "unknown option '%.*s' (try 'callsign %s --help')", size, spelling, command->name);
    return OPTIONS_BAD;
}

static enum options_result parse_long(const struct command *command, const char *argument, char **argv, int argc,
                                      int *next, void *values) {
    const char *equals = strchr(argument, '=');
    size_t size = equals ? (size_t)(equals - argument) : strlen(argument);
    if (strcmp(argument, "--help") == 0) return OPTIONS_HELP;
    const struct option_spec *option = find_long(command, argument + 2, size - 2);
    if (!option) return unknown(command, argument, (int)size);
    struct given_option given = { argument, (int)size, equals ? equals + 1 : NULL };
    return store(command, option, given, argv, argc, next, values) ? OPTIONS_GOOD : OPTIONS_BAD;
}

/* A group of letters: flags, or a letter with its value. */
static enum options_result parse_letters(const struct command *command, const char *argument, char **argv, int argc,
                                         int *next, void *values) {
    for (const char *letter = argument + 1; *letter; letter++) {
        const char spelling[] = { '-', *letter, 0 };
        const struct option_spec *option = find_letter(command, *letter);
        if (!option && *letter == 'h') return OPTIONS_HELP;
        if (!option) return unknown(command, spelling, 2);
        bool flag = option->kind == OPTION_FLAG;
        struct given_option given = { spelling, 2, !flag && letter[1] ? letter + 1 : NULL };
        if (!store(command, option, given, argv, argc, next, values)) return OPTIONS_BAD;
        if (!flag) break;
    }
    return OPTIONS_GOOD;
}

static bool operand_count_is_right(const struct command *command, int count, char **operands) {
    if (count < command->min_operands) {
        complain(NULL, "%s needs %s (try 'callsign %s --help')", command->name, command->arguments, command->name);
        return false;
    }
    if (command->max_operands >= 0 && count > command->max_operands) {
        complain(NULL, "unexpected argument '%s' (try 'callsign %s --help')", operands[command->max_operands],
                 command->name);
        return false;
    }
    return true;
}

enum options_result options_parse(const struct command *command, int argc, char **argv, void *values,
                                  int *out_operand_count) {
    int operand_count = 0, next = 0;
    bool only_operands = false;
    while (next < argc) {
        char *argument = argv[next++];
        /* A lone dash is an operand; operands move down over arguments that have been read already. */
        if (only_operands || argument[0] != '-' || !argument[1]) {
            argv[operand_count++] = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            only_operands = true;
            continue;
        }
        enum options_result result = argument[1] == '-' ? parse_long(command, argument, argv, argc, &next, values)
                                                        : parse_letters(command, argument, argv, argc, &next, values);
        if (result != OPTIONS_GOOD) return result;
    }
    *out_operand_count = operand_count;
    return operand_count_is_right(command, operand_count, argv) ? OPTIONS_GOOD : OPTIONS_BAD;
}

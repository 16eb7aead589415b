/* The option parser. */
#include "ui/option_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/command.h"
#include "ui/cli_message.h"

/* One option as it stands on the command line. */
struct given_option {
    const char *spelling;  /* "--threads" or "-o", for messages */
    int spelling_size;
    const char *value;     /* attached with "=" or after the letter; NULL: none */
};

/* An option of the command's table or of the group that it shares, and where its values begin. */
struct found_option {
    const struct option_spec *spec; /* NULL: there is none */
    size_t base, number;            /* among all options of the command */
};

/* Arguments as they are read. */
struct option_reader {
    const struct command *command;
    char **argv;
    int argc, next;
    void *values;
    uint64_t given; /* a bit for each option; no command has 64 */
};

static struct found_option option_at(const struct command *command, size_t i) {
    if (i < command->option_count) return (struct found_option){ &command->options[i], 0, i };
    size_t k = i - command->option_count;
    if (k < command->shared.count) return (struct found_option){ &command->shared.options[k], command->shared.offset, i };
    return (struct found_option){ NULL, 0, 0 };
}

static struct found_option find_long(const struct command *command, const char *name, size_t size) {
    size_t i = 0;
    struct found_option found;
    while ((found = option_at(command, i++)).spec)
        if (strlen(found.spec->name) == size && memcmp(found.spec->name, name, size) == 0) break;
    return found;
}

static struct found_option find_letter(const struct command *command, char letter) {
    size_t i = 0;
    struct found_option found;
    while ((found = option_at(command, i++)).spec)
        if (found.spec->letter == letter) break;
    return found;
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

bool option_size_parse(const char *text, uint64_t *out) { return parse_number(text, true, out); }

/* "a number from 1 to 16 (K, M, G or T may follow)". */
static void describe_number(const struct option_spec *option, char *out, size_t size) {
    char from[32] = "", to[32] = "";
    if (option->min) snprintf(from, sizeof(from), " from %llu", (unsigned long long)option->min);
    if (option->max) snprintf(to, sizeof(to), " %s %llu", option->min ? "to" : "up to", (unsigned long long)option->max);
    snprintf(out, size, "a number%s%s%s", from, to, option->kind == OPTION_SIZE ? " (K, M, G or T may follow)" : "");
}

static bool store_number(const struct option_spec *option, const struct given_option *given, char *member) {
    uint64_t value;
    if (!parse_number(given->value, option->kind == OPTION_SIZE, &value) || value < option->min ||
        (option->max && value > option->max)) {
        char wanted[128];
        describe_number(option, wanted, sizeof(wanted));
        cli_error(NULL, "option '%.*s' needs %s, not '%s'", given->spelling_size, given->spelling, wanted, given->value);
        return false;
    }
    memcpy(member, &value, sizeof(value));
    return true;
}

static bool add_text(char *member, const char *text) {
    struct text_list list;
    memcpy(&list, member, sizeof(list));
    const char **grown = realloc(list.items, (list.count + 1) * sizeof(*grown));
    if (!grown) {
        cli_error_memory("options");
        return false;
    }
    grown[list.count] = text;
    list = (struct text_list){ grown, list.count + 1 };
    memcpy(member, &list, sizeof(list));
    return true;
}

void options_release(const struct command *command, void *values) {
    struct found_option found;
    for (size_t i = 0; (found = option_at(command, i)).spec; i++) {
        if (found.spec->kind != OPTION_TEXTS) continue;
        struct text_list list;
        memcpy(&list, (char *)values + found.base + found.spec->offset, sizeof(list));
        free(list.items);
    }
}

/* Stores one option; takes the next argument for its value where none is attached. */
static bool store(struct option_reader *reader, struct found_option found, struct given_option given) {
    const struct option_spec *option = found.spec;
    char *member = (char *)reader->values + found.base + option->offset;
    reader->given |= (uint64_t)1 << found.number;
    if (option->given) *((bool *)reader->values + found.base + option->given) = true;
    if (option->kind == OPTION_FLAG) {
        if (given.value) {
            cli_error(NULL, "option '%.*s' takes no value", given.spelling_size, given.spelling);
            return false;
        }
        bool on = true;
        memcpy(member, &on, sizeof(on));
        return true;
    }
    if (option->kind == OPTION_CHOICE) {
        if (!given.value) given.value = "";
        memcpy(member, &given.value, sizeof(given.value));
        return true;
    }
    if (!given.value) {
        if (reader->next >= reader->argc) {
            cli_error(NULL, "option '%.*s' needs a value (try 'callsign %s --help')", given.spelling_size, given.spelling,
                      reader->command->name);
            return false;
        }
        given.value = reader->argv[reader->next++];
    }
    if (option->kind == OPTION_TEXTS) return add_text(member, given.value);
    if (option->kind != OPTION_TEXT) return store_number(option, &given, member);
    memcpy(member, &given.value, sizeof(given.value));
    return true;
}

static enum options_result unknown_option(const struct command *command, const char *spelling, int size) {
    struct near_word word = { .given = spelling + 2, .size = size > 2 ? (size_t)size - 2 : 0 };
    struct found_option found;
    for (size_t i = 0; (found = option_at(command, i)).spec; i++) near_word_try(&word, found.spec->name);
    near_word_try(&word, "help");
    if (word.best)
        cli_error(NULL, "unknown option '%.*s': did you mean '--%s'? (try 'callsign %s --help')", size, spelling, word.best,
                  command->name);
    else
        cli_error(NULL, "unknown option '%.*s' (try 'callsign %s --help')", size, spelling, command->name);
    return OPTIONS_BAD;
}

static enum options_result parse_long(struct option_reader *reader, const char *argument) {
    const char *equals = strchr(argument, '=');
    size_t size = equals ? (size_t)(equals - argument) : strlen(argument);
    if (strcmp(argument, "--help") == 0) return OPTIONS_HELP;
    struct found_option option = find_long(reader->command, argument + 2, size - 2);
    if (!option.spec) return unknown_option(reader->command, argument, (int)size);
    struct given_option given = { argument, (int)size, equals ? equals + 1 : NULL };
    return store(reader, option, given) ? OPTIONS_GOOD : OPTIONS_BAD;
}

/* A group of letters: flags, or a letter with its value. */
static enum options_result parse_letters(struct option_reader *reader, const char *argument) {
    for (const char *letter = argument + 1; *letter; letter++) {
        const char spelling[] = { '-', *letter, 0 };
        struct found_option option = find_letter(reader->command, *letter);
        if (!option.spec && *letter == 'h') return OPTIONS_HELP;
        if (!option.spec) return unknown_option(reader->command, spelling, 2);
        bool flag = option.spec->kind == OPTION_FLAG;
        struct given_option given = { spelling, 2, !flag && letter[1] ? letter + 1 : NULL };
        if (!store(reader, option, given)) return OPTIONS_BAD;
        if (!flag) break;
    }
    return OPTIONS_GOOD;
}

static bool operand_count_is_right(const struct command *command, int count, char **operands) {
    if (count < command->min_operands) {
        cli_error(NULL, "%s needs %s (try 'callsign %s --help')", command->name, command->arguments, command->name);
        return false;
    }
    if (command->max_operands >= 0 && count > command->max_operands) {
        cli_error(NULL, "unexpected argument '%s' (try 'callsign %s --help')", operands[command->max_operands],
                 command->name);
        return false;
    }
    return true;
}

static bool has_word(const char *words, const char *word) {
    size_t size = strlen(word);
    for (const char *at = words; size && (at = strstr(at, word)); at += size)
        if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' ')) return true;
    return false;
}

static void say_other_verb(const struct command *command, const struct option_spec *option, const char *verb) {
    char list[64];
    size_t used = 0;
    for (const char *at = option->verbs; *at && used + 2 < sizeof(list); at++) {
        if (*at == ' ') list[used++] = ',';
        list[used++] = *at;
    }
    cli_error(NULL, "option '--%s' does not go with '%s %s' but with %.*s", option->name, command->name, verb, (int)used, list);
}

/* What an option is for, another verb would ignore. Verbs that are unknown are told by the command. */
static bool options_fit_verb(const struct option_reader *reader) {
    const struct command *command = reader->command;
    if (!command->verbs || !has_word(command->verbs, reader->argv[0])) return true;
    struct found_option found;
    for (size_t i = 0; (found = option_at(command, i)).spec; i++) {
        const char *verbs = found.spec->verbs;
        if (!(reader->given >> i & 1) || !verbs || has_word(verbs, reader->argv[0])) continue;
        say_other_verb(command, found.spec, reader->argv[0]);
        return false;
    }
    return true;
}

/* Options of which one would be ignored. */
static bool options_agree(const struct option_reader *reader) {
    struct found_option found;
    for (size_t i = 0; (found = option_at(reader->command, i)).spec; i++) {
        const char *other = found.spec->excluded_by;
        if (!(reader->given >> i & 1) || !other) continue;
        struct found_option excluding = find_long(reader->command, other, strlen(other));
        if (!excluding.spec || !(reader->given >> excluding.number & 1)) continue;
        cli_error(NULL, "options '--%s' and '--%s' exclude each other", found.spec->name, other);
        return false;
    }
    return true;
}

enum options_result options_parse(const struct command *command, int argc, char **argv, void *values,
                                  int *out_operand_count) {
    struct option_reader reader = { .command = command, .argv = argv, .argc = argc, .values = values };
    int operand_count = 0;
    bool only_operands = false;
    while (reader.next < argc) {
        char *argument = argv[reader.next++];
        /* A lone dash is an operand; operands move down over arguments that have been read already. */
        if (only_operands || argument[0] != '-' || !argument[1]) {
            argv[operand_count++] = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            only_operands = true;
            continue;
        }
        enum options_result result = argument[1] == '-' ? parse_long(&reader, argument) : parse_letters(&reader, argument);
        if (result != OPTIONS_GOOD) return result;
    }
    *out_operand_count = operand_count;
    return operand_count_is_right(command, operand_count, argv) && options_fit_verb(&reader) && options_agree(&reader)
               ? OPTIONS_GOOD
               : OPTIONS_BAD;
}

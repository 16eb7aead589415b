/* callsign: the table of commands, help and version. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/convert.h>

#include "commands/commands.h"
#include "stand_ins/stand_ins.h"
#include "ui/cli_message.h"
#include "ui/out_buffer.h"

static const struct command *const commands[] = {
    &convert_command,
    &lookup_command,
    &stack_command,
    &profile_command,
    &find_names_command,
    &explain_command,
    &dump_command,
    &verify_command,
    &diff_command,
    &stats_command,
    &accelerate_command,
    &embed_command,
    &extract_command,
    &dialects_command,
    &cache_command,
    &udf_command,
    &store_command,
    &serve_command,
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]), SUMMARY_COLUMN = 12, HELP_COLUMN = 26 };

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static void pad_to(struct out_buffer *out, size_t used, size_t column) {
    out_spaces(out, used < column ? column - used : 1);
}

static void put_general_help(struct out_buffer *out) {
    out_text(out, "callsign turns machine addresses back into function names, source lines and inlined calls.\n\n"
                  "usage: callsign COMMAND [options] ...\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        out_text(out, "  ");
        out_text(out, commands[i]->name);
        pad_to(out, 2 + strlen(commands[i]->name), SUMMARY_COLUMN);
        out_text(out, commands[i]->summary);
        out_char(out, '\n');
    }
    out_text(out, "\nIt stands in for");
    for (size_t i = 0; stand_in_at(i); i++) {
        out_text(out, i ? ", " : " ");
        out_text(out, stand_in_at(i)->name);
    }
    out_text(out, ": see 'callsign dialects --help'.\n");
    out_text(out, "\n'callsign COMMAND --help' describes a command; 'callsign --version' lists what is built in.\n"
                  "Results go to standard output, everything else to standard error.\n"
                  "Exit status: 0 success, 1 nothing or only part was found, 2 failure.\n\n"
                  "example:\n"
                  "  callsign convert app -o app.gsym && callsign lookup app.gsym 0x1139\n");
}

static void put_option(const struct option_spec *option, struct out_buffer *out) {
    size_t before = out->used;
    out_text(out, "  ");
    if (option->letter) {
        const char letter[] = { '-', option->letter, ',', ' ', 0 };
        out_text(out, letter);
    } else {
        out_text(out, "    ");
    }
    out_text(out, "--");
    out_text(out, option->name);
    if (option->value_name) {
        bool choice = option->kind == OPTION_CHOICE;
        out_text(out, choice ? "[=" : " ");
        out_text(out, option->value_name);
        if (choice) out_char(out, ']');
    }
    pad_to(out, out->used - before, HELP_COLUMN);
    for (const char *at = option->help; *at; at++) {
        out_char(out, *at);
        if (*at == '\n') out_spaces(out, HELP_COLUMN);
    }
    out_char(out, '\n');
}

static void put_command_help(const struct command *command, struct out_buffer *out) {
    static const struct option_spec help = { .name = "help", .letter = 'h', .help = "show this text" };
    out_text(out, "usage: callsign ");
    out_text(out, command->name);
    out_text(out, " [options]");
    if (*command->arguments) out_char(out, ' ');
    out_text(out, command->arguments);
    out_text(out, "\n\n");
    out_text(out, command->description);
    out_text(out, "\noptions:\n");
    for (size_t i = 0; i < command->option_count; i++) put_option(&command->options[i], out);
    for (size_t i = 0; i < command->shared.count; i++) put_option(&command->shared.options[i], out);
    put_option(&help, out);
    out_text(out, "\nexample:\n  ");
    out_text(out, command->example);
    out_char(out, '\n');
}

static enum exit_code show_help(const struct command *command) {
    struct out_buffer out;
    out_init(&out, STDOUT_FILENO);
    if (command)
        put_command_help(command, &out);
    else
        put_general_help(&out);
    return out_finish_stdout(&out) ? EXIT_WORKED : EXIT_FAILED;
}

static enum exit_code show_version(void) {
    struct out_buffer out;
    out_init(&out, STDOUT_FILENO);
    out_text(&out, "callsign ");
    out_text(&out, csn_version());
    out_text(&out, "\nbuilt with ");
    out_text(&out, csn_build_features());
#ifdef CALLSIGN_HAVE_SERVER
    out_text(&out, CALLSIGN_SERVER_FOUND);
#else
    out_text(&out, ", no server (" CALLSIGN_SERVER_MISSING ")");
#endif
    out_char(&out, '\n');
    return out_finish_stdout(&out) ? EXIT_WORKED : EXIT_FAILED;
}

static enum exit_code unknown_command(const char *name) {
    struct near_word word = { .given = name, .size = strlen(name) };
    const char *kind = name[0] == '-' ? "option" : "command";
    for (size_t i = 0; i < COMMAND_COUNT; i++) near_word_try(&word, commands[i]->name);
    near_word_try(&word, "--help");
    near_word_try(&word, "--version");
    if (word.best) cli_error(NULL, "unknown %s '%s': did you mean '%s'? (try 'callsign --help')", kind, name, word.best);
    else cli_error(NULL, "unknown %s '%s' (try 'callsign --help')", kind, name);
    return EXIT_FAILED;
}

static enum exit_code run_command(const struct command *command, int argc, char **argv) {
    void *values = calloc(1, command->values_size);
    if (!values) {
        cli_error_memory("options");
        return EXIT_FAILED;
    }
    int operand_count = 0;
    enum exit_code code = EXIT_FAILED;
    switch (options_parse(command, argc, argv, values, &operand_count)) {
    case OPTIONS_GOOD: code = command->run(values, argv, operand_count); break;
    case OPTIONS_HELP: code = show_help(command); break;
    case OPTIONS_BAD: break;
    }
    options_release(command, values);
    free(values);
    return code;
}

/* A standard stream that the caller closed would be given to the next file that is opened, and messages would be written
 * into it. Such a stream is opened on /dev/null the wrong way round, so that using it fails as it should. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        int got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (got != fd) _exit(EXIT_FAILED); /* nobody could be told */
    }
}

/* Ends the program at once: what a stand-in has read of its objects stays in memory until then, as it does in the tools that they
 * stand in for, and giving it back piece by piece would only take time. */
static void run_stand_in(const struct stand_in *stand_in, int argc, char **argv) {
    int status = stand_in->run(argc, argv);
    _exit(stand_in_end(stand_in, status));
}

int main(int argc, char **argv) {
    hold_standard_streams();
    const struct stand_in *stand_in = argc ? stand_in_of_program(argv[0]) : NULL;
    if (stand_in) run_stand_in(stand_in, argc, argv);
    signal(SIGXFSZ, SIG_IGN); /* write() fails instead: there is a message then, and nothing half written stays */
    if (argc < 2) {
        cli_error(NULL, "no command given (try 'callsign --help')");
        return EXIT_FAILED;
    }
    const char *name = argv[1];
    bool is_version = strcmp(name, "--version") == 0;
    bool is_help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    int most = is_version ? 2 : is_help ? 3 : argc;
    if (argc > most) {
        cli_error(NULL, "unexpected argument '%s' (try 'callsign --help')", argv[most]);
        return EXIT_FAILED;
    }
    if (is_version) return (int)show_version();
    if (is_help) {
        if (argc < 3) return (int)show_help(NULL);
        const struct command *topic = find_command(argv[2]);
        return (int)(topic ? show_help(topic) : unknown_command(argv[2]));
    }
    const struct command *command = find_command(name);
    if (!command && name[0] != '-' && (stand_in = stand_in_of_program(name))) run_stand_in(stand_in, argc - 1, argv + 1);
    return (int)(command ? run_command(command, argc - 2, argv + 2) : unknown_command(name));
}

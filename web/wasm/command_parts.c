/* The parts of the command that are left out of the page's module: the stand-ins for other tools. */
#include "stand_ins/stand_ins.h"

const struct stand_in *stand_in_at(size_t idx) {
    (void)idx;
    return NULL;
}

const struct stand_in *stand_in_of_program(const char *path) {
    (void)path;
    return NULL;
}

int stand_in_end(const struct stand_in *stand_in, int status) {
    (void)stand_in;
    return status;
}

static enum exit_code refuse(const void *values, char **operands, int operand_count) {
    (void)values, (void)operands, (void)operand_count;
    return EXIT_FAILED;
}

const struct command dialects_command = {
    .name = "dialects", .summary = "is not a part of this build", .description = "", .example = "", .arguments = "", .run = refuse,
};

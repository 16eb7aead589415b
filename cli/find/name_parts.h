/* The parts of a demangled name: what a function's name may begin in, and what cannot be one. */
#ifndef CALLSIGN_CLI_NAME_PARTS_H
#define CALLSIGN_CLI_NAME_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/text_bytes.h"

/* Of identifiers in ASCII. */
static inline bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/* Past balanced <...> at `at`. */
size_t skip_template_arguments(struct csn_str name, size_t at);

/* Past the parameters at `at` and what qualifies the function. */
size_t skip_parameters(struct csn_str name, size_t at);

/* "decltype(auto) " and "decltype ({parm#1}+(1)) ": their brackets are no parameters. */
bool is_decltype_bracket(struct csn_str name, size_t bracket);

/* Past one byte, or past what no function's name begins in: brackets, "'lambda'(int)", "operator<". SIZE_MAX: parameters begin,
 * and no name follows. */
size_t skip_name_part(struct csn_str name, size_t at);

#endif

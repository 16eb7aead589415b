/* What LLVM's tools ask about a word that no option fits. */
#ifndef CALLSIGN_CLI_NEAR_OPTION_H
#define CALLSIGN_CLI_NEAR_OPTION_H

#include <stdbool.h>

/* The option with the word's own value, if the word is one letter away from it; the caller frees it. NULL: it is not.
 * `spelling`: with its dashes and, if it takes a value, '='. */
char *near_option(const char *word, const char *spelling, bool takes_value);

#endif

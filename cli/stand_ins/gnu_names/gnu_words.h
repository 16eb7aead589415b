/* LLVM's words for a demangled name, which csn_demangle() has, and GNU's (libiberty 2.40). */
#ifndef CALLSIGN_CLI_GNU_WORDS_H
#define CALLSIGN_CLI_GNU_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

/* The text of a C++ name in GNU's words. Takes `text` from malloc(), gives one for free(); never NULL. */
char *gnu_words(char *text);

/* False: GNU does not demangle `name`, of which `text` is LLVM's, because of what follows it. */
bool gnu_reads_suffix(const char *name, const char *text);
/* Leaves the suffix " (.cold)" out. */
void gnu_drop_suffix(char *text);

/* Of an identifier. */
static inline bool gnu_is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }
/* The bytes of the symbol after "operator": all of "()", "->" or "<<", but not the last '<' before arguments of a template. */
size_t gnu_operator_size(const char *text);

#endif

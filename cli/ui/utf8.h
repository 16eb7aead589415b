/* UTF-8 in bytes of unknown origin, and how they are shown: so that they can neither break the line nor steer the terminal. */
#ifndef CALLSIGN_CLI_UTF8_H
#define CALLSIGN_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include <callsign/base.h>

/* Bytes of the character at `text`, or 0: a stray, overlong, cut, surrogate or too large one. `left` is not 0. */
size_t utf8_size(const char *text, size_t left);

/* Whether the character of `size` bytes at `text` (0: a stray byte) may steer a terminal: the control characters of ASCII, and
 * those of ISO 6429's second set, U+0080 to U+009F, which a terminal of 8 bits also takes as single bytes. */
bool utf8_is_control(const char *text, size_t size);

/* Writes the character at `*from` to `at`, which has room for 16 bytes: each byte of a control character as \xNN. `*from` moves behind it.
 * Returns how many bytes were written. */
size_t safe_char(char *at, const char **from, const char *end);
/* All characters of a text, to `at`, which has four times as many bytes. */
size_t safe_text(char *at, struct csn_str text);

#endif

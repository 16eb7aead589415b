/* Answers of stand-ins that are kept between runs, in the cache folder: a later run with the same file and options gives those for
 * addresses that were asked before without opening the object.
 *
 * Only for requests on standard input that are addresses, and for large objects whose debug information stands in
 * themselves or in one debug file. Everything that an answer depends on is in the name of the file or checked: the
 * dialect and its arguments, the version of callsign, and of object and debug file the device, inode, size and
 * times. */
#ifndef CALLSIGN_CLI_KEPT_ANSWERS_H
#define CALLSIGN_CLI_KEPT_ANSWERS_H

#include <stdbool.h>

#include <callsign/debug_info.h>

struct kept_answers;

/* For the object at `path`, with the arguments that the program has. NULL: nothing is kept, as where there is no cache folder. */
struct kept_answers *kept_answers_open(const char *path, int argc, char **argv);
/* Whether an earlier run has left answers, so that the object was opened successfully before. */
bool kept_answers_exist(const struct kept_answers *kept);
/* Prints the answer to an address. False: it has not been asked before. */
bool kept_answers_put(const struct kept_answers *kept, uint64_t addr);
/* Whether it has been asked before. */
bool kept_answers_has(const struct kept_answers *kept, uint64_t addr);
/* The answer to an address, which was printed. */
void kept_answers_add(struct kept_answers *kept, uint64_t addr, const char *text, size_t size);
/* Writes the new answers, if the object is one whose answers are kept; `info` NULL: it was not opened. `kept` may be NULL. */
void kept_answers_close(struct kept_answers *kept, struct csn_debug_info *info);

#endif

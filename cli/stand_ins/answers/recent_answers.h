/* Answers that a session has given, by address: clients come back to few addresses. Of those that do not depend on other requests.
 * A few thousand answers and 1 MiB of text at most; all are forgotten when it is full. */
#ifndef CALLSIGN_CLI_RECENT_ANSWERS_H
#define CALLSIGN_CLI_RECENT_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recent_answers {
    struct recent_answer *slots; /* NULL: none yet */
    char *text;
    size_t text_size;
};

/* Prints the answer to an address. False: there is none. */
bool recent_answers_put(const struct recent_answers *answers, uint64_t addr);
void recent_answers_add(struct recent_answers *answers, uint64_t addr, const char *text, size_t size);
void recent_answers_free(struct recent_answers *answers);

#endif

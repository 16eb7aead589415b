/* Function names for people: as stored, or demangled. */
#ifndef CALLSIGN_CLI_NAME_TEXT_H
#define CALLSIGN_CLI_NAME_TEXT_H

#include <stdbool.h>

#include <callsign/symbolicate.h>

struct name_text {
    bool demangle;
    char *room; /* the last demangled name */
    size_t room_size;
};

/* False, with a message, where demangling is wanted and this build cannot. */
bool name_text_init(struct name_text *names, bool demangle);
void name_text_deinit(struct name_text *names);

/* Lives until the next call. A name that cannot be demangled comes back as it is. */
struct csn_str name_text(struct name_text *names, struct csn_str name);

#endif

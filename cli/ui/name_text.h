/* Function names for people: as stored, demangled, or shortened too. */
#ifndef CALLSIGN_CLI_NAME_TEXT_H
#define CALLSIGN_CLI_NAME_TEXT_H

#include <stdbool.h>

#include <callsign/base.h>

enum name_shortening { NAMES_WHOLE, NAMES_SHORT, NAMES_SHORT_NESTED };

struct name_text {
    bool demangle;
    enum name_shortening shortening;
    char *buffer; /* the last demangled name */
    size_t buffer_size;
    uint64_t made_bytes; /* of all names that were made so far: one of a few bytes may become very long */
};

/* False, with a message: no memory. */
bool name_text_init(struct name_text *names, bool demangle);
/* The same for the options --demangle, --shorten-names and --shorten-nested, of which the latter two demangle as well. */
bool name_text_init_for(struct name_text *names, bool demangle, bool shorten, bool nested);
/* The same as others are, with memory of its own: for another thread. */
void name_text_init_like(struct name_text *names, const struct name_text *others);
void name_text_deinit(struct name_text *names);

/* Lives until the next call. A name that cannot be demangled comes back as it is. */
struct csn_str name_text(struct name_text *names, struct csn_str name);

#endif

/* Reports in JSON, written again with members of some objects filled in: everything between them is copied. */
#ifndef CALLSIGN_CLI_JSON_MEMBERS_H
#define CALLSIGN_CLI_JSON_MEMBERS_H

#include "stack/session/stack_output.h"

/* A member that an object gets. */
struct json_member {
    const char *key;
    enum { MEMBER_TEXT, MEMBER_NUMBER, MEMBER_HEX, MEMBER_TRUE } kind;
    struct csn_str text;
    uint64_t number;
};
enum { JSON_MEMBERS_MAX = 8 };

struct json_writer {
    struct stack_output *output;
    const char *copied; /* up to there the report has been written */
};

void json_copy_until(struct json_writer *w, const char *end);
/* The object's own text, with the values of members that are there replaced and others after the last one, spaced as
 * the first. At most JSON_MEMBERS_MAX. */
void json_put_object(struct json_writer *w, struct csn_str object, const struct json_member *members, unsigned count);

#endif

/* The texts of one line of a log in JSON: strings that may have frames, wherever they are in it. */
#ifndef CALLSIGN_CLI_JSON_RECORD_H
#define CALLSIGN_CLI_JSON_RECORD_H

#include "stack/records/json_code.h"
#include "ui/growing.h"

/* Lines of text belong together where they have the same name in records of the same source. */
struct text_source {
    uint64_t name;   /* of the members that lead to the text; never 0 */
    uint64_t origin; /* of members that say who wrote it: stream, host, process, container ... */
};

struct record_text {
    size_t at, size;        /* of its string or array in the line, without quotes or brackets */
    struct json_code code;
    uint64_t name;
    bool may_have_frames;   /* false: it is here because its name was wanted, or because it is an item of an array */
};

struct json_record {
    struct record_text *texts; /* in their order */
    size_t count, capacity;
    uint64_t origin;
    bool no_memory;
};

void json_record_deinit(struct json_record *record);

/* A first look at a line with what ends it: most lines of text begin no record. */
static inline bool json_record_is_possible(struct csn_str line) {
    const char first = line.len ? line.ptr[0] : 0;
    size_t next = 1;
    if (first == '{' || first == '"' || first == ' ' || first == '\t') return true;
    while (first == '[' && next < line.len && line.ptr[next] == ' ') next++; /* a kernel's time is not looked at closer */
    if (first == '[' && next < line.len && line.ptr[next] == '{') return true;
    for (size_t i = line.len, from = i > 3 ? i - 3 : 0; i > from; i--)
        if (line.ptr[i - 1] == '}') return true;
    return false;
}
/* Whether a line may be a record, and where that begins: an object, an array of them, also after other text; or a
 * line of one that is spread over lines, with a string in it. */
bool json_record_begins(struct csn_str line, size_t *at);
/* Finds the texts of a line, without what ends it, from the record's beginning on. `wanted`: a name whose texts are
 * found whatever is in them; 0: none. False: it is no JSON, or there is no memory. */
bool json_record_read(struct json_record *record, struct csn_str line, size_t begin, uint64_t wanted);
/* Leaves the texts that may have frames, with the items of an array of which one may; where there are texts of that
 * source, only these and others of several lines. */
void json_record_keep(struct json_record *record, struct csn_str line, const struct text_source *source);

#endif

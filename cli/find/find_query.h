/* What `callsign find` is asked for: a name, a glob or FILE:LINE. */
#ifndef CALLSIGN_CLI_FIND_QUERY_H
#define CALLSIGN_CLI_FIND_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

#include "ui/name_text.h"

enum find_kind { FIND_NAME, FIND_GLOB, FIND_LINE };

struct find_query {
    const char *text;     /* as given */
    enum find_kind kind;
    struct csn_str file;  /* FIND_LINE */
    uint32_t line;
    bool may_be_glob;     /* FIND_NAME: "f(int*)": a glob if no function is called so */
    struct csn_str word;  /* FIND_NAME: a part that every name which matches has; empty: none is known */
};

/* FILE:LINE: a colon and digits at the end, and no colon before them, which ends a scope. */
void find_query_parse(const char *text, struct find_query *out);
/* A name, or a glob, even if it contains * or ?: "f(int*)". */
void find_query_of_name(const char *name, struct find_query *out);
void find_query_of_glob(const char *glob, struct find_query *out);

/* A mangled name, which is stored as it is. */
bool find_query_is_mangled(const struct find_query *query);

/* A stored name, which is demangled once for all queries, and only if one of them needs that. */
struct shown_name {
    struct csn_str stored, text;
    bool is_made; /* `text` is there */
};
/* Whether the name is what the query names: the name itself, or demangled, with or without parameters. `demangler` demangles. */
bool find_query_has_name(const struct find_query *query, struct shown_name *name, struct name_text *demangler);
/* Whether a path is that file: the same, or the given one from some folder on. */
bool find_query_has_file(const struct find_query *query, struct csn_str directory, struct csn_str base);

#endif

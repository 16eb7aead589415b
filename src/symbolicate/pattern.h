/* Patterns of call sites against function names. Both come from untrusted files: an expression runs within limits, and
 * one that exceeded them is not tried again. Patterns that stand for one name need no expression engine. */
#ifndef CSNI_PATTERN_H
#define CSNI_PATTERN_H

#include <stdbool.h>

#include "base/core/alloc.h"

/* Longer patterns are refused: reading them for each candidate costs too much. */
enum { CSNI_PATTERN_MAX = 1 << 20 };

enum csni_match {
    CSNI_MATCH_NO,
    CSNI_MATCH_YES,
    CSNI_MATCH_BAD,       /* the pattern is no regular expression, or too long */
    CSNI_MATCH_COSTLY,    /* it exceeded its limits */
    CSNI_MATCH_NO_ENGINE, /* this build has none */
    CSNI_MATCH_MEMORY
};

/* Expressions compiled before; a full table is emptied. */
struct csni_expression;
struct csni_patterns {
    const struct csn_allocator *alloc;
    struct csni_expression *table; /* NULL until the first expression */
    size_t count;
    void *memory, *limits;         /* the engine's contexts */
};

void csni_patterns_init(struct csni_patterns *patterns, const struct csn_allocator *alloc);
void csni_patterns_deinit(struct csni_patterns *patterns); /* empty afterwards, and can be used again */

/* Whether the pattern stands for one name: "^name$" with metacharacters escaped, or a bare name without any, which is how
 * the reference tool writes them. A selector stub ("objc_msgSend$init") is none: it stands for any class. */
bool csni_pattern_is_exact(struct csn_str pattern);

/* Whether a pattern that is exact stands for this name. Cost: the name's bytes, where csni_pattern_is_exact() reads
 * the pattern's. */
bool csni_pattern_is_name(struct csn_str pattern, struct csn_str name);
/* As csni_pattern_is_exact(), and the name is a part of the pattern: it needs no unescaping. What is written of letters, digits and
 * underscores is told in a few instructions; other names may be refused. */
bool csni_pattern_is_plain(struct csn_str pattern, struct csn_str *out_name);

/* The name that such a pattern stands for. `scratch` has room for pattern.len bytes, and is needed where the pattern has a
 * backslash; else the name is a view. False: it is none. */
bool csni_pattern_name(struct csn_str pattern, char *scratch, struct csn_str *out);

enum csni_match csni_pattern_match(struct csni_patterns *patterns, struct csn_str pattern, struct csn_str name);

#endif

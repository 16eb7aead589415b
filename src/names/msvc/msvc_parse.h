/* From a name of Microsoft's C++ compilers to its tree. Names, types and symbols contain each other; their files meet here. All
 * functions return NULL where the name is damaged or out of memory. */
#ifndef CSNI_MSVC_PARSE_H
#define CSNI_MSVC_PARSE_H

#include "names/msvc/msvc_node.h"
#include "names/name_memory.h"

enum { CSNI_MSVC_MEMORIZED = 10 };

/* What digits refer back to. Each template's arguments have their own. */
struct csni_msvc_memory {
    struct csni_msvc_node *names[CSNI_MSVC_MEMORIZED];
    struct csni_msvc_node *types[CSNI_MSVC_MEMORIZED];
    uint32_t name_count, type_count;
};

struct csni_msvc_parser {
    const char *at, *end;
    struct csni_name_memory *memory;
    struct csni_name_stack parts; /* of lists that are being read */
    struct csni_msvc_memory seen;
    uint32_t depth;
    size_t rendered; /* bytes of names that were written to be remembered */
};

typedef struct csni_msvc_parser msvc;
typedef struct csni_msvc_node node;

/* How a type's qualifiers are given: not at all, after '?', as its first letter. */
enum csni_msvc_mode { MODE_DROP, MODE_RESULT, MODE_MANGLE };

static inline char csni_ms_peek(const msvc *p, size_t ahead) { return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : 0; }

static inline bool csni_ms_take(msvc *p, char c) {
    if (p->at == p->end || *p->at != c) return false;
    p->at++;
    return true;
}

static inline bool csni_ms_starts(const msvc *p, const char *text) {
    size_t len = strlen(text);
    return (size_t)(p->end - p->at) >= len && memcmp(p->at, text, len) == 0;
}

static inline bool csni_ms_take_text(msvc *p, const char *text) {
    if (!csni_ms_starts(p, text)) return false;
    p->at += strlen(text);
    return true;
}

static inline bool csni_ms_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool csni_ms_enter(msvc *p) { return ++p->depth <= CSNI_MSVC_DEPTH_MAX; }
static inline node *csni_ms_leave(msvc *p, node *n) {
    p->depth--;
    return n;
}

node *csni_ms_make(msvc *p, enum csni_msvc_kind kind);
node *csni_ms_make_text(msvc *p, enum csni_msvc_kind kind, const char *text);
bool csni_ms_push(msvc *p, node *n);
/* The parts since `base` become the list of `n`; NULL stays NULL. */
node *csni_ms_set_list(msvc *p, node *n, uint32_t base);
/* The text of a node, kept. */
bool csni_ms_render(msvc *p, const node *n, struct csn_str *out);

bool csni_ms_number(msvc *p, uint64_t *out, bool *negative);
bool csni_ms_unsigned(msvc *p, int64_t *out);
bool csni_ms_signed(msvc *p, int64_t *out);
/* A letter for "const", "volatile" and whether it is of a member. */
bool csni_ms_qualifiers(msvc *p, unsigned *out);
unsigned csni_ms_extended_qualifiers(msvc *p);
bool csni_ms_convention(msvc *p, uint8_t *out);

/* names */
node *csni_ms_type_name(msvc *p);
node *csni_ms_symbol_name(msvc *p);
node *csni_ms_unqualified_type_name(msvc *p);
node *csni_ms_scopes(msvc *p, node *innermost); /* with the name they are of */
node *csni_ms_last_identifier(const node *qualified);
bool csni_ms_simple_string(msvc *p, bool memorize, struct csn_str *out);
bool csni_ms_memorize(msvc *p, const node *identifier);
node *csni_ms_template_args(msvc *p);
node *csni_ms_arg_type(msvc *p);     /* a type as an argument, or of one */
node *csni_ms_value(msvc *p);        /* an argument that is no type, or a part of one */
node *csni_ms_value_number(msvc *p); /* an integer */

/* types */
node *csni_ms_type(msvc *p, enum csni_msvc_mode mode);
node *csni_ms_function_type(msvc *p, bool has_this);

/* symbols */
node *csni_ms_symbol(msvc *p);
node *csni_ms_string_literal(msvc *p);

#endif

/* Names of Ada as GNU's demangler reads them (exp_dbug.ads of GNAT has their rules). */
#define _GNU_SOURCE
#include "stand_ins/gnu_names/gnat_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

struct reader {
    const char *p;
    struct grown_text out;
};

/* What a part of a name leads to. */
enum step { NEXT_PART, END_OF_NAME, NO_NAME, GOES_ON };

struct word { const char *code, *text; };

static const struct word operators[] = {
    { "Oabs", "abs" },  { "Oand", "and" },    { "Omod", "mod" },  { "Onot", "not" },  { "Oor", "or" },
    { "Orem", "rem" },  { "Oxor", "xor" },    { "Oeq", "=" },     { "One", "/=" },    { "Olt", "<" },
    { "Ole", "<=" },    { "Ogt", ">" },       { "Oge", ">=" },    { "Oadd", "+" },    { "Osubtract", "-" },
    { "Oconcat", "&" }, { "Omultiply", "*" }, { "Odivide", "/" }, { "Oexpon", "**" },
};
static const struct word specials[] = {
    { "_elabb", "'Elab_Body" },     { "_elabs", "'Elab_Spec" }, { "_size", "'Size" },
    { "_alignment", "'Alignment" }, { "_assign", ".\":=\"" },
};

static void put(struct reader *r, const char *text) { grow_text(&r->out, text, strlen(text)); }

static const struct word *take_word(struct reader *r, const struct word *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(words[i].code);
        if (strncmp(r->p, words[i].code, size) != 0) continue;
        r->p += size;
        return &words[i];
    }
    return NULL;
}

static void skip_digits(struct reader *r) {
    while (isdigit((unsigned char)*r->p)) r->p++;
}

static void skip_nesting(struct reader *r) {
    if (*r->p != 'X') return;
    r->p++;
    r->p += strspn(r->p, "nb");
}

static bool is_lower_or_digit(char c) { return islower((unsigned char)c) || isdigit((unsigned char)c); }

static enum step read_identifier(struct reader *r) {
    if (islower((unsigned char)*r->p)) {
        do GROW_PUSH(&r->out, *r->p++);
        while (is_lower_or_digit(*r->p) || (*r->p == '_' && is_lower_or_digit(r->p[1])));
        return GOES_ON;
    }
    const struct word *found = *r->p == 'O' ? take_word(r, operators, sizeof operators / sizeof operators[0]) : NULL;
    if (!found) return NO_NAME;
    put(r, "\"");
    put(r, found->text);
    put(r, "\"");
    return GOES_ON;
}

static enum step read_stream(struct reader *r) {
    switch (r->p[1]) {
    case 'R': put(r, "'Read"); break;
    case 'W': put(r, "'Write"); break;
    case 'I': put(r, "'Input"); break;
    case 'O': put(r, "'Output"); break;
    default: return NO_NAME;
    }
    r->p += 2;
    return GOES_ON;
}

/* Capitals behind an identifier: tasks, protected types, bodies, operations of types. */
static enum step read_capitals(struct reader *r) {
    const char *p = r->p;
    if (p[0] == 'T' && p[1] == 'K') {
        if (p[2] == 'B' && !p[3]) return END_OF_NAME;
        if (p[2] != '_' || p[3] != '_') return NO_NAME;
        r->p += 4;
        put(r, ".");
        return NEXT_PART;
    }
    if (p[0] && strchr("PN", p[0]) && !p[1]) return END_OF_NAME;
    if (p[0] && strchr("ES", p[0]) && !p[1]) return NO_NAME; /* of an exception, of a table of names */
    skip_nesting(r);
    p = r->p;
    if (p[0] == 'S' && p[1] && (p[2] == '_' || !p[2])) return read_stream(r);
    if (p[0] != 'D') return GOES_ON;
    if (p[1] != 'F' && p[1] != 'A') return NO_NAME;
    put(r, p[1] == 'F' ? ".Finalize" : ".Adjust");
    return END_OF_NAME;
}

/* An entry's body or barrier: "_B12s". */
static enum step read_entry(struct reader *r) {
    r->p += 2;
    skip_digits(r);
    return r->p[0] == 's' && !r->p[1] ? END_OF_NAME : NO_NAME;
}

static enum step read_separator(struct reader *r) {
    if (r->p[0] != '_') return GOES_ON;
    if (r->p[1] == 'B' || r->p[1] == 'E') return read_entry(r);
    if (r->p[1] != '_') return NO_NAME;
    r->p += 2;
    if (isdigit((unsigned char)*r->p)) { /* which of several of one name */
        do r->p++;
        while (isdigit((unsigned char)*r->p) || (*r->p == '_' && isdigit((unsigned char)r->p[1])));
        skip_nesting(r);
        return GOES_ON;
    }
    if (r->p[0] == '_' && r->p[1] != '_') {
        const struct word *found = take_word(r, specials, sizeof specials / sizeof specials[0]);
        if (found) put(r, found->text);
        return found ? END_OF_NAME : NO_NAME;
    }
    put(r, ".");
    return NEXT_PART;
}

static enum step read_part(struct reader *r) {
    enum step step = read_identifier(r);
    if (step == GOES_ON) step = read_capitals(r);
    if (step == GOES_ON) step = read_separator(r);
    if (step != GOES_ON) return step;
    if (r->p[0] == '.' && isdigit((unsigned char)r->p[1])) {
        r->p += 2;
        skip_digits(r);
    }
    return *r->p ? NO_NAME : END_OF_NAME;
}

char *gnat_name(const char *name, size_t size) {
    char *copy = copy_text(name, size);
    const char *begin = strncmp(copy, "_ada_", 5) == 0 ? copy + 5 : copy;
    struct reader r = { .p = begin };
    enum step step = islower((unsigned char)*begin) ? NEXT_PART : NO_NAME;
    while (step == NEXT_PART) step = read_part(&r);
    if (step == NO_NAME) {
        r.out.count = 0;
        if (*begin != '<') put(&r, "<");
        put(&r, begin);
        if (*begin != '<') put(&r, ">");
    }
    GROW_PUSH(&r.out, '\0');
    free(copy);
    return r.out.items;
}

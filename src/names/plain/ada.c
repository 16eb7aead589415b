/* Ada names as GNAT makes them: parts in lower case, separated by two underscores; capital letters are the compiler's own. */
#include "names/mangled.h"
#include "names/plain/plain.h"

static const struct {
    const char *code, *text;
} operators[] = {
    { "Oabs", "\"abs\"" },  { "Oand", "\"and\"" },    { "Omod", "\"mod\"" },  { "Onot", "\"not\"" },  { "Oor", "\"or\"" },
    { "Orem", "\"rem\"" },  { "Oxor", "\"xor\"" },    { "Oeq", "\"=\"" },     { "One", "\"/=\"" },    { "Olt", "\"<\"" },
    { "Ole", "\"<=\"" },    { "Ogt", "\">\"" },       { "Oge", "\">=\"" },    { "Oadd", "\"+\"" },    { "Osubtract", "\"-\"" },
    { "Oconcat", "\"&\"" }, { "Omultiply", "\"*\"" }, { "Odivide", "\"/\"" }, { "Oexpon", "\"**\"" },
};

static const char *operator_text(struct csn_str part) {
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (part.len == strlen(operators[i].code) && csni_starts_with(part, operators[i].code)) return operators[i].text;
    return NULL;
}

/* A part without the two underscores: lower case, digits, single underscores inside. */
static bool is_identifier(struct csn_str part) {
    if (!part.len || !csni_is_lower(part.ptr[0]) || part.ptr[part.len - 1] == '_') return false;
    for (size_t i = 0; i < part.len; i++)
        if (!csni_is_lower(part.ptr[i]) && !csni_is_decimal(part.ptr[i]) && part.ptr[i] != '_') return false;
    return true;
}

/* Units that come with the compiler. */
static bool is_library_unit(struct csn_str name) {
    return csni_starts_with(name, "ada__") || csni_starts_with(name, "system__") || csni_starts_with(name, "interfaces__") ||
           csni_starts_with(name, "gnat__");
}

/* Task bodies and the two forms of a protected operation. */
static void drop_body_letters(struct csn_str *name) {
    static const char *const endings[] = { "TKB", "TK", "B", "N", "P" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t len = strlen(endings[i]);
        if (name->len <= len || memcmp(name->ptr + name->len - len, endings[i], len) != 0) continue;
        if (!csni_is_lower(name->ptr[name->len - len - 1]) && !csni_is_decimal(name->ptr[name->len - len - 1])) continue;
        name->len -= len;
        return;
    }
}

/* "Xnb": inside packages that are inside bodies and specifications. Whether there were such letters. */
static bool drop_nesting_letters(struct csn_str *name) {
    size_t len = name->len;
    while (len && (name->ptr[len - 1] == 'n' || name->ptr[len - 1] == 'b')) len--;
    if (len < 2 || len == name->len || name->ptr[len - 1] != 'X') return false;
    name->len = len - 1;
    return true;
}

/* "_E11s" and "_B4s": the body and the barrier of a protected type's entry. Whether there was such an end. */
static bool drop_entry(struct csn_str *name) {
    size_t at = name->len;
    if (at < 4 || name->ptr[--at] != 's') return false;
    while (at > 2 && csni_is_decimal(name->ptr[at - 1])) at--;
    if (at < 3 || (name->ptr[at - 1] != 'E' && name->ptr[at - 1] != 'B') || name->ptr[at - 2] != '_') return false;
    name->len = at - 2;
    return true;
}

/* What the compiler makes for a type; the letters are taken off. */
static const char *take_type_operation(struct csn_str *name) {
    static const char *const words[][2] = { { "___size", "'Size" }, { "___alignment", "'Alignment" }, { "___assign", ".\":=\"" } };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i][0]);
        if (name->len <= len || memcmp(name->ptr + name->len - len, words[i][0], len) != 0) continue;
        name->len -= len;
        return words[i][1];
    }
    static const char *const operations[][2] = { { "DF", ".Finalize" }, { "DA", ".Adjust" }, { "SI", "'Input" },
                                                 { "SO", "'Output" },   { "SR", "'Read" },   { "SW", "'Write" } };
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (name->len < 3 || memcmp(name->ptr + name->len - 2, operations[i][0], 2) != 0) continue;
        if (!csni_is_lower(name->ptr[name->len - 3]) && !csni_is_decimal(name->ptr[name->len - 3])) continue;
        name->len -= 2;
        return operations[i][1];
    }
    return NULL;
}

static bool put_parts(struct csn_str name, struct csni_name_text *out, bool *has_operator) {
    for (size_t from = 0;; csni_name_put_text(out, ".")) {
        size_t to = csni_find(name, from, "__");
        struct csn_str part = csni_part(name, from, to);
        bool in_task = to < name.len && part.len > 2 && memcmp(part.ptr + part.len - 2, "TK", 2) == 0;
        if (in_task) part.len -= 2;
        const char *text = from ? operator_text(part) : NULL;
        if (!text && !is_identifier(part)) return false;
        if (text) csni_name_put_text(out, text);
        else csni_name_put_str(out, part);
        *has_operator |= text != NULL;
        if (to == name.len) return true;
        from = to + 2;
    }
}

static bool demangle_base(struct csn_str name, struct csni_name_text *out) {
    const char *attribute = NULL;
    bool marked = csni_starts_with(name, "_ada_"), has_operator = false;
    if (marked) name = csni_part(name, 5, name.len);
    size_t elaboration = csni_find(name, 0, "___elab");
    if (elaboration + 8 == name.len && (name.ptr[name.len - 1] == 'b' || name.ptr[name.len - 1] == 's')) {
        attribute = name.ptr[name.len - 1] == 'b' ? "'Elab_Body" : "'Elab_Spec";
        name.len = elaboration;
    }
    marked |= attribute || is_library_unit(name);
    bool in_package = drop_nesting_letters(&name), in_subprogram = csni_drop_number(&name, ".") || drop_entry(&name);
    bool numbered = csni_drop_number(&name, "__");
    if (!attribute) attribute = take_type_operation(&name);
    marked |= (in_package || in_subprogram || numbered || attribute) && csni_find(name, 0, "__") < name.len;
    /* In packages within packages, 'P' is a table of a tagged type. */
    if (marked && !in_package) drop_body_letters(&name);
    if (!put_parts(name, out, &has_operator) || !(marked || has_operator)) return false;
    if (attribute) csni_name_put_text(out, attribute);
    return true;
}

bool csni_ada_demangle(struct csn_str name, struct csni_name_text *out) {
    struct csn_str base = csni_clone_base(name), suffix = csni_part(name, base.len, name.len);
    if (!demangle_base(base, out)) return false;
    if (!suffix.len) return true;
    csni_name_put_text(out, " (");
    csni_name_put_str(out, suffix);
    csni_name_put_text(out, ")");
    return true;
}

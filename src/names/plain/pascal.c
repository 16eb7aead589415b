/* Pascal names as Free Pascal makes them: unit, classes or routines around, name, types of parameters, type of the result. */
#include "names/plain/plain.h"

static const struct {
    const char *code, *text;
} operators[] = {
    { "plus", "+" },   { "minus", "-" },  { "star", "*" },     { "slash", "/" },           { "starstar", "**" },
    { "equal", "=" },  { "lower", "<" },  { "greater", ">" },  { "lower_or_equal", "<=" }, { "greater_or_equal", ">=" },
    { "assign", ":=" }, { "not_equal", "<>" },
};

static void put_type(struct csn_str type, struct csni_name_text *out) {
    static const char array[] = "array_of_";
    if (csni_starts_with(type, array)) {
        csni_name_put_text(out, "array of ");
        type = csni_part(type, sizeof(array) - 1, type.len);
    }
    csni_name_put_str(out, type);
}

/* Types separated by '$'. A long list is a checksum. */
static void put_parameters(struct csn_str list, struct csni_name_text *out) {
    csni_name_put_text(out, "(");
    bool checksum = list.len == 11 && csni_starts_with(list, "crc");
    for (size_t from = 0; !checksum && from <= list.len;) {
        size_t to = csni_find(list, from, "$");
        if (from) csni_name_put_text(out, ", ");
        put_type(csni_part(list, from, to), out);
        from = to + 1;
    }
    csni_name_put_text(out, checksum ? "...)" : ")");
}

static void put_operator_name(struct csn_str code, struct csni_name_text *out) {
    csni_name_put_text(out, "operator ");
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (code.len != strlen(operators[i].code) || !csni_starts_with(code, operators[i].code)) continue;
        csni_name_put_text(out, operators[i].text);
        return;
    }
    csni_name_put_str(out, code);
}

/* NAME$TYPE$TYPE$$RESULT; operators begin with '$'. The result is written of the name itself, not of routines around it. */
static void put_routine(struct csn_str routine, bool is_last, struct csni_name_text *out) {
    bool is_operator = routine.len > 1 && routine.ptr[0] == '$';
    if (is_operator) routine = csni_part(routine, 1, routine.len);
    size_t result = csni_find(routine, 0, "$$"), name = csni_find(routine, 0, "$");
    if (is_operator) put_operator_name(csni_part(routine, 0, name), out);
    else csni_name_put_str(out, csni_part(routine, 0, name));
    if (name < result) put_parameters(csni_part(routine, name + 1, result), out);
    if (result == routine.len || !is_last) return;
    csni_name_put_text(out, ": ");
    put_type(csni_part(routine, result + 2, routine.len), out);
}

/* "P$HELLO$_$TFOO_$_GO$LONGINT": a unit or program, then classes and routines. */
static void put_scopes(struct csn_str scopes, struct csni_name_text *out) {
    if (csni_starts_with(scopes, "P$")) scopes = csni_part(scopes, 2, scopes.len);
    size_t unit = csni_find(scopes, 0, "$_$");
    csni_name_put_str(out, csni_part(scopes, 0, unit));
    csni_name_put_text(out, ".");
    for (size_t from = unit + 3; from < scopes.len;) {
        size_t to = csni_find(scopes, from, "_$_");
        struct csn_str scope = csni_part(scopes, from, to);
        bool is_class = to < scopes.len; /* of a generic class, numbers and a checksum follow */
        if (is_class) scope.len = csni_find(scope, 0, "$");
        put_routine(scope, false, out);
        csni_name_put_text(out, ".");
        from = to + 3;
    }
}

static bool put_kind(struct csn_str *name, struct csni_name_text *out) {
    static const char *const kinds[][2] = { { "U_$", "" },
                                            { "TC_$", "" },
                                            { "VMT_$", "VMT for " },
                                            { "RTTI_$", "RTTI for " },
                                            { "INIT_$", "INIT for " },
                                            { "RESSTR_$", "resource string " },
                                            { "IIDSTR_$", "IID string of " },
                                            { "IID_$", "IID of " } };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t len = strlen(kinds[i][0]);
        bool is_unit = name->len > len && (name->ptr[len] == '$' || name->ptr[len] == '_'); /* "RTTI_$$_F" is of the unit Rtti */
        if (!csni_starts_with(*name, kinds[i][0]) || is_unit) continue;
        csni_name_put_text(out, kinds[i][1]);
        *name = csni_part(*name, len, name->len);
    }
    return name->len && (csni_is_upper(name->ptr[0]) || name->ptr[0] == '_');
}

/* "_$$_" stands before the name itself, and before each routine that is inside of another. */
bool csni_pascal_demangle(struct csn_str name, struct csni_name_text *out) {
    if (csni_find(name, 1, "_$$_") + 4 >= name.len || !put_kind(&name, out) || name.ptr[0] == '_') return false;
    size_t at = csni_find(name, 1, "_$$_");
    if (at + 4 >= name.len) return false;
    put_scopes(csni_part(name, 0, at), out);
    for (size_t from = at + 4;; from = at + 4) {
        at = csni_find(name, from, "_$$_");
        put_routine(csni_part(name, from, at), at == name.len, out);
        if (at == name.len) return !out->too_long;
        csni_name_put_text(out, ".");
    }
}

/* Names of folded functions. */
#include "convert/pdb/pdb_names.h"

#include <callsign/names.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/hash.h"
#include "names/msvc/msvc.h"

enum { TEXT_MAX = 4096, BLOCK_SIZE = 8192, OVERLOADS_MAX = 64 };

/* ---- one spelling ---- */

static bool is_identifier(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
    return is_letter || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '@';
}

static bool begins_with(struct csn_str text, size_t at, const char *word) {
    return csni_str_starts((struct csn_str){ text.ptr + at, text.len - at }, word);
}

/* undname says what kind of class a template argument is, the records of types do not; they also differ in blanks, in
 * the words for functions that compilers make, and from names of the Itanium ABI in the word for 64 bits. Writes at most
 * text.len bytes. */
static size_t respell(struct csn_str text, char *out) {
    static const char *const keywords[] = { "class ", "struct ", "union ", "enum " };
    size_t len = 0;
    for (size_t i = 0; i < text.len;) {
        const bool begins = !i || !is_identifier(text.ptr[i - 1]);
        size_t skipped = text.ptr[i] == ' ' || begins_with(text, i, "-namespace'"); /* MSVC: `anonymous-namespace' */
        for (size_t k = 0; begins && !skipped && k < sizeof keywords / sizeof *keywords; k++)
            if (begins_with(text, i, keywords[k])) skipped = strlen(keywords[k]);
        if (begins && !skipped && begins_with(text, i, "long long")) {
            memcpy(out + len, "__int64", 7);
            len += 7;
            skipped = 9;
        } else if (!skipped && begins_with(text, i, "deleting destructor'")) {
            memcpy(out + len, "deletingdtor'", 13);
            len += 13;
            skipped = 20;
        } else if (!skipped) {
            out[len++] = text.ptr[i];
            skipped = 1;
        }
        i += skipped;
    }
    return len;
}

/* ---- demangled functions ---- */

struct demangled {
    struct csn_str name, parameters; /* in `text` */
    char text[TEXT_MAX];
    size_t size;                     /* that it wanted */
    bool is_of_c;                    /* not mangled, whatever it begins with */
};

/* Behind what an operator is called; `at` is behind the word "operator". */
static size_t skip_operator(struct csn_str text, size_t at) {
    if (begins_with(text, at, "()") || begins_with(text, at, "[]")) return at + 2;
    while (at < text.len && strchr("<>=!+-*/%&|^~,", text.ptr[at])) at++;
    return at;
}

/* Behind a name in quotes, which may hold others: "`anonymous namespace'". */
static size_t skip_quotes(struct csn_str text, size_t at) {
    size_t depth = 0;
    for (; at < text.len; at++) {
        if (text.ptr[at] == '`') depth++;
        else if (text.ptr[at] == '\'' && !--depth) return at + 1;
    }
    return at;
}

static size_t closing(struct csn_str text, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < text.len; i++) {
        if (text.ptr[i] == '(') depth++;
        else if (text.ptr[i] == ')' && !--depth) return i;
    }
    return text.len;
}

static bool is_operator(struct csn_str text, size_t at) {
    if (!begins_with(text, at, "operator") || (at && is_identifier(text.ptr[at - 1]))) return false;
    return at + 8 == text.len || !is_identifier(text.ptr[at + 8]);
}

/* "public: int __cdecl A::get(int) const": what stands before the parameters, from the last blank outside of brackets on. */
static bool cut_name(struct demangled *d, struct csn_str text) {
    size_t begin = 0, depth = 0, i = 0;
    bool in_operator = false;
    while (i < text.len && !(text.ptr[i] == '(' && !depth)) {
        const char c = text.ptr[i];
        if (c == '`') {
            i = skip_quotes(text, i);
            continue;
        }
        if (!depth && is_operator(text, i)) {
            in_operator = true; /* "operator int" has a blank of its own */
            i = skip_operator(text, i + 8);
            continue;
        }
        if (c == '<') depth++;
        else if (c == '>' && depth) depth--;
        else if (c == ' ' && !depth && !in_operator) begin = i + 1;
        i++;
    }
    if (i == text.len || i == begin) return false;
    const size_t end = closing(text, i);
    if (end == text.len) return false;
    d->name = (struct csn_str){ text.ptr + begin, i - begin };
    d->parameters = (struct csn_str){ text.ptr + i + 1, end - i - 1 };
    return true;
}

/* MinGW's compilers and Rust. Rust's names have no parameters. */
static bool demangle_other(struct csn_str name, struct demangled *out) {
    size_t size = 0;
    const csn_status status = csn_demangle(name, out->text, sizeof out->text, &size, NULL);
    out->size = name.len + size;
    out->is_of_c = status == CSN_NONE;
    if (status != CSN_OK) return false;
    const struct csn_str text = { out->text, size };
    if (cut_name(out, text)) return true;
    out->name = text;
    out->parameters = (struct csn_str){ text.ptr + size, 0 };
    return true;
}

static bool is_of_msvc(struct csn_str name) { return *name.ptr == '?'; }
static bool is_mangled(struct csn_str name) {
    return is_of_msvc(name) || csni_str_starts(name, "_Z") || csni_str_starts(name, "_R");
}

static bool demangle(struct csn_str name, struct demangled *out) {
    if (!is_of_msvc(name)) return demangle_other(name, out);
    _Alignas(max_align_t) uint8_t block[BLOCK_SIZE];
    struct csni_name_memory memory;
    struct csni_name_text text = { .out = out->text, .cap = sizeof out->text };
    csni_name_memory_init(&memory, block, sizeof block);
    const bool done = csni_msvc_demangle(name, &memory, &text) && !text.too_long;
    csni_name_memory_deinit(&memory);
    out->size = name.len + text.len;
    return done && text.len < sizeof out->text && cut_name(out, (struct csn_str){ out->text, text.len });
}

/* Names of C: i386 has "_f@8" for a convention, "@f@8" for another; the first `_` is gone already. */
static struct csn_str without_convention(struct csn_str name) {
    size_t end = name.len;
    while (end && name.ptr[end - 1] >= '0' && name.ptr[end - 1] <= '9') end--;
    if (end < 2 || end == name.len || name.ptr[end - 1] != '@') return name;
    const size_t begin = name.ptr[0] == '@';
    return end - 1 > begin ? (struct csn_str){ name.ptr + begin, end - 1 - begin } : name;
}

static uint64_t hash_of(struct csn_str name) {
    char spelled[TEXT_MAX];
    if (!name.len || name.len > sizeof spelled) return 0;
    const uint64_t hash = csni_hash_bytes(spelled, respell(name, spelled));
    return hash ? hash : 1;
}

static uint64_t hash_of_public(struct csn_str name, uint64_t *work) {
    struct demangled d = { .size = 0 };
    if (!is_mangled(name)) return hash_of(without_convention(name));
    const bool is_function = demangle(name, &d);
    *work += d.size;
    if (d.is_of_c) return hash_of(without_convention(name)); /* "_Reset" */
    return is_function ? hash_of(d.name) : 0;
}

/* ---- all public symbols of shared places ---- */

static bool name_before(const void *context, const void *a, const void *b) {
    const struct csni_pdb_public_name *x = a, *y = b;
    (void)context;
    if (x->at != y->at) return x->at < y->at;
    return x->hash != y->hash ? x->hash < y->hash : x->entry < y->entry;
}

csn_status csni_pdb_names_read(struct csni_pdb_publics *publics, uint64_t limit, struct csn_error *err) {
    const struct csni_pdb_public_entry *entries = publics->entries.items;
    const size_t count = publics->entries.count;
    uint64_t work = 0;
    for (size_t i = 0; i < count && i < UINT32_MAX; i++) {
        const bool is_shared = (i && entries[i - 1].at == entries[i].at) || (i + 1 < count && entries[i + 1].at == entries[i].at);
        if (!is_shared || work > limit) continue;
        const struct csni_pdb_public_name name = { entries[i].at, hash_of_public(entries[i].name, &work), (uint32_t)i };
        if (name.hash && !csni_vec_push(&publics->names, name)) return csni_fail_memory(err, sizeof name);
    }
    csni_heap_sort(publics->names.items, publics->names.count, sizeof *publics->names.items, name_before, NULL);
    return CSN_OK;
}

/* ---- one function ---- */

/* Up to a comma that is outside of brackets, which is taken off `rest`, too. False: that was the last one. */
static bool next_parameter(struct csn_str *rest, struct csn_str *out) {
    size_t end = 0, depth = 0;
    for (; end < rest->len && (depth || rest->ptr[end] != ','); end++) {
        depth += rest->ptr[end] == '<' || rest->ptr[end] == '(';
        depth -= depth && (rest->ptr[end] == '>' || rest->ptr[end] == ')');
    }
    *out = (struct csn_str){ rest->ptr, end };
    if (end == rest->len) return false;
    *rest = (struct csn_str){ rest->ptr + end + 1, rest->len - end - 1 };
    return true;
}

/* Whether lists of parameters are the same; "?" is any one. How many of them are known to be equal; -1: they differ. */
static int compare_parameters(struct csn_str have, struct csn_str want) {
    int equal = 0;
    for (;;) {
        struct csn_str a, b;
        const bool more = next_parameter(&have, &a);
        if (next_parameter(&want, &b) != more) return -1;
        const bool is_any = csni_str_is(b, "?");
        if (!is_any && !csni_str_equal(a, b)) return -1;
        equal += !is_any;
        if (!more) return equal;
    }
}

/* Of overloaded functions the one with the parameters that the function's type has. */
static void find_overload(const struct csni_pdb_publics *publics, const struct csni_pdb_public_name *names,
                          size_t count, uint32_t type, uint32_t *out, uint64_t *work) {
    char want[TEXT_MAX], have[TEXT_MAX];
    const size_t size = csni_pdb_parameters(publics->pdb, type, want, sizeof want);
    int best = -1;
    for (size_t i = 0; size && i < count && i < OVERLOADS_MAX; i++) {
        struct demangled d;
        const bool is_function = demangle(publics->entries.items[names[i].entry].name, &d);
        *work += d.size;
        if (!is_function) continue;
        const struct csn_str spelled = { have, respell(d.parameters, have) };
        const int equal = compare_parameters(spelled, (struct csn_str){ want, size });
        if (equal <= best) continue;
        best = equal;
        *out = names[i].entry;
    }
}

bool csni_pdb_names_find(const struct csni_pdb_publics *publics, uint64_t at, const struct csni_pdb_code *code, uint32_t *out,
                         uint64_t *work) {
    const struct csni_pdb_public_name *names = publics->names.items;
    if (!publics->names.count) return false;
    size_t begin = csni_lower_bound(names, publics->names.count, at, at), end;
    const size_t place_end = csni_upper_bound(names, publics->names.count, at, at);
    if (begin == place_end) return false;
    const uint64_t hash = hash_of(code->name);
    begin += csni_lower_bound(names + begin, place_end - begin, hash, hash);
    for (end = begin; end < place_end && names[end].hash == hash; end++) continue;
    *work += code->name.len;
    if (!hash || begin == end) return false;
    *out = names[begin].entry;
    if (end - begin > 1) find_overload(publics, names + begin, end - begin, code->type, out, work);
    return true;
}

bool csni_pdb_names_agree(struct csn_str public, struct csn_str function, uint64_t *work) {
    const uint64_t hash = hash_of_public(public, work);
    return !hash || hash == hash_of(function);
}

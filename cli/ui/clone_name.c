/* Suffixes are read from the end of the name: ".isra.0", ".cold", ".cold.1", ".llvm.123456"; of demangled names " [clone .isra.0]"
 * as GNU's demangler writes them, or " (.isra.0.cold)" as LLVM's. */
#define _GNU_SOURCE
#include "ui/clone_name.h"

#include <string.h>

#include "ui/text_bytes.h"

static const char cold[] = ".cold";

/* Of the last part of the name, a point and what follows. SIZE_MAX: there is no point. */
static size_t last_part_at(struct csn_str name) {
    const char *point = name.len ? memrchr(name.ptr, '.', name.len) : NULL;
    return point ? (size_t)(point - name.ptr) : SIZE_MAX;
}

static bool is_number(struct csn_str name, size_t at) {
    const size_t first = at;
    while (at < name.len && is_digit(name.ptr[at])) at++;
    return at == name.len && at > first;
}

static bool is_part(struct csn_str name, size_t at, const char *text) {
    return name.len - at == strlen(text) && has_text_at(name, at, text);
}

/* Where the last suffix of a stored name begins; the end of the name: it has none. */
static size_t last_stored_suffix_at(struct csn_str name) {
    static const char *const numbered[] = { ".isra", ".constprop", ".part", ".llvm", ".lto_priv" };
    static const char *const others[] = { cold, ".localalias" }; /* with a number or without */
    const size_t number_at = last_part_at(name);
    struct csn_str word = name;
    if (number_at == SIZE_MAX) return name.len;
    const bool has_number = is_number(name, number_at + 1);
    if (has_number) word.len = number_at;
    const size_t at = last_part_at(word);
    if (at == SIZE_MAX) return name.len;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (is_part(word, at, others[i])) return at;
    for (size_t i = 0; has_number && i < sizeof(numbered) / sizeof(numbered[0]); i++)
        if (is_part(word, at, numbered[i])) return at;
    return name.len;
}

static bool is_all_suffixes(struct csn_str text) {
    for (size_t at; text.len && (at = last_stored_suffix_at(text)) < text.len;) text.len = at;
    return !text.len;
}

/* Where " [clone .cold]" or " (.cold)" begins; the end of the name: it has none. */
static size_t last_shown_suffix_at(struct csn_str name) {
    static const char *const opens[] = { " [clone ", " (" };
    const char close = name.len ? name.ptr[name.len - 1] : 0;
    if (close != ']' && close != ')') return name.len;
    const char *open = opens[close == ')'], *blank = memrchr(name.ptr, ' ', name.len);
    if (close == ']' && blank) blank = memrchr(name.ptr, ' ', (size_t)(blank - name.ptr));
    const size_t at = blank ? (size_t)(blank - name.ptr) : name.len, text_at = at + strlen(open);
    const bool fits = at && text_at < name.len && has_text_at(name, at, open);
    return fits && is_all_suffixes((struct csn_str){ name.ptr + text_at, name.len - 1 - text_at }) ? at : name.len;
}

/* Never the whole name. */
static size_t last_suffix_at(struct csn_str name) {
    const size_t shown = last_shown_suffix_at(name), stored = last_stored_suffix_at(name);
    if (shown < name.len) return shown;
    return stored ? stored : name.len;
}

struct csn_str clone_original(struct csn_str name) {
    for (size_t at; (at = last_suffix_at(name)) < name.len;) name.len = at;
    return name;
}

bool clone_is_cold(struct csn_str name) {
    for (size_t at; (at = last_suffix_at(name)) < name.len; name.len = at)
        if (memmem(name.ptr + at, name.len - at, cold, sizeof(cold) - 1)) return true;
    return false;
}

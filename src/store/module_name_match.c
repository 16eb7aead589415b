/* Whether an index is named after a module, whose name a log may have in another form. */
#include "store/index_store.h"

enum { NO_MATCH, MATCH_VERSION, MATCH_SUFFIX };

static bool ends_with(struct csn_str name, const char *suffix) {
    size_t len = strlen(suffix);
    if (name.len <= len) return false;
    for (size_t i = 0; i < len; i++) {
        char c = name.ptr[name.len - len + i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != suffix[i]) return false;
    }
    return true;
}

static struct csn_str without(struct csn_str name, const char *suffix) {
    if (ends_with(name, suffix)) name.len -= strlen(suffix);
    return name;
}

/* What is put after the name of an image to name another form of it. */
static struct csn_str bare_name(struct csn_str name) {
    static const char *const suffixes[] = { " (deleted)", ".gsym", ".bsym", ".sym", ".debug", ".dbg",
                                            ".dsym",      ".pdb",  ".xz",   ".gz",  ".zst" };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) name = without(name, suffixes[i]);
    return name;
}

/* Endings of images; one of the two names may lack it, but "orders.exe" is not "orders.dll". */
static bool is_equal_but_for_kind(struct csn_str longer, struct csn_str shorter) {
    static const char *const kinds[] = { ".exe", ".dll", ".sys", ".so", ".dylib", ".elf", ".axf", ".out" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(longer, kinds[i]) && csni_str_equal(without(longer, kinds[i]), shorter)) return true;
    return false;
}

/* Kernels print '_' where the file of a module has '-'. */
static bool is_same_kernel_module(struct csn_str a, struct csn_str b) {
    if (!ends_with(a, ".ko") && !ends_with(b, ".ko")) return false;
    a = without(a, ".ko");
    b = without(b, ".ko");
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] && !(memchr("-_", a.ptr[i], 2) && memchr("-_", b.ptr[i], 2))) return false;
    return true;
}

/* Of ".so" and what follows: 0 where there is none. */
static size_t version_at(struct csn_str name) {
    for (size_t i = name.len; i >= 3; i--)
        if (memcmp(name.ptr + i - 3, ".so", 3) == 0 && (i == name.len || name.ptr[i] == '.')) return i;
    return 0;
}

/* "liborders.so", "liborders.so.1", "liborders.so.1.2.3". */
static bool is_other_version(struct csn_str a, struct csn_str b) {
    size_t at = version_at(a), shorter = a.len < b.len ? a.len : b.len;
    const struct csn_str longest = a.len < b.len ? b : a;
    if (!at || at != version_at(b) || memcmp(a.ptr, b.ptr, shorter) != 0) return false;
    return longest.len == shorter || longest.ptr[shorter] == '.';
}

static bool is_same_char(char a, char b) { return a == b || (memchr("-_", a, 2) && memchr("-_", b, 2)); }

/* What one name has and the other lacks begins with a '.' or a blank. */
static bool may_end_at(struct csn_str name, size_t at) { return at >= name.len || name.ptr[at] == '.' || name.ptr[at] == ' '; }

/* False for most pairs that do not match, as soon as they differ. */
static bool may_match(struct csn_str a, struct csn_str b) {
    size_t shorter = a.len < b.len ? a.len : b.len;
    for (size_t k = 0; k <= shorter; k++) {
        if (k && may_end_at(a, k) && may_end_at(b, k)) return true;
        if (k < shorter && a.ptr[k] != b.ptr[k] && !is_same_char(a.ptr[k], b.ptr[k])) return false;
    }
    return false;
}

/* Both may end where either may end first: `may_match` compares what is before. */
size_t csni_module_name_root(struct csn_str name) {
    size_t len = name.len ? 1 : 0;
    while (!may_end_at(name, len)) len++;
    return len;
}

unsigned csni_module_name_match(struct csn_str module, struct csn_str index) {
    if (!module.len || !index.len) return NO_MATCH;
    if (csni_str_equal(module, index)) return CSNI_NAME_EXACT;
    if (!may_match(module, index)) return NO_MATCH;
    module = bare_name(module);
    index = bare_name(index);
    if (csni_str_equal(module, index) || is_equal_but_for_kind(module, index) || is_equal_but_for_kind(index, module)
        || is_same_kernel_module(module, index))
        return MATCH_SUFFIX;
    return is_other_version(module, index) ? MATCH_VERSION : NO_MATCH;
}

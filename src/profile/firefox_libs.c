/* By which texts the kind of a library is known. */
#include "profile/firefox_libs.h"

#include <string.h>

const char *const csni_firefox_lib_keys[PROFILE_LIB_TEXTS] = {
    [LIB_NAME] = "name",              [LIB_PATH] = "path",       [LIB_DEBUG_NAME] = "debugName", [LIB_DEBUG_PATH] = "debugPath",
    [LIB_BREAKPAD_ID] = "breakpadId", [LIB_CODE_ID] = "codeId",  [LIB_ARCH] = "arch"
};
const char *const csni_firefox_system_keys[PROFILE_SYSTEM_TEXTS] = { "oscpu", "platform", "toolkit" };

static bool is_letter_pair(char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a + ('a' - 'A') == b); }

/* `word` is in small letters. */
static bool has_word(struct csn_str text, const char *word) {
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= text.len; i++) {
        size_t k = 0;
        while (k < size && is_letter_pair(text.ptr[i + k], word[k])) k++;
        if (k == size) return true;
    }
    return false;
}

static bool ends_in(struct csn_str text, const char *end) {
    const size_t size = strlen(end);
    return text.len > size && has_word((struct csn_str){ text.ptr + text.len - size, size }, end);
}

static bool has_any(struct csn_str text, const char *const *words) {
    for (; *words; words++)
        if (has_word(text, *words)) return true;
    return false;
}

enum firefox_lib_kind csni_firefox_system_kind(const struct csn_profile *p, const struct profile_system *system) {
    static const char *const macho[] = { "mac", "cocoa", "iphone", NULL }, *const pe[] = { "windows", NULL },
                      *const elf[] = { "linux", "x11", "gtk", "android", "bsd", NULL };
    for (size_t i = 0; i < PROFILE_SYSTEM_TEXTS; i++) {
        const struct csn_str text = csni_profile_str(p, system->texts[i]);
        if (has_any(text, macho)) return LIBS_MACHO;
        if (has_any(text, elf)) return LIBS_ELF;
        if (has_any(text, pe)) return LIBS_PE;
    }
    return LIBS_UNKNOWN;
}

enum firefox_lib_kind csni_firefox_lib_kind(enum firefox_lib_kind system, struct csn_str path, struct csn_str debug_name) {
    if (ends_in(debug_name, ".pdb") || ends_in(path, ".exe") || ends_in(path, ".dll")) return LIBS_PE;
    if (system != LIBS_UNKNOWN) return system;
    if (ends_in(path, ".dylib") || has_word(path, ".framework/") || has_word(path, ".app/contents/")) return LIBS_MACHO;
    return has_word(path, ".so") ? LIBS_ELF : LIBS_UNKNOWN;
}

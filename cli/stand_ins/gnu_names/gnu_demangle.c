/* Demangling by a style. */
#include "stand_ins/gnu_names/gnu_demangle.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/names.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/base/legacy_rust.h"
#include "stand_ins/gnu_names/gnat_names.h"
#include "stand_ins/gnu_names/gnu_words.h"
#include "stand_ins/gnu_names/java_names.h"

static const char *const styles[] = { "none", "auto", "gnu-v3", "java", "gnat", "dlang", "rust" };
enum { STYLE_NONE, STYLE_AUTO, STYLE_GNU_V3, STYLE_JAVA, STYLE_GNAT, STYLE_DLANG, STYLE_RUST, STYLE_COUNT };
static int style = STYLE_AUTO;

bool gnu_demangle_choose_style(const char *name) {
    for (int i = 0; i < STYLE_COUNT; i++)
        if (strcmp(styles[i], name) == 0) {
            style = i;
            return true;
        }
    return false;
}

/* Whether the style has words for a name that begins like this. */
static bool style_fits(const char *name) {
    bool itanium = strncmp(name, "_Z", 2) == 0, rust = strncmp(name, "_R", 2) == 0, d = strncmp(name, "_D", 2) == 0;
    bool legacy_rust = itanium && strstr(name, "17h") != NULL;
    switch (style) {
    case STYLE_AUTO: return itanium || rust || strncmp(name, "_GLOBAL_", 8) == 0;
    case STYLE_GNU_V3: case STYLE_JAVA: return itanium || strncmp(name, "_GLOBAL_", 8) == 0;
    case STYLE_RUST: return rust || legacy_rust;
    case STYLE_DLANG: return d;
    case STYLE_GNAT: return true;
    default: return false;
    }
}

static char leading;

void gnu_demangle_skip_leading(char byte) { leading = byte; }

static bool is_rust(const char *name, size_t size) { return strncmp(name, "_R", 2) == 0 || is_legacy_rust(name, size); }

static char *demangle_plain(const char *name, size_t size) {
    if (style == STYLE_GNAT) return gnat_name(name, size);
    if ((style == STYLE_GNU_V3 || style == STYLE_JAVA) && is_legacy_rust(name, size)) {
        char *cxx = legacy_rust_as_cxx(name, size, NULL);
        return cxx && style == STYLE_JAVA ? java_name(cxx) : cxx;
    }
    const struct csn_str given = { name, size };
    size_t length = 0, capacity = 4 * size + 256;
    char *out = NULL;
    for (int i = 0; i < 2; i++) {
        out = grow_items(out, capacity, &(size_t){ 0 }, 1);
        csn_status status = csn_demangle(given, out, capacity, &length, NULL);
        if (status == CSN_OK && is_rust(name, size)) {
            gnu_drop_suffix(out);
            return out;
        }
        if (status == CSN_OK && gnu_reads_suffix(name, out)) {
            out = gnu_words(out);
            return style == STYLE_JAVA ? java_name(out) : out;
        }
        if (status != CSN_E_LIMIT) break;
        capacity = length + 1;
    }
    free(out);
    return NULL;
}

/* "_GLOBAL__I_f": what old compilers run for f before main(). NULL: no such name. */
static char *demangle_keyed(const char *name, size_t size) {
    static const char prefix[] = "_GLOBAL_";
    const size_t before = sizeof prefix - 1 + 3;
    const char *kind = name + sizeof prefix - 1, *key = name + before;
    if (size <= before || strncmp(name, prefix, sizeof prefix - 1) != 0 || !strchr(".$_", kind[0])) return NULL;
    if ((kind[1] != 'I' && kind[1] != 'D') || kind[2] != '_') return NULL;
    const char *words = kind[1] == 'I' ? "global constructors keyed to " : "global destructors keyed to ";
    char *inner = strncmp(key, "_Z", 2) == 0 ? demangle_plain(key, size - before) : copy_text(key, size - before);
    if (!inner) return NULL;
    char *out = grow_items(NULL, strlen(words) + strlen(inner) + 1, &(size_t){ 0 }, 1);
    strcpy(out, words);
    strcat(out, inner);
    free(inner);
    return out;
}

static char *demangle_core(const char *name, size_t size) {
    if (!style_fits(name)) return NULL;
    char *keyed = style == STYLE_GNAT ? NULL : demangle_keyed(name, size);
    return keyed ? keyed : demangle_plain(name, size);
}

static char *demangle_rest(const char *name) {
    const char *core = name;
    while (*core == '.' || *core == '$') core++;
    const char *version = strchr(core, '@');
    size_t size = version ? (size_t)(version - core) : strlen(core);
    char *inner = demangle_core(core, size);
    if (!inner || (core == name && !version)) return inner;
    size_t before = (size_t)(core - name), middle = strlen(inner);
    char *out = copy_text(name, before);
    out = grow_items(out, before + middle + strlen(core + size) + 1, &(size_t){ 0 }, 1);
    memcpy(out + before, inner, middle);
    strcpy(out + before + middle, core + size);
    free(inner);
    return out;
}

char *gnu_demangle(const char *name) {
    if (!leading || *name != leading) return demangle_rest(name);
    char *found = demangle_rest(name + 1);
    return found ? found : copy_text(name + 1, strlen(name + 1));
}

/* Where the store writes a file. */
#include "store/layout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <callsign/identity.h>

bool layout_find(const char *name, enum layout *out) {
    static const char *const names[] = { "build-id", "debuginfod", "unified", "breakpad", "ssqp" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (enum layout)i;
        return true;
    }
    return false;
}

static bool fits(int written) { return written > 0 && written < STORE_PATH_SIZE; }

static bool has_ending(const char *name, const char *ending) {
    size_t size = strlen(name), end = strlen(ending);
    return size > end && strcmp(name + size - end, ending) == 0;
}

/* NAME/ID/NAME.sym; the ending of a PDB is replaced. */
static bool breakpad_path(const struct artifact *a, const char *ending, char out[STORE_PATH_SIZE]) {
    const char *name = a->name;
    int stem = (int)strlen(name);
    if (!*name || !*a->debug_id) return false;
    if (has_ending(name, ".pdb") || has_ending(name, ".exe") || has_ending(name, ".dll")) stem -= 4;
    return fits(snprintf(out, STORE_PATH_SIZE, "%s/%s/%.*s%s", name, a->debug_id, stem, name, ending));
}

static const char *build_id_ending(uint32_t kind) {
    if (kind & ARTIFACT_GSYM) return ".gsym";
    if (kind & ARTIFACT_BREAKPAD) return ".sym";
    return kind & ARTIFACT_DEBUGINFO ? ".debug" : "";
}

static const char *part_name(uint32_t kind) {
    if (kind & ARTIFACT_GSYM) return "gsym";
    if (kind & ARTIFACT_BREAKPAD) return "breakpad";
    return kind & (ARTIFACT_DEBUGINFO | ARTIFACT_PDB) ? "debuginfo" : "executable";
}

static bool ssqp_path(const struct artifact *a, char out[STORE_PATH_SIZE]) {
    bool is_debug = !(a->kind & ARTIFACT_EXECUTABLE);
    const char *id = a->build_id;
    if (!*id || a->kind & (ARTIFACT_GSYM | ARTIFACT_BREAKPAD)) return false;
    if (a->container == CSN_IDENTITY_MACHO && is_debug)
        return fits(snprintf(out, STORE_PATH_SIZE, "_.dwarf/mach-uuid-sym-%s/_.dwarf", id));
    if (is_debug) return fits(snprintf(out, STORE_PATH_SIZE, "_.debug/elf-buildid-sym-%s/_.debug", id));
    if (!*a->name) return false;
    const char *word = a->container == CSN_IDENTITY_MACHO ? "mach-uuid" : "elf-buildid";
    return fits(snprintf(out, STORE_PATH_SIZE, "%s/%s-%s/%s", a->name, word, id, a->name));
}

static bool windows_path(const struct artifact *a, char out[STORE_PATH_SIZE]) {
    const char *id = a->kind & ARTIFACT_PDB ? a->debug_id : a->code_id;
    char upper[ID_TEXT_SIZE];
    if (!*a->name || !*id) return false;
    snprintf(upper, sizeof(upper), "%s", id);
    for (size_t i = 0; i < 8 && upper[i]; i++) upper[i] = (char)toupper((unsigned char)upper[i]);
    return fits(snprintf(out, STORE_PATH_SIZE, "%s/%s/%s", a->name, upper, a->name));
}

bool layout_path(enum layout layout, const struct artifact *a, char out[STORE_PATH_SIZE]) {
    const char *id = artifact_tree_id(a);
    if ((a->kind & ARTIFACT_PDB || a->container == CSN_IDENTITY_PE) && windows_path(a, out)) return true;
    if (a->kind & ARTIFACT_BREAKPAD && breakpad_path(a, ".sym", out)) return true;
    if (a->kind & ARTIFACT_GSYM && !*a->build_id && *a->name) return fits(snprintf(out, STORE_PATH_SIZE, "%s.gsym", a->name));
    if (layout == LAYOUT_BREAKPAD && a->kind & ARTIFACT_GSYM && *a->name)
        return *a->debug_id && fits(snprintf(out, STORE_PATH_SIZE, "%s/%s/%s.gsym", a->name, a->debug_id, a->name));
    if (layout == LAYOUT_SSQP && ssqp_path(a, out)) return true;
    if (strlen(id) < 4) return false;
    if (layout == LAYOUT_DEBUGINFOD) return fits(snprintf(out, STORE_PATH_SIZE, "buildid/%s/%s", id, part_name(a->kind)));
    if (layout == LAYOUT_UNIFIED) return fits(snprintf(out, STORE_PATH_SIZE, "%.2s/%s/%s", id, id + 2, part_name(a->kind)));
    return fits(snprintf(out, STORE_PATH_SIZE, ".build-id/%.2s/%s%s", id, id + 2, build_id_ending(a->kind)));
}

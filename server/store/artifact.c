/* Ids of symbol files, and the names of kinds. */
#include "store/artifact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *artifact_kind_name(uint32_t kind) {
    if (kind & ARTIFACT_GSYM) return "gsym";
    if (kind & ARTIFACT_PDB) return "pdb";
    if (kind & ARTIFACT_BREAKPAD) return "breakpad";
    if (kind & ARTIFACT_DEBUGINFO) return "debuginfo";
    return kind & ARTIFACT_EXECUTABLE ? "executable" : "unknown";
}

const char *artifact_tree_id(const struct artifact *artifact) {
    return *artifact->build_id ? artifact->build_id : artifact->htlhash;
}

bool build_id_canonical(const char *text, size_t size, char out[ID_TEXT_SIZE]) {
    if (size < 4 || size % 2 || size >= ID_TEXT_SIZE) return false;
    for (size_t i = 0; i < size; i++) {
        if (!isxdigit((unsigned char)text[i])) return false;
        out[i] = (char)tolower((unsigned char)text[i]);
    }
    out[size] = 0;
    return true;
}

size_t build_id_shorter(const char *id, size_t size) {
    enum { WHOLE = 40, SHORTEST = 16 }; /* build ids of 8 bytes are the shortest that linkers make */
    if (strlen(id) != WHOLE || size <= SHORTEST) return 0;
    for (size_t i = size - 8; i < size; i++)
        if (id[i] != '0') return 0;
    return size - 8;
}

/* The three first fields of a GUID stand in the other byte order. */
bool debug_id_of_build_id(const char *id, char out[DEBUG_ID_SIZE]) {
    static const unsigned char order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    char padded[32];
    size_t size = strlen(id);
    memset(padded, '0', sizeof(padded));
    memcpy(padded, id, size < sizeof(padded) ? size : sizeof(padded));
    for (size_t i = 0; i < 32; i++) {
        char digit = padded[2 * order[i / 2] + i % 2];
        if (!isxdigit((unsigned char)digit)) return false;
        out[i] = (char)toupper((unsigned char)digit);
    }
    out[32] = '0';
    out[33] = 0;
    return size != 0;
}

bool debug_id_canonical(const char *text, char out[DEBUG_ID_SIZE]) {
    size_t count = 0;
    for (; *text; text++) {
        if (*text == '-') continue;
        if (!isxdigit((unsigned char)*text) || count + 2 > DEBUG_ID_SIZE) return false;
        out[count++] = (char)toupper((unsigned char)*text);
    }
    if (count < 32) return false;
    if (count == 32) out[count++] = '0';
    size_t age = 32;
    while (age + 1 < count && out[age] == '0') age++;
    memmove(out + 32, out + age, count - age);
    out[32 + count - age] = 0;
    return true;
}

bool artifact_name_is_safe(const char *name) {
    size_t size = strlen(name);
    if (size == 0 || size >= NAME_SIZE || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strcmp(name, ".callsign") == 0)
        return false;
    for (size_t i = 0; i < size; i++)
        if (name[i] == '/' || name[i] == '\\' || (unsigned char)name[i] < 0x20 || name[i] == 0x7f) return false;
    return true;
}

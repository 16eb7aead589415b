/* What a file is: an image, a debug file, an index, a Breakpad symbol file, a program database. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <callsign/convert.h>
#include <callsign/identity.h>
#include <callsign/index.h>

#include "store/artifact.h"

enum { MODULE_LINES_BYTES = 4096 };

static void hex_text(const uint8_t *bytes, size_t size, char *out) {
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * size] = 0;
}

/* The last part of a path of Unix or Windows; names that cannot be files of a store become empty. */
static void set_name(struct artifact *out, const char *path, size_t size) {
    size_t start = size;
    while (start && path[start - 1] != '/' && path[start - 1] != '\\') start--;
    if (size - start >= NAME_SIZE) return;
    memcpy(out->name, path + start, size - start);
    out->name[size - start] = 0;
    if (!artifact_name_is_safe(out->name)) out->name[0] = 0;
}

static void drop_ending(char *name, const char *ending) {
    size_t size = strlen(name), end = strlen(ending);
    if (size > end && strcasecmp(name + size - end, ending) == 0) name[size - end] = 0;
}

/* Names such as those of trees by build id name nothing. */
static void drop_id_name(struct artifact *out) {
    size_t size = strspn(out->name, "0123456789abcdefABCDEF");
    if (size >= 14 && (!out->name[size] || strcmp(out->name + size, ".debug") == 0)) out->name[0] = 0;
    if (strcmp(out->name, "debuginfo") == 0 || strcmp(out->name, "executable") == 0 || strcmp(out->name, "gsym") == 0 ||
        strcmp(out->name, "_.debug") == 0 || strcmp(out->name, "_.dwarf") == 0 || strcmp(out->name, "elf") == 0)
        out->name[0] = 0;
}

static void guid_debug_id(const struct csn_identity *identity, struct artifact *out) {
    char id[ID_TEXT_SIZE];
    hex_text(identity->build_id, 16, id);
    if (identity->container == CSN_IDENTITY_MACHO) {
        snprintf(out->debug_id, sizeof(out->debug_id), "%.32s0", id);
        for (char *c = out->debug_id; *c; c++) *c = (char)toupper((unsigned char)*c);
        return;
    }
    if (!debug_id_of_build_id(id, out->debug_id)) out->debug_id[0] = 0;
    else snprintf(out->debug_id + 32, sizeof(out->debug_id) - 32, "%X", identity->age);
}

static void take_identity(const struct csn_identity *identity, struct artifact *out) {
    out->container = identity->container;
    out->image_base = identity->image_base;
    memcpy(out->arch, identity->arch, sizeof(out->arch));
    out->arch[sizeof(out->arch) - 1] = 0;
    hex_text(identity->build_id, identity->build_id_size, out->build_id);
    bool has_guid = identity->container == CSN_IDENTITY_MACHO || identity->container == CSN_IDENTITY_PE ||
                    identity->container == CSN_IDENTITY_PDB;
    if (has_guid && identity->build_id_size == 16) guid_debug_id(identity, out);
    else if (identity->build_id_size) debug_id_of_build_id(out->build_id, out->debug_id);
    if (identity->container == CSN_IDENTITY_PE)
        snprintf(out->code_id, sizeof(out->code_id), "%08x%x", identity->pe_timestamp, identity->pe_image_size);
    if (identity->flags & CSN_IDENTITY_CODE) out->kind |= ARTIFACT_EXECUTABLE;
    if (identity->flags & CSN_IDENTITY_DEBUG_INFO) out->kind |= ARTIFACT_DEBUGINFO;
    if (!out->kind && (identity->flags & CSN_IDENTITY_SYMBOLS)) out->kind = ARTIFACT_DEBUGINFO;
    if (identity->container == CSN_IDENTITY_PDB) out->kind = ARTIFACT_PDB;
    else drop_ending(out->name, ".debug");
}

/* ---- Breakpad: MODULE os arch id name, INFO CODE_ID id ---- */

static size_t field_length(const char *at, const char *end) {
    const char *p = at;
    while (p < end && *p != ' ' && *p != '\n' && *p != '\r') p++;
    return (size_t)(p - at);
}

static void read_code_id(const char *at, const char *end, struct artifact *out) {
    static const char prefix[] = "INFO CODE_ID ";
    const char *info = memmem(at, (size_t)(end - at), prefix, sizeof(prefix) - 1);
    if (!info || info[-1] != '\n') return;
    info += sizeof(prefix) - 1;
    size_t size = field_length(info, end);
    char id[ID_TEXT_SIZE];
    if (size < 17) { /* of Windows, a time stamp and a size, whose digits may be of odd number */
        for (size_t i = 0; i < size; i++) id[i] = (char)tolower((unsigned char)info[i]);
        id[size] = 0;
        if (strspn(id, "0123456789abcdef") == size) memcpy(out->code_id, id, size + 1);
    } else if (build_id_canonical(info, size, id)) {
        memcpy(out->build_id, id, size + 1);
    }
}

static bool identify_breakpad(const char *bytes, size_t size, struct artifact *out) {
    const char *end = bytes + (size < MODULE_LINES_BYTES ? size : MODULE_LINES_BYTES), *at = bytes;
    if (size < 8 || memcmp(bytes, "MODULE ", 7) != 0) return false;
    at += 7;
    for (int field = 0; field < 3; field++) {
        size_t length = field_length(at, end);
        if (length == 0 || at + length >= end || at[length] != ' ') return false;
        char text[DEBUG_ID_SIZE + 8] = "";
        if (length < sizeof(text)) memcpy(text, at, length);
        if (field == 1) snprintf(out->arch, sizeof(out->arch), "%.15s", text);
        if (field == 2 && !debug_id_canonical(text, out->debug_id)) return false;
        at += length + 1;
    }
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line) line = end;
    size_t length = (size_t)(line - at);
    while (length && (at[length - 1] == '\r' || at[length - 1] == ' ')) length--;
    set_name(out, at, length);
    read_code_id(line, end, out);
    out->kind = ARTIFACT_BREAKPAD;
    return true;
}

static int identify_index(const void *bytes, size_t size, struct artifact *out, char *why, size_t why_size) {
    struct csn_index *index;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_index_open_memory(bytes, size, NULL, &index, &err) < 0) {
        snprintf(why, why_size, "%s", csn_error_text(&err));
        return 1;
    }
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    csn_index_close(index);
    hex_text(info.uuid, info.uuid_size, out->build_id);
    if (info.uuid_size) debug_id_of_build_id(out->build_id, out->debug_id);
    out->kind = ARTIFACT_GSYM;
    drop_ending(out->name, ".gsym");
    drop_ending(out->name, ".bsym");
    return 0;
}

static int identify_bytes(const void *bytes, size_t size, struct artifact *out, char *why, size_t why_size) {
    struct csn_identity identity;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_identify_memory(bytes, size, &identity, sizeof(identity), &err);
    if (status < 0 && status != CSN_E_UNSUPPORTED) {
        snprintf(why, why_size, "%s", csn_error_text(&err));
        return 1;
    }
    hex_text(identity.htlhash, sizeof(identity.htlhash), out->htlhash);
    if (status == CSN_OK) take_identity(&identity, out);
    else if (csn_is_index(bytes, size)) return identify_index(bytes, size, out, why, why_size);
    else if (!identify_breakpad(bytes, size, out)) {
        snprintf(why, why_size, "neither an image nor a debug file, index or Breakpad symbol file");
        return 1;
    }
    if (!out->kind) snprintf(why, why_size, "an object file without code, debug information and symbols");
    return out->kind ? 0 : 1;
}

int artifact_identify(const char *path, const char *name, struct artifact *out, char *why, size_t why_size) {
    struct csn_file *file;
    struct csn_error err = CSN_ERROR_INIT;
    struct stat st;
    if (csn_file_open(path, &file, &err) < 0) {
        snprintf(why, why_size, "%s", csn_error_text(&err));
        return err.code == CSN_E_UNSUPPORTED ? 1 : -1;
    }
    *out = (struct artifact){ .bytes = csn_file_size(file) };
    set_name(out, name, strlen(name));
    if (stat(path, &st) == 0) out->modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    int result = csn_file_size(file) ? identify_bytes(csn_file_bytes(file), csn_file_size(file), out, why, why_size) : 1;
    if (!out->bytes) snprintf(why, why_size, "the file is empty");
    csn_file_close(file);
    drop_id_name(out);
    return result;
}

/* What a path of one of the trees of symbol stores asks for. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "store/layout.h"

enum { MAX_PARTS = 8 };

struct path_parts {
    char text[MAX_PARTS][NAME_SIZE];
    size_t count;
};

static bool split_path(const char *path, struct path_parts *out) {
    out->count = 0;
    for (;;) {
        size_t size = strcspn(path, "/");
        if (size == 0 || size >= NAME_SIZE || out->count == MAX_PARTS) return false;
        memcpy(out->text[out->count], path, size);
        out->text[out->count][size] = 0;
        if (!artifact_name_is_safe(out->text[out->count])) return false;
        out->count++;
        if (!path[size]) return true;
        path += size + 1;
    }
}

static bool cut_ending(const char *text, const char *ending, size_t *stem) {
    size_t size = strlen(text), end = strlen(ending);
    if (size <= end || strcasecmp(text + size - end, ending) != 0) return false;
    *stem = size - end;
    return true;
}

static bool set_split_id(struct tree_query *out, const char *head, const char *tail, size_t tail_size) {
    char whole[2 + NAME_SIZE];
    if (strlen(head) != 2) return false;
    int size = snprintf(whole, sizeof(whole), "%s%.*s", head, (int)tail_size, tail);
    return size > 0 && build_id_canonical(whole, (size_t)size, out->build_id);
}

static bool part_kind(const char *part, struct tree_query *out) {
    static const struct { const char *name; uint32_t kinds; } parts[] = {
        { "debuginfo", ARTIFACT_DEBUGINFO | ARTIFACT_PDB }, { "executable", ARTIFACT_EXECUTABLE }, { "breakpad", ARTIFACT_BREAKPAD },
        { "gsym", ARTIFACT_GSYM },
    };
    out->is_meta = strcmp(part, "meta") == 0;
    if (out->is_meta) out->kinds = ARTIFACT_ANY;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(part, parts[i].name) == 0) out->kinds = parts[i].kinds;
    return out->kinds != 0;
}

/* .build-id/ab/cdef.debug */
static bool parse_build_id_tree(const struct path_parts *p, struct tree_query *out) {
    const char *file = p->text[2];
    size_t stem = strlen(file);
    out->kinds = ARTIFACT_EXECUTABLE;
    if (cut_ending(file, ".debug", &stem)) out->kinds = ARTIFACT_DEBUGINFO;
    else if (cut_ending(file, ".gsym", &stem)) out->kinds = ARTIFACT_GSYM;
    else if (cut_ending(file, ".sym", &stem)) out->kinds = ARTIFACT_BREAKPAD;
    return set_split_id(out, p->text[1], file, stem);
}

/* perf's cache: .build-id/ab/cdef/elf */
static bool parse_perf_tree(const struct path_parts *p, struct tree_query *out) {
    if (strcmp(p->text[3], "elf") == 0) out->kinds = ARTIFACT_EXECUTABLE;
    else if (strcmp(p->text[3], "debug") == 0) out->kinds = ARTIFACT_DEBUGINFO;
    return out->kinds && set_split_id(out, p->text[1], p->text[2], strlen(p->text[2]));
}

/* LLDB: 3322/1100/5544/7766/8899/AABBCCDDEEFF[.app] */
static bool parse_lldb_tree(const struct path_parts *p, struct tree_query *out) {
    char whole[MAX_PARTS * NAME_SIZE] = "";
    for (size_t i = 0; i < 6; i++) strcat(whole, p->text[i]);
    size_t stem = strlen(whole);
    out->kinds = cut_ending(whole, ".app", &stem) ? ARTIFACT_EXECUTABLE : ARTIFACT_DEBUGINFO;
    return stem == 32 && build_id_canonical(whole, stem, out->build_id);
}

static bool prefixed_id(const char *text, const char *prefix, struct tree_query *out) {
    size_t size = strlen(prefix);
    return strncasecmp(text, prefix, size) == 0 && build_id_canonical(text + size, strlen(text + size), out->build_id);
}

/* NAME/elf-buildid-ID/NAME and the like. */
static bool parse_ssqp_id(const char *key, struct tree_query *out) {
    if (prefixed_id(key, "elf-buildid-sym-", out) || prefixed_id(key, "mach-uuid-sym-", out)) {
        out->kinds = ARTIFACT_DEBUGINFO;
        out->name[0] = 0; /* "_.debug" */
        return true;
    }
    out->kinds = ARTIFACT_EXECUTABLE;
    return prefixed_id(key, "elf-buildid-", out) || prefixed_id(key, "mach-uuid-", out);
}

static bool parse_code_id(const char *key, struct tree_query *out) {
    size_t size = strlen(key);
    if (size < 9 || size > 16 || strspn(key, "0123456789abcdefABCDEF") != size) return false;
    for (size_t i = 0; i <= size; i++) out->code_id[i] = (char)tolower((unsigned char)key[i]);
    out->kinds = ARTIFACT_EXECUTABLE;
    return true;
}

/* NAME/ID/FILE: Breakpad and symbol servers. `p` begins at NAME. */
static bool parse_named(const char (*p)[NAME_SIZE], struct tree_query *out) {
    size_t stem;
    snprintf(out->name, sizeof(out->name), "%s", p[0]);
    if (parse_ssqp_id(p[1], out)) return true;
    out->kinds = 0;
    if (parse_code_id(p[1], out)) return true;
    if (!debug_id_canonical(p[1], out->debug_id)) return false;
    if (cut_ending(p[2], ".sym", &stem)) out->kinds = ARTIFACT_BREAKPAD;
    else if (cut_ending(p[2], ".gsym", &stem)) out->kinds = ARTIFACT_GSYM;
    else if (cut_ending(p[2], ".pdb", &stem)) out->kinds = ARTIFACT_PDB;
    else if (strcasecmp(p[0], p[2]) == 0) out->kinds = ARTIFACT_EXECUTABLE;
    return out->kinds != 0;
}

static bool parse_three(const struct path_parts *p, struct tree_query *out) {
    if (strcmp(p->text[0], ".build-id") == 0) return parse_build_id_tree(p, out);
    if (strcmp(p->text[0], "buildid") == 0)
        return build_id_canonical(p->text[1], strlen(p->text[1]), out->build_id) && part_kind(p->text[2], out);
    if (strlen(p->text[0]) == 2 && part_kind(p->text[2], out)) return set_split_id(out, p->text[0], p->text[1], strlen(p->text[1]));
    return parse_named(p->text, out);
}

bool tree_query_parse(const char *path, struct tree_query *out) {
    struct path_parts parts;
    *out = (struct tree_query){ .kinds = 0 };
    if (!split_path(path, &parts)) return false;
    if (parts.count == 3) return parse_three(&parts, out);
    if (parts.count == 4 && strcmp(parts.text[0], ".build-id") == 0) return parse_perf_tree(&parts, out);
    if (parts.count == 4 && strncasecmp(parts.text[0], parts.text[1], strlen(parts.text[0])) == 0) /* li/libshop.so/ID/libshop.so */
        return parse_named(parts.text + 1, out);
    if (parts.count == 6) return parse_lldb_tree(&parts, out);
    size_t stem;
    if (parts.count == 1 && cut_ending(parts.text[0], ".gsym", &stem)) { /* NAME.gsym */
        snprintf(out->name, sizeof(out->name), "%.*s", (int)stem, parts.text[0]);
        out->kinds = ARTIFACT_GSYM;
        return true;
    }
    return false;
}

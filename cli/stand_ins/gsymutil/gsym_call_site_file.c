/* Call sites from YAML. */
#define _GNU_SOURCE
#include "stand_ins/gsymutil/gsym_call_site_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

#ifdef CALLSIGN_HAVE_LIBYAML
#include <yaml.h>

struct yaml_file {
    const char *path;
    char *bytes;
    size_t size;
    yaml_document_t document;
    struct gsym_build *build;
    char *why;               /* NULL: good so far */
};

/* ---- messages ---- */

static char *format_why(const char *format, const char *text) {
    char *made = NULL;
    return asprintf(&made, format, text) < 0 ? copy_text("out of memory", 13) : made;
}

/* FILE:LINE:COLUMN: error: TEXT, the line, and a mark below it. */
static void refuse(struct yaml_file *f, yaml_mark_t mark, size_t width, const char *format, const char *word) {
    const char *line = f->bytes;
    if (f->why) return;
    for (size_t i = 0; i < mark.line; i++) {
        const char *end = memchr(line, '\n', (size_t)(f->bytes + f->size - line));
        if (!end) break;
        line = end + 1;
    }
    const char *end = memchr(line, '\n', (size_t)(f->bytes + f->size - line));
    fprintf(stderr, "%s:%zu:%zu: error: ", f->path, mark.line + 1, mark.column + 1);
    fputs(format, stderr);
    if (word) fprintf(stderr, " '%s'", word);
    fprintf(stderr, "\n%.*s\n%*s^", (int)((end ? end : f->bytes + f->size) - line), line, (int)mark.column, "");
    for (size_t i = 1; i < width; i++) fputc('~', stderr);
    fputc('\n', stderr);
    f->why = format_why("Error parsing YAML file: %s\n", f->path);
}

static void refuse_node(struct yaml_file *f, const yaml_node_t *node, const char *format, const char *word) {
    const bool is_word = node->type == YAML_SCALAR_NODE && node->start_mark.line == node->end_mark.line;
    refuse(f, node->start_mark, is_word ? node->end_mark.column - node->start_mark.column : 1, format, word);
}

/* ---- nodes ---- */

static yaml_node_t *node_at(struct yaml_file *f, int idx) { return yaml_document_get_node(&f->document, idx); }

static const char *text_of(struct yaml_file *f, yaml_node_t *node) {
    if (node->type == YAML_SCALAR_NODE) return (const char *)node->data.scalar.value;
    refuse_node(f, node, "unexpected non-scalar value", NULL);
    return "";
}

static yaml_node_t *find_key(struct yaml_file *f, yaml_node_t *map, const char *key) {
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
        if (strcmp(text_of(f, node_at(f, p->key)), key) == 0) return node_at(f, p->value);
    return NULL;
}

static yaml_node_t *need_key(struct yaml_file *f, yaml_node_t *map, const char *key) {
    yaml_node_t *found = f->why ? NULL : find_key(f, map, key);
    if (!found) refuse(f, map->start_mark, 1, "missing required key", key);
    return found;
}

static bool is_map(struct yaml_file *f, yaml_node_t *node) {
    if (node->type != YAML_MAPPING_NODE) refuse_node(f, node, "not a mapping", NULL);
    return !f->why;
}

/* Nothing, or a word for it, is an empty list. */
static bool is_null(const yaml_node_t *node) {
    static const char *const words[] = { "", "null", "Null", "NULL", "~" };
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp((const char *)node->data.scalar.value, words[i]) == 0) return true;
    return false;
}

static bool is_list(struct yaml_file *f, yaml_node_t *node) {
    if (node->type != YAML_SEQUENCE_NODE && !is_null(node)) refuse_node(f, node, "not a sequence", NULL);
    return !f->why;
}

/* The elements of a list, or NULL. */
static yaml_node_item_t *first_item(const yaml_node_t *list) {
    return list && list->type == YAML_SEQUENCE_NODE ? list->data.sequence.items.start : NULL;
}

static yaml_node_item_t *end_item(const yaml_node_t *list) {
    return list && list->type == YAML_SEQUENCE_NODE ? list->data.sequence.items.top : NULL;
}

static void check_keys(struct yaml_file *f, yaml_node_t *map, const char *const *known) {
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && !f->why; p++) {
        yaml_node_t *node = node_at(f, p->key);
        const char *key = text_of(f, node);
        bool found = false;
        for (const char *const *k = known; *k; k++) found |= strcmp(*k, key) == 0;
        for (yaml_node_pair_t *q = map->data.mapping.pairs.start; q < p; q++)
            if (strcmp(text_of(f, node_at(f, q->key)), key) == 0) refuse_node(f, node, "duplicated mapping key", key);
        if (!found) refuse_node(f, node, "unknown key", key);
    }
}

/* ---- functions ---- */

struct site {
    uint64_t offset;
    yaml_node_t *patterns, *flags; /* flags may be NULL */
};

static struct site read_site(struct yaml_file *f, yaml_node_t *node) {
    static const char *const known[] = { "return_offset", "match_regex", "flags", NULL };
    struct site site = { 0 };
    if (!is_map(f, node)) return site;
    yaml_node_t *offset = need_key(f, node, "return_offset");
    if (offset) {
        char *end;
        const char *text = text_of(f, offset);
        errno = 0;
        site.offset = strtoull(text, &end, 0);
        if (!*text || *end || errno || *text == '-') refuse_node(f, offset, "invalid hex64 number", NULL);
    }
    site.patterns = need_key(f, node, "match_regex");
    if (site.patterns) (void)is_list(f, site.patterns);
    site.flags = f->why ? NULL : find_key(f, node, "flags");
    if (site.flags) (void)is_list(f, site.flags);
    check_keys(f, node, known);
    return site;
}

/* The first function with the name, merged ones included. */
static struct gsym_function *find_function(struct gsym_build *build, const char *name) {
    struct gsym_function *found = NULL;
    for (size_t i = 0; i < build->functions.count; i++) {
        struct gsym_function *f = &build->functions.items[i];
        if (strcmp(gsym_build_text(build, f->name), name) == 0 && (!found || f->order < found->order)) found = f;
        for (size_t k = 0; k < f->merged_count && !found; k++)
            if (strcmp(gsym_build_text(build, f->merged[k].name), name) == 0) found = &f->merged[k];
    }
    return found;
}

static void add_site(struct yaml_file *f, struct gsym_function *to, const struct site *site) {
    struct gsym_call call = { site->offset, 0, (uint32_t)to->patterns.count, 0 };
    for (yaml_node_item_t *p = first_item(site->patterns); p < end_item(site->patterns); p++) {
        const char *text = text_of(f, node_at(f, *p));
        GROW_PUSH(&to->patterns, gsym_build_string(f->build, (struct csn_str){ text, strlen(text) }));
        call.pattern_count++;
    }
    for (yaml_node_item_t *p = first_item(site->flags); p < end_item(site->flags); p++) {
        const char *text = text_of(f, node_at(f, *p));
        if (strcmp(text, "InternalCall") == 0) call.flags |= 1;
        else if (strcmp(text, "ExternalCall") == 0) call.flags |= 2;
        else if (!f->why) f->why = format_why("Unknown flag in callsite YAML: %s\n", text);
    }
    GROW_PUSH(&to->calls, call);
    to->has_calls = true;
}

/* Everything is read before anything is added, as LLVM does: damage counts before names. */
static void read_function(struct yaml_file *f, yaml_node_t *node, bool adds) {
    static const char *const known[] = { "name", "callsites", NULL };
    if (!is_map(f, node)) return;
    yaml_node_t *name = need_key(f, node, "name"), *sites = f->why ? NULL : find_key(f, node, "callsites");
    if (sites && !is_list(f, sites)) return;
    struct gsym_function *to = NULL;
    if (name && adds && !(to = find_function(f->build, text_of(f, name)))) {
        f->why = format_why("Can't find function '%s' specified in callsite YAML\n", text_of(f, name));
        return;
    }
    for (yaml_node_item_t *p = first_item(sites); p < end_item(sites) && !f->why; p++) {
        const struct site site = read_site(f, node_at(f, *p));
        if (adds && !f->why) add_site(f, to, &site);
    }
    check_keys(f, node, known);
    if (to) to->has_calls = true; /* also without call sites, as LLVM */
}

static void read_document(struct yaml_file *f) {
    static const char *const known[] = { "functions", NULL };
    yaml_node_t *root = yaml_document_get_root_node(&f->document);
    if (!root) f->why = format_why("Error parsing YAML file: %s\n", f->path);
    if (!root || !is_map(f, root)) return;
    yaml_node_t *list = need_key(f, root, "functions");
    if (!list || !is_list(f, list)) return;
    for (int adds = 0; adds < 2; adds++) {
        for (yaml_node_item_t *p = first_item(list); p < end_item(list) && !f->why; p++)
            read_function(f, node_at(f, *p), adds);
        check_keys(f, root, known);
    }
}

static bool read_bytes(struct yaml_file *f) {
    FILE *file = fopen(f->path, "rb");
    size_t capacity = 0, got = 1;
    while (file && got) {
        f->bytes = grow_items(f->bytes, f->size + 65536, &capacity, 1);
        got = fread(f->bytes + f->size, 1, 65536, file);
        f->size += got;
    }
    const bool good = file && !ferror(file);
    if (!good) f->why = format_why("%s", strerror(errno));
    if (file) fclose(file);
    return good;
}

char *gsym_add_call_sites(struct gsym_build *build, const char *path) {
    struct yaml_file f = { .path = path, .build = build };
    yaml_parser_t parser;
    if (read_bytes(&f) && yaml_parser_initialize(&parser)) {
        yaml_parser_set_input_string(&parser, (const unsigned char *)f.bytes, f.size);
        if (yaml_parser_load(&parser, &f.document)) {
            read_document(&f);
            yaml_document_delete(&f.document);
        } else {
            refuse(&f, parser.problem_mark, 1, parser.problem ? parser.problem : "not YAML", NULL);
        }
        yaml_parser_delete(&parser);
    }
    free(f.bytes);
    return f.why;
}

#else

char *gsym_add_call_sites(struct gsym_build *build, const char *path) {
    (void)build;
    char *why = NULL;
    return asprintf(&why, "%s: call-site files need libyaml, which this build does not have", path) < 0
               ? copy_text("out of memory", 13)
               : why;
}

#endif

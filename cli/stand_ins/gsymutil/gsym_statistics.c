/* Tables, and functions by what they consist of. The words and their order are those of LLVM's published tests. */
#include "stand_ins/gsymutil/gsym_statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_bytes.h"

enum { HEADER_SIZE = 48, UUID_AT = 28, UUID_MAX = 20, GSYM_VERSION_1 = 1, MERGED_DEPTH_MAX = 64 };
static const uint32_t gsym_magic = 0x4753594d;

/* Types of what a function has. */
enum info_type { INFO_END, INFO_LINES, INFO_INLINED, INFO_MERGED, INFO_CALL_SITES };

static struct gsym_bytes take_part(struct gsym_bytes *b, uint64_t size) {
    struct gsym_bytes part = *b;
    if (size > (uint64_t)(b->end - b->at)) b->bad = true;
    if (b->bad) return (struct gsym_bytes){ b->at, b->at, true, b->big_endian };
    part.end = b->at += size;
    return part;
}

/* Bytes of functions by what they hold, with the type and length that stand before it. */
struct function_sizes {
    uint64_t size_and_name, lines, inlined, call_sites, merged, end, merged_frame;
};

struct gsym_sizes {
    uint64_t file, padding, addresses, offsets, files, strings, functions, address_count;
    struct function_sizes alone, in_merged;
    unsigned char uuid[UUID_MAX];
    unsigned uuid_size;
};

static void count_function(struct gsym_bytes *b, struct function_sizes *to, struct function_sizes *in_merged, unsigned depth);

/* Functions that were folded into one: their number, then each with its size before it. */
static void count_merged(struct gsym_bytes b, struct function_sizes *in_merged, unsigned depth) {
    in_merged->merged_frame += 12; /* type, length, number */
    for (uint64_t left = gsym_take_number(&b, 4); left && !b.bad; left--) {
        struct gsym_bytes function = take_part(&b, gsym_take_number(&b, 4));
        in_merged->merged_frame += 4;
        if (!function.bad) count_function(&function, in_merged, in_merged, depth + 1);
    }
}

static void count_function(struct gsym_bytes *b, struct function_sizes *to, struct function_sizes *in_merged,
                           unsigned depth) {
    take_part(b, 8);
    to->size_and_name += 8;
    while (!b->bad && depth < MERGED_DEPTH_MAX) {
        const uint64_t type = gsym_take_number(b, 4), length = gsym_take_number(b, 4), size = length + 8;
        const struct gsym_bytes content = take_part(b, length);
        if (b->bad) return;
        switch (type) {
        case INFO_END: to->end += size; return;
        case INFO_LINES: to->lines += size; break;
        case INFO_INLINED: to->inlined += size; break;
        case INFO_CALL_SITES: to->call_sites += size; break;
        case INFO_MERGED:
            to->merged += size;
            count_merged(content, in_merged, depth);
            break;
        default: break;
        }
    }
}

/* NULL, or why not. */
static const char *count_sizes(struct gsym_bytes file, struct gsym_sizes *s) {
    struct gsym_bytes b = file;
    uint64_t first = UINT64_MAX;
    s->file = (uint64_t)(file.end - file.at);
    if (s->file < HEADER_SIZE) return "not enough data for a GSYM header";
    if (gsym_take_number(&b, 4) != gsym_magic) {
        file.big_endian = b.big_endian = true;
        b.at = file.at;
        if (gsym_take_number(&b, 4) != gsym_magic) return "not a GSYM file";
    }
    if (gsym_take_number(&b, 2) != GSYM_VERSION_1) return "unsupported GSYM version";
    const unsigned offset_size = (unsigned)gsym_take_number(&b, 1);
    s->uuid_size = (unsigned)gsym_take_number(&b, 1);
    take_part(&b, 8);
    s->address_count = gsym_take_number(&b, 4);
    const uint64_t strings_at = gsym_take_number(&b, 4);
    s->strings = gsym_take_number(&b, 4);
    if (s->uuid_size > UUID_MAX || !offset_size || offset_size > 8) return "invalid GSYM header";
    memcpy(s->uuid, file.at + UUID_AT, s->uuid_size);
    b.at = file.at + HEADER_SIZE;
    s->addresses = s->address_count * offset_size;
    take_part(&b, s->addresses);
    take_part(&b, -(uint64_t)(b.at - file.at) & 3);
    s->offsets = s->address_count * 4;
    struct gsym_bytes offsets = take_part(&b, s->offsets);
    s->files = 4 + 8 * gsym_take_number(&b, 4);
    take_part(&b, s->files - 4);
    if (b.bad || strings_at > s->file || s->strings > s->file - strings_at) return "failed to read tables";
    for (uint64_t i = 0; i < s->address_count; i++) {
        const uint64_t at = gsym_take_number(&offsets, 4);
        if (at > s->file) return "failed to read address info offsets table";
        struct gsym_bytes function = { file.at + at, file.end, false, file.big_endian };
        count_function(&function, &s->alone, &s->in_merged, 0);
        if (function.bad) return "failed to decode a function";
        if (at < first) first = at;
    }
    s->functions = s->address_count ? s->file - first : 0;
    const uint64_t known = HEADER_SIZE + s->addresses + s->offsets + s->files + s->strings + s->functions;
    s->padding = s->file > known ? s->file - known : 0;
    return NULL;
}

/* ---- printing ---- */

struct statistics_text {
    enum gsym_statistics_format format;
    int depth;
    bool has_item;           /* in the innermost block */
};

/* What comes before a value: its name, and what divides it from the value before. */
static void put_key(struct statistics_text *t, const char *key) {
    const bool is_json = t->format != GSYM_STATISTICS_TEXT, is_dense = t->format == GSYM_STATISTICS_JSON;
    if (is_json && t->has_item) putchar(',');
    if (is_json && !is_dense) putchar('\n');
    if (!is_dense) printf("%*s", 2 * t->depth, "");
    printf(is_dense ? "\"%s\":" : is_json ? "\"%s\": " : "%s", key);
    t->has_item = true;
}

static void put_count(struct statistics_text *t, const char *key, uint64_t count) {
    const bool is_text = t->format == GSYM_STATISTICS_TEXT;
    put_key(t, key);
    printf(is_text ? ": %" PRIu64 "\n" : "%" PRIu64, count);
}

static void put_string(struct statistics_text *t, const char *key, const char *text) {
    put_key(t, key);
    if (t->format == GSYM_STATISTICS_TEXT) {
        printf(": %s\n", text);
        return;
    }
    putchar('"');
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\') printf("\\%c", *p);
        else if ((unsigned char)*p < 0x20) printf("\\u%04x", *p);
        else putchar(*p);
    }
    putchar('"');
}

static void begin_block(struct statistics_text *t, const char *key) {
    if (key) put_key(t, key);
    if (t->format == GSYM_STATISTICS_TEXT) puts(" {");
    else putchar('{');
    t->depth++;
    t->has_item = false;
}

static void end_block(struct statistics_text *t) {
    t->depth--;
    if (t->format == GSYM_STATISTICS_PRETTY_JSON) putchar('\n');
    if (t->format != GSYM_STATISTICS_JSON) printf("%*s", 2 * t->depth, "");
    putchar('}');
    if (t->format == GSYM_STATISTICS_TEXT) putchar('\n');
    t->has_item = true;
}

static void put_uuid(struct statistics_text *t, const struct gsym_sizes *s) {
    char text[3 * UUID_MAX + 1] = "";
    for (unsigned i = 0; i < s->uuid_size; i++)
        sprintf(text + strlen(text), "%s%02X", i == 4 || i == 6 || i == 8 || i == 10 || i == 16 ? "-" : "", s->uuid[i]);
    put_string(t, "uuid", text);
}

static void put_functions(struct statistics_text *t, const struct gsym_sizes *s) {
    const struct function_sizes *a = &s->alone, *m = &s->in_merged;
    const uint64_t known = a->size_and_name + a->lines + a->inlined + a->call_sites + a->merged + a->end;
    begin_block(t, "function_info_type_sizes");
    put_count(t, "size_and_name", a->size_and_name);
    put_count(t, "line_table_info", a->lines);
    put_count(t, "inline_info", a->inlined);
    put_count(t, "call_site_info", a->call_sites);
    put_count(t, "merged_func_info", a->merged);
    put_count(t, "end_of_list", a->end);
    put_count(t, "padding", s->functions > known ? s->functions - known : 0);
    begin_block(t, "merged_func_info_type_sizes");
    put_count(t, "infotype_infolength_count_and_fnsize", m->merged_frame);
    put_count(t, "size_and_name", m->size_and_name);
    put_count(t, "line_table_info", m->lines);
    put_count(t, "inline_info", m->inlined);
    put_count(t, "call_site_info", m->call_sites);
    put_count(t, "merged_func_info", m->merged);
    put_count(t, "end_of_list", m->end);
    end_block(t);
    end_block(t);
}

static void put_sizes(const char *path, enum gsym_statistics_format format, const struct gsym_sizes *s) {
    struct statistics_text t = { .format = format };
    if (format != GSYM_STATISTICS_TEXT) begin_block(&t, NULL);
    put_string(&t, "path", path);
    put_uuid(&t, s);
    put_count(&t, "num_addresses", s->address_count);
    begin_block(&t, "byte-sizes");
    put_count(&t, "file_size", s->file);
    put_count(&t, "header", HEADER_SIZE);
    put_count(&t, "padding", s->padding);
    put_count(&t, "address_table", s->addresses);
    put_count(&t, "addr_info_offsets", s->offsets);
    put_count(&t, "file_table", s->files);
    put_count(&t, "string_table", s->strings);
    put_count(&t, "function_info_data", s->functions);
    put_functions(&t, s);
    end_block(&t);
    if (format == GSYM_STATISTICS_TEXT) return;
    end_block(&t);
    putchar('\n');
}

const char *gsym_print_statistics(const char *path, enum gsym_statistics_format format) {
    struct { unsigned char *items; size_t count, capacity; } data = { 0 };
    struct gsym_sizes sizes = { 0 };
    unsigned char block[1 << 16];
    FILE *in = fopen(path, "rb");
    if (!in) return "No such file or directory";
    for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;) {
        data.items = grow_items(data.items, data.count + got, &data.capacity, 1);
        memcpy(data.items + data.count, block, got);
        data.count += got;
    }
    fclose(in);
    const char *why = data.count ? count_sizes((struct gsym_bytes){ data.items, data.items + data.count, false, false }, &sizes)
                                 : "not enough data for a GSYM header";
    if (!why) put_sizes(path, format, &sizes);
    free(data.items);
    return why;
}

/* Bytes of a GSYM file. */
#define _GNU_SOURCE
#include "stand_ins/gsymutil/gsym_encode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "ui/out_buffer.h"
#include "ui/output_file.h"

struct bytes {
    unsigned char *items;
    size_t count, capacity;
    bool big;
};

static void put_uint(struct bytes *b, uint64_t value, unsigned size) {
    b->items = grow_items(b->items, b->count + size, &b->capacity, 1);
    for (unsigned i = 0; i < size; i++) b->items[b->count++] = (unsigned char)(value >> 8 * (b->big ? size - 1 - i : i));
}

static void set_u32(struct bytes *b, size_t at, size_t value) {
    for (unsigned i = 0; i < 4; i++) b->items[at + i] = (unsigned char)(value >> 8 * (b->big ? 3 - i : i));
}

static void put_uleb(struct bytes *b, uint64_t value) {
    do {
        put_uint(b, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
        value >>= 7;
    } while (value);
}

static void put_sleb(struct bytes *b, int64_t value) {
    for (bool more = true; more;) {
        unsigned char low = value & 0x7f;
        value >>= 7;
        more = !((value == 0 && !(low & 0x40)) || (value == -1 && (low & 0x40)));
        put_uint(b, low | (more ? 0x80 : 0), 1);
    }
}

static void align_to(struct bytes *b, size_t alignment) {
    while (b->count % alignment) put_uint(b, 0, 1);
}

/* ---- rows ---- */

static int by_number(const void *pa, const void *pb) {
    const int64_t *a = pa, *b = pb;
    return *a < *b ? -1 : *a > *b;
}

/* The range of line steps that one byte can hold for most rows: a window of 15 where there are more. */
static void choose_deltas(const struct gsym_rows *rows, int64_t *min, int64_t *max) {
    enum { MAX_RANGE = 14 };
    const size_t count = rows->count - 1;
    *min = *max = 0;
    if (!count) return;
    int64_t *deltas = zeroed_memory(count, sizeof *deltas);
    for (size_t i = 0; i < count; i++) deltas[i] = (int64_t)rows->items[i + 1].line - rows->items[i].line;
    qsort(deltas, count, sizeof *deltas, by_number);
    *min = deltas[0];
    *max = deltas[count - 1];
    if (*max - *min > MAX_RANGE) {
        size_t best = 0;
        for (size_t i = 0, k = 0; i < count; i++) {
            if (i && deltas[i] == deltas[i - 1]) continue;
            while (k < count && deltas[k] <= deltas[i] + MAX_RANGE) k++;
            if (k - i <= best) continue;
            best = k - i;
            *min = deltas[i];
            *max = deltas[k - 1];
        }
    }
    if (*min == *max && *min > 0 && *min < MAX_RANGE) *min = 0;
    free(deltas);
}

static void put_rows(struct bytes *b, const struct gsym_function *f) {
    enum { END = 0, SET_FILE = 1, ADVANCE_PC = 2, ADVANCE_LINE = 3, FIRST_SPECIAL = 4 };
    int64_t min, max;
    choose_deltas(&f->rows, &min, &max);
    put_sleb(b, min);
    put_sleb(b, max);
    put_uleb(b, f->rows.items[0].line);
    struct gsym_row last = { f->start, 1, f->rows.items[0].line };
    for (size_t i = 0; i < f->rows.count; i++) {
        const struct gsym_row *row = &f->rows.items[i];
        if (row->file != last.file) {
            put_uint(b, SET_FILE, 1);
            put_uleb(b, row->file);
        }
        const uint64_t step = row->addr - last.addr, range = (uint64_t)(max - min + 1);
        const int64_t lines = (int64_t)row->line - last.line;
        if (lines >= min && lines <= max && step <= 255 && (uint64_t)(lines - min) + range * step + FIRST_SPECIAL <= 255) {
            put_uint(b, (uint64_t)(lines - min) + range * step + FIRST_SPECIAL, 1);
        } else {
            if (lines) {
                put_uint(b, ADVANCE_LINE, 1);
                put_sleb(b, lines);
            }
            put_uint(b, ADVANCE_PC, 1);
            put_uleb(b, step);
        }
        last = *row;
    }
    put_uint(b, END, 1);
}

/* ---- inlined calls ---- */

static void put_nodes(struct bytes *b, const struct gsym_function *f) {
    uint64_t *bases = zeroed_memory(f->nodes.count + 1, sizeof *bases); /* by depth: where the ranges of that depth count from */
    bases[0] = f->start;
    for (size_t i = 0; i < f->nodes.count; i++) {
        const struct gsym_node *node = &f->nodes.items[i];
        const struct csn_range *ranges = f->ranges.items + node->first_range;
        const uint32_t next_depth = i + 1 < f->nodes.count ? f->nodes.items[i + 1].depth : 0;
        put_uleb(b, node->range_count);
        for (uint32_t k = 0; k < node->range_count; k++) {
            put_uleb(b, ranges[k].start - bases[node->depth]);
            put_uleb(b, ranges[k].end - ranges[k].start);
        }
        put_uint(b, next_depth > node->depth, 1);
        put_uint(b, node->name, 4);
        put_uleb(b, node->call_file);
        put_uleb(b, node->call_line);
        bases[node->depth + 1] = ranges[0].start;
        for (uint32_t depth = node->depth; depth > next_depth; depth--) put_uint(b, 0, 1); /* ends a list of children */
    }
    free(bases);
}

/* ---- records ---- */

static size_t begin_part(struct bytes *b, uint32_t type) {
    put_uint(b, type, 4);
    put_uint(b, 0, 4);
    return b->count;
}

static void end_part(struct bytes *b, size_t begin) { set_u32(b, begin - 4, b->count - begin); }

static void put_calls(struct bytes *b, const struct gsym_function *f) {
    put_uint(b, f->calls.count, 4);
    for (size_t i = 0; i < f->calls.count; i++) {
        const struct gsym_call *call = &f->calls.items[i];
        put_uint(b, call->return_offset, 8);
        put_uint(b, call->flags, 1);
        put_uint(b, call->pattern_count, 4);
        for (uint32_t k = 0; k < call->pattern_count; k++) put_uint(b, f->patterns.items[call->first_pattern + k], 4);
    }
}

static void put_record(struct bytes *b, const struct gsym_function *f, bool whole) {
    enum { LINES = 1, INLINES = 2, MERGED = 3, CALL_SITES = 4 };
    put_uint(b, f->end - f->start, 4);
    put_uint(b, f->name, 4);
    if (f->rows.count) {
        const size_t begin = begin_part(b, LINES);
        put_rows(b, f);
        end_part(b, begin);
    }
    if (f->nodes.count) {
        const size_t begin = begin_part(b, INLINES);
        put_nodes(b, f);
        end_part(b, begin);
    }
    if (whole && f->merged_count) {
        const size_t begin = begin_part(b, MERGED);
        put_uint(b, f->merged_count, 4);
        for (size_t i = 0; i < f->merged_count; i++) {
            put_uint(b, 0, 4);
            const size_t at = b->count;
            put_record(b, &f->merged[i], true);
            set_u32(b, at - 4, b->count - at);
        }
        end_part(b, begin);
    }
    if (whole && f->has_calls) {
        const size_t begin = begin_part(b, CALL_SITES);
        put_calls(b, f);
        end_part(b, begin);
    }
    put_uint(b, 0, 8);
}

/* ---- files ---- */

static char *failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *failure(const char *format, ...) {
    va_list list;
    char *text = NULL;
    va_start(list, format);
    if (vasprintf(&text, format, list) < 0) text = NULL;
    va_end(list);
    return text ? text : copy_text("out of memory", 13);
}

static char *check_build(const struct gsym_build *build, const struct gsym_function *functions, size_t count, uint64_t base) {
    (void)functions;
    (void)base;
    if (!count) return failure("no functions to encode");
    if (build->uuid_size > 20) return failure("invalid UUID size %u", (unsigned)build->uuid_size);
    if (build->strings.count > UINT32_MAX) return failure("string table size exceeded 32-bit max");
    return NULL;
}

static unsigned address_size(uint64_t last) { return last <= 0xff ? 1 : last <= 0xffff ? 2 : last <= UINT32_MAX ? 4 : 8; }

static uint64_t base_of(const struct gsym_build *build, const struct gsym_function *first) {
    return build->has_base ? build->base : first->start;
}

static void put_tables(struct bytes *b, const struct gsym_build *build, const struct gsym_function *functions, size_t count) {
    const uint64_t base = base_of(build, functions);
    const unsigned size = address_size(functions[count - 1].start - base);
    put_uint(b, 0x4753594d, 4);
    put_uint(b, 1, 2);
    put_uint(b, size, 1);
    put_uint(b, build->uuid_size, 1);
    put_uint(b, base, 8);
    put_uint(b, count, 4);
    put_uint(b, 0, 8); /* where the strings are */
    for (size_t i = 0; i < 20; i++) put_uint(b, i < build->uuid_size ? build->uuid[i] : 0, 1);
    for (size_t i = 0; i < count; i++) put_uint(b, functions[i].start - base, size);
    align_to(b, 4);
}

/* llvm-gsymutil writes into the file that is there; here it stays as it was until the new one is whole. A symbolic link stays, what it
 * leads to is written. */
static char *write_file(const struct bytes *b, const char *path) {
    static struct out_buffer out;
    struct output_file file;
    if (strcmp(path, "-") == 0) {
        fwrite(b->items, 1, b->count, stdout);
        return NULL;
    }
    int fault = output_file_open(&file, path);
    if (!fault) {
        out_init(&out, file.fd);
        out_bytes(&out, b->items, b->count);
        out_flush(&out);
        fault = output_file_finish(&file, out.os_error);
    }
    return fault ? failure("%s", strerror(fault)) : NULL;
}

/* `whole`: with merged functions and call sites, which segments lose. */
static char *write_functions(const struct gsym_build *build, const struct gsym_function *functions, size_t count,
                             bool whole, const char *path) {
    struct bytes b = { .big = build->big_endian };
    char *why = check_build(build, functions, count, build->base);
    if (why) return why;
    put_tables(&b, build, functions, count);
    const size_t offsets = b.count;
    for (size_t i = 0; i < count; i++) put_uint(&b, 0, 4);
    put_uint(&b, build->files.count, 4);
    for (size_t i = 0; i < build->files.count; i++) {
        put_uint(&b, build->files.items[i].directory, 4);
        put_uint(&b, build->files.items[i].base, 4);
    }
    set_u32(&b, 20, b.count);
    set_u32(&b, 24, build->strings.count);
    b.items = grow_items(b.items, b.count + build->strings.count, &b.capacity, 1);
    memcpy(b.items + b.count, build->strings.items, build->strings.count);
    b.count += build->strings.count;
    for (size_t i = 0; i < count; i++) {
        align_to(&b, 4);
        set_u32(&b, offsets + 4 * i, b.count);
        put_record(&b, &functions[i], whole);
    }
    if (b.count > UINT32_MAX) why = failure("address info offset exceeded 32-bit max");
    if (!why) why = write_file(&b, path);
    free(b.items);
    return why;
}

/* ---- segments ---- */

static uint32_t copy_string(const struct gsym_build *from, struct gsym_build *to, uint32_t string) {
    const char *text = gsym_build_text(from, string);
    return gsym_build_string(to, (struct csn_str){ text, strlen(text) });
}

static uint32_t copy_file(const struct gsym_build *from, struct gsym_build *to, uint32_t file) {
    if (!file) return 0;
    const uint32_t directory = copy_string(from, to, from->files.items[file].directory);
    return gsym_build_file_parts(to, directory, copy_string(from, to, from->files.items[file].base));
}

static void copy_function(const struct gsym_build *from, struct gsym_build *to, const struct gsym_function *f) {
    struct gsym_function made = { .start = f->start, .end = f->end, .name = copy_string(from, to, f->name) };
    for (size_t i = 0; i < f->rows.count; i++) {
        struct gsym_row row = f->rows.items[i];
        row.file = copy_file(from, to, row.file);
        GROW_PUSH(&made.rows, row);
    }
    for (size_t i = 0; i < f->nodes.count; i++) {
        struct gsym_node node = f->nodes.items[i];
        node.name = copy_string(from, to, node.name);
        node.call_file = copy_file(from, to, node.call_file);
        GROW_PUSH(&made.nodes, node);
    }
    for (size_t i = 0; i < f->ranges.count; i++) GROW_PUSH(&made.ranges, f->ranges.items[i]);
    gsym_build_add(to, &made);
}

static size_t size_without_records(const struct gsym_build *build) {
    const size_t count = build->functions.count;
    if (!count) return 0;
    const uint64_t base = base_of(build, build->functions.items);
    const unsigned size = address_size(build->functions.items[count - 1].start - base);
    return 48 + count * (size + 4) + build->files.count * 8 + build->strings.count;
}

/* One segment beginning with function *next, of which the one after the last is then the next. */
static char *write_segment(struct gsym_build *build, size_t *next, const char *path, uint64_t segment_size) {
    struct gsym_build part;
    struct bytes record = { .big = build->big_endian };
    char *out = NULL, *why = NULL;
    size_t records = 0;
    gsym_build_init(&part, build->report, build->is_quiet);
    part.has_base = build->has_base;
    part.base = build->base;
    part.big_endian = build->big_endian;
    part.uuid_size = build->uuid_size;
    memcpy(part.uuid, build->uuid, sizeof part.uuid);
    const size_t first = *next;
    for (; *next < build->functions.count && !why; (*next)++) {
        const size_t empty = 48 + 8 + 1;
        if ((part.functions.count ? size_without_records(&part) : empty) + records >= segment_size) {
            if (!part.functions.count)
                why = failure("a segment size of %" PRIu64
                              " is to small to fit any function infos, specify a larger value",
                              segment_size);
            break;
        }
        copy_function(build, &part, &build->functions.items[*next]);
        record.count = 0;
        put_record(&record, &part.functions.items[part.functions.count - 1], false);
        records += (record.count + 3) & ~(size_t)3;
    }
    if (!why && asprintf(&out, "%s-0x%" PRIx64, path, build->functions.items[first].start) < 0) out = NULL;
    if (!why) why = write_functions(&part, part.functions.items, part.functions.count, false, out);
    free(out);
    free(record.items);
    gsym_build_deinit(&part);
    return why;
}

char *gsym_save(struct gsym_build *build, const char *path, uint64_t segment_size) {
    char *why = NULL;
    if (!segment_size) return write_functions(build, build->functions.items, build->functions.count, true, path);
    for (size_t next = 0; next < build->functions.count && !why;) why = write_segment(build, &next, path, segment_size);
    return why;
}

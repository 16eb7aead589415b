/* Frames of an address of a GSYM file as text. */
#define _GNU_SOURCE
#include "stand_ins/gsymutil/gsym_lookup.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "ui/index_row.h"

/* ---- places ---- */

struct gsym_place gsym_place_of(const struct csn_index *index, uint32_t file, uint32_t line) {
    struct gsym_place p = { { "", 0 }, { "", 0 }, line, false };
    p.is_known = csn_index_file(index, file, &p.directory, &p.base, NULL) == CSN_OK && (p.base.len || p.directory.len);
    return p;
}

void gsym_put_str(struct csn_str s) { fwrite(s.ptr, 1, s.len, stdout); }

/* Between the parts stands a separator even where the directory ends with one: LLVM writes "//x.c". */
char gsym_path_separator(const struct gsym_place *p) {
    const struct csn_str d = p->directory;
    if (!d.len) return 0;
    return memchr(d.ptr, '\\', d.len) && !memchr(d.ptr, '/', d.len) ? '\\' : '/';
}

void gsym_put_path(const struct gsym_place *p) {
    const char separator = gsym_path_separator(p);
    gsym_put_str(p->directory);
    if (separator) fputc(separator, stdout);
    gsym_put_str(p->base);
}

/* ---- one function ---- */

/* *start: that of its first range, which LLVM counts from. */
static bool node_holds(struct csn_inline_node *node, uint64_t addr, uint64_t *start) {
    struct csn_range range;
    bool found = false;
    for (uint32_t k = 0; k < node->range_count; k++) {
        if (csn_inline_node_range(node, k, &range, NULL) != CSN_OK) return false;
        if (!k) *start = range.start;
        found |= addr >= range.start && addr < range.end;
    }
    return found;
}

/* The inlined calls that hold an address, the outermost first; of those side by side, the first. */
static size_t find_inlined(const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                           struct csn_inline_node *nodes, uint64_t *starts) {
    struct csn_inline_iter *iter = zeroed_memory(1, sizeof *iter);
    struct csn_inline_node node;
    size_t count = 0;
    if (csn_inline_iter_init(iter, index, record, NULL) == CSN_OK)
        while (csn_inline_iter_next(iter, &node, NULL) == CSN_OK) {
            uint64_t start = 0;
            if (node.depth && node.depth <= count) break;
            if (!node.depth || node.depth != count + 1 || count == CSN_INLINE_DEPTH_MAX ||
                !node_holds(&node, addr, &start))
                continue;
            nodes[count] = node;
            starts[count++] = start;
        }
    free(iter);
    return count;
}

/* False: the function has rows, but none for the address. */
static bool find_frames_of(const struct csn_index *index, const struct csn_record *record, uint64_t addr, struct gsym_frames *out) {
    struct csn_function function;
    struct csn_row row = { 0 };
    out->count = 0;
    if (csn_record_function(index, record, &function, NULL) != CSN_OK) return false;
    const bool has_row = index_row_at(index, record, addr, &row) && row.file;
    if (function.has_lines && !has_row) return false;
    struct gsym_place place = has_row ? gsym_place_of(index, row.file, row.line) : (struct gsym_place){ 0 };
    struct csn_inline_node *nodes = zeroed_memory(CSN_INLINE_DEPTH_MAX, sizeof *nodes);
    uint64_t *starts = zeroed_memory(CSN_INLINE_DEPTH_MAX, sizeof *starts);
    const size_t count = has_row ? find_inlined(index, record, addr, nodes, starts) : 0;
    for (size_t i = count; i-- > 0;) {
        const struct gsym_place call = gsym_place_of(index, nodes[i].call_file, nodes[i].call_line);
        if (!call.is_known) continue; /* as LLVM: such a call is no frame */
        out->items[out->count++] = (struct gsym_frame){ nodes[i].name, addr - starts[i], place, true };
        place = call;
    }
    out->items[out->count++] = (struct gsym_frame){ function.name, addr - function.start, place, false };
    free(nodes);
    free(starts);
    return true;
}

static void put_frames(const struct gsym_frames *frames, uint64_t addr) {
    printf("0x%016" PRIx64 ": ", addr);
    for (size_t i = 0; i < frames->count; i++) {
        const struct gsym_frame *f = &frames->items[i];
        if (i) printf("\n%20s", "");
        gsym_put_str(f->name);
        if (f->offset) printf(" + %" PRIu64, f->offset);
        if (f->place.is_known) {
            fputs(" @ ", stdout);
            gsym_put_path(&f->place);
            if (!f->place.base.len) fputs("<invalid-file>", stdout);
            printf(":%u", f->place.line);
        }
        if (f->is_inlined) fputs(" [inlined]", stdout);
    }
    fputc('\n', stdout);
}

/* ---- lookups ---- */

/* The first function of the last start at or before the address, of whose likes the first one that holds it answers. */
bool gsym_find_record(const struct csn_index *index, uint64_t addr, struct csn_record *out) {
    struct csn_index_info info;
    struct csn_function f;
    uint64_t start, group;
    csn_index_get_info(index, &info, sizeof info);
    uint32_t low = 0, high = info.function_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (csn_index_function_start(index, middle, &start, NULL) == CSN_OK && start <= addr) low = middle + 1;
        else high = middle;
    }
    if (!low || addr < info.base_address || csn_index_function_start(index, low - 1, &group, NULL) != CSN_OK) return false;
    uint32_t first = low - 1;
    while (first && csn_index_function_start(index, first - 1, &start, NULL) == CSN_OK && start == group) first--;
    for (; first < low; first++) {
        if (csn_index_record(index, first, out, NULL) != CSN_OK || csn_record_function(index, out, &f, NULL) != CSN_OK) continue;
        if (!f.size || addr - f.start < f.size) return true;
    }
    return false;
}

const char *gsym_find_frames(const struct csn_index *index, uint64_t addr, struct gsym_frames *out) {
    struct csn_record record;
    if (!gsym_find_record(index, addr, &record)) return "is not in GSYM";
    return find_frames_of(index, &record, addr, out) ? NULL : "is not in the line table";
}

static void put_miss(uint64_t addr, const char *why) {
    printf("0x%016" PRIx64 ": error: address 0x%" PRIx64 " %s\n", addr, addr, why);
}

void gsym_print_lookup(const struct csn_index *index, uint64_t addr) {
    static struct gsym_frames frames;
    const char *why = gsym_find_frames(index, addr, &frames);
    if (why) put_miss(addr, why);
    else put_frames(&frames, addr);
}

void gsym_print_lookup_verbose(const struct csn_index *index, uint64_t addr) {
    static struct gsym_frames frames;
    struct csn_record record;
    if (!gsym_find_frames(index, addr, &frames) && gsym_find_record(index, addr, &record)) {
        printf("FunctionInfo for 0x%016" PRIx64 ":\n", addr);
        gsym_put_record(index, &record, 0);
    }
    printf("\nLookupResult for 0x%016" PRIx64 ":\n", addr);
    gsym_print_lookup(index, addr);
    fputc('\n', stdout);
}

/* ---- merged functions ---- */

static bool passes(const struct csn_index *index, const struct csn_record *record, const struct gsym_filter *filter) {
    struct csn_function function;
    if (!filter->count) return true;
    if (csn_record_function(index, record, &function, NULL) != CSN_OK) return false;
    char *name = copy_text(function.name.ptr, function.name.len);
    bool found = false;
    for (size_t i = 0; i < filter->count && !found; i++) {
        regex_t expression;
        if (regcomp(&expression, filter->patterns[i], REG_EXTENDED | REG_NOSUB) != 0) continue;
        found = regexec(&expression, name, 0, NULL, 0) == 0;
        regfree(&expression);
    }
    free(name);
    return found;
}

static void put_sites_at(const struct csn_index *index, const struct csn_record *record, uint64_t addr) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    bool any = false;
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK) {
        if (record->start + site.return_offset != addr || !site.pattern_count) continue;
        fputs(any ? ", " : "      CallSites: ", stdout);
        gsym_put_patterns(index, &site, ", ");
        any = true;
    }
    if (any) fputc('\n', stdout);
}

void gsym_print_lookup_merged(const struct csn_index *index, uint64_t addr, const struct gsym_filter *filter) {
    struct { struct csn_record *items; size_t count, capacity; } all = { 0 };
    struct csn_record record, merged;
    struct csn_merged_iter iter;
    static struct gsym_frames frames;
    size_t wanted = 0;
    bool good = gsym_find_record(index, addr, &record) && find_frames_of(index, &record, addr, &frames);
    if (!good) return; /* as LLVM */
    GROW_PUSH(&all, record);
    if (csn_merged_iter_init(&iter, index, &record, NULL) == CSN_OK)
        while (csn_merged_iter_next(&iter, &merged, NULL) == CSN_OK) GROW_PUSH(&all, merged);
    for (size_t i = 0; i < all.count; i++) {
        good &= find_frames_of(index, &all.items[i], addr, &frames);
        wanted += passes(index, &all.items[i], filter);
    }
    if (good) printf("Found %zu function%s at address 0x%016" PRIx64 ":\n", wanted, wanted == 1 ? "" : "s", addr);
    for (size_t i = 0; good && i < all.count; i++) {
        if (!passes(index, &all.items[i], filter)) continue;
        find_frames_of(index, &all.items[i], addr, &frames);
        fputs("   ", stdout);
        put_frames(&frames, addr);
        put_sites_at(index, &all.items[i], addr);
        if (i + 1 != all.count) fputc('\n', stdout);
    }
    free(all.items);
}

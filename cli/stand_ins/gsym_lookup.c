/* Frames and records of a GSYM file as text. */
#define _GNU_SOURCE
#include "stand_ins/gsym_lookup.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/growth.h"

/* ---- places ---- */

struct place {
    struct csn_str directory, base;
    uint32_t line;
    bool is_known;
};

static struct place place_of(const struct csn_index *index, uint32_t file, uint32_t line) {
    struct place p = { { "", 0 }, { "", 0 }, line, false };
    p.is_known = csn_index_file(index, file, &p.directory, &p.base, NULL) == CSN_OK && (p.base.len || p.directory.len);
    return p;
}

static void put_str(struct csn_str s) { fwrite(s.ptr, 1, s.len, stdout); }

static void put_path(const struct place *p) {
    bool is_windows = p->directory.len && memchr(p->directory.ptr, '\\', p->directory.len) && !memchr(p->directory.ptr, '/', p->directory.len);
    put_str(p->directory);
    if (p->directory.len && p->base.len && p->directory.ptr[p->directory.len - 1] != '/') fputc(is_windows ? '\\' : '/', stdout);
    put_str(p->base);
}

/* ---- one function ---- */

struct frame {
    struct csn_str name;
    uint64_t offset;
    struct place place;
    bool is_inlined;
};

struct frames {
    struct frame items[CSN_INLINE_DEPTH_MAX + 1];
    size_t count;
};

/* The last row at or before an address. False: there is none. */
static bool row_at(const struct csn_index *index, const struct csn_record *record, uint64_t addr, struct csn_row *out) {
    struct csn_row_iter iter;
    struct csn_row row;
    bool found = false;
    if (csn_row_iter_init(&iter, index, record, NULL) != CSN_OK) return false;
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK && row.addr <= addr) {
        *out = row;
        found = true;
    }
    return found;
}

/* *start: that of its first range, which LLVM counts from. */
static bool node_holds(struct csn_inline_node *node, uint64_t addr, uint64_t *start) {
    struct csn_range range;
    for (uint32_t k = 0; k < node->range_count; k++) {
        if (csn_inline_node_range(node, k, &range, NULL) != CSN_OK) return false;
        if (!k) *start = range.start;
        if (addr >= range.start && addr < range.end) return true;
    }
    return false;
}

/* The inlined calls that hold an address, the outermost first. */
static size_t find_inlined(const struct csn_index *index, const struct csn_record *record, uint64_t addr, struct csn_inline_node *nodes,
                           uint64_t *starts) {
    struct csn_inline_iter *iter = zeroed_memory(1, sizeof *iter);
    struct csn_inline_node node;
    size_t count = 0;
    if (csn_inline_iter_init(iter, index, record, NULL) == CSN_OK)
        while (csn_inline_iter_next(iter, &node, NULL) == CSN_OK) {
            uint64_t start = 0;
            if (!node.depth || node.depth != count + 1 || count == CSN_INLINE_DEPTH_MAX || !node_holds(&node, addr, &start)) continue;
            nodes[count] = node;
            starts[count++] = start;
        }
    free(iter);
    return count;
}

static void find_frames(const struct csn_index *index, const struct csn_record *record, uint64_t addr, struct frames *out) {
    struct csn_function function;
    struct csn_row row = { 0 };
    out->count = 0;
    if (csn_record_function(index, record, &function, NULL) != CSN_OK) return;
    bool has_row = row_at(index, record, addr, &row);
    struct place place = has_row ? place_of(index, row.file, row.line) : (struct place){ 0 };
    struct csn_inline_node *nodes = zeroed_memory(CSN_INLINE_DEPTH_MAX, sizeof *nodes);
    uint64_t *starts = zeroed_memory(CSN_INLINE_DEPTH_MAX, sizeof *starts);
    size_t count = has_row ? find_inlined(index, record, addr, nodes, starts) : 0;
    for (size_t i = count; i-- > 0;) {
        out->items[out->count++] = (struct frame){ nodes[i].name, addr - starts[i], place, true };
        place = place_of(index, nodes[i].call_file, nodes[i].call_line);
    }
    out->items[out->count++] = (struct frame){ function.name, addr - function.start, place, false };
    free(nodes);
    free(starts);
}

static void put_frames(const struct frames *frames, uint64_t addr) {
    printf("0x%016" PRIx64 ": ", addr);
    for (size_t i = 0; i < frames->count; i++) {
        const struct frame *f = &frames->items[i];
        if (i) printf("\n%20s", "");
        put_str(f->name);
        if (f->offset) printf(" + %" PRIu64, f->offset);
        if (f->place.is_known) {
            fputs(" @ ", stdout);
            put_path(&f->place);
            printf(":%u", f->place.line);
        }
        if (f->is_inlined) fputs(" [inlined]", stdout);
    }
    fputc('\n', stdout);
}

/* ---- a record as it stands ---- */

static void put_indent(int indent) { printf("%*s", indent, ""); }

static void put_lines(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_row_iter iter;
    struct csn_row row;
    if (csn_row_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    put_indent(indent);
    fputs("LineTable:\n", stdout);
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK) {
        const struct place place = place_of(index, row.file, row.line);
        put_indent(indent);
        printf("  0x%016" PRIx64 " ", row.addr);
        if (place.is_known) put_path(&place);
        printf(":%u\n", row.line);
    }
}

static void put_inlines(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_inline_iter *iter = zeroed_memory(1, sizeof *iter);
    struct csn_inline_node node;
    put_indent(indent);
    fputs("InlineInfo:\n", stdout);
    if (csn_inline_iter_init(iter, index, record, NULL) == CSN_OK)
        while (csn_inline_iter_next(iter, &node, NULL) == CSN_OK) {
            struct csn_range range;
            put_indent(indent + 2 * (int)node.depth);
            for (uint32_t k = 0; k < node.range_count && csn_inline_node_range(&node, k, &range, NULL) == CSN_OK; k++)
                printf("[0x%016" PRIx64 " - 0x%016" PRIx64 ") ", range.start, range.end);
            put_str(node.name);
            const struct place place = place_of(index, node.call_file, node.call_line);
            if (node.depth && place.is_known) {
                fputs(" called from ", stdout);
                put_path(&place);
                printf(":%u", node.call_line);
            }
            fputc('\n', stdout);
        }
    free(iter);
}

static void put_patterns(const struct csn_index *index, const struct csn_call_site *site, const char *between) {
    for (uint32_t k = 0; k < site->pattern_count; k++) {
        struct csn_str pattern;
        if (csn_call_site_pattern(index, site, k, &pattern, NULL) != CSN_OK) return;
        if (k) fputs(between, stdout);
        put_str(pattern);
    }
}

static void put_call_sites(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    put_indent(indent);
    fputs("CallSites (by relative return offset):\n", stdout);
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK) {
        put_indent(indent);
        printf("  0x%04" PRIx64 " Flags[", site.return_offset);
        if (!(site.flags & 3)) fputs("None", stdout);
        if (site.flags & 1) fputs("InternalCall", stdout);
        if ((site.flags & 3) == 3) fputs(", ", stdout);
        if (site.flags & 2) fputs("ExternalCall", stdout);
        fputc(']', stdout);
        if (site.pattern_count) {
            fputs(" MatchRegex[", stdout);
            put_patterns(index, &site, ";");
            fputc(']', stdout);
        }
        fputc('\n', stdout);
    }
}

static void put_record(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_function f;
    if (csn_record_function(index, record, &f, NULL) != CSN_OK) return;
    printf("[0x%016" PRIx64 " - 0x%016" PRIx64 ") \"", f.start, f.start + f.size);
    put_str(f.name);
    fputs("\"\n", stdout);
    if (f.has_lines) put_lines(index, record, indent);
    if (f.has_inlines) put_inlines(index, record, indent);
    if (f.has_call_sites) put_call_sites(index, record, indent);
    if (!f.has_merged) return;
    struct csn_merged_iter iter;
    struct csn_record merged;
    if (csn_merged_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    for (uint32_t i = 0; csn_merged_iter_next(&iter, &merged, NULL) == CSN_OK; i++) {
        printf("++ Merged FunctionInfos[%u]:\n", i);
        put_indent(4);
        put_record(index, &merged, 4);
    }
}

/* ---- lookups ---- */

static bool find_record(const struct csn_index *index, uint64_t addr, struct csn_record *out) {
    struct csn_lookup lookup;
    struct csn_frame_ref *refs = zeroed_memory(CSN_INLINE_DEPTH_MAX + 1, sizeof *refs);
    csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_LLVM, refs, CSN_INLINE_DEPTH_MAX + 1, &lookup, NULL);
    free(refs);
    return status == CSN_OK && csn_index_record(index, lookup.function_index, out, NULL) == CSN_OK;
}

static void put_missing(uint64_t addr) { printf("0x%016" PRIx64 ": error: address 0x%" PRIx64 " is not in GSYM\n", addr, addr); }

void gsym_print_lookup(const struct csn_index *index, uint64_t addr) {
    struct csn_record record;
    static struct frames frames;
    if (!find_record(index, addr, &record)) {
        put_missing(addr);
        return;
    }
    find_frames(index, &record, addr, &frames);
    put_frames(&frames, addr);
}

void gsym_print_lookup_verbose(const struct csn_index *index, uint64_t addr) {
    struct csn_record record;
    if (find_record(index, addr, &record)) {
        printf("FunctionInfo for 0x%016" PRIx64 ":\n", addr);
        put_record(index, &record, 0);
    }
    fputc('\n', stdout);
    printf("LookupResult for 0x%016" PRIx64 ":\n", addr);
    gsym_print_lookup(index, addr);
    fputc('\n', stdout);
}

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
        put_patterns(index, &site, ", ");
        any = true;
    }
    if (any) fputc('\n', stdout);
}

void gsym_print_lookup_merged(const struct csn_index *index, uint64_t addr, const struct gsym_filter *filter) {
    struct { struct csn_record *items; size_t count, capacity; } found = { 0 };
    struct csn_record record, merged;
    struct csn_merged_iter iter;
    static struct frames frames;
    if (!find_record(index, addr, &record)) return; /* as LLVM */
    if (passes(index, &record, filter)) GROW_PUSH(&found, record);
    if (csn_merged_iter_init(&iter, index, &record, NULL) == CSN_OK)
        while (csn_merged_iter_next(&iter, &merged, NULL) == CSN_OK)
            if (passes(index, &merged, filter)) GROW_PUSH(&found, merged);
    printf("Found %zu function%s at address 0x%016" PRIx64 ":\n", found.count, found.count == 1 ? "" : "s", addr);
    for (size_t i = 0; i < found.count; i++) {
        find_frames(index, &found.items[i], addr, &frames);
        fputs("   ", stdout);
        put_frames(&frames, addr);
        put_sites_at(index, &found.items[i], addr);
    }
    free(found.items);
}

/* ---- all of it ---- */

static void dump_header(const struct csn_index_info *info, uint64_t strings_at) {
    printf("Header:\n  Magic        = 0x%08x\n  Version      = 0x%04x\n  AddrOffSize  = 0x%02x\n  UUIDSize     = 0x%02x\n", 0x4753594d, 1,
           info->address_size, info->uuid_size);
    printf("  BaseAddress  = 0x%016" PRIx64 "\n  NumAddresses = 0x%08x\n  StrtabOffset = 0x%08" PRIx64 "\n  StrtabSize   = 0x%08" PRIx64
           "\n  UUID         = ", info->base_address, info->function_count, strings_at, info->string_bytes);
    for (unsigned i = 0; i < info->uuid_size; i++) printf("%02x", info->uuid[i]);
    fputs("\n\n", stdout);
}

static void dump_addresses(const struct csn_index *index, const struct csn_index_info *info) {
    const int bits = 8 * info->address_size, digits = 2 * info->address_size;
    printf("Address Table:\nINDEX  OFFSET%d%s (ADDRESS)\n====== =============================== \n", bits, bits == 8 ? " " : "");
    for (uint32_t i = 0; i < info->function_count; i++) {
        uint64_t start;
        if (csn_index_function_start(index, i, &start, NULL) != CSN_OK) continue;
        printf("[%4u] 0x%0*" PRIx64 " (0x%016" PRIx64 ")\n", i, digits, start - info->base_address, start);
    }
    fputs("\nAddress Info Offsets:\nINDEX  Offset\n====== ==========\n", stdout);
    for (uint32_t i = 0; i < info->function_count; i++) {
        struct csn_record record;
        if (csn_index_record(index, i, &record, NULL) == CSN_OK) printf("[%4u] 0x%08" PRIx64 "\n", i, record.offset);
    }
}

static void dump_files(const struct csn_index *index, const struct csn_index_info *info) {
    const char *strings = csn_index_string(index, 0).ptr;
    fputs("\nFiles:\nINDEX  DIRECTORY  BASENAME   PATH\n====== ========== ========== ==============================\n", stdout);
    for (uint32_t i = 0; i < info->file_count; i++) {
        struct place place = place_of(index, i, 0);
        unsigned directory = i ? (unsigned)(place.directory.ptr - strings) : 0, base = i ? (unsigned)(place.base.ptr - strings) : 0;
        printf("[%4u] 0x%08x 0x%08x ", i, directory, base);
        put_path(&place);
        fputc('\n', stdout);
    }
    fputs("\nString table:\n", stdout);
    for (uint64_t at = 0; at < info->string_bytes;) {
        struct csn_str s = csn_index_string(index, at);
        printf("0x%08" PRIx64 ": \"", at);
        put_str(s);
        fputs("\"\n", stdout);
        at += s.len + 1;
    }
    fputc('\n', stdout);
}

void gsym_dump(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof info);
    enum { HEADER_SIZE = 48 };
    uint64_t after_addresses = HEADER_SIZE + (uint64_t)info.function_count * info.address_size;
    uint64_t files = ((after_addresses + 3) & ~UINT64_C(3)) + UINT64_C(4) * info.function_count;
    dump_header(&info, files + 4 + UINT64_C(8) * info.file_count);
    dump_addresses(index, &info);
    dump_files(index, &info);
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_record record;
        if (csn_index_record(index, i, &record, NULL) != CSN_OK) continue;
        printf("FunctionInfo @ 0x%08" PRIx64 ": ", record.offset);
        put_record(index, &record, 0);
    }
}

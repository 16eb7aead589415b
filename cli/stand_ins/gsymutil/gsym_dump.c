/* Records and tables of a GSYM file as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_lookup.h"

/* ---- a record as it stands ---- */

static void put_indent(int indent) { printf("%*s", indent, ""); }

static void put_lines(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_row_iter iter;
    struct csn_row row;
    if (csn_row_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    put_indent(indent);
    fputs("LineTable:\n", stdout);
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK) {
        const struct gsym_place place = gsym_place_of(index, row.file, row.line);
        put_indent(indent);
        printf("  0x%016" PRIx64 " ", row.addr);
        if (place.is_known) gsym_put_path(&place);
        printf(":%u\n", row.line);
    }
}

static void put_inlines(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_inline_iter *iter = zeroed_memory(1, sizeof *iter);
    struct csn_inline_node node;
    if (!indent) fputs("InlineInfo:\n", stdout); /* of merged functions it is left out */
    if (csn_inline_iter_init(iter, index, record, NULL) == CSN_OK)
        while (csn_inline_iter_next(iter, &node, NULL) == CSN_OK) {
            struct csn_range range;
            put_indent(indent + 2 * (int)node.depth);
            for (uint32_t k = 0; k < node.range_count && csn_inline_node_range(&node, k, &range, NULL) == CSN_OK; k++)
                printf("[0x%016" PRIx64 " - 0x%016" PRIx64 ") ", range.start, range.end);
            gsym_put_str(node.name);
            const struct gsym_place place = gsym_place_of(index, node.call_file, node.call_line);
            if (node.depth && place.is_known) {
                fputs(" called from ", stdout);
                gsym_put_path(&place);
                printf(":%u", node.call_line);
            }
            fputc('\n', stdout);
        }
    free(iter);
}

void gsym_put_patterns(const struct csn_index *index, const struct csn_call_site *site, const char *between) {
    for (uint32_t k = 0; k < site->pattern_count; k++) {
        struct csn_str pattern;
        if (csn_call_site_pattern(index, site, k, &pattern, NULL) != CSN_OK) return;
        if (k) fputs(between, stdout);
        gsym_put_str(pattern);
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
        if ((site.flags & 3) == 3) fputs(" | ", stdout);
        if (site.flags & 2) fputs("ExternalCall", stdout);
        fputc(']', stdout);
        if (site.pattern_count) {
            fputs(" MatchRegex[", stdout);
            gsym_put_patterns(index, &site, ";");
            fputc(']', stdout);
        }
        fputc('\n', stdout);
    }
}

void gsym_put_record(const struct csn_index *index, const struct csn_record *record, int indent) {
    struct csn_function f;
    if (csn_record_function(index, record, &f, NULL) != CSN_OK) return;
    printf("[0x%016" PRIx64 " - 0x%016" PRIx64 ") \"", f.start, f.start + f.size);
    gsym_put_str(f.name);
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
        gsym_put_record(index, &merged, 4);
    }
}

/* ---- all of it ---- */

static void dump_header(const struct csn_index_info *info, uint64_t strings_at) {
    printf("Header:\n  Magic        = 0x%08x\n  Version      = 0x%04x\n  AddrOffSize  = 0x%02x\n  UUIDSize     = 0x%02x\n",
           0x4753594d, 1, info->address_size, info->uuid_size);
    printf("  BaseAddress  = 0x%016" PRIx64 "\n  NumAddresses = 0x%08x\n  StrtabOffset = 0x%08" PRIx64
           "\n  StrtabSize   = 0x%08" PRIx64 "\n  UUID         = ",
           info->base_address, info->function_count, strings_at, info->string_bytes);
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
        struct gsym_place place = gsym_place_of(index, i, 0);
        unsigned directory = i ? (unsigned)(place.directory.ptr - strings) : 0, base = i ? (unsigned)(place.base.ptr - strings) : 0;
        printf("[%4u] 0x%08x 0x%08x ", i, directory, base);
        gsym_put_path(&place);
        fputc('\n', stdout);
    }
    fputs("\nString table:\n", stdout);
    for (uint64_t at = 0; at < info->string_bytes;) {
        struct csn_str s = csn_index_string(index, at);
        printf("0x%08" PRIx64 ": \"", at);
        gsym_put_str(s);
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
        gsym_put_record(index, &record, 0);
    }
}

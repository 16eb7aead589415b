/* Checking the tables of a GSYM file: directory, strings, files, search guide. */
#include "formats/gsym/read/gsym_verify.h"

#include "base/core/endian.h"
#include "formats/gsym/gsym_layout.h"

typedef unsigned long long ull; /* for %llx */

static const char directory_name[] = "directory";

static void check_strings(struct csni_gsym_verifier *v) {
    const struct csni_gsym *g = v->gsym;
    struct csni_span s = g->strings;
    if (!s.size) return;
    for (const uint8_t *p = s.ptr, *end = s.ptr + s.size; p && p < end; v->counts->strings++) {
        p = memchr(p, 0, (size_t)(end - p));
        if (p) p++;
    }
    if (s.ptr[0]) {
        csni_fail(&v->err, CSN_E_FORMAT, "string table", g->strings_offset, "first byte 0x%02x, need 0", s.ptr[0]);
        csni_gsym_tell(v);
    }
    if (!csni_gsym_strings_terminated(g)) {
        csni_fail(&v->err, CSN_E_FORMAT, "string table", g->strings_offset + s.size - 1, "last byte 0x%02x, need 0",
                  s.ptr[s.size - 1]);
        csni_gsym_tell(v);
    }
    if (g->version == CSNI_GSYM_VERSION_1 && g->strings_offset < g->tables_end) {
        csni_fail(&v->err, CSN_E_FORMAT, "string table", g->strings_offset, "begins at 0x%llx, need >= 0x%llx",
                  (ull)g->strings_offset, (ull)g->tables_end);
        csni_gsym_tell(v);
    }
}

static void check_file_table(struct csni_gsym_verifier *v) {
    const struct csni_gsym *g = v->gsym;
    v->counts->files = g->file_count ? g->file_count - 1 : 0;
    for (uint32_t k = 0; k < g->file_count && !v->stopped; k++) {
        const uint8_t *entry = csni_gsym_file_entry(g, k);
        uint64_t at = (uint64_t)(entry - g->bytes.ptr);
        uint64_t directory = csni_gsym_strp(g, entry), base = csni_gsym_strp(g, entry + g->strp_size);
        if (k == 0 && (directory || base)) {
            csni_fail(&v->err, CSN_E_FORMAT, "file table", at, "file 0 is {0x%llx, 0x%llx}, need {0, 0}", (ull)directory,
                      (ull)base);
            csni_gsym_tell(v);
        }
        csni_gsym_check_strp(v, "file table", at, "directory", directory);
        csni_gsym_check_strp(v, "file table", at, "file name", base);
    }
}

/* ---- the directory: what a lookup does not care about ---- */

static uint64_t section_alignment(const struct csni_gsym *gsym, uint32_t type) {
    switch (type) {
    case CSNI_GSYM_SECTION_ADDRESSES: return gsym->address_size;
    case CSNI_GSYM_SECTION_INFOS: return CSNI_GSYM_2_INFO_OFFSET_SIZE;
    case CSNI_GSYM_SECTION_FILES:
    case CSNI_GSYM_SECTION_RECORDS: return CSNI_GSYM_ALIGN;
    default: return 1;
    }
}

static void check_section(struct csni_gsym_verifier *v, uint64_t at, const struct csni_gsym_entry *entry) {
    const struct csni_gsym *g = v->gsym;
    if (entry->offset < g->tables_end) {
        csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "section of type %u at 0x%llx, need >= 0x%llx", entry->type,
                  (ull)entry->offset, (ull)g->tables_end);
        csni_gsym_tell(v);
    }
    uint64_t align = section_alignment(g, entry->type);
    if (entry->offset % align == 0) return;
    csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "section of type %u at 0x%llx, need a multiple of %llu",
              entry->type, (ull)entry->offset, (ull)align);
    csni_gsym_tell(v);
}

/* A section against those of known types in front of it. A second one of a type takes the place of the first, as it does
 * for lookups. */
static void check_against(struct csni_gsym_verifier *v, uint64_t at, const struct csni_gsym_entry *entry,
                          struct csni_gsym_entry *known) {
    for (uint32_t type = 1; type < CSNI_GSYM_SECTION_KNOWN; type++) {
        const struct csni_gsym_entry *other = &known[type];
        if (!other->size || v->stopped) continue;
        if (type == entry->type) {
            csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "a second section of type %u, need one", type);
            csni_gsym_tell(v);
        } else if (entry->offset < other->offset + other->size && other->offset < entry->offset + entry->size) {
            csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "section of type %u at 0x%llx overlaps that of type %u "
                      "at 0x%llx", entry->type, (ull)entry->offset, type, (ull)other->offset);
            csni_gsym_tell(v);
        }
    }
    known[entry->type] = *entry;
}

static void check_directory(struct csni_gsym_verifier *v) {
    struct csni_gsym_entry known[CSNI_GSYM_SECTION_KNOWN] = { { 0 } }, entry = { 0 };
    uint64_t at = CSNI_GSYM_2_HEADER_SIZE;
    for (uint64_t idx = 0; csni_gsym_directory_entry(v->gsym, idx, &entry, NULL) == CSN_OK && !v->stopped; idx++) {
        check_section(v, at, &entry);
        if (entry.type < CSNI_GSYM_SECTION_KNOWN) check_against(v, at, &entry, known);
        at += CSNI_GSYM_2_ENTRY_BYTES;
    }
    if (v->stopped || (!entry.offset && !entry.size)) return;
    csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "end entry holds 0x%llx, 0x%llx, need 0, 0", (ull)entry.offset,
              (ull)entry.size);
    csni_gsym_tell(v);
}

/* Lookups do not rely on it, but it ought to help them. */
static void check_guide(struct csni_gsym_verifier *v) {
    const struct csni_gsym *g = v->gsym;
    for (uint32_t k = 0; k < g->guide_count && !v->stopped; k++) {
        const uint8_t *mark = g->guide + (size_t)k * g->address_size;
        uint64_t offset = csni_get_sized(mark, g->address_size, g->big);
        uint32_t idx = k << g->guide_shift;
        uint64_t need = csni_gsym_address(g, idx) - g->base_address;
        if (offset == need) continue;
        csni_fail(&v->err, CSN_E_FORMAT, "search guide", (uint64_t)(mark - g->bytes.ptr),
                  "entry %u is 0x%llx, need 0x%llx as the address table has for function %u", k, (ull)offset, (ull)need, idx);
        csni_gsym_tell(v);
    }
}

void csni_gsym_verify_tables(struct csni_gsym_verifier *v) {
    if (v->gsym->version != CSNI_GSYM_VERSION_1) check_directory(v);
    check_strings(v);
    check_file_table(v);
    check_guide(v);
}

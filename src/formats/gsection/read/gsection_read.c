/* Opening the section-embedded GSYM of 2017: which revision it is, and where its tables and strings are.
 *
 * All revisions say version 1. The header is followed by a section's name, by nothing or by a UUID, and only what stands
 * after it tells which: see "telling them apart" in docs/formats/gsym-sections.md. */
#include "formats/gsection/read/gsection.h"

#include "base/core/checked.h"

static const char header_name[] = "header";

typedef unsigned long long ull; /* for %llx */

/* ---- the part that all share ---- */

static csn_status read_common(struct csni_gsym *gsym, struct csn_error *err) {
    struct csni_span b = gsym->bytes;
    if (b.size < CSNI_GSECTION_H_NAME)
        return csni_fail(err, CSN_E_TRUNCATED, header_name, b.size, "section of %zu bytes, need >= %d", b.size,
                         CSNI_GSECTION_HEADER_SIZE);
    uint32_t magic = csni_get32(b.ptr, true);
    if (magic != CSNI_GSYM_MAGIC && magic != csni_swap32(CSNI_GSYM_MAGIC))
        return csni_fail(err, CSN_E_FORMAT, header_name, 0, "magic %02x %02x %02x %02x, need 4d 59 53 47 or 47 53 59 4d",
                         b.ptr[0], b.ptr[1], b.ptr[2], b.ptr[3]);
    gsym->big = magic == CSNI_GSYM_MAGIC;
    unsigned version = csni_get16(b.ptr + CSNI_GSYM_H_VERSION, gsym->big), width = b.ptr[CSNI_GSYM_H_ADDR_OFF_SIZE];
    if (version != CSNI_GSYM_VERSION_1)
        return csni_fail(err, CSN_E_UNSUPPORTED, header_name, CSNI_GSYM_H_VERSION, "GSYM version %u, need %d", version,
                         CSNI_GSYM_VERSION_1);
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return csni_fail(err, CSN_E_FORMAT, header_name, CSNI_GSYM_H_ADDR_OFF_SIZE,
                         "address offset size %u, need 1, 2, 4 or 8", width);
    gsym->address_size = (uint8_t)width;
    gsym->base_address = csni_get64(b.ptr + CSNI_GSYM_H_BASE_ADDRESS, gsym->big);
    gsym->address_count = csni_get32(b.ptr + CSNI_GSYM_H_NUM_ADDRESSES, gsym->big);
    return CSN_OK;
}

static csn_status take_gsection_table(const struct csni_gsym *gsym, const char *name, uint64_t off, uint64_t size,
                                      const uint8_t **out, struct csn_error *err) {
    struct csni_span table;
    if (!csni_span_sub(gsym->bytes, off, size, &table))
        return csni_fail(err, CSN_E_TRUNCATED, name, off, "table ends at 0x%llx, section has 0x%zx bytes", (ull)(off + size),
                         gsym->bytes.size);
    *out = table.ptr;
    return CSN_OK;
}

/* The tables after a header of `size` bytes. All sums stay below 2^40: counts are 32 bits wide, entries at most 8 bytes. */
static csn_status find_gsection_tables(struct csni_gsection *g, uint64_t size, struct csn_error *err) {
    struct csni_gsym *gsym = &g->gsym;
    csni_gsym_use_v1_widths(gsym);
    uint64_t count = gsym->address_count, off = csni_align_up(size, gsym->address_size);
    CSNI_TRY(take_gsection_table(gsym, "address table", off, count * gsym->address_size, &gsym->addresses, err));
    off = csni_align_up(off + count * gsym->address_size, CSNI_GSYM_ALIGN);
    CSNI_TRY(take_gsection_table(gsym, "info offset table", off, count * CSNI_GSYM_INFO_OFFSET_SIZE, &gsym->infos,
                                 err));
    off += count * CSNI_GSYM_INFO_OFFSET_SIZE;
    const uint8_t *files = NULL;
    CSNI_TRY(take_gsection_table(gsym, "file table", off, CSNI_GSYM_FILE_COUNT_SIZE, &files, err));
    uint64_t file_count = csni_get32(files, gsym->big);
    off += CSNI_GSYM_FILE_COUNT_SIZE;
    CSNI_TRY(take_gsection_table(gsym, "file table", off, file_count * CSNI_GSYM_FILE_ENTRY_SIZE, &gsym->files, err));
    gsym->tables_end = off + file_count * CSNI_GSYM_FILE_ENTRY_SIZE;
    g->has_file_0 = file_count && csni_get64(gsym->files, false) == 0;
    if (file_count == UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, "file table", off, "%u files, need < %u", UINT32_MAX, UINT32_MAX);
    gsym->file_count = (uint32_t)file_count + !g->has_file_0;
    return CSN_OK;
}

/* ---- strings ---- */

/* The name of a section at offset 20; false where none stands there. */
static bool read_strings_name(struct csni_span bytes, struct csn_str *out) {
    struct csni_span field = csni_span_from(bytes, CSNI_GSECTION_H_NAME);
    if (field.size > CSNI_GSECTION_NAME_MAX + 1) field.size = CSNI_GSECTION_NAME_MAX + 1;
    const uint8_t *nul = field.size ? memchr(field.ptr, 0, field.size) : NULL;
    if (!nul || nul == field.ptr) return false;
    for (const uint8_t *p = field.ptr; p < nul; p++)
        if (*p < 0x20 || *p > 0x7e) return false;
    uint8_t first = field.ptr[0] | 0x20;
    if (field.ptr[0] != '.' && field.ptr[0] != '_' && (first < 'a' || first > 'z')) return false;
    *out = (struct csn_str){ (const char *)field.ptr, (size_t)(nul - field.ptr) };
    return true;
}

/* Whether names of functions lie in a table of that size. Some of them, spread over all: opening must not read the whole. */
static bool names_fit(const struct csni_gsym *gsym, uint64_t size) {
    enum { SAMPLES = 64 };
    uint32_t count = gsym->address_count, step = count / SAMPLES + 1;
    for (uint64_t i = 0; i < count; i += step) {
        struct csni_gsym_record record;
        if (csni_gsym_record(gsym, (uint32_t)i, &record, NULL) < 0 || record.name >= size) return false;
    }
    return true;
}

/* A span of strings is one that ends in NUL and has room for every function's name. */
static bool is_string_table(const struct csni_gsym *gsym, struct csni_span whole, uint64_t off, uint64_t size,
                            struct csni_span *out) {
    struct csni_span span;
    if (!csni_span_sub(whole, off, size, &span)) return false;
    if (span.size ? span.ptr[span.size - 1] != 0 : gsym->address_count != 0) return false;
    *out = span;
    return true;
}

/* Of revisions with an offset: it counts from the object's start, or, where that makes no sense, from the section's. */
static csn_status find_strings_by_offset(struct csni_gsection *g, const struct csni_gsection_home *home,
                                         struct csn_error *err) {
    struct csni_gsym *gsym = &g->gsym;
    uint64_t off = csni_get32(gsym->bytes.ptr + CSNI_GSECTION_H_STRTAB_OFFSET, gsym->big);
    uint64_t size = csni_get32(gsym->bytes.ptr + CSNI_GSECTION_H_STRTAB_SIZE, gsym->big);
    struct csni_span inside, outside;
    bool in_section = is_string_table(gsym, gsym->bytes, off, size, &inside);
    bool in_object = home && is_string_table(gsym, home->object, off, size, &outside);
    gsym->strings_offset = off;
    if ((in_section || in_object) && names_fit(gsym, size)) {
        gsym->strings = in_section ? inside : outside;
        return CSN_OK;
    }
    return csni_fail(err, CSN_E_FORMAT, header_name, CSNI_GSECTION_H_STRTAB_OFFSET,
                     "strings at 0x%llx, 0x%llx bytes: no table that ends in NUL and holds all names stands there in the %s",
                     (ull)off, (ull)size, home ? "section or in the object" : "file");
}

/* ---- which revision ---- */

/* Whether the tables after a header of 28 or 48 bytes are ones. */
static csn_status check_gsection_tables(const struct csni_gsection *g, struct csn_error *err) {
    const struct csni_gsym *gsym = &g->gsym;
    uint64_t before = 0, addresses = (uint64_t)(gsym->addresses - gsym->bytes.ptr);
    uint64_t infos = (uint64_t)(gsym->infos - gsym->bytes.ptr);
    for (uint32_t i = 0; i < gsym->address_count; i++) {
        uint64_t address = csni_gsym_address(gsym, i) - gsym->base_address;
        uint64_t info = csni_gsym_info_offset(gsym, i);
        if (address < before)
            return csni_fail(err, CSN_E_FORMAT, "address table", addresses + (uint64_t)i * gsym->address_size,
                             "entry %u is 0x%llx, need >= 0x%llx", i, (ull)address, (ull)before);
        if (info % CSNI_GSYM_ALIGN || info < gsym->tables_end || info > gsym->bytes.size - CSNI_GSYM_R_PARTS)
            return csni_fail(err, CSN_E_FORMAT, "info offset table", infos + (uint64_t)i * CSNI_GSYM_INFO_OFFSET_SIZE,
                             "record %u at 0x%llx, need a multiple of 4 in 0x%llx..0x%zx", i, (ull)info, (ull)gsym->tables_end,
                             gsym->bytes.size);
        before = address;
    }
    return CSN_OK;
}

/* With a header of that size and strings by offset. */
static csn_status try_header(struct csni_gsection *g, uint64_t size, const struct csni_gsection_home *home, bool check,
                             struct csn_error *err) {
    struct csni_gsym *gsym = &g->gsym;
    if (gsym->bytes.size < size)
        return csni_fail(err, CSN_E_TRUNCATED, header_name, gsym->bytes.size, "section of %zu bytes, need >= %llu",
                         gsym->bytes.size, (ull)size);
    CSNI_TRY(find_gsection_tables(g, size, err));
    if (check) CSNI_TRY(check_gsection_tables(g, err));
    CSNI_TRY(find_strings_by_offset(g, home, err));
    g->strings_name = (struct csn_str){ "", 0 };
    return CSN_OK;
}

/* A header of version 1 without a UUID has 20 zeros at its end; that of 28 bytes has the address table there, which holds more
 * than zeros unless many functions share one start. */
static bool looks_long(struct csni_span bytes) {
    if (bytes.size < CSNI_GSYM_HEADER_SIZE) return false;
    for (unsigned i = CSNI_GSYM_H_UUID; i < CSNI_GSYM_HEADER_SIZE; i++)
        if (bytes.ptr[i]) return false;
    return true;
}

static csn_status parse_by_offset(struct csni_gsection *g, const struct csni_gsection_home *home, struct csn_error *err) {
    struct csni_gsym *gsym = &g->gsym;
    unsigned uuid_size = gsym->bytes.ptr[CSNI_GSECTION_H_PAD];
    csn_status status = CSN_E_FORMAT;
    struct csn_error first = CSN_ERROR_INIT;
    if (uuid_size <= CSNI_GSYM_UUID_MAX)
        status = try_header(g, CSNI_GSYM_HEADER_SIZE, home, !uuid_size && !looks_long(gsym->bytes), &first);
    else
        csni_fail(&first, CSN_E_FORMAT, header_name, CSNI_GSECTION_H_PAD, "UUID of %u bytes, need <= %d", uuid_size,
                  CSNI_GSYM_UUID_MAX);
    if (status >= 0) {
        gsym->uuid = (struct csni_span){ gsym->bytes.ptr + CSNI_GSYM_H_UUID, uuid_size };
        g->regular = true;
        g->revision = 'G';
        return CSN_OK;
    }
    if (!uuid_size && try_header(g, CSNI_GSECTION_HEADER_SIZE, home, true, NULL) >= 0) {
        g->revision = g->has_file_0 ? 'E' : 'D';
        return CSN_OK;
    }
    if (err) *err = first;
    return status;
}

/* ---- what writers of the day did differently ---- */

/* The bytes of records looked at. Offsets of a damaged file may lead to one long record again and again. */
struct survey {
    uint64_t bytes_left;
    bool self_counting, lines_regular, short_ends, long_ends;
    bool uses_file_1, uses_file_behind, has_rows; /* behind: the one after the table's last */
};

static void survey_rows(const struct csni_gsection *g, const struct csni_gsym_payload *payload, struct survey *s) {
    struct csni_gsym_row_iter rows;
    struct csn_row row;
    if (csni_gsection_rows(g, payload, 0, &rows, NULL) < 0) return;
    while (csni_gsym_row_next(&rows, &row, NULL) == CSN_OK) {
        s->has_rows = true;
        s->uses_file_1 |= row.file == 1;
        s->uses_file_behind |= row.file == g->gsym.file_count;
    }
}

/* Where the list of parts ends with `end` bytes of 0, the next record begins there, aligned. */
static void survey_end(const struct csni_gsection *g, uint32_t idx, uint64_t end, struct survey *s) {
    if (idx + 1 >= g->gsym.address_count) return;
    uint64_t next = csni_gsym_info_offset(&g->gsym, idx + 1);
    s->long_ends |= csni_align_up(end + CSNI_GSECTION_LONG_END, CSNI_GSYM_ALIGN) == next;
    s->short_ends |= csni_align_up(end + CSNI_GSECTION_SHORT_END, CSNI_GSYM_ALIGN) == next;
}

static void survey_record(const struct csni_gsection *g, uint32_t idx, struct survey *s) {
    struct csni_gsym_record record;
    if (csni_gsym_record(&g->gsym, idx, &record, NULL) < 0) return;
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsection_part part;
    csn_status status;
    while ((status = csni_gsection_part_step(g, &record, pos, &part, NULL)) == CSN_OK && s->bytes_left) {
        bool is_lines = part.payload.type == CSNI_GSYM_PART_LINES;
        if (part.length == CSNI_LENGTH_SELF_COUNTING || part.length == CSNI_LENGTH_EMPTY) s->self_counting = true;
        else if (is_lines && part.length != CSNI_LENGTH_WRONG) s->lines_regular = true;
        if (is_lines && part.length == CSNI_LENGTH_SELF_COUNTING) survey_rows(g, &part.payload, s);
        uint64_t cost = part.next - pos;
        s->bytes_left -= cost < s->bytes_left ? cost : s->bytes_left;
        pos = part.next;
    }
    if (status == CSN_NONE) survey_end(g, idx, record.offset + part.begin, s);
}

/* Lengths that count themselves are the mark of the scripts of revisions A to D. Those of B and C end lists with 4 bytes, and
 * number the files of rows one too high. The variant that does neither of the two last differs from them in the files that rows
 * name: 1 up to the last one of the table. With those one too high it is 2 up to the one behind, and 1 for a row without a file. */
static void find_habits(struct csni_gsection *g) {
    struct survey s = { .bytes_left = g->gsym.bytes.size };
    for (uint32_t i = 0; i < g->gsym.address_count && s.bytes_left; i++) {
        survey_record(g, i, &s);
        /* What other writers make shows in its first parts. */
        if (s.lines_regular && !s.self_counting && i >= 64) break;
        if (s.uses_file_1 && s.long_ends) break;
    }
    g->self_counting = s.self_counting;
    bool short_ends = s.short_ends && !s.long_ends;
    if (!s.short_ends && !s.long_ends) short_ends = s.self_counting && !s.lines_regular && s.has_rows; /* a single function */
    bool from_2 = !s.uses_file_1 || s.uses_file_behind;
    if (s.self_counting && !s.lines_regular && short_ends && s.has_rows && from_2) g->gsym.file_bias = 1;
    if (g->revision == 'B' && s.self_counting && !short_ends) g->revision = 'A';
    if (g->revision == 'D' && s.self_counting && !s.lines_regular) g->revision = 'C';
    if (g->revision == 'D' && !s.self_counting && s.lines_regular) g->revision = 'E';
}

/* ---- all of it ---- */

/* CSN_NONE: there is no name of a section at offset 20, or the object has no such section. */
static csn_status parse_by_name(struct csni_gsection *g, const struct csni_gsection_home *home, struct csn_error *err) {
    struct csni_gsym *gsym = &g->gsym;
    if (!read_strings_name(gsym->bytes, &g->strings_name)) return CSN_NONE;
    csn_status status = home->find(home->object, g->strings_name, &gsym->strings, err);
    if (status != CSN_OK) return status;
    CSNI_TRY(find_gsection_tables(g, CSNI_GSECTION_H_NAME + g->strings_name.len + 1, err));
    g->revision = 'B';
    return CSN_OK;
}

csn_status csni_gsection_parse(struct csni_gsection *out, struct csni_span bytes, const struct csni_gsection_home *home,
                               struct csn_error *err) {
    struct csni_gsection g = { .gsym = { .bytes = bytes } };
    CSNI_TRY(read_common(&g.gsym, err));
    csn_status status = CSN_NONE;
    if (home) status = parse_by_name(&g, home, err);
    else read_strings_name(bytes, &g.strings_name); /* to be told of */
    if (status < 0) return status;
    if (status == CSN_NONE) {
        struct csn_str missing = g.strings_name;
        status = parse_by_offset(&g, home, err);
        if (status < 0 && missing.len)
            return csni_fail(err, CSN_E_NOT_FOUND, header_name, CSNI_GSECTION_H_NAME,
                             "the strings are in section %.*s, which is not there", (int)missing.len, missing.ptr);
        CSNI_TRY(status);
    }
    if (!g.regular) find_habits(&g);
    *out = g;
    return CSN_OK;
}

bool csni_gsection_recognize(struct csni_span bytes) {
    struct csni_gsection g = { .gsym = { .bytes = bytes } };
    if (read_common(&g.gsym, NULL) < 0 || bytes.size < CSNI_GSECTION_HEADER_SIZE || bytes.ptr[CSNI_GSECTION_H_PAD]) return false;
    struct csni_gsym whole;
    if (looks_long(bytes) && csni_gsym_parse(&whole, bytes, NULL) >= 0) return false;
    return parse_by_offset(&g, NULL, NULL) >= 0 && g.revision != 'G';
}

bool csni_gsection_recognize_head(struct csni_span head) {
    struct csni_gsym gsym = { .bytes = head };
    return read_common(&gsym, NULL) >= 0 && head.size >= CSNI_GSECTION_HEADER_SIZE && !head.ptr[CSNI_GSECTION_H_PAD] &&
           !looks_long(head);
}

bool csni_gsection_is_whole(struct csni_span section) {
    struct csni_gsection g = { .gsym = { .bytes = section } };
    csn_status status = read_common(&g.gsym, NULL);
    if (status == CSN_E_UNSUPPORTED) return true; /* of another version: it tells itself what it needs */
    return status >= 0 && section.size >= CSNI_GSECTION_HEADER_SIZE && parse_by_offset(&g, NULL, NULL) >= 0 && g.revision == 'G';
}

const uint8_t *csni_gsection_file_entry(const struct csni_gsection *g, uint32_t idx) {
    return g->gsym.files + (size_t)(g->has_file_0 ? idx : idx - 1) * CSNI_GSYM_FILE_ENTRY_SIZE;
}

bool csni_gsection_file(const struct csni_gsection *g, uint32_t idx, struct csn_str *directory, struct csn_str *base) {
    const struct csni_gsym *gsym = &g->gsym;
    *directory = *base = (struct csn_str){ "", 0 };
    if (idx == 0 || idx >= gsym->file_count) return false;
    const uint8_t *entry = csni_gsection_file_entry(g, idx);
    *directory = csni_gsym_string(gsym, csni_get32(entry, gsym->big));
    *base = csni_gsym_string(gsym, csni_get32(entry + CSNI_GSYM_STRP_SIZE, gsym->big));
    return true;
}

/* Functions from a GSYM index that is written anew: one batch that holds all of it. Nothing is merged or left out but what
 * cannot be read, and parts that say nothing: lists of no rows, inlined calls or call sites. */
#include "base/core/budget.h"
#include "base/core/fail.h"
#include "base/core/image_base.h"
#include "base/core/ranges.h"
#include "convert/sources/index_strings.h"
#include "convert/sources/source.h"
#include "formats/gsym/read/gsym_names.h"
#include "formats/gsym/read/gsym.h"

struct reader {
    struct csni_conversion *c;
    struct csni_gsym gsym;
    struct csni_batch_writer *w;
    struct csni_index_strings strings;
    CSNI_VEC(struct csni_part) parts; /* of one inline node */
    struct csni_budget budget;        /* bytes of records: those of a hostile file may overlap */
};

/* Bytes of strings for a byte of the file: some lie within others. */
enum { STRINGS_SHARING = 32 };

/* ---- strings and files ---- */

static uint32_t add_index_string(struct reader *r, uint64_t strp) {
    return csni_index_strings_add(&r->strings, r->w, &r->gsym, strp);
}

static void add_files(struct reader *r) {
    const struct csni_gsym *g = &r->gsym;
    for (uint32_t k = 1; k < g->file_count && !r->w->failed; k++) {
        const uint8_t *entry = csni_gsym_file_entry(g, k);
        uint32_t directory = add_index_string(r, csni_gsym_strp(g, entry));
        csni_batch_add_file(r->w, directory, add_index_string(r, csni_gsym_strp(g, entry + g->strp_size)));
    }
}

/* A file's number; 0 where the table does not have it. */
static uint32_t known_file(struct reader *r, uint32_t file, uint64_t addr, enum csn_event event) {
    if (!file || file < r->gsym.file_count) return file;
    csni_batch_note(r->w, event, "file %u of %u at 0x%llx", file, r->gsym.file_count, (unsigned long long)addr);
    return 0;
}

/* ---- the parts of a function ---- */

static void note_index_damage(struct reader *r, const struct csn_error *err) {
    csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "%s", csn_error_text(err));
}

static void add_index_rows(struct reader *r, const struct csni_gsym_record *record,
                           const struct csni_gsym_payload *part) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_gsym_lines lines = { part->bytes, record->start, "FunctionInfo", part->offset,
                                     part->bytes.ptr + part->bytes.size };
    struct csni_gsym_row_iter iter;
    struct csn_row row;
    /* A row takes a byte at least. */
    struct csni_row *out = part->bytes.size ? csni_batch_reserve_rows(r->w, part->bytes.size) : NULL;
    if (!out && part->bytes.size) return;
    size_t count = 0;
    uint64_t before = 0;
    csn_status status = csni_gsym_rows(&iter, &lines, &err);
    while (status == CSN_OK && (status = csni_gsym_row_next(&iter, &row, &err)) == CSN_OK) {
        uint64_t off = row.addr - record->start;
        if (off < before || off > UINT32_MAX) {
            csni_batch_note(r->w, CSN_EVENT_LINE_NOT_ASCENDING, "row at 0x%llx after one at 0x%llx",
                            (unsigned long long)row.addr, (unsigned long long)(record->start + before));
            break;
        }
        before = off;
        uint32_t file = known_file(r, row.file, row.addr, CSN_EVENT_LINE_BAD_FILE);
        out[count++] = (struct csni_row){ (uint32_t)off, file, row.line };
    }
    if (count) csni_batch_commit_rows(r->w, count, count);
    if (status < 0) note_index_damage(r, &err);
}

/* A node's ranges into r->parts: ascending, joined where they touch, as readers take them. False where one leads outside
 * the 4 GiB after the function's start. */
static bool read_index_parts(struct reader *r, const struct csni_gsym_record *record,
                             const struct csni_gsym_node *node) {
    struct csni_span ranges = node->ranges;
    r->parts.count = 0;
    for (uint32_t k = 0; k < node->range_count; k++) {
        struct csn_range range = csni_gsym_range(&ranges, node->base);
        if (range.start == range.end) continue;
        if (range.start < node->base || range.end < range.start || range.end - record->start > UINT32_MAX) return false;
        struct csni_part part = { (uint32_t)(range.start - record->start), (uint32_t)(range.end - record->start) };
        if (!csni_vec_push(&r->parts, part)) {
            r->w->failed = true;
            return false;
        }
    }
    r->parts.count = csni_join_ranges(r->parts.items, r->parts.count, start, end);
    return true;
}

/* A function without a name has an empty string other than the first as its name: 0 would be no name at all. Its root has 0. */
static bool has_name_of(const struct reader *r, const struct csni_gsym_node *node, const struct csni_gsym_record *record) {
    return node->name == record->name || (!node->name && !csni_gsym_string(&r->gsym, record->name).len);
}

/* The root that every writer makes, and that the model does without. */
static bool is_plain_root(const struct reader *r, const struct csni_gsym_record *record, const struct csni_gsym_node *node) {
    struct csni_span ranges = node->ranges;
    if (node->range_count != 1 || node->call_file || node->call_line || !has_name_of(r, node, record)) return false;
    struct csn_range range = csni_gsym_range(&ranges, node->base);
    return range.start == record->start && range.end - range.start == record->size;
}

/* The inlined calls that are open while a tree is read. */
struct open_nodes {
    uint32_t nodes[CSN_INLINE_DEPTH_MAX];
    uint32_t depth;
};

static void close_nodes(struct reader *r, struct open_nodes *open, uint32_t depth) {
    while (open->depth > depth) csni_batch_end_inline(r->w, open->nodes[--open->depth]);
}

/* False where the node, and so what is nested in it, is left out. */
static bool add_index_node(struct reader *r, const struct csni_gsym_record *record, const struct csni_gsym_node *node,
                           struct open_nodes *open) {
    if (open->depth + 2 > CSN_INLINE_DEPTH_MAX) { /* with a root before one that had to be kept */
        csni_batch_note(r->w, CSN_EVENT_INLINE_TOO_DEEP, NULL);
        return false;
    }
    if (!read_index_parts(r, record, node) || !r->parts.count) {
        csni_batch_note(r->w, r->parts.count ? CSN_EVENT_INLINE_OUTSIDE_PARENT : CSN_EVENT_INLINE_WITHOUT_RANGES,
                        "in the function at 0x%llx", (unsigned long long)record->start);
        return false;
    }
    uint32_t call_file = known_file(r, node->call_file, node->first, CSN_EVENT_INLINE_BAD_FILE);
    uint32_t number = csni_batch_begin_inline(r->w, add_index_string(r, node->name), call_file, node->call_line);
    for (size_t k = 0; k < r->parts.count; k++) csni_batch_add_part(r->w, r->parts.items[k].start, r->parts.items[k].end);
    open->nodes[open->depth++] = number;
    return true;
}

static void add_index_inlines(struct reader *r, const struct csni_gsym_record *record,
                              const struct csni_gsym_payload *part) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_gsym_inline_iter iter;
    struct csni_gsym_node node;
    struct open_nodes open;
    uint64_t bases[CSN_INLINE_DEPTH_MAX];
    uint32_t depth, shown = 0, skipped = UINT32_MAX; /* depth of the node whose nested ones are left out */
    csn_status status;
    csni_gsym_nodes(&iter, &r->gsym, part);
    bases[0] = record->start;
    open.depth = 0;
    while ((status = csni_gsym_node_next(&iter, bases, &node, &depth, &err)) == CSN_OK) {
        if (depth == 0) shown = is_plain_root(r, record, &node); /* depth of the outermost nodes of the model */
        if (depth < shown || depth > skipped) continue;
        skipped = UINT32_MAX;
        close_nodes(r, &open, depth - shown);
        if (!add_index_node(r, record, &node, &open)) skipped = depth;
    }
    close_nodes(r, &open, 0);
    if (status < 0) note_index_damage(r, &err);
}

static void add_index_call_sites(struct reader *r, const struct csni_gsym_payload *part) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_gsym_list list;
    struct csni_gsym_call_site site;
    csn_status status = csni_gsym_list_open(&list, &r->gsym, part, &err);
    while (status == CSN_OK && (status = csni_gsym_call_site_next(&r->gsym, &list, &site, &err)) == CSN_OK) {
        csni_batch_add_call_site(r->w, site.return_offset, site.flags);
        for (uint32_t k = 0; k < site.pattern_count; k++)
            csni_batch_add_pattern(r->w, add_index_string(r, csni_gsym_pattern(&r->gsym, site.patterns, k)));
    }
    if (status < 0) note_index_damage(r, &err);
}

/* ---- functions ---- */

enum { PART_TYPES = CSNI_GSYM_PART_CALL_SITES + 1 };

/* The first part of each type, as lookups take it; a type that there is none of has no bytes. */
static csn_status find_index_parts(struct reader *r, const struct csni_gsym_record *record,
                                   struct csni_gsym_payload *out,
                                   struct csn_error *failure) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_gsym_payload part;
    uint64_t pos = r->gsym.parts_at;
    csn_status status;
    while ((status = csni_gsym_part_next(&r->gsym, record, &pos, &part, &err)) == CSN_OK) {
        bool known = part.type < PART_TYPES;
        if (known && !out[part.type].bytes.ptr) out[part.type] = part;
        else
            csni_batch_note(r->w, CSN_EVENT_UNKNOWN_PART, "%s of type %u, %zu bytes, in the function at 0x%llx",
                            known ? "a second part" : "a part", part.type, part.bytes.size,
                            (unsigned long long)record->start);
    }
    if (status < 0) note_index_damage(r, &err);
    if (!csni_budget_charge(&r->budget, pos))
        return csni_fail(failure, CSN_E_LIMIT, "FunctionInfo", record->offset,
                         "functions share records: they have more than four times the %zu bytes of the file",
                         r->gsym.bytes.size);
    return CSN_OK;
}

static csn_status add_index_record(struct reader *r, const struct csni_gsym_record *record,
                                   struct csni_gsym_payload *merged,
                                   struct csn_error *err) {
    struct csni_gsym_payload parts[PART_TYPES] = { { { NULL, 0 }, 0, 0 } };
    const uint32_t size = csni_batch_clip_size(r->w, 0, record->start, record->size);
    csni_batch_begin_function(r->w, record->start, size, add_index_string(r, record->name), CSNI_SOURCE_INDEX);
    CSNI_TRY(find_index_parts(r, record, parts, err));
    *merged = parts[CSNI_GSYM_PART_MERGED];
    if (parts[CSNI_GSYM_PART_LINES].bytes.ptr) add_index_rows(r, record, &parts[CSNI_GSYM_PART_LINES]);
    if (parts[CSNI_GSYM_PART_INLINE].bytes.ptr) add_index_inlines(r, record, &parts[CSNI_GSYM_PART_INLINE]);
    if (parts[CSNI_GSYM_PART_CALL_SITES].bytes.ptr) add_index_call_sites(r, &parts[CSNI_GSYM_PART_CALL_SITES]);
    return CSN_OK;
}

/* Functions merged into the last one that was added. Those merged into them in turn, which no writer makes, are not kept. */
static csn_status add_merged(struct reader *r, uint64_t start, const struct csni_gsym_payload *part,
                             struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_gsym_list list;
    struct csni_gsym_record child;
    struct csni_gsym_payload nested;
    size_t parent = r->w->functions.count - 1;
    csn_status status = csni_gsym_list_open(&list, &r->gsym, part, &damage);
    while (status == CSN_OK && (status = csni_gsym_merged_next(&r->gsym, &list, start, &child, &damage)) == CSN_OK) {
        CSNI_TRY(add_index_record(r, &child, &nested, err));
        if (r->w->failed) return CSN_OK;
        r->w->functions.items[parent].merged_count++;
        if (nested.bytes.ptr)
            csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "FunctionInfo+0x%llx: a merged function holds merged functions",
                            (unsigned long long)nested.offset);
    }
    if (status < 0) note_index_damage(r, &damage);
    return CSN_OK;
}

static csn_status add_index_function(struct reader *r, uint32_t idx, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_gsym_record record;
    struct csni_gsym_payload merged;
    if (csni_gsym_record(&r->gsym, idx, &record, &damage) < 0) {
        note_index_damage(r, &damage);
        return CSN_OK;
    }
    CSNI_TRY(add_index_record(r, &record, &merged, err));
    return merged.bytes.ptr && !r->w->failed ? add_merged(r, record.start, &merged, err) : CSN_OK;
}

static csn_status read_index_functions(struct reader *r, struct csn_error *err) {
    enum { STEP = 4096 };
    uint32_t count = r->gsym.address_count;
    r->c->progress_total = count;
    for (uint32_t idx = 0; idx < count && !r->w->failed; idx++) {
        CSNI_TRY(add_index_function(r, idx, err));
        if (idx % STEP == STEP - 1) CSNI_TRY(csni_progress(r->c, "functions", STEP, err));
    }
    return CSN_OK;
}

static csn_status keep_members(const struct reader *r, struct csn_error *err) {
    for (uint32_t i = 0; i < r->gsym.member_count; i++) {
        struct csni_member member = { .start = 0 };
        member.start = csni_gsym_member(&r->gsym, i, &member.name);
        if (!csni_vec_push(&r->c->image.members, member)) return csni_fail_memory(err, sizeof member);
    }
    return CSN_OK;
}

/* llvm-gsymutil takes the first function for the base where it knows no image's: of object files, whose addresses count from
 * 0, and of PE images. Those have headers before their code, and are linked above 4 GiB as a rule. */
static uint32_t base_off_of(const struct csni_gsym *g) {
    enum { FIRST_PAGE = 1 << 12 };
    const uint64_t base = g->base_address;
    if (!g->address_count || base != csni_gsym_address(g, 0)) return 0;
    return base < FIRST_PAGE ? (uint32_t)base : base >> 32 ? (uint32_t)(base - csni_guess_image_base(base)) : 0;
}

csn_status csni_source_gsym_in(struct csni_conversion *c, struct csni_span file, struct csn_error *err) {
    struct reader r = { .c = c, .w = &c->writers[0], .strings.slots.alloc = c->alloc, .parts.alloc = c->alloc };
    CSNI_TRY(csni_gsym_parse(&r.gsym, file, err));
    struct csni_gsym_names names;
    if ((c->options.flags & CSN_CONVERT_ACCELERATE) && csni_gsym_find_names(file, r.gsym.big, &names))
        c->options.flags |= CSN_CONVERT_NAME_TABLE;
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    c->image.exact = c->image.has_base_address = true;
    c->image.base_address = r.gsym.base_address;
    c->image.base_off = base_off_of(&r.gsym);
    c->image.big_endian = r.gsym.big;
    c->image.uuid = r.gsym.uuid;
    CSNI_TRY(keep_members(&r, err));
    r.budget = csni_budget_for(0, file.size, 4);
    r.strings.text = csni_budget_for(0, file.size, STRINGS_SHARING);
    csni_batch_begin(r.w, &c->arenas[0]);
    add_files(&r);
    csn_status status = read_index_functions(&r, err);
    csni_vec_deinit(&r.strings.slots);
    csni_vec_deinit(&r.parts);
    if (csni_index_strings_exceed(&r.strings, r.w))
        return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                         "strings lie within others: they have more than %d times the %zu bytes of the file", STRINGS_SHARING,
                         file.size);
    return status < 0 ? status : csni_batch_finish(r.w, batch, err);
}

csn_status csni_source_gsym(struct csni_conversion *c, struct csn_error *err) {
    return csni_source_gsym_in(c, c->input.file, err);
}

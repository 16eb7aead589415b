/* An index in the section-embedded GSYM of 2017 as a source: one batch that holds all of it. What a writer of the model relies on
 * is made sure of here, as nothing in an index can be trusted: rows and ranges that do not ascend or lie outside are left out. */
#include "base/core/fail.h"
#include "base/core/image_base.h"
#include "base/core/search.h"
#include "convert/sources/index_strings.h"
#include "convert/sources/source.h"
#include "formats/gsection/read/gsection.h"
#include "object/find/section_find.h"

typedef unsigned long long ull; /* for %llx */

/* Records may be shared by functions, and offsets of a hostile file may all lead to one: bytes read for a byte of section. */
enum { SHARING_MAX = 64, STRINGS_SHARING = 32 };

/* An inlined call that is open, or the function. */
struct open_node {
    uint32_t node;        /* for csni_batch_end_inline() */
    uint32_t first, count; /* its parts in the writer's; of the function: count 0 */
    bool is_written;      /* not: a block without a name, or one that was left out */
    bool is_dropped;      /* with everything inside it */
};

struct reader {
    const struct csni_gsection *g;
    struct csni_batch_writer *w;
    uint32_t *files;      /* file numbers of the batch */
    uint32_t unknown_file; /* for numbers that the table does not have; 0: not met yet */
    uint64_t bytes_left;
    struct csni_index_strings strings;
    struct open_node open[CSN_INLINE_DEPTH_MAX + 1];
    uint64_t bases[CSN_INLINE_DEPTH_MAX];
};

/* The tools of 2017 wrote the table before they had met the files that inlined calls come from: such a call keeps its frame. */
static uint32_t file_of(struct reader *r, uint32_t file) {
    if (file < r->g->gsym.file_count) return r->files[file];
    if (!r->unknown_file) r->unknown_file = csni_batch_add_file(r->w, 0, csni_batch_add_string(r->w, csni_str("<unknown>")));
    return r->unknown_file;
}

static csn_status read_section_files(struct reader *r, struct csni_arena *arena, struct csn_error *err) {
    uint32_t count = r->g->gsym.file_count;
    r->files = csni_arena_alloc(arena, count * sizeof *r->files);
    if (!r->files) return csni_fail_memory(err, count * sizeof *r->files);
    r->files[0] = 0;
    for (uint32_t i = 1; i < count && !r->w->failed; i++) {
        struct csn_str directory, base;
        csni_gsection_file(r->g, i, &directory, &base);
        uint32_t first = csni_index_strings_add_text(&r->strings, r->w, directory);
        r->files[i] = csni_batch_add_file(r->w, first, csni_index_strings_add_text(&r->strings, r->w, base));
    }
    return CSN_OK;
}

static void read_section_rows(struct reader *r, const struct csni_gsym_record *record,
                              const struct csni_gsym_payload *part) {
    struct csni_gsym_row_iter rows;
    struct csn_row row;
    uint64_t before = 0;
    csn_status status = csni_gsection_rows(r->g, part, 0, &rows, NULL);
    while (status == CSN_OK && (status = csni_gsym_row_next(&rows, &row, NULL)) == CSN_OK) {
        /* The scripts of 2017 write the row that stands at the function's end, too. */
        if (r->g->self_counting && row.addr >= before && row.addr >= record->size) continue;
        if (row.addr < before || (record->size && row.addr >= record->size) || row.addr > UINT32_MAX) {
            csni_batch_note(r->w, CSN_EVENT_LINE_NOT_ASCENDING, "function at 0x%llx", (ull)record->start);
            continue;
        }
        before = row.addr;
        csni_batch_add_row(r->w, (uint32_t)row.addr, file_of(r, row.file), row.line);
    }
    if (status < 0) csni_batch_note(r->w, CSN_EVENT_DAMAGED_LINE_TABLE, "function at 0x%llx", (ull)record->start);
}

/* Whether a part of the parent holds it. */
static bool lies_within(const struct reader *r, const struct open_node *parent, struct csni_part part) {
    const struct csni_part *parts = r->w->parts.items + parent->first;
    size_t at = csni_lower_bound(parts, parent->count, end, part.end);
    return at < parent->count && parts[at].start <= part.start;
}

/* Adds the usable ranges of a node that was begun; how many. */
static uint32_t add_parts(struct reader *r, const struct csni_gsym_record *record, struct csni_gsym_node *node,
                          const struct open_node *parent) {
    uint32_t count = 0, end = 0;
    for (uint32_t k = 0; k < node->range_count; k++) {
        struct csn_range range = csni_gsym_range(&node->ranges, node->base);
        if (range.start == range.end) continue;
        uint64_t off = range.start - record->start, upper = range.end - record->start;
        bool good = off < upper && upper <= record->size && (!count || off > end);
        struct csni_part part = { (uint32_t)off, (uint32_t)upper };
        if (!good || (parent->count && !lies_within(r, parent, part))) {
            csni_batch_note(r->w, CSN_EVENT_INLINE_OUTSIDE_PARENT, "0x%llx..0x%llx", (ull)range.start, (ull)range.end);
            continue;
        }
        csni_batch_add_part(r->w, part.start, part.end);
        end = part.end;
        count++;
    }
    return count;
}

/* Whether any range of the node can be used, so that it need not be taken back. */
static bool has_parts(const struct reader *r, const struct csni_gsym_record *record, struct csni_gsym_node node,
                      const struct open_node *parent) {
    for (uint32_t k = 0; k < node.range_count; k++) {
        struct csn_range range = csni_gsym_range(&node.ranges, node.base);
        uint64_t off = range.start - record->start, upper = range.end - record->start;
        if (off >= upper || upper > record->size) continue;
        if (!parent->count || lies_within(r, parent, (struct csni_part){ (uint32_t)off, (uint32_t)upper })) return true;
    }
    return false;
}

static void open_node(struct reader *r, const struct csni_gsym_record *record, struct csni_gsym_node *node,
                      const struct open_node *parent, struct open_node *out) {
    *out = *parent;
    out->is_written = false;
    if (parent->is_dropped || !csni_gsym_node_is_call(node, false)) return; /* a block */
    if (!has_parts(r, record, *node, parent)) {
        csni_batch_note(r->w, CSN_EVENT_INLINE_WITHOUT_RANGES, "function at 0x%llx", (ull)record->start);
        out->is_dropped = true;
        return;
    }
    uint32_t name = csni_index_strings_add(&r->strings, r->w, &r->g->gsym, node->name);
    uint32_t first = (uint32_t)r->w->parts.count;
    out->node = csni_batch_begin_inline(r->w, name, file_of(r, node->call_file), node->call_line);
    out->count = add_parts(r, record, node, parent);
    out->first = first;
    out->is_written = true;
}

static void read_inlines(struct reader *r, const struct csni_gsym_record *record, const struct csni_gsym_payload *part) {
    struct csni_gsym_inline_iter nodes;
    struct csni_gsym_node node;
    uint32_t depth, open_count = 1;
    r->open[0] = (struct open_node){ .count = 0 };
    r->bases[0] = record->start;
    csni_gsym_nodes(&nodes, &r->g->gsym, part);
    csn_status status;
    while ((status = csni_gsym_node_next(&nodes, r->bases, &node, &depth, NULL)) == CSN_OK && !r->w->failed) {
        if (depth == 0) continue;
        for (; open_count > depth; open_count--)
            if (r->open[open_count - 1].is_written) csni_batch_end_inline(r->w, r->open[open_count - 1].node);
        open_node(r, record, &node, &r->open[open_count - 1], &r->open[open_count]);
        open_count++;
    }
    for (; open_count > 0; open_count--)
        if (r->open[open_count - 1].is_written) csni_batch_end_inline(r->w, r->open[open_count - 1].node);
    if (status < 0) csni_batch_note(r->w, CSN_EVENT_DAMAGED_UNIT, "inlined calls of the function at 0x%llx", (ull)record->start);
}

/* If it has a size, or, if `sizeless`, if it has none. */
static csn_status read_section_function(struct reader *r, uint32_t idx, bool sizeless, struct csn_error *err) {
    struct csni_gsym_record record;
    struct csn_error damage = CSN_ERROR_INIT;
    if (csni_gsym_record(&r->g->gsym, idx, &record, &damage) < 0) {
        if (!sizeless) csni_batch_note(r->w, CSN_EVENT_DAMAGED_UNIT, "%s", csn_error_text(&damage));
        return CSN_OK;
    }
    if (!record.size != sizeless) return CSN_OK;
    if (record.name >= r->g->gsym.strings.size)
        csni_batch_note(r->w, CSN_EVENT_DAMAGED_UNIT, "name at 0x%llx of the %zu bytes of strings, of the function at 0x%llx",
                        (ull)record.name, r->g->gsym.strings.size, (ull)record.start);
    uint32_t name = csni_index_strings_add(&r->strings, r->w, &r->g->gsym, record.name);
    const uint32_t size = csni_batch_clip_size(r->w, 0, record.start, record.size);
    csni_batch_begin_function(r->w, record.start, size, name, CSNI_SOURCE_INDEX);
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsym_payload part;
    csn_status status;
    bool has_lines = false, has_inlines = false;
    while ((status = csni_gsection_part_next(r->g, &record, &pos, &part, &damage)) == CSN_OK) {
        if (part.bytes.size >= r->bytes_left)
            return csni_fail(err, CSN_E_LIMIT, "FunctionInfo", part.offset,
                             "functions share records so much that they hold over %d times the bytes of the section", SHARING_MAX);
        r->bytes_left -= part.bytes.size + 1;
        if (part.type == CSNI_GSYM_PART_LINES && !has_lines) {
            read_section_rows(r, &record, &part);
            has_lines = true;
        } else if (part.type == CSNI_GSYM_PART_INLINE && !has_inlines) {
            read_inlines(r, &record, &part);
            has_inlines = true;
        }
    }
    if (status < 0) csni_batch_note(r->w, CSN_EVENT_DAMAGED_UNIT, "%s", csn_error_text(&damage));
    return CSN_OK;
}

/* Of several with one start, those without a size come last: in a section they answer where no other one does, in other indexes
 * if they come first. */
static csn_status read_section_functions(struct reader *r, struct csni_arena *arena, struct csn_error *err) {
    CSNI_TRY(read_section_files(r, arena, err));
    const struct csni_gsym *gsym = &r->g->gsym;
    for (uint32_t first = 0, end; first < gsym->address_count && !r->w->failed; first = end) {
        const uint64_t start = csni_gsym_address(gsym, first);
        for (end = first + 1; end < gsym->address_count && csni_gsym_address(gsym, end) == start;) end++;
        for (uint32_t i = first; i < end; i++) CSNI_TRY(read_section_function(r, i, false, err));
        for (uint32_t i = first; i < end; i++) CSNI_TRY(read_section_function(r, i, true, err));
    }
    return CSN_OK;
}

static csn_status read_section_index(struct csni_conversion *c, const struct csni_gsection *g, struct csn_error *err) {
    struct csni_batch *batch = csni_add_batches(c, 1);
    struct reader *r = csni_arena_alloc(&c->arenas[0], sizeof *r);
    if (!batch || !r) return csni_fail_memory(err, sizeof *r);
    const uint64_t size = (uint64_t)g->gsym.bytes.size + g->gsym.strings.size;
    *r = (struct reader){ .g = g, .w = &c->writers[0], .bytes_left = g->gsym.bytes.size * (uint64_t)SHARING_MAX,
                          .strings.slots.alloc = c->alloc, .strings.text = csni_budget_for(0, size, STRINGS_SHARING) };
    c->image.exact = c->options.merged_functions == CSN_MERGE_NONE; /* else names of one piece of code are brought together */
    csni_batch_begin(r->w, &c->arenas[0]);
    csn_status status = read_section_functions(r, &c->arenas[0], err);
    csni_vec_deinit(&r->strings.slots);
    if (status < 0) return status;
    if (csni_index_strings_exceed(&r->strings, r->w))
        return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                         "strings lie within others, or files share long ones: they have more than %d times the %llu bytes "
                         "of the index and its strings",
                         STRINGS_SHARING, (ull)size);
    c->report->functions_from_index += r->w->functions.count;
    return csni_batch_finish(r->w, batch, err);
}

/* A base address that is the lowest start tells nothing of an image linked below 64 KiB, that is at 0, and in sections of other
 * tools of no image: see choose_gsection_base(). */
static void describe(struct csni_conversion *c, const struct csni_gsection *g) {
    const uint64_t base = g->gsym.base_address;
    bool is_lowest = g->gsym.address_count && csni_gsym_address(&g->gsym, 0) == base && base <= UINT32_MAX;
    c->image.base_address = is_lowest && base < CSNI_LOWEST_IMAGE ? 0 : base;
    if (is_lowest && c->image.base_address) c->image.base_off = (uint32_t)base;
    c->image.has_base_address = true;
    if (!c->image.uuid.size) c->image.uuid = g->gsym.uuid;
}

csn_status csni_source_gsection(struct csni_conversion *c, struct csn_error *err) {
    struct csni_span section;
    if (!csni_section_find_recognize(c->object->file)) return CSN_NONE; /* a container without sections of that name */
    csn_status status = csni_section_find_index(c->object->file, &section, err);
    if (status != CSN_OK) return status;
    if (csni_gsection_is_whole(section)) {
        CSNI_TRY(csni_source_gsym_in(c, section, err));
        c->report->functions_from_index += c->batches->function_count;
        return CSN_OK;
    }
    struct csni_gsection_home home = { c->object->file, csni_section_find };
    struct csni_gsection g;
    CSNI_TRY(csni_gsection_parse(&g, section, &home, err));
    if (!c->image.has_base_address) describe(c, &g);
    return read_section_index(c, &g, err);
}

csn_status csni_source_gsection_file(struct csni_conversion *c, struct csn_error *err) {
    struct csni_gsection g;
    CSNI_TRY(csni_gsection_parse(&g, c->input.file, NULL, err));
    describe(c, &g);
    c->image.big_endian = g.gsym.big;
    return read_section_index(c, &g, err);
}

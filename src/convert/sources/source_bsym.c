/* BSYM as a source: its binaries, symbols and renames. */
#include <stdio.h>

#include "base/core/budget.h"
#include "base/core/fail.h"
#include "formats/bsym/read/bsym.h"
#include "convert/sources/source.h"

enum {
    /* Names share prefixes and tokens: real files expand to three times their size, one made so to any. */
    EXPANSION_FREE = 1 << 24, EXPANSION_FACTOR = 64
};

struct reader {
    struct csni_conversion *c;
    const struct csni_bsym *bsym;
    struct csni_batch_writer *w;
    struct csni_budget names; /* bytes of those that are expanded */
    struct csni_binary *binaries;
};

static csn_status read_bsym_name(struct reader *r, const struct csni_bsym_name *name, struct csn_str *out,
                                 struct csn_error *err) {
    struct csni_arena *arena = &r->c->arenas[0];
    uint64_t size = csni_bsym_expand(r->bsym, name, 0, NULL, 0);
    uint64_t left = csni_budget_left(&r->names);
    if (size > CSNI_BSYM_NAME_MAX || !csni_budget_charge(&r->names, size))
        return csni_fail(err, CSN_E_LIMIT, "BSYM", 0, "a name of %llu bytes, %llu are left for all that follow",
                         (unsigned long long)size, (unsigned long long)left);
    char *text = csni_arena_alloc(arena, (size_t)size);
    if (!text) return csni_fail_memory(err, size);
    csni_bsym_expand(r->bsym, name, 0, text, (size_t)size);
    bool changed = false;
    for (size_t i = 0; i < size; i++)
        if (!text[i]) {
            text[i] = '?';
            changed = true;
        }
    if (changed) csni_batch_note(r->w, CSN_EVENT_NAME_CHANGED, "%.*s", (int)(size < 150 ? size : 150), text);
    *out = (struct csn_str){ text, (size_t)size };
    return CSN_OK;
}

static csn_status read_bsym_segment(struct reader *r, uint32_t index, struct csn_error *err) {
    const struct csni_bsym *b = r->bsym;
    const struct csni_bsym_segment *s = &b->segments[index];
    struct csni_bsym_name name = csni_bsym_segment_name(b, s);
    CSNI_TRY(read_bsym_name(r, &name, &r->binaries[index].name, err));
    r->binaries[index].address = s->address;
    r->w->binary = index + 1;
    for (uint32_t k = 0; k < s->count; k++) {
        uint32_t symbol = csni_bsym_in_order(b, s->first + k);
        uint64_t start = csni_bsym_symbol_address(b, symbol), size = csni_bsym_joined_length(b, s, &k);
        struct csn_str text;
        name = csni_bsym_symbol_name(b, symbol);
        CSNI_TRY(read_bsym_name(r, &name, &text, err));
        if (!size) continue; /* a label */
        csni_batch_begin_function(r->w, start, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                                  csni_batch_add_string(r->w, text), CSNI_SOURCE_SYMBOL);
    }
    return CSN_OK;
}

/* Files from 2.3 on have whole paths; older ones the name in the one directory that programs are in. */
static csn_status rename_text(struct reader *r, const struct csni_bsym_name *name, struct csn_str *out, struct csn_error *err) {
    static const char directory[] = "z:\\sys\\bin\\";
    struct csn_str base;
    CSNI_TRY(read_bsym_name(r, name, &base, err));
    *out = base;
    if (r->bsym->version >= CSNI_BSYM_2_3) return CSN_OK;
    size_t before = sizeof directory - 1;
    char *path = csni_arena_alloc(&r->c->arenas[0], before + base.len);
    if (!path) return csni_fail_memory(err, before + base.len);
    memcpy(path, directory, before);
    if (base.len) memcpy(path + before, base.ptr, base.len);
    *out = (struct csn_str){ path, before + base.len };
    return CSN_OK;
}

/* Ascending by segment, in the file's order for each. Renames of segments that do not exist, or have no symbols, go. */
static csn_status read_renames(struct reader *r, struct csn_error *err) {
    const struct csni_bsym *b = r->bsym;
    struct csni_image *image = &r->c->image;
    uint32_t numbers = 0, number;
    for (uint32_t i = 0; i < b->segment_count; i++)
        if (b->segments[i].number >= numbers) numbers = b->segments[i].number + 1;
    struct csni_arena *arena = &r->c->arenas[0];
    struct csni_rename *renames = csni_arena_alloc(arena, b->rename_count * sizeof *renames);
    /* By number in the file: the segment, 1 up; by segment: where its renames begin. */
    uint32_t *segments = csni_arena_alloc(arena, numbers * sizeof *segments);
    uint32_t *starts = csni_arena_alloc(arena, ((size_t)b->segment_count + 2) * sizeof *starts);
    if (!renames || !segments || !starts) return csni_fail_memory(err, b->rename_count * sizeof *renames);
    memset(segments, 0, numbers * sizeof *segments);
    memset(starts, 0, ((size_t)b->segment_count + 2) * sizeof *starts);
    for (uint32_t i = 0; i < b->segment_count; i++) segments[b->segments[i].number] = i + 1;
    for (uint32_t k = 0; k < b->rename_count; k++) {
        csni_bsym_rename(b, k, &number);
        if (number < numbers && segments[number]) starts[segments[number] + 1]++;
    }
    for (uint32_t i = 1; i < b->segment_count + 2; i++) starts[i] += starts[i - 1];
    for (uint32_t k = 0; k < b->rename_count; k++) {
        struct csni_bsym_name name = csni_bsym_rename(b, k, &number);
        if (number >= numbers || !segments[number]) continue;
        struct csni_rename *rename = &renames[starts[segments[number]]++];
        rename->binary = segments[number] - 1;
        CSNI_TRY(rename_text(r, &name, &rename->name, err));
        image->rename_count++;
    }
    image->renames = renames;
    return CSN_OK;
}

static csn_status read_bsym_file(struct reader *r, struct csn_error *err) {
    const struct csni_bsym *b = r->bsym;
    r->binaries = csni_arena_alloc(&r->c->arenas[0], b->segment_count * sizeof *r->binaries);
    if (!r->binaries) return csni_fail_memory(err, b->segment_count * sizeof *r->binaries);
    for (uint32_t i = 0; i < b->segment_count; i++) CSNI_TRY(read_bsym_segment(r, i, err));
    r->c->image.binaries = r->binaries;
    r->c->image.binary_count = b->segment_count;
    r->c->image.checksum = b->checksum;
    return b->rename_count ? read_renames(r, err) : CSN_OK;
}

csn_status csni_source_bsym(struct csni_conversion *c, struct csn_error *err) {
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    struct csni_bsym bsym;
    CSNI_TRY(csni_bsym_open(&bsym, c->input.file, c->alloc, err));
    struct reader r = { .c = c, .bsym = &bsym, .w = &c->writers[0],
                        .names = csni_budget_for(EXPANSION_FREE, c->input.file.size, EXPANSION_FACTOR) };
    csni_batch_begin(r.w, &c->arenas[0]);
    csn_status status = read_bsym_file(&r, err);
    csni_bsym_close(&bsym, c->alloc);
    CSNI_TRY(status);
    c->report->functions_from_symbols += r.w->functions.count;
    return csni_batch_finish(r.w, batch, err);
}

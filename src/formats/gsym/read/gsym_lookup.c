/* GSYM lookup: found function to record, record to row and inlined calls, those to frames. */
#include "base/core/endian.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym_direct.h"
#include "formats/gsym/read/gsym_walk.h"

/* Past a few megabytes of index a lookup mostly waits for memory: what will be read is asked for as soon as its place is
 * known. */
static inline void prefetch_start(struct csni_span bytes) {
    enum { LINE = 64, LINES = 4 };
    for (unsigned k = 0; k < LINES && bytes.size > k * LINE; k++) csni_prefetch(bytes.ptr + k * LINE);
}

/* The record that answers for `addr`: of several with the same start the first that contains it. A record of size 0
 * contains every address up to the next start. `upper`: the number of starts at or below `addr`. */
static CSNI_GSYM_INLINE csn_status find_gsym_record(const struct csni_gsym *gsym, size_t upper, uint64_t addr,
                                                    struct csni_gsym_answer *out, struct csni_gsym_record *record,
                                                    struct csn_error *err) {
    out->reason = CSN_REASON_BEFORE_FIRST;
    if (!upper) return CSN_NONE;
    uint32_t last = (uint32_t)(upper - 1), first = csni_gsym_first_of_start(gsym, last);
    uint64_t start = csni_gsym_address(gsym, last);
    out->reason = CSN_REASON_GAP;
    out->start = start;
    for (uint32_t idx = first; idx <= last; idx++) {
        if (idx - first == CSNI_GSYM_SAME_START_MAX) return csni_gsym_fail_starts(gsym, first, err);
        CSNI_TRY(csni_gsym_record(gsym, idx, record, err));
        if (record->start != start) continue;
        csni_gsym_prefetch_string(gsym, record->name);
        out->idx = idx;
        out->size = record->size;
        out->name = record->name;
        if (record->size == 0 || addr - start < record->size) return CSN_OK;
    }
    return CSN_NONE;
}

/* The first line table and the first inline tree of a record; bytes.ptr is NULL where there is none. */
static CSNI_GSYM_INLINE csn_status find_gsym_parts(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                                   struct csni_gsym_payload *lines, struct csni_gsym_payload *inlines,
                                                   struct csn_error *err) {
    uint64_t pos = gsym->parts_at;
    struct csni_gsym_payload part;
    csn_status status;
    lines->bytes.ptr = inlines->bytes.ptr = NULL;
    lines->offset = inlines->offset = 0;
    prefetch_start(record->bytes);
    for (unsigned count = 0; (status = csni_gsym_part_next(gsym, record, &pos, &part, err)) == CSN_OK;) {
        if (++count > CSNI_GSYM_PARTS_MAX) return csni_gsym_fail_parts(record, err);
        if (part.type == CSNI_GSYM_PART_LINES && !lines->bytes.ptr) *lines = part;
        if (part.type == CSNI_GSYM_PART_INLINE && !inlines->bytes.ptr) {
            *inlines = part;
            prefetch_start(part.bytes);
        }
        if (lines->bytes.ptr && inlines->bytes.ptr) return CSN_OK;
    }
    return status < 0 ? status : CSN_OK;
}

static inline struct csni_gsym_lines lines_of(const struct csni_gsym *gsym, const struct csni_gsym_payload *payload,
                                              uint64_t start) {
    return (struct csni_gsym_lines){ payload->bytes, start, "FunctionInfo", payload->offset,
                                     gsym->bytes.ptr + gsym->bytes.size };
}

/* What was found of the row of out->addr into file, line and reason. CSN_NONE where there is no usable one. */
static CSNI_GSYM_INLINE csn_status take_row(const struct csni_gsym *gsym, csn_status status,
                                            const struct csn_row *row, struct csni_gsym_answer *out) {
    if (status < 0) return status;
    if (status == CSN_NONE || row->file == 0) {
        out->reason = CSN_REASON_NO_ROW;
        return CSN_NONE;
    }
    out->line = row->line;
    if (row->file < gsym->file_count) out->file = row->file;
    else out->reason = CSN_REASON_BAD_FILE;
    return CSN_OK;
}

/* ---- checkpoints ---- */

/* The row before a checkpoint, and where the line table goes on. */
static CSNI_GSYM_INLINE struct csni_gsym_line_place place_of(const struct csni_gsym *gsym, const uint8_t *entry, uint64_t addr) {
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    return (struct csni_gsym_line_place){
        csni_checkpoint_get(entry, &c->fields[CSNI_CP_LINE_AT]),
        { csni_checkpoint_address(c, addr) - csni_checkpoint_get(entry, &c->fields[CSNI_CP_BACK]),
          csni_checkpoint_get(entry, &c->fields[CSNI_CP_FILE]), csni_checkpoint_get(entry, &c->fields[CSNI_CP_LINE]) } };
}

/* Of `upper` functions at or below the address the last has to be the checkpoint's; else it is of no use. */
static CSNI_GSYM_INLINE const uint8_t *checkpoint_of(const struct csni_gsym *gsym, size_t upper, uint64_t addr) {
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    size_t number;
    if (!csni_checkpoint_number(c, addr, &number) || (size_t)csni_checkpoint_place(c, number).function + 1 != upper) return NULL;
    const uint8_t *entry = csni_checkpoint_entry(c, number);
    return csni_checkpoint_place(c, number).record ? entry : NULL;
}

/* The record that the checkpoint of an address names, which begins at `offset` of the records. */
static CSNI_GSYM_INLINE csn_status take_record(const struct csni_gsym *gsym, size_t upper, uint64_t offset, uint64_t addr,
                                               struct csni_gsym_answer *out, struct csni_gsym_record *record,
                                               struct csn_error *err) {
    uint32_t idx = (uint32_t)(upper - 1);
    uint64_t start = csni_gsym_address(gsym, idx);
    struct csni_span rest = { gsym->records.ptr + offset, gsym->records.size - (size_t)offset };
    out->start = start;
    out->reason = CSN_REASON_GAP;
    CSNI_TRY(csni_gsym_record_at(gsym, rest, gsym->records_offset + offset, start, record, err));
    csni_gsym_prefetch_string(gsym, record->name);
    out->idx = idx;
    out->size = record->size;
    out->name = record->name;
    return record->size == 0 || addr - start < record->size ? CSN_OK : CSN_NONE;
}

/* Not the array: clearing it would cost more than the lookup. */
static inline void clear_answer(struct csni_gsym_answer *out, uint64_t addr) {
    out->addr = addr;
    out->start = 0;
    out->name = 0;
    out->idx = out->size = out->file = out->line = 0;
    out->calls.count = out->calls.end = 0;
}

/* The rest of a lookup, once the row is known, or that there is none. */
static CSNI_GSYM_INLINE csn_status finish_answer(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                                 const struct csni_gsym_payload *lines,
                                                 const struct csni_gsym_payload *inlines, const uint8_t *entry,
                                                 enum csn_lookup_mode mode, struct csni_gsym_answer *out,
                                                 struct csn_error *err) {
    if (mode == CSN_LOOKUP_LLVM) {
        if (out->reason == CSN_REASON_NO_ROW) return CSN_NONE;
        if (out->reason == CSN_REASON_NO_LINE_TABLE) return CSN_OK;
        if (out->reason == CSN_REASON_BAD_FILE)
            return csni_fail(err, CSN_E_FORMAT, "FunctionInfo", lines->offset,
                             "row of address 0x%llx names a file that is not in the table of %u",
                             (unsigned long long)out->addr, gsym->file_count);
    }
    if (!inlines->bytes.ptr) return CSN_OK;
    enum csni_gsym_call_filter filter = mode == CSN_LOOKUP_LLVM ? CSNI_GSYM_CALLS_LLVM : CSNI_GSYM_CALLS_ALL;
    size_t tree = (size_t)(inlines->bytes.ptr - record->bytes.ptr);
    return csni_gsym_calls_find_from(gsym, inlines, out->start, out->addr, filter, entry, tree, &out->calls, err);
}

/* From the record on. */
static CSNI_GSYM_INLINE csn_status answer_from(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                               const uint8_t *entry, enum csn_lookup_mode mode, struct csni_gsym_answer *out,
                                               struct csn_error *err) {
    struct csni_gsym_payload lines, inlines;
    CSNI_TRY(find_gsym_parts(gsym, record, &lines, &inlines, err));
    if (lines.bytes.ptr) {
        struct csni_gsym_lines table = lines_of(gsym, &lines, out->start);
        struct csni_gsym_line_place place = { .at = 0 };
        struct csn_row row = { 0, 0, 0 };
        if (entry) place = place_of(gsym, entry, out->addr);
        out->reason = CSN_REASON_COMPLETE;
        csn_status status = take_row(gsym, csni_gsym_line_find_from(&table, &place, out->addr, &row, err), &row, out);
        if (status < 0) return status;
    } else {
        out->reason = CSN_REASON_NO_LINE_TABLE;
    }
    return finish_answer(gsym, record, &lines, &inlines, entry, mode, out, err);
}

csn_status csni_gsym_lookup_at(const struct csni_gsym *gsym, size_t upper, uint64_t addr, enum csn_lookup_mode mode,
                               struct csni_gsym_answer *out, struct csn_error *err) {
    clear_answer(out, addr);
    struct csni_gsym_record record;
    csn_status status = find_gsym_record(gsym, upper, addr, out, &record, err);
    return status == CSN_OK ? answer_from(gsym, &record, checkpoint_of(gsym, upper, addr), mode, out, err) : status;
}

/* With the checkpoint of the address: its record is asked for before the search has proven that it is the right one. */
static csn_status look_up_from(const struct csni_gsym *gsym, size_t number, uint64_t addr, enum csn_lookup_mode mode,
                               struct csni_gsym_answer *out, struct csn_error *err) {
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    const uint8_t *entry = csni_checkpoint_entry(c, number);
    struct csni_checkpoint_place likely = csni_checkpoint_place(c, number);
    uint32_t function = likely.function;
    uint64_t offset = likely.record;
    bool known = offset && offset < gsym->records.size;
    if (known) {
        uint64_t line = offset + csni_checkpoint_get(entry, &c->fields[CSNI_CP_LINE_AT]);
        csni_prefetch(gsym->records.ptr + offset);
        if (line < gsym->records.size) csni_prefetch(gsym->records.ptr + line);
    }
    if (function < gsym->address_count) csni_prefetch(gsym->infos + (size_t)function * gsym->info_size);
    size_t upper = csni_gsym_count_from(gsym, function, addr);
    if (upper != (size_t)function + 1 || !known)
        return csni_gsym_lookup_at(gsym, upper ? upper : csni_gsym_count_up_to(gsym, addr), addr, mode, out, err);
    clear_answer(out, addr);
    struct csni_gsym_record record;
    csn_status status = take_record(gsym, upper, offset, addr, out, &record, err);
    return status == CSN_OK ? answer_from(gsym, &record, entry, mode, out, err) : status;
}

csn_status csni_gsym_lookup(const struct csni_gsym *gsym, uint64_t addr, enum csn_lookup_mode mode,
                            struct csni_gsym_answer *out, struct csn_error *err) {
    if (gsym->direct && mode == CSN_LOOKUP_DEFAULT && csni_gsym_lookup_direct(gsym, addr, out)) return CSN_OK;
    size_t number;
    if (csni_checkpoint_number(&gsym->checkpoints, addr, &number)) return look_up_from(gsym, number, addr, mode, out, err);
    return csni_gsym_lookup_at(gsym, csni_gsym_count_up_to(gsym, addr), addr, mode, out, err);
}

/* ---- ascending addresses ---- */

/* The record of `addr` and its parts, and the line scan before its first row. */
static csn_status enter_node(const struct csni_gsym *gsym, struct csni_gsym_walk *walk, size_t upper, uint64_t addr,
                             struct csni_gsym_answer *out, struct csn_error *err) {
    walk->upper = 0;
    csn_status status = find_gsym_record(gsym, upper, addr, out, &walk->record, err);
    if (status != CSN_OK) return status;
    CSNI_TRY(find_gsym_parts(gsym, &walk->record, &walk->lines, &walk->inlines, err));
    if (walk->lines.bytes.ptr) {
        struct csni_gsym_lines table = lines_of(gsym, &walk->lines, out->start);
        CSNI_TRY(csni_line_scan_start(&walk->scan, &table, err));
        const uint8_t *entry = checkpoint_of(gsym, upper, addr);
        struct csni_gsym_line_place place = { .at = 0 };
        if (entry) place = place_of(gsym, entry, addr);
        csni_line_scan_move(&walk->scan, &table, &place);
    }
    walk->idx = out->idx;
    return CSN_OK;
}

/* Whether find_gsym_record() would find the record of the last address again: those of the same start that do not contain that
 * address do not contain a higher one. */
static inline bool address_stays_inside(const struct csni_gsym_walk *walk, size_t upper, uint64_t addr) {
    const struct csni_gsym_record *record = &walk->record;
    return walk->upper == upper && upper && addr >= walk->addr &&
           (record->size == 0 || addr - record->start < record->size);
}

csn_status csni_gsym_walk_to(const struct csni_gsym *gsym, struct csni_gsym_walk *walk, size_t upper, uint64_t addr,
                             enum csn_lookup_mode mode, struct csni_gsym_answer *out, struct csn_error *err) {
    clear_answer(out, addr);
    if (address_stays_inside(walk, upper, addr)) {
        walk->upper = 0;
        out->idx = walk->idx;
        out->start = walk->record.start;
        out->size = walk->record.size;
        out->name = walk->record.name;
    } else {
        csn_status status = enter_node(gsym, walk, upper, addr, out, err);
        if (status != CSN_OK) return status;
    }
    if (walk->lines.bytes.ptr) {
        struct csni_gsym_lines table = lines_of(gsym, &walk->lines, out->start);
        struct csn_row row = { 0, 0, 0 };
        out->reason = CSN_REASON_COMPLETE;
        CSNI_TRY(take_row(gsym, csni_line_scan_to(&walk->scan, &table, addr, &row, err), &row, out));
    } else {
        out->reason = CSN_REASON_NO_LINE_TABLE;
    }
    walk->upper = upper; /* from here on nothing changes it, whatever the answer */
    walk->addr = addr;
    return finish_answer(gsym, &walk->record, &walk->lines, &walk->inlines, checkpoint_of(gsym, upper, addr), mode, out, err);
}

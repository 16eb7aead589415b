/* perf's jitdump files (jit-PID.dump): records of code that a process made up, with lines. What was written later to an
 * address counts.
 * Source: tools/perf/Documentation/jitdump-specification.txt of Linux. */
#include <stdlib.h>

#include "base/core/alloc.h"
#include "base/core/budget.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/hash.h"
#include "formats/symbols/reused_code.h"
#include "formats/symbols/symbols_text.h"
#include "formats/symbols/text_lines.h"
#include "formats/symbols/v8_name.h"

enum { JITDUMP_MAGIC = 0x4a695444, HEADER_TOTAL_SIZE = 8, RECORD_HEADER = 16 };
enum { JIT_CODE_LOAD = 0, JIT_CODE_MOVE = 1, JIT_CODE_DEBUG_INFO = 2, JIT_CODE_CLOSE = 3 };
enum { JIT_RECORD_ALIGN = 8, JIT_ENTRY = 16 }; /* address, line and discriminator, before the name */

struct jit_code {
    uint64_t start, size, order;
    struct csn_str name;
    struct csn_str path;      /* of V8's names; empty: another name */
    uint32_t line;            /* of V8's names */
    struct csni_span lines;   /* entries of the debug record; empty: none */
    uint64_t line_count, lines_for; /* the address that they were written for: code may have moved since */
    bool is_gone;             /* later code was written where it begins */
};

struct jit_reading {
    CSNI_VEC(struct jit_code) code;
    size_t *last_at, slots;         /* by start: the number of the last code there, from 1 on; 0: none. A power of two, half of it free */
    struct csni_batch_writer *w;
    struct csni_span pending;       /* of a debug record, for the code record after it */
    uint64_t pending_count, pending_address, order;
    struct csni_budget budget;      /* bytes of names and lines: those of code that moved count again */
    bool big;
};

static bool jitdump_order(struct csni_span file, bool *big) {
    if (file.size < HEADER_TOTAL_SIZE + 4) return false;
    *big = csni_get32(file.ptr, true) == JITDUMP_MAGIC;
    return *big || csni_get32(file.ptr, false) == JITDUMP_MAGIC;
}

bool csni_jitdump_recognize(struct csni_span file) {
    bool big;
    return jitdump_order(file, &big);
}

static struct csn_str jit_string(struct csni_cursor *c) {
    struct csn_str text = { (const char *)c->p, 0 };
    while (csni_cursor_left(c) && *c->p) {
        c->p++;
        text.len++;
    }
    csni_cursor_skip(c, 1);
    return text;
}

/* ---- code by address ---- */

static size_t *slot_of(const struct jit_reading *r, uint64_t start) {
    size_t at = (size_t)csni_hash_u64(start) & (r->slots - 1);
    while (r->last_at[at] && r->code.items[r->last_at[at] - 1].start != start) at = (at + 1) & (r->slots - 1);
    return &r->last_at[at];
}

static bool grow_slots(struct jit_reading *r) {
    enum { SLOTS_MIN = 256 };
    const size_t old = r->slots, slots = old ? old * 2 : SLOTS_MIN;
    size_t *last_at = csni_alloc_zeroed(r->code.alloc, slots, sizeof *last_at);
    if (!last_at) return false;
    csni_free(r->code.alloc, r->last_at, old * sizeof *last_at);
    r->last_at = last_at;
    r->slots = slots;
    for (size_t i = 0; i < r->code.count; i++) *slot_of(r, r->code.items[i].start) = i + 1;
    return true;
}

static csn_status add_jit_code(struct jit_reading *r, const struct jit_code *code, struct csn_error *err) {
    if (code->size > UINT64_MAX - code->start) {
        csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "code at 0x%llx of 0x%llx bytes ends after the last address",
                        (unsigned long long)code->start, (unsigned long long)code->size);
        return CSN_OK;
    }
    if (r->code.count >= r->slots / 2 && !grow_slots(r)) return csni_fail_memory(err, r->slots * 2 * sizeof *r->last_at);
    if (!csni_vec_push(&r->code, *code)) return csni_fail_memory(err, sizeof *code);
    *slot_of(r, code->start) = r->code.count;
    return CSN_OK;
}

/* ---- records ---- */

static csn_status read_load(struct jit_reading *r, struct csni_cursor *c, struct csn_error *err) {
    struct jit_code code = { .order = r->order++ };
    csni_cursor_skip(c, 4 + 4 + 8); /* pid, tid, vma */
    code.start = csni_cursor_u64(c);
    code.size = csni_cursor_u64(c);
    csni_cursor_skip(c, 8); /* code_index */
    code.name = jit_string(c);
    if (!csni_split_v8_name(code.name, &code.name, &code.path, &code.line)) code.path.len = 0;
    if (c->failed) {
        csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "code record %llu ends early", (unsigned long long)code.order);
        return CSN_OK;
    }
    if (r->pending_count && r->pending_address == code.start) {
        code.lines = r->pending;
        code.line_count = r->pending_count;
        code.lines_for = code.start;
    }
    r->pending_count = 0;
    return add_jit_code(r, &code, err);
}

static void read_debug(struct jit_reading *r, struct csni_cursor *c) {
    r->pending_address = csni_cursor_u64(c);
    r->pending_count = csni_cursor_u64(c);
    r->pending = csni_cursor_bytes(c, csni_cursor_left(c));
    if (c->failed) r->pending_count = 0;
}

/* The code that was there before is there no more. */
static csn_status read_move(struct jit_reading *r, struct csni_cursor *c, struct csn_error *err) {
    csni_cursor_skip(c, 4 + 4 + 8); /* pid, tid, vma */
    uint64_t from = csni_cursor_u64(c), to = csni_cursor_u64(c);
    size_t last = c->failed || !r->slots ? 0 : *slot_of(r, from);
    if (!last) return CSN_OK;
    struct jit_code moved = r->code.items[last - 1];
    if (!csni_budget_charge(&r->budget, moved.name.len + moved.path.len)) {
        csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "names of code that moved to 0x%llx are more than the file can have",
                        (unsigned long long)to);
        return CSN_OK;
    }
    moved.start = to;
    moved.order = r->order++;
    return add_jit_code(r, &moved, err);
}

/* V8 counts the 64 bytes of the ELF header that perf puts before the code. */
static uint64_t lines_moved_by(const struct jit_code *code) { return code->path.len ? 0x40 : 0; }

/* Node 20 writes the names of files after it freed them: their first 16 bytes are anything, 0 too. If all are as long as the one in
 * the function's name, and end as it does, they are that. */
static bool has_names_of_its_length(const struct jit_code *code) {
    enum { OVERWRITTEN = 16 };
    size_t len = code->path.len, kept = len < OVERWRITTEN ? len : OVERWRITTEN;
    uint64_t entry = JIT_ENTRY + (uint64_t)len + 1;
    if (!len || code->line_count > code->lines.size / entry) return false;
    for (uint64_t i = 0; i < code->line_count; i++) {
        const uint8_t *name = code->lines.ptr + i * entry + JIT_ENTRY;
        if (name[len] || memcmp(name + kept, code->path.ptr + kept, len - kept) != 0) return false;
    }
    return code->lines.size - code->line_count * entry < JIT_RECORD_ALIGN;
}

/* The name of an entry's file; a path of the function's own length is passed over. */
static struct csn_str entry_path(const struct jit_code *code, struct csni_cursor *c, bool is_own) {
    if (!is_own) return jit_string(c);
    csni_cursor_skip(c, code->path.len + 1);
    return code->path;
}

static bool is_damaged_path(struct csn_str path) {
    for (size_t i = 0; i < path.len; i++)
        if ((unsigned char)path.ptr[i] < ' ') return true;
    return false;
}

/* The line of its declaration, for code that begins before the first row. */
static void add_declared_line(struct jit_reading *r, const struct jit_code *code) {
    if (code->path.len) csni_batch_add_row(r->w, 0, csni_batch_add_path(r->w, code->path), code->line);
}

/* Lines of an address below the function's are none of it. A name that begins with 0xff is that of the entry before. */
static void add_jit_rows(struct jit_reading *r, const struct jit_code *code) {
    struct csni_cursor c = csni_cursor_at(code->lines, r->big);
    struct csn_str path = { "", 0 };
    uint32_t file = 0;
    uint64_t last = code->lines_for + lines_moved_by(code), first = last;
    bool is_own, begun = false;
    if (!csni_budget_charge(&r->budget, code->lines.size)) {
        csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "lines of code at 0x%llx are more than the file can have",
                        (unsigned long long)code->start);
        return;
    }
    is_own = has_names_of_its_length(code);
    for (uint64_t i = 0; i < code->line_count; i++) {
        uint64_t addr = csni_cursor_u64(&c);
        uint32_t line = csni_cursor_u32(&c);
        csni_cursor_skip(&c, 4); /* discriminator */
        struct csn_str name = entry_path(code, &c, is_own);
        if (c.failed || is_damaged_path(name)) {
            csni_batch_note(r->w, CSN_EVENT_DAMAGED_RECORD, "lines of code at 0x%llx %s", (unsigned long long)code->start,
                            c.failed ? "end early" : "have a damaged name of a file");
            break;
        }
        bool repeats = name.len == 1 && (uint8_t)name.ptr[0] == 0xff;
        if (!repeats && (!file || !csni_str_equal(name, path))) {
            path = name;
            file = csni_batch_add_path(r->w, path);
        }
        if (addr < last || addr - first >= code->size || addr - first > UINT32_MAX) continue;
        if (!begun && addr > first) add_declared_line(r, code);
        begun = true;
        last = addr;
        csni_batch_add_row(r->w, (uint32_t)(addr - first), file, line);
    }
    if (!begun) add_declared_line(r, code);
}

static int code_by_start(const void *pa, const void *pb) {
    const struct jit_code *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- what was written over ---- */

static csn_status find_gone(struct jit_reading *r, struct csn_error *err) {
    const size_t count = r->code.count, size = count * sizeof(struct csni_made_code);
    struct csni_made_code *made = csni_alloc_zeroed(r->code.alloc, count, sizeof *made);
    for (size_t i = 0; made && i < count; i++)
        made[i] = (struct csni_made_code){ r->code.items[i].start, r->code.items[i].size, r->code.items[i].order, false };
    const bool good = made && csni_find_reused_code(made, count, r->code.alloc);
    for (size_t i = 0; good && i < count; i++) r->code.items[i].is_gone = made[i].is_gone;
    csni_free(r->code.alloc, made, size);
    return good ? CSN_OK : csni_fail_memory(err, size);
}

static csn_status add_jit_functions(struct jit_reading *r, struct csn_error *err) {
    if (!r->code.count) return CSN_OK;
    qsort(r->code.items, r->code.count, sizeof *r->code.items, code_by_start);
    CSNI_TRY(find_gone(r, err));
    for (size_t i = 0; i < r->code.count; i++) {
        const struct jit_code *code = &r->code.items[i];
        if (code->is_gone) {
            csni_batch_note(r->w, CSN_EVENT_DUPLICATE_REPLACED, "code at 0x%llx, by later code", (unsigned long long)code->start);
            continue;
        }
        const uint32_t size = csni_batch_clip_size(r->w, 0, code->start, code->size);
        csni_batch_begin_function(r->w, code->start, size, csni_batch_add_string(r->w, code->name), CSNI_SOURCE_SYMBOL);
        add_jit_rows(r, code);
    }
    return CSN_OK;
}

csn_status csni_jitdump_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                             struct csn_error *err) {
    struct jit_reading r = { .w = w, .code.alloc = alloc };
    r.budget = csni_budget_for(0, file.size, 16);
    if (!jitdump_order(file, &r.big)) return csni_fail(err, CSN_E_FORMAT, NULL, 0, "not a jitdump file");
    struct csni_cursor c = csni_cursor_at(file, r.big);
    csni_cursor_seek(&c, csni_get32(file.ptr + HEADER_TOTAL_SIZE, r.big));
    csn_status status = CSN_OK;
    while (status >= 0 && csni_cursor_left(&c) >= RECORD_HEADER) {
        uint32_t id = csni_cursor_u32(&c), size = csni_cursor_u32(&c);
        csni_cursor_skip(&c, 8); /* timestamp */
        struct csni_span body = csni_cursor_bytes(&c, size < RECORD_HEADER ? UINT64_MAX : size - RECORD_HEADER);
        if (c.failed) {
            csni_batch_note(w, CSN_EVENT_DAMAGED_RECORD, "record of %u bytes, the file ends before", size);
            break;
        }
        struct csni_cursor record = csni_cursor_at(body, r.big);
        if (id == JIT_CODE_LOAD) status = read_load(&r, &record, err);
        else if (id == JIT_CODE_MOVE) status = read_move(&r, &record, err);
        else if (id == JIT_CODE_DEBUG_INFO) read_debug(&r, &record);
        else if (id == JIT_CODE_CLOSE) break;
    }
    if (status >= 0) status = add_jit_functions(&r, err);
    csni_free(alloc, r.last_at, r.slots * sizeof *r.last_at);
    csni_vec_deinit(&r.code);
    return status;
}

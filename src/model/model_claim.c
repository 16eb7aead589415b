/* Rows that no function of their unit has: they go to the functions without rows that they cover, which mostly only a symbol tells.
 * What covers no function at all becomes a function without a name, so that its lines are found.
 *
 * What is added is written to a batch of its own: functions that get rows move there with all they have. */
#include "base/core/fail.h"
#include "base/core/search.h"
#include "model/model_copy.h"
#include "model/model_key.h"
#include "model/model_strays.h"

/* Unclaimed rows [low, end). */
struct piece {
    uint64_t low, end;
    uint32_t batch, index;
};

/* The code that a kept function without rows answers for: [low, end). */
struct target {
    uint64_t low, end;
    uint32_t entry;
};

/* Code of no kept function: [low, end). */
struct hole {
    uint64_t low, end;
    uint32_t next; /* the entry behind it */
};

/* A function of the writer that becomes an entry, before the one that is `next` now. */
struct nameless {
    uint32_t number, next;
};

/* An entry whose function is in the writer now. */
struct move {
    struct csni_entry *entry; /* or child */
    uint32_t number;
};

struct claiming {
    struct csni_model *model;
    struct csn_convert_report *report;
    struct csni_arena *arena;
    struct csni_batch_writer writer;
    struct csni_model_copier copier;
    struct csni_strays strays;
    CSNI_VEC(struct target) targets;    /* ascending, none overlaps another */
    CSNI_VEC(struct hole) holes;        /* the same */
    CSNI_VEC(struct csni_key) keys;     /* rows to claim: batch and number */
    CSNI_VEC(struct piece) pieces;      /* ascending, none overlaps another */
    size_t hint;                        /* the target after the piece looked at last */
    CSNI_VEC(struct nameless) nameless; /* ascending */
    CSNI_VEC(struct move) moves;
    /* Of the function that is written: */
    uint64_t start, written_to;         /* rows hold up to here */
    uint32_t last_file;                 /* of the writer */
    bool has_rows;
};

/* ---- who lacks rows ---- */

/* Where the code of a function ends; a size that is not known reaches to the next one, as lookups have it. */
static uint64_t end_of_function(const struct csni_function *f, uint64_t next_start) {
    uint64_t end = f->start + f->size;
    return !f->size ? next_start : end > f->start ? end : UINT64_MAX;
}

static uint64_t entry_start(const struct csni_model *m, uint32_t index) {
    return csni_model_function(m, &m->entries[index])->start;
}

/* Where the first entry after `index` with another start begins. */
static uint64_t start_after(const struct csni_model *m, uint32_t index) {
    uint64_t start = entry_start(m, index);
    while (++index < m->entry_count)
        if (entry_start(m, index) > start) return entry_start(m, index);
    return UINT64_MAX;
}

static void add_hole(struct claiming *c, uint64_t low, uint64_t end, uint32_t next) {
    c->holes.items[c->holes.count++] = (struct hole){ low, end, next };
}

/* The code that entries cover, and the holes between; of entries of one start the first that holds an address answers for it,
 * up to the next start. */
static bool gather_targets(struct claiming *c) {
    const struct csni_model *m = c->model;
    if (!csni_vec_reserve(&c->holes, (size_t)m->entry_count + 1)) return false;
    uint64_t low = 0, covered = 0; /* up to here by entries of this start, by all so far */
    uint64_t next_start = 0;       /* looked for once for all entries of a start */
    const struct csni_function *f = m->entry_count ? csni_model_function(m, &m->entries[0]) : NULL;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *next = i + 1 < m->entry_count ? csni_model_function(m, &m->entries[i + 1]) : NULL;
        if (low < f->start) low = f->start;
        if (covered < f->start) add_hole(c, covered, f->start, i);
        if (!i || entry_start(m, i - 1) != f->start) next_start = start_after(m, i);
        uint64_t end = end_of_function(f, next_start);
        if (end > covered) covered = end;
        if (end > next_start) end = next_start;
        struct target target = { low, end, i };
        if (!f->row_count && low < end && !csni_vec_push(&c->targets, target)) return false;
        if (low < end) low = end;
        f = next;
    }
    if (covered < UINT64_MAX) add_hole(c, covered, UINT64_MAX, m->entry_count);
    return true;
}

/* ---- rows to claim ---- */

/* Pieces of a unit ascend, and targets are few. */
static bool meets_target(struct claiming *c, uint64_t low, uint64_t end) {
    const struct target *t = c->targets.items;
    size_t count = c->targets.count, at = c->hint;
    bool near = (at == count || t[at].end > low) && (!at || t[at - 1].end <= low);
    if (!near) c->hint = at = csni_upper_bound(t, count, end, low);
    return at < count && t[at].low < end;
}

/* What follows a function up to the next one mostly has nothing but the end of that function's last row. */
static bool is_of_use(struct claiming *c, const struct csni_unclaimed_rows *u) {
    return u->row_count > 1 || u->start == u->low || meets_target(c, u->low, u->end);
}

static const struct csni_unclaimed_rows *rows_of_key(const struct csni_model *m, const struct csni_key *k) {
    return &m->batches[k->batch].unclaimed[k->function];
}

/* Where pieces overlap, the one that begins first has the code, of those the one that comes first in the input. */
static bool take_pieces(struct claiming *c, const struct csni_key *keys, size_t count) {
    uint64_t covered = 0;
    if (!csni_vec_reserve(&c->pieces, count)) return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t low = keys[i].start < covered ? covered : keys[i].start, end = rows_of_key(c->model, &keys[i])->end;
        if (low >= end) continue;
        covered = end;
        c->pieces.items[c->pieces.count++] = (struct piece){ low, end, keys[i].batch, keys[i].function };
    }
    return true;
}

static bool gather_keys(struct claiming *c) {
    const struct csni_model *m = c->model;
    for (uint32_t b = 0; b < m->batch_count; b++) {
        const struct csni_unclaimed_rows *u = m->batches[b].unclaimed;
        for (uint32_t i = 0; i < m->batches[b].unclaimed_count; i++)
            if (is_of_use(c, &u[i]) && !csni_vec_push(&c->keys, ((struct csni_key){ u[i].low, b, i }))) return false;
    }
    return true;
}

static csn_status gather_pieces(struct claiming *c, struct csn_error *err) {
    if (!gather_keys(c)) return csni_fail_memory(err, sizeof(struct csni_key));
    size_t count = c->keys.count;
    if (!count) return CSN_OK;
    if (!csni_vec_reserve(&c->keys, 2 * count)) return csni_fail_memory(err, count * sizeof(struct csni_key));
    csni_sort_by_start(c->keys.items, c->keys.items + count, count);
    return take_pieces(c, c->keys.items, count) ? CSN_OK : csni_fail_memory(err, count * sizeof(struct piece));
}

/* ---- writing ---- */

static void begin_rows(struct claiming *c, uint64_t start, uint64_t low) {
    c->start = start;
    c->written_to = low;
    c->has_rows = false;
}

/* A row that holds from `addr` on. Code before it without any has line 0: readers need a row at the start of a function. */
static void put_row(struct claiming *c, uint64_t addr, uint32_t file, uint32_t line) {
    c->last_file = file;
    c->has_rows = true;
    csni_batch_add_row(&c->writer, (uint32_t)(addr - c->start), file, line);
}

/* Rows have 32 bits: more than 4 GiB after the function's start there is nothing to close. */
static void close_gap(struct claiming *c, uint64_t next, uint32_t file) {
    if (!c->has_rows && next > c->start) put_row(c, c->start, file, 0);
    else if (c->has_rows && next > c->written_to && c->written_to - c->start <= UINT32_MAX)
        put_row(c, c->written_to, c->last_file, 0);
}

/* What rows [first, first + count) of a batch, which count from `base`, tell of [low, end). */
static void put_rows(struct claiming *c, uint32_t batch, uint32_t first, uint32_t count, uint64_t base, uint64_t low,
                     uint64_t end) {
    const struct csni_row *rows = c->model->batches[batch].rows + first;
    uint64_t off = low - base;
    size_t at = off < UINT32_MAX ? csni_upper_bound(rows, count, off, off) : count;
    if (at) at--;
    else if (base + rows[0].off >= end) return;
    for (; at < count && base + rows[at].off < end; at++) {
        if (at + 1 < count && rows[at + 1].off == rows[at].off) continue;
        uint64_t addr = base + rows[at].off > low ? base + rows[at].off : low;
        uint32_t file = csni_copy_file(&c->copier, batch, csni_row_file(rows[at]));
        if (addr - c->start > UINT32_MAX) break;
        if (addr >= c->written_to) close_gap(c, addr, file);
        put_row(c, addr, file, rows[at].line);
        c->written_to = end;
    }
}

/* Entry `index` has rows for `low`. */
static bool has_rows_at(const struct csni_model *m, uint32_t index, uint64_t low) {
    const struct csni_function *f = csni_model_function(m, &m->entries[index]);
    return f->row_count && f->start <= low && low - f->start < f->size;
}

/* An entry near `index` that has rows for `low`: code with several entries, or several sizes. UINT32_MAX: there is none. */
static uint32_t find_neighbour(const struct csni_model *m, uint32_t index, uint64_t low) {
    enum { TRIES = 16 };
    uint64_t start = entry_start(m, index);
    for (uint32_t i = index + 1; i < m->entry_count && i - index <= TRIES && entry_start(m, i) == start; i++)
        if (has_rows_at(m, i, low)) return i;
    for (uint32_t i = index; i > 0 && index - i < TRIES; i--)
        if (has_rows_at(m, i - 1, low)) return i - 1;
    return UINT32_MAX;
}

static void put_rows_of_neighbours(struct claiming *c, uint32_t index, uint64_t low, uint64_t end) {
    const struct csni_model *m = c->model;
    for (uint32_t found; low < end && (found = find_neighbour(m, index, low)) != UINT32_MAX;) {
        const struct csni_function *f = csni_model_function(m, &m->entries[found]);
        uint64_t part_end = f->start + f->size < end ? f->start + f->size : end;
        put_rows(c, m->entries[found].batch, f->first_row, f->row_count, f->start, low, part_end);
        low = part_end;
    }
}

static void put_target_rows(struct claiming *c, const struct target *t, uint64_t start) {
    size_t at = csni_upper_bound(c->pieces.items, c->pieces.count, end, t->low);
    uint64_t low = t->low;
    begin_rows(c, start, low);
    for (; low < t->end; at++) {
        const struct piece *p = at < c->pieces.count && c->pieces.items[at].low < t->end ? &c->pieces.items[at] : NULL;
        uint64_t next = p ? p->low : t->end;
        if (low < next) put_rows_of_neighbours(c, t->entry, low, next);
        if (!p) break;
        const struct csni_unclaimed_rows *u = &c->model->batches[p->batch].unclaimed[p->index];
        if (low < p->low) low = p->low;
        uint64_t end = p->end < t->end ? p->end : t->end;
        put_rows(c, p->batch, u->first_row, u->row_count, u->start, low, end);
        low = end;
    }
    if (c->has_rows && c->written_to < t->end) close_gap(c, t->end, c->last_file);
}

/* ---- functions that get rows ---- */

static void begin_copy(struct claiming *c, const struct csni_entry *e) {
    const struct csni_function *f = csni_model_function(c->model, e);
    csni_batch_begin_function(&c->writer, f->start, f->size, 0, (enum csni_source)f->source);
}

/* The function begun last gets what else `e` has, and will take its place. */
static void take_place(struct claiming *c, struct csni_entry *e) {
    struct csni_batch_writer *w = &c->writer;
    if (w->failed) return;
    struct csni_function *f = csni_model_function(c->model, e);
    struct move move = { e, (uint32_t)(w->functions.count - 1) };
    uint32_t name = csni_copy_string(&c->copier, e->batch, f->name);
    csni_copy_sites(&c->copier, e->batch, f);
    if (!csni_vec_push(&c->moves, move)) w->failed = true;
    if (w->failed) return;
    struct csni_function *copy = &w->functions.items[move.number];
    copy->name = name;
    copy->weak = f->weak;
    copy->local = f->local;
    copy->label = f->label;
    copy->kept = true;
    f->kept = false;
}

/* Of the function begun last: without rows it is taken back. One whose size is not known has no tree of inlined calls: its root would
 * have no code. */
static void end_copy(struct claiming *c, const struct target *t, struct csni_entry *e) {
    const struct csni_function *f = csni_model_function(c->model, e);
    if (c->writer.failed) return;
    if (!c->has_rows) {
        c->writer.functions.count--;
        return;
    }
    if (f->inline_count) csni_copy_inlines(&c->copier, e->batch, f);
    else if (f->size) csni_strays_copy(&c->strays, &c->copier, CSNI_STRAYS_OF_ALL, f->start, t->low, t->end);
    take_place(c, e);
}

static struct csn_str name_of_entry(const struct csni_model *m, const struct csni_entry *e) {
    return m->batches[e->batch].strings[csni_model_function(m, e)->name];
}

static void claim_for_target(struct claiming *c, const struct target *t) {
    struct csni_model *m = c->model;
    struct csni_entry *e = &m->entries[t->entry];
    uint64_t start = csni_model_function(m, e)->start;
    begin_copy(c, e);
    put_target_rows(c, t, start);
    end_copy(c, t, e);
    if (!c->has_rows || c->writer.failed) return;
    csni_report_add(c->report, CSN_EVENT_LINES_CLAIMED, 1, name_of_entry(m, e));
    for (uint32_t k = 0; k < e->child_count && !c->writer.failed; k++) {
        struct csni_entry *child = &m->children[e->first_child + k];
        if (csni_model_function(m, child)->row_count) continue;
        begin_copy(c, child);
        put_target_rows(c, t, start);
        end_copy(c, t, child);
    }
}

/* ---- functions with rows that get strays ---- */

/* An entry's code [its start, end) up to the next start. */
static void claim_strays(struct claiming *c, struct csni_entry *e, uint64_t end) {
    const struct csni_function *f = csni_model_function(c->model, e);
    begin_copy(c, e);
    csni_strays_copy(&c->strays, &c->copier, e->batch, f->start, f->start, end);
    if (c->writer.failed) return;
    if (!c->writer.functions.items[c->writer.functions.count - 1].inline_count) {
        c->writer.functions.count--;
        return;
    }
    csni_copy_rows(&c->copier, e->batch, f);
    take_place(c, e);
}

/* Of the same unit: a part of the function that has a DIE of its own. */
static void claim_all_strays(struct claiming *c) {
    const struct csni_model *m = c->model;
    uint64_t next_start = 0;
    if (!c->strays.items.count) return;
    for (uint32_t i = 0; i < m->entry_count && !c->writer.failed; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        if (!i || entry_start(m, i - 1) != f->start) next_start = start_after(m, i);
        uint64_t end = end_of_function(f, next_start);
        if (f->row_count && !f->inline_count && f->size) claim_strays(c, &m->entries[i], end < next_start ? end : next_start);
    }
}

/* ---- rows of no function ---- */

/* Rows of a piece that begin in [low, end), which no function covers. What only the end of a row covers that began before is mostly
 * padding. */
static bool add_nameless(struct claiming *c, const struct piece *p, uint64_t low, uint64_t end, uint32_t next) {
    const struct csni_batch *b = &c->model->batches[p->batch];
    const struct csni_unclaimed_rows *u = &b->unclaimed[p->index];
    const struct csni_row *rows = b->rows + u->first_row;
    uint64_t off = low - u->start;
    size_t first = off <= UINT32_MAX ? csni_lower_bound(rows, u->row_count, off, off) : u->row_count;
    while (first < u->row_count && !rows[first].line) first++; /* the compiler's own code */
    if (first == u->row_count || u->start + rows[first].off >= end) return true;
    uint64_t start = u->start + rows[first].off;
    uint64_t size = end - start < UINT32_MAX ? end - start : UINT32_MAX;
    uint32_t number = (uint32_t)c->writer.functions.count;
    csni_batch_begin_function(&c->writer, start, (uint32_t)size, 0, CSNI_SOURCE_DWARF);
    begin_rows(c, start, start);
    put_rows(c, p->batch, u->first_row, u->row_count, u->start, start, start + size);
    csni_strays_copy(&c->strays, &c->copier, CSNI_STRAYS_OF_ALL, start, start, start + size);
    if (c->writer.failed) return false;
    c->writer.functions.items[number].kept = true;
    struct csn_str file = b->strings[b->files[csni_row_file(rows[first])].base];
    csni_report_add(c->report, CSN_EVENT_LINES_WITHOUT_FUNCTION, 1, file);
    return csni_vec_push(&c->nameless, ((struct nameless){ number, next }));
}

static bool add_all_nameless(struct claiming *c) {
    const struct hole *holes = c->holes.items;
    for (size_t i = 0, h = 0; i < c->pieces.count; i++) {
        const struct piece *p = &c->pieces.items[i];
        while (h < c->holes.count && holes[h].end <= p->low) h++;
        for (size_t k = h; k < c->holes.count && holes[k].low < p->end; k++) {
            uint64_t low = holes[k].low > p->low ? holes[k].low : p->low;
            uint64_t end = holes[k].end < p->end ? holes[k].end : p->end;
            if (!add_nameless(c, p, low, end, holes[k].next)) return false;
        }
    }
    return true;
}

/* Puts the nameless functions among the entries, in order of address. */
static csn_status insert_nameless(struct claiming *c, struct csn_error *err) {
    struct csni_model *m = c->model;
    size_t added = c->nameless.count, count = m->entry_count + added;
    if (!added) return CSN_OK;
    if (count > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, an index holds at most %u", count, UINT32_MAX);
    struct csni_entry *entries = csni_alloc_present(m->alloc, count, sizeof *entries);
    if (!entries) return csni_fail_memory(err, count * sizeof *entries);
    size_t k = 0, i = 0;
    for (size_t n = 0; n < added; n++) {
        const struct nameless *function = &c->nameless.items[n];
        while (i < function->next) entries[k++] = m->entries[i++];
        entries[k++] = (struct csni_entry){ m->batch_count - 1, function->number, 0, 0 };
    }
    if (i < m->entry_count) memcpy(entries + k, m->entries + i, (m->entry_count - i) * sizeof *entries);
    csni_free(m->alloc, m->entries, m->entry_capacity * sizeof *entries);
    m->entries = entries;
    m->entry_count = m->entry_capacity = (uint32_t)count;
    c->report->functions_written = count;
    return CSN_OK;
}

/* ---- all of it ---- */

static csn_status claim_all(struct claiming *c, struct csn_error *err) {
    struct csni_model *m = c->model;
    const uint32_t own_batch = m->batch_count - 1;
    if (!csni_copier_init(&c->copier, m, &c->writer, c->arena) || !gather_targets(c))
        return csni_fail_memory(err, m->batch_count * sizeof *c->copier.file_numbers);
    CSNI_TRY(gather_pieces(c, err));
    CSNI_TRY(csni_strays_init(&c->strays, m, c->arena, err));
    csni_batch_begin(&c->writer, c->arena);
    if (!add_all_nameless(c)) return csni_fail_memory(err, sizeof *c->nameless.items);
    for (size_t i = 0; i < c->targets.count && !c->writer.failed; i++) claim_for_target(c, &c->targets.items[i]);
    claim_all_strays(c);
    CSNI_TRY(csni_batch_finish(&c->writer, &m->batches[own_batch], err));
    csni_strays_report(&c->strays, c->report);
    for (size_t i = 0; i < c->moves.count; i++) {
        struct csni_entry *e = c->moves.items[i].entry;
        *e = (struct csni_entry){ own_batch, c->moves.items[i].number, e->first_child, e->child_count };
    }
    return insert_nameless(c, err);
}

csn_status csni_model_claim_rows(struct csni_model *m, struct csni_arena *arena, struct csn_convert_report *report,
                                 struct csn_error *err) {
    struct claiming c = { .model = m, .report = report, .arena = arena };
    csni_batch_writer_init(&c.writer, m->alloc);
    c.targets.alloc = c.holes.alloc = c.keys.alloc = c.pieces.alloc = c.nameless.alloc = c.moves.alloc = m->alloc;
    csn_status status = claim_all(&c, err);
    csni_batch_writer_deinit(&c.writer);
    csni_strays_deinit(&c.strays);
    csni_vec_deinit(&c.targets);
    csni_vec_deinit(&c.holes);
    csni_vec_deinit(&c.keys);
    csni_vec_deinit(&c.pieces);
    csni_vec_deinit(&c.nameless);
    csni_vec_deinit(&c.moves);
    return status;
}

/* Making an index: which unit answers where, then what it answers. Where more than one could, the object is asked. */
#include "stand_ins/addr2line/bfd_index.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/addr2line/bfd_unit.h"
#include "stand_ins/address_index/address_bounds.h"
#include "stand_ins/address_index/address_index_write.h"
#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

enum { NOT_YET = UINT32_MAX - 2, MAX_DEPTH = BFD_INDEXED_FRAMES - 1 };
enum { NO_UNIT = UINT32_MAX, SEVERAL_UNITS = UINT32_MAX - 1 };

/* Addresses that a unit has a range for. */
struct claim {
    uint64_t low, high;
    uint32_t unit;
    bool is_of_root;         /* or the unit has no ranges of its own, so that it is asked for all addresses */
};

struct piece {
    uint64_t low, high;
    uint32_t unit;           /* or NO_UNIT, SEVERAL_UNITS */
    bool is_later;           /* the unit has no range for it in its root */
};

struct making {
    struct bfd_object object;
    struct bfd_file file;
    uint64_t base, end;
    bool is_damaged;         /* there are messages to be printed */
    struct { struct claim *items; size_t count, capacity; } claims;
    struct { struct piece *items; size_t count, capacity; } pieces;
    uint32_t unit_count;     /* that are read: none after a damaged one */
    uint32_t unit_idx;       /* of the unit that is read */
    struct address_texts texts;
    struct address_part part;
    struct bfd_unit unit;    /* that is added */
    uint32_t *scopes;        /* by function of the unit */
    uint64_t steps;          /* that collecting bounds took for the unit */
    uint32_t unit_number;    /* as scopes have it: counted from the first unit that the index has */
    uint32_t unit_scope;     /* ADDRESS_NONE: not yet */
    struct { uint64_t *items; size_t count, capacity; } bounds;
};

static void add_bound(struct making *k, uint64_t addr, uint64_t low, uint64_t high) {
    if (addr > low && addr < high) GROW_PUSH(&k->bounds, addr);
}

/* ---- claims ---- */

static void note_claim(void *context, struct bfd_unit *unit, uint64_t low, uint64_t high) {
    struct making *k = context;
    (void)unit;
    if (low >= high || high <= k->base || low >= k->end) return;
    const struct claim made = { low < k->base ? k->base : low, high > k->end ? k->end : high, k->unit_idx, false };
    GROW_PUSH(&k->claims, made);
}

static void ignore_range(void *context, struct bfd_unit *unit, uint64_t low, uint64_t high) {
    (void)context, (void)unit, (void)low, (void)high;
}

/* Ranges of one unit that touch become one. */
static void join_claims(struct making *k, size_t first) {
    size_t to = first;
    for (size_t i = first + 1; i < k->claims.count; i++) {
        struct claim *last = &k->claims.items[to];
        const struct claim *c = &k->claims.items[i];
        if (c->is_of_root == last->is_of_root && c->low <= last->high && c->high >= last->low) {
            if (c->low < last->low) last->low = c->low;
            if (c->high > last->high) last->high = c->high;
        } else {
            k->claims.items[++to] = *c;
        }
    }
    if (first < k->claims.count) k->claims.count = to + 1;
}

/* False: the unit cannot be opened. */
static bool open_unit(struct making *k, uint32_t idx) {
    const struct csn_debug_unit *unit;
    k->unit_idx = idx;
    return csn_debug_info_unit(k->object.info, idx, &unit, NULL) == CSN_OK && bfd_unit_open(&k->unit, &k->file, unit);
}

static void close_unit(struct making *k) {
    const struct csn_debug_unit *unit = k->unit.unit;
    bfd_unit_close(&k->unit);
    csn_debug_unit_release(unit);
}

static void read_claims(struct making *k) {
    const uint32_t count = k->object.object.info_unit_count;
    for (k->unit_count = 0; k->unit_count < count; k->unit_count++) {
        const size_t first = k->claims.count;
        if (!open_unit(k, k->unit_count)) {
            k->claims.count = first; /* what was noted for it finds nothing */
            break;
        }
        const bool has_ranges = k->unit.ranges.count;
        for (size_t i = first; i < k->claims.count; i++) k->claims.items[i].is_of_root = true;
        (void)bfd_unit_decode(&k->unit, &k->file);
        for (size_t i = first; i < k->claims.count && !has_ranges; i++) k->claims.items[i].is_of_root = true;
        join_claims(k, first);
        close_unit(k);
    }
}

/* ---- pieces ---- */

/* Where a claim begins or ends, or a section. */
struct event {
    uint64_t addr;
    const struct claim *claim; /* NULL: a section */
    int change;
    bool is_code;
};

static int by_event(const void *pa, const void *pb) {
    const struct event *a = pa, *b = pb;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

struct events {
    struct event *items;
    size_t count, capacity;
};

static void add_events(struct events *e, uint64_t low, uint64_t high, const struct claim *claim, bool is_code) {
    const struct event begin = { low, claim, 1, is_code }, end = { high, claim, -1, is_code };
    GROW_PUSH(e, begin);
    GROW_PUSH(e, end);
}

/* What is open at an address: sections of code, others, and claims by unit. */
struct open_claims {
    int code, other;
    uint32_t units;          /* with a claim */
    uint64_t unit_sum;       /* of their indexes: of one unit, its index */
    int *claims, *root_claims; /* by unit */
};

static void take_claim(struct open_claims *o, const struct event *e) {
    const uint32_t unit = e->claim->unit;
    const bool was_open = o->claims[unit] > 0;
    o->claims[unit] += e->change;
    if (e->claim->is_of_root) o->root_claims[unit] += e->change;
    if (was_open == (o->claims[unit] > 0)) return;
    o->units += was_open ? UINT32_MAX : 1;
    o->unit_sum += was_open ? 0 - (uint64_t)unit : unit;
}

static uint32_t owner_of(const struct open_claims *o) {
    if (o->code != 1 || o->other || o->units > 1) return SEVERAL_UNITS;
    return o->units ? (uint32_t)o->unit_sum : NO_UNIT;
}

static void add_piece(struct making *k, uint64_t low, uint64_t high, uint32_t unit, bool is_later) {
    struct piece *last = k->pieces.count ? &k->pieces.items[k->pieces.count - 1] : NULL;
    if (low >= high) return;
    if (last && last->unit == unit && last->is_later == is_later && last->high == low) {
        last->high = high;
        return;
    }
    const struct piece made = { low, high, unit, is_later };
    GROW_PUSH(&k->pieces, made);
}

/* Each section is one of its own: a symbol of another one does not name its addresses. */
static void find_pieces(struct making *k) {
    struct events events = { 0 };
    struct open_claims open = { .claims = zeroed_memory((size_t)k->unit_count + 1, sizeof(int)),
                                .root_claims = zeroed_memory((size_t)k->unit_count + 1, sizeof(int)) };
    for (uint32_t i = 0; i < k->object.section_count; i++) {
        const struct bfd_section *s = &k->object.sections[i];
        if (s->is_alloc && s->size && s->size <= UINT64_MAX - s->addr)
            add_events(&events, s->addr, s->addr + s->size, NULL, s->is_code);
    }
    for (size_t i = 0; i < k->claims.count; i++)
        add_events(&events, k->claims.items[i].low, k->claims.items[i].high, &k->claims.items[i], false);
    if (events.count) qsort(events.items, events.count, sizeof *events.items, by_event);
    uint64_t reached = k->base;
    for (size_t i = 0; i < events.count; i++) {
        const struct event *e = &events.items[i];
        const uint64_t to = e->addr < k->end ? e->addr : k->end;
        if (to > reached) {
            const uint32_t owner = owner_of(&open);
            add_piece(k, reached, to, owner, owner < SEVERAL_UNITS && open.root_claims[owner] <= 0);
            reached = to;
        }
        if (e->claim) take_claim(&open, e);
        else *(e->is_code ? &open.code : &open.other) += e->change;
    }
    add_piece(k, reached, k->end, SEVERAL_UNITS, false);
    free(events.items);
    free(open.claims);
    free(open.root_claims);
}

/* ---- scopes ---- */

static uint32_t add_string(struct making *k, const char *text) {
    return text ? address_texts_add(&k->texts, text, strlen(text)) : ADDRESS_NONE;
}

/* Ranges that hold each other in great numbers would take the square of them. */
static bool takes_too_long(const struct making *k) {
    enum { STEPS = 1 << 24, STEPS_EACH = 1024 };
    return k->steps + k->unit.steps > STEPS + STEPS_EACH * (uint64_t)k->unit.spans.count;
}

/* The scope of a function. ADDRESS_UNKNOWN: it cannot be told. */
static uint32_t find_scope(struct making *k, uint32_t idx, unsigned depth) {
    struct bfd_function *f = &k->unit.functions.items[idx];
    struct address_scope made = { .parent = ADDRESS_NONE, .call_file = ADDRESS_NONE };
    if (k->scopes[idx] != NOT_YET) return k->scopes[idx];
    k->scopes[idx] = ADDRESS_UNKNOWN;
    if (depth > MAX_DEPTH) return ADDRESS_UNKNOWN;
    if (f->caller != BFD_NO_FUNCTION) {
        const char *file;
        made.parent = find_scope(k, f->caller, depth + 1);
        if (made.parent == ADDRESS_UNKNOWN) return ADDRESS_UNKNOWN;
        bfd_function_call(&k->unit, f, &file, &made.call_line);
        if (file) made.call_file = address_texts_add_file(&k->texts, file);
    }
    made.name = add_string(k, bfd_function_name(&k->unit, f));
    made.call_column = f->low >= k->base && f->low < k->end ? (uint32_t)(f->low - k->base) : BFD_INDEX_ELSEWHERE;
    made.call_discriminator = BFD_SCOPE_FUNCTION | (f->is_linkage ? BFD_SCOPE_LINKAGE : 0);
    if (made.parent == ADDRESS_NONE) made.call_line = k->unit_number;
    k->scopes[idx] = (uint32_t)k->part.scopes.count;
    GROW_PUSH(&k->part.scopes, made);
    return k->scopes[idx];
}

static uint32_t add_plain_scope(struct making *k, enum bfd_scope_kind kind, uint32_t parent) {
    const struct address_scope made = {
        .name = ADDRESS_NONE, .parent = parent, .call_file = ADDRESS_NONE, .call_line = k->unit_number, .call_discriminator = kind
    };
    GROW_PUSH(&k->part.scopes, made);
    return (uint32_t)k->part.scopes.count - 1;
}

static uint32_t scope_at(struct making *k, uint64_t addr, bool is_later) {
    if (takes_too_long(k)) return ADDRESS_UNKNOWN;
    const struct bfd_function *f = bfd_unit_function_at(&k->unit, addr);
    if (!f && k->unit_scope == ADDRESS_NONE) k->unit_scope = add_plain_scope(k, BFD_SCOPE_UNIT, ADDRESS_NONE);
    const uint32_t scope = f ? find_scope(k, (uint32_t)(f - k->unit.functions.items), 0) : k->unit_scope;
    return scope != ADDRESS_UNKNOWN && is_later ? add_plain_scope(k, BFD_SCOPE_LATER, scope) : scope;
}

/* ---- what a unit answers ---- */

static void collect_bounds(struct making *k, uint64_t low, uint64_t high) {
    const struct bfd_unit *u = &k->unit;
    k->bounds.count = 0;
    GROW_PUSH(&k->bounds, low);
    for (size_t i = UPPER_BOUND(u->spans.items, u->spans.count, reach, low);
         i < u->spans.count && u->spans.items[i].low < high; i++, k->steps++) {
        add_bound(k, u->spans.items[i].low, low, high);
        add_bound(k, u->spans.items[i].high, low, high);
    }
    k->bounds.count = sort_addresses(k->bounds.items, k->bounds.count);
}

static void add_spans(struct making *k, const struct piece *p) {
    collect_bounds(k, p->low, p->high);
    for (size_t i = 0; i < k->bounds.count; i++)
        address_part_add_span(&k->part, (uint32_t)(k->bounds.items[i] - k->base), scope_at(k, k->bounds.items[i], p->is_later));
}

static void collect_rows(struct making *k, uint64_t low, uint64_t high) {
    const struct bfd_lines *l = k->unit.lines;
    k->bounds.count = 0;
    GROW_PUSH(&k->bounds, low);
    for (size_t i = UPPER_BOUND(l->sequences, l->sequence_count, end, low);
         i < l->sequence_count && l->sequences[i].low < high; i++) {
        const struct bfd_sequence *s = &l->sequences[i];
        k->steps += s->count;
        add_bound(k, s->low, low, high);
        for (size_t r = s->first; r < s->first + s->count; r++) add_bound(k, l->rows[r].addr, low, high);
    }
    k->bounds.count = sort_addresses(k->bounds.items, k->bounds.count);
}

/* False: a row without a file, which is not the same as no row. */
static bool add_rows(struct making *k, uint64_t low, uint64_t high) {
    static const struct address_wide_row none = { .file = ADDRESS_NONE };
    struct bfd_lines *l = k->unit.lines;
    collect_rows(k, low, high);
    for (size_t i = 0; i < k->bounds.count; i++) {
        const struct bfd_row *row = bfd_lines_find(l, k->bounds.items[i]);
        const char *path = row ? bfd_lines_path(l, row->file, row->file_unset) : NULL;
        struct address_wide_row made = none;
        if (path) made = (struct address_wide_row){ address_texts_add_file(&k->texts, path), row->line, 0, row->discriminator };
        if (row && made.file == ADDRESS_NONE) return false;
        address_part_add_row(&k->part, (uint32_t)(k->bounds.items[i] - k->base), &made);
    }
    return true;
}

static void add_chunk(struct making *k, const struct piece *p) {
    struct address_part *part = &k->part;
    static const struct address_wide_row none = { .file = ADDRESS_NONE };
    const uint32_t low = (uint32_t)(p->low - k->base);
    const size_t rows = part->rows.count, spans = part->spans.count;
    address_part_begin(part, low);
    if (p->unit < SEVERAL_UNITS && !k->unit.has_error && !takes_too_long(k) && add_rows(k, p->low, p->high)) {
        add_spans(k, p);
        return;
    }
    part->rows.count = rows;
    part->spans.count = spans;
    part->chunks.count--;
    address_part_begin(part, low);
    const bool is_known = p->unit == NO_UNIT || (p->unit != SEVERAL_UNITS && k->unit.has_error);
    address_part_add_row(part, low, &none);
    address_part_add_span(part, low, is_known ? ADDRESS_NONE : ADDRESS_UNKNOWN);
}

static int by_unit(const void *pa, const void *pb) {
    const struct piece *a = pa, *b = pb;
    if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
    return a->low < b->low ? -1 : a->low > b->low;
}

static void add_unit(struct making *k, const struct piece *pieces, size_t count) {
    if (!open_unit(k, pieces[0].unit)) return;
    k->unit_scope = ADDRESS_NONE;
    k->steps = 0;
    (void)bfd_unit_decode(&k->unit, &k->file);
    k->scopes = zeroed_memory(k->unit.functions.count, sizeof *k->scopes);
    for (size_t i = 0; i < k->unit.functions.count; i++) k->scopes[i] = NOT_YET;
    for (size_t i = 0; i < count; i++) add_chunk(k, &pieces[i]);
    free(k->scopes);
    k->scopes = NULL;
    k->unit_number++;
    close_unit(k);
}

static void add_pieces(struct making *k) {
    if (k->pieces.count) qsort(k->pieces.items, k->pieces.count, sizeof *k->pieces.items, by_unit);
    k->file.add_range = ignore_range;
    for (size_t i = 0, next; i < k->pieces.count; i = next) {
        const uint32_t unit = k->pieces.items[i].unit;
        for (next = i + 1; next < k->pieces.count && k->pieces.items[next].unit == unit;) next++;
        if (unit < SEVERAL_UNITS) add_unit(k, &k->pieces.items[i], next - i);
        for (size_t p = i; p < next && unit >= SEVERAL_UNITS; p++) add_chunk(k, &k->pieces.items[p]);
    }
}

/* ---- symbols ---- */

static int by_addr(const void *pa, const void *pb) {
    const struct address_symbol *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return (a->name == ADDRESS_NONE) - (b->name == ADDRESS_NONE);
}

static void add_section_symbols(struct making *k, const struct bfd_section *section, struct address_content *content) {
    const struct bfd_section_symbols *symbols = &k->object.by_section[section->idx];
    const uint32_t low = (uint32_t)(section->addr - k->base), size = (uint32_t)section->size;
    const struct address_symbol nothing = { low, low, ADDRESS_NONE, ADDRESS_NONE };
    if (!symbols->count || symbols->items[0].value) GROW_PUSH(&content->symbols, nothing);
    for (size_t i = 0; i < symbols->count && symbols->items[i].value < section->size; i++) {
        const struct bfd_function_symbol *s = &symbols->items[i];
        const uint64_t left = size - s->value;
        struct address_symbol made = { low + (uint32_t)s->value, low + (uint32_t)(s->value + (s->size < left ? s->size : left)),
                                       ADDRESS_NONE, ADDRESS_NONE };
        made.name = add_string(k, s->name);
        made.file = add_string(k, s->file);
        GROW_PUSH(&content->symbols, made);
    }
}

static void add_symbols(struct making *k, struct address_content *content) {
    for (uint32_t i = 0; i < k->object.section_count && k->object.symbols; i++) {
        const struct bfd_section *s = &k->object.sections[i];
        if (s->is_alloc && s->is_code && s->size && s->addr >= k->base && s->addr < k->end) add_section_symbols(k, s, content);
    }
    if (content->symbols.count) qsort(content->symbols.items, content->symbols.count, sizeof *content->symbols.items, by_addr);
}

/* ---- the whole ---- */

static bool find_bounds(struct making *k) {
    k->base = UINT64_MAX;
    for (uint32_t i = 0; i < k->object.section_count; i++) {
        const struct bfd_section *s = &k->object.sections[i];
        if (!s->is_alloc || !s->is_code || !s->size || s->size > UINT64_MAX - s->addr) continue;
        if (s->addr < k->base) k->base = s->addr;
        if (s->addr + s->size > k->end) k->end = s->addr + s->size;
    }
    return k->base < k->end && k->end - k->base < UINT32_MAX - 1;
}

static struct address_index *make_index(struct making *k, const struct file_identity *identity, const char *path) {
    const struct csn_debug_object *object = &k->object.object;
    const struct address_part *parts[] = { &k->part };
    struct address_content content = { .subject = { .object = *identity }, .parts = parts, .part_count = 1, .texts = &k->texts };
    const bool is_linked = object->kind == CSN_OBJECT_EXECUTABLE || object->kind == CSN_OBJECT_SHARED;
    if (!k->object.is_elf || !is_linked || object->address_size != 8 || !find_bounds(k)) return NULL;
    if (!kept_subject_describe(k->object.info, &content.subject)) return NULL;
    address_texts_init(&k->texts);
    read_claims(k);
    find_pieces(k);
    add_pieces(k);
    add_symbols(k, &content);
    content.base = k->base;
    content.size = k->end - k->base;
    struct address_index *made = k->is_damaged ? NULL : address_index_make(&content, path);
    address_part_deinit(&k->part);
    address_texts_deinit(&k->texts);
    bfd_lines_free(k->file.first_lines);
    free(content.symbols.items);
    free(k->claims.items);
    free(k->pieces.items);
    free(k->bounds.items);
    return made;
}

struct address_index *bfd_index_make(const char *object_path, bool knows_machine, const struct file_identity *identity,
                                     const char *path) {
    struct making *k = zeroed_memory(1, sizeof *k);
    const char *message;
    struct address_index *made = NULL;
    if (bfd_object_open(&k->object, object_path, knows_machine, &message)) {
        k->file = (struct bfd_file){ .info = k->object.info, .big_endian = k->object.object.big_endian,
                                     .add_range = note_claim, .context = k,
                                     .is_damaged = &k->is_damaged };
        (void)csn_debug_info_dwarf_section(k->object.info, "ranges", &k->file.range_section, NULL);
        (void)csn_debug_info_dwarf_section(k->object.info, "rnglists", &k->file.rnglist_section, NULL);
        made = make_index(k, identity, path);
        bfd_object_close(&k->object);
    }
    free(k);
    return made;
}

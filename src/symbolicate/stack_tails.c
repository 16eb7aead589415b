/* Following tail calls from index to index. */
#include "symbolicate/stack_tails.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/hash.h"
#include "base/core/span.h"
#include "symbolicate/symbolicator.h"

enum {
    CALLS_MAX = 8,           /* tail calls one after the other */
    TABLE_WORK = 1 << 26,    /* steps for one table, as many as a stack may cost */
    TABLE_ENTRIES_MAX = 1 << 21,
    NAME_BYTES = 64,         /* of a name are a step, */
    COPIED_BYTES = 8,        /* or of one that is copied, */
    RECORDS = 8              /* or as many numbers of records that are passed */
};

/* ---- the table of one index ---- */

struct table_maker {
    const struct csn_index *index;
    CSNI_VEC(struct csni_tail_entry) entries;
    uint64_t work;
};

static uint64_t hash_name(struct csn_str name) { return csni_hash_bytes(name.ptr, name.len); }

static bool has_tail_call(const struct csn_index *index, const struct csn_record *record, uint64_t *work) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return false;
    while (csni_spend(work, 1) && csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK)
        if (site.flags & CSN_CALL_SITE_TAIL) return true;
    return false;
}

/* False: no memory. */
static bool add_record(struct table_maker *m, const struct csn_record *record, const struct csn_function *function,
                       uint32_t idx, uint32_t child) {
    csni_spend(&m->work, 4 + function->name.len / NAME_BYTES);
    if (!function->has_call_sites || !has_tail_call(m->index, record, &m->work)) return true;
    struct csni_tail_entry entry = { hash_name(function->name), idx, child };
    return csni_vec_push(&m->entries, entry);
}

static bool add_children(struct table_maker *m, const struct csn_record *record, uint32_t idx) {
    struct csn_merged_iter iter;
    struct csn_record child;
    if (csn_merged_iter_init(&iter, m->index, record, NULL) != CSN_OK) return true;
    for (uint32_t k = 1; m->work && csn_merged_iter_next(&iter, &child, NULL) == CSN_OK; k++) {
        struct csn_function function;
        if (csn_record_function(m->index, &child, &function, NULL) == CSN_OK && !add_record(m, &child, &function, idx, k))
            return false;
    }
    return true;
}

static int by_hash(const void *pa, const void *pb) {
    const struct csni_tail_entry *a = pa, *b = pb;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    return a->child < b->child ? -1 : a->child > b->child;
}

/* Damaged records have no tail calls. */
static bool make_table(struct csn_symbolicator *s, struct csni_tail_table *table) {
    struct table_maker m = { .index = table->index, .entries.alloc = s->alloc, .work = TABLE_WORK };
    struct csn_index_info info;
    csn_index_get_info(table->index, &info);
    bool good = true;
    for (uint32_t i = 0; good && m.work && m.entries.count <= TABLE_ENTRIES_MAX && i < info.function_count; i++) {
        struct csn_record record;
        struct csn_function function;
        if (csn_index_record(table->index, i, &record, NULL) != CSN_OK) continue;
        if (csn_record_function(table->index, &record, &function, NULL) != CSN_OK) continue;
        good = add_record(&m, &record, &function, i, 0) && (!function.has_merged || add_children(&m, &record, i));
    }
    table->given_up = !m.work || m.entries.count > TABLE_ENTRIES_MAX;
    if (good && !table->given_up && m.entries.count) {
        qsort(m.entries.items, m.entries.count, sizeof(*m.entries.items), by_hash);
        table->entries = csni_alloc(s->alloc, m.entries.count * sizeof(*table->entries));
        good = table->entries != NULL;
        if (good) memcpy(table->entries, m.entries.items, m.entries.count * sizeof(*table->entries));
        if (good) table->count = m.entries.count;
    }
    csni_vec_deinit(&m.entries);
    return good;
}

static size_t table_bytes(const struct csni_tail_table *table) { return table->count * sizeof(*table->entries); }

void csni_tails_forget(struct csn_symbolicator *s) {
    for (size_t i = 0; i < s->tails.count; i++)
        csni_free(s->alloc, s->tails.items[i].entries, table_bytes(&s->tails.items[i]));
    csni_vec_deinit(&s->tails);
    s->tail_bytes = 0;
}

/* The number of the table of an index; UINT32_MAX: no memory. */
static uint32_t table_of(struct csn_symbolicator *s, const struct csn_index *index) {
    for (size_t i = 0; i < s->tails.count; i++)
        if (s->tails.items[i].index == index) return (uint32_t)i;
    struct csni_tail_table table = { .index = index };
    if (!make_table(s, &table)) return UINT32_MAX;
    if (!csni_vec_push(&s->tails, table)) {
        csni_free(s->alloc, table.entries, table_bytes(&table));
        return UINT32_MAX;
    }
    s->tail_bytes += table_bytes(&table);
    return (uint32_t)s->tails.count - 1;
}

/* ---- following ---- */

struct follower {
    struct csn_symbolicator *s;
    uint64_t *work;
    struct csni_tails *out;
    bool no_memory, unknown;
};

static void give_up(struct follower *f, uint32_t notes) {
    f->unknown = true;
    f->out->notes |= notes;
}

/* Where a callee is defined, of a call made in `module`. */
static uint32_t home_of(uint32_t flags, uint32_t module) {
    uint32_t where = flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    return where == CSN_CALL_SITE_INTERNAL ? module : CSNI_NO_MODULE;
}

/* The name that an exact pattern stands for. */
static void read_name(struct follower *f, struct csn_str pattern, struct csn_str *out) {
    bool copied = memchr(pattern.ptr, '\\', pattern.len);
    char *scratch = NULL;
    if (!csni_spend(f->work, 1 + pattern.len / (copied ? COPIED_BYTES : NAME_BYTES))) {
        give_up(f, CSN_STACK_NOTE_LIMIT);
    } else if (copied && !(scratch = csni_arena_alloc(&f->s->arena, pattern.len))) {
        f->no_memory = f->unknown = true;
    } else if (!csni_pattern_name(pattern, scratch, out)) {
        give_up(f, 0);
    }
}

static bool is_named(const struct csni_tail_end *end, struct csn_str name, uint64_t hash) {
    return end->hash == hash && csni_str_equal(end->name, name);
}

static void add_end(struct follower *f, struct csn_str pattern, struct csni_tail_end end) {
    read_name(f, pattern, &end.name);
    if (f->unknown) return;
    end.hash = hash_name(end.name);
    for (uint32_t i = 0; i < f->out->count; i++) {
        struct csni_tail_end *there = &f->out->ends[i];
        if (!is_named(there, end.name, end.hash)) continue;
        if (end.calls) there->known = true;
        if (there->module == end.module || there->module == CSNI_NO_MODULE) return;
    }
    if (f->out->count == CSNI_TAIL_ENDS_KEPT || end.calls > CALLS_MAX) give_up(f, CSN_STACK_NOTE_LIMIT);
    else f->out->ends[f->out->count++] = end;
}

/* The tail calls of one record add to the ends. */
static void follow_record(struct follower *f, const struct csn_index *index, const struct csn_record *record,
                          uint32_t module, uint32_t from) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (!f->unknown && csn_call_site_iter_next(&iter, &site, NULL) == CSN_OK) {
        if (!csni_spend(f->work, 1)) give_up(f, CSN_STACK_NOTE_LIMIT);
        if (!(site.flags & CSN_CALL_SITE_TAIL)) continue;
        struct csni_tail_end *caller = &f->out->ends[from];
        struct csni_tail_end end = { .module = home_of(site.flags, module), .start = caller->start,
                                     .calls = caller->calls + 1 };
        caller->known = true;
        if (!site.pattern_count) give_up(f, CSN_STACK_NOTE_TAIL_INDIRECT);
        for (uint32_t k = 0; k < site.pattern_count && !f->unknown; k++) {
            struct csn_str pattern;
            if (csn_call_site_pattern(index, &site, k, &pattern, NULL) != CSN_OK) give_up(f, CSN_STACK_NOTE_BAD_PATTERN);
            else add_end(f, pattern, end);
        }
    }
}

static bool find_record(const struct csn_index *index, const struct csni_tail_entry *entry, struct csn_record *out,
                        uint64_t *work) {
    struct csn_merged_iter iter;
    struct csn_record record;
    if (csn_index_record(index, entry->function, out, NULL) != CSN_OK) return false;
    if (!entry->child) return true;
    record = *out;
    if (csn_merged_iter_init(&iter, index, &record, NULL) != CSN_OK) return false;
    for (uint32_t k = 0; k < entry->child; k++)
        if (!csni_spend(work, 1) || csn_merged_iter_next(&iter, out, NULL) != CSN_OK) return false;
    return true;
}

static size_t first_of(const struct csni_tail_table *table, uint64_t hash) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->entries[middle].hash < hash) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* All functions of the end's name in one module: any of them may be meant. Each of them is read, and so is its name. */
static void follow_in_module(struct follower *f, uint32_t module, uint32_t from) {
    if (!f->s->tail_tables[module]) return;
    const struct csni_tail_table *table = &f->s->tails.items[f->s->tail_tables[module] - 1];
    struct csn_str name = f->out->ends[from].name;
    uint64_t hash = f->out->ends[from].hash, steps = 4 + name.len / NAME_BYTES;
    if (table->given_up || !csni_spend(f->work, 16)) give_up(f, CSN_STACK_NOTE_LIMIT);
    for (size_t i = first_of(table, hash); !f->unknown && i < table->count && table->entries[i].hash == hash; i++) {
        struct csn_record record;
        struct csn_function function;
        if (!csni_spend(f->work, steps)) give_up(f, CSN_STACK_NOTE_LIMIT);
        else if (!find_record(table->index, &table->entries[i], &record, f->work)) give_up(f, CSN_STACK_NOTE_LIMIT);
        else if (csn_record_function(table->index, &record, &function, NULL) == CSN_OK && csni_str_equal(function.name, name))
            follow_record(f, table->index, &record, module, from);
    }
}

static void follow_end(struct follower *f, uint32_t from) {
    uint32_t module = f->out->ends[from].module;
    if (module != CSNI_NO_MODULE) follow_in_module(f, module, from);
    else
        for (uint32_t m = 0; m < f->s->module_count && !f->unknown; m++) follow_in_module(f, m, from);
}

static bool find_table(struct follower *f, uint32_t module, uint32_t *tables) {
    const struct csn_index *index = f->s->modules[module].index;
    if (!index || tables[module] || f->unknown) return true;
    if (!csni_spend(f->work, 1 + f->s->tails.count / 8)) give_up(f, CSN_STACK_NOTE_LIMIT);
    uint32_t table = table_of(f->s, index);
    tables[module] = table + 1;
    return table != UINT32_MAX;
}

/* Tables of the modules that are loaded, and of those on the stack; once for each stack. Modules that are neither are no part
 * of this process, or not known to be. */
static bool find_tables(struct follower *f) {
    struct csn_symbolicator *s = f->s;
    if (s->tail_tables) return true;
    size_t size = s->module_count * sizeof(*s->tail_tables);
    uint32_t *tables = csni_arena_alloc(&s->arena, size);
    if (!tables) return false;
    memset(tables, 0, size);
    for (uint32_t m = 0; m < s->module_count; m++)
        if (s->modules[m].start < s->modules[m].end && !find_table(f, m, tables)) return false;
    for (size_t i = 0; i < s->place_count; i++)
        if (s->places[i].place && !find_table(f, s->places[i].module, tables)) return false;
    if (!f->unknown) s->tail_tables = tables;
    return true;
}

static void begin_at(struct follower *f, const struct csni_say *say, uint32_t module) {
    for (uint32_t k = 0; k < say->pattern_count && !f->unknown; k++)
        add_end(f, say->patterns[k], (struct csni_tail_end){ .module = home_of(say->flags, module), .start = k });
}

static void follow_all(struct follower *f, uint32_t first) {
    for (uint32_t i = first; i < f->out->count && !f->unknown; i++) follow_end(f, i);
}

/* A function that the call site names, and of which nothing is known, could have called anybody. */
static bool starts_are_known(const struct csni_tails *tails) {
    for (uint32_t i = 0; i < tails->count && !tails->ends[i].calls; i++)
        if (!tails->ends[i].known) return false;
    return true;
}

bool csni_tails_follow(struct csn_symbolicator *s, const struct csni_say *say, uint32_t module, uint64_t *work,
                       struct csni_tails *out) {
    struct follower f = { .s = s, .work = work, .out = out };
    out->count = out->notes = 0;
    if (!csni_spend(work, 1)) { /* not even the tables are looked for, for each of many frames */
        out->notes = CSN_STACK_NOTE_LIMIT;
        return true;
    }
    for (uint32_t k = 0; k < say->pattern_count; k++)
        if (say->patterns[k].len > CSNI_PATTERN_MAX || !csni_pattern_is_exact(say->patterns[k])) return true;
    if (!find_tables(&f)) return false;
    begin_at(&f, say, module);
    follow_all(&f, 0);
    if (f.unknown || !starts_are_known(out)) out->count = 0;
    return !f.no_memory;
}

bool csni_tails_of_name(struct csn_symbolicator *s, const struct csni_place *place, uint32_t name, uint32_t module,
                        uint64_t *work, struct csni_tails *out) {
    struct follower f = { .s = s, .work = work, .out = out };
    bool any = false, paid = csni_spend(work, 1 + place->record_count / RECORDS);
    out->count = out->notes = 0;
    for (uint32_t k = 0; k < place->record_count && !any && paid; k++)
        any = place->name_of[k] == name && has_tail_call(place->index, &place->records[k], work);
    if (!*work) out->notes = CSN_STACK_NOTE_LIMIT;
    if (!any) return true;
    if (!find_tables(&f)) return false;
    struct csn_str own = place->names[name];
    out->ends[out->count++] = (struct csni_tail_end){ .name = own, .hash = hash_name(own), .module = module };
    for (uint32_t k = 0; k < place->record_count && !f.unknown; k++)
        if (place->name_of[k] == name) follow_record(&f, place->index, &place->records[k], module, 0);
    follow_all(&f, 1);
    return !f.no_memory;
}

const struct csni_tail_end *csni_tails_find(const struct csni_tails *tails, struct csn_str name, uint32_t module) {
    uint64_t hash = tails->count ? hash_name(name) : 0;
    for (uint32_t i = 0; i < tails->count; i++) {
        const struct csni_tail_end *end = &tails->ends[i];
        if (end->calls && (end->module == CSNI_NO_MODULE || end->module == module) && is_named(end, name, hash)) return end;
    }
    return NULL;
}

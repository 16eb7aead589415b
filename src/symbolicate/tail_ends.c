/* Following tail calls from index to index. */
#include "symbolicate/tail_ends.h"

#include <string.h>

#include "base/core/span.h"
#include "base/hash.h"

enum {
    CALLS_MAX = 8,              /* tail calls one after the other */
    NAME_BYTES_PER_STEP = 64,
    COPIED_BYTES_PER_STEP = 8,  /* of a name that is copied */
    RECORDS_PER_STEP = 8        /* that are passed over */
};

static uint64_t hash_name(struct csn_str name) { return csni_hash_bytes(name.ptr, name.len); }

struct follower {
    struct csni_stack_walk *walk;
    struct csni_tail_ends *out;
    bool no_memory, unknown;
};

static void give_up(struct follower *f, uint32_t notes) {
    f->unknown = true;
    f->out->notes |= notes;
}

/* Where a callee is defined, of a call made in `module`. */
static uint32_t callee_module(uint32_t flags, uint32_t module) {
    uint32_t where = flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    return where == CSN_CALL_SITE_INTERNAL ? module : CSNI_NO_MODULE;
}

/* The name that an exact pattern stands for. */
static void read_name(struct follower *f, struct csn_str pattern, struct csn_str *out) {
    bool copied = memchr(pattern.ptr, '\\', pattern.len);
    char *scratch = NULL;
    if (!csni_budget_charge(f->walk->budget, 1 + pattern.len / (copied ? COPIED_BYTES_PER_STEP : NAME_BYTES_PER_STEP))) {
        give_up(f, CSN_STACK_NOTE_LIMIT);
    } else if (copied && !(scratch = csni_arena_alloc(&f->walk->s->arena, pattern.len))) {
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
    if (f->out->count == CSNI_TAIL_ENDS_MAX || end.calls > CALLS_MAX) give_up(f, CSN_STACK_NOTE_LIMIT);
    else f->out->ends[f->out->count++] = end;
}

/* The tail calls of one record add to the ends. */
static void follow_record(struct follower *f, const struct csn_index *index, const struct csn_record *record,
                          uint32_t module, uint32_t from) {
    struct csn_call_site_iter iter;
    struct csn_call_site call;
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return;
    while (!f->unknown && csn_call_site_iter_next(&iter, &call, NULL) == CSN_OK) {
        if (!csni_budget_charge(f->walk->budget, 1)) give_up(f, CSN_STACK_NOTE_LIMIT);
        if (!(call.flags & CSN_CALL_SITE_TAIL)) continue;
        struct csni_tail_end *caller = &f->out->ends[from];
        struct csni_tail_end end = { .module = callee_module(call.flags, module), .start = caller->start,
                                     .calls = caller->calls + 1 };
        caller->known = true;
        if (!call.pattern_count) give_up(f, CSN_STACK_NOTE_TAIL_INDIRECT);
        for (uint32_t k = 0; k < call.pattern_count && !f->unknown; k++) {
            struct csn_str pattern;
            if (csn_call_site_pattern(index, &call, k, &pattern, NULL) != CSN_OK) give_up(f, CSN_STACK_NOTE_BAD_PATTERN);
            else add_end(f, pattern, end);
        }
    }
}

static bool find_record(const struct csn_index *index, const struct csni_tail_entry *entry, struct csn_record *out,
                        struct csni_budget *budget) {
    struct csn_merged_iter iter;
    struct csn_record record;
    if (csn_index_record(index, entry->function, out, NULL) != CSN_OK) return false;
    if (!entry->child) return true;
    record = *out;
    if (csn_merged_iter_init(&iter, index, &record, NULL) != CSN_OK) return false;
    for (uint32_t k = 0; k < entry->child; k++)
        if (!csni_budget_charge(budget, 1) || csn_merged_iter_next(&iter, out, NULL) != CSN_OK) return false;
    return true;
}

/* All functions of the end's name in one module: any of them may be meant. Each of them is read, and so is its name. */
static void follow_in_module(struct follower *f, uint32_t module, uint32_t from) {
    struct csni_stack_walk *walk = f->walk;
    if (!walk->tail_tables[module]) return;
    const struct csni_tail_table *table = &walk->s->tail_tables.items.items[walk->tail_tables[module] - 1];
    struct csn_str name = f->out->ends[from].name;
    uint64_t hash = f->out->ends[from].hash, steps = 4 + name.len / NAME_BYTES_PER_STEP;
    if (table->given_up || !csni_budget_charge(walk->budget, 16)) give_up(f, CSN_STACK_NOTE_LIMIT);
    size_t i = csni_tail_table_first(table, hash);
    for (; !f->unknown && i < table->count && table->entries[i].hash == hash; i++) {
        struct csn_record record;
        struct csn_function function;
        if (!csni_budget_charge(walk->budget, steps)) give_up(f, CSN_STACK_NOTE_LIMIT);
        else if (!find_record(table->index, &table->entries[i], &record, walk->budget)) give_up(f, CSN_STACK_NOTE_LIMIT);
        else if (csn_record_function(table->index, &record, &function, NULL) == CSN_OK && csni_str_equal(function.name, name))
            follow_record(f, table->index, &record, module, from);
    }
}

static void follow_end(struct follower *f, uint32_t from) {
    uint32_t module = f->out->ends[from].module;
    if (module != CSNI_NO_MODULE) follow_in_module(f, module, from);
    else
        for (uint32_t m = 0; m < f->walk->s->module_count && !f->unknown; m++) follow_in_module(f, m, from);
}

static bool find_table(struct follower *f, uint32_t module, uint32_t *tables) {
    struct csn_symbolicator *s = f->walk->s;
    const struct csn_index *index = s->modules[module].index;
    if (!index || tables[module] || f->unknown) return true;
    if (!csni_budget_charge(f->walk->budget, 1 + s->tail_tables.items.count / 8)) give_up(f, CSN_STACK_NOTE_LIMIT);
    uint32_t table = csni_tail_tables_get(&s->tail_tables, index);
    tables[module] = table + 1;
    return table != UINT32_MAX;
}

/* Tables of the modules that are loaded, and of those on the stack; once for each stack. Modules that are neither are no part
 * of this process, or not known to be. */
static bool find_tables(struct follower *f) {
    struct csni_stack_walk *walk = f->walk;
    struct csn_symbolicator *s = walk->s;
    if (walk->tail_tables) return true;
    size_t size = s->module_count * sizeof(*walk->tail_tables);
    uint32_t *tables = csni_arena_alloc(&s->arena, size);
    if (!tables) return false;
    memset(tables, 0, size);
    for (uint32_t m = 0; m < s->module_count; m++)
        if (s->modules[m].start < s->modules[m].end && !find_table(f, m, tables)) return false;
    for (size_t i = 0; i < walk->count; i++)
        if (walk->frames[i].site && !find_table(f, walk->frames[i].module, tables)) return false;
    if (!f->unknown) walk->tail_tables = tables;
    return true;
}

static void begin_at(struct follower *f, const struct csni_call_evidence *evidence, uint32_t module) {
    for (uint32_t k = 0; k < evidence->pattern_count && !f->unknown; k++) {
        struct csni_tail_end end = { .module = callee_module(evidence->flags, module), .start = k };
        add_end(f, evidence->patterns[k], end);
    }
}

static void follow_all(struct follower *f, uint32_t first) {
    for (uint32_t i = first; i < f->out->count && !f->unknown; i++) follow_end(f, i);
}

/* A function that the call site names, and of which nothing is known, could have called anybody. */
static bool starts_are_known(const struct csni_tail_ends *tails) {
    for (uint32_t i = 0; i < tails->count && !tails->ends[i].calls; i++)
        if (!tails->ends[i].known) return false;
    return true;
}

bool csni_tail_ends_follow(struct csni_stack_walk *walk, const struct csni_call_evidence *evidence, uint32_t module,
                            struct csni_tail_ends *out) {
    struct follower f = { .walk = walk, .out = out };
    out->count = out->notes = 0;
    if (!csni_budget_charge(walk->budget, 1)) { /* not even the tables are looked for, for each of many frames */
        out->notes = CSN_STACK_NOTE_LIMIT;
        return true;
    }
    for (uint32_t k = 0; k < evidence->pattern_count; k++)
        if (evidence->patterns[k].len > CSNI_PATTERN_MAX || !csni_pattern_is_exact(evidence->patterns[k])) return true;
    if (!find_tables(&f)) return false;
    begin_at(&f, evidence, module);
    follow_all(&f, 0);
    if (f.unknown || !starts_are_known(out)) out->count = 0;
    return !f.no_memory;
}

bool csni_tail_ends_of_candidate(struct csni_stack_walk *walk, const struct csni_site *site, uint32_t name,
                                  uint32_t module, struct csni_tail_ends *out) {
    struct follower f = { .walk = walk, .out = out };
    bool any = false, paid = csni_budget_charge(walk->budget, 1 + site->record_count / RECORDS_PER_STEP);
    out->count = out->notes = 0;
    for (uint32_t k = 0; k < site->record_count && !any && paid; k++)
        any = site->name_of[k] == name && csni_record_has_tail_call(site->index, &site->records[k], walk->budget);
    if (csni_budget_is_exhausted(walk->budget)) out->notes = CSN_STACK_NOTE_LIMIT;
    if (!any) return true;
    if (!find_tables(&f)) return false;
    struct csn_str own = site->names[name];
    out->ends[out->count++] = (struct csni_tail_end){ .name = own, .hash = hash_name(own), .module = module };
    for (uint32_t k = 0; k < site->record_count && !f.unknown; k++)
        if (site->name_of[k] == name) follow_record(&f, site->index, &site->records[k], module, 0);
    follow_all(&f, 1);
    return !f.no_memory;
}

const struct csni_tail_end *csni_tail_ends_find(const struct csni_tail_ends *tails, struct csn_str name, uint32_t module) {
    uint64_t hash = tails->count ? hash_name(name) : 0;
    for (uint32_t i = 0; i < tails->count; i++) {
        const struct csni_tail_end *end = &tails->ends[i];
        if (end->calls && (end->module == CSNI_NO_MODULE || end->module == module) && is_named(end, name, hash)) return end;
    }
    return NULL;
}

/* Functions that share their code: which one is on top, and which are its merged functions. docs/merged-functions.md has
 * the rules. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/hash.h"
#include "names/mangled.h"
#include "model/model_key.h"

/* A name that a group has, or a name with the place of the first row. */
struct known {
    uint64_t hash;
    uint32_t stamp;      /* of the group */
};

struct merging {
    struct csni_model *model;
    struct csn_convert_report *report;
    CSNI_VEC(struct csni_entry) children;
    CSNI_VEC(struct csni_key) group;  /* kept of the group at hand, the top first */
    struct known *table;
    size_t slots;
    uint32_t stamp;
};

static struct csn_str name_of(const struct merging *g, const struct csni_key *k) {
    return g->model->batches[k->batch].strings[csni_key_function(g->model, k)->name];
}

/* ---- names of a group ---- */

/* The hash of a name and, where a function has rows, of their first one: two of one name that are declared at different places
 * are different functions. */
static uint64_t hash_of_place(const struct merging *g, const struct csni_key *k, uint64_t name_hash) {
    const struct csni_batch *b = &g->model->batches[k->batch];
    const struct csni_row *row = &b->rows[csni_key_function(g->model, k)->first_row];
    const struct csni_file *file = &b->files[csni_row_file(*row)];
    struct csn_str base = b->strings[file->base], directory = b->strings[file->directory];
    uint64_t hash = csni_hash_u64(name_hash ^ row->line);
    hash = csni_hash_u64(hash ^ csni_hash_bytes(base.ptr, base.len));
    return csni_hash_u64(hash ^ csni_hash_bytes(directory.ptr, directory.len));
}

/* Room in the table for a group of `count`: two entries each, half of it free. */
static bool clear_names(struct merging *g, size_t count) {
    g->group.count = 0;
    if (count > UINT32_MAX / 8) return false;
    if (4 * count > g->slots) {
        size_t slots = 64;
        while (slots < 4 * count) slots *= 2;
        struct known *table = csni_alloc_zeroed(g->model->alloc, slots, sizeof *table);
        if (!table) return false;
        csni_free(g->model->alloc, g->table, g->slots * sizeof *table);
        g->table = table;
        g->slots = slots;
        g->stamp = 0;
    }
    g->stamp++;
    return true;
}

static bool has_hash(const struct merging *g, uint64_t hash) {
    size_t at = (size_t)hash & (g->slots - 1);
    for (; g->table[at].stamp == g->stamp; at = (at + 1) & (g->slots - 1))
        if (g->table[at].hash == hash) return true;
    return false;
}

static void add_hash(struct merging *g, uint64_t hash) {
    size_t at = (size_t)hash & (g->slots - 1);
    for (; g->table[at].stamp == g->stamp; at = (at + 1) & (g->slots - 1))
        if (g->table[at].hash == hash) return;
    g->table[at] = (struct known){ hash, g->stamp };
}

/* Adds a function to the group unless one of its name, and of its place in the source where that is known, is there. */
static csn_status add_member(struct merging *g, const struct csni_key *k, uint64_t name_hash, struct csn_error *err) {
    bool has_rows = csni_key_function(g->model, k)->row_count > 0;
    uint64_t place = has_rows ? hash_of_place(g, k, name_hash) : name_hash;
    if (has_hash(g, place)) {
        csni_model_note_pair(g->model, g->report, CSN_EVENT_DUPLICATE_DROPPED, k, &g->group.items[0]);
        return CSN_OK;
    }
    add_hash(g, name_hash);
    add_hash(g, place);
    return csni_vec_push(&g->group, *k) ? CSN_OK : csni_fail_memory(err, sizeof *k);
}

/* ---- all functions of a range, the best known on top ---- */

enum { KNOWN_BY_DEBUG_INFO, KNOWN_AS_FOLDED, KNOWN_BY_SYMBOL };

static uint64_t class_of(const struct csni_function *f) {
    if (f->source == CSNI_SOURCE_SYMBOL && !f->row_count) return KNOWN_BY_SYMBOL;
    return f->source == CSNI_SOURCE_FOLDED ? KNOWN_AS_FOLDED : KNOWN_BY_DEBUG_INFO;
}

/* By class, which stands in place of the start, then in order of input. */
static int by_class(const void *pa, const void *pb) {
    const struct csni_key *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->batch != b->batch) return a->batch < b->batch ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static bool is_versioned(struct csn_str name) { return name.len && memchr(name.ptr, '@', name.len); }

/* Whether a name looks like a second name of another function here, not like a function folded into it: one that only the
 * symbol table has, or a label of assembler source. */
static bool is_alias(const struct merging *g, const struct csni_key *k, bool has_strong) {
    const struct csni_function *f = csni_key_function(g->model, k);
    if (class_of(f) != KNOWN_BY_SYMBOL && !f->label) return false;
    return is_versioned(name_of(g, k)) || (f->weak && has_strong);
}

static struct csn_str last_part(struct csn_str name) {
    size_t at = name.len;
    while (at && name.ptr[at - 1] != ':') at--;
    return (struct csn_str){ name.ptr + at, name.len - at };
}

static bool same_last_part(struct csn_str a, struct csn_str b) { return csni_str_equal(last_part(a), last_part(b)); }

/* A plain name from debug information and a mangled one from the symbol table are of one function where they can only belong to
 * each other: compilers give functions of internal linkage no mangled name. Takes those symbols from the group. */
static void drop_mangled_twins(struct merging *g, size_t symbols) {
    enum { PAIRS_MAX = 1 << 16 };
    struct csni_key *keys = g->group.items;
    size_t count = g->group.count, first = count - symbols;
    if (first * symbols > PAIRS_MAX) return;
    for (size_t i = 0; i < first; i++) {
        struct csn_str plain = name_of(g, &keys[i]);
        if (csni_is_mangled(plain)) continue;
        size_t twin = 0, twins = 0, plains = 0;
        for (size_t k = first; k < g->group.count; k++) {
            if (!csni_mangled_has_part(name_of(g, &keys[k]), plain)) continue;
            twin = k;
            twins++;
        }
        for (size_t k = 0; k < first && twins == 1; k++) plains += same_last_part(name_of(g, &keys[k]), plain);
        if (twins != 1 || plains != 1) continue;
        csni_model_note_pair(g->model, g->report, CSN_EVENT_DUPLICATE_DROPPED, &keys[twin], &keys[i]);
        memmove(keys + twin, keys + twin + 1, (g->group.count - twin - 1) * sizeof *keys);
        g->group.count--;
    }
}

static bool has_strong_symbol(const struct merging *g, const struct csni_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct csni_function *f = csni_key_function(g->model, &keys[i]);
        if (class_of(f) == KNOWN_BY_SYMBOL && !f->weak && !is_versioned(name_of(g, &keys[i]))) return true;
    }
    return false;
}

/* The first in the file. */
static size_t first_of_start(const struct csni_key *keys, size_t count) {
    size_t first = 0;
    for (size_t i = 1; i < count; i++)
        if (keys[i].batch < keys[first].batch || (keys[i].batch == keys[first].batch && keys[i].function < keys[first].function))
            first = i;
    return first;
}

/* Labels have the binding of the symbol of their name, which is what tells second names apart. */
static void bind_labels(const struct merging *g, const struct csni_key *keys, size_t count) {
    enum { PAIRS_MAX = 1 << 16 };
    if (count > PAIRS_MAX / count) return;
    for (size_t i = 0; i < count; i++) {
        struct csni_function *label = &g->model->batches[keys[i].batch].functions[keys[i].function];
        for (size_t k = 0; label->label && k < count; k++) {
            const struct csni_function *f = csni_key_function(g->model, &keys[k]);
            if (class_of(f) != KNOWN_BY_SYMBOL || f->label || !csni_str_equal(name_of(g, &keys[k]), name_of(g, &keys[i]))) continue;
            label->weak = f->weak;
            label->local = f->local;
        }
    }
}

/* Of a symbol: whether debug information tells that the function of its name was folded into another one here. */
static bool is_folded_symbol(const struct merging *g, const struct csni_key *keys, size_t count, const struct csni_key *symbol) {
    enum { PAIRS_MAX = 1 << 16 };
    if (class_of(csni_key_function(g->model, symbol)) != KNOWN_BY_SYMBOL || count > PAIRS_MAX / count) return false;
    for (size_t i = 0; i < count; i++)
        if (csni_key_function(g->model, &keys[i])->source == CSNI_SOURCE_FOLDED &&
            csni_str_equal(name_of(g, &keys[i]), name_of(g, symbol)))
            return true;
    return false;
}

/* How well a function stands for its code: a folded one is not at home here; then second names, local names, others. */
static unsigned rank_of(const struct merging *g, const struct csni_key *k, bool has_strong) {
    const struct csni_function *f = csni_key_function(g->model, k);
    if (f->source == CSNI_SOURCE_FOLDED) return 0;
    if (is_alias(g, k, has_strong)) return is_versioned(name_of(g, k)) ? 1 : 2;
    return f->local ? 3 : 4;
}

/* The one on top: of those that rank highest the last, which is the best known. Of Breakpad's functions and of an index's the
 * first, as their readers have it. */
static size_t top_of(const struct merging *g, const struct csni_key *keys, size_t count, bool has_strong) {
    const uint8_t source = csni_key_function(g->model, &keys[0])->source;
    if (source == CSNI_SOURCE_BREAKPAD || source == CSNI_SOURCE_INDEX) return first_of_start(keys, count);
    size_t top = 0;
    unsigned best = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned rank = is_folded_symbol(g, keys, count, &keys[i]) ? 0 : 1 + rank_of(g, &keys[i], has_strong);
        if (rank < best) continue;
        best = rank;
        top = i;
    }
    return top;
}

/* Fills the group from keys of one range, which are sorted. */
static csn_status gather_group(struct merging *g, struct csni_key *keys, size_t count, struct csn_error *err) {
    const struct csni_model *m = g->model;
    if (!clear_names(g, count)) return csni_fail_memory(err, count * sizeof *g->table);
    bool has_strong = has_strong_symbol(g, keys, count);
    bool keep_kinds = m->merge == CSN_MERGE_ALIASES;
    bind_labels(g, keys, count);
    struct csni_key top = keys[top_of(g, keys, count, has_strong)];
    struct csn_str top_name = name_of(g, &top);
    CSNI_TRY(add_member(g, &top, keep_kinds ? csni_hash_bytes(top_name.ptr, top_name.len) : csni_mangled_hash(top_name), err));
    for (size_t i = 0; i < count; i++) keys[i].start = class_of(csni_key_function(m, &keys[i]));
    qsort(keys, count, sizeof *keys, by_class);
    size_t before_symbols = 0;
    for (size_t i = 0; i < count; i++) {
        struct csn_str name = name_of(g, &keys[i]);
        bool by_symbol = keys[i].start == KNOWN_BY_SYMBOL;
        keys[i].start = top.start;
        if (keys[i].batch == top.batch && keys[i].function == top.function) continue;
        if (!by_symbol || !before_symbols) before_symbols = g->group.count;
        if (!keep_kinds && is_alias(g, &keys[i], has_strong)) {
            csni_model_note_pair(m, g->report, CSN_EVENT_DUPLICATE_DROPPED, &keys[i], &top);
            continue;
        }
        uint64_t hash = keep_kinds ? csni_hash_bytes(name.ptr, name.len) : csni_mangled_hash(name);
        CSNI_TRY(add_member(g, &keys[i], hash, err));
        if (!by_symbol) before_symbols = g->group.count;
    }
    if (!keep_kinds && before_symbols) drop_mangled_twins(g, g->group.count - before_symbols);
    return CSN_OK;
}

/* How many keys from the first on are of one range. A size that is not known is that of the next larger one. */
static size_t group_size(const struct csni_model *m, const struct csni_key *keys, size_t left) {
    uint32_t size = csni_key_function(m, &keys[0])->size;
    size_t count = 1;
    for (; count < left && keys[count].start == keys[0].start; count++) {
        uint32_t next = csni_key_function(m, &keys[count])->size;
        if (!size) size = next;
        if (next != size) break;
    }
    return count;
}

/* An entry for the group, with children for all but its first. */
static csn_status put_merged_entry(struct merging *g, struct csn_error *err) {
    struct csni_model *m = g->model;
    struct csni_entry entry = { g->group.items[0].batch, g->group.items[0].function, (uint32_t)g->children.count,
                                (uint32_t)g->group.count - 1 };
    for (size_t i = 1; i < g->group.count; i++) {
        struct csni_entry child = { g->group.items[i].batch, g->group.items[i].function, 0, 0 };
        csni_model_note_pair(m, g->report, CSN_EVENT_FUNCTIONS_MERGED, &g->group.items[i], &g->group.items[0]);
        if (!csni_vec_push(&g->children, child)) return csni_fail_memory(err, sizeof child);
    }
    m->entries[m->entry_count++] = entry;
    return CSN_OK;
}

static struct csni_key key_of_entry(const struct csni_model *m, const struct csni_entry *e) {
    return (struct csni_key){ csni_model_function(m, e)->start, e->batch, e->function };
}

static csn_status merge_all(struct merging *g, struct csni_key *keys, size_t count, struct csn_error *err) {
    struct csni_model *m = g->model;
    for (size_t i = 0, size; i < count; i += size) {
        size = group_size(m, keys + i, count - i);
        if (size == 1) {
            g->group.count = 0;
            if (!csni_vec_push(&g->group, keys[i])) return csni_fail_memory(err, sizeof *keys);
        } else {
            CSNI_TRY(gather_group(g, keys + i, size, err));
        }
        if (m->entry_count) {
            struct csni_key last = key_of_entry(m, &m->entries[m->entry_count - 1]);
            csni_model_judge(m, &last, &g->group.items[0], g->report); /* what overlaps is counted */
        }
        CSNI_TRY(put_merged_entry(g, err));
    }
    return CSN_OK;
}

/* ---- as the reference converter does ---- */

/* Takes the functions from DWARF of keys [0, count), which are of one range, together: the first is on top. A child that equals the
 * one before it is left out; the first is compared with nothing. Gives how many keys are left. */
static csn_status gather_children(struct merging *g, struct csni_key *keys, size_t count, size_t *left, size_t *parent,
                                  struct csn_error *err) {
    const struct csni_model *m = g->model;
    size_t kept = 0;
    *parent = SIZE_MAX;
    g->group.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (csni_key_function(m, &keys[i])->source != CSNI_SOURCE_DWARF || *parent == SIZE_MAX) {
            if (csni_key_function(m, &keys[i])->source == CSNI_SOURCE_DWARF) *parent = kept;
            keys[kept++] = keys[i];
            continue;
        }
        size_t added = g->group.count;
        if (added && csni_model_same_function(m, &g->group.items[added - 1], &keys[i])) {
            csni_model_note_pair(m, g->report, CSN_EVENT_DUPLICATE_DROPPED, &keys[i], &g->group.items[added - 1]);
            continue;
        }
        csni_model_note_pair(m, g->report, CSN_EVENT_FUNCTIONS_MERGED, &keys[i], &keys[*parent]);
        if (!csni_vec_push(&g->group, keys[i])) return csni_fail_memory(err, sizeof *keys);
    }
    *left = kept;
    return CSN_OK;
}

static csn_status merge_as_llvm(struct merging *g, struct csni_key *keys, size_t count, struct csn_error *err) {
    struct csni_model *m = g->model;
    for (size_t i = 0, size, left = 0, parent = 0; i < count; i += size) {
        for (size = 1; i + size < count && keys[i + size].start == keys[i].start &&
                       csni_key_function(m, &keys[i + size])->size == csni_key_function(m, &keys[i])->size;)
            size++;
        CSNI_TRY(gather_children(g, keys + i, size, &left, &parent, err));
        for (size_t k = 0; k < left; k++) {
            enum csni_verdict v = CSNI_KEEP_BOTH;
            if (m->entry_count) {
                struct csni_key last = key_of_entry(m, &m->entries[m->entry_count - 1]);
                v = csni_model_judge(m, &last, &keys[i + k], g->report);
            }
            if (v == CSNI_DROP) continue;
            struct csni_entry entry = { keys[i + k].batch, keys[i + k].function, 0, 0 };
            if (k == parent) {
                entry.first_child = (uint32_t)g->children.count;
                entry.child_count = (uint32_t)g->group.count;
                for (size_t c = 0; c < g->group.count; c++) {
                    struct csni_entry child = { g->group.items[c].batch, g->group.items[c].function, 0, 0 };
                    if (!csni_vec_push(&g->children, child)) return csni_fail_memory(err, sizeof child);
                }
            }
            m->entries[v == CSNI_REPLACE ? m->entry_count - 1 : m->entry_count++] = entry;
        }
    }
    return CSN_OK;
}

csn_status csni_model_merge(struct csni_model *m, struct csni_key *keys, size_t count, struct csn_convert_report *report,
                            struct csn_error *err) {
    struct merging g = { .model = m, .report = report };
    g.children.alloc = g.group.alloc = m->alloc;
    m->entry_count = 0;
    csn_status status = m->merge == CSN_MERGE_LLVM ? merge_as_llvm(&g, keys, count, err) : merge_all(&g, keys, count, err);
    csni_free(m->alloc, g.table, g.slots * sizeof *g.table);
    csni_vec_deinit(&g.group);
    /* The model frees the children. */
    m->children = g.children.items;
    m->child_count = (uint32_t)g.children.count;
    m->child_capacity = (uint32_t)g.children.capacity;
    return status;
}

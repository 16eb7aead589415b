/* Public symbols of a PDB. */
#include "convert/pdb/pdb_publics.h"

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "convert/pdb/pdb_names.h"

/* ---- reading ---- */

enum { MACHINE_I386 = 0x14c, SECTION_IS_CODE = 0x20000020 };

static bool is_code(const struct csni_pdb *pdb, const struct csni_pdb_public *public) {
    uint32_t i = public->section - 1;
    return public->section && i < pdb->sections.count && (pdb->sections.items[i].flags & SECTION_IS_CODE);
}

/* On i386 a C name has a `_` in front that nobody wrote, as in symbol tables of images. */
static struct csn_str undecorated(const struct csni_pdb *pdb, struct csn_str name) {
    if (pdb->machine != MACHINE_I386 || name.len < 2 || name.ptr[0] != '_') return name;
    return (struct csn_str){ name.ptr + 1, name.len - 1 };
}

static bool public_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct csni_pdb_public_entry *)a)->at < ((const struct csni_pdb_public_entry *)b)->at;
}

static csn_status sort_publics(struct csni_pdb_publics *publics, struct csn_error *err) {
    size_t count = publics->entries.count, size = sizeof *publics->entries.items;
    if (csni_is_sorted(publics->entries.items, count, size, public_before, NULL)) return CSN_OK;
    void *spare = csni_alloc(publics->pdb->alloc, count * size);
    if (!spare) return csni_fail_memory(err, count * size);
    csni_merge_sort(publics->entries.items, spare, count, size, public_before, NULL);
    csni_free(publics->pdb->alloc, spare, count * size);
    return CSN_OK;
}

csn_status csni_pdb_publics_read(struct csni_pdb_publics *publics, const struct csni_pdb *pdb, uint64_t limit,
                                 struct csn_error *err) {
    *publics = (struct csni_pdb_publics){ .pdb = pdb };
    publics->entries.alloc = publics->names.alloc = pdb->alloc;
    struct csni_pdb_symbol_iter iter = { .records = pdb->symbols.span };
    struct csni_pdb_symbol symbol;
    struct csni_pdb_public public = { .section = 0 };
    while (csni_pdb_next_symbol(&iter, &symbol)) {
        if (!csni_pdb_read_public(&symbol, &public) || !is_code(pdb, &public)) continue;
        struct csni_pdb_public_entry entry = { (uint64_t)public.section << 32 | public.offset, undecorated(pdb, public.name) };
        if (!csni_vec_push(&publics->entries, entry)) return csni_fail_memory(err, sizeof entry);
    }
    publics->damaged = iter.damaged;
    CSNI_TRY(sort_publics(publics, err));
    return csni_pdb_names_read(publics, limit, err);
}

void csni_pdb_publics_deinit(struct csni_pdb_publics *publics) {
    csni_vec_deinit(&publics->entries);
    csni_vec_deinit(&publics->names);
}

/* ---- names of functions ---- */

/* What a function is called in its class or namespace, without template arguments. */
static struct csn_str identifier(struct csn_str name) {
    size_t begin = 0, end = 0, depth = 0;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '<' && depth++ == 0) end = i;
        if (name.ptr[i] == '>' && depth) depth--;
        if (name.ptr[i] == ':' && !depth) begin = i + 1;
    }
    if (end <= begin) end = name.len;
    return (struct csn_str){ name.ptr + begin, end - begin };
}

static bool contains(struct csn_str text, struct csn_str part) {
    for (size_t i = 0; part.len && i + part.len <= text.len; i++)
        if (text.ptr[i] == part.ptr[0] && memcmp(text.ptr + i, part.ptr, part.len) == 0) return true;
    return false;
}

/* Functions that compilers make have names in words; of these two kinds both stand at one place. */
static bool is_made_destructor(struct csn_str name, struct csn_str decorated) {
    static const struct {
        const char *in_words, *decorated;
    } kinds[] = { { "`scalar deleting destructor'", "??_G" }, { "`vector deleting destructor'", "??_E" } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (contains(name, csni_str(kinds[i].in_words))) return csni_str_starts(decorated, kinds[i].decorated);
    return false;
}

/* Where identical code was folded, public symbols of several functions stand at one place: pdb_names.h tells them
 * apart, and what it cannot read is compared by the identifier. A function that only its module sees has none,
 * unless the producer made one all the same, but it may be folded into one that others see. */
struct csn_str csni_pdb_function_name(const struct csni_pdb_publics *publics, const struct csni_pdb_code *code, uint64_t *work) {
    enum { CANDIDATES_MAX = 64 };
    const struct csni_pdb_public_entry *entries = publics->entries.items;
    uint64_t at = (uint64_t)code->section << 32 | code->offset;
    size_t first = csni_lower_bound(entries, publics->entries.count, at, at), end = first;
    uint32_t own;
    if (csni_pdb_names_find(publics, at, code, &own, work)) return entries[own].name;
    struct csn_str part = identifier(code->name);
    while (end < publics->entries.count && entries[end].at == at && end - first < CANDIDATES_MAX) end++;
    const bool is_alone = end - first == 1 && !code->is_local;
    for (size_t i = first; i < end; i++) {
        if (!contains(entries[i].name, part) && !is_made_destructor(code->name, entries[i].name)) continue;
        if (is_alone || csni_pdb_names_agree(entries[i].name, code->name, work)) return entries[i].name;
    }
    const bool is_its_own = is_alone && code->kind == CSNI_PDB_FUNCTION;
    return is_its_own || (end > first && !code->name.len) ? entries[first].name : code->name;
}

/* ---- symbols that no module has ---- */

/* Code of a function that a module told of. */
struct known_code {
    uint64_t start, end;
    struct csn_str name;
};
struct known_codes {
    const struct csn_allocator *alloc;
    struct known_code *items;
    size_t count, capacity;
};

static bool known_before(const void *context, const void *a, const void *b) {
    (void)context;
    const struct known_code *x = a, *y = b;
    return x->start != y->start ? x->start < y->start : x->end < y->end;
}

static csn_status list_known(const struct csni_conversion *c, uint32_t first_batch, struct known_codes *out,
                             struct csn_error *err) {
    *out = (struct known_codes){ .alloc = c->alloc };
    size_t count = 0;
    for (uint32_t b = first_batch; b < c->batch_count; b++) count += c->batches[b].function_count;
    out->items = csni_alloc_zeroed(c->alloc, count, sizeof *out->items);
    if (count && !out->items) return csni_fail_memory(err, count * sizeof *out->items);
    for (uint32_t b = first_batch; b < c->batch_count; b++) {
        const struct csni_batch *batch = &c->batches[b];
        for (uint32_t i = 0; i < batch->function_count; i++) {
            const struct csni_function *f = &batch->functions[i];
            if (f->size) out->items[out->count++] = (struct known_code){ f->start, f->start + f->size, batch->strings[f->name] };
        }
    }
    out->capacity = count;
    csni_heap_sort(out->items, out->count, sizeof *out->items, known_before, NULL);
    return CSN_OK;
}

/* Of functions that begin at one address the largest, so that all second names get one size. */
static const struct known_code *known_at(const struct known_codes *known, uint64_t addr) {
    size_t after = csni_upper_bound(known->items, known->count, start, addr);
    return after && (addr < known->items[after - 1].end || addr == known->items[after - 1].start) ? &known->items[after - 1] : NULL;
}

/* Whether a function there has the name already. */
static bool is_named(const struct known_codes *known, const struct known_code *at, struct csn_str name) {
    enum { FOLDED_MAX = 1024 };
    const struct known_code *lowest = at - known->items > FOLDED_MAX ? at - FOLDED_MAX : known->items;
    for (const struct known_code *k = at + 1; k-- > lowest && k->start == at->start;)
        if (csni_str_equal(k->name, name)) return true;
    return false;
}

/* Assemblers list the labels within a function beside it. */
static void drop_labels_within(const struct known_codes *known, struct csni_batch *batch) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->function_count; i++) {
        const struct csni_function *f = &batch->functions[i];
        if (f->size || !known_at(known, f->start)) batch->functions[kept++] = *f;
    }
    batch->function_count = kept;
}

static void add_public(struct csni_conversion *c, const struct known_codes *known, const struct csni_pdb_public_entry *entry,
                       uint64_t addr) {
    struct csni_batch_writer *w = &c->writers[0];
    const struct known_code *at = known_at(known, addr);
    if (at && (at->start != addr || is_named(known, at, entry->name))) return;
    if (!csni_in_text(c, addr)) {
        csni_batch_note(w, CSN_EVENT_FUNCTION_OUTSIDE_TEXT, "public symbol at 0x%llx", (unsigned long long)addr);
        return;
    }
    uint32_t size = at ? (uint32_t)(at->end - at->start) : 0;
    csni_batch_begin_function(w, addr, size, csni_batch_add_string(w, entry->name), CSNI_SOURCE_SYMBOL);
}

csn_status csni_pdb_add_publics(struct csni_conversion *c, const struct csni_pdb_publics *publics, uint32_t first_batch,
                                uint64_t base, struct csn_error *err) {
    struct known_codes known;
    CSNI_TRY(list_known(c, first_batch, &known, err));
    for (uint32_t b = first_batch; b < c->batch_count; b++) drop_labels_within(&known, &c->batches[b]);
    struct csni_batch *batch = csni_add_batches(c, 1);
    if (batch) csni_batch_begin(&c->writers[0], &c->arenas[0]);
    for (size_t i = 0; batch && i < publics->entries.count; i++) {
        const struct csni_pdb_public_entry *entry = &publics->entries.items[i];
        uint32_t rva;
        if (csni_pdb_rva(publics->pdb, (uint32_t)(entry->at >> 32), (uint32_t)entry->at, &rva))
            add_public(c, &known, entry, base + rva);
    }
    csni_free(c->alloc, known.items, known.capacity * sizeof *known.items);
    if (!batch) return csni_fail_memory(err, sizeof *batch);
    if (publics->damaged) csni_batch_note(&c->writers[0], CSN_EVENT_DAMAGED_SYMBOL, "public symbols end too early");
    c->report->functions_from_symbols += c->writers[0].functions.count;
    return csni_batch_finish(&c->writers[0], batch, err);
}

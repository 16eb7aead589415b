/* Call sites as they are written: each batch's are put together anew, from those of DWARF, whose patterns are names of
 * callees until here, and those of files. */
#include "convert/call_sites/call_sites.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/hash.h"
#include "convert/call_sites/tail_calls.h"

/* ---- names that the image has from others: those that its symbol tables leave undefined ---- */

struct undefined_names {
    CSNI_VEC(uint64_t) hashes; /* ascending */
};

static int compare_site_hashes(const void *pa, const void *pb) {
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

/* The version that GNU ld puts after a name is no part of it. */
static uint64_t hash_without_version(struct csn_str name) {
    const char *at = name.len ? memchr(name.ptr, '@', name.len) : NULL;
    return csni_hash_bytes(name.ptr, at ? (size_t)(at - name.ptr) : name.len);
}

static csn_status add_undefined_of(struct undefined_names *names, struct csni_object *object, enum csni_symbol_table table,
                            struct csn_error *err) {
    struct csni_symbol_iter iter;
    struct csni_symbol s;
    csn_status status = csni_symbol_iter_init(&iter, object, table, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    while (csni_symbol_iter_next(&iter, &s) == CSN_OK)
        if (!s.defined && s.name.len && !csni_vec_push(&names->hashes, hash_without_version(s.name)))
            return csni_fail_memory(err, sizeof(uint64_t));
    return CSN_OK;
}

static csn_status read_undefined_names(struct undefined_names *names, const struct csni_conversion *c,
                                     struct csn_error *err) {
    names->hashes.alloc = c->alloc;
    if (!c->object) return CSN_OK;
    CSNI_TRY(add_undefined_of(names, c->object, CSNI_SYMBOLS_STATIC, err));
    CSNI_TRY(add_undefined_of(names, c->object, CSNI_SYMBOLS_DYNAMIC, err));
    if (c->debug) CSNI_TRY(add_undefined_of(names, c->debug, CSNI_SYMBOLS_STATIC, err));
    if (names->hashes.count)
        qsort(names->hashes.items, names->hashes.count, sizeof *names->hashes.items, compare_site_hashes);
    return CSN_OK;
}

static bool is_undefined_name(const struct undefined_names *names, struct csn_str name) {
    uint64_t hash = csni_hash_bytes(name.ptr, name.len);
    return names->hashes.count &&
           bsearch(&hash, names->hashes.items, names->hashes.count, sizeof hash, compare_site_hashes) != NULL;
}

/* ---- what is at hand ---- */

/* A site of a file and a function that gets it. */
struct given_to {
    uint32_t batch, function;
    uint32_t order;        /* in the files */
};

struct finishing {
    struct csni_conversion *conversion;
    const struct csni_name_table *table;
    const struct csni_given_sites *given;
    struct undefined_names undefined;
    struct csni_tail_calls tails;
    CSNI_VEC(struct given_to) given_to; /* by batch, function, order */
    uint32_t *first_given;              /* by batch + 1: where its part of given_to ends */
};

/* What was made of the name of a callee. */
struct made_name {
    uint32_t pattern;      /* string of the batch; 0: not made yet */
    uint32_t first_tail;   /* in `tails` */
    uint32_t tail_count;
    uint32_t tail_of;      /* 1 + the function that has a record of a tail call to it already */
};

/* Where a tail call leads. */
struct made_tail {
    uint32_t pattern, flags;
};

/* The call sites of one batch on their way. */
struct making {
    const struct finishing *finishing;
    struct csni_batch *batch;
    uint32_t batch_index;
    struct csni_arena *arena;
    CSNI_VEC(struct csni_call_site) sites;
    CSNI_VEC(uint32_t) patterns;
    CSNI_VEC(struct csn_str) strings;   /* more of the batch */
    struct made_name *made;             /* by number of the name's string */
    CSNI_VEC(struct made_tail) tails;
    bool bare;
};

/* ---- patterns ---- */

static const char METACHARACTERS[] = "\\^$.[]|()?*+{}";

static bool is_meta(char c) { return c && strchr(METACHARACTERS, c); }

static csn_status add_site_string(struct making *m, struct csn_str s, uint32_t *out) {
    *out = m->batch->string_count + (uint32_t)m->strings.count;
    return csni_vec_push(&m->strings, s) ? CSN_OK : CSN_E_MEMORY;
}

/* Long names can be named often. */
static csn_status charge_bytes(const struct making *m, size_t bytes) {
    return csni_shared_budget_charge(&m->finishing->conversion->budget, bytes) ? CSN_OK : CSN_E_LIMIT;
}

/* "^name$" with everything escaped that a regular expression would take for more than itself. */
static csn_status exact_pattern(struct making *m, struct csn_str name, uint32_t *out) {
    if (m->bare) return add_site_string(m, name, out);
    CSNI_TRY(charge_bytes(m, name.len));
    char *text = csni_arena_alloc(m->arena, 2 * name.len + 2);
    if (!text) return CSN_E_MEMORY;
    char *p = text;
    *p++ = '^';
    for (size_t i = 0; i < name.len; i++) {
        if (is_meta(name.ptr[i])) *p++ = '\\';
        *p++ = name.ptr[i];
    }
    *p++ = '$';
    return add_site_string(m, (struct csn_str){ text, (size_t)(p - text) }, out);
}

/* A pattern that is searched for. One that looks like a bare name would be read as that name alone: parentheses tell. */
static csn_status search_pattern(struct making *m, struct csn_str pattern, uint32_t *out) {
    bool bare_name = true;
    for (size_t i = 0; i < pattern.len; i++) bare_name = bare_name && !is_meta(pattern.ptr[i]);
    if (!bare_name || m->bare) return add_site_string(m, pattern, out);
    CSNI_TRY(charge_bytes(m, pattern.len));
    char *text = csni_arena_alloc(m->arena, pattern.len + 2);
    if (!text) return CSN_E_MEMORY;
    text[0] = '(';
    memcpy(text + 1, pattern.ptr, pattern.len);
    text[pattern.len + 1] = ')';
    return add_site_string(m, (struct csn_str){ text, pattern.len + 2 }, out);
}

static csn_status add_pattern(struct making *m, uint32_t string) {
    m->sites.items[m->sites.count - 1].pattern_count++;
    return csni_vec_push(&m->patterns, string) ? CSN_OK : CSN_E_MEMORY;
}

static csn_status begin_site(struct making *m, uint64_t return_off, uint32_t flags) {
    struct csni_call_site site = { return_off, (uint32_t)m->patterns.count, 0, flags };
    return csni_vec_push(&m->sites, site) ? CSN_OK : CSN_E_MEMORY;
}

/* ---- sites from DWARF ---- */

/* Where a callee is defined. A name that the image has from another one can still be that of a local function elsewhere. */
static uint32_t flags_of(const struct making *m, struct csn_str callee) {
    const struct finishing *f = m->finishing;
    size_t count;
    const struct csni_named *named = csni_name_table_find(f->table, callee, &count);
    if (!is_undefined_name(&f->undefined, callee)) return count ? CSN_CALL_SITE_INTERNAL : 0u;
    for (size_t i = 0; i < count && i < 64; i++)
        if (named[i].batch == m->batch_index) return CSN_CALL_SITE_INTERNAL;
    return CSN_CALL_SITE_EXTERNAL;
}

static csn_status make_site_name(struct making *m, struct csn_str callee, struct made_name *made) {
    struct csn_str ends[CSNI_TAIL_ENDS_MAX];
    const struct finishing *f = m->finishing;
    size_t count = f->tails.items.count && !m->bare ? csni_tail_calls_ends(&f->tails, callee, ends) : 0;
    made->first_tail = (uint32_t)m->tails.count;
    made->tail_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct made_tail tail = { 0, flags_of(m, ends[i]) };
        CSNI_TRY(exact_pattern(m, ends[i], &tail.pattern));
        if (!csni_vec_push(&m->tails, tail)) return CSN_E_MEMORY;
    }
    return exact_pattern(m, callee, &made->pattern);
}

static csn_status add_found(struct making *m, const struct csni_call_site *site) {
    const struct csni_batch *b = m->batch;
    uint32_t flags = m->bare ? 0 : site->flags & CSN_CALL_SITE_RECOVERED;
    if (site->flags & (CSNI_SITE_TAIL | CSNI_SITE_LOST)) return CSN_OK;
    uint32_t name = site->pattern_count ? b->patterns[site->first_pattern] : 0;
    struct csn_str callee = b->strings[name];
    if (!callee.len) return begin_site(m, site->return_off, flags);
    struct made_name *made = &m->made[name];
    if (!made->pattern) CSNI_TRY(make_site_name(m, callee, made));
    CSNI_TRY(begin_site(m, site->return_off, m->bare ? 0 : flags | flags_of(m, callee)));
    CSNI_TRY(add_pattern(m, made->pattern));
    /* What a tail call of the callee leads to is a record of its own: those of one offset add up. */
    for (uint32_t i = 0; i < made->tail_count; i++) {
        struct made_tail tail = m->tails.items[made->first_tail + i];
        CSNI_TRY(begin_site(m, site->return_off, flags | tail.flags));
        CSNI_TRY(add_pattern(m, tail.pattern));
    }
    return CSN_OK;
}

/* A tail call has no return address. What it leads to is kept for callers in other images. */
static csn_status add_tail_call(struct making *m, const struct csni_call_site *site, uint32_t function, bool *indirect) {
    uint32_t name = site->pattern_count ? m->batch->patterns[site->first_pattern] : 0;
    struct csn_str callee = m->batch->strings[name];
    if (m->bare || (!callee.len && *indirect)) return CSN_OK;
    if (!callee.len) {
        *indirect = true;
        return begin_site(m, 0, CSN_CALL_SITE_TAIL);
    }
    struct made_name *made = &m->made[name];
    if (made->tail_of == function + 1) return CSN_OK;
    made->tail_of = function + 1;
    if (!made->pattern) CSNI_TRY(make_site_name(m, callee, made));
    CSNI_TRY(begin_site(m, 0, CSN_CALL_SITE_TAIL | flags_of(m, callee)));
    return add_pattern(m, made->pattern);
}

static csn_status add_tail_calls(struct making *m, const struct csni_function *f, uint32_t function) {
    bool indirect = false;
    for (uint32_t k = 0; k < f->site_count; k++) {
        const struct csni_call_site *site = &m->batch->sites[f->first_site + k];
        if (site->flags & CSNI_SITE_TAIL) CSNI_TRY(add_tail_call(m, site, function, &indirect));
    }
    return CSN_OK;
}

/* A site of another source: its patterns are patterns already. */
static csn_status copy_site(struct making *m, const struct csni_call_site *site) {
    CSNI_TRY(begin_site(m, site->return_off, site->flags));
    for (uint32_t i = 0; i < site->pattern_count; i++)
        CSNI_TRY(add_pattern(m, m->batch->patterns[site->first_pattern + i]));
    return CSN_OK;
}

/* ---- sites from files ---- */

static csn_status add_site_given(struct making *m, const struct csni_given_site *site) {
    CSNI_TRY(begin_site(m, site->return_off, site->flags));
    for (size_t i = 0; i < site->pattern_count; i++) {
        const struct csni_given_pattern *p = &m->finishing->given->patterns.items[site->first_pattern + i];
        uint32_t pattern;
        CSNI_TRY(p->is_name ? exact_pattern(m, p->text, &pattern) : search_pattern(m, p->text, &pattern));
        CSNI_TRY(add_pattern(m, pattern));
    }
    return CSN_OK;
}

/* ---- one batch ---- */

static csn_status make_sites(struct making *m) {
    const struct finishing *f = m->finishing;
    uint32_t next = m->batch_index ? f->first_given[m->batch_index - 1] : 0, end = f->first_given[m->batch_index];
    for (uint32_t i = 0; i < m->batch->function_count; i++) {
        struct csni_function *function = &m->batch->functions[i];
        uint32_t first = (uint32_t)m->sites.count;
        bool found = function->source == CSNI_SOURCE_DWARF || function->source == CSNI_SOURCE_FOLDED;
        for (uint32_t k = 0; k < function->site_count; k++) {
            const struct csni_call_site *site = &m->batch->sites[function->first_site + k];
            CSNI_TRY(found ? add_found(m, site) : copy_site(m, site));
        }
        if (found) CSNI_TRY(add_tail_calls(m, function, i));
        for (; next < end && f->given_to.items[next].function == i; next++)
            CSNI_TRY(add_site_given(m, &f->given->sites.items[f->given_to.items[next].order]));
        function->first_site = first;
        function->site_count = (uint32_t)m->sites.count - first;
    }
    return m->sites.count <= UINT32_MAX && m->patterns.count <= UINT32_MAX ? CSN_OK : CSN_E_LIMIT;
}

static csn_status copy_sites(struct making *m) {
    struct csni_batch *b = m->batch;
    uint64_t strings = (uint64_t)b->string_count + m->strings.count;
    if (strings > UINT32_MAX) return CSN_E_LIMIT;
    struct csni_call_site *sites = csni_arena_alloc(m->arena, m->sites.count * sizeof *sites);
    uint32_t *patterns = csni_arena_alloc(m->arena, m->patterns.count * sizeof *patterns);
    struct csn_str *all = csni_arena_alloc(m->arena, (size_t)strings * sizeof *all);
    if (!sites || !patterns || !all) return CSN_E_MEMORY;
    if (m->sites.count) memcpy(sites, m->sites.items, m->sites.count * sizeof *sites);
    if (m->patterns.count) memcpy(patterns, m->patterns.items, m->patterns.count * sizeof *patterns);
    memcpy(all, b->strings, b->string_count * sizeof *all);
    if (m->strings.count) memcpy(all + b->string_count, m->strings.items, m->strings.count * sizeof *all);
    b->sites = sites;
    b->patterns = patterns;
    b->strings = all;
    b->site_count = (uint32_t)m->sites.count;
    b->pattern_count = (uint32_t)m->patterns.count;
    b->string_count = (uint32_t)strings;
    return CSN_OK;
}

static csn_status make_batch(const struct finishing *f, uint32_t index) {
    struct csni_conversion *c = f->conversion;
    struct csni_batch *b = &c->batches[index];
    bool given = f->first_given[index] > (index ? f->first_given[index - 1] : 0);
    if (!b->site_count && !given) return CSN_OK;
    struct making m = { .finishing = f, .batch = b, .batch_index = index, .arena = &c->arenas[0],
                        .bare = c->options.flags & CSN_CONVERT_LLVM_PATTERNS };
    m.sites.alloc = m.patterns.alloc = m.strings.alloc = m.tails.alloc = c->alloc;
    uint32_t names = b->string_count;
    m.made = csni_alloc_zeroed(c->alloc, names, sizeof *m.made);
    csn_status status = m.made ? make_sites(&m) : CSN_E_MEMORY;
    if (status >= 0) status = copy_sites(&m);
    csni_free(c->alloc, m.made, names * sizeof *m.made);
    csni_vec_deinit(&m.sites);
    csni_vec_deinit(&m.patterns);
    csni_vec_deinit(&m.strings);
    csni_vec_deinit(&m.tails);
    return status;
}

/* ---- who gets what files give ---- */

static int given_to_by_place(const void *pa, const void *pb) {
    const struct given_to *a = pa, *b = pb;
    if (a->batch != b->batch) return a->batch < b->batch ? -1 : 1;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* What is called last may not return: the end is a return address, too. The end of a symbol without a size is not known yet, and
 * llvm-gsymutil keeps all. */
static bool may_return_there(const struct finishing *f, const struct csni_named *named, uint64_t return_off) {
    uint64_t size = f->conversion->batches[named->batch].functions[named->function].size;
    return !size || (return_off && return_off <= size) || f->conversion->options.flags & CSN_CONVERT_LLVM_PATTERNS;
}

/* An event of a file's site. */
static void note_given(const struct finishing *f, const struct csni_given_site *site, enum csn_event event, const char *what) {
    const char *file = f->conversion->options.call_site_files[site->file].name;
    struct csn_error told = CSN_ERROR_INIT;
    csni_fail(&told, CSN_E_NOT_FOUND, NULL, 0, "%.100s:%u: %.*s%s", file, site->line,
              (int)(site->function.len < 80 ? site->function.len : 80), site->function.ptr, what);
    csni_report_add(f->conversion->report, event, 1, csni_str(csn_error_text(&told)));
}

/* The first function of the name in order of input, and its copies at the same place, of which only one will stay. */
static csn_status assign(struct finishing *f, uint32_t order, struct csn_error *err) {
    enum { COPIES_MAX = 64 };
    const struct csni_given_site *site = &f->given->sites.items[order];
    size_t count;
    const struct csni_named *named = csni_name_table_find(f->table, site->function, &count);
    const struct csni_named *first = NULL;
    for (size_t i = 0; i < count && i < COPIES_MAX && named[i].start != UINT64_MAX; i++)
        if (!first || named[i].batch < first->batch ||
            (named[i].batch == first->batch && named[i].function < first->function))
            first = &named[i];
    if (!first) {
        note_given(f, site, CSN_EVENT_CALL_SITE_NO_FUNCTION, "");
        return CSN_OK;
    }
    bool is_inside = false;
    for (size_t i = 0; i < count && i < COPIES_MAX; i++) {
        if (named[i].start != first->start || !may_return_there(f, &named[i], site->return_off)) continue;
        struct given_to to = { named[i].batch, named[i].function, order };
        if (!csni_vec_push(&f->given_to, to)) return csni_fail_memory(err, sizeof to);
        is_inside = true;
    }
    char where[40];
    snprintf(where, sizeof where, " returns to +0x%llx", (unsigned long long)site->return_off);
    if (!is_inside) note_given(f, site, CSN_EVENT_CALL_SITE_OUTSIDE, where);
    return CSN_OK;
}

static csn_status assign_all(struct finishing *f, struct csn_error *err) {
    uint32_t batches = f->conversion->batch_count;
    for (uint32_t i = 0; i < f->given->sites.count; i++) CSNI_TRY(assign(f, i, err));
    if (f->given_to.count) qsort(f->given_to.items, f->given_to.count, sizeof *f->given_to.items, given_to_by_place);
    f->first_given = csni_alloc_zeroed(f->conversion->alloc, batches, sizeof *f->first_given);
    if (batches && !f->first_given) return csni_fail_memory(err, batches * sizeof *f->first_given);
    uint32_t next = 0;
    for (uint32_t b = 0; b < batches; b++) {
        while (next < f->given_to.count && f->given_to.items[next].batch == b) next++;
        f->first_given[b] = next;
    }
    return CSN_OK;
}

csn_status csni_finish_call_sites(struct csni_conversion *c, const struct csni_name_table *table,
                                  const struct csni_given_sites *given, struct csn_error *err) {
    struct finishing f = { .conversion = c, .table = table, .given = given };
    f.given_to.alloc = f.undefined.hashes.alloc = f.tails.items.alloc = c->alloc;
    csn_status status = read_undefined_names(&f.undefined, c, err);
    if (status >= 0) status = csni_tail_calls_find(&f.tails, c, err);
    if (status >= 0) status = assign_all(&f, err);
    for (uint32_t b = 0; status >= 0 && b < c->batch_count; b++) {
        status = make_batch(&f, b);
        if (status == CSN_E_MEMORY) csni_fail_memory(err, 0);
        if (status == CSN_E_LIMIT)
            csni_fail(err, status, NULL, 0,
                      "more than 2^32 call sites or strings in one unit, or far longer names than "
                      "real programs have");
    }
    csni_vec_deinit(&f.given_to);
    csni_vec_deinit(&f.undefined.hashes);
    csni_vec_deinit(&f.tails.items);
    if (f.first_given) csni_free(c->alloc, f.first_given, c->batch_count * sizeof *f.first_given);
    return status;
}

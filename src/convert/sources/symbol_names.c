/* Mangled names of symbols, for functions of which debug information has a plain name only: clang -gmlt and Rust's line tables
 * write no linkage names, GCC none for functions of internal linkage. */
#include "convert/sources/symbol_names.h"

#include "base/core/fail.h"
#include "base/core/search.h"
#include "model/model_key.h"
#include "names/mangled.h"

/* ---- which names are mangled ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static bool starts_with(struct csn_str name, const char *prefix, size_t len) {
    return name.len > len && memcmp(name.ptr, prefix, len) == 0;
}

/* C++ and legacy Rust _Z, Rust v0 _RNv..., D _D4main..., Swift 4 _T0. */
static bool is_mangled_behind_underscore(struct csn_str name) {
    char c = name.ptr[1], next = name.ptr[2];
    if (c == 'Z') return true;
    if (c == 'R') return is_upper(next) && name.len > 4;
    if (c == 'D') return is_digit(next) || csni_str_is(name, "_Dmain");
    return starts_with(name, "_T0", 3) || starts_with(name, "_$s", 3) || starts_with(name, "__Z", 3);
}

/* Also Swift $s, MSVC ?, Crystal *Class#method<...> and ~proc. */
static bool is_symbol_mangled(struct csn_str name) {
    if (name.len < 3) return false;
    if (name.ptr[0] == '_') return is_mangled_behind_underscore(name);
    return name.ptr[0] == '?' || name.ptr[0] == '*' || starts_with(name, "$s", 2) || starts_with(name, "$S", 2) ||
           starts_with(name, "~proc", 5);
}

bool csni_mangled_symbols_add_checked(csni_mangled_symbols *symbols, uint64_t addr, uint64_t size, struct csn_str name) {
    return !is_symbol_mangled(name) || csni_vec_push(symbols, ((struct csni_mangled_symbol){ addr, size, name }));
}

/* ---- functions without such names ---- */

typedef bool wanted_name(struct csn_str name);

static bool is_plain(struct csn_str name) { return name.len && !is_symbol_mangled(name); }

static bool is_nameless(struct csn_str name) { return !name.len; }

typedef CSNI_VEC(struct csni_key) function_keys;

static struct csn_str name_of_key(const struct csni_conversion *c, const struct csni_key *k) {
    const struct csni_batch *b = &c->batches[k->batch];
    return b->strings[b->functions[k->function].name];
}

/* The parts of a function follow each other and share their name: the first is where it starts. */
static bool gather_batch(const struct csni_conversion *c, uint32_t batch, wanted_name *is_wanted, function_keys *out) {
    const struct csni_batch *b = &c->batches[batch];
    uint32_t before = 0;
    for (uint32_t i = 0; i < b->function_count; i++) {
        const struct csni_function *f = &b->functions[i];
        bool first = f->name && f->name != before;
        before = f->name;
        if (!first || f->source != CSNI_SOURCE_DWARF || !is_wanted(b->strings[f->name])) continue;
        if (!csni_vec_push(out, ((struct csni_key){ f->start, batch, i }))) return false;
    }
    return true;
}

static csn_status gather_functions(const struct csni_conversion *c, wanted_name *is_wanted, function_keys *out,
                                   struct csn_error *err) {
    for (uint32_t b = 0; b < c->batch_count; b++)
        if (!gather_batch(c, b, is_wanted, out)) return csni_fail_memory(err, sizeof *out->items);
    size_t count = out->count;
    if (!csni_vec_reserve(out, 2 * count)) return csni_fail_memory(err, count * sizeof *out->items);
    csni_sort_by_start(out->items, out->items + count, count);
    return CSN_OK;
}

/* ---- whose symbol is whose ---- */

static bool is_name_char(char c) {
    return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

/* Where a qualified name's last part begins. */
static size_t last_part_at(struct csn_str plain) {
    unsigned depth = 0;
    for (size_t i = plain.len; i > 1; i--) {
        char c = plain.ptr[i - 1];
        depth += c == '>';
        depth -= c == '<' && depth;
        if (!depth && c == ':' && plain.ptr[i - 2] == ':') return i;
    }
    return 0;
}

/* The identifier of a plain name: "hidden" of "ns::hidden<int>", "item" of "ns::item::~item"; empty: it has none. */
static struct csn_str identifier_of(struct csn_str plain) {
    size_t at = last_part_at(plain), end;
    if (at < plain.len && plain.ptr[at] == '~') at++;
    for (end = at; end < plain.len && is_name_char(plain.ptr[end]);) end++;
    struct csn_str id = { plain.ptr + at, end - at };
    bool whole = end == plain.len || plain.ptr[end] == '<' || plain.ptr[end] == '[';
    return whole && id.len && !starts_with(id, "operator", 8) && !csni_str_is(id, "operator") ? id : (struct csn_str){ "", 0 };
}

static bool holds(struct csn_str text, struct csn_str part) {
    enum { LONGEST = 4096 };
    if (text.len > LONGEST) text.len = LONGEST;
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (text.ptr[i] == part.ptr[0] && memcmp(text.ptr + i, part.ptr, part.len) == 0) return true;
    return false;
}

/* Whether a symbol can be that of a function with this plain name: linkers that fold identical code leave other symbols there. */
static bool may_be_of(struct csn_str symbol, struct csn_str plain) {
    struct csn_str id = identifier_of(plain);
    if (!id.len) return true;
    return csni_is_mangled(symbol) ? csni_mangled_has_part(symbol, id) : holds(symbol, id);
}

/* How many of the identifiers in a plain name, template arguments included, a symbol has: it tells instances of one template apart
 * that share their code. */
static unsigned count_common(struct csn_str symbol, struct csn_str plain) {
    enum { COUNTED = 32 };
    unsigned common = 0, looked_at = 0;
    for (size_t at = 0, end; at < plain.len && looked_at < COUNTED; at = end + 1) {
        for (end = at; end < plain.len && is_name_char(plain.ptr[end]);) end++;
        struct csn_str id = { plain.ptr + at, end - at };
        looked_at += id.len > 0;
        common += id.len && holds(symbol, id);
    }
    return common;
}

/* The symbol found best so far for a function. */
struct choice {
    const struct csni_mangled_symbol *symbol; /* NULL: none */
    unsigned common, offered;
};

enum { COMPARED = 64 }; /* functions, and symbols, of one start: hostile files have thousands */

static void offer_symbol(const struct csni_conversion *c, const struct csni_key *keys, size_t count,
                         const struct csni_mangled_symbol *symbol, struct choice *best) {
    if (best[0].offered++ >= COMPARED) return;
    for (size_t i = 0; i < count && i < COMPARED; i++) {
        struct csn_str plain = name_of_key(c, &keys[i]);
        if (!may_be_of(symbol->name, plain)) continue;
        struct choice choice = { symbol, count_common(symbol->name, plain), best[i].offered };
        bool worse = best[i].symbol && (choice.common < best[i].common ||
                                        (choice.common == best[i].common && symbol->size < best[i].symbol->size));
        if (!worse) best[i] = choice;
    }
}

static void rename_function(struct csni_conversion *c, const struct csni_key *k, const struct csni_mangled_symbol *symbol) {
    struct csni_batch *b = &c->batches[k->batch];
    csni_report_add(c->report, CSN_EVENT_NAME_FROM_SYMBOL, 1, symbol->name);
    b->strings[b->functions[k->function].name] = symbol->name;
}

static csn_status take_names(struct csni_conversion *c, const function_keys *plain, const csni_mangled_symbols *symbols,
                             struct csn_error *err) {
    size_t count = plain->count;
    struct choice *best = csni_alloc_zeroed(c->alloc, count, sizeof *best);
    if (!best) return csni_fail_memory(err, count * sizeof *best);
    for (size_t i = 0; i < symbols->count; i++) {
        const struct csni_mangled_symbol *symbol = &symbols->items[i];
        size_t first = csni_lower_bound(plain->items, count, start, symbol->addr), end = first;
        while (end < count && plain->items[end].start == symbol->addr) end++;
        if (end > first) offer_symbol(c, plain->items + first, end - first, symbol, best + first);
    }
    for (size_t i = 0; i < count; i++)
        if (best[i].symbol) rename_function(c, &plain->items[i], best[i].symbol);
    csni_free(c->alloc, best, count * sizeof *best);
    return CSN_OK;
}

csn_status csni_take_symbol_names(struct csni_conversion *c, const csni_mangled_symbols *symbols, struct csn_error *err) {
    bool has_sites = c->options.flags & CSN_CONVERT_CALL_SITES || c->options.call_site_file_count;
    if (!symbols->count || has_sites || c->options.merged_functions == CSN_MERGE_LLVM) return CSN_OK;
    function_keys plain = { .alloc = c->alloc };
    csn_status status = gather_functions(c, is_plain, &plain, err);
    if (status >= 0 && plain.count) status = take_names(c, &plain, symbols, err);
    csni_vec_deinit(&plain);
    return status;
}

/* ---- functions without names ---- */

static struct csn_str name_of_symbol(const struct csni_batch *symbols, const struct csni_function *f) {
    return symbols->strings[f->name];
}

/* Of several symbols the largest, of these the last. */
static csn_status name_nameless(struct csni_conversion *c, const function_keys *nameless, const struct csni_batch *symbols,
                                struct csn_error *err) {
    size_t count = nameless->count;
    const struct csni_function **best = csni_alloc_zeroed(c->alloc, count, sizeof *best);
    if (!best) return csni_fail_memory(err, count * sizeof *best);
    for (uint32_t i = 0; i < symbols->function_count; i++) {
        const struct csni_function *f = &symbols->functions[i];
        size_t at = csni_lower_bound(nameless->items, count, start, f->start);
        for (; at < count && nameless->items[at].start == f->start; at++)
            if (!best[at] || f->size >= best[at]->size) best[at] = f;
    }
    for (size_t i = 0; i < count; i++) {
        struct csni_batch *b = &c->batches[nameless->items[i].batch];
        if (best[i]) b->strings[b->functions[nameless->items[i].function].name] = name_of_symbol(symbols, best[i]);
    }
    csni_free(c->alloc, best, count * sizeof *best);
    return CSN_OK;
}

csn_status csni_name_nameless(struct csni_conversion *c, const struct csni_batch *symbols, struct csn_error *err) {
    if (!atomic_load(&c->has_nameless)) return CSN_OK;
    function_keys nameless = { .alloc = c->alloc };
    csn_status status = gather_functions(c, is_nameless, &nameless, err);
    if (status >= 0 && nameless.count) status = name_nameless(c, &nameless, symbols, err);
    csni_vec_deinit(&nameless);
    return status;
}

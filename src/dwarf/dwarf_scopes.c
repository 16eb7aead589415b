/* Names of functions, and the scopes that some of them are qualified by.
 *
 * A name needs the parents of DIEs all over a unit, and DIEs do not know their parents: indexes of scopes tell them
 * (dwarf_scope_index.h). Names of abstract origins are kept, since the same function is inlined many times. */
#include "base/hash.h"
#include "dwarf/dwarf_plain_names.h"
#include "dwarf/dwarf_scope_index.h"

#include <inttypes.h>

enum {
    MAX_CHAIN = 32,          /* DIEs that lead from one to the next */
    MAX_CONTEXT_STEPS = 256, /* DIEs looked at for one parent context */
    MAX_LEVELS = 256,        /* scopes that a name is put together of */
    MAX_NAME = 1 << 20,      /* bytes of such a name */
    CACHE_MIN = 64, CACHE_MAX = 4096,
    BYTES_A_NAME = 128,      /* of .debug_info, for each name in the cache */
    MAX_CACHED_BYTES = 1 << 20
};

/* What is known about the name of a DIE. */
struct known_name {
    struct csn_str name;
    bool final;        /* holds for whatever has this DIE as its origin; else that one's own place may qualify it */
    bool joined;       /* put together, not a view of a section */
    uint64_t cost;   /* that it took, so that the sum does not depend on what is in the cache */
};

struct cached_name {
    const struct csni_unit *unit; /* of the DIE */
    uint64_t off;
    uint32_t stamp;    /* another one than that of the scopes: empty */
    bool qualified;    /* made for a language that qualifies */
    csn_status status;
    struct known_name known;
};

struct csni_scopes {
    const struct csni_dwarf *dwarf;
    const struct csn_allocator *alloc;
    struct csni_scope_indexes indexes;
    struct csni_name_reader reader;
    struct csni_arena names;      /* of names in the cache that were put together */
    struct csni_arena_mark names_mark;
    size_t joined_bytes;
    struct cached_name *cache;
    size_t cache_slots;           /* a power of two */
    uint32_t stamp;               /* of what is in the cache */
};

csn_status csni_scopes_create(const struct csni_dwarf *dwarf, struct csni_scopes **out, struct csn_error *err) {
    struct csni_scopes *s = csni_alloc_zeroed(dwarf->alloc, 1, sizeof *s);
    if (!s) return csni_fail_memory(err, sizeof *s);
    s->dwarf = dwarf;
    s->alloc = dwarf->alloc;
    s->stamp = 1;
    csni_arena_init(&s->names, dwarf->alloc, 4096);
    s->names_mark = csni_arena_get_mark(&s->names);
    s->cache_slots = CACHE_MIN;
    while (s->cache_slots < CACHE_MAX && s->cache_slots < dwarf->sections.info.size / BYTES_A_NAME) s->cache_slots *= 2;
    s->cache = csni_alloc_present(s->alloc, s->cache_slots, sizeof *s->cache); /* as csni_name_reader_init() says */
    csn_status status = s->cache ? CSN_OK : csni_fail_memory(err, s->cache_slots * sizeof *s->cache);
    if (status == CSN_OK) status = csni_name_reader_init(&s->reader, dwarf, err);
    if (status == CSN_OK) status = csni_scope_indexes_init(&s->indexes, dwarf, err);
    if (status == CSN_OK) *out = s;
    else csni_scopes_destroy(s);
    return status;
}

void csni_scopes_destroy(struct csni_scopes *s) {
    if (!s) return;
    csni_scope_indexes_deinit(&s->indexes);
    csni_free(s->alloc, s->cache, s->cache_slots * sizeof *s->cache);
    csni_name_reader_deinit(&s->reader, s->alloc);
    csni_arena_deinit(&s->names);
    csni_free(s->alloc, s, sizeof *s);
}

/* Without touching it. */
static void empty_cache(struct csni_scopes *s) {
    if (!++s->stamp) {
        memset(s->cache, 0, s->cache_slots * sizeof *s->cache);
        s->stamp = 1;
    }
    csni_arena_release(&s->names, s->names_mark);
    s->joined_bytes = 0;
}

csn_status csni_scopes_rebind(struct csni_scopes *s, const struct csni_dwarf *dwarf, struct csn_error *err) {
    empty_cache(s);
    csni_scope_indexes_deinit(&s->indexes);
    s->dwarf = s->reader.dwarf = dwarf;
    return csni_scope_indexes_init(&s->indexes, dwarf, err);
}

/* Whether names of that language are qualified by their scopes. */
static bool qualifies(uint32_t language) {
    switch (language) {
    case DW_LANG_C: case DW_LANG_C_plus_plus: case DW_LANG_C_plus_plus_03: case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14: case DW_LANG_ObjC_plus_plus: return true;
    default: return false;
    }
}

/* ---- qualified names ---- */

static bool string_contains(struct csn_str s, const char *part, size_t size) {
    for (size_t i = 0; i + size <= s.len; i++)
        if (memcmp(s.ptr + i, part, size) == 0) return true;
    return false;
}

/* Clones that GCC gives a mangled DW_AT_name. */
static bool is_clone_name(struct csn_str s) {
    return s.len > 2 && s.ptr[0] == '_' && s.ptr[1] == 'Z' &&
           (string_contains(s, ".isra.", 6) || string_contains(s, ".part.", 6));
}

/* How much of a search for the declaration context is left: damaged input may lead in circles. */
struct search {
    uint32_t steps, depth;
};

static csn_status context_of(struct csni_scopes *s, const struct csni_die *die, struct search *search,
                             struct csni_die_ref *out, struct csn_error *err);

static csn_status context_by(struct csni_scopes *s, const struct csni_die *die, enum csni_at way, struct search *search,
                             struct csni_die_ref *out, struct csn_error *err) {
    if (!csni_die_has(die, way)) return CSN_NONE;
    struct csni_die other;
    csn_status status = csni_die_follow(s->dwarf, die, way, &other, err);
    if (status == CSN_NONE) CSNI_TRY(csni_check_missing(die, way, err));
    return status == CSN_OK ? context_of(s, &other, search, out, err) : status;
}

/* The scope that a DIE is declared in: that of its specification, else of its abstract origin, else the one around it.
 * CSN_NONE: none that a name shows. */
static csn_status context_of(struct csni_scopes *s, const struct csni_die *die, struct search *search,
                             struct csni_die_ref *out, struct csn_error *err) {
    if (search->steps == MAX_CONTEXT_STEPS || search->depth == MAX_CHAIN) return CSN_NONE;
    search->steps++;
    search->depth++;
    s->reader.cost += CSNI_NAME_STEP_COST;
    csn_status status = context_by(s, die, CSNI_AT_SPECIFICATION, search, out, err);
    if (status == CSN_NONE) status = context_by(s, die, CSNI_AT_ABSTRACT_ORIGIN, search, out, err);
    if (status == CSN_NONE && die->tag != DW_TAG_inlined_subroutine) {
        uint64_t parent;
        uint16_t tag = 0;
        status = csni_scope_parent(&s->indexes, die->unit, die->off, &parent, &tag, err);
        if (status == CSN_OK && tag == DW_TAG_lexical_block) {
            struct csni_die block;
            status = csni_die_at(s->dwarf, die->unit, parent, &block, err);
            if (status == CSN_OK) status = context_of(s, &block, search, out, err);
        } else if (status == CSN_OK) {
            bool shown = tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
                         tag == DW_TAG_class_type || tag == DW_TAG_subprogram;
            *out = (struct csni_die_ref){ die->unit, parent };
            status = shown ? CSN_OK : CSN_NONE;
        }
    }
    search->depth--;
    return status;
}

/* Scopes of a name, the innermost first. Unnamed ones are left out. */
struct parts {
    struct csn_str names[MAX_LEVELS];
    uint32_t count;
    size_t size; /* of the names and a "::" for each */
    bool in_context;
};

static csn_status gather_parts(struct csni_scopes *s, const struct csni_die *die, struct parts *parts,
                               struct csn_error *err) {
    parts->count = 0;
    parts->size = 0;
    parts->in_context = false;
    struct csni_die scope;
    for (uint32_t level = 0; level < MAX_LEVELS; level++) {
        struct search search = { 0, 0 };
        struct csni_die_ref ref;
        csn_status status = context_of(s, die, &search, &ref, err);
        if (status != CSN_OK) return status < 0 ? status : CSN_OK;
        parts->in_context = true;
        CSNI_TRY(csni_die_at(s->dwarf, ref.unit, ref.off, &scope, err));
        struct csni_plain_names names;
        CSNI_TRY(csni_find_names(&s->reader, &scope, false, &names, err));
        if (names.name.len) {
            parts->names[parts->count++] = names.name;
            parts->size += names.name.len + 2;
        }
        die = &scope;
    }
    return CSN_OK;
}

/* "<lambda()>" becomes "{lambda()}", as demangled names have it. */
static char *put_scope_part(char *to, struct csn_str part) {
    memcpy(to, part.ptr, part.len);
    if (part.ptr[0] == '<' && part.ptr[part.len - 1] == '>') {
        to[0] = '{';
        to[part.len - 1] = '}';
    }
    memcpy(to + part.len, "::", 2);
    return to + part.len + 2;
}

static csn_status join_parts(const struct parts *parts, struct csn_str name, struct csni_arena *arena,
                             struct csn_str *out,
                             struct csn_error *err) {
    size_t size = parts->size + name.len;
    if (size > MAX_NAME)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "qualified name has %zu bytes, need <= %d", size, MAX_NAME);
    char *text = csni_arena_alloc(arena, size + 1);
    if (!text) return csni_fail_memory(err, size + 1);
    char *to = text;
    for (uint32_t i = parts->count; i-- > 0;) to = put_scope_part(to, parts->names[i]);
    memcpy(to, name.ptr, name.len);
    to[name.len] = 0;
    *out = (struct csn_str){ text, size };
    return CSN_OK;
}

/* ---- names ---- */

/* The name of a DIE by all the rules, with nothing from the cache. */
static csn_status make_scope_name(struct csni_scopes *s, const struct csni_die *die, bool qualified,
                                  struct csni_arena *arena,
                                  struct known_name *out, struct csn_error *err) {
    struct csni_plain_names names;
    CSNI_TRY(csni_find_names(&s->reader, die, true, &names, err));
    *out = (struct known_name){ .name = names.linkage.len ? names.linkage : names.name };
    if (!out->name.len) return CSN_NONE;
    out->final = names.linkage.len || !qualified || is_clone_name(out->name);
    if (out->final) return CSN_OK;
    struct parts parts;
    CSNI_TRY(gather_parts(s, die, &parts, err));
    out->final = parts.in_context;
    out->joined = parts.count > 0;
    return out->joined ? join_parts(&parts, names.name, arena, &out->name, err) : CSN_OK;
}

/* The name of the referenced DIE, from the cache or into it. */
static csn_status name_of_origin(struct csni_scopes *s, struct csni_die_ref ref, bool qualified, struct known_name *out,
                                 struct csn_error *err) {
    struct cached_name *slot = &s->cache[csni_hash_u64(ref.off) & (s->cache_slots - 1)];
    if (slot->stamp != s->stamp || slot->unit != ref.unit || slot->off != ref.off || slot->qualified != qualified) {
        if (s->joined_bytes > MAX_CACHED_BYTES) empty_cache(s);
        struct csni_die die;
        struct cached_name made = { .unit = ref.unit, .off = ref.off, .stamp = s->stamp, .qualified = qualified };
        uint64_t before = s->reader.cost + s->indexes.cost;
        CSNI_TRY(csni_die_at(s->dwarf, ref.unit, ref.off, &die, err));
        made.status = make_scope_name(s, &die, qualified, &s->names, &made.known, err);
        if (made.status < 0) return made.status;
        made.known.cost = s->reader.cost + s->indexes.cost - before;
        s->reader.cost = before;
        s->indexes.cost = 0;
        if (made.known.joined) s->joined_bytes += made.known.name.len;
        *slot = made;
    }
    *out = slot->known;
    s->reader.cost += slot->known.cost;
    return slot->status;
}

csn_status csni_die_own_name(const struct csni_dwarf *dwarf, const struct csni_unit *language_unit,
                             const struct csni_die *die, struct csn_str *out, struct csn_error *err) {
    if (csni_die_has(die, CSNI_AT_LINKAGE_NAME)) {
        csn_status status = csni_attr_string(dwarf, die, CSNI_AT_LINKAGE_NAME, out, err);
        return status == CSN_OK && !out->len ? CSN_NONE : status;
    }
    bool elsewhere = csni_die_has(die, CSNI_AT_ABSTRACT_ORIGIN) || csni_die_has(die, CSNI_AT_SPECIFICATION);
    if (elsewhere || qualifies(language_unit->language)) return CSN_NONE;
    csn_status status = csni_attr_string(dwarf, die, CSNI_AT_NAME, out, err);
    return status == CSN_OK && !out->len ? CSN_NONE : status;
}

csn_status csni_scopes_name(struct csni_scopes *s, const struct csni_unit *language_unit, const struct csni_die *die,
                            struct csni_arena *arena, struct csn_str *out, struct csn_error *err) {
    const uint64_t own = UINT64_C(1) << CSNI_AT_LINKAGE_NAME | UINT64_C(1) << CSNI_AT_NAME |
                         UINT64_C(1) << CSNI_AT_SPECIFICATION;
    bool qualified = qualifies(language_unit->language);
    struct known_name known;
    struct csni_die_ref origin;
    csn_status status = CSN_NONE;
    /* A DIE with nothing of its own has the name of its origin, unless its own place in the tree decides. */
    if (!(die->present & own)) {
        status = csni_die_resolve(die, CSNI_AT_ABSTRACT_ORIGIN, &origin.unit, &origin.off, err);
        if (status != CSN_OK) return status;
        status = name_of_origin(s, origin, qualified, &known, err);
        if (status != CSN_OK) return status;
        if (known.final || die->tag == DW_TAG_inlined_subroutine) {
            *out = known.name;
            if (!known.joined) return CSN_OK;
            out->ptr = csni_arena_copy(arena, known.name.ptr, known.name.len);
            return out->ptr ? CSN_OK : csni_fail_memory(err, known.name.len);
        }
    }
    status = make_scope_name(s, die, qualified, arena, &known, err);
    if (status == CSN_OK) *out = known.name;
    return status;
}

csn_status csni_scopes_name_at(struct csni_scopes *s, const struct csni_unit *language_unit, const struct csni_unit *unit,
                               uint64_t off, struct csni_arena *arena, struct csn_str *out, struct csn_error *err) {
    struct csni_die_ref ref = { unit, off };
    if (csni_quick_name(&s->reader, ref, qualifies(language_unit->language), out) == CSN_OK) return CSN_OK;
    struct csni_die die;
    CSNI_TRY(csni_die_at(s->dwarf, unit, off, &die, err));
    return csni_scopes_name(s, language_unit, &die, arena, out, err);
}

uint64_t csni_scopes_take_cost(struct csni_scopes *s) {
    uint64_t cost = s->reader.cost + s->indexes.cost;
    s->reader.cost = s->indexes.cost = 0;
    return cost;
}

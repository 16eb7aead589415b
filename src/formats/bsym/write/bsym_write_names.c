/* Names of a BSYM file: each is cut into prefix and rest where that saves bytes, and every string is kept once. */
#include "base/core/fail.h"
#include "base/hash.h"
#include "formats/bsym/write/bsym_write_private.h"

static bool is_operator(struct csn_str name, size_t at) {
    return at >= 8 && memcmp(name.ptr + at - 8, "operator", 8) == 0;
}

/* Where the arguments begin, or the end. */
static size_t head_length(struct csn_str name) {
    size_t depth = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '<' && !is_operator(name, i) && !(i && name.ptr[i - 1] == '<')) depth++;
        else if (c == '>' && depth && !(i && name.ptr[i - 1] == '-')) depth--;
        else if (c == '(' && !depth) return i;
    }
    return name.len;
}

/* Length of what stands before the last `::` outside of brackets; 0: nothing does. */
static size_t scope_length(struct csn_str name) {
    size_t depth = 0;
    for (size_t i = head_length(name); i >= 2; i--) {
        char c = name.ptr[i - 1];
        if (c == '>' && !is_operator(name, i - 1)) depth++;
        else if (c == '<' && depth) depth--;
        else if (c == ':' && name.ptr[i - 2] == ':' && !depth) return i - 2;
    }
    return 0;
}

/* The reference tool's choice: wherever the last `::` is. */
static size_t last_separator(struct csn_str name) {
    for (size_t i = name.len; i >= 2; i--)
        if (name.ptr[i - 1] == ':' && name.ptr[i - 2] == ':') return i - 2;
    return 0;
}

/* ---- pieces ---- */

static csn_status add_piece(struct csni_bsym_plan *plan, struct csn_str text, uint32_t *out, struct csn_error *err) {
    if (csni_distinct_strings_add(&plan->pieces, text, csni_hash_bytes(text.len ? text.ptr : "", text.len), out)) return CSN_OK;
    return csni_fail_memory(err, plan->pieces.items.count * sizeof *plan->pieces.items.items);
}

static bool is_storable(const struct csni_bsym_plan *plan, struct csn_str text) {
    if (text.len > CSNI_BSYM_STRING_MAX || (text.len && memchr(text.ptr, 0, text.len))) return false;
    uint8_t all = 0;
    for (size_t i = 0; i < text.len && plan->version >= CSNI_BSYM_2_0; i++) all |= (uint8_t)text.ptr[i];
    return !(all & CSNI_BSYM_TOKEN_BIT);
}

/* From version 2 on, bytes beyond ASCII are tokens: they become '?', and so does NUL. What is too long loses its end. */
static csn_status make_storable(struct csni_bsym_plan *plan, struct csn_str *text, struct csn_error *err) {
    if (is_storable(plan, *text)) return CSN_OK;
    csni_report_add(plan->report, CSN_EVENT_NAME_CHANGED, 1, *text);
    if (text->len > CSNI_BSYM_STRING_MAX) text->len = CSNI_BSYM_STRING_MAX;
    char *copy = csni_arena_copy(&plan->arena, text->ptr, text->len);
    if (!copy) return csni_fail_memory(err, text->len);
    for (size_t i = 0; i < text->len; i++)
        if (!copy[i] || (plan->version >= CSNI_BSYM_2_0 && (uint8_t)copy[i] & CSNI_BSYM_TOKEN_BIT)) copy[i] = '?';
    text->ptr = copy;
    return CSN_OK;
}

static csn_status add_lower(struct csni_bsym_plan *plan, struct csn_str text, uint32_t *out, struct csn_error *err) {
    CSNI_TRY(make_storable(plan, &text, err));
    char *copy = csni_arena_copy(&plan->arena, text.ptr, text.len);
    if (!copy) return csni_fail_memory(err, text.len);
    for (size_t i = 0; i < text.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z') copy[i] = (char)(copy[i] - 'A' + 'a');
    return add_piece(plan, (struct csn_str){ copy, text.len }, out, err);
}

/* ---- names of symbols ---- */

/* A name of the model that symbols have. */
struct cut {
    struct csn_str text;    /* as it can be stored */
    uint32_t scope_length;
    uint32_t scope;         /* 1 + its index in scopes; 0: not looked at yet */
    uint32_t rest, whole;   /* pieces; CSNI_BSYM_NO_PIECE: not asked for yet */
};

/* A scope in the segment at hand. */
struct scope_use {
    uint32_t segment;       /* 1 + the one that the others are about */
    uint32_t uses;
    uint32_t number;        /* in its prefix table; 0: none */
};

struct cutter {
    struct csni_bsym_plan *plan;
    struct cut *cuts;       /* by string number of the model */
    struct csni_distinct_strings scopes; /* of the whole file */
    struct scope_use *uses; /* by scope */
};

static csn_status find_scopes(struct cutter *c, struct csn_error *err) {
    for (size_t k = 0; k < c->plan->symbols.count; k++) {
        uint32_t number = c->plan->symbols.items[k].name;
        struct cut *cut = &c->cuts[number];
        if (cut->scope) continue;
        cut->text = c->plan->model->strings[number];
        CSNI_TRY(make_storable(c->plan, &cut->text, err));
        cut->scope_length = (uint32_t)(c->plan->all_prefixes ? last_separator(cut->text) : scope_length(cut->text));
        cut->rest = cut->whole = CSNI_BSYM_NO_PIECE;
        struct csn_str scope = { cut->text.ptr, cut->scope_length };
        if (!csni_distinct_strings_add(&c->scopes, scope, csni_hash_bytes(scope.len ? scope.ptr : "", scope.len), &cut->scope))
            return csni_fail_memory(err, c->scopes.items.count * sizeof *c->scopes.items.items);
        cut->scope++;
    }
    return CSN_OK;
}

/* ---- symbols that are stored alike ---- */

/* What was told apart by an odd address or by bytes that cannot be stored, and no longer is. */
struct repeats {
    struct csni_distinct_strings symbols; /* length and text of those that share their address with another */
    CSNI_VEC(uint32_t) runs;              /* by number in these: 1 + the first symbol of the run that had it last */
};

/* Whether the symbol is a repetition within the run of one address that begins at `run`. */
static csn_status find_repeat(struct cutter *c, struct repeats *r, uint32_t run, const struct csni_bsym_out_symbol *symbol,
                              bool *out, struct csn_error *err) {
    struct csn_str text = c->cuts[symbol->name].text;
    size_t size = sizeof symbol->length + text.len;
    char *key = csni_arena_alloc(&c->plan->arena, size);
    uint32_t number;
    if (!key) return csni_fail_memory(err, size);
    memcpy(key, &symbol->length, sizeof symbol->length);
    if (text.len) memcpy(key + sizeof symbol->length, text.ptr, text.len);
    if (!csni_distinct_strings_add(&r->symbols, (struct csn_str){ key, size }, csni_hash_bytes(key, size), &number))
        return csni_fail_memory(err, r->symbols.items.count * sizeof *r->symbols.items.items);
    if (number == r->runs.count && !csni_vec_push(&r->runs, 0)) return csni_fail_memory(err, r->runs.count * sizeof number);
    *out = r->runs.items[number] == run + 1;
    r->runs.items[number] = run + 1;
    return CSN_OK;
}

/* The first of each kind stays. */
static csn_status drop_repeats(struct cutter *c, struct repeats *r, struct csni_bsym_out_segment *s, uint32_t *kept,
                               struct csn_error *err) {
    struct csni_bsym_out_symbol *symbols = c->plan->symbols.items;
    uint32_t first = s->first, end = first + s->count, run = first, address = symbols[run].address;
    s->first = *kept;
    for (uint32_t k = first; k < end; k++) {
        bool repeated = false;
        if (symbols[k].address != address) {
            run = k;
            address = symbols[k].address;
        }
        if (run < k || (k + 1 < end && symbols[k + 1].address == address))
            CSNI_TRY(find_repeat(c, r, run, &symbols[k], &repeated, err));
        if (!repeated) symbols[(*kept)++] = symbols[k];
    }
    s->count = *kept - s->first;
    return CSN_OK;
}

static csn_status drop_all_repeats(struct cutter *c, struct csn_error *err) {
    struct csni_bsym_plan *plan = c->plan;
    struct repeats r = { .symbols.items.alloc = plan->alloc, .runs.alloc = plan->alloc };
    uint32_t kept = 0;
    csn_status status = CSN_OK;
    for (uint32_t i = 0; status == CSN_OK && i < plan->segments.count; i++)
        status = drop_repeats(c, &r, &plan->segments.items[i], &kept, err);
    if (status == CSN_OK) {
        plan->report->functions_written -= plan->symbols.count - kept;
        plan->report->functions_pruned += plan->symbols.count - kept;
        plan->symbols.count = kept;
    }
    csni_distinct_strings_deinit(&r.symbols);
    csni_vec_deinit(&r.runs);
    return status;
}

/* ---- prefixes ---- */

static csn_status add_prefix(struct cutter *c, struct csni_bsym_out_segment *s, const struct cut *cut, struct csn_error *err) {
    uint32_t piece;
    CSNI_TRY(add_piece(c->plan, (struct csn_str){ cut->text.ptr, cut->scope_length }, &piece, err));
    if (!csni_vec_push(&c->plan->prefixes, piece)) return csni_fail_memory(err, c->plan->prefixes.count * sizeof piece);
    c->uses[cut->scope - 1].number = ++s->prefix_count;
    return CSN_OK;
}

/* What a symbol is stored as: prefix and rest, or the whole. A prefix that one symbol of a binary uses costs more than it
 * saves. */
static csn_status cut_symbol(struct cutter *c, struct csni_bsym_out_segment *s, struct csni_bsym_out_symbol *symbol,
                             struct csn_error *err) {
    uint32_t uses_min = c->plan->all_prefixes ? 1 : 2;
    struct cut *cut = &c->cuts[symbol->name];
    struct scope_use *use = &c->uses[cut->scope - 1];
    if (cut->scope_length && !use->number && use->uses >= uses_min && s->prefix_count < CSNI_BSYM_PREFIX_MAX)
        CSNI_TRY(add_prefix(c, s, cut, err));
    uint32_t number = cut->scope_length ? use->number : 0;
    uint32_t *piece = number ? &cut->rest : &cut->whole;
    size_t skip = number ? cut->scope_length + 2 : 0;
    if (*piece == CSNI_BSYM_NO_PIECE)
        CSNI_TRY(add_piece(c->plan, (struct csn_str){ cut->text.ptr + skip, cut->text.len - skip }, piece, err));
    symbol->name = *piece;
    symbol->prefix = (uint16_t)number;
    return CSN_OK;
}

static csn_status cut_segment(struct cutter *c, uint32_t index, struct csn_error *err) {
    struct csni_bsym_out_segment *s = &c->plan->segments.items[index];
    struct csni_bsym_out_symbol *symbols = c->plan->symbols.items + s->first;
    s->first_prefix = (uint32_t)c->plan->prefixes.count;
    for (uint32_t k = 0; k < s->count; k++) {
        struct scope_use *use = &c->uses[c->cuts[symbols[k].name].scope - 1];
        if (use->segment != index + 1) *use = (struct scope_use){ .segment = index + 1 };
        use->uses++;
    }
    for (uint32_t k = 0; k < s->count; k++) CSNI_TRY(cut_symbol(c, s, &symbols[k], err));
    return CSN_OK;
}

static csn_status cut_all(struct cutter *c, struct csn_error *err) {
    CSNI_TRY(find_scopes(c, err));
    CSNI_TRY(drop_all_repeats(c, err));
    c->uses = csni_alloc_zeroed(c->plan->alloc, c->scopes.items.count, sizeof *c->uses);
    if (!c->uses) return csni_fail_memory(err, c->scopes.items.count * sizeof *c->uses);
    for (uint32_t i = 0; i < c->plan->segments.count; i++) CSNI_TRY(cut_segment(c, i, err));
    return CSN_OK;
}

static csn_status cut_names(struct csni_bsym_plan *plan, struct csn_error *err) {
    struct cutter c = { .plan = plan, .scopes.items.alloc = plan->alloc };
    size_t count = plan->model->string_count;
    c.cuts = csni_alloc_zeroed(plan->alloc, count, sizeof *c.cuts);
    csn_status status = c.cuts ? cut_all(&c, err) : csni_fail_memory(err, count * sizeof *c.cuts);
    csni_free(plan->alloc, c.uses, c.scopes.items.count * sizeof *c.uses);
    csni_distinct_strings_deinit(&c.scopes);
    csni_free(plan->alloc, c.cuts, count * sizeof *c.cuts);
    return status;
}

static csn_status name_segments(struct csni_bsym_plan *plan, struct csn_error *err) {
    const struct csni_model *m = plan->model;
    for (size_t i = 0; i < plan->segments.count; i++) {
        struct csni_bsym_out_segment *s = &plan->segments.items[i];
        struct csn_str name = s->binary == UINT32_MAX ? m->image.file_name : m->image.binaries[s->binary].name;
        CSNI_TRY(add_lower(plan, name, &s->name, err));
    }
    return CSN_OK;
}

/* ---- renames ---- */

/* Versions before 2.3 hold the file's name alone. */
static struct csn_str device_name(const struct csni_bsym_plan *plan, struct csn_str path) {
    if (plan->version >= CSNI_BSYM_2_3) return path;
    for (size_t i = path.len; i; i--)
        if (path.ptr[i - 1] == '\\' || path.ptr[i - 1] == '/') return (struct csn_str){ path.ptr + i, path.len - i };
    return path;
}

static csn_status plan_renames(struct csni_bsym_plan *plan, struct csn_error *err) {
    const struct csni_image *image = &plan->model->image;
    if (plan->version < CSNI_BSYM_2_1 || !image->rename_count) return CSN_OK;
    plan->rename_pieces = csni_arena_alloc(&plan->arena, image->rename_count * sizeof *plan->rename_pieces);
    plan->rename_segments = csni_arena_alloc(&plan->arena, image->rename_count * sizeof *plan->rename_segments);
    uint32_t *first = csni_arena_alloc(&plan->arena, ((size_t)image->binary_count + 1) * sizeof *first);
    if (!plan->rename_pieces || !plan->rename_segments || !first)
        return csni_fail_memory(err, image->rename_count * sizeof *plan->rename_pieces);
    memset(first, 0, ((size_t)image->binary_count + 1) * sizeof *first);
    for (uint32_t r = image->rename_count; r; r--) first[image->renames[r - 1].binary] = r;
    for (uint32_t i = 0; i < plan->segments.count; i++) {
        uint32_t binary = plan->segments.items[i].binary;
        uint32_t r = binary < image->binary_count ? first[binary] : 0;
        for (; r && r <= image->rename_count && image->renames[r - 1].binary == binary; r++) {
            struct csn_str name = device_name(plan, image->renames[r - 1].name);
            CSNI_TRY(add_lower(plan, name, &plan->rename_pieces[plan->rename_count], err));
            plan->rename_segments[plan->rename_count++] = i;
        }
    }
    return CSN_OK;
}

csn_status csni_bsym_plan_names(struct csni_bsym_plan *plan, struct csn_error *err) {
    CSNI_TRY(name_segments(plan, err));
    CSNI_TRY(cut_names(plan, err));
    return plan_renames(plan, err);
}

/* Which symbols are code at address 0. */
#include "convert/dwarf/zero_code.h"

#include "base/core/fail.h"
#include "convert/conversion.h"
#include "convert/sources/code_labels.h"

/* Linked, and not to be as the reference has it. */
static bool begins_at_zero(const struct csni_conversion *c) {
    const struct csni_object *object = c->object;
    bool is_linked = object->kind == CSNI_OBJECT_EXECUTABLE || object->kind == CSNI_OBJECT_SHARED;
    return object->container == CSNI_CONTAINER_ELF && is_linked && c->image.text.count && !c->image.text.items[0].start &&
           c->options.merged_functions != CSN_MERGE_LLVM;
}

/* What a pass over the symbols finds. */
struct found {
    struct csni_zero_symbol labels[CSNI_ZERO_SYMBOLS_MAX]; /* at 0, of no type */
    uint32_t label_count;
    bool any_function;   /* wherever: else the table was made without them, and tells nothing */
    bool has_data, has_code; /* at 0, as an object or a mapping symbol tells */
    bool too_many;
};

static bool add(struct csni_zero_symbol *list, uint32_t *count, const struct csni_symbol *s, struct found *f,
                struct csni_arena *arena) {
    if (*count == CSNI_ZERO_SYMBOLS_MAX) {
        f->too_many = true;
        return true;
    }
    const char *name = csni_arena_copy(arena, s->name.ptr, s->name.len);
    list[(*count)++] = (struct csni_zero_symbol){ { name, s->name.len }, s->size };
    return name != NULL;
}

static bool look_at(struct csni_conversion *c, const struct csni_symbol *s, struct found *f) {
    if (!s->defined || s->section == CSNI_NO_SECTION) return true;
    bool is_function = s->kind == CSNI_SYMBOL_FUNCTION || s->kind == CSNI_SYMBOL_IFUNC;
    f->any_function |= is_function;
    if (s->addr || !csni_in_text(c, 0)) return true;
    if (is_function) return add(c->zero.symbols, &c->zero.count, s, f, &c->arenas[0]);
    f->has_data |= s->kind == CSNI_SYMBOL_DATA || csni_str_starts(s->name, "$d");
    f->has_code |= csni_str_starts(s->name, "$a") || csni_str_starts(s->name, "$t") || csni_str_starts(s->name, "$x");
    if (s->kind != CSNI_SYMBOL_NONE || !s->name.len || csni_is_local_label(c->object, s->name, false)) return true;
    return add(f->labels, &f->label_count, s, f, &c->arenas[0]);
}

static void settle(struct csni_zero_code *zero, const struct found *f) {
    zero->is_shared = f->any_function && !f->too_many;
    if (f->has_data) return; /* labels are of data, then */
    for (uint32_t i = 0; i < f->label_count && zero->count < CSNI_ZERO_SYMBOLS_MAX; i++)
        zero->symbols[zero->count++] = f->labels[i];
    if (!zero->count && f->has_code) zero->count = 1;
}

csn_status csni_zero_code_find(struct csni_conversion *c, struct csn_error *err) {
    if (!begins_at_zero(c)) return CSN_OK;
    struct csni_symbol_iter iter;
    csn_status status = csni_symbol_iter_init(&iter, c->object, CSNI_SYMBOLS_STATIC, err);
    if (status == CSN_NONE && c->debug) status = csni_symbol_iter_init(&iter, c->debug, CSNI_SYMBOLS_STATIC, err);
    if (status == CSN_E_MEMORY) return status;
    if (status != CSN_OK) return CSN_OK; /* a damaged table is told of by those who need its names */
    struct csni_symbol s;
    struct found f = { .label_count = 0 };
    while (csni_symbol_iter_next(&iter, &s) == CSN_OK)
        if (!look_at(c, &s, &f)) return csni_fail_memory(err, s.name.len);
    settle(&c->zero, &f);
    return CSN_OK;
}

/* Whether a DIE's name need not be the same: it is mangled (Free Pascal: `P$PROG_$$_RUN`), or has a suffix of an optimizer's
 * (`main.isra.0`). */
static bool differs_from_source(struct csn_str name) {
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.' || name.ptr[i] == '$') return true;
    return csni_str_starts(name, "_Z") || csni_str_starts(name, "_R") || csni_str_starts(name, "_D");
}

bool csni_zero_code_has(const struct csni_zero_code *zero, struct csn_str name, uint64_t size) {
    for (uint32_t i = 0; i < zero->count; i++) {
        const struct csni_zero_symbol *s = &zero->symbols[i];
        if (name.len && csni_str_equal(s->name, name)) return true;
        if (s->size && s->size == size && (!name.len || differs_from_source(s->name))) return true;
    }
    return false;
}

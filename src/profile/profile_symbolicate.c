/* Names for the locations of a profile: each address once, in order; then whole stacks where merged functions are. */
#include "base/core/sort.h"
#include "base/buffer.h"
#include "base/core/sized.h"
#include "base/hash.h"
#include "profile/profile_adopt.h"
#include "profile/profile_given.h"
#include "profile/profile_modules.h"

#include <callsign/names.h>

struct place {
    uint32_t module, location;
    uint64_t addr;
};

/* A choice among the merged functions of a location. */
struct variant {
    uint32_t location, chosen, result;
};

struct symbolication {
    struct csn_profile *p;
    struct csn_error *err;
    bool mangled;
    struct csn_profile_counts counts;
    struct csn_symbolicator *symbolicator;
    struct profile_modules modules;
    CSNI_VEC(struct place) places;
    CSNI_VEC(uint32_t) shown;       /* by string: the name to show + 1; 0: not known yet */
    CSNI_VEC(struct csn_stack_frame) frames;
    CSNI_VEC(uint32_t) path;        /* nodes of one stack, innermost first */
    CSNI_VEC(struct variant) variants;
    struct csni_profile_table variant_table;
    struct profile_given given;     /* what the inputs say of functions and columns */
    struct csni_buffer text;
    bool *is_merged;                /* by location */
    size_t merged_count;
    uint64_t *addrs;                /* by location: of its image */
};

static csn_status fail_no_memory(struct symbolication *s) { return csni_fail_memory(s->err, 0); }

/* ---- addresses ---- */

static bool place_before(const void *context, const void *a, const void *b) {
    const struct place *x = a, *y = b;
    (void)context;
    if (x->module != y->module) return x->module < y->module;
    return x->addr < y->addr;
}

static csn_status list_places(struct symbolication *s) {
    const struct csn_profile *p = s->p;
    for (uint32_t i = 0; i < p->locations.count; i++) {
        const struct profile_location *location = &p->locations.items[i];
        if (location->kind != CSN_PROFILE_AT_NAME) s->counts.locations++;
        if (!csni_profile_has_index(&s->modules, location)) continue;
        s->addrs[i] = csni_profile_image_addr(&s->modules, location);
        const struct place place = { location->module, i, s->addrs[i] };
        if (!csni_vec_push(&s->places, place)) return fail_no_memory(s);
    }
    const size_t bytes = s->places.count * sizeof(struct place);
    void *spare = csni_alloc(p->alloc, bytes);
    if (bytes && !spare) return fail_no_memory(s);
    csni_merge_sort(s->places.items, spare, s->places.count, sizeof(struct place), place_before, NULL);
    csni_free(p->alloc, spare, bytes);
    return CSN_OK;
}

/* ---- frames to lines ---- */

static csn_status demangle(struct symbolication *s, struct csn_str name, uint32_t *out) {
    size_t len = 0;
    s->text.size = 0;
    for (size_t capacity = 1024;; capacity = len + 1) {
        uint8_t *at = csni_buffer_reserve(&s->text, capacity);
        if (!at) return fail_no_memory(s);
        csn_status status = csn_demangle(name, (char *)at, capacity, &len, NULL);
        if (status == CSN_E_LIMIT && len >= capacity) continue;
        if (status == CSN_E_MEMORY) return fail_no_memory(s);
        return csni_profile_string(s->p, status == CSN_OK ? (struct csn_str){ (char *)at, len } : name, out, s->err);
    }
}

/* The name to show of a stored one. */
static csn_status shown_name(struct symbolication *s, uint32_t stored, uint32_t *out) {
    *out = stored;
    if (s->mangled) return CSN_OK;
    while (s->shown.count <= stored)
        if (!csni_vec_push(&s->shown, 0)) return fail_no_memory(s);
    if (!s->shown.items[stored]) {
        CSNI_TRY(demangle(s, csni_profile_str(s->p, stored), out));
        s->shown.items[stored] = *out + 1;
    }
    *out = s->shown.items[stored] - 1;
    return CSN_OK;
}

static csn_status file_string(struct symbolication *s, const struct csn_frame *frame, uint32_t *out) {
    if (!frame->directory.len || (frame->base.len && frame->base.ptr[0] == '/'))
        return csni_profile_string(s->p, frame->base, out, s->err);
    s->text.size = 0;
    csni_buffer_put(&s->text, frame->directory.ptr, frame->directory.len);
    if (frame->directory.ptr[frame->directory.len - 1] != '/') csni_buffer_put(&s->text, "/", 1);
    csni_buffer_put(&s->text, frame->base.ptr, frame->base.len);
    if (s->text.failed) return fail_no_memory(s);
    return csni_profile_string(s->p, (struct csn_str){ (char *)s->text.bytes, s->text.size }, out, s->err);
}

static csn_status name_function(struct symbolication *s, const struct csn_frame *frame, struct profile_function *out) {
    uint32_t stored;
    CSNI_TRY(csni_profile_string(s->p, frame->name, &stored, s->err));
    CSNI_TRY(shown_name(s, stored, &out->name));
    out->system_name = stored == out->name ? 0 : stored;
    return CSN_OK;
}

/* Where the function begins and the column, no index knows: they stay as the inputs have them. */
static csn_status add_frame_line(struct symbolication *s, const struct csn_frame *frame, uint32_t location, bool inlined) {
    struct profile_function function = { .name = 0 };
    struct profile_line line = { .line = frame->line, .inlined = inlined };
    CSNI_TRY(name_function(s, frame, &function));
    if (frame->base.len) CSNI_TRY(file_string(s, frame, &function.file));
    function.start_line = csni_profile_given_start(&s->given, location, &function);
    line.column = csni_profile_given_column(&s->given, location, &function, line.line);
    CSNI_TRY(csni_profile_function(s->p, &function, &line.function, s->err));
    return csni_profile_push_line(s->p, &line, s->err);
}

/* The index has the function by its symbol: it knows no line and no inlined call there. */
static bool is_by_symbol(const struct csn_stack_answer *answer) { return answer->frame_count == 1 && !answer->frames[0].line; }

/* Then those that the location has stay. */
static csn_status keep_inlined(struct symbolication *s, const struct csn_stack_answer *answer,
                               const struct profile_location *from) {
    if (!is_by_symbol(answer)) return CSN_OK;
    for (uint32_t k = 0; k < from->line_count; k++) {
        const struct profile_line line = s->p->lines.items[from->first_line + k];
        if (line.inlined) CSNI_TRY(csni_profile_push_line(s->p, &line, s->err));
    }
    return CSN_OK;
}

/* The answer's frames become the lines of `out`, which is the location with this number, or made of it. */
static csn_status take_frames(struct symbolication *s, const struct csn_stack_answer *answer, uint32_t location,
                              struct profile_location *out) {
    const uint32_t first_line = (uint32_t)s->p->lines.count;
    CSNI_TRY(keep_inlined(s, answer, out));
    for (uint32_t k = 0; k < answer->frame_count; k++)
        CSNI_TRY(add_frame_line(s, &answer->frames[k], location, k + 1 < answer->frame_count));
    out->first_line = first_line;
    out->line_count = (uint32_t)s->p->lines.count - first_line;
    return CSN_OK;
}

static bool is_named(const struct csn_stack_answer *answer) {
    return answer->status == CSN_OK && answer->frame_count && answer->frames[answer->frame_count - 1].name.len;
}

/* Whether the input tells more of the location: an index that has the function by its symbol alone knows no line of it. */
static csn_status has_better_input(struct symbolication *s, const struct csn_stack_answer *answer, uint32_t location, bool *out) {
    struct profile_function function = { .name = 0 };
    *out = is_by_symbol(answer) && answer->candidate_count <= 1 && !answer->frames[0].base.len;
    if (!*out) return CSN_OK;
    CSNI_TRY(name_function(s, &answer->frames[0], &function));
    *out = csni_profile_given_line(&s->given, location, &function);
    return CSN_OK;
}

/* A clone is called as its function in debug information: "f.isra.0". */
static bool is_same_function(struct csn_str a, struct csn_str b) {
    const struct csn_str longer = a.len > b.len ? a : b;
    const size_t shorter = a.len > b.len ? b.len : a.len;
    return shorter && memcmp(a.ptr, b.ptr, shorter) == 0 && (longer.len == shorter || longer.ptr[shorter] == '.');
}

/* Whether the input names one of the functions that the index has there, or none. */
static bool names_one_of(const struct symbolication *s, const struct profile_location *location,
                         const struct csn_stack_answer *answer) {
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_function *function = &s->p->functions.items[s->p->lines.items[location->first_line + i].function];
        const struct csn_str name = csni_profile_str(s->p, function->system_name ? function->system_name : function->name);
        for (uint32_t k = 0; k < answer->frame_count; k++)
            if (is_same_function(name, answer->frames[k].name)) return true;
    }
    return !location->line_count;
}

static csn_status answer_place(struct symbolication *s, const struct place *place) {
    const struct csn_stack_answer *answer;
    struct profile_location location = s->p->locations.items[place->location];
    const uint32_t flags = location.flags & ~(uint32_t)LOCATION_FOLDED;
    const struct csn_stack_frame frame = { place->addr, place->module, (flags ? flags : CSN_STACK_EXACT) | CSN_STACK_ADDRESS };
    CSNI_TRY(csn_symbolicator_answer(s->symbolicator, &frame, 1, &answer, s->err));
    bool is_better = false;
    if (is_named(answer)) CSNI_TRY(has_better_input(s, answer, place->location, &is_better));
    if (!is_named(answer) || is_better) return CSN_OK;
    if (csni_profile_may_be_elsewhere(&s->modules, &location) && !names_one_of(s, &location, answer)) return CSN_OK;
    CSNI_TRY(take_frames(s, answer, place->location, &location));
    location.flags = flags;
    s->counts.named++;
    if (answer->candidate_count > 1) {
        location.flags |= LOCATION_FOLDED;
        s->is_merged[place->location] = true;
        s->merged_count++;
        s->counts.merged++;
    }
    s->p->locations.items[place->location] = location;
    return CSN_OK;
}

/* Whether the location has a line of an index: behind those of the inputs. */
static bool has_indexed_line(const struct csn_profile *p, uint32_t number, size_t input_lines) {
    const struct profile_location *location = &p->locations.items[number];
    return location->line_count && location->first_line >= input_lines &&
           p->lines.items[location->first_line + location->line_count - 1].line;
}

/* An index with lines knows the inlined calls, too. */
static void note_what_is_known(struct symbolication *s, size_t input_lines) {
    const struct place *places = s->places.items;
    for (size_t i = 0; i < s->places.count;) {
        const uint32_t module = places[i].module;
        bool all = true;
        for (; i < s->places.count && places[i].module == module; i++)
            all &= has_indexed_line(s->p, places[i].location, input_lines);
        if (all) s->p->modules.items[module].known |= MODULE_INLINES | MODULE_BY_LOCATIONS;
    }
}

static csn_status answer_places(struct symbolication *s) {
    const struct csn_profile *p = s->p;
    const size_t input_lines = p->lines.count;
    for (size_t i = 0; i < s->places.count; i++) CSNI_TRY(answer_place(s, &s->places.items[i]));
    note_what_is_known(s, input_lines);
    for (size_t i = 0; i < p->locations.count; i++)
        if (p->locations.items[i].kind != CSN_PROFILE_AT_NAME && p->locations.items[i].line_count) s->counts.kept++;
    s->counts.kept -= s->counts.named;
    s->counts.unknown = s->counts.locations - s->counts.named - s->counts.kept;
    return CSN_OK;
}

/* ---- whole stacks ---- */

static bool variant_equals(const void *context, uint32_t number, const void *key) {
    const struct symbolication *s = context;
    const struct variant *a = &s->variants.items[number], *b = key;
    return a->location == b->location && a->chosen == b->chosen;
}

/* The location with the function that was chosen. */
static csn_status variant_of(struct symbolication *s, uint32_t location, const struct csn_stack_answer *answer, uint32_t *out) {
    struct variant variant = { location, answer->chosen, 0 };
    const uint64_t hash = csni_hash_u64((uint64_t)location << 32 | answer->chosen);
    uint32_t number;
    if (csni_profile_table_find(&s->variant_table, hash, variant_equals, s, &variant, &number)) {
        *out = s->variants.items[number].result;
        return CSN_OK;
    }
    struct profile_location made = s->p->locations.items[location];
    made.flags &= ~(uint32_t)LOCATION_FOLDED;
    CSNI_TRY(take_frames(s, answer, location, &made));
    CSNI_TRY(csni_profile_push_location(s->p, &made, &variant.result, s->err));
    *out = variant.result;
    number = (uint32_t)s->variants.count;
    return csni_vec_push(&s->variants, variant) && csni_profile_table_add(&s->variant_table, hash, number)
               ? CSN_OK
               : fail_no_memory(s);
}

static struct csn_stack_frame stack_frame(const struct symbolication *s, uint32_t number, bool is_first) {
    const struct profile_location *location = &s->p->locations.items[number];
    const uint32_t flags = location->flags & ~(uint32_t)LOCATION_FOLDED, usual = is_first ? CSN_STACK_EXACT : CSN_STACK_BEFORE;
    if (!csni_profile_has_index(&s->modules, location)) return (struct csn_stack_frame){ UINT64_MAX, UINT32_MAX, CSN_STACK_EXACT };
    return (struct csn_stack_frame){ s->addrs[number], location->module, (flags ? flags : usual) | CSN_STACK_ADDRESS };
}

static csn_status list_stack(struct symbolication *s, uint32_t stack) {
    s->frames.count = s->path.count = 0;
    for (uint32_t node = stack; node; node = s->p->nodes.items[node].caller) {
        const struct csn_stack_frame frame = stack_frame(s, s->p->nodes.items[node].location, node == stack);
        if (!csni_vec_push(&s->frames, frame) || !csni_vec_push(&s->path, node)) return fail_no_memory(s);
    }
    return CSN_OK;
}

static csn_status answer_stack(struct symbolication *s, uint32_t stack, uint32_t *out) {
    const struct csn_stack_answer *answers;
    uint32_t made = PROFILE_NO_STACK;
    CSNI_TRY(list_stack(s, stack));
    csn_status status = csn_symbolicator_answer(s->symbolicator, s->frames.items, s->frames.count, &answers, s->err);
    *out = stack;
    if (status == CSN_E_LIMIT) return CSN_OK; /* a stack longer than the symbolicator takes stays undecided */
    CSNI_TRY(status);
    for (size_t i = s->path.count; i-- > 0;) {
        uint32_t location = s->p->nodes.items[s->path.items[i]].location;
        if (s->is_merged[location] && answers[i].candidate_count > 1) {
            const bool chosen = answers[i].chosen != CSN_NOT_CHOSEN && is_named(&answers[i]);
            s->counts.chosen += chosen;
            s->counts.undecided += !chosen;
            if (chosen) CSNI_TRY(variant_of(s, location, &answers[i], &location));
        }
        CSNI_TRY(csni_profile_child(s->p, made, location, &made, s->err));
    }
    *out = made;
    return CSN_OK;
}

/* Stacks with merged functions are answered, each once. */
static csn_status answer_stacks(struct symbolication *s) {
    struct csn_profile *p = s->p;
    const size_t count = p->nodes.count;
    uint32_t *made = csni_alloc_zeroed(p->alloc, count, sizeof *made);
    bool *has_merged = csni_alloc_zeroed(p->alloc, count, sizeof *has_merged);
    csn_status status = made && has_merged ? CSN_OK : fail_no_memory(s);
    for (size_t i = 1; status == CSN_OK && i < count; i++)
        has_merged[i] = has_merged[p->nodes.items[i].caller] || s->is_merged[p->nodes.items[i].location];
    for (size_t i = 0; status == CSN_OK && i < p->samples.count; i++) {
        struct profile_sample_row *row = &p->samples.items[i];
        if (!has_merged[row->stack]) continue;
        if (!made[row->stack]) status = answer_stack(s, row->stack, &made[row->stack]);
        if (status == CSN_OK) row->stack = made[row->stack];
    }
    csni_free(p->alloc, made, count * sizeof *made);
    csni_free(p->alloc, has_merged, count * sizeof *has_merged);
    return status;
}

/* ---- names of the input ---- */

/* As an index's are shown. Where there is a stored name, the other one is for showing already. */
static csn_status show_function(struct symbolication *s, struct profile_function *function) {
    const struct profile_function given = *function;
    if (s->mangled && given.system_name) {
        function->name = given.system_name;
        function->system_name = 0;
    }
    if (s->mangled || given.system_name) return CSN_OK;
    CSNI_TRY(shown_name(s, given.name, &function->name));
    if (function->name != given.name) function->system_name = given.name;
    return CSN_OK;
}

static csn_status show_kept_names(struct symbolication *s) {
    struct csn_profile *p = s->p;
    for (size_t i = 0; i < p->lines.count; i++) {
        struct profile_function function = p->functions.items[p->lines.items[i].function];
        CSNI_TRY(show_function(s, &function));
        CSNI_TRY(csni_profile_function(p, &function, &p->lines.items[i].function, s->err));
    }
    return CSN_OK;
}

static csn_status find_modules(struct symbolication *s, struct csn_store *store) {
    struct profile_modules *m = &s->modules;
    CSNI_TRY(csni_profile_find_modules(m, store));
    s->counts.modules = m->used_count;
    s->counts.modules_without = m->without_count;
    return csn_symbolicator_set_modules(s->symbolicator, m->items.items, m->items.count, s->err);
}

static csn_status symbolicate(struct symbolication *s, struct csn_store *store) {
    const size_t count = s->p->locations.count + 1;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.allocator = s->p->alloc;
    CSNI_TRY(csn_symbolicator_create(&options, &s->symbolicator, s->err));
    CSNI_TRY(csni_profile_adopt_locations(s->p, store, s->err));
    CSNI_TRY(find_modules(s, store));
    CSNI_TRY(csni_profile_given_init(&s->given, s->p, s->err));
    s->is_merged = csni_alloc_zeroed(s->p->alloc, count, sizeof *s->is_merged);
    s->addrs = csni_alloc_zeroed(s->p->alloc, count, sizeof *s->addrs);
    csn_status status = s->is_merged && s->addrs ? CSN_OK : fail_no_memory(s);
    if (status == CSN_OK) status = list_places(s);
    if (status == CSN_OK) status = answer_places(s);
    if (status == CSN_OK && s->merged_count) status = answer_stacks(s);
    if (status == CSN_OK) status = show_kept_names(s);
    csni_free(s->p->alloc, s->is_merged, count * sizeof *s->is_merged);
    csni_free(s->p->alloc, s->addrs, count * sizeof *s->addrs);
    return status;
}

csn_status csn_profile_symbolicate(struct csn_profile *p, struct csn_store *store,
                                   const struct csn_profile_symbolicate_options *given, struct csn_profile_counts *out,
                                   struct csn_error *err) {
    struct csn_profile_symbolicate_options options = CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_profile_symbolicate_options.reserved", options.reserved, err));
    const uint32_t unknown = options.flags & ~(uint32_t)CSN_PROFILE_MANGLED;
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x for symbolicating a profile", unknown);
    struct symbolication s = { .p = p, .err = err, .mangled = options.flags & CSN_PROFILE_MANGLED };
    s.modules = (struct profile_modules){ .p = p, .err = err };
    s.modules.items.alloc = s.modules.biases.alloc = s.modules.indexed.alloc = p->alloc;
    s.places.alloc = s.shown.alloc = s.frames.alloc = s.path.alloc = s.variants.alloc = p->alloc;
    s.variant_table.alloc = s.text.alloc = p->alloc;
    csn_status status = symbolicate(&s, store);
    csn_symbolicator_destroy(s.symbolicator);
    csni_profile_modules_deinit(&s.modules);
    csni_vec_deinit(&s.places);
    csni_vec_deinit(&s.shown);
    csni_vec_deinit(&s.frames);
    csni_vec_deinit(&s.path);
    csni_vec_deinit(&s.variants);
    csni_profile_table_deinit(&s.variant_table);
    csni_profile_given_deinit(&s.given);
    csni_buffer_deinit(&s.text);
    if (status == CSN_OK && out) *out = s.counts;
    return status;
}

/* Names for the locations of a profile: each address once, in order; then whole stacks where merged functions are. */
#include "base/core/sort.h"
#include "base/buffer.h"
#include "base/core/sized.h"
#include "base/hash.h"
#include "process/process_private.h"
#include "profile/profile_adopt.h"
#include "profile/profile_given.h"
#include "profile/profile_places.h"

#include <string.h>

#include <callsign/inspect.h>
#include <callsign/names.h>
#include <callsign/process.h>

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
    CSNI_VEC(struct csn_module) modules;
    struct csn_process_maps *maps;
    CSNI_VEC(uint64_t) biases;      /* by module: what a pc is more than its address in the index */
    CSNI_VEC(struct profile_layout) indexed; /* by module: what its index tells */
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

/* ---- modules ---- */

static csn_status find_index(struct symbolication *s, struct csn_store *store, const struct profile_module *module,
                             const struct csn_index **out) {
    struct csn_store_module wanted = CSN_STORE_MODULE_INIT;
    wanted.name = csni_profile_str(s->p, module->path);
    wanted.build_id = module->build_id;
    wanted.build_id_size = module->build_id_size;
    csn_status status = csn_store_find(store, &wanted, out, NULL, s->err);
    /* perf and /proc/kallsyms have the kernel's modules in brackets. */
    const struct csn_str name = wanted.name;
    if (status == CSN_NONE && name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']') {
        wanted.name = (struct csn_str){ name.ptr + 1, name.len - 2 };
        status = csn_store_find(store, &wanted, out, NULL, s->err);
    }
    if (status == CSN_NONE) *out = NULL;
    return status < 0 ? status : CSN_OK;
}

static uint64_t index_base(const struct csn_index *index) {
    struct csn_index_info info = { .base_address = 0 };
    csn_index_get_info(index, &info, sizeof info);
    return info.base_address;
}

/* What stands behind the bracket of "[kernel.kallsyms]_stext". */
static struct csn_str mapped_symbol(const struct symbolication *s, const struct profile_module *module) {
    const struct csn_str name = csni_profile_str(s->p, module->mapping_name);
    const char *close = name.len ? memchr(name.ptr, ']', name.len) : NULL;
    return close ? (struct csn_str){ close + 1, (size_t)(name.ptr + name.len - close - 1) } : CSN_STR("");
}

/* What is linked in the upper half and lies there is a kernel, whatever its mapping is called. That begins at _text or _stext, from
 * its first byte on (which PowerPC has at a place of its own) or, once it was moved (KASLR), from the place where it is. */
static bool kernel_bias(struct symbolication *s, const struct profile_module *module, const struct csn_index *index,
                        uint64_t *out) {
    const uint64_t base = index_base(index), power_pc = 0xc000000000000000;
    const uint64_t file_off = module->file_off;
    if (!(module->start >> 63) || !(base >> 63)) return false;
    if (file_off && file_off != power_pc && file_off != module->start) return false;
    *out = csn_index_kernel_bias(index, mapped_symbol(s, module), module->start);
    return true;
}

/* Behind the last function; 0: not known. */
static uint64_t index_end(const struct csn_index *index) {
    struct csn_index_info info = { .base_address = 0 };
    struct csn_function last;
    csn_index_get_info(index, &info, sizeof info);
    if (!info.function_count || info.binary_count) return 0;
    return csn_index_function(index, info.function_count - 1, &last, NULL) == CSN_OK ? last.start + last.size : 0;
}

static struct profile_layout index_layout(const struct csn_index *index) {
    if (!index) return (struct profile_layout){ .has_base = false };
    return (struct profile_layout){ .has_base = true, .base = csn_index_image_base(index), .end = index_end(index) };
}

/* A debug file tells where the image begins, but has no parts. */
static csn_status take_headers(struct symbolication *s, const struct csni_process_image *image, struct profile_layout *out) {
    *out = (struct profile_layout){ .has_base = true, .base = image->base, .first_part = (uint32_t)s->p->parts.count };
    for (uint32_t i = 0; image->has_code && i < image->segment_count; i++) {
        const struct csni_process_segment *segment = &image->segments[i];
        if (!segment->file_size) continue;
        if (!csni_vec_push(&s->p->parts, *segment)) return fail_no_memory(s);
        if (segment->addr + segment->file_size > out->end) out->end = segment->addr + segment->file_size;
        out->part_count++;
    }
    return CSN_OK;
}

static csn_status find_layout(struct symbolication *s, uint32_t number) {
    struct profile_module *module = &s->p->modules.items[number];
    const struct csni_span id = { module->build_id, module->build_id_size };
    const struct csni_process_image *image;
    module->layout = s->indexed.items[number];
    csn_status status = csni_process_maps_image(s->maps, csni_profile_str(s->p, module->path), id, &image);
    if (status == CSN_OK) status = take_headers(s, image, &module->layout);
    return status < 0 ? fail_no_memory(s) : CSN_OK;
}

/* What a pc of the mapping is more than its address. Each module is a process of its own: profiles may be merged from several. */
static csn_status find_bias(struct symbolication *s, uint32_t number, const struct csn_index *index) {
    struct profile_module *module = &s->p->modules.items[number];
    struct profile_layout *layout = &module->layout;
    const struct csn_process_module *found;
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    size_t count;
    mapping.path = csni_profile_str(s->p, module->path);
    /* Without a beginning, pcs are addresses already. */
    if (module->start >= module->end || !mapping.path.len || (!module->start && !module->file_off)) return CSN_OK;
    if (csni_profile_counts_in_file(module)) return CSN_OK;
    if (index && kernel_bias(s, module, index, &layout->bias)) {
        s->biases.items[number] = layout->bias;
        layout->has_bias = true;
        return CSN_OK;
    }
    mapping.start = module->start;
    mapping.end = module->end;
    mapping.file_off = module->file_off;
    mapping.build_id = module->build_id;
    mapping.build_id_size = module->build_id_size;
    mapping.flags = CSN_MAPPING_EXECUTABLE;
    csn_status status = csn_process_maps_add_mapping(s->maps, number, &mapping, s->err);
    if (status == CSN_E_ARGUMENT) return CSN_OK; /* a path with a NUL */
    CSNI_TRY(status);
    CSNI_TRY(csn_process_maps_modules(s->maps, number, &found, &count, s->err));
    if (!count) return CSN_OK;
    if (index) s->biases.items[number] = csn_process_module_bias(&found[0], index_base(index));
    layout->has_bias = index || layout->part_count;
    layout->bias = layout->part_count ? found[0].bias : s->biases.items[number];
    return CSN_OK;
}

/* Whether an index is asked for its names. */
static bool is_asked_for(const struct profile_location *location) {
    return location->kind != CSN_PROFILE_AT_NAME && location->module != CSN_PROFILE_NO_MODULE &&
           !(location->flags & CSN_PROFILE_AS_NAMED);
}

static void mark_used_modules(const struct csn_profile *p, bool *used) {
    for (size_t i = 0; i < p->locations.count; i++)
        if (is_asked_for(&p->locations.items[i])) used[p->locations.items[i].module] = true;
}

static csn_status add_index(struct symbolication *s, struct csn_store *store, uint32_t number, bool used) {
    struct profile_module *module = &s->p->modules.items[number];
    struct csn_module placed = { .name = csni_profile_str(s->p, module->path) };
    if (used) {
        CSNI_TRY(find_index(s, store, module, &placed.index));
        module->is_missing = !placed.index;
        s->counts.modules++;
        s->counts.modules_without += !placed.index;
        if (!placed.index && !csni_vec_push(&s->p->missing, number)) return fail_no_memory(s);
    }
    if (!csni_vec_push(&s->modules, placed) || !csni_vec_push(&s->biases, 0)
        || !csni_vec_push(&s->indexed, index_layout(placed.index)))
        return fail_no_memory(s);
    if (!used) return CSN_OK;
    CSNI_TRY(find_layout(s, number));
    return find_bias(s, number, placed.index);
}

static csn_status find_modules(struct symbolication *s, struct csn_store *store) {
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    const size_t count = s->p->modules.count;
    bool *used = csni_alloc_zeroed(s->p->alloc, count + 1, sizeof *used);
    options.allocator = s->p->alloc;
    options.max_mappings = (uint32_t)(count < UINT32_MAX - 1 ? count + 1 : UINT32_MAX);
    csn_status status = used ? csn_process_maps_create(&options, &s->maps, s->err) : fail_no_memory(s);
    for (size_t i = 0; status == CSN_OK && i < csn_store_given_count(store); i++)
        status = csn_process_maps_name_image(s->maps, csn_store_given_name(store, i), csn_store_given_path(store, i), s->err);
    if (status == CSN_OK) mark_used_modules(s->p, used);
    s->p->missing.count = s->p->parts.count = 0;
    for (uint32_t i = 0; status == CSN_OK && i < count; i++) status = add_index(s, store, i, used[i]);
    csn_process_maps_destroy(s->maps);
    s->maps = NULL;
    csni_free(s->p->alloc, used, (count + 1) * sizeof *used);
    return status < 0 ? status : csn_symbolicator_set_modules(s->symbolicator, s->modules.items, s->modules.count, s->err);
}

/* ---- addresses ---- */

static uint64_t image_addr(const struct symbolication *s, const struct profile_location *location) {
    const struct profile_layout *indexed = &s->indexed.items[location->module];
    const struct profile_module *module = &s->p->modules.items[location->module];
    const struct profile_layout *layout = &module->layout;
    const bool is_mapped = csni_profile_is_mapped(s->p, location);
    uint64_t value = location->value;
    if (is_mapped && !csni_profile_counts_in_file(module)) return value - s->biases.items[location->module];
    if (is_mapped) csni_profile_file_address(s->p, layout, value, &value);
    if (location->kind == CSN_PROFILE_AT_OFFSET) {
        const uint64_t addr = csn_index_offset_address(s->modules.items[location->module].index, value);
        return csni_profile_is_offset(indexed, value) ? addr : value;
    }
    if (csni_profile_is_below(indexed, value)) return value + indexed->base;
    const uint64_t bias = csn_index_link_bias(s->modules.items[location->module].index, layout->base);
    return location->kind == CSN_PROFILE_AT_PC && value >= bias ? value - bias : value;
}

static bool has_index(const struct symbolication *s, const struct profile_location *location) {
    return is_asked_for(location) && s->modules.items[location->module].index;
}

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
        if (!has_index(s, location)) continue;
        s->addrs[i] = image_addr(s, location);
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

/* Where no mapping tells how far a kernel was moved, its pcs may be addresses of other functions: what the input calls them shows
 * whether they are. */
static bool may_be_elsewhere(const struct symbolication *s, const struct profile_location *location) {
    const struct profile_module *module = &s->p->modules.items[location->module];
    return location->kind == CSN_PROFILE_AT_PC && !module->layout.has_bias && location->value >> 63
           && index_base(s->modules.items[location->module].index) >> 63;
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
    if (may_be_elsewhere(s, &location) && !names_one_of(s, &location, answer)) return CSN_OK;
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
    if (!has_index(s, location)) return (struct csn_stack_frame){ UINT64_MAX, UINT32_MAX, CSN_STACK_EXACT };
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
    s.modules.alloc = s.biases.alloc = s.indexed.alloc = p->alloc;
    s.places.alloc = s.shown.alloc = s.frames.alloc = s.path.alloc = s.variants.alloc = p->alloc;
    s.variant_table.alloc = s.text.alloc = p->alloc;
    csn_status status = symbolicate(&s, store);
    csn_symbolicator_destroy(s.symbolicator);
    csni_vec_deinit(&s.modules);
    csni_vec_deinit(&s.biases);
    csni_vec_deinit(&s.indexed);
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

/* Strings, modules, locations, stacks and samples: each distinct one once. */
#include <string.h>

#include "base/core/sized.h"
#include "base/hash.h"
#include "profile/profile_private.h"

static csn_status fail_count(struct csn_error *err, const char *what) {
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "more than %u %s in one profile", UINT32_MAX - 1, what);
}

static bool is_full(size_t count) { return count >= UINT32_MAX - 1; }

static csn_status fail_number(struct csn_error *err, const char *what, uint32_t number, size_t count) {
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%s %u does not exist, there are %zu", what, number, count);
}

/* ---- strings ---- */

static bool string_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct csn_str *wanted = key, own = p->strings.items[number];
    return own.len == wanted->len && memcmp(own.ptr, wanted->ptr, own.len) == 0;
}

csn_status csni_profile_string(struct csn_profile *p, struct csn_str text, uint32_t *out, struct csn_error *err) {
    if (!text.ptr) text = CSN_STR("");
    const uint64_t hash = csni_hash_bytes(text.ptr, text.len);
    if (csni_profile_table_find(&p->string_table, hash, string_equals, p, &text, out)) return CSN_OK;
    if (is_full(p->strings.count)) return fail_count(err, "strings");
    const struct csn_str kept = { csni_arena_copy(&p->text, text.ptr, text.len), text.len };
    const uint32_t number = (uint32_t)p->strings.count;
    if (!kept.ptr || !csni_vec_push(&p->strings, kept) || !csni_profile_table_add(&p->string_table, hash, number))
        return csni_fail_memory(err, text.len);
    *out = number;
    return CSN_OK;
}

/* ---- inputs and value types ---- */

csn_status csn_profile_begin_input(struct csn_profile *p, struct csn_str name, struct csn_error *err) {
    struct profile_input input = { .has_unix_times = false };
    CSNI_TRY(csni_profile_string(p, name, &input.name, err));
    p->weight_scale = 1;
    return csni_vec_push(&p->inputs, input) ? CSN_OK : csni_fail_memory(err, sizeof input);
}

/* Samples that were read before have 0 for the new types. */
bool csni_profile_widen_values(struct csn_profile *p, uint32_t stride) {
    if (stride <= p->value_stride) return true;
    if (!csni_vec_reserve(&p->values, p->samples.count * stride)) return false;
    for (size_t i = p->samples.count; i-- > 0;) {
        int64_t *to = p->values.items + i * stride;
        memmove(to, p->values.items + i * p->value_stride, p->value_stride * sizeof *to);
        memset(to + p->value_stride, 0, (stride - p->value_stride) * sizeof *to);
    }
    p->values.count = p->samples.count * stride;
    p->value_stride = stride;
    return true;
}

void csni_profile_add_times(struct csn_profile *p, const struct profile_times *times) {
    const bool is_first = !p->period_type && !p->period_unit && !p->period,
               is_same = p->period_type == times->period_type && p->period_unit == times->period_unit;
    if (times->time_ns && (!p->time_ns || times->time_ns < p->time_ns)) p->time_ns = times->time_ns;
    csni_profile_add_value(&p->duration_ns, times->duration_ns);
    if (!is_first && !(is_same && times->period > p->period)) return;
    p->period_type = times->period_type;
    p->period_unit = times->period_unit;
    p->period = times->period;
}

csn_status csn_profile_add_value_type(struct csn_profile *p, struct csn_str type, struct csn_str unit, uint32_t *out,
                                      struct csn_error *err) {
    struct profile_value_type wanted;
    CSNI_TRY(csni_profile_string(p, type, &wanted.type, err));
    CSNI_TRY(csni_profile_string(p, unit, &wanted.unit, err));
    return csni_profile_value_type(p, wanted, 0, out, err);
}

csn_status csni_profile_value_type(struct csn_profile *p, struct profile_value_type wanted, uint32_t equal, uint32_t *out,
                                   struct csn_error *err) {
    for (uint32_t i = 0; i < p->value_count; i++) {
        if (p->value_types[i].type != wanted.type || p->value_types[i].unit != wanted.unit || equal--) continue;
        *out = i;
        return CSN_OK;
    }
    if (p->value_count == PROFILE_VALUE_TYPES_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "more than %d types of values", PROFILE_VALUE_TYPES_MAX);
    if (!csni_profile_widen_values(p, p->value_count + 1)) return csni_fail_memory(err, p->values.count * sizeof *p->values.items);
    p->value_types[p->value_count] = wanted;
    *out = p->value_count++;
    return CSN_OK;
}

csn_status csn_profile_set_default_type(struct csn_profile *p, uint32_t value_type, struct csn_error *err) {
    if (value_type >= p->value_count) return fail_number(err, "value type", value_type, p->value_count);
    p->default_type = p->value_types[value_type].type;
    return CSN_OK;
}

static bool comment_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    return p->comments.items[number] == *(const uint32_t *)key;
}

csn_status csni_profile_add_comment(struct csn_profile *p, uint32_t comment, size_t known, struct csn_error *err) {
    const uint64_t hash = csni_hash_u64(comment);
    uint32_t first;
    const bool is_there = csni_profile_table_find(&p->comment_table, hash, comment_equals, p, &comment, &first);
    if (is_there && first < known) return CSN_OK;
    const uint32_t number = (uint32_t)p->comments.count;
    if (is_full(number)) return fail_count(err, "comments");
    if (!csni_vec_push(&p->comments, comment) || (!is_there && !csni_profile_table_add(&p->comment_table, hash, number)))
        return csni_fail_memory(err, sizeof comment);
    return CSN_OK;
}

/* ---- modules ---- */

static bool module_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_module *a = &p->modules.items[number], *b = key;
    return a->path == b->path && a->start == b->start && a->end == b->end && a->file_off == b->file_off
           && a->build_id_text == b->build_id_text && a->build_id_size == b->build_id_size
           && a->is_lib == b->is_lib && memcmp(a->lib, b->lib, sizeof a->lib) == 0
           && memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

csn_status csn_profile_add_module(struct csn_profile *p, const struct csn_profile_module *given, uint32_t *out,
                                  struct csn_error *err) {
    CSNI_TRY(csni_check_reserved("csn_profile_module.reserved", given->reserved[0] | given->reserved[1], err));
    return csni_profile_module(p, given, 0, NULL, out, err);
}

csn_status csni_profile_module(struct csn_profile *p, const struct csn_profile_module *given, uint32_t build_id_text,
                               const uint32_t *lib, uint32_t *out, struct csn_error *err) {
    struct profile_module module = { .start = given->start, .end = given->end, .file_off = given->file_off,
                                     .build_id_text = build_id_text, .is_lib = lib != NULL, .known = MODULE_BY_LOCATIONS };
    if (lib) memcpy(module.lib, lib, sizeof module.lib);
    if (given->build_id && given->build_id_size) {
        module.build_id_size = given->build_id_size < CSN_BUILD_ID_MAX ? (uint32_t)given->build_id_size : CSN_BUILD_ID_MAX;
        memcpy(module.build_id, given->build_id, module.build_id_size);
    }
    CSNI_TRY(csni_profile_string(p, given->path, &module.path, err));
    const uint64_t hash = csni_hash_u64(module.path ^ csni_hash_u64(module.start) ^ module.file_off ^
                                        csni_hash_bytes(module.build_id, module.build_id_size) ^
                                        csni_hash_bytes(module.lib, sizeof module.lib));
    if (csni_profile_table_find(&p->module_table, hash, module_equals, p, &module, out)) return CSN_OK;
    const uint32_t number = (uint32_t)p->modules.count;
    if (is_full(number)) return fail_count(err, "modules");
    if (!csni_vec_push(&p->modules, module) || !csni_profile_table_add(&p->module_table, hash, number))
        return csni_fail_memory(err, sizeof module);
    *out = number;
    return CSN_OK;
}

/* ---- locations ---- */

static bool function_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_function *a = &p->functions.items[number], *b = key;
    return a->name == b->name && a->system_name == b->system_name && a->file == b->file && a->start_line == b->start_line;
}

csn_status csni_profile_function(struct csn_profile *p, const struct profile_function *function, uint32_t *out,
                                 struct csn_error *err) {
    const uint64_t hash = csni_hash_u64((uint64_t)function->name << 32 | function->file) ^ csni_hash_u64(function->system_name);
    if (csni_profile_table_find(&p->function_table, hash, function_equals, p, function, out)) return CSN_OK;
    const uint32_t number = (uint32_t)p->functions.count;
    if (is_full(number)) return fail_count(err, "functions");
    if (!csni_vec_push(&p->functions, *function) || !csni_profile_table_add(&p->function_table, hash, number))
        return csni_fail_memory(err, sizeof *function);
    *out = number;
    return CSN_OK;
}

csn_status csni_profile_push_line(struct csn_profile *p, const struct profile_line *line, struct csn_error *err) {
    if (is_full(p->lines.count)) return fail_count(err, "lines");
    return csni_vec_push(&p->lines, *line) ? CSN_OK : csni_fail_memory(err, sizeof *line);
}

csn_status csni_profile_push_location(struct csn_profile *p, const struct profile_location *location, uint32_t *out,
                                      struct csn_error *err) {
    if (is_full(p->locations.count)) return fail_count(err, "locations");
    if (!csni_vec_push(&p->locations, *location)) return csni_fail_memory(err, sizeof *location);
    *out = (uint32_t)p->locations.count - 1;
    return CSN_OK;
}

static bool lines_equal(const struct profile_line *a, const struct profile_line *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (a[i].function != b[i].function || a[i].line != b[i].line || a[i].column != b[i].column || a[i].inlined != b[i].inlined)
            return false;
    return true;
}

static bool location_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_location *a = &p->locations.items[number], *b = key;
    return a->module == b->module && a->kind == b->kind && a->flags == b->flags && a->value == b->value &&
           a->line_count == b->line_count &&
           (!a->line_count || lines_equal(&p->lines.items[a->first_line], &p->lines.items[b->first_line], a->line_count));
}

static uint64_t location_hash(const struct csn_profile *p, const struct profile_location *location) {
    uint64_t hash = csni_hash_u64(location->value ^ (uint64_t)location->module << 40) ^
                    csni_hash_u64((uint64_t)location->flags << 4 | location->kind);
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &p->lines.items[location->first_line + i];
        hash = csni_hash_u64(hash ^ ((uint64_t)line->function << 32 | line->column));
    }
    return hash;
}

bool csni_profile_find_location(const struct csn_profile *p, const struct profile_location *location, uint32_t *out) {
    return csni_profile_table_find(&p->location_table, location_hash(p, location), location_equals, p, location, out);
}

bool csni_profile_list_location(struct csn_profile *p, uint32_t number) {
    return csni_profile_table_add(&p->location_table, location_hash(p, &p->locations.items[number]), number);
}

void csni_profile_cut_locations(struct csn_profile *p, size_t count) {
    for (; p->locations.count > count; p->locations.count--) {
        const size_t last = p->locations.count - 1;
        csni_profile_table_remove(&p->location_table, location_hash(p, &p->locations.items[last]), (uint32_t)last);
    }
}

static csn_status check_location(const struct csn_profile *p, const struct csn_profile_location *given, struct csn_error *err) {
    if (given->module != CSN_PROFILE_NO_MODULE && given->module >= p->modules.count)
        return fail_number(err, "module", given->module, p->modules.count);
    if (given->kind > CSN_PROFILE_AT_OFFSET) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a location of kind %u", given->kind);
    return CSN_OK;
}

/* The location whose lines are those from `first_line` on, the last that the profile has. They go if there is an equal one. */
static csn_status end_location(struct csn_profile *p, const struct csn_profile_location *given, size_t first_line, uint32_t *out,
                               struct csn_error *err) {
    const struct profile_location location = { .module = given->module, .kind = given->kind, .flags = given->flags,
                                               .value = given->value, .first_line = (uint32_t)first_line,
                                               .line_count = (uint32_t)(p->lines.count - first_line) };
    if (csni_profile_find_location(p, &location, out)) {
        p->lines.count = first_line;
        return CSN_OK;
    }
    CSNI_TRY(csni_profile_push_location(p, &location, out, err));
    return csni_profile_list_location(p, *out) ? CSN_OK : csni_fail_memory(err, sizeof location);
}

static csn_status push_frame(struct csn_profile *p, const struct csn_profile_frame *frame, bool inlined, struct csn_error *err) {
    struct profile_function function = { .start_line = frame->function_line };
    struct profile_line line = { .line = frame->line, .column = frame->column, .inlined = inlined };
    CSNI_TRY(csni_check_reserved("csn_profile_frame.reserved", frame->reserved[0] | frame->reserved[1], err));
    CSNI_TRY(csni_profile_string(p, frame->function, &function.name, err));
    CSNI_TRY(csni_profile_string(p, frame->stored_name, &function.system_name, err));
    CSNI_TRY(csni_profile_string(p, frame->file, &function.file, err));
    if (function.system_name == function.name) function.system_name = 0;
    CSNI_TRY(csni_profile_function(p, &function, &line.function, err));
    return csni_profile_push_line(p, &line, err);
}

csn_status csni_profile_add_location(struct csn_profile *p, const struct csn_profile_location *given, uint32_t column,
                                     uint32_t start_line, uint32_t *out, struct csn_error *err) {
    const size_t first_line = p->lines.count;
    const struct csn_profile_frame frame = { .function = given->name, .file = given->file, .line = given->line, .column = column,
                                             .function_line = start_line };
    CSNI_TRY(check_location(p, given, err));
    if (given->name.len || given->file.len) CSNI_TRY(push_frame(p, &frame, false, err));
    return end_location(p, given, first_line, out, err);
}

static csn_status check_location_fields(const struct csn_profile_location *given, struct csn_error *err) {
    const uint32_t known = CSN_STACK_EXACT | CSN_STACK_RETURN | CSN_STACK_BEFORE | CSN_STACK_EITHER | CSN_PROFILE_AS_NAMED;
    CSNI_TRY(csni_check_flags("csn_profile_location.flags", given->flags, known, err));
    return csni_check_reserved("csn_profile_location.reserved", given->reserved[0] | given->reserved[1], err);
}

csn_status csn_profile_add_location_frames(struct csn_profile *p, const struct csn_profile_location *given,
                                           const struct csn_profile_frame *frames, size_t count, uint32_t *out,
                                           struct csn_error *err) {
    const size_t first_line = p->lines.count;
    CSNI_TRY(check_location_fields(given, err));
    CSNI_TRY(check_location(p, given, err));
    if (given->name.len || given->file.len || given->line)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a location with frames, and a name, file or line of its own");
    for (size_t k = 0; k < count; k++) CSNI_TRY(push_frame(p, &frames[k], k + 1 < count, err));
    return end_location(p, given, first_line, out, err);
}

csn_status csn_profile_add_location(struct csn_profile *p, const struct csn_profile_location *given, uint32_t *out,
                                    struct csn_error *err) {
    CSNI_TRY(check_location_fields(given, err));
    return csni_profile_add_location(p, given, 0, 0, out, err);
}

/* ---- stacks ---- */

static bool node_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_node *a = &p->nodes.items[number], *b = key;
    return a->caller == b->caller && a->location == b->location;
}

static uint64_t node_hash(const struct profile_node *node) {
    return csni_hash_u64((uint64_t)node->caller << 32 | node->location);
}

void csni_profile_cut_nodes(struct csn_profile *p, size_t count) {
    for (; p->nodes.count > count; p->nodes.count--)
        csni_profile_table_remove(&p->node_table, node_hash(&p->nodes.items[p->nodes.count - 1]), (uint32_t)p->nodes.count - 1);
}

csn_status csni_profile_child(struct csn_profile *p, uint32_t caller, uint32_t location, uint32_t *out, struct csn_error *err) {
    const struct profile_node node = { caller, location };
    const uint64_t hash = node_hash(&node);
    if (csni_profile_table_find(&p->node_table, hash, node_equals, p, &node, out)) return CSN_OK;
    const uint32_t number = (uint32_t)p->nodes.count;
    if (is_full(number)) return fail_count(err, "stacks");
    if (!csni_vec_push(&p->nodes, node) || !csni_profile_table_add(&p->node_table, hash, number))
        return csni_fail_memory(err, sizeof node);
    *out = number;
    return CSN_OK;
}

csn_status csn_profile_add_stack(struct csn_profile *p, const uint32_t *locations, size_t count, uint32_t *out,
                                 struct csn_error *err) {
    uint32_t stack = PROFILE_NO_STACK;
    for (size_t i = 0; i < count; i++)
        if (locations[i] >= p->locations.count) return fail_number(err, "location", locations[i], p->locations.count);
    for (size_t i = count; i-- > 0;) CSNI_TRY(csni_profile_child(p, stack, locations[i], &stack, err));
    *out = stack;
    return CSN_OK;
}

/* ---- samples ---- */

static bool thread_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_thread *a = &p->threads.items[number], *b = key;
    return a->pid == b->pid && a->tid == b->tid && a->name == b->name && a->process == b->process;
}

csn_status csni_profile_thread(struct csn_profile *p, const struct profile_thread *thread, uint32_t *out, struct csn_error *err) {
    const uint64_t hash =
        csni_hash_u64(thread->pid << 32 ^ thread->tid) ^ csni_hash_u64((uint64_t)thread->name << 32 | thread->process);
    if (csni_profile_table_find(&p->thread_table, hash, thread_equals, p, thread, out)) return CSN_OK;
    const uint32_t number = (uint32_t)p->threads.count;
    if (is_full(number)) return fail_count(err, "threads");
    if (!csni_vec_push(&p->threads, *thread) || !csni_profile_table_add(&p->thread_table, hash, number))
        return csni_fail_memory(err, sizeof *thread);
    *out = number;
    return CSN_OK;
}

struct label_key {
    const struct profile_label *items;
    size_t count;
};

static bool labels_equal(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_label_set *set = &p->label_sets.items[number];
    const struct label_key *wanted = key;
    if (set->count != wanted->count) return false;
    for (size_t i = 0; i < wanted->count; i++) {
        const struct profile_label *a = &p->labels.items[set->first + i], *b = &wanted->items[i];
        if (a->key != b->key || a->text != b->text || a->unit != b->unit || a->number != b->number ||
            a->kind != b->kind || a->is_of_resource != b->is_of_resource)
            return false;
    }
    return true;
}

csn_status csni_profile_label_set(struct csn_profile *p, const struct profile_label *labels, size_t count, uint32_t *out,
                                  struct csn_error *err) {
    const struct label_key key = { labels, count };
    uint64_t hash = count;
    *out = 0;
    if (!count) return CSN_OK;
    for (size_t i = 0; i < count; i++)
        hash = csni_hash_u64(hash ^ ((uint64_t)labels[i].key << 32 | labels[i].text) ^ csni_hash_u64((uint64_t)labels[i].number));
    if (csni_profile_table_find(&p->label_table, hash, labels_equal, p, &key, out)) return CSN_OK;
    const struct profile_label_set set = { (uint32_t)p->labels.count, (uint32_t)count };
    if (is_full(p->labels.count + count) || is_full(p->label_sets.count)) return fail_count(err, "labels");
    for (size_t i = 0; i < count; i++)
        if (!csni_vec_push(&p->labels, labels[i])) return csni_fail_memory(err, sizeof *labels);
    const uint32_t number = (uint32_t)p->label_sets.count;
    if (!csni_vec_push(&p->label_sets, set) || !csni_profile_table_add(&p->label_table, hash, number))
        return csni_fail_memory(err, sizeof set);
    *out = number;
    return CSN_OK;
}

static bool sample_equals(const void *context, uint32_t number, const void *key) {
    const struct csn_profile *p = context;
    const struct profile_sample_row *a = &p->samples.items[number], *b = key;
    return a->stack == b->stack && a->labels == b->labels && a->thread == b->thread && a->input == b->input;
}

static uint64_t sample_hash(const struct profile_sample_row *row) {
    return csni_hash_u64(((uint64_t)row->stack << 32 | row->labels) ^ (uint64_t)row->input << 24) ^ csni_hash_u64(row->thread);
}

/* Whether the values of equal samples are those of one. */
static bool is_added_up(const struct csn_profile *p, const struct profile_sample_row *row) {
    return !(p->flags & CSN_PROFILE_EVERY_SAMPLE || (p->flags & CSN_PROFILE_UNIX_TIMES && row->time_ns));
}

bool csni_profile_merges_inputs(const struct csn_profile *p, const struct profile_sample_row *row) {
    return p->flags & CSN_PROFILE_MERGE_INPUTS && is_added_up(p, row);
}

bool csni_profile_relabel_sample(struct csn_profile *p, size_t i, uint32_t labels) {
    struct profile_sample_row *row = &p->samples.items[i];
    if (row->labels == labels) return true;
    csni_profile_table_remove(&p->sample_table, sample_hash(row), (uint32_t)i);
    row->labels = labels;
    return !is_added_up(p, row) || csni_profile_table_add(&p->sample_table, sample_hash(row), (uint32_t)i);
}

void csni_profile_cut_samples(struct csn_profile *p, size_t count) {
    for (; p->samples.count > count; p->samples.count--)
        csni_profile_table_remove(&p->sample_table, sample_hash(&p->samples.items[p->samples.count - 1]),
                                  (uint32_t)p->samples.count - 1);
    p->values.count = count * p->value_stride;
}

int64_t *csni_profile_sample(struct csn_profile *p, const struct profile_sample_row *given, struct csn_error *err) {
    struct profile_sample_row row = *given;
    const bool every = !is_added_up(p, &row);
    uint32_t number;
    p->samples_read++;
    if (!csni_profile_keeps_threads(p)) row.thread = 0;
    const uint64_t hash = sample_hash(&row);
    if (!every) {
        row.time_ns = 0;
        if (csni_profile_table_find(&p->sample_table, hash, sample_equals, p, &row, &number))
            return p->values.items + (size_t)number * p->value_stride;
    }
    number = (uint32_t)p->samples.count;
    if (is_full(number)) return fail_count(err, "samples"), NULL;
    if (!csni_vec_reserve(&p->values, p->values.count + p->value_stride) || !csni_vec_push(&p->samples, row)
        || (!every && !csni_profile_table_add(&p->sample_table, hash, number))) {
        csni_fail_memory(err, sizeof row);
        return NULL;
    }
    int64_t *values = p->values.items + p->values.count;
    memset(values, 0, p->value_stride * sizeof *values);
    p->values.count += p->value_stride;
    return values;
}

/* No format has samples without a value. */
static csn_status count_samples(struct csn_profile *p, struct csn_error *err) {
    uint32_t first;
    CSNI_TRY(csn_profile_add_value_type(p, CSN_STR("samples"), CSN_STR("count"), &first, err));
    p->counts_samples = true;
    return CSN_OK;
}

csn_status csn_profile_add_sample(struct csn_profile *p, const struct csn_profile_sample *sample, struct csn_error *err) {
    struct profile_sample_row row = { .stack = sample->stack, .time_ns = sample->time_ns };
    CSNI_TRY(csni_check_reserved("csn_profile_sample.reserved", sample->reserved[0] | sample->reserved[1], err));
    if (sample->stack >= p->nodes.count) return fail_number(err, "stack", sample->stack, p->nodes.count);
    if (!p->value_count && !sample->value_count) CSNI_TRY(count_samples(p, err));
    if (sample->value_count > p->value_count) return fail_number(err, "value type", sample->value_count - 1, p->value_count);
    if (!p->inputs.count) CSNI_TRY(csn_profile_begin_input(p, CSN_STR(""), err));
    if (!(p->flags & CSN_PROFILE_EVERY_SAMPLE)) row.time_ns = 0; /* of whatever clock: no Unix time */
    if (!csni_profile_merges_inputs(p, &row)) row.input = (uint32_t)p->inputs.count - 1;
    if (csni_profile_keeps_threads(p)) {
        struct profile_thread thread = { .pid = sample->pid, .tid = sample->tid };
        CSNI_TRY(csni_profile_string(p, sample->process, &thread.process, err));
        CSNI_TRY(csni_profile_string(p, sample->thread, &thread.name, err));
        CSNI_TRY(csni_profile_thread(p, &thread, &row.thread, err));
    }
    int64_t *values = csni_profile_sample(p, &row, err);
    if (!values) return err ? err->code : CSN_E_MEMORY;
    for (uint32_t i = 0; i < sample->value_count; i++) p->sums_cut += !csni_profile_add_value(&values[i], sample->values[i]);
    if (p->counts_samples && !sample->value_count) p->sums_cut += !csni_profile_add_value(&values[0], 1);
    return CSN_OK;
}

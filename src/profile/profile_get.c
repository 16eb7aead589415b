/* What a profile holds, by number. */
#include "profile/profile_private.h"

void csn_profile_get_sizes(const struct csn_profile *p, struct csn_profile_sizes *out) {
    *out = (struct csn_profile_sizes){
        .samples = p->samples_read, .distinct_samples = p->samples.count, .stacks = p->nodes.count - 1,
        .locations = p->locations.count,
        .modules = p->modules.count, .value_types = p->value_count, .inputs = p->inputs.count, .left_out = p->left_out,
        .attributes_left_out = p->attributes_left_out,
        .weight_scale = p->weight_scale, .lost_lines = p->lost_lines, .sums_cut = p->sums_cut,
    };
}

csn_status csn_profile_get_value_type(const struct csn_profile *p, uint32_t i, struct csn_str *type, struct csn_str *unit) {
    if (i >= p->value_count) return CSN_NONE;
    *type = csni_profile_str(p, p->value_types[i].type);
    *unit = csni_profile_str(p, p->value_types[i].unit);
    return CSN_OK;
}

csn_status csn_profile_get_default_type(const struct csn_profile *p, uint32_t *out) {
    for (uint32_t i = 0; p->default_type && i < p->value_count; i++) {
        if (p->value_types[i].type != p->default_type) continue;
        *out = i;
        return CSN_OK;
    }
    return CSN_NONE;
}

csn_status csn_profile_get_sample(const struct csn_profile *p, uint64_t i, struct csn_profile_sample *out) {
    if (i >= p->samples.count) return CSN_NONE;
    const struct profile_sample_row *row = &p->samples.items[i];
    const struct profile_thread *thread = &p->threads.items[row->thread];
    *out = (struct csn_profile_sample){
        .stack = row->stack, .value_count = p->value_count,
        .values = p->value_count ? p->values.items + (size_t)i * p->value_stride : NULL,
        .time_ns = row->time_ns, .pid = thread->pid, .tid = thread->tid, .process = csni_profile_str(p, thread->process),
        .thread = csni_profile_str(p, thread->name),
    };
    return CSN_OK;
}

csn_status csn_profile_get_label(const struct csn_profile *p, uint64_t sample, uint32_t k, struct csn_profile_label *out) {
    if (sample >= p->samples.count) return CSN_NONE;
    const struct profile_label_set *set = &p->label_sets.items[p->samples.items[sample].labels];
    if (k >= set->count) return CSN_NONE;
    const struct profile_label *label = &p->labels.items[set->first + k];
    *out = (struct csn_profile_label){
        .key = csni_profile_str(p, label->key), .text = csni_profile_str(p, label->text), .unit = csni_profile_str(p, label->unit),
        .number = label->kind == LABEL_DOUBLE ? 0 : label->number,
    };
    return CSN_OK;
}

csn_status csn_profile_get_stack(const struct csn_profile *p, uint32_t stack, uint32_t *location, uint32_t *caller) {
    if (stack == PROFILE_NO_STACK || stack >= p->nodes.count) return CSN_NONE;
    *location = p->nodes.items[stack].location;
    *caller = p->nodes.items[stack].caller;
    return CSN_OK;
}

csn_status csn_profile_get_module(const struct csn_profile *p, uint32_t i, struct csn_profile_module *out) {
    if (i >= p->modules.count) return CSN_NONE;
    const struct profile_module *module = &p->modules.items[i];
    *out = (struct csn_profile_module){
        .path = csni_profile_str(p, module->path), .build_id = module->build_id_size ? module->build_id : NULL,
        .build_id_size = module->build_id_size, .start = module->start, .end = module->end, .file_off = module->file_off,
    };
    return CSN_OK;
}

csn_status csn_profile_get_place(const struct csn_profile *p, uint32_t location, struct csn_profile_place *out) {
    if (location >= p->locations.count) return CSN_NONE;
    const struct profile_location *at = &p->locations.items[location];
    *out = (struct csn_profile_place){
        .module = at->module, .kind = at->kind, .value = at->value, .frame_count = at->line_count,
        .is_undecided = (at->flags & LOCATION_FOLDED) != 0,
    };
    return CSN_OK;
}

csn_status csn_profile_get_frame(const struct csn_profile *p, uint32_t location, uint32_t k, struct csn_profile_frame *out) {
    if (location >= p->locations.count || k >= p->locations.items[location].line_count) return CSN_NONE;
    const struct profile_line *line = &p->lines.items[p->locations.items[location].first_line + k];
    const struct profile_function *function = &p->functions.items[line->function];
    *out = (struct csn_profile_frame){
        .function = csni_profile_str(p, function->name), .stored_name = csni_profile_str(p, function->system_name),
        .file = csni_profile_str(p, function->file), .line = line->line, .column = line->column,
        .function_line = function->start_line,
        .inlined = line->inlined,
    };
    return CSN_OK;
}

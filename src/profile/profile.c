/* The handle. */
#include "profile/profile_private.h"

#include "base/core/sized.h"

enum { TEXT_CHUNK = 1 << 14 };
static const uint64_t MAX_INPUT_DEFAULT = (uint64_t)4 << 30;

void csn_profile_options_init(struct csn_profile_options *options) {
    *options = (struct csn_profile_options)CSN_PROFILE_OPTIONS_INIT;
}

void csn_profile_write_options_init(struct csn_profile_write_options *options) {
    *options = (struct csn_profile_write_options)CSN_PROFILE_WRITE_OPTIONS_INIT;
}

void csn_profile_symbolicate_options_init(struct csn_profile_symbolicate_options *options) {
    *options = (struct csn_profile_symbolicate_options)CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT;
}

/* The things numbered 0: the empty string, stack, set of labels, and the thread that is not known. */
static bool add_firsts(struct csn_profile *p) {
    static const struct profile_node root = { 0, UINT32_MAX };
    static const struct profile_label_set no_labels = { 0, 0 };
    static const struct profile_thread no_thread = { 0, 0, 0, 0 };
    uint32_t empty;
    return csni_profile_string(p, CSN_STR(""), &empty, NULL) == CSN_OK && csni_vec_push(&p->nodes, root)
           && csni_vec_push(&p->label_sets, no_labels) && csni_vec_push(&p->threads, no_thread);
}

csn_status csn_profile_create(const struct csn_profile_options *given, struct csn_profile **out, struct csn_error *err) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_profile_options.reserved", options.reserved, err));
    const uint32_t known = CSN_PROFILE_EVERY_SAMPLE | CSN_PROFILE_UNIX_TIMES | CSN_PROFILE_MERGE_INPUTS;
    const uint32_t unknown = options.flags & ~known;
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x for a profile", unknown);
    const struct csn_allocator *alloc = csni_allocator_or_default(options.allocator);
    struct csn_profile *p = csni_alloc_zeroed(alloc, 1, sizeof *p);
    if (!p) return csni_fail_memory(err, sizeof *p);
    p->alloc = p->strings.alloc = p->modules.alloc = p->functions.alloc = p->lines.alloc = p->locations.alloc = alloc;
    p->nodes.alloc = p->labels.alloc = p->label_sets.alloc = p->threads.alloc = p->samples.alloc = p->values.alloc = alloc;
    p->inputs.alloc = p->missing.alloc = p->comments.alloc = p->parts.alloc = alloc;
    p->string_table.alloc = p->module_table.alloc = p->function_table.alloc = p->location_table.alloc = alloc;
    p->node_table.alloc = p->thread_table.alloc = p->sample_table.alloc = p->label_table.alloc = p->comment_table.alloc = alloc;
    p->flags = options.flags;
    p->value_stride = 1;
    p->weight_scale = 1;
    p->max_input_bytes = options.max_input_bytes ? options.max_input_bytes : MAX_INPUT_DEFAULT;
    csni_arena_init(&p->text, alloc, TEXT_CHUNK);
    if (!add_firsts(p)) {
        csn_profile_destroy(p);
        return csni_fail_memory(err, TEXT_CHUNK);
    }
    *out = p;
    return CSN_OK;
}

void csn_profile_destroy(struct csn_profile *p) {
    if (!p) return;
    struct csni_profile_table *tables[] = { &p->string_table, &p->module_table, &p->function_table, &p->location_table,
                                            &p->node_table, &p->thread_table, &p->sample_table, &p->label_table,
                                            &p->comment_table };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) csni_profile_table_deinit(tables[i]);
    csni_vec_deinit(&p->strings);
    csni_vec_deinit(&p->modules);
    csni_vec_deinit(&p->parts);
    csni_vec_deinit(&p->functions);
    csni_vec_deinit(&p->lines);
    csni_vec_deinit(&p->locations);
    csni_vec_deinit(&p->nodes);
    csni_vec_deinit(&p->labels);
    csni_vec_deinit(&p->label_sets);
    csni_vec_deinit(&p->threads);
    csni_vec_deinit(&p->samples);
    csni_vec_deinit(&p->values);
    csni_vec_deinit(&p->inputs);
    csni_vec_deinit(&p->missing);
    csni_vec_deinit(&p->comments);
    csni_arena_deinit(&p->text);
    csni_free(p->alloc, p, sizeof *p);
}

struct csn_str csn_profile_module_without(const struct csn_profile *p, size_t i, const uint8_t **build_id, size_t *build_id_size) {
    const struct profile_module *module = &p->modules.items[p->missing.items[i]];
    if (build_id) *build_id = module->build_id;
    if (build_id_size) *build_id_size = module->build_id_size;
    return csni_profile_str(p, module->path);
}

/* Queries in all their forms. */
#define _GNU_SOURCE
#include "lookup/lookup_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/identity.h>
#include <callsign/inspect.h>

#include "input/module_names.h"
#include "lookup/address_range.h"
#include "lookup/address_text.h"
#include "ui/cli_message.h"
#include "ui/clone_name.h"

void lookup_target_deinit(struct lookup_target *target) {
    for (size_t i = 0; i < target->module_count; i++) {
        index_query_deinit(&target->modules[i].query);
        name_finder_deinit(&target->modules[i].finder);
        csn_index_close(target->modules[i].owned);
    }
    free(target->modules);
    name_finder_deinit(&target->finder);
    segment_manifest_deinit(&target->manifest);
    csn_store_destroy(target->store);
    csn_process_maps_destroy(target->maps);
    *target = (struct lookup_target){ .path = NULL };
}

/* ---- the place of an image ---- */

static bool need_maps(struct lookup_target *target) {
    if (target->maps || csn_process_maps_create(NULL, &target->maps, NULL) == CSN_OK) return true;
    cli_error_memory("maps");
    return false;
}

static struct csn_str str_of(const char *text) { return (struct csn_str){ text, strlen(text) }; }

/* What the image says. An object file that holds an index in a section (GSYM of 2017) is not the image, nor is a PDB. */
static bool read_image_base(const char *path, uint64_t *out) {
    struct csn_file *file;
    struct csn_identity identity = { .container = 0 };
    if (csn_file_open(path, &file, NULL) < 0) return false;
    const csn_status status = csn_identify_memory(csn_file_bytes(file), csn_file_size(file), &identity, sizeof identity, NULL);
    csn_file_close(file);
    *out = identity.image_base;
    const uint32_t kind = identity.container;
    const bool is_image = kind == CSN_IDENTITY_ELF || kind == CSN_IDENTITY_MACHO || kind == CSN_IDENTITY_PE;
    return status == CSN_OK && is_image && identity.flags & CSN_IDENTITY_LINKED;
}

/* Images that can be loaded anywhere are linked at 0, or far above. A manifest (`index` NULL) has the first function alone. */
static uint64_t guess_image_base(const struct lookup_target *target, const struct csn_index *index, uint64_t load_addr) {
    enum { HEADERS_MAX = 1 << 16 };
    const uint64_t first = index ? module_base_address(index) : target->manifest.items[0].start;
    const uint64_t base = index ? csn_index_image_base(index) : first & ~(uint64_t)(HEADERS_MAX - 1);
    const bool is_usual = load_addr == base && base;
    const bool is_in_place = is_usual || (first >= load_addr && first - load_addr < HEADERS_MAX);
    if (is_in_place) return load_addr;
    return index || first >> 32 ? base : 0;
}

void lookup_target_set_load_address(struct lookup_target *target, const struct csn_index *index, uint64_t load_addr) {
    uint64_t base;
    char *path = realpath(target->path, NULL);
    if (!path || !read_image_base(path, &base)) base = guess_image_base(target, index, load_addr);
    free(path);
    target->slide = load_addr - base;
    target->has_slide = true;
}

/* ---- a process ---- */

/* A core dump, or a text with memory maps or lists of images. */
static csn_status add_maps_file(struct csn_process_maps *maps, const struct csn_file *file, size_t *lines, struct csn_error *err) {
    const void *bytes = csn_file_bytes(file);
    size_t size = csn_file_size(file);
    *lines = 1;
    csn_status status = csn_process_maps_add_core(maps, 0, bytes, size, err);
    if (status != CSN_E_UNSUPPORTED) return status;
    return csn_process_maps_add_text(maps, 0, (struct csn_str){ bytes, size }, lines, err);
}

static bool read_maps(struct lookup_target *target, uint64_t pid, const char *file) {
    struct csn_error err = CSN_ERROR_INIT;
    char name[64];
    size_t lines = 0;
    csn_status status;
    if (file) {
        struct csn_file *opened;
        status = csn_file_open(file, &opened, &err);
        if (status == CSN_OK) {
            status = add_maps_file(target->maps, opened, &lines, &err);
            csn_file_close(opened);
        }
    } else {
        snprintf(name, sizeof(name), "/proc/%llu/maps", (unsigned long long)pid);
        file = name;
        status = csn_process_maps_add_live(target->maps, 0, pid, &err);
        target->is_running = true;
        lines = 1;
    }
    if (status < 0) cli_error_status(file, status, &err);
    else if (status == CSN_NONE) cli_error(file, "the core dump lists no mapped files");
    else if (!lines) cli_error(file, "no line is one of /proc/PID/maps or of a list of images");
    return status == CSN_OK && lines;
}

static bool load_modules(struct lookup_target *target) {
    const struct csn_process_module *found;
    size_t count;
    if (csn_process_maps_modules(target->maps, 0, &found, &count, NULL) < 0) return false;
    target->modules = calloc(count ? count : 1, sizeof(*target->modules));
    if (!target->modules) return false;
    for (size_t i = 0; i < count; i++) target->modules[i].module = found[i];
    target->module_count = count;
    return true;
}

bool lookup_target_open_process(struct lookup_target *target, uint64_t pid, const char *maps_file, struct symbol_search *search) {
    static const struct text_list none = { NULL, 0 };
    target->is_process = true;
    if (!need_maps(target) || !read_maps(target, pid, maps_file)) return false;
    if (!load_modules(target)) {
        cli_error_memory("modules");
        return false;
    }
    return module_store_create(&none, &none, search, &target->store);
}

/* ---- segments ---- */

bool lookup_target_open_segments(struct lookup_target *target) {
    if (!segment_manifest_read(target->path, &target->manifest)) return false;
    size_t count = target->manifest.count;
    target->modules = calloc(count, sizeof(*target->modules));
    if (!target->modules) {
        cli_error_memory("segments");
        return false;
    }
    /* The first one answers what lies before it, as an index does. */
    for (size_t i = 0; i < count; i++)
        target->modules[i].module = (struct csn_process_module){
            .path = str_of(target->manifest.items[i].path), .start = i ? target->manifest.items[i].start : 0,
            .end = i + 1 < count ? target->manifest.items[i + 1].start : UINT64_MAX };
    target->module_count = count;
    target->is_segmented = true;
    return true;
}

static void open_segment(struct lookup_target *target, struct target_module *module) {
    struct csn_error err = CSN_ERROR_INIT;
    const char *path = module->module.path.ptr;
    csn_status status = csn_index_open_file(path, NULL, &module->owned, &err);
    if (status < 0) cli_error_status(path, status, &err);
    else if (!index_query_init(&module->query, module->owned, target->mode)) cli_error_memory("frames");
}

/* ---- modules ---- */

/* What a running process has mapped may be another file than the one that has its path here: without it, only its name and its
 * build id are searched for. */
static const struct csn_index *find_running(struct lookup_target *target, const struct csn_process_module *m,
                                            struct module_names *names) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_file *file = NULL;
    csn_status status = csn_process_maps_open_file(target->maps, 0, m->start, &file, &names->image, &err);
    if (status == CSN_OK) names->file = file;
    else if (status < 0) names->name = base_name_of(names->name);
    const struct csn_index *index = module_store_find(target->store, names, false);
    if (!index && status < 0) cli_error_status(m->path.ptr, status, &err);
    csn_file_close(file);
    return index;
}

static void resolve_module(struct lookup_target *target, struct target_module *module) {
    const struct csn_process_module *m = &module->module;
    struct module_names names = { .name = m->path, .id = { .size = m->build_id_size } };
    if (m->build_id_size) memcpy(names.id.bytes, m->build_id, m->build_id_size);
    const bool is_other = m->flags & CSN_PROCESS_MODULE_OTHER_FILE;
    if (is_other) names.name = base_name_of(names.name);
    const struct csn_index *index =
        target->is_running ? find_running(target, m, &names) : module_store_find(target->store, &names, false);
    if (!index && is_other) cli_error(m->path.ptr, "this is not the file in the core dump, whose headers differ");
    if (!index || !index_query_init(&module->query, index, target->mode)) return;
    module->bias = module_bias(m, index);
}

/* Its index, opened at first use. NULL: there is none. */
static const struct csn_index *module_index(struct lookup_target *target, struct target_module *module) {
    if (!module->is_resolved && target->is_segmented) open_segment(target, module);
    else if (!module->is_resolved) resolve_module(target, module);
    module->is_resolved = true;
    return module->query.index;
}

static struct target_module *module_at(struct lookup_target *target, uint64_t pc) {
    if (target->is_segmented && pc >= target->manifest.items[target->module_count - 1].start)
        return &target->modules[target->module_count - 1]; /* the last byte, too */
    for (size_t i = 0; i < target->module_count; i++)
        if (pc >= target->modules[i].module.start && pc < target->modules[i].module.end) return &target->modules[i];
    return NULL;
}

/* What an address of the index is more in a query. */
static uint64_t module_slide(const struct lookup_target *target, const struct target_module *module) {
    return target->is_process ? module->bias : target->slide;
}

/* ---- one address ---- */

static void look_up(const struct lookup_target *target, struct index_query *query, uint64_t pc, uint64_t slide,
                    struct answer *out) {
    unsigned step = target->return_addresses && pc != slide ? 1 : 0;
    index_query_address(query, pc - slide - step, out);
    out->addr += step;
    for (size_t i = 0; i < out->found.frame_count; i++) out->frames[i].offset += step;
    out->pc = pc;
    out->has_pc = slide != 0 || target->has_slide || target->is_process;
}

/* The query that answers the pc, and its slide. NULL: there is none, and *out is the answer. */
static struct index_query *query_for(struct lookup_target *target, struct answer_printer *printer, uint64_t pc, uint64_t *slide,
                                     struct answer *out, struct csn_str *module_path) {
    if (!target->modules && !target->is_process) {
        *slide = target->slide;
        return &printer->query;
    }
    uint64_t at = pc - (target->return_addresses ? 1 : 0) - (target->is_process ? 0 : target->slide);
    struct target_module *module = module_at(target, at);
    if (module && module_index(target, module)) {
        *slide = module_slide(target, module);
        if (target->is_process) *module_path = module->module.path;
        printer->query.index = module->query.index; /* for candidates */
        return &module->query;
    }
    memset(out, 0, sizeof(*out));
    out->status = CSN_NONE;
    out->pc = pc;
    out->has_pc = target->is_process || target->has_slide;
    out->found.reason = module ? CSN_REASON_NO_INDEX : CSN_REASON_NO_MODULE;
    if (module) {
        if (target->is_process) out->module = module->module.path;
        out->addr = pc - module_slide(target, module);
    }
    return NULL;
}

static void answer_pc(struct lookup_target *target, struct answer_printer *printer, uint64_t pc, struct answer *out) {
    uint64_t slide;
    struct csn_str module = { "", 0 };
    struct index_query *query = query_for(target, printer, pc, &slide, out, &module);
    if (!query) return;
    look_up(target, query, pc, slide, out);
    out->module = module;
}

static void put_pc(struct lookup_target *target, struct answer_printer *printer, uint64_t pc, struct out_buffer *out) {
    struct answer answer;
    answer_pc(target, printer, pc, &answer);
    answer_printer_put(printer, &answer, out);
}

/* ---- A-B ---- */

/* Of addresses of one index. False: nothing is there. */
static bool put_steps(struct lookup_target *target, struct answer_printer *printer, const struct csn_index *index, uint64_t slide,
                      uint64_t start, uint64_t end, struct out_buffer *out) {
    struct range_steps steps;
    uint64_t addr;
    bool found = false;
    range_steps_init(&steps, index, start, end);
    while (range_steps_next(&steps, &addr)) {
        struct answer answer;
        answer_pc(target, printer, addr + slide, &answer);
        if (answer.status == CSN_NONE) continue;
        answer_printer_put(printer, &answer, out);
        found = true;
    }
    if (steps.no_memory) cli_error_memory("rows");
    range_steps_deinit(&steps);
    return found;
}

/* Of pcs. Those below the slide are none of the image, but for a negative slide: then the last addresses wrap around. */
static bool put_range_of(struct lookup_target *target, struct answer_printer *printer, const struct csn_index *index,
                         uint64_t slide, uint64_t start, uint64_t end, struct out_buffer *out) {
    const uint64_t first = start - slide, last = end - slide;
    if (first < last) return put_steps(target, printer, index, slide, first, last, out);
    const bool found = put_steps(target, printer, index, slide, first, UINT64_MAX, out);
    return put_steps(target, printer, index, slide, 0, last, out) || found;
}

static void put_range(struct lookup_target *target, struct answer_printer *printer, uint64_t start, uint64_t end,
                      struct out_buffer *out) {
    bool found = false;
    if (!target->modules) found = put_range_of(target, printer, printer->query.index, target->slide, start, end, out);
    for (size_t i = 0; i < target->module_count; i++) {
        struct target_module *module = &target->modules[i];
        uint64_t shift = target->is_process ? 0 : target->slide;
        uint64_t first = start - shift, last = end - shift;
        if (module->module.end <= first || module->module.start >= last || !module_index(target, module)) continue;
        if (first < module->module.start) first = module->module.start;
        if (last > module->module.end) last = module->module.end;
        if (put_range_of(target, printer, module->query.index, module_slide(target, module), first + shift,
                         last + shift, out))
            found = true;
    }
    if (!found) put_pc(target, printer, start, out);
}

/* ---- file:0xOFF ---- */

/* In an image, addresses of file offsets come from its program headers. NULL: it is answered. */
static const char *put_file_offset(struct lookup_target *target, struct answer_printer *printer, uint64_t off,
                                   struct out_buffer *out) {
    uint64_t addr;
    if (target->is_process) return "an offset in a file, and --pid and --maps name no single file";
    char *path = realpath(target->path, NULL);
    bool found = path && need_maps(target) && csn_process_maps_file_address(target->maps, str_of(path), off, &addr) == CSN_OK;
    free(path);
    if (!found) return "an offset that is in no segment; file offsets need an object file";
    put_pc(target, printer, addr + target->slide, out);
    return NULL;
}

/* ---- SYMBOL+0xOFF ---- */

/* Answers for each start in turn; functions of one start count once. */
struct symbol_answers {
    struct lookup_target *target;
    const struct csn_index *index;
    struct answer_printer *printer;
    uint64_t offset, last;
    struct out_buffer *out;
    bool has_last;
    bool may_end_before; /* functions count that end before the offset */
    bool found, failed; /* in any index */
};

/* Whether the address is one of the function that begins at `start`. */
static bool is_within(const struct csn_index *index, uint64_t start, uint64_t addr) {
    struct csn_frame_ref frame = { .flags = 0 };
    struct csn_lookup found;
    return csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, &frame, 1, &found, NULL) == CSN_OK
           && found.function_start == start && !(frame.flags & CSN_FRAME_UNCERTAIN);
}

/* False: that is no place behind the start. */
static bool put_behind_start(struct symbol_answers *answers, uint64_t start) {
    uint64_t addr;
    if (__builtin_add_overflow(start, answers->offset, &addr)) return false;
    if (!answers->may_end_before && !is_within(answers->index, start, addr)) return false;
    if (!answers->has_last || start != answers->last)
        put_pc(answers->target, answers->printer, addr + answers->target->slide, answers->out);
    answers->last = start;
    answers->has_last = true;
    return true;
}

/* A name as the index has it. CSN_NONE: it has no function of that name. */
static csn_status put_stored_name(struct symbol_answers *answers, struct name_finder *finder, const struct csn_index *index,
                                  struct csn_str name, struct csn_error *err) {
    size_t count;
    uint64_t start;
    uint32_t *matches;
    csn_status status = name_finder_stored(finder, index, name, &matches, &count, err);
    bool found = false;
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (csn_index_function_start(index, matches[i], &start, NULL) == CSN_OK && put_behind_start(answers, start)) found = true;
    free(matches);
    return status < 0 ? status : found ? CSN_OK : CSN_NONE;
}

/* Functions that `callsign find` has for the name. */
static csn_status put_demangled_name(struct symbol_answers *answers, struct name_finder *finder, const struct csn_index *index,
                                     const char *name, struct csn_error *err) {
    size_t count;
    uint64_t *starts;
    csn_status status = name_finder_shown(finder, index, name, &starts, &count, err);
    bool found = false;
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (put_behind_start(answers, starts[i])) found = true;
    free(starts);
    return status < 0 ? status : found ? CSN_OK : CSN_NONE;
}

static csn_status put_any_name(struct symbol_answers *answers, struct name_finder *finder, const struct csn_index *index,
                               const char *name, struct csn_error *err) {
    const csn_status status = put_stored_name(answers, finder, index, str_of(name), err);
    return status == CSN_NONE ? put_demangled_name(answers, finder, index, name, err) : status;
}

/* "f.isra.0", which debug information calls "f". */
static csn_status put_original(struct symbol_answers *answers, struct name_finder *finder, const struct csn_index *index,
                               const char *name, struct csn_error *err) {
    const struct csn_str original = clone_original(str_of(name));
    if (original.len == strlen(name)) return CSN_NONE;
    char *copy = strndup(original.ptr, original.len);
    const csn_status status = copy ? put_any_name(answers, finder, index, copy, err) : CSN_E_MEMORY;
    free(copy);
    return status;
}

/* Of an index whose server failed the command itself says so. */
static void put_symbol_of(struct symbol_answers *answers, struct name_finder *finder, const struct csn_index *index,
                          const char *path, const char *name) {
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = CSN_NONE;
    answers->has_last = answers->may_end_before = false;
    answers->index = index;
    for (int i = 0; i < 2 && status == CSN_NONE; i++) {
        status = put_any_name(answers, finder, index, name, &err);
        if (status == CSN_NONE) status = put_original(answers, finder, index, name, &err);
        answers->may_end_before = true;
    }
    if (status == CSN_OK) answers->found = true;
    if (status < 0) answers->failed = true;
    if (status == CSN_E_MEMORY) cli_error_memory("functions");
    else if (status < 0 && (!finder->is_remote || status == CSN_E_LIMIT)) cli_error_status(path, status, &err);
}

/* NULL: it is answered. */
static const char *put_symbol(struct lookup_target *target, struct answer_printer *printer, struct csn_str text, uint64_t offset,
                              struct out_buffer *out) {
    struct symbol_answers answers = { .target = target, .printer = printer, .offset = offset, .out = out };
    char *name = strndup(text.ptr, text.len);
    if (!name) {
        cli_error_memory("a name");
        return "a name that could not be looked for";
    }
    if (!target->is_segmented) put_symbol_of(&answers, &target->finder, printer->query.index, target->path, name);
    for (size_t i = 0; target->is_segmented && i < target->module_count; i++) {
        struct target_module *segment = &target->modules[i];
        const struct csn_index *index = module_index(target, segment);
        if (index) put_symbol_of(&answers, &segment->finder, index, segment->module.path.ptr, name);
    }
    free(name);
    if (answers.failed)
        return answers.found ? "a name that could not be looked for everywhere" : "a name that could not be looked for";
    return answers.found ? NULL : "neither an address nor an offset within 64 bits from a function of the index";
}

/* ---- any text ---- */

bool lookup_text_is_query(struct csn_str text) {
    uint64_t a, b;
    struct csn_str name;
    return address_parse(text, &a) || address_range_parse(text, &a, &b) || file_offset_parse(text, &a) ||
           named_address_parse(text, &name, &a);
}

const char *lookup_target_run(struct lookup_target *target, struct answer_printer *printer, struct csn_str text,
                              struct out_buffer *out) {
    uint64_t a, b;
    struct csn_str name;
    if (address_parse(text, &a)) put_pc(target, printer, a, out);
    else if (!target->is_process && !target->is_segmented && answer_printer_run(printer, text, out)) return NULL;
    else if (address_range_parse(text, &a, &b)) put_range(target, printer, a, b, out);
    else if (file_offset_parse(text, &a)) return put_file_offset(target, printer, a, out);
    else if (!named_address_parse(text, &name, &a)) return address_fault(text);
    else if (target->is_process) return "not a hexadecimal address, and functions of a process are not found by name";
    else return put_symbol(target, printer, name, a, out);
    return NULL;
}

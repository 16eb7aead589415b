/* The Firefox Profiler's processed profile out: tables of columns for each thread. */
#include <stdio.h>

#include "base/core/sort.h"
#include "base/guid.h"
#include "base/hash.h"
#include "profile/firefox_libs.h"
#include "profile/profile_out.h"
#include "profile/profile_places.h"
#include "profile/profile_units.h"
#include "profile/profile_used.h"

enum { PROFILE_VERSION = 46 };   /* preprocessedProfileVersion: the one with a table of strings in each thread */

struct frame_row {
    uint32_t func, depth, line, column;
    int64_t address;             /* -1: none */
};
struct func_row {
    uint32_t name, file, resource; /* strings of the thread; resource: UINT32_MAX: none */
    uint32_t line;                 /* where it begins; 0: not known */
};
struct stack_row {
    uint32_t prefix, frame;      /* prefix: UINT32_MAX: none */
};
/* A number in a table of the thread; valid while `stamp` is the thread's. */
struct stamped {
    uint32_t stamp, number;
};
struct sample_order {
    uint32_t thread, sample;
    int64_t time_ns;
};

struct firefox_writer {
    struct csn_profile *p;
    struct profile_out *out;
    struct csn_error *err;
    struct profile_used used;
    uint32_t stamp;              /* of the thread, from 1 */
    struct stamped *nodes, *locations, *strings, *modules;
    struct sample_order *samples;
    CSNI_VEC(uint32_t) reached;  /* nodes of the thread */
    CSNI_VEC(uint32_t) string_list, resource_list;
    CSNI_VEC(struct frame_row) frames;
    CSNI_VEC(struct func_row) funcs;
    CSNI_VEC(struct stack_row) stacks;
    struct csni_profile_table func_table;
    int64_t start_ns;            /* Unix time that samples count from; 0: not known */
    bool failed;
};

static void put(struct firefox_writer *w, const char *text) { csni_profile_put_text(w->out, text); }
static void put_number(struct firefox_writer *w, int64_t value) { csni_profile_put_decimal(w->out, value); }
static void put_string(struct firefox_writer *w, struct csn_str text) { csni_profile_put_json(w->out, text, false); }

/* "1.234567", of nanoseconds. */
static void put_ms(struct firefox_writer *w, int64_t ns) {
    char text[40];
    const uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    csni_profile_put(w->out, text,
                     (size_t)snprintf(text, sizeof text, "%s%llu.%06llu", ns < 0 ? "-" : "",
                                      (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000)));
}

/* ---- the tables of a thread ---- */

static uint32_t string_number(struct firefox_writer *w, uint32_t string) {
    struct stamped *s = &w->strings[string];
    if (s->stamp == w->stamp) return s->number;
    *s = (struct stamped){ w->stamp, (uint32_t)w->string_list.count };
    w->failed |= !csni_vec_push(&w->string_list, string);
    return s->number;
}

static uint32_t resource_number(struct firefox_writer *w, uint32_t module) {
    if (module == CSN_PROFILE_NO_MODULE) return UINT32_MAX;
    struct stamped *s = &w->modules[module];
    if (s->stamp == w->stamp) return s->number;
    *s = (struct stamped){ w->stamp, (uint32_t)w->resource_list.count };
    w->failed |= !csni_vec_push(&w->resource_list, module);
    return s->number;
}

static bool func_equals(const void *context, uint32_t number, const void *key) {
    const struct firefox_writer *w = context;
    const struct func_row *a = &w->funcs.items[number], *b = key;
    return a->name == b->name && a->file == b->file && a->resource == b->resource && a->line == b->line;
}

static uint32_t func_number(struct firefox_writer *w, const struct func_row *func) {
    const uint64_t hash = csni_hash_u64((uint64_t)func->name << 32 | func->file) ^ csni_hash_u64(func->resource);
    uint32_t number;
    if (csni_profile_table_find(&w->func_table, hash, func_equals, w, func, &number)) return number;
    number = (uint32_t)w->funcs.count;
    w->failed |= !csni_vec_push(&w->funcs, *func) || !csni_profile_table_add(&w->func_table, hash, number);
    return number;
}

/* Addresses count from the image's first byte, as far as that is known. */
static int64_t relative_address(const struct firefox_writer *w, const struct profile_location *location) {
    if (location->kind == CSN_PROFILE_AT_NAME || location->module == CSN_PROFILE_NO_MODULE) return -1;
    const uint64_t address = csni_profile_offset_place(w->p, location);
    return address > INT64_MAX >> 10 ? -1 : (int64_t)address; /* a number of JavaScript has 53 bits */
}

static uint32_t hex_name(struct firefox_writer *w, const struct profile_location *location) {
    const int64_t address = relative_address(w, location);
    const uint64_t value = address < 0 ? location->value : (uint64_t)address;
    char text[24];
    uint32_t string = 0;
    const int size = snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    w->failed |= csni_profile_string(w->p, (struct csn_str){ text, (size_t)size }, &string, NULL) < 0;
    return string;
}

/* The frames of a location, outermost first; the first of them. */
static uint32_t location_frames(struct firefox_writer *w, uint32_t number) {
    struct stamped *s = &w->locations[number];
    const struct profile_location *location = &w->p->locations.items[number];
    if (s->stamp == w->stamp) return s->number;
    *s = (struct stamped){ w->stamp, (uint32_t)w->frames.count };
    struct frame_row frame = { .address = relative_address(w, location) };
    struct func_row func = { .resource = resource_number(w, location->module) };
    if (!location->line_count) {
        func.name = string_number(w, hex_name(w, location));
        func.file = UINT32_MAX;
        frame.func = func_number(w, &func);
        w->failed |= !csni_vec_push(&w->frames, frame);
    }
    for (uint32_t depth = 0; depth < location->line_count; depth++) {
        const struct profile_line *line = &w->p->lines.items[location->first_line + location->line_count - 1 - depth];
        const struct profile_function *function = &w->p->functions.items[line->function];
        func.name = string_number(w, function->name);
        func.file = function->file ? string_number(w, function->file) : UINT32_MAX;
        func.line = function->start_line;
        frame.func = func_number(w, &func);
        frame.depth = depth;
        frame.line = line->line;
        frame.column = line->column;
        w->failed |= !csni_vec_push(&w->frames, frame);
    }
    return s->number;
}

static uint32_t frame_count(const struct profile_location *location) { return location->line_count ? location->line_count : 1; }

/* Nodes ascend: a caller's stack is there before those that it calls. */
static void add_stacks(struct firefox_writer *w) {
    for (size_t i = 0; i < w->reached.count && !w->failed; i++) {
        const struct profile_node *node = &w->p->nodes.items[w->reached.items[i]];
        const uint32_t first = location_frames(w, node->location), count = frame_count(&w->p->locations.items[node->location]);
        uint32_t prefix = node->caller ? w->nodes[node->caller].number : UINT32_MAX;
        for (uint32_t k = 0; k < count; k++) {
            const struct stack_row row = { prefix, first + k };
            prefix = (uint32_t)w->stacks.count;
            w->failed |= !csni_vec_push(&w->stacks, row);
        }
        w->nodes[w->reached.items[i]].number = prefix;
    }
}

static bool number_before(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const uint32_t *)a < *(const uint32_t *)b;
}

static void build_tables(struct firefox_writer *w, const struct sample_order *samples, size_t count) {
    w->reached.count = w->string_list.count = w->resource_list.count = w->frames.count = w->funcs.count = w->stacks.count = 0;
    csni_profile_table_deinit(&w->func_table);
    w->stamp++;
    for (size_t i = 0; i < count; i++)
        for (uint32_t node = w->p->samples.items[samples[i].sample].stack; node && w->nodes[node].stamp != w->stamp;
             node = w->p->nodes.items[node].caller) {
            w->nodes[node].stamp = w->stamp;
            w->failed |= !csni_vec_push(&w->reached, node);
        }
    if (w->failed) return;
    csni_heap_sort(w->reached.items, w->reached.count, sizeof *w->reached.items, number_before, NULL);
    add_stacks(w);
}

/* ---- writing them ---- */

/* One column: a value for each row, written by `cell`. */
static void put_column(struct firefox_writer *w, const char *key, size_t count, void cell(struct firefox_writer *w, size_t row)) {
    put(w, ",\"");
    put(w, key);
    put(w, "\":[");
    for (size_t i = 0; i < count; i++) {
        if (i) put(w, ",");
        cell(w, i);
    }
    put(w, "]");
}

/* Without its end. */
static void put_table(struct firefox_writer *w, const char *key, size_t count) {
    put(w, ",\"");
    put(w, key);
    put(w, "\":{\"length\":");
    put_number(w, (int64_t)count);
}

static void put_or_null(struct firefox_writer *w, uint32_t value, bool is_null) {
    if (is_null) put(w, "null");
    else put_number(w, value);
}

static void cell_null(struct firefox_writer *w, size_t i) { (void)i, put(w, "null"); }
static void cell_zero(struct firefox_writer *w, size_t i) { (void)i, put(w, "0"); }
static void cell_false(struct firefox_writer *w, size_t i) { (void)i, put(w, "false"); }
static void cell_address(struct firefox_writer *w, size_t i) { put_number(w, w->frames.items[i].address); }
static void cell_depth(struct firefox_writer *w, size_t i) { put_number(w, w->frames.items[i].depth); }
static void cell_func(struct firefox_writer *w, size_t i) { put_number(w, w->frames.items[i].func); }
static void cell_line(struct firefox_writer *w, size_t i) { put_or_null(w, w->frames.items[i].line, !w->frames.items[i].line); }
static void cell_column(struct firefox_writer *w, size_t i) {
    put_or_null(w, w->frames.items[i].column, !w->frames.items[i].column);
}
static void cell_func_name(struct firefox_writer *w, size_t i) { put_number(w, w->funcs.items[i].name); }
static void cell_func_file(struct firefox_writer *w, size_t i) {
    put_or_null(w, w->funcs.items[i].file, w->funcs.items[i].file == UINT32_MAX);
}
static void cell_func_resource(struct firefox_writer *w, size_t i) {
    put_number(w, w->funcs.items[i].resource == UINT32_MAX ? -1 : (int64_t)w->funcs.items[i].resource);
}
static void cell_func_line(struct firefox_writer *w, size_t i) { put_or_null(w, w->funcs.items[i].line, !w->funcs.items[i].line); }
static void cell_prefix(struct firefox_writer *w, size_t i) {
    put_or_null(w, w->stacks.items[i].prefix, w->stacks.items[i].prefix == UINT32_MAX);
}
static void cell_stack_frame(struct firefox_writer *w, size_t i) { put_number(w, w->stacks.items[i].frame); }
static void cell_resource_lib(struct firefox_writer *w, size_t i) { put_number(w, w->used.modules[w->resource_list.items[i]] - 1); }
static void cell_resource_name(struct firefox_writer *w, size_t i) {
    put_number(w, string_number(w, w->p->modules.items[w->resource_list.items[i]].path));
}
static void cell_resource_type(struct firefox_writer *w, size_t i) { (void)i, put(w, "1"); } /* a library */
static void cell_string(struct firefox_writer *w, size_t i) { put_string(w, csni_profile_str(w->p, w->string_list.items[i])); }

struct firefox_column {
    const char *key;
    void (*cell)(struct firefox_writer *w, size_t row);
};

static void put_whole_table(struct firefox_writer *w, const char *key, size_t rows,
                            const struct firefox_column *columns, size_t count) {
    put_table(w, key, rows);
    for (size_t i = 0; i < count; i++) put_column(w, columns[i].key, rows, columns[i].cell);
    put(w, "}");
}

#define PUT_TABLE(w, key, rows, columns) put_whole_table((w), (key), (rows), (columns), sizeof(columns) / sizeof((columns)[0]))

static void put_tables(struct firefox_writer *w) {
    static const struct firefox_column frames[] = {
        { "address", cell_address }, { "inlineDepth", cell_depth }, { "category", cell_zero }, { "subcategory", cell_zero },
        { "func", cell_func }, { "nativeSymbol", cell_null }, { "innerWindowID", cell_null }, { "implementation", cell_null },
        { "line", cell_line }, { "column", cell_column }, { "optimizations", cell_null },
    };
    static const struct firefox_column funcs[] = {
        { "name", cell_func_name }, { "isJS", cell_false }, { "relevantForJS", cell_false }, { "resource", cell_func_resource },
        { "fileName", cell_func_file }, { "lineNumber", cell_func_line }, { "columnNumber", cell_null },
    };
    static const struct firefox_column resources[] = {
        { "lib", cell_resource_lib }, { "name", cell_resource_name }, { "host", cell_null }, { "type", cell_resource_type },
    };
    static const struct firefox_column stacks[] = {
        { "prefix", cell_prefix }, { "frame", cell_stack_frame }, { "category", cell_zero }, { "subcategory", cell_zero },
    };
    static const struct firefox_column symbols[] = {
        { "address", NULL }, { "functionSize", NULL }, { "libIndex", NULL }, { "name", NULL }
    };
    static const struct firefox_column markers[] = { { "category", NULL }, { "data", NULL }, { "endTime", NULL }, { "name", NULL },
                                                     { "phase", NULL }, { "startTime", NULL } };
    PUT_TABLE(w, "frameTable", w->frames.count, frames);
    PUT_TABLE(w, "funcTable", w->funcs.count, funcs);
    PUT_TABLE(w, "resourceTable", w->resource_list.count, resources);
    PUT_TABLE(w, "stackTable", w->stacks.count, stacks);
    PUT_TABLE(w, "nativeSymbols", 0, symbols);
    PUT_TABLE(w, "markers", 0, markers);
    put_column(w, "stringArray", w->string_list.count, cell_string);
}

/* ---- samples and threads ---- */

static void put_samples(struct firefox_writer *w, const struct sample_order *samples, size_t count, uint32_t value) {
    const struct csn_profile *p = w->p;
    const bool has_times = samples[0].time_ns || samples[count - 1].time_ns;
    static const char *const weight_types[] = {
        [PROFILE_COUNT] = "\"samples\"", [PROFILE_TIME] = "\"tracing-ms\"", [PROFILE_BYTES] = "\"bytes\""
    };
    const uint32_t unit_text = p->value_count ? p->value_types[value].unit : 0;
    const struct profile_unit unit = csni_profile_unit(csni_profile_str(p, unit_text));
    put_table(w, "samples", count);
    put(w, ",\"stack\":[");
    for (size_t i = 0; i < count; i++) {
        const uint32_t stack = p->samples.items[samples[i].sample].stack;
        if (i) put(w, ",");
        put_or_null(w, stack ? w->nodes[stack].number : 0, !stack);
    }
    put(w, "],\"time\":[");
    for (size_t i = 0; i < count; i++) {
        if (i) put(w, ",");
        put_ms(w, has_times ? samples[i].time_ns : (int64_t)i * 1000000);
    }
    put(w, "],\"weight\":[");
    for (size_t i = 0; i < count; i++) {
        if (i) put(w, ",");
        const int64_t own = p->value_count ? p->values.items[(size_t)samples[i].sample * p->value_stride + value] : 1,
                      weight = csni_profile_in_unit(own, &unit);
        unit.measure == PROFILE_TIME ? put_ms(w, weight) : put_number(w, weight);
    }
    put(w, "],\"weightType\":");
    put(w, weight_types[unit.measure]);
    put(w, "}");
}

static void put_thread(struct firefox_writer *w, const struct sample_order *samples, size_t count, uint32_t value) {
    const struct profile_thread *thread = &w->p->threads.items[samples[0].thread];
    const struct csn_str name = csni_profile_str(w->p, thread->name), process = csni_profile_str(w->p, thread->process);
    build_tables(w, samples, count);
    if (w->failed) return;
    /* Names of modules are strings too, numbered before the table of strings is written. */
    put(w, "{\"name\":");
    put_string(w, name.len ? name : CSN_STR("all threads"));
    put(w, ",\"processName\":");
    put_string(w, process.len ? process : name);
    put(w, ",\"processType\":\"default\",\"isMainThread\":");
    put(w, thread->pid == thread->tid ? "true" : "false");
    put(w, ",\"pid\":\"");
    put_number(w, (int64_t)thread->pid);
    put(w, "\",\"tid\":");
    put_number(w, (int64_t)thread->tid);
    put(w, ",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]");
    put_tables(w);
    put_samples(w, samples, count, value);
    put(w, "}");
}

static bool sample_before(const void *context, const void *a, const void *b) {
    const struct sample_order *x = a, *y = b;
    (void)context;
    return x->thread != y->thread ? x->thread < y->thread : x->time_ns < y->time_ns;
}

/* That of the profile, or of the first sample that has one. */
static int64_t start_of(const struct csn_profile *p) {
    int64_t first = p->time_ns;
    for (size_t i = 0; i < p->samples.count && !p->time_ns; i++) {
        const struct profile_sample_row *row = &p->samples.items[i];
        const bool is_unix = p->inputs.items[row->input].has_unix_times && row->time_ns > 0;
        if (is_unix && (!first || row->time_ns < first)) first = row->time_ns;
    }
    return first;
}

/* Since the start; times that are no Unix times count from it already. */
static int64_t sample_time(const struct firefox_writer *w, const struct profile_sample_row *row) {
    int64_t since = row->time_ns;
    if (since && w->p->inputs.items[row->input].has_unix_times && __builtin_sub_overflow(since, w->start_ns, &since)) return 0;
    return since;
}

static void put_threads(struct firefox_writer *w, uint32_t value) {
    const size_t count = w->p->samples.count;
    for (size_t i = 0; i < count; i++) {
        const struct profile_sample_row *row = &w->p->samples.items[i];
        w->samples[i] = (struct sample_order){ row->thread, (uint32_t)i, sample_time(w, row) };
    }
    csni_merge_sort(w->samples, w->samples + count, count, sizeof *w->samples, sample_before, NULL);
    for (size_t i = 0, next; i < count && !w->failed; i = next) {
        for (next = i; next < count && w->samples[next].thread == w->samples[i].thread;) next++;
        if (i) put(w, ",");
        put_thread(w, w->samples + i, next - i, value);
    }
}

/* ---- the whole ---- */

/* Breakpad's form of a build id: its first 16 bytes as a GUID, or a UUID as it is, and an age of 0. */
static struct csn_str breakpad_id(const struct profile_module *module, enum firefox_lib_kind kind, char out[34]) {
    (kind == LIBS_MACHO ? csni_uuid_text : csni_guid_text)(module->build_id, module->build_id_size, out);
    out[CSNI_GUID_DIGITS] = '0';
    return (struct csn_str){ out, CSNI_GUID_DIGITS + 1 };
}

/* What the input of a library tells; of anything else, what its path and build id do. A Windows image's code id is none of them. */
static void put_lib(struct firefox_writer *w, uint32_t number) {
    const struct profile_module *module = &w->p->modules.items[number];
    const struct csn_str path = csni_profile_str(w->p, module->path), base = csni_profile_base_name(path);
    const bool has_debug_name = module->is_lib && module->lib[LIB_DEBUG_NAME] != PROFILE_NONE;
    const enum firefox_lib_kind system = module->is_lib ? csni_firefox_system_kind(w->p, &w->p->system) : LIBS_UNKNOWN,
        kind = csni_firefox_lib_kind(system, path, has_debug_name ? csni_profile_str(w->p, module->lib[LIB_DEBUG_NAME]) : base);
    char digits[PROFILE_ID_DIGITS], guid[34];
    const struct csn_str id = csni_profile_build_id(w->p, module, digits);
    const struct csn_str otherwise[PROFILE_LIB_TEXTS] = {
        [LIB_NAME] = base, [LIB_PATH] = path, [LIB_DEBUG_NAME] = base, [LIB_DEBUG_PATH] = path,
        [LIB_BREAKPAD_ID] = breakpad_id(module, kind, guid),
        [LIB_CODE_ID] = kind == LIBS_PE || module->is_lib ? CSN_STR("") : id,
    };
    for (size_t i = 0; i < PROFILE_LIB_TEXTS; i++) {
        const bool is_told = module->is_lib && module->lib[i] != PROFILE_NONE;
        put(w, i ? ",\"" : "{\"");
        put(w, csni_firefox_lib_keys[i]);
        put(w, "\":");
        if (!is_told && (i == LIB_CODE_ID || i == LIB_ARCH) && !otherwise[i].len) put(w, "null");
        else put_string(w, is_told ? csni_profile_str(w->p, module->lib[i]) : otherwise[i]);
    }
    put(w, "}");
}

/* Whether the profiler need not ask its symbol server: each place in a library that is written has a name. */
static bool is_symbolicated(const struct firefox_writer *w) {
    for (size_t i = 0; i < w->p->locations.count; i++) {
        const struct profile_location *location = &w->p->locations.items[i];
        if (w->used.locations[i] && !location->line_count && relative_address(w, location) >= 0) return false;
    }
    return true;
}

static void put_system(struct firefox_writer *w) {
    for (size_t i = 0; i < PROFILE_SYSTEM_TEXTS; i++) {
        if (!w->p->system.texts[i]) continue;
        put(w, ",\"");
        put(w, csni_firefox_system_keys[i]);
        put(w, "\":");
        put_string(w, csni_profile_str(w->p, w->p->system.texts[i]));
    }
}

static void put_meta(struct firefox_writer *w) {
    const struct csn_profile *p = w->p;
    const struct profile_unit unit = csni_profile_unit(csni_profile_str(p, p->period_unit));
    put(w, "{\"meta\":{\"interval\":");
    put_ms(w, p->period > 0 && unit.measure == PROFILE_TIME ? csni_profile_in_unit(p->period, &unit) : 1000000);
    put(w, ",\"startTime\":");
    put_ms(w, w->start_ns);
    put(w, ",\"processType\":0,\"product\":");
    put_string(w, p->inputs.count ? csni_profile_base_name(csni_profile_str(p, p->inputs.items[0].name)) : CSN_STR("profile"));
    put(w, ",\"stackwalk\":1,\"debug\":false,\"version\":24,\"preprocessedProfileVersion\":");
    put_number(w, PROFILE_VERSION);
    put_system(w);
    put(w, is_symbolicated(w) ? ",\"symbolicated\":true" : ",\"symbolicated\":false");
    put(w, ",\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]"
           ",\"markerSchema\":[],\"extensions\":{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]}"
           ",\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true"
           ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}}");
}

static void put_all(struct firefox_writer *w) {
    put_meta(w);
    put(w, ",\"libs\":[");
    for (size_t i = 0; i < w->used.module_count; i++) {
        if (i) put(w, ",");
        put_lib(w, w->used.module_order[i]);
    }
    put(w, "],\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\"threads\":[");
    put_threads(w, csni_profile_shown_value(w->p));
    put(w, "]}\n");
}

/* Functions without a name are called by their address: those strings are made before numbers are given. */
static csn_status add_hex_names(struct firefox_writer *w) {
    for (size_t i = 0; i < w->p->locations.count; i++)
        if (!w->p->locations.items[i].line_count) hex_name(w, &w->p->locations.items[i]);
    return w->failed ? csni_fail_memory(w->err, 0) : CSN_OK;
}

static struct stamped *new_stamps(const struct csn_profile *p, size_t count) {
    return csni_alloc_zeroed(p->alloc, count + 1, sizeof(struct stamped));
}

csn_status csni_firefox_write(struct csn_profile *p, struct profile_out *out, struct csn_error *err) {
    struct firefox_writer w = { .p = p, .out = out, .err = err, .start_ns = start_of(p) };
    w.reached.alloc = w.string_list.alloc = w.resource_list.alloc = w.frames.alloc = w.funcs.alloc = w.stacks.alloc = p->alloc;
    w.func_table.alloc = p->alloc;
    CSNI_TRY(add_hex_names(&w));
    CSNI_TRY(csni_profile_used_init(&w.used, p, false, err));
    const size_t samples = 2 * p->samples.count + 1, strings = p->strings.count;
    w.nodes = new_stamps(p, p->nodes.count);
    w.locations = new_stamps(p, p->locations.count);
    w.strings = new_stamps(p, strings);
    w.modules = new_stamps(p, p->modules.count);
    w.samples = csni_alloc(p->alloc, samples * sizeof *w.samples);
    w.failed = !w.nodes || !w.locations || !w.strings || !w.modules || !w.samples;
    if (!w.failed) put_all(&w);
    csni_free(p->alloc, w.nodes, (p->nodes.count + 1) * sizeof *w.nodes);
    csni_free(p->alloc, w.locations, (p->locations.count + 1) * sizeof *w.locations);
    csni_free(p->alloc, w.strings, (strings + 1) * sizeof *w.strings);
    csni_free(p->alloc, w.modules, (p->modules.count + 1) * sizeof *w.modules);
    csni_free(p->alloc, w.samples, samples * sizeof *w.samples);
    csni_profile_used_deinit(&w.used);
    csni_vec_deinit(&w.reached);
    csni_vec_deinit(&w.string_list);
    csni_vec_deinit(&w.resource_list);
    csni_vec_deinit(&w.frames);
    csni_vec_deinit(&w.funcs);
    csni_vec_deinit(&w.stacks);
    csni_profile_table_deinit(&w.func_table);
    return w.failed ? csni_fail_memory(err, samples * sizeof *w.samples) : CSN_OK;
}

/* The Firefox Profiler's processed profile: tables as arrays of columns, in each thread or shared by all. */
#include "base/guid.h"
#include "base/hash.h"
#include "profile/firefox_reader.h"
#include "profile/profile_read.h"

/* Columns that are read, in their order in table_wishes. */
enum { FRAME_ADDRESS, FRAME_DEPTH, FRAME_FUNC, FRAME_LINE, FRAME_SYMBOL, FRAME_COLUMN };
enum { FUNC_NAME, FUNC_RESOURCE, FUNC_FILE, FUNC_SOURCE, FUNC_LINE };
enum { STACK_FRAME, STACK_PREFIX };
enum { ONLY_COLUMN };            /* of the other tables */

static const struct table_wish {
    const char *key, *columns[FIREFOX_COLUMNS_MAX];
} table_wishes[FIREFOX_TABLES] = {
    [FIREFOX_TABLE_FRAMES] = { "frameTable", { "address", "inlineDepth", "func", "line", "nativeSymbol", "column" } },
    [FIREFOX_TABLE_FUNCS] = { "funcTable", { "name", "resource", "fileName", "source", "lineNumber" } },
    [FIREFOX_TABLE_RESOURCES] = { "resourceTable", { "lib" } },
    [FIREFOX_TABLE_SYMBOLS] = { "nativeSymbols", { "libIndex" } },
    [FIREFOX_TABLE_SOURCES] = { "sources", { "filename" } },
    [FIREFOX_TABLE_STACKS] = { "stackTable", { "frame", "prefix" } },
};
enum { KEY_STRINGS = FIREFOX_TABLES, KEY_OLD_STRINGS, TABLE_KEYS }; /* among the members of a thread */

static csn_status fail_memory(struct firefox_reader *r) { return csni_fail_memory(r->err, 0); }

csn_status csni_firefox_text(struct firefox_reader *r, struct csni_span value, uint32_t *out) {
    r->text.size = 0;
    *out = 0;
    csn_status status = csni_json_string(&r->scan, value, &r->text);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    return csni_profile_string(r->p, (struct csn_str){ (const char *)r->text.bytes, r->text.size }, out, r->err);
}

/* ---- tables ---- */

/* The members of a thread, or of `shared`, that are tables. */
static void set_table_keys(struct json_member members[TABLE_KEYS]) {
    for (size_t i = 0; i < FIREFOX_TABLES; i++) members[i].key = table_wishes[i].key;
    members[KEY_STRINGS].key = "stringArray";
    members[KEY_OLD_STRINGS].key = "stringTable";
}

static csn_status read_columns(struct firefox_reader *r, struct csni_span object, const struct table_wish *wish,
                               struct firefox_table *out) {
    struct json_member members[FIREFOX_COLUMNS_MAX];
    size_t count = 0;
    for (; count < FIREFOX_COLUMNS_MAX && wish->columns[count]; count++) members[count].key = wish->columns[count];
    csni_json_members(object, members, count);
    for (size_t i = 0; i < count; i++) CSNI_TRY(csni_json_column(&r->scan, members[i].value, -1, &out->columns[i]));
    return CSN_OK;
}

static csn_status read_strings(struct firefox_reader *r, struct csni_span array, struct firefox_tables *out) {
    struct csni_span item;
    uint32_t number;
    out->strings.count = 0;
    CSNI_TRY(csni_json_array(&r->scan, array));
    while (csni_json_item(&array, &item)) {
        CSNI_TRY(csni_firefox_text(r, item, &number));
        if (!csni_vec_push(&out->strings, number)) return fail_memory(r);
    }
    return CSN_OK;
}

static csn_status read_tables(struct firefox_reader *r, const struct json_member members[TABLE_KEYS], struct firefox_tables *out) {
    const struct csni_span strings = members[members[KEY_STRINGS].value.size ? KEY_STRINGS : KEY_OLD_STRINGS].value;
    out->has_strings = strings.size;
    CSNI_TRY(read_strings(r, strings, out));
    for (size_t i = 0; i < FIREFOX_TABLES; i++) {
        out->has_table[i] = members[i].value.size;
        CSNI_TRY(read_columns(r, members[i].value, &table_wishes[i], &out->tables[i]));
    }
    return CSN_OK;
}

/* Once for the file: there may be thousands of threads. */
static csn_status read_shared(struct firefox_reader *r, struct csni_span shared) {
    struct json_member members[TABLE_KEYS];
    set_table_keys(members);
    csni_json_members(shared, members, TABLE_KEYS);
    return read_tables(r, members, &r->shared);
}

/* A table of the thread, or the one that all threads share. Whether all are shared. */
static bool choose_tables(struct firefox_reader *r) {
    bool are_shared = !r->own.has_strings;
    r->strings = r->own.has_strings ? &r->own : &r->shared;
    for (size_t i = 0; i < FIREFOX_TABLES; i++) {
        r->table[i] = &(r->own.has_table[i] ? &r->own : &r->shared)->tables[i];
        are_shared &= !r->own.has_table[i];
    }
    return are_shared;
}

/* A value of a column; -1: there is none. */
static int64_t cell(const struct firefox_reader *r, size_t table, size_t number, int64_t row) {
    const struct json_column *column = &r->table[table]->columns[number];
    return row >= 0 && (uint64_t)row < column->items.count ? column->items.items[row] : -1;
}

static int64_t frame_cell(const struct firefox_reader *r, size_t column, int64_t frame) {
    return cell(r, FIREFOX_TABLE_FRAMES, column, frame);
}

static int64_t func_cell(const struct firefox_reader *r, size_t column, int64_t func) {
    return cell(r, FIREFOX_TABLE_FUNCS, column, func);
}

/* ---- frames and stacks ---- */

static struct csn_str string_at(const struct firefox_reader *r, int64_t number) {
    if (number < 0 || (uint64_t)number >= r->strings->strings.count) return CSN_STR("");
    return csni_profile_str(r->p, r->strings->strings.items[number]);
}

static uint32_t frame_module(const struct firefox_reader *r, int64_t frame, int64_t func) {
    int64_t lib = cell(r, FIREFOX_TABLE_RESOURCES, ONLY_COLUMN, func_cell(r, FUNC_RESOURCE, func));
    if (lib < 0) lib = cell(r, FIREFOX_TABLE_SYMBOLS, ONLY_COLUMN, frame_cell(r, FRAME_SYMBOL, frame));
    return lib >= 0 && (uint64_t)lib < r->modules.count ? r->modules.items[lib] : CSN_PROFILE_NO_MODULE;
}

/* Samply names a function that it does not know by its address. */
static bool is_address_name(struct csn_str name) { return name.len > 2 && name.ptr[0] == '0' && name.ptr[1] == 'x'; }

/* 0: there is none. */
static uint32_t line_of(int64_t value) { return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0; }

static void frame_location(const struct firefox_reader *r, int64_t frame, struct csn_profile_location *out) {
    const int64_t func = frame_cell(r, FRAME_FUNC, frame), address = frame_cell(r, FRAME_ADDRESS, frame);
    *out = (struct csn_profile_location){ .module = CSN_PROFILE_NO_MODULE };
    out->name = string_at(r, func_cell(r, FUNC_NAME, func));
    out->file = string_at(r, func_cell(r, FUNC_FILE, func));
    if (!out->file.len) out->file = string_at(r, cell(r, FIREFOX_TABLE_SOURCES, ONLY_COLUMN, func_cell(r, FUNC_SOURCE, func)));
    out->line = line_of(frame_cell(r, FRAME_LINE, frame));
    if (address < 0) return;
    out->module = frame_module(r, frame, func);
    if (out->module == CSN_PROFILE_NO_MODULE) return;
    out->kind = CSN_PROFILE_AT_OFFSET;
    out->value = (uint64_t)address;
    if (is_address_name(out->name)) out->name = CSN_STR("");
}

static csn_status add_frame_location(struct firefox_reader *r, int64_t frame, uint32_t *out) {
    struct csn_profile_location location;
    frame_location(r, frame, &location);
    return csni_profile_add_location(r->p, &location, line_of(frame_cell(r, FRAME_COLUMN, frame)),
                                     line_of(func_cell(r, FUNC_LINE, frame_cell(r, FRAME_FUNC, frame))), out, r->err);
}

static bool inline_equals(const void *context, uint32_t number, const void *key) {
    const struct firefox_reader *r = context;
    const struct inline_key *a = &r->inlines.items[number], *b = key;
    return a->frame == b->frame && a->outer == b->outer;
}

/* The outer location with the inlined frame in front of its lines. */
static csn_status inlined_location(struct firefox_reader *r, uint32_t frame, uint32_t outer, uint32_t *out) {
    struct inline_key key = { frame, outer, 0 };
    const uint64_t hash = csni_hash_u64((uint64_t)frame << 32 | outer);
    uint32_t number, inner;
    if (csni_profile_table_find(&r->inline_table, hash, inline_equals, r, &key, &number)) {
        *out = r->inlines.items[number].location;
        return CSN_OK;
    }
    CSNI_TRY(add_frame_location(r, frame, &inner));
    struct profile_location made = r->p->locations.items[outer];
    const struct profile_location *first = &r->p->locations.items[inner];
    const uint32_t from = made.first_line, count = made.line_count;
    made.first_line = (uint32_t)r->p->lines.count;
    made.line_count = 0;
    if (first->line_count) {
        struct profile_line line = r->p->lines.items[first->first_line];
        line.inlined = true;
        CSNI_TRY(csni_profile_push_line(r->p, &line, r->err));
        made.line_count++;
    }
    for (uint32_t i = 0; i < count; i++, made.line_count++) {
        const struct profile_line line = r->p->lines.items[from + i];
        CSNI_TRY(csni_profile_push_line(r->p, &line, r->err));
    }
    CSNI_TRY(csni_profile_push_location(r->p, &made, &key.location, r->err));
    *out = key.location;
    number = (uint32_t)r->inlines.count;
    return csni_vec_push(&r->inlines, key) && csni_profile_table_add(&r->inline_table, hash, number) ? CSN_OK : fail_memory(r);
}

/* Whether a frame is inlined into that of its caller: both have one address. */
static bool is_inlined_into(const struct firefox_reader *r, int64_t frame, int64_t caller) {
    return frame_cell(r, FRAME_DEPTH, frame) > 0 && caller >= 0
           && frame_cell(r, FRAME_ADDRESS, frame) == frame_cell(r, FRAME_ADDRESS, caller)
           && frame_cell(r, FRAME_DEPTH, frame) == frame_cell(r, FRAME_DEPTH, caller) + 1;
}

static csn_status read_stack(struct firefox_reader *r, size_t i) {
    const size_t frames = r->table[FIREFOX_TABLE_FRAMES]->columns[FRAME_FUNC].items.count;
    const int64_t frame = cell(r, FIREFOX_TABLE_STACKS, STACK_FRAME, (int64_t)i);
    const int64_t prefix = cell(r, FIREFOX_TABLE_STACKS, STACK_PREFIX, (int64_t)i);
    struct firefox_stack stack = { 0, 0 };
    if (prefix >= (int64_t)i || frame < 0 || (uint64_t)frame >= frames)
        return csni_fail(r->err, CSN_E_FORMAT, "stackTable", i,
                         "stack %zu has frame %lld and prefix %lld, there are %zu frames and %zu stacks before it", i,
                         (long long)frame, (long long)prefix, frames, i);
    const struct firefox_stack caller = prefix >= 0 ? r->stacks.items[prefix] : (struct firefox_stack){ PROFILE_NO_STACK, 0 };
    uint32_t below = caller.node;
    if (prefix >= 0 && is_inlined_into(r, frame, cell(r, FIREFOX_TABLE_STACKS, STACK_FRAME, prefix))) {
        CSNI_TRY(inlined_location(r, (uint32_t)frame, caller.location, &stack.location));
        below = r->p->nodes.items[caller.node].caller;
    } else {
        CSNI_TRY(add_frame_location(r, frame, &stack.location));
    }
    CSNI_TRY(csni_profile_child(r->p, below, stack.location, &stack.node, r->err));
    return csni_vec_push(&r->stacks, stack) ? CSN_OK : fail_memory(r);
}

/* All stacks of the thread; those of shared tables are there since the first thread that has them. */
static csn_status read_stacks(struct firefox_reader *r, bool are_shared) {
    if (are_shared && r->are_stacks_shared) return CSN_OK;
    r->are_stacks_shared = are_shared;
    r->stacks.count = r->inlines.count = 0;
    csni_profile_table_deinit(&r->inline_table);
    for (size_t i = 0; i < r->table[FIREFOX_TABLE_STACKS]->columns[STACK_FRAME].items.count; i++) CSNI_TRY(read_stack(r, i));
    return CSN_OK;
}

/* ---- libraries ---- */

/* From Breakpad's form of an id: a UUID as it is, or a GUID, whose first fields are in the other byte order: that of
 * a PDB, which is the build id of a Windows image, or the first 16 bytes of a build id. Empty: the form is another
 * one, or it is all zeros. */
static struct csn_str breakpad_digits(struct csn_str breakpad_id, bool is_turned, char out[32]) {
    bool is_zero = true;
    if (breakpad_id.len < CSNI_GUID_DIGITS) return CSN_STR("");
    for (size_t i = 0; i < CSNI_GUID_DIGITS; i++) {
        out[i] = breakpad_id.ptr[is_turned ? 2 * csni_guid_place(i / 2) + i % 2 : i];
        is_zero &= out[i] == '0';
    }
    return is_zero ? CSN_STR("") : (struct csn_str){ out, CSNI_GUID_DIGITS };
}

/* A Windows image's code id is a time stamp and a size, and no build id. Without a code id, Breakpad's tells enough;
 * where it is not known what it is made of, none is better than a wrong one, which would refuse the right file. */
static struct csn_str build_id_digits(enum firefox_lib_kind kind, struct csn_str code_id, struct csn_str breakpad_id,
                                      char out[32]) {
    if (kind != LIBS_PE && code_id.len) return code_id;
    return kind == LIBS_UNKNOWN ? CSN_STR("") : breakpad_digits(breakpad_id, kind != LIBS_MACHO, out);
}

static struct csn_str lib_text(const struct firefox_reader *r, const uint32_t texts[PROFILE_LIB_TEXTS], size_t text) {
    return texts[text] == PROFILE_NONE ? CSN_STR("") : csni_profile_str(r->p, texts[text]);
}

static csn_status read_lib(struct firefox_reader *r, struct csni_span lib) {
    struct json_member m[PROFILE_LIB_TEXTS];
    uint32_t texts[PROFILE_LIB_TEXTS], module;
    struct csn_str path = CSN_STR("");
    char digits[32];
    for (size_t i = 0; i < PROFILE_LIB_TEXTS; i++) m[i].key = csni_firefox_lib_keys[i];
    csni_json_members(lib, m, PROFILE_LIB_TEXTS);
    for (size_t i = 0; i < PROFILE_LIB_TEXTS; i++) {
        CSNI_TRY(csni_firefox_text(r, m[i].value, &texts[i]));
        if (!m[i].value.size) texts[i] = PROFILE_NONE;
    }
    static const uint8_t paths[] = { LIB_PATH, LIB_NAME, LIB_DEBUG_PATH, LIB_DEBUG_NAME };
    for (size_t i = 0; i < sizeof paths && !path.len; i++) path = lib_text(r, texts, paths[i]);
    const enum firefox_lib_kind kind = csni_firefox_lib_kind(r->libs, path, lib_text(r, texts, LIB_DEBUG_NAME));
    const struct csn_str id =
        build_id_digits(kind, lib_text(r, texts, LIB_CODE_ID), lib_text(r, texts, LIB_BREAKPAD_ID), digits);
    CSNI_TRY(csni_profile_lib_module(r->p, path, id, texts, &module, r->err));
    return csni_vec_push(&r->modules, module) ? CSN_OK : fail_memory(r);
}

/* Those of the thread, before version 41; later the profile has them for all. */
static csn_status read_libs(struct firefox_reader *r, struct csni_span list) {
    struct csni_span item;
    r->modules.count = 0;
    r->are_stacks_shared = false; /* they are of other libraries */
    CSNI_TRY(csni_json_array(&r->scan, list));
    while (csni_json_item(&list, &item)) CSNI_TRY(read_lib(r, item));
    return CSN_OK;
}

/* ---- threads ---- */

/* Process and thread ids are numbers or texts, of which the digits count. */
static uint64_t id_of(struct firefox_reader *r, struct csni_span value) {
    int64_t number = 0;
    r->text.size = 0;
    if (csni_json_integer(value, &number)) return (uint64_t)number;
    if (csni_json_string(&r->scan, value, &r->text) != CSN_OK) return 0;
    for (size_t i = 0; i < r->text.size && r->text.bytes[i] >= '0' && r->text.bytes[i] <= '9'; i++)
        number = (int64_t)((uint64_t)number * 10 + (uint64_t)(r->text.bytes[i] - '0'));
    return (uint64_t)number;
}

/* Of a table that is left out. */
static void count_rows(struct firefox_reader *r, struct csni_span table) {
    struct json_member m = { .key = "length" };
    int64_t count = 0;
    csni_json_members(table, &m, 1);
    if (csni_json_integer(m.value, &count) && count > 0) r->p->left_out += (uint64_t)count;
}

enum { THREAD_NAME = TABLE_KEYS, THREAD_PROCESS, THREAD_PID, THREAD_TID, THREAD_SAMPLES, THREAD_MARKERS, THREAD_LIBS,
       THREAD_NATIVE_ALLOCATIONS, THREAD_JS_ALLOCATIONS, THREAD_MEMBERS };

/* All in one pass: a thread may be most of the file. */
static csn_status read_thread(struct firefox_reader *r, struct csni_span thread) {
    struct json_member m[THREAD_MEMBERS] = {
        [THREAD_NAME] = { .key = "name" }, [THREAD_PROCESS] = { .key = "processName" }, [THREAD_PID] = { .key = "pid" },
        [THREAD_TID] = { .key = "tid" }, [THREAD_SAMPLES] = { .key = "samples" }, [THREAD_MARKERS] = { .key = "markers" },
        [THREAD_LIBS] = { .key = "libs" }, [THREAD_NATIVE_ALLOCATIONS] = { .key = "nativeAllocations" },
        [THREAD_JS_ALLOCATIONS] = { .key = "jsAllocations" },
    };
    struct profile_thread own = { .name = 0 };
    uint32_t number = 0;
    set_table_keys(m);
    csni_json_members(thread, m, THREAD_MEMBERS);
    CSNI_TRY(csni_firefox_text(r, m[THREAD_NAME].value, &own.name));
    CSNI_TRY(csni_firefox_text(r, m[THREAD_PROCESS].value, &own.process));
    own.pid = id_of(r, m[THREAD_PID].value);
    own.tid = id_of(r, m[THREAD_TID].value);
    if (csni_profile_keeps_threads(r->p)) CSNI_TRY(csni_profile_thread(r->p, &own, &number, r->err));
    count_rows(r, m[THREAD_MARKERS].value);
    count_rows(r, m[THREAD_NATIVE_ALLOCATIONS].value);
    count_rows(r, m[THREAD_JS_ALLOCATIONS].value);
    if (m[THREAD_LIBS].value.size) CSNI_TRY(read_libs(r, m[THREAD_LIBS].value));
    CSNI_TRY(read_tables(r, m, &r->own));
    CSNI_TRY(read_stacks(r, choose_tables(r)));
    return csni_firefox_samples(r, m[THREAD_SAMPLES].value, number);
}

/* ---- the whole ---- */

/* Of milliseconds. */
static int64_t ns_or(struct csni_span value, int64_t otherwise) {
    struct json_decimal number;
    int64_t ns;
    return csni_json_decimal(value, &number) && csni_json_decimal_value(&number, FIREFOX_NS_DIGITS, &ns) ? ns : otherwise;
}

/* What tells the system is written again: ids of libraries are read by it. Inputs of several systems leave it to the names. */
static csn_status read_system(struct firefox_reader *r, struct csni_span meta) {
    struct json_member m[PROFILE_SYSTEM_TEXTS];
    struct profile_system own = { .is_told = true }, *kept = &r->p->system;
    for (size_t i = 0; i < PROFILE_SYSTEM_TEXTS; i++) m[i].key = csni_firefox_system_keys[i];
    csni_json_members(meta, m, PROFILE_SYSTEM_TEXTS);
    for (size_t i = 0; i < PROFILE_SYSTEM_TEXTS; i++) CSNI_TRY(csni_firefox_text(r, m[i].value, &own.texts[i]));
    r->libs = csni_firefox_system_kind(r->p, &own);
    if (!kept->is_told) *kept = own;
    else if (csni_firefox_system_kind(r->p, kept) != r->libs) memset(kept->texts, 0, sizeof kept->texts);
    return CSN_OK;
}

static csn_status read_meta(struct firefox_reader *r, struct csni_span meta) {
    struct json_member m[] = { { .key = "interval" }, { .key = "startTime" }, { .key = "preprocessedProfileVersion" } };
    csni_json_members(meta, m, 3);
    CSNI_TRY(read_system(r, meta));
    if (!m[2].value.size)
        return csni_fail(r->err, CSN_E_UNSUPPORTED, "JSON", 0,
                         "meta has no preprocessedProfileVersion: not a processed profile of the Firefox Profiler");
    const int64_t start = ns_or(m[1].value, 0), interval = ns_or(m[0].value, 1000000);
    r->start_ns = start > 0 ? start : 0;
    struct profile_times times = { .time_ns = r->start_ns, .period = interval > 0 ? interval : 0 };
    CSNI_TRY(csni_profile_string(r->p, CSN_STR("wall"), &times.period_type, r->err));
    CSNI_TRY(csni_profile_string(r->p, CSN_STR("nanoseconds"), &times.period_unit, r->err));
    csni_profile_add_times(r->p, &times);
    return CSN_OK;
}

static csn_status read_root(struct firefox_reader *r) {
    struct json_member m[] = {
        { .key = "meta" }, { .key = "libs" }, { .key = "shared" }, { .key = "threads" }, { .key = "counters" }
    };
    struct csni_span root, item;
    CSNI_TRY(csni_json_value(&r->scan, r->scan.all.ptr, &root));
    for (const uint8_t *p = root.ptr + root.size, *end = r->scan.all.ptr + r->scan.all.size; p < end; p++)
        if (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r')
            return csni_fail(r->err, CSN_E_FORMAT, "JSON", (uint64_t)(p - r->scan.all.ptr),
                             "more text after the profile, in a text of %zu bytes", r->scan.all.size);
    csni_json_members(root, m, 5);
    CSNI_TRY(read_meta(r, m[0].value));
    CSNI_TRY(read_libs(r, m[1].value));
    CSNI_TRY(read_shared(r, m[2].value));
    CSNI_TRY(csni_json_array(&r->scan, m[3].value));
    CSNI_TRY(csni_firefox_survey_weights(r, m[3].value));
    while (csni_json_item(&m[3].value, &item)) CSNI_TRY(read_thread(r, item));
    while (csni_json_item(&m[4].value, &item)) r->p->left_out++;
    return CSN_OK;
}

static void init_tables(struct firefox_tables *t, const struct csn_allocator *alloc) {
    t->strings.alloc = alloc;
    for (size_t i = 0; i < FIREFOX_TABLES; i++)
        for (size_t k = 0; k < FIREFOX_COLUMNS_MAX; k++) t->tables[i].columns[k].items.alloc = alloc;
}

static void deinit_tables(struct firefox_tables *t) {
    csni_vec_deinit(&t->strings);
    for (size_t i = 0; i < FIREFOX_TABLES; i++)
        for (size_t k = 0; k < FIREFOX_COLUMNS_MAX; k++) csni_vec_deinit(&t->tables[i].columns[k].items);
}

csn_status csni_firefox_read(struct csn_profile *p, struct csni_span text, struct csn_error *err) {
    struct firefox_reader r = { .p = p, .err = err, .scan = { text, err, p->alloc } };
    init_tables(&r.own, p->alloc);
    init_tables(&r.shared, p->alloc);
    r.modules.alloc = r.stacks.alloc = r.inlines.alloc = r.inline_table.alloc = r.text.alloc = p->alloc;
    csn_status status = read_root(&r);
    deinit_tables(&r.own);
    deinit_tables(&r.shared);
    csni_vec_deinit(&r.modules);
    csni_vec_deinit(&r.stacks);
    csni_vec_deinit(&r.inlines);
    csni_profile_table_deinit(&r.inline_table);
    csni_buffer_deinit(&r.text);
    return status;
}

/* Rows to names through csn_symbolicate_arrow(). */
#define _GNU_SOURCE
#include "udf/udf_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/names.h>
#include <callsign/open.h>

#include "ui/cli_message.h"

/* ---- indexes ---- */

static csn_status open_for_udf(void *context, const char *path, struct csn_index **out, void **out_handle, struct csn_error *err) {
    (void)context;
    *out_handle = NULL;
    return csn_index_open_any(path, NULL, out, err);
}

static void close_for_udf(void *context, struct csn_index *index, void *handle) {
    (void)context, (void)handle;
    csn_index_close(index);
}

static bool add_failure(struct udf_symbols *symbols, struct csn_str name, const char *path, const char *text) {
    struct udf_failure *grown = reallocarray(symbols->failures, symbols->failure_count + 1, sizeof(*grown));
    if (!grown) return false;
    symbols->failures = grown;
    struct udf_failure *failure = &grown[symbols->failure_count];
    failure->name = name;
    if (asprintf(&failure->text, "%s: %s", path, text) < 0) return false;
    symbols->failure_count++;
    return true;
}

/* NAME=FILE, or FILE, which serves the modules of its own name and build id. */
static bool add_index_of_option(struct udf_symbols *symbols, const char *text) {
    const char *equals = strchr(text, '=');
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_str name = { text, equals ? (size_t)(equals - text) : strlen(text) };
    bool is_named = equals && equals != text && access(text, F_OK) != 0;
    const char *path = is_named ? equals + 1 : text;
    csn_status status = is_named ? csn_store_add_named_index(symbols->store, name, path, NULL, &err)
                                 : csn_store_add_index(symbols->store, path, NULL, &err);
    if (status >= 0) return true;
    cli_error_status(path, status, &err);
    if (status == CSN_E_MEMORY) return false;
    if (is_named && add_failure(symbols, name, path, csn_error_text(&err))) return true;
    if (is_named) cli_error_memory("indexes");
    return !is_named;
}

bool udf_symbols_init(struct udf_symbols *symbols, const struct text_list *indexes, const struct text_list *folders, bool demangle,
                      bool return_addresses) {
    *symbols = (struct udf_symbols){ .options = CSN_ARROW_OPTIONS_INIT };
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    options.folders = folders->items;
    options.folder_count = folders->count;
    options.open = open_for_udf;
    options.close = close_for_udf;
    if (csn_store_create(&options, &symbols->store, NULL) < 0) {
        cli_error_memory("indexes");
        return false;
    }
    symbols->options.store = symbols->store;
    if (demangle) symbols->options.demangle = csn_rename_demangled;
    if (return_addresses) symbols->options.flags = CSN_ARROW_RETURN_ADDRESSES;
    for (size_t i = 0; i < folders->count; i++)
        if (access(folders->items[i], X_OK) != 0) cli_error(folders->items[i], "not a folder that can be read");
    for (size_t i = 0; i < indexes->count; i++)
        if (!add_index_of_option(symbols, indexes->items[i])) return false;
    return true;
}

void udf_symbols_deinit(struct udf_symbols *symbols) {
    for (size_t i = 0; i < symbols->failure_count; i++) free(symbols->failures[i].text);
    free(symbols->failures);
    csn_store_destroy(symbols->store);
    free(symbols->answer);
}

/* ---- rows as an Arrow array: struct<module: utf8, address: uint64> over memory that stays the caller's ---- */

struct arrow_rows {
    struct ArrowSchema schema, fields[2], *field_pointers[2];
    struct ArrowArray array, columns[2], *column_pointers[2];
    const void *buffers[1], *module_buffers[3], *address_buffers[2];
};

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

static void make_arrow_rows(const struct udf_rows *rows, struct arrow_rows *to) {
    *to = (struct arrow_rows){
        .schema = { .format = "+s", .name = "", .n_children = 2, .children = to->field_pointers, .release = release_schema },
        .fields = { { .format = "u", .name = "module", .flags = ARROW_FLAG_NULLABLE, .release = release_schema },
                    { .format = "L", .name = "address", .flags = ARROW_FLAG_NULLABLE, .release = release_schema } },
        .field_pointers = { &to->fields[0], &to->fields[1] },
        .array = { .length = rows->count, .n_buffers = 1, .buffers = to->buffers, .n_children = 2, .children = to->column_pointers,
                   .release = release_array },
        .columns = { { .length = rows->count, .null_count = -1, .n_buffers = 3, .buffers = to->module_buffers,
                       .release = release_array },
                     { .length = rows->count, .null_count = -1, .n_buffers = 2, .buffers = to->address_buffers,
                       .release = release_array } },
        .column_pointers = { &to->columns[0], &to->columns[1] },
        .module_buffers = { rows->has_module, rows->module_ends, rows->text },
        .address_buffers = { rows->has_address, rows->addresses },
    };
}

/* ---- answers ---- */

/* A utf8 column with a dictionary, as the library gives it. */
struct text_column {
    const uint8_t *validity;
    const int32_t *numbers, *ends;
    const char *text;
};

static struct text_column text_column_of(const struct ArrowArray *array) {
    return (struct text_column){ array->null_count ? array->buffers[0] : NULL, array->buffers[1], array->dictionary->buffers[1],
                                 array->dictionary->buffers[2] };
}

static bool text_at(const struct text_column *column, int64_t at, struct csn_str *out) {
    if (column->validity && !(column->validity[at / 8] >> at % 8 & 1)) return false;
    int32_t number = column->numbers[at];
    *out = (struct csn_str){ column->text + column->ends[number], (size_t)(column->ends[number + 1] - column->ends[number]) };
    return true;
}

static bool reserve_answer(struct udf_symbols *symbols, size_t size) {
    if (size <= symbols->capacity) return true;
    char *grown = realloc(symbols->answer, size * 2);
    if (!grown) return false;
    symbols->answer = grown;
    symbols->capacity = size * 2;
    return true;
}

/* A ';' within a name would make two of it. */
static bool append_name(struct udf_symbols *symbols, size_t *used, struct csn_str name) {
    if (!reserve_answer(symbols, *used + name.len + 1)) return false;
    if (*used) symbols->answer[(*used)++] = ';';
    for (size_t i = 0; i < name.len; i++) symbols->answer[*used + i] = name.ptr[i] == ';' ? ':' : name.ptr[i];
    *used += name.len;
    return true;
}

static bool make_reason(struct udf_symbols *symbols, struct csn_str reason, struct csn_str *out) {
    if (!reserve_answer(symbols, reason.len + 2)) return false;
    symbols->answer[0] = '[';
    memcpy(symbols->answer + 1, reason.ptr, reason.len);
    symbols->answer[reason.len + 1] = ']';
    *out = (struct csn_str){ symbols->answer, reason.len + 2 };
    return true;
}

struct answer_columns {
    const int32_t *frame_ends;
    struct text_column functions, reasons;
};

static bool make_names(struct udf_symbols *symbols, const struct answer_columns *columns, int64_t row, struct csn_str *out) {
    size_t used = 0;
    for (int32_t k = columns->frame_ends[row]; k < columns->frame_ends[row + 1]; k++) {
        struct csn_str name = CSN_STR("?");
        text_at(&columns->functions, k, &name);
        if (!append_name(symbols, &used, name)) return false;
    }
    *out = (struct csn_str){ symbols->answer, used };
    return true;
}

static struct csn_str base_name(struct csn_str path) {
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    return slash ? (struct csn_str){ slash + 1, path.len - (size_t)(slash + 1 - path.ptr) } : path;
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

/* Why the index of a module could not be opened. */
static const char *failure_of(const struct udf_symbols *symbols, const struct udf_rows *rows, uint32_t row) {
    struct csn_str module = { rows->text + rows->module_ends[row], (size_t)(rows->module_ends[row + 1] - rows->module_ends[row]) };
    for (size_t i = 0; i < symbols->failure_count; i++)
        if (same_text(base_name(module), base_name(symbols->failures[i].name))) return symbols->failures[i].text;
    return NULL;
}

static bool make_answer(struct udf_symbols *symbols, const struct udf_rows *rows, const struct answer_columns *columns,
                        uint32_t row, struct csn_str *out) {
    const char *fault = rows->faults[row];
    struct csn_str reason = CSN_STR("no function is known");
    if (!fault && columns->frame_ends[row] != columns->frame_ends[row + 1]) return make_names(symbols, columns, row, out);
    if (!fault && symbols->failure_count) fault = failure_of(symbols, rows, row);
    if (fault) reason = (struct csn_str){ fault, strlen(fault) };
    else text_at(&columns->reasons, row, &reason);
    return make_reason(symbols, reason, out);
}

static bool put_answers(struct udf_symbols *symbols, const struct udf_rows *rows, const struct ArrowArray *answers,
                        void (*put)(void *context, struct csn_str answer), void *context) {
    const struct ArrowArray *frames = answers->children[0], *frame = frames->children[0];
    const struct answer_columns columns = { frames->buffers[1], text_column_of(frame->children[0]),
                                            text_column_of(answers->children[1]) };
    for (uint32_t row = 0; row < rows->count; row++) {
        struct csn_str answer;
        if (!make_answer(symbols, rows, &columns, row, &answer)) return false;
        put(context, answer);
    }
    return true;
}

bool udf_answer_rows(struct udf_symbols *symbols, const struct udf_rows *rows,
                     void (*put)(void *context, struct csn_str answer), void *context) {
    struct arrow_rows given;
    struct ArrowSchema schema;
    struct ArrowArray answers;
    struct csn_error err = CSN_ERROR_INIT;
    if (!rows->count) return true;
    make_arrow_rows(rows, &given);
    csn_status status = csn_symbolicate_arrow(NULL, &given.schema, &given.array, &symbols->options, &schema, &answers, &err);
    if (status < 0) {
        cli_error_status(NULL, status, &err);
        return false;
    }
    bool good = put_answers(symbols, rows, &answers, put, context);
    answers.release(&answers);
    schema.release(&schema);
    if (!good) cli_error_memory("answers");
    return good;
}

/* The hooks by which sanitizers' run-time libraries have addresses named within the process, in place of llvm-symbolizer. They are
 * called under the sanitizer's lock, one at a time.
 *
 * This file is linked with the converter and sanitizer_libc.c into one object file, in which everything but the hooks is local and
 * no function of libc that a sanitizer intercepts is called (cmake/sanitizer.cmake). */
#include <stdbool.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/names.h>

#include "backtrace/symbols/own_symbols.h"
#include "base/core/alloc.h"
#include "base/core/format.h"
#include "sanitizer/sanitizer_stack.h"

#define HOOK __attribute__((visibility("default")))

HOOK bool __sanitizer_symbolize_code(const char *module_name, uint64_t module_offset, char *buffer, int max_length);
HOOK bool __sanitizer_symbolize_data(const char *module_name, uint64_t module_offset, char *buffer, int max_length);
HOOK bool __sanitizer_symbolize_frame(const char *module_name, uint64_t module_offset, char *buffer, int max_length);
HOOK void __sanitizer_symbolize_flush(void);
HOOK int __sanitizer_symbolize_demangle(const char *name, char *buffer, int max_length);
HOOK bool __sanitizer_symbolize_set_demangle(bool value);
HOOK bool __sanitizer_symbolize_set_inline_frames(bool value);

/* What is known of a module's file. */
struct known_module {
    struct known_module *next;
    struct csn_index *index;         /* NULL: none */
    struct csn_bytes converted;      /* under the index, if it was converted */
    struct csni_own_symbols symbols;
    bool has_symbols;                /* they were read */
    size_t size;                     /* of this block */
    char path[];
};

static struct known_module *modules;
static bool wants_demangled = true, wants_inlined = true;

/* ---- the index of a module ---- */

static void convert_file(struct known_module *module) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_companion_search *search = NULL;
    options.threads = 1;
    if (csn_companion_search_create(NULL, &search, NULL) == CSN_OK) {
        options.resolver = csn_companion_search_resolve;
        options.resolver_context = search;
    }
    if (csn_convert_file_to_memory(module->path, &options, &module->converted, NULL, NULL) == CSN_OK)
        (void)csn_index_open_memory(module->converted.ptr, module->converted.size, NULL, &module->index, NULL);
    csn_companion_search_destroy(search);
}

static void read_symbols(struct known_module *module) {
    if (!module->has_symbols) csni_own_symbols_open(&module->symbols, module->path, NULL);
    module->has_symbols = true;
}

/* An index of another build gives wrong names. */
static bool is_index_of(struct known_module *module, const struct csn_index *index) {
    struct csn_index_info info;
    struct csni_object *object;
    struct csni_file_map map;
    bool is_same = true;
    csn_index_get_info(index, &info, sizeof info);
    if (!info.uuid_size || csni_file_map_open(&map, module->path, NULL) != CSN_OK) return true;
    if (csni_object_open(map.bytes, NULL, &object, NULL) == CSN_OK) {
        size_t size = object->build_id.size < info.uuid_size ? object->build_id.size : info.uuid_size;
        is_same = !size || memcmp(object->build_id.ptr, info.uuid, size) == 0;
        csni_object_close(object);
    }
    csni_file_map_close(&map);
    return is_same;
}

static void open_beside(struct known_module *module) {
    char path[4096];
    size_t len = csni_format(path, sizeof path, "%s.gsym", module->path);
    if (len >= sizeof path || csn_index_open_file(path, NULL, &module->index, NULL) != CSN_OK ||
        is_index_of(module, module->index))
        return;
    csn_index_close(module->index);
    module->index = NULL;
}

static struct known_module *find_module(const char *path) {
    for (struct known_module *module = modules; module; module = module->next)
        if (strcmp(module->path, path) == 0) return module;
    size_t len = strlen(path) + 1, size = sizeof(struct known_module) + len;
    struct known_module *made = csni_alloc_zeroed(NULL, 1, size);
    if (!made) return NULL;
    made->size = size;
    memcpy(made->path, path, len);
    made->next = modules;
    modules = made;
    open_beside(made);
    if (!made->index && csn_index_open_embedded(made->path, NULL, &made->index, NULL) != CSN_OK) convert_file(made);
    return made;
}

/* ---- text ---- */

struct hook_text {
    char *out;
    size_t cap, len;         /* len may pass cap: then it does not fit */
};

static void put_bytes(struct hook_text *text, const char *bytes, size_t len) {
    if (text->len + len < text->cap) memcpy(text->out + text->len, bytes, len);
    text->len += len;
}

static void put_number(struct hook_text *text, const char *format, uint64_t number) {
    char digits[32];
    put_bytes(text, digits, csni_format(digits, sizeof digits, format, (unsigned long long)number));
}

static void put_name(struct hook_text *text, struct csn_str name) {
    size_t left = text->len < text->cap ? text->cap - text->len : 0, len = 0;
    csn_status status = wants_demangled ? csn_demangle(name, text->out + text->len, left, &len, NULL) : CSN_NONE;
    if (status == CSN_OK || status == CSN_E_LIMIT) text->len += len;
    else put_bytes(text, name.ptr, name.len);
    put_bytes(text, "\n", 1);
}

static bool finish_text(struct hook_text *text) {
    if (!text->cap) return false;
    text->out[text->len < text->cap ? text->len : 0] = 0;
    return text->len < text->cap;
}

/* ---- questions ---- */

struct hook_call {
    const char *name;        /* of the module, or to demangle */
    uint64_t offset;
    struct hook_text text;
    int result;
};

static void put_frame(struct hook_text *text, const struct csn_frame *frame) {
    put_name(text, frame->name);
    if (frame->base.len) {
        size_t left = text->len < text->cap ? text->cap - text->len : 0;
        text->len += csn_frame_path(frame, left ? text->out + text->len : NULL, left);
        put_number(text, ":%llu", frame->line);
        put_bytes(text, ":0\n", 3);
    } else {
        put_bytes(text, "??:0:0\n", 7);
    }
}

static void answer_code(void *given) {
    struct hook_call *call = given;
    struct csn_frame frames[CSN_INLINE_DEPTH_MAX + 1];
    size_t count = 0, cap = sizeof frames / sizeof *frames;
    struct known_module *module = find_module(call->name);
    if (!module || !module->index ||
        csn_index_lookup(module->index, call->offset, frames, cap, &count, NULL) != CSN_OK || !count)
        return;
    for (size_t i = 0; i < count && i < (wants_inlined ? cap : 1); i++) put_frame(&call->text, &frames[i]);
    put_bytes(&call->text, "\n", 1);
    call->result = finish_text(&call->text);
}

static void answer_data(void *given) {
    struct hook_call *call = given;
    struct known_module *module = find_module(call->name);
    if (!module) return;
    read_symbols(module);
    const struct csni_own_symbol *symbol = csni_own_symbols_find(&module->symbols, call->offset);
    if (!symbol) return;
    put_name(&call->text, (struct csn_str){ symbol->name, strlen(symbol->name) });
    put_number(&call->text, "%llu ", symbol->addr);
    put_number(&call->text, "%llu\n", symbol->size);
    call->result = finish_text(&call->text);
}

/* Older run-time libraries take the result as the length that is needed, newer ones as whether it was a mangled name: it is a
 * number above max_length where the buffer is too small, with a low byte that is not 0, and else 0 or 1. */
static void answer_demangle(void *given) {
    struct hook_call *call = given;
    struct csn_str name = { call->name, strlen(call->name) };
    size_t len = 0;
    csn_status status = csn_demangle(name, call->text.out, call->text.cap, &len, NULL);
    call->result = 1;
    if (status != CSN_OK && status != CSN_E_LIMIT) {
        len = name.len;
        if (len < call->text.cap) memcpy(call->text.out, name.ptr, len + 1);
        call->result = 0;
    }
    if (len >= call->text.cap && len < 1 << 30) call->result = (int)(len + 1) | 1;
}

static int run_call(void answer(void *), const char *name, uint64_t offset, char *buffer, int max_length) {
    struct hook_call call = { name, offset, { buffer, max_length > 0 ? (size_t)max_length : 0, 0 }, 0 };
    if (name && buffer && max_length > 0) csni_sanitizer_run(answer, &call);
    return call.result;
}

bool __sanitizer_symbolize_code(const char *module_name, uint64_t module_offset, char *buffer, int max_length) {
    return run_call(answer_code, module_name, module_offset, buffer, max_length) != 0;
}

bool __sanitizer_symbolize_data(const char *module_name, uint64_t module_offset, char *buffer, int max_length) {
    return run_call(answer_data, module_name, module_offset, buffer, max_length) != 0;
}

/* The variables of a stack frame: an index holds none. False: the report goes on without them. */
bool __sanitizer_symbolize_frame(const char *module_name, uint64_t module_offset, char *buffer, int max_length) {
    (void)module_name, (void)module_offset, (void)buffer, (void)max_length;
    return false;
}

void __sanitizer_symbolize_flush(void) {
    for (struct known_module *next; modules; modules = next) {
        next = modules->next;
        csn_index_close(modules->index);
        csn_bytes_free(&modules->converted);
        if (modules->has_symbols) csni_own_symbols_close(&modules->symbols);
        csni_free(NULL, modules, modules->size);
    }
}

int __sanitizer_symbolize_demangle(const char *name, char *buffer, int max_length) {
    return run_call(answer_demangle, name, 0, buffer, max_length);
}

bool __sanitizer_symbolize_set_demangle(bool value) {
    wants_demangled = value;
    return true;
}

bool __sanitizer_symbolize_set_inline_frames(bool value) {
    wants_inlined = value;
    return true;
}

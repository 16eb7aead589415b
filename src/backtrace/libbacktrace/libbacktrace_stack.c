/* Stacks and frames by libbacktrace's interface. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unwind.h>

#include "backtrace/libbacktrace/libbacktrace_private.h"
#include "base/core/file_map.h"

/* ---- texts with a NUL ---- */

enum { TEXT_SIZE = 1024, REFS_AT_ONCE = 16 };

/* Short texts on the stack; long ones in pages from the kernel, since a signal handler may not call malloc. */
struct held_text {
    size_t mapped;
    char *text;
    char bytes[TEXT_SIZE];
};

static char *hold_text(struct held_text *held, size_t len) {
    held->mapped = len < TEXT_SIZE ? 0 : len + 1;
    held->text = held->mapped ? csni_pages_alloc(held->mapped) : held->bytes;
    if (held->text) held->text[len] = 0;
    return held->text;
}

static void release_text(struct held_text *held) {
    if (held->mapped) csni_pages_free(held->text, held->mapped);
}

static const char *hold_name(struct held_text *held, struct csn_str name) {
    char *text = name.len ? hold_text(held, name.len) : NULL;
    return text ? memcpy(text, name.ptr, name.len) : NULL;
}

static const char *hold_path(struct held_text *held, const struct csn_frame *frame) {
    if (!frame->base.len) return NULL;
    size_t len = csn_frame_path(frame, NULL, 0);
    char *text = hold_text(held, len);
    if (text) csn_frame_path(frame, text, len + 1);
    return text;
}

/* ---- one pc ---- */

struct frame_call {
    backtrace_full_callback callback;
    void *data;
    uintptr_t pc;
};

static int report_frame(const struct frame_call *call, const struct csn_frame *frame) {
    struct held_text name = { .mapped = 0 }, path = { .mapped = 0 };
    const char *function = hold_name(&name, frame->name), *file = hold_path(&path, frame);
    int result = call->callback(call->data, call->pc, file, file ? (int)frame->line : 0, function);
    release_text(&name);
    release_text(&path);
    return result;
}

static int report_frames(const struct frame_call *call, const struct csn_index *index, const struct csn_frame_ref *refs,
                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct csn_frame frame;
        csn_index_resolve(index, &refs[i], &frame);
        int result = report_frame(call, &frame);
        if (result) return result;
    }
    return 0;
}

/* Deeper inlining than the usual takes pages from the kernel. */
static int report_deep(const struct frame_call *call, const struct csn_backtrace_module *module, size_t count) {
    size_t size = count * sizeof(struct csn_frame_ref);
    struct csn_frame_ref *refs = csni_pages_alloc(size);
    struct csn_lookup found;
    int result = 0;
    if (!refs) return call->callback(call->data, call->pc, NULL, 0, NULL);
    if (csn_index_lookup_refs(module->index, call->pc - module->bias, CSN_LOOKUP_DEFAULT, refs, count, &found, NULL) == CSN_OK)
        result = report_frames(call, module->index, refs, count);
    csni_pages_free(refs, size);
    return result;
}

int backtrace_pcinfo(struct backtrace_state *state, uintptr_t pc, backtrace_full_callback callback,
                     backtrace_error_callback error_callback, void *data) {
    const struct frame_call call = { callback, data, pc };
    const struct csn_backtrace_module *module = csni_libbacktrace_module(state, pc);
    struct csn_frame_ref refs[REFS_AT_ONCE];
    struct csn_lookup found;
    (void)error_callback;
    if (!module || !module->index
        || csn_index_lookup_refs(module->index, pc - module->bias, CSN_LOOKUP_DEFAULT, refs, REFS_AT_ONCE, &found, NULL) != CSN_OK
        || !found.frame_count)
        return callback(data, pc, NULL, 0, NULL);
    if (found.frame_count > REFS_AT_ONCE) return report_deep(&call, module, found.frame_count);
    return report_frames(&call, module->index, refs, found.frame_count);
}

/* ---- the own stack ---- */

struct stack_walk {
    int skip;
    int result;
    struct backtrace_state *state;   /* NULL: pcs alone */
    backtrace_full_callback full;
    backtrace_simple_callback simple;
    backtrace_error_callback error;
    void *data;
};

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *given) {
    struct stack_walk *walk = given;
    int is_exact = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &is_exact);
    if (walk->skip > 0) {
        walk->skip--;
        return _URC_NO_REASON;
    }
    if (!is_exact) pc--;
    walk->result = walk->state ? backtrace_pcinfo(walk->state, pc, walk->full, walk->error, walk->data)
                               : walk->simple(walk->data, pc);
    return walk->result ? _URC_END_OF_STACK : _URC_NO_REASON;
}

__attribute__((noinline)) int backtrace_full(struct backtrace_state *state, int skip, backtrace_full_callback callback,
                                             backtrace_error_callback error_callback, void *data) {
    struct stack_walk walk = { .skip = skip + 1, .state = state, .full = callback, .error = error_callback, .data = data };
    _Unwind_Backtrace(visit_frame, &walk);
    return walk.result;
}

__attribute__((noinline)) int backtrace_simple(struct backtrace_state *state, int skip, backtrace_simple_callback callback,
                                               backtrace_error_callback error_callback, void *data) {
    struct stack_walk walk = { .skip = skip + 1, .simple = callback, .error = error_callback, .data = data };
    (void)state;
    _Unwind_Backtrace(visit_frame, &walk);
    return walk.result;
}

/* ---- printing ---- */

struct print_call {
    struct backtrace_state *state;
    FILE *file;
};

static void print_symbol(void *data, uintptr_t pc, const char *symname, uintptr_t symval, uintptr_t symsize) {
    struct print_call *print = data;
    (void)symsize;
    if (symname) fprintf(print->file, "0x%lx ???\n\t%s+0x%lx:0\n", (unsigned long)pc, symname, (unsigned long)(pc - symval));
    else fprintf(print->file, "0x%lx ???\n\t???:0\n", (unsigned long)pc);
}

static void print_error(void *data, const char *msg, int errnum) {
    (void)data;
    fprintf(stderr, "libbacktrace: %s%s%s\n", msg, errnum > 0 ? ": " : "", errnum > 0 ? strerror(errnum) : "");
}

static int print_frame(void *data, uintptr_t pc, const char *filename, int lineno, const char *function) {
    struct print_call *print = data;
    if (!function && !filename) {
        backtrace_syminfo(print->state, pc, print_symbol, print_error, data);
        return 0;
    }
    fprintf(print->file, "0x%lx %s\n\t%s:%d\n", (unsigned long)pc, function ? function : "???",
            filename ? filename : "???", lineno);
    return 0;
}

__attribute__((noinline)) void backtrace_print(struct backtrace_state *state, int skip, FILE *file) {
    struct print_call print = { state, file };
    backtrace_full(state, skip + 1, print_frame, print_error, &print);
}

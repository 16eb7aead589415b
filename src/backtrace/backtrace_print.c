/* Looking up and printing, in a signal handler too. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backtrace/backtrace_private.h"
#include "base/core/file_map.h"
#include "base/core/format.h"

csn_status csn_backtrace_lookup(const struct csn_backtrace *backtrace, uint64_t pc, struct csn_frame *frames, size_t cap,
                                size_t *out_count, struct csn_error *err) {
    const struct csn_backtrace_module *module = csn_backtrace_find_module(backtrace, pc);
    if (!module || !module->index) return CSN_NONE;
    return csn_index_lookup(module->index, pc - module->bias, frames, cap, out_count, err);
}

/* ---- printing ---- */

enum { LINE_SIZE = 512, NAME_SIZE = 1024, REFS_AT_ONCE = 8 };

struct printer {
    int fd;
    unsigned number;
    size_t used;
    char line[LINE_SIZE];
};

static void write_out(struct printer *out) {
    const char *at = out->line;
    while (out->used) {
        ssize_t written = write(out->fd, at, out->used);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        at += written;
        out->used -= (size_t)written;
    }
    out->used = 0;
}

static void put_text(struct printer *out, const char *text, size_t len) {
    while (len) {
        if (out->used == LINE_SIZE) write_out(out);
        size_t part = LINE_SIZE - out->used < len ? LINE_SIZE - out->used : len;
        memcpy(out->line + out->used, text, part);
        out->used += part;
        text += part;
        len -= part;
    }
}

static void put_str(struct printer *out, struct csn_str text) { put_text(out, text.ptr, text.len); }

static void put_number(struct printer *out, const char *format, uint64_t number) {
    char text[24];
    size_t len = csni_format(text, sizeof text, format, (unsigned long long)number);
    put_text(out, text, len < sizeof text ? len : sizeof text - 1);
}

static void put_path(struct printer *out, const struct csn_frame *frame) {
    char last = frame->directory.len ? frame->directory.ptr[frame->directory.len - 1] : '/';
    put_str(out, frame->directory);
    if (last != '/' && last != '\\') put_text(out, memchr(frame->directory.ptr, '/', frame->directory.len) ? "/" : "\\", 1);
    put_str(out, frame->base);
}

static void put_head(struct printer *out, uint64_t pc) {
    put_text(out, "    #", 5);
    put_number(out, "%llu", out->number++);
    put_number(out, " 0x%llx", pc);
}

/* A name that the callback changes is put through a buffer, and cut; others have any length. Not inlined: who has no callback
 * needs no stack for the buffer. */
__attribute__((noinline)) static void put_changed_name(struct printer *out, const struct csn_index *index,
                                                       const struct csn_frame *frame) {
    char name[NAME_SIZE];
    size_t len = csn_index_frame_name(index, frame, name, sizeof name);
    put_text(out, name, len < sizeof name ? len : strlen(name));
}

static void put_frame(struct printer *out, const struct csn_backtrace *backtrace, const struct csn_index *index, uint64_t pc,
                      const struct csn_frame *frame) {
    put_head(out, pc);
    put_text(out, " in ", 4);
    if (backtrace->options.demangle) put_changed_name(out, index, frame);
    else put_str(out, frame->name);
    put_text(out, " ", 1);
    if (frame->base.len) {
        put_path(out, frame);
        if (frame->line) put_number(out, ":%llu", frame->line);
    }
}

static void put_module(struct printer *out, const struct csn_backtrace_module *module, uint64_t pc) {
    put_text(out, " (", 2);
    put_text(out, module->path, strlen(module->path));
    put_number(out, "+0x%llx)", pc - module->bias);
    if (!module->build_id_size) return;
    put_text(out, " (BuildId: ", 11);
    for (size_t i = 0; i < module->build_id_size; i++) put_number(out, "%02llx", module->build_id[i]);
    put_text(out, ")", 1);
}

/* What one pc is. */
struct print_place {
    const struct csn_backtrace *backtrace;
    const struct csn_backtrace_module *module;
    uint64_t pc;
};

static void put_frames(struct printer *out, const struct print_place *place, const struct csn_frame_ref *refs, size_t count) {
    const struct csn_index *index = place->module->index;
    for (size_t i = 0; i < count; i++) {
        struct csn_frame frame;
        csn_index_resolve(index, &refs[i], &frame);
        put_frame(out, place->backtrace, index, place->pc, &frame);
        if (!frame.base.len) put_module(out, place->module, place->pc);
        put_text(out, "\n", 1);
    }
}

static bool lookup_place(const struct print_place *place, struct csn_frame_ref *refs, size_t cap, size_t *out_count) {
    struct csn_lookup found;
    csn_status status = csn_index_lookup_refs(place->module->index, place->pc - place->module->bias, CSN_LOOKUP_DEFAULT, refs, cap,
                                              &found, NULL);
    *out_count = found.frame_count;
    return status == CSN_OK && found.frame_count;
}

/* References take less stack than frames; many inlined calls take pages from the kernel. */
static bool put_answer(struct printer *out, const struct print_place *place) {
    struct csn_frame_ref few[REFS_AT_ONCE], *refs = few;
    size_t count, again;
    if (!lookup_place(place, few, REFS_AT_ONCE, &count)) return false;
    if (count > REFS_AT_ONCE) {
        size_t size = count * sizeof *refs;
        refs = csni_pages_alloc(size);
        if (refs && lookup_place(place, refs, count, &again)) put_frames(out, place, refs, again < count ? again : count);
        csni_pages_free(refs, size);
        return refs;
    }
    put_frames(out, place, refs, count);
    return true;
}

static void put_pc(struct printer *out, const struct csn_backtrace *backtrace, uint64_t pc) {
    const struct csn_backtrace_module *module = backtrace ? csn_backtrace_find_module(backtrace, pc) : NULL;
    const struct print_place place = { backtrace, module, pc };
    if (module && module->index && put_answer(out, &place)) return;
    put_head(out, pc);
    if (module) {
        put_text(out, " ", 1);
        put_module(out, module, pc);
    }
    put_text(out, "\n", 1);
}

void csn_backtrace_print(const struct csn_backtrace *backtrace, const uint64_t *pcs, size_t count, int fd) {
    struct printer out = { .fd = fd };
    int before = errno;
    for (size_t i = 0; i < count; i++) put_pc(&out, backtrace, pcs[i]);
    write_out(&out);
    errno = before;
}

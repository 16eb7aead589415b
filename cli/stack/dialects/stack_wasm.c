/* WebAssembly frames of wasmtime, V8 (Chromium, Node) and SpiderMonkey (Firefox). They print offsets in the module's file.
 *
 *         0:     0x56 - orders.wasm!parse_line                                                 wasmtime
 *         at orders.wasm.parse_line (wasm://wasm/orders.wasm-ed40c39e:wasm-function[0]:0x58)    V8
 *         at wasm://wasm/2e364d8e:wasm-function[0]:0x58
 *     parse_line@http://localhost/orders.wasm:wasm-function[0]:0x58                             SpiderMonkey
 *     orders.wasm.parse_line@page.js line 2 > WebAssembly.Module:wasm-function[0]:0x58
 *
 * Indexes count from the content of the code section (docs/formats/wasm.md): where that begins is read from the module, if it was
 * given or lies beside its index. */
#include <stdio.h>

#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/session/stack_session.h"

enum { WASM_FILES = 4096 }; /* of which those that nobody gives are not touched */
struct wasm_state {
    const struct stack_session *session;
    struct csn_str given;        /* the only index; empty: not the only one */
    struct wasm_code {
        struct csn_str module;   /* its name, without ".wasm": in the session's list */
        uint64_t start;          /* of the code section's content in the file; 0: not a module */
    } files[WASM_FILES];
    uint32_t count;
    bool files_read;
};

static bool read_leb(FILE *file, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        int byte = getc(file);
        if (byte == EOF) return false;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* Where the content of the code section begins. 0: there is none. */
static uint64_t find_code(FILE *file) {
    enum { CODE = 10, SECTIONS_MAX = 10000 };
    static const char magic[8] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };
    char head[8];
    if (fread(head, 1, sizeof(head), file) != sizeof(head) || memcmp(head, magic, sizeof(head)) != 0) return 0;
    for (unsigned i = 0; i < SECTIONS_MAX; i++) {
        int id = getc(file);
        uint64_t size;
        if (id == EOF || !read_leb(file, &size) || size > INT32_MAX) return 0;
        if (id == CODE) return (uint64_t)ftell(file);
        if (fseek(file, (long)size, SEEK_CUR) != 0) return 0;
    }
    return 0;
}

static struct csn_str without_suffix(struct csn_str name, const char *suffix) {
    size_t size = strlen(suffix);
    if (name.len > size && memcmp(name.ptr + name.len - size, suffix, size) == 0) name.len -= size;
    return name;
}

static struct csn_str module_name(struct csn_str path) { return without_suffix(base_name_of(path), ".wasm"); }

/* FILE, or NAME=FILE, which is for modules of that name, whatever the file's is. */
static void add_wasm_file(struct wasm_state *wasm, const char *text) {
    const char *path = index_option_path(text);
    const struct csn_str name = { text, path == text ? strlen(text) : (size_t)(path - 1 - text) };
    if (wasm->count == WASM_FILES) return;
    FILE *file = fopen(path, "rb");
    uint64_t start = file ? find_code(file) : 0;
    if (file) fclose(file);
    if (start) wasm->files[wasm->count++] = (struct wasm_code){ module_name(name), start };
}

static void init_wasm(void *state, const struct stack_session *session) {
    struct wasm_state *wasm = state;
    wasm->session = session;
    if (csn_store_given_count(session->store) == 1) wasm->given = csn_store_given_name(session->store, 0);
}

/* When the first frame of WebAssembly is met: other logs need no second look at their indexes. */
static void read_wasm_files(struct wasm_state *wasm) {
    const struct stack_session *session = wasm->session;
    if (wasm->files_read) return;
    wasm->files_read = true;
    for (size_t i = 0; session->files && i < session->files->count; i++) add_wasm_file(wasm, session->files->items[i]);
}

/* "orders.wasm-ed40c39e" is called orders.wasm; "2e364d8e" has no name, and so has the caller of the compiler in
 * "page.js line 2 > WebAssembly.Module". */
static struct csn_str module_of_url(struct csn_str url) {
    enum { HASH = 8 };
    static const char compiler[] = "WebAssembly.";
    struct csn_str name = base_name_of(url);
    if (name.len >= sizeof(compiler) - 1 && memcmp(name.ptr, compiler, sizeof(compiler) - 1) == 0)
        return (struct csn_str){ name.ptr, 0 };
    size_t digits = 0;
    while (digits < name.len && scan_digit_value(name.ptr[name.len - 1 - digits]) < 16) digits++;
    if (digits == HASH && name.len == HASH) name.len = 0;
    else if (digits == HASH && name.ptr[name.len - 1 - HASH] == '-') name.len -= HASH + 1;
    return name;
}

/* "wasm://wasm/2e364d8e:wasm-function[0]:0x58" */
static bool read_url(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t function, close;
    if (!scan_find(&s, ":wasm-function[", &function)) return false;
    size_t from = function;
    while (from && !strchr(" \t(@", line.ptr[from - 1])) from--;
    s.at = function;
    if (!scan_find(&s, "]:", &close)) return false;
    s.at = close + 2;
    if (!scan_hex(&s, &out->value)) return false;
    out->module = module_of_url((struct csn_str){ line.ptr + from, function - from });
    return true;
}

/* "0:     0x56 - orders.wasm!parse_line"; in "<! as core::fmt::Debug>::fmt" and "FnOnce<fn() -> !>" of Rust, '!' is a type. */
static bool read_wasmtime(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t mark;
    scan_blanks(&s);
    if (!scan_number(&s, 10, &out->number) || !scan_text(&s, ": ") || (scan_blanks(&s), !scan_hex(&s, &out->value))) return false;
    if (!scan_text(&s, " - ") || !scan_find(&s, "!", &mark) || strchr(" <([&,", line.ptr[mark - 1])) return false;
    out->module = (struct csn_str){ line.ptr + s.at, mark - s.at };
    if (out->module.ptr[0] == '<') out->module.len = 0;
    return true;
}

static enum line_kind read_wasm_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                     struct line_frame *out) {
    struct wasm_state *wasm = state;
    (void)modules;
    if (!read_url(line, out) && !read_wasmtime(line, out)) {
        struct line_scan s = scan_on(line);
        return open && scan_blanks(&s) && scan_text(&s, "at ") ? KIND_INSIDE : KIND_NONE;
    }
    read_wasm_files(wasm);
    if (!out->module.len) out->module = wasm->given;
    out->site = out->module.len ? SITE_ADDRESS : SITE_PC;
    out->flags = CSN_STACK_BEFORE;
    out->fill_at = out->fill_end = line.len;
    return KIND_FRAME;
}

/* A single module serves all. */
static bool wasm_address(void *state, struct stack_session *session, const struct line_frame *frame, uint32_t module,
                         uint64_t *out) {
    const struct wasm_state *wasm = state;
    const struct csn_str name = module_name(frame->module);
    *out = frame->value; /* shown as it came */
    if (!session_index(session, module)) return true;
    for (uint32_t i = 0; i < wasm->count; i++) {
        const struct csn_str own = wasm->files[i].module;
        bool same = own.len == name.len && memcmp(own.ptr, name.ptr, name.len) == 0;
        if (!same && wasm->count != 1) continue;
        *out = frame->value - wasm->files[i].start;
        return true;
    }
    *out = UINT64_MAX;
    return true;
}

const struct stack_dialect wasm_dialect = { .name = "wasm", .marks = { MARK_WASM | MARK_HEX, MARK_NUMBER | MARK_HEX },
                                            .state_size = sizeof(struct wasm_state), .init = init_wasm, .read = read_wasm_line,
                                            .address = wasm_address, .fill = fill_line_in_brackets };

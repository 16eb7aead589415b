/* llvm-symbolizer and llvm-addr2line 22: requests and modules. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_symbolizer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/answers/kept_answers.h"
#include "stand_ins/answers/recent_answers.h"
#include "stand_ins/base/ahead_input.h"
#include "stand_ins/base/answer_output.h"
#include "stand_ins/base/captured_output.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_number.h"
#include "stand_ins/llvm_symbolizer/llvm_markup.h"
#include "stand_ins/llvm_symbolizer/llvm_options.h"
#include "stand_ins/llvm_symbolizer/llvm_session.h"

enum { LINE_BYTES = 1024 }; /* of standard input, as the tool reads it */

enum query_kind { COMMAND_CODE, COMMAND_DATA, COMMAND_FRAME };

/* A request, as it was understood. */
struct query {
    enum query_kind command;
    char *module;            /* NULL: none yet */
    bool is_build_id;
    char *symbol;            /* NULL: an address */
    uint64_t offset;
};

/* ---- reading a request ---- */

static bool consume(const char **text, const char *prefix) {
    size_t size = strlen(prefix);
    if (strncmp(*text, prefix, size) != 0) return false;
    *text += size;
    return true;
}

static const char *skip_blanks(const char *text) {
    while (isspace((unsigned char)*text)) text++;
    return text;
}

/* A name in quotes, or up to a blank. Empty: there is none. */
static char *read_name(const char **text) {
    const char *p = skip_blanks(*text);
    if (*p == '"' || *p == '\'') {
        const char *end = strchr(p + 1, *p);
        if (!end) return copy_text("", 0);
        *text = end + 1;
        return copy_text(p + 1, (size_t)(end - p - 1));
    }
    size_t size = strcspn(p, " \n\r");
    *text = p + size;
    return copy_text(p, size);
}

static bool is_hex_text(const char *text) { return *text && strspn(text, "0123456789abcdefABCDEF") == strlen(text); }

/* NULL: the module was read, or the command line gave it; else what is wrong. */
static const char *read_module(const struct llvm_options *o, const char **text, struct query *q) {
    bool has_file = false, has_id = false;
    const bool given = o->object || o->build_id;
    for (;;) {
        const char *p = skip_blanks(*text);
        bool file = consume(&p, "FILE:");
        if (!file && !consume(&p, "BUILDID:")) break;
        if (has_file || has_id) return "duplicate input file specification prefix";
        *(file ? &has_file : &has_id) = true;
        *text = p;
    }
    if (given && !has_file && !has_id) return NULL;
    if ((has_file || has_id) && !*skip_blanks(*text))
        return has_file ? "must be followed by an input file" : "must be followed by a hash";
    if (given) return "input file has already been specified";
    const char *name = skip_blanks(*text);
    const char *end = has_file && (*name == '"' || *name == '\'') ? strchr(name + 1, *name) : name;
    if (!end || end == name + 1) return "unbalanced quotes in input file name"; /* LLVM says so of an empty name, too */
    q->module = read_name(text);
    if (has_id) {
        q->is_build_id = true;
        return is_hex_text(q->module) ? NULL : "wrong format of build-id";
    }
    return *q->module ? NULL : "no input filename has been specified";
}

/* "SYMBOL+OFFSET", where the offset is a number; else all is a symbol. */
static void read_symbol(const char *text, size_t size, struct query *q) {
    const char *plus = memrchr(text, '+', size);
    size_t before = plus ? (size_t)(plus - text) : 0;
    if (plus && before && before + 1 < size && llvm_read_number(plus + 1, size - before - 1, false, &q->offset)) size = before;
    else q->offset = 0;
    q->symbol = copy_text(text, size);
}

static const char *read_query(const struct llvm_options *o, const char *text, struct query *q) {
    *q = (struct query){ 0 };
    if (consume(&text, "DATA ")) q->command = COMMAND_DATA;
    else if (consume(&text, "FRAME ")) q->command = COMMAND_FRAME;
    else consume(&text, "CODE ");
    const char *problem = read_module(o, &text, q);
    if (problem) return problem;
    text = skip_blanks(text);
    size_t all = strlen(text), size = strcspn(text, " \n\r");
    while (all && isspace((unsigned char)text[all - 1])) all--;
    if (size > all) size = all;
    if (!size) return "no module offset has been specified";
    bool starts_with_digit = isdigit((unsigned char)*text);
    const char *digits = text;
    const bool has_plus = o->is_addr2line && *text == '+';
    if (o->is_addr2line && size > 1U + has_plus && digits[has_plus] == '0' && strchr("xX", digits[has_plus + 1])) digits += has_plus + 2;
    size_t digit_count = size - (size_t)(digits - text);
    if (llvm_read_number(digits, digit_count, o->is_addr2line, &q->offset)) return NULL;
    if (starts_with_digit || !digit_count) return "expected a number as module offset";
    read_symbol(text, size, q);
    return NULL;
}

/* ---- answering ---- */

/* What is at a symbol. */
static struct llvm_frame find_place(const struct llvm_open_module *found, struct llvm_module *m,
                                    const struct llvm_request *request, uint64_t addr) {
    if (!found->gsym) return llvm_find_code(m, request, addr);
    struct llvm_frames frames = llvm_gsym_find(found->gsym, request, addr, true);
    const struct llvm_frame place = frames.items[0];
    free(frames.items);
    return place;
}

static void print_places(struct llvm_session *s, const struct llvm_asked *asked, const struct llvm_open_module *open,
                         struct llvm_module *m, uint64_t offset) {
    struct llvm_frames places = { 0 };
    struct llvm_request request = s->request;
    request.skip_line_zero = false; /* LLVM looks for places of symbols without it */
    for (size_t i = 0; m && i < m->all_symbols.count; i++) {
        const struct llvm_symbol *symbol = &m->all_symbols.items[i];
        bool is_kept = i + 1 == m->all_symbols.count || m->all_symbols.items[i + 1].addr != symbol->addr;
        if (!is_kept || strcmp(symbol->name, asked->symbol) != 0) continue;
        struct llvm_frame found = find_place(open, m, &request, symbol->addr + (offset < symbol->size ? offset : 0));
        if (found.file) GROW_PUSH(&places, found);
        else llvm_frame_free(&found);
    }
    llvm_print_places(&s->printer, asked, &places);
    llvm_frames_free(&places);
}

/* The frames of an address: of the index, where there is one that has it. *message: the object cannot be opened. */
static struct llvm_frames find_frames(struct llvm_session *s, struct llvm_open_module *found, uint64_t addr, const char **message) {
    struct llvm_frames frames = { 0 };
    const bool innermost = !s->options->inlines && s->options->style != LLVM_STYLE_GNU;
    if (!found) return frames;
    const bool is_kept = llvm_index_exists(found->index);
    const bool is_found = llvm_index_find(found->index, &s->request, addr, innermost, &frames);
    s->is_repeatable = is_found;
    if (is_kept && is_found) return frames;
    struct llvm_module *m = llvm_session_open(s, found, message);
    if (m && found->gsym) {
        llvm_frames_free(&frames);
        return llvm_gsym_find(found->gsym, &s->request, addr, innermost);
    }
    if (m && !is_found && innermost) {
        const struct llvm_frame frame = llvm_find_code(m, &s->request, addr);
        GROW_PUSH(&frames, frame);
    } else if (m && !is_found) {
        frames = llvm_find_inlined(m, &s->request, addr);
    }
    llvm_index_count(found->index, m);
    return frames;
}

static void print_code(struct llvm_session *s, const struct llvm_asked *asked, struct llvm_frames frames) {
    const bool one = !s->options->inlines;
    if (one && frames.count) {
        llvm_print_frame(&s->printer, asked, &frames.items[0]);
    } else if (one) {
        const struct llvm_frame none = { 0 };
        llvm_print_frame(&s->printer, asked, &none);
    } else {
        llvm_print_frames(&s->printer, asked, &frames);
    }
    llvm_frames_free(&frames);
}

static void answer(struct llvm_session *s, const struct query *q, const struct llvm_asked *asked, struct llvm_open_module *found) {
    uint64_t addr = q->offset - s->options->adjust_vma;
    const char *message = NULL;
    const bool is_code = q->command == COMMAND_CODE && !q->symbol, has_index = found && llvm_index_exists(found->index);
    struct llvm_module *m = !found || (is_code && has_index) ? NULL : llvm_session_open(s, found, &message);
    if (m && s->options->relative_address && m->object.container == CSN_CONTAINER_PE) addr += m->object.image_base;
    struct llvm_frames frames = { 0 };
    if (is_code) frames = find_frames(s, found, addr, &message);
    if (message && !llvm_print_error(&s->printer, asked, message)) return;
    if (q->command == COMMAND_DATA) {
        struct llvm_global global = { 0 };
        struct llvm_request request = s->request;
        request.no_variables = found && found->gsym; /* which has none */
        if (m) global = llvm_find_data(m, &request, addr);
        llvm_print_global(&s->printer, asked, &global);
        llvm_global_free(&global);
    } else if (q->command == COMMAND_FRAME) {
        struct llvm_locals locals = { 0 };
        if (m && !found->gsym) locals = llvm_find_locals(m, addr);
        llvm_print_locals(&s->printer, asked, &locals);
        llvm_locals_free(&locals);
    } else if (q->symbol) {
        print_places(s, asked, found, m, q->offset);
    } else {
        print_code(s, asked, frames);
    }
}

static void print_unknown(struct llvm_session *s, const char *module) {
    const struct llvm_asked asked = { .module = module };
    const struct llvm_frame none = { 0 };
    llvm_print_frame(&s->printer, &asked, &none);
}

static void answer_request(struct llvm_session *s, const char *text) {
    struct query q;
    const struct llvm_options *o = s->options;
    const char *problem = read_query(o, text, &q), *message = NULL;
    const char *name = q.module ? q.module : o->object ? o->object : o->build_id ? o->build_id : "";
    if (problem) {
        if (!*text || q.is_build_id) name = ""; /* as LLVM: it has not come to a module */
        if (*text) llvm_print_message(&s->printer, text, problem);
        print_unknown(s, name);
        if (o->style == LLVM_STYLE_GNU) s->last_addr = 0;
    } else {
        bool is_id = q.module ? q.is_build_id : !o->object && o->build_id;
        char *shown = is_id ? llvm_build_id_text(name) : copy_text(name, strlen(name));
        const struct llvm_asked asked = { .module = shown, .addr = q.symbol ? s->last_addr : q.offset,
                                          .has_addr = !q.symbol, .symbol = q.symbol,
                                          .has_stale_addr = q.symbol && q.command != COMMAND_CODE };
        if (!q.symbol) s->last_addr = q.offset;
        struct llvm_open_module *found =
            is_id ? llvm_session_find_build_id(s, shown, &message) : llvm_session_find(s, shown, &message);
        if (!message || llvm_print_error(&s->printer, &asked, message)) answer(s, &q, &asked, found);
        free(shown);
    }
    free(q.module);
    free(q.symbol);
}

/* Whether a request is an address of the only object and no more. */
static bool is_address(const struct llvm_options *o, const char *line, uint64_t *out) {
    const bool has_prefix = o->is_addr2line && line[0] == '0' && (line[1] == 'x' || line[1] == 'X');
    const char *digits = line + (has_prefix ? 2 : 0);
    return isdigit((unsigned char)*line) && llvm_read_number(digits, strlen(digits), o->is_addr2line, out);
}

/* False: the only object cannot be opened, which is printed. */
static bool open_object(struct llvm_session *s) {
    const struct llvm_asked asked = { .module = s->options->object, .has_addr = true };
    const char *message = NULL;
    if (!s->options->object) return true;
    (void)llvm_session_find(s, s->options->object, &message);
    if (message) llvm_print_error(&s->printer, &asked, message);
    return !message;
}

/* Tells the module of the command line which addresses follow `first`. */
static void expect_addresses(struct llvm_session *s, struct ahead_input *in, uint64_t first) {
    struct { uint64_t *items; size_t count, capacity; } addrs = { 0 };
    char line[LINE_BYTES];
    uint64_t addr;
    struct ahead_lines lines = ahead_input_lines(in);
    if (lines.next) GROW_PUSH(&addrs, first - s->options->adjust_vma);
    while (ahead_lines_next(&lines, line, sizeof line))
        if (is_address(s->options, line, &addr)) GROW_PUSH(&addrs, addr - s->options->adjust_vma);
    llvm_index_expect(s->modules.items[0]->index, addrs.items, addrs.count);
    free(addrs.items);
}

/* Standard input, and answers to addresses of the only object. */
struct line_answers {
    struct ahead_input input;
    struct kept_answers *kept; /* NULL: none */
    struct captured_output captured;
    struct recent_answers recent;
};

/* False, and nothing is printed: it was not given before. */
static bool repeat_answer(struct llvm_session *s, const struct line_answers *a, uint64_t addr) {
    if (!kept_answers_put(a->kept, addr) && !recent_answers_put(&a->recent, addr)) return false;
    s->last_addr = addr;
    return true;
}

static void answer_address(struct llvm_session *s, struct line_answers *a, const char *line, uint64_t addr) {
    struct llvm_index *index = s->modules.count ? s->modules.items[0]->index : NULL;
    const bool keeps = a->kept && !llvm_index_exists(index);
    if (llvm_index_reads_units(index)) expect_addresses(s, &a->input, addr);
    s->is_repeatable = false;
    captured_output_begin(&a->captured);
    answer_request(s, line);
    const size_t size = captured_output_end(&a->captured);
    if (keeps) kept_answers_add(a->kept, addr, a->captured.text.bytes, size);
    if (s->is_repeatable && !s->options->context_lines) recent_answers_add(&a->recent, addr, a->captured.text.bytes, size);
}

/* Answers of earlier runs are given before the object is opened. Returns the exit code. */
static int answer_lines(struct llvm_session *s, struct kept_answers *kept) {
    static struct line_answers a;
    char line[LINE_BYTES];
    bool is_open = !kept_answers_exist(kept);
    if (is_open && !open_object(s)) return 1;
    a.kept = kept;
    while (ahead_input_line(&a.input, line, sizeof line)) {
        size_t kept_size = 0;
        uint64_t addr;
        for (const char *p = line; *p; p++)
            if (*p != '\r' && *p != '\n') line[kept_size++] = *p;
        line[kept_size] = 0;
        const bool is_plain = s->options->object && is_address(s->options, line, &addr);
        if (!is_plain || !repeat_answer(s, &a, addr)) {
            if (!is_open && !open_object(s)) return 1;
            is_open = true;
            if (is_plain) answer_address(s, &a, line, addr);
            else answer_request(s, line);
        }
        flush_answers();
    }
    captured_output_free(&a.captured);
    recent_answers_free(&a.recent);
    const struct llvm_module *m = kept && is_open && s->modules.count ? s->modules.items[0]->module : NULL;
    kept_answers_close(kept, m ? m->info : NULL);
    for (size_t i = 0; i < s->modules.count; i++) llvm_index_finish(s->modules.items[i]->index);
    return 0;
}

static int run(const struct llvm_options *o, int argc, char **argv) {
    static struct llvm_session session;
    llvm_session_init(&session, o);
    if (o->object && o->build_id) {
        fputs("error: cannot specify both --build-id and --obj\n", stderr);
        return 1;
    }
    if (o->build_id && !is_hex_text(o->build_id)) {
        fprintf(stderr, "--build-id=: expected a build ID, but got '%s'\n", o->build_id);
        return 1;
    }
    if (o->filter_markup) return llvm_filter_markup(&session);
    if (!o->operands.count) {
        char *gsym = o->object ? llvm_gsym_path(o->object, o) : NULL;
        struct kept_answers *kept = o->object && !gsym ? kept_answers_open(o->object, argc, argv) : NULL;
        free(gsym);
        return answer_lines(&session, kept);
    }
    if (!open_object(&session)) return 1;
    llvm_list_begin(&session.printer);
    for (size_t i = 0; i < o->operands.count; i++) answer_request(&session, o->operands.items[i]);
    llvm_list_end(&session.printer);
    return 0;
}

int llvm_symbolizer_main(int argc, char **argv) {
    static struct llvm_options options;
    int code = llvm_options_read(&options, argc, argv, false);
    return code >= 0 ? code : run(&options, argc, argv);
}

int llvm_addr2line_main(int argc, char **argv) {
    static struct llvm_options options;
    int code = llvm_options_read(&options, argc, argv, true);
    return code >= 0 ? code : run(&options, argc, argv);
}

/* Symbolizer markup: elements {{{tag:field:...}}} in a log. What is outside of them passes through. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_markup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/base/answer_output.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm_symbolizer/llvm_markup_fields.h"

/* ---- modules and maps ---- */

static void put_raw_element(const struct markup_filter *f, const struct markup_node *n) {
    markup_highlight(f);
    fputs("[[[", stdout);
    markup_put_value(f, "%.*s", (int)n->tag.len, n->tag.ptr);
    for (size_t i = 0; i < n->field_count; i++) {
        fputc(':', stdout);
        markup_put_value(f, "%.*s", (int)n->fields[i].len, n->fields[i].ptr);
    }
    fputs("]]]", stdout);
    markup_restore_color(f);
}

static void begin_info_line(struct markup_filter *f, size_t module) {
    const struct mark_module *m = &f->modules.items[module];
    markup_highlight(f);
    fputs("[[[ELF module", stdout);
    markup_put_value(f, " #0x%" PRIx64 " ", m->id);
    fputc('"', stdout);
    markup_put_value(f, "%s", m->name);
    fputc('"', stdout);
    f->has_info_line = true;
    f->info_module = module;
    f->info_maps.count = 0;
}

static void end_info_line(struct markup_filter *f) {
    if (!f->has_info_line) return;
    for (size_t i = 1; i < f->info_maps.count; i++)
        for (size_t k = i; k && f->info_maps.items[k].addr < f->info_maps.items[k - 1].addr; k--) {
            const struct mark_map other = f->info_maps.items[k];
            f->info_maps.items[k] = f->info_maps.items[k - 1];
            f->info_maps.items[k - 1] = other;
        }
    for (size_t i = 0; i < f->info_maps.count; i++) {
        const struct mark_map *m = &f->info_maps.items[i];
        fputs(i ? ",[" : " [", stdout);
        markup_put_value(f, "0x%" PRIx64, m->addr);
        fputc('-', stdout);
        markup_put_value(f, "0x%" PRIx64, m->addr + m->size - 1);
        fputs("](", stdout);
        markup_put_value(f, "%s", m->mode);
        fputc(')', stdout);
    }
    printf("]]]%s", markup_line_ending(f));
    markup_restore_color(f);
    f->has_info_line = false;
}

static const struct mark_map *map_at(const struct markup_filter *f, uint64_t addr) {
    for (size_t i = 0; i < f->maps.count; i++)
        if (addr >= f->maps.items[i].addr && addr - f->maps.items[i].addr < f->maps.items[i].size) return &f->maps.items[i];
    return NULL;
}

static bool parse_map(const struct markup_filter *f, const struct markup_node *n, struct mark_map *out) {
    uint64_t id;
    if (!markup_has_fields_at_least(f, n, 3)) return false;
    if (!markup_read_addr(f, n->fields[0], &out->addr) || !markup_read_number(f, n->fields[1], "size", &out->size)) return false;
    if (!markup_is(n->fields[2], "load")) {
        markup_report(f, "unknown mmap type", n->fields[2].ptr);
        return false;
    }
    if (!markup_has_fields(f, n, 6)) return false;
    if (!markup_read_number(f, n->fields[3], "module ID", &id) || !markup_read_mode(f, n->fields[4], out->mode)) return false;
    for (out->module = 0; out->module < f->modules.count; out->module++)
        if (f->modules.items[out->module].id == id) break;
    if (out->module == f->modules.count) {
        markup_report(f, "unknown module ID", n->fields[3].ptr);
        return false;
    }
    return markup_read_addr(f, n->fields[5], &out->relative);
}

static void filter_node(struct markup_filter *f, const struct markup_node *n);

static void filter_nodes(struct markup_filter *f, const struct markup_nodes *nodes) {
    for (size_t i = 0; i < nodes->count; i++) filter_node(f, &nodes->items[i]);
}

/* The map that overlaps a new one. */
static const struct mark_map *overlapping(const struct markup_filter *f, const struct mark_map *map) {
    const struct mark_map *before = NULL;
    for (size_t i = 0; i < f->maps.count; i++) {
        const struct mark_map *m = &f->maps.items[i];
        if (m->addr > map->addr) {
            if (m->addr - map->addr < map->size) return m;
            break;
        }
        before = m;
    }
    return before && map->addr - before->addr < before->size ? before : NULL;
}

static void add_map(struct markup_filter *f, const struct markup_node *n, const struct markup_nodes *deferred) {
    struct mark_map map;
    if (!parse_map(f, n, &map)) return;
    const struct mark_map *other = overlapping(f, &map);
    if (other) {
        flush_answers();
        fprintf(stderr, "error: overlapping mmap: #0x%" PRIx64 " [0x%" PRIx64 "-0x%" PRIx64 "]\n",
                f->modules.items[other->module].id, other->addr, other->addr + other->size - 1);
        markup_point_at(f, n->fields[0].ptr);
        return;
    }
    GROW_PUSH(&f->maps, map);
    for (size_t i = f->maps.count - 1; i && f->maps.items[i].addr < f->maps.items[i - 1].addr; i--) {
        const struct mark_map moved = f->maps.items[i];
        f->maps.items[i] = f->maps.items[i - 1];
        f->maps.items[i - 1] = moved;
    }
    if (!f->has_info_line || f->info_module != map.module) {
        end_info_line(f);
        filter_nodes(f, deferred);
        begin_info_line(f, map.module);
        fputs("; adds", stdout);
    }
    GROW_PUSH(&f->info_maps, map);
}

static void forget_all(struct markup_filter *f) {
    for (size_t i = 0; i < f->modules.count; i++) {
        free(f->modules.items[i].name);
        free(f->modules.items[i].build_id);
    }
    f->modules.count = f->maps.count = 0;
}

static void reset(struct markup_filter *f, const struct markup_node *n, const struct markup_nodes *deferred) {
    if (!markup_has_fields(f, n, 0) || (!f->modules.count && !f->maps.count)) return;
    end_info_line(f);
    filter_nodes(f, deferred);
    put_raw_element(f, n);
    fputs(markup_line_ending(f), stdout);
    forget_all(f);
}

/* LLVM's table of modules marks free places with a number, which it takes for a module's once the table has places. */
static bool is_taken(const struct markup_filter *f, uint64_t id) {
    const bool has_places = f->modules.capacity;
    for (size_t i = 0; i < f->modules.count; i++)
        if (f->modules.items[i].id == id) return true;
    return has_places && id == UINT64_MAX;
}

static void add_module(struct markup_filter *f, const struct markup_node *n, const struct markup_nodes *deferred) {
    struct mark_module made = { 0 };
    if (!markup_has_fields_at_least(f, n, 3) || !markup_read_number(f, n->fields[0], "module ID", &made.id)) return;
    if (!markup_is(n->fields[2], "elf")) {
        markup_report(f, "unknown module type", n->fields[2].ptr);
        return;
    }
    if (!markup_has_fields(f, n, 4) || !markup_read_build_id(f, n->fields[3], &made.build_id)) return;
    if (is_taken(f, made.id)) {
        markup_report(f, "duplicate module ID", n->fields[0].ptr);
        free(made.build_id);
        return;
    }
    made.name = copy_text(n->fields[1].ptr, n->fields[1].len);
    GROW_PUSH(&f->modules, made);
    end_info_line(f);
    filter_nodes(f, deferred);
    begin_info_line(f, f->modules.count - 1);
    fputs("; BuildID=", stdout);
    markup_put_value(f, "%s", made.build_id);
}

/* Elements that others refer to. What follows one on its line is left out. */
static bool is_contextual(struct markup_filter *f, const struct markup_node *n, const struct markup_nodes *deferred) {
    if (markup_is(n->tag, "mmap")) add_map(f, n, deferred);
    else if (markup_is(n->tag, "reset")) reset(f, n, deferred);
    else if (markup_is(n->tag, "module")) add_module(f, n, deferred);
    else return false;
    return true;
}

/* ---- elements that are shown ---- */

/* The module of an element's address. False: the element was shown as it is. NULL: it could not be opened for an
 * earlier one, which was reported. */
static bool module_at(const struct markup_filter *f, const struct markup_node *n, uint64_t addr,
                      const struct mark_map **map, struct llvm_module **out) {
    const char *message = NULL;
    *map = map_at(f, addr);
    if (!*map) {
        markup_report(f, "no mmap covers address", n->fields[0].ptr);
        put_raw_element(f, n);
        return false;
    }
    *out = llvm_session_build_id(f->session, f->modules.items[(*map)->module].build_id, &message);
    if (*out || !message) return true;
    fprintf(stderr, "error: %s\n", message);
    put_raw_element(f, n);
    return false;
}

static bool is_known(const struct llvm_frame *frame) {
    return frame->function || frame->file || frame->line || frame->start_line || frame->has_start_address;
}
static const char *or_invalid(const char *text) { return text ? text : LLVM_INVALID; }

static void show_pc(const struct markup_filter *f, const struct markup_node *n) {
    uint64_t addr;
    bool is_return = false;
    const struct mark_map *map;
    if (!markup_has_fields_at_least(f, n, 1)) return;
    markup_warn_fields_at_most(f, n, 2);
    if (!markup_read_addr(f, n->fields[0], &addr)) return;
    if (n->field_count == 2 && !markup_read_pc_type(f, n->fields[1], &is_return)) return;
    addr -= is_return;
    struct llvm_module *m;
    struct llvm_frame frame = { 0 };
    if (!module_at(f, n, addr, &map, &m)) return;
    if (m) frame = llvm_find_code(m, &f->session->request, addr - map->addr + map->relative);
    if (is_known(&frame)) {
        markup_highlight(f);
        markup_put_value(f, "%s", or_invalid(frame.function));
        fputc('[', stdout);
        markup_put_value(f, "%s", or_invalid(frame.file));
        fputc(':', stdout);
        markup_put_value(f, "%u", frame.line);
        fputc(']', stdout);
        markup_restore_color(f);
    } else {
        put_raw_element(f, n);
    }
    llvm_frame_free(&frame);
}

static void show_backtrace(const struct markup_filter *f, const struct markup_node *n) {
    uint64_t number, addr;
    bool is_return = true;
    const struct mark_map *map;
    if (!markup_has_fields_at_least(f, n, 2)) return;
    markup_warn_fields_at_most(f, n, 3);
    if (!markup_read_frame_number(f, n->fields[0], &number) || !markup_read_addr(f, n->fields[1], &addr)) return;
    if (n->field_count == 3 && !markup_read_pc_type(f, n->fields[2], &is_return)) return;
    addr -= is_return;
    struct llvm_module *m;
    struct llvm_frames frames = { 0 };
    if (!module_at(f, n, addr, &map, &m)) return;
    const uint64_t relative = addr - map->addr + map->relative;
    if (m) frames = llvm_find_inlined(m, &f->session->request, relative);
    markup_highlight(f);
    for (size_t i = 0; i < frames.count; i++) {
        const struct llvm_frame *frame = &frames.items[i];
        char digits[24];
        int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
        printf("%*s", length + 1 < 6 ? 6 - length : 1, "#");
        markup_put_value(f, "%s", digits);
        if (i + 1 == frames.count) {
            fputs("   ", stdout);
        } else {
            fputc('.', stdout);
            markup_put_value(f, "%-2zu", i + 1);
        }
        markup_put_value(f, " 0x%016" PRIx64 " ", addr);
        if (is_known(frame)) {
            markup_put_value(f, "%s", or_invalid(frame->function));
            fputc(' ', stdout);
            markup_put_value(f, "%s", or_invalid(frame->file));
            fputc(':', stdout);
            markup_put_value(f, "%u", frame->line);
            fputc(':', stdout);
            markup_put_value(f, "%u", frame->column);
            fputc(' ', stdout);
        }
        fputc('(', stdout);
        markup_put_value(f, "%s", f->modules.items[map->module].name);
        fputc('+', stdout);
        markup_put_value(f, "0x%" PRIx64, relative);
        fputc(')', stdout);
        if (i + 1 < frames.count) fputs(markup_line_ending(f), stdout);
    }
    markup_restore_color(f);
    llvm_frames_free(&frames);
}

static void show_data(const struct markup_filter *f, const struct markup_node *n) {
    uint64_t addr;
    const struct mark_map *map;
    if (!markup_has_fields(f, n, 1) || !markup_read_addr(f, n->fields[0], &addr)) return;
    struct llvm_module *m;
    struct llvm_global global = { 0 };
    if (!module_at(f, n, addr, &map, &m)) return;
    if (m) global = llvm_find_data(m, &f->session->request, addr - map->addr + map->relative);
    markup_highlight(f);
    fputs(or_invalid(global.name), stdout);
    markup_restore_color(f);
    llvm_global_free(&global);
}

static void show_symbol(const struct markup_filter *f, const struct markup_node *n) {
    if (!markup_has_fields(f, n, 1)) return;
    char *name = copy_text(n->fields[0].ptr, n->fields[0].len), *shown = llvm_demangle_name(name, false);
    markup_highlight(f);
    fputs(shown, stdout);
    markup_restore_color(f);
    free(name);
    free(shown);
}

/* Colours of the log, which elements give way to and take up again. */
static bool take_color(struct markup_filter *f, const struct markup_node *n) {
    const struct markup_span t = n->text;
    if (t.len < 4 || t.len > 5 || t.ptr[0] != '\033' || t.ptr[1] != '[' || t.ptr[t.len - 1] != 'm') return false;
    if (markup_is(t, "\033[0m")) {
        markup_reset_color(f);
    } else if (markup_is(t, "\033[1m")) {
        f->bold = true;
        markup_change_color(f, NO_COLOR, true);
    } else if (t.len == 5 && t.ptr[2] == '3' && t.ptr[3] >= '0' && t.ptr[3] <= '7') {
        f->color = t.ptr[3] - '0';
        markup_change_color(f, f->color, false);
    } else {
        return false;
    }
    return true;
}

static void filter_node(struct markup_filter *f, const struct markup_node *n) {
    for (size_t i = 0; i < n->tag.len; i++)
        if (n->tag.ptr[i] < 'a' || n->tag.ptr[i] > 'z') {
            markup_report(f, "tags must be all lowercase characters", n->tag.ptr);
            return;
        }
    if (markup_is(n->tag, "symbol")) show_symbol(f, n);
    else if (markup_is(n->tag, "pc")) show_pc(f, n);
    else if (markup_is(n->tag, "bt")) show_backtrace(f, n);
    else if (markup_is(n->tag, "data")) show_data(f, n);
    else if (n->tag.len || !take_color(f, n)) markup_put(n->text);
}

/* ---- lines ---- */

static const char *find_text(const char *from, const char *end, const char *what) {
    return memmem(from, (size_t)(end - from), what, strlen(what));
}

/* Text outside of elements, cut at codes for colours. */
static void add_text(struct markup_nodes *to, const char *begin, const char *end) {
    while (begin < end) {
        const char *code = begin, *after = NULL;
        for (; code < end && !after; code++) {
            if (end - code >= 4 && code[0] == '\033' && code[1] == '[') {
                if ((code[2] == '0' || code[2] == '1') && code[3] == 'm') after = code + 4;
                else if (end - code >= 5 && code[2] == '3' && code[3] >= '0' && code[3] <= '7' && code[4] == 'm') after = code + 5;
            }
            if (after) break;
        }
        if (code > begin) {
            const struct markup_node text = { .text = { begin, (size_t)(code - begin) } };
            GROW_PUSH(to, text);
        }
        if (!after) return;
        const struct markup_node color = { .text = { code, (size_t)(after - code) } };
        GROW_PUSH(to, color);
        begin = after;
    }
}

static void split_fields(struct markup_node *n, const char *at, const char *end) {
    const char *colon = memchr(at, ':', (size_t)(end - at));
    n->tag = (struct markup_span){ at, (size_t)((colon ? colon : end) - at) };
    if (!colon) return;
    for (at = colon + 1; n->field_count < MAX_FIELDS;) {
        colon = memchr(at, ':', (size_t)(end - at));
        n->fields[n->field_count++] = (struct markup_span){ at, (size_t)((colon ? colon : end) - at) };
        if (!colon) return;
        at = colon + 1;
    }
}

static void parse_line(struct markup_span line, struct markup_nodes *to) {
    const char *at = line.ptr, *end = line.ptr + line.len, *from = at;
    for (;;) {
        const char *begin = find_text(from, end, "{{{"), *close = begin ? find_text(begin + 3, end, "}}}") : NULL;
        if (!close) break;
        struct markup_node n = { .text = { begin, (size_t)(close + 3 - begin) } };
        split_fields(&n, begin + 3, close);
        from = close + 3;
        if (!n.tag.len) continue;
        add_text(to, at, begin);
        GROW_PUSH(to, n);
        at = from;
    }
    add_text(to, at, end);
}

static void filter_line(struct markup_filter *f, struct markup_span line) {
    struct markup_nodes nodes = { 0 }, deferred = { 0 };
    f->line = line;
    markup_reset_color(f);
    parse_line(line, &nodes);
    bool is_context = false;
    for (size_t i = 0; i < nodes.count && !is_context; i++) {
        is_context = is_contextual(f, &nodes.items[i], &deferred);
        if (!is_context) GROW_PUSH(&deferred, nodes.items[i]);
    }
    if (!is_context) {
        end_info_line(f);
        filter_nodes(f, &deferred);
    }
    free(nodes.items);
    free(deferred.items);
}

int llvm_filter_markup(struct llvm_session *session) {
    static struct markup_filter f;
    const enum llvm_color color = session->options->color;
    f = (struct markup_filter){ .session = session,
                                .color = NO_COLOR,
                                .colors = color == LLVM_COLOR_ALWAYS || (color == LLVM_COLOR_AUTO && isatty(STDOUT_FILENO)) };
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = input_line(&line, &capacity, stdin)) > 0;) {
        if (line[size - 1] != '\n') { /* the end of the input ends a line, too */
            line = grow_items(line, (size_t)size + 2, &capacity, 1);
            line[size++] = '\n';
        }
        filter_line(&f, (struct markup_span){ line, (size_t)size });
    }
    end_info_line(&f);
    markup_reset_color(&f);
    forget_all(&f);
    free(line);
    return 0;
}

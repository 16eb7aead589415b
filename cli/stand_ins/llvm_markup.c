/* Symbolizer markup: elements {{{tag:field:...}}} in a log. What is outside of them passes through. */
#define _GNU_SOURCE
#include "stand_ins/llvm_markup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/growth.h"

enum { MAX_FIELDS = 64, NO_COLOR = -1, RED_BOLD = -2, BLUE = 4, GREEN = 2, CYAN = 6 };

struct span {
    const char *ptr;
    size_t len;
};

/* A part of a line: an element, or text (without a tag). */
struct node {
    struct span text, tag;
    struct span fields[MAX_FIELDS];
    size_t field_count;
};

struct nodes {
    struct node *items;
    size_t count, capacity;
};

struct mark_module {
    uint64_t id;
    char *name, *build_id;
};

struct mark_map {
    uint64_t addr, size, relative;
    size_t module;
    char mode[8];
};

struct filter {
    struct llvm_session *session;
    bool colors, bold;
    int color;               /* of the log, or NO_COLOR */
    struct span line;
    struct { struct mark_module *items; size_t count, capacity; } modules;
    struct { struct mark_map *items; size_t count, capacity; } maps; /* ascending */
    bool has_info_line;
    size_t info_module;
    struct { struct mark_map *items; size_t count, capacity; } info_maps;
};

static bool is(struct span s, const char *text) { return s.len == strlen(text) && memcmp(s.ptr, text, s.len) == 0; }
static void put(struct span s) { fwrite(s.ptr, 1, s.len, stdout); }

/* ---- colours ---- */

static void change_color(const struct filter *f, int color, bool bold) {
    if (!f->colors) return;
    if (color == NO_COLOR) {
        if (bold) fputs("\033[1m", stdout);
    } else {
        printf("\033[0;%s3%dm", bold ? "1;" : "", color);
    }
}

static void reset_terminal(const struct filter *f) {
    if (f->colors) fputs("\033[0m", stdout);
}

static void highlight(const struct filter *f) { change_color(f, f->color == BLUE ? CYAN : BLUE, f->bold); }

static void restore_color(const struct filter *f) {
    if (f->color != NO_COLOR) {
        change_color(f, f->color, f->bold);
        return;
    }
    reset_terminal(f);
    if (f->bold) change_color(f, NO_COLOR, true);
}

static void reset_color(struct filter *f) {
    if (f->color == NO_COLOR && !f->bold) return;
    f->color = NO_COLOR;
    f->bold = false;
    reset_terminal(f);
}

static void put_value(const struct filter *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_value(const struct filter *f, const char *format, ...) {
    va_list args;
    change_color(f, GREEN, f->bold);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    highlight(f);
}

static const char *line_ending(const struct filter *f) {
    return f->line.len > 1 && f->line.ptr[f->line.len - 2] == '\r' ? "\r\n" : "\n";
}

/* ---- messages ---- */

static void point_at(const struct filter *f, const char *at) {
    fwrite(f->line.ptr, 1, f->line.len, stderr);
    fprintf(stderr, "%*s^\n", (int)(at - f->line.ptr), "");
}

static void type_error(const struct filter *f, struct span text, const char *type) {
    fflush(stdout);
    fprintf(stderr, "error: expected %s; found '%.*s'\n", type, (int)text.len, text.ptr);
    point_at(f, text.ptr);
}

static void report(const struct filter *f, const char *text, const char *at) {
    fflush(stdout);
    fprintf(stderr, "error: %s\n", text);
    point_at(f, at);
}

static bool has_fields(const struct filter *f, const struct node *n, size_t count) {
    if (n->field_count == count) return true;
    bool more = n->field_count > count;
    fflush(stdout);
    fprintf(stderr, "%s: expected %zu field(s); found %zu\n", more ? "warning" : "error", count, n->field_count);
    point_at(f, n->tag.ptr + n->tag.len);
    return more;
}

static bool has_fields_at_least(const struct filter *f, const struct node *n, size_t count) {
    if (n->field_count >= count) return true;
    fflush(stdout);
    fprintf(stderr, "error: expected at least %zu field(s); found %zu\n", count, n->field_count);
    point_at(f, n->tag.ptr + n->tag.len);
    return false;
}

static void warn_fields_at_most(const struct filter *f, const struct node *n, size_t count) {
    if (n->field_count <= count) return;
    fflush(stdout);
    fprintf(stderr, "warning: expected at most %zu field(s); found %zu\n", count, n->field_count);
    point_at(f, n->tag.ptr + n->tag.len);
}

/* ---- fields ---- */

static bool read_addr(const struct filter *f, struct span text, uint64_t *out) {
    size_t zeros = 0;
    while (zeros < text.len && text.ptr[zeros] == '0') zeros++;
    if (text.len && zeros == text.len) {
        *out = 0;
        return true;
    }
    bool good = text.len > 2 && text.ptr[0] == '0' && text.ptr[1] == 'x' && llvm_read_number(text.ptr + 2, text.len - 2, true, out);
    if (!good) type_error(f, text, "address");
    return good;
}

static bool read_number(const struct filter *f, struct span text, const char *type, uint64_t *out) {
    bool good = llvm_read_number(text.ptr, text.len, false, out);
    if (!good) type_error(f, text, type);
    return good;
}

/* Whether the address is that of the code itself, or of what follows a call. */
static bool read_pc_type(const struct filter *f, struct span text, bool *is_return) {
    *is_return = is(text, "ra");
    if (*is_return || is(text, "pc")) return true;
    type_error(f, text, "PC type");
    return false;
}

static bool read_mode(const struct filter *f, struct span text, char mode[8]) {
    static const char letters[] = "rwx";
    size_t at = 0, kept = 0;
    for (int i = 0; i < 3; i++)
        if (at < text.len && (text.ptr[at] | 0x20) == letters[i]) {
            mode[kept++] = letters[i];
            at++;
        }
    mode[kept] = 0;
    if (text.len && at == text.len) return true;
    type_error(f, text, "mode");
    return false;
}

static bool read_build_id(const struct filter *f, struct span text, char **out) {
    bool good = text.len > 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        good &= (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    }
    if (!good) {
        type_error(f, text, "build ID");
        return false;
    }
    char *id = copy_text(text.ptr, text.len);
    for (char *p = id; *p; p++)
        if (*p >= 'A' && *p <= 'F') *p = (char)(*p | 0x20);
    if (text.len % 2) { /* a zero stands in front */
        char *even = zeroed_memory(text.len + 2, 1);
        even[0] = '0';
        memcpy(even + 1, id, text.len);
        free(id);
        id = even;
    }
    *out = id;
    return true;
}

/* ---- modules and maps ---- */

static void put_raw_element(const struct filter *f, const struct node *n) {
    highlight(f);
    fputs("[[[", stdout);
    put_value(f, "%.*s", (int)n->tag.len, n->tag.ptr);
    for (size_t i = 0; i < n->field_count; i++) {
        fputc(':', stdout);
        put_value(f, "%.*s", (int)n->fields[i].len, n->fields[i].ptr);
    }
    fputs("]]]", stdout);
    restore_color(f);
}

static void begin_info_line(struct filter *f, size_t module) {
    const struct mark_module *m = &f->modules.items[module];
    highlight(f);
    fputs("[[[ELF module", stdout);
    put_value(f, " #0x%" PRIx64 " ", m->id);
    fputc('"', stdout);
    put_value(f, "%s", m->name);
    fputc('"', stdout);
    f->has_info_line = true;
    f->info_module = module;
    f->info_maps.count = 0;
}

static void end_info_line(struct filter *f) {
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
        put_value(f, "0x%" PRIx64, m->addr);
        fputc('-', stdout);
        put_value(f, "0x%" PRIx64, m->addr + m->size - 1);
        fputs("](", stdout);
        put_value(f, "%s", m->mode);
        fputc(')', stdout);
    }
    printf("]]]%s", line_ending(f));
    restore_color(f);
    f->has_info_line = false;
}

static const struct mark_map *map_at(const struct filter *f, uint64_t addr) {
    for (size_t i = 0; i < f->maps.count; i++)
        if (addr >= f->maps.items[i].addr && addr - f->maps.items[i].addr < f->maps.items[i].size) return &f->maps.items[i];
    return NULL;
}

static bool parse_map(const struct filter *f, const struct node *n, struct mark_map *out) {
    uint64_t id;
    if (!has_fields_at_least(f, n, 3)) return false;
    if (!read_addr(f, n->fields[0], &out->addr) || !read_number(f, n->fields[1], "size", &out->size)) return false;
    if (!is(n->fields[2], "load")) {
        report(f, "unknown mmap type", n->fields[2].ptr);
        return false;
    }
    if (!has_fields(f, n, 6)) return false;
    if (!read_number(f, n->fields[3], "module ID", &id) || !read_mode(f, n->fields[4], out->mode)) return false;
    for (out->module = 0; out->module < f->modules.count; out->module++)
        if (f->modules.items[out->module].id == id) break;
    if (out->module == f->modules.count) {
        report(f, "unknown module ID", n->fields[3].ptr);
        return false;
    }
    return read_addr(f, n->fields[5], &out->relative);
}

static void filter_node(struct filter *f, const struct node *n);

static void filter_nodes(struct filter *f, const struct nodes *nodes) {
    for (size_t i = 0; i < nodes->count; i++) filter_node(f, &nodes->items[i]);
}

/* The map that overlaps a new one. */
static const struct mark_map *overlapping(const struct filter *f, const struct mark_map *map) {
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

static void add_map(struct filter *f, const struct node *n, const struct nodes *deferred) {
    struct mark_map map;
    if (!parse_map(f, n, &map)) return;
    const struct mark_map *other = overlapping(f, &map);
    if (other) {
        fflush(stdout);
        fprintf(stderr, "error: overlapping mmap: #0x%" PRIx64 " [0x%" PRIx64 "-0x%" PRIx64 "]\n", f->modules.items[other->module].id, other->addr,
                other->addr + other->size - 1);
        point_at(f, n->fields[0].ptr);
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

static void forget_all(struct filter *f) {
    for (size_t i = 0; i < f->modules.count; i++) {
        free(f->modules.items[i].name);
        free(f->modules.items[i].build_id);
    }
    f->modules.count = f->maps.count = 0;
}

static void reset(struct filter *f, const struct node *n, const struct nodes *deferred) {
    if (!has_fields(f, n, 0) || (!f->modules.count && !f->maps.count)) return;
    end_info_line(f);
    filter_nodes(f, deferred);
    put_raw_element(f, n);
    fputs(line_ending(f), stdout);
    forget_all(f);
}

static void add_module(struct filter *f, const struct node *n, const struct nodes *deferred) {
    struct mark_module made = { 0 };
    if (!has_fields_at_least(f, n, 3) || !read_number(f, n->fields[0], "module ID", &made.id)) return;
    if (!is(n->fields[2], "elf")) {
        report(f, "unknown module type", n->fields[2].ptr);
        return;
    }
    if (!has_fields(f, n, 4) || !read_build_id(f, n->fields[3], &made.build_id)) return;
    for (size_t i = 0; i < f->modules.count; i++)
        if (f->modules.items[i].id == made.id) {
            report(f, "duplicate module ID", n->fields[0].ptr);
            free(made.build_id);
            return;
        }
    made.name = copy_text(n->fields[1].ptr, n->fields[1].len);
    GROW_PUSH(&f->modules, made);
    end_info_line(f);
    filter_nodes(f, deferred);
    begin_info_line(f, f->modules.count - 1);
    fputs("; BuildID=", stdout);
    put_value(f, "%s", made.build_id);
}

/* Elements that others refer to. What follows one on its line is left out. */
static bool is_contextual(struct filter *f, const struct node *n, const struct nodes *deferred) {
    if (is(n->tag, "mmap")) add_map(f, n, deferred);
    else if (is(n->tag, "reset")) reset(f, n, deferred);
    else if (is(n->tag, "module")) add_module(f, n, deferred);
    else return false;
    return true;
}

/* ---- elements that are shown ---- */

/* The module of an element's address; NULL: the element was shown as it is. */
static struct llvm_module *module_at(const struct filter *f, const struct node *n, size_t field, uint64_t addr, const struct mark_map **map) {
    const char *message = NULL;
    *map = map_at(f, addr);
    if (!*map) {
        report(f, "no mmap covers address", n->fields[field].ptr);
        put_raw_element(f, n);
        return NULL;
    }
    const struct mark_module *m = &f->modules.items[(*map)->module];
    struct llvm_module *found = llvm_session_build_id(f->session, m->build_id, &message);
    if (found) return found;
    char *shown = llvm_build_id_text(m->build_id);
    fflush(stdout);
    fprintf(stderr, "error: '%s': could not find build ID for ELF module #0x%" PRIx64 " \"%s\"; BuildID=%s\n", shown, m->id, m->name, m->build_id);
    free(shown);
    put_raw_element(f, n);
    return NULL;
}

static bool is_known(const struct llvm_frame *frame) { return frame->function || frame->file || frame->line || frame->start_line || frame->has_start_address; }
static const char *or_invalid(const char *text) { return text ? text : LLVM_INVALID; }

static void show_pc(const struct filter *f, const struct node *n) {
    uint64_t addr;
    bool is_return = false;
    const struct mark_map *map;
    if (!has_fields_at_least(f, n, 1)) return;
    warn_fields_at_most(f, n, 2);
    if (!read_addr(f, n->fields[0], &addr)) return;
    if (n->field_count == 2 && !read_pc_type(f, n->fields[1], &is_return)) return;
    addr -= is_return;
    struct llvm_module *m = module_at(f, n, 0, addr, &map);
    if (!m) return;
    struct llvm_frame frame = llvm_find_code(m, &f->session->request, addr - map->addr + map->relative);
    if (is_known(&frame)) {
        highlight(f);
        put_value(f, "%s", or_invalid(frame.function));
        fputc('[', stdout);
        put_value(f, "%s", or_invalid(frame.file));
        fputc(':', stdout);
        put_value(f, "%u", frame.line);
        fputc(']', stdout);
        restore_color(f);
    } else {
        put_raw_element(f, n);
    }
    llvm_frame_free(&frame);
}

static void show_backtrace(const struct filter *f, const struct node *n) {
    uint64_t number, addr;
    bool is_return = true;
    const struct mark_map *map;
    if (!has_fields_at_least(f, n, 2)) return;
    warn_fields_at_most(f, n, 3);
    if (!read_number(f, n->fields[0], "frame number", &number) || !read_addr(f, n->fields[1], &addr)) return;
    if (n->field_count == 3 && !read_pc_type(f, n->fields[2], &is_return)) return;
    addr -= is_return;
    struct llvm_module *m = module_at(f, n, 1, addr, &map);
    if (!m) return;
    const uint64_t relative = addr - map->addr + map->relative;
    struct llvm_frames frames = llvm_find_inlined(m, &f->session->request, relative);
    highlight(f);
    for (size_t i = 0; i < frames.count; i++) {
        const struct llvm_frame *frame = &frames.items[i];
        char digits[24];
        int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
        printf("%*s", length + 1 < 6 ? 6 - length : 1, "#");
        put_value(f, "%s", digits);
        if (i + 1 == frames.count) {
            fputs("   ", stdout);
        } else {
            fputc('.', stdout);
            put_value(f, "%-2zu", i + 1);
        }
        put_value(f, " 0x%016" PRIx64 " ", addr);
        if (is_known(frame)) {
            put_value(f, "%s", or_invalid(frame->function));
            fputc(' ', stdout);
            put_value(f, "%s", or_invalid(frame->file));
            fputc(':', stdout);
            put_value(f, "%u", frame->line);
            fputc(':', stdout);
            put_value(f, "%u", frame->column);
            fputc(' ', stdout);
        }
        fputc('(', stdout);
        put_value(f, "%s", f->modules.items[map->module].name);
        fputc('+', stdout);
        put_value(f, "0x%" PRIx64, relative);
        fputc(')', stdout);
        if (i + 1 < frames.count) fputs(line_ending(f), stdout);
    }
    restore_color(f);
    llvm_frames_free(&frames);
}

static void show_data(const struct filter *f, const struct node *n) {
    uint64_t addr;
    const struct mark_map *map;
    if (!has_fields(f, n, 1) || !read_addr(f, n->fields[0], &addr)) return;
    struct llvm_module *m = module_at(f, n, 0, addr, &map);
    if (!m) return;
    struct llvm_global global = llvm_find_data(m, &f->session->request, addr - map->addr + map->relative);
    highlight(f);
    fputs(or_invalid(global.name), stdout);
    restore_color(f);
    llvm_global_free(&global);
}

static void show_symbol(const struct filter *f, const struct node *n) {
    if (!has_fields(f, n, 1)) return;
    char *name = copy_text(n->fields[0].ptr, n->fields[0].len), *shown = llvm_demangle_name(name, false);
    highlight(f);
    fputs(shown, stdout);
    restore_color(f);
    free(name);
    free(shown);
}

/* Colours of the log, which elements give way to and take up again. */
static bool take_color(struct filter *f, const struct node *n) {
    const struct span t = n->text;
    if (t.len < 4 || t.len > 5 || t.ptr[0] != '\033' || t.ptr[1] != '[' || t.ptr[t.len - 1] != 'm') return false;
    if (is(t, "\033[0m")) {
        reset_color(f);
    } else if (is(t, "\033[1m")) {
        f->bold = true;
        change_color(f, NO_COLOR, true);
    } else if (t.len == 5 && t.ptr[2] == '3' && t.ptr[3] >= '0' && t.ptr[3] <= '7') {
        f->color = t.ptr[3] - '0';
        change_color(f, f->color, false);
    } else {
        return false;
    }
    return true;
}

static void filter_node(struct filter *f, const struct node *n) {
    for (size_t i = 0; i < n->tag.len; i++)
        if (n->tag.ptr[i] < 'a' || n->tag.ptr[i] > 'z') {
            report(f, "tags must be all lowercase characters", n->tag.ptr);
            return;
        }
    if (is(n->tag, "symbol")) show_symbol(f, n);
    else if (is(n->tag, "pc")) show_pc(f, n);
    else if (is(n->tag, "bt")) show_backtrace(f, n);
    else if (is(n->tag, "data")) show_data(f, n);
    else if (n->tag.len || !take_color(f, n)) put(n->text);
}

/* ---- lines ---- */

static const char *find_text(const char *from, const char *end, const char *what) {
    return memmem(from, (size_t)(end - from), what, strlen(what));
}

/* Text outside of elements, cut at codes for colours. */
static void add_text(struct nodes *to, const char *begin, const char *end) {
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
            const struct node text = { .text = { begin, (size_t)(code - begin) } };
            GROW_PUSH(to, text);
        }
        if (!after) return;
        const struct node color = { .text = { code, (size_t)(after - code) } };
        GROW_PUSH(to, color);
        begin = after;
    }
}

static void split_fields(struct node *n, const char *at, const char *end) {
    const char *colon = memchr(at, ':', (size_t)(end - at));
    n->tag = (struct span){ at, (size_t)((colon ? colon : end) - at) };
    if (!colon) return;
    for (at = colon + 1; n->field_count < MAX_FIELDS;) {
        colon = memchr(at, ':', (size_t)(end - at));
        n->fields[n->field_count++] = (struct span){ at, (size_t)((colon ? colon : end) - at) };
        if (!colon) return;
        at = colon + 1;
    }
}

static void parse_line(struct span line, struct nodes *to) {
    const char *at = line.ptr, *end = line.ptr + line.len, *from = at;
    for (;;) {
        const char *begin = find_text(from, end, "{{{"), *close = begin ? find_text(begin + 3, end, "}}}") : NULL;
        if (!close) break;
        struct node n = { .text = { begin, (size_t)(close + 3 - begin) } };
        split_fields(&n, begin + 3, close);
        from = close + 3;
        if (!n.tag.len) continue;
        add_text(to, at, begin);
        GROW_PUSH(to, n);
        at = from;
    }
    add_text(to, at, end);
}

static void filter_line(struct filter *f, struct span line) {
    struct nodes nodes = { 0 }, deferred = { 0 };
    f->line = line;
    reset_color(f);
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
    static struct filter f;
    const enum llvm_color color = session->options->color;
    f = (struct filter){ .session = session, .color = NO_COLOR, .colors = color == LLVM_COLOR_ALWAYS || (color == LLVM_COLOR_AUTO && isatty(STDOUT_FILENO)) };
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        if (line[size - 1] != '\n') { /* the end of the input ends a line, too */
            line = grow_items(line, (size_t)size + 2, &capacity, 1);
            line[size++] = '\n';
        }
        filter_line(&f, (struct span){ line, (size_t)size });
    }
    end_info_line(&f);
    reset_color(&f);
    forget_all(&f);
    free(line);
    return 0;
}

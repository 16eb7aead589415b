/* Colours, messages and fields of the markup filter. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_markup_fields.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_number.h"

bool markup_is(struct markup_span s, const char *text) { return s.len == strlen(text) && memcmp(s.ptr, text, s.len) == 0; }
void markup_put(struct markup_span s) { fwrite(s.ptr, 1, s.len, stdout); }

/* ---- colours ---- */

void markup_change_color(const struct markup_filter *f, int color, bool bold) {
    if (!f->colors) return;
    if (color == NO_COLOR) {
        if (bold) fputs("\033[1m", stdout);
    } else {
        printf("\033[0;%s3%dm", bold ? "1;" : "", color);
    }
}

static void markup_reset_terminal(const struct markup_filter *f) {
    if (f->colors) fputs("\033[0m", stdout);
}

void markup_highlight(const struct markup_filter *f) { markup_change_color(f, f->color == BLUE ? CYAN : BLUE, f->bold); }

void markup_restore_color(const struct markup_filter *f) {
    if (f->color != NO_COLOR) {
        markup_change_color(f, f->color, f->bold);
        return;
    }
    markup_reset_terminal(f);
    if (f->bold) markup_change_color(f, NO_COLOR, true);
}

void markup_reset_color(struct markup_filter *f) {
    if (f->color == NO_COLOR && !f->bold) return;
    f->color = NO_COLOR;
    f->bold = false;
    markup_reset_terminal(f);
}

void markup_put_value(const struct markup_filter *f, const char *format, ...) {
    va_list args;
    markup_change_color(f, GREEN, f->bold);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    markup_highlight(f);
}

const char *markup_line_ending(const struct markup_filter *f) {
    return f->line.len > 1 && f->line.ptr[f->line.len - 2] == '\r' ? "\r\n" : "\n";
}

/* ---- messages ---- */

void markup_point_at(const struct markup_filter *f, const char *at) {
    fwrite(f->line.ptr, 1, f->line.len, stderr);
    fprintf(stderr, "%*s^\n", (int)(at - f->line.ptr), "");
}

static void markup_type_error(const struct markup_filter *f, struct markup_span text, const char *type) {
    fprintf(stderr, "error: expected %s; found '%.*s'\n", type, (int)text.len, text.ptr);
    markup_point_at(f, text.ptr);
}

void markup_report(const struct markup_filter *f, const char *text, const char *at) {
    fprintf(stderr, "error: %s\n", text);
    markup_point_at(f, at);
}

bool markup_has_fields(const struct markup_filter *f, const struct markup_node *n, size_t count) {
    if (n->field_count == count) return true;
    bool more = n->field_count > count;
    fprintf(stderr, "%s: expected %zu field(s); found %zu\n", more ? "warning" : "error", count, n->field_count);
    markup_point_at(f, n->tag.ptr + n->tag.len);
    return more;
}

bool markup_has_fields_at_least(const struct markup_filter *f, const struct markup_node *n, size_t count) {
    if (n->field_count >= count) return true;
    fprintf(stderr, "error: expected at least %zu field(s); found %zu\n", count, n->field_count);
    markup_point_at(f, n->tag.ptr + n->tag.len);
    return false;
}

void markup_warn_fields_at_most(const struct markup_filter *f, const struct markup_node *n, size_t count) {
    if (n->field_count <= count) return;
    fprintf(stderr, "warning: expected at most %zu field(s); found %zu\n", count, n->field_count);
    markup_point_at(f, n->tag.ptr + n->tag.len);
}

/* ---- fields ---- */

bool markup_read_addr(const struct markup_filter *f, struct markup_span text, uint64_t *out) {
    size_t zeros = 0;
    while (zeros < text.len && text.ptr[zeros] == '0') zeros++;
    if (text.len && zeros == text.len) {
        *out = 0;
        return true;
    }
    bool good = text.len > 2 && text.ptr[0] == '0' && text.ptr[1] == 'x' && llvm_read_number(text.ptr + 2, text.len - 2, true, out);
    if (!good) markup_type_error(f, text, "address");
    return good;
}

bool markup_read_number(const struct markup_filter *f, struct markup_span text, const char *type, uint64_t *out) {
    bool good = llvm_read_number(text.ptr, text.len, false, out);
    if (!good) markup_type_error(f, text, type);
    return good;
}

bool markup_read_frame_number(const struct markup_filter *f, struct markup_span text, uint64_t *out) {
    bool good = text.len > 0;
    *out = 0;
    for (size_t i = 0; i < text.len && good; i++) {
        const unsigned digit = (unsigned)(text.ptr[i] - '0');
        good = digit < 10 && *out <= (UINT64_MAX - digit) / 10;
        *out = *out * 10 + digit;
    }
    if (!good) markup_type_error(f, text, "frame number");
    return good;
}

/* Whether the address is that of the code itself, or of what follows a call. */
bool markup_read_pc_type(const struct markup_filter *f, struct markup_span text, bool *is_return) {
    *is_return = markup_is(text, "ra");
    if (*is_return || markup_is(text, "pc")) return true;
    markup_type_error(f, text, "PC type");
    return false;
}

bool markup_read_mode(const struct markup_filter *f, struct markup_span text, char mode[8]) {
    static const char letters[] = "rwx";
    size_t at = 0, kept = 0;
    for (int i = 0; i < 3; i++)
        if (at < text.len && (text.ptr[at] | 0x20) == letters[i]) {
            mode[kept++] = letters[i];
            at++;
        }
    mode[kept] = 0;
    if (text.len && at == text.len) return true;
    markup_type_error(f, text, "mode");
    return false;
}

bool markup_read_build_id(const struct markup_filter *f, struct markup_span text, char **out) {
    bool good = text.len > 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        good &= (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    }
    if (!good) {
        markup_type_error(f, text, "build ID");
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

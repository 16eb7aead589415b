/* Differences as text: a line each, with the first difference of each kind below a function. */
#include "diff/diff_out.h"

#include "ui/path_text.h"

enum { INDENT = 2 };

static void put_name(struct diff_out *diff, struct csn_str name) {
    if (name.len) out_safe(diff->out, name_text(&diff->names, name));
    else out_text(diff->out, "(no name)");
}

/* A row without a file has no line; an inlined call may name a line alone. */
static void put_place(struct out_buffer *out, struct diff_path path, uint32_t line) {
    const bool has_file = path.directory.len || path.base.len;
    if (!has_file && !line) {
        out_text(out, "no line");
        return;
    }
    if (has_file) path_put(out, path.directory, path.base);
    else out_text(out, "(no file)");
    out_char(out, ':');
    out_decimal(out, line);
}

/* "+0x4": bytes from the start of the function. */
static void put_offset(struct out_buffer *out, uint64_t offset) {
    out_char(out, '+');
    out_hex(out, offset);
}

/* ---- what differs in a function ---- */

static void put_row(struct diff_out *diff, const struct function_diff *found, int side) {
    put_offset(diff->out, found->rows[side].row.offset);
    out_char(diff->out, ' ');
    put_place(diff->out, found->rows[side].path, found->rows[side].row.line);
}

static void put_node(struct diff_out *diff, const struct function_diff *found, int side) {
    const struct diff_node *node = found->nodes.node[side];
    put_name(diff, node->name);
    out_char(diff->out, ' ');
    put_offset(diff->out, node->first.start);
    out_text(diff->out, "..");
    put_offset(diff->out, node->first.end);
    if (node->range_count > 1) {
        out_text(diff->out, " and ");
        out_decimal(diff->out, node->range_count - 1);
        out_text(diff->out, " more");
    }
    out_text(diff->out, " called at ");
    put_place(diff->out, node->call_path, node->call_line);
}

static void put_site(struct diff_out *diff, const struct function_diff *found, int side) {
    const struct diff_site *site = &found->sites[side].site;
    if (site->flags & CSN_CALL_SITE_TAIL) out_text(diff->out, "tail call");
    else put_offset(diff->out, site->return_offset);
    if (site->flags & CSN_CALL_SITE_INTERNAL) out_text(diff->out, " internal");
    if (site->flags & CSN_CALL_SITE_EXTERNAL) out_text(diff->out, " external");
    if (site->flags & CSN_CALL_SITE_RECOVERED) out_text(diff->out, " recovered");
    if (!site->pattern.len) return;
    out_char(diff->out, ' ');
    out_safe(diff->out, site->pattern);
}

static void put_merged(struct diff_out *diff, const struct function_diff *found, int side) {
    put_name(diff, found->merged[side].name);
}

typedef void put_side(struct diff_out *diff, const struct function_diff *found, int side);

static void put_two(struct diff_out *diff, unsigned what, const struct function_diff *found, const bool present[2],
                    put_side *put) {
    out_spaces(diff->out, INDENT);
    out_text(diff->out, diff_what_name(what));
    out_text(diff->out, ": ");
    for (int side = 0; side < 2; side++) {
        if (side) out_text(diff->out, " | ");
        if (present[side]) put(diff, found, side);
        else out_text(diff->out, "none");
    }
    out_char(diff->out, '\n');
}

static void put_details(struct diff_out *diff, const struct diff_function *a, const struct diff_function *b,
                        const struct function_diff *found) {
    if (found->what & DIFF_SIZE) {
        out_text(diff->out, "  size: ");
        out_decimal(diff->out, a->function.size);
        out_text(diff->out, " | ");
        out_decimal(diff->out, b->function.size);
        out_char(diff->out, '\n');
    }
    if (found->what & DIFF_LINES)
        put_two(diff, 2, found, (bool[]){ found->rows[0].present, found->rows[1].present }, put_row);
    if (found->what & DIFF_INLINES)
        put_two(diff, 3, found, (bool[]){ found->nodes.node[0] != NULL, found->nodes.node[1] != NULL }, put_node);
    if (found->what & DIFF_CALL_SITES)
        put_two(diff, 4, found, (bool[]){ found->sites[0].present, found->sites[1].present }, put_site);
    if (found->what & DIFF_MERGED)
        put_two(diff, 5, found, (bool[]){ found->merged[0].present, found->merged[1].present }, put_merged);
}

static void put_what(struct out_buffer *out, uint32_t what) {
    const char *before = ": ";
    for (unsigned k = 0; diff_what_name(k); k++) {
        if (!(what & 1u << k) || 1u << k == DIFF_ADDRESS) continue;
        out_text(out, before);
        out_text(out, diff_what_name(k));
        before = ", ";
    }
}

/* ---- calls ---- */

static void text_changed(void *context, const struct diff_function *a, const struct diff_function *b,
                         const struct function_diff *found) {
    struct diff_out *diff = context;
    if (diff->shown++ >= diff->shown_max) return;
    out_text(diff->out, found->what & DIFF_ADDRESS ? "moved " : "changed ");
    out_hex(diff->out, a->record.start);
    if (found->what & DIFF_ADDRESS) {
        out_text(diff->out, " -> ");
        out_hex(diff->out, b->record.start);
    }
    out_char(diff->out, ' ');
    put_name(diff, a->function.name);
    put_what(diff->out, found->what);
    out_char(diff->out, '\n');
    put_details(diff, a, b, found);
}

static void finish_kind(struct diff_out *diff, const char *kind) {
    if (diff->shown > diff->shown_max) {
        out_text(diff->out, "... and ");
        out_decimal(diff->out, diff->shown - diff->shown_max);
        out_text(diff->out, " more ");
        out_text(diff->out, kind);
        out_text(diff->out, " (--all shows them)\n");
    }
    diff->shown = 0;
}

static void text_between(void *context, int side) {
    finish_kind(context, side ? "removed" : "changed or moved");
}

static void text_loose(void *context, int side, const struct diff_loose *function) {
    struct diff_out *diff = context;
    if (diff->shown++ >= diff->shown_max) return;
    out_text(diff->out, side ? "added " : "removed ");
    out_hex(diff->out, function->start);
    out_char(diff->out, ' ');
    put_name(diff, function->name);
    out_char(diff->out, '\n');
}

void diff_keep_damaged(void *context, const struct diff_damaged *function) {
    struct diff_out *diff = context;
    if (diff->first_damaged[function->side].present) return;
    diff->first_damaged[function->side].present = true;
    diff->first_damaged[function->side].start = function->start;
    diff->first_damaged[function->side].err = function->err;
}

const struct diff_listener diff_text_calls = { .changed = text_changed, .loose = text_loose, .between = text_between,
                                               .damaged = diff_keep_damaged };

void diff_text_damaged_begin(struct diff_out *diff) {
    finish_kind(diff, "added");
}

void diff_text_damaged(void *context, const struct diff_damaged *function) {
    struct diff_out *diff = context;
    if (diff->shown++ >= diff->shown_max) return;
    const char *text = csn_error_text(&function->err);
    out_text(diff->out, "damaged ");
    out_hex(diff->out, function->start);
    out_char(diff->out, ' ');
    put_name(diff, function->name);
    out_text(diff->out, function->side ? " in B: " : " in A: ");
    out_safe(diff->out, (struct csn_str){ text, strlen(text) });
    out_char(diff->out, '\n');
}

void diff_text_begin(struct diff_out *diff, const struct diff_result *result) {
    for (size_t i = 0; i < result->header_count; i++) {
        out_text(diff->out, result->headers[i].what);
        for (int side = 0; side < 2; side++) {
            const char *value = result->headers[i].values[side];
            out_text(diff->out, side ? " | " : ": ");
            out_text(diff->out, *value ? value : "none");
        }
        out_char(diff->out, '\n');
    }
    diff->shown = 0;
}

void diff_text_files_begin(struct diff_out *diff) {
    finish_kind(diff, "damaged");
}

void diff_text_file(struct diff_out *diff, int side, struct diff_path path) {
    if (diff->shown++ >= diff->shown_max) return;
    out_text(diff->out, side ? "file added " : "file removed ");
    path_put(diff->out, path.directory, path.base);
    out_char(diff->out, '\n');
}

void diff_text_end(struct diff_out *diff, const struct diff_result *result) {
    const struct diff_counts *counts = &result->counts;
    const struct {
        uint64_t count;
        const char *what;
    } parts[] = { { counts->same, " same, " }, { counts->changed, " changed, " }, { counts->moved, " moved, " },
                  { counts->removed, " removed, " }, { counts->added, " added" } };
    uint64_t damaged = counts->damaged[0] + counts->damaged[1];
    finish_kind(diff, "files");
    out_text(diff->out, "functions: ");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        out_decimal(diff->out, parts[i].count);
        out_text(diff->out, parts[i].what);
    }
    if (damaged) {
        out_text(diff->out, ", ");
        out_decimal(diff->out, damaged);
        out_text(diff->out, " damaged");
    }
    out_text(diff->out, result->same     ? "\nthe two say the same\n"
                        : result->differ ? "\nthe two differ\n"
                                         : "\nthe rest is the same\n");
}

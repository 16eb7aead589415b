/* Statistics as text. */
#include "ui/path_text.h"
#include "stats/stats_out.h"

enum { NUMBER_WIDTH = 12, SHARE_WIDTH = 8 };

static void put_right(struct out_buffer *out, uint64_t value, size_t width) {
    size_t digits = 1;
    for (uint64_t rest = value / 10; rest; rest /= 10) digits++;
    out_spaces(out, digits < width ? width - digits : 1);
    out_decimal(out, value);
}

/* Per cent with one digit, as "46.0". */
static void put_share(struct out_buffer *out, uint64_t value, uint64_t whole, size_t width) {
    /* In double, as value * 1000 may not fit; it is for people, and the whole numbers stand beside it. */
    uint64_t tenths = whole ? (uint64_t)((double)value * 1000.0 / (double)whole + 0.5) : 0;
    put_right(out, tenths / 10, width - 2);
    out_char(out, '.');
    out_decimal(out, tenths % 10);
}

static void put_path(struct out_buffer *out, const struct stats_place *place) {
    if (!place->directory.len && !place->base.len) out_text(out, "(no file)");
    path_put(out, place->directory, place->base);
}

static void put_parts(const struct csn_stats_sums *sums, struct out_buffer *out) {
    out_text(out, "\n       bytes       %  part\n");
    for (uint32_t part = 0; part < CSN_PART_COUNT; part++) {
        if (!sums->part_bytes[part]) continue;
        put_right(out, sums->part_bytes[part], NUMBER_WIDTH);
        put_share(out, sums->part_bytes[part], sums->file_size, SHARE_WIDTH);
        out_text(out, "  ");
        out_text(out, csn_part_name(part));
        out_char(out, '\n');
    }
}

static void put_code_line(struct out_buffer *out, uint64_t bytes, uint64_t whole, const char *what) {
    put_right(out, bytes, NUMBER_WIDTH);
    put_share(out, bytes, whole, SHARE_WIDTH);
    out_text(out, what);
}

static void put_code(const struct csn_stats_sums *sums, struct out_buffer *out) {
    out_text(out, "\n       bytes       %  code\n");
    put_code_line(out, sums->code_bytes, sums->code_bytes, "  in functions\n");
    put_code_line(out, sums->code_bytes_with_lines, sums->code_bytes, "  with lines\n");
    put_code_line(out, sums->code_bytes_inlined, sums->code_bytes, "  from inlined calls\n");
}

static void put_more(struct out_buffer *out, size_t count, size_t top) {
    if (count <= top) return;
    out_text(out, "         ... and ");
    out_decimal(out, count - top);
    out_text(out, " more\n");
}

static void put_places(const struct stats_view *view, const struct stats_places *places, const char *what,
                       struct out_buffer *out) {
    out_text(out, "\n       bytes       %   functions  ");
    out_text(out, what);
    out_char(out, '\n');
    for (size_t i = 0; i < places->count && i < view->top; i++) {
        const struct stats_place *place = &places->items[i];
        put_right(out, place->sum.bytes, NUMBER_WIDTH);
        put_share(out, place->sum.bytes, view->stats->sums.file_size, SHARE_WIDTH);
        put_right(out, place->sum.functions, NUMBER_WIDTH);
        out_text(out, "  ");
        put_path(out, place);
        out_char(out, '\n');
    }
    put_more(out, places->count, view->top);
}

static void put_code_size(const struct csn_function_stats *f, struct out_buffer *out) {
    if (stats_knows_size(f)) {
        put_right(out, f->function.size, NUMBER_WIDTH);
        return;
    }
    out_spaces(out, NUMBER_WIDTH - 1);
    out_char(out, '?');
}

static void put_functions(const struct stats_view *view, struct out_buffer *out) {
    const struct stats *stats = view->stats;
    out_text(out, "\n       bytes       lines     inlines        code  function\n");
    for (size_t i = 0; i < stats->largest_count && i < view->top; i++) {
        const struct csn_function_stats *f = &stats->largest[i];
        put_right(out, f->record_bytes, NUMBER_WIDTH);
        put_right(out, f->line_bytes, NUMBER_WIDTH);
        put_right(out, f->inline_bytes, NUMBER_WIDTH);
        put_code_size(f, out);
        out_text(out, "  ");
        out_hex(out, f->function.start);
        out_char(out, ' ');
        out_safe(out, name_text(view->names, f->function.name));
        out_text(out, !f->damaged ? "\n" : f->function.name.len ? " (damaged)\n" : "(damaged)\n");
    }
    put_more(out, stats->info.function_count, view->top);
}

static void put_count(struct out_buffer *out, const char *before, uint64_t count, const char *after) {
    out_text(out, before);
    out_decimal(out, count);
    out_text(out, after);
}

void stats_put_text(const struct stats_view *view, struct out_buffer *out) {
    const struct csn_stats_sums *sums = &view->stats->sums;
    out_safe(out, (struct csn_str){ view->path, strlen(view->path) });
    put_count(out, ": ", sums->file_size, view->is_converted ? " bytes, converted in memory\n" : " bytes\n");
    put_count(out, "", sums->functions, " functions");
    put_count(out, ", ", sums->rows, " line rows");
    put_count(out, ", ", sums->inline_nodes, " inlined calls");
    put_count(out, ", ", sums->call_sites, " call sites");
    put_count(out, ", ", sums->merged_functions, " merged functions");
    put_count(out, ", ", view->stats->info.file_count ? view->stats->info.file_count - 1 : 0, " files\n");
    put_parts(sums, out);
    put_code(sums, out);
    put_places(view, &view->directories, "directory", out);
    put_places(view, &view->files, "file", out);
    put_functions(view, out);
}

/* Statistics as JSON, and as the data of the page. */
#include "stats/stats_out.h"

static void put_parts(const struct csn_stats_sums *sums, struct json_out *json) {
    json_key(json, "parts");
    json_begin_array(json);
    for (uint32_t part = 0; part < CSN_PART_COUNT; part++) {
        json_begin_object(json);
        json_member_text(json, "name", csn_part_name(part));
        json_member_number(json, "bytes", sums->part_bytes[part]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_sums(const struct stats_view *view, struct json_out *json) {
    const struct csn_stats_sums *sums = &view->stats->sums;
    json_member_text(json, "file", view->path);
    json_member_number(json, "file_size", sums->file_size);
    if (view->is_converted) {
        json_key(json, "converted");
        json_bool(json, true);
    }
    put_parts(sums, json);
    json_member_number(json, "functions", sums->functions);
    json_member_number(json, "damaged_functions", sums->damaged_functions);
    json_member_number(json, "rows", sums->rows);
    json_member_number(json, "inlined_calls", sums->inline_nodes);
    json_member_number(json, "call_sites", sums->call_sites);
    json_member_number(json, "merged_functions", sums->merged_functions);
    json_key(json, "code");
    json_begin_object(json);
    json_member_number(json, "bytes", sums->code_bytes);
    json_member_number(json, "with_lines", sums->code_bytes_with_lines);
    json_member_number(json, "inlined", sums->code_bytes_inlined);
    json_end_object(json);
}

static void put_places(const struct stats_view *view, const struct stats_places *places, const char *list,
                       const char *key, struct json_out *json) {
    json_key(json, list);
    json_begin_array(json);
    for (size_t i = 0; i < places->count && i < view->top; i++) {
        const struct stats_place *place = &places->items[i];
        json_begin_object(json);
        json_key(json, key);
        json_path(json, place->directory, place->base);
        json_member_number(json, "functions", place->sum.functions);
        json_member_number(json, "bytes", place->sum.bytes);
        json_member_number(json, "code_bytes", place->sum.code_bytes);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_function(const struct stats_view *view, const struct csn_function_stats *f, struct json_out *json) {
    struct stats_place place = stats_place_of(view->stats, f->file);
    json_begin_object(json);
    json_key(json, "name");
    json_str(json, name_text(view->names, f->function.name));
    json_member_hex(json, "address", f->function.start);
    if (place.directory.len || place.base.len) {
        json_key(json, "file");
        json_path(json, place.directory, place.base);
    }
    json_member_number(json, "bytes", f->record_bytes);
    json_member_number(json, "line_bytes", f->line_bytes);
    json_member_number(json, "inline_bytes", f->inline_bytes);
    json_member_number(json, "merged_bytes", f->merged_bytes);
    json_member_number(json, "call_site_bytes", f->call_site_bytes);
    if (stats_knows_size(f)) json_member_number(json, "code_bytes", f->function.size);
    if (f->damaged) {
        json_key(json, "damaged");
        json_bool(json, true);
    }
    json_end_object(json);
}

void stats_put_json(const struct stats_view *view, struct out_buffer *out) {
    struct json_out json = json_on(out);
    json_begin_object(&json);
    put_sums(view, &json);
    put_places(view, &view->directories, "directories", "directory", &json);
    put_places(view, &view->files, "files", "file", &json);
    json_key(&json, "largest_functions");
    json_begin_array(&json);
    for (size_t i = 0; i < view->stats->largest_count && i < view->top; i++)
        put_function(view, &view->stats->largest[i], &json);
    json_end_array(&json);
    json_end_object(&json);
    json_end_line(&json);
}

/* ---- the page ---- */

static const char data_mark[] = "CALLSIGN_DATA";
enum { NAME_SHOWN = 400 };

/* By file number, null where a file has no functions. Arrays, not objects: there may be very many. */
static void put_page_files(const struct stats *stats, struct json_out *json) {
    json_key(json, "files");
    json_begin_array(json);
    for (uint32_t file = 0; file == 0 || file < stats->info.file_count; file++) {
        const struct stats_sum *sum = &stats->by_file[file];
        struct stats_place place = stats_place_of(stats, file);
        if (!sum->functions) {
            json_none(json);
            continue;
        }
        json_begin_array(json);
        json_path(json, place.directory, place.base);
        json_number(json, sum->bytes);
        json_number(json, sum->functions);
        json_number(json, sum->code_bytes);
        json_end_array(json);
    }
    json_end_array(json);
}

static void put_page_functions(const struct stats_view *view, struct json_out *json) {
    const struct stats *stats = view->stats;
    json_key(json, "largest");
    json_begin_array(json);
    for (size_t i = 0; i < stats->largest_count; i++) {
        const struct csn_function_stats *f = &stats->largest[i];
        struct csn_str name = name_text(view->names, f->function.name);
        if (name.len > NAME_SHOWN) name.len = NAME_SHOWN;
        json_begin_array(json);
        json_str(json, name);
        json_number(json, f->file < stats->info.file_count ? f->file : 0);
        json_number(json, f->record_bytes);
        json_number(json, f->code_bytes);
        json_hex(json, f->function.start);
        json_end_array(json);
    }
    json_end_array(json);
}

void stats_put_page(const struct stats_view *view, struct out_buffer *out) {
    const unsigned char *page = stats_page_html, *end = page + stats_page_html_size, *mark = page;
    size_t size = sizeof(data_mark) - 1;
    while ((size_t)(end - mark) > size && memcmp(mark, data_mark, size) != 0) mark++;
    out_bytes(out, page, (size_t)(mark - page));
    struct json_out json = json_on(out);
    json.html = true;
    json_begin_object(&json);
    put_sums(view, &json);
    put_page_files(view->stats, &json);
    put_page_functions(view, &json);
    json_end_object(&json);
    out_bytes(out, mark + size, (size_t)(end - mark) - size);
}

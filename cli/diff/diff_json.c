/* Differences as one JSON object; callsign-diff(1) tells its members. It is written as the walk goes on, so that memory does
 * not grow with what differs: the verdict stands at its end. */
#include "diff/diff_out.h"

static void put_name(struct diff_out *diff, struct csn_str name) {
    json_key(&diff->json, "name");
    json_str(&diff->json, name_text(&diff->names, name));
}

static void put_place(struct json_out *json, struct diff_path path, uint32_t line) {
    const bool has_file = path.directory.len || path.base.len;
    if (has_file) {
        json_key(json, "file");
        json_path(json, path.directory, path.base);
    }
    if (has_file || line) json_member_number(json, "line", line);
}

/* ---- what differs in a function ---- */

static void put_row(struct diff_out *diff, const struct function_diff *found, int side) {
    json_member_number(&diff->json, "offset", found->rows[side].row.offset);
    put_place(&diff->json, found->rows[side].path, found->rows[side].row.line);
}

static void put_node(struct diff_out *diff, const struct function_diff *found, int side) {
    const struct diff_node *node = found->nodes.node[side];
    put_name(diff, node->name);
    json_member_number(&diff->json, "depth", node->depth);
    json_member_number(&diff->json, "start", node->first.start);
    json_member_number(&diff->json, "end", node->first.end);
    json_member_number(&diff->json, "ranges", node->range_count);
    put_place(&diff->json, node->call_path, node->call_line);
}

static void put_site(struct diff_out *diff, const struct function_diff *found, int side) {
    const struct diff_site *site = &found->sites[side].site;
    json_member_number(&diff->json, "return_offset", site->return_offset);
    json_member_number(&diff->json, "flags", site->flags);
    if (!site->pattern.len) return;
    json_key(&diff->json, "pattern");
    json_str(&diff->json, site->pattern);
}

static void put_merged(struct diff_out *diff, const struct function_diff *found, int side) {
    put_name(diff, found->merged[side].name);
}

typedef void put_side(struct diff_out *diff, const struct function_diff *found, int side);

/* {"a":{...},"b":{...}}: a side that has nothing is left out. */
static void put_two(struct diff_out *diff, const char *key, const struct function_diff *found, const bool present[2],
                    put_side *put) {
    json_key(&diff->json, key);
    json_begin_object(&diff->json);
    for (int side = 0; side < 2; side++) {
        if (!present[side]) continue;
        json_key(&diff->json, side ? "b" : "a");
        json_begin_object(&diff->json);
        put(diff, found, side);
        json_end_object(&diff->json);
    }
    json_end_object(&diff->json);
}

static void put_what(struct json_out *json, uint32_t what) {
    json_key(json, "what");
    json_begin_array(json);
    for (unsigned k = 0; diff_what_name(k); k++)
        if (what & 1u << k) json_text(json, diff_what_name(k));
    json_end_array(json);
}

static void put_details(struct diff_out *diff, const struct diff_function *a, const struct diff_function *b,
                        const struct function_diff *found) {
    struct json_out *json = &diff->json;
    if (found->what & DIFF_SIZE) {
        json_key(json, "sizes");
        json_begin_object(json);
        json_member_number(json, "a", a->function.size);
        json_member_number(json, "b", b->function.size);
        json_end_object(json);
    }
    if (found->what & DIFF_LINES)
        put_two(diff, "line", found, (bool[]){ found->rows[0].present, found->rows[1].present }, put_row);
    if (found->what & DIFF_INLINES)
        put_two(diff, "inline", found, (bool[]){ found->nodes.node[0] != NULL, found->nodes.node[1] != NULL }, put_node);
    if (found->what & DIFF_CALL_SITES)
        put_two(diff, "call_site", found, (bool[]){ found->sites[0].present, found->sites[1].present }, put_site);
    if (found->what & DIFF_MERGED)
        put_two(diff, "merged", found, (bool[]){ found->merged[0].present, found->merged[1].present }, put_merged);
}

/* ---- calls ---- */

static void json_changed(void *context, const struct diff_function *a, const struct diff_function *b,
                         const struct function_diff *found) {
    struct diff_out *diff = context;
    struct json_out *json = &diff->json;
    json_begin_object(json);
    put_name(diff, a->function.name);
    json_member_hex(json, "address", a->record.start);
    if (found->what & DIFF_ADDRESS) json_member_hex(json, "new_address", b->record.start);
    put_what(json, found->what);
    put_details(diff, a, b, found);
    json_end_object(json);
}

static void json_between(void *context, int side) {
    struct diff_out *diff = context;
    json_end_array(&diff->json);
    json_key(&diff->json, side ? "added" : "removed");
    json_begin_array(&diff->json);
}

static void json_loose(void *context, int side, const struct diff_loose *function) {
    (void)side;
    struct diff_out *diff = context;
    json_begin_object(&diff->json);
    put_name(diff, function->name);
    json_member_hex(&diff->json, "address", function->start);
    json_member_number(&diff->json, "size", function->size);
    json_end_object(&diff->json);
}

const struct diff_listener diff_json_calls = { .changed = json_changed, .loose = json_loose, .between = json_between,
                                               .damaged = diff_keep_damaged };

void diff_json_damaged_begin(struct diff_out *diff) {
    json_end_array(&diff->json);
    json_key(&diff->json, "damaged");
    json_begin_array(&diff->json);
}

void diff_json_damaged(void *context, const struct diff_damaged *function) {
    struct diff_out *diff = context;
    json_begin_object(&diff->json);
    if (function->name.len) put_name(diff, function->name);
    json_member_hex(&diff->json, "address", function->start);
    json_member_text(&diff->json, "in", function->side ? "b" : "a");
    json_member_text(&diff->json, "error", csn_error_text(&function->err));
    json_end_object(&diff->json);
}

static void put_headers(struct json_out *json, const struct diff_result *result) {
    json_key(json, "header");
    json_begin_array(json);
    for (size_t i = 0; i < result->header_count; i++) {
        json_begin_object(json);
        json_member_text(json, "what", result->headers[i].what);
        for (int side = 0; side < 2; side++)
            if (result->headers[i].values[side][0])
                json_member_text(json, side ? "b" : "a", result->headers[i].values[side]);
        json_end_object(json);
    }
    json_end_array(json);
}

void diff_json_begin(struct diff_out *diff, const struct diff_result *result) {
    struct json_out *json = &diff->json;
    json_begin_object(json);
    for (int side = 0; side < 2; side++) {
        json_key(json, side ? "b" : "a");
        json_begin_object(json);
        json_member_text(json, "path", diff->inputs[side].path);
        json_member_number(json, "functions", diff->inputs[side].info.function_count);
        json_end_object(json);
    }
    put_headers(json, result);
    json_key(json, "functions");
    json_begin_object(json);
    json_key(json, "changed");
    json_begin_array(json);
}

void diff_json_file(struct diff_out *diff, int side, struct diff_path path) {
    struct json_out *json = &diff->json;
    json_begin_object(json);
    json_member_text(json, "only_in", side ? "b" : "a");
    json_key(json, "file");
    json_path(json, path.directory, path.base);
    json_end_object(json);
}

void diff_json_files_begin(struct diff_out *diff) {
    json_end_array(&diff->json);
    json_end_object(&diff->json);
    json_key(&diff->json, "files");
    json_begin_array(&diff->json);
}

void diff_json_end(struct diff_out *diff, const struct diff_result *result) {
    struct json_out *json = &diff->json;
    json_end_array(json);
    json_key(json, "counts");
    json_begin_object(json);
    json_member_number(json, "same", result->counts.same);
    json_member_number(json, "changed", result->counts.changed);
    json_member_number(json, "moved", result->counts.moved);
    json_member_number(json, "removed", result->counts.removed);
    json_member_number(json, "added", result->counts.added);
    json_member_number(json, "damaged", result->counts.damaged[0] + result->counts.damaged[1]);
    json_end_object(json);
    json_key(json, "same");
    json_bool(json, result->same);
    json_end_object(json);
    json_end_line(json);
}

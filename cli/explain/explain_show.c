/* Showing each step of a lookup. */
#include "explain/explain_show.h"

#include <string.h>

#include "lookup/address_text.h"
#include "lookup/answer.h"
#include "ui/path_text.h"

struct shower {
    const struct explanation *found;
    struct name_text *names;
    struct out_buffer *out;
};

static const char *reason_of(const struct explanation *found) {
    if (found->status < 0) return found->err.text[0] ? csn_error_text(&found->err) : csn_status_name(found->status);
    uint32_t reason = found->found.reason;
    for (size_t i = 0; !reason && i < found->found.frame_count; i++) reason = found->frames[i].reason;
    return reason == CSN_REASON_COMPLETE ? NULL : csn_reason_text(reason);
}

static const char *site_text(uint32_t flags) {
    switch (flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL)) {
    case CSN_CALL_SITE_INTERNAL: return "within the image";
    case CSN_CALL_SITE_EXTERNAL: return "out of the image";
    case 0: return "to an unknown place";
    default: return "within the image or out of it";
    }
}

/* ---- text ---- */

static void put_step(struct shower *s, const char *name) {
    enum { COLUMN = 12 };
    size_t size = strlen(name);
    out_text(s->out, "  ");
    out_text(s->out, name);
    out_spaces(s->out, size < COLUMN ? COLUMN - size : 1);
}

static void put_name(struct shower *s, struct csn_str name) {
    if (name.len) out_safe(s->out, name_text(s->names, name));
    else out_text(s->out, "(no name)");
}

static void put_count(struct shower *s, uint64_t count, const char *one, const char *many) {
    out_decimal(s->out, count);
    out_char(s->out, ' ');
    out_text(s->out, count == 1 ? one : many);
}

static void put_function(struct shower *s, const struct csn_function *function) {
    put_name(s, function->name);
    out_char(s->out, ' ');
    out_hex(s->out, function->start);
    out_text(s->out, "..");
    out_hex(s->out, function->start + function->size);
}

static void put_index(struct shower *s) {
    const struct csn_index_info *info = &s->found->info;
    put_step(s, "index");
    put_count(s, info->function_count, "function", "functions");
    out_text(s->out, ", base address ");
    out_hex(s->out, info->base_address);
    if (info->uuid_size) {
        out_text(s->out, ", build id ");
        out_hex_bytes(s->out, info->uuid, info->uuid_size);
    }
    out_char(s->out, '\n');
}

static void put_neighbour(struct shower *s, const struct csn_function *function, const struct csn_error *err) {
    if (!err->text[0]) {
        put_function(s, function);
        return;
    }
    out_hex(s->out, function->start);
    out_text(s->out, ", which is damaged");
}

static void put_table(struct shower *s) {
    const struct explanation *found = s->found;
    put_step(s, "addresses");
    if (found->has_before) {
        out_text(s->out, "the last function that starts at or below is ");
        put_neighbour(s, &found->before, &found->before_err);
    } else {
        out_text(s->out, "no function starts at or below");
    }
    if (found->has_after) {
        out_text(s->out, "; the next is ");
        put_neighbour(s, &found->after, &found->after_err);
    }
    out_char(s->out, '\n');
}

static void put_binary(struct shower *s) {
    const struct csn_binary *binary = &s->found->binary;
    if (!s->found->has_binary) return;
    put_step(s, "binary");
    out_safe(s->out, binary->name);
    out_char(s->out, ' ');
    out_hex(s->out, binary->address);
    out_text(s->out, "..");
    out_hex(s->out, binary->address + binary->size);
    out_text(s->out, ", the last that starts at or below: only its functions are searched\n");
}

static void put_record(struct shower *s) {
    put_step(s, "record");
    out_text(s->out, "at ");
    out_hex(s->out, s->found->function.record_offset);
    out_text(s->out, " of the file, function ");
    out_decimal(s->out, s->found->found.function_index);
    out_text(s->out, ": ");
    put_function(s, &s->found->function);
    out_char(s->out, '\n');
}

static void put_row(struct shower *s, const struct csn_row *row) {
    out_hex(s->out, row->addr);
    out_text(s->out, " says line ");
    out_decimal(s->out, row->line);
}

static void put_lines(struct shower *s) {
    const struct explanation *found = s->found;
    put_step(s, "lines");
    if (!found->function.has_lines) {
        out_text(s->out, "none: the function was known as a symbol, or built without line information\n");
        return;
    }
    put_count(s, found->row_count, "row; ", "rows; ");
    if (found->has_row) {
        out_text(s->out, "the last at or below, ");
        put_row(s, &found->row);
        out_text(s->out, " of ");
        path_put(s->out, found->row_directory, found->row_base);
        if (!found->row_base.len) out_text(s->out, "no file");
    } else if (found->has_first_row) {
        out_text(s->out, "even the first is after the address: ");
        put_row(s, &found->first_row);
    }
    out_char(s->out, '\n');
}

static void put_inlined(struct shower *s) {
    const struct explanation *found = s->found;
    size_t here = found->found.frame_count ? found->found.frame_count - 1 : 0;
    put_step(s, "inlined");
    put_count(s, found->inline_count, "call in the function, ", "calls in the function, ");
    out_decimal(s->out, here);
    out_text(s->out, here == 1 ? " holds the address" : " hold the address");
    for (size_t i = 0; i < here; i++) {
        out_text(s->out, i ? ", inlined into " : ": ");
        put_name(s, found->frames[i].name);
    }
    out_char(s->out, '\n');
}

static void put_merged(struct shower *s) {
    const struct explanation *found = s->found;
    put_step(s, "merged");
    if (!found->merged_count) {
        out_text(s->out, "no other function shares this code\n");
        return;
    }
    put_count(s, found->merged_count, "other function shares", "other functions share");
    out_text(s->out, " this code: ");
    for (uint64_t i = 0; i < found->merged_count && i < EXPLAIN_NAMES; i++) {
        if (i) out_text(s->out, ", ");
        put_name(s, found->merged[i]);
    }
    if (found->merged_count > EXPLAIN_NAMES) out_text(s->out, ", ...");
    out_text(s->out, ". The name shown is the record's own; the caller tells which is meant (callsign stack)\n");
}

static void put_callees(struct shower *s, const struct explained_site *site) {
    const struct csn_str *patterns = s->found->patterns + site->first_pattern;
    for (uint32_t i = 0; i < site->pattern_count; i++) {
        out_text(s->out, i ? " or " : ", to ");
        out_safe(s->out, patterns[i]);
    }
    if (!site->pattern_count) out_text(s->out, ", indirect: it names nobody");
}

static void put_speaker(struct shower *s, const struct explained_site *site) {
    if (!site->merged) return;
    out_text(s->out, "(as ");
    put_name(s, site->function);
    out_text(s->out, ") ");
}

static bool is_tail(const struct explained_site *site) { return site->flags & CSN_CALL_SITE_TAIL; }

static void put_sites(struct shower *s) {
    const struct explanation *found = s->found;
    bool any = false;
    put_step(s, "call sites");
    put_count(s, found->site_count - found->tail_count, "in the function; ", "in the function; ");
    for (uint32_t i = 0; i < found->explained_count; i++) {
        const struct explained_site *site = &found->sites[i];
        if (is_tail(site)) continue;
        out_text(s->out, any ? "; " : "the call that returns here goes ");
        put_speaker(s, site);
        out_text(s->out, site_text(site->flags));
        put_callees(s, site);
        any = true;
    }
    out_text(s->out, any ? "\n" : "none returns to this address\n");
}

static void put_tail_calls(struct shower *s) {
    const struct explanation *found = s->found;
    bool any = false;
    for (uint32_t i = 0; i < found->explained_count; i++) {
        const struct explained_site *site = &found->sites[i];
        if (!is_tail(site)) continue;
        if (!any) put_step(s, "tail calls");
        out_text(s->out, any ? "; " : "the function may end by jumping ");
        put_speaker(s, site);
        out_text(s->out, site_text(site->flags));
        put_callees(s, site);
        any = true;
    }
    if (any) out_text(s->out, ". Who is jumped to then stands on the stack in its place\n");
}

static void put_answer(struct shower *s) {
    const struct explanation *found = s->found;
    const char *reason = reason_of(found);
    put_step(s, "answer");
    if (found->status != CSN_OK) {
        out_text(s->out, found->status < 0 ? "damaged: " : "not found: ");
        out_text(s->out, reason ? reason : "");
        out_char(s->out, '\n');
        if (found->status == CSN_NONE && address_looks_loaded(found->addr)) {
            put_step(s, "hint");
            out_text(s->out, "it " LOADED_HINT "\n");
        }
        return;
    }
    for (size_t i = 0; i < found->found.frame_count; i++) {
        if (i) put_step(s, "");
        frame_put_text(&found->frames[i], s->names, s->out);
        out_char(s->out, '\n');
    }
    if (!reason) return;
    put_step(s, "missing");
    out_text(s->out, reason);
    out_char(s->out, '\n');
}

void explain_show_text(const struct explanation *found, const char *path, struct name_text *names,
                       struct out_buffer *out) {
    struct shower s = { found, names, out };
    out_hex(out, found->addr);
    out_text(out, " in ");
    out_safe(out, (struct csn_str){ path, strlen(path) });
    out_char(out, '\n');
    put_index(&s);
    put_table(&s);
    put_binary(&s);
    if (found->status == CSN_OK) {
        put_record(&s);
        put_lines(&s);
        put_inlined(&s);
        put_merged(&s);
        put_sites(&s);
        put_tail_calls(&s);
    }
    put_answer(&s);
}

/* ---- JSON ---- */

static void put_json_function(struct json_out *json, const char *key, const struct csn_function *function,
                              struct name_text *names) {
    json_key(json, key);
    json_begin_object(json);
    json_key(json, "function");
    json_str(json, name_text(names, function->name));
    json_member_hex(json, "start", function->start);
    json_member_hex(json, "end", function->start + function->size);
    json_member_number(json, "record", function->record_offset);
    json_end_object(json);
}

static void put_json_neighbour(struct json_out *json, const char *key, const struct csn_function *function,
                               const struct csn_error *err, struct name_text *names) {
    if (!err->text[0]) {
        put_json_function(json, key, function, names);
        return;
    }
    json_key(json, key);
    json_begin_object(json);
    json_member_hex(json, "start", function->start);
    json_member_text(json, "error", csn_error_text(err));
    json_end_object(json);
}

static void put_json_row(struct json_out *json, const struct explanation *found) {
    json_key(json, "row");
    json_begin_object(json);
    json_member_hex(json, "address", found->row.addr);
    if (found->row_base.len) {
        json_key(json, "file");
        json_path(json, found->row_directory, found->row_base);
    }
    json_member_number(json, "line", found->row.line);
    json_end_object(json);
}

static void put_json_site(struct json_out *json, const struct explanation *found, const struct explained_site *site,
                          struct name_text *names) {
    json_begin_object(json);
    if (site->merged) {
        json_key(json, "function");
        json_str(json, name_text(names, site->function));
    }
    json_key(json, "internal");
    json_bool(json, site->flags & CSN_CALL_SITE_INTERNAL);
    json_key(json, "external");
    json_bool(json, site->flags & CSN_CALL_SITE_EXTERNAL);
    json_key(json, "patterns");
    json_begin_array(json);
    for (uint32_t i = 0; i < site->pattern_count; i++) json_str(json, found->patterns[site->first_pattern + i]);
    json_end_array(json);
    json_end_object(json);
}

/* The record's own under `key`; those of functions that share its code as a list. */
static void put_json_sites(struct json_out *json, const struct explanation *found, bool tail, const char *key,
                           const char *merged_key, struct name_text *names) {
    bool list = false;
    for (uint32_t i = 0; i < found->explained_count; i++) {
        const struct explained_site *site = &found->sites[i];
        if (is_tail(site) != tail) continue;
        if (!site->merged || !list) json_key(json, site->merged ? merged_key : key);
        if (site->merged && !list) json_begin_array(json);
        list |= site->merged;
        put_json_site(json, found, site, names);
    }
    if (list) json_end_array(json);
}

static void put_json_tables(struct json_out *json, const struct explanation *found, struct name_text *names) {
    json_key(json, "tables");
    json_begin_object(json);
    json_member_number(json, "functions", found->info.function_count);
    if (found->status == CSN_OK) {
        json_member_number(json, "rows", found->row_count);
        json_member_number(json, "inlined", found->inline_count);
        json_member_number(json, "merged", found->merged_count);
        json_member_number(json, "call_sites", found->site_count);
    }
    json_end_object(json);
    if (found->has_before) put_json_neighbour(json, "before", &found->before, &found->before_err, names);
    if (found->has_after) put_json_neighbour(json, "after", &found->after, &found->after_err, names);
    if (!found->has_binary) return;
    json_key(json, "binary");
    json_begin_object(json);
    json_key(json, "name");
    json_str(json, found->binary.name);
    json_member_hex(json, "start", found->binary.address);
    json_member_hex(json, "end", found->binary.address + found->binary.size);
    json_end_object(json);
}

static void put_json_record(struct json_out *json, const struct explanation *found, struct name_text *names) {
    put_json_function(json, "record", &found->function, names);
    if (found->has_row) put_json_row(json, found);
    if (found->merged_count) {
        json_key(json, "candidates");
        json_begin_array(json);
        json_str(json, name_text(names, found->function.name));
        for (uint64_t i = 0; i < found->merged_count && i < EXPLAIN_NAMES; i++)
            json_str(json, name_text(names, found->merged[i]));
        json_end_array(json);
    }
    put_json_sites(json, found, false, "call_site", "merged_call_sites", names);
    put_json_sites(json, found, true, "tail_calls", "merged_tail_calls", names);
}

void explain_show_json(const struct explanation *found, const char *path, struct name_text *names,
                       struct out_buffer *out) {
    struct json_out json = json_on(out);
    const char *reason = reason_of(found);
    json_begin_object(&json);
    json_member_hex(&json, "address", found->addr);
    json_member_text(&json, "index", path);
    put_json_tables(&json, found, names);
    if (found->status == CSN_OK) put_json_record(&json, found, names);
    json_key(&json, "frames");
    json_begin_array(&json);
    for (size_t i = 0; i < found->found.frame_count; i++) frame_put_json(&found->frames[i], names, &json);
    json_end_array(&json);
    if (reason) json_member_text(&json, found->status < 0 ? "error" : "reason", reason);
    json_end_object(&json);
    json_end_line(&json);
}

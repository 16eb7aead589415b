/* An index as JSON, one object a line. */
#include "dump/dump_out.h"

#include <callsign/inspect.h>
#include "ui/json_out.h"

static void put_error(struct dump *dump, struct json_out *json, const struct csn_error *err) {
    dump->damaged = true;
    json_member_text(json, "error", csn_error_text(err));
}

/* The directory of GSYM version 2. */
static void put_sections(struct dump *dump, struct json_out *json) {
    struct csn_section section;
    json_key(json, "sections");
    json_begin_array(json);
    for (uint32_t idx = 0; csn_index_section(dump->index, idx, &section, NULL) == CSN_OK; idx++) {
        const char *name = csn_section_type_name(section.type);
        json_begin_object(json);
        json_member_number(json, "type", section.type);
        if (name) json_member_text(json, "name", name);
        json_member_hex(json, "offset", section.offset);
        json_member_number(json, "size", section.size);
        json_end_object(json);
    }
    json_end_array(json);
}

void dump_json_header(struct dump *dump, const char *path) {
    const struct csn_index_info *info = &dump->info;
    struct json_out json = json_on(&dump->out);
    json_begin_object(&json);
    json_key(&json, "header");
    json_begin_object(&json);
    json_member_text(&json, "path", path);
    json_member_text(&json, "format", info->revision ? "gsym-section" : "gsym");
    json_member_number(&json, "version", info->format == CSN_FORMAT_GSYM_V2 ? 2 : 1);
    if (info->revision) json_member_text(&json, "revision", (const char[]){ (char)info->revision, 0 });
    json_member_text(&json, "byte_order", info->big_endian ? "big" : "little");
    json_member_number(&json, "file_size", info->file_size);
    json_member_hex(&json, "base_address", info->base_address);
    if (info->uuid_size) {
        json_key(&json, "build_id");
        json_hex_bytes(&json, info->uuid, info->uuid_size);
    }
    json_member_number(&json, "address_size", info->address_size);
    json_member_number(&json, "functions", info->function_count);
    if (info->address_sample_count) json_member_number(&json, "guide_entries", info->address_sample_count);
    if (info->stored_accelerator_bytes) json_member_number(&json, "accelerator_bytes", info->stored_accelerator_bytes);
    json_member_number(&json, "files", info->file_count);
    json_member_number(&json, "string_bytes", info->string_bytes);
    if (info->format == CSN_FORMAT_GSYM_V2) put_sections(dump, &json);
    json_end_object(&json);
    json_end_object(&json);
    json_end_line(&json);
}

/* "file" and "line" of an object; what has no value is left out. */
static void put_place(struct dump *dump, struct json_out *json, const char *file_key, uint32_t file,
                      const char *line_key, uint32_t line) {
    struct csn_str directory, base;
    if (csn_index_file(dump->index, file, &directory, &base, NULL) == CSN_OK && (directory.len || base.len)) {
        json_key(json, file_key);
        json_path(json, directory, base);
    }
    if (line) json_member_number(json, line_key, line);
}

void dump_json_files(struct dump *dump) {
    for (uint32_t idx = 1; idx < dump->info.file_count; idx++) {
        struct json_out json = json_on(&dump->out);
        json_begin_object(&json);
        json_key(&json, "file");
        json_begin_object(&json);
        json_member_number(&json, "index", idx);
        struct csn_str directory, base;
        struct csn_error err = CSN_ERROR_INIT;
        if (csn_index_file(dump->index, idx, &directory, &base, &err) == CSN_OK) {
            json_key(&json, "path");
            json_path(&json, directory, base);
        } else {
            put_error(dump, &json, &err);
        }
        json_end_object(&json);
        json_end_object(&json);
        json_end_line(&json);
    }
}

static void put_name(struct dump *dump, struct json_out *json, struct csn_str name) {
    if (!name.len) return;
    json_key(json, "name");
    json_str(json, name_text(&dump->names, name));
}

static void put_rows(struct dump *dump, const struct csn_record *record, struct json_out *json) {
    struct csn_row_iter rows;
    struct csn_row row;
    struct csn_error err = CSN_ERROR_INIT;
    json_key(json, "lines");
    json_begin_array(json);
    csn_status status = csn_row_iter_init(&rows, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_row_iter_next(&rows, &row, &err)) == CSN_OK) {
        json_begin_object(json);
        json_member_hex(json, "address", row.addr);
        put_place(dump, json, "file", row.file, "line", row.line);
        json_end_object(json);
    }
    json_end_array(json);
    if (status < 0) put_error(dump, json, &err);
}

static void put_ranges(struct dump *dump, struct csn_inline_node *node, struct json_out *json) {
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = CSN_OK;
    json_key(json, "ranges");
    json_begin_array(json);
    for (uint32_t k = 0; status == CSN_OK && k < node->range_count; k++) {
        struct csn_range range;
        status = csn_inline_node_range(node, k, &range, &err);
        if (status != CSN_OK) break;
        json_begin_array(json);
        json_hex(json, range.start);
        json_hex(json, range.end);
        json_end_array(json);
    }
    json_end_array(json);
    if (status < 0) put_error(dump, json, &err);
}

static void put_inlines(struct dump *dump, const struct csn_record *record, struct json_out *json) {
    struct csn_inline_iter nodes;
    struct csn_inline_node node;
    struct csn_error err = CSN_ERROR_INIT;
    json_key(json, "inlined");
    json_begin_array(json);
    csn_status status = csn_inline_iter_init(&nodes, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_inline_iter_next(&nodes, &node, &err)) == CSN_OK) {
        json_begin_object(json);
        json_member_number(json, "depth", node.depth);
        put_name(dump, json, node.name);
        put_place(dump, json, "call_file", node.call_file, "call_line", node.call_line);
        put_ranges(dump, &node, json);
        json_end_object(json);
    }
    json_end_array(json);
    if (status < 0) put_error(dump, json, &err);
}

static void put_call_site(struct dump *dump, const struct csn_record *record, const struct csn_call_site *site,
                          struct json_out *json) {
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = CSN_OK;
    json_begin_object(json);
    if (site->flags & CSN_CALL_SITE_TAIL) {
        json_key(json, "tail");
        json_bool(json, true);
    } else {
        json_member_hex(json, "return_address", record->start + site->return_offset);
    }
    json_key(json, "internal");
    json_bool(json, site->flags & CSN_CALL_SITE_INTERNAL);
    json_key(json, "external");
    json_bool(json, site->flags & CSN_CALL_SITE_EXTERNAL);
    if (site->flags & CSN_CALL_SITE_RECOVERED) {
        json_key(json, "recovered");
        json_bool(json, true);
    }
    json_key(json, "patterns");
    json_begin_array(json);
    for (uint32_t k = 0; status == CSN_OK && k < site->pattern_count; k++) {
        struct csn_str pattern;
        status = csn_call_site_pattern(dump->index, site, k, &pattern, &err);
        if (status == CSN_OK) json_str(json, pattern);
    }
    json_end_array(json);
    if (status < 0) put_error(dump, json, &err);
    json_end_object(json);
}

static void put_call_sites(struct dump *dump, const struct csn_record *record, struct json_out *json) {
    struct csn_call_site_iter sites;
    struct csn_call_site site;
    struct csn_error err = CSN_ERROR_INIT;
    json_key(json, "call_sites");
    json_begin_array(json);
    csn_status status = csn_call_site_iter_init(&sites, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_call_site_iter_next(&sites, &site, &err)) == CSN_OK)
        put_call_site(dump, record, &site, json);
    json_end_array(json);
    if (status < 0) put_error(dump, json, &err);
}

static void put_record(struct dump *dump, const struct csn_record *record, uint32_t depth, struct json_out *json);

static void put_merged(struct dump *dump, const struct csn_record *record, uint32_t depth, struct json_out *json) {
    if (depth == DUMP_MERGED_DEPTH_MAX) {
        dump->damaged = true;
        json_member_text(json, "error", "merged functions are nested too deep");
        return;
    }
    struct csn_merged_iter children;
    struct csn_record child;
    struct csn_error err = CSN_ERROR_INIT;
    json_key(json, "merged");
    json_begin_array(json);
    csn_status status = csn_merged_iter_init(&children, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_merged_iter_next(&children, &child, &err)) == CSN_OK)
        put_record(dump, &child, depth + 1, json);
    json_end_array(json);
    if (status < 0) put_error(dump, json, &err);
}

static void put_record(struct dump *dump, const struct csn_record *record, uint32_t depth, struct json_out *json) {
    struct csn_function function;
    struct csn_error err = CSN_ERROR_INIT;
    json_begin_object(json);
    json_member_hex(json, "start", record->start);
    if (csn_record_function(dump->index, record, &function, &err) == CSN_OK) {
        json_member_number(json, "size", function.size);
        put_name(dump, json, function.name);
        json_member_number(json, "record_offset", function.record_offset);
        if (function.has_lines) put_rows(dump, record, json);
        if (function.has_inlines) put_inlines(dump, record, json);
        if (function.has_call_sites) put_call_sites(dump, record, json);
        if (function.unknown_parts) json_member_number(json, "unknown_parts", function.unknown_parts);
        if (function.has_merged) put_merged(dump, record, depth, json);
    } else {
        put_error(dump, json, &err);
    }
    json_end_object(json);
}

void dump_json_function(struct dump *dump, uint32_t idx) {
    struct json_out json = json_on(&dump->out);
    struct csn_record record;
    struct csn_error err = CSN_ERROR_INIT;
    json_begin_object(&json);
    if (csn_index_record(dump->index, idx, &record, &err) == CSN_OK) {
        json_key(&json, "function");
        put_record(dump, &record, 0, &json);
    } else {
        put_error(dump, &json, &err);
    }
    json_end_object(&json);
    json_end_line(&json);
}

/* An index as text. */
#include <string.h>

#include <callsign/inspect.h>

#include "dump/dump_out.h"
#include "ui/path_text.h"

enum { INDENT = 2, LABEL_COLUMN = 16 };

static void put_label(struct dump *dump, const char *label) {
    out_spaces(&dump->out, INDENT);
    out_text(&dump->out, label);
    out_spaces(&dump->out, LABEL_COLUMN - strlen(label));
}

static void put_count(struct dump *dump, const char *label, uint64_t value, const char *unit) {
    put_label(dump, label);
    out_decimal(&dump->out, value);
    out_text(&dump->out, unit);
    out_char(&dump->out, '\n');
}

/* The directory of GSYM version 2. */
static void put_sections(struct dump *dump) {
    struct csn_section section;
    for (uint32_t idx = 0; csn_index_section(dump->index, idx, &section, NULL) == CSN_OK; idx++) {
        const char *name = csn_section_type_name(section.type);
        put_label(dump, idx ? "" : "sections");
        out_decimal(&dump->out, section.type);
        out_char(&dump->out, ' ');
        out_text(&dump->out, name ? name : "(unknown)");
        out_text(&dump->out, " at ");
        out_hex(&dump->out, section.offset);
        out_text(&dump->out, ", ");
        out_decimal(&dump->out, section.size);
        out_text(&dump->out, " bytes\n");
    }
}

void dump_text_header(struct dump *dump, const char *path) {
    const struct csn_index_info *info = &dump->info;
    struct out_buffer *out = &dump->out;
    out_safe(out, (struct csn_str){ path, strlen(path) });
    if (info->revision) {
        const char name[] = { (char)info->revision, 0 };
        out_text(out, ": section-embedded GSYM of 2017, revision ");
        out_text(out, name);
        out_text(out, ", ");
    } else {
        out_text(out, info->format == CSN_FORMAT_GSYM_V2 ? ": GSYM version 2, " : ": GSYM version 1, ");
    }
    out_text(out, info->big_endian ? "big-endian\n" : "little-endian\n");
    put_count(dump, "size", info->file_size, " bytes");
    put_label(dump, "base address");
    out_hex(out, info->base_address);
    out_char(out, '\n');
    put_label(dump, "build id");
    out_hex_bytes(out, info->uuid, info->uuid_size);
    out_text(out, info->uuid_size ? "\n" : "none\n");
    put_count(dump, "address size", info->address_size, " bytes");
    put_count(dump, "functions", info->function_count, "");
    if (info->address_sample_count) put_count(dump, "address sample", info->address_sample_count, " entries");
    if (info->stored_accelerator_bytes) put_count(dump, "accelerator", info->stored_accelerator_bytes, " bytes");
    put_count(dump, "files", info->file_count, "");
    put_count(dump, "strings", info->string_bytes, " bytes");
    put_sections(dump);
}

/* FILE:LINE, or what stands for them in the record. */
static void put_place(struct dump *dump, uint32_t file, uint32_t line) {
    struct csn_str directory, base;
    if (csn_index_file(dump->index, file, &directory, &base, NULL) != CSN_OK) {
        out_text(&dump->out, "(file ");
        out_decimal(&dump->out, file);
        out_text(&dump->out, " is not in the index)");
    } else if (!directory.len && !base.len) {
        out_text(&dump->out, "(no file)");
    } else {
        path_put(&dump->out, directory, base);
    }
    out_char(&dump->out, ':');
    out_decimal(&dump->out, line);
}

static void put_error(struct dump *dump, size_t indent, const struct csn_error *err) {
    dump->damaged = true;
    out_spaces(&dump->out, indent);
    out_text(&dump->out, "error: ");
    out_text(&dump->out, csn_error_text(err));
    out_char(&dump->out, '\n');
}

void dump_text_files(struct dump *dump) {
    out_text(&dump->out, "\nfiles\n");
    for (uint32_t idx = 1; idx < dump->info.file_count; idx++) {
        struct csn_str directory, base;
        struct csn_error err = CSN_ERROR_INIT;
        if (csn_index_file(dump->index, idx, &directory, &base, &err) != CSN_OK) {
            put_error(dump, INDENT, &err);
            return;
        }
        out_spaces(&dump->out, INDENT);
        out_decimal(&dump->out, idx);
        out_char(&dump->out, ' ');
        path_put(&dump->out, directory, base);
        out_char(&dump->out, '\n');
    }
}

static void put_heading(struct dump *dump, size_t indent, const char *heading) {
    out_spaces(&dump->out, indent);
    out_text(&dump->out, heading);
    out_char(&dump->out, '\n');
}

static void put_range(struct out_buffer *out, uint64_t start, uint64_t end) {
    out_hex(out, start);
    out_text(out, "..");
    out_hex(out, end);
}

static void put_name(struct dump *dump, struct csn_str name) {
    if (name.len)
        out_safe(&dump->out, name_text(&dump->names, name));
    else
        out_text(&dump->out, "(no name)");
}

static void put_rows(struct dump *dump, const struct csn_record *record, size_t indent) {
    struct csn_row_iter rows;
    struct csn_row row;
    struct csn_error err = CSN_ERROR_INIT;
    put_heading(dump, indent, "lines");
    csn_status status = csn_row_iter_init(&rows, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_row_iter_next(&rows, &row, &err)) == CSN_OK) {
        out_spaces(&dump->out, indent + INDENT);
        out_hex(&dump->out, row.addr);
        out_char(&dump->out, ' ');
        put_place(dump, row.file, row.line);
        out_char(&dump->out, '\n');
    }
    if (status < 0) put_error(dump, indent + INDENT, &err);
}

static void put_inline_node(struct dump *dump, struct csn_inline_node *node, size_t indent) {
    out_spaces(&dump->out, indent + (size_t)node->depth * INDENT);
    put_name(dump, node->name);
    for (uint32_t k = 0; k < node->range_count; k++) {
        struct csn_range range;
        struct csn_error err = CSN_ERROR_INIT;
        out_char(&dump->out, ' ');
        if (csn_inline_node_range(node, k, &range, &err) != CSN_OK) {
            put_error(dump, 0, &err);
            return;
        }
        put_range(&dump->out, range.start, range.end);
    }
    if (node->depth || node->call_file || node->call_line) {
        out_text(&dump->out, " called at ");
        put_place(dump, node->call_file, node->call_line);
    }
    out_char(&dump->out, '\n');
}

static void put_inlines(struct dump *dump, const struct csn_record *record, size_t indent) {
    struct csn_inline_iter nodes;
    struct csn_inline_node node;
    struct csn_error err = CSN_ERROR_INIT;
    put_heading(dump, indent, "inlined");
    csn_status status = csn_inline_iter_init(&nodes, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_inline_iter_next(&nodes, &node, &err)) == CSN_OK)
        put_inline_node(dump, &node, indent + INDENT);
    if (status < 0) put_error(dump, indent + INDENT, &err);
}

static void put_call_site(struct dump *dump, const struct csn_record *record, const struct csn_call_site *site,
                          size_t indent) {
    struct out_buffer *out = &dump->out;
    out_spaces(out, indent);
    if (site->flags & CSN_CALL_SITE_TAIL) {
        out_text(out, "tail call");
    } else {
        out_text(out, "returns to ");
        out_hex(out, record->start + site->return_offset);
    }
    if (site->flags & CSN_CALL_SITE_INTERNAL) out_text(out, " internal");
    if (site->flags & CSN_CALL_SITE_EXTERNAL) out_text(out, " external");
    if (site->flags & CSN_CALL_SITE_RECOVERED) out_text(out, " recovered");
    for (uint32_t k = 0; k < site->pattern_count; k++) {
        struct csn_str pattern;
        struct csn_error err = CSN_ERROR_INIT;
        out_char(out, ' ');
        if (csn_call_site_pattern(dump->index, site, k, &pattern, &err) != CSN_OK) {
            put_error(dump, 0, &err);
            return;
        }
        out_safe(out, pattern);
    }
    out_char(out, '\n');
}

static void put_call_sites(struct dump *dump, const struct csn_record *record, size_t indent) {
    struct csn_call_site_iter sites;
    struct csn_call_site site;
    struct csn_error err = CSN_ERROR_INIT;
    put_heading(dump, indent, "call sites");
    csn_status status = csn_call_site_iter_init(&sites, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_call_site_iter_next(&sites, &site, &err)) == CSN_OK)
        put_call_site(dump, record, &site, indent + INDENT);
    if (status < 0) put_error(dump, indent + INDENT, &err);
}

static void put_record(struct dump *dump, const struct csn_record *record, uint32_t depth);

static void put_merged(struct dump *dump, const struct csn_record *record, uint32_t depth) {
    size_t indent = (2 * (size_t)depth + 1) * INDENT;
    put_heading(dump, indent, "merged");
    if (depth == DUMP_MERGED_DEPTH_MAX) {
        dump->damaged = true;
        put_heading(dump, indent + INDENT, "error: merged functions are nested too deep");
        return;
    }
    struct csn_merged_iter children;
    struct csn_record child;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_merged_iter_init(&children, dump->index, record, &err);
    while (status == CSN_OK && (status = csn_merged_iter_next(&children, &child, &err)) == CSN_OK)
        put_record(dump, &child, depth + 1);
    if (status < 0) put_error(dump, indent + INDENT, &err);
}

/* A function, at `depth` levels of merged functions. */
static void put_record(struct dump *dump, const struct csn_record *record, uint32_t depth) {
    size_t indent = 2 * (size_t)depth * INDENT;
    struct csn_function function;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_record_function(dump->index, record, &function, &err);
    out_spaces(&dump->out, indent);
    if (status != CSN_OK) {
        out_hex(&dump->out, record->start);
        out_text(&dump->out, " error: ");
        out_text(&dump->out, csn_error_text(&err));
        out_char(&dump->out, '\n');
        dump->damaged = true;
        return;
    }
    put_range(&dump->out, function.start, function.start + function.size);
    out_char(&dump->out, ' ');
    put_name(dump, function.name);
    out_text(&dump->out, " (record at ");
    out_hex(&dump->out, function.record_offset);
    out_text(&dump->out, ")\n");
    if (function.has_lines) put_rows(dump, record, indent + INDENT);
    if (function.has_inlines) put_inlines(dump, record, indent + INDENT);
    if (function.has_call_sites) put_call_sites(dump, record, indent + INDENT);
    if (function.unknown_parts) put_heading(dump, indent + INDENT, "parts of unknown types, not shown");
    if (function.has_merged) put_merged(dump, record, depth);
}

void dump_text_function(struct dump *dump, uint32_t idx) {
    struct csn_record record;
    struct csn_error err = CSN_ERROR_INIT;
    out_char(&dump->out, '\n');
    if (csn_index_record(dump->index, idx, &record, &err) == CSN_OK)
        put_record(dump, &record, 0);
    else
        put_error(dump, 0, &err);
}

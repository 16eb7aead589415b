/* An image of many binaries (BSYM), as text or as JSON: its header, its binaries, their names on the device, its functions. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <callsign/binaries.h>
#include <callsign/inspect.h>

#include "ui/cli_message.h"
#include "dump/dump_out.h"
#include "ui/json_out.h"

enum { SCRATCH_SIZE = 1 << 20 }; /* longer names are not shown */

static char *scratch_of(struct dump *dump) {
    if (!dump->scratch) dump->scratch = malloc(SCRATCH_SIZE);
    if (!dump->scratch) cli_error_memory("names");
    return dump->scratch;
}

/* ---- header ---- */

static void put_text_header(struct dump *dump, const char *path) {
    const struct csn_index_info *info = &dump->info;
    struct out_buffer *out = &dump->out;
    out_safe(out, (struct csn_str){ path, strlen(path) });
    out_text(out, ": BSYM version ");
    out_decimal(out, info->format_version >> 16);
    out_char(out, '.');
    out_decimal(out, info->format_version & 0xffff);
    out_text(out, "\n  size            ");
    out_decimal(out, info->file_size);
    out_text(out, " bytes\n  checksum        ");
    if (info->image_checksum) out_hex(out, info->image_checksum);
    else out_text(out, "none");
    out_text(out, "\n  binaries        ");
    out_decimal(out, info->binary_count);
    out_text(out, "\n  renames         ");
    out_decimal(out, info->alias_count);
    out_text(out, "\n  functions       ");
    out_decimal(out, info->function_count);
    out_char(out, '\n');
}

static void put_json_header(struct dump *dump, const char *path) {
    const struct csn_index_info *info = &dump->info;
    const char version[] = { (char)('0' + (info->format_version >> 16) % 10), '.',
                             (char)('0' + (info->format_version & 0xffff) % 10), 0 };
    struct json_out json = json_on(&dump->out);
    json_begin_object(&json);
    json_key(&json, "header");
    json_begin_object(&json);
    json_member_text(&json, "path", path);
    json_member_text(&json, "format", "bsym");
    json_member_text(&json, "version", version);
    json_member_text(&json, "byte_order", info->big_endian ? "big" : "little");
    json_member_number(&json, "file_size", info->file_size);
    if (info->image_checksum) json_member_hex(&json, "checksum", info->image_checksum);
    json_member_number(&json, "binaries", info->binary_count);
    json_member_number(&json, "renames", info->alias_count);
    json_member_number(&json, "functions", info->function_count);
    json_end_object(&json);
    json_end_object(&json);
    json_end_line(&json);
}

void dump_rom_header(struct dump *dump, const char *path, bool json) {
    if (json) put_json_header(dump, path);
    else put_text_header(dump, path);
}

/* ---- binaries ---- */

static void put_json_binary(struct dump *dump, uint32_t idx, const struct csn_binary *binary) {
    struct json_out json = json_on(&dump->out);
    json_begin_object(&json);
    json_key(&json, "binary");
    json_begin_object(&json);
    json_member_number(&json, "index", idx);
    json_key(&json, "name");
    json_str(&json, binary->name);
    if (binary->address) json_member_hex(&json, "address", binary->address);
    json_member_number(&json, "size", binary->size);
    json_member_number(&json, "functions", binary->function_count);
    json_end_object(&json);
    json_end_object(&json);
    json_end_line(&json);
}

static void put_text_binary(struct dump *dump, uint32_t idx, const struct csn_binary *binary) {
    out_text(&dump->out, "  ");
    out_decimal(&dump->out, idx);
    out_char(&dump->out, ' ');
    if (binary->address) out_hex(&dump->out, binary->address);
    else out_text(&dump->out, "anywhere");
    out_text(&dump->out, ", ");
    out_decimal(&dump->out, binary->size);
    out_text(&dump->out, " bytes, ");
    out_decimal(&dump->out, binary->function_count);
    out_text(&dump->out, " functions: ");
    out_safe(&dump->out, binary->name);
    out_char(&dump->out, '\n');
}

static void put_binary(struct dump *dump, uint32_t idx, bool as_json) {
    struct csn_binary binary;
    size_t need;
    char *scratch = scratch_of(dump);
    if (!scratch || csn_index_binary(dump->index, idx, scratch, SCRATCH_SIZE, &binary, &need, NULL) != CSN_OK) return;
    if (as_json) put_json_binary(dump, idx, &binary);
    else put_text_binary(dump, idx, &binary);
}

static void put_rename(struct dump *dump, uint32_t idx, bool as_json) {
    struct csn_str name;
    size_t need;
    uint32_t binary;
    char *scratch = scratch_of(dump);
    if (!scratch || csn_index_alias(dump->index, idx, scratch, SCRATCH_SIZE, &name, &binary, &need, NULL) != CSN_OK) return;
    if (as_json) {
        struct json_out json = json_on(&dump->out);
        json_begin_object(&json);
        json_key(&json, "rename");
        json_begin_object(&json);
        if (binary) json_member_number(&json, "binary", binary - 1);
        json_key(&json, "name");
        json_str(&json, name);
        json_end_object(&json);
        json_end_object(&json);
        json_end_line(&json);
        return;
    }
    out_text(&dump->out, "  ");
    if (binary) out_decimal(&dump->out, binary - 1);
    else out_text(&dump->out, "(no binary)");
    out_text(&dump->out, " is ");
    out_safe(&dump->out, name);
    out_char(&dump->out, '\n');
}

void dump_rom_binaries(struct dump *dump, bool json) {
    if (!json) out_text(&dump->out, "\nbinaries\n");
    for (uint32_t i = 0; i < dump->info.binary_count && !dump->out.os_error; i++) put_binary(dump, i, json);
    if (!json && dump->info.alias_count) out_text(&dump->out, "\non the device\n");
    for (uint32_t i = 0; i < dump->info.alias_count && !dump->out.os_error; i++) put_rename(dump, i, json);
    if (!json) out_text(&dump->out, "\nfunctions\n");
}

/* ---- functions ---- */

static void put_json_function(struct dump *dump, const struct csn_function *function, struct csn_str name) {
    struct json_out json = json_on(&dump->out);
    json_begin_object(&json);
    json_key(&json, "function");
    json_begin_object(&json);
    json_member_hex(&json, "start", function->start);
    json_member_number(&json, "size", function->size);
    if (name.len) {
        json_key(&json, "name");
        json_str(&json, name);
    }
    if (function->binary) json_member_number(&json, "binary", function->binary - 1);
    json_member_number(&json, "record_offset", function->record_offset);
    json_end_object(&json);
    json_end_object(&json);
    json_end_line(&json);
}

static void put_text_function(struct dump *dump, const struct csn_function *function, struct csn_str name) {
    out_text(&dump->out, "  ");
    if (function->binary) out_decimal(&dump->out, function->binary - 1);
    else out_char(&dump->out, '-');
    out_char(&dump->out, ' ');
    out_hex(&dump->out, function->start);
    out_text(&dump->out, "..");
    out_hex(&dump->out, function->start + function->size);
    out_char(&dump->out, ' ');
    if (name.len) out_safe(&dump->out, name);
    else out_text(&dump->out, "(no name)");
    out_char(&dump->out, '\n');
}

void dump_rom_function(struct dump *dump, uint32_t idx, bool as_json) {
    struct csn_function function;
    struct csn_frame frame;
    const struct csn_frame_ref ref = { .name = idx };
    char *scratch = scratch_of(dump);
    if (!scratch || csn_index_function(dump->index, idx, &function, NULL) != CSN_OK) return;
    csn_index_resolve_into(dump->index, &ref, scratch, SCRATCH_SIZE, &frame);
    struct csn_str name = name_text(&dump->names, frame.name);
    if (as_json) put_json_function(dump, &function, name);
    else put_text_function(dump, &function, name);
}

/* Asking an index and showing the answer. */
#define _GNU_SOURCE
#include "lookup/answer.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/binaries.h>

#include "ui/path_text.h"

enum { FIRST_FRAMES = 64 };

static bool reserve(struct index_query *query, size_t cap) {
    struct csn_frame_ref *refs = reallocarray(query->refs, cap, sizeof(*refs));
    if (!refs) return false;
    query->refs = refs;
    struct csn_frame *frames = reallocarray(query->frames, cap, sizeof(*frames));
    if (!frames) return false;
    query->frames = frames;
    query->cap = cap;
    return true;
}

bool index_query_init(struct index_query *query, const struct csn_index *index, enum csn_lookup_mode mode) {
    *query = (struct index_query){ .index = index, .mode = mode };
    csn_index_get_info(index, &query->info, sizeof(query->info));
    if (reserve(query, FIRST_FRAMES)) return true;
    index_query_deinit(query);
    return false;
}

void index_query_deinit(struct index_query *query) {
    free(query->refs);
    free(query->frames);
    free(query->binary_buffer);
    free(query->name_buffer);
    query->refs = NULL;
    query->frames = NULL;
    query->binary_buffer = query->name_buffer = NULL;
    query->binary_size = query->name_size = 0;
    query->cap = 0;
}

static csn_status ask(struct index_query *query, struct answer *out) {
    return csn_index_lookup_refs(query->index, out->addr, query->mode, query->refs, query->cap, &out->found, &out->err);
}

static bool grow_buffer(char **buffer, size_t *size, size_t need) {
    if (need <= *size) return true;
    char *grown = realloc(*buffer, need);
    if (!grown) return false;
    *buffer = grown;
    *size = need;
    return true;
}

/* The strings of frame `i`. Only images of many binaries keep names in pieces, and their answers have one frame. */
static bool resolve(struct index_query *query, size_t i) {
    size_t need = csn_index_resolve_into(query->index, &query->refs[i], query->name_buffer, query->name_size, &query->frames[i]);
    if (need <= query->name_size) return true;
    if (!grow_buffer(&query->name_buffer, &query->name_size, need)) return false;
    csn_index_resolve_into(query->index, &query->refs[i], query->name_buffer, query->name_size, &query->frames[i]);
    return true;
}

static bool name_binary(struct index_query *query, struct answer *out) {
    struct csn_binary binary;
    size_t need;
    if (!out->found.binary) return true;
    uint32_t idx = out->found.binary - 1;
    csn_index_binary(query->index, idx, query->binary_buffer, query->binary_size, &binary, &need, NULL);
    if (need > query->binary_size) {
        if (!grow_buffer(&query->binary_buffer, &query->binary_size, need)) return false;
        csn_index_binary(query->index, idx, query->binary_buffer, query->binary_size, &binary, &need, NULL);
    }
    out->binary = binary.name;
    out->is_member = query->info.member_count != 0;
    return true;
}

static void begin(struct answer *out, uint64_t addr) {
    memset(out, 0, sizeof(*out));
    out->addr = addr;
}

static void finish(struct index_query *query, struct answer *out) {
    out->frames = query->frames;
    if (out->status != CSN_OK) out->found.frame_count = 0;
    if (out->status < 0) return;
    for (size_t i = 0; i < out->found.frame_count; i++)
        if (!resolve(query, i)) out->status = CSN_E_MEMORY;
    if (!name_binary(query, out)) out->status = CSN_E_MEMORY;
    if (out->status < 0) out->found.frame_count = 0;
}

void index_query_address(struct index_query *query, uint64_t addr, struct answer *out) {
    begin(out, addr);
    out->status = ask(query, out);
    if (out->status == CSN_OK && out->found.frame_count > query->cap)
        out->status = reserve(query, out->found.frame_count) ? ask(query, out) : CSN_E_MEMORY;
    finish(query, out);
}

void index_query_named(struct index_query *query, struct csn_str name, uint64_t offset, struct answer *out) {
    uint32_t binary, match;
    begin(out, offset);
    out->asked = name;
    out->offset = offset;
    out->found.reason = CSN_REASON_NO_BINARY;
    out->status = csn_index_find_binary(query->index, name, &binary, &match, &out->err);
    if (out->status == CSN_OK) {
        struct csn_binary found;
        size_t need;
        out->guessed = match == CSN_BINARY_GUESSED || match == CSN_BINARY_AMBIGUOUS;
        csn_index_binary(query->index, binary, NULL, 0, &found, &need, NULL);
        out->addr = found.address + offset;
        out->status = csn_index_lookup_in_binary(query->index, binary, offset, query->refs, query->cap, &out->found, &out->err);
    }
    finish(query, out);
}

/* The reason to show: of the answer, or of the innermost frame that lacks something. CSN_REASON_COMPLETE: none. */
static uint32_t reason_to_show(const struct answer *answer) {
    uint32_t reason = answer->found.reason;
    for (size_t i = 0; reason == CSN_REASON_COMPLETE && i < answer->found.frame_count; i++)
        reason = answer->frames[i].reason;
    return reason;
}

static const char *failure_text(const struct answer *answer) {
    return answer->err.text[0] ? csn_error_text(&answer->err) : csn_status_name(answer->status);
}

static void put_binary(const struct answer *answer, struct out_buffer *out) {
    out_text(out, " in ");
    out_safe(out, answer->binary);
    if (answer->guessed) out_text(out, " (a guess)");
}

static void put_name_and_offset(const struct csn_frame *frame, struct name_text *names, struct out_buffer *out) {
    if (frame->flags & CSN_FRAME_UNCERTAIN) out_text(out, "possibly ");
    if (frame->name.len)
        out_safe(out, name_text(names, frame->name));
    else
        out_text(out, "(no name)");
    out_text(out, " + ");
    out_decimal(out, frame->offset);
}

static void put_path(const struct csn_frame *frame, struct out_buffer *out) {
    if (frame->flags & FRAME_PATH_READY) out_bytes(out, frame->base.ptr, frame->base.len);
    else path_put(out, frame->directory, frame->base);
}

void frame_put_text(const struct csn_frame *frame, struct name_text *names, struct out_buffer *out) {
    put_name_and_offset(frame, names, out);
    if (frame->base.len || frame->directory.len) {
        out_text(out, " at ");
        put_path(frame, out);
        path_put_line(out, frame->line);
    } else if (frame->reason == CSN_REASON_NO_CALL_FILE && frame->line) {
        out_text(out, " at ?:");
        out_decimal(out, frame->line);
    } else if (frame->reason != CSN_REASON_COMPLETE) {
        out_text(out, " (");
        out_text(out, csn_reason_text(frame->reason));
        out_char(out, ')');
    }
    if (frame->flags & CSN_FRAME_INLINED) out_text(out, " [inlined]");
}

/* A binary stands where the file and line of other indexes do; a member of an archive behind them. */
static void put_frame(const struct answer *answer, const struct csn_frame *frame, struct name_text *names,
                      struct out_buffer *out) {
    if (answer->binary.len && !answer->is_member) put_name_and_offset(frame, names, out);
    else frame_put_text(frame, names, out);
    if (answer->binary.len) put_binary(answer, out);
    out_char(out, '\n');
}

static void put_after_label(const struct answer *answer, size_t indent, struct name_text *names,
                            struct out_buffer *out) {
    if (answer->status == CSN_OK) {
        for (size_t i = 0; i < answer->found.frame_count; i++) {
            if (i) out_spaces(out, indent);
            put_frame(answer, &answer->frames[i], names, out);
        }
        if (!answer->found.frame_count) out_char(out, '\n');
        return;
    }
    bool nothing = answer->status == CSN_NONE;
    out_text(out, nothing ? "not found: " : "error: ");
    out_text(out, nothing ? csn_reason_text(answer->found.reason) : failure_text(answer));
    if (nothing && answer->binary.len) put_binary(answer, out);
    out_char(out, '\n');
}

size_t answer_indent(const struct answer *answer) {
    size_t digits = 1;
    for (uint64_t rest = (answer->has_pc ? answer->pc : answer->addr) >> 4; rest; rest >>= 4) digits++;
    return digits + strlen("0x: ");
}

void answer_put_text(const struct answer *answer, struct name_text *names, struct out_buffer *out) {
    if (answer->asked.len) {
        out_safe(out, answer->asked);
        out_char(out, '+');
        out_hex(out, answer->offset);
    } else {
        out_hex(out, answer->has_pc ? answer->pc : answer->addr);
    }
    out_text(out, ": ");
    put_after_label(answer, answer_indent(answer), names, out);
}

void answer_put_labelled(const struct answer *answer, const char *label, struct name_text *names,
                         struct out_buffer *out) {
    out_text(out, label);
    put_after_label(answer, strlen(label), names, out);
}

void frame_put_json(const struct csn_frame *frame, struct name_text *names, struct json_out *json) {
    json_begin_object(json);
    if (frame->name.len) {
        json_key(json, "function");
        json_str(json, name_text(names, frame->name));
    }
    json_member_number(json, "offset", frame->offset);
    if (frame->base.len || frame->directory.len) {
        json_key(json, "file");
        json_path(json, frame->directory, frame->base);
    }
    if (frame->line) json_member_number(json, "line", frame->line);
    json_key(json, "inlined");
    json_bool(json, frame->flags & CSN_FRAME_INLINED);
    if (frame->flags & CSN_FRAME_UNCERTAIN) {
        json_key(json, "uncertain");
        json_bool(json, true);
    }
    json_end_object(json);
}

void answer_put_json(const struct answer *answer, struct name_text *names, struct json_out *json) {
    answer_begin_json(answer, names, json);
    json_end_object(json);
}

void answer_begin_json(const struct answer *answer, struct name_text *names, struct json_out *json) {
    json_begin_object(json);
    if (answer->asked.len) {
        json_key(json, "asked");
        json_str(json, answer->asked);
        json_member_hex(json, "binary_offset", answer->offset);
    }
    if (!answer->asked.len || answer->binary.len) json_member_hex(json, "address", answer->has_pc ? answer->pc : answer->addr);
    if (answer->module.len) {
        json_key(json, "module");
        json_str(json, answer->module);
    }
    if (answer->has_pc && answer->found.reason != CSN_REASON_NO_MODULE) json_member_hex(json, "image_address", answer->addr);
    if (answer->binary.len) {
        json_key(json, answer->is_member ? "member" : "binary");
        json_str(json, answer->binary);
    }
    if (answer->guessed) {
        json_key(json, "guessed");
        json_bool(json, true);
    }
    json_key(json, "frames");
    json_begin_array(json);
    for (size_t i = 0; i < answer->found.frame_count; i++) frame_put_json(&answer->frames[i], names, json);
    json_end_array(json);
    if (answer->status < 0) {
        json_member_text(json, "error", failure_text(answer));
    } else if (reason_to_show(answer) != CSN_REASON_COMPLETE) {
        json_member_text(json, "reason", csn_reason_text(reason_to_show(answer)));
    }
}

/* Which format an input has, and who reads it. */
#include "profile/profile_merge.h"
#include "profile/profile_read.h"

#include <string.h>

#include "base/core/file_map.h"
#include "base/hex.h"
#include "profile/legacy_read.h"
#include "profile/proto_wire.h"

/* The bytes of hexadecimal digits, with dashes between them or without, as far as there is room. False: the bytes do not tell
 * all of the text; *size is 0 if it is no such number. */
static bool read_build_id(struct csn_str text, uint8_t bytes[CSN_BUILD_ID_MAX], size_t *size) {
    size_t digits = 0;
    *size = 0;
    for (size_t i = 0; i < text.len; i++) {
        const unsigned digit = csni_hex_digit(text.ptr[i]);
        if (text.ptr[i] == '-') continue;
        if (digit >= 16) return false;
        if (digits < 2 * CSN_BUILD_ID_MAX)
            bytes[digits / 2] = (uint8_t)(digits % 2 ? (unsigned)bytes[digits / 2] << 4 | digit : digit);
        digits++;
    }
    if (digits % 2) return false;
    *size = digits / 2 < CSN_BUILD_ID_MAX ? digits / 2 : CSN_BUILD_ID_MAX;
    return digits / 2 <= CSN_BUILD_ID_MAX;
}

static bool begins_with(struct csn_str text, struct csn_str start) {
    return text.len >= start.len && memcmp(text.ptr, start.ptr, start.len) == 0;
}

/* The kernel is "vmlinux" and its guest what is in brackets: behind them stands where the mapping begins. True: something does. */
static bool name_kernel(struct csn_str *path) {
    const bool is_guest = begins_with(*path, CSN_STR("[guest.kernel"));
    if (!is_guest && !begins_with(*path, CSN_STR("[kernel"))) return false;
    const char *close = memchr(path->ptr, ']', path->len);
    const size_t size = close ? (size_t)(close + 1 - path->ptr) : path->len;
    const bool has_symbol = size < path->len;
    *path = is_guest ? (struct csn_str){ path->ptr, size } : CSN_STR("vmlinux");
    return has_symbol;
}

static csn_status add_hex_module(struct csn_profile *p, struct csn_profile_module *module, struct csn_str build_id,
                                 const uint32_t *lib, uint32_t *out, struct csn_error *err) {
    const struct csn_str path = module->path;
    uint8_t bytes[CSN_BUILD_ID_MAX];
    uint32_t text = 0, mapping_name = 0;
    if (!read_build_id(build_id, bytes, &module->build_id_size)) CSNI_TRY(csni_profile_string(p, build_id, &text, err));
    module->build_id = bytes;
    if (name_kernel(&module->path)) CSNI_TRY(csni_profile_string(p, path, &mapping_name, err));
    CSNI_TRY(csni_profile_module(p, module, text, lib, out, err));
    struct profile_module *added = &p->modules.items[*out];
    if (!added->mapping_name) added->mapping_name = mapping_name;
    return CSN_OK;
}

csn_status csni_profile_hex_module(struct csn_profile *p, struct csn_str path, struct csn_str build_id, uint64_t start,
                                   uint64_t end, uint64_t file_off, uint32_t *out, struct csn_error *err) {
    struct csn_profile_module module = { .path = path, .start = start, .end = end, .file_off = file_off };
    return add_hex_module(p, &module, build_id, NULL, out, err);
}

csn_status csni_profile_lib_module(struct csn_profile *p, struct csn_str path, struct csn_str build_id,
                                   const uint32_t lib[PROFILE_LIB_TEXTS], uint32_t *out, struct csn_error *err) {
    struct csn_profile_module module = { .path = path };
    return add_hex_module(p, &module, build_id, lib, out, err);
}

csn_status csni_profile_fail_frames(struct csn_error *err, const char *section, uint64_t off, const char *what) {
    return csni_fail(err, CSN_E_LIMIT, section, off, "%s of more than %d frames", what, PROFILE_FRAMES_MAX);
}

/* ---- formats ---- */

/* A field of a message and its size, as pprof and OTLP begin: a message of fields in both. */
static bool read_head(struct csni_span bytes, uint64_t *number, uint64_t *size, struct csni_span *rest) {
    uint64_t values[2] = { 0, 0 };
    size_t at = 0;
    for (int i = 0; i < 2; i++) {
        unsigned shift = 0;
        do {
            if (at >= bytes.size || shift > 56) return false;
            values[i] |= (uint64_t)(bytes.ptr[at] & 0x7f) << shift;
            shift += 7;
        } while (bytes.ptr[at++] & 0x80);
    }
    *number = values[0] >> 3;
    *size = values[1];
    *rest = csni_span_from(bytes, at);
    return (values[0] & 7) == 2;
}

static bool next_varint(struct csni_cursor *c, uint64_t *out) {
    const uint8_t *from = c->p;
    *out = csni_cursor_uleb(c);
    return !c->failed && c->p - from <= PROTO_VARINT_MAX;
}

/* Go's run-time library begins with a number (time_nanos) or with period_type. Every field that can be seen must be
 * one of Profile, with its wire type; there must be one more after the first. Text does not pass: of "PERFILE2", the
 * second field is a number of bytes. */
static bool has_pprof_fields(struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    size_t count = 0;
    while (csni_cursor_left(&c)) {
        uint64_t tag, value;
        if (!next_varint(&c, &tag)) break;
        if (!(tag >> 3) || tag >> 3 > PPROF_LAST_FIELD || !csni_pprof_has_type((uint32_t)(tag >> 3), tag & 7)) return false;
        if (!next_varint(&c, &value)) break;
        count++;
        if ((tag & 7) == PROTO_BYTES) csni_cursor_skip(&c, value);
    }
    return count > 1;
}

/* pprof begins with a ValueType, {1: number, 2: number}; OTLP with ResourceProfiles, whose fields are messages, or
 * its dictionary. */
static uint32_t detect_protobuf(struct csni_span bytes) {
    uint64_t number, size;
    struct csni_span rest;
    if (!read_head(bytes, &number, &size, &rest) || number > 6)
        return has_pprof_fields(bytes) ? CSN_PROFILE_PPROF : CSN_PROFILE_DETECT;
    if (number == 1 && size <= 24 && (size == 0 || (rest.size && (rest.ptr[0] == 0x08 || rest.ptr[0] == 0x10))))
        return CSN_PROFILE_PPROF;
    if (number == 1 && rest.size && (rest.ptr[0] == 0x0a || rest.ptr[0] == 0x12 || rest.ptr[0] == 0x1a)) return CSN_PROFILE_OTLP;
    if (number == 2 && rest.size && (rest.ptr[0] & 7) == 2) {
        struct csni_span inner = rest;
        uint64_t first, first_size;
        /* The dictionary's first table is of messages or strings; a sample's first field is packed numbers of a few bytes. */
        if (read_head(inner, &first, &first_size, &rest) && first_size < size && size > 64) return CSN_PROFILE_OTLP;
    }
    return number ? CSN_PROFILE_PPROF : CSN_PROFILE_DETECT;
}

static bool is_json_blank(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

static size_t skip_json_blanks(struct csni_span text, size_t at) {
    while (at < text.size && is_json_blank(text.ptr[at])) at++;
    return at;
}

/* Whether an object begins at `at`: with a key, or it is empty. A line feed and a bracket may also be a field of 123 bytes in a
 * protobuf message, in which a quote would be the size of another, and what follows it a control character. */
static bool is_json_object(struct csni_span text, size_t at) {
    if (at >= text.size || text.ptr[at] != '{') return false;
    at = skip_json_blanks(text, at + 1);
    if (at == text.size || text.ptr[at] == '}') return true;
    return text.ptr[at] == '"' && (at + 1 == text.size || text.ptr[at + 1] >= 0x20);
}

/* The first key. A Firefox profile begins with "meta", but any other may come first. */
static uint32_t detect_json(struct csni_span text) {
    static const char *const keys[] = { "\"resourceProfiles\"", "\"dictionary\"" };
    const size_t at = skip_json_blanks(text, 1);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (text.size - at >= strlen(keys[i]) && memcmp(text.ptr + at, keys[i], strlen(keys[i])) == 0) return CSN_PROFILE_OTLP_JSON;
    return CSN_PROFILE_FIREFOX;
}

uint32_t csn_profile_detect(const void *bytes, size_t size) {
    const uint8_t *p = bytes;
    size_t at = 0;
    const struct csni_span all = { p, size };
    if (size >= 2 && p[0] == 0x1f && p[1] == 0x8b) return CSN_PROFILE_PPROF; /* or another: known once it is inflated */
    if (csni_legacy_is_cpu(all) || csni_legacy_is_text(all)) return CSN_PROFILE_LEGACY;
    if (size >= 3 && p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf) at = 3;
    at = skip_json_blanks(all, at);
    const struct csni_span text = { p + at, size - at };
    if (is_json_object(all, at)) return detect_json(text);
    const uint32_t format = detect_protobuf(all);
    return format == CSN_PROFILE_DETECT && text.size && text.ptr[0] == '{' ? detect_json(text) : format;
}

static csn_status read_whole(struct csn_profile *p, uint32_t format, struct csni_profile_stream *stream, struct csn_error *err) {
    struct csni_span bytes;
    CSNI_TRY(csni_profile_stream_whole(stream, p->max_input_bytes, &bytes, err));
    if (format == CSN_PROFILE_OTLP) return csni_otlp_read(p, bytes, err);
    if (format == CSN_PROFILE_OTLP_JSON) return csni_otlp_json_read(p, bytes, err);
    if (format == CSN_PROFILE_FIREFOX) return csni_firefox_read(p, bytes, err);
    return csni_legacy_is_cpu(bytes) ? csni_legacy_cpu_read(p, bytes, err) : csni_legacy_text_read(p, bytes, err);
}

static csn_status read_stream(struct csn_profile *p, uint32_t format, struct csni_profile_stream *stream, struct csn_error *err) {
    enum { DETECT_BYTES = 512 };
    CSNI_TRY(csni_profile_stream_need(stream, DETECT_BYTES, err));
    const size_t left = csni_profile_stream_left(stream);
    if (!left) return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "the input is empty");
    if (format == CSN_PROFILE_DETECT) format = csn_profile_detect(csni_profile_stream_at(stream), left);
    switch (format) {
    case CSN_PROFILE_PPROF: return csni_pprof_read(p, stream, err);
    case CSN_PROFILE_OTLP: case CSN_PROFILE_OTLP_JSON: case CSN_PROFILE_FIREFOX: case CSN_PROFILE_LEGACY:
        return read_whole(p, format, stream, err);
    default: break;
    }
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "not a profile of pprof, OTLP, Firefox or gperftools: it begins with 0x%02x",
                     *csni_profile_stream_at(stream));
}

csn_status csn_profile_read(struct csn_profile *p, uint32_t format, struct csn_str name, csn_profile_source *source, void *context,
                            struct csn_error *err) {
    struct csni_profile_stream stream;
    CSNI_TRY(csn_profile_begin_input(p, name, err));
    CSNI_TRY(csni_profile_stream_open(&stream, p->alloc, source, context, err));
    const struct profile_before before = csni_profile_before_input(p);
    csn_status status = read_stream(p, format, &stream, err);
    csni_profile_stream_close(&stream);
    return status < 0 ? status : csni_profile_merge_input(p, &before, err);
}

/* ---- files ---- */

static csn_status read_span(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct csni_span *left = context;
    (void)err;
    *out_size = left->size < capacity ? left->size : capacity;
    if (*out_size) memcpy(bytes, left->ptr, *out_size);
    *left = csni_span_from(*left, *out_size);
    return CSN_OK;
}

csn_status csn_profile_read_file(struct csn_profile *p, uint32_t format, const char *path, struct csn_error *err) {
    struct csni_file_map map;
    CSNI_TRY(csni_file_map_open(&map, path, err));
    struct csni_span left = map.bytes;
    csn_status status = csn_profile_read(p, format, (struct csn_str){ path, strlen(path) }, read_span, &left, err);
    csni_file_map_close(&map);
    return status;
}

/* The lookup library as WebAssembly: what the npm package calls. An instance of the module has one index; the JSON is that of
 * `callsign lookup --json`, written by the same functions. Every function may be left at any load of a byte that is missing
 * (missing_bytes.c), and is then called again. */
#include <stdlib.h>
#include <string.h>

#include <callsign/index.h>

#include "lookup/answer.h"
#include "lookup/candidates.h"
#include "missing_bytes.h"

#define EXPORT(name) __attribute__((export_name(name)))

static struct {
    uint8_t *bytes;
    uint32_t size;
    uint8_t *present;
    struct csn_index *index;
    struct index_query query;
    struct name_text stored_names, demangled_names;
    struct out_buffer out;
    char *text; /* the result of the last call */
    size_t text_size, text_capacity;
} lookup;

static bool append_text(void *context, const char *bytes, size_t size) {
    (void)context;
    if (size > lookup.text_capacity - lookup.text_size) {
        size_t capacity = (lookup.text_size + size) * 2;
        char *grown = realloc(lookup.text, capacity);
        if (!grown) return false;
        lookup.text = grown;
        lookup.text_capacity = capacity;
    }
    memcpy(lookup.text + lookup.text_size, bytes, size);
    lookup.text_size += size;
    return true;
}

static void begin_text(void) {
    out_init(&lookup.out, -1);
    out_set_sink(&lookup.out, append_text, NULL);
    lookup.text_size = 0;
}

/* Memory for the file's bytes. NULL: there is not enough. `sparse`: they arrive later, see csn_wasm_arrived(). */
EXPORT("csn_wasm_reserve") uint8_t *csn_wasm_reserve(uint32_t size, uint32_t sparse) {
    lookup.bytes = malloc(size ? size : 1);
    lookup.size = size;
    if (!lookup.bytes) return NULL;
    if (!sparse) return lookup.bytes;
    lookup.present = calloc(size / MISSING_PAGE + 1, 1);
    if (!lookup.present) return NULL;
    missing_bytes_watch(lookup.bytes, size, lookup.present);
    return lookup.bytes;
}

/* Of whole pages, the file's last one excepted. */
EXPORT("csn_wasm_arrived") void csn_wasm_arrived(uint32_t off, uint32_t size) {
    uint32_t end = size < lookup.size - off ? off + size : lookup.size;
    for (uint32_t page = off / MISSING_PAGE; page * MISSING_PAGE < end; page++) lookup.present[page] = 1;
}

EXPORT("csn_wasm_text") const char *csn_wasm_text(void) { return lookup.text; }
EXPORT("csn_wasm_text_size") uint32_t csn_wasm_text_size(void) { return (uint32_t)lookup.text_size; }

static void put_error(const struct csn_error *err) {
    out_text(&lookup.out, csn_error_text(err));
    out_flush(&lookup.out);
}

/* 0: open; otherwise the text is the error. */
EXPORT("csn_wasm_open") int32_t csn_wasm_open(void) {
    struct csn_error err = CSN_ERROR_INIT;
    begin_text();
    csn_status status = csn_index_open_memory(lookup.bytes, lookup.size, NULL, &lookup.index, &err);
    if (status < 0) {
        put_error(&err);
        return status;
    }
    if (index_query_init(&lookup.query, lookup.index, CSN_LOOKUP_DEFAULT) && name_text_init(&lookup.demangled_names, true))
        return CSN_OK;
    out_text(&lookup.out, "out of memory");
    out_flush(&lookup.out);
    return CSN_E_MEMORY;
}

static const char *format_name(uint32_t format) {
    switch (format) {
    case CSN_FORMAT_GSYM_V1: return "gsym";
    case CSN_FORMAT_GSYM_V2: return "gsym-v2";
    case CSN_FORMAT_GSYM_SECTION: return "gsym-section";
    case CSN_FORMAT_BSYM: return "bsym";
    default: return "unknown";
    }
}

/* The index's properties, as JSON. */
EXPORT("csn_wasm_info") void csn_wasm_info(void) {
    struct csn_index_info info;
    begin_text();
    csn_index_get_info(lookup.index, &info, sizeof info);
    struct json_out json = json_on(&lookup.out);
    json_begin_object(&json);
    json_member_text(&json, "format", format_name(info.format));
    json_member_number(&json, "fileSize", info.file_size);
    json_member_hex(&json, "baseAddress", info.base_address);
    json_member_number(&json, "functionCount", info.function_count);
    json_member_number(&json, "fileCount", info.file_count);
    json_key(&json, "buildId");
    json_hex_bytes(&json, info.uuid, info.uuid_size);
    json_end_object(&json);
    out_flush(&lookup.out);
}

enum { FLAG_MERGED = 1, FLAG_DEMANGLE = 2 };

/* The answer's JSON. 0: the names of all merged functions could not be read, or memory is short. */
EXPORT("csn_wasm_lookup") int32_t csn_wasm_lookup(uint64_t addr, uint32_t flags) {
    struct answer answer;
    struct name_text *names = flags & FLAG_DEMANGLE ? &lookup.demangled_names : &lookup.stored_names;
    begin_text();
    index_query_address(&lookup.query, addr, &answer);
    struct json_out json = json_on(&lookup.out);
    answer_begin_json(&answer, names, &json);
    bool good = !(flags & FLAG_MERGED) || candidates_put_json(lookup.index, &answer, names, &json);
    json_end_object(&json);
    return out_flush(&lookup.out) && good;
}

/* A stream of record batches in, one out with as many rows: `module` is a build id or debug id, `address` one of the image. */
#define _GNU_SOURCE
#include "routes/own_arrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/server.h"
#include "routes/arrow_answer.h"
#include "routes/lookup.h"
#include "udf/ipc_read.h"

enum { WHY_SIZE = 256, PREFIX = 8, MOST_MODULES = 4096, SLOTS = 8192, METADATA_MAX = 1 << 24 };
static const uint64_t MOST_ANSWER_BYTES = 512 << 20;
static const char STREAM_TYPE[] = "application/vnd.apache.arrow.stream";

struct arrow_module {
    char id[ID_TEXT_SIZE];
    size_t id_size;
    struct symbols *symbols;
    char why[WHY_SIZE];
};
struct arrow_run {
    struct http_request *http;
    struct lookup *lookup;
    struct arrow_module *modules;
    size_t module_count;
    uint16_t slots[SLOTS];       /* number of a module + 1, by the hash of its id; 0: free */
    struct arrow_answer answer;
    struct ipc_schema schema;
    bool has_schema, is_unreachable;
    const char *fault;           /* static text; NULL: none */
    unsigned fault_status;
};

bool is_arrow_request(const struct http_request *request) {
    const char *type = request_header(request, "Content-Type");
    return type && strncasecmp(type, STREAM_TYPE, sizeof(STREAM_TYPE) - 1) == 0;
}

static bool fail(struct arrow_run *run, unsigned status, const char *fault) {
    run->fault = fault;
    run->fault_status = status;
    return false;
}

/* ---- modules ---- */

static void open_module(struct arrow_run *run, struct csn_str id, struct arrow_module *out) {
    struct symbols_key key;
    out->id_size = id.len;
    memcpy(out->id, id.ptr, id.len);
    if (!symbols_key_of_id(id.ptr, id.len, &key)) snprintf(out->why, sizeof(out->why), "the module is no build id or debug id");
    else if (pool_status_is_passing(pool_acquire(run->http->server->pool, &key, true, &out->symbols, out->why, sizeof(out->why))))
        run->is_unreachable = true;
}

static struct arrow_module *find_module(struct arrow_run *run, struct csn_str id) {
    if (id.len >= ID_TEXT_SIZE) id.len = 0; /* no id at all */
    size_t slot = text_hash(id.ptr, id.len) % SLOTS;
    for (; run->slots[slot]; slot = (slot + 1) % SLOTS) {
        struct arrow_module *module = &run->modules[run->slots[slot] - 1];
        if (module->id_size == id.len && memcmp(module->id, id.ptr, id.len) == 0) return module;
    }
    if (run->module_count == MOST_MODULES) {
        fail(run, 413, "the request has more than 4096 modules");
        return NULL;
    }
    open_module(run, id, &run->modules[run->module_count]);
    run->slots[slot] = (uint16_t)++run->module_count;
    return &run->modules[run->module_count - 1];
}

/* ---- rows ---- */

static bool answer_row(struct arrow_run *run, const struct ipc_batch *batch, size_t i) {
    struct csn_str id;
    uint64_t address;
    bool has_module = ipc_batch_module(batch, i, &id), has_address = ipc_batch_address(batch, i, &address);
    if (!has_module || !has_address) {
        arrow_add_null(&run->answer);
        return true;
    }
    struct arrow_module *module = find_module(run, id);
    if (!module) return false;
    csn_status status = CSN_OK;
    if (module->symbols) status = lookup_address(run->lookup, module->symbols, symbols_index_address(module->symbols, address));
    arrow_add_row(&run->answer, run->lookup, module->symbols, status, module->why);
    uint64_t size = arrow_answer_size(&run->answer) + run->http->response.body.size;
    return size <= MOST_ANSWER_BYTES || fail(run, 413, "the answer is too large: send fewer rows at a time");
}

static bool answer_batch(struct arrow_run *run, const struct ipc_batch *batch) {
    for (size_t i = 0; i < batch->rows; i++)
        if (!answer_row(run, batch, i)) return false;
    run->http->frames += batch->rows;
    return arrow_put_batch(&run->answer, &run->http->response.body) || fail(run, 503, "out of memory");
}

/* ---- messages ---- */

static bool run_message(struct arrow_run *run, const struct ipc_message *message, struct csn_str body) {
    struct ipc_batch batch;
    const char *fault = "a batch stands before the schema";
    switch (message->kind) {
    case IPC_SCHEMA:
        if (run->has_schema) return fail(run, 400, "the stream has two schemas");
        run->has_schema = ipc_schema_read(message->header, &run->schema, &fault);
        if (run->has_schema) arrow_put_schema(&run->http->response.body);
        return run->has_schema || fail(run, 400, fault);
    case IPC_DICTIONARY: return true; /* of another column */
    case IPC_BATCH: break;
    default: return fail(run, 400, "a message is neither a schema nor a batch");
    }
    size_t most = (size_t)run->http->server->settings.max_body;
    if (!run->has_schema || !ipc_batch_open(&run->schema, message->header, body, most, &batch, &fault))
        return fail(run, 400, fault);
    bool good = answer_batch(run, &batch);
    ipc_batch_release(&batch);
    return good;
}

static bool run_stream(struct arrow_run *run) {
    struct csn_str rest = { run->http->body.ptr, run->http->body.size };
    while (rest.len >= PREFIX) {
        uint64_t mark = 0, size = 0;
        struct ipc_message message;
        flat_number(rest, 0, 4, &mark);
        flat_number(rest, 4, 4, &size);
        if (mark != UINT32_MAX) return fail(run, 400, "no Arrow message: need a stream of Arrow 0.15 or later");
        if (!size) return run->has_schema || fail(run, 400, "the stream has no schema");
        if (size > METADATA_MAX || size > rest.len - PREFIX) return fail(run, 400, "the stream ends within a message");
        if (!ipc_message_read((struct csn_str){ rest.ptr + PREFIX, (size_t)size }, &message))
            return fail(run, 400, "a message is damaged");
        size_t whole = PREFIX + (size_t)size;
        if (message.body_size > rest.len - whole) return fail(run, 400, "the stream ends within a message");
        if (!run_message(run, &message, (struct csn_str){ rest.ptr + whole, (size_t)message.body_size })) return false;
        rest.ptr += whole + message.body_size;
        rest.len -= whole + (size_t)message.body_size;
    }
    return fail(run, 400, "the stream ends without an end mark");
}

enum http_done own_symbolicate_arrow(struct http_request *request) {
    struct arrow_run *run = calloc(1, sizeof(*run));
    struct arrow_module *modules = calloc(MOST_MODULES, sizeof(*modules));
    struct lookup *lookup = lookup_create();
    bool is_ready = run && modules && lookup;
    if (is_ready) {
        run->http = request;
        run->modules = modules;
        run->lookup = lookup;
    }
    if (!is_ready) respond_error(request, 503, "out of memory");
    else if (!run_stream(run)) respond_error(request, run->fault_status, "%s", run->fault);
    else if (run->is_unreachable) respond_error(request, 503, "the store cannot be reached");
    else {
        arrow_put_end(&request->response.body);
        request->response.status = request->response.body.failed ? 503 : 200;
        request->response.content_type = STREAM_TYPE;
    }
    for (size_t i = 0; is_ready && i < run->module_count; i++) pool_release(request->server->pool, modules[i].symbols);
    if (run) arrow_answer_free(&run->answer);
    lookup_destroy(lookup);
    free(modules);
    free(run);
    return HTTP_DONE;
}

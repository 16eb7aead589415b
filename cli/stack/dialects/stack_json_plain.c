/* The lines of a stream of stacks, read in one pass: {"frames":[{"pc":"0x1139"},{"module":"app","address":"0x11f2"}]}, also
 * with "modules" before the frames.
 * A tree took half of the time of such a stream. stack_json.c reads everything else, and says what is wrong with it. */
#include <string.h>

#include "lookup/address_text.h"
#include "stack/dialects/stack_json.h"

struct plain_text {
    const char *at, *end;
};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void skip_space(struct plain_text *text) {
    while (text->at < text->end && is_space(*text->at)) text->at++;
}

static inline bool take(struct plain_text *text, char c) {
    if (text->at < text->end && *text->at != c) skip_space(text);
    if (text->at == text->end || *text->at != c) return false;
    text->at++;
    return true;
}

static bool take_word(struct plain_text *text, const char *word) {
    size_t size = strlen(word);
    skip_space(text);
    if ((size_t)(text->end - text->at) < size || memcmp(text->at, word, size) != 0) return false;
    text->at += size;
    return true;
}

/* Printable ASCII, other than what ends or escapes. */
static inline bool is_plain(char c) { return (unsigned char)(c - ' ') < 0x7f - ' ' && c != '"' && c != '\\'; }

static inline bool take_string(struct plain_text *text, struct csn_str *out) {
    if (!take(text, '"')) return false;
    const char *at = text->at, *end = text->end;
    while (at < end && is_plain(*at)) at++;
    if (at == end || *at != '"') return false;
    *out = (struct csn_str){ text->at, (size_t)(at - text->at) };
    text->at = at + 1;
    return true;
}

static inline bool is_key(struct csn_str key, const char *name) {
    size_t size = strlen(name);
    return key.len == size && memcmp(key.ptr, name, size) == 0;
}

/* The members of a frame; a NULL one is not there. */
struct plain_frame {
    struct csn_str pc, module, address;
    bool exact, has_exact;
};

static bool take_exact(struct plain_text *text, struct plain_frame *frame) {
    if (frame->has_exact) return false;
    frame->has_exact = true;
    frame->exact = take_word(text, "true");
    return frame->exact || take_word(text, "false");
}

static bool take_member(struct plain_text *text, struct plain_frame *frame) {
    struct csn_str key;
    if (!take_string(text, &key) || !take(text, ':')) return false;
    struct csn_str *value = is_key(key, "pc") ? &frame->pc : is_key(key, "module") ? &frame->module
                            : is_key(key, "address") ? &frame->address : NULL;
    if (value) return !value->ptr && take_string(text, value);
    return is_key(key, "exact") && take_exact(text, frame);
}

static bool take_frame(struct plain_text *text, struct plain_frame *frame) {
    *frame = (struct plain_frame){ .exact = false };
    if (!take(text, '{')) return false;
    do
        if (!take_member(text, frame)) return false;
    while (take(text, ','));
    return take(text, '}');
}

/* Changes nothing but the stack that begins: a name that is new is left to the other reader. */
static bool add_frame(struct stack_session *session, const struct plain_frame *frame) {
    uint64_t value;
    uint32_t module = NO_MODULE, flags = frame->exact ? CSN_STACK_EXACT : 0;
    bool by_pc = frame->pc.ptr != NULL;
    if (frame->module.ptr) module = session_find_module(session, frame->module);
    if (module == NO_MODULE && (frame->module.ptr || !by_pc)) return false;
    if (!address_parse(by_pc ? frame->pc : frame->address, &value)) return false;
    if (module != NO_MODULE) flags |= CSN_STACK_ADDRESS;
    if (by_pc && module != NO_MODULE) value -= session->modules->items[module].bias;
    return session->frame_count < session->max_frames && session_add_frame(session, value, module, flags);
}

/* ---- modules ---- */

/* The members of a module; a NULL one is not there. */
struct plain_module {
    struct csn_str name, index, build_id, start, end, bias;
};

static bool take_module_member(struct plain_text *text, struct plain_module *module) {
    struct csn_str key;
    if (!take_string(text, &key) || !take(text, ':')) return false;
    struct csn_str *value = is_key(key, "name") ? &module->name : is_key(key, "start") ? &module->start
                            : is_key(key, "end") ? &module->end : is_key(key, "bias") ? &module->bias
                            : is_key(key, "build_id") ? &module->build_id : is_key(key, "index") ? &module->index : NULL;
    return value && !value->ptr && take_string(text, value);
}

static bool take_module(struct plain_text *text, struct plain_module *module) {
    *module = (struct plain_module){ .name = { NULL, 0 } };
    if (!take(text, '{')) return false;
    do
        if (!take_module_member(text, module)) return false;
    while (take(text, ','));
    return take(text, '}');
}

static struct csn_str or_empty(struct csn_str text) { return text.ptr ? text : (struct csn_str){ "", 0 }; }

/* What is wrong with it, the other reader finds out. */
static bool add_module(struct stack_session *session, const struct plain_module *module) {
    struct module_names names = { .name = or_empty(module->name), .index = or_empty(module->index) };
    uint64_t start = 0, end = 0, bias = 0;
    uint32_t number;
    if (module->build_id.len && !build_id_parse(module->build_id, &names.id)) return false;
    if (!module->start.ptr != !module->end.ptr) return false;
    if (module->start.ptr && (!address_parse(module->start, &start) || !address_parse(module->end, &end))) return false;
    if (module->bias.ptr && !address_parse(module->bias, &bias)) return false;
    if (end < start) return false;
    return session_add_module(session, &names, start, end, module->bias.ptr ? bias : start, &number);
}

/* Those of this line alone. Streams repeat them line by line. */
static bool take_modules(struct plain_text *text, struct stack_session *session) {
    struct plain_module module;
    size_t size;
    skip_space(text);
    const char *begin = text->at;
    if (session_use_same(session, (struct csn_str){ begin, (size_t)(text->end - begin) }, &size)) {
        text->at += size;
        return true;
    }
    session_use(session, true);
    if (!take(text, '[')) return false;
    do
        if (!take_module(text, &module) || !add_module(session, &module)) return false;
    while (take(text, ','));
    if (!take(text, ']')) return false;
    session_keep_text(session, (struct csn_str){ begin, (size_t)(text->at - begin) });
    return true;
}

/* ---- a line ---- */

bool stack_json_plain_line(struct stack_session *session, struct csn_str line) {
    struct plain_text text = { line.ptr, line.ptr + line.len };
    struct plain_frame frame;
    if (!take(&text, '{')) return false;
    bool own = take_word(&text, "\"modules\"");
    if (own && (!take(&text, ':') || !take_modules(&text, session) || !take(&text, ','))) return false;
    if (!take_word(&text, "\"frames\"") || !take(&text, ':') || !take(&text, '[')) return false;
    if (!own) session_use(session, false);
    session_begin_stack(session);
    do
        if (!take_frame(&text, &frame) || !add_frame(session, &frame)) return false;
    while (take(&text, ','));
    if (!take(&text, ']') || !take(&text, '}')) return false;
    skip_space(&text);
    return text.at == text.end;
}

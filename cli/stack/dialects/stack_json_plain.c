/* The lines of a stream of stacks, read without a tree: {"frames":[{"pc":"0x1139"},{"module":"app","address":"0x11f2"}]}.
 * jansson took half of the time of such a stream. It still reads everything else, and says what is wrong with it. */
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

bool stack_json_plain_line(struct stack_session *session, struct csn_str line) {
    struct plain_text text = { line.ptr, line.ptr + line.len };
    struct plain_frame frame;
    if (!take(&text, '{') || !take_word(&text, "\"frames\"") || !take(&text, ':') || !take(&text, '[')) return false;
    session_use(session, false);
    session_begin_stack(session);
    do
        if (!take_frame(&text, &frame) || !add_frame(session, &frame)) return false;
    while (take(&text, ','));
    if (!take(&text, ']') || !take(&text, '}')) return false;
    skip_space(&text);
    return text.at == text.end;
}

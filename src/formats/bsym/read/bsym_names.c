/* Symbols and strings of BSYM: prefix tables, tokens. */
#include "base/core/search.h"
#include "formats/bsym/read/bsym_private.h"

uint32_t csni_bsym_symbol_length(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t symbol) {
    const uint8_t *p = csni_bsym_symbol_record(b, symbol);
    if (b->version >= CSNI_BSYM_3_0) return csni_bsym_word(b, p + CSNI_BSYM3_Y_LENGTH);
    uint32_t word = csni_bsym_word(b, p + CSNI_BSYM_Y_PREFIX);
    /* The reference writer does not clamp lengths: the bits above 16 spill into the prefix number. */
    if (!s || !s->prefixes) return word;
    return word >> 16 <= s->prefix_count ? word & CSNI_BSYM_LENGTH_MAX : CSNI_BSYM_LENGTH_MAX;
}

uint32_t csni_bsym_prefix_number(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t symbol) {
    if (!s || !s->prefixes || b->version >= CSNI_BSYM_3_0) return 0;
    uint32_t number = csni_bsym_word(b, csni_bsym_symbol_record(b, symbol) + CSNI_BSYM_Y_PREFIX) >> 16;
    return number <= s->prefix_count ? number : 0;
}

static inline bool begins_up_to(const void *context, size_t index, const void *key) {
    const struct csni_bsym *b = context;
    return b->segments[b->owners[index]].first <= *(const uint32_t *)key;
}

const struct csni_bsym_segment *csni_bsym_owner(const struct csni_bsym *b, uint32_t symbol) {
    size_t upper = csni_search_in(0, b->segment_count, begins_up_to, b, &symbol);
    if (!upper) return NULL;
    const struct csni_bsym_segment *s = &b->segments[b->owners[upper - 1]];
    return symbol - s->first < s->count ? s : NULL;
}

/* ---- strings ---- */

bool csni_bsym_string(const struct csni_bsym *b, uint32_t offset, struct csni_span *out) {
    *out = (struct csni_span){ (const uint8_t *)"", 0 };
    if (offset >= b->text.size) return false;
    uint64_t length = b->text.ptr[offset], begin = (uint64_t)offset + 1;
    if (length == CSNI_BSYM_LONG) {
        if (b->text.size - offset < 3) return false;
        length = csni_get16(b->text.ptr + offset + 1, b->big);
        begin += 2;
    }
    return csni_span_sub(b->text, begin, length, out);
}

static struct csni_bsym_name plain_name(const struct csni_bsym *b, uint32_t offset) {
    struct csni_bsym_name name = { { (const uint8_t *)"", 0 }, { (const uint8_t *)"", 0 }, false };
    csni_bsym_string(b, offset, &name.name);
    return name;
}

struct csni_bsym_name csni_bsym_segment_name(const struct csni_bsym *b, const struct csni_bsym_segment *s) {
    return plain_name(b, s->name);
}

struct csni_bsym_name csni_bsym_symbol_name(const struct csni_bsym *b, uint32_t symbol) {
    const uint8_t *p = csni_bsym_symbol_record(b, symbol);
    if (b->version >= CSNI_BSYM_3_0) {
        struct csni_bsym_name name = plain_name(b, csni_bsym_word(b, p + CSNI_BSYM3_Y_NAME));
        uint32_t scope = csni_bsym_word(b, p + CSNI_BSYM3_Y_SCOPE);
        name.has_scope = scope && csni_bsym_string(b, scope, &name.scope) && name.scope.size;
        return name;
    }
    struct csni_bsym_name name = plain_name(b, csni_bsym_word(b, p + CSNI_BSYM_Y_NAME));
    const struct csni_bsym_segment *s = csni_bsym_owner(b, symbol);
    uint32_t number = csni_bsym_prefix_number(b, s, symbol);
    if (number) {
        const uint8_t *entry = b->body.ptr + s->prefixes + 4 * (size_t)(number - 1);
        name.has_scope = csni_bsym_string(b, csni_bsym_word(b, entry), &name.scope);
    }
    return name;
}

bool csni_bsym_symbol_name_is_there(const struct csni_bsym *b, uint32_t symbol) {
    const uint8_t *p = csni_bsym_symbol_record(b, symbol);
    const bool is_v3 = b->version >= CSNI_BSYM_3_0;
    struct csni_span text;
    if (!csni_bsym_string(b, csni_bsym_word(b, p + (is_v3 ? CSNI_BSYM3_Y_NAME : CSNI_BSYM_Y_NAME)), &text)) return false;
    if (is_v3) {
        const uint32_t scope = csni_bsym_word(b, p + CSNI_BSYM3_Y_SCOPE);
        return !scope || csni_bsym_string(b, scope, &text);
    }
    return !csni_bsym_prefix_number(b, csni_bsym_owner(b, symbol), symbol) || csni_bsym_symbol_name(b, symbol).has_scope;
}

struct csni_bsym_name csni_bsym_rename(const struct csni_bsym *b, uint32_t idx, uint32_t *out_segment) {
    const uint8_t *p = b->renames + (size_t)idx * CSNI_BSYM_RENAME_SIZE;
    *out_segment = csni_bsym_word(b, p + CSNI_BSYM_R_SEGMENT);
    return plain_name(b, csni_bsym_word(b, p + CSNI_BSYM_R_NAME));
}

/* ---- tokens ---- */

static bool has_tokens(const struct csni_bsym *b) {
    return b->version >= CSNI_BSYM_2_0 && b->version < CSNI_BSYM_3_0;
}

static bool is_literal(struct csni_span text) {
    uint8_t all = 0;
    for (size_t i = 0; i < text.size; i++) all |= text.ptr[i];
    return !(all & CSNI_BSYM_TOKEN_BIT);
}

bool csni_bsym_name_is_whole(const struct csni_bsym *b, const struct csni_bsym_name *name) {
    return !name->has_scope && (!has_tokens(b) || is_literal(name->name));
}

/* Where expanded bytes go. */
struct sink {
    uint64_t skip, length;
    char *capacity;
    size_t size;
};

static void put_expanded(struct sink *sink, const uint8_t *bytes, size_t count) {
    uint64_t at = sink->length;
    sink->length += count;
    if (sink->length <= sink->skip) return;
    size_t from = at < sink->skip ? (size_t)(sink->skip - at) : 0;
    uint64_t place = at + from - sink->skip;
    if (place >= sink->size) return;
    size_t copied = count - from < sink->size - place ? count - from : (size_t)(sink->size - place);
    memcpy(sink->capacity + place, bytes + from, copied);
}

static void put_bsym_text(const struct csni_bsym *b, struct sink *sink, struct csni_span text) {
    if (!has_tokens(b)) {
        put_expanded(sink, text.ptr, text.size);
        return;
    }
    for (size_t i = 0; i < text.size; i++) {
        size_t literals = 0;
        while (i + literals < text.size && !(text.ptr[i + literals] & CSNI_BSYM_TOKEN_BIT)) literals++;
        if (literals) put_expanded(sink, text.ptr + i, literals);
        i += literals;
        if (i == text.size) break;
        unsigned number = text.ptr[i] & (CSNI_BSYM_TOKEN_BIT - 1u);
        struct csni_span token;
        if (number < b->token_count && csni_bsym_string(b, csni_bsym_word(b, b->tokens + 4 * (size_t)number), &token))
            put_expanded(sink, token.ptr, token.size); /* as it is: tokens hold no tokens */
        else put_expanded(sink, (const uint8_t *)"?", 1);
    }
}

uint64_t csni_bsym_expand(const struct csni_bsym *b, const struct csni_bsym_name *name, uint64_t skip, char *capacity,
                          size_t size) {
    struct sink sink = { skip, 0, capacity, size };
    if (name->has_scope) {
        put_bsym_text(b, &sink, name->scope);
        put_expanded(&sink, (const uint8_t *)"::", 2);
    }
    put_bsym_text(b, &sink, name->name);
    return sink.length;
}

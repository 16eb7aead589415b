/* Matching patterns: exact names and Objective-C selectors by comparison, everything else by PCRE2 within limits. */
#include "symbolicate/pattern.h"

#include <string.h>

#include "base/core/span.h"
#include "base/hash.h"

/* ---- patterns that stand for one name ---- */

/* A pattern without its anchors. */
struct literal {
    const char *at, *end;
};

static bool is_meta(char c) {
    static const bool metas[256] = { ['\\'] = true, ['^'] = true, ['$'] = true, ['.'] = true, ['['] = true, [']'] = true,
                                     ['|'] = true, ['('] = true, [')'] = true, ['*'] = true, ['+'] = true, ['?'] = true,
                                     ['{'] = true, ['}'] = true };
    return metas[(unsigned char)c];
}

static bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next character that the literal stands for; false: it has a metacharacter here. A dollar in the middle can only
 * mean itself: nothing ever follows an end of text. */
static bool next_char(struct literal *literal, char *out) {
    char c = *literal->at;
    if (c == '\\') {
        if (literal->at + 1 == literal->end || is_alnum(literal->at[1])) return false;
        *out = literal->at[1];
        literal->at += 2;
        return true;
    }
    if (is_meta(c) && !(c == '$' && literal->at + 1 < literal->end)) return false;
    *out = c;
    literal->at++;
    return true;
}

static bool ends_in_anchor(struct csn_str pattern) {
    size_t slashes = 0;
    if (!pattern.len || pattern.ptr[pattern.len - 1] != '$') return false;
    while (slashes + 1 < pattern.len && pattern.ptr[pattern.len - 2 - slashes] == '\\') slashes++;
    return slashes % 2 == 0;
}

/* Takes both anchors off; false where there is only one. */
static bool strip_anchors(struct csn_str pattern, struct literal *out) {
    bool front = pattern.len && pattern.ptr[0] == '^', back = ends_in_anchor(pattern) && pattern.len > 1;
    *out = (struct literal){ pattern.ptr, pattern.ptr + pattern.len };
    if (front && back) {
        out->at++;
        out->end--;
    }
    return front == back;
}

/* Eight letters, digits or underscores. */
static bool are_word(const char *bytes) {
    const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    uint64_t v;
    memcpy(&v, bytes, sizeof(v));
    /* The high bit of a byte says, after (byte | 0x80) - k, that it is at least k. */
    uint64_t low = v & ~highs, small = low | 0x20 * ones, line = low ^ '_' * ones;
    uint64_t letter = ((small | highs) - 'a' * ones) & ~((small | highs) - ('z' + 1) * ones);
    uint64_t digit = ((low | highs) - '0' * ones) & ~((low | highs) - ('9' + 1) * ones);
    uint64_t good = (letter | digit | ~((line | highs) - ones)) & ~v;
    return (good & highs) == highs;
}

/* As nearly all names in C and C++ are: nothing in it can be a metacharacter. */
static bool is_word(struct literal literal) {
    size_t size = (size_t)(literal.end - literal.at);
    if (size < 8) {
        char bytes[] = "________";
        memcpy(bytes, literal.at, size);
        return size && are_word(bytes);
    }
    for (size_t i = 0; i + 8 <= size; i += 8)
        if (!are_word(literal.at + i)) return false;
    return are_word(literal.end - 8);
}

static bool is_literal(struct literal literal) {
    if (is_word(literal)) return true;
    if (literal.at == literal.end) return false; /* it matches everything or nothing */
    char c;
    while (literal.at < literal.end)
        if (!next_char(&literal, &c)) return false;
    return true;
}

static bool literal_equals(struct literal literal, struct csn_str name) {
    char c;
    for (size_t i = 0; i < name.len; i++)
        if (literal.at == literal.end || !next_char(&literal, &c) || c != name.ptr[i]) return false;
    return literal.at == literal.end;
}

/* clang calls "objc_msgSend$SELECTOR", a stub that the linker makes: the method is known, its class is not. */
static bool skip_selector_stub(struct literal *literal) {
    static const char stub[] = "objc_msgSend$";
    struct literal rest = *literal;
    char c = 0;
    while (rest.at < rest.end && *rest.at == '_') rest.at++;
    for (size_t i = 0; i < sizeof(stub) - 1; i++)
        if (rest.at == rest.end || !next_char(&rest, &c) || c != stub[i]) return false;
    *literal = rest;
    return true;
}

/* "-[Class SELECTOR]" or "+[Class(Category) SELECTOR]". */
static bool selector_of(struct csn_str name, struct csn_str *out) {
    if (name.len && name.ptr[0] == 1) name = (struct csn_str){ name.ptr + 1, name.len - 1 };
    if (name.len < 6 || (name.ptr[0] != '-' && name.ptr[0] != '+') || name.ptr[1] != '[') return false;
    const char *space = memchr(name.ptr, ' ', name.len);
    if (!space || name.ptr[name.len - 1] != ']') return false;
    *out = (struct csn_str){ space + 1, (size_t)(name.ptr + name.len - 1 - (space + 1)) };
    return true;
}

bool csni_pattern_is_exact(struct csn_str pattern) {
    struct literal literal;
    return strip_anchors(pattern, &literal) && is_literal(literal) && !skip_selector_stub(&literal);
}

bool csni_pattern_is_name(struct csn_str pattern, struct csn_str name) {
    struct literal literal;
    return strip_anchors(pattern, &literal) && literal_equals(literal, name);
}

bool csni_pattern_is_plain(struct csn_str pattern, struct csn_str *out_name) {
    struct literal literal;
    if (!strip_anchors(pattern, &literal) || !is_word(literal)) return false;
    *out_name = (struct csn_str){ literal.at, (size_t)(literal.end - literal.at) };
    return true;
}

bool csni_pattern_name(struct csn_str pattern, char *scratch, struct csn_str *out) {
    struct literal literal;
    if (!csni_pattern_is_exact(pattern) || !strip_anchors(pattern, &literal)) return false;
    size_t len = 0;
    bool plain = !memchr(literal.at, '\\', (size_t)(literal.end - literal.at));
    *out = (struct csn_str){ plain ? literal.at : scratch, (size_t)(literal.end - literal.at) };
    if (plain) return true;
    while (literal.at < literal.end && next_char(&literal, &scratch[len])) len++;
    out->len = len;
    return true;
}

/* ---- expressions ---- */

#if defined(CSNI_HAVE_PCRE2)

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* 16,384 steps of the matcher over a name of 16 KiB take some milliseconds in the worst case found. */
enum { PATTERN_MAX = 4096, NAME_MAX = 1 << 14, STEP_LIMIT = 1 << 14, DEPTH_LIMIT = 1000, HEAP_LIMIT_KIB = 1024 };
enum { TABLE_SIZE = 4096, TABLE_FULL = 2048 };

struct csni_expression {
    struct csn_str pattern; /* a view into the index; ptr NULL: a free slot */
    pcre2_code *code;       /* NULL: see verdict */
    pcre2_match_data *data;
    enum csni_match verdict;
};

/* PCRE2 frees without a size: each block begins with it. */
static void *engine_alloc(PCRE2_SIZE size, void *context) {
    struct csni_patterns *patterns = context;
    size_t whole;
    if (size > SIZE_MAX - 16) return NULL;
    whole = size + 16;
    char *block = csni_alloc(patterns->alloc, whole);
    if (!block) return NULL;
    memcpy(block, &whole, sizeof(whole));
    return block + 16;
}

static void engine_free(void *ptr, void *context) {
    struct csni_patterns *patterns = context;
    if (!ptr) return;
    size_t whole;
    char *block = (char *)ptr - 16;
    memcpy(&whole, block, sizeof(whole));
    csni_free(patterns->alloc, block, whole);
}

void csni_patterns_init(struct csni_patterns *patterns, const struct csn_allocator *alloc) {
    *patterns = (struct csni_patterns){ .alloc = alloc };
}

static void forget_expressions(struct csni_patterns *patterns) {
    for (size_t i = 0; patterns->table && i < TABLE_SIZE; i++) {
        pcre2_match_data_free(patterns->table[i].data);
        pcre2_code_free(patterns->table[i].code);
    }
    if (patterns->table) memset(patterns->table, 0, TABLE_SIZE * sizeof(*patterns->table));
    patterns->count = 0;
}

void csni_patterns_deinit(struct csni_patterns *patterns) {
    forget_expressions(patterns);
    csni_free(patterns->alloc, patterns->table, TABLE_SIZE * sizeof(*patterns->table));
    pcre2_match_context_free(patterns->limits);
    pcre2_general_context_free(patterns->memory);
    csni_patterns_init(patterns, patterns->alloc);
}

static bool engine_start(struct csni_patterns *patterns) {
    if (patterns->limits && patterns->table) return true;
    if (!patterns->memory) patterns->memory = pcre2_general_context_create(engine_alloc, engine_free, patterns);
    if (!patterns->memory) return false;
    if (!patterns->limits) {
        pcre2_match_context *limits = pcre2_match_context_create(patterns->memory);
        if (!limits) return false;
        pcre2_set_match_limit(limits, STEP_LIMIT);
        pcre2_set_depth_limit(limits, DEPTH_LIMIT);
        pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
        patterns->limits = limits;
    }
    if (!patterns->table) patterns->table = csni_alloc_zeroed(patterns->alloc, TABLE_SIZE, sizeof(*patterns->table));
    return patterns->table != NULL;
}

static void compile(struct csni_patterns *patterns, struct csni_expression *expression) {
    enum { OPTIONS = PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP
                     | PCRE2_NEVER_BACKSLASH_C };
    struct csn_str pattern = expression->pattern;
    expression->verdict = CSNI_MATCH_BAD;
    if (pattern.len > PATTERN_MAX) return;
    pcre2_compile_context *context = pcre2_compile_context_create(patterns->memory);
    if (!context) {
        expression->verdict = CSNI_MATCH_MEMORY;
        return;
    }
    int code = 0;
    PCRE2_SIZE at = 0;
    expression->code = pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len, OPTIONS, &code, &at, context);
    pcre2_compile_context_free(context);
    if (expression->code) expression->data = pcre2_match_data_create(1, patterns->memory);
    if (code != PCRE2_ERROR_HEAP_FAILED && (!expression->code || expression->data)) return;
    pcre2_code_free(expression->code);
    expression->code = NULL;
    expression->verdict = CSNI_MATCH_MEMORY;
}

static struct csni_expression *find_expression(struct csni_patterns *patterns, struct csn_str pattern) {
    size_t i = (size_t)csni_hash_bytes(pattern.ptr, pattern.len) % TABLE_SIZE;
    while (patterns->table[i].pattern.ptr && !csni_str_equal(patterns->table[i].pattern, pattern))
        i = (i + 1) % TABLE_SIZE;
    return &patterns->table[i];
}

static void drop_expression(struct csni_patterns *patterns, struct csni_expression *expression) {
    pcre2_match_data_free(expression->data);
    pcre2_code_free(expression->code);
    *expression = (struct csni_expression){ 0 };
    patterns->count--;
}

static enum csni_match run(struct csni_patterns *patterns, struct csni_expression *expression, struct csn_str name) {
    if (!expression->code) return expression->verdict;
    if (name.len > NAME_MAX) return CSNI_MATCH_COSTLY;
    int found = pcre2_match(expression->code, (PCRE2_SPTR)name.ptr, name.len, 0, 0, expression->data, patterns->limits);
    if (found >= 0) return CSNI_MATCH_YES;
    if (found == PCRE2_ERROR_NOMATCH) return CSNI_MATCH_NO;
    if (found == PCRE2_ERROR_NOMEMORY) return CSNI_MATCH_MEMORY;
    pcre2_code_free(expression->code);
    expression->code = NULL;
    expression->verdict = CSNI_MATCH_COSTLY;
    return CSNI_MATCH_COSTLY;
}

static enum csni_match match_expression(struct csni_patterns *patterns, struct csn_str pattern, struct csn_str name) {
    if (!engine_start(patterns)) return CSNI_MATCH_MEMORY;
    struct csni_expression *expression = find_expression(patterns, pattern);
    if (!expression->pattern.ptr) {
        if (patterns->count == TABLE_FULL) {
            forget_expressions(patterns);
            expression = find_expression(patterns, pattern);
        }
        expression->pattern = pattern;
        patterns->count++;
        compile(patterns, expression);
    }
    enum csni_match match = run(patterns, expression, name);
    /* It was inserted last: no later entry depends on its slot. */
    if (match == CSNI_MATCH_MEMORY && !expression->code) drop_expression(patterns, expression);
    return match;
}

#else

void csni_patterns_init(struct csni_patterns *patterns, const struct csn_allocator *alloc) {
    *patterns = (struct csni_patterns){ .alloc = alloc };
}

void csni_patterns_deinit(struct csni_patterns *patterns) { csni_patterns_init(patterns, patterns->alloc); }

static enum csni_match match_expression(struct csni_patterns *patterns, struct csn_str pattern, struct csn_str name) {
    (void)patterns, (void)pattern, (void)name;
    return CSNI_MATCH_NO_ENGINE;
}

#endif

enum csni_match csni_pattern_match(struct csni_patterns *patterns, struct csn_str pattern, struct csn_str name) {
    struct literal literal;
    if (strip_anchors(pattern, &literal) && is_literal(literal)) {
        struct csn_str selector;
        if (literal_equals(literal, name)) return CSNI_MATCH_YES;
        bool stub = skip_selector_stub(&literal) && selector_of(name, &selector);
        return stub && literal_equals(literal, selector) ? CSNI_MATCH_YES : CSNI_MATCH_NO;
    }
    return match_expression(patterns, pattern, name);
}

/* Every rule of the format, checked on every record. */
#include "base/core/budget.h"
#include "base/core/fail.h"
#include "formats/bsym/read/bsym_private.h"

static const char SECTION[] = "BSYM";
enum { STRINGS_BASE = 1 << 25, STRINGS_TIMES = 32 };

struct check {
    const struct csni_bsym *b;
    csn_verify_callback *callback;
    void *context;
    struct csn_verify_counts *counts;
    struct csni_budget strings; /* bytes of those that are checked: symbols of a hostile file share a long one */
    bool stopped;
};

/* `problem` was filled by csni_fail(), whose status this takes so that both stand in one statement. */
static void report_bsym_problem(struct check *c, struct csn_error *problem, csn_status status) {
    (void)status;
    c->counts->problems++;
    if (c->callback && !c->callback(c->context, problem)) c->stopped = true;
}
#define PROBLEM(c, at, ...)                                                                \
    do {                                                                                   \
        struct csn_error problem = CSN_ERROR_INIT;                                         \
        report_bsym_problem((c), &problem, csni_fail(&problem, CSN_E_FORMAT, SECTION, (at), __VA_ARGS__)); \
    } while (0)

static uint64_t place_of(const struct csni_bsym *b, const uint8_t *p) { return (uint64_t)(p - b->body.ptr); }

/* A string, and that its tokens exist. `may_have_tokens`: not in tokens themselves. */
static void check_bsym_string(struct check *c, uint32_t offset, const char *what, uint32_t number,
                              bool may_have_tokens) {
    const struct csni_bsym *b = c->b;
    struct csni_span text;
    if (c->stopped) return;
    c->counts->strings++;
    if (!csni_bsym_string(b, offset, &text)) {
        PROBLEM(c, offset, "the name of %s %u is not within 0x%zx bytes", what, number, b->text.size);
        return;
    }
    if (!csni_budget_charge(&c->strings, text.size)) {
        PROBLEM(c, offset, "names share bytes: more than %llu read of a file of 0x%zx", (unsigned long long)c->strings.limit,
                b->bytes.size);
        c->stopped = true;
        return;
    }
    if (b->version < CSNI_BSYM_2_0 || b->version >= CSNI_BSYM_3_0) return;
    for (size_t i = 0; i < text.size; i++) {
        unsigned byte = text.ptr[i];
        if (!(byte & CSNI_BSYM_TOKEN_BIT)) continue;
        if (may_have_tokens && byte - CSNI_BSYM_TOKEN_BIT < b->token_count) continue;
        PROBLEM(c, offset, "the name of %s %u has byte 0x%02x, there are %u tokens", what, number, byte,
                may_have_tokens ? b->token_count : 0);
        return;
    }
}

static void check_symbol(struct check *c, const struct csni_bsym_segment *s, uint32_t k) {
    const struct csni_bsym *b = c->b;
    uint32_t symbol = s->first + k, address = csni_bsym_symbol_address(b, symbol);
    const uint8_t *p = csni_bsym_symbol_record(b, symbol);
    uint64_t at = place_of(b, p);
    bool is_v3 = b->version >= CSNI_BSYM_3_0;
    if (k && address < csni_bsym_symbol_address(b, symbol - 1))
        PROBLEM(c, at, "symbol %u at 0x%x is after one at 0x%x", symbol, address,
                csni_bsym_symbol_address(b, symbol - 1));
    if (csni_bsym_word(b, p) & 1 && !is_v3) PROBLEM(c, at, "symbol %u has an odd address, 0x%x", symbol, address | 1);
    if (is_v3) {
        uint32_t scope = csni_bsym_word(b, p + CSNI_BSYM3_Y_SCOPE);
        if (scope) check_bsym_string(c, scope, "the scope of symbol", symbol, false);
        check_bsym_string(c, csni_bsym_word(b, p + CSNI_BSYM3_Y_NAME), "symbol", symbol, false);
        return;
    }
    uint32_t word = csni_bsym_word(b, p + CSNI_BSYM_Y_PREFIX), number = csni_bsym_prefix_number(b, s, symbol);
    if (!csni_bsym_symbol_length(b, s, symbol)) PROBLEM(c, at, "symbol %u has length 0", symbol);
    if (word >> 16 && !number)
        PROBLEM(c, at, "symbol %u has prefix %u and length 0x%x, its binary has %u prefixes", symbol, word >> 16,
                word & CSNI_BSYM_LENGTH_MAX, s->prefixes ? s->prefix_count : 0);
    if (number)
        check_bsym_string(c, csni_bsym_word(b, b->body.ptr + s->prefixes + 4 * (size_t)(number - 1)),
                          "the prefix of symbol",
                          symbol, true);
    check_bsym_string(c, csni_bsym_word(b, p + CSNI_BSYM_Y_NAME), "symbol", symbol, true);
}

static void check_segment(struct check *c, const struct csni_bsym_segment *s) {
    const struct csni_bsym *b = c->b;
    uint32_t first = csni_bsym_symbol_address(b, s->first);
    check_bsym_string(c, s->name, "binary", s->number, true);
    if (s->address && first != s->address)
        PROBLEM(c, place_of(b, csni_bsym_symbol_record(b, s->first)), "binary %u is at 0x%x, its first symbol at 0x%x",
                s->number, s->address, first);
    if (s->prefixes && !s->prefix_count)
        PROBLEM(c, s->prefixes, "the prefix table of binary %u is not within 0x%zx bytes", s->number, b->bytes.size);
    for (uint32_t k = 0; k < s->count && !c->stopped; k++) check_symbol(c, s, k);
}

static void check_renames(struct check *c) {
    const struct csni_bsym *b = c->b;
    uint32_t before = 0;
    for (uint32_t i = 0; i < b->rename_count && !c->stopped; i++) {
        const uint8_t *p = b->renames + (size_t)i * CSNI_BSYM_RENAME_SIZE;
        uint32_t number = csni_bsym_word(b, p + CSNI_BSYM_R_SEGMENT);
        uint32_t count = csni_get32(b->bytes.ptr + csni_get32(b->bytes.ptr + CSNI_BSYM_H_SEGMENTS, true), true);
        if (number >= count)
            PROBLEM(c, place_of(b, p), "rename %u is of binary %u, there are %u", i, number, count);
        if (number < before)
            PROBLEM(c, place_of(b, p), "rename %u is of binary %u, after one of binary %u", i, number, before);
        before = number;
        check_bsym_string(c, csni_bsym_word(b, p + CSNI_BSYM_R_NAME), "rename", i, true);
    }
}

csn_status csni_bsym_verify(const struct csni_bsym *b, csn_verify_callback *callback, void *context,
                            struct csn_verify_counts *out) {
    *out = (struct csn_verify_counts){ 0 };
    struct check c = { b, callback, context, out, csni_budget_for(STRINGS_BASE, b->bytes.size, STRINGS_TIMES), false };
    if (b->unsorted_segments) PROBLEM(&c, 0, "%u binaries are not in the order of their addresses", b->segment_count);
    uint32_t owned = 0;
    for (uint32_t i = 0; i < b->token_count && !c.stopped; i++)
        check_bsym_string(&c, csni_bsym_word(b, b->tokens + 4 * (size_t)i), "token", i, false);
    for (uint32_t i = 0; i < b->segment_count && !c.stopped; i++) {
        check_segment(&c, &b->segments[i]);
        owned += b->segments[i].count;
    }
    if (!c.stopped && owned < b->symbol_count)
        PROBLEM(&c, 0, "%u of %u symbols belong to no binary", b->symbol_count - owned, b->symbol_count);
    check_renames(&c);
    out->functions = b->symbol_count;
    return CSN_OK;
}

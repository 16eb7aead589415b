/* The table of tokens: choosing it, and putting strings together from it in the fewest bytes.
 *
 * Choosing goes in rounds over a sample. In each, the sample is written with the table so far; tokens and bytes that were
 * used, and every two that stood side by side, are the candidates for the next table, by how many bytes they save. Tokens
 * grow by joining, so few rounds find long ones; the round with the smallest result wins. */
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/hash.h"
#include "formats/bsym/write/bsym_write_private.h"

const char *const csni_bsym_reference_tokens[CSNI_BSYM_REFERENCE_TOKENS] = {
    "void", "char", "unsigned", "long", "int", "const", " const", " stub", "TDesC8", "TDesC16", "TRequestStatus", "Cancel",
    "unsigned char", "unsigned int", "unsigned long", "_E32Dll", "_E32Dll_Body", "_E32Startup", "void *", "void*",
    "void const *", "const void*", "const TDesC16&", "TDesC16 const &", "const TDesC8&", "TDesC8 const &", "ConstructL",
    "thunk{", "thunk{-", "} to ", "operator [](", "operator new(", "operator ==(", "TAlignedBuf8(", "ResetAndDestroy()",
    "CleanupClosePushL<", "Image$$ER_RO$$Base", "__cpp_initialize__aeabi_", "__DLL_Export_Table__",
    "TRefByValue<const TDesC8>)", "TRefByValue<const TDesC16>)", "TRefByValue<TDesC8 const>)",
    "TRefByValue<TDesC16 const>)", "TRefByValue<const TDesC8>, ...)", "TRefByValue<const TDesC16>, ...)",
    "TRefByValue<TDesC8 const>,...)", "TRefByValue<TDesC16 const>,...)", "__deallocating()", "__sub_object(",
    "typeinfo for ", "typeinfo name for ", "vtable for ", " virtual table", "\\epoc32\\release\\",
    "\\epoc32\\release\\gcce\\urel\\", "\\epoc32\\release\\armv5\\urel\\", "\\epoc32\\release\\armv5.",
    "\\epoc32\\release\\armv5smp\\urel\\", "\\sys\\bin\\", "z:\\sys\\bin\\", " (EXPORTED)",
};

/* ---- encoding ---- */

static unsigned two_bytes(const char *p) { return (unsigned)(uint8_t)p[0] << 8 | (uint8_t)p[1]; }

void csni_bsym_tokens_set(struct csni_bsym_tokens *t, const struct csn_str *items, uint32_t count) {
    memset(t, 0, sizeof *t);
    t->count = count;
    for (uint32_t i = 0; i < count; i++) {
        t->items[i] = items[i];
        if (items[i].len < 2) continue; /* saves nothing */
        /* After those that are as long or longer. */
        uint8_t *link = &t->first[two_bytes(items[i].ptr)];
        while (*link && t->items[*link - 1].len >= items[i].len) link = &t->next[*link - 1];
        t->next[i] = *link;
        *link = (uint8_t)(i + 1);
    }
}

static bool stands_at(struct csn_str token, struct csn_str text, size_t at) {
    return token.len <= text.len - at && memcmp(token.ptr + 2, text.ptr + at + 2, token.len - 2) == 0;
}

/* costs[i]: how many bytes the string takes from i on, and the token to begin with there (0: none), which is the longest of
 * those that are best. */
enum { COST_SHIFT = 8, CHOICE_MASK = 0xff };

static void find_costs(const struct csni_bsym_tokens *t, struct csn_str text, uint32_t *costs) {
    costs[text.len] = 0;
    for (size_t i = text.len; i--;) {
        uint32_t best = ((costs[i + 1] >> COST_SHIFT) + 1) << COST_SHIFT;
        if (i + 1 < text.len)
            for (unsigned k = t->first[two_bytes(text.ptr + i)]; k; k = t->next[k - 1]) {
                if (!stands_at(t->items[k - 1], text, i)) continue;
                uint32_t cost = ((costs[i + t->items[k - 1].len] >> COST_SHIFT) + 1) << COST_SHIFT;
                if (cost < (best & ~(uint32_t)CHOICE_MASK) || (cost == (best & ~(uint32_t)CHOICE_MASK) && !(best & CHOICE_MASK)))
                    best = cost | k;
            }
        costs[i] = best;
    }
}

size_t csni_bsym_encode(const struct csni_bsym_tokens *t, struct csn_str text, uint8_t *out, uint32_t *costs) {
    if (!t->count) {
        if (text.len) memcpy(out, text.ptr, text.len);
        return text.len;
    }
    find_costs(t, text, costs);
    size_t size = 0;
    for (size_t i = 0; i < text.len;) {
        unsigned k = costs[i] & CHOICE_MASK;
        out[size++] = k ? (uint8_t)(CSNI_BSYM_TOKEN_BIT + k - 1) : (uint8_t)text.ptr[i];
        i += k ? t->items[k - 1].len : 1;
    }
    return size;
}

/* ---- choosing ---- */

enum { ROUNDS = 12, UNITS = 128 + CSNI_BSYM_TOKEN_MAX, SAMPLE_BYTES = 1 << 20, TOKEN_OVERHEAD = 5 };

struct candidate {
    struct csn_str text;   /* NULL: a free slot */
    uint64_t count;
};

struct chooser {
    struct csni_bsym_tokens *tokens;
    struct csn_str *sample;
    size_t sample_count, sample_bytes, all_bytes;
    uint8_t *units;        /* of one string */
    uint32_t *costs;
    uint32_t *singles, *pairs; /* counts: by unit, by two units */
    struct candidate *slots; /* hash table of texts, a power of two, at most half full */
    size_t slot_count;
    struct csni_arena *arena; /* of candidates' texts */
};

/* Evenly spread over all strings. */
static csn_status take_sample(struct chooser *c, const struct csni_distinct_string *strings, size_t count,
                              const struct csn_allocator *alloc, struct csn_error *err) {
    for (size_t i = 0; i < count; i++) c->all_bytes += strings[i].text.len;
    size_t step = c->all_bytes / SAMPLE_BYTES + 1;
    c->sample = csni_alloc_zeroed(alloc, count / step + 1, sizeof *c->sample);
    if (!c->sample) return csni_fail_memory(err, count * sizeof *c->sample);
    for (size_t i = 0; i < count; i += step) {
        struct csn_str text = strings[i].text;
        if (text.len > SAMPLE_BYTES / 64) text.len = SAMPLE_BYTES / 64;
        c->sample[c->sample_count++] = text;
        c->sample_bytes += text.len;
    }
    return CSN_OK;
}

static struct csn_str text_of(const struct chooser *c, unsigned unit, char *byte) {
    if (unit & CSNI_BSYM_TOKEN_BIT) return c->tokens->items[unit - CSNI_BSYM_TOKEN_BIT];
    *byte = (char)unit;
    return (struct csn_str){ byte, 1 };
}

/* Bytes of the sample with the table, the table included. */
static uint64_t count_units(struct chooser *c) {
    uint64_t total = 0;
    memset(c->singles, 0, UNITS * sizeof *c->singles);
    memset(c->pairs, 0, (size_t)UNITS * UNITS * sizeof *c->pairs);
    for (size_t i = 0; i < c->sample_count; i++) {
        size_t size = csni_bsym_encode(c->tokens, c->sample[i], c->units, c->costs);
        total += size;
        for (size_t k = 0; k < size; k++) {
            c->singles[c->units[k]]++;
            if (k) c->pairs[(size_t)c->units[k - 1] * UNITS + c->units[k]]++;
        }
    }
    return total;
}

static csn_status add_candidate(struct chooser *c, struct csn_str left, struct csn_str right, uint64_t count,
                                struct csn_error *err) {
    char text[2 * CSNI_BSYM_TOKEN_BYTES];
    size_t len = left.len + right.len;
    if (len < 2 || len > CSNI_BSYM_TOKEN_BYTES) return CSN_OK;
    memcpy(text, left.ptr, left.len);
    if (right.len) memcpy(text + left.len, right.ptr, right.len);
    size_t at = (size_t)csni_hash_bytes(text, len) & (c->slot_count - 1);
    for (; c->slots[at].text.ptr; at = (at + 1) & (c->slot_count - 1))
        if (csni_str_equal(c->slots[at].text, (struct csn_str){ text, len })) break;
    if (!c->slots[at].text.ptr) {
        char *copy = csni_arena_copy(c->arena, text, len);
        if (!copy) return csni_fail_memory(err, len);
        c->slots[at].text = (struct csn_str){ copy, len };
    }
    c->slots[at].count += count;
    return CSN_OK;
}

/* What a token saves in the whole file, less what it costs in the table. */
static uint64_t gain_of(const struct chooser *c, const struct candidate *k) {
    uint64_t saved = k->count * (k->text.len - 1);
    uint64_t cost = (k->text.len + TOKEN_OVERHEAD) * (c->sample_bytes + 1) / (c->all_bytes + 1);
    return saved > cost ? saved - cost : 0;
}

/* A total order, so that the table depends on nothing but the strings. */
static bool is_better(const struct chooser *c, const struct candidate *a, const struct candidate *b) {
    uint64_t x = gain_of(c, a), y = gain_of(c, b);
    if (x != y) return x > y;
    if (a->text.len != b->text.len) return a->text.len > b->text.len;
    return memcmp(a->text.ptr, b->text.ptr, a->text.len) < 0;
}

/* Keeps the best candidates, best first. */
static void choose_best(struct chooser *c, struct csn_str *out, uint32_t *out_count) {
    struct candidate best[CSNI_BSYM_TOKEN_MAX];
    uint32_t count = 0;
    for (size_t i = 0; i < c->slot_count; i++) {
        const struct candidate *k = &c->slots[i];
        if (!k->text.ptr || !gain_of(c, k)) continue;
        if (count == CSNI_BSYM_TOKEN_MAX && !is_better(c, k, &best[count - 1])) continue;
        uint32_t at = count < CSNI_BSYM_TOKEN_MAX ? count++ : count - 1;
        for (; at && is_better(c, k, &best[at - 1]); at--) best[at] = best[at - 1];
        best[at] = *k;
    }
    for (uint32_t i = 0; i < count; i++) out[i] = best[i].text;
    *out_count = count;
}

static csn_status gather_candidates(struct chooser *c, struct csn_error *err) {
    memset(c->slots, 0, c->slot_count * sizeof *c->slots);
    char left_byte, right_byte;
    for (unsigned left = 0; left < UNITS; left++) {
        if (!c->singles[left]) continue;
        struct csn_str l = text_of(c, left, &left_byte);
        CSNI_TRY(add_candidate(c, l, (struct csn_str){ "", 0 }, c->singles[left], err));
        for (unsigned right = 0; right < UNITS; right++) {
            uint32_t count = c->pairs[(size_t)left * UNITS + right];
            if (count > 1) CSNI_TRY(add_candidate(c, l, text_of(c, right, &right_byte), count, err));
        }
    }
    return CSN_OK;
}

static csn_status run_rounds(struct chooser *c, struct csn_error *err) {
    struct csn_str best[CSNI_BSYM_TOKEN_MAX], next[CSNI_BSYM_TOKEN_MAX];
    uint32_t best_count = 0, next_count;
    uint64_t best_size = UINT64_MAX;
    csni_bsym_tokens_set(c->tokens, NULL, 0);
    for (int round = 0;; round++) {
        uint64_t size = count_units(c);
        for (uint32_t i = 0; i < c->tokens->count; i++)
            size += (c->tokens->items[i].len + TOKEN_OVERHEAD) * (c->sample_bytes + 1) / (c->all_bytes + 1);
        if (size < best_size) {
            best_size = size;
            best_count = c->tokens->count;
            memcpy(best, c->tokens->items, sizeof best);
        }
        if (round == ROUNDS) break;
        CSNI_TRY(gather_candidates(c, err));
        choose_best(c, next, &next_count);
        csni_bsym_tokens_set(c->tokens, next, next_count);
    }
    csni_bsym_tokens_set(c->tokens, best, best_count);
    return CSN_OK;
}

csn_status csni_bsym_tokens_choose(struct csni_bsym_tokens *t, const struct csni_distinct_string *strings, size_t count,
                                   const struct csn_allocator *alloc, struct csni_arena *arena, struct csn_error *err) {
    enum { LONGEST = SAMPLE_BYTES / 64 };
    struct chooser c = { .tokens = t, .arena = arena };
    csn_status status = take_sample(&c, strings, count, alloc, err);
    c.units = csni_alloc(alloc, LONGEST);
    c.costs = csni_alloc_zeroed(alloc, LONGEST + 1, sizeof *c.costs);
    c.singles = csni_alloc_zeroed(alloc, UNITS, sizeof *c.singles);
    c.pairs = csni_alloc_zeroed(alloc, (size_t)UNITS * UNITS, sizeof *c.pairs);
    /* Candidates are units, and pairs that occur twice. */
    size_t most = c.sample_bytes / 2 < (size_t)UNITS * UNITS ? c.sample_bytes / 2 : (size_t)UNITS * UNITS;
    for (c.slot_count = 1; c.slot_count < 2 * (most + UNITS);) c.slot_count *= 2;
    c.slots = csni_alloc_zeroed(alloc, c.slot_count, sizeof *c.slots);
    if (status >= 0)
        status = c.units && c.costs && c.singles && c.pairs && c.slots ? run_rounds(&c, err)
                                                                      : csni_fail_memory(err, c.slot_count * sizeof *c.slots);
    csni_free(alloc, c.sample, (count / (c.all_bytes / SAMPLE_BYTES + 1) + 1) * sizeof *c.sample);
    csni_free(alloc, c.units, LONGEST);
    csni_free(alloc, c.costs, (LONGEST + 1) * sizeof *c.costs);
    csni_free(alloc, c.singles, UNITS * sizeof *c.singles);
    csni_free(alloc, c.pairs, (size_t)UNITS * UNITS * sizeof *c.pairs);
    csni_free(alloc, c.slots, c.slot_count * sizeof *c.slots);
    return status;
}

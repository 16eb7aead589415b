/* gperftools' CPU profile: machine words of the program that was measured, of 4 or 8 bytes in either order.
 *
 *     0, 3, 0, period in microseconds, 0
 *     count, number of addresses, address...           a stack, innermost first; callers have return addresses
 *     0, 1, 0                                          the end; text of /proc/PID/maps follows
 *
 * Source: gperftools, docs/cpuprofile-fileformat.html. */
#include "base/core/endian.h"
#include "profile/legacy_read.h"

struct cpu_words {
    struct csni_span bytes;
    size_t at, size; /* size: of a word */
    bool big;
};

static size_t words_left(const struct cpu_words *w) { return (w->bytes.size - w->at) / w->size; }

static uint64_t next_word(struct cpu_words *w) {
    const uint8_t *p = w->bytes.ptr + w->at;
    uint64_t value = 0;
    w->at += w->size;
    for (size_t i = 0; i < w->size; i++) value |= (uint64_t)p[i] << 8 * (w->big ? w->size - 1 - i : i);
    return value;
}

/* What the words are, and the period. */
static bool read_cpu_head(struct csni_span bytes, struct cpu_words *out, uint64_t *period_us) {
    static const struct {
        size_t size;
        bool big;
    } kinds[] = { { 4, false }, { 4, true }, { 8, false }, { 8, true } };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        *out = (struct cpu_words){ bytes, 0, kinds[i].size, kinds[i].big };
        if (words_left(out) < 5 || next_word(out) != 0 || next_word(out) != 3 || next_word(out) != 0) continue;
        *period_us = next_word(out);
        if (*period_us && *period_us <= INT64_MAX / 1000 && next_word(out) == 0) return true;
    }
    return false;
}

bool csni_legacy_is_cpu(struct csni_span bytes) {
    struct cpu_words words;
    uint64_t period;
    return read_cpu_head(bytes, &words, &period);
}

/* The address of the interrupted frame may be there twice: from the signal and from the walk. */
static csn_status push_cpu_stack(struct legacy_places *l, struct cpu_words *words, uint64_t count) {
    uint64_t first = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t addr = next_word(words);
        if (i == 0) first = addr;
        else if (!addr || (i == 1 && addr == first)) continue;
        CSNI_TRY(csni_legacy_push(l, i ? addr - 1 : addr));
    }
    return CSN_OK;
}

static csn_status fail_end(struct cpu_words *words, size_t at, uint64_t need, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, "CPU profile", at, "a stack of %llu addresses, but %zu words are left",
                     (unsigned long long)need, words_left(words));
}

/* Passes the stacks; false: the last one is cut off. */
static csn_status find_maps(struct cpu_words words, struct csni_span *maps, struct csn_error *err) {
    *maps = (struct csni_span){ NULL, 0 };
    while (words.at < words.bytes.size) {
        const size_t at = words.at;
        if (words_left(&words) < 2) return fail_end(&words, at, 0, err);
        const uint64_t count = next_word(&words), depth = next_word(&words);
        if (depth > words_left(&words)) return fail_end(&words, at, depth, err);
        const bool is_end = !count && depth == 1 && !next_word(&words);
        if (is_end) {
            *maps = csni_span_from(words.bytes, words.at);
            return CSN_OK;
        }
        words.at = at + (size_t)(depth + 2) * words.size;
    }
    return CSN_OK;
}

static csn_status read_cpu_stacks(struct legacy_places *l, struct cpu_words *words, int64_t period_ns) {
    uint32_t types[2];
    CSNI_TRY(csn_profile_add_value_type(l->p, CSN_STR("samples"), CSN_STR("count"), &types[0], l->err));
    CSNI_TRY(csn_profile_add_value_type(l->p, CSN_STR("cpu"), CSN_STR("nanoseconds"), &types[1], l->err));
    CSNI_TRY(csni_profile_keep_default_type(l->p, types[1], l->err));
    CSNI_TRY(csni_legacy_set_period(l, CSN_STR("cpu"), CSN_STR("nanoseconds"), period_ns));
    while (words->at < words->bytes.size) {
        const uint64_t count = next_word(words), depth = next_word(words);
        const struct cpu_words at = *words;
        if (!count && depth == 1 && !next_word(words)) break;
        *words = at;
        int64_t values[2] = { count > INT64_MAX ? INT64_MAX : (int64_t)count, 0 };
        if (__builtin_mul_overflow(values[0], period_ns, &values[1])) values[1] = INT64_MAX;
        CSNI_TRY(push_cpu_stack(l, words, depth));
        CSNI_TRY(csni_legacy_add_sample(l, types, values, 2, 0));
    }
    return CSN_OK;
}

csn_status csni_legacy_cpu_read(struct csn_profile *p, struct csni_span bytes, struct csn_error *err) {
    struct legacy_places places;
    struct cpu_words words;
    struct csni_span maps;
    uint64_t period_us;
    if (!read_cpu_head(bytes, &words, &period_us))
        return csni_fail(err, CSN_E_FORMAT, "CPU profile", 0, "it does not begin with 0, 3, 0, a period and 0");
    CSNI_TRY(find_maps(words, &maps, err));
    csn_status status = csni_legacy_places_init(&places, p, maps, err);
    if (status >= 0) status = read_cpu_stacks(&places, &words, (int64_t)period_us * 1000);
    csni_legacy_places_deinit(&places);
    return status;
}

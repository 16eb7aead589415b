/* Punycode: characters are inserted, in the order of their code points, each as a distance from the one before. */
#include "names/punycode.h"

enum { BASE = 36, LEAST_THRESHOLD = 1, MOST_THRESHOLD = 26, SKEW = 38, FIRST_DAMP = 700, FIRST_BIAS = 72, CHARACTERS_MAX = 256,
       FIRST_SURROGATE = 0xd800 };

struct decoder {
    const char *at, *end;
    bool swift; /* 'A' to 'J' are digits, not '0' to '9' */
    uint32_t characters[CHARACTERS_MAX];
    uint64_t count;
    uint64_t bias;
};

static unsigned digit_of(char c, bool swift) {
    if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a');
    char first = swift ? 'A' : '0';
    return c >= first && c <= first + 9 ? (unsigned)(c - first) + 26 : BASE;
}

/* A number of variable length. False: damaged. */
static bool read_distance(struct decoder *d, uint64_t *out) {
    uint64_t value = 0, weight = 1;
    for (uint64_t k = BASE;; k += BASE) {
        unsigned digit = d->at < d->end ? digit_of(*d->at++, d->swift) : BASE;
        uint64_t threshold = k <= d->bias ? LEAST_THRESHOLD : k - d->bias;
        if (threshold > MOST_THRESHOLD) threshold = MOST_THRESHOLD;
        if (digit == BASE || weight > UINT32_MAX) return false;
        value += digit * weight;
        if (value > UINT32_MAX) return false;
        if (digit < threshold) break;
        weight *= BASE - threshold;
    }
    *out = value;
    return true;
}

static uint64_t next_bias(uint64_t distance, uint64_t count, bool first) {
    distance /= first ? FIRST_DAMP : 2;
    distance += distance / count;
    uint64_t k = 0;
    for (; distance > (BASE - LEAST_THRESHOLD) * MOST_THRESHOLD / 2; k += BASE) distance /= BASE - LEAST_THRESHOLD;
    return k + (BASE - LEAST_THRESHOLD + 1) * distance / (distance + SKEW);
}

static bool insert(struct decoder *d, uint64_t position, uint64_t code) {
    uint64_t surrogates = d->swift ? FIRST_SURROGATE + 0x80 : FIRST_SURROGATE;
    if (d->count == CHARACTERS_MAX || code >= 0x110000 || (code >= surrogates && code < 0xe000)) return false;
    memmove(d->characters + position + 1, d->characters + position, (size_t)(d->count - position) * sizeof(d->characters[0]));
    d->characters[position] = (uint32_t)code;
    d->count++;
    return true;
}

static bool decode(struct decoder *d) {
    uint64_t code = 0x80, position = 0, distance;
    for (bool first = true; d->at < d->end; first = false) {
        if (!read_distance(d, &distance)) return false;
        position += distance;
        code += position / (d->count + 1);
        position %= d->count + 1;
        if (!insert(d, position++, code)) return false;
        d->bias = next_bias(distance, d->count, first);
    }
    return true;
}

/* Sets the decoder to what is behind the last '_', and the characters to what is before it, as far as they fit: how
 * many there are. */
static size_t begin(struct decoder *d, struct csn_str coded) {
    size_t plain = coded.len;
    while (plain && coded.ptr[plain - 1] != '_') plain--;
    d->bias = FIRST_BIAS;
    d->at = coded.ptr + plain;
    d->end = coded.ptr + coded.len;
    if (plain) plain--;
    for (size_t i = 0; i < plain && i < CHARACTERS_MAX; i++) d->characters[d->count++] = (uint8_t)coded.ptr[i];
    return plain;
}

bool csni_put_punycode(struct csni_name_text *out, struct csn_str coded) {
    struct decoder d = { .count = 0 };
    size_t plain = begin(&d, coded);
    if (d.at == d.end) return false;
    if (plain < CHARACTERS_MAX) {
        if (decode(&d)) {
            for (uint64_t i = 0; i < d.count; i++) csni_name_put_utf8(out, d.characters[i]);
            return true;
        }
        if (d.count < CHARACTERS_MAX) return false;
    }
    csni_name_put_text(out, "punycode{");
    csni_name_put(out, coded.ptr, plain);
    if (plain) csni_name_put_text(out, "-");
    csni_name_put(out, coded.ptr + (plain ? plain + 1 : 0), coded.len - (plain ? plain + 1 : 0));
    csni_name_put_text(out, "}");
    return true;
}

bool csni_put_swift_punycode(struct csni_name_text *out, struct csn_str coded) {
    struct decoder d = { .swift = true };
    if (begin(&d, coded) > CHARACTERS_MAX) return false;
    for (uint64_t i = 0; i < d.count; i++)
        if (d.characters[i] > 0x7f) return false;
    if (!decode(&d)) return false;
    for (uint64_t i = 0; i < d.count; i++) {
        uint32_t code = d.characters[i];
        csni_name_put_utf8(out, code >= FIRST_SURROGATE && code < 0xe000 ? code - FIRST_SURROGATE : code);
    }
    return true;
}

/* Punycode: characters are inserted, in the order of their code points, each as a distance from the one before. */
#include "names/rust/punycode.h"

enum { BASE = 36, LEAST_THRESHOLD = 1, MOST_THRESHOLD = 26, SKEW = 38, FIRST_DAMP = 700, FIRST_BIAS = 72, CHARACTERS_MAX = 256 };

struct decoder {
    const char *at, *end;
    uint32_t characters[CHARACTERS_MAX];
    uint64_t count;
    uint64_t bias;
};

static unsigned digit_of(char c) {
    if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a');
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') + 26 : BASE;
}

/* A number of variable length. False: damaged. */
static bool read_distance(struct decoder *d, uint64_t *out) {
    uint64_t value = 0, weight = 1;
    for (uint64_t k = BASE;; k += BASE) {
        unsigned digit = d->at < d->end ? digit_of(*d->at++) : BASE;
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
    if (d->count == CHARACTERS_MAX || code >= 0x110000 || (code >= 0xd800 && code < 0xe000)) return false;
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

bool csni_put_punycode(struct csni_name_text *out, struct csn_str coded) {
    struct decoder d = { .bias = FIRST_BIAS };
    size_t plain = coded.len;
    while (plain && coded.ptr[plain - 1] != '_') plain--;
    d.at = coded.ptr + plain;
    d.end = coded.ptr + coded.len;
    if (plain) plain--;
    if (d.at == d.end) return false;
    if (plain < CHARACTERS_MAX) {
        for (size_t i = 0; i < plain; i++) d.characters[d.count++] = (uint8_t)coded.ptr[i];
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

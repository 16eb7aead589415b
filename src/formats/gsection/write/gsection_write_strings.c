/* Sharing a string table: finding a model's strings in one that exists. Linkers let a string be the end of a longer one, so the
 * ends of all strings of the table are looked at: each string is hashed from its end to its beginning, and the hash after each
 * byte is that of one more end. */
#include "base/core/fail.h"
#include "formats/gsection/write/gsection_write.h"

/* Hashes are numbers below the prime 2^61 - 1: of such a polynomial an attacker cannot make many collisions cheaply, as he
 * can modulo 2^64. */
static const uint64_t PRIME = ((uint64_t)1 << 61) - 1, FACTOR = 0x16a09e667f3bcc9;

/* A product of numbers below the prime: below 2^63, and modulo the prime the same. */
static inline uint64_t multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(CSNI_PORTABLE)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, middle = a_high * b_low + a_low * b_high, high = a_high * b_high;
    /* 2^61 is 1. */
    return (low & PRIME) + (low >> 61) + ((middle << 32) & PRIME) + (middle >> 29) + (high << 3);
#endif
}

static inline uint64_t hash_byte(uint64_t hash, uint8_t byte) {
    uint64_t sum = multiply(hash, FACTOR) + byte + 1;
    sum = (sum & PRIME) + (sum >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

struct finder {
    const struct csni_model *model;
    uint32_t *slots; /* string numbers; 0: free */
    uint64_t *hashes;
    size_t mask;
    uint32_t *out;
};

static void insert_string(struct finder *f, uint32_t string) {
    struct csn_str s = f->model->strings[string];
    uint64_t hash = 0;
    for (size_t i = s.len; i > 0; i--) hash = hash_byte(hash, (uint8_t)s.ptr[i - 1]);
    size_t slot = (size_t)hash & f->mask;
    while (f->slots[slot]) slot = (slot + 1) & f->mask;
    f->slots[slot] = string;
    f->hashes[string] = hash;
}

/* The string with that hash; 0: none. */
static uint32_t find_string_slot(const struct finder *f, uint64_t hash, const uint8_t *text, size_t len) {
    for (size_t slot = (size_t)hash & f->mask; f->slots[slot]; slot = (slot + 1) & f->mask) {
        uint32_t string = f->slots[slot];
        struct csn_str s = f->model->strings[string];
        if (f->hashes[string] == hash && s.len == len && memcmp(s.ptr, text, len) == 0) return string;
    }
    return 0;
}

/* One string of the table, at `begin`. */
static void look_at(struct finder *f, struct csni_span table, size_t begin, size_t end, bool whole) {
    uint64_t hash = 0;
    for (size_t i = end; i > begin; i--) {
        hash = hash_byte(hash, table.ptr[i - 1]);
        if (whole && i - 1 != begin) continue;
        uint32_t string = find_string_slot(f, hash, table.ptr + i - 1, end - i + 1);
        if (string && f->out[string] == CSNI_NO_STRING) f->out[string] = (uint32_t)(i - 1);
    }
}

static void look_at_all(struct finder *f, struct csni_span table, bool whole) {
    size_t begin = 0;
    while (begin < table.size) {
        const uint8_t *nul = memchr(table.ptr + begin, 0, table.size - begin);
        if (!nul) return; /* what does not end is no string */
        size_t end = (size_t)(nul - table.ptr);
        /* Every NUL is an empty string. */
        if (f->out[0] == CSNI_NO_STRING && (!whole || begin == end)) f->out[0] = (uint32_t)end;
        look_at(f, table, begin, end, whole);
        begin = end + 1;
    }
}

csn_status csni_gsection_find_strings(const struct csni_model *model, struct csni_span table, bool whole, uint32_t *out,
                                      struct csn_error *err) {
    size_t slot_count = 16;
    while (slot_count < 2 * (size_t)model->string_count) slot_count *= 2;
    struct finder f = { .model = model, .mask = slot_count - 1, .out = out };
    f.slots = csni_alloc_zeroed(model->alloc, slot_count, sizeof *f.slots);
    f.hashes = csni_alloc_zeroed(model->alloc, model->string_count, sizeof *f.hashes);
    csn_status status = CSN_OK;
    if (f.slots && f.hashes) {
        for (uint32_t i = 0; i < model->string_count; i++) out[i] = CSNI_NO_STRING;
        for (uint32_t i = 1; i < model->string_count; i++) insert_string(&f, i);
        if (table.size < UINT32_MAX) look_at_all(&f, table, whole);
    } else {
        status = csni_fail_memory(err, slot_count * sizeof *f.slots);
    }
    csni_free(model->alloc, f.slots, slot_count * sizeof *f.slots);
    csni_free(model->alloc, f.hashes, model->string_count * sizeof *f.hashes);
    return status;
}

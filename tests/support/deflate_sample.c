/* Writes streams of deflate. The tables of lengths and distances are worked out here from RFC 1951, 3.2.5, not shared. */
#include "support/deflate_sample.h"

#include <stdlib.h>
#include <string.h>

enum { SYMBOLS = 288, DISTANCES = 32, USED_SYMBOLS = 286, USED_DISTANCES = 30, END_OF_BLOCK = 256, WINDOW = 32768 };

void deflate_sample_init(struct deflate_sample *s, uint32_t seed) {
    memset(s, 0, sizeof *s);
    wire_init(&s->stream, false);
    wire_init(&s->plain, false);
    s->seed = seed;
    wire_u8(&s->stream, 0x78);
    wire_u8(&s->stream, 0x9c);
}

void deflate_sample_deinit(struct deflate_sample *s) {
    wire_deinit(&s->stream);
    wire_deinit(&s->plain);
}

uint32_t deflate_sample_pick(struct deflate_sample *s, uint32_t count) {
    s->seed = s->seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(s->seed >> 8) * count >> 24);
}

void deflate_sample_bits(struct deflate_sample *s, uint64_t value, unsigned count) {
    s->bits |= value << s->count;
    for (s->count += count; s->count >= 8; s->count -= 8, s->bits >>= 8) wire_u8(&s->stream, s->bits & 0xff);
}

static void align(struct deflate_sample *s) {
    if (s->count) deflate_sample_bits(s, 0, 8 - s->count);
}

void deflate_sample_stored(struct deflate_sample *s, bool last, size_t size) {
    deflate_sample_bits(s, last, 3);
    align(s);
    wire_u16(&s->stream, size);
    wire_u16(&s->stream, ~size & 0xffff);
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)deflate_sample_pick(s, 256);
        wire_u8(&s->stream, byte);
        wire_u8(&s->plain, byte);
    }
}

void deflate_sample_fixed(struct deflate_sample *s, bool last) {
    deflate_sample_bits(s, (unsigned)last | 1 << 1, 3);
    for (unsigned i = 0; i < SYMBOLS; i++) s->sizes[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(s->sizes + SYMBOLS, 5, DISTANCES);
}

/* Complete: one leaf is split until there are enough, then they are dealt out. */
static void random_code(struct deflate_sample *s, uint8_t *sizes, unsigned count, unsigned used, unsigned longest) {
    uint8_t leaves[SYMBOLS] = { 1, 1 };
    for (unsigned n = 2; n < used;) {
        unsigned at = deflate_sample_pick(s, 4) ? n - 1 - deflate_sample_pick(s, n < 4 ? n : 4) : deflate_sample_pick(s, n);
        while (leaves[at] == longest) at = (at + 1) % n;
        leaves[n++] = ++leaves[at];
    }
    memset(sizes, 0, count);
    for (unsigned i = 0; i < used; i++) sizes[i] = leaves[i];
    for (unsigned i = used; i-- > 1;) {
        unsigned k = deflate_sample_pick(s, i + 1);
        uint8_t size = sizes[i];
        sizes[i] = sizes[k];
        sizes[k] = size;
    }
}

/* Code sizes are all given by 4-bit codes of their own: 13 codes of sizes 3 to 15, then 0, and 16 to 18 only to fill up. */
static void put_sizes(struct deflate_sample *s) {
    deflate_sample_bits(s, USED_SYMBOLS - 257, 5);
    deflate_sample_bits(s, USED_DISTANCES - 1, 5);
    deflate_sample_bits(s, 19 - 4, 4);
    /* In the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15: sizes 0 to 15 have 4 bits each, a complete code. */
    for (unsigned i = 0; i < 19; i++) deflate_sample_bits(s, i < 3 ? 0 : 4, 3);
    for (unsigned i = 0; i < USED_SYMBOLS + USED_DISTANCES; i++) {
        unsigned size = s->sizes[i < USED_SYMBOLS ? i : SYMBOLS + i - USED_SYMBOLS], code = 0;
        for (unsigned b = 0; b < 4; b++) code |= (size >> b & 1) << (3 - b);
        deflate_sample_bits(s, code, 4);
    }
}

void deflate_sample_dynamic(struct deflate_sample *s, bool last, unsigned longest) {
    deflate_sample_bits(s, (unsigned)last | 2 << 1, 3);
    memset(s->sizes, 0, sizeof s->sizes);
    random_code(s, s->sizes, USED_SYMBOLS, USED_SYMBOLS, longest);
    random_code(s, s->sizes + SYMBOLS, USED_DISTANCES, USED_DISTANCES, longest);
    put_sizes(s);
}

/* RFC 1951, 3.2.2, one code at a time. */
static void put_code(struct deflate_sample *s, const uint8_t *sizes, unsigned count, unsigned symbol) {
    unsigned code = 0;
    for (unsigned size = 1; size <= sizes[symbol]; size++) {
        code <<= 1;
        for (unsigned i = 0; i < count && (size < sizes[symbol] || i < symbol); i++) code += sizes[i] == size;
    }
    for (unsigned b = sizes[symbol]; b-- > 0;) deflate_sample_bits(s, code >> b & 1, 1);
}

void deflate_sample_symbol(struct deflate_sample *s, unsigned symbol) { put_code(s, s->sizes, SYMBOLS, symbol); }
void deflate_sample_distance(struct deflate_sample *s, unsigned symbol) { put_code(s, s->sizes + SYMBOLS, DISTANCES, symbol); }
void deflate_sample_end_block(struct deflate_sample *s) { deflate_sample_symbol(s, END_OF_BLOCK); }

void deflate_sample_literal(struct deflate_sample *s, unsigned byte) {
    deflate_sample_symbol(s, byte);
    wire_u8(&s->plain, byte);
}

void deflate_sample_match(struct deflate_sample *s, unsigned size, unsigned distance) {
    unsigned symbol = 257, base = 3, extra = 0;
    if (size == 258) {
        symbol = 285;
        base = 258;
    } else {
        for (; size >= base + (1u << extra); symbol++) {
            base += 1u << extra;
            if (symbol >= 264 && (symbol - 264) % 4 == 0) extra++;
        }
    }
    deflate_sample_symbol(s, symbol);
    deflate_sample_bits(s, size - base, extra);
    for (symbol = 0, base = 1, extra = 0; distance >= base + (1u << extra); symbol++) {
        base += 1u << extra;
        if (symbol >= 3 && symbol % 2) extra++;
    }
    deflate_sample_distance(s, symbol);
    deflate_sample_bits(s, distance - base, extra);
    for (unsigned i = 0; i < size; i++) wire_u8(&s->plain, s->plain.bytes[s->plain.size - distance]);
}

void deflate_sample_anything(struct deflate_sample *s, size_t size) {
    for (size_t end = s->plain.size + size; s->plain.size < end;) {
        size_t farthest = s->plain.size < WINDOW ? s->plain.size : WINDOW;
        if (!farthest || deflate_sample_pick(s, 3)) {
            deflate_sample_literal(s, deflate_sample_pick(s, 256));
            continue;
        }
        unsigned kind = deflate_sample_pick(s, 16), length = 3 + deflate_sample_pick(s, kind < 12 ? 14 : kind < 15 ? 40 : 256);
        uint32_t distance = 1 + deflate_sample_pick(s, deflate_sample_pick(s, 2) ? 40 : (uint32_t)farthest);
        deflate_sample_match(s, length, distance < farthest ? distance : (unsigned)farthest);
    }
}

void deflate_sample_end(struct deflate_sample *s) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < s->plain.size; i++) {
        a = (a + s->plain.bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    align(s);
    for (unsigned i = 4; i-- > 0;) wire_u8(&s->stream, (b << 16 | a) >> (8 * i) & 0xff);
}

/* The loop that does nearly all of deflate's decoding: two entries of the table for each look at the input, no branch but
 * those that are nearly never taken. */
#include "base/core/byte_blocks.h"
#include "inflate/deflate_private.h"

typedef struct csni_deflate_entry entry;

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* Keeps GCC from working out the address of an entry before it loads from it: the load can do that in no time. */
ALWAYS_INLINE size_t unfolded(size_t v) {
#if defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+r"(v));
#endif
    return v;
}

/* Between two steps. */
struct place {
    const uint8_t *in;
    uint64_t buf, count;
    uint8_t *out;
    size_t at;        /* of the entry that comes next */
    uint8_t taken;    /* of that */
};

ALWAYS_INLINE void fill(struct place *p) {
    p->buf |= csni_get64(p->in, false) << p->count;
    p->in += (p->count ^ 63) >> 3;
    p->count |= 56;
}

ALWAYS_INLINE void drop(struct place *p, uint8_t taken) {
    p->buf >>= taken;
    p->count -= taken;
}

/* The load of `taken` is what everything else waits for. */
ALWAYS_INLINE void look_up(struct place *p, const struct csni_deflate_table *t) {
    size_t at = p->buf & ((1 << CSNI_DEFLATE_BITS) - 1);
    p->taken = (uint8_t)t->symbols[at].taken;
    p->at = unfolded(at);
}

/* Base and extra bits; `buf` begins with the entry's code. */
ALWAYS_INLINE size_t value_of(const entry *e, uint8_t taken, uint64_t buf) {
    uint64_t code_and_extra = buf & (((uint64_t)1 << taken) - 1);
    return e->base + (uint32_t)(code_and_extra >> (e->skip & 63));
}

ALWAYS_INLINE void copy16(uint8_t *to, const uint8_t *from) {
#if CSNI_BYTE_BLOCKS
    _mm_storeu_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
#else
    uint64_t v[2];
    memcpy(v, from, sizeof v);
    memcpy(to, v, sizeof v);
#endif
}

/* Up to 31 bytes too many are written. */
static void copy_fast_match(uint8_t *to, size_t distance, size_t size) {
    const uint8_t *from = to - distance;
    uint8_t *end = to + size;
    if (distance >= 16) {
        do {
            copy16(to, from);
            copy16(to + 16, from + 16);
            to += 32;
            from += 32;
        } while (to < end);
    } else if (distance == 1) {
        memset(to, *from, size);
    } else {
        while (to < end) *to++ = *from++;
    }
}

static bool put_match(struct csni_deflate *d, uint8_t **out, size_t distance, size_t size, const uint8_t *oldest) {
    if (distance > (size_t)(*out - oldest)) return csni_deflate_fail_distance(d);
    copy_fast_match(*out, distance, size);
    *out += size;
    return true;
}

/* A usual entry; the next one is looked up before, so that nobody waits for it. */
ALWAYS_INLINE bool step(struct csni_deflate *d, struct place *p, const uint8_t *oldest, bool checked) {
    const entry *e = &d->table.symbols[p->at];
    size_t distance = value_of(e, p->taken, p->buf);
    drop(p, p->taken);
    look_up(p, &d->table);
    bool literal = e->skip & CSNI_DEFLATE_LITERAL;
    if (checked && !literal && distance > (size_t)(p->out - oldest)) return csni_deflate_fail_distance(d);
    copy16(p->out, (literal ? d->literals + UINT8_MAX : p->out) - distance);
    p->out += e->size;
    return true;
}

/* A match whose distance is not in the entry of its length, or that may overlap itself. False: not that either,
 * nothing was taken, or it is wrong. */
ALWAYS_INLINE bool step_match(struct csni_deflate *d, struct place *p, const uint8_t *oldest) {
    const entry *e = &d->table.symbols[p->at];
    uint8_t taken = p->taken & 63;
    size_t value = value_of(e, taken, p->buf), size = e->size;
    if (e->kind == CSNI_DEFLATE_LENGTH) {
        uint64_t buf = p->buf >> taken;
        e = &d->table.distances[buf & ((1 << CSNI_DEFLATE_DISTANCE_BITS) - 1)];
        if (e->taken < 0) return false;
        size = value;
        value = value_of(e, (uint8_t)e->taken, buf);
        taken = (uint8_t)(taken + e->taken);
    }
    if (value > (size_t)(p->out - oldest)) return csni_deflate_fail_distance(d);
    drop(p, taken);
    fill(p);
    look_up(p, &d->table);
    copy_fast_match(p->out, value, size);
    p->out += size;
    return true;
}

/* A symbol that is read bit by bit, which may end the block. */
static bool put_symbol(struct csni_deflate *d, uint8_t **out, const uint8_t *oldest) {
    if (!csni_deflate_read_symbol(d, out, oldest)) return false;
    size_t size = d->match_size;
    d->match_size = 0;
    return !size || put_match(d, out, d->match_distance, size, oldest);
}

/* The state in between: registers do not stay where others look. */
ALWAYS_INLINE void load(struct place *p, const struct csni_deflate *d) {
    p->in = d->bits.in;
    p->buf = d->bits.buf;
    p->count = d->bits.count;
    fill(p);
    look_up(p, &d->table);
}
ALWAYS_INLINE void save(const struct place *p, struct csni_deflate *d) {
    d->bits.in = p->in;
    d->bits.buf = p->buf;
    d->bits.count = (unsigned)p->count;
}

/* Two steps take 2 * (11 + 13) bits at most, of the 64 that there are after fill(); what is left suffices to look up the next. A
 * length takes 11 + 5 and a distance 9 + 13 of those after another fill(). */
ALWAYS_INLINE bool run(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest, bool checked) {
    const uint8_t *in_limit = d->bits.end - CSNI_DEFLATE_IN_MARGIN, *out_limit = end - CSNI_DEFLATE_OUT_MARGIN;
    struct place p;
    p.out = *out;
    load(&p, d);
    while (p.in <= in_limit && p.out <= out_limit) {
        fill(&p);
        if ((int8_t)p.taken >= 0) {
            if (!step(d, &p, oldest, checked)) return false;
            if ((int8_t)p.taken >= 0) {
                if (!step(d, &p, oldest, checked)) return false;
                continue;
            }
            fill(&p);
        }
        if (d->table.symbols[p.at].kind != CSNI_DEFLATE_OTHER && step_match(d, &p, oldest)) continue;
        save(&p, d);
        *out = p.out;
        if (d->fault || !put_symbol(d, out, oldest)) return false;
        if (d->place != CSNI_DEFLATE_IN_CODED) return true;
        p.out = *out;
        load(&p, d);
    }
    save(&p, d);
    *out = p.out;
    return true;
}

static bool run_plain(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest) {
    return run(d, out, end, oldest, false);
}
static bool run_checked(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest) {
    return run(d, out, end, oldest, true);
}

#if CSNI_BYTE_BLOCKS
/* Shifts by any register. */
CSNI_AVX2 static bool run_plain_bmi(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest) {
    return run(d, out, end, oldest, false);
}
CSNI_AVX2 static bool run_checked_bmi(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest) {
    return run(d, out, end, oldest, true);
}
#endif

void csni_deflate_choose_run(struct csni_deflate *d) {
    for (unsigned i = 0; i <= UINT8_MAX; i++) d->literals[i] = (uint8_t)i;
    memset(d->literals + UINT8_MAX + 1, 0, CSNI_DEFLATE_COPY);
    d->run = run_plain;
    d->run_checked = run_checked;
#if CSNI_BYTE_BLOCKS
    if (!csni_has_byte_blocks()) return;
    d->run = run_plain_bmi;
    d->run_checked = run_checked_bmi;
#endif
}

/* Passing over inline nodes with AVX2 and BMI2.
 *
 * Most of an inline tree does not cover the address, but has to be stepped over node by node, as nothing says how long a
 * node is. For 64 bytes at a time one bit a byte tells where numbers end (bytes below 128) and which bytes are 0; then a
 * node of n ranges ends its ranges at the number 2n + 1, found with one deposit of a bit, and needs no branch on lengths. */
#include "formats/gsym/read/gsym_inline_scan.h"

#if CSNI_BYTE_BLOCKS

#include <string.h>

#include "formats/gsym/gsym_layout.h"

#define AVX2 CSNI_AVX2
#define AVX2_INLINE CSNI_AVX2_INLINE

enum {
    WINDOW = CSNI_BLOCK,
    WINDOW_READ = WINDOW + 8,                   /* eight bytes are read from any of its bytes on */
    RANGES_MAX = WINDOW / 2 - 1                 /* of a node that may fit */
};

struct window {
    const uint8_t *src;           /* the bytes, or a copy of the last ones */
    uint64_t ends, zeros;         /* bytes below 128; bytes that are 0 */
};

AVX2_INLINE struct window load_window(const struct csni_inline_scan *scan, uint8_t *tail) {
    struct window w = { scan->p, 0, 0 };
    if (scan->readable - scan->p < WINDOW_READ) {
        memset(tail, 0, WINDOW_READ);
        memcpy(tail, scan->p, (size_t)(scan->readable - scan->p));
        w.src = tail;
    }
    struct csni_block b = csni_block_load(w.src);
    uint64_t size = (uint64_t)(scan->end - scan->p);
    uint64_t valid = size >= WINDOW ? ~(uint64_t)0 : ((uint64_t)1 << size) - 1;
    w.ends = ~csni_block_bits(b.lo, b.hi) & valid;
    w.zeros = csni_block_equal(b, 0) & valid;
    return w;
}

/* The first `size` bytes (up to 8) as a LEB128 number. */
AVX2_INLINE uint64_t leb_of(uint64_t bytes, unsigned size) {
    return _pext_u64(_bzhi_u64(bytes, size * 8), 0x7f7f7f7f7f7f7f7f);
}

/* Whether the range whose two numbers begin at `p` covers `off`; the numbers are `first` and `second` bytes long. */
AVX2_INLINE bool range_covers(const uint8_t *p, unsigned first, unsigned second, uint64_t off) {
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    uint64_t start = leb_of(bytes, first), size = leb_of(bytes >> (first * 8 & 63), second);
    return off - start < size;
}

/* Whether one of the ranges whose numbers end at the bits of `ends` covers `off`; or is too long to tell here. */
AVX2_INLINE bool any_covers(const uint8_t *p, unsigned count, uint64_t ends, uint64_t off) {
    unsigned at = 0;
    bool covers = false;
    for (unsigned k = 0; k < count; k++) {
        unsigned first = (unsigned)_tzcnt_u64(ends) + 1 - at;
        ends = _blsr_u64(ends);
        unsigned second = (unsigned)_tzcnt_u64(ends) + 1 - at - first;
        ends = _blsr_u64(ends);
        covers |= first + second > 8 || range_covers(p + at, first, second, off);
        at += first + second;
    }
    return covers;
}

/* `fixed`: bytes between the ranges and the call, has_children and name. A constant where this is inlined. */
AVX2_INLINE bool scan_nodes(struct csni_inline_scan *scan, unsigned fixed) {
    uint8_t tail[WINDOW_READ];
    struct window w = load_window(scan, tail);
    uint64_t depth = scan->depth, off = scan->addr - scan->base;
    unsigned pos = 0;
    for (;;) {
        /* End marks. */
        unsigned marks = pos < WINDOW ? (unsigned)_tzcnt_u64(~(w.zeros >> pos)) : 0;
        if (marks > depth) return true;
        depth -= marks;
        pos += marks;
        /* A node; `after` is where its numbers end, none of them where it leaves the window. */
        unsigned count = pos < WINDOW ? w.src[pos] : WINDOW;
        uint64_t ends = pos < WINDOW ? w.ends >> pos : 0;
        unsigned last = (unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << (2 * count & 63), ends));
        unsigned call = pos + last + 1 + fixed;
        uint64_t after = call < WINDOW ? _blsr_u64(w.ends >> call) : 0;
        if (after == 0 || count > RANGES_MAX) {
            scan->p += pos;
            scan->depth = depth;
            if (pos == 0) return false;
            w = load_window(scan, tail);
            pos = 0;
            continue;
        }
        if (depth == 0 && any_covers(w.src + pos + 1, count, _blsr_u64(ends) >> 1, off)) {
            scan->p += pos;
            scan->depth = 0;
            return false;
        }
        depth += w.src[pos + last + 1] != 0;
        pos = call + (unsigned)_tzcnt_u64(after) + 1;
    }
}

AVX2 bool csni_inline_scan_avx2(struct csni_inline_scan *scan) { return scan_nodes(scan, 1 + CSNI_GSYM_STRP_SIZE); }
AVX2 bool csni_inline_scan_avx2_v2(struct csni_inline_scan *scan) { return scan_nodes(scan, 1 + CSNI_GSYM_2_STRP_SIZE); }

#endif

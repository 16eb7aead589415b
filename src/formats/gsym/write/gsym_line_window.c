/* Choosing the window of line deltas of a line table.
 *
 * It starts around the most frequent deltas and is moved a step at a time while the exact size of the table shrinks. Most
 * searches end where they begin, having looked at four windows around: the bytes of all five are counted at once. */
#include "formats/gsym/write/gsym_line_window.h"

#include "base/leb128.h"


/* What a row saves: ADVANCE_LINE and a byte of its operand, or else the operand of ADVANCE_PC. Of rows that are never special
 * only that it is not 0 matters: the total is compared with other totals, and with that of a table of special rows alone. */
static void weigh_sample(struct csni_line_sample *s) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->padded; i++) {
        s->saved[i] = (uint16_t)(2 - ((s->line[i] == 0) & (s->pc[i] < 0x80)));
        total += s->saved[i];
    }
    s->total = total - 2 * (s->padded - s->count) + s->count;
}

/* Moves to windows nearby. */
static const struct {
    int8_t min, width;
} steps[CSNI_NEARBY] = {
    [CSNI_WIDER] = { 0, 1 }, [CSNI_NARROWER] = { 0, -1 }, [CSNI_LOWER] = { -1, 1 }, [CSNI_HIGHER] = { 1, -1 },
    [CSNI_SAME] = { 0, 0 },
};

/* The bytes that special opcodes save. The loop has no branch, for the sake of vector code. */
static uint32_t window_saves(const struct csni_line_sample *s, int64_t at, int64_t reach) {
    const uint16_t min = (uint16_t)at, width = (uint16_t)reach;
    const uint32_t padded = s->padded & ~(CSNI_SAMPLE_LANES - 1U); /* so that the compiler knows it, too */
    uint16_t saved = 0; /* at most 2 * CSNI_SAMPLE_MAX */
    for (uint32_t i = 0; i < padded; i++) {
        uint16_t k = (uint16_t)(s->line[i] - min), operand = (uint16_t)(s->pc[i] * width + k);
        uint16_t special = (uint16_t)((k < width) & (operand <= CSNI_SPECIAL_MAX));
        saved = (uint16_t)(saved + (s->saved[i] & (uint16_t)-special));
    }
    return saved;
}

/* Where a search is: a window, and the bytes of the table's opcodes with it and with those nearby. */
struct search {
    const struct csni_line_sample *sample;
    bool wide;
    struct csni_line_window w;
    size_t costs[CSNI_NEARBY];
};

static void look_around(struct search *at, struct csni_line_window w) {
    const struct csni_line_sample *s = at->sample;
    uint32_t saved[CSNI_NEARBY];
    if (at->wide) csni_window_savings_avx2(s, w, saved);
    else {
        for (int i = 0; i < CSNI_NEARBY; i++)
            saved[i] = window_saves(s, w.min + steps[i].min, (int64_t)w.width + steps[i].width);
    }
    at->w = w;
    for (int i = 0; i < CSNI_NEARBY; i++) at->costs[i] = s->total - saved[i] + 2;
    if (w.min > -64 && w.min + w.width < 64) return; /* a byte for each of its bounds, and those of windows nearby */
    for (int i = 0; i < CSNI_NEARBY; i++) {
        int64_t min = w.min + steps[i].min, max = min + (int64_t)w.width + steps[i].width - 1;
        at->costs[i] += csni_sleb_size(min) + csni_sleb_size(max) - 2;
    }
}

enum { REACH = 16, DELTAS = 2 * REACH + 1 }; /* line deltas from -REACH to REACH are counted */

/* Of equal counts that of 0, then the first: ranks below the counts tell them apart, without branches. */
static unsigned most_frequent(const uint16_t counts[DELTAS]) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < DELTAS; i++) {
        uint32_t rank = i == REACH ? DELTAS : DELTAS - 1 - i, key = (uint32_t)counts[i] << 8 | rank;
        best = key > best ? key : best;
    }
    best &= 0xff;
    return best == DELTAS ? REACH : DELTAS - 1 - best;
}

/* The window around the line deltas that occur most, among those that can matter. */
static struct csni_line_window first_window(const struct csni_line_sample *s) {
    uint16_t counts[DELTAS + 1] = { 0 }; /* those beyond at the end */
    for (uint32_t i = 1; i < s->count; i++) {
        uint16_t at = (uint16_t)(s->line[i] + REACH);
        counts[at < DELTAS ? at : DELTAS]++;
    }
    unsigned best = most_frequent(counts);
    unsigned low = best, high = best;
    /* Over gaps too: sliding a step at a time does not get across one. */
    for (unsigned i = 1; i <= 4 && i <= best; i++)
        if (counts[best - i]) low = best - i;
    for (unsigned i = 1; i <= 6 && best + i < DELTAS; i++)
        if (counts[best + i]) high = best + i;
    return (struct csni_line_window){ (int64_t)low - REACH, high - low + 1 };
}

/* Moves the window one way as long as the table shrinks; true when it did. */
static bool slide(struct search *at, enum csni_nearby_window way) {
    bool moved = false;
    for (;;) {
        struct csni_line_window next = { at->w.min + steps[way].min, (uint32_t)((int64_t)at->w.width + steps[way].width) };
        if (next.width < 1 || next.width > CSNI_SPECIAL_MAX || at->costs[way] >= at->costs[CSNI_SAME]) return moved;
        look_around(at, next);
        moved = true;
    }
}

struct csni_line_window csni_best_line_window(struct csni_line_sample *s) {
    const uint32_t rest = CSNI_SAMPLE_LANES - 1;
    s->padded = (s->count + rest) & ~rest;
    for (uint32_t i = s->count; i < s->padded; i++) {
        s->pc[i] = CSNI_SPECIAL_MAX + 1;
        s->line[i] = 0;
    }
    struct search at = { .sample = s, .wide = csni_has_byte_blocks() };
    if (at.wide) csni_weigh_sample_avx2(s);
    else weigh_sample(s);
    look_around(&at, first_window(s));
    size_t least = (size_t)s->count + 2;
    for (bool moved = true; moved && at.costs[CSNI_SAME] > least;) {
        moved = slide(&at, CSNI_WIDER);
        if (!moved) moved = slide(&at, CSNI_NARROWER);
        moved |= slide(&at, CSNI_LOWER);
        moved |= slide(&at, CSNI_HIGHER);
    }
    return at.w;
}

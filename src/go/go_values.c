/* Reading Go's table within bounds: what a reader holds and may spend, and the lists of values by address. */
#include "base/core/search.h"
#include "go/go_private.h"

#include <inttypes.h>

/* Real programs take 0.4 to 0.6 for a byte of the table. */
enum { BUDGET_BASE = 1 << 22, BUDGET_A_BYTE = 32 };

void csni_go_reader_init(struct csni_go_reader *r, const struct csni_go_table *table) {
    *r = (struct csni_go_reader){ .table = table,
                                  .budget = csni_budget_for(BUDGET_BASE, table->bytes.size, BUDGET_A_BYTE) };
    r->files.alloc = r->lines.alloc = r->inlined.alloc = r->rows.alloc = r->numbers.alloc = table->alloc;
    r->calls.alloc = r->parts.alloc = table->alloc;
}

void csni_go_reader_deinit(struct csni_go_reader *r) {
    if (!r) return;
    csni_vec_deinit(&r->files);
    csni_vec_deinit(&r->lines);
    csni_vec_deinit(&r->inlined);
    csni_vec_deinit(&r->rows);
    csni_vec_deinit(&r->numbers);
    csni_vec_deinit(&r->calls);
    csni_vec_deinit(&r->parts);
}

csn_status csni_go_charge(struct csni_go_reader *r, uint64_t amount, struct csn_error *err) {
    if (csni_budget_charge(&r->budget, amount)) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, CSNI_GO_SECTION, 0,
                     "functions share more than real programs do: over %" PRIu64 " values and name bytes",
                     r->budget.limit);
}

/* ---- values by address ---- */

static uint32_t varint(struct csni_cursor *c) {
    uint32_t v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        uint8_t b = csni_cursor_u8(c);
        v |= (uint32_t)((uint64_t)(b & 0x7f) << shift);
        if (!(b & 0x80)) return v;
    }
    csni_cursor_fail(c);
    return 0;
}

static bool add_value(csni_go_values *out, uint32_t start, uint32_t end, int32_t value) {
    struct csni_go_value *last = out->count ? &out->items[out->count - 1] : NULL;
    if (last && last->value == value && last->end == start) {
        last->end = end;
        return true;
    }
    return csni_vec_push(out, ((struct csni_go_value){ start, end, value }));
}

csn_status csni_go_read_values(struct csni_go_reader *r, uint32_t off, uint32_t size, csni_go_values *out, uint32_t *end,
                               struct csn_error *err) {
    const struct csni_go_table *t = r->table;
    out->count = 0;
    *end = 0;
    if (!off) return CSN_OK;
    struct csni_cursor c = csni_cursor_at(t->pc_values, t->big_endian);
    csni_cursor_seek(&c, off);
    uint32_t value = UINT32_MAX; /* -1; wraps around where a hostile list makes it */
    uint64_t at = 0;
    for (bool first = true;; first = false) {
        uint32_t coded = varint(&c);
        if (!coded && !first) break;
        value += coded & 1 ? ~(coded >> 1) : coded >> 1;
        uint64_t next = at + (uint64_t)varint(&c) * t->quantum;
        CSNI_TRY(csni_go_charge(r, 1, err));
        if (c.failed || next > UINT32_MAX) break;
        *end = (uint32_t)next;
        if (next > size) next = size;
        if (next > at && !add_value(out, (uint32_t)at, (uint32_t)next, (int32_t)value)) return csni_fail_memory(err, 1);
        at = *end;
        if (at > size) return CSN_OK;
    }
    if (!c.failed) return CSN_OK;
    return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, (uint64_t)(t->pc_values.ptr - t->bytes.ptr) + off,
                     "list of values has no end");
}

int32_t csni_go_value_at(const csni_go_values *values, uint32_t off) {
    size_t at = csni_upper_bound(values->items, values->count, end, off);
    return at < values->count && values->items[at].start <= off ? values->items[at].value : -1;
}

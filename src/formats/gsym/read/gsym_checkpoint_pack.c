/* Checkpoints of all functions into the bytes of a file: fields of as many bits as the largest needs. */
#include "base/core/checked.h"
#include "formats/gsym/read/gsym_checkpoint_build.h"

static unsigned bits_of(uint32_t most) { return most ? 32u - (unsigned)__builtin_clz(most) : 0; }

static uint32_t final_record(const struct csni_checkpoint_share *s, uint32_t record) {
    uint64_t at = s->records_at / 4 + record;
    return record == CSNI_CP_NO_RECORD || at > UINT32_MAX ? 0 : (uint32_t)at;
}

/* `calls`: those of the shares before. */
static uint32_t final_number(uint32_t call, uint32_t calls) { return call ? call + calls : 0; }

static void final_call(const struct csni_checkpoint_share *s, size_t k, uint32_t out[CSNI_CP_CALL_FIELDS]) {
    const struct csni_checkpoint_call *call = &s->calls.items[k];
    out[CSNI_CP_CALL_AT] = call->at;
    out[CSNI_CP_CALL_PARENT] = call->parent ? (uint32_t)(k + 1 - call->parent) : 0;
}

static unsigned plan_fields(const uint32_t *most, unsigned count, uint8_t *bits) {
    unsigned sum = 0;
    for (unsigned k = 0; k < count; k++) sum += bits[k] = (uint8_t)bits_of(most[k]);
    return (sum + 7) / 8;
}

static void keep_most(uint32_t *most, uint32_t v) {
    if (v > *most) *most = v;
}

void csni_checkpoint_share_measure(struct csni_checkpoint_share *s) {
    uint32_t fields[CSNI_CP_CALL_FIELDS], any[CSNI_CP_FIELDS] = { 0 };
    for (size_t k = 0; k < s->entries.count; k++) {
        const uint32_t *entry = s->entries.items[k].fields;
        for (unsigned f = 0; f < CSNI_CP_FIELDS; f++) any[f] |= entry[f];
        if (entry[CSNI_CP_RECORD] != CSNI_CP_NO_RECORD) keep_most(&s->most[CSNI_CP_RECORD], entry[CSNI_CP_RECORD]);
        keep_most(&s->most[CSNI_CP_CALL], entry[CSNI_CP_CALL]);
    }
    for (unsigned f = 0; f < CSNI_CP_FIELDS; f++)
        if (f != CSNI_CP_RECORD && f != CSNI_CP_CALL) s->most[f] = any[f];
    for (size_t k = 0; k < s->calls.count; k++) {
        final_call(s, k, fields);
        for (unsigned f = 0; f < CSNI_CP_CALL_FIELDS; f++) keep_most(&s->call_most[f], fields[f]);
    }
}

/* The largest offset of a record that can be told; later ones of the share are left out. */
static uint32_t most_record(const struct csni_checkpoint_share *s) {
    uint32_t most = final_record(s, s->most[CSNI_CP_RECORD]);
    for (size_t k = 0; !most && k < s->entries.count; k++)
        keep_most(&most, final_record(s, s->entries.items[k].fields[CSNI_CP_RECORD]));
    return most;
}

/* Fields of an entry. */
static unsigned first_field(const struct csni_checkpoint_plan *plan) {
    return plan->revision == CSNI_CP_REVISION_1 ? CSNI_CP_FUNCTION : CSNI_CP_RECORD + 1;
}

void csni_checkpoint_plan(struct csni_checkpoint_plan *out, const struct csni_checkpoint_share *const *shares, size_t count) {
    uint32_t most[CSNI_CP_FIELDS] = { 0 }, call_most[CSNI_CP_CALL_FIELDS] = { 0 };
    *out = (struct csni_checkpoint_plan){ .revision = count ? shares[0]->revision : CSNI_CP_REVISION,
                                          .first = count ? shares[0]->first : 0,
                                          .shift = count ? shares[0]->shift : 0 };
    for (size_t i = 0; i < count; i++) {
        const struct csni_checkpoint_share *s = shares[i];
        for (unsigned f = 0; f < CSNI_CP_FIELDS; f++) {
            if (f == CSNI_CP_RECORD) keep_most(&most[f], most_record(s));
            else keep_most(&most[f], f == CSNI_CP_CALL ? final_number(s->most[f], out->call_count) : s->most[f]);
        }
        for (unsigned f = 0; f < CSNI_CP_CALL_FIELDS; f++) keep_most(&call_most[f], s->call_most[f]);
        out->count += (uint32_t)s->entries.count;
        out->call_count += (uint32_t)s->calls.count;
    }
    if (out->revision != CSNI_CP_REVISION_1) {
        out->function_bytes = csni_checkpoint_place_bytes(out->bits[CSNI_CP_FUNCTION] = (uint8_t)bits_of(most[CSNI_CP_FUNCTION]));
        out->record_bytes = csni_checkpoint_place_bytes(out->bits[CSNI_CP_RECORD] = (uint8_t)bits_of(most[CSNI_CP_RECORD]));
    }
    unsigned from = first_field(out);
    out->entry_bytes = plan_fields(most + from, CSNI_CP_FIELDS - from, out->bits + from);
    if (!out->entry_bytes) out->entry_bytes = 1;
    out->call_bytes = plan_fields(call_most, CSNI_CP_CALL_FIELDS, out->call_bits);
    uint64_t used = (uint64_t)out->count * (out->function_bytes + out->record_bytes + out->entry_bytes) +
                    (uint64_t)out->call_count * out->call_bytes;
    out->size = csni_align_up(used + CSNI_CP_OVERREAD, CSNI_GSYM_ALIGN);
}

/* Writes the bytes of these fields and no other. */
static uint8_t *put_fields(const uint32_t *fields, const uint8_t *bits, unsigned count, uint8_t *p) {
    uint64_t pending = 0;
    unsigned filled = 0;
    for (unsigned k = 0; k < count; k++) {
        pending |= (uint64_t)fields[k] << filled;
        filled += bits[k];
        if (filled < 64) continue;
        csni_put64(p, pending, false);
        p += 8;
        filled -= 64;
        pending = filled ? (uint64_t)fields[k] >> (bits[k] - filled) : 0;
    }
    for (; filled > 24; filled -= filled < 32 ? filled : 32, pending >>= 32, p += 4) csni_put32(p, (uint32_t)pending, false);
    for (unsigned put = 0; put < filled; put += 8) *p++ = (uint8_t)(pending >> put);
    return p;
}

/* Whether an entry has a place and nothing else, as all between functions. */
static bool is_empty(const struct csni_checkpoint *entry) {
    uint32_t any = 0;
    for (unsigned f = CSNI_CP_RECORD + 1; f < CSNI_CP_FIELDS; f++) any |= entry->fields[f];
    return !any;
}

static void put_place(const struct csni_checkpoint_plan *plan, uint32_t function, uint32_t record, uint8_t *p) {
    uint64_t place = function | (uint64_t)record << (8 * plan->function_bytes);
    unsigned size = plan->function_bytes + plan->record_bytes;
    if (size >= 4) {
        csni_put32(p, (uint32_t)place, false);
        csni_put_sized(p + 4, place >> 32, size - 4, false);
    } else {
        csni_put_sized(p, place, size, false);
    }
}

void csni_checkpoint_put(const struct csni_checkpoint_plan *plan, const struct csni_checkpoint_share *share, uint32_t entries,
                         uint32_t calls, uint8_t *table) {
    unsigned place_bytes = plan->function_bytes + plan->record_bytes;
    uint8_t *all = table + (size_t)plan->count * place_bytes;
    unsigned from = first_field(plan);
    for (size_t k = 0; k < share->entries.count; k++) {
        struct csni_checkpoint entry = share->entries.items[k];
        entry.fields[CSNI_CP_RECORD] = final_record(share, entry.fields[CSNI_CP_RECORD]);
        if (place_bytes)
            put_place(plan, entry.fields[CSNI_CP_FUNCTION], entry.fields[CSNI_CP_RECORD],
                      table + (entries + k) * place_bytes);
        if (place_bytes && is_empty(&entry)) continue;
        entry.fields[CSNI_CP_CALL] = final_number(entry.fields[CSNI_CP_CALL], calls);
        put_fields(entry.fields + from, plan->bits + from, CSNI_CP_FIELDS - from, all + (entries + k) * plan->entry_bytes);
    }
    uint8_t *p = all + (size_t)plan->count * plan->entry_bytes + (size_t)calls * plan->call_bytes;
    for (size_t k = 0; k < share->calls.count; k++) {
        uint32_t fields[CSNI_CP_CALL_FIELDS];
        final_call(share, k, fields);
        p = put_fields(fields, plan->call_bits, CSNI_CP_CALL_FIELDS, p);
    }
}

void csni_checkpoint_put_head(const struct csni_checkpoint_plan *plan, uint64_t table_at, uint8_t head[CSNI_CP_HEAD]) {
    memset(head, 0, CSNI_CP_HEAD);
    csni_put64(head + CSNI_CP_H_TABLE, table_at, false);
    csni_put64(head + CSNI_CP_H_FIRST, plan->first, false);
    csni_put32(head + CSNI_CP_H_ENTRIES, plan->count, false);
    csni_put32(head + CSNI_CP_H_CALLS, plan->call_count, false);
    head[CSNI_CP_H_SHIFT] = (uint8_t)plan->shift;
    memcpy(head + CSNI_CP_H_BITS, plan->bits, sizeof plan->bits);
    memcpy(head + CSNI_CP_H_CALL_BITS, plan->call_bits, sizeof plan->call_bits);
    csni_put32(head + CSNI_CP_H_REVISION, plan->revision, false);
    csni_put32(head + CSNI_CP_H_MAGIC, CSNI_CHECKPOINT_MAGIC, false);
}

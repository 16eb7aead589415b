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

static void add_most(uint32_t *most, const struct csni_checkpoint_share *s, const uint32_t *fields, uint32_t calls) {
    most[CSNI_CP_RECORD] |= final_record(s, fields[CSNI_CP_RECORD]);
    most[CSNI_CP_CALL] |= final_number(fields[CSNI_CP_CALL], calls);
    for (unsigned f = 0; f < CSNI_CP_FIELDS; f++)
        if (f != CSNI_CP_RECORD && f != CSNI_CP_CALL) most[f] |= fields[f];
}

void csni_checkpoint_plan(struct csni_checkpoint_plan *out, const struct csni_checkpoint_share *const *shares, size_t count) {
    uint32_t most[CSNI_CP_FIELDS] = { 0 }, call_most[CSNI_CP_CALL_FIELDS] = { 0 }, fields[CSNI_CP_CALL_FIELDS];
    *out = (struct csni_checkpoint_plan){ .first = count ? shares[0]->first : 0, .shift = count ? shares[0]->shift : 0 };
    for (size_t i = 0; i < count; i++) {
        const struct csni_checkpoint_share *s = shares[i];
        for (size_t k = 0; k < s->entries.count; k++) add_most(most, s, s->entries.items[k].fields, out->call_count);
        for (size_t k = 0; k < s->calls.count; k++) {
            final_call(s, k, fields);
            for (unsigned f = 0; f < CSNI_CP_CALL_FIELDS; f++) call_most[f] |= fields[f];
        }
        out->count += (uint32_t)s->entries.count;
        out->call_count += (uint32_t)s->calls.count;
    }
    out->entry_bytes = plan_fields(most, CSNI_CP_FIELDS, out->bits);
    out->call_bytes = plan_fields(call_most, CSNI_CP_CALL_FIELDS, out->call_bits);
    uint64_t used = (uint64_t)out->count * out->entry_bytes + (uint64_t)out->call_count * out->call_bytes;
    out->size = csni_align_up(used + CSNI_CP_OVERREAD, CSNI_GSYM_ALIGN);
}

/* Into zeroed bytes. Bytes after the last field are written as they were. */
static void put_fields(const uint32_t *fields, const uint8_t *bits, unsigned count, uint8_t *p) {
    unsigned at = 0;
    for (unsigned k = 0; k < count; at += bits[k++]) {
        uint8_t *byte = p + at / 8;
        csni_put64(byte, csni_get64(byte, false) | (uint64_t)fields[k] << (at % 8), false);
    }
}

void csni_checkpoint_put(const struct csni_checkpoint_plan *plan, const struct csni_checkpoint_share *const *shares, size_t count,
                         uint8_t *table) {
    uint8_t *p = table, *calls = table + (size_t)plan->count * plan->entry_bytes;
    uint32_t fields[CSNI_CP_CALL_FIELDS], before = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < shares[i]->entries.count; k++, p += plan->entry_bytes) {
            struct csni_checkpoint entry = shares[i]->entries.items[k];
            entry.fields[CSNI_CP_RECORD] = final_record(shares[i], entry.fields[CSNI_CP_RECORD]);
            entry.fields[CSNI_CP_CALL] = final_number(entry.fields[CSNI_CP_CALL], before);
            put_fields(entry.fields, plan->bits, CSNI_CP_FIELDS, p);
        }
        before += (uint32_t)shares[i]->calls.count;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < shares[i]->calls.count; k++, calls += plan->call_bytes) {
            final_call(shares[i], k, fields);
            put_fields(fields, plan->call_bits, CSNI_CP_CALL_FIELDS, calls);
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
    csni_put32(head + CSNI_CP_H_REVISION, CSNI_CP_REVISION, false);
    csni_put32(head + CSNI_CP_H_MAGIC, CSNI_CHECKPOINT_MAGIC, false);
}

/* Finding checkpoints in a file: where they lie is checked, nothing that they hold. */
#include "formats/gsym/read/gsym_checkpoint.h"

#include "formats/gsym/read/gsym.h"

/* *size: bytes of an entry whose fields have so many bits. False: too many. */
static bool take_fields(const uint8_t *bits, unsigned count, struct csni_bit_field *out, uint8_t *size) {
    unsigned at = 0;
    for (unsigned k = 0; k < count; at += bits[k++]) {
        if (bits[k] > 32) return false;
        out[k] = (struct csni_bit_field){ (uint8_t)(at / 8), (uint8_t)(at % 8), (uint32_t)(((uint64_t)1 << bits[k]) - 1) };
    }
    *size = (uint8_t)((at + 7) / 8);
    return true;
}

/* From revision 2 on places are apart from the entries, which are left with the other fields. */
static bool take_places(uint8_t bits[CSNI_CP_FIELDS], struct csni_gsym_checkpoints *c) {
    unsigned function = csni_checkpoint_place_bytes(bits[CSNI_CP_FUNCTION]),
             record = csni_checkpoint_place_bytes(bits[CSNI_CP_RECORD]);
    if (function > 4 || record > 4) return false;
    c->place_bytes = (uint8_t)(function + record);
    c->record_shift = (uint8_t)(8 * function);
    c->function_mask = UINT32_MAX >> (32 - 8 * function);
    c->record_mask = UINT32_MAX >> (32 - 8 * record);
    bits[CSNI_CP_FUNCTION] = bits[CSNI_CP_RECORD] = 0;
    return true;
}

static bool take_head(const struct csni_gsym *gsym, const uint8_t *head, struct csni_gsym_checkpoints *c) {
    uint8_t bits[CSNI_CP_FIELDS];
    uint32_t revision = csni_get32(head + CSNI_CP_H_REVISION, false);
    memcpy(bits, head + CSNI_CP_H_BITS, sizeof bits);
    if (revision != CSNI_CP_REVISION && revision != CSNI_CP_REVISION_1) return false;
    if (revision == CSNI_CP_REVISION && !take_places(bits, c)) return false;
    c->first = csni_get64(head + CSNI_CP_H_FIRST, false);
    c->count = csni_get32(head + CSNI_CP_H_ENTRIES, false);
    c->call_count = csni_get32(head + CSNI_CP_H_CALLS, false);
    c->shift = head[CSNI_CP_H_SHIFT];
    if (!take_fields(bits, CSNI_CP_FIELDS, c->fields, &c->entry_bytes) ||
        !take_fields(head + CSNI_CP_H_CALL_BITS, CSNI_CP_CALL_FIELDS, c->call_fields, &c->call_bytes))
        return false;
    if (!c->entry_bytes) c->entry_bytes = 1; /* all entries are alike */
    if (!c->count || c->shift > CSNI_CP_SHIFT_MAX || (c->call_count && !c->call_bytes)) return false;
    uint64_t at = csni_get64(head + CSNI_CP_H_TABLE, false), places = (uint64_t)c->count * c->place_bytes;
    uint64_t entries = (uint64_t)c->count * c->entry_bytes,
             size = places + entries + (uint64_t)c->call_count * c->call_bytes + CSNI_CP_OVERREAD;
    struct csni_span table;
    if (!csni_span_sub(gsym->bytes, at, size, &table)) return false;
    c->places = places ? table.ptr : NULL;
    c->entries = table.ptr + places;
    c->calls = c->entries + entries;
    return true;
}

/* Where a stored accelerator has its trailer: a file has one or the other. */
const uint8_t *csni_gsym_checkpoint_head(const struct csni_gsym *gsym) {
    const uint8_t *end = gsym->sample ? gsym->sample : gsym->members ? gsym->members : gsym->strings.ptr;
    uint64_t files_end = csni_gsym_files_end(gsym);
    if (!gsym->strings.size || gsym->accel.size || (uint64_t)(end - gsym->bytes.ptr) < files_end + CSNI_CP_HEAD) return NULL;
    const uint8_t *head = end - CSNI_CP_HEAD;
    return csni_get32(head + CSNI_CP_H_MAGIC, false) == CSNI_CHECKPOINT_MAGIC ? head : NULL;
}

void csni_gsym_find_checkpoints(struct csni_gsym *gsym) {
    const uint8_t *head = csni_gsym_checkpoint_head(gsym);
    struct csni_gsym_checkpoints found = { .entries = NULL };
    if (head && take_head(gsym, head, &found)) gsym->checkpoints = found;
}

bool csni_checkpoint_calls(const struct csni_gsym_checkpoints *c, const uint8_t *entry, struct csni_checkpoint_calls *out) {
    uint32_t number = csni_checkpoint_get(entry, &c->fields[CSNI_CP_CALL]), inner[CSNI_CP_DEPTH_MAX];
    unsigned count = 0;
    while (number) {
        if (number > c->call_count || count == CSNI_CP_DEPTH_MAX) return false;
        const uint8_t *call = c->calls + (size_t)(number - 1) * c->call_bytes;
        inner[count++] = csni_checkpoint_get(call, &c->call_fields[CSNI_CP_CALL_AT]);
        uint32_t back = csni_checkpoint_get(call, &c->call_fields[CSNI_CP_CALL_PARENT]);
        if (!back) break;
        if (back >= number) return false;
        number -= back;
    }
    for (unsigned k = 0; k < count; k++) out->at[k] = inner[count - 1 - k];
    out->count = count;
    return true;
}

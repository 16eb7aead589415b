/* Distinct strings, and arrays of them. */
#include "arrow/arrow_strings.h"

#include <string.h>

#include "base/core/fail.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 256 };

void csni_arrow_strings_init(struct csni_arrow_strings *s, const struct csn_allocator *alloc) {
    *s = (struct csni_arrow_strings){ .alloc = alloc, .bytes = { .alloc = alloc }, .ends = { .alloc = alloc },
                                      .hashes = { .alloc = alloc } };
}

void csni_arrow_strings_deinit(struct csni_arrow_strings *s) {
    csni_vec_deinit(&s->bytes);
    csni_vec_deinit(&s->ends);
    csni_vec_deinit(&s->hashes);
    csni_free(s->alloc, s->slots, s->slot_count * sizeof *s->slots);
    s->slots = NULL;
    s->slot_count = 0;
}

static struct csn_str string_at(const struct csni_arrow_strings *s, uint32_t number) {
    uint64_t start = number ? s->ends.items[number - 1] : 0;
    return (struct csn_str){ s->bytes.items + start, (size_t)(s->ends.items[number] - start) };
}

static csn_status fail_size(struct csn_error *err) {
    return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                     "the strings of this batch take more than %d bytes: pass smaller batches", INT32_MAX);
}

/* At most half of the slots are used. */
static csn_status grow_string_slots(struct csni_arrow_strings *s, struct csn_error *err) {
    if (s->ends.count * 2 < s->slot_count) return CSN_OK;
    size_t count = s->slot_count ? s->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = csni_alloc_zeroed(s->alloc, count, sizeof *slots);
    if (!slots) return csni_fail_memory(err, count * sizeof *slots);
    for (uint32_t number = 0; number < s->ends.count; number++) {
        size_t k = (size_t)s->hashes.items[number] & (count - 1);
        while (slots[k]) k = (k + 1) & (count - 1);
        slots[k] = number + 1;
    }
    csni_free(s->alloc, s->slots, s->slot_count * sizeof *s->slots);
    s->slots = slots;
    s->slot_count = count;
    return CSN_OK;
}

static bool is_string(const struct csni_arrow_strings *s, uint32_t number, struct csn_str text) {
    struct csn_str own = string_at(s, number);
    return own.len == text.len && (!text.len || !memcmp(own.ptr, text.ptr, text.len));
}

csn_status csni_arrow_strings_add(struct csni_arrow_strings *s, struct csn_str text, uint32_t *out, struct csn_error *err) {
    CSNI_TRY(grow_string_slots(s, err));
    uint64_t hash = csni_hash_bytes(text.ptr, text.len);
    size_t k = (size_t)hash & (s->slot_count - 1);
    for (; s->slots[k]; k = (k + 1) & (s->slot_count - 1)) {
        *out = s->slots[k] - 1;
        if (s->hashes.items[*out] == hash && is_string(s, *out, text)) return CSN_OK;
    }
    size_t size = s->bytes.count + text.len;
    if (size > INT32_MAX || s->ends.count >= INT32_MAX) return fail_size(err);
    /* One byte more, so that an empty string that comes first has an address. */
    if (!csni_vec_reserve(&s->bytes, size + 1) || !csni_vec_reserve(&s->ends, s->ends.count + 1) ||
        !csni_vec_reserve(&s->hashes, s->hashes.count + 1))
        return csni_fail_memory(err, size);
    if (text.len) memcpy(s->bytes.items + s->bytes.count, text.ptr, text.len);
    s->bytes.count = size;
    *out = (uint32_t)s->ends.count;
    s->ends.items[s->ends.count++] = size;
    s->hashes.items[s->hashes.count++] = hash;
    s->slots[k] = *out + 1;
    return CSN_OK;
}

/* ---- arrays ---- */

/* A bit for each value that is there. */
static void set_validity(struct ArrowArray *array, const uint32_t *numbers, int64_t count) {
    uint8_t *bits = csni_arrow_buffer(array, 0);
    for (int64_t k = 0; k < count; k++) {
        if (numbers[k] == CSNI_ARROW_NULL) array->null_count++;
        else csni_arrow_set_bit(bits, k);
    }
}

static csn_status make_values(const struct csni_arrow_strings *s, struct ArrowArray *out, struct csn_error *err) {
    size_t sizes[] = { 0, (s->ends.count + 1) * sizeof(int32_t), s->bytes.count + 1 };
    CSNI_TRY(csni_arrow_array_make(s->alloc, (int64_t)s->ends.count, 3, sizes, out, err));
    int32_t *offsets = csni_arrow_buffer(out, 1);
    for (size_t k = 0; k < s->ends.count; k++) offsets[k + 1] = (int32_t)s->ends.items[k];
    if (s->bytes.count) memcpy(csni_arrow_buffer(out, 2), s->bytes.items, s->bytes.count);
    return CSN_OK;
}

static csn_status make_indices(const struct csni_arrow_strings *s, const uint32_t *numbers, int64_t count, struct ArrowArray *out,
                               struct csn_error *err) {
    size_t sizes[] = { csni_arrow_bits_size(count) + 1, ((size_t)count + 1) * sizeof(int32_t) };
    CSNI_TRY(csni_arrow_array_make(s->alloc, count, 2, sizes, out, err));
    int32_t *indices = csni_arrow_buffer(out, 1);
    for (int64_t k = 0; k < count; k++) indices[k] = numbers[k] == CSNI_ARROW_NULL ? 0 : (int32_t)numbers[k];
    set_validity(out, numbers, count);
    csn_status status = make_values(s, csni_arrow_array_add_dictionary(out), err);
    if (status < 0) csni_arrow_array_release(out);
    return status;
}

static csn_status make_plain(const struct csni_arrow_strings *s, const uint32_t *numbers, int64_t count, struct ArrowArray *out,
                             struct csn_error *err) {
    uint64_t size = 0;
    for (int64_t k = 0; k < count; k++)
        if (numbers[k] != CSNI_ARROW_NULL) size += string_at(s, numbers[k]).len;
    if (size > INT32_MAX) return fail_size(err);
    size_t sizes[] = { csni_arrow_bits_size(count) + 1, ((size_t)count + 1) * sizeof(int32_t), (size_t)size + 1 };
    CSNI_TRY(csni_arrow_array_make(s->alloc, count, 3, sizes, out, err));
    int32_t *offsets = csni_arrow_buffer(out, 1);
    char *bytes = csni_arrow_buffer(out, 2);
    for (int64_t k = 0; k < count; k++) {
        offsets[k + 1] = offsets[k];
        if (numbers[k] == CSNI_ARROW_NULL) continue;
        struct csn_str text = string_at(s, numbers[k]);
        if (text.len) memcpy(bytes + offsets[k], text.ptr, text.len);
        offsets[k + 1] += (int32_t)text.len;
    }
    set_validity(out, numbers, count);
    return CSN_OK;
}

csn_status csni_arrow_strings_array(const struct csni_arrow_strings *s, const uint32_t *numbers, int64_t count,
                                    bool with_dictionary, struct ArrowArray *out, struct csn_error *err) {
    return with_dictionary ? make_indices(s, numbers, count, out, err) : make_plain(s, numbers, count, out, err);
}

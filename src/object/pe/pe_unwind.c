/* Where functions of PE images begin and end: the exception data (.pdata). */
#include <stdlib.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/pe/pe_layout.h"
#include "object/pe/pe_private.h"

enum { CHAIN_MAX = 32 };

static bool read_unwind(const struct csni_object *object, uint64_t rva, uint64_t size, struct csni_span *out) {
    struct csni_span bytes;
    return csni_pe_bytes_from(object, rva, &bytes) && csni_span_sub(bytes, 0, size, out);
}

/* ---- x86-64 ---- */

/* The entry that the one with this unwind information continues; false when it is a function of its own. */
static bool next_in_chain(const struct csni_object *object, uint32_t unwind, struct csni_span *out) {
    struct csni_span header;
    if (unwind & RUNTIME_FUNCTION_INDIRECT)
        return read_unwind(object, unwind - RUNTIME_FUNCTION_INDIRECT, RUNTIME_FUNCTION_SIZE, out);
    if (!read_unwind(object, unwind, UNWIND_HEADER_SIZE, &header)) return false;
    if (!((header.ptr[0] >> UNWIND_FLAGS_SHIFT) & UNW_FLAG_CHAININFO)) return false;
    uint64_t codes = ((uint64_t)header.ptr[2] + 1) / 2 * 4;
    return read_unwind(object, unwind + UNWIND_HEADER_SIZE + codes, RUNTIME_FUNCTION_SIZE, out);
}

/* Begin of the function that a chain of entries leads to. */
static uint64_t chain_begin(const struct csni_object *object, const uint8_t *entry) {
    uint32_t begin = csni_get32(entry, false), unwind = csni_get32(entry + 8, false);
    struct csni_span parent;
    for (int depth = 0; depth < CHAIN_MAX && next_in_chain(object, unwind, &parent); depth++) {
        begin = csni_get32(parent.ptr, false);
        unwind = csni_get32(parent.ptr + 8, false);
    }
    return begin;
}

/* RVAs; `belongs_to` is the begin of the function whose part this is. False: no entry. */
static bool amd64_entry(const struct csni_object *object, const uint8_t *p, struct csni_function_bound *out,
                        uint64_t *belongs_to) {
    *out = (struct csni_function_bound){ csni_get32(p, false), csni_get32(p + 4, false) };
    if (out->end <= out->start) return false;
    *belongs_to = chain_begin(object, p);
    return true;
}

/* ---- ARM, ARM64 ---- */

static bool arm_entry(const struct csni_object *object, const uint8_t *p, struct csni_function_bound *out,
                      uint64_t *belongs_to) {
    bool is_thumb = object->address_size == 4;
    uint32_t begin = csni_get32(p, false), data = csni_get32(p + 4, false), flag = data & ARM_FLAG_MASK;
    uint64_t start = is_thumb ? begin & ~(uint32_t)1 : begin, length;
    struct csni_span xdata;
    if (!begin || !data) return false;
    if (flag != ARM_FLAG_XDATA) length = (data >> ARM_PACKED_LENGTH_SHIFT) & ARM_PACKED_LENGTH_MASK;
    else if (read_unwind(object, data, 4, &xdata)) length = csni_get32(xdata.ptr, false) & ARM_XDATA_LENGTH_MASK;
    else length = 0;
    *out = (struct csni_function_bound){ start, length ? start + length * (is_thumb ? 2 : 4) : 0 };
    *belongs_to = flag == ARM_FLAG_FRAGMENT ? 0 : start;
    return true;
}

/* ---- all ---- */

static int function_bound_by_start(const void *pa, const void *pb) {
    const struct csni_function_bound *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

bool csni_pe_exception_entries(const struct csni_object *object, struct csni_span *out) {
    const struct csni_pe *pe = csni_pe_of(object);
    if (object->kind == CSNI_OBJECT_RELOCATABLE || object->machine == IMAGE_FILE_MACHINE_I386) return false;
    if (pe->exceptions.size) {
        if (!csni_pe_bytes_from(object, pe->exceptions.rva, out)) return false;
        if (out->size > pe->exceptions.size) out->size = pe->exceptions.size;
        return true;
    }
    uint32_t section = csni_object_find_section(object, ".pdata");
    return section != CSNI_NO_SECTION && csni_section_stored(object, section, out, NULL) == CSN_OK && out->size;
}

/* A part that continues the function right before it makes it longer; one that stands elsewhere is given by itself. */
static bool add_bound(csni_function_bounds *out, size_t first, struct csni_function_bound bound, uint64_t belongs_to) {
    struct csni_function_bound *last = out->count > first ? &out->items[out->count - 1] : NULL;
    if (last && bound.start == last->end && bound.start != belongs_to && (!belongs_to || belongs_to == last->start)) {
        last->end = bound.end;
        return true;
    }
    return csni_vec_push(out, bound);
}

csn_status csni_pe_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err) {
    struct csni_span entries;
    if (!csni_pe_exception_entries(object, &entries)) return CSN_NONE;
    bool is_amd64 = object->machine == IMAGE_FILE_MACHINE_AMD64;
    size_t entry_size = is_amd64 ? RUNTIME_FUNCTION_SIZE : ARM_FUNCTION_SIZE, first = out->count;
    for (size_t off = 0; entry_size <= entries.size - off; off += entry_size) {
        struct csni_function_bound bound;
        uint64_t belongs_to;
        bool is_entry = is_amd64 ? amd64_entry(object, entries.ptr + off, &bound, &belongs_to)
                                 : arm_entry(object, entries.ptr + off, &bound, &belongs_to);
        if (!is_entry) break;
        if (!add_bound(out, first, bound, belongs_to)) return csni_fail_memory(err, (out->count + 1) * sizeof *out->items);
    }
    for (size_t i = first; i < out->count; i++) {
        out->items[i].start += object->image_base;
        if (out->items[i].end) out->items[i].end += object->image_base;
    }
    if (out->count > first) qsort(out->items + first, out->count - first, sizeof *out->items, function_bound_by_start);
    return CSN_OK;
}

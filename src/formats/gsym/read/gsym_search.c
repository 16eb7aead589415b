/* The search of the address table, and the sample that narrows it.
 *
 * A binary search of the whole table touches five or six pages. The sample is a copy of one entry in so many, in one page: with
 * it a search touches that page and one of the table. It is as foreign as everything else in a file, so what it leads to
 * is held against the neighbouring entries of the table; where these disagree the whole table is searched. In a table that
 * ascends the answer is thus that of the whole search, whatever the sample says. */
#include "base/core/endian.h"
#include "base/core/search.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/gsym_layout.h"

/* Only where other writers leave no room, after the file table, so that opening their files touches no further page. */
void csni_gsym_find_sample(struct csni_gsym *gsym) {
    uint64_t files_end = csni_gsym_files_end(gsym);
    const uint8_t *end = gsym->members ? gsym->members : gsym->strings.ptr;
    if (!gsym->strings.size || (uint64_t)(end - gsym->bytes.ptr) < files_end) return;
    uint64_t capacity = (uint64_t)(end - gsym->bytes.ptr) - files_end;
    if (capacity < CSNI_GSYM_SAMPLE_TRAILER) return;
    uint32_t shift = csni_get32(end + CSNI_GSYM_SAMPLE_SHIFT, gsym->big);
    if (csni_get32(end + CSNI_GSYM_SAMPLE_MAGIC_AT, gsym->big) != CSNI_GSYM_SAMPLE_MAGIC) return;
    if (shift > CSNI_GSYM_SAMPLE_SHIFT_MAX || gsym->address_count <= (uint32_t)1 << shift) return;
    uint32_t count = ((gsym->address_count - 1) >> shift) + 1;
    uint64_t size = (uint64_t)count * gsym->address_size;
    if (capacity - CSNI_GSYM_SAMPLE_TRAILER < size) return;
    gsym->sample = end - CSNI_GSYM_SAMPLE_TRAILER - size;
    gsym->sample_count = count;
    gsym->sample_shift = (uint8_t)shift;
}

enum { SEARCH_TAIL = 8 }; /* entries; their info offsets are within one or two cache lines */

/* A table of entries. All of this is called with a constant width, so that the compiler knows how one is read. */
struct entries {
    const uint8_t *table;
    unsigned width;
    bool big;
};

static CSNI_GSYM_INLINE bool is_entry_up_to(const void *context, size_t index, const void *key) {
    const struct entries *e = context;
    return csni_get_sized(e->table + index * e->width, e->width, e->big) <= *(const uint64_t *)key;
}

/* The number of entries at or below `key` among the `count` from `first` on. The info offsets of the last few are prefetched. */
static CSNI_GSYM_INLINE size_t count_in(const struct csni_gsym *gsym, size_t first, size_t count, unsigned width, bool big,
                                        uint64_t key) {
    const struct entries entries = { gsym->addresses, width, big };
    struct csni_search s = csni_search_narrow((struct csni_search){ first, count }, SEARCH_TAIL, is_entry_up_to, &entries, &key);
    csni_prefetch(gsym->infos + s.first * gsym->info_size);
    return csni_search_narrow(s, 0, is_entry_up_to, &entries, &key).first - first;
}

/* The first of the entries that the sample leaves to search, which are 1 << sample_shift; `marks`: how many of its own are
 * at or below the key. */
static CSNI_GSYM_INLINE size_t narrowed(const struct csni_gsym *gsym, size_t marks) {
    size_t first = (marks - (marks > 0)) << gsym->sample_shift;
    size_t last = gsym->address_count - ((size_t)1 << gsym->sample_shift);
    return first < last ? first : last;
}

/* Whether `count` entries of those that were left to search are at or below the key in the whole table, too. Within the
 * first and the last of them that the search itself has seen. */
static CSNI_GSYM_INLINE bool proven(const struct csni_gsym *gsym, unsigned width, bool big, uint64_t key,
                                    size_t first, size_t count) {
    size_t end = first + ((size_t)1 << gsym->sample_shift);
    if (!count) return first == 0;
    return first + count < end || end == gsym->address_count ||
           csni_get_sized(gsym->addresses + end * width, width, big) > key;
}

static CSNI_GSYM_INLINE size_t count_up_to(const struct csni_gsym *gsym, unsigned width, bool big, uint64_t key) {
    if (gsym->sample_count) {
        const struct entries sample = { gsym->sample, width, big };
        size_t first = narrowed(gsym, csni_search_in(0, gsym->sample_count, is_entry_up_to, &sample, &key));
        size_t count = count_in(gsym, first, (size_t)1 << gsym->sample_shift, width, big, key);
        if (proven(gsym, width, big, key, first, count)) return first + count;
    }
    return count_in(gsym, 0, gsym->address_count, width, big, key);
}

size_t csni_gsym_count_up_to(const struct csni_gsym *gsym, uint64_t addr) {
    if (addr < gsym->base_address) return 0;
    uint64_t key = addr - gsym->base_address;
    if (gsym->big == CSNI_HOST_BIG) {
        if (gsym->address_size == 4) return count_up_to(gsym, 4, CSNI_HOST_BIG, key);
        if (gsym->address_size == 2) return count_up_to(gsym, 2, CSNI_HOST_BIG, key);
    }
    return count_up_to(gsym, gsym->address_size, gsym->big, key);
}

static CSNI_GSYM_INLINE size_t count_from(const struct csni_gsym *gsym, unsigned width, bool big, uint32_t last, uint64_t key) {
    enum { STEPS = 32 };
    const struct entries entries = { gsym->addresses, width, big };
    size_t end = gsym->address_count - last > STEPS ? last + STEPS : gsym->address_count, k = last;
    if (!is_entry_up_to(&entries, last, &key)) return 0;
    while (++k < end)
        if (!is_entry_up_to(&entries, k, &key)) return k;
    return k == gsym->address_count ? k : 0;
}

size_t csni_gsym_count_from(const struct csni_gsym *gsym, uint32_t last, uint64_t addr) {
    if (last >= gsym->address_count || addr < gsym->base_address) return 0;
    uint64_t key = addr - gsym->base_address;
    if (gsym->big == CSNI_HOST_BIG && gsym->address_size == 4) return count_from(gsym, 4, CSNI_HOST_BIG, last, key);
    return count_from(gsym, gsym->address_size, gsym->big, last, key);
}

/* ---- several at once ---- */

/* csni_search_in() for several keys, step by step as that one, so that a table that does not ascend has the same answers either
 * way. Each step's reads wait together. out[k]: the first entry of its `count` entries in, their number at or below keys[k] out.
 * Masked rather than chosen: of a choice the compiler makes a branch here, which is as often wrong as right. */
static CSNI_GSYM_INLINE void count_all_in(const uint8_t *table, size_t count, unsigned width, bool big,
                                          const uint64_t *keys, size_t key_count, size_t *out) {
    for (size_t left = count; left; left /= 2) {
        size_t half = left - left / 2;
        for (size_t k = 0; k < key_count; k++) {
            size_t up_to = csni_get_sized(table + (out[k] + half - 1) * width, width, big) <= keys[k];
            out[k] += (0 - up_to) & half;
        }
    }
}

static CSNI_GSYM_INLINE void count_all_up_to(const struct csni_gsym *gsym, unsigned width, bool big,
                                             const uint64_t *keys, size_t key_count, size_t *out) {
    size_t first[CSNI_GSYM_SEARCHES];
    for (size_t k = 0; k < key_count; k++) out[k] = 0;
    if (!gsym->sample_count) {
        if (gsym->address_count) count_all_in(gsym->addresses, gsym->address_count, width, big, keys, key_count, out);
        return;
    }
    count_all_in(gsym->sample, gsym->sample_count, width, big, keys, key_count, out);
    for (size_t k = 0; k < key_count; k++) out[k] = first[k] = narrowed(gsym, out[k]);
    count_all_in(gsym->addresses, (size_t)1 << gsym->sample_shift, width, big, keys, key_count, out);
    for (size_t k = 0; k < key_count; k++)
        if (!proven(gsym, width, big, keys[k], first[k], out[k] - first[k]))
            out[k] = count_in(gsym, 0, gsym->address_count, width, big, keys[k]);
}

static void prefetch_record(const struct csni_gsym *gsym, size_t upper) {
    enum { USUAL = 256 };
    if (!upper) return;
    uint64_t offset = csni_gsym_info_offset(gsym, (uint32_t)(upper - 1));
    if (offset >= gsym->records.size) return;
    uint64_t left = gsym->records.size - offset;
    csni_prefetch_lines(gsym->records.ptr + offset, left < USUAL ? (size_t)left : USUAL);
}

void csni_gsym_search(const struct csni_gsym *gsym, const uint64_t *addrs, size_t count, size_t *out_behind) {
    uint64_t keys[CSNI_GSYM_SEARCHES];
    for (size_t k = 0; k < count; k++) keys[k] = addrs[k] < gsym->base_address ? 0 : addrs[k] - gsym->base_address;
    if (gsym->address_size == 4 && gsym->big == CSNI_HOST_BIG)
        count_all_up_to(gsym, 4, CSNI_HOST_BIG, keys, count, out_behind);
    else
        count_all_up_to(gsym, gsym->address_size, gsym->big, keys, count, out_behind);
    for (size_t k = 0; k < count; k++) {
        if (addrs[k] < gsym->base_address) out_behind[k] = 0;
        if (out_behind[k]) csni_prefetch(gsym->infos + (out_behind[k] - 1) * gsym->info_size);
    }
    for (size_t k = 0; k < count; k++) prefetch_record(gsym, out_behind[k]);
}

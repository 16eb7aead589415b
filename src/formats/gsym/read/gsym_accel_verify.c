/* Checking a stored accelerator: made again, it has the same bytes. */
#include "formats/gsym/read/gsym_accel_verify.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "formats/gsym/read/gsym_accel.h"

typedef unsigned long long ull; /* for %llx */

static const char accel_name[] = "accelerator";

static uint64_t place_in(const struct csni_gsym *g, const uint8_t *p) { return (uint64_t)(p - g->bytes.ptr); }

/* The offset of a section of its type in version 2; 0: there is none. */
static uint64_t listed_at(const struct csni_gsym *g, struct csni_gsym_entry *out) {
    if (g->version != CSNI_GSYM_VERSION_2) return 0;
    for (uint64_t i = 0; csni_gsym_directory_entry(g, i, out, NULL) == CSN_OK; i++)
        if (out->type == CSNI_GSYM_SECTION_ACCEL) return CSNI_GSYM_2_HEADER_SIZE + i * CSNI_GSYM_2_ENTRY_BYTES;
    return 0;
}

/* Where one begins, as the pages after the tables tell; 0: nowhere. */
static uint64_t begins_at(const struct csni_gsym *g) {
    uint8_t start[CSNI_ACCEL_START] = { 0 };
    csni_accel_put_start(start);
    for (uint64_t at = csni_align_up(csni_gsym_files_end(g), CSNI_ACCEL_PAGE);
         at < g->bytes.size && g->bytes.size - at >= sizeof start; at += CSNI_ACCEL_PAGE)
        if (!memcmp(g->bytes.ptr + at, start, sizeof start)) return at;
    return 0;
}

/* Of a file in which a lookup finds none. */
static csn_status check_absent(const struct csni_gsym *g, struct csn_error *problem) {
    struct csni_gsym_entry entry;
    uint64_t listed = listed_at(g, &entry), begins = begins_at(g);
    if (listed)
        return csni_fail(problem, CSN_E_FORMAT, accel_name, listed,
                         "section at 0x%llx, but no trailer of one before the strings at 0x%llx", (ull)entry.offset,
                         (ull)g->strings_offset);
    if (begins)
        return csni_fail(problem, CSN_E_FORMAT, accel_name, begins,
                         "begins here, but no trailer of it before the strings at 0x%llx", (ull)g->strings_offset);
    return CSN_OK;
}

static csn_status check_listed(const struct csni_gsym *g, struct csn_error *problem) {
    struct csni_gsym_entry entry = { 0 };
    uint64_t listed = listed_at(g, &entry), at = place_in(g, g->accel.ptr);
    if (g->version != CSNI_GSYM_VERSION_2 || (listed && entry.offset == at && entry.size == g->accel.size)) return CSN_OK;
    return csni_fail(problem, CSN_E_FORMAT, accel_name, listed, "0x%zx bytes at 0x%llx, the directory has 0x%llx at 0x%llx",
                     g->accel.size, (ull)at, (ull)entry.size, (ull)entry.offset);
}

static csn_status compare_bytes(const struct csni_gsym *g, const uint8_t *found, const uint8_t *made, size_t size,
                                struct csn_error *problem) {
    if (!memcmp(found, made, size)) return CSN_OK;
    size_t k = 0;
    while (made[k] == found[k]) k++;
    return csni_fail(problem, CSN_E_FORMAT, accel_name, place_in(g, found) + k,
                     "byte 0x%02x, need 0x%02x as the records have it", found[k], made[k]);
}

static csn_status compare_accel(const struct csni_gsym *g, const struct csn_bytes *made, struct csn_error *problem) {
    uint64_t at = place_in(g, g->accel.ptr);
    size_t size = made->size ? made->size - CSNI_ACCEL_TRAILER : 0;
    if (size != g->accel.size)
        return csni_fail(problem, CSN_E_FORMAT, accel_name, at, "0x%zx bytes, the records need 0x%zx", g->accel.size, size);
    if (at % CSNI_ACCEL_PAGE)
        return csni_fail(problem, CSN_E_FORMAT, accel_name, at, "begins at no multiple of 0x%x bytes", CSNI_ACCEL_PAGE);
    CSNI_TRY(compare_bytes(g, g->accel.ptr, made->ptr, size, problem));
    csni_put64(made->ptr + size + CSNI_ACCEL_T_REGION, at, false);
    return compare_bytes(g, g->accel_trailer, made->ptr + size, CSNI_ACCEL_TRAILER, problem);
}

/* Of the file before it had the accelerator, which lies at a page of its own and made room for the trailer: what is covered may
 * have its limit by it. 0: it is none. */
static uint64_t size_before(const struct csni_gsym *g, uint64_t covered) {
    enum { MOVED_MOST = 3 * CSNI_ACCEL_PAGE };
    const uint64_t size = csni_gsym_accel_file_size(covered), most = g->bytes.size - g->accel.size;
    return size <= most && size + MOVED_MOST > most ? size : 0;
}

/* The table that the trailer implies lies within the file: a larger one is not made. */
static struct csni_accel_form form_of(const struct csni_gsym *g) {
    const uint8_t *trailer = g->accel_trailer;
    const bool remote = csni_accel_u32(trailer + CSNI_ACCEL_T_FIRST_READ) != 0;
    const uint64_t covered = csni_get64(trailer + CSNI_ACCEL_T_COVERED, false);
    return (struct csni_accel_form){ .first_read = remote ? CSNI_ACCEL_FIRST_READ : 0, .shift = trailer[CSNI_ACCEL_T_SHIFT],
                                     .covered = covered, .file_size = size_before(g, covered) };
}

csn_status csni_gsym_accel_verify(const struct csni_gsym *gsym, const struct csn_allocator *allocator, bool *out_equal,
                                  struct csn_error *problem, struct csn_error *err) {
    if (!gsym->accel.size) {
        *out_equal = check_absent(gsym, problem) == CSN_OK;
        return CSN_OK;
    }
    struct csn_bytes made;
    const struct csni_accel_form form = form_of(gsym);
    CSNI_TRY(csni_gsym_accel_encode(&made, gsym, &form, allocator, err));
    csn_status status = compare_accel(gsym, &made, problem);
    if (status == CSN_OK) status = check_listed(gsym, problem);
    *out_equal = status == CSN_OK;
    csn_bytes_free(&made);
    return CSN_OK;
}

/* The steps of a lookup in GSYM files: of each, the ranges for all addresses are fetched together. */
#include "remote/remote_plan.h"

/* Bytes of a record of usual size, and the most of one that is read as a whole; of a usual block of the accelerator,
 * of the inlined calls before it, at least and at most, and of strings, which come after them. */
enum {
    RECORD_GUESS = 4096, RECORD_MOST = 88 << 10,
    BLOCK_GUESS = 2048, NODES_LEAST = 8192, NODES_MOST = 80 << 10, STRINGS_LATER = 3 * CSNI_REMOTE_BLOCK
};
enum { NEAR_AFTER = 8192 }; /* of a block that has what it needs near */
_Static_assert((int)CSNI_REMOTE_HEAD == (int)CSNI_ACCEL_FIRST_READ, "what the accelerator counts on");

static bool want_at(struct csni_remote_file *file, const uint8_t *at, uint64_t size) {
    uint64_t offset = (uint64_t)(at - file->bytes.ptr);
    return csni_remote_file_want(file, offset, size);
}

static bool is_gsym(const struct csni_remote *remote) { return remote->inner->format == &csni_index_gsym; }

/* ---- with the accelerator ---- */

/* A long function's calls are far before the block: as many as a first lookup has bytes for. */
static uint64_t nodes_before(const struct csni_remote_file *file, size_t lookups) {
    uint64_t spare = csni_remote_file_spare(file), others = CSNI_REMOTE_BLOCK + STRINGS_LATER;
    if (lookups > 1 || spare < others + NODES_LEAST) return NODES_LEAST;
    return spare - others < NODES_MOST ? spare - others : NODES_MOST;
}

static csn_status plan_accelerated(struct csni_remote *remote, const uint64_t *addrs, size_t count, struct csn_error *err) {
    struct csni_remote_file *file = &remote->file;
    const struct csni_gsym_accel *accel = &remote->inner->accel;
    bool is_missing = false;
    for (size_t i = 0; i < count; i++)
        if (csni_accel_covers(accel, addrs[i])) is_missing |= want_at(file, csni_accel_entry(accel, addrs[i]), CSNI_ACCEL_ENTRY);
    if (is_missing) CSNI_TRY(csni_remote_file_fetch(file, err));
    is_missing = false;
    uint64_t nodes = remote->has_near ? CSNI_ACCEL_NEAR : nodes_before(file, count),
             after = remote->has_near ? NEAR_AFTER : BLOCK_GUESS;
    for (size_t i = 0; i < count; i++) {
        if (!csni_accel_covers(accel, addrs[i])) continue;
        uint64_t at = csni_accel_u32(csni_accel_entry(accel, addrs[i])), before = at < nodes ? at : nodes;
        if (at < accel->readable) is_missing |= want_at(file, accel->blocks + at - before, before + after);
    }
    if (is_missing) CSNI_TRY(csni_remote_file_fetch(file, err));
    for (size_t i = 0; remote->has_near && i < count; i++)
        if (csni_accel_covers(accel, addrs[i]))
            CSNI_TRY(csni_remote_names_take(&remote->names, accel, csni_accel_entry(accel, addrs[i]), err));
    return CSN_OK;
}

/* ---- by the address table ---- */

/* A search of a large table without a sample needs one entry after the other. */
static csn_status plan_whole_table(struct csni_remote *remote, const uint64_t *addrs, size_t count, struct csn_error *err) {
    enum { SMALL = 1 << 17 };
    struct csni_remote_file *file = &remote->file;
    const struct csni_gsym *gsym = &remote->inner->gsym;
    uint64_t size = (uint64_t)gsym->address_count * gsym->address_size;
    if (size <= SMALL) return want_at(file, gsym->addresses, size) ? csni_remote_file_fetch(file, err) : CSN_OK;
    for (size_t left = gsym->address_count; left * gsym->address_size > CSNI_REMOTE_BLOCK / 4; left /= 2) {
        bool is_missing = false;
        for (size_t i = 0; i < count; i++) {
            size_t first = 0, half = gsym->address_count;
            for (; half > left; half /= 2)
                if (csni_gsym_address(gsym, (uint32_t)(first + (half - half / 2) - 1)) <= addrs[i]) first += half - half / 2;
            if (first + left / 2 < gsym->address_count)
                is_missing |= want_at(file, gsym->addresses + (first + left / 2) * gsym->address_size, gsym->address_size);
        }
        if (is_missing) CSNI_TRY(csni_remote_file_fetch(file, err));
    }
    return CSN_OK;
}

/* How many entries of the sample are at or below an address; it was read when the index was opened. */
static size_t count_marks(const struct csni_gsym *gsym, uint64_t addr) {
    size_t first = 0, end = gsym->sample_count;
    uint64_t key = addr < gsym->base_address ? 0 : addr - gsym->base_address;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (csni_get_sized(gsym->sample + middle * gsym->address_size, gsym->address_size, gsym->big) <= key) first = middle + 1;
        else end = middle;
    }
    return first;
}

/* The entries that the sample leaves to search, with their info offsets. */
static csn_status plan_sampled(struct csni_remote *remote, const uint64_t *addrs, size_t count, struct csn_error *err) {
    struct csni_remote_file *file = &remote->file;
    const struct csni_gsym *gsym = &remote->inner->gsym;
    if (want_at(file, gsym->sample, (uint64_t)gsym->sample_count * gsym->address_size)) CSNI_TRY(csni_remote_file_fetch(file, err));
    uint64_t span = (uint64_t)1 << gsym->sample_shift;
    bool is_missing = false;
    for (size_t i = 0; i < count; i++) {
        size_t marks = count_marks(gsym, addrs[i]);
        uint64_t first = (uint64_t)(marks - (marks > 0)) << gsym->sample_shift, last = gsym->address_count - span;
        if (first > last) first = last;
        uint64_t most = gsym->address_count - first, entries = span + 1 < most ? span + 1 : most;
        is_missing |= want_at(file, gsym->addresses + first * gsym->address_size, entries * gsym->address_size);
        is_missing |= want_at(file, gsym->infos + first * gsym->info_size, entries * gsym->info_size);
    }
    return is_missing ? csni_remote_file_fetch(file, err) : CSN_OK;
}

/* The accelerator comes after the records. */
static uint64_t guess_last_record_size(const struct csni_remote *remote, uint64_t offset) {
    const struct csni_gsym *gsym = &remote->inner->gsym;
    if (!remote->accel.table) return RECORD_GUESS;
    uint64_t end = (uint64_t)(remote->accel.table - gsym->bytes.ptr), begin = gsym->records_offset + offset;
    return end > begin ? end - begin : RECORD_GUESS;
}

/* Records follow one another in the order of their functions, in most files: the next one tells the size. */
static uint64_t guess_record_size(const struct csni_remote *remote, size_t idx) {
    const struct csni_gsym *gsym = &remote->inner->gsym;
    uint64_t infos = (uint64_t)(gsym->infos - gsym->bytes.ptr), offset = csni_gsym_info_offset(gsym, (uint32_t)idx);
    if (idx + 1 >= gsym->address_count) return guess_last_record_size(remote, offset);
    if (!csni_remote_file_has(&remote->file, infos + (idx + 1) * gsym->info_size, gsym->info_size)) return RECORD_GUESS;
    uint64_t next = csni_gsym_info_offset(gsym, (uint32_t)idx + 1);
    return next > offset ? next - offset : RECORD_GUESS;
}

static bool want_checkpoint(struct csni_remote_file *file, const struct csni_gsym_checkpoints *c, size_t number) {
    bool is_missing = want_at(file, csni_checkpoint_entry(c, number), c->entry_bytes + 8u);
    return c->places ? is_missing | want_at(file, c->places + number * c->place_bytes, 8) : is_missing;
}

/* The record of each function, and the checkpoint of its code. */
static csn_status plan_records(struct csni_remote *remote, const uint64_t *addrs, size_t count, struct csn_error *err) {
    struct csni_remote_file *file = &remote->file;
    const struct csni_gsym *gsym = &remote->inner->gsym;
    bool is_missing = false;
    for (size_t i = 0; i < count; i++) {
        size_t upper = csni_gsym_count_up_to(gsym, addrs[i]);
        if (upper) is_missing |= want_at(file, gsym->infos + (upper - 1) * gsym->info_size, gsym->info_size);
    }
    if (csni_remote_file_want_touched(file) | is_missing) CSNI_TRY(csni_remote_file_fetch(file, err));
    is_missing = false;
    for (size_t i = 0; i < count; i++) {
        size_t upper = csni_gsym_count_up_to(gsym, addrs[i]);
        if (!upper) continue;
        uint64_t offset = csni_gsym_info_offset(gsym, (uint32_t)upper - 1), size = guess_record_size(remote, upper - 1);
        size_t number;
        bool has_entry = csni_checkpoint_number(&gsym->checkpoints, addrs[i], &number);
        if (size > RECORD_MOST) size = has_entry ? RECORD_GUESS : RECORD_MOST;
        if (offset < gsym->records.size) is_missing |= csni_remote_file_want(file, gsym->records_offset + offset, size);
        if (has_entry) is_missing |= want_checkpoint(file, &gsym->checkpoints, number);
    }
    return is_missing ? csni_remote_file_fetch(file, err) : CSN_OK;
}

/* The tables often need a request less than the accelerator once they are there, but a long record more bytes, and a
 * stack whose names are scattered more requests. */
static bool suits_accelerator(const struct csni_remote *remote, const uint64_t *addrs, size_t count) {
    const struct csni_gsym *gsym = &remote->inner->gsym;
    if (!remote->accel.table || !remote->has_tables || (remote->has_near && count == 1)) return remote->accel.table != NULL;
    for (size_t i = 0; i < count; i++) {
        size_t upper = csni_gsym_count_up_to(gsym, addrs[i]);
        if (upper && guess_record_size(remote, upper - 1) > RECORD_MOST) return true;
    }
    return false;
}

csn_status csni_remote_plan(struct csni_remote *remote, const uint64_t *addrs, size_t count, enum csn_lookup_mode mode,
                            struct csn_error *err) {
    if (!is_gsym(remote)) return CSN_OK;
    const struct csni_gsym *gsym = &remote->inner->gsym;
    bool is_accelerated = mode == CSN_LOOKUP_DEFAULT && suits_accelerator(remote, addrs, count);
    remote->inner->accel = is_accelerated ? remote->accel : (struct csni_gsym_accel){ .table = NULL };
    if (is_accelerated) return plan_accelerated(remote, addrs, count, err);
    if (gsym->sample_count) CSNI_TRY(plan_sampled(remote, addrs, count, err));
    else CSNI_TRY(plan_whole_table(remote, addrs, count, err));
    return plan_records(remote, addrs, count, err);
}

/* ---- file entries ---- */

void csni_remote_end_plan(struct csni_remote *remote) {
    if (remote->has_tables) remote->inner->accel = (struct csni_gsym_accel){ .table = NULL };
}

bool csni_remote_want_file_entry(struct csni_remote *remote, uint32_t idx) {
    const struct csn_index *inner = remote->inner;
    if (!is_gsym(remote)) return false;
    if (inner->accel.table)
        return idx < inner->accel.file_count &&
               want_at(&remote->file, inner->accel.files + (size_t)idx * CSNI_ACCEL_FILE, CSNI_ACCEL_FILE);
    const struct csni_gsym *gsym = &inner->gsym;
    return idx < gsym->file_count && want_at(&remote->file, csni_gsym_file_entry(gsym, idx), 2u * gsym->strp_size);
}

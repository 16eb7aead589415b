/* The blocks of a remote file.
 *
 * Which pages have been read is what the kernel's page tables say: mincore() of memory that has no file behind it tells which
 * pages are mapped, and a page is mapped when it is first read. Where it does not (another system, memory that is locked, an
 * emulated kernel), the whole file is read at the beginning. */
#define _GNU_SOURCE
#include "remote/remote_file.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"

enum block_state { BLOCK_MISSING, BLOCK_WANTED, BLOCK_KEPT };

/* Gaps that cost less than a request: a small one always does, and of larger ones as many as fit the budget of a fetch. */
enum { PAGES_MOST = CSNI_REMOTE_BLOCK / 4096, GAP_BLOCKS = 4, GAP_BUDGET = 12, RANGES_MAX = 64, GROUP_BLOCKS = 4096,
       HEAD_BLOCKS = CSNI_REMOTE_HEAD / CSNI_REMOTE_BLOCK };
enum { COLD_REQUESTS = 5, COLD_BYTES = 512 << 10 };

/* ---- memory ---- */

static void *reserve_pages(size_t size) {
#if defined(MAP_NORESERVE)
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
#else
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
    if (ptr == MAP_FAILED) return NULL;
#if defined(MADV_NOHUGEPAGE)
    (void)madvise(ptr, size, MADV_NOHUGEPAGE); /* one page that is read must not map its neighbours */
#endif
    return ptr;
}

#if defined(__linux__)
static bool read_touched(const void *ptr, size_t size, unsigned char *out) {
    return mincore((void *)(uintptr_t)ptr, size, out) == 0;
}
#else
static bool read_touched(const void *ptr, size_t size, unsigned char *out) {
    (void)ptr;
    (void)size;
    (void)out;
    return false;
}
#endif

/* Whether reading a page, and only that, is seen. */
static bool prove_touches(size_t page) {
    enum { PAGES = 8, READ = 3 };
    unsigned char touched[PAGES] = { 0 };
    volatile uint8_t *pages = reserve_pages(PAGES * page);
    if (!pages) return false;
    (void)pages[READ * page];
    bool proven = read_touched((const void *)(uintptr_t)pages, PAGES * page, touched);
    for (unsigned i = 0; i < PAGES; i++)
        if ((touched[i] & 1) != (i == READ)) proven = false;
    munmap((void *)(uintptr_t)pages, PAGES * page);
    return proven;
}

static csn_status allocate(struct csni_remote_file *file, uint64_t size, struct csn_error *err) {
    long page = sysconf(_SC_PAGESIZE);
    file->page = page > 0 ? (size_t)page : 4096;
    if (size > SIZE_MAX / 2)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the file has %" PRIu64 " bytes, more than the address space",
                         size);
    file->block_count = (size_t)size / CSNI_REMOTE_BLOCK + (size % CSNI_REMOTE_BLOCK != 0);
    file->reserved = (file->block_count * CSNI_REMOTE_BLOCK + file->page - 1) / file->page * file->page;
    uint8_t *memory = reserve_pages(file->reserved);
    if (!memory) {
        file->reserved = 0;
        return csni_fail(err, CSN_E_MEMORY, NULL, 0, "no memory for a file of %" PRIu64 " bytes", size);
    }
    file->bytes = (struct csni_span){ memory, (size_t)size };
    file->states = csni_alloc_zeroed(file->allocator, file->block_count, 1);
    file->touched = csni_alloc_zeroed(file->allocator, GROUP_BLOCKS, PAGES_MOST);
    if (!file->states || !file->touched) return csni_fail_memory(err, file->block_count);
    file->sees_touches = CSNI_REMOTE_BLOCK % file->page == 0 && prove_touches(file->page);
    return CSN_OK;
}

void csni_remote_file_close(struct csni_remote_file *file) {
    if (file->reserved) munmap((void *)(uintptr_t)file->bytes.ptr, file->reserved);
    csni_free(file->allocator, file->states, file->block_count);
    csni_free(file->allocator, file->touched, (size_t)GROUP_BLOCKS * PAGES_MOST);
    file->bytes = (struct csni_span){ NULL, 0 };
    file->reserved = file->block_count = 0;
    file->states = NULL;
    file->touched = NULL;
}

/* ---- what is wanted ---- */

bool csni_remote_file_want(struct csni_remote_file *file, uint64_t offset, uint64_t size) {
    if (file->kept == file->block_count || !size || offset >= file->bytes.size) return false;
    if (size > file->bytes.size - offset) size = file->bytes.size - offset;
    bool is_missing = false;
    for (size_t i = (size_t)offset / CSNI_REMOTE_BLOCK; i <= (size_t)(offset + size - 1) / CSNI_REMOTE_BLOCK; i++) {
        if (file->states[i] == BLOCK_KEPT) continue;
        file->states[i] = BLOCK_WANTED;
        is_missing = true;
    }
    return is_missing;
}

bool csni_remote_file_has(const struct csni_remote_file *file, uint64_t offset, uint64_t size) {
    if (!size || offset > file->bytes.size || size > file->bytes.size - offset) return !size;
    for (size_t i = (size_t)offset / CSNI_REMOTE_BLOCK; i <= (size_t)(offset + size - 1) / CSNI_REMOTE_BLOCK; i++)
        if (file->states[i] != BLOCK_KEPT) return false;
    return true;
}

static bool is_touched(const struct csni_remote_file *file, size_t block) {
    size_t pages = CSNI_REMOTE_BLOCK / file->page;
    for (size_t i = 0; i < pages; i++)
        if (file->touched[block * pages + i] & 1) return true;
    return false;
}

/* Of blocks that are missing, at most GROUP_BLOCKS. */
static bool want_touched_in(struct csni_remote_file *file, size_t first, size_t count) {
    bool found = false;
    if (!read_touched(file->bytes.ptr + first * CSNI_REMOTE_BLOCK, count * CSNI_REMOTE_BLOCK, file->touched)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_touched(file, i)) continue;
        file->states[first + i] = BLOCK_WANTED;
        found = true;
    }
    return found;
}

bool csni_remote_file_want_touched(struct csni_remote_file *file) {
    bool found = false;
    for (size_t i = 0; file->kept < file->block_count && i < file->block_count;) {
        size_t count = 0;
        while (i + count < file->block_count && count < GROUP_BLOCKS && file->states[i + count] != BLOCK_KEPT) count++;
        if (count && want_touched_in(file, i, count)) found = true;
        i += count ? count : 1;
    }
    return found;
}

/* ---- reading ---- */

/* The first answer says what the file is. */
static csn_status check_version(struct csni_remote_file *file, const struct csn_remote_file *answer, struct csn_error *err) {
    if (!file->is_known) {
        file->version = *answer;
        file->is_known = true;
        return CSN_OK;
    }
    if (answer->size != file->version.size)
        return csni_fail(err, CSN_E_IO, NULL, 0, "the file has changed while it was read: it had %" PRIu64 " bytes, now %" PRIu64,
                         file->version.size, answer->size);
    if (memcmp(answer->version, file->version.version, sizeof answer->version) != 0)
        return csni_fail(err, CSN_E_IO, NULL, 0, "the file has changed while it was read: it was version %.60s, now %.60s",
                         file->version.version, answer->version);
    return CSN_OK;
}

static csn_status read_ranges(struct csni_remote_file *file, struct csn_remote_range *ranges, size_t count, struct csn_error *err) {
    struct csn_remote_file answer = { 0 };
    csn_status status = file->read(file->context, ranges, count, &answer, err);
    answer.version[sizeof answer.version - 1] = 0;
    file->requests += answer.requests;
    file->received += answer.received;
    if (status > 0) status = csni_fail(err, CSN_E_IO, NULL, 0, "the callback gave status %d", status);
    return status < 0 ? status : check_version(file, &answer, err);
}

static csn_status take_ranges(struct csni_remote_file *file, struct csn_remote_range *ranges, size_t count, struct csn_error *err) {
    CSNI_TRY(read_ranges(file, ranges, count, err));
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].received != ranges[i].size)
            return csni_fail(err, CSN_E_IO, NULL, 0, "bytes from 0x%" PRIx64 ": got %" PRIu64 ", need %" PRIu64, ranges[i].offset,
                             ranges[i].received, ranges[i].size);
        size_t first = (size_t)ranges[i].offset / CSNI_REMOTE_BLOCK,
               end = (size_t)(ranges[i].offset + ranges[i].size - 1) / CSNI_REMOTE_BLOCK;
        for (size_t k = first; k <= end; k++) {
            if (file->states[k] != BLOCK_KEPT) file->kept++;
            file->states[k] = BLOCK_KEPT;
        }
    }
    return CSN_OK;
}

/* The next blocks that are wanted, with gaps of at most that many between them, from *at on. A kept block is not read again. */
static bool next_range(const struct csni_remote_file *file, size_t gap, size_t *at, struct csn_remote_range *out) {
    size_t i = *at;
    while (i < file->block_count && file->states[i] != BLOCK_WANTED) i++;
    if (i == file->block_count) return false;
    size_t end = i + 1;
    for (size_t k = end; k < file->block_count && k <= end + gap && file->states[k] != BLOCK_KEPT; k++)
        if (file->states[k] == BLOCK_WANTED) end = k + 1;
    uint64_t start = (uint64_t)i * CSNI_REMOTE_BLOCK, stop = (uint64_t)end * CSNI_REMOTE_BLOCK;
    if (stop > file->bytes.size) stop = file->bytes.size;
    *out =
        (struct csn_remote_range){ .offset = start, .size = stop - start, .bytes = (uint8_t *)(uintptr_t)file->bytes.ptr + start };
    *at = end;
    return true;
}

/* What the next requests read, if gaps of so many blocks are read with them. */
struct fetch_size {
    uint64_t requests, blocks;
};

static struct fetch_size count_fetch(const struct csni_remote_file *file, size_t gap) {
    struct csn_remote_range range;
    struct fetch_size out = { 0, 0 };
    for (size_t at = 0; next_range(file, gap, &at, &range); out.requests++)
        out.blocks += (range.size + CSNI_REMOTE_BLOCK - 1) / CSNI_REMOTE_BLOCK;
    return out;
}

/* The largest gap that keeps to the budget of a fetch. */
static size_t choose_usual_gap(const struct csni_remote_file *file) {
    uint64_t wanted = count_fetch(file, 0).blocks;
    size_t gap = GAP_BUDGET;
    while (gap > GAP_BLOCKS && count_fetch(file, gap).blocks > wanted + GAP_BUDGET) gap -= GAP_BLOCKS;
    return gap;
}

/* The first lookup keeps to COLD_REQUESTS and COLD_BYTES where it can: smaller gaps for fewer bytes, larger ones for
 * fewer requests. */
static size_t choose_gap(const struct csni_remote_file *file) {
    size_t gap = choose_usual_gap(file);
    if (file->requests >= COLD_REQUESTS || file->received >= COLD_BYTES) return gap;
    uint64_t requests = COLD_REQUESTS - file->requests, blocks = (COLD_BYTES - file->received) / CSNI_REMOTE_BLOCK;
    uint64_t wanted = count_fetch(file, 0).blocks;
    if (wanted > blocks) return gap;
    uint64_t usual = wanted + (blocks - wanted) / 2; /* later fetches need some, too */
    while (gap && count_fetch(file, gap).blocks > usual) gap--;
    while (gap < blocks && count_fetch(file, gap).requests > requests && count_fetch(file, gap + 1).blocks <= blocks) gap++;
    return gap;
}

uint64_t csni_remote_file_spare(const struct csni_remote_file *file) {
    return file->received < COLD_BYTES ? COLD_BYTES - file->received : 0;
}

static csn_status fetch_wanted(struct csni_remote_file *file, struct csn_error *err) {
    struct csn_remote_range ranges[RANGES_MAX];
    size_t gap = choose_gap(file);
    for (size_t at = 0, count = RANGES_MAX; count == RANGES_MAX;) {
        for (count = 0; count < RANGES_MAX && next_range(file, gap, &at, &ranges[count]);) count++;
        if (count) CSNI_TRY(take_ranges(file, ranges, count, err));
    }
    return CSN_OK;
}

csn_status csni_remote_file_fetch(struct csni_remote_file *file, struct csn_error *err) {
    if (file->status >= 0) file->status = fetch_wanted(file, &file->failure);
    if (file->status < 0 && err) *err = file->failure;
    return file->status;
}

/* ---- opening ---- */

static csn_status open_from(struct csni_remote_file *file, uint8_t *head, size_t head_size, struct csn_error *err) {
    struct csn_remote_range range = { .size = head_size, .bytes = head };
    CSNI_TRY(read_ranges(file, &range, 1, err));
    uint64_t size = file->version.size;
    if (range.received != (size < head_size ? size : head_size))
        return csni_fail(err, CSN_E_IO, NULL, 0, "bytes from 0x0: got %" PRIu64 " of a file of %" PRIu64, range.received, size);
    if (!size) return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "the file is empty");
    CSNI_TRY(allocate(file, size, err));
    memcpy((uint8_t *)(uintptr_t)file->bytes.ptr, head, (size_t)range.received);
    for (size_t i = 0; i < file->block_count && i < HEAD_BLOCKS; i++) file->states[i] = BLOCK_KEPT;
    file->kept = file->block_count < HEAD_BLOCKS ? file->block_count : HEAD_BLOCKS;
    if (file->sees_touches) return CSN_OK;
    csni_remote_file_want(file, 0, size);
    return csni_remote_file_fetch(file, err);
}

csn_status csni_remote_file_open(struct csni_remote_file *file, struct csn_error *err) {
    uint8_t *head = csni_alloc(file->allocator, CSNI_REMOTE_HEAD);
    if (!head) return csni_fail_memory(err, CSNI_REMOTE_HEAD);
    csn_status status = open_from(file, head, CSNI_REMOTE_HEAD, err);
    csni_free(file->allocator, head, CSNI_REMOTE_HEAD);
    if (status < 0) csni_remote_file_close(file);
    return status;
}

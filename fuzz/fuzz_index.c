/* Any bytes as an index: open, verify, iterate over everything, look up around every function. Invariants: a file without
 * problems answers at every function's start; the two modes agree wherever both answer; iterators and lookups agree; an
 * accelerated index, a batch and lookups in one go give the answers of the index; an address sample, whatever it says,
 * changes no answer. A stored accelerator and checkpoints may give other answers, unless they are equal to the records: then
 * all of the above holds. */
#include <stdlib.h>
#include <string.h>

#include <callsign/index.h>
#include <callsign/inspect.h>
#include <callsign/line_table.h>

#include "formats/gsym/read/gsym.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_FUNCTIONS = 64, MAX_STEPS = 4096, CAP = 8 };

static void require(int condition) {
    if (!condition) abort();
}

static uint64_t sum_str(struct csn_str s) {
    uint64_t sum = s.len;
    for (size_t i = 0; i < s.len; i++) sum += (unsigned char)s.ptr[i];
    return sum;
}

/* The address of the last row at or below `addr`, read row by row; CSN_NONE where there is none. */
static csn_status last_row(const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                           struct csn_row *out) {
    struct csn_row_iter iter;
    struct csn_row row;
    csn_status status = csn_row_iter_init(&iter, index, record, NULL), found = CSN_NONE;
    if (status < 0) return status;
    while ((status = csn_row_iter_next(&iter, &row, NULL)) == CSN_OK && row.addr <= addr) {
        *out = row;
        found = CSN_OK;
    }
    return status < 0 ? status : found;
}

static void same_str(struct csn_str a, struct csn_str b) { require(a.len == b.len && !memcmp(a.ptr, b.ptr, a.len)); }

/* The strings of frames, of which the accelerator knows the lengths. */
static void compare_strings(const struct csn_index *index, const struct csn_index *fast, uint64_t addr) {
    struct csn_frame want[CAP], got[CAP];
    size_t count = 0, other = 0;
    csn_status status = csn_index_lookup(index, addr, want, CAP, &count, NULL);
    require(csn_index_lookup(fast, addr, got, CAP, &other, NULL) == status && count == other);
    for (size_t k = 0; status == CSN_OK && k < count && k < CAP; k++) {
        same_str(want[k].name, got[k].name);
        same_str(want[k].directory, got[k].directory);
        same_str(want[k].base, got[k].base);
        require(want[k].offset == got[k].offset && want[k].line == got[k].line && want[k].flags == got[k].flags);
    }
}

/* The accelerated index and batches of both against what the index says. */
static void compare(const struct csn_index *index, const struct csn_index *fast, const uint64_t *addrs, size_t count) {
    enum { ROOM = 2 * (CSN_INLINE_DEPTH_MAX + 1) };
    static struct csn_frame_ref frames[ROOM];
    static struct csn_batch_answer answers[16];
    for (size_t k = 0; k < count; k++) compare_strings(index, fast, addrs[k]);
    for (int which = 0; which < 2; which++) {
        for (size_t at = 0, done = 0; at < count; at += done) {
            struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
            batch.addrs = addrs + at;
            batch.count = count - at;
            batch.answers = answers;
            batch.frames = frames;
            batch.frame_capacity = ROOM;
            require(csn_index_lookup_batch(which ? fast : index, &batch, &done, NULL) == CSN_OK);
            require(done > 0 && done <= count - at);
            for (size_t k = 0; k < done; k++) {
                struct csn_frame_ref want[CAP], got[CAP];
                struct csn_lookup one, other;
                memset(want, 0, sizeof want);
                memset(got, 0, sizeof got);
                memset(&one, 0, sizeof one);
                memset(&other, 0, sizeof other);
                csn_status status = csn_index_lookup_refs(index, addrs[at + k], CSN_LOOKUP_DEFAULT, want, CAP, &one,
                                                          NULL);
                require(csn_index_lookup_refs(fast, addrs[at + k], CSN_LOOKUP_DEFAULT, got, CAP, &other, NULL) == status);
                require(!memcmp(&one, &other, sizeof one) && !memcmp(want, got, sizeof want));
                require(answers[k].status == status && !memcmp(&one, &answers[k].found, sizeof one));
                size_t stored = one.frame_count < CAP ? one.frame_count : CAP;
                require(!memcmp(want, frames + answers[k].first_frame, stored * sizeof *want));
            }
        }
    }
}

static void look_up(const struct csn_index *index, uint64_t addr) {
    struct csn_frame_ref refs[CAP], llvm[CAP];
    struct csn_frame frames[CAP];
    struct csn_lookup found, reference;
    size_t count;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, CAP, &found, &err);
    require(status >= 0 || err.code == status);
    require(csn_index_lookup(index, addr, frames, CAP, &count, NULL) == status);
    csn_status other = csn_index_lookup_refs(index, addr, CSN_LOOKUP_LLVM, llvm, CAP, &reference, NULL);
    if (status != CSN_OK) {
        require(other != CSN_OK || status == CSN_E_LIMIT || status < 0);
        return;
    }
    require(count == found.frame_count && count > 0);
    for (size_t k = 0; k < count && k < CAP; k++) {
        require(frames[k].line == refs[k].line && frames[k].offset == refs[k].offset);
        require(((frames[k].flags & CSN_FRAME_INLINED) != 0) == (k + 1 < count));
        require(sum_str(frames[k].name) + sum_str(frames[k].directory) + sum_str(frames[k].base) < UINT64_MAX);
    }
    if (other == CSN_OK) {
        require(reference.function_index == found.function_index && reference.frame_count <= found.frame_count);
        require(llvm[0].line == refs[0].line && llvm[0].file == refs[0].file);
    }
    struct csn_record record;
    struct csn_row row;
    require(csn_index_record(index, found.function_index, &record, NULL) == CSN_OK);
    bool wraps = found.function_start > UINT64_MAX - UINT32_MAX; /* rows may begin again at 0 */
    if (!wraps && refs[0].reason == CSN_REASON_COMPLETE && last_row(index, &record, addr, &row) == CSN_OK)
        require(row.line == refs[0].line && row.file == refs[0].file);
}

static void walk_record(const struct csn_index *index, const struct csn_record *record, int depth) {
    struct csn_function function;
    struct csn_row_iter rows;
    struct csn_row row;
    struct csn_inline_iter inlines;
    struct csn_inline_node node;
    struct csn_call_site_iter sites;
    struct csn_call_site site;
    struct csn_merged_iter merged;
    struct csn_record child;
    struct csn_range range;
    struct csn_str pattern;
    uint64_t sum = 0;
    if (csn_record_function(index, record, &function, NULL) == CSN_OK) sum += sum_str(function.name);
    sum += csn_record_check(index, record, NULL) == CSN_OK;
    if (csn_row_iter_init(&rows, index, record, NULL) == CSN_OK)
        for (int n = 0; n < MAX_STEPS && csn_row_iter_next(&rows, &row, NULL) == CSN_OK; n++) sum += row.line;
    if (csn_inline_iter_init(&inlines, index, record, NULL) == CSN_OK)
        for (int n = 0; n < MAX_STEPS && csn_inline_iter_next(&inlines, &node, NULL) == CSN_OK; n++) {
            require(node.depth < CSN_INLINE_DEPTH_MAX && node.range_count > 0);
            for (uint32_t k = 0; k < node.range_count; k++)
                require(csn_inline_node_range(&node, k, &range, NULL) == CSN_OK);
            require(csn_inline_node_range(&node, 0, &range, NULL) == CSN_OK);
            require(csn_inline_node_range(&node, node.range_count, &range, NULL) == CSN_E_ARGUMENT);
        }
    if (csn_call_site_iter_init(&sites, index, record, NULL) == CSN_OK)
        for (int n = 0; n < MAX_STEPS && csn_call_site_iter_next(&sites, &site, NULL) == CSN_OK; n++)
            for (uint32_t k = 0; k < site.pattern_count && k < MAX_STEPS; k++)
                require(csn_call_site_pattern(index, &site, k, &pattern, NULL) == CSN_OK);
    if (depth == 0 && csn_merged_iter_init(&merged, index, record, NULL) == CSN_OK)
        for (int n = 0; n < MAX_STEPS && csn_merged_iter_next(&merged, &child, NULL) == CSN_OK; n++)
            walk_record(index, &child, depth + 1);
    require(sum < UINT64_MAX);
}

static bool count_problem(void *context, const struct csn_error *err) {
    uint64_t *problems = context;
    require(err->code < 0 && err->text[0]);
    return ++*problems < 100;
}

static void use(const struct csn_index *index, const struct csn_index *fast) {
    struct csn_index_info info;
    struct csn_verify_counts counts;
    uint64_t problems = 0;
    csn_index_get_info(index, &info, sizeof(info));
    require(csn_index_verify(index, count_problem, &problems, &counts, NULL) == CSN_OK);
    require(counts.problems == problems);
    for (uint32_t idx = 0; idx < info.function_count && idx < MAX_FUNCTIONS; idx++) {
        struct csn_record record;
        struct csn_frame_ref ref;
        if (csn_index_record(index, idx, &record, NULL) != CSN_OK) {
            require(problems > 0);
            continue;
        }
        walk_record(index, &record, 0);
        if (!problems)
            require(csn_index_lookup_refs(index, record.start, CSN_LOOKUP_DEFAULT, &ref, 1, NULL, NULL) == CSN_OK);
        static const int64_t steps[] = { -1, 0, 1, 3, 8, 17, 40, 100, 1000 };
        enum { STEPS = sizeof steps / sizeof *steps };
        uint64_t addrs[STEPS];
        for (size_t k = 0; k < STEPS; k++) look_up(index, addrs[k] = record.start + (uint64_t)steps[k]);
        compare(index, fast, addrs, STEPS);
    }
    look_up(index, 0);
    look_up(index, UINT64_MAX);
}

/* Answers that may be anything, but end, are within the file, and, if no checkpoints are wrong, are the same alone
 * and in a batch. */
static void use_stored(const struct csn_index *index, bool same_in_batch) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    for (uint32_t idx = 0; idx < info.function_count && idx < MAX_FUNCTIONS; idx++) {
        static const int64_t steps[] = { -1, 0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 1000 };
        enum { STEPS = sizeof steps / sizeof *steps };
        uint64_t addrs[STEPS], start;
        if (csn_index_function_start(index, idx, &start, NULL) != CSN_OK) continue;
        for (size_t k = 0; k < STEPS; k++) {
            struct csn_frame frames[CAP];
            size_t count = 0;
            addrs[k] = start + (uint64_t)steps[k];
            if (csn_index_lookup(index, addrs[k], frames, CAP, &count, NULL) != CSN_OK) continue;
            require(count > 0 && count <= CSN_INLINE_DEPTH_MAX + 1);
            for (size_t f = 0; f < count && f < CAP; f++)
                require(sum_str(frames[f].name) + sum_str(frames[f].directory) + sum_str(frames[f].base) < UINT64_MAX);
        }
        if (same_in_batch) compare(index, index, addrs, STEPS);
    }
}

static bool has_checkpoints(const uint8_t *data, size_t size) {
    struct csni_gsym gsym;
    return csni_gsym_parse(&gsym, (struct csni_span){ data, size }, NULL) == CSN_OK && gsym.checkpoints.entries;
}

static bool has_stored(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.stored_accelerator_bytes > 0;
}

/* Whether everything in the index is as it should be. */
static bool is_good(const struct csn_index *index) {
    struct csn_verify_counts counts;
    return csn_index_verify(index, NULL, NULL, &counts, NULL) == CSN_OK && !counts.problems;
}

static bool ascends(const struct csni_gsym *gsym) {
    for (uint32_t i = 1; i < gsym->address_count; i++)
        if (csni_gsym_address(gsym, i) < csni_gsym_address(gsym, i - 1)) return false;
    return true;
}

/* Searches that a sample narrows, one by one and together, against those of the whole table. */
static void use_sample(const uint8_t *data, size_t size) {
    struct csni_gsym sampled;
    if (csni_gsym_parse(&sampled, (struct csni_span){ data, size }, NULL) != CSN_OK || !sampled.sample_count) return;
    struct csni_gsym plain = sampled;
    plain.sample_count = 0;
    bool same = ascends(&sampled);
    for (uint32_t idx = 0; idx < sampled.address_count && idx < MAX_FUNCTIONS; idx++) {
        uint64_t addr = csni_gsym_address(&sampled, idx), addrs[CSNI_GSYM_SEARCHES];
        size_t together[CSNI_GSYM_SEARCHES];
        for (size_t k = 0; k < CSNI_GSYM_SEARCHES; k++) addrs[k] = addr + k * k - 1;
        csni_gsym_search(&sampled, addrs, CSNI_GSYM_SEARCHES, together);
        for (size_t k = 0; k < CSNI_GSYM_SEARCHES; k++) {
            size_t one = csni_gsym_count_up_to(&sampled, addrs[k]);
            require(one <= sampled.address_count && together[k] <= sampled.address_count);
            if (same) require(one == together[k] && one == csni_gsym_count_up_to(&plain, addrs[k]));
        }
    }
}

static void same_answer(const struct csni_gsym_answer *a, const struct csni_gsym_answer *b) {
    require(a->addr == b->addr && a->start == b->start && a->name == b->name && a->idx == b->idx && a->size == b->size);
    require(a->file == b->file && a->line == b->line && a->reason == b->reason && a->calls.count == b->calls.count);
    for (size_t k = 0; k < a->calls.count && a->calls.count <= CSNI_GSYM_CALLS_HELD; k++) {
        const struct csni_gsym_inlined *x = &a->calls.held[k], *y = &b->calls.held[k];
        require(x->first == y->first && x->name == y->name && x->call_file == y->call_file && x->call_line == y->call_line);
    }
}

/* Lookups of usual records in one go, against those that take everything. Of a damaged file they may differ, and
 * read nothing outside it. */
static void use_direct(const uint8_t *data, size_t size, bool good) {
    enum { STEPS = 24 };
    struct csni_gsym direct;
    if (csni_gsym_parse(&direct, (struct csni_span){ data, size }, NULL) != CSN_OK || !direct.direct) return;
    struct csni_gsym plain = direct;
    plain.direct = false;
    for (uint32_t idx = 0; idx < direct.address_count && idx < MAX_FUNCTIONS; idx++) {
        uint64_t addr = csni_gsym_address(&direct, idx) - 1;
        for (unsigned k = 0; k < STEPS; k++, addr += k / 4 + 1) {
            struct csni_gsym_answer one, other;
            if (csni_gsym_lookup(&direct, addr, CSN_LOOKUP_DEFAULT, &one, NULL) != CSN_OK || !good) continue;
            require(csni_gsym_lookup(&plain, addr, CSN_LOOKUP_DEFAULT, &other, NULL) == CSN_OK);
            same_answer(&one, &other);
        }
    }
}

/* The same bytes as a line table. */
static void use_line_table(const uint8_t *data, size_t size) {
    enum { ROWS = 512, START = 0x1000 };
    static struct csn_row rows[ROWS];
    struct csn_row row;
    size_t count;
    csn_status decoded = csn_line_table_decode(START, data, size, rows, ROWS, &count, NULL);
    for (uint64_t addr = START; addr < START + 2000; addr += 37) {
        csn_status status = csn_line_table_lookup(START, data, size, addr, &row, NULL);
        if (decoded != CSN_OK || count > ROWS) continue;
        const struct csn_row *want = NULL;
        for (size_t k = 0; k < count && rows[k].addr <= addr; k++) want = &rows[k];
        require(status == (want ? CSN_OK : CSN_NONE));
        if (want) require(row.addr == want->addr && row.file == want->file && row.line == want->line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_index_open_memory(data, size, NULL, &index, &err);
    require(status == CSN_OK ? index != NULL : index == NULL && err.code == status && err.text[0]);
    if (index) {
        struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
        struct csn_index *fast = NULL;
        options.accelerator_bytes = size && data[size / 2] % 4 == 0 ? size : UINT64_MAX; /* sometimes too little */
        require(csn_index_open_memory(data, size, &options, &fast, NULL) == CSN_OK);
        bool good = is_good(index), checkpoints = has_checkpoints(data, size), hints = checkpoints || has_stored(index);
        if (hints) use_stored(index, good || !checkpoints);
        if (!hints || good) use(index, fast);
        use_direct(data, size, good);
        csn_index_close(fast);
        csn_index_close(index);
    }
    use_sample(data, size);
    use_line_table(data, size);
    return 0;
}

/* The texts of heaps, locks and counts that pprof reads: of gperftools, tcmalloc and jemalloc, and of Go's
 * net/http/pprof with ?debug=1.
 *
 *     heap profile:    1:  3000 [   2:  6000] @ heap_v2/524288     in use: objects, bytes; allocated; how it was sampled
 *          1:     3000 [     2:     6000] @ 0x558850527157 0x7f9bf947113b
 *     heap_v2/524288                                       jemalloc: a stack, its values for all threads, for each
 *     @ 0x558850527157 0x7f9bf947113b
 *       t*: 1: 3000 [0: 0]
 *     --- contention:                                      cycles, times
 *     cycles/second=2399999999
 *     12000 3 @ 0x480d65 0x4d9c3d
 *     goroutine profile: total 5
 *     1 @ 0x480d65 0x4d9c3d
 *     #	0x480d64	time.Sleep+0x164	/usr/local/go/src/runtime/time.go:363    Go's name of an address above, less one
 *     MAPPED_LIBRARIES:                                    lines of /proc/PID/maps
 *
 * All addresses are return addresses. Heaps that were sampled are scaled to what was allocated, as pprof and jeprof do.
 * Sources: gperftools, docs/heapprofile.html; jemalloc, src/prof_data.c; Go, src/runtime/pprof/pprof.go; google/pprof. */
#include "base/hex.h"
#include "base/lines.h"
#include "profile/legacy_read.h"

enum legacy_kind { LEGACY_NONE, LEGACY_HEAP, LEGACY_JEMALLOC, LEGACY_LOCKS, LEGACY_COUNTS };

struct legacy_text {
    struct legacy_places places;
    struct csni_lines lines;
    enum legacy_kind kind;
    struct csn_str what;         /* that is counted: "goroutine" */
    bool has_allocated;          /* heaps: allocations that were freed, too */
    int64_t sampled_every;       /* bytes; up to 1: all were */
    int64_t cycles_per_second, period;
    uint32_t types[4], type_count;
    bool has_stack;              /* jemalloc: it waits for its values */
};

/* ---- words of a line ---- */

/* A decimal number, and the blanks before it. False: there is none, or it has more than 63 bits. */
static bool read_count(struct csn_str *at, int64_t *out) {
    int64_t value = 0;
    csni_skip_blanks(at);
    const bool is_negative = csni_skip_text(at, "-");
    const char *from = at->ptr;
    while (at->len && *at->ptr >= '0' && *at->ptr <= '9') {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at->ptr - '0', &value)) return false;
        *at = (struct csn_str){ at->ptr + 1, at->len - 1 };
    }
    *out = is_negative ? -value : value;
    return at->ptr > from;
}

static bool read_address(struct csn_str *at, uint64_t *out) {
    uint64_t value = 0;
    csni_skip_blanks(at);
    if (!csni_skip_text(at, "0x")) return false;
    const char *from = at->ptr;
    for (unsigned digit; at->len && (digit = csni_hex_digit(*at->ptr)) < 16; *at = (struct csn_str){ at->ptr + 1, at->len - 1 }) {
        if (value >> 60) return false;
        value = value << 4 | digit;
    }
    *out = value;
    return at->ptr > from;
}

/* "1: 3000 [2: 6000]" */
static bool read_heap_values(struct csn_str *at, int64_t out[4]) {
    if (!read_count(at, &out[0]) || !csni_skip_text(at, ":") || !read_count(at, &out[1])) return false;
    csni_skip_blanks(at);
    if (!csni_skip_text(at, "[") || !read_count(at, &out[2]) || !csni_skip_text(at, ":") || !read_count(at, &out[3])) return false;
    csni_skip_blanks(at);
    return csni_skip_text(at, "]");
}

static bool is_remark(struct csn_str line) {
    csni_skip_blanks(&line);
    return !line.len || *line.ptr == '#';
}

static bool begins_maps(struct csn_str line) {
    csni_skip_blanks(&line);
    return csni_skip_text(&line, "MAPPED_LIBRARIES:") || csni_skip_text(&line, "--- Memory map: ---");
}

/* ---- heads ---- */

/* "@ heap_v2/524288": how the heap was sampled. gperftools' "heapprofile" has all allocations; Go writes twice its rate. */
static bool read_sampling(struct csn_str at, int64_t *out) {
    int64_t rate = 0;
    *out = 0;
    csni_skip_blanks(&at);
    if (!csni_skip_text(&at, "@")) return false;
    csni_skip_blanks(&at);
    if (csni_skip_text(&at, "heapprofile") || csni_skip_text(&at, "growth") || csni_skip_text(&at, "fragmentation")) return true;
    const bool is_second = csni_skip_text(&at, "heapz_v2") || csni_skip_text(&at, "heap_v2");
    if (!is_second && !csni_skip_text(&at, "heap")) return false;
    if (csni_skip_text(&at, "/") && !read_count(&at, &rate)) return false;
    *out = is_second ? rate : rate / 2;
    return !at.len;
}

static bool read_heap_head(struct legacy_text *t, struct csn_str line) {
    int64_t values[4];
    if (!csni_skip_text(&line, "heap profile:") || !read_heap_values(&line, values) ||
        !read_sampling(line, &t->sampled_every))
        return false;
    t->kind = LEGACY_HEAP;
    t->has_allocated = (values[2] && values[2] != values[0]) || (values[3] && values[3] != values[1]);
    return true;
}

static bool read_jemalloc_head(struct legacy_text *t, struct csn_str line) {
    if (!csni_skip_text(&line, "heap_v2/") || !read_count(&line, &t->sampled_every) || line.len) return false;
    t->kind = LEGACY_JEMALLOC;
    return true;
}

static bool read_locks_head(struct legacy_text *t, struct csn_str line) {
    if (!csni_skip_text(&line, "--- contentionz ") && !csni_skip_text(&line, "--- mutex:") &&
        !csni_skip_text(&line, "--- contention:"))
        return false;
    t->kind = LEGACY_LOCKS;
    return true;
}

/* "goroutine profile: total 5" */
static bool read_counts_head(struct legacy_text *t, struct csn_str line) {
    int64_t total;
    t->what = line;
    while (line.len && !csni_is_blank(*line.ptr) && *line.ptr != ';') line = (struct csn_str){ line.ptr + 1, line.len - 1 };
    t->what.len -= line.len;
    if (!t->what.len || !csni_skip_text(&line, " profile: total") || !read_count(&line, &total) || line.len) return false;
    t->kind = LEGACY_COUNTS;
    return true;
}

static bool read_head(struct legacy_text *t) {
    struct csn_str line;
    while (csni_lines_next(&t->lines, &line))
        if (!is_remark(line))
            return read_heap_head(t, line) || read_jemalloc_head(t, line) || read_locks_head(t, line) || read_counts_head(t, line);
    return false;
}

bool csni_legacy_is_text(struct csni_span bytes) {
    struct legacy_text text = { .lines.rest = bytes };
    return read_head(&text);
}

/* ---- types of values ---- */

static csn_status add_types(struct legacy_text *t, const char *const *names, uint32_t count) {
    struct legacy_places *l = &t->places;
    for (uint32_t i = 0; i < count; i++) {
        const struct csn_str name = { names[2 * i], strlen(names[2 * i]) }, unit = { names[2 * i + 1], strlen(names[2 * i + 1]) };
        CSNI_TRY(csn_profile_add_value_type(l->p, name, unit, &t->types[i], l->err));
    }
    t->type_count = count;
    return csni_profile_keep_default_type(l->p, t->types[count - 1], l->err);
}

static csn_status add_kind(struct legacy_text *t) {
    static const char *const all[] = { "alloc_objects", "count", "alloc_space", "bytes",
                                       "inuse_objects", "count", "inuse_space", "bytes" };
    static const char *const heap[] = { "objects", "count", "space", "bytes" };
    static const char *const locks[] = { "contentions", "count", "delay", "nanoseconds" };
    struct legacy_places *l = &t->places;
    switch (t->kind) {
    case LEGACY_HEAP:
    case LEGACY_JEMALLOC:
        CSNI_TRY(csni_legacy_set_period(l, CSN_STR("space"), CSN_STR("bytes"), t->sampled_every > 1 ? t->sampled_every : 1));
        return t->has_allocated ? add_types(t, all, 4) : add_types(t, heap, 2);
    case LEGACY_LOCKS:
        CSNI_TRY(csni_legacy_set_period(l, CSN_STR("contentions"), CSN_STR("count"), t->period));
        return add_types(t, locks, 2);
    case LEGACY_NONE:
    case LEGACY_COUNTS: break;
    }
    CSNI_TRY(csni_legacy_set_period(l, t->what, CSN_STR("count"), 1));
    t->type_count = 1;
    CSNI_TRY(csn_profile_add_value_type(l->p, t->what, CSN_STR("count"), &t->types[0], l->err));
    return csni_profile_keep_default_type(l->p, t->types[0], l->err);
}

/* ---- values ---- */

/* e^-x for x >= 0, without the mathematical library. */
static double exp_of_minus(double x) {
    double sum = 1, term = 1;
    unsigned halvings = 0;
    if (!(x < 700)) return 0;
    while (x > 1.0 / 64) {
        x /= 2;
        halvings++;
    }
    for (int i = 1; i < 12; i++) sum += term *= -x / i;
    while (halvings--) sum *= sum;
    return sum;
}

static int64_t scaled(int64_t value, double factor) {
    const double product = (double)value * factor;
    if (!(product < 9223372036854774784.0)) return INT64_MAX;
    return product > -9223372036854774784.0 ? (int64_t)product : INT64_MIN;
}

/* A byte is sampled with a chance of one in `rate`: an allocation of S bytes is there with 1 - e^(-S/rate). */
static void scale_heap(int64_t rate, int64_t *objects, int64_t *bytes) {
    if (!*objects || !*bytes) {
        *objects = *bytes = 0;
        return;
    }
    const double size = (double)*bytes / (double)*objects;
    if (size < 0) return;
    const double factor = 1 / (1 - exp_of_minus(size / (double)rate));
    *objects = scaled(*objects, factor);
    *bytes = scaled(*bytes, factor);
}

static csn_status fail_line(struct legacy_text *t, const char *need, struct csn_str line) {
    return csni_fail(t->places.err, CSN_E_FORMAT, NULL, 0, "line %llu is '%.*s', need %s", (unsigned long long)t->lines.number,
                     line.len > 80 ? 80 : (int)line.len, line.ptr, need);
}

/* "@ 0x558850527157 0x7f9bf947113b". Nothing returns to 0: Go fills stacks of threads up with it. */
static csn_status push_addresses(struct legacy_text *t, struct csn_str line, struct csn_str at) {
    uint64_t addr;
    csni_skip_blanks(&at);
    if (!csni_skip_text(&at, "@")) return fail_line(t, "@ and addresses after the values", line);
    for (csni_skip_blanks(&at); at.len; csni_skip_blanks(&at)) {
        if (!read_address(&at, &addr)) return fail_line(t, "addresses such as 0x401136 after @", line);
        if (addr) CSNI_TRY(csni_legacy_push(&t->places, addr - 1));
    }
    return CSN_OK;
}

static csn_status add_heap_sample(struct legacy_text *t, int64_t values[4]) {
    int64_t block = 0;
    for (size_t i = 4; i-- > 0; i--) { /* that of what is in use, where there is any */
        if (values[i - 1]) block = values[i] / values[i - 1];
        if (t->sampled_every > 1) scale_heap(t->sampled_every, &values[i - 1], &values[i]);
    }
    const int64_t ordered[4] = { values[2], values[3], values[0], values[1] };
    return csni_legacy_add_sample(&t->places, t->types, t->has_allocated ? ordered : values, t->type_count, block);
}

static csn_status read_heap_line(struct legacy_text *t, struct csn_str line) {
    int64_t values[4];
    struct csn_str at = line;
    if (!read_heap_values(&at, values)) return fail_line(t, "OBJECTS: BYTES [OBJECTS: BYTES] @ and addresses", line);
    CSNI_TRY(push_addresses(t, line, at));
    return add_heap_sample(t, values);
}

/* Only the values of all threads together count. */
static csn_status read_jemalloc_line(struct legacy_text *t, struct csn_str line) {
    int64_t values[4];
    struct csn_str at = line;
    csni_skip_blanks(&at);
    if (at.len && *at.ptr == '@') {
        t->has_stack = true;
        t->places.stack.count = 0;
        return push_addresses(t, line, at);
    }
    if (!csni_skip_text(&at, "t")) return fail_line(t, "a stack or the values of a thread", line);
    if (!t->has_stack || !csni_skip_text(&at, "*:")) return CSN_OK;
    if (!read_heap_values(&at, values)) return fail_line(t, "OBJECTS: BYTES [OBJECTS: BYTES]", line);
    t->has_stack = false;
    return add_heap_sample(t, values);
}

static csn_status read_lock_line(struct legacy_text *t, struct csn_str line) {
    int64_t cycles, times;
    struct csn_str at = line;
    if (!read_count(&at, &cycles) || !read_count(&at, &times)) return fail_line(t, "CYCLES TIMES @ and addresses", line);
    CSNI_TRY(push_addresses(t, line, at));
    int64_t values[2] = { times, cycles };
    if (t->period > 0) {
        if (t->cycles_per_second > 0) values[1] = scaled(cycles, (double)t->period / ((double)t->cycles_per_second / 1e9));
        if (__builtin_mul_overflow(times, t->period, &values[0])) values[0] = INT64_MAX;
    }
    return csni_legacy_add_sample(&t->places, t->types, values, 2, 0);
}

static csn_status read_count_line(struct legacy_text *t, struct csn_str line) {
    int64_t count;
    struct csn_str at = line;
    if (!read_count(&at, &count)) return fail_line(t, "COUNT @ and addresses", line);
    CSNI_TRY(push_addresses(t, line, at));
    return csni_legacy_add_sample(&t->places, t->types, &count, 1, 0);
}

static csn_status read_sample_line(struct legacy_text *t, struct csn_str line) {
    switch (t->kind) {
    case LEGACY_HEAP: return read_heap_line(t, line);
    case LEGACY_JEMALLOC: return read_jemalloc_line(t, line);
    case LEGACY_LOCKS: return read_lock_line(t, line);
    case LEGACY_NONE:
    case LEGACY_COUNTS: break;
    }
    return read_count_line(t, line);
}

/* ---- what is needed before the first sample ---- */

/* "cycles/second=2399999999", "sampling period = 100" */
static bool read_attribute(struct legacy_text *t, struct csn_str line) {
    static const char *const names[] = { "cycles/second", "sampling period", "ms since reset", "discarded samples" };
    int64_t values[4] = { t->cycles_per_second, t->period, 0, 0 };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct csn_str at = line;
        if (!csni_skip_text(&at, names[i])) continue;
        csni_skip_blanks(&at);
        if (!csni_skip_text(&at, "=") || !read_count(&at, &values[i])) return false;
        t->cycles_per_second = values[0];
        t->period = values[1];
        int64_t duration;
        if (__builtin_mul_overflow(values[2], 1000000, &duration)) duration = INT64_MAX;
        csni_profile_add_value(&t->places.p->duration_ns, duration);
        return true;
    }
    return false;
}

/* "#	0x480d64	time.Sleep+0x164	/usr/local/go/src/runtime/time.go:363" */
static bool read_name(struct csn_str at, struct legacy_name *out) {
    int64_t line = 0;
    if (!csni_skip_text(&at, "#\t") || !read_address(&at, &out->addr) || !csni_skip_text(&at, "\t")) return false;
    const char *tab = memchr(at.ptr, '\t', at.len);
    if (!tab) return false;
    out->function = (struct csn_str){ at.ptr, (size_t)(tab - at.ptr) };
    for (size_t i = out->function.len; i-- > 1;)
        if (out->function.ptr[i] == '+' && i + 2 < out->function.len && memcmp(out->function.ptr + i, "+0x", 3) == 0) {
            out->function.len = i;
            break;
        }
    while (out->function.len && csni_is_blank(out->function.ptr[out->function.len - 1])) out->function.len--;
    at = (struct csn_str){ tab + 1, at.len - (size_t)(tab + 1 - at.ptr) };
    csni_skip_blanks(&at);
    out->file = at;
    for (size_t i = at.len; i-- > 0 && !out->line;) {
        struct csn_str number = { at.ptr + i + 1, at.len - i - 1 };
        if (at.ptr[i] != ':' || !read_count(&number, &line) || number.len || line < 0 || line > UINT32_MAX) continue;
        out->file.len = i;
        out->line = (uint32_t)line;
        break;
    }
    return out->function.len;
}

/* Names follow the stack that they belong to, and several of one address are calls inlined into each other. */
static csn_status gather_names(struct legacy_text *t, struct csni_lines lines) {
    struct csn_str line;
    uint64_t open_addr = 0;
    bool is_open = false;
    while (csni_lines_next(&lines, &line)) {
        struct legacy_name name = { .addr = 0 };
        if (begins_maps(line)) break;
        if (!read_name(line, &name)) {
            is_open = false;
            continue;
        }
        const bool is_more = is_open && name.addr == open_addr;
        if (!is_more && csni_legacy_has_name(&t->places, name.addr)) {
            is_open = false;
            continue;
        }
        CSNI_TRY(csni_legacy_add_name(&t->places, &name, is_more));
        is_open = true;
        open_addr = name.addr;
    }
    return CSN_OK;
}

static struct csni_span find_maps(struct csni_lines lines) {
    struct csn_str line;
    while (csni_lines_next(&lines, &line))
        if (begins_maps(line)) return lines.rest;
    return (struct csni_span){ NULL, 0 };
}

/* ---- all ---- */

/* The first line of jemalloc's is of all stacks. */
static bool has_allocated(struct csni_lines lines) {
    struct csn_str line;
    int64_t values[4];
    if (!csni_lines_next(&lines, &line)) return false;
    csni_skip_blanks(&line);
    return csni_skip_text(&line, "t*:") && read_heap_values(&line, values) && (values[2] || values[3]);
}

static csn_status read_attributes(struct legacy_text *t) {
    struct csn_str line;
    struct csni_lines before = t->lines;
    while (t->kind == LEGACY_LOCKS && csni_lines_next(&t->lines, &line)) {
        if (!is_remark(line) && !read_attribute(t, line)) break;
        before = t->lines;
    }
    t->lines = before;
    if (t->kind == LEGACY_JEMALLOC) t->has_allocated = has_allocated(t->lines);
    return add_kind(t);
}

static csn_status read_samples(struct legacy_text *t) {
    struct csn_str line;
    CSNI_TRY(gather_names(t, t->lines));
    CSNI_TRY(read_attributes(t));
    while (csni_lines_next(&t->lines, &line)) {
        if (begins_maps(line) || (t->kind != LEGACY_HEAP && csni_skip_text(&line, "---"))) break;
        if (!is_remark(line)) CSNI_TRY(read_sample_line(t, line));
    }
    return CSN_OK;
}

csn_status csni_legacy_text_read(struct csn_profile *p, struct csni_span bytes, struct csn_error *err) {
    struct legacy_text text = { .lines.rest = bytes, .period = 1 };
    if (!read_head(&text))
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "line %llu is not the head of a heap, lock or count profile",
                         (unsigned long long)text.lines.number);
    csn_status status = csni_legacy_places_init(&text.places, p, find_maps(text.lines), err);
    if (status >= 0) status = read_samples(&text);
    csni_legacy_places_deinit(&text.places);
    return status;
}

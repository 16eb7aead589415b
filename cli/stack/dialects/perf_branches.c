/* A symbol may have blanks and slashes in it: a branch is found by its flags, and cut at the slash that leaves two whole sides. */
#include "stack/dialects/perf_branches.h"

#include "stack/lines/line_scan.h"

enum { BRANCH_MAX = 4096, CUTS_MAX = 64 }; /* bytes of one branch; slashes tried in it */

static char byte_at(struct csn_str line, size_t at) { return at < line.len ? line.ptr[at] : 0; }
static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }

/* "/P/-/-/3": mispredicted or not (with "N" if not taken), in a transaction, aborted, cycles. */
static bool is_flags(struct csn_str line, size_t at) {
    size_t p = at + 1;
    if (byte_at(line, at) != '/') return false;
    while (is_one_of(byte_at(line, p), "PMN-") && p < at + 4) p++;
    return p > at + 1 && byte_at(line, p) == '/' && is_one_of(byte_at(line, p + 1), "X-") && byte_at(line, p + 2) == '/'
           && is_one_of(byte_at(line, p + 3), "A-") && byte_at(line, p + 4) == '/' && is_one_of(byte_at(line, p + 5), "0123456789");
}

static bool find_flags(struct csn_str line, size_t from, size_t *out) {
    for (size_t at = from; at < line.len; at++) {
        const char *slash = memchr(line.ptr + at, '/', line.len - at);
        if (!slash) return false;
        at = (size_t)(slash - line.ptr);
        if (!is_flags(line, at)) continue;
        *out = at;
        return true;
    }
    return false;
}

/* ---- sides ---- */

/* "0x1139", "area+0x19" or "[unknown]", all of [at, end). */
static bool read_place(struct csn_str line, size_t at, size_t end, struct perf_branch_side *out) {
    struct line_scan s = { { line.ptr, end }, at };
    size_t plus;
    *out = (struct perf_branch_side){ .at = at, .place_end = end };
    if (scan_text(&s, "[unknown]") && scan_at_end(&s)) return out->is_unknown = true;
    s.at = at;
    if (scan_hex(&s, &out->value)) return scan_at_end(&s);
    if (!scan_find_last(&s, '+', &plus) || plus == at) return false;
    s.at = plus + 1;
    out->symbol = (struct csn_str){ line.ptr + at, plus - at };
    return scan_hex(&s, &out->value) && scan_at_end(&s);
}

/* The same with "(/path/app)", all of [at, end). */
static bool read_side(struct csn_str line, size_t at, size_t end, struct perf_branch_side *out) {
    static const char unknown[] = "[unknown]";
    if (at >= end) return false;
    bool found = read_place(line, at, end, out);
    for (size_t open = at; !found && line.ptr[end - 1] == ')' && open < end; open++) {
        if (line.ptr[open] != '(' || !read_place(line, at, open, out)) continue;
        out->module = (struct csn_str){ line.ptr + open + 1, end - open - 2 };
        found = true;
    }
    if (out->module.len == sizeof(unknown) - 1 && memcmp(out->module.ptr, unknown, sizeof(unknown) - 1) == 0) out->module.len = 0;
    out->end = end;
    return found;
}

static bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_one_of(c, "_[<"); }

/* Where the side that ends at `end` begins, after the head of the sample: an address after a blank, or a symbol
 * after ": ", blanks, or the bracket of the sample's image, which perf 6.1 writes no blank after. */
static size_t side_start(struct csn_str line, size_t from, size_t end) {
    size_t start = from;
    for (size_t at = from; at < end; at++) {
        if (line.ptr[at] == '\t' || (line.ptr[at] == ')' && at + 1 < end && begins_name(line.ptr[at + 1]))) start = at + 1;
        if (line.ptr[at] != ' ') continue;
        bool is_last = at + 1 < end && line.ptr[at + 1] != ' ';
        bool ends_head = at == from || is_one_of(line.ptr[at - 1], ": \t");
        bool before_address = at + 3 < end && memcmp(line.ptr + at + 1, "0x", 2) == 0;
        if (is_last && (ends_head || before_address)) start = at + 1;
    }
    return start;
}

/* The two sides of the branch whose flags are at `flags`. `is_first`: the head of the sample may stand before it. */
static bool cut_branch(struct csn_str line, size_t from, size_t flags, bool is_first, struct perf_branch_side *source,
                       struct perf_branch_side *target) {
    size_t low = flags - from > BRANCH_MAX ? flags - BRANCH_MAX : from;
    unsigned cuts = 0;
    for (size_t at = flags; at > low && cuts < CUTS_MAX; at--) {
        if (line.ptr[at - 1] != '/' || at == flags) continue;
        cuts++;
        if (!read_side(line, at, flags, target)) continue;
        if (read_side(line, is_first ? side_start(line, low, at - 1) : from, at - 1, source)) return true;
    }
    return false;
}

bool perf_branches_begin(struct csn_str line, size_t *out) {
    struct perf_branch_side source, target;
    size_t flags;
    if (!find_flags(line, 0, &flags) || !cut_branch(line, 0, flags, true, &source, &target)) return false;
    *out = source.at;
    return true;
}

bool perf_branches_next(struct csn_str line, size_t from, struct perf_branch_side *out) {
    struct perf_branch_side source, target;
    size_t flags, at = from;
    if (!is_flags(line, at) && byte_at(line, at) == '/') /* between the sides */
        return find_flags(line, at + 1, &flags) && read_side(line, at + 1, flags, out);
    if (is_flags(line, at))
        while (at < line.len && line.ptr[at] != ' ' && line.ptr[at] != '\t') at++;
    while (is_one_of(byte_at(line, at), " \t")) at++;
    if (!find_flags(line, at, &flags) || flags - at > BRANCH_MAX ||
        !cut_branch(line, at, flags, false, &source, &target))
        return false;
    *out = source;
    return true;
}

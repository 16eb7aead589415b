/* Records of one start: Go's function table and the symbol table tell different sizes of one function. Lookups would
 * answer with the shorter one first. Beside a function of debug information a symbol stays: it names what is behind
 * that one's end. */
#include "model/model_key.h"

/* Known by a table of functions only: lines that a symbol has are those of its range, and of all that is known better there. */
static bool is_plain(const struct csni_function *f) {
    return f->source == CSNI_SOURCE_SYMBOL || (f->source == CSNI_SOURCE_GO && !csni_function_is_rich(f));
}

static uint64_t end_of(const struct csni_function *f) { return f->start + f->size; }

/* The one to keep of keys [0, count) if all are plain: the longest symbol that does not reach into the next function, else the
 * shortest. */
static size_t best_plain(const struct csni_model *m, const struct csni_key *keys, size_t count, uint64_t next) {
    for (size_t i = count; i; i--) {
        const struct csni_function *f = csni_key_function(m, &keys[i - 1]);
        if (f->source == CSNI_SOURCE_SYMBOL && end_of(f) <= next) return i - 1;
    }
    return 0;
}

/* Leaves one of keys [0, count), which have one start and each a size, if tables of functions have them all; gives
 * how many are left. */
static size_t join_start(const struct csni_model *m, struct csni_key *keys, size_t count, uint64_t next,
                         struct csn_convert_report *report) {
    for (size_t i = 0; i < count; i++)
        if (!is_plain(csni_key_function(m, &keys[i]))) return count;
    size_t best = best_plain(m, keys, count, next);
    struct csni_key kept = keys[best];
    struct csni_function *f = &m->batches[kept.batch].functions[kept.function];
    uint64_t end = end_of(f);
    for (size_t i = 0; i < count; i++) {
        const struct csni_function *other = csni_key_function(m, &keys[i]);
        if (i == best) continue;
        csni_model_note_pair(m, report, CSN_EVENT_DUPLICATE_DROPPED, &keys[i], &kept);
        if (end_of(other) > end && end_of(other) <= next) end = end_of(other);
    }
    f->size = (uint32_t)(end - f->start);
    keys[0] = kept;
    return 1;
}

size_t csni_model_join_starts(const struct csni_model *m, struct csni_key *keys, size_t count, struct csn_convert_report *report) {
    size_t kept = 0;
    for (size_t i = 0, group; i < count; i += group) {
        bool sized = csni_key_function(m, &keys[i])->size > 0; /* those without a size come first */
        for (group = 1; i + group < count && keys[i + group].start == keys[i].start;) group++;
        size_t left = group;
        if (group > 1 && sized) {
            uint64_t next = i + group < count ? keys[i + group].start : UINT64_MAX;
            left = join_start(m, keys + i, group, next, report);
        }
        if (kept != i) memmove(keys + kept, keys + i, left * sizeof *keys);
        kept += left;
    }
    return kept;
}

/* Which word was meant: the one with the fewest letters inserted, left out, replaced or swapped. */
#include <string.h>

#include "ui/option_table.h"

enum { WORD_MAX = 32 };

/* Damerau's distance, of words of WORD_MAX letters at most. */
static unsigned edit_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    unsigned rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t k = 0; k <= b_size; k++) last[k] = (unsigned)k;
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b_size; k++) {
            unsigned best = last[k - 1] + (a[i - 1] != b[k - 1]);
            if (last[k] + 1 < best) best = last[k] + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before[k - 2] + 1 < best)
                best = before[k - 2] + 1;
            row[k] = best;
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_size];
}

/* One mistake in three letters is a slip; more is another word. */
void near_word_try(struct near_word *word, const char *candidate) {
    size_t size = strlen(candidate), longest = size > word->size ? size : word->size;
    if (!word->size || longest > WORD_MAX) return;
    unsigned distance = edit_distance(word->given, word->size, candidate, size);
    /* What was begun and not finished. */
    if (word->size >= 3 && size > word->size && memcmp(candidate, word->given, word->size) == 0) distance = 1;
    if (distance * 3 > longest || (word->best && distance >= word->distance)) return;
    word->best = candidate;
    word->distance = distance;
}

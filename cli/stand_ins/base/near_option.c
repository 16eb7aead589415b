/* Words that are one letter away. */
#include "stand_ins/base/near_option.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

static bool is_near(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), same = 0;
    while (same < n && same < m && a[same] == b[same]) same++;
    const char *x = a + same, *y = b + same;
    size_t rest = n - same, other = m - same;
    if (rest == other) return rest && strcmp(x + 1, y + 1) == 0;
    if (rest + 1 == other) return strcmp(x, y + 1) == 0;
    return rest == other + 1 && strcmp(x + 1, y) == 0;
}

enum { MIN_NAME = 4 }; /* short names are near to too much */

char *near_option(const char *word, const char *spelling, bool takes_value) {
    const char *equals = strchr(word, '='), *value = equals ? equals + 1 : "";
    if (strlen(word) < 3 || strlen(spelling + strspn(spelling, "-")) < MIN_NAME || (takes_value && !*value)) return NULL;
    char *near = formatted_text("%s%s", spelling, takes_value ? value : "");
    if (is_near(word, near)) return near;
    free(near);
    return NULL;
}

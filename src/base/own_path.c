/* Components of a path, without asking the file system. */
#include "base/own_path.h"

#include "base/core/span.h"

/* The next component but "."; empty: there is none. */
static struct csn_str next_component(struct csn_str path, size_t *at) {
    for (;;) {
        while (*at < path.len && path.ptr[*at] == '/') ++*at;
        const size_t begin = *at;
        while (*at < path.len && path.ptr[*at] != '/') ++*at;
        const struct csn_str part = { path.ptr + begin, *at - begin };
        if (part.len != 1 || part.ptr[0] != '.') return part;
    }
}

static bool is_one_of(struct csn_str part, const char *const *names) {
    for (; *names; names++)
        if (csni_str_is(part, *names)) return true;
    return false;
}

bool csni_is_own_path(struct csn_str path) {
    static const char *const up[] = { "..", NULL }, *const proc[] = { "proc", NULL }, *const dev[] = { "dev", NULL };
    static const char *const of_proc[] = { "self", "thread-self", NULL };
    static const char *const of_dev[] = { "fd", "stdin", "stdout", "stderr", NULL };
    struct csn_str first = { "", 0 }, second = { "", 0 }, part;
    size_t depth = 0, at = 0;
    if (!path.len || path.ptr[0] != '/') return false;
    for (part = next_component(path, &at); part.len; part = next_component(path, &at)) {
        if (is_one_of(part, up)) {
            depth -= depth > 0;
            continue;
        }
        if (depth == 0) first = part;
        if (depth == 1) second = part;
        if (++depth < 2) continue;
        if (is_one_of(first, proc) && is_one_of(second, of_proc)) return true;
        if (is_one_of(first, dev) && is_one_of(second, of_dev)) return true;
    }
    return false;
}

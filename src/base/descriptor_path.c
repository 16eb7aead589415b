#include "base/descriptor_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int csni_descriptor_of_path(const char *path) {
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0) return 1;
    if (strcmp(path, "/dev/stderr") == 0) return 2;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t len = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], len) != 0 || path[len] < '0' || path[len] > '9') continue;
        const unsigned long number = strtoul(path + len, &end, 10);
        return !*end && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

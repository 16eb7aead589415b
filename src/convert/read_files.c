/* Files that a conversion reads. */
#include "convert/read_files.h"

#include <sys/stat.h>

#include "base/core/fail.h"

/* False: there is none, or the system does not number its files. */
static bool node_at(const char *path, struct csni_read_file *out) {
    struct stat st;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    *out = (struct csni_read_file){ (uint64_t)st.st_dev, (uint64_t)st.st_ino };
    return out->number != 0;
}

csn_status csni_note_read_file(struct csni_conversion *c, const char *path, struct csn_error *err) {
    struct csni_read_file node;
    if (!node_at(path, &node) || csni_vec_push(&c->read_files, node)) return CSN_OK;
    return csni_fail_memory(err, sizeof node);
}

csn_status csni_check_not_read(const struct csni_conversion *c, const char *path, struct csn_error *err) {
    struct csni_read_file node;
    if (!node_at(path, &node)) return CSN_OK;
    for (size_t i = 0; i < c->read_files.count; i++)
        if (c->read_files.items[i].device == node.device && c->read_files.items[i].number == node.number)
            return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the output %s is a file that the conversion reads, and would replace",
                             path);
    return CSN_OK;
}

/* Files of one unit: from DWARF file numbers to directories and names of the batch. */
#include "convert/dwarf/unit_files.h"

#include "base/core/fail.h"

/* Room for a path put together from parts, in the batch's arena. */
struct path {
    char *text;
    size_t len;
};

static csn_status path_begin(struct csni_unit_job *job, struct path *path, size_t capacity) {
    CSNI_TRY(csni_unit_charge(job, capacity));
    path->text = csni_arena_alloc(job->arena, capacity);
    path->len = 0;
    return path->text ? CSN_OK : CSN_E_MEMORY;
}

static void path_append(struct path *path, struct csn_str part) {
    if (!part.len) return;
    if (path->len && path->text[path->len - 1] != '/') path->text[path->len++] = '/';
    if (path->len)
        while (part.len && part.ptr[0] == '/') part.ptr++, part.len--;
    memcpy(path->text + path->len, part.ptr, part.len);
    path->len += part.len;
}

static size_t without_trailing_slashes(const char *text, size_t len) {
    while (len > 1 && text[len - 1] == '/') len--;
    return len;
}

/* What relative directories count from. A table that no unit names tells it itself, from version 5 on. */
static struct csn_str compilation_directory(const struct csni_unit_job *job) {
    bool tells = !job->line_unit->comp_dir.len && job->lines.version >= 5 && job->lines.directories.count;
    return tells ? job->lines.directories.items[0] : job->line_unit->comp_dir;
}

/* The batch string for `directory` with the compilation directory in front where it belongs there. */
static csn_status directory_string(struct csni_unit_job *job, struct csn_str directory, bool relative, uint64_t index,
                                   uint32_t *out) {
    uint32_t *cached = index < job->directories.count ? &job->directories.items[index] : NULL;
    if (cached && *cached) {
        *out = *cached - 1;
        return CSN_OK;
    }
    struct path path;
    struct csn_str from = compilation_directory(job);
    CSNI_TRY(path_begin(job, &path, from.len + directory.len + 2));
    if (relative) path_append(&path, from);
    path_append(&path, directory);
    path.len = without_trailing_slashes(path.text, path.len);
    *out = csni_batch_add_string(job->writer, (struct csn_str){ path.text, path.len });
    if (cached) *cached = *out + 1;
    return CSN_OK;
}

/* A name that has a directory of its own: the whole path is put together, then cut at its last separator. */
static csn_status add_long_name(struct csni_unit_job *job, struct csn_str directory, bool relative, struct csn_str name,
                                uint32_t *out) {
    struct path path;
    struct csn_str from = compilation_directory(job);
    CSNI_TRY(path_begin(job, &path, from.len + directory.len + name.len + 3));
    if (relative) path_append(&path, from);
    path_append(&path, directory);
    path_append(&path, name);
    size_t cut = path.len;
    while (cut && path.text[cut - 1] != '/') cut--;
    struct csn_str base = { path.text + cut, path.len - cut };
    uint32_t base_string = csni_batch_add_string(job->writer, base);
    struct csn_str front = { path.text, without_trailing_slashes(path.text, cut) };
    *out = csni_batch_add_file(job->writer, csni_batch_add_string(job->writer, front), base_string);
    return CSN_OK;
}

static csn_status add_unit_file(struct csni_unit_job *job, uint32_t dwarf_file, uint32_t *out) {
    struct csn_str directory, name;
    bool relative;
    if (job->writer->files.count >= CSNI_BATCH_FILES_MAX) return CSN_NONE;
    if (!csni_line_table_file(&job->lines, dwarf_file, &directory, &name, &relative)) return CSN_NONE;
    /* No directory at all: an absolute name as Windows has it, which must not share what is kept for its directory number. */
    bool alone = !relative && !directory.len;
    if (alone || (name.len && memchr(name.ptr, '/', name.len))) return add_long_name(job, directory, relative, name, out);
    uint32_t place = job->lines.version >= 5 ? dwarf_file : dwarf_file - 1, directory_number;
    CSNI_TRY(directory_string(job, directory, relative, job->lines.files.items[place].directory, &directory_number));
    CSNI_TRY(csni_unit_charge(job, name.len));
    const char *copy = csni_arena_copy(job->arena, name.ptr, name.len);
    if (!copy) return CSN_E_MEMORY;
    uint32_t base = csni_batch_add_string(job->writer, (struct csn_str){ copy, name.len });
    *out = csni_batch_add_file(job->writer, directory_number, base);
    return CSN_OK;
}

csn_status csni_unit_find_file(struct csni_unit_job *job, uint64_t dwarf_file, uint32_t *out) {
    if (dwarf_file >= job->file_numbers.count) return CSN_NONE;
    bool again = dwarf_file == 0 && csni_line_table_repeats_first(&job->lines);
    csn_status status = again ? csni_unit_file(job, 1, out) : add_unit_file(job, (uint32_t)dwarf_file, out);
    if (status == CSN_OK) job->file_numbers.items[dwarf_file] = *out + 1;
    return status;
}

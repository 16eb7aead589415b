/* Line tables of DWARF 2 to 5: their life, and the names of their files. */
#include "dwarf/dwarf_line.h"

void csni_line_table_init(struct csni_line_table *table, const struct csn_allocator *alloc) {
    *table = (struct csni_line_table){ 0 };
    alloc = csni_allocator_or_default(alloc);
    table->directories.alloc = table->files.alloc = table->rows.alloc = table->sequences.alloc = alloc;
}

void csni_line_table_deinit(struct csni_line_table *table) {
    csni_vec_deinit(&table->directories);
    csni_vec_deinit(&table->files);
    csni_vec_deinit(&table->rows);
    csni_vec_deinit(&table->sequences);
}

static bool is_absolute(struct csn_str path) {
    if (path.len && path.ptr[0] == '/') return true;
    if (path.len > 2 && path.ptr[0] == '\\' && path.ptr[1] == '\\') return true;
    return path.len > 2 && path.ptr[1] == ':' && (path.ptr[2] == '\\' || path.ptr[2] == '/');
}

struct csn_str csni_line_file_name(const struct csni_line_table *table, size_t index) {
    struct csn_str name = table->files.items[index].name;
    if (name.ptr) return name;
    uint64_t off = name.len;
    return csni_string_at(table->line_str, ".debug_line_str", off, &name, NULL) == CSN_OK ? name : (struct csn_str){ "", 0 };
}

bool csni_line_table_repeats_first(const struct csni_line_table *table) {
    const struct csni_line_file *f = table->files.items;
    return table->version >= 5 && table->files.count > 1 && f[0].directory == f[1].directory &&
           csni_str_equal(csni_line_file_name(table, 0), csni_line_file_name(table, 1));
}

bool csni_line_table_file(const struct csni_line_table *table, uint32_t file, struct csn_str *directory,
                          struct csn_str *name, bool *relative_to_comp_dir) {
    bool five = table->version >= 5;
    if (!five && !file) return false;
    uint64_t i = five ? file : (uint64_t)file - 1;
    if (i >= table->files.count) return false;
    const struct csni_line_file *f = &table->files.items[i];
    *name = csni_line_file_name(table, (size_t)i);
    *directory = (struct csn_str){ "", 0 };
    *relative_to_comp_dir = false;
    if (is_absolute(*name)) return true;
    uint64_t d = five ? f->directory : f->directory - 1;
    if (d < table->directories.count) *directory = table->directories.items[d];
    *relative_to_comp_dir = (!five || f->directory != 0) && !is_absolute(*directory);
    return true;
}

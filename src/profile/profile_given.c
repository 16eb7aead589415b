/* First lines and columns, found again by function. */
#include "profile/profile_given.h"

#include <string.h>

#include "base/hash.h"

static uint32_t stored_name(const struct profile_function *function) {
    return function->system_name ? function->system_name : function->name;
}

static struct csn_str file_name(const struct csn_profile *p, uint32_t file) {
    return csni_profile_base_name(csni_profile_str(p, file));
}

static bool function_equals(const void *context, uint32_t number, const void *key) {
    const struct profile_given *given = context;
    const struct given_function *a = &given->functions.items[number], *b = key;
    return a->name == b->name && csni_str_equal(file_name(given->p, a->file), file_name(given->p, b->file));
}

static bool find_function(const struct profile_given *given, uint32_t name, uint32_t file, uint64_t *hash, uint32_t *out) {
    const struct given_function key = { name, file, 0 };
    const struct csn_str base = file_name(given->p, file);
    *hash = csni_hash_u64(name) ^ csni_hash_bytes(base.ptr, base.len);
    return csni_profile_table_find(&given->table, *hash, function_equals, given, &key, out);
}

static bool add_function(struct profile_given *given, uint32_t name, const struct profile_function *function) {
    const struct given_function made = { name, function->file, function->start_line };
    uint64_t hash;
    uint32_t number;
    if (!find_function(given, name, function->file, &hash, &number))
        return csni_vec_push(&given->functions, made)
               && csni_profile_table_add(&given->table, hash, (uint32_t)given->functions.count - 1);
    struct given_function *found = &given->functions.items[number];
    if (found->start_line != function->start_line) found->start_line = 0;
    return true;
}

csn_status csni_profile_given_init(struct profile_given *given, const struct csn_profile *p, struct csn_error *err) {
    given->p = p;
    given->functions.alloc = given->table.alloc = p->alloc;
    given->location_count = p->locations.count;
    given->lines = csni_alloc(p->alloc, (given->location_count + 1) * sizeof *given->lines);
    if (!given->lines) return csni_fail_memory(err, given->location_count * sizeof *given->lines);
    for (size_t i = 0; i < given->location_count; i++)
        given->lines[i] = (struct given_lines){ p->locations.items[i].first_line, p->locations.items[i].line_count };
    for (size_t i = 0; i < p->functions.count; i++) {
        const struct profile_function *function = &p->functions.items[i];
        const uint32_t stored = stored_name(function);
        if (!function->start_line) continue;
        if (!add_function(given, stored, function) || (stored != function->name && !add_function(given, function->name, function)))
            return csni_fail_memory(err, given->functions.count * sizeof *given->functions.items);
    }
    return CSN_OK;
}

void csni_profile_given_deinit(struct profile_given *given) {
    if (!given->p) return;
    csni_free(given->p->alloc, given->lines, (given->location_count + 1) * sizeof *given->lines);
    csni_vec_deinit(&given->functions);
    csni_profile_table_deinit(&given->table);
}

static bool is_same_function(const struct profile_function *a, const struct profile_function *b) {
    return stored_name(a) == stored_name(b) || a->name == b->name;
}

/* The next line of a location that is of the function; NULL: there is none. */
static const struct profile_line *next_line(const struct profile_given *given, uint32_t location, uint32_t *at,
                                            const struct profile_function *function) {
    while (*at < given->lines[location].count) {
        const struct profile_line *line = &given->p->lines.items[given->lines[location].first + (*at)++];
        if (is_same_function(&given->p->functions.items[line->function], function)) return line;
    }
    return NULL;
}

bool csni_profile_given_line(const struct profile_given *given, uint32_t location, const struct profile_function *function) {
    uint32_t at = given->lines[location].count;
    if (!at--) return false;
    const struct profile_line *outermost = next_line(given, location, &at, function);
    return outermost && outermost->line;
}

static uint32_t start_of(const struct profile_given *given, uint32_t name, uint32_t file) {
    uint64_t hash;
    uint32_t number;
    return find_function(given, name, file, &hash, &number) ? given->functions.items[number].start_line : 0;
}

/* Of the location itself, whatever its file is called; else of any with the stored name, or the shown one, and the file. */
uint32_t csni_profile_given_start(const struct profile_given *given, uint32_t location, const struct profile_function *function) {
    const uint32_t names[] = { stored_name(function), function->name };
    uint32_t at = 0, start = 0;
    if (!given->functions.count) return 0;
    for (const struct profile_line *line; !start && (line = next_line(given, location, &at, function));)
        start = given->p->functions.items[line->function].start_line;
    for (int i = 0; i < 2 && !start; i++) {
        start = start_of(given, names[i], function->file);
        if (!start && function->file) start = start_of(given, names[i], 0);
    }
    return start;
}

uint32_t csni_profile_given_column(const struct profile_given *given, uint32_t location, const struct profile_function *function,
                                   uint32_t line) {
    uint32_t at = 0;
    for (const struct profile_line *own; line && (own = next_line(given, location, &at, function));)
        if (own->column && own->line == line) return own->column;
    return 0;
}

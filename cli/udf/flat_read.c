/* Flatbuffers: tables with a vtable each, vectors and strings, all by offsets. */
#include "udf/flat_read.h"

bool flat_number(struct csn_str bytes, size_t at, size_t size, uint64_t *out) {
    if (at > bytes.len || size > bytes.len - at) return false;
    *out = 0;
    for (size_t i = 0; i < size; i++) *out |= (uint64_t)(uint8_t)bytes.ptr[at + i] << 8 * i;
    return true;
}

/* Where the 32-bit offset at `at` points to; 0: nowhere. */
static size_t follow(struct csn_str bytes, size_t at) {
    uint64_t offset;
    if (!flat_number(bytes, at, 4, &offset) || !offset || offset > bytes.len - at) return 0;
    return at + (size_t)offset;
}

struct flat_table flat_root(struct csn_str bytes) { return (struct flat_table){ bytes, follow(bytes, 0) }; }

/* The position of a field; 0: the table does not have it. */
static size_t find_field(struct flat_table table, unsigned id) {
    uint64_t back, vtable_size, offset;
    if (!table.at || !flat_number(table.bytes, table.at, 4, &back)) return 0;
    int64_t vtable = (int64_t)table.at - (int32_t)(uint32_t)back;
    if (vtable < 0 || !flat_number(table.bytes, (size_t)vtable, 2, &vtable_size)) return 0;
    size_t entry = 4 + 2 * (size_t)id;
    if (entry + 2 > vtable_size || !flat_number(table.bytes, (size_t)vtable + entry, 2, &offset) || !offset) return 0;
    return table.at + (size_t)offset;
}

int64_t flat_field(struct flat_table table, unsigned id, size_t size, int64_t absent) {
    uint64_t value;
    size_t at = find_field(table, id);
    if (!at || !flat_number(table.bytes, at, size, &value)) return absent;
    unsigned unused = (unsigned)(64 - 8 * size);
    return (int64_t)(value << unused) >> unused;
}

struct flat_table flat_field_table(struct flat_table table, unsigned id) {
    size_t at = find_field(table, id);
    return (struct flat_table){ table.bytes, at ? follow(table.bytes, at) : 0 };
}

struct flat_vector flat_field_vector(struct flat_table table, unsigned id, size_t element_size) {
    struct flat_vector none = { .bytes = table.bytes };
    struct flat_table found = flat_field_table(table, id);
    uint64_t count;
    if (!found.at || !flat_number(found.bytes, found.at, 4, &count)) return none;
    if (count > (found.bytes.len - found.at - 4) / element_size) return none;
    return (struct flat_vector){ found.bytes, found.at + 4, (size_t)count };
}

struct csn_str flat_field_string(struct flat_table table, unsigned id) {
    struct flat_vector text = flat_field_vector(table, id, 1);
    return (struct csn_str){ text.bytes.ptr + text.at, text.count };
}

struct flat_table flat_vector_table(struct flat_vector vector, size_t i) {
    return (struct flat_table){ vector.bytes, follow(vector.bytes, vector.at + 4 * i) };
}

int64_t flat_vector_i64(struct flat_vector vector, size_t i, size_t element_size, size_t within) {
    uint64_t value = 0;
    flat_number(vector.bytes, vector.at + i * element_size + within, 8, &value);
    return (int64_t)value;
}

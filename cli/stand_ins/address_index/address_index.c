/* Reading address indexes. */
#include "stand_ins/address_index/address_index.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

struct address_index {
    struct kept_bytes bytes;
    char *memory;            /* owned, where the bytes are not mapped */
    const struct address_index_header *header;
    const uint64_t *sums;
    const char *tables;
    unsigned char *is_checked; /* by block */
    const void *keys[ADDRESS_ROW_KEYS]; /* of the sorted tables, once they are checked; NULL: not yet */
    bool is_damaged;
};

/* ---- opening ---- */

static uint64_t count_blocks(uint64_t size) { return size / ADDRESS_INDEX_BLOCK + (size % ADDRESS_INDEX_BLOCK != 0); }

static bool tables_fit(const struct address_index_header *h) {
    for (int i = 0; i < ADDRESS_TABLE_COUNT; i++) {
        const uint64_t offset = h->tables[i].offset;
        if (offset % 8 || offset > h->tables_size ||
            h->tables[i].count > (h->tables_size - offset) / address_element_sizes[i])
            return false;
        if (h->tables[i].count >= ADDRESS_UNKNOWN) return false;
    }
    for (int i = ADDRESS_ROWS; i <= ADDRESS_SYMBOLS; i++)
        if (h->tables[i + 3].count != h->tables[i].count / ADDRESS_INDEX_STEP + (h->tables[i].count % ADDRESS_INDEX_STEP != 0))
            return false;
    return true;
}

static bool check_header(struct address_index *ix) {
    const struct address_index_header *h = (const struct address_index_header *)(const void *)ix->bytes.ptr;
    if (ix->bytes.size < sizeof *h || memcmp(h->magic, ADDRESS_INDEX_MAGIC, sizeof h->magic) != 0) return false;
    const uint64_t left = ix->bytes.size - sizeof *h;
    if (h->tables_size > left) return false;
    const uint64_t blocks = count_blocks(h->tables_size);
    if (left - h->tables_size != blocks * sizeof *ix->sums || !tables_fit(h)) return false;
    ix->header = h;
    ix->sums = (const uint64_t *)(const void *)(h + 1);
    ix->tables = (const char *)(ix->sums + blocks);
    const uint64_t sum = address_block_sum(h, offsetof(struct address_index_header, sum)) ^
                         address_block_sum(ix->sums, (size_t)blocks * sizeof *ix->sums);
    if (sum != h->sum) return false;
    ix->is_checked = zeroed_memory((size_t)blocks, 1);
    return true;
}

static struct address_index *open_bytes(struct kept_bytes bytes, char *memory) {
    struct address_index *ix = zeroed_memory(1, sizeof *ix);
    ix->bytes = bytes;
    ix->memory = memory;
    if (bytes.ptr && check_header(ix)) return ix;
    address_index_close(ix);
    return NULL;
}

struct address_index *address_index_open(const char *path, const struct file_identity *object) {
    struct address_index *ix = open_bytes(kept_file_map(path), NULL);
    if (!ix || kept_subject_is_current(&ix->header->subject, object)) return ix;
    address_index_close(ix);
    return NULL;
}

struct address_index *address_index_adopt(char *bytes, size_t size) {
    return open_bytes((struct kept_bytes){ bytes, size }, bytes);
}

void address_index_close(struct address_index *ix) {
    if (!ix) return;
    if (ix->memory) free(ix->memory);
    else kept_file_unmap(ix->bytes);
    free(ix->is_checked);
    free(ix);
}

bool address_index_is_damaged(const struct address_index *ix) { return ix->is_damaged; }

/* ---- checked bytes ---- */

static bool check_block(struct address_index *ix, uint64_t block) {
    const uint64_t begin = block * ADDRESS_INDEX_BLOCK, left = ix->header->tables_size - begin;
    if (ix->is_checked[block]) return true;
    if (address_block_sum(ix->tables + begin, left < ADDRESS_INDEX_BLOCK ? (size_t)left : ADDRESS_INDEX_BLOCK) != ix->sums[block]) {
        ix->is_damaged = true;
        return false;
    }
    ix->is_checked[block] = 1;
    return true;
}

/* Elements of a table. NULL: there are none, or they are damaged. */
static const void *elements_of(struct address_index *ix, enum address_table table, uint64_t first, uint64_t count) {
    const uint64_t total = ix->header->tables[table].count;
    if (first > total || count > total - first || !count) return NULL;
    const uint64_t begin = ix->header->tables[table].offset + first * address_element_sizes[table];
    const uint64_t last = begin + count * address_element_sizes[table] - 1;
    for (uint64_t block = begin / ADDRESS_INDEX_BLOCK; block <= last / ADDRESS_INDEX_BLOCK; block++)
        if (!check_block(ix, block)) return NULL;
    return ix->tables + begin;
}

/* False: damaged. `offset` ADDRESS_NONE: NULL. */
static bool string_at(struct address_index *ix, uint32_t offset, const char **out) {
    const uint64_t total = ix->header->tables[ADDRESS_STRINGS].count;
    *out = NULL;
    if (offset == ADDRESS_NONE) return true;
    const char *text = ix->tables + ix->header->tables[ADDRESS_STRINGS].offset + offset;
    for (uint64_t at = offset, size; at < total; at += size) {
        size = ADDRESS_INDEX_BLOCK - (ix->header->tables[ADDRESS_STRINGS].offset + at) % ADDRESS_INDEX_BLOCK;
        if (size > total - at) size = total - at;
        const char *part = elements_of(ix, ADDRESS_STRINGS, at, size);
        if (!part) return false;
        if (memchr(part, 0, (size_t)size)) {
            *out = text;
            return true;
        }
    }
    return false;
}

static bool file_at(struct address_index *ix, uint32_t file, const char **out) {
    *out = NULL;
    if (file == ADDRESS_NONE) return true;
    const uint32_t *offset = elements_of(ix, ADDRESS_FILES, file, 1);
    return offset && string_at(ix, *offset, out);
}

/* ---- searching ---- */

size_t address_count_not_above(const void *elements, size_t stride, size_t count, uint32_t addr) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        uint32_t value;
        memcpy(&value, (const char *)elements + middle * stride, sizeof value);
        if (value <= addr) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The last element of a sorted table at or below an address. False: damaged; *out NULL: there is none. */
static bool find_element(struct address_index *ix, enum address_table table, uint32_t addr, const void **out) {
    const uint64_t count = ix->header->tables[table].count, key_count = ix->header->tables[table + 3].count;
    *out = NULL;
    if (!count) return true;
    const void *keys = ix->keys[table] ? ix->keys[table] : elements_of(ix, table + 3, 0, key_count);
    ix->keys[table] = keys;
    const size_t key = keys ? address_count_not_above(keys, 4, (size_t)key_count, addr) : 0;
    if (!keys) return false;
    if (!key) return true;
    const uint64_t first = (uint64_t)(key - 1) * ADDRESS_INDEX_STEP;
    const size_t stride = address_element_sizes[table],
                 step = count - first < ADDRESS_INDEX_STEP ? (size_t)(count - first) : ADDRESS_INDEX_STEP;
    const char *part = elements_of(ix, table, first, step);
    const size_t at = part ? address_count_not_above(part, stride, step, addr) : 0;
    if (at) *out = part + (at - 1) * stride;
    return part != NULL;
}

static bool is_inside(const struct address_index *ix, uint64_t addr) {
    return addr >= ix->header->base && addr - ix->header->base < ix->header->size;
}

static bool read_row(struct address_index *ix, const struct address_row *row, struct address_place *out) {
    out->has_unit = row->line_column != ADDRESS_NONE || row->file_discriminator != ADDRESS_NONE;
    if (row->line_column == ADDRESS_NONE && row->file_discriminator >= ADDRESS_UNKNOWN) return true;
    if (row->line_column == ADDRESS_NONE) {
        const struct address_wide_row *wide = elements_of(ix, ADDRESS_WIDE_ROWS, row->file_discriminator, 1);
        if (!wide) return false;
        out->line = wide->line;
        out->column = wide->column;
        out->discriminator = wide->discriminator;
        return file_at(ix, wide->file, &out->file);
    }
    out->line = row->line_column >> 12;
    out->column = row->line_column & 0xfff;
    out->discriminator = row->file_discriminator & 0xfff;
    return file_at(ix, row->file_discriminator >> 12, &out->file);
}

bool address_index_find(struct address_index *ix, uint64_t addr, struct address_place *out) {
    const void *span, *row;
    if (ix->is_damaged || !is_inside(ix, addr)) return false;
    const uint32_t at = (uint32_t)(addr - ix->header->base);
    *out = (struct address_place){ .scope = ADDRESS_NONE };
    if (!find_element(ix, ADDRESS_SPANS, at, &span) || !find_element(ix, ADDRESS_ROWS, at, &row)) return false;
    if (row) out->row_addr = ix->header->base + ((const struct address_row *)row)->addr;
    if (span) out->scope = ((const struct address_span *)span)->scope;
    return out->scope != ADDRESS_UNKNOWN && (!row || read_row(ix, row, out));
}

bool address_index_scope(struct address_index *ix, uint32_t scope, struct address_call *out) {
    const struct address_scope *s = elements_of(ix, ADDRESS_SCOPES, scope, 1);
    /* A scope is inlined in one before it: there are no circles. */
    if (!s || (s->parent != ADDRESS_NONE && s->parent >= scope)) return false;
    *out = (struct address_call){
        .line = s->call_line, .column = s->call_column, .discriminator = s->call_discriminator, .parent = s->parent
    };
    return string_at(ix, s->name, &out->name) && file_at(ix, s->call_file, &out->file);
}

bool address_index_symbol(struct address_index *ix, uint64_t addr, struct address_name *out) {
    const void *found;
    *out = (struct address_name){ NULL, NULL };
    if (!is_inside(ix, addr) || !find_element(ix, ADDRESS_SYMBOLS, (uint32_t)(addr - ix->header->base), &found)) return false;
    const struct address_symbol *s = found;
    if (!s || (s->end != UINT32_MAX && addr - ix->header->base >= s->end)) return true;
    return string_at(ix, s->name, &out->name) && string_at(ix, s->file, &out->file);
}

bool address_index_nearest(struct address_index *ix, uint64_t addr, struct address_nearest *out) {
    const void *found;
    *out = (struct address_nearest){ 0 };
    if (!is_inside(ix, addr) || !find_element(ix, ADDRESS_SYMBOLS, (uint32_t)(addr - ix->header->base), &found)) return false;
    const struct address_symbol *s = found;
    if (!s) return true;
    out->addr = ix->header->base + s->addr;
    out->end = ix->header->base + s->end;
    return string_at(ix, s->name, &out->name) && string_at(ix, s->file, &out->file);
}

uint32_t address_index_scope_count(const struct address_index *ix) { return (uint32_t)ix->header->tables[ADDRESS_SCOPES].count; }

uint64_t address_index_base(const struct address_index *ix) { return ix->header->base; }

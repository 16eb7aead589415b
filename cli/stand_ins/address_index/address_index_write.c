/* Writing address indexes. */
#define _GNU_SOURCE
#include "stand_ins/address_index/address_index_write.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"

/* ---- the output ---- */

/* Bytes of the tables, in a file or in memory, with a sum for each block. */
struct sink {
    int fd;                  /* -1: memory */
    char *memory;            /* of the whole index */
    uint64_t at;             /* of the tables, of what left the buffer */
    uint64_t head;           /* bytes before the tables */
    uint64_t *sums;
    size_t held;
    bool failed;
    char buffer[64 * ADDRESS_INDEX_BLOCK];
};

static bool write_at(int fd, const char *bytes, size_t size, uint64_t offset) {
    while (size) {
        const ssize_t done = pwrite(fd, bytes, size, (off_t)offset);
        if (done <= 0) return false;
        bytes += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return true;
}

static void flush_sink(struct sink *s) {
    for (size_t begin = 0; begin < s->held; begin += ADDRESS_INDEX_BLOCK) {
        const size_t size = s->held - begin < ADDRESS_INDEX_BLOCK ? s->held - begin : ADDRESS_INDEX_BLOCK;
        s->sums[(s->at + begin) / ADDRESS_INDEX_BLOCK] = address_block_sum(s->buffer + begin, size);
    }
    if (s->fd < 0) memcpy(s->memory + s->head + s->at, s->buffer, s->held);
    else if (!s->failed && !write_at(s->fd, s->buffer, s->held, s->head + s->at)) s->failed = true;
    s->at += s->held;
    s->held = 0;
}

static void put_bytes(struct sink *s, const void *bytes, size_t size) {
    for (const char *p = bytes; size;) {
        const size_t room = sizeof s->buffer - s->held, part = size < room ? size : room;
        memcpy(s->buffer + s->held, p, part);
        s->held += part;
        p += part;
        size -= part;
        if (s->held == sizeof s->buffer) flush_sink(s);
    }
}

static void pad_to(struct sink *s, uint64_t offset) {
    static const char zeros[8] = { 0 };
    put_bytes(s, zeros, (size_t)(offset - s->at - s->held));
}

/* ---- tables ---- */

struct chunk_ref {
    const struct address_chunk *chunk;
    size_t part;
};

/* What the tables are made of: chunks by address, and what is added to numbers of a part. */
struct plan {
    const struct address_content *content;
    struct chunk_ref *chunks;
    size_t chunk_count;
    uint32_t *first_scope, *first_wide_row; /* by part */
    struct address_index_header header;
    struct { uint32_t *items; size_t count, capacity; } keys[3];
};

static int by_low(const void *pa, const void *pb) {
    const struct chunk_ref *a = pa, *b = pb;
    return a->chunk->low < b->chunk->low ? -1 : a->chunk->low > b->chunk->low;
}

/* False: too large. */
static bool count_tables(struct plan *p) {
    const struct address_content *c = p->content;
    uint64_t counts[ADDRESS_TABLE_COUNT] = { 0 };
    for (size_t i = 0; i < c->part_count; i++) {
        const struct address_part *part = c->parts[i];
        p->first_scope[i] = (uint32_t)counts[ADDRESS_SCOPES];
        p->first_wide_row[i] = (uint32_t)counts[ADDRESS_WIDE_ROWS];
        counts[ADDRESS_ROWS] += part->rows.count;
        counts[ADDRESS_SPANS] += part->spans.count;
        counts[ADDRESS_SCOPES] += part->scopes.count;
        counts[ADDRESS_WIDE_ROWS] += part->wide_rows.count;
    }
    counts[ADDRESS_SYMBOLS] = c->symbols.count;
    counts[ADDRESS_FILES] = c->texts->files.count;
    counts[ADDRESS_STRINGS] = c->texts->bytes.count;
    for (int i = 0; i < 3; i++) counts[ADDRESS_ROW_KEYS + i] = (counts[i] + ADDRESS_INDEX_STEP - 1) / ADDRESS_INDEX_STEP;
    uint64_t at = 0;
    for (int i = 0; i < ADDRESS_TABLE_COUNT; i++) {
        if (counts[i] >= ADDRESS_UNKNOWN) return false;
        p->header.tables[i].offset = at;
        p->header.tables[i].count = counts[i];
        at = (at + counts[i] * address_element_sizes[i] + 7) / 8 * 8;
    }
    p->header.tables_size = at;
    return true;
}

static void put_element(struct plan *p, struct sink *s, enum address_table table, uint64_t idx, const void *element) {
    uint32_t addr;
    memcpy(&addr, element, sizeof addr);
    if (idx % ADDRESS_INDEX_STEP == 0) GROW_PUSH(&p->keys[table], addr);
    put_bytes(s, element, address_element_sizes[table]);
}

static void put_rows(struct plan *p, struct sink *s) {
    uint64_t idx = 0;
    for (size_t i = 0; i < p->chunk_count; i++) {
        const struct address_chunk *chunk = p->chunks[i].chunk;
        const struct address_row *rows = p->content->parts[p->chunks[i].part]->rows.items + chunk->first_row;
        for (size_t k = 0; k < chunk->row_count; k++) {
            struct address_row row = rows[k];
            if (row.line_column == ADDRESS_NONE && row.file_discriminator < ADDRESS_UNKNOWN)
                row.file_discriminator += p->first_wide_row[p->chunks[i].part];
            put_element(p, s, ADDRESS_ROWS, idx++, &row);
        }
    }
}

static void put_spans(struct plan *p, struct sink *s) {
    uint64_t idx = 0;
    for (size_t i = 0; i < p->chunk_count; i++) {
        const struct address_chunk *chunk = p->chunks[i].chunk;
        const struct address_span *spans = p->content->parts[p->chunks[i].part]->spans.items + chunk->first_span;
        for (size_t k = 0; k < chunk->span_count; k++) {
            struct address_span span = spans[k];
            if (span.scope < ADDRESS_UNKNOWN) span.scope += p->first_scope[p->chunks[i].part];
            put_element(p, s, ADDRESS_SPANS, idx++, &span);
        }
    }
}

static void put_scopes(struct plan *p, struct sink *s) {
    for (size_t i = 0; i < p->content->part_count; i++)
        for (size_t k = 0; k < p->content->parts[i]->scopes.count; k++) {
            struct address_scope scope = p->content->parts[i]->scopes.items[k];
            if (scope.parent != ADDRESS_NONE) scope.parent += p->first_scope[i];
            put_bytes(s, &scope, sizeof scope);
        }
}

static void put_table(struct plan *p, struct sink *s, enum address_table table) {
    const struct address_content *c = p->content;
    pad_to(s, p->header.tables[table].offset);
    switch (table) {
    case ADDRESS_ROWS: put_rows(p, s); return;
    case ADDRESS_SPANS: put_spans(p, s); return;
    case ADDRESS_SYMBOLS:
        for (size_t i = 0; i < c->symbols.count; i++) put_element(p, s, table, i, &c->symbols.items[i]);
        return;
    case ADDRESS_ROW_KEYS: case ADDRESS_SPAN_KEYS: case ADDRESS_SYMBOL_KEYS: {
        const unsigned of = (unsigned)table - ADDRESS_ROW_KEYS;
        put_bytes(s, p->keys[of].items, p->keys[of].count * sizeof *p->keys[of].items);
        return;
    }
    case ADDRESS_SCOPES: put_scopes(p, s); return;
    case ADDRESS_WIDE_ROWS:
        for (size_t i = 0; i < c->part_count; i++)
            put_bytes(s, c->parts[i]->wide_rows.items, c->parts[i]->wide_rows.count * sizeof(struct address_wide_row));
        return;
    case ADDRESS_FILES: put_bytes(s, c->texts->files.items, c->texts->files.count * sizeof *c->texts->files.items); return;
    default: put_bytes(s, c->texts->bytes.items, c->texts->bytes.count); return;
    }
}

/* False: it cannot be written. */
static bool write_index(struct plan *p, struct sink *s) {
    struct address_index_header *h = &p->header;
    const size_t blocks = (size_t)((h->tables_size + ADDRESS_INDEX_BLOCK - 1) / ADDRESS_INDEX_BLOCK),
                 sums_size = blocks * sizeof *s->sums;
    s->sums = zeroed_memory(blocks, sizeof *s->sums);
    s->head = sizeof *h + sums_size;
    if (s->fd < 0) s->memory = zeroed_memory((size_t)(s->head + h->tables_size), 1);
    for (int i = 0; i < ADDRESS_TABLE_COUNT; i++) put_table(p, s, (enum address_table)i);
    pad_to(s, h->tables_size);
    flush_sink(s);
    h->sum = address_block_sum(h, offsetof(struct address_index_header, sum)) ^ address_block_sum(s->sums, sums_size);
    if (s->fd < 0) {
        memcpy(s->memory, h, sizeof *h);
        memcpy(s->memory + sizeof *h, s->sums, sums_size);
    } else if (!write_at(s->fd, (const char *)h, sizeof *h, 0) || !write_at(s->fd, (const char *)s->sums, sums_size, sizeof *h)) {
        s->failed = true;
    }
    free(s->sums);
    for (int i = 0; i < 3; i++) {
        free(p->keys[i].items);
        p->keys[i].items = NULL;
        p->keys[i].count = p->keys[i].capacity = 0;
    }
    return !s->failed;
}

static struct address_index *write_file(struct plan *p, const char *path) {
    struct sink *s = zeroed_memory(1, sizeof *s);
    struct kept_output out;
    kept_output_open(&out, path);
    s->fd = out.fd;
    const bool good = out.fd >= 0 && write_index(p, s);
    free(s);
    return kept_output_close(&out, good) ? address_index_open(path, &p->content->subject.object) : NULL;
}

static struct address_index *write_memory(struct plan *p) {
    struct sink *s = zeroed_memory(1, sizeof *s);
    s->fd = -1;
    (void)write_index(p, s);
    struct address_index *made = address_index_adopt(s->memory, (size_t)(s->head + p->header.tables_size));
    free(s);
    return made;
}

static void order_chunks(struct plan *p) {
    const struct address_content *c = p->content;
    for (size_t i = 0; i < c->part_count; i++) p->chunk_count += c->parts[i]->chunks.count;
    p->chunks = zeroed_memory(p->chunk_count, sizeof *p->chunks);
    size_t to = 0;
    for (size_t i = 0; i < c->part_count; i++)
        for (size_t k = 0; k < c->parts[i]->chunks.count; k++)
            p->chunks[to++] = (struct chunk_ref){ &c->parts[i]->chunks.items[k], i };
    if (to) qsort(p->chunks, to, sizeof *p->chunks, by_low);
}

struct address_index *address_index_make(const struct address_content *c, const char *path) {
    struct plan *p = zeroed_memory(1, sizeof *p);
    struct address_index *made = NULL;
    p->content = c;
    p->first_scope = zeroed_memory(c->part_count, sizeof *p->first_scope);
    p->first_wide_row = zeroed_memory(c->part_count, sizeof *p->first_wide_row);
    memcpy(p->header.magic, ADDRESS_INDEX_MAGIC, sizeof p->header.magic);
    p->header.subject = c->subject;
    p->header.base = c->base;
    p->header.size = c->size;
    order_chunks(p);
    if (count_tables(p)) {
        if (path) made = write_file(p, path);
        if (!made) made = write_memory(p);
    }
    free(p->chunks);
    free(p->first_scope);
    free(p->first_wide_row);
    free(p);
    return made;
}

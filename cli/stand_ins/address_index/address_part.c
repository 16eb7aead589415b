/* Chunks, rows and functions as they are added. */
#include "stand_ins/address_index/address_part.h"

#include <stdlib.h>

#include "stand_ins/base/growth.h"

void address_part_deinit(struct address_part *p) {
    free(p->rows.items);
    free(p->spans.items);
    free(p->wide_rows.items);
    free(p->scopes.items);
    free(p->chunks.items);
}

void address_part_begin(struct address_part *p, uint32_t low) {
    const struct address_chunk made = { low, p->rows.count, 0, p->spans.count, 0 };
    GROW_PUSH(&p->chunks, made);
}

static struct address_chunk *last_chunk(struct address_part *p) { return &p->chunks.items[p->chunks.count - 1]; }

static struct address_row pack_row(struct address_part *p, uint32_t addr, const struct address_wide_row *row) {
    if (row->file >= ADDRESS_UNKNOWN) return (struct address_row){ addr, ADDRESS_NONE, row->file };
    if (row->line < 1 << 20 && row->column < 1 << 12 && row->file < 1 << 20 && row->discriminator < 1 << 12) {
        const struct address_row made = { addr, row->line << 12 | row->column, row->file << 12 | row->discriminator };
        if (made.line_column != ADDRESS_NONE) return made;
    }
    GROW_PUSH(&p->wide_rows, *row);
    return (struct address_row){ addr, ADDRESS_NONE, (uint32_t)p->wide_rows.count - 1 };
}

void address_part_add_row(struct address_part *p, uint32_t addr, const struct address_wide_row *row) {
    const struct address_row made = pack_row(p, addr, row);
    struct address_chunk *chunk = last_chunk(p);
    const struct address_row *last = chunk->row_count ? &p->rows.items[p->rows.count - 1] : NULL;
    if (!p->keeps_rows && last && last->line_column == made.line_column &&
        last->file_discriminator == made.file_discriminator)
        return;
    GROW_PUSH(&p->rows, made);
    chunk->row_count++;
}

void address_part_add_span(struct address_part *p, uint32_t addr, uint32_t scope) {
    const struct address_span made = { addr, scope };
    struct address_chunk *chunk = last_chunk(p);
    if (chunk->span_count && p->spans.items[p->spans.count - 1].scope == scope) return;
    GROW_PUSH(&p->spans, made);
    chunk->span_count++;
}

void address_part_end(struct address_part *p, uint32_t addr) {
    static const struct address_wide_row none = { .file = ADDRESS_NONE };
    address_part_add_row(p, addr, &none);
    address_part_add_span(p, addr, ADDRESS_NONE);
}

/* ---- answers ---- */

static const char *string_of(const struct address_texts *texts, uint32_t offset) {
    return offset == ADDRESS_NONE ? NULL : texts->bytes.items + offset;
}

static const char *file_of(const struct address_texts *texts, uint32_t file) {
    return file == ADDRESS_NONE ? NULL : string_of(texts, texts->files.items[file]);
}

static struct address_wide_row unpack_row(const struct address_part *p, const struct address_row *row) {
    if (row->line_column != ADDRESS_NONE)
        return (struct address_wide_row){ row->file_discriminator >> 12, row->line_column >> 12, row->line_column & 0xfff,
                                          row->file_discriminator & 0xfff };
    if (row->file_discriminator >= ADDRESS_UNKNOWN) return (struct address_wide_row){ .file = row->file_discriminator };
    return p->wide_rows.items[row->file_discriminator];
}

bool address_part_find(const struct address_part *p, const struct address_texts *texts, uint32_t chunk, uint32_t addr,
                       struct address_place *out) {
    const struct address_chunk *c = &p->chunks.items[chunk];
    const struct address_row *rows = p->rows.items + c->first_row;
    const struct address_span *spans = p->spans.items + c->first_span;
    const size_t span = address_count_not_above(spans, sizeof *spans, c->span_count, addr);
    const size_t row = address_count_not_above(rows, sizeof *rows, c->row_count, addr);
    *out = (struct address_place){ .scope = span ? spans[span - 1].scope : ADDRESS_NONE };
    if (out->scope == ADDRESS_UNKNOWN || !row) return out->scope != ADDRESS_UNKNOWN;
    const struct address_wide_row found = unpack_row(p, &rows[row - 1]);
    out->has_unit = found.file != ADDRESS_NONE;
    out->file = found.file == ADDRESS_UNKNOWN ? NULL : file_of(texts, found.file);
    out->line = found.line;
    out->column = found.column;
    out->discriminator = found.discriminator;
    return true;
}

void address_part_scope(const struct address_part *p, const struct address_texts *texts, uint32_t scope, struct address_call *out) {
    const struct address_scope *s = &p->scopes.items[scope];
    *out = (struct address_call){ string_of(texts, s->name), file_of(texts, s->call_file), s->call_line, s->call_column,
                                  s->call_discriminator, s->parent };
}

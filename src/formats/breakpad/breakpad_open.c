/* The head of a Breakpad symbol file, and where the file is cut. */
#include "base/core/fail.h"
#include "formats/breakpad/breakpad.h"

enum { HEAD_LOOK = 4096, CHUNK_SIZE = 1 << 20 };

bool csni_breakpad_recognize(struct csni_span file) {
    if (!file.size) return false;
    const char *p = (const char *)file.ptr, *end = p + (file.size < HEAD_LOOK ? file.size : HEAD_LOOK);
    struct csni_breakpad_line line;
    do {
        p = csni_breakpad_next_line(p, end, &line);
    } while (line.p == line.end && p < end);
    uint64_t a, b, c;
    uint32_t number;
    switch (csni_breakpad_keyword(&line)) {
    case CSNI_BREAKPAD_MODULE: return line.p < line.end;
    case CSNI_BREAKPAD_FILE:
    case CSNI_BREAKPAD_INLINE_ORIGIN: return csni_breakpad_dec(&line, &number) && line.p < line.end;
    case CSNI_BREAKPAD_FUNC:
        csni_breakpad_multiple(&line);
        return csni_breakpad_hex(&line, &a) && csni_breakpad_hex(&line, &b) && csni_breakpad_hex(&line, &c);
    case CSNI_BREAKPAD_PUBLIC:
        csni_breakpad_multiple(&line);
        return csni_breakpad_hex(&line, &a) && csni_breakpad_hex(&line, &b);
    default: return false;
    }
}

/* ---- the head ---- */

static void read_breakpad_module(struct csni_breakpad *b, struct csni_breakpad_chunk *head,
                                 struct csni_breakpad_line line) {
    const char *whole = line.p;
    struct csn_str os = csni_breakpad_field(&line), arch = csni_breakpad_field(&line), id = csni_breakpad_field(&line), name;
    if (b->id.len || !csni_breakpad_rest(&line, &name)) {
        csni_breakpad_damage(head, whole, b->id.len ? "a second MODULE" : "no system, architecture, id and name");
        return;
    }
    b->os = os;
    b->arch = arch;
    b->id = id;
    b->name = name;
}

static void read_info(struct csni_breakpad *b, struct csni_breakpad_line line) {
    if (csni_str_is(csni_breakpad_field(&line), "CODE_ID") && !b->code_id.len) b->code_id = csni_breakpad_field(&line);
}

/* Reads a line of the head; *out_is_head false: the functions begin with it. */
static csn_status read_head_line(struct csni_breakpad *b, struct csni_breakpad_chunk *head, struct csni_breakpad_line whole,
                                 bool *out_is_head, struct csn_error *err) {
    struct csni_breakpad_line line = whole;
    bool ok = true, had_module = b->id.len;
    *out_is_head = true;
    if (line.p == line.end) return CSN_OK;
    enum csni_breakpad_keyword keyword = csni_breakpad_keyword(&line);
    switch (keyword) {
    case CSNI_BREAKPAD_MODULE:
        read_breakpad_module(b, head, line);
        if (!had_module && b->id.len) ok = csni_breakpad_keep(head, whole, 0);
        break;
    case CSNI_BREAKPAD_INFO:
        read_info(b, line);
        ok = csni_breakpad_keep(head, whole, 0);
        break;
    case CSNI_BREAKPAD_FILE:
    case CSNI_BREAKPAD_INLINE_ORIGIN: ok = csni_breakpad_define(b, head, whole.p, keyword, line); break;
    default: *out_is_head = false;
    }
    return ok ? CSN_OK : csni_fail_memory(err, sizeof(struct csni_breakpad_definition));
}

/* ---- cutting ---- */

static struct csni_breakpad_chunk *add_breakpad_chunk(struct csni_breakpad *b, const char *begin) {
    struct csni_breakpad_chunk chunk = { .begin = begin, .end = begin };
    chunk.symbols.alloc = b->alloc;
    chunk.extras.alloc = b->alloc;
    return csni_vec_push(&b->chunks, chunk) ? &b->chunks.items[b->chunks.count - 1] : NULL;
}

/* Where a record that belongs to no function before it begins, from the line after `p` on. */
static const char *find_cut(const char *p, const char *end) {
    struct csni_breakpad_line line;
    p = csni_breakpad_next_line(p, end, &line);
    while (p < end) {
        const char *next = csni_breakpad_next_line(p, end, &line);
        enum csni_breakpad_keyword keyword = csni_breakpad_keyword(&line);
        if (keyword == CSNI_BREAKPAD_FUNC || keyword == CSNI_BREAKPAD_PUBLIC || keyword == CSNI_BREAKPAD_STACK) break;
        p = next;
    }
    return p;
}

static csn_status cut_chunks(struct csni_breakpad *b, const char *p, size_t chunk_size, struct csn_error *err) {
    const char *end = (const char *)b->file.ptr + b->file.size;
    while (p < end) {
        struct csni_breakpad_chunk *chunk = b->chunks.count < UINT32_MAX ? add_breakpad_chunk(b, p) : NULL;
        if (!chunk) return csni_fail_memory(err, sizeof *chunk);
        p = chunk->end = (size_t)(end - p) > chunk_size ? find_cut(p + chunk_size - 1, end) : end;
    }
    return CSN_OK;
}

csn_status csni_breakpad_open(struct csni_breakpad *b, struct csni_span file, size_t chunk_size,
                              const struct csn_allocator *alloc, struct csn_error *err) {
    *b = (struct csni_breakpad){ .alloc = alloc, .file = file };
    b->files.items.alloc = b->origins.items.alloc = b->chunks.alloc = alloc;
    const char *p = (const char *)file.ptr, *end = p + file.size;
    struct csni_breakpad_chunk *head = add_breakpad_chunk(b, p);
    if (!head) return csni_fail_memory(err, sizeof *head);
    for (bool is_head = true; p < end;) {
        struct csni_breakpad_line line;
        const char *next = csni_breakpad_next_line(p, end, &line);
        CSNI_TRY(read_head_line(b, head, line, &is_head, err));
        if (!is_head) break;
        p = head->end = next;
    }
    csni_breakpad_seal(b);
    return cut_chunks(b, p, chunk_size ? chunk_size : CHUNK_SIZE, err);
}

void csni_breakpad_close(struct csni_breakpad *b) {
    for (size_t i = 0; i < b->chunks.count; i++) {
        csni_vec_deinit(&b->chunks.items[i].symbols);
        csni_vec_deinit(&b->chunks.items[i].extras);
    }
    csni_vec_deinit(&b->chunks);
    csni_vec_deinit(&b->files.items);
    csni_vec_deinit(&b->origins.items);
}

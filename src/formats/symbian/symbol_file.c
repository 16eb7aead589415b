/* `.symbol` files: `From PATH`, then a line for each symbol of that binary. */
#include "base/core/fail.h"
#include "formats/symbian/symbian_gather.h"

enum { HEAD_SIZE = 4096, OBJECT_COLUMN = 40 };

static bool is_from(struct csn_str line, struct csn_str *path) {
    if (!csni_str_starts(line, "From ")) return false;
    *path = csni_text_trim((struct csn_str){ line.ptr + 4, line.len - 4 });
    return path->len > 0;
}

struct symbol_line {
    uint64_t address, size;
    struct csn_str text;
};

static bool is_symbol(struct csn_str line, struct symbol_line *out) {
    if (!csni_text_take_hex(&line, 8, 8, &out->address) || !csni_text_take_blanks(&line)) return false;
    if (!csni_text_take_hex(&line, 4, 8, &out->size) || !csni_text_take_blanks(&line)) return false;
    out->text = csni_text_trim(line);
    return out->text.len > 0;
}

bool csni_symbol_file_recognize(struct csni_span file) {
    struct csni_lines lines = { { file.ptr, file.size < HEAD_SIZE ? file.size : HEAD_SIZE }, 0 };
    struct csn_str line, path;
    struct symbol_line symbol;
    bool from = false;
    while (csni_lines_next(&lines, &line)) {
        if (!csni_text_trim(line).len) continue;
        if (from) return is_symbol(line, &symbol) || is_from(line, &path);
        if (!is_from(line, &path)) return false;
        from = true;
    }
    return from;
}

/* What follows looks like "file.o(.text)": one word with brackets at its end. */
static bool is_object(struct csn_str text) {
    if (!text.len || text.ptr[text.len - 1] != ')') return false;
    const char *open = memchr(text.ptr, '(', text.len);
    return open && open > text.ptr && open < text.ptr + text.len - 2 && !memchr(text.ptr, ' ', text.len);
}

/* Name and object are apart by two blanks at least; names are padded, so the last such run counts. */
static struct csn_str split_text(struct csn_str text, struct csn_str *object) {
    *object = (struct csn_str){ "", 0 };
    for (size_t i = text.len; i >= 2; i--) {
        if (text.ptr[i - 1] != ' ' || text.ptr[i - 2] != ' ') continue;
        struct csn_str tail = { text.ptr + i, text.len - i };
        if (i - 2 < OBJECT_COLUMN && !is_object(tail)) break;
        *object = tail;
        return csni_text_trim((struct csn_str){ text.ptr, i });
    }
    return text;
}

static bool text_contains(struct csn_str text, const char *what) {
    size_t len = strlen(what);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, what, len) == 0) return true;
    return false;
}

static bool is_data(struct csn_str object) {
    return text_contains(object, "(.data)") || text_contains(object, "(.bss)") || text_contains(object, ".o(.data") ||
           text_contains(object, ".o(.bss");
}

static csn_status gather_symbol_file(struct csni_span file, struct csni_symbian_gather *g, struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct csn_str line, path, object;
    struct symbol_line symbol;
    while (csni_lines_next(&lines, &line)) {
        bool good = true;
        if (g->binaries.count && is_symbol(line, &symbol)) {
            struct csn_str name = split_text(symbol.text, &object);
            good = csni_symbian_add_symbol(g, name, symbol.address, symbol.size, is_data(object));
        } else if (is_from(line, &path)) {
            good = csni_symbian_begin_binary(g, path);
        }
        if (!good) return csni_fail_memory(err, g->symbols.count * sizeof *g->symbols.items);
    }
    return CSN_OK;
}

csn_status csni_symbol_file_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                                 struct csni_symbian_image *out, struct csn_error *err) {
    struct csni_symbian_gather g;
    *out = (struct csni_symbian_image){ 0 };
    csni_symbian_gather_init(&g, alloc);
    csn_status status = gather_symbol_file(file, &g, err);
    if (status >= 0) status = csni_symbian_finish(&g, w, out, NULL, err);
    csni_symbian_gather_deinit(&g);
    return status;
}

/* Opening Go's function table. */
#include "go/go_private.h"

/* ---- which of a function's lists tell of inlined calls: the numbers changed with releases that wrote the same table ---- */

enum { SAMPLE = 512 }; /* functions with inlined calls that decide */

static bool is_plausible(const struct csni_go_function *f) {
    for (size_t i = 0; i < f->call_count; i++) {
        struct csn_str name = f->calls[i].name;
        if (!name.len || name.ptr[0] < ' ' || f->calls[i].call_file == CSNI_GO_NO_FILE || !f->calls[i].call_line) return false;
    }
    return true;
}

/* By how many functions the lists make sense, less those by which they do not. */
static csn_status try_lists(const struct csni_go_table *table, int64_t *score, struct csn_error *err) {
    struct csni_go_reader reader;
    csni_go_reader_init(&reader, table);
    csn_status status = CSN_OK;
    *score = 0;
    for (uint64_t i = 0, seen = 0; i < table->function_count && seen < SAMPLE && status != CSN_E_LIMIT; i++) {
        struct csni_go_function f;
        status = csni_go_read_function(&reader, i, &f, NULL);
        if (status == CSN_E_MEMORY) break;
        if (status >= 0 && !f.call_count) continue;
        seen++;
        *score += status >= 0 && is_plausible(&f) ? 1 : -1;
    }
    csni_go_reader_deinit(&reader);
    return status == CSN_E_MEMORY ? csni_fail_memory(err, 0) : CSN_OK;
}

/* Sets the numbers of the lists of inlined calls, which before 1.16 depend on a release that nothing names: those by which
 * the functions make sense. has_func_data becomes false where none do. */
static csn_status choose_lists(struct csni_go_table *table, struct csn_error *err) {
    static const uint8_t old[][2] = { { GO_PCDATA_INLINE_TREE_1_13, GO_FUNCDATA_INLINE_TREE_1_13 },
                                      { GO_PCDATA_INLINE_TREE_1_12, GO_FUNCDATA_INLINE_TREE_1_12 } };
    table->inline_pc_data = GO_PCDATA_INLINE_TREE;
    table->inline_func_data = GO_FUNCDATA_INLINE_TREE;
    if (table->version != CSNI_GO_1_2) return CSN_OK;
    int64_t best = 0;
    struct csni_go_table trial = *table;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        int64_t score;
        trial.inline_pc_data = old[i][0];
        trial.inline_func_data = old[i][1];
        CSNI_TRY(try_lists(&trial, &score, err));
        if (score <= best) continue;
        best = score;
        table->inline_pc_data = old[i][0];
        table->inline_func_data = old[i][1];
    }
    table->has_func_data = best > 0;
    return CSN_OK;
}

/* ---- the whole ---- */

/* In WebAssembly, offsets are addresses' upper halves since Go 1.26; before, they are addresses, and no function is shorter than
 * all blocks that one may have. */
static void choose_entry_shift(struct csni_go_table *t) {
    uint64_t first, second;
    if (!t->image.is_wasm || !csni_go_number_at(t->functions, 0, 4, t->big_endian, &first) ||
        !csni_go_number_at(t->functions, 8, 4, t->big_endian, &second)) return;
    if (second - first < (uint64_t)1 << CSNI_GO_WASM_SHIFT) t->entry_shift = CSNI_GO_WASM_SHIFT;
}

/* Where no moduledata is found, the header's own word serves, which later releases and relocated programs leave 0. */
static void guess_text_start(struct csni_go_table *t) {
    uint64_t start, place = t->addr + GO_HEADER_WORDS + (uint64_t)GO_1_18_TEXT_START * t->pointer_size;
    t->text_start = t->image.text_start >> t->entry_shift;
    if (t->entry_shift) return;
    if (csni_go_pointer_at(t, place, &start) && start) t->text_start = start;
}

csn_status csni_go_open(const struct csni_go_image *image, uint64_t addr, struct csni_span bytes,
                        const struct csn_allocator *alloc, struct csni_go_table *out, struct csn_error *err) {
    struct csni_go_table t = { .alloc = alloc, .image = *image, .bytes = bytes, .addr = addr };
    CSNI_TRY(csni_go_read_header(&t, err));
    if (t.version >= CSNI_GO_1_18) choose_entry_shift(&t);
    if (t.version < CSNI_GO_1_18) t.has_func_data = true; /* absolute addresses stand in its place */
    else if (csni_go_read_module(&t) != CSN_OK) guess_text_start(&t);
    CSNI_TRY(choose_lists(&t, err));
    *out = t;
    return CSN_OK;
}

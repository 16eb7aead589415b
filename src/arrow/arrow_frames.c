/* Frames of indexes to numbered strings: each string is read once in a batch. */
#include "arrow/arrow_frames.h"

#include <string.h>

#include "base/core/fail.h"
#include "base/hash.h"
#include "base/utf8_text.h"

enum { NAMES, FILES, STACK_FRAMES, KINDS };
enum { FIRST_KNOWN = 1024, NAME_CAPACITY = 256 };

/* ---- what has a number already ---- */

struct known_entry {
    uint64_t place;  /* in its index */
    uint32_t module; /* + 1; 0: free */
    uint32_t number;
};

struct csni_arrow_known {
    size_t count, capacity;
    struct known_entry entries[];
};

static size_t known_size(size_t capacity) { return sizeof(struct csni_arrow_known) + capacity * sizeof(struct known_entry); }

static struct csni_arrow_known *known_create(const struct csn_allocator *alloc, size_t capacity) {
    struct csni_arrow_known *known = csni_alloc_zeroed(alloc, 1, known_size(capacity));
    if (known) known->capacity = capacity;
    return known;
}

/* The entry of a place, or the free one where it belongs. */
static struct known_entry *known_slot(struct csni_arrow_known *known, uint32_t module, uint64_t place) {
    size_t mask = known->capacity - 1, k = (size_t)csni_hash_u64(place ^ (uint64_t)module << 40) & mask;
    while (known->entries[k].module && (known->entries[k].module != module + 1 || known->entries[k].place != place))
        k = (k + 1) & mask;
    return &known->entries[k];
}

static csn_status known_add(struct csni_arrow_frames *f, unsigned what, uint32_t module, uint64_t place, uint32_t number,
                            struct csn_error *err) {
    struct csni_arrow_known *known = f->known[what];
    if (known->count * 2 >= known->capacity) {
        struct csni_arrow_known *larger = known_create(f->alloc, known->capacity * 2);
        if (!larger) return csni_fail_memory(err, known_size(known->capacity * 2));
        larger->count = known->count;
        for (size_t k = 0; k < known->capacity; k++)
            if (known->entries[k].module)
                *known_slot(larger, known->entries[k].module - 1, known->entries[k].place) = known->entries[k];
        csni_free(f->alloc, known, known_size(known->capacity));
        f->known[what] = known = larger;
    }
    *known_slot(known, module, place) = (struct known_entry){ place, module + 1, number };
    known->count++;
    return CSN_OK;
}

/* ---- the table ---- */

csn_status csni_arrow_frames_init(struct csni_arrow_frames *f, const struct csn_arrow_options *options,
                                  const struct csn_allocator *alloc, struct csn_error *err) {
    *f = (struct csni_arrow_frames){ .alloc = alloc, .demangle = options->demangle, .demangle_context = options->demangle_context,
                                     .rows = { .alloc = alloc }, .text = { .alloc = alloc }, .pieces = { .alloc = alloc },
                                     .clean = { .alloc = alloc } };
    csni_arrow_strings_init(&f->functions, alloc);
    csni_arrow_strings_init(&f->files, alloc);
    csni_arrow_strings_init(&f->reasons, alloc);
    for (unsigned what = 0; what < KINDS; what++)
        if (!(f->known[what] = known_create(alloc, FIRST_KNOWN))) return csni_fail_memory(err, known_size(FIRST_KNOWN));
    return CSN_OK;
}

void csni_arrow_frames_deinit(struct csni_arrow_frames *f) {
    csni_arrow_strings_deinit(&f->functions);
    csni_arrow_strings_deinit(&f->files);
    csni_arrow_strings_deinit(&f->reasons);
    csni_vec_deinit(&f->rows);
    csni_vec_deinit(&f->text);
    csni_vec_deinit(&f->pieces);
    csni_vec_deinit(&f->clean);
    for (unsigned what = 0; what < KINDS; what++)
        if (f->known[what]) csni_free(f->alloc, f->known[what], known_size(f->known[what]->capacity));
}

static csn_status reserve_text(struct csni_arrow_frames *f, size_t size, struct csn_error *err) {
    return csni_vec_reserve(&f->text, size) ? CSN_OK : csni_fail_memory(err, size);
}

static csn_status add_text(struct csni_arrow_frames *f, struct csni_arrow_strings *strings, struct csn_str text, uint32_t *out,
                           struct csn_error *err) {
    if (csni_is_utf8(text)) return csni_arrow_strings_add(strings, text, out, err);
    size_t size = text.len * CSNI_UTF8_GROWTH;
    if (!csni_vec_reserve(&f->clean, size)) return csni_fail_memory(err, size);
    return csni_arrow_strings_add(strings, (struct csn_str){ f->clean.items, csni_to_utf8(text, f->clean.items) }, out, err);
}

csn_status csni_arrow_frames_name(struct csni_arrow_frames *f, struct csn_str name, uint32_t *out, struct csn_error *err) {
    if (f->demangle) {
        size_t size = 0;
        CSNI_TRY(reserve_text(f, NAME_CAPACITY, err));
        csn_status status = f->demangle(f->demangle_context, name, f->text.items, f->text.capacity, &size);
        if (status == CSN_E_LIMIT && size >= f->text.capacity) {
            CSNI_TRY(reserve_text(f, size + 1, err));
            status = f->demangle(f->demangle_context, name, f->text.items, f->text.capacity, &size);
        }
        if (status == CSN_OK) name = (struct csn_str){ f->text.items, size };
    }
    return add_text(f, &f->functions, name, out, err);
}

static csn_status number_of_path(struct csni_arrow_frames *f, const struct csn_frame *frame, uint32_t *out, struct csn_error *err) {
    if (!frame->base.len) {
        *out = CSNI_ARROW_NULL;
        return CSN_OK;
    }
    CSNI_TRY(reserve_text(f, frame->directory.len + frame->base.len + 2, err));
    size_t size = csn_frame_path(frame, f->text.items, f->text.capacity);
    return add_text(f, &f->files, (struct csn_str){ f->text.items, size }, out, err);
}

csn_status csni_arrow_frames_reason(struct csni_arrow_frames *f, const char *text, uint32_t *out, struct csn_error *err) {
    return add_text(f, &f->reasons, (struct csn_str){ text, strlen(text) }, out, err);
}

static csn_status push_frame(struct csni_arrow_frames *f, struct csni_arrow_frame row, struct csn_error *err) {
    if (f->rows.count == INT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "more than %d frames: pass smaller batches", INT32_MAX);
    return csni_vec_push(&f->rows, row) ? CSN_OK : csni_fail_memory(err, sizeof row);
}

static csn_status add_frame(struct csni_arrow_frames *f, const struct csn_frame *frame, struct csn_error *err) {
    struct csni_arrow_frame row = { .offset = frame->offset, .line = frame->line, .is_inlined = frame->flags & CSN_FRAME_INLINED };
    CSNI_TRY(csni_arrow_frames_name(f, frame->name, &row.function, err));
    CSNI_TRY(number_of_path(f, frame, &row.file, err));
    return push_frame(f, row, err);
}

csn_status csni_arrow_frames_add_all(struct csni_arrow_frames *f, uint64_t generation, const struct csn_frame *frames,
                                     uint32_t count, uint32_t *first, struct csn_error *err) {
    uint32_t era = (uint32_t)generation & 0xffffff;
    const struct known_entry *known = known_slot(f->known[STACK_FRAMES], era, (uintptr_t)frames);
    *first = known->number;
    if (!count || known->module) return CSN_OK;
    *first = (uint32_t)f->rows.count;
    for (uint32_t k = 0; k < count; k++) CSNI_TRY(add_frame(f, &frames[k], err));
    return known_add(f, STACK_FRAMES, era, (uintptr_t)frames, *first, err);
}

/* The frame's strings, of which a name in pieces is put together in `pieces`. */
static csn_status resolve_frame(struct csni_arrow_frames *f, const struct csn_index *index, const struct csn_frame_ref *ref,
                                struct csn_frame *out, struct csn_error *err) {
    size_t need = csn_index_resolve_into(index, ref, NULL, 0, out);
    if (!need) return CSN_OK;
    if (!csni_vec_reserve(&f->pieces, need)) return csni_fail_memory(err, need);
    csn_index_resolve_into(index, ref, f->pieces.items, f->pieces.capacity, out);
    return CSN_OK;
}

csn_status csni_arrow_frames_add_ref(struct csni_arrow_frames *f, uint32_t module, const struct csn_index *index,
                                     const struct csn_frame_ref *ref, struct csn_error *err) {
    struct csni_arrow_frame row = { .offset = ref->offset, .line = ref->line, .is_inlined = ref->flags & CSN_FRAME_INLINED };
    const struct known_entry *name = known_slot(f->known[NAMES], module, ref->name);
    const struct known_entry *file = known_slot(f->known[FILES], module, ref->file);
    if (name->module && file->module) {
        row.function = name->number;
        row.file = file->number;
        return push_frame(f, row, err);
    }
    bool new_name = !name->module, new_file = !file->module;
    row.function = name->number;
    row.file = file->number;
    struct csn_frame frame;
    CSNI_TRY(resolve_frame(f, index, ref, &frame, err));
    if (new_name) {
        CSNI_TRY(csni_arrow_frames_name(f, frame.name, &row.function, err));
        CSNI_TRY(known_add(f, NAMES, module, ref->name, row.function, err));
    }
    if (new_file) {
        CSNI_TRY(number_of_path(f, &frame, &row.file, err));
        CSNI_TRY(known_add(f, FILES, module, ref->file, row.file, err));
    }
    return push_frame(f, row, err);
}

/* ---- columns ---- */

static const struct csni_arrow_type plain_string = { .format = "u", .name = "" };
static const struct csni_arrow_type function_type[2] = {
    { .format = "u", .name = "function", .is_nullable = true },
    { .format = "i", .name = "function", .is_nullable = true, .dictionary = &plain_string },
};
static const struct csni_arrow_type file_type[2] = {
    { .format = "u", .name = "file", .is_nullable = true },
    { .format = "i", .name = "file", .is_nullable = true, .dictionary = &plain_string },
};
static const struct csni_arrow_type offset_type = { .format = "L", .name = "offset" };
static const struct csni_arrow_type line_type = { .format = "I", .name = "line", .is_nullable = true };
static const struct csni_arrow_type inlined_type = { .format = "b", .name = "inlined" };
static const struct csni_arrow_type frame_type[2] = {
    { .format = "+s", .name = "item", .child_count = 5,
      .children = { &function_type[0], &offset_type, &file_type[0], &line_type, &inlined_type } },
    { .format = "+s", .name = "item", .child_count = 5,
      .children = { &function_type[1], &offset_type, &file_type[1], &line_type, &inlined_type } },
};
const struct csni_arrow_type csni_arrow_frames_type[2] = {
    { .format = "+l", .name = "frames", .is_nullable = true, .child_count = 1, .children = { &frame_type[0] } },
    { .format = "+l", .name = "frames", .is_nullable = true, .child_count = 1, .children = { &frame_type[1] } },
};
const struct csni_arrow_type csni_arrow_reason_type[2] = {
    { .format = "u", .name = "reason", .is_nullable = true },
    { .format = "i", .name = "reason", .is_nullable = true, .dictionary = &plain_string },
};

enum { FUNCTION, OFFSET, FILE_PATH, LINE, INLINED, FRAME_FIELDS };

/* The children in a row: those of each answer, one after the other. */
struct frame_columns {
    uint32_t *functions, *files;
    uint64_t *offsets;
    uint32_t *lines;
    uint8_t *has_line, *inlined;
    int64_t without_line;
};

static void fill_frames(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                        struct frame_columns *to) {
    int64_t at = 0;
    for (int64_t row = 0; row < count; row++) {
        for (uint32_t k = 0; k < answers[row].count; k++, at++) {
            const struct csni_arrow_frame *frame = &f->rows.items[answers[row].first + k];
            to->functions[at] = frame->function;
            to->files[at] = frame->file;
            to->offsets[at] = frame->offset;
            to->lines[at] = frame->line;
            if (frame->line) csni_arrow_set_bit(to->has_line, at);
            else to->without_line++;
            if (frame->is_inlined) csni_arrow_set_bit(to->inlined, at);
        }
    }
}

static csn_status make_frame_fields(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                                    int64_t total, uint32_t *numbers, bool with_dictionary, struct ArrowArray *item,
                                    struct csn_error *err) {
    const struct csn_allocator *alloc = f->alloc;
    size_t bits = csni_arrow_bits_size(total) + 1, rows = (size_t)total + 1;
    csni_arrow_array_add_children(item, FRAME_FIELDS);
    struct ArrowArray **fields = item->children;
    CSNI_TRY(csni_arrow_array_make(alloc, total, 2, (size_t[]){ 0, rows * sizeof(uint64_t) }, fields[OFFSET], err));
    CSNI_TRY(csni_arrow_array_make(alloc, total, 2, (size_t[]){ bits, rows * sizeof(uint32_t) }, fields[LINE], err));
    CSNI_TRY(csni_arrow_array_make(alloc, total, 2, (size_t[]){ 0, bits }, fields[INLINED], err));
    struct frame_columns to = {
        .functions = numbers, .files = numbers + rows,
        .offsets = csni_arrow_buffer(fields[OFFSET], 1),
        .lines = csni_arrow_buffer(fields[LINE], 1), .has_line = csni_arrow_buffer(fields[LINE], 0),
        .inlined = csni_arrow_buffer(fields[INLINED], 1),
    };
    fill_frames(f, answers, count, &to);
    fields[LINE]->null_count = to.without_line;
    CSNI_TRY(csni_arrow_strings_array(&f->functions, to.functions, total, with_dictionary, fields[FUNCTION], err));
    return csni_arrow_strings_array(&f->files, to.files, total, with_dictionary, fields[FILE_PATH], err);
}

static csn_status make_frame_items(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                                   int64_t total, bool with_dictionary, struct ArrowArray *item, struct csn_error *err) {
    size_t size = ((size_t)total + 1) * 2 * sizeof(uint32_t);
    CSNI_TRY(csni_arrow_array_make(f->alloc, total, 1, (size_t[]){ 0 }, item, err));
    uint32_t *numbers = csni_alloc(f->alloc, size);
    if (!numbers) return csni_fail_memory(err, size);
    csn_status status = make_frame_fields(f, answers, count, total, numbers, with_dictionary, item, err);
    csni_free(f->alloc, numbers, size);
    return status;
}

csn_status csni_arrow_frames_array(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                                   bool with_dictionary, struct ArrowArray *out, struct csn_error *err) {
    int64_t total = 0;
    for (int64_t row = 0; row < count; row++) total += answers[row].count;
    if (total > INT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%lld frames, an Arrow list has at most %d: pass smaller batches",
                         (long long)total, INT32_MAX);
    size_t sizes[] = { csni_arrow_bits_size(count) + 1, ((size_t)count + 1) * sizeof(int32_t) };
    CSNI_TRY(csni_arrow_array_make(f->alloc, count, 2, sizes, out, err));
    uint8_t *bits = csni_arrow_buffer(out, 0);
    int32_t *offsets = csni_arrow_buffer(out, 1);
    for (int64_t row = 0; row < count; row++) {
        offsets[row + 1] = offsets[row] + (int32_t)answers[row].count;
        if (answers[row].is_null) out->null_count++;
        else csni_arrow_set_bit(bits, row);
    }
    csni_arrow_array_add_children(out, 1);
    csn_status status = make_frame_items(f, answers, count, total, with_dictionary, out->children[0], err);
    if (status < 0) csni_arrow_array_release(out);
    return status;
}

csn_status csni_arrow_reasons_array(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                                    bool with_dictionary, struct ArrowArray *out, struct csn_error *err) {
    size_t size = ((size_t)count + 1) * sizeof(uint32_t);
    uint32_t *numbers = csni_alloc(f->alloc, size);
    *out = (struct ArrowArray){ 0 };
    if (!numbers) return csni_fail_memory(err, size);
    for (int64_t row = 0; row < count; row++) numbers[row] = answers[row].reason;
    csn_status status = csni_arrow_strings_array(&f->reasons, numbers, count, with_dictionary, out, err);
    csni_free(f->alloc, numbers, size);
    return status;
}

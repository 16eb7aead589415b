/* The logs of rombuild and rofsbuild: which binaries are in an image, where their code and data run, what they are called on
 * the device. Their symbols are in the linkers' maps. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/hash.h"
#include "model/distinct.h"
#include "formats/symbian/symbian_gather.h"

enum { HEAD_SIZE = 4096 };

/* ---- lines ---- */

static const char *const openings[] = { "ROMBUILD", "ROFSBUILD", "Creating Rom image", "Processing file ", "Reading resource ",
                                        "Reading file ", "Executable File '", "Compressed executable File '" };

bool csni_rom_log_recognize(struct csni_span file) {
    struct csni_lines lines = { { file.ptr, file.size < HEAD_SIZE ? file.size : HEAD_SIZE }, 0 };
    struct csn_str line;
    while (csni_lines_next(&lines, &line)) {
        for (size_t i = 0; i < line.len; i++)
            if (!line.ptr[i]) return false; /* no text */
        for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
            if (csni_str_starts(line, openings[i])) return true;
    }
    return false;
}

/* The rest of a line that begins with `label`, trimmed. */
static bool take_label(struct csn_str line, const char *label, struct csn_str *rest) {
    if (!csni_str_starts(line, label)) return false;
    size_t len = strlen(label);
    *rest = csni_text_trim((struct csn_str){ line.ptr + len, line.len - len });
    return true;
}

static bool take_log_value(struct csn_str line, const char *label, uint32_t *out) {
    struct csn_str rest;
    uint64_t value;
    if (!take_label(line, label, &rest) || !csni_text_take_hex(&rest, 1, 8, &value)) return false;
    *out = (uint32_t)value;
    return true;
}

/* ---- one log ---- */

struct file {
    struct csn_str path;   /* as the log has it */
    uint32_t code, data;   /* where they run; 0: anywhere, unknown */
    uint32_t size;
    uint32_t placed;       /* how often it stands in the image */
    uint32_t binary;       /* 1 + its number among those gathered; 0: none */
    bool is_program;
};

struct rename {
    uint32_t file;
    struct csn_str target; /* below z:\ */
};

struct log {
    struct csni_batch_writer *w;
    csni_map_finder *find;
    void *context;
    struct csni_symbian_gather gather;
    struct csni_distinct_strings paths; /* as keys: lower-case, backslashes, no drive */
    CSNI_VEC(struct file) files;        /* by index in paths */
    CSNI_VEC(struct rename) renames;
    struct file block;                  /* the file that lines are about */
    bool in_block, in_resource;
    uint32_t checksum;
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static char *lower_copy(struct log *l, struct csn_str text) {
    char *copy = csni_arena_copy(l->w->arena, text.ptr, text.len);
    for (size_t i = 0; copy && i < text.len; i++) copy[i] = text.ptr[i] == '/' ? '\\' : lower(text.ptr[i]);
    return copy;
}

/* The file of a path, new or not. NULL: out of memory. Valid until the next call. */
static struct file *file_of(struct log *l, struct csn_str path) {
    uint32_t index;
    struct csn_str key = path;
    if (key.len > 1 && key.ptr[1] == ':') key = (struct csn_str){ key.ptr + 2, key.len - 2 };
    const char *copy = lower_copy(l, key);
    if (!copy || !csni_distinct_strings_add(&l->paths, (struct csn_str){ copy, key.len }, csni_hash_bytes(copy, key.len), &index))
        return NULL;
    if (index == l->files.count && !csni_vec_push(&l->files, ((struct file){ .path = path }))) return NULL;
    return &l->files.items[index];
}

/* ---- symbols ---- */

/* Its map's symbols; without a map, one for all of it. */
static csn_status read_log_symbols(struct log *l, struct file *f, struct csn_error *err) {
    struct csni_span map;
    if (!csni_symbian_begin_binary(&l->gather, f->path)) return csni_fail_memory(err, sizeof *f);
    f->binary = (uint32_t)l->gather.binaries.count;
    csn_status status = f->is_program ? l->find(l->context, f->path, &map, err) : CSN_NONE;
    if (status == CSN_OK) status = csni_linker_map_symbols(map, f->code, f->data, l->w, &l->gather, err);
    if (status < 0) return status;
    if (status == CSN_OK && l->gather.binaries.items[f->binary - 1].count) return CSN_OK;
    if (f->is_program)
        csni_batch_note(l->w, CSN_EVENT_MISSING_MAP, "of %.*s", (int)(f->path.len < 150 ? f->path.len : 150), f->path.ptr);
    else if (!f->code) return CSN_OK; /* a data file that is nowhere */
    bool good = csni_symbian_add_symbol(&l->gather, csni_text_base_name(f->path), f->code, f->size, false);
    return good ? CSN_OK : csni_fail_memory(err, sizeof *f);
}

/* A file of the image; the second time it is not read again. */
static csn_status add_log_file(struct log *l, const struct file *given, struct csn_error *err) {
    struct file *f = file_of(l, given->path);
    if (!f) return csni_fail_memory(err, sizeof *f);
    if (f->binary) return CSN_OK;
    f->code = given->code;
    f->data = given->data;
    f->size = given->size;
    f->is_program = given->is_program;
    return read_log_symbols(l, f, err);
}

static csn_status end_block(struct log *l, struct csn_error *err) {
    bool was = l->in_block || l->in_resource;
    l->in_block = l->in_resource = false;
    return was ? add_log_file(l, &l->block, err) : CSN_OK;
}

/* ---- rombuild ---- */

static csn_status read_block_line(struct log *l, struct csn_str line, struct csn_error *err) {
    uint32_t value;
    if (!csni_text_trim(line).len) return end_block(l, err);
    if (take_log_value(line, "Code start addr:", &value)) l->block.code = value;
    else if (take_log_value(line, "DataBssLinearBase:", &value)) l->block.data = value;
    else if (take_log_value(line, "Code size:", &value) || take_log_value(line, "Size:", &value)) {
        if (!l->block.size || csni_str_starts(line, "Code")) l->block.size = value;
        if (l->in_resource) return end_block(l, err);
    }
    return CSN_OK;
}

/* "Reading resource PATH to rom linear address HEX8" */
static bool take_resource(struct csn_str line, struct csn_str *path, uint64_t *address) {
    static const char between[] = " to rom linear address ";
    struct csn_str rest;
    if (!take_label(line, "Reading resource ", &rest)) return false;
    for (size_t i = rest.len; i > sizeof between; i--) {
        struct csn_str tail = { rest.ptr + i - sizeof between + 1, rest.len - i + sizeof between - 1 };
        if (!csni_str_starts(tail, between)) continue;
        *path = csni_text_trim((struct csn_str){ rest.ptr, (size_t)(tail.ptr - rest.ptr) });
        tail = (struct csn_str){ rest.ptr + i, rest.len - i };
        return path->len && csni_text_take_hex(&tail, 1, 8, address);
    }
    return false;
}

/* ---- rofsbuild ---- */

/* "Executable File 'PATH' size: HEX8", compressed or not. */
static bool take_program(struct csn_str line, struct csn_str *path, uint64_t *size) {
    struct csn_str rest;
    if (!take_label(line, "Executable File '", &rest) && !take_label(line, "Compressed executable File '", &rest)) return false;
    for (size_t i = rest.len; i; i--) {
        if (rest.ptr[i - 1] != '\'') continue;
        struct csn_str tail = { rest.ptr + i, rest.len - i };
        *path = (struct csn_str){ rest.ptr, i - 1 };
        *size = 0;
        if (take_label(tail, " size:", &tail)) csni_text_take_hex(&tail, 1, 8, size);
        return path->len > 0;
    }
    return false;
}

/* ---- names on the device ---- */

/* "SOURCE <tab> SIZE <tab> [...] <tab> TARGET": which file goes where. */
static csn_status read_placement(struct log *l, struct csn_str line, struct csn_error *err) {
    static const char directory[] = "sys\\bin\\";
    const char *first = memchr(line.ptr, '\t', line.len);
    if (!first) return CSN_OK;
    struct csn_str source = csni_text_trim((struct csn_str){ line.ptr, (size_t)(first - line.ptr) }), target = { first, 0 };
    for (size_t i = line.len; i; i--)
        if (line.ptr[i - 1] == '\t') {
            target = csni_text_trim((struct csn_str){ line.ptr + i, line.len - i });
            break;
        }
    const char *copy = lower_copy(l, target);
    if (!copy) return csni_fail_memory(err, target.len);
    target.ptr = copy;
    if (!csni_str_starts(target, directory)) return CSN_OK;
    struct file *f = file_of(l, source);
    if (!f) return csni_fail_memory(err, sizeof *f);
    f->placed++;
    struct rename r = { (uint32_t)(f - l->files.items), target };
    return csni_vec_push(&l->renames, r) ? CSN_OK : csni_fail_memory(err, sizeof r);
}

static bool same_base(struct csn_str a, struct csn_str b) {
    a = csni_text_base_name(a);
    b = csni_text_base_name(b);
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i])) return false;
    return true;
}

static int by_binary(const void *pa, const void *pb) {
    const struct csni_rename *a = pa, *b = pb;
    if (a->binary != b->binary) return a->binary < b->binary ? -1 : 1;
    size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
    int by = memcmp(a->name.ptr, b->name.ptr, len);
    return by ? by : a->name.len < b->name.len ? -1 : a->name.len > b->name.len;
}

/* A file that stands in the image more than once keeps its own name too: another's rename would hide it. */
static csn_status make_renames(struct log *l, const uint32_t *numbers, struct csni_symbian_image *out, struct csn_error *err) {
    struct csni_rename *renames = csni_arena_alloc(l->w->arena, l->renames.count * sizeof *renames);
    if (!renames) return csni_fail_memory(err, l->renames.count * sizeof *renames);
    uint32_t count = 0;
    for (size_t i = 0; i < l->renames.count; i++) {
        const struct rename *r = &l->renames.items[i];
        const struct file *f = &l->files.items[r->file];
        uint32_t number = f->binary ? numbers[f->binary - 1] : 0;
        if (!number || (f->placed < 2 && same_base(f->path, r->target))) continue;
        char *name = csni_arena_alloc(l->w->arena, r->target.len + 3);
        if (!name) return csni_fail_memory(err, r->target.len + 3);
        memcpy(name, "z:\\", 3);
        memcpy(name + 3, r->target.ptr, r->target.len);
        renames[count++] = (struct csni_rename){ number - 1, { name, r->target.len + 3 } };
    }
    if (count) qsort(renames, count, sizeof *renames, by_binary);
    out->renames = renames;
    out->rename_count = count;
    return CSN_OK;
}

/* ---- the whole ---- */

static csn_status read_log_line(struct log *l, struct csn_str line, struct csn_error *err) {
    struct csn_str path;
    uint64_t value;
    uint32_t checksum;
    if (take_label(line, "Processing file ", &path) && path.len) {
        CSNI_TRY(end_block(l, err));
        l->block = (struct file){ .path = path, .is_program = true };
        l->in_block = true;
        return CSN_OK;
    }
    if (take_resource(line, &path, &value)) {
        CSNI_TRY(end_block(l, err));
        l->block = (struct file){ .path = path, .code = (uint32_t)value };
        l->in_resource = true;
        return CSN_OK;
    }
    if (take_program(line, &path, &value))
        return add_log_file(l, &(struct file){ .path = path, .size = (uint32_t)value, .is_program = true }, err);
    if (take_log_value(line, "Checksum word:", &checksum)) l->checksum = checksum;
    if (l->in_block || l->in_resource) return read_block_line(l, line, err);
    if (line.len && line.ptr[0] == '\\') return read_placement(l, line, err);
    return CSN_OK;
}

static csn_status read_log(struct log *l, struct csni_span file, struct csni_symbian_image *out, struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct csn_str line;
    while (csni_lines_next(&lines, &line)) CSNI_TRY(read_log_line(l, line, err));
    CSNI_TRY(end_block(l, err));
    size_t count = l->gather.binaries.count;
    uint32_t *numbers = csni_arena_alloc(l->w->arena, (count + 1) * sizeof *numbers);
    if (!numbers) return csni_fail_memory(err, count * sizeof *numbers);
    CSNI_TRY(csni_symbian_finish(&l->gather, l->w, out, numbers, err));
    out->checksum = l->checksum;
    return make_renames(l, numbers, out, err);
}

csn_status csni_rom_log_read(struct csni_span file, const struct csn_allocator *alloc, csni_map_finder *find, void *context,
                             struct csni_batch_writer *w, struct csni_symbian_image *out, struct csn_error *err) {
    struct log l = { .w = w, .find = find, .context = context, .paths.items.alloc = alloc, .files.alloc = alloc,
                     .renames.alloc = alloc };
    *out = (struct csni_symbian_image){ 0 };
    csni_symbian_gather_init(&l.gather, alloc);
    csn_status status = read_log(&l, file, out, err);
    csni_symbian_gather_deinit(&l.gather);
    csni_distinct_strings_deinit(&l.paths);
    csni_vec_deinit(&l.files);
    csni_vec_deinit(&l.renames);
    return status < 0 ? status : CSN_OK;
}

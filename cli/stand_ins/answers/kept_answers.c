/* Keeping answers between runs. */
#define _GNU_SOURCE
#include "stand_ins/answers/kept_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/answers/kept_file.h"
#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

enum { MAGIC_SIZE = 16 };
static const char file_magic[MAGIC_SIZE] = "csn-answers-1\n";
enum { MAX_FILE = 64 << 20 };     /* bytes of answers of one object and one set of options */

/* The file: magic, header, entries by address, texts. */
struct header {
    struct kept_subject subject;
    uint64_t count, text_size;
};
struct entry { uint64_t addr; uint32_t offset, size; };

struct kept_answers {
    char *path;
    struct file_identity object;
    struct kept_bytes mapped;
    const struct header *header; /* NULL: there is no file yet */
    const struct entry *entries;
    const char *text;
    struct { struct entry *items; size_t count, capacity; } added;
    struct grown_text added_text;
};

/* ---- reading ---- */

/* Have more arguments. */
static const char *const variables[] = { "LLVM_SYMBOLIZER_OPTS", "LLVM_ADDR2LINE_OPTS" };
enum { VARIABLES = sizeof variables / sizeof variables[0] };

/* The dialect, its arguments, and what the environment adds to them. */
static char *file_path(const struct file_identity *object, int argc, char **argv) {
    struct { const char **items; size_t count, capacity; } words = { 0 };
    const char *slash = strrchr(argv[0], '/');
    GROW_PUSH(&words, slash ? slash + 1 : argv[0]);
    for (int i = 1; i < argc; i++) GROW_PUSH(&words, argv[i]);
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *value = getenv(variables[i]);
        GROW_PUSH(&words, value ? value : "");
    }
    char *path = kept_file_path("answers", object, words.items, words.count);
    free(words.items);
    return path;
}

static void map_file(struct kept_answers *k) {
    const size_t head = MAGIC_SIZE + sizeof(struct header);
    k->mapped = kept_file_map(k->path);
    if (k->mapped.size < head) return;
    const char *bytes = k->mapped.ptr;
    const struct header *h = (const struct header *)(const void *)(bytes + MAGIC_SIZE);
    const uint64_t left = (uint64_t)k->mapped.size - head;
    if (memcmp(bytes, file_magic, MAGIC_SIZE) != 0 || h->count > left / sizeof(struct entry)) return;
    if (h->text_size != left - h->count * sizeof(struct entry) || !kept_subject_is_current(&h->subject, &k->object)) return;
    k->header = h;
    k->entries = (const struct entry *)(const void *)(bytes + head);
    k->text = bytes + head + h->count * sizeof(struct entry);
}

static bool shows_sources(const char *options) { return strstr(options, "source-context") || strstr(options, "verbose"); }

/* Whether answers may depend on other files than the object: arguments in one, lines of sources. */
static bool need_other_files(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '@' || shows_sources(argv[i])) return true;
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *value = getenv(variables[i]);
        if (value && (strchr(value, '@') || shows_sources(value))) return true;
    }
    return false;
}

struct kept_answers *kept_answers_open(const char *path, int argc, char **argv) {
    struct file_identity object;
    if (need_other_files(argc, argv)) return NULL;
    if (!file_identify(path, &object)) return NULL;
    char *file = file_path(&object, argc, argv);
    if (!file) return NULL;
    struct kept_answers *k = zeroed_memory(1, sizeof *k);
    k->object = object;
    k->path = file;
    map_file(k);
    return k;
}

bool kept_answers_exist(const struct kept_answers *k) { return k && k->header; }

static const struct entry *find_entry(const struct kept_answers *k, uint64_t addr) {
    if (!k || !k->header) return NULL;
    const size_t low = LOWER_BOUND(k->entries, (size_t)k->header->count, addr, addr);
    if (low == k->header->count || k->entries[low].addr != addr) return NULL;
    const struct entry *e = &k->entries[low];
    return e->offset > k->header->text_size || e->size > k->header->text_size - e->offset ? NULL : e;
}

bool kept_answers_has(const struct kept_answers *k, uint64_t addr) { return find_entry(k, addr); }

bool kept_answers_put(const struct kept_answers *k, uint64_t addr) {
    const struct entry *e = find_entry(k, addr);
    if (e) fwrite(k->text + e->offset, 1, e->size, stdout);
    return e;
}

/* ---- taking answers ---- */

void kept_answers_add(struct kept_answers *k, uint64_t addr, const char *text, size_t size) {
    if (!k || !size || k->added_text.count > MAX_FILE) return;
    const struct entry made = { addr, (uint32_t)k->added_text.count, (uint32_t)size };
    GROW_PUSH(&k->added, made);
    grow_text(&k->added_text, text, size);
}

/* ---- writing ---- */

static int by_addr(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Old and new answers together, each address once. */
static size_t merge_entries(struct kept_answers *k) {
    const size_t text_before = k->added_text.count;
    if (k->header && text_before + k->header->text_size <= MAX_FILE) {
        grow_text(&k->added_text, k->text, (size_t)k->header->text_size);
        for (uint64_t i = 0; i < k->header->count; i++) {
            struct entry e = k->entries[i];
            e.offset += (uint32_t)text_before;
            GROW_PUSH(&k->added, e);
        }
    }
    qsort(k->added.items, k->added.count, sizeof *k->added.items, by_addr);
    size_t kept = 0;
    for (size_t i = 0; i < k->added.count; i++)
        if (!kept || k->added.items[kept - 1].addr != k->added.items[i].addr) k->added.items[kept++] = k->added.items[i];
    return kept;
}

static void write_file(struct kept_answers *k, struct header *h) {
    struct kept_output out;
    h->count = merge_entries(k);
    h->text_size = k->added_text.count;
    kept_output_open(&out, k->path);
    const int copy = out.fd < 0 ? -1 : dup(out.fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "wb");
    bool good = file && fwrite(file_magic, MAGIC_SIZE, 1, file) == 1 && fwrite(h, sizeof *h, 1, file) == 1 &&
                fwrite(k->added.items, sizeof *k->added.items, (size_t)h->count, file) == h->count &&
                fwrite(k->added_text.items, 1, (size_t)h->text_size, file) == h->text_size;
    if (file && fclose(file) != 0) good = false;
    (void)kept_output_close(&out, good);
}

void kept_answers_close(struct kept_answers *k, struct csn_debug_info *info) {
    static struct header header;
    if (!k) return;
    header.subject.object = k->object;
    if (info && k->added.count && k->added_text.count <= MAX_FILE && kept_subject_describe(info, &header.subject))
        write_file(k, &header);
    kept_file_unmap(k->mapped);
    free(k->added.items);
    free(k->added_text.items);
    free(k->path);
    free(k);
}

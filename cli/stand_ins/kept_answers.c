/* Keeping answers between runs. */
#define _GNU_SOURCE
#include "stand_ins/kept_answers.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/cache_folder.h"
#include "stand_ins/growth.h"
#include "ui/bounds.h"

enum { MAGIC_SIZE = 16 };
static const char file_magic[MAGIC_SIZE] = "csn-answers-1\n";
enum { SMALL_OBJECT = 8 << 20 };  /* opening these is cheap */
enum { MAX_FILE = 64 << 20 };     /* bytes of answers of one object and one set of options */
enum { MAX_FOLDER = 512 << 20 };  /* of all; the oldest go first */

struct identity { uint64_t device, inode, size, modified_s, modified_ns, changed_s, changed_ns; };

/* The file: magic, header, entries by address, texts. In the machine's byte order: it stays on this machine. */
struct header {
    struct identity object, debug_file;
    uint64_t count, text_size;
    char debug_path[512];    /* empty: the object has its own */
};
struct entry { uint64_t addr; uint32_t offset, size; };

struct kept_answers {
    char *path;
    struct identity object;
    const struct header *header; /* mapped; NULL: there is no file yet */
    const struct entry *entries;
    const char *text;
    size_t mapped_size;
    struct { struct entry *items; size_t count, capacity; } added;
    struct { char *items; size_t count, capacity; } added_text;
    FILE *real, *captured;
    char *captured_text;
    size_t captured_size;
};

/* ---- identity ---- */

static bool identify(const char *path, struct identity *out) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    *out = (struct identity){ (uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                              (uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_ctim.tv_sec, (uint64_t)st.st_ctim.tv_nsec };
    return true;
}

static bool same_identity(const struct identity *a, const struct identity *b) { return memcmp(a, b, sizeof *a) == 0; }

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* Two hashes: names of answers must not collide by chance. */
static char *file_name(const char *folder, const struct identity *object, int argc, char **argv) {
    static const char *const variables[] = { "LLVM_SYMBOLIZER_OPTS", "LLVM_ADDR2LINE_OPTS" };
    uint64_t hash[2] = { UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4) };
    char *name = NULL;
    struct identity program = { 0 };
    (void)identify("/proc/self/exe", &program); /* another build may answer otherwise */
    for (int k = 0; k < 2; k++) {
        hash[k] = mix(mix(hash[k], object, sizeof *object), &program, sizeof program);
        for (int i = 0; i < argc; i++) {
            const char *word = i ? argv[i] : strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
            hash[k] = mix(hash[k], word, strlen(word) + 1);
        }
        for (size_t i = 0; i < 2; i++) {
            const char *value = getenv(variables[i]);
            hash[k] = mix(hash[k], value ? value : "", value ? strlen(value) + 1 : 1);
        }
    }
    return asprintf(&name, "%s/answers/%016" PRIx64 "%016" PRIx64, folder, hash[0], hash[1]) < 0 ? NULL : name;
}

/* ---- reading ---- */

static void map_file(struct kept_answers *k) {
    struct stat st;
    struct identity now;
    const int fd = open(k->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const size_t head = MAGIC_SIZE + sizeof(struct header);
    if (fstat(fd, &st) == 0 && (size_t)st.st_size >= head) {
        char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        const struct header *h = bytes == MAP_FAILED ? NULL : (const struct header *)(const void *)(bytes + MAGIC_SIZE);
        const uint64_t left = (uint64_t)st.st_size - head;
        bool good = h && memcmp(bytes, file_magic, MAGIC_SIZE) == 0 && h->count <= left / sizeof(struct entry) &&
                    h->text_size == left - h->count * sizeof(struct entry) && same_identity(&h->object, &k->object) &&
                    memchr(h->debug_path, 0, sizeof h->debug_path);
        if (good && h->debug_path[0]) good = identify(h->debug_path, &now) && same_identity(&now, &h->debug_file);
        if (good) {
            k->header = h;
            k->entries = (const struct entry *)(const void *)(bytes + head);
            k->text = bytes + head + h->count * sizeof(struct entry);
            k->mapped_size = (size_t)st.st_size;
        } else if (h) {
            munmap(bytes, (size_t)st.st_size);
        }
    }
    close(fd);
}

struct kept_answers *kept_answers_open(const char *path, int argc, char **argv) {
    struct identity object;
    char *folder = cache_folder(NULL);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '@' || strstr(argv[i], "source-context") || strstr(argv[i], "verbose")) path = NULL;
    if (!path || !folder || !identify(path, &object)) {
        free(folder);
        return NULL;
    }
    struct kept_answers *k = zeroed_memory(1, sizeof *k);
    k->object = object;
    k->path = file_name(folder, &object, argc, argv);
    free(folder);
    if (k->path) map_file(k);
    return k;
}

bool kept_answers_exist(const struct kept_answers *k) { return k && k->header; }

bool kept_answers_put(const struct kept_answers *k, uint64_t addr) {
    if (!k || !k->header) return false;
    size_t low = LOWER_BOUND(k->entries, (size_t)k->header->count, addr, addr);
    if (low == k->header->count || k->entries[low].addr != addr) return false;
    const struct entry *e = &k->entries[low];
    if (e->offset > k->header->text_size || e->size > k->header->text_size - e->offset) return false;
    fwrite(k->text + e->offset, 1, e->size, stdout);
    return true;
}

/* ---- taking answers ---- */

#ifdef __GLIBC__ /* where stdout can be another file for a while */

void kept_answers_begin(struct kept_answers *k) {
    if (!k || k->added_text.count > MAX_FILE) return;
    if (!k->captured) k->captured = open_memstream(&k->captured_text, &k->captured_size);
    if (!k->captured) return;
    rewind(k->captured);
    k->real = stdout;
    stdout = k->captured;
}

void kept_answers_end(struct kept_answers *k, uint64_t addr, bool keeps) {
    if (!k || !k->real) return;
    stdout = k->real;
    k->real = NULL;
    const long size = ftell(k->captured);
    if (fflush(k->captured) != 0 || size < 0 || (size_t)size > k->captured_size) return;
    fwrite(k->captured_text, 1, (size_t)size, stdout);
    if (!keeps) return;
    const struct entry made = { addr, (uint32_t)k->added_text.count, (uint32_t)size };
    GROW_PUSH(&k->added, made);
    k->added_text.items = grow_items(k->added_text.items, k->added_text.count + (size_t)size, &k->added_text.capacity, 1);
    memcpy(k->added_text.items + k->added_text.count, k->captured_text, (size_t)size);
    k->added_text.count += (size_t)size;
}

#else

void kept_answers_begin(struct kept_answers *k) { (void)k; }
void kept_answers_end(struct kept_answers *k, uint64_t addr, bool keeps) { (void)k, (void)addr, (void)keeps; }

#endif

/* ---- writing ---- */

static bool has_split_units(struct csn_debug_info *info, const struct csn_debug_object *object) {
    for (uint32_t i = 0; i < object->info_unit_count; i++) {
        const struct csn_debug_unit *unit;
        if (csn_debug_info_unit(info, i, &unit, NULL) == CSN_OK && unit->is_skeleton) return true;
    }
    return false;
}

/* Whether nothing else than the object and its debug file decides about answers, and reading them takes its time. */
static bool is_worth_keeping(const struct kept_answers *k, struct csn_debug_info *info, struct header *h) {
    struct csn_debug_object object;
    struct csn_debug_section section;
    csn_debug_info_get_object(info, &object, sizeof object);
    if (!object.info_unit_count || (object.has_debug_file && !object.debug_path)) return false;
    if (object.has_debug_file) {
        if (strlen(object.debug_path) >= sizeof h->debug_path || !identify(object.debug_path, &h->debug_file)) return false;
        strcpy(h->debug_path, object.debug_path);
    }
    if (k->object.size < SMALL_OBJECT && h->debug_file.size < SMALL_OBJECT) return false;
    for (uint32_t i = 0; i < object.section_count; i++)
        if (csn_debug_info_section(info, i, &section, NULL) == CSN_OK && section.name.len == 17 &&
            memcmp(section.name.ptr, ".gnu_debugaltlink", 17) == 0)
            return false;
    return !has_split_units(info, &object);
}

static int by_addr(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Old and new answers together, each address once. */
static size_t merge_entries(struct kept_answers *k) {
    const size_t text_before = k->added_text.count;
    if (k->header && text_before + k->header->text_size <= MAX_FILE) {
        k->added_text.items = grow_items(k->added_text.items, text_before + (size_t)k->header->text_size, &k->added_text.capacity, 1);
        memcpy(k->added_text.items + text_before, k->text, (size_t)k->header->text_size);
        k->added_text.count += (size_t)k->header->text_size;
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

/* Removes the oldest files where all are too many. */
static void bound_folder(const char *folder) {
    uint64_t total = 0, oldest = UINT64_MAX;
    char *oldest_path = NULL;
    DIR *list = opendir(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        char *path = NULL;
        struct identity file;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) >= 0 && identify(path, &file)) {
            total += file.size;
            if (file.modified_s < oldest) {
                oldest = file.modified_s;
                free(oldest_path);
                oldest_path = path;
                path = NULL;
            }
        }
        free(path);
    }
    if (list) closedir(list);
    if (total > MAX_FOLDER && oldest_path) unlink(oldest_path);
    free(oldest_path);
}

static void write_file(struct kept_answers *k, struct header *h) {
    char *temporary = NULL, *folder = copy_text(k->path, (size_t)(strrchr(k->path, '/') - k->path));
    char *parent = copy_text(folder, (size_t)(strrchr(folder, '/') - folder));
    h->object = k->object;
    h->count = merge_entries(k);
    h->text_size = k->added_text.count;
    (void)mkdir(parent, 0777);
    (void)mkdir(folder, 0777);
    if (asprintf(&temporary, "%s.XXXXXX", k->path) >= 0) {
        const int fd = mkostemp(temporary, O_CLOEXEC);
        FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
        bool good = file && fwrite(file_magic, MAGIC_SIZE, 1, file) == 1 && fwrite(h, sizeof *h, 1, file) == 1 &&
                    fwrite(k->added.items, sizeof *k->added.items, (size_t)h->count, file) == h->count &&
                    fwrite(k->added_text.items, 1, (size_t)h->text_size, file) == h->text_size;
        if (file && fclose(file) != 0) good = false;
        if (fd >= 0 && (!good || rename(temporary, k->path) != 0)) unlink(temporary);
        if (good) bound_folder(folder);
    }
    free(temporary);
    free(folder);
    free(parent);
}

void kept_answers_close(struct kept_answers *k, struct csn_debug_info *info) {
    static struct header header;
    if (!k) return;
    if (k->path && info && k->added.count && k->added_text.count <= MAX_FILE && is_worth_keeping(k, info, &header)) write_file(k, &header);
    if (k->header) munmap((void *)(uintptr_t)((const char *)k->header - MAGIC_SIZE), k->mapped_size);
    if (k->captured) fclose(k->captured);
    free(k->captured_text);
    free(k->added.items);
    free(k->added_text.items);
    free(k->path);
    free(k);
}

/* The modules that the dynamic linker has loaded. */
#define _GNU_SOURCE
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "backtrace/backtrace_private.h"
#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"

enum { NOTE_GNU_BUILD_ID = 3 };

/* One run over the loaded modules. */
struct module_listing {
    struct csn_backtrace *backtrace;
    CSNI_VEC(struct csni_backtrace_segment) segments;
    bool is_first;           /* the program itself comes first */
    bool is_unchanged;
    csn_status status;
    struct csn_error *err;
};

/* ---- what a module is ---- */

static size_t note_padded(size_t size) { return (size + 3) & ~(size_t)3; }

/* The build id among the notes of a segment, which is memory of this process. */
static size_t find_note_id(const uint8_t *notes, size_t size, uint8_t out[CSNI_BACKTRACE_ID_MAX]) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        size_t name = sizeof note, desc = name + note_padded(note.n_namesz), end = desc + note_padded(note.n_descsz);
        if (note.n_namesz > size || note.n_descsz > size || end > size) return 0;
        if (note.n_type == NOTE_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0
            && note.n_descsz <= CSNI_BACKTRACE_ID_MAX) {
            memcpy(out, notes + desc, note.n_descsz);
            return note.n_descsz;
        }
        notes += end;
        size -= end;
    }
    return 0;
}

static bool is_within_load(const struct dl_phdr_info *info, const ElfW(Phdr) *part) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type == PT_LOAD && part->p_vaddr >= load->p_vaddr
            && part->p_vaddr + part->p_filesz <= load->p_vaddr + load->p_filesz) return true;
    }
    return false;
}

static size_t loaded_build_id(const struct dl_phdr_info *info, uint8_t out[CSNI_BACKTRACE_ID_MAX]) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_NOTE || !is_within_load(info, part)) continue;
        size_t size = find_note_id((const uint8_t *)(uintptr_t)(info->dlpi_addr + part->p_vaddr), part->p_filesz, out);
        if (size) return size;
    }
    return 0;
}

static void program_path(const struct csn_backtrace *backtrace, char out[CSNI_BACKTRACE_PATH_SIZE]) {
    const char *given = backtrace->options.program_path;
    size_t len = given ? strlen(given) : 0;
    if (given && len < CSNI_BACKTRACE_PATH_SIZE) {
        memcpy(out, given, len + 1);
        return;
    }
    ssize_t got = readlink("/proc/self/exe", out, CSNI_BACKTRACE_PATH_SIZE - 1);
    out[got > 0 ? got : 0] = 0;
}

/* From the first segment to the last; *end 0: there is none. */
static void find_bounds(const struct dl_phdr_info *info, uint64_t *start, uint64_t *end) {
    *start = UINT64_MAX;
    *end = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type != PT_LOAD || !load->p_memsz) continue;
        uint64_t low = info->dlpi_addr + load->p_vaddr, high = low + load->p_memsz;
        if (low < *start) *start = low;
        if (high > *end) *end = high;
    }
}

/* ---- the list ---- */

static bool is_same(const struct csni_backtrace_module *known, const struct csn_backtrace_module *now) {
    return known->shown.bias == now->bias && known->shown.start == now->start && known->shown.end == now->end
           && known->shown.build_id_size == now->build_id_size
           && (!now->build_id_size || memcmp(known->build_id, now->build_id, now->build_id_size) == 0)
           && strcmp(known->shown.path, now->path) == 0;
}

static struct csni_backtrace_module *add_module(struct csn_backtrace *backtrace, const struct csn_backtrace_module *now,
                                                bool is_program) {
    size_t path_size = strlen(now->path) + 1, size = sizeof(struct csni_backtrace_module) + path_size;
    struct csni_backtrace_module *module = csni_alloc_zeroed(backtrace->alloc, 1, size);
    if (!module) return NULL;
    module->memory_size = size;
    module->shown = *now;
    memcpy(module->path, now->path, path_size);
    if (now->build_id_size) memcpy(module->build_id, now->build_id, now->build_id_size);
    module->shown.path = module->path;
    module->shown.build_id = now->build_id_size ? module->build_id : NULL;
    module->open_path = is_program && access(module->path, R_OK) != 0 ? "/proc/self/exe" : module->path;
    module->next = backtrace->modules;
    backtrace->modules = module;
    return module;
}

static struct csni_backtrace_module *known_module(struct csn_backtrace *backtrace, const struct csn_backtrace_module *now) {
    for (struct csni_backtrace_module *module = backtrace->modules; module; module = module->next)
        if (is_same(module, now)) return module;
    return NULL;
}

static bool add_segments(struct module_listing *listing, const struct dl_phdr_info *info, struct csni_backtrace_module *module) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type != PT_LOAD || !load->p_memsz) continue;
        uint64_t start = info->dlpi_addr + load->p_vaddr;
        const struct csni_backtrace_segment segment = { start, start + load->p_memsz, module };
        if (!csni_vec_push(&listing->segments, segment)) return false;
    }
    return true;
}

static csn_status list_module(struct module_listing *listing, const struct dl_phdr_info *info) {
    char path[CSNI_BACKTRACE_PATH_SIZE];
    uint8_t id[CSNI_BACKTRACE_ID_MAX];
    struct csn_backtrace *backtrace = listing->backtrace;
    bool is_program = listing->is_first;
    listing->is_first = false;
    if (is_program) program_path(backtrace, path);
    struct csn_backtrace_module now = { .path = is_program ? path : info->dlpi_name, .bias = info->dlpi_addr, .build_id = id };
    if (!now.path) now.path = "";
    now.build_id_size = loaded_build_id(info, id);
    find_bounds(info, &now.start, &now.end);
    if (!now.end) return CSN_OK;
    struct csni_backtrace_module *module = known_module(backtrace, &now);
    if (!module) module = add_module(backtrace, &now, is_program);
    return module && add_segments(listing, info, module) ? CSN_OK : csni_fail_memory(listing->err, sizeof *module);
}

/* The dynamic linker counts what it loads and unloads; older ones do not give the counts. */
static bool is_listed_already(struct module_listing *listing, const struct dl_phdr_info *info, size_t size) {
    struct csn_backtrace *backtrace = listing->backtrace;
    if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) return false;
    bool is_same_count = backtrace->has_counts && backtrace->adds == info->dlpi_adds && backtrace->subs == info->dlpi_subs;
    backtrace->adds = info->dlpi_adds;
    backtrace->subs = info->dlpi_subs;
    return is_same_count;
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *context) {
    struct module_listing *listing = context;
    if (listing->is_first && is_listed_already(listing, info, size)) {
        listing->is_unchanged = true;
        return 1;
    }
    listing->status = list_module(listing, info);
    return listing->status < 0;
}

static bool starts_before(const void *context, const void *a, const void *b) {
    const struct csni_backtrace_segment *x = a, *y = b;
    (void)context;
    return x->start < y->start;
}

static csn_status publish(struct module_listing *listing) {
    struct csn_backtrace *backtrace = listing->backtrace;
    size_t count = listing->segments.count, size = sizeof(struct csni_backtrace_list) + count * sizeof *listing->segments.items;
    struct csni_backtrace_list *list = csni_alloc(backtrace->alloc, size);
    if (!list) return csni_fail_memory(listing->err, size);
    list->older = atomic_load_explicit(&backtrace->list, memory_order_relaxed);
    list->count = count;
    if (count) {
        csni_heap_sort(listing->segments.items, count, sizeof *listing->segments.items, starts_before, NULL);
        memcpy(list->segments, listing->segments.items, count * sizeof *listing->segments.items);
    }
    atomic_store_explicit(&backtrace->list, list, memory_order_release);
    return CSN_OK;
}

csn_status csni_backtrace_list_modules(struct csn_backtrace *backtrace, struct csn_error *err) {
    struct module_listing listing = {
        .backtrace = backtrace, .segments = { .alloc = backtrace->alloc }, .is_first = true, .err = err
    };
    dl_iterate_phdr(visit_module, &listing);
    csn_status status = listing.status;
    if (status >= 0 && !listing.is_unchanged) status = publish(&listing);
    backtrace->has_counts = status >= 0;
    csni_vec_deinit(&listing.segments);
    return status;
}

struct csni_backtrace_module *csni_backtrace_module_of(const struct csn_backtrace *backtrace, uint64_t pc) {
    const struct csni_backtrace_list *list = atomic_load_explicit(&backtrace->list, memory_order_acquire);
    if (!list) return NULL;
    const size_t low = csni_upper_bound(list->segments, list->count, end, pc);
    return low < list->count && pc >= list->segments[low].start ? list->segments[low].module : NULL;
}

const struct csn_backtrace_module *csn_backtrace_find_module(const struct csn_backtrace *backtrace, uint64_t pc) {
    struct csni_backtrace_module *module = csni_backtrace_module_of(backtrace, pc);
    if (!module) return NULL;
    const struct csn_backtrace_module *open = atomic_load_explicit(&module->with_index, memory_order_acquire);
    return open ? open : &module->shown;
}

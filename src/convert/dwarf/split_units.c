/* Split DWARF of an image: packages, .dwo files, and what to do without them. */
#include "convert/dwarf/split_units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/hash.h"
#include "convert/dwarf/split_dwo.h"
#include "convert/dwarf/symbol_list.h"
#include "convert/dwarf/unit_walk.h"
#include "dwarf/dwarf_split.h"

enum {
    MAX_PACKAGES = 64,
    BUDGET_SHARE = 16 /* bytes of a unit that count as one: a few of a file's units may be used again and again */
};

enum { NONE = CSNI_NO_SKELETON };

struct skeleton {
    uint64_t dwo_id, name_hash;
    uint32_t unit;              /* index in the image's units */
    uint32_t dwo;
    uint32_t next;              /* skeleton of the same id, or NONE */
    bool is_first;              /* of those of its id */
    struct csni_unit *found;    /* in a package; NULL: look for a .dwo file */
    uint32_t package;
};

/* Scopes of the package that a worker read last. */
struct package_scopes {
    uint32_t package;
    struct csni_scopes *scopes;
};

struct csni_split_units {
    struct csni_conversion *c;
    const struct csni_dwarf *image;
    struct csni_object *object;
    struct skeleton *skeletons;  /* in order of units */
    uint32_t skeleton_count;
    uint32_t *by_unit;           /* skeleton of each unit of the image, or NONE */
    struct csni_split_file packages[MAX_PACKAGES];
    uint32_t package_count;
    struct csni_split_dwo *dwos;
    uint32_t dwo_count;
    struct package_scopes *scopes; /* by worker */
    atomic_uint failed;
    pthread_mutex_t symbols_lock;
    struct csni_symbol_list symbols; /* read when the first unit is missing */
    bool symbols_read;
};

/* ---- skeletons ---- */

static csn_status list_skeletons(struct csni_split_units *s, struct csn_error *err) {
    uint32_t units = s->image->info_unit_count;
    for (uint32_t i = 0; i < units; i++)
        s->skeleton_count += s->image->units[i].prepared && s->image->units[i].is_skeleton;
    s->by_unit = csni_alloc_zeroed(s->c->alloc, s->image->unit_count, sizeof *s->by_unit);
    s->skeletons = csni_alloc_zeroed(s->c->alloc, s->skeleton_count, sizeof *s->skeletons);
    if (!s->by_unit || !s->skeletons) return csni_fail_memory(err, s->skeleton_count * sizeof *s->skeletons);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->image->unit_count; i++) {
        const struct csni_unit *unit = &s->image->units[i];
        s->by_unit[i] = NONE;
        if (i >= units || !unit->prepared || !unit->is_skeleton) continue;
        s->by_unit[i] = at;
        s->skeletons[at++] = (struct skeleton){ .dwo_id = unit->dwo_id, .unit = i, .dwo = NONE, .next = NONE };
    }
    return CSN_OK;
}

struct key {
    uint64_t value;
    uint32_t skeleton;
};

static int by_value(const void *pa, const void *pb) {
    const struct key *a = pa, *b = pb;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->skeleton < b->skeleton ? -1 : a->skeleton > b->skeleton;
}

/* Chains skeletons of one id: two copies of one object in a program have the same. */
static void chain_by_id(struct csni_split_units *s, struct key *keys) {
    for (uint32_t i = 0; i < s->skeleton_count; i++) keys[i] = (struct key){ s->skeletons[i].dwo_id, i };
    qsort(keys, s->skeleton_count, sizeof *keys, by_value);
    for (uint32_t i = 0; i < s->skeleton_count; i++) {
        bool is_first = !i || keys[i - 1].value != keys[i].value;
        s->skeletons[keys[i].skeleton].is_first = is_first;
        if (!is_first) s->skeletons[keys[i - 1].skeleton].next = keys[i].skeleton;
    }
}

static const struct csni_unit *unit_of(const struct csni_split_units *s, uint32_t skeleton) {
    return &s->image->units[s->skeletons[skeleton].unit];
}

static bool same_file(const struct csni_unit *a, const struct csni_unit *b) {
    return csni_str_equal(a->dwo_name, b->dwo_name) && csni_str_equal(a->comp_dir, b->comp_dir);
}

static uint64_t hash_of_name(const struct csni_unit *unit) {
    if (!csni_split_dwo_has_name(unit)) return 0;
    return csni_hash_bytes(unit->dwo_name.ptr, unit->dwo_name.len) ^
           csni_hash_u64(csni_hash_bytes(unit->comp_dir.ptr, unit->comp_dir.len));
}

/* Tells which skeletons name the same file. Those found in packages name none. */
static csn_status list_dwos(struct csni_split_units *s, struct key *keys, struct csn_error *err) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->skeleton_count; i++)
        if (!s->skeletons[i].found) keys[count++] = (struct key){ hash_of_name(unit_of(s, i)), i };
    if (count) qsort(keys, count, sizeof *keys, by_value);
    s->dwos = csni_alloc_zeroed(s->c->alloc, count, sizeof *s->dwos);
    if (count && !s->dwos) return csni_fail_memory(err, count * sizeof *s->dwos);
    for (uint32_t i = 0; i < count; i++) {
        const struct csni_unit *unit = unit_of(s, keys[i].skeleton);
        struct csni_split_dwo *last = s->dwo_count ? &s->dwos[s->dwo_count - 1] : NULL;
        if (!i || keys[i - 1].value != keys[i].value || !keys[i].value || !same_file(last->named_by, unit)) {
            last = &s->dwos[s->dwo_count++];
            csni_split_dwo_init(last, unit);
        }
        atomic_fetch_add(&last->users, 1);
        s->skeletons[keys[i].skeleton].dwo = s->dwo_count - 1;
    }
    return CSN_OK;
}

static csn_status group_skeletons(struct csni_split_units *s, struct csn_error *err) {
    struct key *keys = csni_alloc_zeroed(s->c->alloc, s->skeleton_count, sizeof *keys);
    if (!keys) return csni_fail_memory(err, s->skeleton_count * sizeof *keys);
    chain_by_id(s, keys);
    csn_status status = list_dwos(s, keys, err);
    csni_free(s->c->alloc, keys, s->skeleton_count * sizeof *keys);
    return status;
}

/* ---- packages ---- */

static void note_damaged_package(struct csni_split_units *s, const struct csni_split_file *file,
                                 const struct csn_error *damage) {
    char text[CSN_EXAMPLE_SIZE];
    const char *path = file->companion ? csni_companion_path(file->companion) : "split DWARF of the image";
    int len = snprintf(text, sizeof text, "%s: %s", path, csn_error_text(damage));
    size_t shown = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    csni_report_add(s->c->report, CSN_EVENT_DAMAGED_UNIT, 1, (struct csn_str){ text, shown });
}

/* Opens the file at the end of the packages and keeps it if that works. */
static csn_status open_package(struct csni_split_units *s, struct csn_error *err) {
    struct csni_split_file *file = &s->packages[s->package_count];
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = CSN_OK;
    if (file->companion) {
        status = csni_companion_parse(s->c, file->companion, &damage);
        file->object = file->companion->object;
    }
    if (status >= 0) status = csni_split_file_open(file, s->c, s->c->pool, s->image, &damage);
    if (status == CSN_E_MEMORY || status == CSN_E_CANCELLED) {
        csni_split_file_close(file, s->c);
        return csni_fail_memory(err, 0);
    }
    if (status < 0) {
        note_damaged_package(s, file, &damage);
        csni_split_file_close(file, s->c);
        *file = (struct csni_split_file){ 0 };
        return CSN_OK;
    }
    if (file->dwarf->damage.code) note_damaged_package(s, file, &file->dwarf->damage);
    s->package_count++;
    return CSN_OK;
}

/* A resolver that skips none gives the same package again. */
static bool is_known(const struct csni_split_units *s, const struct csni_companion_file *file) {
    for (uint32_t i = 0; i < s->package_count; i++) {
        const struct csni_companion_file *other = s->packages[i].companion;
        if (!other || file->bytes.size != other->bytes.size) continue;
        if (file->bytes.ptr == other->bytes.ptr) return true;
        if (file->found.path && other->found.path && strcmp(file->found.path, other->found.path) == 0) return true;
    }
    return false;
}

/* Of the image's debug file; NULL: it has none. */
static const char *debug_path(const struct csni_split_units *s) {
    for (size_t i = 0; i < s->c->companions.count; i++)
        if (s->c->companions.items[i]->object == s->object) return s->c->companions.items[i]->found.path;
    return NULL;
}

static csn_status open_packages(struct csni_split_units *s, struct csn_error *err) {
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_DWP,
                                             .image_path = s->c->input.path, .name = debug_path(s),
                                             .id = s->c->object->build_id.ptr,
                                             .id_size = s->c->object->build_id.size };
    if (csni_split_file_recognize(s->object)) { /* -gsplit-dwarf=single, and the object itself is converted */
        s->packages[0].object = s->object;
        CSNI_TRY(open_package(s, err));
    }
    for (; s->package_count < MAX_PACKAGES && request.skip < MAX_PACKAGES; request.skip++) {
        struct csni_companion_file *file;
        csn_status status = csni_companion_find(s->c, &request, &file, err);
        if (status != CSN_OK) return status < 0 ? status : CSN_OK;
        if (is_known(s, file)) {
            csni_companion_close(s->c, file);
            return CSN_OK;
        }
        s->packages[s->package_count].companion = file;
        CSNI_TRY(open_package(s, err));
    }
    return CSN_OK;
}

static void find_in_packages(struct csni_split_units *s) {
    for (uint32_t i = 0; i < s->skeleton_count; i++)
        for (uint32_t p = 0; p < s->package_count && !s->skeletons[i].found; p++) {
            s->skeletons[i].found = csni_split_find(s->packages[p].dwarf, s->skeletons[i].dwo_id);
            s->skeletons[i].package = p;
        }
}

/* ---- all of it ---- */

static bool has_skeleton(const struct csni_dwarf *dwarf) {
    for (uint32_t i = 0; i < dwarf->info_unit_count; i++)
        if (dwarf->units[i].prepared && dwarf->units[i].is_skeleton) return true;
    return false;
}

csn_status csni_split_units_create(struct csni_conversion *c, struct csni_dwarf *dwarf, struct csni_object *object,
                                   struct csni_split_units **out, struct csn_error *err) {
    *out = NULL;
    if (!has_skeleton(dwarf)) return CSN_OK;
    struct csni_split_units *s = csni_alloc_zeroed(c->alloc, 1, sizeof *s);
    if (!s) return csni_fail_memory(err, sizeof *s);
    s->c = c;
    s->image = dwarf;
    s->object = object;
    s->symbols.items.alloc = c->alloc;
    pthread_mutex_init(&s->symbols_lock, NULL);
    s->scopes = csni_alloc_zeroed(c->alloc, c->workers, sizeof *s->scopes);
    csn_status status = s->scopes ? list_skeletons(s, err) : csni_fail_memory(err, c->workers * sizeof *s->scopes);
    if (status >= 0) status = open_packages(s, err);
    if (status >= 0) find_in_packages(s);
    if (status >= 0) status = group_skeletons(s, err);
    if (status < 0) csni_split_units_destroy(s);
    else *out = s;
    return status;
}

void csni_split_units_destroy(struct csni_split_units *s) {
    if (!s) return;
    const struct csn_allocator *alloc = s->c->alloc;
    for (uint32_t i = 0; s->scopes && i < s->c->workers; i++) csni_scopes_destroy(s->scopes[i].scopes);
    for (uint32_t i = 0; i < s->dwo_count; i++) csni_split_dwo_deinit(&s->dwos[i], s->c);
    csni_shared_budget_raise(&s->c->budget, CSNI_BUDGET_A_BYTE * atomic_exchange(&s->c->split_bytes, 0));
    for (uint32_t i = 0; i < s->package_count; i++) csni_split_file_close_later(&s->packages[i], s->c);
    uint32_t named = 0;
    for (uint32_t i = 0; s->skeletons && i < s->skeleton_count; i++) named += !s->skeletons[i].found;
    csni_free(alloc, s->dwos, named * sizeof *s->dwos);
    csni_free(alloc, s->scopes, s->c->workers * sizeof *s->scopes);
    csni_free(alloc, s->skeletons, s->skeleton_count * sizeof *s->skeletons);
    csni_free(alloc, s->by_unit, s->image->unit_count * sizeof *s->by_unit);
    csni_symbol_list_deinit(&s->symbols);
    pthread_mutex_destroy(&s->symbols_lock);
    csni_free(alloc, s, sizeof *s);
}

uint64_t csni_split_units_size(const struct csni_split_units *s, uint32_t index) {
    uint32_t skeleton = s->by_unit[index];
    const struct csni_unit *found = skeleton == NONE ? NULL : s->skeletons[skeleton].found;
    return found ? found->end - found->off : 0;
}

bool csni_split_units_is_first(const struct csni_split_units *s, uint32_t index) {
    return s->by_unit[index] == NONE || s->skeletons[s->by_unit[index]].is_first;
}

uint32_t csni_split_units_next(const struct csni_split_units *s, uint32_t index) {
    uint32_t next = s->by_unit[index] == NONE ? NONE : s->skeletons[s->by_unit[index]].next;
    return next == NONE ? NONE : s->skeletons[next].unit;
}

uint32_t csni_split_units_failed(const struct csni_split_units *s) { return atomic_load(&s->failed); }

/* ---- converting ---- */

/* Makes a unit that was found ready to be read. */
static csn_status bind(const struct csni_split_file *file, struct csni_unit *unit, const struct csni_unit *skeleton,
                       struct csn_error *err) {
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = unit->prepared ? CSN_OK : csni_unit_prepare(file->dwarf, unit, &inner);
    if (status >= 0) status = csni_split_bind(unit, skeleton, &inner);
    if (status >= 0) return CSN_OK;
    const char *path = file->companion ? csni_companion_path(file->companion) : "split DWARF of the image";
    return csni_fail(err, status, NULL, 0, "%s: %s", path, csn_error_text(&inner));
}

/* The worker's scopes for a package: made anew when it was another that the worker read last. */
static csn_status scopes_of_package(struct csni_split_units *s, uint32_t worker, uint32_t package,
                                    struct csni_scopes **out, struct csn_error *err) {
    struct package_scopes *mine = &s->scopes[worker];
    if (mine->scopes && mine->package != package) {
        csni_scopes_destroy(mine->scopes);
        mine->scopes = NULL;
    }
    mine->package = package;
    if (!mine->scopes) CSNI_TRY(csni_scopes_create(s->packages[package].dwarf, &mine->scopes, err));
    *out = mine->scopes;
    return CSN_OK;
}

static csn_status convert_found(struct csni_split_units *s, struct csni_unit_job *job, uint32_t skeleton,
                                struct csni_split_file *file, const struct csni_unit *unit,
                                struct csni_scopes *scopes, struct csni_batch *out, struct csn_error *err) {
    struct csni_unit_source source = job->image;
    source.dwarf = file->dwarf;
    source.scopes = scopes;
    source.unit = unit;
    source.line_unit = unit_of(s, skeleton);
    /* Packages stay open for their strings; .dwo files do not. */
    source.damage = s->skeletons[skeleton].found ? NULL : &file->dwarf->damage; /* a package's has been told */
    source.lifetime = s->skeletons[skeleton].found ? CSNI_LIFETIME_STRING_SECTIONS : CSNI_LIFETIME_NONE;
    source.budget = &file->budget;
    csni_shared_budget_charge(source.budget, (unit->end - unit->off) / BUDGET_SHARE);
    return csni_unit_convert_from(job, &source, out, err);
}

static csn_status read_split_symbols(struct csni_split_units *s, struct csn_error *err) {
    csn_status status = CSN_OK;
    pthread_mutex_lock(&s->symbols_lock);
    if (!s->symbols_read)
        status = csni_symbol_list_read(&s->symbols, s->c, s->object == s->c->object ? NULL : s->object, err);
    s->symbols_read = true;
    pthread_mutex_unlock(&s->symbols_lock);
    return status;
}

static csn_status convert_missing(struct csni_split_units *s, struct csni_unit_job *job, uint32_t skeleton,
                                  const struct csn_error *damage, struct csni_batch *out, struct csn_error *err) {
    CSNI_TRY(read_split_symbols(s, err));
    struct csni_unit_source source = job->image;
    source.unit = source.line_unit = unit_of(s, skeleton);
    source.damage = damage;
    source.symbols = job->map ? NULL : &s->symbols; /* the image's, where the unit has addresses of its own */
    if (damage->code) atomic_fetch_add(&s->failed, 1);
    return csni_unit_convert_from(job, &source, out, err);
}

static csn_status convert_from_package(struct csni_split_units *s, struct csni_unit_job *job, uint32_t worker,
                                       uint32_t skeleton, struct csni_batch *out, struct csn_error *err) {
    const struct skeleton *k = &s->skeletons[skeleton];
    struct csni_split_file *file = &s->packages[k->package];
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_scopes *scopes;
    csn_status status = bind(file, k->found, unit_of(s, skeleton), &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status < 0) return convert_missing(s, job, skeleton, &damage, out, err);
    CSNI_TRY(scopes_of_package(s, worker, k->package, &scopes, err));
    return convert_found(s, job, skeleton, file, k->found, scopes, out, err);
}

static csn_status convert_from_dwo(struct csni_split_units *s, struct csni_unit_job *job, uint32_t skeleton,
                                   struct csni_split_dwo *dwo, struct csni_batch *out, struct csn_error *err) {
    const struct csni_unit *unit = unit_of(s, skeleton);
    struct csn_error damage = dwo->damage;
    struct csni_unit *found = NULL;
    if (dwo->file.dwarf) {
        found = csni_split_find(dwo->file.dwarf, unit->dwo_id);
        csn_status status = found ? bind(&dwo->file, found, unit, &damage)
                                  : csni_split_dwo_fail_other_id(&dwo->file, unit, &damage);
        if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    }
    if (damage.code || !found) return convert_missing(s, job, skeleton, &damage, out, err);
    struct csni_scopes *scopes;
    CSNI_TRY(csni_scopes_create(dwo->file.dwarf, &scopes, err));
    csn_status status = convert_found(s, job, skeleton, &dwo->file, found, scopes, out, err);
    csni_scopes_destroy(scopes);
    return status;
}

csn_status csni_split_units_convert(struct csni_split_units *s, struct csni_unit_job *job, uint32_t worker,
                                    uint32_t index, struct csni_batch *out, struct csn_error *err) {
    uint32_t skeleton = s->by_unit[index];
    if (s->skeletons[skeleton].found) return convert_from_package(s, job, worker, skeleton, out, err);
    struct csni_split_dwo *dwo = &s->dwos[s->skeletons[skeleton].dwo];
    csn_status status = csni_split_dwo_take(dwo, s->c, s->image, err);
    if (status >= 0) status = convert_from_dwo(s, job, skeleton, dwo, out, err);
    csni_split_dwo_give_back(dwo, s->c);
    return status;
}


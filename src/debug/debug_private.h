/* What the files of this folder share: an open object, the files that its DWARF lies in, and their units. */
#ifndef CSNI_DEBUG_PRIVATE_H
#define CSNI_DEBUG_PRIVATE_H

#include <callsign/debug_info.h>

#include "base/arena.h"
#include "base/core/alloc.h"
#include "base/core/file_map.h"
#include "base/core/vec.h"
#include "dwarf/dwarf.h"
#include "object/object.h"

/* One attribute of an abbreviation. */
struct csni_debug_attr {
    uint16_t name;
    uint16_t form;
    uint16_t size;       /* bytes, where `op` is of fixed size */
    uint8_t op;          /* enum csni_step_op */
    int64_t implicit;    /* DW_FORM_implicit_const */
};

struct csni_debug_abbrev {
    uint64_t code;
    uint32_t first, count; /* of its attributes */
    uint32_t fixed_size;   /* bytes of all attributes; CSNI_NOT_FIXED */
    uint16_t tag;
    bool has_children;
};
enum { CSNI_NOT_FIXED = UINT32_MAX };

/* An abbreviation table as it stands: the plans of src/dwarf keep only what a conversion needs. */
struct csni_debug_abbrevs {
    CSNI_VEC(struct csni_debug_abbrev) items; /* ascending by code */
    CSNI_VEC(struct csni_debug_attr) attrs;
    bool is_dense;       /* items[i] has code i + 1 */
    bool is_read;
    csn_status status;
};

/* A file with DWARF: the image or its debug file, the supplement, a .dwo file or a package. */
struct csni_debug_file {
    struct csn_debug_info *info;
    struct csni_object *object;      /* borrowed */
    struct csni_dwarf *dwarf;        /* NULL: it has none */
    struct csni_debug_abbrevs *abbrevs; /* by table of `dwarf` */
    struct csn_debug_unit **units;   /* by unit, made when asked for */
    uint8_t *prepared;               /* by unit: whether that was tried */
    csn_status *status;              /* of preparing it */
    struct csni_span joined_info, joined_types; /* owned: several sections of a .dwo file in one */
    csn_status state;                /* of a split file: CSN_OK once it is open */
    uint64_t dwo_id;                 /* of a .dwo file: the skeleton that it was opened for */
    bool is_package;
    uint32_t roots;                  /* units that were prepared since pages were forgotten, between these offsets */
    uint64_t roots_begin, roots_end;
};

/* A companion that is held until the end. */
struct csni_debug_companion {
    struct csn_companion found;
    struct csni_object *object;
};

struct csn_debug_info {
    const struct csn_allocator *alloc;
    csn_companion_resolver *resolver;
    void *resolver_context;
    char *path;
    size_t path_size;
    struct csni_file_map map;
    struct csni_object *object;            /* the image */
    struct csni_object *debug;             /* its debug file, or NULL */
    struct csni_debug_file main;           /* the one of both that has DWARF */
    struct csni_debug_file supplement;
    CSNI_VEC(struct csni_debug_file *) split; /* package and .dwo files, opened when asked for */
    CSNI_VEC(struct csni_debug_companion *) companions;
    struct csni_arena arena;
    struct {
        struct csn_debug_symbol *items;
        size_t count, capacity;
        csn_status status;
        bool is_read;
    } symbols[3];
};

/* ---- files (debug_open.c, debug_split.c) ---- */

/* Asks the resolver and opens what it gives. CSN_NONE: nothing was found. */
csn_status csni_debug_companion_open(struct csn_debug_info *info, const struct csn_companion_request *request,
                                     struct csni_debug_companion **out, struct csn_error *err);
/* Makes `file` ready: its units are listed. `sections` are those of file->object. */
csn_status csni_debug_file_open(struct csni_debug_file *file, const struct csni_dwarf_sections *sections, struct csn_error *err);
void csni_debug_file_close(struct csni_debug_file *file);
/* A DWARF section of an object; empty where it has none or the section cannot be read. */
struct csni_span csni_debug_read_section(struct csni_object *object, const char *name, bool dwo);
/* Pages of a part of a DWARF section are not needed for now, if they come back from a mapped file. Of files of the image alone. */
void csni_debug_file_forget(const struct csni_debug_file *file, const char *name, uint64_t off, uint64_t size);

/* ---- units and DIEs (debug_units.c, debug_die.c) ---- */

/* The unit of a file; CSN_E_ where it cannot be read, then with what its header tells. */
csn_status csni_debug_file_unit(struct csni_debug_file *file, uint32_t idx, const struct csn_debug_unit **out,
                                struct csn_error *err);
static inline const struct csni_unit *csni_debug_dwarf_unit(const struct csn_debug_unit *unit) { return unit->priv[0]; }
static inline struct csni_debug_file *csni_debug_unit_file(const struct csn_debug_unit *unit) {
    return (struct csni_debug_file *)(uintptr_t)unit->priv[1];
}
/* The abbreviations of a unit, read when first asked for. */
const struct csni_debug_abbrevs *csni_debug_unit_abbrevs(const struct csn_debug_unit *unit);
/* Forgets them, if no other unit near by uses the same. */
void csni_debug_abbrevs_release(const struct csn_debug_unit *unit);
void csni_debug_abbrevs_deinit(struct csni_debug_abbrevs *abbrevs);

#endif

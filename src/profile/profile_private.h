/* The profile as its readers, the symbolication and its writers see it. */
#ifndef CSNI_PROFILE_PRIVATE_H
#define CSNI_PROFILE_PRIVATE_H

#include <callsign/profile.h>

#include "base/arena.h"
#include "base/core/fail.h"
#include "base/core/span.h"
#include "base/core/vec.h"
#include "process/process_images.h"
#include "profile/profile_table.h"

enum { PROFILE_VALUE_TYPES_MAX = 32, PROFILE_NO_STACK = 0, PROFILE_LIB_TEXTS = 7, PROFILE_SYSTEM_TEXTS = 3 };
static const uint32_t PROFILE_NONE = UINT32_MAX;

/* What csn_profile_symbolicate() learnt of where an image lies: from its program headers, else from its index. */
struct profile_layout {
    bool has_base, has_bias;
    uint64_t base, end;          /* addresses of the image's first byte, and behind its last one; end 0: not known */
    uint64_t bias;               /* what a pc of the mapping is more than its address */
    uint32_t first_part, part_count; /* none: only the headers tell */
};

/* What is known of all locations of a module: as fields of pprof's mappings, from has_functions on. */
enum {
    MODULE_FUNCTIONS = 1,
    MODULE_FILES = 2,
    MODULE_LINES = 4,
    MODULE_INLINES = 8,          /* which calls were inlined, also where none was */
    MODULE_BY_LOCATIONS = 16     /* and what the locations show: no input says */
};

/* Numbers of strings: 0 is the empty one. */
struct profile_module {
    uint32_t path;
    uint32_t mapping_name;       /* "[kernel.kallsyms]_stext", which tells where the kernel begins; 0: no such name */
    uint32_t build_id_size;
    uint32_t build_id_text;      /* as the input has it, where `build_id` does not tell all of it: not hexadecimal, or longer */
    uint8_t build_id[CSN_BUILD_ID_MAX];
    uint64_t start, end, file_off;
    bool is_missing;             /* no index was found */
    uint32_t known;              /* MODULE_ */
    bool is_lib;                 /* of a Firefox profile, which tells more: see firefox_libs.h */
    uint32_t lib[PROFILE_LIB_TEXTS]; /* strings; PROFILE_NONE: null, or it has no such member */
    struct profile_layout layout;
};

struct profile_function {
    uint32_t name, system_name, file; /* strings; system_name: as stored, where it differs from the name */
    uint32_t start_line;
};

struct profile_line {
    uint32_t function, line, column;
    bool inlined;                /* into the next one */
};

enum { LOCATION_FOLDED = 1u << 31 }; /* among the flags: several functions are merged there, and none was chosen */
struct profile_location {
    uint32_t module, kind, flags;
    uint32_t first_line, line_count; /* innermost first */
    uint64_t value;
};

/* Its address in formats that have return addresses of callers, as perf's texts: other formats have those of the calls. */
static inline uint64_t csni_profile_return_address(const struct profile_location *location, bool is_caller) {
    const bool returns = location->flags & (CSN_STACK_RETURN | CSN_STACK_EITHER);
    const uint64_t value = location->value;
    return is_caller && !returns && value && value != UINT64_MAX ? value + 1 : value;
}

/* The same in formats that have places within the calls. */
static inline uint64_t csni_profile_call_address(const struct profile_location *location) {
    const bool returns = location->flags & (CSN_STACK_RETURN | CSN_STACK_EITHER);
    return location->value - (returns && location->value ? 1 : 0);
}

/* A stack is a node: its innermost location, and the stack of its caller. Node 0 is the empty stack. */
struct profile_node {
    uint32_t caller, location;
};

/* What the value of a label is in OTLP; pprof has texts, and numbers where there is none. */
enum label_kind {
    LABEL_PLAIN,                 /* the text, else the number */
    LABEL_TEXT,                  /* the text, though it is empty */
    LABEL_BOOL,
    LABEL_DOUBLE,                /* `number`: its bits; the text is its digits */
    LABEL_EMPTY,                 /* no value */
    LABEL_NONE                   /* a list, a map or bytes: no label has it */
};

/* Of one sample. Strings but for `number`. */
struct profile_label {
    uint32_t key, text, unit;
    uint16_t kind;               /* enum label_kind */
    bool is_of_resource;         /* an attribute of what the sample is of in OTLP; these come last */
    int64_t number;
};
struct profile_label_set {
    uint32_t first, count;
};

struct profile_thread {
    uint32_t process, name;
    uint64_t pid, tid;
};

struct profile_sample_row {
    uint32_t stack, labels, thread, input;
    int64_t time_ns;
};

struct profile_input {
    uint32_t name;
    bool has_unix_times;         /* of samples, where they are not added up; others count from something else */
};

/* What Firefox profiles tell of the system; strings. */
struct profile_system {
    bool is_told;
    uint32_t texts[PROFILE_SYSTEM_TEXTS];
};

struct profile_value_type {
    uint32_t type, unit;
};

struct csn_profile {
    const struct csn_allocator *alloc;
    uint32_t flags;
    uint64_t max_input_bytes;
    struct csni_arena text;
    CSNI_VEC(struct csn_str) strings;
    CSNI_VEC(struct profile_module) modules;
    CSNI_VEC(struct csni_process_segment) parts;   /* of modules: what of their files is loaded */
    CSNI_VEC(struct profile_function) functions;
    CSNI_VEC(struct profile_line) lines;
    CSNI_VEC(struct profile_location) locations;
    CSNI_VEC(struct profile_node) nodes;
    CSNI_VEC(struct profile_label) labels;
    CSNI_VEC(struct profile_label_set) label_sets; /* 0: none */
    CSNI_VEC(struct profile_thread) threads;       /* 0: not known */
    CSNI_VEC(struct profile_sample_row) samples;
    CSNI_VEC(int64_t) values;                      /* value_stride for each sample */
    CSNI_VEC(struct profile_input) inputs;
    CSNI_VEC(uint32_t) missing;                    /* modules without an index */
    size_t listed_locations;                       /* the first ones, all of which are in the table, or equal ones */
    struct csni_profile_table string_table, module_table, function_table, location_table, node_table, thread_table, sample_table,
        label_table, comment_table;
    struct profile_value_type value_types[PROFILE_VALUE_TYPES_MAX];
    uint32_t value_count, value_stride;            /* count <= stride; stride > 0 */
    bool counts_samples;                           /* there was no type: the first one is "samples", 1 for each */
    uint32_t period_type, period_unit, default_type; /* strings */
    uint32_t drop_frames, keep_frames, doc_url;      /* the same: expressions and an address that pprof's readers use */
    int64_t time_ns, duration_ns, period;
    CSNI_VEC(uint32_t) comments;                     /* strings */
    struct profile_system system;
    uint64_t samples_read, left_out, attributes_left_out, lost_lines, weight_scale, sums_cut;
};

static inline bool csni_profile_keeps_threads(const struct csn_profile *profile) {
    return profile->flags & (CSN_PROFILE_EVERY_SAMPLE | CSN_PROFILE_UNIX_TIMES);
}

/* What an input says of itself; 0: nothing. */
struct profile_times {
    int64_t time_ns, duration_ns, period;
    uint32_t period_type, period_unit; /* strings */
};

static inline struct csn_str csni_profile_str(const struct csn_profile *profile, uint32_t string) {
    return profile->strings.items[string];
}

/* Where an output has mappings. */
static inline uint32_t csni_profile_mapping_name(const struct profile_module *module) {
    return module->mapping_name ? module->mapping_name : module->path;
}

/* Of a path, in the way of any system. */
static inline struct csn_str csni_profile_base_name(struct csn_str path) {
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/' && path.ptr[at - 1] != '\\') at--;
    return (struct csn_str){ path.ptr + at, path.len - at };
}

/* A type of values, though there are `equal` equal ones before it. */
csn_status csni_profile_value_type(struct csn_profile *profile, struct profile_value_type wanted, uint32_t equal, uint32_t *out,
                                   struct csn_error *err);
/* The default type of several inputs is that of the first that tells one, as pprof has it. */
static inline csn_status csni_profile_keep_default_type(struct csn_profile *profile, uint32_t type, struct csn_error *err) {
    return profile->default_type ? CSN_OK : csn_profile_set_default_type(profile, type, err);
}

/* profile_add.c: as the public functions, for strings that are numbered already. */
csn_status csni_profile_string(struct csn_profile *profile, struct csn_str text, uint32_t *out, struct csn_error *err);
/* As csn_profile_add_module(); `build_id_text` and `lib`: see struct profile_module. NULL: of no Firefox profile. */
csn_status csni_profile_module(struct csn_profile *profile, const struct csn_profile_module *module, uint32_t build_id_text,
                               const uint32_t *lib, uint32_t *out, struct csn_error *err);
csn_status csni_profile_function(struct csn_profile *profile, const struct profile_function *function, uint32_t *out,
                                 struct csn_error *err);
/* As csn_profile_add_location(); `column` of the line, and where the function begins: 0: not known. */
csn_status csni_profile_add_location(struct csn_profile *profile, const struct csn_profile_location *location, uint32_t column,
                                     uint32_t start_line, uint32_t *out, struct csn_error *err);
/* A line more of the location that is being made: its lines stand one behind the other. */
csn_status csni_profile_push_line(struct csn_profile *profile, const struct profile_line *line, struct csn_error *err);
/* The first of the listed locations that is equal. */
bool csni_profile_find_location(const struct csn_profile *profile, const struct profile_location *location, uint32_t *out);
/* Has it found. False: no memory. */
bool csni_profile_list_location(struct csn_profile *profile, uint32_t number);
/* Takes all away but the first `count`; what they were stays in memory until others come. Lines stay. */
void csni_profile_cut_locations(struct csn_profile *profile, size_t count);
void csni_profile_cut_nodes(struct csn_profile *profile, size_t count);
void csni_profile_cut_samples(struct csn_profile *profile, size_t count);
/* A location of its own, even if there is an equal one. */
csn_status csni_profile_push_location(struct csn_profile *profile, const struct profile_location *location, uint32_t *out,
                                      struct csn_error *err);
csn_status csni_profile_child(struct csn_profile *profile, uint32_t caller, uint32_t location, uint32_t *out,
                              struct csn_error *err);
csn_status csni_profile_thread(struct csn_profile *profile, const struct profile_thread *thread, uint32_t *out,
                               struct csn_error *err);
csn_status csni_profile_label_set(struct csn_profile *profile, const struct profile_label *labels, size_t count, uint32_t *out,
                                  struct csn_error *err);
/* What an input says to know of all locations of a module, MODULE_: of several inputs, what all of them know. */
static inline void csni_profile_note_known(struct profile_module *module, bool is_new, uint32_t known) {
    module->known = is_new || known & MODULE_BY_LOCATIONS ? known : module->known & (known | MODULE_BY_LOCATIONS);
}
/* A comment, a string, unless it is among the first `known` ones: those of other inputs, as pprof merges them. */
csn_status csni_profile_add_comment(struct csn_profile *profile, uint32_t comment, size_t known, struct csn_error *err);
/* Of several inputs, as pprof merges them: the earliest time, all durations, and the longest period of those of the first type. */
void csni_profile_add_times(struct csn_profile *profile, const struct profile_times *times);
/* Whether it is one with an equal sample of another input. */
bool csni_profile_merges_inputs(const struct csn_profile *profile, const struct profile_sample_row *row);
/* Another set of labels for a sample, though another may have become equal. False: no memory. */
bool csni_profile_relabel_sample(struct csn_profile *profile, size_t sample, uint32_t labels);
/* The values of a sample with this row, all 0 if it is new. They stay where they are until the next sample. NULL: no memory, or
 * too many samples. */
int64_t *csni_profile_sample(struct csn_profile *profile, const struct profile_sample_row *row, struct csn_error *err);
/* Space for `stride` values in each sample. False: no memory. */
bool csni_profile_widen_values(struct csn_profile *profile, uint32_t stride);
/* A sum beyond 64 bits is the largest of its sign: false. */
static inline bool csni_profile_add_value(int64_t *sum, int64_t value) {
    if (!__builtin_add_overflow(*sum, value, sum)) return true;
    *sum = value < 0 ? INT64_MIN : INT64_MAX;
    return false;
}

#endif

/* Callsign: profiles. Read one in any of the formats below, fill in functions, files, lines and inlined calls, and write it
 * in another. Not part of the lookup-only library. */
#ifndef CALLSIGN_PROFILE_H
#define CALLSIGN_PROFILE_H

#include <callsign/process.h>
#include <callsign/store.h>
#include <callsign/symbolicate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Samples of call stacks, from one input or several. Equal strings, locations and stacks are kept once, and samples that
 * differ in nothing are added up, so memory depends on the number of distinct stacks and not on that of samples (unless
 * CSN_PROFILE_EVERY_SAMPLE is set). Only one thread may use a profile at a time. */
struct csn_profile;

enum csn_profile_format {
    CSN_PROFILE_DETECT = 0,  /* input only: by the first bytes */
    CSN_PROFILE_PPROF = 1,   /* profile.proto of github.com/google/pprof, with gzip or without */
    CSN_PROFILE_OTLP = 2,    /* ProfilesData of OpenTelemetry's profiles/v1development, as protobuf */
    CSN_PROFILE_FIREFOX = 3, /* the processed profile of the Firefox Profiler, as samply writes it: JSON, with gzip or without */
    CSN_PROFILE_FOLDED = 4,  /* output only: a stack a line, outermost first, names joined by ';', with its count */
    CSN_PROFILE_HTML = 5,    /* output only: one page with a flame graph, which needs no network. Inputs stay apart */
    CSN_PROFILE_PERF_SCRIPT = 6, /* output only: the text of perf script. Its times are not negative: if one is, all are later by as
                                  * much as makes the earliest 0 */
    CSN_PROFILE_OTLP_JSON = 7, /* the same ProfilesData as OTLP's JSON: one object, or on input one a line; with gzip or without */
    CSN_PROFILE_LEGACY = 8   /* input only: what pprof read before profile.proto: the texts of heaps, locks and counts that gperftools,
                              * tcmalloc, jemalloc and Go's net/http/pprof with ?debug=1 write, and gperftools' CPU profile; with
                              * gzip or without */
};

struct csn_profile_options {
    size_t struct_size;                    /* set by CSN_PROFILE_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the profile */
    uint32_t flags;                        /* CSN_PROFILE_ */
    uint32_t reserved;
    uint64_t max_input_bytes;              /* limit for one decompressed JSON input and for one protobuf field; 0: 4 GiB */
};
#define CSN_PROFILE_OPTIONS_INIT CSN_SIZED_INIT(csn_profile_options)
CSN_API void csn_profile_options_init(struct csn_profile_options *options);

enum {
    CSN_PROFILE_EVERY_SAMPLE = 1, /* keep each sample's thread and time instead of adding samples up: for output to
                                  * CSN_PROFILE_FIREFOX. Costs 32 bytes and one number for each value type a sample */
    CSN_PROFILE_UNIX_TIMES = 2,  /* the same for those samples only whose Unix time the input tells, as OTLP and Firefox
                                  * profiles do: for output to CSN_PROFILE_OTLP. Others of one thread are added up */
    CSN_PROFILE_MERGE_INPUTS = 4 /* samples of different inputs that differ in nothing else are added up, but for those that are kept
                                  * with their time. CSN_PROFILE_HTML does not tell the inputs apart then */
};

/* Creates an empty profile. `options` may be NULL. The caller releases *out with csn_profile_destroy().
 * CSN_OK; CSN_E_UNSUPPORTED: unknown flags or fields; CSN_E_MEMORY. */
CSN_API csn_status csn_profile_create(const struct csn_profile_options *options, struct csn_profile **out, struct csn_error *err);
CSN_API void csn_profile_destroy(struct csn_profile *profile); /* `profile` may be NULL */

/* ---- reading ---- */

/* Gives the next bytes of an input: up to `capacity` of them, *out_size 0 at the end. */
typedef csn_status csn_profile_source(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err);

/* Adds a profile. pprof is read in a stream: only the largest of its fields has to fit into memory. All others
 * are read whole. `name` is shown where inputs are told apart, as in the page.
 * CSN_OK; CSN_E_TRUNCATED, CSN_E_FORMAT: the input is damaged, the error has the place; CSN_E_UNSUPPORTED: the format is
 * not recognized, or needs zlib, which this build lacks; CSN_E_LIMIT; CSN_E_MEMORY; failures of the source. After a
 * failure the profile holds a part of the input: destroy it.
 * Cost: linear in the input. */
CSN_API csn_status csn_profile_read(struct csn_profile *profile, uint32_t format, struct csn_str name, csn_profile_source *source,
                                    void *context, struct csn_error *err);
/* The same for a file. CSN_E_IO: it cannot be read. */
CSN_API csn_status csn_profile_read_file(struct csn_profile *profile, uint32_t format, const char *path, struct csn_error *err);
/* What a source gives, inflated if it is gzip, as csn_profile_read() reads it: for readers of other formats. `source` is asked for
 * the first bytes at once, and must stay until csn_profile_inflater_destroy(). `allocator` may be NULL.
 * CSN_OK; CSN_E_UNSUPPORTED: it is gzip, and this build lacks zlib; CSN_E_MEMORY; failures of the source. */
struct csn_profile_inflater;
CSN_API csn_status csn_profile_inflater_create(const struct csn_allocator *allocator, csn_profile_source *source, void *context,
                                               struct csn_profile_inflater **out, struct csn_error *err);
/* A csn_profile_source whose context is the inflater. CSN_E_TRUNCATED, CSN_E_FORMAT: the compressed bytes are damaged. */
CSN_API csn_status csn_profile_inflater_read(void *inflater, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err);
CSN_API void csn_profile_inflater_destroy(struct csn_profile_inflater *inflater); /* `inflater` may be NULL */

/* Recognizes a format by the first bytes of an input; 512 are enough. CSN_PROFILE_DETECT: unknown. */
CSN_API uint32_t csn_profile_detect(const void *bytes, size_t size);

/* ---- building ----
 *
 * For programs that read other formats. Strings are copied. Each function returns CSN_OK, CSN_E_LIMIT (more than 2^32 - 2
 * things of a kind), CSN_E_ARGUMENT (a number that does not exist), CSN_E_UNSUPPORTED (unknown flags or fields) or CSN_E_MEMORY. */

/* Begins an input. Samples of different inputs are not added up without CSN_PROFILE_MERGE_INPUTS. */
CSN_API csn_status csn_profile_begin_input(struct csn_profile *profile, struct csn_str name, struct csn_error *err);

/* What the values of samples are, such as "samples" in "count". *out is its place among a sample's values. The same type
 * and unit get the same number. At most 32. */
CSN_API csn_status csn_profile_add_value_type(struct csn_profile *profile, struct csn_str type, struct csn_str unit, uint32_t *out,
                                              struct csn_error *err);

/* The type that tools show first. */
CSN_API csn_status csn_profile_set_default_type(struct csn_profile *profile, uint32_t value_type, struct csn_error *err);
/* Its place among a sample's values. CSN_NONE: none was set, and no input tells one, or it has no values of that type. */
CSN_API csn_status csn_profile_get_default_type(const struct csn_profile *profile, uint32_t *out);

/* A part of an image that was mapped, or an image of which only the name is known. */
struct csn_profile_module {
    struct csn_str path;
    const uint8_t *build_id;     /* NULL: unknown */
    size_t build_id_size;        /* bytes; at most CSN_BUILD_ID_MAX */
    uint64_t start, end;         /* pcs; both 0: unknown */
    uint64_t file_off;           /* file offset of the byte at `start`; the same number: pcs are offsets in the file */
    uint64_t reserved[2];
};
CSN_API csn_status csn_profile_add_module(struct csn_profile *profile, const struct csn_profile_module *module, uint32_t *out,
                                          struct csn_error *err);

#define CSN_PROFILE_NO_MODULE UINT32_MAX
enum csn_profile_location_kind {
    CSN_PROFILE_AT_NAME = 0,     /* no address: only a name */
    CSN_PROFILE_AT_ADDRESS = 1,  /* `value` is an image address */
    CSN_PROFILE_AT_PC = 2,       /* `value` is a pc in the module's mapping */
    CSN_PROFILE_AT_OFFSET = 3    /* `value` counts from the image's first byte in memory */
};
enum {
    CSN_PROFILE_AS_NAMED = 1 << 16 /* among the flags of a location: its names are right, and no index is asked for others */
};
/* A place in a program. */
struct csn_profile_location {
    uint32_t module;             /* number of a module, or CSN_PROFILE_NO_MODULE */
    uint32_t kind;               /* enum csn_profile_location_kind */
    uint64_t value;
    uint32_t flags;              /* how it is looked up: CSN_STACK_EXACT, _RETURN, _BEFORE or _EITHER. 0: at the value, which
                                  * lies within the call if it is a caller's, as pprof, OTLP and Firefox profiles specify. Also
                                  * CSN_PROFILE_AS_NAMED */
    uint32_t line;               /* 0: unknown */
    struct csn_str name, file;   /* of the function, as the input has it; empty: unknown */
    uint64_t reserved[2];
};
CSN_API csn_status csn_profile_add_location(struct csn_profile *profile, const struct csn_profile_location *location, uint32_t *out,
                                            struct csn_error *err);
struct csn_profile_frame;
/* The same with the calls that were inlined there: `frames` as csn_profile_get_frame() has them, the innermost first. All but the
 * last are inlined into the next, whatever `inlined` says. `location` has neither name nor file nor line of its own:
 * CSN_E_ARGUMENT. */
CSN_API csn_status csn_profile_add_location_frames(struct csn_profile *profile, const struct csn_profile_location *location,
                                                   const struct csn_profile_frame *frames, size_t count, uint32_t *out,
                                                   struct csn_error *err);
/* A stack of locations, innermost first. */
CSN_API csn_status csn_profile_add_stack(struct csn_profile *profile, const uint32_t *locations, size_t count, uint32_t *out,
                                         struct csn_error *err);

struct csn_profile_sample {
    uint32_t stack;
    uint32_t value_count;
    const int64_t *values;       /* by number of the value type; those beyond value_count are 0 */
    int64_t time_ns;             /* of the clock of the input; used with CSN_PROFILE_EVERY_SAMPLE, as are the threads */
    uint64_t pid, tid;
    struct csn_str process, thread; /* names; may be empty */
    uint64_t reserved[2];
};
/* A profile without types of values gets "samples" in "count" by its first sample without values; each of those is 1 in it. */
CSN_API csn_status csn_profile_add_sample(struct csn_profile *profile, const struct csn_profile_sample *sample,
                                          struct csn_error *err);

/* ---- symbolicating ---- */

struct csn_profile_symbolicate_options {
    size_t struct_size;          /* set by CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT */
    uint32_t flags;              /* CSN_PROFILE_ */
    uint32_t reserved;
};
#define CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT CSN_SIZED_INIT(csn_profile_symbolicate_options)
CSN_API void csn_profile_symbolicate_options_init(struct csn_profile_symbolicate_options *options);

enum {
    CSN_PROFILE_MANGLED = 1      /* show names as they are stored, without demangling them */
};

/* What csn_profile_symbolicate() found. */
struct csn_profile_counts {
    uint64_t locations;          /* distinct ones with an address */
    uint64_t named;              /* of them: got a function */
    uint64_t kept;               /* of them: keep the name that the input gave */
    uint64_t unknown;            /* of them: have no name */
    uint64_t merged;             /* of them: several functions are folded there */
    uint64_t chosen;             /* frames of distinct stacks whose merged function the callers decided */
    uint64_t undecided;          /* those that they did not decide */
    uint64_t modules, modules_without; /* used by locations; those for which no index was found */
    uint64_t reserved[4];
};

/* Fills in functions, files, lines and inlined calls. Each distinct (module, address) is looked up once, in address order;
 * stacks with merged functions are answered whole (csn_symbolicator_answer()). What an index knows replaces what the
 * input said; other locations stay as they are, but that mangled names are demangled and kept as stored names, or with
 * CSN_PROFILE_MANGLED stored names are shown. The line where a function begins, and columns, stay as the input has them, and so
 * do lines and inlined calls where the index has that function by its symbol alone.
 * store: finds the indexes; the profile uses them during this call only.
 * out: may be NULL. CSN_OK, also if nothing was found; CSN_E_MEMORY. */
CSN_API csn_status csn_profile_symbolicate(struct csn_profile *profile, struct csn_store *store,
                                           const struct csn_profile_symbolicate_options *options, struct csn_profile_counts *out,
                                           struct csn_error *err);
/* Returns the path and the build id of a module for which csn_profile_symbolicate() found no index, by a number from 0 to
 * modules_without - 1. Valid as long as the profile. */
CSN_API struct csn_str csn_profile_module_without(const struct csn_profile *profile, size_t i, const uint8_t **build_id,
                                                  size_t *build_id_size);

/* ---- reading what a profile holds ----
 *
 * Things have numbers from 0 to their count less 1 (csn_profile_get_sizes()). Strings and arrays belong to the profile and live
 * until it changes. Each function takes constant time and returns CSN_OK, or CSN_NONE if the number does not exist: then
 * *out is unchanged. */

/* How much a profile holds. */
struct csn_profile_sizes {
    uint64_t samples;            /* as read */
    uint64_t distinct_samples;   /* as kept */
    uint64_t stacks;             /* those of samples and of their callers: csn_profile_get_stack() */
    uint64_t locations, modules, value_types, inputs;
    uint64_t left_out;           /* things that the readers met and cannot keep: markers, counters, allocations */
    uint64_t weight_scale;       /* of the last input: its weights have fractions and are taken times this, a power of ten, as the
                                  * name of their type says ("samples x10"); 1: as they are */
    uint64_t lost_lines;         /* lines and columns that do not fit into 32 bits: they are not known */
    uint64_t sums_cut;           /* additions of values, by readers and writers, whose sums have more than 64 bits: such a sum is
                                  * the largest number of its sign */
    uint64_t attributes_left_out; /* of OTLP: attributes that are lists, maps or bytes, or neither of samples and resources nor those
                                  * that stand for fields of pprof, links, names of scopes and ids, which nothing keeps */
};
CSN_API void csn_profile_get_sizes(const struct csn_profile *profile, struct csn_profile_sizes *out);

CSN_API csn_status csn_profile_get_value_type(const struct csn_profile *profile, uint32_t i, struct csn_str *type,
                                              struct csn_str *unit);
/* A sample as it is kept. value_count is the number of value types. Time and thread are 0 without CSN_PROFILE_EVERY_SAMPLE; with
 * CSN_PROFILE_UNIX_TIMES, the time is a Unix time, and 0 if there is none. */
CSN_API csn_status csn_profile_get_sample(const struct csn_profile *profile, uint64_t i, struct csn_profile_sample *out);
struct csn_profile_label {
    struct csn_str key, text, unit; /* text: empty if the label is a number */
    int64_t number;
    uint64_t reserved[2];
};
/* Label k of a sample, as pprof has them. Attributes of a resource of OTLP are labels of its samples. */
CSN_API csn_status csn_profile_get_label(const struct csn_profile *profile, uint64_t sample, uint32_t k,
                                         struct csn_profile_label *out);
/* The innermost location of a stack, and the number of its caller's stack, 0 if there is none. Stack 0 is empty: CSN_NONE.
 * Stacks are numbered from 1 to `stacks`, callers before those they call. */
CSN_API csn_status csn_profile_get_stack(const struct csn_profile *profile, uint32_t stack, uint32_t *location, uint32_t *caller);
CSN_API csn_status csn_profile_get_module(const struct csn_profile *profile, uint32_t i, struct csn_profile_module *out);

struct csn_profile_place {
    uint32_t module;             /* number of a module, or CSN_PROFILE_NO_MODULE */
    uint32_t kind;               /* enum csn_profile_location_kind */
    uint64_t value;
    uint32_t frame_count;        /* 0: the location has no name */
    bool is_undecided;           /* several functions are merged there, and the callers did not decide */
    uint64_t reserved[2];
};
CSN_API csn_status csn_profile_get_place(const struct csn_profile *profile, uint32_t location, struct csn_profile_place *out);

struct csn_profile_frame {
    struct csn_str function, stored_name, file; /* stored_name: where it differs from the shown name, else empty */
    uint32_t line, column;       /* 0: unknown */
    uint32_t function_line;      /* where the function begins; 0: unknown */
    bool inlined;                /* into the next frame */
    uint64_t reserved[2];
};
/* Frame k of a location, the innermost inlined call first. */
CSN_API csn_status csn_profile_get_frame(const struct csn_profile *profile, uint32_t location, uint32_t k,
                                         struct csn_profile_frame *out);

/* ---- writing ---- */

/* Reports what is written: `done` bytes, of a `total` that is not known and 0, in `phase` "writing". Called from the thread that
 * writes. Return false to stop: writing then fails with CSN_E_CANCELLED. */
typedef bool csn_profile_progress(void *context, const char *phase, uint64_t done, uint64_t total);

struct csn_profile_write_options {
    size_t struct_size;          /* set by CSN_PROFILE_WRITE_OPTIONS_INIT */
    uint32_t flags;              /* CSN_PROFILE_ */
    uint32_t reserved;
    const char *title;           /* of a page; NULL: the name of the input */
    csn_profile_progress *progress; /* NULL: none */
    void *progress_context;
};
#define CSN_PROFILE_WRITE_OPTIONS_INIT CSN_SIZED_INIT(csn_profile_write_options)
CSN_API void csn_profile_write_options_init(struct csn_profile_write_options *options);

enum {
    CSN_PROFILE_PLAIN = 1        /* pprof without gzip */
};

/* Writes the profile into a file, under a temporary name that replaces `path` at the end, or into memory. A pipe or a device at
 * `path` is written to as it stands. `options` may be NULL. pprof is compressed if this build has zlib. The same profile gives the
 * same bytes.
 * CSN_OK; CSN_E_ARGUMENT: the format cannot be written; CSN_E_CANCELLED: `progress` asked to stop, the file is as it was;
 * CSN_E_IO; CSN_E_LIMIT; CSN_E_MEMORY. */
CSN_API csn_status csn_profile_write_file(struct csn_profile *profile, uint32_t format, const char *path,
                                          const struct csn_profile_write_options *options, struct csn_error *err);
CSN_API csn_status csn_profile_write(struct csn_profile *profile, uint32_t format, const struct csn_profile_write_options *options,
                                     struct csn_bytes *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif

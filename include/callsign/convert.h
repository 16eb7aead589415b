/* Callsign: convert debug information into an index.
 *
 * Input: executables, libraries, object files and debug-only files (ELF, Mach-O, PE, COFF, WebAssembly) with DWARF 2
 * to 5, a Go function table or symbols; program databases (PDB) of Windows; Breakpad symbol files; lists of symbols; or
 * a GSYM index. A GSYM index is
 * rewritten without loss: nothing in it is merged, resized or dropped. The same input gives the same bytes, whatever
 * the thread count, host or clock. */
#ifndef CALLSIGN_CONVERT_H
#define CALLSIGN_CONVERT_H

#include <callsign/base.h>
#include <callsign/companion.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reports the progress of a conversion: `done` of `total` units of work (bytes of debug information) in `phase`, a
 * short English word. Any worker may call it, but only one call runs at a time. Return false to stop: the conversion
 * then fails with CSN_E_CANCELLED. */
typedef bool csn_progress_callback(void *context, const char *phase, uint64_t done, uint64_t total);

/* ---- options of one output format, used only for that format ---- */

/* CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2, CSN_FORMAT_GSYM_AUTO. */
struct csn_gsym_options {
    size_t struct_size;                    /* set by CSN_GSYM_OPTIONS_INIT */
    uint64_t segment_size;                 /* csn_convert_file() only: split into files of about this many bytes; 0: one file */
};
#define CSN_GSYM_OPTIONS_INIT CSN_SIZED_INIT(csn_gsym_options)
CSN_API void csn_gsym_options_init(struct csn_gsym_options *options);

/* Revisions of the section-embedded GSYM of 2017: docs/formats/gsym-sections.md. */
enum csn_section_revision {
    CSN_REVISION_A = 'A', CSN_REVISION_B = 'B', CSN_REVISION_C = 'C', CSN_REVISION_D = 'D', CSN_REVISION_E = 'E',
    CSN_REVISION_F = 'F', CSN_REVISION_G = 'G',
    CSN_REVISION_B_SCRIPT = 'b'            /* B as written by, and readable by, the original script */
};

/* CSN_FORMAT_GSYM_SECTION. */
struct csn_gsection_options {
    size_t struct_size;                    /* set by CSN_GSECTION_OPTIONS_INIT */
    const char *strings_in;                /* section of the input whose strings the index shares; NULL: none */
    uint32_t revision;                     /* enum csn_section_revision; 0: B */
    uint32_t reserved;
};
#define CSN_GSECTION_OPTIONS_INIT CSN_SIZED_INIT(csn_gsection_options)
CSN_API void csn_gsection_options_init(struct csn_gsection_options *options);

/* The token table of a BSYM file: bytes that stand for common parts of names. */
enum csn_bsym_tokens {
    CSN_BSYM_TOKENS_BEST,                  /* chosen for this input */
    CSN_BSYM_TOKENS_REFERENCE,             /* the list of Symbian's own tool */
    CSN_BSYM_TOKENS_NONE
};

/* CSN_FORMAT_BSYM. */
struct csn_bsym_options {
    size_t struct_size;                    /* set by CSN_BSYM_OPTIONS_INIT */
    uint32_t version;                      /* major << 16 | minor, 1.0 to 2.3; 0: 2.3 if device names or a checksum are
                                            * known, otherwise 2.1 */
    uint32_t tokens;                       /* enum csn_bsym_tokens */
};
#define CSN_BSYM_OPTIONS_INIT CSN_SIZED_INIT(csn_bsym_options)
CSN_API void csn_bsym_options_init(struct csn_bsym_options *options);

/* CSN_FORMAT_BREAKPAD. */
struct csn_breakpad_options {
    size_t struct_size;                    /* set by CSN_BREAKPAD_OPTIONS_INIT */
    uint32_t keep_mangled;                 /* 1: write names as the input has them; 0: demangled */
    uint32_t no_unwind;                    /* 1: leave out STACK records, which tell readers how to unwind */
};
#define CSN_BREAKPAD_OPTIONS_INIT CSN_SIZED_INIT(csn_breakpad_options)
CSN_API void csn_breakpad_options_init(struct csn_breakpad_options *options);

/* ---- options of every conversion ---- */

enum {
    CSN_CONVERT_STRICT = 1,         /* anything dropped or damaged fails the conversion */
    CSN_CONVERT_CALL_SITES = 2,     /* keep DWARF's call sites */
    CSN_CONVERT_LLVM_PATTERNS = 4,  /* write call sites as llvm-gsymutil does: names from DWARF without anchors and escapes,
                                     * patterns from files unchanged, flags only where a file gives them */
    CSN_CONVERT_COVERAGE = 8,       /* fill the report's coverage; costs some time and memory */
    CSN_CONVERT_ACCELERATE = 32,    /* GSYM versions 1 and 2: store an accelerator in the file, which lookups use as soon as the index
                                     * is open and other readers ignore (docs/formats/gsym.md). An index that is converted keeps its
                                     * table of names then. Not with segment_size */
    CSN_CONVERT_REMOTE_LAYOUT = 64, /* CSN_CONVERT_ACCELERATE, with names and inlined calls once more beside the blocks that need them:
                                     * a first lookup by csn_index_open_remote() takes 512 KiB at most, and 5 requests (1 in 1,000 of
                                     * ceph-osd takes 6). Files of C++ become a tenth larger */
    CSN_CONVERT_NAME_TABLE = 16     /* GSYM versions 1 and 2: add a table of names for csn_index_find_name(), 8 bytes for each
                                     * name, which other readers ignore. Not with segment_size */
};

enum csn_byte_order {
    CSN_BYTE_ORDER_INPUT = 0,              /* that of the input; little-endian if the input has none */
    CSN_BYTE_ORDER_LITTLE = 1,
    CSN_BYTE_ORDER_BIG = 2
};

struct csn_convert_options {
    size_t struct_size;                    /* set by CSN_CONVERT_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; called from several threads */
    uint32_t threads;                      /* 0: one per core */
    uint32_t flags;                        /* CSN_CONVERT_ */
    uint64_t max_decompressed_bytes;       /* limit for all sections together; 0: 64 GiB */
    csn_progress_callback *progress;
    void *progress_context;
    csn_companion_resolver *resolver;      /* finds debug files, supplements, .dwo files ...; NULL: the input alone is read */
    void *resolver_context;
    const char *arch;                      /* image of a universal file, as csn_image_list_memory() names it; NULL: the only one */
    const struct csn_call_site_file *call_site_files; /* more call sites, applied in this order: docs/merged-functions.md */
    size_t call_site_file_count;
    uint32_t merged_functions;             /* enum csn_merge */
    uint32_t byte_order;                   /* enum csn_byte_order of the output */
    csn_name_callback *rename;             /* returns the name to store for a function or inlined call, a pure function of the
                                            * input's name; called from several threads, about once per name. NULL: names are
                                            * stored unchanged. Cannot be combined with CSN_CONVERT_CALL_SITES, whose patterns
                                            * match the input's names. Example: csn_rename_short() */
    void *rename_context;
    uint32_t format;                       /* enum csn_format to write; 0: GSYM version 1 */
    uint32_t reserved;
    const struct csn_gsym_options *gsym;         /* options of each format; NULL: defaults. Read during the call */
    const struct csn_gsection_options *gsection;
    const struct csn_bsym_options *bsym;
    const struct csn_breakpad_options *breakpad;
    const struct csn_file *input;          /* csn_convert_file(), csn_convert_file_to_memory(): the opened file at `path`. `path` is
                                            * then used only to find companions. NULL: `path` is opened */
};
#define CSN_CONVERT_OPTIONS_INIT CSN_SIZED_INIT(csn_convert_options)
CSN_API void csn_convert_options_init(struct csn_convert_options *options);

/* How to write several functions with one range of code, which linkers leave when they fold identical code. */
enum csn_merge {
    CSN_MERGE_NONE = 0,    /* keep one of them */
    CSN_MERGE_ALL = 1,     /* keep all: the one with the most debug information on top, the others as its merged functions.
                            * Weak and versioned symbols that are probably aliases of one function are left out */
    CSN_MERGE_ALIASES = 2, /* the same, with those aliases */
    CSN_MERGE_LLVM = 3     /* as llvm-gsymutil does: functions from DWARF only, the one with the least information on top */
};

/* The contents of a call-site file: YAML, JSON or lines of text. */
struct csn_call_site_file {
    const char *name;    /* for messages; if there is a file of that name, it is not overwritten */
    const void *bytes;
    size_t size;
};

/* Returns the name of output format `n`, counted from 0; the default comes first. NULL: no more formats. */
CSN_API const char *csn_convert_format_name(size_t n);
/* Returns the output format with that name; 0: unknown. */
CSN_API uint32_t csn_convert_format_find(const char *name);

/* The events that a conversion reports. Their names and order are part of the interface; new events are added at the
 * end. */
enum csn_event {
    CSN_EVENT_DAMAGED_UNIT,          /* dropped: the rest of a unit, from the damage on */
    CSN_EVENT_DAMAGED_LINE_TABLE,    /* dropped: the rest of a line program, from the damage on */
    CSN_EVENT_DAMAGED_RANGES,        /* dropped: a function or inlined call whose range list cannot be read */
    CSN_EVENT_DAMAGED_SYMBOL,        /* dropped: a symbol whose name or section cannot be read */
    CSN_EVENT_MISSING_SPLIT_UNIT,    /* a skeleton whose .dwo was not read */
    CSN_EVENT_MISSING_SUPPLEMENT,    /* references into a supplementary (dwz) file that was not read */
    CSN_EVENT_FUNCTION_WITHOUT_NAME, /* dropped */
    CSN_EVENT_FUNCTION_OUTSIDE_TEXT, /* dropped: its start is in no executable section */
    CSN_EVENT_FUNCTION_DISCARDED,    /* normal: the linker removed this function (tombstone) */
    CSN_EVENT_FUNCTION_TOO_LARGE,    /* clipped to 4 GiB - 1 */
    CSN_EVENT_LINE_BAD_FILE,         /* dropped: a row that names a file the line table lacks */
    CSN_EVENT_LINE_START_CLIPPED,    /* clipped: the function starts between two rows */
    CSN_EVENT_LINE_NOT_ASCENDING,    /* dropped: rows after one with a lower address */
    CSN_EVENT_LINE_BAD_SEQUENCE,     /* DW_AT_LLVM_stmt_sequence names no sequence; all rows were used */
    CSN_EVENT_DECL_BAD_FILE,         /* dropped: DW_AT_decl_file of a function without rows */
    CSN_EVENT_INLINE_OUTSIDE_PARENT, /* dropped: a range of an inlined call outside the function, or the call around it */
    CSN_EVENT_INLINE_BAD_FILE,       /* dropped: the call file of an inlined call, which does not exist */
    CSN_EVENT_INLINE_WITHOUT_RANGES, /* dropped: inlined calls of a function, none of which has a usable range */
    CSN_EVENT_DUPLICATE_REPLACED,    /* merged: functions of one range with different debug information; one is kept */
    CSN_EVENT_DUPLICATE_DROPPED,     /* merged: an equal copy, or a plain symbol of a function known better */
    CSN_EVENT_OVERLAP,               /* kept: functions whose ranges overlap */
    CSN_EVENT_CALL_SITE_OUTSIDE,     /* dropped: a call site outside its function */
    CSN_EVENT_RELOCATION,            /* dropped: a relocation of debug information that is not known, or damaged */
    CSN_EVENT_INLINE_TOO_DEEP,       /* dropped: inlined calls nested deeper than CSN_INLINE_DEPTH_MAX */
    CSN_EVENT_MISSING_DEBUG_FILE,    /* normal: the image names a debug file that was not found; symbols were used */
    CSN_EVENT_MISSING_OBJECT,        /* dropped: an object file of a debug map was not found or does not fit */
    CSN_EVENT_DAMAGED_GO_FUNCTION,   /* dropped: unreadable parts of Go's function table */
    CSN_EVENT_DAMAGED_TEXT_LINE,     /* dropped: a line of a text file that is not a symbol */
    CSN_EVENT_NOT_REPRESENTABLE,     /* dropped: something that the output format cannot hold */
    CSN_EVENT_DAMAGED_RECORD,        /* dropped: unreadable parts of a function in an index */
    CSN_EVENT_UNKNOWN_PART,          /* dropped: information of an unknown type in an index */
    CSN_EVENT_FUNCTIONS_MERGED,      /* merged: functions of one range, kept as merged functions of one of them */
    CSN_EVENT_CALL_SITE_RECOVERED,   /* normal: call sites of folded functions, located in the code that was kept */
    CSN_EVENT_CALL_SITE_WITHOUT_PLACE, /* normal: a folded function whose call sites could not be located */
    CSN_EVENT_CALL_SITE_NO_FUNCTION, /* dropped: a call-site file names a function that the input lacks */
    CSN_EVENT_LINES_LOST,            /* dropped: functions whose line rows the output cannot hold */
    CSN_EVENT_INLINES_LOST,          /* dropped: functions whose inlined calls the output cannot hold */
    CSN_EVENT_PART_LOST,             /* dropped: build id, call sites, aliases ... that the output cannot hold */
    CSN_EVENT_BINARY_LOST,           /* dropped: the list of a ROM's binaries; their functions are kept */
    CSN_EVENT_FUNCTION_NOT_PLACED,   /* dropped: a function of a relocatable binary among binaries with fixed addresses */
    CSN_EVENT_NAME_CHANGED,          /* clipped: a name too long for the output, or with bytes that it cannot hold */
    CSN_EVENT_ADDRESS_ROUNDED,       /* clipped: a function at an odd address */
    CSN_EVENT_FUNCTION_WITHOUT_SIZE, /* dropped: its end is unknown */
    CSN_EVENT_MISSING_MAP,           /* normal: a map file named by a build log was not found; one symbol covers the binary */
    CSN_EVENT_OVERLAP_DROPPED,       /* dropped: a function of a Breakpad file that overlaps one before it */
    CSN_EVENT_DAMAGED_UNWIND,        /* dropped: a record of an unwind table that cannot be read, from the damage on */
    CSN_EVENT_INLINE_CLIPPED,        /* clipped: a range of an inlined call that reaches out of the function or the call around it */
    CSN_EVENT_LINES_CLAIMED,         /* normal: a function without debug information of its own; the line table has its rows */
    CSN_EVENT_LINES_WITHOUT_FUNCTION, /* normal: rows of the line table that cover no function; they are kept without a name */
    CSN_EVENT_NAME_FROM_SYMBOL,      /* normal: a function whose debug information has a plain name; the symbol's mangled one is kept */
    CSN_EVENT_UNREAD_DEBUG_INFO,     /* dropped: debug information of a form that is not read (STABS) */
    CSN_EVENT_DAMAGED_MEMBER,        /* dropped: a member of an archive that is missing (thin archives) or damaged */
    CSN_EVENT_UNREAD_MEMBER,         /* dropped: a member of an archive that is no object file, or one of another machine */
    CSN_EVENT_FUNCTION_PAST_END,     /* clipped to the last address, past which the function would end */
    CSN_EVENT_COUNT,
    CSN_EVENT_CAPACITY = 64              /* size of the report's table, which stays when events are added */
};
enum csn_event_class { CSN_CLASS_NORMAL, CSN_CLASS_MERGED, CSN_CLASS_CLIPPED, CSN_CLASS_DROPPED };

/* Returns the name of an event for reports, such as "function-without-name". */
CSN_API const char *csn_event_name(uint32_t event);
CSN_API uint32_t csn_event_get_class(uint32_t event);
/* Returns true if the event tells that parts of the input are damaged, or files that belong to it are missing: a conversion of
 * all of it gives more. The command's exit status is then 1, and the result is not kept in a cache. Debug files and map files
 * that are not found are no damage: symbols stand for them. */
CSN_API bool csn_event_is_damage(uint32_t event);

enum { CSN_EXAMPLE_SIZE = 200 };
struct csn_event_count {
    uint64_t count;
    char example[CSN_EXAMPLE_SIZE];  /* the first one, in input order; NUL-terminated */
};

struct csn_convert_report {
    uint64_t units, units_failed;
    uint64_t functions_from_dwarf, functions_from_symbols;
    uint64_t functions_written, functions_pruned;
    uint64_t rows_written, inline_nodes_written, call_sites_written, files_written;
    uint64_t string_bytes, line_bytes, inline_bytes;   /* of the output */
    uint64_t input_bytes, inflated_bytes, output_bytes;
    uint64_t functions_from_go;                        /* Go's function table */
    uint64_t segments_written;                         /* 0: the index is one file */
    uint64_t functions_merged;                         /* written as merged functions of others */
    uint64_t functions_from_index;                     /* an index in a section of the input */
    uint8_t uuid[32];                                  /* build id or UUID of the input: its first bytes */
    uint32_t uuid_size;                                /* bytes used */
    uint32_t reserved0;
    uint64_t functions_from_pdb;                       /* private symbols of a program database */
    /* CSN_CONVERT_COVERAGE: bytes of the input's executable sections; of these, bytes for which the input has a name, a line
     * and inlined calls. The rest of a row behind the function that it belongs to is padding and not counted. */
    uint64_t coverage_code, coverage_name, coverage_line, coverage_inlined;
    uint64_t functions_from_btf;                       /* BTF of an eBPF program */
    uint64_t reserved[5];
    struct csn_event_count events[CSN_EVENT_CAPACITY];
};

/* Converts the file at `path`, or the one in the dSYM bundle there, and writes the index to `out_path`. It writes,
 * syncs and renames a temporary file, so an existing `out_path` stays unchanged on failure. `report` may be NULL.
 * With segment_size, the output is a set of files OUT_PATH-0xSTART. START is the address of the first function; each
 * file is an independent index of the functions up to the next START. OUT_PATH-manifest.json is written last.
 * They get their names when all are complete: on failure, files of an earlier conversion stay unchanged.
 * No file that is written is one that is read, under whatever name (CSN_E_ARGUMENT): the one at `path`, what the resolver gives
 * with a path, what the name of a call-site file names. A GSYM index alone may be rewritten where it is, to version 1 or 2 in one
 * file; give CSN_CONVERT_STRICT, so that nothing damaged is dropped for good.
 * CSN_OK; CSN_E_UNSUPPORTED: not an input that convert reads; CSN_E_NOT_FOUND: no function was found; CSN_E_IO and
 * others; CSN_E_LIMIT: the format cannot hold the result, sections decompress to more than max_decompressed_bytes, or the
 * debug information is malicious and describes far more than a real program does with the same number of bytes. */
CSN_API csn_status csn_convert_file(const char *path, const char *out_path, const struct csn_convert_options *options,
                                    struct csn_convert_report *report, struct csn_error *err);

/* Does the same in memory. The caller releases *out with csn_bytes_free(). */
CSN_API csn_status csn_convert_file_to_memory(const char *path, const struct csn_convert_options *options,
                                              struct csn_bytes *out, struct csn_convert_report *report,
                                              struct csn_error *err);

/* Does the same with the input in memory. `bytes` stay unchanged and are not used after the call. */
CSN_API csn_status csn_convert_memory(const void *bytes, size_t size, const struct csn_convert_options *options,
                                      struct csn_bytes *out, struct csn_convert_report *report, struct csn_error *err);

/* Tells whether the bytes begin like an input that convert reads, including an index. Reads at most 4 KiB. */
CSN_API bool csn_is_input(const void *bytes, size_t size);

/* One image in a file. Universal Mach-O files contain several, other files one. */
struct csn_image_info {
    char arch[16];                         /* "x86_64", "arm64", ...; empty if the file does not name it */
    uint64_t offset, size;                 /* in the file */
    uint64_t reserved[4];
};
/* Fills at most `capacity` elements of `out`. *count is the number of images in the file. */
CSN_API csn_status csn_image_list_memory(const void *bytes, size_t size, struct csn_image_info *out, size_t capacity,
                                         size_t *count, struct csn_error *err);
CSN_API csn_status csn_image_list_file(const char *path, struct csn_image_info *out, size_t capacity, size_t *count,
                                       struct csn_error *err);

/* Lists the optional libraries compiled in, with versions where known, and the effect of each missing one, such as
 * "libdeflate 1.14, zstd 1.5.4, no pcre2 (expressions in call sites decide nothing)". */
CSN_API const char *csn_build_features(void);

#ifdef __cplusplus
}
#endif
#endif

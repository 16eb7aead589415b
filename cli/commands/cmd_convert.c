/* callsign convert: debug information in, index out. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/names.h>

#include "convert/convert_options.h"
#include "commands/commands.h"
#include "input/open_index.h"
#include "ui/cli_message.h"
#include "convert/conversion_text.h"
#include "ui/output_path.h"
#include "ui/progress_bar.h"
#include "convert/report_file.h"

struct convert_values {
    const char *out, *to, *endian, *merged, *report, *bsym_version, *bsym_tokens, *revision, *strings_in;
    struct text_list call_sites;
    uint64_t threads, max_inflate, segment_size;
    bool strict, quiet, verbose, mangled, no_unwind, bare_patterns, shorten, shorten_nested, name_table, accelerate, remote_layout;
    struct companion_values companions;
};

static const struct option_spec options[] = {
    { .name = "out", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, out),
      .value_name = "OUT", .help = "the file to write (default: INPUT.gsym, .sym or .bsym, beside\nthe input)" },
    { .name = "to", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, to), .value_name = "FORMAT",
      .help = "format of the index; gsym: GSYM version 1; gsym-v2: version 2,\nfor more than 4 GiB; gsym-auto, the default: version 1 if it can\nhold the input; breakpad: Breakpad's text symbol file;\nbsym: of Symbian ROMs; gsym-section: an object file with a GSYM\nof 2017 in a section, for callsign embed or a linker" },
    { .name = "endian", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, endian), .value_name = "ORDER",
      .help = "byte order of the index, little or big (default: the input's)" },
    { .name = "segment-size", .kind = OPTION_SIZE, .offset = offsetof(struct convert_values, segment_size), .min = 1,
      .value_name = "BYTES", .help = "write several indexes of about this size, OUT-0xADDRESS, and\na list of them, OUT-manifest.json" },
    { .name = "revision", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, revision), .value_name = "REV",
      .help = "of gsym-section: A to G (default B), or B-script for the\nPython script of 2017" },
    { .name = "strings-in", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, strings_in),
      .value_name = "SECTION", .help = "of gsym-section: share this string section of INPUT (.strtab,\n.dynstr, .debug_str, ...) and append missing strings" },
    { .name = "threads", .letter = 'j', .kind = OPTION_NUMBER, .offset = offsetof(struct convert_values, threads),
      .max = 1024, .value_name = "N", .help = "number of threads (default 0: one per core)" },
    { .name = "merged-functions", .kind = OPTION_CHOICE, .offset = offsetof(struct convert_values, merged),
      .value_name = "MODE", .help = "keep all functions that share their code; MODE: aliases\n"
                                    "(second names too), llvm (as llvm-gsymutil does)" },
    { .name = "call-sites", .kind = OPTION_TEXTS, .offset = offsetof(struct convert_values, call_sites),
      .value_name = "dwarf|FILE", .help = "keep the call sites in DWARF; add those in a YAML, JSON or\n"
                                          "text file; can be repeated" },
    { .name = "bare-patterns", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, bare_patterns),
      .help = "write call sites as llvm-gsymutil does: bare callee names" },
    { .name = "shorten-names", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, shorten),
      .help = "store names demangled and without default template\narguments of the C++ library" },
    { .name = "shorten-nested", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, shorten_nested),
      .help = "the same, also inside template arguments" },
    { .name = "mangled", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, mangled),
      .help = "breakpad: do not demangle names" },
    { .name = "no-cfi", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, no_unwind),
      .help = "breakpad: leave out STACK records, by which readers unwind" },
    { .name = "bsym-version", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, bsym_version),
      .value_name = "V", .help = "--to bsym: 1.0, 2.0, 2.1, 2.2 or 2.3 (default: 2.3 if device\npaths are known, otherwise 2.1)" },
    { .name = "bsym-tokens", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, bsym_tokens),
      .value_name = "TABLE", .help = "--to bsym: best (computed for the input, the default),\nreference (that of Symbian's tool) or none" },
    { .name = "name-table", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, name_table),
      .help = "--to gsym, gsym-v2: add a table for finding functions by name,\nwhich other readers ignore" },
    { .name = "accelerate", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, accelerate),
      .help = "--to gsym, gsym-v2: store decoded answers in the file, which\nmake lookups faster and which other readers ignore" },
    { .name = "remote-layout", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, remote_layout),
      .help = "--accelerate for a file that is read from a server: a first\nlookup takes five requests, hardly ever six" },
    { .name = "strict", .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, strict),
      .help = "fail if anything is dropped or damaged" },
    { .name = "max-inflate", .kind = OPTION_SIZE, .offset = offsetof(struct convert_values, max_inflate), .min = 1,
      .value_name = "BYTES", .help = "refuse an input whose sections inflate to more than this in\n"
                                     "total (default 64G; suffixes K, M, G, T)" },
    { .name = "report", .kind = OPTION_TEXT, .offset = offsetof(struct convert_values, report), .value_name = "FILE",
      .help = "write what was read, merged, clipped and dropped as JSON;\n- is standard output" },
    { .name = "verbose", .letter = 'v', .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, verbose),
      .help = "also report what was merged: names that share their code", .excluded_by = "quiet" },
    { .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(struct convert_values, quiet),
      .help = "print errors only: no progress bar, no summary" },
};

static bool section_options_are_good(const struct convert_values *values) {
    bool is_section = values->to && csn_convert_format_find(values->to) == CSN_FORMAT_GSYM_SECTION;
    if (!is_section && (values->revision || values->strings_in)) {
        cli_error(NULL, "option '--%s' goes with '--to gsym-section' only", values->revision ? "revision" : "strings-in");
        return false;
    }
    uint32_t revision;
    return section_revision(values->revision, &revision);
}

/* enum csn_merge of the option's value; false, with a message: it is none. */
static bool merge_mode(const char *given, uint32_t *out) {
    static const char *const names[] = { "", "aliases", "llvm" };
    static const uint32_t modes[] = { CSN_MERGE_ALL, CSN_MERGE_ALIASES, CSN_MERGE_LLVM };
    *out = CSN_MERGE_NONE;
    if (!given) return true;
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        if (strcmp(given, names[i]) != 0) continue;
        *out = modes[i];
        return true;
    }
    cli_error(NULL, "option '--merged-functions': '%s' is unknown; use aliases or llvm", given);
    return false;
}

static bool format_is_known(const char *name) {
    if (!name || csn_convert_format_find(name)) return true;
    char known[256] = "";
    size_t len = 0;
    for (size_t n = 0; csn_convert_format_name(n) && len < sizeof(known) - 1; n++) {
        int added = snprintf(known + len, sizeof(known) - len, "%s%s", n ? ", " : "", csn_convert_format_name(n));
        if (added > 0) len += (size_t)added;
    }
    cli_error(NULL, "option '--to': '%s' is unknown; known are %s", name, known);
    return false;
}

/* The patterns of call sites are made for the names of the input. */
static bool names_can_change(const struct convert_values *values) {
    if (!values->shorten && !values->shorten_nested) return true;
    if (values->call_sites.count) {
        cli_error(NULL,
                  "options '--shorten-names' and '--call-sites' exclude each other: call-site patterns need the original names");
        return false;
    }
    return true;
}

static bool byte_order_of(const char *name, uint32_t *out) {
    *out = CSN_BYTE_ORDER_INPUT;
    if (!name) return true;
    if (strcmp(name, "little") == 0) *out = CSN_BYTE_ORDER_LITTLE;
    else if (strcmp(name, "big") == 0) *out = CSN_BYTE_ORDER_BIG;
    else cli_error(NULL, "option '--endian': '%s' is unknown; use little or big", name);
    return *out != CSN_BYTE_ORDER_INPUT;
}

/* 0: not given, or not known. */
static uint32_t bsym_version_of(const char *text) {
    static const char *const known[] = { "1.0", "2.0", "2.1", "2.2", "2.3" };
    for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(text, known[i]) == 0) return (uint32_t)(text[0] - '0') << 16 | (uint32_t)(text[2] - '0');
    return 0;
}

/* -1: not known. */
static int token_table_of(const char *text) {
    static const char *const known[] = { "best", "reference", "none" }; /* as in enum csn_bsym_tokens */
    for (int i = 0; text && i < 3; i++)
        if (strcmp(text, known[i]) == 0) return i;
    return text ? -1 : CSN_BSYM_TOKENS_BEST;
}

static bool segments_are_good(const struct convert_values *values) {
    uint32_t format = values->to ? csn_convert_format_find(values->to) : CSN_FORMAT_GSYM_AUTO;
    if (!values->segment_size || format == CSN_FORMAT_GSYM_V1 || format == CSN_FORMAT_GSYM_V2 || format == CSN_FORMAT_GSYM_AUTO)
        return true;
    cli_error(NULL, "option '--segment-size' needs '--to gsym', 'gsym-v2' or 'gsym-auto'");
    return false;
}

/* Options that outputs of other formats would ignore. */
static bool format_options_are_good(const struct convert_values *values) {
    uint32_t format = values->to ? csn_convert_format_find(values->to) : CSN_FORMAT_GSYM_AUTO;
    const char *of_breakpad = values->mangled ? "mangled" : values->no_unwind ? "no-cfi" : NULL;
    bool is_text_or_bsym = format == CSN_FORMAT_BREAKPAD || format == CSN_FORMAT_BSYM;
    if (of_breakpad && format != CSN_FORMAT_BREAKPAD) cli_error(NULL, "option '--%s' needs '--to breakpad'", of_breakpad);
    else if (values->endian && is_text_or_bsym)
        cli_error(NULL, "option '--endian' does not go with '--to %s', which has one byte order", values->to);
    else if (values->call_sites.count && is_text_or_bsym)
        cli_error(NULL, "option '--call-sites' does not go with '--to %s', which has none", values->to);
    else if (values->bare_patterns && !values->call_sites.count) cli_error(NULL, "option '--bare-patterns' needs '--call-sites'");
    else return true;
    return false;
}

static bool bsym_options_are_good(const struct convert_values *values) {
    const char *given = values->bsym_version ? "bsym-version" : values->bsym_tokens ? "bsym-tokens" : NULL;
    if (given && csn_convert_format_find(values->to ? values->to : "") != CSN_FORMAT_BSYM) {
        cli_error(NULL, "option '--%s' needs '--to bsym'", given);
        return false;
    }
    if (values->bsym_version && !bsym_version_of(values->bsym_version)) {
        cli_error(NULL, "option '--bsym-version': '%s' is unknown; use 1.0, 2.0, 2.1, 2.2 or 2.3", values->bsym_version);
        return false;
    }
    if (token_table_of(values->bsym_tokens) < 0) {
        cli_error(NULL, "option '--bsym-tokens': '%s' is unknown; use best, reference or none", values->bsym_tokens);
        return false;
    }
    return true;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What a segment, or the list of segments, has behind OUT. */
static bool is_segment_suffix(const char *text) {
    if (strcmp(text, "-manifest.json") == 0) return true;
    return strncmp(text, "-0x", 3) == 0 && text[3] && !text[3 + strspn(text + 3, "0123456789abcdef")];
}

/* At which addresses segments begin shows when all has been read: any may be one. */
static bool may_be_segment(const char *path, const char *out) {
    char *segment, *target = output_target(path);
    size_t len = strlen(base_of(out));
    const char *suffix = target && strncmp(base_of(target), base_of(out), len) == 0 ? base_of(target) + len : "";
    if (!is_segment_suffix(suffix) || asprintf(&segment, "%s%s", out, suffix) < 0) segment = NULL;
    bool may = segment && is_same_target(segment, target);
    free(segment);
    free(target);
    return may;
}

/* The library spares what it reads; these are the other files that options name. */
static bool segments_spare_named(const struct convert_values *values, const char *out) {
    const struct companion_values *companions = &values->companions;
    const char *taken = NULL, *option = NULL;
    for (size_t i = 0; i < companions->packages.count && !taken; i++)
        if (may_be_segment(companions->packages.items[i], out)) option = "dwp", taken = companions->packages.items[i];
    if (!taken && companions->debug_file && may_be_segment(companions->debug_file, out))
        option = "debug-file", taken = companions->debug_file;
    if (!taken && values->report && may_be_segment(values->report, out)) option = "report", taken = values->report;
    if (taken) cli_error(taken, "is the file of --%s, and may be that of a segment; choose another file with -o", option);
    return !taken;
}

/* What is written must be no file that is read, nor the other output: writing one would destroy another. */
static bool paths_are_distinct(const struct convert_values *values, const char *input, const char *out) {
    const char *report = values->report;
    if (!output_is_file(out)) return false;
    if (values->segment_size && !segments_spare_named(values, out)) return false;
    if (is_same_file(input, out)) {
        cli_error(out, "is the input itself; choose another file with -o");
        return false;
    }
    if (report && (is_same_target(report, out) || is_same_file(report, input))) {
        cli_error(report, "is the input or the index; choose another file with --report");
        return false;
    }
    if (!companions_are_spared(&values->companions, out, "-o")) return false;
    if (report && !companions_are_spared(&values->companions, report, "--report")) return false;
    for (size_t i = 0; i < values->call_sites.count; i++) {
        const char *sites = values->call_sites.items[i];
        const char *option = is_same_file(sites, out) ? "-o" : report && is_same_file(sites, report) ? "--report" : NULL;
        if (!option || strcmp(sites, "dwarf") == 0) continue;
        cli_error(sites, "is the file of --call-sites; choose another file with %s", option);
        return false;
    }
    return true;
}

/* One image of the input on its way to one index. */
struct target {
    const char *input, *arch, *out_path; /* arch NULL: the only image, or that of --arch */
    const struct csn_file *file;         /* of the input; NULL: a dSYM bundle */
    const struct call_site_files *call_sites;
};

struct format_options {
    struct csn_gsym_options gsym;
    struct csn_gsection_options gsection;
    struct csn_bsym_options bsym;
    struct csn_breakpad_options breakpad;
};

static void set_format(const struct convert_values *values, struct format_options *formats, struct csn_convert_options *out) {
    csn_gsym_options_init(&formats->gsym);
    csn_gsection_options_init(&formats->gsection);
    csn_bsym_options_init(&formats->bsym);
    csn_breakpad_options_init(&formats->breakpad);
    formats->gsym.segment_size = values->segment_size;
    (void)section_revision(values->revision, &formats->gsection.revision); /* checked before */
    formats->gsection.strings_in = values->strings_in;
    formats->bsym.version = bsym_version_of(values->bsym_version);
    formats->bsym.tokens = (uint32_t)token_table_of(values->bsym_tokens);
    formats->breakpad.keep_mangled = values->mangled;
    formats->breakpad.no_unwind = values->no_unwind;
    out->format = values->to ? csn_convert_format_find(values->to) : CSN_FORMAT_GSYM_AUTO;
    out->gsym = &formats->gsym;
    out->gsection = &formats->gsection;
    out->bsym = &formats->bsym;
    out->breakpad = &formats->breakpad;
}

/* But for what the search for companions sets. */
static struct csn_convert_options options_of(const struct convert_values *values, const struct target *target,
                                             struct progress_bar *bar) {
    struct csn_convert_options convert_options = CSN_CONVERT_OPTIONS_INIT;
    convert_options.threads = (uint32_t)values->threads;
    convert_options.flags = (values->strict ? CSN_CONVERT_STRICT : 0u) |
                            (target->call_sites->dwarf ? CSN_CONVERT_CALL_SITES : 0u) |
                            (values->bare_patterns ? CSN_CONVERT_LLVM_PATTERNS : 0u) |
                            (values->report ? CSN_CONVERT_COVERAGE : 0u) |
                            (values->name_table ? CSN_CONVERT_NAME_TABLE : 0u) |
                            (values->accelerate ? CSN_CONVERT_ACCELERATE : 0u) |
                            (values->remote_layout ? CSN_CONVERT_REMOTE_LAYOUT : 0u);
    convert_options.input = target->file;
    convert_options.call_site_files = target->call_sites->items;
    convert_options.call_site_file_count = target->call_sites->count;
    merge_mode(values->merged, &convert_options.merged_functions);
    convert_options.max_decompressed_bytes = values->max_inflate;
    convert_options.progress = progress_step;
    convert_options.progress_context = bar;
    if (values->shorten_nested) convert_options.rename = csn_rename_short_nested;
    else if (values->shorten) convert_options.rename = csn_rename_short;
    byte_order_of(values->endian, &convert_options.byte_order);
    return convert_options;
}

/* What else there is to say of a conversion. */
struct conversion_notes {
    struct missing_text missing;
    bool reads_report; /* it failed because the file of --report is one that it reads */
};

static csn_status convert(const struct convert_values *values, const struct target *target, struct csn_convert_report *report,
                          struct conversion_notes *notes, struct csn_error *err) {
    struct progress_bar bar;
    struct companion_search search;
    progress_begin(&bar, values->quiet);
    struct format_options formats;
    struct csn_convert_options convert_options = options_of(values, target, &bar);
    set_format(values, &formats, &convert_options);
    const char *const outputs[] = { target->out_path, values->report, NULL };
    csn_status status = companion_search_begin(&search, &values->companions, outputs, &bar, &convert_options, err);
    if (target->arch) convert_options.arch = target->arch;
    if (status >= 0) status = csn_convert_file(target->input, target->out_path, &convert_options, report, err);
    progress_end(&bar);
    if (status >= 0 && search.debug_file && !values->quiet) cli_report("debug information from %s", search.debug_file);
    if (conversion_has_symbols_only(report) && (status == CSN_E_NOT_FOUND || (status >= 0 && !values->quiet)))
        companion_search_missing(&search, &values->companions, &notes->missing);
    notes->reads_report = search.refused && search.refused == values->report;
    companion_search_end(&search);
    return status;
}

/* Says when version 1, which every reader knows, could not hold the input. */
static void report_version(const char *path) {
    struct csn_index *index;
    if (csn_index_open_file(path, NULL, &index, NULL) < 0) return;
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    if (info.format == CSN_FORMAT_GSYM_V2)
        cli_report("%s: written as GSYM version 2, because version 1 cannot hold it ('--to gsym' says why)", path);
    csn_index_close(index);
}

static enum exit_code report_result(const struct convert_values *values, const char *input, const char *out_path,
                           const struct csn_convert_report *report) {
    if (!values->quiet) {
        conversion_report_summary(out_path, report);
        conversion_report_events(report, values->verbose);
        if (!values->to) report_version(out_path);
    }
    if (!conversion_is_partial(report)) return EXIT_WORKED;
    cli_error(input, "parts of the debug information are damaged or missing; the index was written without them");
    return EXIT_PARTIAL;
}

/* Of the index at `path`; false: it is none that lookups read, or there are several. */
static bool coverage_of_output(const char *path, struct coverage *out) {
    struct csn_index *index;
    if (csn_index_open_file(path, NULL, &index, NULL) < 0) return false;
    bool good = coverage_of_index(index, out);
    csn_index_close(index);
    return good;
}

static enum exit_code convert_and_report(const struct convert_values *values, const struct target *target,
                                         struct csn_convert_report *report) {
    /* Opened first: a report that cannot be written should not be found out after minutes of work. */
    struct report_file file;
    if (values->report && !report_file_open(&file, values->report)) return EXIT_FAILED;
    struct csn_error err = CSN_ERROR_INIT;
    struct conversion_notes notes = { 0 };
    const char *const missing = notes.missing.text;
    csn_status status = convert(values, target, report, &notes, &err);
    const char *failure = status >= 0 ? NULL : err.text[0] ? csn_error_text(&err) : csn_status_name(status);
    if (failure) cli_error(target->input, "%s%s%s", failure, *missing ? "; " : "", missing);
    else if (*missing) cli_report("%s: no debug information, symbols only; %s", target->input, missing);
    enum exit_code code = failure ? EXIT_FAILED : report_result(values, target->input, target->out_path, report);
    struct coverage covered;
    bool has_index = values->report && !failure && coverage_of_output(target->out_path, &covered);
    if (values->report && notes.reads_report) report_file_drop(&file);
    else if (values->report && !report_file_write(&file, target->input, target->out_path, failure, report, has_index ? &covered : NULL))
        code = EXIT_FAILED;
    return code;
}

static enum exit_code convert_target(const struct convert_values *values, const struct target *target) {
    if (!paths_are_distinct(values, target->input, target->out_path)) return EXIT_FAILED;
    struct csn_convert_report *report = calloc(1, sizeof(*report));
    enum exit_code code = EXIT_FAILED;
    if (report) code = convert_and_report(values, target, report);
    else cli_error_memory("the report");
    free(report);
    return code;
}

/* How names of outputs end that were not given. */
static const char *suffix_of(const struct convert_values *values) {
    switch (values->to ? csn_convert_format_find(values->to) : 0) {
    case CSN_FORMAT_BREAKPAD: return ".sym";
    case CSN_FORMAT_BSYM: return ".bsym";
    default: return ".gsym";
    }
}

/* OUT.ARCH.gsym, where an OUT that ends in .gsym does so only once; other endings in the same way. */
static char *path_of_image(const char *out_path, const char *arch, const char *suffix) {
    size_t len = strlen(out_path), cut = strlen(suffix);
    if (len > cut && strcmp(out_path + len - cut, suffix) == 0) len -= cut;
    char *path;
    return asprintf(&path, "%.*s.%s%s", (int)len, out_path, arch, suffix) < 0 ? NULL : path;
}

/* Each image goes to a file of its own; the worst outcome is the outcome. */
static enum exit_code convert_images(const struct convert_values *values, const struct target *whole,
                                     const struct csn_image_info *images, size_t count) {
    enum exit_code worst = EXIT_WORKED;
    if (values->report) {
        cli_error(whole->input, "%zu images; --report needs --arch to choose one", count);
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        struct target target = *whole;
        target.arch = images[i].arch;
        char *path = path_of_image(whole->out_path, images[i].arch, suffix_of(values));
        target.out_path = path;
        enum exit_code code = EXIT_FAILED;
        if (path) code = convert_target(values, &target);
        else cli_error_memory("a path");
        if (code > worst) worst = code;
        free(path);
    }
    return worst;
}

enum { IMAGES_MAX = 32 };

/* How many images the input has. What cannot be read here fails when it is converted, with a message. */
static size_t list_images(const struct input_file *input, struct csn_image_info *images) {
    size_t count = 1;
    csn_status status = input->file ? csn_image_list_memory(input->bytes, input->size, images, IMAGES_MAX, &count, NULL)
                                    : csn_image_list_file(input->path, images, IMAGES_MAX, &count, NULL);
    return status < 0 ? 1 : count;
}

/* Call sites in DWARF are those of object files; what an index has of them is kept without the option. */
static bool call_sites_fit(const struct target *target, const struct input_file *input) {
    const enum input_nature nature = target->call_sites->dwarf ? input_nature_of(input) : INPUT_OBJECT;
    if (nature == INPUT_OBJECT) return true;
    cli_error(input->path, "is %s: option '--call-sites dwarf' goes with object files", input_nature_text(nature));
    return false;
}

static enum exit_code convert_input(const struct convert_values *values, struct target whole) {
    struct csn_image_info images[IMAGES_MAX];
    struct input_file input;
    if (!input_file_open(whole.input, &input)) return EXIT_FAILED;
    if (!options_fit_input(&input, &values->companions) || !call_sites_fit(&whole, &input)) {
        input_file_close(&input);
        return EXIT_FAILED;
    }
    whole.file = input.file;
    size_t count = values->companions.arch ? 1 : list_images(&input, images);
    enum exit_code code = EXIT_FAILED;
    if (count > IMAGES_MAX)
        cli_error(whole.input, "%zu images, at most %d can be converted at once; choose one with --arch", count, IMAGES_MAX);
    else
        code = count > 1 ? convert_images(values, &whole, images, count) : convert_target(values, &whole);
    input_file_close(&input);
    return code;
}

static bool ends_with(const char *text, size_t len, const char *suffix) {
    size_t size = strlen(suffix);
    return len >= size && memcmp(text + len - size, suffix, size) == 0;
}

static enum exit_code run_convert(const void *given, char **operands, int operand_count) {
    (void)operand_count;
    const struct convert_values *values = given;
    const char *input = operands[0];
    if (!format_is_known(values->to)) return EXIT_FAILED;
    uint32_t byte_order, merge;
    if (!byte_order_of(values->endian, &byte_order) || !merge_mode(values->merged, &merge)) return EXIT_FAILED;
    if (!format_options_are_good(values) || !segments_are_good(values) || !bsym_options_are_good(values) ||
        !section_options_are_good(values))
        return EXIT_FAILED;
    if (!names_can_change(values)) return EXIT_FAILED;
    char *beside = NULL;
    size_t len = strlen(input);
    while (len > 1 && input[len - 1] == '/') len--; /* of a bundle */
    if (!values->out && asprintf(&beside, "%.*s%s", (int)len, input, suffix_of(values)) < 0) beside = NULL;
    const char *out_path = values->out ? values->out : beside;
    if (!values->out && ends_with(input, len, suffix_of(values))) {
        cli_error(input, "ends in '%s' already; name the output with -o", suffix_of(values));
        free(beside);
        return EXIT_FAILED;
    }
    enum exit_code code = EXIT_FAILED;
    struct call_site_files call_sites = { 0 };
    const struct target whole = { .input = input, .out_path = out_path, .call_sites = &call_sites };
    if (!out_path) cli_error_memory("a path");
    else if (call_site_files_read(&call_sites, &values->call_sites)) code = convert_input(values, whole);
    call_site_files_release(&call_sites);
    free(beside);
    progress_pass_on_signal();
    return code;
}

const struct command convert_command = {
    .name = "convert",
    .arguments = "INPUT",
    .summary = "make an index from a program, library, debug file or index",
    .description =
        "Converts a program, library, object file or debug-only file (ELF, Mach-O, PE, COFF, WebAssembly), a dSYM bundle,\n"
        "a program database (PDB), a Breakpad symbol file, a list of symbols (/proc/kallsyms, System.map, nm's, a perf map),\n"
        "a Symbian ROM's .symbol file or build log, or another index, to an index. Converting an index to an index loses\n"
        "nothing. The same input always gives the same bytes, for any number of threads. The index is written to a temporary\n"
        "file and renamed: if the conversion fails, an older index stays unchanged.\n"
        "\n"
        "A summary on standard error has one line for each kind of thing that was clipped or dropped.\n"
        "Exit status: 1 if parts of the input were damaged or missing, 2 if no index was written, or not the report.\n",
    .example = "callsign convert app -o app.gsym --report app.json",
    .min_operands = 1,
    .max_operands = 1,
    .values_size = sizeof(struct convert_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct convert_values, companions) },
    .run = run_convert,
};

/* llvm-gsymutil 22: options, and what they do. */
#define _GNU_SOURCE
#include "stand_ins/gsymutil/llvm_gsymutil.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/index.h>

#include "stand_ins/base/answer_output.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/base/near_option.h"
#include "stand_ins/base/response_files.h"
#include "stand_ins/base/spooled_input.h"
#include "stand_ins/gsymutil/gsym_convert.h"
#include "stand_ins/gsymutil/gsym_lookup.h"
#include "stand_ins/gsymutil/gsym_statistics.h"
#include "stand_ins/llvm/llvm_number.h"

static const char help_text[] =
    "OVERVIEW: A tool for dumping, searching and creating GSYM files.\n"
    "\n"
    "Specify one or more GSYM paths as arguments to dump all of the information in each GSYM file.\n"
    "Specify a single GSYM file along with one or more --lookup options to lookup addresses within that GSYM file.\n"
    "Use the --convert option to specify a file with option --out-file option to convert to GSYM format.\n"
    "\n"
    "\n"
    "USAGE: llvm-gsymutil [options] <input GSYM files>\n"
    "\n"
    "OPTIONS:\n"
    "  --address=<value>      Lookup an address in a GSYM file\n"
    "  --addresses-from-stdin Lookup addresses in a GSYM file that are read from stdin\n"
    "                         Each input line is expected to be of the following format: <addr> <gsym-path>\n"
    "  --arch=<value>         Process debug information for the specified CPU architecture only.\n"
    "                         Architectures may be specified by name or by number.\n"
    "                         This option can be specified multiple times, once for each desired architecture\n"
    "  --convert=<value>      Convert the specified file to the GSYM format.\n"
    "                         Supported files include ELF and mach-o files that will have their debug info (DWARF) and symbol table converted\n"
    "  --dwarf-callsites      Load call site info from DWARF, if available\n"
    "  --help                 Display this help\n"
    "  -h                     Alias for --help\n"
    "  --json-summary-file=<value>\n"
    "                         Output a categorized summary of errors into the JSON file specified.\n"
    "  --merged-functions-filter=<value>\n"
    "                         When used with --address/--addresses-from-stdin and --merged-functions,\n"
    "                         filters the merged functions output to only show functions matching any of the specified regex patterns.\n"
    "                         Can be specified multiple times.\n"
    "  --merged-functions     When used with --convert, encodes merged function information for functions in debug info that have matching address ranges.\n"
    "                         Without this option one function per unique address range will be emitted.\n"
    "                         When used with --address/--addresses-from-stdin, all merged functions for a particular address will be displayed.\n"
    "                         Without this option only one function will be displayed.\n"
    "  --num-threads=<value>  Specify the maximum number (n) of simultaneous threads to use when converting files to GSYM.\n"
    "                         Defaults to the number of cores on the current machine\n"
    "  --out-file=<value>     Specify the path where the converted GSYM file will be saved.\n"
    "                         When not specified, a '.gsym' extension will be appended to the file name specified in the --convert option\n"
    "  -o <value>             Alias for --out-file\n"
    "  --quiet                Do not output warnings about the debug information\n"
    "  --segment-size=<value> Specify the size in bytes of the size the final GSYM file should be segmented into. This allows GSYM files to be split across multiple files\n"
    "  --verbose              Enable verbose logging and encoding details\n"
    "  --verify               Verify the generated GSYM file against the information in the file that was converted\n"
    "  --version              Display the version\n"
    "  -v                     Alias for --version\n";

struct gsymutil {
    const char *program, *convert, *out, *json_summary, *call_site_yaml, *symbol_file;
    const char *threads_text, *segment_text; /* numbers, checked later; NULL: not given */
    uint64_t segment_size;
    struct word_list inputs, archs, filters, address_texts;
    struct { uint64_t *items; size_t count, capacity; } addresses;
    bool verify, verbose, quiet, merged, from_stdin, call_sites, wants_help, wants_version, statistics;
    enum gsym_statistics_format statistics_format;
};

/* ---- options ---- */

enum kind { FLAG, TEXT, FLAG_OR_TEXT };
enum id { ADDRESS, STDIN, ARCH, CALLSITES_YAML, CONVERT, CALLSITES, HELP, SUMMARY, FILTER, MERGED, THREADS, OUT, QUIET, SEGMENT, STATISTICS, SYMTAB,
          VERBOSE, VERIFY, VERSION };
static const struct { const char *name; enum kind kind; enum id id; } table[] = {
    { "address", TEXT, ADDRESS }, { "addresses-from-stdin", FLAG, STDIN }, { "arch", TEXT, ARCH }, { "callsites-yaml-file", TEXT, CALLSITES_YAML },
    { "convert", TEXT, CONVERT }, { "dwarf-callsites", FLAG, CALLSITES }, { "help", FLAG, HELP }, { "json-summary-file", TEXT, SUMMARY },
    { "merged-functions-filter", TEXT, FILTER }, { "merged-functions", FLAG, MERGED }, { "num-threads", TEXT, THREADS }, { "out-file", TEXT, OUT },
    { "quiet", FLAG, QUIET }, { "segment-size", TEXT, SEGMENT }, { "statistics", FLAG_OR_TEXT, STATISTICS }, { "symtab-file", TEXT, SYMTAB },
    { "verbose", FLAG, VERBOSE }, { "verify", FLAG, VERIFY }, { "version", FLAG, VERSION },
};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };

static bool take_number(const struct gsymutil *g, const char *option, const char *text, uint64_t max, uint64_t *out) {
    if (llvm_read_number(text, strlen(text), false, out) && *out <= max) return true;
    fprintf(stderr, "%s: for the --%s option: '%s' value invalid for uint argument!\n", g->program, option, text);
    return false;
}

/* False: one of them is none, which was said. */
static bool take_numbers(struct gsymutil *g) {
    uint64_t number;
    if (g->threads_text && !take_number(g, "num-threads", g->threads_text, UINT32_MAX, &number)) return false;
    if (g->segment_text && !take_number(g, "segment-size", g->segment_text, UINT64_MAX, &g->segment_size)) return false;
    for (size_t i = 0; i < g->address_texts.count; i++) {
        if (!take_number(g, "address", g->address_texts.items[i], UINT64_MAX, &number)) return false;
        GROW_PUSH(&g->addresses, number);
    }
    return true;
}

/* value NULL: text. */
static bool take_statistics(struct gsymutil *g, const char *value) {
    static const char *const formats[] = { "text", "json", "pretty-json" };
    g->statistics = true;
    for (int i = 0; i < 3; i++)
        if (!value || strcmp(value, formats[i]) == 0) {
            g->statistics_format = (enum gsym_statistics_format)i;
            return true;
        }
    fprintf(stderr, "%s: for the --statistics option: '%s' value invalid, expected text, json or pretty-json\n", g->program, value);
    return false;
}

/* False: the value makes no sense, which was said. */
static bool apply(struct gsymutil *g, enum id id, const char *value) {
    switch (id) {
    case ADDRESS: GROW_PUSH(&g->address_texts, value); return true;
    case STDIN: g->from_stdin = true; return true;
    case ARCH: GROW_PUSH(&g->archs, value); return true;
    case CALLSITES_YAML: g->call_site_yaml = value; return true;
    case CONVERT: g->convert = value; return true;
    case CALLSITES: g->call_sites = true; return true;
    case HELP: g->wants_help = true; return true;
    case SUMMARY: g->json_summary = value; return true;
    case FILTER: GROW_PUSH(&g->filters, value); return true;
    case MERGED: g->merged = true; return true;
    case STATISTICS: return take_statistics(g, value);
    case THREADS: g->threads_text = value; return true;
    case OUT: g->out = value; return true;
    case QUIET: g->quiet = true; return true;
    case SYMTAB: g->symbol_file = value; return true;
    case SEGMENT: g->segment_text = value; return true;
    case VERBOSE: g->verbose = true; return true;
    case VERIFY: g->verify = true; return true;
    case VERSION: g->wants_version = true; return true;
    default: return true;
    }
}

/* The entry that a word names, with or without "=VALUE"; -1: none. */
static int find_option(const char *word, const char **value) {
    const char *name = word + 2;
    *value = NULL;
    if (strcmp(word, "-o") == 0) name = "out-file";
    else if (strcmp(word, "-h") == 0) name = "help";
    else if (strcmp(word, "-v") == 0) name = "version";
    else if (word[1] != '-') return -1;
    size_t size = strcspn(name, "=");
    for (int i = 0; i < TABLE_SIZE; i++) {
        if (strlen(table[i].name) != size || memcmp(table[i].name, name, size) != 0) continue;
        if (name[size] && table[i].kind == FLAG) continue;
        if (name[size]) *value = name + size + 1;
        return i;
    }
    return -1;
}

static void report_unknown(char **complaint, const char *word) {
    char *near = NULL;
    if (*complaint) return; /* the first ends the run */
    for (int i = 0; i < TABLE_SIZE && !near; i++) {
        char *spelling = formatted_text("--%s%s", table[i].name, table[i].kind == TEXT ? "=" : "");
        near = near_option(word, spelling, table[i].kind == TEXT);
        free(spelling);
    }
    *complaint = near ? formatted_text("unknown argument '%s', did you mean '%s'?\n", word, near)
                      : formatted_text("unknown argument '%s'\n", word);
    free(near);
}

/* A word that is no option as a whole: letters that stand together, of which the first is taken. What is left becomes the word.
 * False: nothing is left. */
static bool take_letter(struct gsymutil *g, char **word, char **complaint) {
    char *text = *word;
    const bool is_flag = text[1] == 'h' || text[1] == 'v';
    if (text[1] == '-' || (is_flag && text[2] == '=')) {
        report_unknown(complaint, text);
        return false;
    }
    const char letter[] = { '-', text[1], 0 };
    if (!is_flag) report_unknown(complaint, letter);
    if (text[1] == 'h') g->wants_help = true;
    if (text[1] == 'v') g->wants_version = true;
    *word = formatted_text("-%s", text + 2);
    return text[2];
}

/* -1: go on; else the exit code. */
static int read_options(struct gsymutil *g, int argc, char **argv) {
    char *complaint = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (argv[i][0]) GROW_PUSH(&g->inputs, (const char *)argv[i]);
            continue;
        }
        int entry = find_option(argv[i], &value);
        if (entry < 0) {
            i -= take_letter(g, &argv[i], &complaint);
            continue;
        }
        if (table[entry].kind == TEXT && !value && i + 1 == argc) {
            fprintf(stderr, "%s: missing argument\n", argv[i]);
            return 1;
        }
        if (table[entry].kind == TEXT && !value) value = argv[++i];
        if (!apply(g, table[entry].id, value)) return 1;
    }
    if (complaint) fputs(complaint, stderr);
    return complaint ? 1 : -1;
}

/* ---- looking into files ---- */

static bool is_shorter_than_a_header(const char *path) {
    enum { HEADER_SIZE = 48 };
    char bytes[HEADER_SIZE];
    FILE *file = fopen(input_path(path), "rb");
    const size_t got = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    return got < HEADER_SIZE;
}

static struct csn_index *open_gsym(const char *path) {
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    struct csn_index_info info;
    flush_answers();
    options.allocator = &ending_allocator;
    csn_status status = csn_index_open_file(input_path(path), &options, &index, &err);
    if (status == CSN_OK) {
        csn_index_get_info(index, &info, sizeof info);
        if (info.format == CSN_FORMAT_GSYM_V1) return index;
        csn_index_close(index);
    }
    const bool is_short = status != CSN_OK && !err.os_error && is_shorter_than_a_header(path);
    const char *why = is_short ? "not enough data for a GSYM header" : "not a GSYM file";
    fprintf(stderr, "%s: %s\n", path, status != CSN_OK && err.os_error ? strerror(err.os_error) : why);
    return NULL;
}

static void look_up(const struct gsymutil *g, const struct csn_index *index, uint64_t addr) {
    const struct gsym_filter filter = { g->filters.items, g->filters.count };
    if (g->merged) gsym_print_lookup_merged(index, addr, &filter);
    else if (g->verbose) gsym_print_lookup_verbose(index, addr);
    else gsym_print_lookup(index, addr);
}

static int look_into(const struct gsymutil *g, const char *path) {
    if (g->statistics && !g->addresses.count) {
        flush_answers();
        const char *why = gsym_print_statistics(path, g->statistics_format);
        if (why) fprintf(stderr, "%s: %s\n", path, why);
        return why != NULL;
    }
    struct csn_index *index = open_gsym(path);
    if (!index) return 1;
    if (g->addresses.count) printf("Looking up addresses in \"%s\":\n", path);
    else gsym_dump(index);
    for (size_t i = 0; i < g->addresses.count; i++) look_up(g, index, g->addresses.items[i]);
    csn_index_close(index);
    return 0;
}

/* Carriage returns and newlines are dropped wherever they stand. Returns the size that is left. */
static size_t strip_line_ends(char *line, size_t size) {
    size_t kept = 0;
    for (size_t i = 0; i < size; i++)
        if (line[i] != '\r' && line[i] != '\n') line[kept++] = line[i];
    line[kept] = 0;
    return kept;
}

/* The file of the lines before, or another one. */
struct line_file {
    struct csn_index *index;
    char *path;              /* NULL: none yet */
};

/* False: it cannot be opened, which was printed. */
static bool use_file(struct line_file *file, const char *path) {
    if (file->path && strcmp(file->path, path) == 0) return true;
    csn_index_close(file->index);
    free(file->path);
    file->path = copy_text(path, strlen(path));
    file->index = open_gsym(path);
    return file->index;
}

/* Lines "ADDRESS FILE": the file counts before the address. */
static int answer_lines(const struct gsymutil *g) {
    struct line_file file = { 0 };
    char *line = NULL;
    size_t capacity = 0;
    int code = 0;
    for (ssize_t size; !code && (size = input_line(&line, &capacity, stdin)) > 0;) {
        const size_t kept = strip_line_ends(line, (size_t)size);
        const char *blank = memchr(line, ' ', kept);
        const size_t digits = blank ? (size_t)(blank - line) : kept;
        uint64_t addr;
        const bool is_number = llvm_read_number(line, digits, false, &addr);
        if (is_number && g->merged && !file.path && !(blank && blank[1])) { /* no file yet: LLVM has no answer, and goes on */
            fputc('\n', stdout);
            flush_answers();
            continue;
        }
        if ((blank || file.path || is_number) && !use_file(&file, blank ? blank + 1 : "")) {
            code = 1;
        } else if (!is_number) {
            fputs("error: invalid address ", stdout);
            fwrite(line, 1, digits, stdout);
            fputs(", expected: Address GsymFile.\n", stdout);
            code = 1;
        } else {
            look_up(g, file.index, addr);
            fputc('\n', stdout);
            flush_answers();
        }
    }
    csn_index_close(file.index);
    free(file.path);
    free(line);
    return code;
}

/* ---- converting ---- */

static int convert(const struct gsymutil *g) {
    const struct gsym_conversion conversion = {
        .input = g->convert, .out = g->out, .json_summary = g->json_summary, .call_site_yaml = g->call_site_yaml, .symbol_file = g->symbol_file,
        .segment_size = g->segment_size, .archs = g->archs.items, .arch_count = g->archs.count, .verify = g->verify, .quiet = g->quiet,
        .merged = g->merged, .call_sites = g->call_sites,
    };
    return gsym_convert(&conversion);
}

/* Options that need others. */
static bool check_options(const struct gsymutil *g) {
    if (g->call_site_yaml && !g->call_site_yaml[0]) {
        fprintf(stderr, "%s: --callsites-yaml-file option requires a non-empty argument.\n", g->program);
        return false;
    }
    if (g->filters.count && !g->addresses.count && !g->from_stdin) {
        fprintf(stderr, "%s: --merged-functions-filter can only be used with --address/--addresses-from-stdin\n", g->program);
        return false;
    }
    if (g->filters.count && !g->merged) {
        fprintf(stderr, "%s: --merged-functions-filter requires --merged-functions\n", g->program);
        return false;
    }
    return true;
}

int llvm_gsymutil_main(int argc, char **argv) {
    static struct gsymutil g;
    g = (struct gsymutil){ .program = argv[0] };
    llvm_expand_arguments(&argc, &argv);
    int code = read_options(&g, argc, argv);
    if (code >= 0) return code;
    if (g.wants_help) {
        fputs(help_text, stdout);
        return 0;
    }
    if (g.wants_version) {
        printf("%s\nDebian LLVM version 22.1.8\n  Optimized build.\n", argv[0]);
        return 0;
    }
    if (!take_numbers(&g) || !check_options(&g)) return 1;
    if (g.convert && !g.convert[0]) g.convert = NULL;
    if (g.out && !g.out[0]) g.out = NULL;
    if (g.convert && g.inputs.count) {
        fputs("error: no input files can be specified when using the --convert option.\n", stdout);
        return 1;
    }
    if (g.convert) return convert(&g);
    if (g.from_stdin && (g.inputs.count || g.addresses.count)) {
        fputs("error: no input files or addresses can be specified when using the --addresses-from-stdin option.\n", stdout);
        return 1;
    }
    if (g.from_stdin) return answer_lines(&g);
    code = 0;
    for (size_t i = 0; i < g.inputs.count && !code; i++) code = look_into(&g, g.inputs.items[i]);
    return code;
}

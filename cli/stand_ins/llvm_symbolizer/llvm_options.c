/* Reading options: long ones with two dashes, short ones that may stand together. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/base/near_option.h"
#include "stand_ins/base/response_files.h"
#include "stand_ins/llvm/llvm_number.h"

static const char help_text[] =
    "OPTIONS:\n"
    "  --addresses            Show address before line information\n"
    "  --adjust-vma=<offset>  Add specified offset to object file addresses\n"
    "  -a                     Alias for --addresses\n"
    "  --basenames            Strip directory names from paths\n"
    "  --build-id=<value>     Build ID used to look up the object file\n"
    "  --cache-size=<value>   Max size in bytes of the in-memory binary cache.\n"
    "  --color=<value>        Whether to use color when symbolizing log markup: always, auto, never\n"
    "  --color                Use color when symbolizing log markup.\n"
    "  -C                     Alias for --demangle\n"
    "  --debug-file-directory=<dir>\n"
    "                         Path to directory where to look for debug files\n"
    "  --debuginfod           Use debuginfod to find debug binaries\n"
    "  --default-arch=<value> Default architecture for multi-arch containers (e.g. Mach-O objects or AIX archives)\n"
    "  -demangle=false        Alias for --no-demangle\n"
    "  -demangle=true         Alias for --demangle\n"
    "  --demangle             Demangle function names\n"
    "  --dia                  Use the DIA library to access symbols (Windows only)\n"
    "  --dwp=<file>           Path to DWP file to be use for any split CUs\n"
    "  -e=<file>              Alias for --obj\n"
    "  --exe=<file>           Alias for --obj\n"
    "  --exe <file>           Alias for --obj\n"
    "  -e <file>              Alias for --obj\n"
    "  -f=<value>             Alias for --functions=\n"
    "  --fallback-debug-path=<dir>\n"
    "                         Fallback path for debug binaries\n"
    "  --filter-markup        Filter symbolizer markup from stdin.\n"
    "  --functions=<value>    Print function name for a given address\n"
    "  --functions            Print function name for a given address\n"
    "  -f                     Alias for --functions\n"
    "  --help                 Display this help\n"
    "  --inlines              Print all inlined frames for a given address\n"
    "  --inlining=false       Alias for --no-inlines\n"
    "  --inlining=true        Alias for --inlines\n"
    "  --inlining             Alias for --inlines\n"
    "  -i                     Alias for --inlines\n"
    "  --no-debuginfod        Don't use debuginfod to find debug binaries\n"
    "  --no-demangle          Don't demangle function names\n"
    "  --no-inlines           Do not print inlined frames\n"
    "  --no-untag-addresses   Remove memory tags from addresses before symbolization\n"
    "  --obj=<file>           Path to object file to be symbolized (if not provided, object file should be specified for each input line)\n"
    "  --output-style=style   Specify print style. Supported styles: LLVM, GNU, JSON\n"
    "  --pretty-print         Make the output more human friendly\n"
    "  --print-address        Alias for --addresses\n"
    "  --print-source-context-lines=<value>\n"
    "                         Print N lines of source file context\n"
    "  -p                     Alias for --pretty-print\n"
    "  --relative-address     Interpret addresses as addresses relative to the image base\n"
    "  --relativenames        Strip the compilation directory from paths\n"
    "  --skip-line-zero       If an address does not have an associated line number, use the last line number from the current sequence in the line-table\n"
    "  -s                     Alias for --basenames\n"
    "  --verbose              Print verbose line info\n"
    "  --version              Display the version\n"
    "  -v                     Alias for --version\n"
    "\n"
    "llvm-symbolizer GSYM Related Options:\n"
    "  --disable-gsym Don't consider using GSYM files for symbolication\n"
    "  --gsym-file-directory=<dir>\n"
    "                 Path to directory where to look for GSYM files\n"
    "\n"
    "llvm-symbolizer Mach-O Specific Options:\n"
    "  --dsym-hint=<dir> Path to .dSYM bundles to search for debug info for the object files\n"
    "\n"
    "Pass @FILE as argument to read options from FILE.\n";

enum option_id {
    ADDRESSES, ADJUST_VMA, BASENAMES, BUILD_ID, CACHE_SIZE, COLOR, COLOR_VALUE, DEBUG_DIR, DEBUGINFOD, DEFAULT_ARCH, DEMANGLE, DIA,
    DISABLE_GSYM, DSYM_HINT, DWP, FALLBACK_PATH, FILTER_MARKUP, FUNCTIONS, FUNCTIONS_VALUE, GSYM_DIR, HELP, INLINES, NO_DEBUGINFOD,
    NO_DEMANGLE, NO_INLINES, NO_UNTAG, OBJECT, OUTPUT_STYLE, PRETTY, CONTEXT, RELATIVE_ADDRESS, RELATIVE_NAMES, SKIP_ZERO, UNTAG,
    VERBOSE, VERSION
};

enum form { FLAG, JOINED, SEPARATE, JOINED_OR_SEPARATE };

/* As LLVM's table has them; a joined one ends in '='. */
static const struct {
    const char *spelling;
    enum form form;
    enum option_id id;
} table[] = {
    { "--addresses", FLAG, ADDRESSES }, { "-a", FLAG, ADDRESSES }, { "--print-address", FLAG, ADDRESSES },
    { "--adjust-vma=", JOINED, ADJUST_VMA }, { "--adjust-vma", SEPARATE, ADJUST_VMA },
    { "--basenames", FLAG, BASENAMES }, { "-s", FLAG, BASENAMES },
    { "--build-id=", JOINED, BUILD_ID }, { "--build-id", SEPARATE, BUILD_ID },
    { "--cache-size=", JOINED, CACHE_SIZE }, { "--cache-size", SEPARATE, CACHE_SIZE },
    { "--color=", JOINED, COLOR_VALUE }, { "--color", FLAG, COLOR },
    { "--debug-file-directory=", JOINED, DEBUG_DIR }, { "--debug-file-directory", SEPARATE, DEBUG_DIR },
    { "--debuginfod", FLAG, DEBUGINFOD }, { "--no-debuginfod", FLAG, NO_DEBUGINFOD },
    { "--default-arch=", JOINED, DEFAULT_ARCH }, { "--default-arch", SEPARATE, DEFAULT_ARCH },
    { "--demangle", FLAG, DEMANGLE }, { "-C", FLAG, DEMANGLE }, { "-demangle=true", FLAG, DEMANGLE },
    { "--no-demangle", FLAG, NO_DEMANGLE }, { "-demangle=false", FLAG, NO_DEMANGLE },
    { "--dia", FLAG, DIA }, { "--disable-gsym", FLAG, DISABLE_GSYM },
    { "--dsym-hint=", JOINED, DSYM_HINT }, { "--dsym-hint", SEPARATE, DSYM_HINT },
    { "--dwp=", JOINED, DWP }, { "--dwp", SEPARATE, DWP },
    { "--fallback-debug-path=", JOINED, FALLBACK_PATH }, { "--fallback-debug-path", SEPARATE, FALLBACK_PATH },
    { "--filter-markup", FLAG, FILTER_MARKUP },
    { "--functions=", JOINED, FUNCTIONS_VALUE }, { "-f=", JOINED, FUNCTIONS_VALUE }, { "--functions", FLAG, FUNCTIONS }, { "-f", FLAG, FUNCTIONS },
    { "--gsym-file-directory=", JOINED, GSYM_DIR }, { "--gsym-file-directory", SEPARATE, GSYM_DIR },
    { "--help", FLAG, HELP }, { "-h", FLAG, HELP },
    { "--inlines", FLAG, INLINES }, { "-i", FLAG, INLINES }, { "--inlining", FLAG, INLINES }, { "--inlining=true", FLAG, INLINES },
    { "--no-inlines", FLAG, NO_INLINES }, { "--inlining=false", FLAG, NO_INLINES },
    { "--no-untag-addresses", FLAG, NO_UNTAG }, { "--untag-addresses", FLAG, UNTAG },
    { "--obj=", JOINED, OBJECT }, { "--obj", SEPARATE, OBJECT }, { "--exe=", JOINED, OBJECT }, { "--exe", SEPARATE, OBJECT },
    { "-e=", JOINED, OBJECT }, { "-e", JOINED_OR_SEPARATE, OBJECT },
    { "--output-style=", JOINED, OUTPUT_STYLE }, { "--output-style", SEPARATE, OUTPUT_STYLE },
    { "--pretty-print", FLAG, PRETTY }, { "-p", FLAG, PRETTY },
    { "--print-source-context-lines=", JOINED, CONTEXT }, { "--print-source-context-lines", SEPARATE, CONTEXT },
    { "--relative-address", FLAG, RELATIVE_ADDRESS }, { "--relativenames", FLAG, RELATIVE_NAMES },
    { "--skip-line-zero", FLAG, SKIP_ZERO }, { "--verbose", FLAG, VERBOSE }, { "--version", FLAG, VERSION }, { "-v", FLAG, VERSION },
};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };

/* What is being read. */
struct reader {
    struct llvm_options *to;
    char **words;
    int count, at;
    bool wants_help, wants_version, plain_functions, plain_color;
    const char *functions;   /* the last --functions= */
    const char *missing;     /* the last option, whose value is missing */
    struct grown_text unknown; /* what is to be said of words that no option fits */
};

/* ---- numbers ---- */

static bool refuse_number(const char *spelling, const char *text) {
    fprintf(stderr, "%s: expected a non-negative integer, but got '%s'", spelling, text);
    return false;
}

static bool take_number(const char *spelling, const char *text, uint64_t *out) {
    return !text || llvm_read_number(text, strlen(text), false, out) || refuse_number(spelling, text);
}

/* The same for an int, which may be negative. */
static bool take_int(const char *spelling, const char *text, int64_t *out) {
    uint64_t value = 0;
    const bool is_negative = text && *text == '-';
    if (text && (!llvm_read_number(text + is_negative, strlen(text + is_negative), false, &value) || value > INT32_MAX))
        return refuse_number(spelling, text);
    *out = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* ---- options ---- */

static void apply(struct reader *r, enum option_id id, const char *value) {
    struct llvm_options *o = r->to;
    switch (id) {
    case ADDRESSES: o->addresses = true; break;
    case ADJUST_VMA: o->adjust_text = value; break;
    case BASENAMES: o->paths = LLVM_PATH_BASE; break;
    case RELATIVE_NAMES: o->paths = LLVM_PATH_RELATIVE; break;
    case BUILD_ID: o->build_id = value; break;
    case CACHE_SIZE: o->cache_text = value; break;
    case COLOR:
        o->color = LLVM_COLOR_ALWAYS;
        r->plain_color = true;
        break;
    case COLOR_VALUE:
        if (r->plain_color) break;
        o->color = strcmp(value, "always") == 0  ? LLVM_COLOR_ALWAYS
                   : strcmp(value, "never") == 0 ? LLVM_COLOR_NEVER
                                                 : LLVM_COLOR_AUTO;
        break;
    case DSYM_HINT: GROW_PUSH(&o->dsym_hints, value); break;
    case DEBUG_DIR: GROW_PUSH(&o->debug_dirs, value); break;
    case GSYM_DIR: GROW_PUSH(&o->gsym_dirs, value); break;
    case DEFAULT_ARCH: o->arch = value; break;
    case DEMANGLE: o->demangle = true; break;
    case NO_DEMANGLE: o->demangle = false; break;
    case DISABLE_GSYM: o->no_gsym = true; break;
    case DWP: o->dwp = value; break;
    case FALLBACK_PATH: o->fallback_debug_path = value; break;
    case FILTER_MARKUP: o->filter_markup = true; break;
    case FUNCTIONS: r->plain_functions = true; break;
    case FUNCTIONS_VALUE: r->functions = value; break;
    case HELP: r->wants_help = true; break;
    case VERSION: r->wants_version = true; break;
    case INLINES: o->inlines = true; break;
    case NO_INLINES: o->inlines = false; break;
    case UNTAG: o->untag = true; break;
    case NO_UNTAG: o->untag = false; break;
    case OBJECT: o->object = value; break;
    case OUTPUT_STYLE:
        o->style = strcmp(value, "GNU") == 0 ? LLVM_STYLE_GNU : strcmp(value, "JSON") == 0 ? LLVM_STYLE_JSON : LLVM_STYLE_LLVM;
        break;
    case PRETTY: o->pretty = true; break;
    case CONTEXT: o->context_text = value; break;
    case RELATIVE_ADDRESS: o->relative_address = true; break;
    case SKIP_ZERO: o->skip_line_zero = true; break;
    case VERBOSE: o->verbose = true; break;
    case DEBUGINFOD: case NO_DEBUGINFOD: case DIA: break;
    }
}

static void report_unknown(struct reader *r, const char *word) {
    char *near = NULL;
    for (int i = 0; i < TABLE_SIZE && !near; i++) near = near_option(word, table[i].spelling, table[i].form == JOINED);
    char *text = near ? formatted_text("error: unknown argument '%s', did you mean '%s'?\n", word, near)
                      : formatted_text("error: unknown argument '%s'\n", word);
    grow_text(&r->unknown, text, strlen(text));
    free(near);
    free(text);
}

/* The rest of a word after its first letter, as a word of its own. */
static void go_on_after_letter(struct reader *r, const char *word) {
    char *rest = copy_text(word + 1, strlen(word + 1));
    rest[0] = '-';
    r->words[r->at] = rest;
}

static void take_value(struct reader *r, int entry) {
    const char *spelling = table[entry].spelling;
    if (++r->at < r->count) {
        apply(r, table[entry].id, r->words[r->at++]);
        return;
    }
    r->missing = spelling;
}

/* One word that begins with a dash. Among options that fit, the longest is meant. */
static void read_option(struct reader *r) {
    const char *word = r->words[r->at];
    int best = -1, letter = -1;
    size_t best_size = 0;
    for (int i = 0; i < TABLE_SIZE; i++) {
        size_t size = strlen(table[i].spelling);
        if (strncmp(word, table[i].spelling, size) != 0) continue;
        bool is_whole = !word[size];
        if (table[i].form == FLAG && size == 2 && !is_whole) letter = i;
        if ((table[i].form == FLAG || table[i].form == SEPARATE) && !is_whole) continue;
        if (size <= best_size) continue;
        best = i;
        best_size = size;
    }
    if (best >= 0) {
        bool joined = table[best].form == JOINED || (table[best].form == JOINED_OR_SEPARATE && word[best_size]);
        if (table[best].form == FLAG) apply(r, table[best].id, NULL), r->at++;
        else if (joined) apply(r, table[best].id, word + best_size), r->at++;
        else take_value(r, best);
        return;
    }
    if (letter >= 0 && word[2] != '=') {
        apply(r, table[letter].id, NULL);
        go_on_after_letter(r, word);
    } else if (word[1] != '-' && word[2]) {
        const char first[] = { '-', word[1], 0 };
        if (letter >= 0) {
            report_unknown(r, word);
            r->at++;
        } else {
            report_unknown(r, first);
            go_on_after_letter(r, word);
        }
    } else {
        report_unknown(r, word);
        r->at++;
    }
}

static void read_words(struct reader *r) {
    while (r->at < r->count) {
        const char *word = r->words[r->at];
        if (!word[0]) {
            r->at++;
        } else if (word[0] == '-' && word[1]) {
            read_option(r);
        } else {
            GROW_PUSH(&r->to->operands, word);
            r->at++;
        }
    }
}

static int show_version(const char *name) {
    printf("%s\nDebian LLVM version 22.1.8\n  Optimized build.\n", name);
    return 0;
}

static int show_help(const char *name) {
    printf("OVERVIEW: %s\n\nUSAGE: %s [options] addresses...\n\n%s", name, name, help_text);
    return 0;
}

/* Words of the environment come before those of the command line. */
static void prepend_environment(int *argc, char ***argv, const char *name) {
    const char *text = getenv(name);
    char **words = NULL;
    int count = 0;
    size_t capacity = 0;
    if (!text || !*text) return;
    split_words(text, &words, &count);
    char **all = grow_items(NULL, (size_t)(*argc + count + 1), &capacity, sizeof *all);
    all[0] = (*argv)[0];
    for (int i = 0; i < count; i++) all[1 + i] = words[i];
    for (int i = 1; i <= *argc; i++) all[count + i] = (*argv)[i];
    free(words);
    *argc += count;
    *argv = all;
}

static bool is_bundle(const char *path) {
    static const char end[] = ".dSYM";
    const size_t size = strlen(path);
    return size >= sizeof end - 1 && strcmp(path + size - (sizeof end - 1), end) == 0;
}

/* What is no bundle is no hint. */
static void keep_bundles(struct word_list *hints) {
    size_t kept = 0;
    for (size_t i = 0; i < hints->count; i++)
        if (is_bundle(hints->items[i])) hints->items[kept++] = hints->items[i];
        else fprintf(stderr, "Warning: invalid dSYM hint: \"%s\" (must have the '.dSYM' extension).\n", hints->items[i]);
    hints->count = kept;
}

int llvm_options_read(struct llvm_options *o, int argc, char **argv, bool is_addr2line) {
    const char *name = is_addr2line ? "llvm-addr2line" : "llvm-symbolizer";
    *o = (struct llvm_options){ .is_addr2line = is_addr2line, .program = argv[0],
                                .style = is_addr2line ? LLVM_STYLE_GNU : LLVM_STYLE_LLVM,
                                .inlines = !is_addr2line, .demangle = !is_addr2line, .untag = !is_addr2line };
    prepend_environment(&argc, &argv, is_addr2line ? "LLVM_ADDR2LINE_OPTS" : "LLVM_SYMBOLIZER_OPTS");
    llvm_expand_arguments(&argc, &argv);
    struct reader r = { .to = o, .words = argv, .count = argc, .at = 1 };
    read_words(&r);
    if (r.missing) fprintf(stderr, "error: %s: missing argument\n", r.missing);
    if (r.unknown.count) fwrite(r.unknown.items, 1, r.unknown.count, stderr);
    if (r.missing || r.unknown.count) return 1;
    if (r.wants_help) return show_help(name);
    if (r.wants_version) return show_version(name);
    if (!take_number("--adjust-vma=", o->adjust_text, &o->adjust_vma) ||
        !take_int("--print-source-context-lines=", o->context_text, &o->context_lines))
        return 1;
    uint64_t cache_size;
    if (!take_number("--cache-size=", o->cache_text, &cache_size)) return 1;
    o->names = is_addr2line ? LLVM_NAME_NONE : LLVM_NAME_LINKAGE;
    if (r.functions)
        o->names = strcmp(r.functions, "none") == 0    ? LLVM_NAME_NONE
                   : strcmp(r.functions, "short") == 0 ? LLVM_NAME_SHORT
                                                       : LLVM_NAME_LINKAGE;
    if (r.plain_functions) o->names = LLVM_NAME_LINKAGE;
    keep_bundles(&o->dsym_hints);
    return -1;
}

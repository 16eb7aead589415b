/* GNU addr2line 2.40: options, requests, answers. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/gnu_addr2line.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stand_ins/addr2line/bfd_dwarf.h"
#include "stand_ins/addr2line/bfd_index.h"
#include "stand_ins/address_index/kept_index.h"
#include "stand_ins/answers/kept_answers.h"
#include "stand_ins/base/captured_output.h"
#include "stand_ins/base/response_files.h"
#include "stand_ins/gnu_names/gnu_demangle.h"

enum { LINE_BYTES = 100 }; /* of standard input: what is longer counts as several lines */

struct addr2line {
    const char *program, *path, *section_name, *target;
    bool addresses, functions, inlines, demangle, pretty, base_names;
    bool knows_machine;              /* by its name */
    struct bfd_object object;
    struct bfd_dwarf *dwarf;         /* NULL: the object is not open */
    struct kept_index kept;
    struct bfd_indexed *indexed;     /* NULL: there is no index */
    bool may_index;
    struct captured_output captured;
    uint32_t asked;                  /* addresses that the object was asked for */
    const struct bfd_section *section; /* that addresses count from; NULL: they are those of the image */
};

static const struct option long_options[] = {
    { "addresses", no_argument, NULL, 'a' },
    { "basenames", no_argument, NULL, 's' },
    { "demangle", optional_argument, NULL, 'C' },
    { "exe", required_argument, NULL, 'e' },
    { "functions", no_argument, NULL, 'f' },
    { "inlines", no_argument, NULL, 'i' },
    { "pretty-print", no_argument, NULL, 'p' },
    { "recurse-limit", no_argument, NULL, 'R' },
    { "recursion-limit", no_argument, NULL, 'R' },
    { "no-recurse-limit", no_argument, NULL, 'r' },
    { "no-recursion-limit", no_argument, NULL, 'r' },
    { "section", required_argument, NULL, 'j' },
    { "target", required_argument, NULL, 'b' },
    { "help", no_argument, NULL, 'H' },
    { "version", no_argument, NULL, 'V' },
    { NULL, no_argument, NULL, 0 },
};

static const char *const targets[] = {
    "elf64-x86-64", "elf32-i386", "elf32-iamcu", "elf32-x86-64", "pei-i386", "pe-x86-64", "pei-x86-64", "elf64-little",
    "elf64-big", "elf32-little", "elf32-big", "pe-bigobj-x86-64", "pe-i386", "pdb", "srec", "symbolsrec", "verilog", "tekhex",
    "binary", "ihex", "plugin",
};
enum { TARGET_COUNT = sizeof targets / sizeof targets[0] };

/* ---- texts ---- */

static void show_usage(FILE *out, const char *program) {
    fprintf(out, "Usage: %s [option(s)] [addr(s)]\n"
                 " Convert addresses into line number/file name pairs.\n"
                 " If no addresses are specified on the command line, they will be read from stdin\n"
                 " The options are:\n"
                 "  @<file>                Read options from <file>\n"
                 "  -a --addresses         Show addresses\n"
                 "  -b --target=<bfdname>  Set the binary file format\n"
                 "  -e --exe=<executable>  Set the input file name (default is a.out)\n"
                 "  -i --inlines           Unwind inlined functions\n"
                 "  -j --section=<name>    Read section-relative offsets instead of addresses\n"
                 "  -p --pretty-print      Make the output easier to read for humans\n"
                 "  -s --basenames         Strip directory names\n"
                 "  -f --functions         Show function names\n"
                 "  -C --demangle[=style]  Demangle function names\n"
                 "  -R --recurse-limit     Enable a limit on recursion whilst demangling.  [Default]\n"
                 "  -r --no-recurse-limit  Disable a limit on recursion whilst demangling\n"
                 "  -h --help              Display this information\n"
                 "  -v --version           Display the program's version\n"
                 "\n%s: supported targets:", program, program);
    for (int i = 0; i < TARGET_COUNT; i++) fprintf(out, " %s", targets[i]);
    fputc('\n', out);
}

static int show_help(const char *program) {
    show_usage(stdout, program);
    fputs("Report bugs to <https://sourceware.org/bugzilla/>\n", stdout);
    return 0;
}

static int show_version(void) {
    fputs("GNU addr2line (GNU Binutils for Debian) 2.40\n"
          "Copyright (C) 2023 Free Software Foundation, Inc.\n"
          "This program is free software; you may redistribute it under the terms of\n"
          "the GNU General Public License version 3 or (at your option) any later version.\n"
          "This program has absolutely no warranty.\n", stdout);
    return 0;
}

/* ---- requests ---- */

/* A request is a symbol unless it begins with a digit, or with a letter that is a digit of base 16 and has no '+'. */
static bool is_symbol(char *text, char **symbol, uint64_t *offset) {
    while (isspace((unsigned char)*text)) text++;
    if (!*text || isdigit((unsigned char)*text)) return false;
    if (isxdigit((unsigned char)*text) && !strchr(text, '+')) return false;
    *symbol = text;
    while (*text && !isspace((unsigned char)*text) && *text != '+') text++;
    char *end = text;
    while (isspace((unsigned char)*text)) text++;
    *offset = *text == '+' ? strtoul(text + 1, NULL, 0) : 0;
    *end = 0;
    return true;
}

static uint64_t request_address(struct addr2line *a, char *text) {
    char *symbol;
    uint64_t offset, pc = 0;
    if (is_symbol(text, &symbol, &offset)) {
        pc = bfd_symbol_address(&a->object, symbol, &pc) ? pc + offset : 0;
    } else {
        pc = strtoul(text, NULL, 16);
    }
    return a->object.is_elf && a->object.object.address_size == 4 ? pc & UINT32_MAX : pc;
}

static bool ask_section(struct addr2line *a, const struct bfd_section *section, uint64_t offset, struct bfd_answer *out) {
    return section->is_alloc && offset < section->size && bfd_find_nearest_line(a->dwarf, section, offset, out);
}

static bool find(struct addr2line *a, uint64_t pc, struct bfd_answer *out) {
    if (a->section) return ask_section(a, a->section, pc, out);
    for (uint32_t i = 0; i < a->object.section_count; i++) {
        const struct bfd_section *section = &a->object.sections[i];
        if (pc >= section->vma && ask_section(a, section, pc - section->vma, out)) return true;
    }
    return false;
}

/* ---- answers ---- */

static void put_function(const struct addr2line *a, const char *name) {
    char *demangled = NULL;
    if (!name || !*name) name = "??";
    else if (a->demangle && (demangled = gnu_demangle(name))) name = demangled;
    fputs(name, stdout);
    fputs(a->pretty ? " at " : "\n", stdout);
    free(demangled);
}

static void put_place(const struct addr2line *a, const struct bfd_answer *answer) {
    const char *file = answer->file, *slash = file && a->base_names ? strrchr(file, '/') : NULL;
    if (slash) file = slash + 1;
    printf("%s:", file ? file : "??");
    if (!answer->line) fputs("?\n", stdout);
    else if (answer->discriminator) printf("%u (discriminator %u)\n", answer->line, answer->discriminator);
    else printf("%u\n", answer->line);
}

static void put_answer(struct addr2line *a, struct bfd_answer *answer) {
    for (;;) {
        if (a->functions) put_function(a, answer->function);
        put_place(a, answer);
        if (!a->inlines || !bfd_find_inliner(a->dwarf, answer)) return;
        if (a->pretty) fputs(" (inlined by) ", stdout);
    }
}

static void put_address(const struct addr2line *a, uint64_t pc, int digits) {
    printf("0x%0*" PRIx64 "%s", digits, digits == 8 ? pc & UINT32_MAX : pc, a->pretty ? ": " : "\n");
}

static void put_nothing(const struct addr2line *a) {
    if (a->functions) fputs(a->pretty ? "?? " : "??\n", stdout);
    fputs("??:0\n", stdout);
}

static void answer(struct addr2line *a, char *request) {
    struct bfd_answer found;
    uint64_t pc = request_address(a, request);
    if (a->addresses) put_address(a, pc, a->object.object.address_size == 4 ? 8 : 16);
    if (find(a, pc, &found)) put_answer(a, &found);
    else put_nothing(a);
    fflush(stdout);
}

/* ---- the file ---- */

static bool fail(const struct addr2line *a, const char *text) {
    fflush(stdout);
    fprintf(stderr, "%s: %s: %s\n", a->program, a->path, text);
    return false;
}

/* As GNU's tools look at a file before they open it. */
static bool check_file(const struct addr2line *a) {
    struct stat st;
    const char *path = a->path;
    if (stat(path, &st) < 0) {
        if (errno == ENOENT) fprintf(stderr, "%s: '%s': No such file\n", a->program, path);
        else fprintf(stderr, "%s: Warning: could not locate '%s'.  reason: %s\n", a->program, path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        fprintf(stderr, "%s: Warning: '%s' is a directory\n", a->program, path);
    } else if (!S_ISREG(st.st_mode)) {
        fprintf(stderr, "%s: Warning: '%s' is not an ordinary file\n", a->program, path);
    } else {
        return st.st_size > 0;
    }
    return false;
}

static bool is_archive(const char *path) {
    char magic[8] = "";
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file) fclose(file);
    return got == sizeof magic && (memcmp(magic, "!<arch>\n", 8) == 0 || memcmp(magic, "!<thin>\n", 8) == 0);
}

static bool is_target(const char *name) {
    if (strcmp(name, "default") == 0) return true;
    for (int i = 0; i < TARGET_COUNT; i++)
        if (strcmp(targets[i], name) == 0) return true;
    return false;
}

/* A generic target relocates nothing: then the DWARF of an object that is not linked cannot be read. */
static bool cannot_relocate(const struct addr2line *a) {
    static const char *const generic[] = { "elf64-little", "elf64-big", "elf32-little", "elf32-big" };
    for (size_t i = 0; a->target && i < sizeof generic / sizeof generic[0]; i++)
        if (strcmp(a->target, generic[i]) == 0) return a->object.is_elf && a->object.object.kind == CSN_OBJECT_RELOCATABLE;
    return false;
}

static bool open_file(struct addr2line *a) {
    const char *message;
    if (!check_file(a)) return false;
    if (a->target && !is_target(a->target)) return fail(a, "invalid bfd target");
    FILE *readable = fopen(a->path, "r");
    if (!readable) return fail(a, strerror(errno));
    fclose(readable);
    if (is_archive(a->path)) return fail(a, "cannot get addresses from archive");
    if (!bfd_object_open(&a->object, a->path, a->knows_machine, &message)) return fail(a, message);
    a->object.program = a->program;
    if (!a->object.is_elf && a->object.object.address_size == 4) gnu_demangle_skip_leading('_');
    for (uint32_t i = 0; a->section_name && i < a->object.section_count && !a->section; i++)
        if (strcmp(a->object.sections[i].name, a->section_name) == 0) a->section = &a->object.sections[i];
    if (a->section_name && !a->section) {
        fflush(stdout);
        fprintf(stderr, "%s: %s: cannot find section %s\n", a->program, a->path, a->section_name);
        return false;
    }
    a->dwarf = bfd_dwarf_open(&a->object, !cannot_relocate(a));
    return true;
}

/* ---- the index ---- */

/* Sessions of so many requests make the index; shorter ones leave it to a process of its own. */
enum { INDEX_REQUESTS = 64, SESSION_REQUESTS = 4096, MIN_PART = 32 };

static void open_index(struct addr2line *a) {
    const char *const words[] = { "binutils", "for the machine" };
    a->may_index = !a->section_name && !a->target && kept_index_open(&a->kept, a->path, words, a->knows_machine ? 2 : 1);
    if (a->kept.index) a->indexed = bfd_indexed_open(a->kept.index);
}

static bool is_worth_it(const struct addr2line *a) {
    const struct csn_debug_unit *last;
    if (!a->may_index || !a->dwarf || a->kept.index || a->kept.is_given_up || a->asked < INDEX_REQUESTS ||
        !a->object.object.info_unit_count)
        return false;
    return csn_debug_info_unit(a->object.info, a->object.object.info_unit_count - 1, &last, NULL) == CSN_OK &&
           bfd_dwarf_bytes_read(a->dwarf) >= last->end / MIN_PART;
}

static struct address_index *make_index(void *context, const char *path) {
    const struct addr2line *a = context;
    return bfd_index_make(a->path, a->knows_machine, &a->kept.object, path);
}

static void count_request(struct addr2line *a) {
    if (!a->may_index || ++a->asked % SESSION_REQUESTS || !is_worth_it(a)) return;
    kept_index_make(&a->kept, make_index, a);
    if (a->kept.index) a->indexed = bfd_indexed_open(a->kept.index);
}

/* False, and nothing is printed: the object has to be asked. */
static bool answer_indexed(struct addr2line *a, uint64_t pc) {
    static struct bfd_answer frames[BFD_INDEXED_FRAMES];
    size_t count;
    if (!a->indexed) return false;
    const enum bfd_indexed_result result = bfd_indexed_find(a->indexed, pc, a->inlines, frames, &count);
    if (result == BFD_INDEXED_UNKNOWN) {
        if (!address_index_is_damaged(a->kept.index)) return false;
        bfd_indexed_close(a->indexed);
        a->indexed = NULL;
        kept_index_drop_damaged(&a->kept);
        return false;
    }
    if (a->addresses) put_address(a, pc, 16); /* all that are indexed have 64 bits */
    if (result == BFD_INDEXED_NOTHING) put_nothing(a);
    for (size_t i = 0; result == BFD_INDEXED_FOUND && i < count; i++) {
        if (i && a->pretty) fputs(" (inlined by) ", stdout);
        if (a->functions) put_function(a, frames[i].function);
        put_place(a, &frames[i]);
    }
    return true;
}

/* What the index answered changes what the object answers, as BFD reads units one after the other. */
static void catch_up(struct addr2line *a) {
    struct bfd_answer ignored;
    uint64_t addr;
    while (a->indexed && bfd_indexed_next_change(a->indexed, &addr)) (void)find(a, addr, &ignored);
}

/* ---- standard input ---- */

/* Whether a line is an address and no more. */
static bool is_address(const char *line, uint64_t *out) {
    char *end;
    while (isspace((unsigned char)*line)) line++;
    if (!isdigit((unsigned char)*line)) return false;
    *out = strtoul(line, &end, 16);
    return *end == '\n' && !end[1];
}

/* False: the object cannot be opened. */
static bool answer_line(struct addr2line *a, char *line, struct kept_answers *kept) {
    uint64_t addr = 0;
    const bool may_keep = is_address(line, &addr);
    if (may_keep && (answer_indexed(a, addr) || (!a->indexed && kept_answers_put(kept, addr)))) return true;
    if (!a->dwarf && !open_file(a)) return false;
    const bool keeps = kept && may_keep && !a->indexed;
    catch_up(a);
    if (keeps) captured_output_begin(&a->captured);
    answer(a, line);
    if (keeps) {
        const size_t size = captured_output_end(&a->captured);
        kept_answers_add(kept, addr, a->captured.text.bytes, size);
    }
    if (may_keep) count_request(a);
    return true;
}

/* Answers of earlier runs are given before the object is opened. Returns the exit code. */
static int answer_lines(struct addr2line *a, struct kept_answers *kept) {
    char line[LINE_BYTES];
    open_index(a);
    if (!a->indexed && !kept_answers_exist(kept) && !open_file(a)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        if (!answer_line(a, line, kept)) return 1;
        fflush(stdout);
    }
    captured_output_free(&a->captured);
    kept_answers_close(kept, a->dwarf ? a->object.info : NULL);
    if (a->kept.path && is_worth_it(a)) kept_index_make_later(&a->kept, make_index, a);
    bfd_indexed_close(a->indexed);
    if (a->may_index) kept_index_close(&a->kept);
    return 0;
}

/* -1: go on; else the exit code. */
static int take_option(struct addr2line *a, int option) {
    switch (option) {
    case 'a': a->addresses = true; break;
    case 'b': a->target = optarg; break;
    case 'C':
        a->demangle = true;
        if (optarg && !gnu_demangle_choose_style(optarg)) {
            fprintf(stderr, "%s: unknown demangling style `%s'\n", a->program, optarg);
            return 1;
        }
        break;
    case 'r': case 'R': break;
    case 'e': a->path = optarg; break;
    case 's': a->base_names = true; break;
    case 'f': a->functions = true; break;
    case 'p': a->pretty = true; break;
    case 'v': case 'V': return show_version();
    case 'h': case 'H': return show_help(a->program);
    case 'i': a->inlines = true; break;
    case 'j': a->section_name = optarg; break;
    default: show_usage(stderr, a->program); return 1;
    }
    return -1;
}

/* "aarch64-linux-gnu-addr2line" knows mapping symbols; addr2line of Debian's build for x86-64 does not. */
static bool is_made_for_machine(const char *program) {
    static const char *const machines[] = { "aarch64", "arm", "riscv" };
    static const char own[] = "callsign-";
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    if (strncmp(name, own, sizeof own - 1) == 0) name += sizeof own - 1;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (strncmp(name, machines[i], strlen(machines[i])) == 0) return true;
    return false;
}

int gnu_addr2line_main(int argc, char **argv) {
    static struct addr2line a;
    a = (struct addr2line){ .program = argv[0], .path = "a.out", .knows_machine = is_made_for_machine(argv[0]) };
    gnu_expand_arguments(&argc, &argv);
    for (int option; (option = getopt_long(argc, argv, "ab:Ce:rRsfHhij:pVv", long_options, NULL)) != -1;) {
        int code = take_option(&a, option);
        if (code >= 0) return code;
    }
    if (optind == argc) return answer_lines(&a, kept_answers_open(a.path, argc, argv));
    if (!open_file(&a)) return 1;
    for (int i = optind; i < argc; i++) answer(&a, argv[i]);
    bfd_dwarf_close(a.dwarf);
    bfd_object_close(&a.object);
    return 0;
}

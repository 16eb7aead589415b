/* The command line of eu-addr2line. */
#define _GNU_SOURCE
#include "stand_ins/eu_addr2line/eu_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/eu_addr2line/eu_core.h"
#include "stand_ins/eu_addr2line/eu_images.h"
#include "stand_ins/eu_addr2line/eu_kernel.h"

static const char help_text[] =
    "Usage: eu-addr2line [OPTION...] [ADDR...]\n"
    "Locate source files and line information for ADDRs (in a.out by default).\n"
    "\n"
    " Input selection options:\n"
    "      --core=COREFILE        Find addresses from signatures found in COREFILE\n"
    "      --debuginfo-path=PATH  Search path for separate debuginfo files\n"
    "  -e, --executable=FILE      Find addresses in FILE\n"
    "  -k, --kernel               Find addresses in the running kernel\n"
    "  -K, --offline-kernel[=RELEASE]   Kernel with all modules\n"
    "  -M, --linux-process-map=FILE   Find addresses in files mapped as read from\n"
    "                             FILE in Linux /proc/PID/maps format\n"
    "  -p, --pid=PID              Find addresses in files mapped into process PID\n"
    "\n"
    " Input format options:\n"
    "  -j, --section=NAME         Treat addresses as offsets relative to NAME\n"
    "                             section.\n"
    "\n"
    " Output format options:\n"
    "  -a, --addresses            Print address before each entry\n"
    "  -A, --absolute             Show absolute file names using compilation\n"
    "                             directory (default)\n"
    "  -C, --demangle[=ARG]       Show demangled symbols (ARG is always ignored)\n"
    "  -f, --functions            Also show function names\n"
    "  -F, --flags                Also show line table flags\n"
    "  -i, --inlines              Show all source locations that caused inline\n"
    "                             expansion of subroutines at the address.\n"
    "      --pretty-print         Print all information on one line, and indent\n"
    "                             inlines\n"
    "      --relative             Show relative file names without compilation\n"
    "                             directory\n"
    "  -s, --basenames            Show only base names of source files\n"
    "  -S, --symbols              Also show symbol or section names\n"
    "  -x, --symbols-sections     Also show symbol and the section names\n"
    "\n"
    " Miscellaneous:\n"
    "\n"
    "  -?, --help                 Give this help list\n"
    "      --usage                Give a short usage message\n"
    "  -V, --version              Print program version\n"
    "\n"
    "Mandatory or optional arguments to long options are also mandatory or optional\n"
    "for any corresponding short options.\n"
    "\n"
    "Report bugs to https://sourceware.org/bugzilla.\n";

static const char usage_text[] =
    "Usage: eu-addr2line [-kaAfFisSx?V] [-e FILE] [-K[RELEASE]] [-M FILE] [-p PID]\n"
    "            [-j NAME] [-C[ARG]] [--core=COREFILE] [--debuginfo-path=PATH]\n"
    "            [--executable=FILE] [--kernel] [--offline-kernel[=RELEASE]]\n"
    "            [--linux-process-map=FILE] [--pid=PID] [--section=NAME]\n"
    "            [--addresses] [--absolute] [--demangle[=ARG]] [--functions]\n"
    "            [--flags] [--inlines] [--pretty-print] [--relative] [--basenames]\n"
    "            [--symbols] [--symbols-sections] [--help] [--usage] [--version]\n"
    "            [ADDR...]\n";

enum { OPT_PRETTY = 256, OPT_RELATIVE, OPT_CORE, OPT_DEBUGINFO, OPT_USAGE, OPT_DEMANGLER, OPT_HELP,
       OPT_PROGRAM_NAME, OPT_HANG, EXIT_USAGE = 64 };

/* In the order of argp, which a message about an ambiguous one has: those of the tool, of libdwfl, and argp's own. */
static const struct option long_options[] = {
    { "section", required_argument, NULL, 'j' },
    { "addresses", no_argument, NULL, 'a' },
    { "basenames", no_argument, NULL, 's' },
    { "absolute", no_argument, NULL, 'A' },
    { "functions", no_argument, NULL, 'f' },
    { "symbols", no_argument, NULL, 'S' },
    { "symbols-sections", no_argument, NULL, 'x' },
    { "flags", no_argument, NULL, 'F' },
    { "inlines", no_argument, NULL, 'i' },
    { "demangle", optional_argument, NULL, 'C' },
    { "pretty-print", no_argument, NULL, OPT_PRETTY },
    { "relative", no_argument, NULL, OPT_RELATIVE },
    { "target", required_argument, NULL, 'b' },
    { "demangler", required_argument, NULL, OPT_DEMANGLER },
    { "executable", required_argument, NULL, 'e' },
    { "core", required_argument, NULL, OPT_CORE },
    { "pid", required_argument, NULL, 'p' },
    { "linux-process-map", required_argument, NULL, 'M' },
    { "kernel", no_argument, NULL, 'k' },
    { "offline-kernel", optional_argument, NULL, 'K' },
    { "debuginfo-path", required_argument, NULL, OPT_DEBUGINFO },
    { "help", no_argument, NULL, OPT_HELP },
    { "program-name", required_argument, NULL, OPT_PROGRAM_NAME },
    { "usage", no_argument, NULL, OPT_USAGE },
    { "HANG", optional_argument, NULL, OPT_HANG },
    { "version", no_argument, NULL, 'V' },
    { NULL, no_argument, NULL, 0 },
};

static int refuse_usage(const struct eu *e) {
    fprintf(stderr, "Try `%s --help' or `%s --usage' for more information.\n", e->short_name, e->short_name);
    return EXIT_USAGE;
}

/* False: the files of the process cannot be listed, which is printed. */
static bool open_images(struct eu *e) {
    static struct eu_images images;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/maps", e->pid);
    FILE *maps = fopen(e->maps_path ? e->maps_path : path, "r");
    if (!maps && e->maps_path) fprintf(stderr, "%s: cannot open '%s': %s\n", e->short_name, e->maps_path, strerror(errno));
    else if (!maps) fprintf(stderr, "%s: %s: %s\n", e->short_name, e->pid_text, strerror(errno));
    if (!maps) return false;
    errno = ENOEXEC;
    const bool is_good = eu_images_read(&images, maps, e->maps_path ? 0 : e->pid) && !ferror(maps);
    const int reason = errno;
    fclose(maps);
    if (is_good) e->images = &images;
    else fprintf(stderr, "%s: %s: %s\n", e->short_name, e->maps_path ? e->maps_path : e->pid_text, strerror(reason));
    return is_good;
}

/* False: the dump has no images, which is printed. */
static bool open_core(struct eu *e) {
    static struct eu_images images;
    char *message;
    struct eu_core *core = eu_core_open(e->core_path, e->path, &message);
    if (core) {
        eu_images_of_core(&images, core);
        e->images = &images;
        return true;
    }
    fprintf(stderr, "%s: %s\n", e->short_name, message);
    free(message);
    return false;
}

/* False: it is not to be had, which is printed. */
static bool open_kernel(struct eu *e) {
    static struct eu_images images;
    e->is_of_kernel = eu_kernel_open(&images, e->short_name);
    if (e->is_of_kernel) e->images = &images;
    return e->is_of_kernel;
}

/* -e and --core go together; of others there is one. False: there are more, which is printed. */
static bool may_ask_for(const struct eu *e, int option) {
    const bool is_of_file = option == 'e' || option == OPT_CORE;
    if (!e->pid_text && !e->maps_path && !e->is_of_kernel && (is_of_file || (!e->path && !e->core_path))) return true;
    fprintf(stderr, "%s: only one of -e, -p, -k, -K, or --core allowed\n", e->short_name);
    return false;
}

/* -1: go on; else the exit code. */
static int take_option(struct eu *e, int option, const char *word) {
    switch (option) {
    case 'e': case 'p': case 'M': case OPT_CORE:
        if (!may_ask_for(e, option)) return refuse_usage(e);
        if (option == 'e') e->path = optarg;
        if (option == OPT_CORE) e->core_path = optarg;
        if (option == 'M') e->maps_path = optarg;
        if (option == 'p') e->pid_text = optarg;
        e->pid = option == 'p' ? strtol(optarg, NULL, 10) : 0;
        if ((option == 'p' || option == 'M') && !open_images(e)) return 1;
        break;
    case 'a': e->addresses = true; break;
    case 'b': case 'C': case OPT_DEMANGLER: e->demangle = true; break;
    case 's': e->base_names = true; break;
    case 'A': e->no_comp_dir = false; break;
    case OPT_RELATIVE: e->no_comp_dir = true; break;
    case 'f': e->functions = true; break;
    case 'F': e->flags = true; break;
    case 'S': e->symbols = true; break;
    case 'x': e->symbols = e->symbol_sections = true; break;
    case 'j': e->section = optarg; break;
    case 'i': e->inlines = true; break;
    case OPT_PRETTY: e->pretty = true; break;
    case OPT_DEBUGINFO: e->debuginfo_path = optarg; break;
    case 'V':
        printf("%s (elfutils) 0.188\nCopyright (C) 2022 The elfutils developers <http://elfutils.org/>.\n"
               "This is free software; see the source for copying conditions.  There is NO\n"
               "warranty; not even for MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.\n", e->short_name);
        return 0;
    case OPT_USAGE: fputs(usage_text, stdout); return 0;
    case OPT_HELP: fputs(help_text, stdout); return 0;
    case '?': /* of a word with letters, or of one that is wrong */
        if (word[0] != '-' || word[1] == '-' || optopt || !strchr(word, '?')) return refuse_usage(e);
        fputs(help_text, stdout);
        return 0;
    case OPT_PROGRAM_NAME:
        e->program = optarg;
        e->short_name = strrchr(optarg, '/') ? strrchr(optarg, '/') + 1 : optarg;
        break;
    case OPT_HANG: (void)sleep(optarg ? (unsigned)strtol(optarg, NULL, 10) : 3600); break;
    case 'k': case 'K':
        if (!may_ask_for(e, option)) return refuse_usage(e);
        if (option == 'k' && open_kernel(e)) break;
        if (option == 'K') eu_kernel_refuse(optarg, e->short_name);
        return 1;
    }
    return -1;
}

int eu_options_read(struct eu *e, int argc, char **argv) {
    for (int option; optopt = 0, (option = getopt_long(argc, argv, "e:kK::M:p:j:asAfSxFiC::b:?V", long_options, NULL)) != -1;) {
        const int code = take_option(e, option, argv[optind > 1 ? optind - 1 : 1]);
        if (code >= 0) return code;
    }
    return e->core_path && !open_core(e) ? 1 : -1;
}

/* Options of llvm-symbolizer and llvm-addr2line 22. */
#ifndef CALLSIGN_CLI_LLVM_OPTIONS_H
#define CALLSIGN_CLI_LLVM_OPTIONS_H

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm_symbolizer/llvm_printer.h"

enum llvm_color { LLVM_COLOR_AUTO, LLVM_COLOR_ALWAYS, LLVM_COLOR_NEVER };

struct llvm_options {
    bool is_addr2line;
    const char *program;
    const char *object;      /* NULL: each request names its module */
    const char *build_id;
    const char *arch, *dwp, *fallback_debug_path;
    const char *adjust_text, *context_text, *cache_text; /* numbers, checked later */
    uint64_t adjust_vma;
    int64_t context_lines;
    struct word_list debug_dirs, dsym_hints, gsym_dirs, operands;
    enum llvm_style style;
    enum llvm_name_kind names;
    enum llvm_path_kind paths;
    enum llvm_color color;
    bool inlines, demangle, addresses, pretty, verbose, relative_address, skip_line_zero, untag, filter_markup, no_gsym;
};

/* Reads the command line, after what the environment has. -1: go on; else the exit code. */
int llvm_options_read(struct llvm_options *options, int argc, char **argv, bool is_addr2line);

#endif

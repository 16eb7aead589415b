/* Options of llvm-symbolizer and llvm-addr2line 22. */
#ifndef CALLSIGN_CLI_LLVM_OPTIONS_H
#define CALLSIGN_CLI_LLVM_OPTIONS_H

#include "stand_ins/llvm_printer.h"

struct llvm_texts {
    const char **items;
    size_t count, capacity;
};

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
    struct llvm_texts debug_dirs, dsym_hints, gsym_dirs, operands;
    enum llvm_style style;
    enum llvm_name_kind names;
    enum llvm_path_kind paths;
    enum llvm_color color;
    bool inlines, demangle, addresses, pretty, verbose, relative_address, skip_line_zero, untag, filter_markup, no_gsym;
};

/* Reads the command line, after what the environment has. -1: go on; else the exit code. */
int llvm_options_read(struct llvm_options *options, int argc, char **argv, bool is_addr2line);

/* A number as LLVM reads it: 0x, 0b and 0o in front, 0 for base 8; with base 16, digits alone. False: it is none. */
bool llvm_read_number(const char *text, size_t size, bool is_hex, uint64_t *out);

#endif

/* Which stand-in a name chooses. */
#define _GNU_SOURCE
#include "stand_ins/stand_ins.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "stand_ins/addr2line/gnu_addr2line.h"
#include "stand_ins/atos.h"
#include "stand_ins/base/answer_output.h"
#include "stand_ins/eu_addr2line/eu_addr2line.h"
#include "stand_ins/gsymutil/llvm_gsymutil.h"
#include "stand_ins/llvm_symbolizer/llvm_symbolizer.h"

static const struct stand_in stand_ins[] = {
    { "addr2line", "as GNU addr2line 2.40", gnu_addr2line_main, false },
    { "atos", "as atos of macOS, for images of any system", atos_main, false },
    { "eu-addr2line", "as eu-addr2line of elfutils 0.188", eu_addr2line_main, false },
    { "llvm-addr2line", "as llvm-addr2line 22", llvm_addr2line_main, true },
    { "llvm-gsymutil", "as llvm-gsymutil 22", llvm_gsymutil_main, true },
    { "gsymutil", "the same", llvm_gsymutil_main, true },
    { "llvm-symbolizer", "as llvm-symbolizer 22", llvm_symbolizer_main, true },
};
enum { STAND_IN_COUNT = sizeof stand_ins / sizeof stand_ins[0] };

const struct stand_in *stand_in_at(size_t i) { return i < STAND_IN_COUNT ? &stand_ins[i] : NULL; }

/* "-22", "-22.1": how distributions tell several versions apart. */
static size_t without_version(const char *name, size_t size) {
    size_t end = size;
    while (end && (isdigit((unsigned char)name[end - 1]) || name[end - 1] == '.')) end--;
    return end && end < size && name[end - 1] == '-' ? end - 1 : size;
}

static bool is_named(const char *name, size_t size, const char *wanted) {
    return strlen(wanted) == size && memcmp(name, wanted, size) == 0;
}

/* "x86_64-linux-gnu-addr2line": GNU's tools for other machines. A triplet has at least one dash. */
static bool has_triplet(const char *name, size_t size, const char *wanted) {
    size_t length = strlen(wanted);
    if (size < length + 2 || name[size - length - 1] != '-') return false;
    return is_named(name + size - length, length, wanted) && memchr(name, '-', size - length - 1);
}

const struct stand_in *stand_in_of_program(const char *program) {
    static const char own[] = "callsign-";
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    size_t size = strlen(name);
    if (size > 4 && name[size - 4] == '.' && strcasecmp(name + size - 4, ".exe") == 0) size -= 4;
    if (strncmp(name, own, sizeof own - 1) == 0) {
        name += sizeof own - 1;
        size -= sizeof own - 1;
    }
    const size_t plain = without_version(name, size);
    for (size_t i = 0; i < STAND_IN_COUNT; i++)
        if (is_named(name, plain, stand_ins[i].name)) return &stand_ins[i];
    if (is_named(name, plain, "gaddr2line") || has_triplet(name, plain, "addr2line")) return &stand_ins[0];
    return NULL;
}

int stand_in_end(const struct stand_in *stand_in, int status) {
    flush_answers();
    const int output_error = answer_output_error();
    if (output_error && stand_in->is_llvm) fprintf(stderr, "LLVM ERROR: IO failure on output stream: %s\n", strerror(output_error));
    fflush(NULL);
    return stand_in->is_llvm && (output_error || ferror(stderr)) ? 1 : status;
}

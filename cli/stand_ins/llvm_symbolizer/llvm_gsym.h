/* GSYM files that LLVM's symbolizer takes in the place of DWARF: OBJECT.gsym, and those of --gsym-file-directory. */
#ifndef CALLSIGN_CLI_LLVM_GSYM_H
#define CALLSIGN_CLI_LLVM_GSYM_H

#include <callsign/index.h>

#include "stand_ins/llvm/llvm_answer.h"
#include "stand_ins/llvm_symbolizer/llvm_options.h"

/* The path of the file for an object or its debug file; NULL: there is none. The caller frees it. */
char *llvm_gsym_path(const char *object, const struct llvm_options *options);
/* NULL: it is no GSYM file. */
struct csn_index *llvm_gsym_open(const char *path);
/* The frames at an address; none where the file has none. `one`: the function with the line of the innermost frame. */
struct llvm_frames llvm_gsym_find(const struct csn_index *gsym, const struct llvm_request *request, uint64_t addr, bool one);

#endif

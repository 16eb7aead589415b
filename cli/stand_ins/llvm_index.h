/* Address indexes of LLVM's symbolizer: used where an earlier run left one, and made when many addresses of a large object are asked for. */
#ifndef CALLSIGN_CLI_LLVM_INDEX_H
#define CALLSIGN_CLI_LLVM_INDEX_H

#include "stand_ins/llvm_answer.h"
#include "stand_ins/llvm_options.h"

struct llvm_index;

/* For the object at a path; there may be no index yet. NULL: the options ask for what no index holds. */
struct llvm_index *llvm_index_open(const char *path, const struct llvm_options *options);
void llvm_index_close(struct llvm_index *index); /* `index` may be NULL */
/* Whether there is one, made when the object could be opened. */
bool llvm_index_exists(const struct llvm_index *index);
/* The frames that llvm_find_inlined() gives, or with `one` the frame of llvm_find_code(). False: the object has to be asked. */
bool llvm_index_find(struct llvm_index *index, const struct llvm_request *request, uint64_t addr, bool one, struct llvm_frames *out);
/* After a request that the object was asked: makes the index where that has become worth its time. */
void llvm_index_consider(struct llvm_index *index, struct llvm_module *module);

#endif

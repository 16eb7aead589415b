/* Address indexes of LLVM's symbolizer: used where an earlier run left one, and made when many addresses of a large
 * object are asked for. Until then units that requests need are kept in the same form, which is a fifth of what
 * reading them takes. */
#ifndef CALLSIGN_CLI_LLVM_INDEX_H
#define CALLSIGN_CLI_LLVM_INDEX_H

#include "stand_ins/llvm/llvm_answer.h"
#include "stand_ins/llvm_symbolizer/llvm_options.h"

struct llvm_index;

/* For the object at a path; there may be no index yet. NULL: the options ask for what no index holds. */
struct llvm_index *llvm_index_open(const char *path, const struct llvm_options *options);
void llvm_index_close(struct llvm_index *index); /* `index` may be NULL */
/* Whether there is one, made when the object could be opened. */
bool llvm_index_exists(const struct llvm_index *index);
/* The frames that llvm_find_inlined() gives, or with `one` the frame of llvm_find_code(). False: the module has to be asked. */
bool llvm_index_find(struct llvm_index *index, const struct llvm_request *request, uint64_t addr, bool one,
                     struct llvm_frames *out);
/* After a request that no index of the file answered. `module` NULL: it cannot be opened. */
void llvm_index_count(struct llvm_index *index, struct llvm_module *module);
/* Whether it keeps the units that requests need. `index` may be NULL. */
bool llvm_index_reads_units(const struct llvm_index *index);
/* Requests for these addresses follow: what they need may be read in several threads. `index` may be NULL. */
void llvm_index_expect(struct llvm_index *index, const uint64_t *addrs, size_t count);
/* After the last request: where so much was asked for that the next run gains from it, another process makes the
 * index, for which nobody waits. `index` may be NULL. */
void llvm_index_finish(struct llvm_index *index);

#endif

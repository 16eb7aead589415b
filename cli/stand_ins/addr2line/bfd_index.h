/* Address indexes by the rules of GNU's BFD library: what addr2line answers at every address of code. */
#ifndef CALLSIGN_CLI_BFD_INDEX_H
#define CALLSIGN_CLI_BFD_INDEX_H

#include "stand_ins/addr2line/bfd_dwarf.h"
#include "stand_ins/address_index/address_index.h"

/* `call_discriminator` of a scope: what it is, and whether DWARF has a name of the linker's. `call_column` of a
 * function is where it begins, counted from the base of the index; BFD_INDEX_ELSEWHERE: not in it. `call_line` of
 * the outermost one is its unit. */
enum bfd_scope_kind {
    BFD_SCOPE_FUNCTION,
    BFD_SCOPE_UNIT,          /* no function: the unit alone */
    BFD_SCOPE_LATER,         /* its parent counts once the unit was asked for another address: it has no range for this one */
    BFD_SCOPE_KIND_MASK = 3, BFD_SCOPE_LINKAGE = 4
};
#define BFD_INDEX_ELSEWHERE UINT32_MAX

/* Makes the index of a linked ELF object of 64 bits, from its file. NULL: it cannot be made. */
struct address_index *bfd_index_make(const char *object_path, bool knows_machine, const struct file_identity *identity,
                                     const char *path);

/* Answers as bfd_find_nearest_line() does, which depends on what was asked before. */
struct bfd_indexed;
struct bfd_indexed *bfd_indexed_open(struct address_index *index);
void bfd_indexed_close(struct bfd_indexed *indexed); /* `indexed` may be NULL */
enum bfd_indexed_result { BFD_INDEXED_FOUND, BFD_INDEXED_NOTHING, BFD_INDEXED_UNKNOWN /* the object has to be asked */ };
/* frames: the function and those that it was inlined into, as far as `all` asks for them; at least one where
 * something was found. */
enum { BFD_INDEXED_FRAMES = 256 };
enum bfd_indexed_result bfd_indexed_find(struct bfd_indexed *indexed, uint64_t addr, bool all,
                                         struct bfd_answer *frames, size_t *count);
/* Before the object is asked: the next address, in order, that changed what later answers depend on, to be asked of
 * it as well. False: there are no more. */
bool bfd_indexed_next_change(struct bfd_indexed *indexed, uint64_t *addr);

#endif

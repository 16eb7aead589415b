/* Looking into a GSYM file as llvm-gsymutil prints it: one address, or everything. */
#ifndef CALLSIGN_CLI_GSYM_LOOKUP_H
#define CALLSIGN_CLI_GSYM_LOOKUP_H

#include <callsign/inspect.h>

struct gsym_filter {
    const char **patterns;   /* POSIX extended; NULL: none */
    size_t count;
};

/* "0xADDR: frames". */
void gsym_print_lookup(const struct csn_index *index, uint64_t addr);
/* The record, then the frames. */
void gsym_print_lookup_verbose(const struct csn_index *index, uint64_t addr);
/* "Found N functions at address", with those folded into one and the patterns of call sites that return there. */
void gsym_print_lookup_merged(const struct csn_index *index, uint64_t addr, const struct gsym_filter *filter);
/* Header, tables, strings and all functions. */
void gsym_dump(const struct csn_index *index);

#endif

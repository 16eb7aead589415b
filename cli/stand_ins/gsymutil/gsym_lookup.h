/* Looking into a GSYM file as llvm-gsymutil prints it: one address, or everything. */
#ifndef CALLSIGN_CLI_GSYM_LOOKUP_H
#define CALLSIGN_CLI_GSYM_LOOKUP_H

#include <stdbool.h>

#include <callsign/inspect.h>

/* A place in the source. */
struct gsym_place {
    struct csn_str directory, base;
    uint32_t line;
    bool is_known;
};
struct gsym_place gsym_place_of(const struct csn_index *index, uint32_t file, uint32_t line);
char gsym_path_separator(const struct gsym_place *place); /* 0: none */
void gsym_put_path(const struct gsym_place *place);
void gsym_put_str(struct csn_str text);

struct gsym_frame {
    struct csn_str name;
    uint64_t offset;
    struct gsym_place place;
    bool is_inlined;
};
struct gsym_frames {
    struct gsym_frame items[CSN_INLINE_DEPTH_MAX + 1];
    size_t count;
};
/* The record that answers for an address. False: none does. */
bool gsym_find_record(const struct csn_index *index, uint64_t addr, struct csn_record *out);
/* The frames of an address by LLVM's rules. NULL, or why it has none: the end of a sentence about the address. */
const char *gsym_find_frames(const struct csn_index *index, uint64_t addr, struct gsym_frames *out);

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
/* A record with its rows, inlined calls and call sites, indented. */
void gsym_put_record(const struct csn_index *index, const struct csn_record *record, int indent);
/* The patterns of a call site. */
void gsym_put_patterns(const struct csn_index *index, const struct csn_call_site *site, const char *between);
/* Header, tables, strings and all functions. */
void gsym_dump(const struct csn_index *index);

#endif

/* An index printed record by record, as text or as JSON. */
#ifndef CALLSIGN_CLI_DUMP_OUT_H
#define CALLSIGN_CLI_DUMP_OUT_H

#include <callsign/index.h>

#include "ui/name_text.h"
#include "ui/out_buffer.h"

struct dump {
    const struct csn_index *index;
    struct csn_index_info info;
    struct name_text names;
    struct out_buffer out;
    bool damaged;  /* a record could not be read to its end */
    bool partial;  /* an address was not found */
    char *scratch; /* for names that are kept in pieces; NULL until one is met */
};

/* Deeper merged functions than this are reported, not followed: they would nest the process's stack. */
enum { DUMP_MERGED_DEPTH_MAX = 16 };

void dump_text_header(struct dump *dump, const char *path);
void dump_text_files(struct dump *dump);
void dump_text_function(struct dump *dump, uint32_t idx);

/* One object a line: {"header":...}, {"file":...}, {"function":...}. */
void dump_json_header(struct dump *dump, const char *path);
void dump_json_files(struct dump *dump);
void dump_json_function(struct dump *dump, uint32_t idx);

/* The same for an image of many binaries (BSYM). */
void dump_rom_header(struct dump *dump, const char *path, bool json);
void dump_rom_binaries(struct dump *dump, bool json);
void dump_rom_function(struct dump *dump, uint32_t idx, bool json);

#endif

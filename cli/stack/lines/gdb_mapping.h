/* Lines of gdb's `info proc mappings`. */
#ifndef CALLSIGN_CLI_GDB_MAPPING_H
#define CALLSIGN_CLI_GDB_MAPPING_H

#include <callsign/process.h>

/* False: the line is none. out->path points into it. */
bool gdb_mapping_read(struct csn_str line, struct csn_process_mapping *out);

#endif

/* The images in a core dump, for eu-addr2line. */
#ifndef CALLSIGN_CLI_EU_CORE_H
#define CALLSIGN_CLI_EU_CORE_H

#include "stand_ins/libdw/libdw_module.h"

struct eu_core;

/* `executable`: the file that was run; NULL: not known. NULL: there are none, and *message, which the caller frees, tells why. */
struct eu_core *eu_core_open(const char *path, const char *executable, char **message);
void eu_core_close(struct eu_core *core);

size_t eu_core_count(const struct eu_core *core);
void eu_core_bounds(const struct eu_core *core, size_t i, uint64_t *low, uint64_t *high);
/* The image at an address; eu_core_count(): none. */
size_t eu_core_find(const struct eu_core *core, uint64_t addr);
/* The object of an image, and how far its addresses are above those in its file. NULL: there is none. */
struct libdw_module *eu_core_module(const struct eu_core *core, size_t i, const char *debuginfo_path, uint64_t *bias);

#endif

/* Callsign: open whatever has an image's symbols: an index, or a file that has to be converted first. Not part of the lookup-only
 * library. */
#ifndef CALLSIGN_OPEN_H
#define CALLSIGN_OPEN_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As csn_index_open_file() for an index and for an object file that carries one. Any other input of csn_convert_file() (a program,
 * library or debug file, a dSYM bundle, a Breakpad symbol file ...) is converted in memory, on all cores; its debug file, dSYM
 * bundle, dwz supplement and split DWARF are looked for as csn_companion_search_create() does without options: on this machine's
 * file system, never over the network.
 * *out is released by csn_index_close(), with the memory of the conversion. options->allocator is called from several threads, and
 * options->arch chooses among the images of a universal file.
 * CSN_OK; the failures of csn_index_open_file() and csn_convert_file(); CSN_E_FORMAT: the file is neither an index nor an
 * input. Cost: that of opening, or of a conversion (seconds for a large program): keep what it gives, or convert to a file. */
CSN_API csn_status csn_index_open_any(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                      struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif

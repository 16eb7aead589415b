/* Callsign: open the symbols of an image from an index or from a file that must be converted first. Not part of the
 * lookup-only library. */
#ifndef CALLSIGN_OPEN_H
#define CALLSIGN_OPEN_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an index file, or an object file that contains an index, as csn_index_open_file() does. Any other input of
 * csn_convert_file() (a program, library or debug file, a dSYM bundle, a Breakpad symbol file and so on) is converted
 * in memory on all cores. Its debug file, dSYM bundle, dwz supplement and split DWARF are searched for as
 * csn_companion_search_create() does without options: in the file system, never over the network. The caller releases
 * *out with csn_index_close(), which also frees the memory of the conversion. Several threads call
 * options->allocator. options->arch selects the image of a universal file.
 * CSN_OK; the errors of csn_index_open_file() and csn_convert_file(); CSN_E_FORMAT: the file is neither an index nor
 * a supported input.
 * Cost: that of opening an index, or of a conversion, which takes seconds for a large program. Keep the result open,
 * or convert to a file first. */
CSN_API csn_status csn_index_open_any(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                      struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif

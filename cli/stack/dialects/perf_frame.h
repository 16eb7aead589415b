/* A place as `perf script` prints it, in a line of a chain or behind a sample's head:
 *
 *     1139 area+0x19 (/path/app)                     with -F +dsoff: (/path/app+0x1139)
 *     1139 (/path/app)
 *     1139 area                                      without the image, in 16 columns
 *     1139 */
#ifndef CALLSIGN_CLI_PERF_FRAME_H
#define CALLSIGN_CLI_PERF_FRAME_H

#include "stack/lines/line_scan.h"
#include "stack/lines/stack_dialect.h"

/* A place with an image, up to the end of the line. */
bool perf_frame_read(struct line_scan *s, struct line_frame *out);
/* One without an image, which must end in the 16th column, at least, up to the end of the line. */
bool perf_frame_read_without_image(struct line_scan *s, struct line_frame *out);
/* The place of a sample alone stands after the event's name: the last ": " that a place follows. */
bool perf_frame_read_single(struct line_scan *s, struct line_frame *out);
/* Of a sample alone of which perf printed neither the process nor the time: the last address in 16 columns. Without an
 * image, tables of other programs look alike: such a place is read only where `has_maps` says that the text is perf's. */
bool perf_frame_read_unheaded(struct csn_str line, bool has_maps, struct line_frame *out, size_t *out_at);
/* Takes "+0x1139" of -F +dsoff off the image, and for the value if the image is a file. */
void perf_frame_read_offset(struct line_frame *out);
/* What the value counts from. The kernel's are addresses, which it may have moved as a whole; its modules lie anywhere. */
void perf_frame_place(struct line_frame *out, bool in_chain);

/* Whether the number of a chain's line counts in a file of a process, or is a pc of it; of the kernel it is an address. */
bool perf_frame_is_in_file(const struct line_frame *frame);

/* Where the next address in 16 columns from `from` on begins. */
bool perf_find_padded_address(struct csn_str line, size_t from, size_t *out);
/* A line that ends in an image without what -F insn, phys_addr, data_page_size and their like print behind that. */
struct csn_str perf_without_rest(struct csn_str line);
/* Whether the image is the kernel, or is no image but the mark of an inlined call. */
bool perf_is_kernel(struct csn_str module);
bool perf_is_guest_kernel(struct csn_str module);
/* The module of "[kernel.kallsyms]_text" or "[guest.kernel.kallsyms]". */
struct csn_str perf_kernel_module(struct csn_str image);
/* Whether it is the file of one, wherever it lies. */
bool perf_is_vmlinux(struct csn_str module);
bool perf_is_inlined(struct csn_str module);

#endif

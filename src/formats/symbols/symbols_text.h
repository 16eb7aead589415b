/* Text files of symbols: the kernel's list (/proc/kallsyms, System.map), and perf's map of code that a process made up
 * (/tmp/perf-PID.map). docs/formats/text-symbols.md has the rules. */
#ifndef CSNI_SYMBOLS_TEXT_H
#define CSNI_SYMBOLS_TEXT_H

#include "model/model.h"

/* Whether the file begins like one; looks at no more than 4 KiB. */
bool csni_kallsyms_recognize(struct csni_span file);
bool csni_perf_map_recognize(struct csni_span file);
bool csni_jitdump_recognize(struct csni_span file);

/* The address of the image's first byte, where a list tells. */
struct csni_list_base {
    bool is_known;
    uint64_t address;
};

/* Adds the functions to the batch that is being written. Names are views into `file`. Lines that are none are noted and
 * passed over. CSN_E_UNSUPPORTED: the kernel hid all addresses. CSN_E_MEMORY. */
csn_status csni_kallsyms_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                              struct csni_list_base *base, struct csn_error *err);
csn_status csni_perf_map_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                              struct csn_error *err);
/* The same for perf's jitdump files, which are not text but tell the same, and lines. */
csn_status csni_jitdump_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                             struct csn_error *err);

#endif

/* The address sample of a file that is being written (gsym_search.c tells what it is for). */
#ifndef CSNI_GSYM_WRITE_SAMPLE_H
#define CSNI_GSYM_WRITE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct csni_gsym_sample_plan {
    uint64_t offset; /* in the file */
    uint64_t end;    /* where the string table begins */
    unsigned shift;  /* every 1 << shift'th function is in it; 0: there is no sample */
};

/* After a file table that ends at `at`, and `head` further bytes, in one page with them. line_bytes: of the file's
 * line tables, the part of an index that is smaller than other writers make it by more than a sample takes. */
struct csni_gsym_sample_plan csni_gsym_plan_sample(uint64_t at, uint64_t head, uint32_t function_count, unsigned addr_size,
                                                   uint64_t line_bytes);
/* `file`, `addresses`: the bytes of the file and its finished address table. */
void csni_gsym_fill_sample(const struct csni_gsym_sample_plan *plan, uint8_t *file, const uint8_t *addresses,
                           uint32_t function_count, unsigned addr_size, bool big);

#endif

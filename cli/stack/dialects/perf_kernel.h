/* Where the kernels of a text of perf are, the host's and its guests', each moved by itself (KASLR), and whether their indexes are
 * of the same builds.
 *
 * A place of a kernel with a name is where the index has that name, or keeps it: names of perf are the running kernel's own. */
#ifndef CALLSIGN_CLI_PERF_KERNEL_H
#define CALLSIGN_CLI_PERF_KERNEL_H

#include "stack/lines/stack_dialect.h"

enum { KERNELS_MAX = 8, KERNEL_NAME = 64, KERNEL_PROOFS = 3 };

struct perf_kernel {
    char name[KERNEL_NAME];       /* of its module: "vmlinux", "[guest.kernel.kallsyms]" */
    char symbol[16];              /* which lies at `start`, as a mapping has it; empty: there was no mapping */
    uint64_t start;
    bool has_bias;                /* known from the mapping, or by a function of which there is only one */
    uint64_t bias;
    uint64_t proofs[KERNEL_PROOFS]; /* functions that lie where the index has them then */
    uint32_t proof_count;
    uint64_t agreeing, differing; /* frames whose function lies there, and elsewhere */
    bool is_told;                 /* that the index is of another build */
};

struct perf_kernels {
    struct perf_kernel items[KERNELS_MAX]; /* further guests have no index */
    uint32_t count;
};

/* A mapping of a kernel: "[kernel.kallsyms]_text" begins at `start`. */
void perf_kernels_add_map(struct perf_kernels *kernels, struct csn_str image, uint64_t start);

/* The address of a frame in the index of its module. False: it has none that is known; what the line says of it stays. */
bool perf_kernels_address(struct perf_kernels *kernels, struct stack_session *session, const struct line_frame *frame,
                          uint32_t module, uint64_t *out);

#endif

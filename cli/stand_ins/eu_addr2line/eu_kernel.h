/* The running kernel and kernels on disk, for eu-addr2line: Callsign reads neither, and says what elfutils says
 * where there is nothing to read. */
#ifndef CALLSIGN_CLI_EU_KERNEL_H
#define CALLSIGN_CLI_EU_KERNEL_H

#include "stand_ins/eu_addr2line/eu_images.h"

/* -k: the running kernel, of which only the addresses are known. False: there is none, or its files are there, which is printed. */
bool eu_kernel_open(struct eu_images *out, const char *program);
/* -K: why the kernel of a release (NULL: the running one) is not read, which is printed. */
void eu_kernel_refuse(const char *release, const char *program);

#endif

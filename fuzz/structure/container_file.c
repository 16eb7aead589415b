/* Targets whose input is one file. */
#include "mutate_part.h"

void fuzz_mutate_container(struct fuzz_input *in) { fuzz_mutate_any(in); }

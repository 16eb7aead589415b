/* Choosing among functions that share their code. */
#ifndef CSNI_CHOOSE_H
#define CSNI_CHOOSE_H

#include "symbolicate/stack_walk.h"

/* Decides the frames of a stack, from the outermost one inwards. The answers have the names and frames of the index's own
 * functions already. False: no memory. */
bool csni_choose(struct csni_stack_walk *walk);

#endif

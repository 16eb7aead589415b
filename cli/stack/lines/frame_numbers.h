/* Numbers before frames, of programs that may count from 0 or from 1: a stack that does not begin with the lowest one lacks its
 * beginning, and its first frame is a caller, too. */
#ifndef CALLSIGN_CLI_FRAME_NUMBERS_H
#define CALLSIGN_CLI_FRAME_NUMBERS_H

#include <callsign/symbolicate.h>

struct frame_numbers {
    bool from_zero; /* a frame 0 was seen: the program counts from there */
};

/* CSN_STACK_RETURN of a caller; 0: the first frame of a stack may be none. */
static inline uint32_t frame_numbers_flags(struct frame_numbers *numbers, uint64_t number) {
    numbers->from_zero |= !number;
    return number > (numbers->from_zero ? 0 : 1) ? CSN_STACK_RETURN : 0;
}

#endif

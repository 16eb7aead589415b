/* Sweeps over every byte of a file. The sanitizers make them ten times slower: ThreadSanitizer finds what it finds in a part of them, the
 * others take every third byte, and every one in `make check-full` (CALLSIGN_WHOLE_SWEEPS). */
#ifndef SWEEP_H
#define SWEEP_H

/* No multiples of the period in which sweeps change their masks. */
#ifdef __SANITIZE_THREAD__
enum { SWEEP_STEP = 13 };
#elif defined(__SANITIZE_ADDRESS__) && !defined(CSN_TEST_WHOLE_SWEEPS)
enum { SWEEP_STEP = 3 };
#else
enum { SWEEP_STEP = 1 };
#endif

#endif

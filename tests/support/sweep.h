/* Sweeps over every byte of a file. Sanitizers and emulators make them ten times slower, and find what they find in a part of them
 * (CALLSIGN_SWEEP_STEP, which scripts/check sets): steps are no multiples of the period in which sweeps change their masks. */
#ifndef SWEEP_H
#define SWEEP_H

#ifdef CSN_TEST_SWEEP_STEP
enum { SWEEP_STEP = CSN_TEST_SWEEP_STEP };
#elif defined(__SANITIZE_THREAD__)
enum { SWEEP_STEP = 13 };
#else
enum { SWEEP_STEP = 1 };
#endif

#endif

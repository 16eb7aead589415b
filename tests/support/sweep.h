/* Sweeps over every byte of a file. ThreadSanitizer makes them ten times slower and finds what it finds in a part of them. */
#ifndef SWEEP_H
#define SWEEP_H

#ifdef __SANITIZE_THREAD__
enum { SWEEP_STEP = 13 }; /* no multiple of the period in which sweeps change their masks */
#else
enum { SWEEP_STEP = 1 };
#endif

#endif

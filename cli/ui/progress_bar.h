/* A progress bar on stderr for as long as a conversion runs, and a clean end when the user interrupts it. */
#ifndef CALLSIGN_CLI_PROGRESS_BAR_H
#define CALLSIGN_CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct progress_bar {
    bool shown;         /* stderr is a terminal that understands control sequences, and nobody asked for quiet */
    bool drawn;
    uint64_t drawn_ms;  /* when it was drawn last */
};

/* From here on SIGINT, SIGTERM and SIGHUP stop the conversion rather than the process. */
void progress_begin(struct progress_bar *bar, bool quiet);
/* A csn_progress_callback; the context is the bar. */
bool progress_step(void *context, const char *phase, uint64_t done, uint64_t total);
/* Erases the bar, for a line that is written meanwhile; the next step draws it again. */
void progress_erase(struct progress_bar *bar);
/* Erases the bar; signals have their usual effect again. */
void progress_end(struct progress_bar *bar);
/* Where a signal came in between, the process ends by that signal. To be called when everything is tidied up. */
void progress_pass_on_signal(void);

#endif

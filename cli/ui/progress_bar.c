/* The progress bar. A signal only sets a flag: the conversion then stops at its next step and removes its temporary file. */
#define _GNU_SOURCE
#include "ui/progress_bar.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_MS = 100, BAR_WIDTH = 40 };

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { STOP_SIGNAL_COUNT = sizeof(stop_signals) / sizeof(stop_signals[0]) };

static volatile sig_atomic_t caught_signal;

static void catch_signal(int number) { caught_signal = number; }

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool terminal_can_redraw(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

void progress_begin(struct progress_bar *bar, bool quiet) {
    *bar = (struct progress_bar){ .shown = !quiet && terminal_can_redraw() };
    /* A second signal of the same kind ends the process at once (SA_RESETHAND). A signal that was ignored when the
     * process started, as under nohup, stays ignored. */
    struct sigaction action = { .sa_handler = catch_signal, .sa_flags = (int)SA_RESETHAND };
    for (int i = 0; i < STOP_SIGNAL_COUNT; i++) {
        struct sigaction old;
        if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(stop_signals[i], &action, NULL);
    }
}

static void draw(const char *phase, uint64_t done, uint64_t total) {
    /* Bytes of debug information times 100 stay far below 64 bits. */
    int percent = total ? (int)((done < total ? done : total) * 100 / total) : 0;
    int filled = percent * BAR_WIDTH / 100;
    char line[160];
    int size;
    if (total)
        size = snprintf(line, sizeof(line), "\r%-20.20s [%.*s%*s] %3d%%\x1b[K", phase, filled,
                        "########################################", BAR_WIDTH - filled, "", percent);
    else /* a download of unknown size */
        size = snprintf(line, sizeof(line), "\r%-20.20s %llu KiB\x1b[K", phase, (unsigned long long)(done / 1024));
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)size);
    (void)ignored;
}

bool progress_step(void *context, const char *phase, uint64_t done, uint64_t total) {
    struct progress_bar *bar = context;
    if (bar->shown) {
        uint64_t now = now_ms();
        if (!bar->drawn || now - bar->drawn_ms >= REDRAW_MS) {
            draw(phase, done, total);
            bar->drawn = true;
            bar->drawn_ms = now;
        }
    }
    return !caught_signal;
}

void progress_erase(struct progress_bar *bar) {
    static const char erase[] = "\r\x1b[K";
    if (!bar->drawn) return;
    ssize_t ignored = write(STDERR_FILENO, erase, sizeof(erase) - 1);
    (void)ignored;
    bar->drawn = false;
}

void progress_end(struct progress_bar *bar) {
    progress_erase(bar);
    for (int i = 0; i < STOP_SIGNAL_COUNT; i++) {
        struct sigaction old;
        if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler == catch_signal)
            signal(stop_signals[i], SIG_DFL);
    }
}

void progress_pass_on_signal(void) {
    if (!caught_signal) return;
    signal(caught_signal, SIG_DFL);
    raise(caught_signal);
}

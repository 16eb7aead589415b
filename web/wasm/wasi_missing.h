/* What the C library of WASI declares nowhere. */
#ifndef CALLSIGN_WEB_WASI_MISSING_H
#define CALLSIGN_WEB_WASI_MISSING_H

#include <__typedef_sigset_t.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#ifndef NAME_MAX
#define NAME_MAX 255
#endif
#define SA_RESETHAND 0
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define sigemptyset(set) (*(set) = 0)
#define sigfillset(set) (*(set) = 0)
#define sigaddset(set, number) ((void)(set))
#define sigdelset(set, number) ((void)(set))
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
    int sa_mask;
};
int sigaction(int number, const struct sigaction *action, struct sigaction *old);

int mkstemp(char *name);
int mkostemp(char *name, int flags);
int madvise(void *ptr, size_t size, int advice);
char *realpath(const char *path, char *out);
int fchmod(int fd, mode_t mode);
mode_t umask(mode_t mask);
int flock(int fd, int operation);
int execv(const char *path, char *const *arguments);

#endif

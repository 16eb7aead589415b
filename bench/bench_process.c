/* Runs a command once and tells what it cost: the measuring end of bench/run.
 *
 *   bench_process STDIN COMMAND [ARGUMENT...]
 *
 * The command reads the file STDIN and writes to /dev/null. Prints one line: wall, user and system time in
 * microseconds, peak memory in KiB, exit status (128 + signal for a killed one), page faults.
 * A program of its own because Linux starts a child's peak memory at that of the process which forked it: a script's
 * interpreter would hide every peak below its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.h"

static void run_command(const char *in_path, char **command) {
    int in = open(in_path, O_RDONLY);
    int out = open("/dev/null", O_WRONLY);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(126);
    execvp(command[0], command);
    _exit(127);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: bench_process STDIN COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    double start = now_ns();
    pid_t pid = fork();
    if (pid < 0) {
        perror("bench_process: fork");
        return 2;
    }
    if (pid == 0)
        run_command(argv[1], argv + 2);
    int status;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) < 0) {
        perror("bench_process: wait4");
        return 2;
    }
    long long wall = (long long)((now_ns() - start) / 1000);
    printf("%lld %lld %lld %ld %d %ld\n", wall, usage.ru_utime.tv_sec * 1000000LL + usage.ru_utime.tv_usec,
           usage.ru_stime.tv_sec * 1000000LL + usage.ru_stime.tv_usec, usage.ru_maxrss,
           WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
           usage.ru_minflt + usage.ru_majflt);
    return 0;
}

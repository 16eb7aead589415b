/* A session with a symbolizer through pipes: requests of a line each, and answers that end with a line, or with an empty one.
 *
 * usage: bench_session REQUESTS IN_FLIGHT END COMMAND [ARGUMENT...]
 *          REQUESTS: a file of lines; IN_FLIGHT: requests that wait for an answer at one time; END: line or empty-line
 *        bench_session --echo SIZE END
 *          answers each line with SIZE bytes and does nothing else: the floor, which is pipes and the change between two processes
 * Prints JSON: requests a second, processor seconds of the command, and the average size of its answers. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.h"

enum { RECEIVE_SIZE = 1 << 16 };

struct session {
    char *requests;
    size_t size, sent;       /* bytes */
    size_t request_count, sent_count, answered;
    size_t received;         /* bytes */
    bool ends_empty;         /* answers end with an empty line */
    bool at_line;            /* what was received ends with a line */
    int to, from;
};

static void stop(const char *what) {
    fprintf(stderr, "bench_session: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void read_requests(struct session *s, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) stop(path);
    s->size = (size_t)ftell(file);
    rewind(file);
    s->requests = malloc(s->size + 1);
    if (!s->requests || fread(s->requests, 1, s->size, file) != s->size) stop(path);
    fclose(file);
    for (size_t i = 0; i < s->size; i++) s->request_count += s->requests[i] == '\n';
    if (!s->request_count) stop("no requests");
}

static void write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        const ssize_t written = write(fd, bytes, size);
        if (written < 0) stop("write");
        bytes += written;
        size -= (size_t)written;
    }
}

static void send_requests(struct session *s, size_t in_flight) {
    const size_t begin = s->sent;
    for (; s->sent_count < s->request_count && s->sent_count - s->answered < in_flight; s->sent_count++)
        s->sent = (size_t)((char *)memchr(s->requests + s->sent, '\n', s->size - s->sent) + 1 - s->requests);
    write_all(s->to, s->requests + begin, s->sent - begin);
}

static void receive(struct session *s) {
    static char bytes[RECEIVE_SIZE];
    const ssize_t got = read(s->from, bytes, sizeof bytes);
    if (got <= 0) stop("the command ended");
    s->received += (size_t)got;
    for (const char *p = bytes, *end = bytes + got, *newline; p < end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t)(end - p));
        if (newline != p) s->at_line = false;
        if (!newline) break;
        s->answered += !s->ends_empty || s->at_line;
        s->at_line = s->ends_empty && !s->at_line;
    }
}

static pid_t start(struct session *s, char **command) {
    int requests[2], answers[2];
    if (pipe(requests) != 0 || pipe(answers) != 0) stop("pipe");
    const pid_t child = fork();
    if (child < 0) stop("fork");
    if (child == 0) {
        (void)dup2(requests[0], STDIN_FILENO);
        (void)dup2(answers[1], STDOUT_FILENO);
        close(requests[1]);
        close(answers[0]);
        execvp(command[0], command);
        stop(command[0]);
    }
    close(requests[0]);
    close(answers[1]);
    s->to = requests[1];
    s->from = answers[0];
    return child;
}

static int echo(size_t size, bool ends_empty) {
    static char bytes[RECEIVE_SIZE];
    char *answer = malloc(size + 2);
    if (!answer) stop("memory");
    memset(answer, 'x', size + 2);
    answer[size ? size - 1 : 0] = '\n';
    if (ends_empty && size > 1) answer[size - 2] = '\n';
    for (ssize_t got; (got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] == '\n') write_all(STDOUT_FILENO, answer, size);
    free(answer);
    return 0;
}

int main(int argc, char **argv) {
    struct session s = { 0 };
    struct rusage usage;
    int status;
    if (argc < 4 || (argc == 4 && strcmp(argv[1], "--echo") != 0)) {
        fputs("usage: bench_session REQUESTS IN_FLIGHT END COMMAND [ARGUMENT...]\n       bench_session --echo SIZE END\n", stderr);
        return 2;
    }
    s.ends_empty = strcmp(argv[3], "empty-line") == 0;
    if (argc == 4) return echo(strtoul(argv[2], NULL, 10), s.ends_empty);
    read_requests(&s, argv[1]);
    const size_t in_flight = strtoul(argv[2], NULL, 10);
    const double begin = now_ns();
    const pid_t child = start(&s, argv + 4);
    while (s.answered < s.request_count) {
        send_requests(&s, in_flight ? in_flight : 1);
        receive(&s);
    }
    const double seconds = (now_ns() - begin) / 1e9;
    close(s.to);
    if (wait4(child, &status, 0, &usage) < 0 || status != 0) stop("the command failed");
    const struct timeval user = usage.ru_utime, kernel = usage.ru_stime;
    printf("{\"per_second\": %.0f, \"cpu_seconds\": %.3f, \"answer_bytes\": %.0f}\n", (double)s.request_count / seconds,
           (double)(user.tv_sec + kernel.tv_sec) + (double)(user.tv_usec + kernel.tv_usec) / 1e6,
           (double)s.received / (double)s.request_count);
    free(s.requests);
    return 0;
}

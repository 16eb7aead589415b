/* Sends HTTP requests over connections that are kept, as fast as they are answered or at a given rate.
 *
 * usage: bench_requests PORT REQUESTS CONNECTIONS SECONDS RATE
 *   REQUESTS: a file of requests, each after a line with its number of bytes; they are sent in turn
 *   RATE: requests a second; 0: each connection sends the next when the last was answered
 * Prints JSON. With a rate, latencies count from the moment at which the request was due, whether a connection was free or not. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "timing.h"

enum { MOST_CONNECTIONS = 1024, RECEIVE_SIZE = 256 * 1024 };

struct request { const char *bytes; size_t size; };
struct link {
    bool is_busy;
    double due;                /* of the request under way */
    const struct request *request;
    size_t sent;
    char head[1024];           /* of the answer */
    size_t head_size;
    size_t left;               /* of its body */
    bool in_body;
};
struct load {
    struct request *requests;
    size_t request_count, next;
    struct link links[MOST_CONNECTIONS];
    struct pollfd fds[MOST_CONNECTIONS];
    int count;
    double *latencies;
    size_t answered, capacity;
    uint64_t received, failed;
};

static void stop(const char *what) {
    fprintf(stderr, "bench_requests: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void read_requests(struct load *load, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t size;
    if (!file) stop(path);
    while (fscanf(file, "%zu", &size) == 1 && getc(file) == '\n') {
        char *bytes = malloc(size);
        load->requests = realloc(load->requests, (load->request_count + 1) * sizeof(*load->requests));
        if (!bytes || !load->requests || fread(bytes, 1, size, file) != size) stop(path);
        load->requests[load->request_count++] = (struct request){ bytes, size };
    }
    fclose(file);
    if (!load->request_count) stop("no requests");
}

static void connect_links(struct load *load, int port) {
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (int i = 0; i < load->count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) stop("connect");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        fcntl(fd, F_SETFL, O_NONBLOCK);
        load->fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
    }
}

static void send_more(struct load *load, int i) {
    struct link *link = &load->links[i];
    while (link->sent < link->request->size) {
        ssize_t sent = send(load->fds[i].fd, link->request->bytes + link->sent, link->request->size - link->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) break;
        if (sent < 0) stop("send");
        link->sent += (size_t)sent;
    }
    load->fds[i].events = (short)(link->sent < link->request->size ? POLLIN | POLLOUT : POLLIN);
}

static void begin(struct load *load, int i, double due) {
    struct link *link = &load->links[i];
    *link = (struct link){ .is_busy = true, .due = due, .request = &load->requests[load->next++ % load->request_count] };
    send_more(load, i);
}

static void end(struct load *load, struct link *link) {
    if (load->answered == load->capacity) {
        load->capacity = load->capacity ? load->capacity * 2 : 1 << 16;
        load->latencies = realloc(load->latencies, load->capacity * sizeof(*load->latencies));
        if (!load->latencies) stop("memory");
    }
    load->latencies[load->answered++] = now_ns() - link->due;
    load->failed += strncmp(link->head, "HTTP/1.1 200", 12) != 0;
    link->is_busy = false;
}

/* Takes what belongs to the head; returns how much. */
static size_t take_head(struct link *link, const char *bytes, size_t size) {
    size_t before = link->head_size, take = sizeof(link->head) - 1 - before;
    if (take > size) take = size;
    memcpy(link->head + before, bytes, take);
    link->head[before + take] = 0;
    const char *blank = strstr(link->head, "\r\n\r\n"), *length = strcasestr(link->head, "\r\nContent-Length:");
    link->head_size += take;
    if (!blank) {
        if (link->head_size == sizeof(link->head) - 1) stop("a head is too long");
        return take;
    }
    if (!length) stop("an answer has no Content-Length");
    link->left = strtoull(length + 17, NULL, 10);
    link->in_body = true;
    return (size_t)(blank + 4 - link->head) - before;
}

static void receive(struct load *load, int i) {
    static char bytes[RECEIVE_SIZE];
    struct link *link = &load->links[i];
    ssize_t got = recv(load->fds[i].fd, bytes, sizeof(bytes), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0 || !link->is_busy) stop("a connection ended");
    load->received += (uint64_t)got;
    size_t at = link->in_body ? 0 : take_head(link, bytes, (size_t)got);
    if (!link->in_body) return;
    size_t body = (size_t)got - at;
    if (body > link->left) stop("an answer is longer than its Content-Length");
    link->left -= body;
    if (link->left == 0) end(load, link);
}

/* Begins what is due; returns when the next is, in milliseconds; -1: when one is answered. */
static int begin_due(struct load *load, double *due, double period, double stop_at) {
    for (int i = 0; i < load->count; i++) {
        double now = now_ns();
        if (now >= stop_at) return -1;
        if (load->links[i].is_busy) continue;
        if (period == 0) begin(load, i, now);
        else if (*due <= now) {
            begin(load, i, *due);
            *due += period;
        } else return 0; /* poll() waits whole milliseconds: too coarse */
    }
    return -1;
}

static bool is_any_busy(const struct load *load) {
    for (int i = 0; i < load->count; i++)
        if (load->links[i].is_busy) return true;
    return false;
}

static void run(struct load *load, double seconds, double rate) {
    double start = now_ns(), due = start, stop_at = start + seconds * 1e9;
    while (now_ns() < stop_at || is_any_busy(load)) {
        int wait = begin_due(load, &due, rate > 0 ? 1e9 / rate : 0, stop_at);
        if (wait == 0 && !is_any_busy(load)) {
            usleep(50);
            continue;
        }
        const struct timespec a_moment = { 0, 50000 };
        if (ppoll(load->fds, (nfds_t)load->count, wait == 0 ? &a_moment : NULL, NULL) < 0) stop("poll");
        for (int i = 0; i < load->count; i++) {
            if (load->fds[i].revents & POLLOUT) send_more(load, i);
            if (load->fds[i].revents & (POLLIN | POLLHUP | POLLERR)) receive(load, i);
        }
    }
}

int main(int argc, char **argv) {
    static struct load load;
    struct rusage usage;
    if (argc != 6) {
        fprintf(stderr, "usage: bench_requests PORT REQUESTS CONNECTIONS SECONDS RATE\n");
        return 2;
    }
    read_requests(&load, argv[2]);
    load.count = atoi(argv[3]);
    if (load.count < 1 || load.count > MOST_CONNECTIONS) stop("CONNECTIONS");
    connect_links(&load, atoi(argv[1]));
    double start = now_ns();
    run(&load, atof(argv[4]), atof(argv[5]));
    double seconds = (now_ns() - start) / 1e9;
    if (!load.answered) stop("no answers");
    qsort(load.latencies, load.answered, sizeof(*load.latencies), compare_doubles);
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"requests\":%zu,\"seconds\":%.3f,\"requests_per_s\":%.1f,\"failed\":%llu,\"received_bytes\":%llu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
           "\"p999_ms\":%.3f,\"max_ms\":%.3f,\"client_cpu_s\":%.3f}\n", load.answered, seconds, (double)load.answered / seconds,
           (unsigned long long)load.failed, (unsigned long long)load.received, load.latencies[load.answered / 2] / 1e6,
           load.latencies[load.answered * 99 / 100] / 1e6, load.latencies[load.answered * 999 / 1000] / 1e6,
           load.latencies[load.answered - 1] / 1e6, (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    return load.failed != 0;
}

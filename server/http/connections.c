/* Open connections. */
#define _GNU_SOURCE
#include "http/connections.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

enum { LEAST_BYTES_PER_SECOND = 1024 };

/* Its own thread writes what is atomic; the list has the lock. */
struct open_connection {
    int fd;
    _Atomic(enum connection_phase) phase;
    atomic_bool is_used; /* it has had a request */
    atomic_int_least64_t since;
    atomic_uint_least64_t received; /* of the body */
    bool has_hung_up;               /* when connections_end_hung_up() looked last, */
    int64_t looked_since;           /* with this `since` */
    struct open_connection *next, **link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_connection *first;
static uint64_t count, taken;

static time_t clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

static void add_connection(struct MHD_Connection *connection, void **context) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct open_connection *open = calloc(1, sizeof(*open));
    *context = open;
    if (!open) return;
    open->fd = info ? info->connect_fd : -1;
    atomic_store(&open->since, clock_s());
    pthread_mutex_lock(&lock);
    open->next = first;
    open->link = &first;
    if (first) first->link = &open->next;
    first = open;
    count++;
    taken++;
    pthread_mutex_unlock(&lock);
}

static void remove_connection(struct open_connection *open) {
    if (!open) return;
    pthread_mutex_lock(&lock);
    *open->link = open->next;
    if (open->next) open->next->link = open->link;
    count--;
    pthread_mutex_unlock(&lock);
    free(open);
}

void connections_notify(void *server, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code) {
    (void)server;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) add_connection(connection, context);
    else remove_connection(*context);
}

static struct open_connection *find_open(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void connection_enter(struct MHD_Connection *connection, enum connection_phase phase) {
    struct open_connection *open = find_open(connection);
    if (!open) return;
    atomic_store_explicit(&open->since, clock_s(), memory_order_relaxed);
    atomic_store_explicit(&open->received, 0, memory_order_relaxed);
    atomic_store_explicit(&open->is_used, true, memory_order_relaxed);
    atomic_store(&open->phase, phase);
}

void connection_received(struct MHD_Connection *connection, uint64_t size) {
    struct open_connection *open = find_open(connection);
    if (open) atomic_fetch_add_explicit(&open->received, size, memory_order_relaxed);
}

static bool is_slow(struct open_connection *open, time_t now, uint64_t head_s, uint64_t body_s) {
    enum connection_phase phase = atomic_load(&open->phase);
    uint64_t limit = phase == PHASE_HEAD && !atomic_load(&open->is_used) ? head_s : body_s;
    if (phase == PHASE_BODY) limit += atomic_load(&open->received) / LEAST_BYTES_PER_SECOND;
    time_t since = (time_t)atomic_load(&open->since);
    return phase != PHASE_ANSWER && now > since && (uint64_t)(now - since) > limit;
}

void connections_end_slow(uint64_t head_s, uint64_t body_s) {
    time_t now = clock_s();
    pthread_mutex_lock(&lock);
    for (struct open_connection *open = first; open; open = open->next)
        if (is_slow(open, now, head_s, body_s)) shutdown(open->fd, SHUT_RDWR);
    pthread_mutex_unlock(&lock);
}

/* libmicrohttpd 0.9.75 with epoll does not see an end that comes with the last bytes. */
static bool is_hung_up(const struct open_connection *open) {
    struct pollfd poll_fd = { .fd = open->fd, .events = POLLRDHUP };
    int unread = 0;
    return poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLRDHUP && ioctl(open->fd, FIONREAD, &unread) == 0 && unread == 0;
}

void connections_end_hung_up(void) {
    pthread_mutex_lock(&lock);
    for (struct open_connection *open = first; open; open = open->next) {
        int64_t since = atomic_load(&open->since);
        bool is_waiting = atomic_load(&open->phase) != PHASE_ANSWER, was_hung_up = open->has_hung_up && open->looked_since == since;
        open->has_hung_up = is_waiting && is_hung_up(open);
        open->looked_since = since;
        if (open->has_hung_up && was_hung_up) shutdown(open->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&lock);
}

void connections_end_idle(void) {
    pthread_mutex_lock(&lock);
    for (struct open_connection *open = first; open; open = open->next)
        if (atomic_load(&open->phase) == PHASE_HEAD) shutdown(open->fd, SHUT_RDWR);
    pthread_mutex_unlock(&lock);
}

uint64_t connections_taken(void) {
    pthread_mutex_lock(&lock);
    uint64_t result = taken;
    pthread_mutex_unlock(&lock);
    return result;
}

uint64_t connections_count(void) {
    pthread_mutex_lock(&lock);
    uint64_t result = count;
    pthread_mutex_unlock(&lock);
    return result;
}

/* Open connections. */
#define _GNU_SOURCE
#include "http/connections.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct open_connection {
    int fd;
    enum connection_phase phase;
    bool is_used;        /* it has had a request */
    time_t since;
    struct open_connection *next, **link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_connection *first;
static uint64_t count;

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
    open->since = clock_s();
    pthread_mutex_lock(&lock);
    open->next = first;
    open->link = &first;
    if (first) first->link = &open->next;
    first = open;
    count++;
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

void connection_enter(struct MHD_Connection *connection, enum connection_phase phase) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct open_connection *open = info ? info->socket_context : NULL;
    if (!open) return;
    pthread_mutex_lock(&lock);
    open->phase = phase;
    open->is_used = true;
    open->since = clock_s();
    pthread_mutex_unlock(&lock);
}

void connections_end_slow(uint64_t head_s, uint64_t body_s) {
    time_t now = clock_s();
    pthread_mutex_lock(&lock);
    for (struct open_connection *open = first; open; open = open->next) {
        uint64_t limit = open->phase == PHASE_HEAD ? (open->is_used ? body_s : head_s) : body_s;
        if (open->phase != PHASE_ANSWER && (uint64_t)(now - open->since) > limit) shutdown(open->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&lock);
}

void connections_end_idle(void) {
    pthread_mutex_lock(&lock);
    for (struct open_connection *open = first; open; open = open->next)
        if (open->phase == PHASE_HEAD) shutdown(open->fd, SHUT_RDWR);
    pthread_mutex_unlock(&lock);
}

uint64_t connections_count(void) {
    pthread_mutex_lock(&lock);
    uint64_t result = count;
    pthread_mutex_unlock(&lock);
    return result;
}

/* The address that the server listens at. */
#define _GNU_SOURCE
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static int fail(int fd, const char *address, const char *what, char *why, size_t why_size) {
    snprintf(why, why_size, "cannot listen at %s: %s", address, what);
    if (fd >= 0) close(fd);
    return -1;
}

static int listen_unix(const char *address, char *why, size_t why_size) {
    const char *path = address + strlen("unix:");
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    struct stat st;
    if (strlen(path) >= sizeof(name.sun_path) || !*path) return fail(-1, address, "the path is empty or too long", why, why_size);
    strcpy(name.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return fail(fd, address, strerror(errno), why, why_size);
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
        /* Of a server that was killed, unless somebody answers there. */
        int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int answered = probe >= 0 && connect(probe, (struct sockaddr *)&name, sizeof(name)) == 0;
        if (probe >= 0) close(probe);
        if (answered) return fail(fd, address, "another server listens there", why, why_size);
        unlink(path);
    }
    if (bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0 || listen(fd, BACKLOG) < 0)
        return fail(fd, address, strerror(errno), why, why_size);
    return fd;
}

static int split_address(const char *address, char *host, size_t host_size, const char **port) {
    const char *colon = strrchr(address, ':');
    if (!colon || !colon[1]) return -1;
    size_t size = (size_t)(colon - address);
    if (size && address[0] == '[' && colon[-1] == ']') {
        address++;
        size -= 2;
    }
    if (size >= host_size) return -1;
    memcpy(host, address, size);
    host[size] = 0;
    *port = colon + 1;
    return 0;
}

/* -1: `error` says why. */
static int listen_one(const struct addrinfo *at, int *error) {
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    *error = errno;
    if (fd >= 0) close(fd);
    return -1;
}

int listen_at(const char *address, char *why, size_t why_size) {
    char host[256];
    const char *port;
    struct addrinfo *found, hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    if (strncmp(address, "unix:", 5) == 0) return listen_unix(address, why, why_size);
    if (split_address(address, host, sizeof(host), &port) < 0)
        return fail(-1, address, "must be ADDRESS:PORT or unix:PATH", why, why_size);
    if (strlen(port) > 5 || port[strspn(port, "0123456789")] || strtoul(port, NULL, 10) > 65535)
        return fail(-1, address, "the port must be 0 to 65535", why, why_size);
    int code = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (code != 0) return fail(-1, address, gai_strerror(code), why, why_size);
    /* A name may have an address that this machine has not: ::1 where IPv6 is off. The first that can be listened at is taken. */
    int fd = -1, error = 0, first_error = 0;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        fd = listen_one(at, &error);
        if (!first_error) first_error = error;
    }
    freeaddrinfo(found);
    return fd < 0 ? fail(fd, address, strerror(first_error), why, why_size) : fd;
}

void listen_url(int fd, const char *address, int is_tls, char *out, size_t size) {
    struct sockaddr_storage name;
    socklen_t name_size = sizeof(name);
    char host[INET6_ADDRSTRLEN + 2] = "?", port[8] = "?";
    const char *scheme = is_tls ? "https" : "http";
    if (strncmp(address, "unix:", 5) == 0) {
        snprintf(out, size, "%s", address);
        return;
    }
    if (getsockname(fd, (struct sockaddr *)&name, &name_size) == 0)
        getnameinfo((struct sockaddr *)&name, name_size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(out, size, strchr(host, ':') ? "%s://[%s]:%s/" : "%s://%s:%s/", scheme, host, port);
}

void listen_refuse_new(int fd, const char *address) {
    /* Drops what is SYN and not ACK; sockets' filters see the TCP header first. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
    if (strncmp(address, "unix:", 5) == 0) unlink(address + 5);
    else setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)); /* where it cannot, a few are reset */
}

/* The address that the server listens at. */
#ifndef CALLSIGN_SERVER_LISTEN_H
#define CALLSIGN_SERVER_LISTEN_H

#include <stddef.h>

/* "127.0.0.1:8080", "[::1]:0", "unix:/run/callsign.sock". Returns a socket that listens, or -1 with a message. */
int listen_at(const char *address, char *why, size_t why_size);
/* Begins no new connections, but lets those end their beginning that have begun: nobody's request is lost when the socket is closed
 * after a moment. Those who come later are refused then. */
void listen_refuse_new(int fd, const char *address);
/* The address of a socket as a URL, such as "http://127.0.0.1:8080/". */
void listen_url(int fd, const char *address, int is_tls, char *out, size_t size);

#endif

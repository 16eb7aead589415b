/* Open connections, and those that take too long over a request's head or body: libmicrohttpd's own limit counts
 * from the last byte. */
#ifndef CALLSIGN_SERVER_CONNECTIONS_H
#define CALLSIGN_SERVER_CONNECTIONS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

void connections_notify(void *server, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code);
/* A request's head has arrived, or its body, or its answer was sent. */
enum connection_phase { PHASE_HEAD, PHASE_BODY, PHASE_ANSWER };
void connection_enter(struct MHD_Connection *connection, enum connection_phase phase);
/* Bytes of a body have arrived: each KiB gives its sender a second more. */
void connection_received(struct MHD_Connection *connection, uint64_t size);
/* Ends connections that are in a phase for longer than these numbers of seconds. */
void connections_end_slow(uint64_t head_s, uint64_t body_s);
/* Ends those whose client has sent all that it will, and that still wait for more: to be called every second, so
 * that it is seen twice. */
void connections_end_hung_up(void);
/* Ends those on which no request is under way. */
void connections_end_idle(void);
uint64_t connections_count(void);
uint64_t connections_taken(void); /* since the start */

#endif

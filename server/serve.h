/* Serving: the store, the connections, the routes and the signals together. */
#ifndef CALLSIGN_SERVER_SERVE_H
#define CALLSIGN_SERVER_SERVE_H

#include "base/settings.h"

/* The body of `callsign serve`. Runs until SIGINT or SIGTERM; SIGHUP reads the arguments' settings again. Returns the exit code. */
int serve(struct settings *settings, int argc, char **argv);

#endif

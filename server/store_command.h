/* callsign store: add, list, prune, fsck. */
#ifndef CALLSIGN_SERVER_STORE_COMMAND_H
#define CALLSIGN_SERVER_STORE_COMMAND_H

#include "base/settings.h"

/* argv from 2 on: settings and flags; from `first` on: "--", the verb and its operands. */
int store_command(struct settings *settings, int argc, char **argv, int first);

#endif

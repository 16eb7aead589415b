/* Callsign: every header. What backtrace.h declares is in libcallsign-backtrace, the rest in libcallsign. */
#ifndef CALLSIGN_CALLSIGN_H
#define CALLSIGN_CALLSIGN_H

#include <callsign/arrow.h>
#include <callsign/backtrace.h>
#include <callsign/base.h>
#include <callsign/binaries.h>
#include <callsign/builder.h>
#include <callsign/cache.h>
#include <callsign/companion.h>
#include <callsign/convert.h>
#include <callsign/debug_info.h>
#include <callsign/embed.h>
#include <callsign/error.h>
#include <callsign/identity.h>
#include <callsign/index.h>
#include <callsign/inspect.h>
#include <callsign/line_table.h>
#include <callsign/names.h>
#include <callsign/open.h>
#include <callsign/process.h>
#include <callsign/profile.h>
#include <callsign/remote.h>
#include <callsign/store.h>
#include <callsign/symbolicate.h>

#endif

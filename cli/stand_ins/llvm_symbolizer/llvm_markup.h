/* --filter-markup of LLVM's symbolizer: logs with symbolizer markup. */
#ifndef CALLSIGN_CLI_LLVM_MARKUP_H
#define CALLSIGN_CLI_LLVM_MARKUP_H

#include "stand_ins/llvm_symbolizer/llvm_session.h"

/* Copies standard input to standard output and replaces {{{...}}}. */
int llvm_filter_markup(struct llvm_session *session);

#endif

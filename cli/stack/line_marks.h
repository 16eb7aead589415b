/* A first look at a line: what it may be a frame of, found in one pass over its bytes. Most lines of a log have no mark that any dialect
 * needs, and no dialect reads them. */
#ifndef CALLSIGN_CLI_LINE_MARKS_H
#define CALLSIGN_CLI_LINE_MARKS_H

#include <stdbool.h>

#include <callsign/base.h>

/* "Begins" means after blanks. */
enum line_mark {
    MARK_HEX = 1 << 0,       /* "0x" and a hexadecimal digit somewhere */
    MARK_PLUS = 1 << 1,      /* '+' and a digit, or "+ " and a digit, somewhere */
    MARK_START_HEX = 1 << 2, /* begins with "0x" */
    MARK_ADDRESS = 1 << 3,   /* begins with hexadecimal digits that a blank, '-' or the end follows */
    MARK_NUMBER = 1 << 4,    /* begins with decimal digits that a blank, ':', '#' or '|' follows */
    MARK_HASH = 1 << 5,      /* begins with '#' */
    MARK_SIGN = 1 << 6,      /* begins with '=', '>' or '[' */
    MARK_REGISTER = 1 << 7,  /* " pc ", " ip " or " ip:" somewhere */
    MARK_TIME = 1 << 8,      /* digits, '.', digits and ':' somewhere */
    MARK_COLON = 1 << 9,     /* ends in ':', blanks after it ignored */
    MARK_FOLDED = 1 << 10,   /* has ';' and ends in a number after a blank */
    MARK_MODULE = 1 << 11,   /* '[' and a hexadecimal digit, or "wasm", somewhere */
    MARK_INDENT = 1 << 12,   /* begins with a blank */
    MARK_BUILD_ID = 1 << 13, /* "build-id" somewhere */
    MARK_VALUE = 1 << 14,    /* ':' and 8 hexadecimal digits somewhere, perhaps with a blank between */
    MARK_FIELDS = 1 << 15,   /* '|' somewhere */
    MARK_EVENT = 1 << 16,    /* begins with "Fault" */
    MARK_AT = 1 << 17        /* '@' somewhere */
};

uint32_t line_marks(struct csn_str line);

/* Bytes of what a log daemon writes before the text of a line: the time, the host and the program of syslog and the journal, Android's
 * logcat, containers' runtimes. 0: there is none. */
size_t log_prefix_size(struct csn_str line);

#endif

/* The messages of OTLP's profiles as a table: what JSON needs to know of each field. */
#ifndef CSNI_OTLP_SCHEMA_H
#define CSNI_OTLP_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

enum otlp_kind {
    OTLP_NUMBER,         /* int32, uint32: a number in JSON */
    OTLP_LONG,           /* int64, uint64: a string of decimal digits in JSON */
    OTLP_UNSIGNED,       /* the same without a sign */
    OTLP_FIXED64,        /* fixed64: eight bytes; in JSON as OTLP_UNSIGNED */
    OTLP_DOUBLE,
    OTLP_BOOL,
    OTLP_TEXT,
    OTLP_BASE64,         /* bytes */
    OTLP_HEX,            /* bytes: the ids of traces and spans */
    OTLP_MESSAGE
};

struct otlp_message_type;
struct otlp_field {
    const char *name;    /* in JSON; NULL: the end of the table */
    uint32_t number;
    enum otlp_kind kind;
    bool repeated;       /* numbers are packed */
    const struct otlp_message_type *message;
};
struct otlp_message_type {
    const struct otlp_field *fields;
};

enum { OTLP_FIELDS_MAX = 12, OTLP_DEPTH_MAX = 100 };

extern const struct otlp_message_type csni_otlp_profiles_data;

#endif

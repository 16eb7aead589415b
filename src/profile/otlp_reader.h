/* What the files that read OpenTelemetry's profiles share. */
#ifndef CSNI_OTLP_READER_H
#define CSNI_OTLP_READER_H

#include "profile/otlp_pprof.h"
#include "profile/profile_read.h"
#include "profile/proto_wire.h"

/* Numbers in the profile, by index of the table. */
struct otlp_table {
    CSNI_VEC(uint32_t) items;
};

struct otlp_attribute {
    struct profile_label label;
    struct csni_span value;      /* its message: of lists, labels have nothing */
};

struct otlp_reader {
    struct csn_profile *p;
    struct csn_error *err;
    struct csni_span all;
    struct otlp_table strings, functions, mappings, locations, stacks;
    CSNI_VEC(struct otlp_attribute) attributes;
    uint32_t pprof_keys[OTLP_PPROF_KEYS]; /* strings */
    CSNI_VEC(uint32_t) stack;    /* of locations */
    CSNI_VEC(int64_t) values;
    CSNI_VEC(uint64_t) times;
    CSNI_VEC(struct profile_label) labels, resource; /* of a sample, and of the resource that it is of */
    size_t twin, first_twin, twins_end; /* samples of the scope's first profile: the next one, the first, behind the last */
    size_t first_comment;        /* of the profile that is read */
    uint32_t scope_types;        /* bits of the value types of the scope's profiles */
    uint32_t executable;         /* name of the resource's process; a string */
    uint64_t pid;
    int64_t duration_ns;         /* the longest */
};

static const char OTLP_SECTION[] = "OTLP";

csn_status csni_otlp_fail_memory(struct otlp_reader *r);
csn_status csni_otlp_fail_message(struct otlp_reader *r, const char *what, const struct csni_cursor *c);

/* The table's number; index 0 may be missing in an empty table. `at`: of which message it is. */
csn_status csni_otlp_number_of(struct otlp_reader *r, const struct otlp_table *table, uint64_t index, struct csni_span at,
                               const char *what, uint32_t *out);
csn_status csni_otlp_string_of(struct otlp_reader *r, uint64_t index, struct csni_span at, uint32_t *out);

typedef csn_status otlp_message(struct otlp_reader *r, struct csni_span bytes);
/* Calls `read` for each field `number` of a message. */
csn_status csni_otlp_each_message(struct otlp_reader *r, struct csni_span bytes, uint32_t number, const char *what,
                                  otlp_message *read);

/* AnyValue: a text, or a number. Of several fields the last counts, as of any oneof. */
csn_status csni_otlp_read_value(struct otlp_reader *r, struct csni_span bytes, struct profile_label *out);
typedef csn_status otlp_take(struct otlp_reader *r, const struct otlp_attribute *attribute, void *context);
/* Calls `take` for each attribute of a repeated field of indexes, but for those of index 0. */
csn_status csni_otlp_each_attribute(struct otlp_reader *r, const struct proto_field *field, otlp_take *take, void *context);
/* Texts, bytes and messages that the profile has no place for. */
void csni_otlp_leave_out(struct otlp_reader *r, const struct proto_field *field);

/* ProfilesDictionary: all tables. */
csn_status csni_otlp_read_dictionary(struct otlp_reader *r, struct csni_span bytes);

#endif

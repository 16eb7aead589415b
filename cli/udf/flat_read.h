/* Reading flatbuffers of unknown origin: every access is checked, and what does not fit reads as absent. */
#ifndef CALLSIGN_CLI_FLAT_READ_H
#define CALLSIGN_CLI_FLAT_READ_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

/* A table, by its position in the bytes. 0: there is none. */
struct flat_table {
    struct csn_str bytes;
    size_t at;
};
/* Elements of a vector. */
struct flat_vector {
    struct csn_str bytes;
    size_t at, count;
};

/* Little-endian, of 1 to 8 bytes. False: outside of the bytes. */
bool flat_number(struct csn_str bytes, size_t at, size_t size, uint64_t *out);

struct flat_table flat_root(struct csn_str bytes);
/* A number of a table, sign-extended if it is shorter; `absent` where the table does not have it. */
int64_t flat_field(struct flat_table table, unsigned id, size_t size, int64_t absent);
struct flat_table flat_field_table(struct flat_table table, unsigned id);
/* Empty where there is none, or where not all elements are within the bytes. */
struct flat_vector flat_field_vector(struct flat_table table, unsigned id, size_t element_size);
struct csn_str flat_field_string(struct flat_table table, unsigned id);
/* Element `i` of a vector of tables. */
struct flat_table flat_vector_table(struct flat_vector vector, size_t i);
/* The 64-bit number at byte `within` of element `i` of a vector of structs. */
int64_t flat_vector_i64(struct flat_vector vector, size_t i, size_t element_size, size_t within);

#endif

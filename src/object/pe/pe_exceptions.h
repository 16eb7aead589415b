/* The exception data of PE images (.pdata), for those who read what it says. */
#ifndef CSNI_PE_EXCEPTIONS_H
#define CSNI_PE_EXCEPTIONS_H

#include "object/object.h"

/* The entries of the exception directory, or of a section of the usual name where a tool lost the directory. False: none, or of a
 * machine that has no such table. */
bool csni_pe_exception_entries(const struct csni_object *object, struct csni_span *out);

/* The stored bytes from `rva` to the end of its section. False: there are none. O(log sections). */
bool csni_pe_bytes_from(const struct csni_object *object, uint64_t rva, struct csni_span *out);

#endif

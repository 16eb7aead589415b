/* GUIDs, by which Windows and Breakpad know files: stored as 16 bytes, written as 32 digits. */
#ifndef CSNI_GUID_H
#define CSNI_GUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CSNI_GUID_SIZE = 16, CSNI_GUID_DIGITS = 32 };

/* Where byte `i` of the written form stands in the stored one, and the other way round. The first three fields are numbers,
 * of 4, 2 and 2 bytes: stored with their lowest byte first, written with their highest. */
static inline size_t csni_guid_place(size_t i) { return i < 4 ? 3 - i : i < 8 ? i ^ 1 : i; }

/* Writes an id's first 16 bytes, 0 where it has fewer: capitals and a NUL. */
void csni_guid_text(const uint8_t *id, size_t size, char out[CSNI_GUID_DIGITS + 1]);
/* The same of a UUID, as macOS has it: the bytes in their order. */
void csni_uuid_text(const uint8_t *id, size_t size, char out[CSNI_GUID_DIGITS + 1]);

#endif

/* Arrays and texts that grow. False: there is no memory, and what was there stays. */
#ifndef CALLSIGN_CLI_GROWING_H
#define CALLSIGN_CLI_GROWING_H

#include <stdbool.h>

#include <callsign/base.h>

/* Makes room for `need` elements of `size` bytes; `items_pointer` is the address of a pointer to them. */
bool reserve_items(void *items_pointer, size_t *capacity, size_t need, size_t size);

/* Text that is appended to. All zeros: none. */
struct text_buffer {
    char *bytes;
    size_t count, capacity;
};

bool text_buffer_add(struct text_buffer *buffer, struct csn_str text);
void text_buffer_deinit(struct text_buffer *buffer);

#endif

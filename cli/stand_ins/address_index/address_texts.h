/* Strings and files of an address index while it is made, each once; several threads may add to them. */
#ifndef CALLSIGN_CLI_ADDRESS_TEXTS_H
#define CALLSIGN_CLI_ADDRESS_TEXTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct address_texts {
    pthread_mutex_t lock;
    struct { char *items; size_t count, capacity; } bytes;    /* each string ends with a NUL */
    struct { uint32_t *items; size_t count, capacity; } files; /* offsets in `bytes` */
    struct address_text { uint32_t hash, offset, file; } *slots; /* offset ADDRESS_NONE: free */
    size_t slot_count, used;
};

void address_texts_init(struct address_texts *texts);
void address_texts_deinit(struct address_texts *texts);
/* The offset of a string, which has no NUL within; ADDRESS_NONE: there is no room for it. */
uint32_t address_texts_add(struct address_texts *texts, const char *text, size_t size);
/* The index of a file of that name; ADDRESS_NONE: there is no room for it. */
uint32_t address_texts_add_file(struct address_texts *texts, const char *path);

#endif

/* Arrays that grow, for the stand-ins: out of memory ends the program, as it does those that they stand in for. */
#ifndef CALLSIGN_CLI_GROWTH_H
#define CALLSIGN_CLI_GROWTH_H

#include <stdio.h>
#include <sys/types.h>

#include <callsign/base.h>

#include "ui/cli_message.h"

/* Memory for `count` elements of `size` bytes, at least doubled when it has to grow. */
void *grow_items(void *items, size_t count, size_t *capacity, size_t size);

/* Appends to an array with the fields items, count and capacity. */
#define GROW_PUSH(list, value)                                                                                   \
    do {                                                                                                         \
        (list)->items = grow_items((list)->items, (list)->count + 1, &(list)->capacity, sizeof *(list)->items);  \
        (list)->items[(list)->count++] = (value);                                                                \
    } while (0)

/* Gives back what an array of which no more is expected does not use. */
#define FIT_ITEMS(list)                                                                                    \
    do {                                                                                                   \
        (list)->items = fit_items((list)->items, (list)->count, &(list)->capacity, sizeof *(list)->items); \
    } while (0)
void *fit_items(void *items, size_t count, size_t *capacity, size_t size);

void *zeroed_memory(size_t count, size_t size);

/* Texts that belong to somebody else. */
struct word_list {
    const char **items;
    size_t count, capacity;
};

/* All zeros at first; free(text.items) gives it back. */
struct grown_text {
    char *items;
    size_t count, capacity;
};
void grow_text(struct grown_text *text, const char *bytes, size_t size);

/* For what the stand-ins open: what cannot be read for want of memory would be taken for damaged, and answered as unknown. */
extern const struct csn_allocator ending_allocator;

/* A copy with a NUL. */
char *copy_text(const char *text, size_t size);
char *formatted_text(const char *format, ...) CLI_PRINTF(1, 2);
/* getline(), but that its end is the input's. */
ssize_t input_line(char **line, size_t *capacity, FILE *input);

#endif

/* Answers to requests that have arrived already, made in an order that reads each unit once, and given in that of the requests. */
#ifndef CALLSIGN_CLI_EARLY_ANSWERS_H
#define CALLSIGN_CLI_EARLY_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

struct early_answers;

struct early_answers *early_answers_create(void);
void early_answers_free(struct early_answers *answers);
void early_answers_clear(struct early_answers *answers);
/* A request, in the order of requests; those with the same key are answered together. */
void early_answers_add(struct early_answers *answers, uint64_t addr, uint64_t key);
/* Answers them. print: prints the answer on standard output, and returns its result. */
void early_answers_make(struct early_answers *answers, int (*print)(void *context, uint64_t addr), void *context);
/* Prints the next answer, if it is for the address, and gives its result. False: there is none. */
bool early_answers_put(struct early_answers *answers, uint64_t addr, int *result);

#endif

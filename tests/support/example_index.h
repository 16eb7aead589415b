/* The index of the worked example of wire_gsym.h, open while the tests of a group run. */
#ifndef EXAMPLE_INDEX_H
#define EXAMPLE_INDEX_H

#include <callsign/index.h>

#include "wire/wire_gsym.h"

extern struct wire_gsym example;
extern struct csn_index *example_index;

/* For cmocka_run_group_tests(). */
int open_example(void **state);
int close_example(void **state);

#endif

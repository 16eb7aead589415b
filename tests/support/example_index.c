#include "support/example_index.h"

struct wire_gsym example;
struct csn_index *example_index;

int open_example(void **state) {
    (void)state;
    wire_gsym_example(&example, false, 4);
    struct csni_span file = wire_gsym_build(&example);
    return csn_index_open_memory(file.ptr, file.size, NULL, &example_index, NULL);
}

int close_example(void **state) {
    (void)state;
    csn_index_close(example_index);
    wire_gsym_deinit(&example);
    return 0;
}

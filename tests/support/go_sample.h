/* A Go function table put together field by field, in every layout and byte order: two functions, two inlined calls. What
 * the table refers to stands after it, in the same section. */
#ifndef GO_SAMPLE_H
#define GO_SAMPLE_H

#include "go/go_pclntab.h"
#include "wire/wire.h"

enum { GO_SAMPLE_ADDR = 0x10000, GO_SAMPLE_TEXT = 0x401000, GO_SAMPLE_MAIN_SIZE = 0x38, GO_SAMPLE_LEAF = 0x40,
       GO_SAMPLE_END = 0x60 };

struct go_sample {
    enum csni_go_version version;
    bool big;
    uint8_t pointer_size, quantum;
    bool without_module;    /* nothing points to the table */
    bool module_of_1_27;    /* version 1.20 only */
    bool lists_of_1_12;     /* version 1.2 only; else those of 1.13 */
    bool header_tells_text; /* from 1.18 on: the header has the text's start, as up to Go 1.25 */
    struct wire out;
    /* Where parts begin, set by go_sample_build(). */
    size_t names, units, files, pc_values, functions, main_record, leaf_record, tree, module;
};

void go_sample_init(struct go_sample *s, enum csni_go_version version, bool big, uint8_t pointer_size, uint8_t quantum);
void go_sample_deinit(struct go_sample *s);
struct csni_span go_sample_build(struct go_sample *s);

/* Opens `bytes` at GO_SAMPLE_ADDR and reads everything; the number of functions that could be read. A damaged table gives
 * CSN_OK and fewer. CSN_E_MEMORY is passed on. */
csn_status go_sample_exercise(struct csni_span bytes, const struct csn_allocator *alloc, size_t *functions, size_t *calls);

/* All functions as text: "name START-END", then " OFF:file:line" for rows and " [depth name START-END call file:line]". */
void go_sample_text(struct csni_span bytes, char *text, size_t capacity);

#endif

/* What the numbers in chains count from. perf 5.3 to 6.3 prints offsets in the file there, any other the pc of the process; the
 * text does not say which, and a header tells who recorded, not who printed. Frames tell it: by their number, by the mappings of
 * their process, by the image, or, as the frame is added, by their symbol. */
#ifndef CALLSIGN_CLI_PERF_NUMBERS_H
#define CALLSIGN_CLI_PERF_NUMBERS_H

#include <callsign/process.h>

#include "stack/lines/stack_dialect.h"

enum perf_number { NUMBER_UNKNOWN, NUMBER_PC, NUMBER_OFFSET };

/* All zeros at first. */
struct perf_numbers {
    enum perf_number of_text;    /* as the last frame that is in no doubt told */
    unsigned searches;           /* how often it was looked for in the lines below */
};

/* What the number of a frame in a file is, as far as the frame alone tells. Learns from it. */
enum perf_number perf_numbers_look(struct perf_numbers *numbers, struct csn_process_maps *maps, const struct line_frame *frame);
/* While nothing is known of the text: whether the frames below shall be looked at first. */
bool perf_numbers_need_search(struct perf_numbers *numbers, struct csn_process_maps *maps, const struct line_frame *frame);
/* Makes of the number of a frame in a file what it is: where a mapping has the pc, an offset in the file, as older perf prints it. */
void perf_numbers_place(struct perf_numbers *numbers, struct csn_process_maps *maps, struct line_frame *frame);

#endif

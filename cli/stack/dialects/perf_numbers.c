/* A number that cannot be the one is the other. Small programs at a fixed place have pcs behind the end of their file, and all
 * that is moved has larger ones: only of a program at a fixed place that is larger than its address both are possible. */
#include "stack/dialects/perf_numbers.h"

#include "stack/lines/line_scan.h"
#include "stack/session/stack_session.h"

enum { SEARCHES_MAX = 256 }; /* of a text that tells nothing */
static const uint64_t OFFSETS_END = (uint64_t)1 << 40; /* no file is that long; libraries and programs lie above on most machines */

/* "/tmp/perf-4242.map": perf's name for code that was made at run time. It is no file with code: its numbers are pcs in any text,
 * tell nothing of others, and stay. */
static bool is_made_at_run_time(struct csn_str module) {
    struct line_scan s = scan_on(module);
    uint64_t pid;
    return scan_text(&s, "/tmp/perf-") && scan_number(&s, 10, &pid) && scan_text(&s, ".map") && scan_at_end(&s);
}

static bool is_offset_in(const struct csn_process_module *module, uint64_t value) {
    return value >= module->file_off && value - module->file_off < module->end - module->start;
}

/* By the mappings of that file in the process. */
static enum perf_number look_at_maps(struct csn_process_maps *maps, const struct line_frame *frame, bool is_in_image) {
    struct csn_process_module at, named;
    if (csn_process_maps_find_named(maps, frame->pid, frame->module, &named) != CSN_OK || !is_same(named.path, frame->module))
        return NUMBER_UNKNOWN;
    const bool may_be_offset = is_in_image || is_offset_in(&named, frame->value);
    const csn_status found = csn_process_maps_find(maps, frame->pid, frame->value, &at);
    const bool may_be_pc = found == CSN_OK && is_same(at.path, frame->module);
    if (may_be_pc == may_be_offset) return NUMBER_UNKNOWN;
    return may_be_pc ? NUMBER_PC : NUMBER_OFFSET;
}

/* By the image at that path. One that is linked at 0 is never loaded as low as its own offsets. That a number is behind its end
 * tells nothing of others: it may be another file by now. */
static enum perf_number look_at_image(struct perf_numbers *numbers, uint64_t base, bool is_in_image) {
    if (!is_in_image) return NUMBER_PC;
    return base < LOWEST_IMAGE ? numbers->of_text = NUMBER_OFFSET : NUMBER_UNKNOWN;
}

enum perf_number perf_numbers_look(struct perf_numbers *numbers, struct csn_process_maps *maps, const struct line_frame *frame) {
    uint64_t addr, base;
    enum perf_number found = NUMBER_UNKNOWN;
    if (is_made_at_run_time(frame->module)) return NUMBER_OFFSET;
    if (frame->value >= OFFSETS_END) found = NUMBER_PC;
    else if (frame->value < LOWEST_IMAGE) found = NUMBER_OFFSET;
    else if (numbers->of_text == NUMBER_OFFSET) return NUMBER_OFFSET;
    if (found != NUMBER_UNKNOWN) return numbers->of_text = found;
    const bool has_image = csn_process_maps_image_base(maps, frame->module, &base) == CSN_OK;
    const bool is_in_image = has_image && csn_process_maps_file_address(maps, frame->module, frame->value, &addr) == CSN_OK;
    found = look_at_maps(maps, frame, is_in_image);
    if (found != NUMBER_UNKNOWN) return numbers->of_text = found;
    return has_image ? look_at_image(numbers, base, is_in_image) : NUMBER_UNKNOWN;
}

bool perf_numbers_need_search(struct perf_numbers *numbers, struct csn_process_maps *maps, const struct line_frame *frame) {
    if (numbers->searches == SEARCHES_MAX) return false;
    if (perf_numbers_look(numbers, maps, frame) != NUMBER_UNKNOWN) return false;
    numbers->searches++;
    return true;
}

void perf_numbers_place(struct perf_numbers *numbers, struct csn_process_maps *maps, struct line_frame *frame) {
    struct csn_process_module at;
    enum perf_number number = perf_numbers_look(numbers, maps, frame);
    if (number == NUMBER_UNKNOWN) number = numbers->of_text;
    frame->may_be_pc = number == NUMBER_UNKNOWN;
    if (number != NUMBER_PC) return;
    frame->site = SITE_PC;
    if (csn_process_maps_find(maps, frame->pid, frame->value, &at) != CSN_OK || !is_same(at.path, frame->module)) return;
    frame->value -= at.start - at.file_off;
    frame->site = SITE_FILE_OFFSET;
}

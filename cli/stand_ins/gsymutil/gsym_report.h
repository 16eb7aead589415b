/* What a conversion finds wrong: texts where they occur, counts by category at the end. */
#ifndef CALLSIGN_CLI_GSYM_REPORT_H
#define CALLSIGN_CLI_GSYM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* Categories in the order of their names, in which they are counted at the end. The texts are llvm-gsymutil's. */
enum gsym_category {
    GSYM_OUTSIDE_TEXT,
    GSYM_INLINES_WITHOUT_RANGES,
    GSYM_DUPLICATE_RANGES,
    GSYM_DUPLICATE_LINES,
    GSYM_INLINE_OUTSIDE_PARENT,
    GSYM_WITHOUT_NAME,
    GSYM_INLINE_BAD_FILE,
    GSYM_BAD_SEQUENCE,
    GSYM_BAD_DECL_FILE,
    GSYM_BAD_ROW_FILE,
    GSYM_NOT_ASCENDING,
    GSYM_OVERLAP,
    GSYM_START_BETWEEN_ROWS,
    GSYM_MISSING_DWO,
    GSYM_CATEGORY_COUNT
};

struct gsym_report {
    uint32_t counts[GSYM_CATEGORY_COUNT];
};

/* "CATEGORY occurred N time(s)" on standard output. */
void gsym_report_put_counts(const struct gsym_report *report);
/* The same as JSON. False: the file cannot be written, which is reported. */
bool gsym_report_write_json(const struct gsym_report *report, const char *path);

#endif

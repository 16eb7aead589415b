/* Categories of what a conversion finds wrong. */
#include "stand_ins/gsymutil/gsym_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const categories[GSYM_CATEGORY_COUNT] = {
    [GSYM_OUTSIDE_TEXT] = "Address range starts outside executable section",
    [GSYM_INLINES_WITHOUT_RANGES] = "DIE contains inline functions with no valid ranges",
    [GSYM_DUPLICATE_RANGES] = "Duplicate address ranges with different debug info.",
    [GSYM_DUPLICATE_LINES] = "Duplicate line table detected",
    [GSYM_INLINE_OUTSIDE_PARENT] = "Function DIE has uncontained address range",
    [GSYM_WITHOUT_NAME] = "Function has no name",
    [GSYM_INLINE_BAD_FILE] = "Inlined function die has invlaid file index in DW_AT_call_file",
    [GSYM_BAD_SEQUENCE] = "Invalid DW_AT_LLVM_stmt_sequence value",
    [GSYM_BAD_DECL_FILE] = "Invalid file index in DW_AT_decl_file",
    [GSYM_BAD_ROW_FILE] = "Invalid file index in DWARF line table",
    [GSYM_NOT_ASCENDING] = "Non-monotonically increasing addresses",
    [GSYM_OVERLAP] = "Overlapping function ranges",
    [GSYM_START_BETWEEN_ROWS] = "Start address lies between valid Row table entries",
    [GSYM_MISSING_DWO] =
        "warning: Unable to retrieve DWO .debug_info section for some object files. (Remove the --quiet flag for full output)",
};

void gsym_report_put_counts(const struct gsym_report *report) {
    for (int i = 0; i < GSYM_CATEGORY_COUNT; i++)
        if (report->counts[i]) printf("%s occurred %" PRIu32 " time(s)\n", categories[i], report->counts[i]);
}

bool gsym_report_write_json(const struct gsym_report *report, const char *path) {
    FILE *file = fopen(path, "w");
    uint64_t total = 0;
    const char *between = "";
    if (!file) {
        printf("error opening aggregate error json file '%s' for writing: %s\n", path, strerror(errno));
        return false;
    }
    fputs("{\"error-categories\":{", file);
    for (int i = 0; i < GSYM_CATEGORY_COUNT; i++) {
        if (!report->counts[i]) continue;
        fprintf(file, "%s\"%s\":{\"count\":%" PRIu32 "}", between, categories[i], report->counts[i]);
        between = ",";
        total += report->counts[i];
    }
    fprintf(file, "},\"error-count\":%" PRIu64 "}", total);
    fclose(file);
    return true;
}

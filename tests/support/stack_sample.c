/* Indexes with merged functions, byte by byte. */
#include "support/stack_sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/gsym/gsym_layout.h"

void sample_sites(struct wire_gsym *g, struct wire *parts, const struct sample_site *sites, unsigned count) {
    struct wire payload;
    wire_init(&payload, g->big);
    wire_u32(&payload, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned patterns = 0;
        while (patterns < 4 && sites[i].patterns[patterns]) patterns++;
        wire_u64(&payload, sites[i].return_offset);
        wire_u8(&payload, sites[i].flags);
        wire_u32(&payload, patterns);
        for (unsigned k = 0; k < patterns; k++) wire_u32(&payload, wire_gsym_string(g, sites[i].patterns[k]));
    }
    wire_gsym_part_wire(parts, CSNI_GSYM_PART_CALL_SITES, &payload);
    wire_deinit(&payload);
}

static void put_row(struct wire *parts, uint32_t line) {
    struct wire rows;
    wire_init(&rows, parts->big);
    wire_sleb(&rows, 0); /* least and greatest line delta */
    wire_sleb(&rows, 1);
    wire_uleb(&rows, line);
    wire_u8(&rows, 0x04); /* a row: neither line nor address moves */
    wire_u8(&rows, 0x00);
    wire_gsym_part_wire(parts, CSNI_GSYM_PART_LINES, &rows);
    wire_deinit(&rows);
}

void sample_merge(struct wire_gsym *g, struct wire_gsym_function *into, const struct sample_merged *merged,
                  unsigned count) {
    struct wire payload;
    wire_init(&payload, g->big);
    wire_u32(&payload, count);
    for (unsigned i = 0; i < count; i++) {
        struct wire parts, record;
        wire_init(&parts, g->big);
        wire_init(&record, g->big);
        if (merged[i].line) put_row(&parts, merged[i].line);
        if (merged[i].site_count) sample_sites(g, &parts, merged[i].sites, merged[i].site_count);
        wire_gsym_record(&record, into->size, wire_gsym_string(g, merged[i].name), &parts);
        wire_u32(&payload, record.size);
        wire_append(&payload, &record);
        wire_deinit(&record);
        wire_deinit(&parts);
    }
    wire_gsym_part_wire(&into->parts, CSNI_GSYM_PART_MERGED, &payload);
    wire_deinit(&payload);
}

struct csn_index *sample_open(struct wire_gsym *g) {
    struct csni_span file = wire_gsym_build(g);
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_index_open_memory(file.ptr, file.size, NULL, &index, &err) != CSN_OK) {
        fprintf(stderr, "sample: %s\n", csn_error_text(&err));
        abort();
    }
    return index;
}

static size_t describe_one(const struct csn_stack_answer *answer, char *out, size_t cap) {
    static const char *const words[] = { "", "", "<caller", "<outer", "<pattern" };
    size_t at = 0;
    if (!answer->candidate_count) return (size_t)snprintf(out, cap, "-");
    if (answer->chosen != CSN_NOT_CHOSEN) {
        struct csn_str name = answer->candidates[answer->chosen];
        at = (size_t)snprintf(out, cap, "%.*s%s", (int)name.len, name.ptr, words[answer->choice]);
        if (answer->choice != CSN_CHOICE_ONLY)
            at += (size_t)snprintf(out + at, cap - at, "@%u", answer->evidence_frame);
        return at;
    }
    for (uint32_t i = 0; i < answer->remaining_count; i++) {
        struct csn_str name = answer->candidates[answer->remaining ? answer->remaining[i] : i];
        at += (size_t)snprintf(out + at, cap - at, "%s%.*s", i ? "|" : "", (int)name.len, name.ptr);
    }
    return at + (size_t)snprintf(out + at, cap - at, "?");
}

void sample_describe(const struct csn_stack_answer *answers, size_t count, char *out, size_t cap) {
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < count && at + 1 < cap; i++) {
        if (i) out[at++] = ' ';
        at += describe_one(&answers[i], out + at, cap - at);
    }
}

/* What the files that read the Firefox Profiler's profiles share. */
#ifndef CSNI_FIREFOX_READER_H
#define CSNI_FIREFOX_READER_H

#include "profile/firefox_libs.h"
#include "profile/json_scan.h"
#include "profile/profile_private.h"

enum { FIREFOX_TABLE_FRAMES, FIREFOX_TABLE_FUNCS, FIREFOX_TABLE_RESOURCES, FIREFOX_TABLE_SYMBOLS, FIREFOX_TABLE_SOURCES,
       FIREFOX_TABLE_STACKS, FIREFOX_TABLES, FIREFOX_COLUMNS_MAX = 6 };
enum { FIREFOX_NS_DIGITS = 6 };  /* of a millisecond behind the point */

struct firefox_table {
    struct json_column columns[FIREFOX_COLUMNS_MAX];
};
/* What a thread has, or `shared` for all of them. A table that is not there has no rows. */
struct firefox_tables {
    bool has_strings, has_table[FIREFOX_TABLES];
    CSNI_VEC(uint32_t) strings;  /* of the profile, by string of the file */
    struct firefox_table tables[FIREFOX_TABLES];
};

/* What a stack of the file is here. */
struct firefox_stack {
    uint32_t node, location;     /* of the profile */
};
/* A frame on its way: inlined calls become lines of the location that they are in. */
struct inline_key {
    uint32_t frame, outer;       /* frame of the file; location of the profile that it is inlined into */
    uint32_t location;
};

struct firefox_reader {
    struct csn_profile *p;
    struct csn_error *err;
    struct json_scan scan;
    CSNI_VEC(uint32_t) modules;  /* by library */
    struct firefox_tables own, shared;
    const struct firefox_tables *strings;      /* where those of the thread are */
    const struct firefox_table *table[FIREFOX_TABLES]; /* those of the thread */
    bool are_stacks_shared;      /* `stacks` is made of nothing but what all threads share */
    CSNI_VEC(struct firefox_stack) stacks;
    CSNI_VEC(struct inline_key) inlines;
    struct csni_profile_table inline_table;
    struct csni_buffer text;
    int64_t start_ns;            /* what times count from; 0: not known */
    unsigned weight_digits;      /* weights are taken times 10^weight_digits */
    enum firefox_lib_kind libs;  /* what ids of libraries are made of */
};

/* A string's number in the profile; 0: it is none. */
csn_status csni_firefox_text(struct firefox_reader *reader, struct csni_span value, uint32_t *out);

/* firefox_samples.c: before the samples of the first thread, one scale for the weights of all. */
csn_status csni_firefox_survey_weights(struct firefox_reader *reader, struct csni_span threads);
/* The samples of a thread, whose stacks are read. */
csn_status csni_firefox_samples(struct firefox_reader *reader, struct csni_span samples, uint32_t thread);

#endif

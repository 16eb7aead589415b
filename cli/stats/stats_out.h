/* What `callsign stats` prints. */
#ifndef CALLSIGN_CLI_STATS_OUT_H
#define CALLSIGN_CLI_STATS_OUT_H

#include "ui/json_out.h"
#include "ui/name_text.h"
#include "stats/stats_gather.h"

struct stats_view {
    const char *path; /* of the index */
    const struct stats *stats;
    struct stats_places directories, files;
    struct name_text *names;
    size_t top;       /* directories, files and functions to show */
    bool is_converted; /* there is no file of the index: an object file was converted in memory */
};

void stats_put_text(const struct stats_view *view, struct out_buffer *out);
void stats_put_json(const struct stats_view *view, struct out_buffer *out);
/* A page of its own, with nothing outside of it. */
void stats_put_page(const struct stats_view *view, struct out_buffer *out);

/* Functions that the page shows one by one; the others of a file stand together. */
enum { STATS_PAGE_FUNCTIONS = 20000 };

/* The page without its data, made from stats_page.html when this is built. */
extern const unsigned char stats_page_html[];
extern const size_t stats_page_html_size;

#endif

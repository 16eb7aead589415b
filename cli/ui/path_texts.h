/* The paths of an index's files as they are shown, each put together once: of many answers most name the same few files. */
#ifndef CALLSIGN_CLI_PATH_TEXTS_H
#define CALLSIGN_CLI_PATH_TEXTS_H

#include <callsign/index.h>

struct path_texts {
    const struct csn_index *index;
    struct path_text **texts; /* by file number; NULL: not asked for yet */
    uint32_t count;
};

/* False: no memory. */
bool path_texts_init(struct path_texts *paths, const struct csn_index *index, uint32_t file_count);
void path_texts_deinit(struct path_texts *paths);
/* False: it is too long to be kept, or there is no memory for it. Empty where the file is none, or has no name. */
bool path_texts_get(struct path_texts *paths, uint32_t file, struct csn_str *out);

#endif

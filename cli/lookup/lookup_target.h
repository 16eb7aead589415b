/* What `callsign lookup` is asked about: the addresses of one index, or of one in segments, with a slide; or the pcs
 * of a process. */
#ifndef CALLSIGN_CLI_LOOKUP_TARGET_H
#define CALLSIGN_CLI_LOOKUP_TARGET_H

#include <callsign/process.h>

#include "find/name_finder.h"
#include "input/symbol_search.h"
#include "lookup/answer_printer.h"
#include "lookup/segment_manifest.h"

/* A module of the process or a segment, and its index once it was wanted. */
struct target_module {
    struct csn_process_module module; /* of a segment: path, start and end */
    struct index_query query;       /* `index` NULL: there is none */
    uint64_t bias;
    bool is_resolved;
    struct csn_index *owned;        /* a segment's */
    struct name_finder finder;      /* of a segment */
};

struct lookup_target {
    uint64_t slide;                 /* pc minus address; has_slide: it was given */
    bool has_slide, return_addresses;
    const char *path;               /* of the index, for file offsets */
    struct csn_process_maps *maps;  /* program headers; of a process, its modules */
    struct name_finder finder;      /* of the index */
    bool is_process, is_running, is_segmented;
    struct segment_manifest manifest;
    struct target_module *modules;  /* of a process, or segments */
    size_t module_count;
    struct csn_store *store;        /* of a process */
    enum csn_lookup_mode mode;
};

void lookup_target_deinit(struct lookup_target *target);

/* The image's first byte was loaded at `load_addr`: from the headers of the image at target->path, or from where the
 * index begins. `index` NULL: it is in segments. */
void lookup_target_set_load_address(struct lookup_target *target, const struct csn_index *index, uint64_t load_addr);
/* The modules of a process, whose symbols are searched. False, with a message. */
bool lookup_target_open_process(struct lookup_target *target, uint64_t pid, const char *maps_file, struct symbol_search *search);

/* The segments of an index, from its manifest at target->path; each is opened when an address lies in it. False, with a message. */
bool lookup_target_open_segments(struct lookup_target *target);

/* Whether plain addresses can be looked up in the index as they stand. */
static inline bool lookup_target_is_plain(const struct lookup_target *target) {
    return !target->has_slide && !target->return_addresses && !target->modules;
}

/* Whether the text may be a query: an address, A-B, file:0xOFF or NAME+0xOFF. */
bool lookup_text_is_query(struct csn_str text);
/* Answers one query. NULL: it is answered; otherwise what it is instead of a query, as address_fault() says it. One
 * thread at a time for a target. */
const char *lookup_target_run(struct lookup_target *target, struct answer_printer *printer, struct csn_str text,
                              struct out_buffer *out);

#endif

/* The query for one address of an index, and its answer as text or JSON. */
#ifndef CALLSIGN_CLI_ANSWER_H
#define CALLSIGN_CLI_ANSWER_H

#include <callsign/index.h>

#include "ui/json_out.h"
#include "ui/name_text.h"

/* A flag of the command's own in csn_frame.flags: the path is in `base` alone, fit for being shown as it is. */
#define FRAME_PATH_READY (1u << 31)

struct answer {
    csn_status status;        /* CSN_OK, CSN_NONE, or below 0: the record is damaged, see err */
    uint64_t addr;
    struct csn_lookup found;  /* its reason also says why there is nothing */
    struct csn_frame *frames; /* found.frame_count of them, innermost first */
    struct csn_str binary;    /* of an image of many; empty: none */
    bool is_member;           /* it is the object file of an archive */
    struct csn_str module;    /* path of the module that `pc` is in; empty: none */
    uint64_t pc;              /* what was asked, where that is not the address; see has_pc */
    bool has_pc;
    struct csn_str asked;     /* the binary's name in the query; empty: it was for an address */
    uint64_t offset;          /* in that binary */
    bool guessed;             /* the binary's name is a guess */
    struct csn_error err;
};

/* Queries of one index, with memory that is kept from one address to the next. */
struct index_query {
    const struct csn_index *index;
    enum csn_lookup_mode mode;
    struct csn_frame_ref *refs;
    struct csn_frame *frames;
    size_t cap;
    struct csn_index_info info;
    char *binary_buffer;        /* for the name of the last binary */
    size_t binary_size;
    char *name_buffer;          /* for the name of a function that is kept in pieces */
    size_t name_size;
};

bool index_query_init(struct index_query *query, const struct csn_index *index, enum csn_lookup_mode mode); /* false: no memory */
void index_query_deinit(struct index_query *query);

/* The answer's frames live until the next query. */
void index_query_address(struct index_query *query, uint64_t addr, struct answer *out);
/* The same for an offset in a binary of an image of many. */
void index_query_named(struct index_query *query, struct csn_str name, uint64_t offset, struct answer *out);

/* "0x1139: area + 25 at /src/shapes.h:6 [inlined]" and a line for each further frame, indented to stand below it. */
void answer_put_text(const struct answer *answer, struct name_text *names, struct out_buffer *out);
/* The same after a label of one's own instead of the address. */
void answer_put_labelled(const struct answer *answer, const char *label, struct name_text *names, struct out_buffer *out);
/* How far further lines of answer_put_text() are indented. */
size_t answer_indent(const struct answer *answer);
/* One JSON object, without a newline. */
void answer_put_json(const struct answer *answer, struct name_text *names, struct json_out *json);
/* The same, but the object is left open for more members. */
void answer_begin_json(const struct answer *answer, struct name_text *names, struct json_out *json);

/* One frame: "area + 25 at /src/shapes.h:6 [inlined]", without a newline, or a JSON object. */
void frame_put_text(const struct csn_frame *frame, struct name_text *names, struct out_buffer *out);
void frame_put_json(const struct csn_frame *frame, struct name_text *names, struct json_out *json);

#endif

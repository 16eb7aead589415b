/* From the frames that a dialect of stacks reads to the locations of a profile. */
#ifndef CALLSIGN_CLI_PROFILE_FRAMES_H
#define CALLSIGN_CLI_PROFILE_FRAMES_H

#include <callsign/profile.h>

#include "stack/lines/stack_modules.h"

/* A call that the text says was inlined into a frame of the session. */
struct inlined_name {
    size_t frame;
    struct csn_str name;
};

/* What the text tells of a frame of the session. */
struct told_frame {
    struct csn_str name;
    uint64_t file_offset;        /* where it is in its file, if nothing tells its address; else NO_FILE_OFFSET */
    uint64_t pc;                 /* 0: not known */
    uint32_t flags;              /* CSN_STACK_ */
    struct csn_str module;       /* whose it is, in the words of the text; empty: it does not tell */
    bool is_renamed;             /* the session calls that module otherwise */
    bool is_pc;                  /* the number of the line is a pc in it */
};

/* One stack on its way. All zeros but for the first members at first. */
struct profile_frames {
    struct csn_profile *profile;
    struct stack_session *session;
    struct stack_modules modules;
    const struct stack_dialect *dialect;
    void *state;                 /* of the dialect */
    struct told_frame *told;     /* by frame of the session */
    size_t told_capacity;
    struct inlined_name *inlined; /* by frame, the innermost first */
    size_t inlined_count, inlined_capacity;
    struct csn_profile_frame *calls; /* of the location that is being made */
    size_t call_count, call_capacity;
    uint32_t *locations;
    size_t location_count, location_capacity;
    uint64_t left_out;           /* frames beyond those that the session takes of a stack */
};

/* False: no memory; so everywhere here. */
bool profile_frames_init(struct profile_frames *frames, struct csn_profile *profile, struct stack_session *session,
                         const struct stack_dialect *dialect);
void profile_frames_deinit(struct profile_frames *frames);

void profile_frames_begin(struct profile_frames *frames);
/* A frame that the dialect has read; the text that it points into must stay until the stack ends. */
bool profile_frames_add(struct profile_frames *frames, const struct line_frame *frame);
/* A call that was inlined into the next frame. Stays as long as that frame's text. */
bool profile_frames_add_inlined(struct profile_frames *frames, struct csn_str name);
/* Names without an address, the innermost first, each inlined into the next, become a location at once. */
bool profile_frames_add_names(struct profile_frames *frames, const struct csn_str *names, size_t count);
/* The frames of the session so far become locations, behind those that there are. */
bool profile_frames_locate(struct profile_frames *frames);
/* The locations, innermost first, as a stack of the profile. `reversed`: they were added outermost first. */
bool profile_frames_end(struct profile_frames *frames, bool reversed, uint32_t *out_stack);

#endif

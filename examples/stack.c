/* Names the frames of a stack: stack INDEX ADDRESS... (innermost first; all but the first are return addresses). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <callsign/symbolicate.h>

enum { FRAMES_MAX = 64 };

static void show(const struct csn_stack_answer *answer) {
    printf("0x%" PRIx64 ":", answer->addr);
    if (answer->status != CSN_OK) {
        printf(" %s\n", answer->error ? answer->error : csn_reason_text(answer->reason));
        return;
    }
    /* Nothing chose among several: say all that remain rather than one of them. */
    for (uint32_t i = 0; answer->chosen == CSN_NOT_CHOSEN && i < answer->remaining_count; i++) {
        struct csn_str name = answer->candidates[answer->remaining ? answer->remaining[i] : i];
        printf(" %.*s?", (int)name.len, name.ptr);
    }
    if (answer->chosen != CSN_NOT_CHOSEN) {
        struct csn_str name = answer->candidates[answer->chosen];
        printf(" %.*s", (int)name.len, name.ptr);
    }
    if (answer->evidence_frame != UINT32_MAX) printf(" (frame %" PRIu32 " says so)", answer->evidence_frame);
    printf("\n");
}

int main(int argc, char **argv) {
    if (argc < 3 || argc - 2 > FRAMES_MAX) {
        fprintf(stderr, "usage: stack INDEX ADDRESS...\n");
        return 2;
    }
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_module module = { .index = NULL };
    struct csn_index *index = NULL;
    struct csn_symbolicator *symbolicator = NULL;
    struct csn_stack_frame frames[FRAMES_MAX];
    const struct csn_stack_answer *answers;
    size_t count = (size_t)argc - 2;
    for (size_t i = 0; i < count; i++)
        frames[i] = (struct csn_stack_frame){ strtoull(argv[i + 2], NULL, 16), 0, CSN_STACK_ADDRESS };

    csn_status status = csn_index_open_file(argv[1], NULL, &index, &err);
    module.index = index;
    if (status == CSN_OK) status = csn_symbolicator_create(NULL, &symbolicator, &err);
    if (status == CSN_OK) status = csn_symbolicator_set_modules(symbolicator, &module, 1, &err);
    if (status == CSN_OK) status = csn_symbolicator_answer(symbolicator, frames, count, &answers, &err);
    for (size_t i = 0; status == CSN_OK && i < count; i++) show(&answers[i]);
    if (status < 0) fprintf(stderr, "%s: %s\n", argv[1], csn_error_text(&err));
    csn_symbolicator_destroy(symbolicator);
    csn_index_close(index);
    return status < 0 ? 2 : 0;
}

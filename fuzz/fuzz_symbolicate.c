/* A stack and an index of any bytes. The input: a count, that many frames of 9 bytes (flags, address), the index. Invariants: what
 * is chosen is a candidate and remains; evidence names a frame of the stack; the same question gives the same answer. */
#include <stdlib.h>
#include <string.h>

#include <callsign/symbolicate.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME_SIZE = 9 };

static void require(bool condition) {
    if (!condition) abort();
}

static uint64_t check_answer(const struct csn_stack_answer *a, size_t count) {
    uint64_t sum = a->addr + a->choice * 3 + a->notes * 5 + a->chosen + a->frame_count;
    require(a->chosen == CSN_NOT_CHOSEN || a->chosen < a->candidate_count);
    require(a->evidence_frame == UINT32_MAX || a->evidence_frame < count);
    require((a->choice == CSN_CHOICE_AMBIGUOUS || a->choice == CSN_CHOICE_NONE) == (a->chosen == CSN_NOT_CHOSEN));
    require(a->remaining_count <= a->candidate_count);
    bool remains = a->chosen == CSN_NOT_CHOSEN || !a->remaining;
    for (uint32_t i = 0; i < a->remaining_count; i++) {
        uint32_t name = a->remaining ? a->remaining[i] : i;
        require(name < a->candidate_count);
        remains |= name == a->chosen;
        sum += a->candidates[name].len;
    }
    require(remains);
    for (uint32_t i = 0; i < a->frame_count; i++) sum += a->frames[i].name.len + a->frames[i].base.len + a->frames[i].line;
    return sum;
}

static uint64_t ask(struct csn_symbolicator *s, const struct csn_stack_frame *frames, size_t count) {
    const struct csn_stack_answer *answers;
    uint64_t sum = 0;
    require(csn_symbolicator_answer(s, frames, count, &answers, NULL) == CSN_OK);
    for (size_t i = 0; i < count; i++) sum += check_answer(&answers[i], count);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count = size ? data[0] : 0;
    if (!count || (size - 1) / FRAME_SIZE < count) return 0;
    struct csn_stack_frame frames[256] = { { 0 } };
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = data + 1 + i * FRAME_SIZE;
        frames[i].flags = (at[0] & 30u) | (at[0] & 32 ? 0 : CSN_STACK_ADDRESS);
        frames[i].module = at[0] >> 7;
        memcpy(&frames[i].pc, at + 1, sizeof(frames[i].pc));
    }
    struct csn_index *index = NULL;
    size_t used = 1 + count * FRAME_SIZE;
    if (csn_index_open_memory(data + used, size - used, NULL, &index, NULL) != CSN_OK) return 0;
    const struct csn_module modules[] = { { .index = index, .start = 0x1000, .end = 0x100000 },
                                          { .start = 0x200000, .end = 0x300000 } };
    struct csn_symbolicator *s = NULL;
    require(csn_symbolicator_create(NULL, &s, NULL) == CSN_OK);
    require(csn_symbolicator_set_modules(s, modules, 2, NULL) == CSN_OK);
    uint64_t first = ask(s, frames, count);
    require(ask(s, frames, count) == first);
    csn_symbolicator_destroy(s);
    csn_index_close(index);
    return 0;
}

/* Counting answers. */
#include "stack/session/stack_tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ui/cli_message.h"

static void tally_frame(struct stack_tally *tally, const struct csn_stack_answer *answer, const struct frame_symbol *symbol) {
    tally->frames++;
    if (answer->frame_count) tally->named++;
    else if (symbol && symbol->is_elsewhere) tally->elsewhere++;
    else if (symbol && symbol->has_index && symbol->same_name) tally->same_name++;
    else if (symbol && symbol->has_index) tally->no_function++;
    else if (symbol) tally->reasons[CSN_REASON_NO_INDEX]++;
    else if (answer->status < 0 || answer->reason >= TALLY_REASONS) tally->damaged++;
    else tally->reasons[answer->reason]++;
}

void tally_stack(struct stack_tally *tally, const struct csn_stack_answer *answers, size_t count,
                 const struct frame_symbols *symbols) {
    if (!count) return;
    tally->stacks++;
    for (size_t i = 0; i < count; i++) tally_frame(tally, &answers[i], frame_symbols_find(symbols, i));
}

void tally_add(struct stack_tally *tally, const struct stack_tally *other) {
    tally->stacks += other->stacks;
    tally->frames += other->frames;
    tally->named += other->named;
    for (size_t i = 0; i < TALLY_REASONS; i++) tally->reasons[i] += other->reasons[i];
    tally->damaged += other->damaged;
    tally->no_function += other->no_function;
    tally->same_name += other->same_name;
    tally->elsewhere += other->elsewhere;
}

/* The reasons, in a text that grows up to its size. */
struct reason_text {
    char bytes[1024];
    size_t used;
};

static void put_reason(struct reason_text *text, uint64_t count, const char *reason) {
    if (!count || text->used >= sizeof(text->bytes)) return;
    int size = snprintf(text->bytes + text->used, sizeof(text->bytes) - text->used, "%s%" PRIu64 ": %s", text->used ? "; " : "",
                        count, reason);
    text->used += size > 0 ? (size_t)size : 0;
}

void tally_report(const struct stack_tally *tally) {
    struct reason_text text = { .used = 0 };
    for (uint32_t i = 0; i < TALLY_REASONS; i++)
        if (tally->reasons[i]) put_reason(&text, tally->reasons[i], csn_reason_text(i));
    put_reason(&text, tally->no_function, "the index has no function of this name");
    put_reason(&text, tally->same_name, "the index has several functions of this name");
    put_reason(&text, tally->elsewhere, "the index has another function there");
    put_reason(&text, tally->damaged, "the index is damaged there");
    cli_report("%" PRIu64 " stacks, %" PRIu64 " frames: %" PRIu64 " named, %" PRIu64 " not%s%s%s", tally->stacks, tally->frames,
               tally->named, tally->frames - tally->named, text.used ? " (" : "", text.bytes, text.used ? ")" : "");
}

/* The order, and which records are left out: as Mozilla's dump_syms has it. */
#include "convert/pdb/pdb_stack.h"

#include "base/core/fail.h"
#include "formats/breakpad/breakpad_stack.h"
#include "pdb/pdb_frames.h"

/* Programs of real frames take some 100 bytes of text for a record of 32, in the names that the PDB has once. */
enum { BUDGET_A_FRAME_BYTE = 16 };

struct stack_text {
    struct csni_conversion *conversion;
    const struct csni_pdb *pdb;
    struct csni_buffer text;
    csni_pdb_places places;
    uint32_t records;
};

static void put_frame(struct stack_text *s, const struct csni_pdb_frame *frame, uint32_t rva, uint32_t size, uint32_t prologue) {
    const struct csni_breakpad_stack_win record = {
        .type = frame->type, .rva = rva, .code_size = size, .prologue_size = prologue, .parameter_size = frame->parameter_size,
        .saved_register_size = frame->saved_register_size, .local_size = frame->local_size, .max_stack_size = frame->max_stack_size,
        .has_program = frame->type == CSNI_PDB_FRAME_DATA, .allocates_base_pointer = frame->allocates_base_pointer,
        .program = frame->program
    };
    csni_breakpad_put_stack_win(&s->text, &record);
    s->records++;
}

static bool put_places(struct stack_text *s, const struct csni_pdb_frame *frame, uint32_t rva, uint32_t size, bool is_prologue) {
    if (!csni_pdb_places_of_rva(s->pdb, rva, size, &s->places)) return false;
    for (size_t i = 0; i < s->places.count; i++) {
        const struct csni_pdb_place *p = &s->places.items[i];
        put_frame(s, frame, p->rva, p->size, is_prologue ? p->size : 0);
    }
    return true;
}

/* Prologue and the rest stand one after the other unless code was moved. */
static bool put_whole_frame(struct stack_text *s, const struct csni_pdb_frame *frame) {
    uint32_t prologue = frame->prologue_size < frame->code_size ? frame->prologue_size : frame->code_size;
    if (!csni_pdb_places_of_rva(s->pdb, frame->rva, frame->code_size, &s->places)) return false;
    if (s->places.count == 1 && s->places.items[0].size == frame->code_size) {
        put_frame(s, frame, s->places.items[0].rva, frame->code_size, prologue);
        return true;
    }
    return (!prologue || put_places(s, frame, frame->rva, prologue, true)) &&
           put_places(s, frame, frame->rva + prologue, frame->code_size - prologue, false);
}

static bool repeats(const struct csni_pdb_frame *a, const struct csni_pdb_frame *b) {
    return a->type == b->type && a->rva == b->rva && a->code_size == b->code_size && a->prologue_size == b->prologue_size;
}

/* Sizes above that are of epilogues, and mean something else. A program that cannot be read leaves nothing to say. */
static bool is_frame_useful(const struct csni_pdb_frame *f) {
    return f->code_size && f->code_size <= INT32_MAX && f->code_size <= UINT32_MAX - f->rva &&
           (f->type != CSNI_PDB_FRAME_DATA || f->program.len);
}

static csn_status put_frames(struct stack_text *s, struct csni_pdb_frames *frames, struct csn_error *err) {
    struct csni_pdb_frame frame, last = { .code_size = 0 };
    while (csni_pdb_next_frame(frames, &frame)) {
        size_t before = s->text.size;
        if (frame.type == CSNI_PDB_FRAME_DATA && !frame.program.len)
            csni_report_add(s->conversion->report, CSN_EVENT_DAMAGED_UNWIND, 1, csni_str("frame data without a program"));
        if (!is_frame_useful(&frame) || repeats(&frame, &last)) continue;
        if (!put_whole_frame(s, &frame) || s->text.failed) return csni_fail_memory(err, s->text.capacity);
        last = frame;
        if (!csni_shared_budget_charge(&s->conversion->budget, s->text.size - before))
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "frame data becomes more text than real ones");
    }
    return CSN_OK;
}

static csn_status add_stack_text(struct stack_text *s, struct csn_error *err) {
    struct csni_conversion *c = s->conversion;
    if (!s->text.size) return CSN_OK;
    char *copy = csni_arena_copy(&c->arenas[0], s->text.bytes, s->text.size - 1); /* the writer ends the last line */
    struct csni_extra extra = { .format = CSN_FORMAT_BREAKPAD, .records = s->records, .text = { copy, s->text.size - 1 } };
    return copy && csni_vec_push(&c->image.extras, extra) ? CSN_OK : csni_fail_memory(err, s->text.size);
}

csn_status csni_pdb_add_stack_records(struct csni_conversion *c, const struct csni_pdb *pdb, struct csn_error *err) {
    struct stack_text s = { .conversion = c, .pdb = pdb, .text = { .alloc = c->alloc }, .places = { .alloc = c->alloc } };
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_pdb_frames frames;
    if (c->options.format != CSN_FORMAT_BREAKPAD || c->options.breakpad->no_unwind) return CSN_OK;
    csn_status status = csni_pdb_frames_open(pdb, &frames, &damage);
    if (status == CSN_E_MEMORY) csni_fail_memory(err, 0);
    else if (status < 0) csni_report_add(c->report, CSN_EVENT_DAMAGED_UNWIND, 1, csni_str(csn_error_text(&damage)));
    csni_shared_budget_raise(&c->budget, BUDGET_A_FRAME_BYTE * ((uint64_t)frames.fpo.span.size + frames.data.span.size));
    if (status != CSN_E_MEMORY) status = put_frames(&s, &frames, err);
    if (status >= 0) status = add_stack_text(&s, err);
    csni_pdb_frames_close(&frames);
    csni_buffer_deinit(&s.text);
    csni_vec_deinit(&s.places);
    return status;
}

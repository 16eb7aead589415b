/* Between two threads: what one has read, the other answers. */
#include "stack/text/stack_part.h"

#include <stdlib.h>
#include <string.h>

#include "ui/growing.h"

enum { PART_FRAMES = 4096, PART_BYTES = 1 << 18, PART_ITEMS = 1024, PART_MODULES = 1 << 16 };

/* ---- modules ---- */

static void release_snapshot(struct module_snapshot *snapshot) {
    if (!snapshot || --snapshot->users) return;
    module_table_deinit(&snapshot->table);
    free(snapshot->placed);
    free(snapshot);
}

static struct csn_str text_or_empty(const char *text) {
    return text ? (struct csn_str){ text, strlen(text) } : (struct csn_str){ "", 0 };
}

static bool copy_module(struct module_snapshot *snapshot, const struct stack_module *from, const struct csn_module *placed) {
    const struct module_names names = { .name = text_or_empty(from->name), .index = text_or_empty(from->index_path),
                                        .id = from->id };
    uint32_t module;
    if (!module_table_add(&snapshot->table, &names, from->start, from->end, from->bias, &module)) return false;
    snapshot->table.items[module].index = placed->index;
    snapshot->table.items[module].resolved = true;
    snapshot->placed[module] = *placed;
    snapshot->placed[module].name = text_or_empty(snapshot->table.items[module].name);
    return true;
}

/* The modules that the session has got since. */
static bool extend_snapshot(struct module_snapshot *snapshot, struct stack_session *session) {
    const struct module_table *table = session->modules;
    bool good = reserve_items(&snapshot->placed, &snapshot->placed_capacity, table->count, sizeof(*snapshot->placed));
    for (uint32_t i = snapshot->table.count; good && i < table->count; i++) {
        const struct csn_module placed = session_placed_module(session, i);
        good = copy_module(snapshot, &table->items[i], &placed);
    }
    size_t frame = 0;
    uint32_t i;
    while (good && session_next_reopened(session, snapshot->placed, &frame, &i))
        snapshot->placed[i].index = snapshot->table.items[i].index = session_index(session, i);
    return good;
}

/* Whether it has what the session's stack needs. */
static bool is_complete(const struct module_snapshot *snapshot, struct stack_session *session) {
    size_t frame = 0;
    uint32_t module;
    return !session->is_short && !session_next_reopened(session, snapshot->placed, &frame, &module);
}

static struct module_snapshot *take_snapshot(struct stack_session *session) {
    struct module_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot) return NULL;
    snapshot->users = 1;
    if (extend_snapshot(snapshot, session)) return snapshot;
    release_snapshot(snapshot);
    return NULL;
}

static bool has_pc_within(const struct part_item *item, const struct stack_module *module) {
    for (size_t i = 0; item->kind == PART_STACK && i < item->frame_count; i++) {
        const struct csn_stack_frame *frame = &item->frames[i];
        /* The byte before or behind a pc may be the one that is looked up. */
        if (!(frame->flags & CSN_STACK_ADDRESS) && frame->pc + 1 >= module->start && frame->pc <= module->end) return true;
    }
    return false;
}

/* Whether modules that came later would cover a pc of the part's stacks. */
static bool would_change(const struct stack_part *part, const struct stack_session *session) {
    const struct module_table *table = session->modules;
    for (uint32_t k = part->latest->table.count; session->has_new_range && k < table->count; k++) {
        if (table->items[k].start >= table->items[k].end) continue;
        for (size_t i = 0; i < part->count; i++)
            if (has_pc_within(&part->items[i], &table->items[k])) return true;
    }
    return false;
}

/* The modules of the session as they are now. */
static struct module_snapshot *current_snapshot(struct stack_part *part, struct stack_session *session) {
    bool is_same = !session->is_stale && part->latest;
    if (is_same && is_complete(part->latest, session)) return part->latest;
    const bool is_full = (session->is_stale || session->is_short) && session_is_full(session);
    /* Stacks of the part that is being filled need their indexes. */
    if (is_full && part->stack_count) part->wants_trim = true;
    else if (is_full) {
        part->before_trim(part->context);
        session_trim(session);
        is_same = false;
    }
    /* Stacks before do not mind modules that came later and cover none of their pcs: a part with thousands of new ones copies them
     * once. */
    if (is_same && part->latest_is_own && !would_change(part, session)) {
        if (!extend_snapshot(part->latest, session)) return NULL;
        session->is_short = session->has_new_range = false;
        return part->latest;
    }
    struct module_snapshot *snapshot = take_snapshot(session);
    if (!snapshot) return NULL;
    release_snapshot(part->latest);
    part->latest = snapshot;
    part->latest_is_own = true;
    part->module_count += snapshot->table.count;
    session->is_stale = session->is_short = session->has_new_range = false;
    return snapshot;
}

/* ---- filling ---- */

void stack_part_clear(struct stack_part *part) {
    for (size_t i = 0; i < part->count; i++) {
        struct module_snapshot *modules = part->items[i].modules, *before = part->kept;
        part->items[i].modules = NULL;
        if (!modules) continue;
        part->kept = modules; /* the last one of the part */
        release_snapshot(before);
    }
    part->wants_trim = part->latest_is_own = false;
    part->count = part->text.count = part->frame_count = part->module_count = 0;
    part->stack_count = 0;
}

void stack_part_deinit(struct stack_part *part) {
    stack_part_clear(part);
    for (size_t i = 0; i < part->initialized; i++) {
        held_stack_deinit(&part->items[i].held);
        free(part->items[i].frames);
        frame_symbols_deinit(&part->items[i].symbols);
    }
    free(part->items);
    text_buffer_deinit(&part->text);
    release_snapshot(part->latest);
    release_snapshot(part->kept);
    *part = (struct stack_part){ 0 };
}

bool stack_part_is_full(const struct stack_part *part) {
    return part->frame_count >= PART_FRAMES || part->text.count >= PART_BYTES || part->count >= PART_ITEMS || part->wants_trim
           || part->module_count >= PART_MODULES;
}

static struct part_item *next_item(struct stack_part *part) {
    if (!reserve_items(&part->items, &part->capacity, part->count + 1, sizeof(*part->items))) return NULL;
    if (part->count == part->initialized) part->items[part->initialized++] = (struct part_item){ 0 };
    return &part->items[part->count++];
}

static bool add_text_item(struct stack_part *part, struct csn_str text, int kind) {
    struct part_item *last = part->count ? &part->items[part->count - 1] : NULL;
    if (!text_buffer_add(&part->text, text)) return false;
    if (last && kind == PART_TEXT && last->kind == PART_TEXT) {
        last->size += text.len;
        return true;
    }
    struct part_item *item = next_item(part);
    if (!item) return false;
    item->kind = kind == PART_TEXT ? PART_TEXT : PART_ERROR;
    item->at = part->text.count - text.len;
    item->size = text.len;
    return true;
}

bool stack_part_add_text(struct stack_part *part, struct csn_str text) { return add_text_item(part, text, PART_TEXT); }

bool stack_part_add_error(struct stack_part *part, const char *text) {
    part->stack_count++;
    return add_text_item(part, (struct csn_str){ text, strlen(text) + 1 }, PART_ERROR);
}

static void take_frames(struct part_item *item, struct stack_session *session) {
    struct csn_stack_frame *frames = item->frames;
    size_t capacity = item->frame_capacity;
    struct frame_symbols symbols = item->symbols;
    item->frames = session->frames;
    item->frame_capacity = session->frame_capacity;
    item->frame_count = session->frame_count;
    item->symbols = session->frame_symbols;
    session->frames = frames;
    session->frame_capacity = capacity;
    session->frame_symbols = symbols;
    session_begin_stack(session);
}

bool stack_part_add_stack(struct stack_part *part, struct stack_session *session, struct held_stack *held,
                          const struct stack_dialect *dialect, bool goes_on) {
    struct module_snapshot *modules = current_snapshot(part, session);
    struct part_item *item = modules ? next_item(part) : NULL;
    if (!item) return false;
    item->kind = PART_STACK;
    item->modules = modules;
    modules->users++;
    item->sample = session->sample;
    item->dialect = dialect;
    item->goes_on = goes_on;
    part->frame_count += session->frame_count;
    part->stack_count++;
    take_frames(item, session);
    if (!held) return true;
    part->frame_count += held->text.count / 64; /* lines between frames count too */
    const struct held_stack other = item->held;
    item->held = *held;
    *held = other;
    held_stack_clear(held);
    return true;
}

/* ---- answering ---- */

static bool answer_item(const struct part_item *item, struct stack_session *session, struct csn_error *err) {
    if (session->modules != &item->modules->table) {
        if (csn_symbolicator_set_modules(session->symbolicator, item->modules->placed, item->modules->table.count,
                                         err) < 0)
            return false;
        session->modules = &item->modules->table;
        session->placings++;
    }
    session->is_stale = session->is_short = session->has_new_range = false;
    session->frames = item->frames;
    session->frame_count = item->frame_count;
    session->frame_symbols = item->symbols;
    session->sample = item->sample;
    return session_answer(session, err) >= 0;
}

bool stack_part_answer(const struct stack_part *part, struct stack_session *session, struct stack_output *output, bool in_place,
                       uint64_t *added) {
    bool good = true;
    for (size_t i = 0; good && i < part->count; i++) {
        const struct part_item *item = &part->items[i];
        struct csn_error err = CSN_ERROR_INIT;
        if (item->kind == PART_TEXT) {
            out_bytes(output->out, part->text.bytes + item->at, item->size);
            continue;
        }
        if (item->kind == PART_ERROR) {
            output_error(output, part->text.bytes + item->at);
            continue;
        }
        if (!item->goes_on) *added = 0;
        good = answer_item(item, session, &err);
        if (good && in_place && item->dialect) held_stack_fill(&item->held, output, session, item->dialect, added);
        else if (good) output_stack(output, session);
    }
    session->frames = NULL;
    session->frame_symbols = (struct frame_symbols){ 0 };
    return good;
}

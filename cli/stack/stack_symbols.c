/* A table of names for each index that is asked for one, made once. */
#define _GNU_SOURCE
#include "stack/stack_symbols.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

struct symbol_table {
    const struct csn_index *index;
    uint32_t *slots; /* function + 1, by hash of its name */
    uint32_t mask, function_count;
};

enum { TABLES_MAX = 64 };

static uint32_t hash_name(struct csn_str name) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++) hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static bool build(const struct csn_index *index, struct symbol_table *out) {
    struct csn_index_info info;
    csn_index_get_info(index, &info);
    uint32_t size = 16;
    while (size < info.function_count && size < 1u << 30) size *= 2;
    size *= 2;
    uint32_t *slots = calloc(size, sizeof(*slots));
    if (!slots) return false;
    *out = (struct symbol_table){ index, slots, size - 1, info.function_count };
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_function function;
        if (csn_index_function(index, i, &function, NULL) != CSN_OK) continue;
        uint32_t at = hash_name(function.name) & out->mask;
        while (slots[at]) at = (at + 1) & out->mask;
        slots[at] = i + 1;
    }
    return true;
}

static struct symbol_table *table_of(struct dialect_state *state, const struct csn_index *index) {
    for (size_t i = 0; i < state->table_count; i++)
        if (state->tables[i].index == index) return &state->tables[i];
    if (!state->tables) state->tables = calloc(TABLES_MAX, sizeof(*state->tables));
    if (!state->tables) return NULL;
    if (state->table_count == TABLES_MAX) free(state->tables[--state->table_count].slots);
    struct symbol_table *table = &state->tables[state->table_count];
    if (!build(index, table)) return NULL;
    state->table_count++;
    return table;
}

void symbols_deinit(struct dialect_state *state) {
    for (size_t i = 0; i < state->table_count; i++) free(state->tables[i].slots);
    free(state->tables);
    state->tables = NULL;
    state->table_count = 0;
}

/* Bytes from a function to the next one: what a kernel prints as its size. */
static uint64_t distance_to_next(const struct symbol_table *table, uint32_t i, const struct csn_function *function) {
    struct csn_function next;
    for (uint32_t k = i + 1; k < table->function_count && k < i + 16; k++)
        if (csn_index_function(table->index, k, &next, NULL) == CSN_OK && next.start > function->start)
            return next.start - function->start;
    return 0;
}

/* How many functions fit, and the first of them. `sized`: only those that end where the line says. */
static uint32_t find(const struct symbol_table *table, const struct line_frame *line, bool sized, uint64_t *start) {
    enum { PROBES = 1 << 16 };
    uint32_t found = 0, at = hash_name(line->symbol) & table->mask;
    for (unsigned probe = 0; table->slots[at] && probe < PROBES; at = (at + 1) & table->mask, probe++) {
        struct csn_function function;
        if (csn_index_function(table->index, table->slots[at] - 1, &function, NULL) != CSN_OK) continue;
        if (!same_text(function.name, line->symbol)) continue;
        uint64_t distance = distance_to_next(table, table->slots[at] - 1, &function);
        if (distance && line->value > distance) continue;
        if (sized && distance != line->symbol_size && function.size != line->symbol_size) continue;
        if (found && *start == function.start) continue;
        if (!found++) *start = function.start;
    }
    return found;
}

bool symbols_find(struct dialect_state *state, const struct csn_index *index, const struct line_frame *line, uint64_t *addr) {
    struct symbol_table *table = table_of(state, index);
    struct line_frame wanted = *line;
    uint64_t start = 0;
    wanted.value = line->symbol_offset;
    if (!table || find(table, &wanted, false, &start) != 1) return false;
    *addr = start + line->symbol_offset;
    return true;
}

bool symbols_add_frame(struct dialect_state *state, const struct line_frame *line, uint32_t module) {
    struct stack_session *session = state->session;
    const struct csn_index *index = session_index(session, module);
    struct symbol_table *table = index ? table_of(state, index) : NULL;
    uint64_t start = 0;
    uint32_t count = 0;
    if (index && !table) return false;
    if (table && line->symbol_size) count = find(table, line, true, &start);
    if (table && !count) count = find(table, line, false, &start);
    if (count == 1) return session_add_frame(session, start + line->value, module, line->flags | CSN_STACK_ADDRESS);
    if (!count && line->pc) return session_add_frame(session, line->pc, NO_MODULE, line->flags);
    return session_add_unplaced(session, count);
}

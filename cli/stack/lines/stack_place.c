/* Placing pcs without mappings. Images are loaded at multiples of a page: the function's name and the pc's place in
 * a page tell the bias, unless the function is longer than a page. */
#define _GNU_SOURCE
#include "stack/lines/stack_place.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "ui/growing.h"
#include "ui/text_bytes.h"

enum { PAGE_SIZE = 4096, LOOKUP_FRAMES = 64, UNPLACED_NAME = 48 };

struct unplaced {
    size_t frame;    /* of the session */
    uint32_t module; /* that the line names; NO_MODULE */
    uint32_t flags;
    uint64_t pc;
    bool is_guess;   /* it was placed as in the stacks before: by `bias` */
    uint64_t bias;
    char symbol[UNPLACED_NAME]; /* the end of what the line calls the function */
};

void stack_places_deinit(struct stack_places *places) {
    free(places->unplaced);
    places->unplaced = NULL;
}

/* ---- biases that are known ---- */

static struct csn_str end_of_name(struct csn_str path) {
    struct csn_str name = base_name_of(path);
    enum { KEPT = sizeof(((struct place *)0)->name) - 1 };
    return name.len > KEPT ? (struct csn_str){ name.ptr + name.len - KEPT, KEPT } : name;
}

static struct place *find_place(struct stack_places *places, struct csn_str name) {
    struct csn_str end = end_of_name(name);
    for (uint32_t i = 0; i < places->count; i++)
        if (strlen(places->items[i].name) == end.len && memcmp(places->items[i].name, end.ptr, end.len) == 0)
            return &places->items[i];
    return NULL;
}

static void keep_place(struct stack_places *places, struct csn_str name, uint64_t bias) {
    struct place *place = find_place(places, name);
    if (!place) {
        place = &places->items[places->count < PLACES_MAX ? places->count++ : places->oldest++ % PLACES_MAX];
        struct csn_str end = end_of_name(name);
        memcpy(place->name, end.ptr, end.len);
        place->name[end.len] = 0;
    }
    place->bias = bias;
    place->is_own = true;
}

void stack_place_known(struct stack_places *places, const struct stack_session *session, uint32_t module, uint64_t bias) {
    const char *name = session->modules->items[module].name;
    if (name) keep_place(places, (struct csn_str){ name, strlen(name) }, bias);
}

/* ---- functions ---- */

/* The byte that is looked up for the frame: a return address may be the end of its function. */
static uint64_t looked_up(uint32_t flags, uint64_t addr) {
    return addr && !(flags & (CSN_STACK_EXACT | CSN_STACK_BEFORE)) ? addr - 1 : addr;
}

/* Whether a signal's handler returns to `addr`: that is a function's first byte. */
static bool has_signal_frame(const struct csn_index *index, uint64_t addr) {
    struct csn_frame found;
    size_t count;
    if (csn_index_lookup(index, addr, &found, 1, &count, NULL) != CSN_OK || count != 1) return false;
    return !found.offset && csn_is_signal_frame(found.name);
}

static bool has_function(const struct csn_index *index, uint32_t flags, uint64_t addr) {
    struct csn_frame found;
    size_t count;
    if (csn_index_lookup(index, looked_up(flags, addr), &found, 1, &count, NULL) == CSN_OK && count > 0) return true;
    return has_signal_frame(index, addr);
}

/* Whether the function that starts at `start` is the one at `addr`. */
static bool is_within(const struct csn_index *index, const struct line_frame *frame, uint64_t start, uint64_t addr) {
    struct csn_frame found[LOOKUP_FRAMES];
    size_t count;
    uint64_t at = looked_up(frame->flags, addr);
    if (csn_index_lookup(index, at, found, LOOKUP_FRAMES, &count, NULL) != CSN_OK || !count || count > LOOKUP_FRAMES) return false;
    return at - found[count - 1].offset == start;
}

static bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '~' || c == '$';
}

/* "(char const*)", " [clone .cold]"; but "(anonymous namespace)" does not. */
static bool ends_name(struct csn_str symbol, size_t at) {
    static const char space[] = "(anonymous namespace)";
    const size_t left = symbol.len - at, size = sizeof(space) - 1;
    if (symbol.ptr[at] == '[') return true;
    return symbol.ptr[at] == '(' && at && symbol.ptr[at - 1] != ':' && (left < size || memcmp(symbol.ptr + at, space, size) != 0);
}

static const char decltype_word[] = "decltype";

/* Past "(auto)" or " (expression)" of a return type. */
static size_t skip_decltype(struct csn_str symbol, size_t at) {
    if (byte_at(symbol, at) == ' ') at++;
    return byte_at(symbol, at) == '(' ? brackets_end(symbol, at, '(', ')') : at;
}

/* "parse_line" of "orders::(anonymous namespace)::parse_line<int>(char const*)", of "<orders::Line as
 * core::str::FromStr>::parse_line", of "orders::parse_line::<u8>::{closure#0}": the last part that a mangled name
 * has as it is. */
static struct csn_str own_name(struct csn_str symbol) {
    struct csn_str name = { "", 0 };
    size_t at = 0;
    while (at < symbol.len && !ends_name(symbol, at)) {
        const size_t from = at;
        if (symbol.ptr[at] == '<') {
            at = brackets_end(symbol, at, '<', '>');
            continue;
        }
        if (strchr(":. ", symbol.ptr[at++])) continue;
        while (at < symbol.len && !strchr(":. <(", symbol.ptr[at])) at++;
        if (at - from == sizeof(decltype_word) - 1 && memcmp(symbol.ptr + from, decltype_word, at - from) == 0) {
            at = skip_decltype(symbol, at);
            continue;
        }
        if (begins_name(symbol.ptr[from])) name = (struct csn_str){ symbol.ptr + from, at - from };
    }
    return name;
}

/* A guess needs a function of the line's name there, whether the index has it mangled or not. */
static bool has_named_function(const struct csn_index *index, struct csn_str symbol, uint32_t flags, uint64_t addr) {
    struct csn_frame found[LOOKUP_FRAMES];
    size_t count;
    struct csn_str name = own_name(symbol);
    if (csn_index_lookup(index, looked_up(flags, addr), found, LOOKUP_FRAMES, &count, NULL) != CSN_OK) count = 0;
    bool same = count && (!name.len || count > LOOKUP_FRAMES);
    for (size_t i = 0; !same && i < count; i++) same = memmem(found[i].name.ptr, found[i].name.len, name.ptr, name.len) != NULL;
    return same || ((!name.len || csn_is_signal_frame(name)) && has_signal_frame(index, addr));
}

/* Whether `frame` may be in the function that starts at `start`, and where. `known`: a bias that holds if it fits. */
static bool place_in_function(const struct csn_index *index, const struct line_frame *frame, uint64_t start,
                              const struct place *known, uint64_t *addr) {
    if (frame->has_symbol_offset) {
        *addr = start + frame->symbol_offset;
        return may_lie_at(*addr, frame->value) && is_within(index, frame, start, *addr);
    }
    *addr = known ? frame->value - known->bias : 0;
    if (known && is_within(index, frame, start, *addr)) return true;
    *addr = start + (frame->value - start) % PAGE_SIZE;
    if (*addr == start && !(frame->flags & CSN_STACK_EXACT)) *addr += PAGE_SIZE; /* of a function that is a page long */
    return is_within(index, frame, start, *addr) && !is_within(index, frame, start, *addr + PAGE_SIZE);
}

/* By the one function of that name where the pc's place in a page fits. */
static bool place_by_name(struct stack_session *session, const struct csn_index *index, const struct line_frame *frame,
                          const struct place *known, uint64_t *addr) {
    enum { SAME_NAME_MAX = 16 };
    const struct symbol_site site = { .name = frame->symbol, .offset = frame->has_symbol_offset ? frame->symbol_offset : 0,
                                      .size = frame->symbol_size };
    uint64_t starts[SAME_NAME_MAX], candidate;
    uint32_t count = 0, fitting = 0;
    if (!frame->symbol.len || !symbol_tables_find(&session->symbols, index, &site, starts, &count)) return false;
    if (count != 1 &&
        !symbol_tables_find_plain(&session->symbols, index, frame->symbol, true, starts, SAME_NAME_MAX, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!place_in_function(index, frame, starts[i], known, &candidate)) continue;
        if (fitting++) return false;
        *addr = candidate;
    }
    return fitting == 1;
}

bool stack_place_symbol(struct stack_session *session, const struct symbol_site *site, struct csn_str *module) {
    size_t given = csn_store_given_count(session->store);
    for (size_t i = 0; i < given && i < SESSION_GIVEN_MAX; i++) {
        const struct csn_index *index = session_given_index(session, i);
        uint64_t start;
        uint32_t count = 0;
        if (!index || !symbol_tables_find(&session->symbols, index, site, &start, &count) || count != 1) continue;
        *module = csn_store_given_name(session->store, i);
        return true;
    }
    return false;
}

bool stack_place_has_symbol(const struct csn_index *index, const struct line_frame *frame, uint64_t addr) {
    struct csn_frame found[LOOKUP_FRAMES];
    size_t count;
    const uint64_t at = looked_up(frame->flags, addr);
    if (!frame->symbol.len || !has_named_function(index, frame->symbol, frame->flags, addr)) return false;
    if (!frame->has_symbol_offset) return true;
    if (csn_index_lookup(index, at, found, LOOKUP_FRAMES, &count, NULL) != CSN_OK || !count || count > LOOKUP_FRAMES) return false;
    return found[count - 1].offset + (addr - at) == frame->symbol_offset;
}

bool stack_place_is_alone(struct stack_session *session, uint64_t addr, uint32_t flags) {
    if (csn_store_given_count(session->store) != 1) return false;
    const struct csn_index *index = session_given_index(session, 0);
    return index && has_function(index, flags, addr);
}

/* ---- candidates ---- */

static bool is_library(struct csn_str name) {
    for (size_t i = 0; i + 3 <= name.len; i++)
        if (memcmp(name.ptr + i, ".so", 3) == 0) return true;
    return false;
}

/* What other indexes leave to one of them. */
struct place_guess {
    bool unmoved;  /* it may lie where it was linked */
    bool program;  /* it may be the program */
};

static bool place_in(struct stack_places *places, struct stack_session *session, const struct line_frame *frame,
                     struct csn_str name, struct place_guess guess, uint32_t *module, uint64_t *addr) {
    *module = session_name_module(session, name, &frame->id);
    const struct csn_index *index = *module == NO_MODULE ? NULL : session_index(session, *module);
    if (!index) return false;
    const struct place *known = find_place(places, name);
    if (place_by_name(session, index, frame, known, addr)) {
        keep_place(places, name, frame->value - *addr);
        return true;
    }
    *addr = known ? frame->value - known->bias : 0;
    if (known && has_named_function(index, frame->symbol, frame->flags, *addr)) {
        places->guessed = !known->is_own;
        return true;
    }
    *addr = frame->value;
    /* A process has no image at 0: of an index that counts from there, no pc is an address, unless the name says so. */
    const bool is_loaded =
        frame->usual_base && frame->module.len && !frame->symbol.len && csn_index_image_base(index) < LOWEST_IMAGE;
    bool fits = guess.unmoved && !is_loaded && has_named_function(index, frame->symbol, frame->flags, *addr);
    if (!fits && guess.program && frame->usual_base && frame->value >= frame->usual_base) {
        *addr = frame->value - frame->usual_base;
        fits = has_named_function(index, frame->symbol, frame->flags, *addr);
    }
    /* Other frames of the module lie as this one: when its name is filled in, a second run knows by that. */
    if (fits) keep_place(places, name, frame->value - *addr);
    return fits;
}

/* ---- the kernel ---- */

void stack_place_kernel_at(struct stack_places *places, uint64_t bias) {
    places->kernel_bias = bias;
    places->has_kernel_bias = true;
}

void stack_place_kernel_unknown(struct stack_places *places) { places->has_kernel_bias = false; }

/* "vmlinux", or else the first index that was given and is linked where kernels are. */
static uint32_t kernel_module(struct stack_session *session, const struct csn_index **index) {
    static const struct csn_str usual = { "vmlinux", 7 };
    const uint64_t kernels_start = 1ull << 31;
    uint32_t module = session_name_module(session, usual, NULL);
    *index = module == NO_MODULE ? NULL : session_index(session, module);
    size_t given = csn_store_given_count(session->store);
    for (size_t i = 0; !*index && i < given && i < SESSION_GIVEN_MAX; i++) {
        module = session_name_module(session, csn_store_given_name(session->store, i), NULL);
        if (module != NO_MODULE && session_image_base(session, module) >= kernels_start) *index = session_index(session, module);
    }
    return module;
}

bool stack_place_has_kernel(struct stack_session *session) {
    const struct csn_index *index;
    kernel_module(session, &index);
    return index != NULL;
}

static bool place_in_kernel(const struct stack_places *places, struct stack_session *session, const struct line_frame *frame,
                            uint32_t *module, uint64_t *addr) {
    const struct csn_index *index;
    *module = kernel_module(session, &index);
    *addr = frame->value - (places->has_kernel_bias ? places->kernel_bias : 0);
    return index && has_function(index, frame->flags, *addr);
}

/* ---- pcs ---- */

bool stack_place_pc(struct stack_places *places, struct stack_session *session, const struct line_frame *frame, uint32_t *module,
                    uint64_t *addr) {
    struct place_guess guess = { true, !is_library(frame->module) };
    places->guessed = false;
    if (frame->is_unnamed) return place_in_kernel(places, session, frame, module, addr);
    if (frame->module.len) return place_in(places, session, frame, frame->module, guess, module, addr);
    size_t count = csn_store_given_count(session->store), programs = 0;
    for (size_t i = 0; i < count && i < SESSION_GIVEN_MAX; i++) programs += !is_library(csn_store_given_name(session->store, i));
    for (size_t i = 0; i < count && i < SESSION_GIVEN_MAX; i++) {
        struct csn_str name = csn_store_given_name(session->store, i);
        guess = (struct place_guess){ count == 1, programs == 1 && !is_library(name) };
        if (place_in(places, session, frame, name, guess, module, addr)) return true;
    }
    return false;
}

/* ---- later ---- */

/* The frame that the session got last, which a later one may place. NULL: no memory, or it is noted already (*good tells). */
static struct unplaced *note_frame(struct stack_places *places, struct stack_session *session, const struct line_frame *frame,
                                   bool *good) {
    const size_t noted = places->unplaced_count;
    /* One for each frame that the session has got: it takes no more than --max-frames. */
    *good = true;
    if (!session->frame_count || (noted && places->unplaced[noted - 1].frame == session->frame_count - 1)) return NULL;
    *good = reserve_items(&places->unplaced, &places->unplaced_capacity, places->unplaced_count + 1, sizeof(*places->unplaced));
    if (!*good) return NULL;
    struct unplaced *item = &places->unplaced[places->unplaced_count++];
    struct csn_str name = own_name(frame->symbol);
    *item = (struct unplaced){ .frame = session->frame_count - 1, .module = NO_MODULE, .flags = frame->flags, .pc = frame->value };
    memcpy(item->symbol, name.ptr, name.len < UNPLACED_NAME ? name.len : UNPLACED_NAME - 1);
    return item;
}

bool stack_place_later(struct stack_places *places, struct stack_session *session, const struct line_frame *frame) {
    bool good;
    struct unplaced *item = note_frame(places, session, frame, &good);
    if (item && frame->module.len) item->module = session_find_module(session, frame->module);
    return good;
}

bool stack_place_guessed(struct stack_places *places, struct stack_session *session, const struct line_frame *frame,
                         uint32_t module, uint64_t addr) {
    bool good;
    struct unplaced *item = places->guessed ? note_frame(places, session, frame, &good) : NULL;
    if (!item) return !places->guessed || good;
    item->module = module;
    item->is_guess = true;
    item->bias = frame->value - addr;
    return true;
}

bool stack_place_is_in_image(const struct csn_index *index, uint64_t addr) {
    struct csn_index_info info;
    struct csn_function last;
    csn_index_get_info(index, &info, sizeof(info));
    if (!info.function_count || csn_index_function(index, info.function_count - 1, &last, NULL) != CSN_OK) return false;
    const uint64_t end = last.start + last.size;
    return addr >= csn_index_image_base(index) && addr < end + (PAGE_SIZE - end % PAGE_SIZE) % PAGE_SIZE;
}

/* The line says which module it is, and nothing that is not so there: the index has no function at the place. */
static bool is_beside_functions(const struct csn_index *index, const struct unplaced *item, uint64_t addr) {
    return item->module != NO_MODULE && !item->symbol[0] && !has_function(index, item->flags, addr) &&
           stack_place_is_in_image(index, addr);
}

static bool place_as_others(struct stack_places *places, struct stack_session *session, const struct unplaced *item,
                            struct csn_str name) {
    const struct place *known = find_place(places, name);
    uint32_t module = known ? session_find_module(session, name) : NO_MODULE;
    const struct csn_index *index = module == NO_MODULE ? NULL : session_index(session, module);
    const struct csn_str symbol = { item->symbol, strlen(item->symbol) };
    const uint64_t addr = known ? item->pc - known->bias : 0;
    if (!index) return false;
    if (!has_named_function(index, symbol, item->flags, addr) && !is_beside_functions(index, item, addr)) return false;
    struct csn_stack_frame *frame = &session->frames[item->frame];
    *frame = (struct csn_stack_frame){ addr, module, frame->flags | CSN_STACK_ADDRESS };
    return true;
}

/* A later frame of the stack tells that its process has the module elsewhere than those before. */
static void place_again(struct stack_places *places, struct stack_session *session, const struct unplaced *item,
                        struct csn_str name) {
    const struct place *known = find_place(places, name);
    if (!known || known->bias == item->bias || place_as_others(places, session, item, name)) return;
    struct csn_stack_frame *frame = &session->frames[item->frame];
    *frame = (struct csn_stack_frame){ item->pc, NO_MODULE, frame->flags & ~(uint32_t)CSN_STACK_ADDRESS };
}

void stack_place_rest(struct stack_places *places, struct stack_session *session) {
    for (size_t i = 0; i < places->unplaced_count && places->count; i++) {
        const struct unplaced *item = &places->unplaced[i];
        if (item->frame >= session->frame_count) continue;
        if (item->module != NO_MODULE && item->module < session->modules->count) {
            const char *name = session->modules->items[item->module].name;
            const struct csn_str text = { name, name ? strlen(name) : 0 };
            if (name && item->is_guess) place_again(places, session, item, text);
            else if (name) place_as_others(places, session, item, text);
            continue;
        }
        size_t count = csn_store_given_count(session->store);
        for (size_t k = 0; k < count && k < SESSION_GIVEN_MAX; k++)
            if (place_as_others(places, session, item, csn_store_given_name(session->store, k))) break;
    }
    places->unplaced_count = 0;
    for (uint32_t i = 0; i < places->count; i++) places->items[i].is_own = false;
}

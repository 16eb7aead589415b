/* Names of code that no function has. */
#include "convert/sources/code_labels.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/search.h"

/* ---- labels ---- */

/* $a, $d, $t, $x: of ARM, AArch64, RISC-V, C-SKY: where data begins, and code of an instruction set. */
static bool is_mapping_symbol(struct csn_str name) {
    if (name.len < 2 || name.ptr[0] != '$') return false;
    char kind = name.ptr[1];
    if (kind == 'x' && name.len > 4 && name.ptr[2] == 'r' && name.ptr[3] == 'v') return true; /* $xrv64i2p1 */
    if (kind != 'a' && kind != 'd' && kind != 't' && kind != 'x') return false;
    return name.len == 2 || name.ptr[2] == '.';
}

bool csni_is_local_label(const struct csni_object *object, struct csn_str name, bool is_typed) {
    if (object->container != CSNI_CONTAINER_ELF || !name.len || (name.ptr[0] != '.' && name.ptr[0] != '$')) return false;
    /* 64-bit PowerPC puts a dot before the names of functions. */
    if (csni_str_starts(name, ".L")) return !is_typed || !csni_str_is(csni_str(object->arch), "ppc64");
    if (is_typed) return false;
    return csni_str_starts(name, "..@") || csni_str_starts(name, ".annobin") || csni_str_starts(name, "$L") ||
           is_mapping_symbol(name);
}

bool csni_add_code_label(csni_code_labels *labels, const struct csni_object *object, const struct csni_symbol *s) {
    const struct csni_section *section = &object->sections[s->section];
    if (s->addr < section->addr || s->addr - section->addr >= section->size) return true;
    enum csni_label_rank rank = s->kind == CSNI_SYMBOL_SECTION ? CSNI_LABEL_OF_SECTION
                              : s->bind == CSNI_BIND_LOCAL     ? CSNI_LABEL_LOCAL
                              : s->bind == CSNI_BIND_WEAK      ? CSNI_LABEL_WEAK
                                                               : CSNI_LABEL_GLOBAL;
    uint64_t left = section->size - (s->addr - section->addr);
    struct csni_code_label label = { .addr = s->addr, .size = s->size < left ? s->size : left, .limit = s->addr + left,
                                     .name = s->name, .rank = (uint8_t)rank, .weak = s->bind == CSNI_BIND_WEAK,
                                     .local = s->bind == CSNI_BIND_LOCAL };
    return csni_vec_push(labels, label);
}

/* ---- stubs ---- */

/* As disassemblers and perf write it; *ABS* stands for a function that no relocation names. False: out of memory. */
static bool name_stub(const struct csni_stub *stub, struct csni_arena *arena, struct csn_str *out) {
    enum { NUMBER_SIZE = 32 };
    char number[NUMBER_SIZE] = "";
    struct csn_str target = stub->target.len ? stub->target : csni_str("*ABS*");
    if (stub->addend || !stub->target.len) snprintf(number, sizeof number, "+0x%llx", (unsigned long long)stub->addend);
    static const char suffix[] = "@plt";
    size_t number_len = strlen(number), len = target.len + number_len + sizeof suffix - 1;
    char *text = csni_arena_alloc(arena, len + 1);
    if (!text) return false;
    memcpy(text, target.ptr, target.len);
    memcpy(text + target.len, number, number_len);
    memcpy(text + target.len + number_len, suffix, sizeof suffix);
    *out = (struct csn_str){ text, len };
    return true;
}

csn_status csni_add_stub_labels(csni_code_labels *labels, struct csni_conversion *c, struct csn_error *err) {
    csni_stubs stubs = { .alloc = c->alloc };
    csn_status status = csni_object_stubs(c->object, &stubs, err);
    for (size_t i = 0; status >= 0 && i < stubs.count; i++) {
        const struct csni_stub *s = &stubs.items[i];
        struct csni_code_label label = { .addr = s->addr, .size = s->size, .limit = s->addr + s->size, .rank = CSNI_LABEL_STUB,
                                         .local = true };
        bool ok = name_stub(s, &c->arenas[0], &label.name) && csni_vec_push(labels, label);
        if (!ok) status = csni_fail_memory(err, sizeof label);
    }
    csni_vec_deinit(&stubs);
    return status;
}

/* ---- points: labels, and functions of symbols without a size, in order of their addresses ---- */

struct point {
    uint64_t addr, limit;
    uint64_t next;                   /* the first function behind it that is no point; UINT64_MAX: none */
    const struct csni_code_label *label;
    struct csni_function *function;  /* one of both */
    int64_t covers;                  /* functions that cover it and not the point before, less those that cover only that */
    bool kept;
    bool is_known;                   /* the first point of an address: a function with a size begins here */
};

struct placing {
    struct csni_conversion *conversion;
    CSNI_VEC(struct csni_text_range) sections; /* with code, ascending */
    struct point *points;
    size_t count;
    size_t hint;                     /* the first point at or after the function looked at last */
};

/* Functions first, then labels with a size, those of highest rank, those that came last, as llvm-symbolizer has it. */
static int point_in_order(const void *pa, const void *pb) {
    const struct point *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    if (!a->label || !b->label) return (a->label != NULL) - (b->label != NULL);
    bool sized_a = a->label->size > 0, sized_b = b->label->size > 0;
    if (sized_a != sized_b) return sized_a ? -1 : 1;
    if (a->label->rank != b->label->rank) return a->label->rank > b->label->rank ? -1 : 1;
    return (a->label < b->label) - (a->label > b->label);
}

static int section_by_start(const void *pa, const void *pb) {
    const struct csni_text_range *a = pa, *b = pb;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Each by itself: in image.text those that touch are one. */
static csn_status list_sections(struct placing *p, struct csn_error *err) {
    const struct csni_object *object = p->conversion->object;
    p->sections.alloc = p->conversion->alloc;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        struct csni_text_range range = { s->addr, s->addr + s->size };
        if (!(s->flags & CSNI_SECTION_EXEC) || !s->size || s->addr > UINT64_MAX - s->size) continue;
        if (!csni_vec_push(&p->sections, range)) return csni_fail_memory(err, sizeof range);
    }
    if (p->sections.count) qsort(p->sections.items, p->sections.count, sizeof *p->sections.items, section_by_start);
    return CSN_OK;
}

static uint64_t section_end(const struct placing *p, uint64_t addr) {
    size_t above = csni_upper_bound(p->sections.items, p->sections.count, start, addr);
    return above && addr < p->sections.items[above - 1].end ? p->sections.items[above - 1].end : addr;
}

static bool is_sized_here(const struct csni_conversion *c, const struct csni_function *f) {
    return !f->size && !c->image.symbols_lack_sizes;
}

static csn_status make_points(struct placing *p, const csni_code_labels *labels, struct csni_batch *symbols,
                              struct csn_error *err) {
    const struct csni_conversion *c = p->conversion;
    size_t most = labels->count;
    for (uint32_t i = 0; i < symbols->function_count; i++) most += is_sized_here(c, &symbols->functions[i]);
    CSNI_TRY(list_sections(p, err));
    p->points = csni_alloc_zeroed(c->alloc, most, sizeof *p->points);
    if (most && !p->points) return csni_fail_memory(err, most * sizeof *p->points);
    for (size_t i = 0; i < labels->count; i++)
        p->points[p->count++] = (struct point){ .addr = labels->items[i].addr, .limit = labels->items[i].limit, .next = UINT64_MAX,
                                                .label = &labels->items[i] };
    for (uint32_t i = 0; i < symbols->function_count; i++) {
        struct csni_function *f = &symbols->functions[i];
        if (!is_sized_here(c, f)) continue;
        p->points[p->count++] = (struct point){ .addr = f->start, .limit = section_end(p, f->start), .next = UINT64_MAX,
                                                .function = f };
    }
    if (p->count) qsort(p->points, p->count, sizeof *p->points, point_in_order);
    return CSN_OK;
}

/* The first point at or after `addr`. Functions of a unit mostly ascend, and points are few. */
static size_t find_point(struct placing *p, uint64_t addr) {
    size_t at = p->hint;
    bool near = (at == p->count || p->points[at].addr >= addr) && (!at || p->points[at - 1].addr < addr);
    if (!near) p->hint = at = csni_lower_bound(p->points, p->count, addr, addr);
    return at;
}

/* What one function tells of the points that it covers, and of the one before it. */
static void pass_function(struct placing *p, const struct csni_function *f) {
    uint64_t end = f->start + (f->size ? f->size : 1);
    if (is_sized_here(p->conversion, f) && f->source == CSNI_SOURCE_SYMBOL) return; /* is a point */
    size_t first = find_point(p, f->start);
    if (first && f->start < p->points[first - 1].next) p->points[first - 1].next = f->start;
    if (first == p->count || p->points[first].addr >= end) return;
    size_t last = csni_lower_bound(p->points, p->count, addr, end);
    p->points[first].covers++;
    if (p->points[first].addr == f->start && f->size) p->points[first].is_known = true;
    if (last < p->count) p->points[last].covers--;
}

static void pass_batch(struct placing *p, const struct csni_batch *batch) {
    for (uint32_t i = 0; i < batch->function_count; i++) pass_function(p, &batch->functions[i]);
}

/* ---- which labels are kept ---- */

static void choose_points(struct placing *p) {
    int64_t covering = 0;
    uint64_t reach = 0; /* the end of labels with a size that are kept */
    struct point *first = NULL; /* of the address at hand */
    for (size_t i = 0; i < p->count; i++) {
        struct point *q = &p->points[i];
        covering += q->covers;
        bool repeats = first && first->addr == q->addr, covered = covering > 0 || q->addr < reach;
        if (!repeats) first = q;
        /* A symbol of all stubs (_MIPS_STUBS_) is less than the first of them. */
        bool beats_function = repeats && first->function && q->label && q->label->rank == CSNI_LABEL_STUB && !first->is_known;
        q->kept = q->function || (!covered && (!repeats || beats_function));
        if (q->kept && beats_function) first->is_known = true;
        if (q->kept && q->label && q->label->size) reach = q->addr + q->label->size;
    }
}

/* ---- where they end ---- */

static uint64_t end_by_bounds(const struct csni_conversion *c, uint64_t addr, uint64_t end) {
    size_t above = csni_upper_bound(c->image.bounds.items, c->image.bounds.count, start, addr);
    const struct csni_text_range *own = above ? &c->image.bounds.items[above - 1] : NULL;
    if (own && own->start == addr && own->end > addr) return own->end;
    if (above < c->image.bounds.count && c->image.bounds.items[above].start < end) return c->image.bounds.items[above].start;
    return end;
}

static uint32_t size_of_point(const struct csni_conversion *c, const struct point *q, uint64_t next) {
    if (q->label && q->label->size) return q->label->size < UINT32_MAX ? (uint32_t)q->label->size : UINT32_MAX;
    if (c->image.symbols_lack_sizes) return 0; /* the model knows how */
    uint64_t end = end_by_bounds(c, q->addr, q->limit < next ? q->limit : next);
    uint64_t size = end > q->addr ? end - q->addr : 0;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

static void place_point(struct placing *p, const struct point *q, uint64_t next, struct csni_batch_writer *w) {
    uint32_t size = size_of_point(p->conversion, q, next);
    if (q->function) {
        q->function->size = size;
        return;
    }
    csni_batch_begin_function(w, q->addr, size, csni_batch_add_string(w, q->label->name), CSNI_SOURCE_SYMBOL);
    if (w->failed) return;
    struct csni_function *f = &w->functions.items[w->functions.count - 1];
    f->weak = q->label->weak;
    f->local = q->label->local;
}

/* From the last address on, as each ends where the next one begins. */
static void place_points(struct placing *p, struct csni_batch_writer *w) {
    uint64_t next = UINT64_MAX;
    for (size_t end = p->count; end;) {
        size_t first = end;
        while (first && p->points[first - 1].addr == p->points[end - 1].addr) first--;
        bool any = false;
        if (p->points[end - 1].next < next) next = p->points[end - 1].next;
        for (size_t i = first; i < end; i++) {
            /* A second name of a function with a size gives way to it, unless it had another size. */
            if (!p->points[i].kept || (p->points[i].function && p->points[first].is_known)) continue;
            place_point(p, &p->points[i], next, w);
            any = true;
        }
        if (any) next = p->points[first].addr;
        end = first;
    }
}

csn_status csni_place_code_labels(csni_code_labels *labels, struct csni_conversion *c, struct csni_batch *symbols,
                                  struct csni_batch *out, struct csn_error *err) {
    struct placing p = { .conversion = c };
    struct csni_batch_writer *w = &c->writers[0];
    csn_status status = make_points(&p, labels, symbols, err);
    csni_batch_begin(w, &c->arenas[0]);
    if (status >= 0 && p.count) {
        for (uint32_t b = c->first_batch; b < c->batch_count; b++) pass_batch(&p, &c->batches[b]);
        pass_batch(&p, symbols);
        choose_points(&p);
        place_points(&p, w);
    }
    csni_free(c->alloc, p.points, p.count * sizeof *p.points);
    csni_vec_deinit(&p.sections);
    return status < 0 ? status : csni_batch_finish(w, out, err);
}

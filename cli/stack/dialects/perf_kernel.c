/* A kernel of another build has most functions elsewhere, but some where the index has them: by chance, or because the code that
 * enters the kernel is aligned. So it takes several functions to believe an index, and one frame in sixteen to doubt it. */
#include "stack/dialects/perf_kernel.h"

#include <string.h>

#include "stack/dialects/perf_frame.h"
#include "stack/session/stack_session.h"
#include "ui/cli_message.h"
#include "ui/clone_name.h"

#include <callsign/inspect.h>

enum { DIFFERING_FEW = 16, DIFFERING_TOLD = 4, LOOKUP_FRAMES = 64 };

/* NULL: there are too many. */
static struct perf_kernel *kernel_of(struct perf_kernels *kernels, struct csn_str name) {
    for (uint32_t i = 0; i < kernels->count; i++) {
        struct perf_kernel *kernel = &kernels->items[i];
        if (strlen(kernel->name) == name.len && memcmp(kernel->name, name.ptr, name.len) == 0) return kernel;
    }
    if (kernels->count == KERNELS_MAX || name.len >= KERNEL_NAME) return NULL;
    struct perf_kernel *kernel = &kernels->items[kernels->count++];
    *kernel = (struct perf_kernel){ .start = 0 };
    memcpy(kernel->name, name.ptr, name.len);
    return kernel;
}

void perf_kernels_add_map(struct perf_kernels *kernels, struct csn_str image, uint64_t start) {
    const char *close = perf_is_kernel(image) ? memchr(image.ptr, ']', image.len) : NULL;
    struct perf_kernel *kernel = close ? kernel_of(kernels, perf_kernel_module(image)) : NULL;
    if (!kernel || kernel->start == start) return;
    const struct csn_str symbol = { close + 1, (size_t)(image.ptr + image.len - close - 1) };
    struct perf_kernel placed = { .start = start, .is_told = kernel->is_told };
    if (!symbol.len || symbol.len >= sizeof(placed.symbol)) return;
    memcpy(placed.name, kernel->name, sizeof(placed.name));
    memcpy(placed.symbol, symbol.ptr, symbol.len);
    *kernel = placed;
}

/* ---- what the frames prove ---- */

/* How the functions of an index compare with what a line says of a place. */
struct place_check {
    bool has_function;      /* the index has one there, or where it would be called */
    bool is_named;          /* which is called so, or has an inlined call that is */
    bool begins_there;      /* and begins where that of the line does; without its offset: not known */
};

static bool is_name(struct csn_str indexed, struct csn_str wanted) {
    const size_t shorter = indexed.len < wanted.len ? indexed.len : wanted.len;
    const struct csn_str longer = indexed.len < wanted.len ? wanted : indexed;
    if (!shorter || memcmp(indexed.ptr, wanted.ptr, shorter) != 0) return false;
    return longer.len == shorter || longer.ptr[shorter] == '.'; /* "f.isra.0" is called "f" in debug information */
}

/* The frames there, innermost first; 0: none. */
static size_t look_up(const struct csn_index *index, uint64_t addr, struct csn_frame found[LOOKUP_FRAMES]) {
    size_t count;
    if (csn_index_lookup(index, addr, found, LOOKUP_FRAMES, &count, NULL) != CSN_OK) return 0;
    return count <= LOOKUP_FRAMES ? count : 0;
}

static struct place_check check_place(const struct csn_index *index, const struct line_frame *frame, uint64_t addr) {
    struct csn_frame found[LOOKUP_FRAMES];
    const size_t count = look_up(index, addr, found);
    struct place_check check = { .has_function = count || look_up(index, addr - 1, found) };
    if (!count) return check;
    check.begins_there = frame->has_symbol_offset && found[count - 1].offset == frame->symbol_offset;
    for (size_t i = 0; i < count; i++) check.is_named |= is_name(found[i].name, frame->symbol);
    return check;
}

/* The kernel is moved by whole steps: 2 MiB on x86-64 and RISC-V, 16 KiB in the lower half, as on s390, else 64 KiB. */
static uint64_t moves_by(uint64_t base) {
    const uint64_t riscv = 0xffffffff80000000, x86 = 0xffffffff81000000;
    if (base >= x86 || base == riscv) return 1 << 21;
    return base >> 63 ? 1 << 16 : 1 << 14;
}

static bool is_doubtful(const struct perf_kernel *kernel) { return kernel->differing * DIFFERING_FEW > kernel->agreeing; }

/* Whether the index is of the same build without doubt. */
static bool is_believed(const struct perf_kernel *kernel) {
    const uint32_t needed = kernel->symbol[0] ? 1 : KERNEL_PROOFS;
    return kernel->has_bias && kernel->proof_count >= needed && !is_doubtful(kernel);
}

static void note_agreeing(struct perf_kernel *kernel, uint64_t start) {
    kernel->agreeing++;
    for (uint32_t i = 0; i < kernel->proof_count; i++)
        if (kernel->proofs[i] == start) return;
    if (kernel->proof_count < KERNEL_PROOFS) kernel->proofs[kernel->proof_count++] = start;
}

static void note_differing(struct perf_kernel *kernel) {
    kernel->differing++;
    if (kernel->is_told || kernel->differing < DIFFERING_TOLD || kernel->differing < kernel->agreeing) return;
    cli_error(kernel->name, "the index is of another build than the kernel: functions lie elsewhere, and keep their names");
    kernel->is_told = true;
}

static bool find_function(struct stack_session *session, const struct csn_index *index, const struct line_frame *frame,
                          uint64_t *start) {
    const struct symbol_site site = { .name = frame->symbol, .offset = frame->symbol_offset };
    uint32_t count = 0;
    if (!symbol_tables_find(&session->symbols, index, &site, start, &count)) return false;
    return count == 1 && clone_original(frame->symbol).len == frame->symbol.len;
}

/* What another boot of it contradicted counts no more. */
static void begin_with(struct perf_kernel *kernel, uint64_t bias, uint64_t start) {
    kernel->has_bias = true;
    if (!kernel->is_told) kernel->differing = 0;
    kernel->bias = bias;
    kernel->proof_count = 0;
    kernel->agreeing = 0;
    note_agreeing(kernel, start);
}

/* The frame's function is not where it should be. Where nothing proves how far the kernel was moved, the only function of a name
 * may. */
static bool is_moved_as(struct perf_kernel *kernel, const struct csn_index *index, const struct line_frame *frame,
                        uint64_t start) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    const uint64_t bias = frame->value - frame->symbol_offset - start;
    if (bias == kernel->bias && kernel->has_bias) return true;
    if (kernel->symbol[0] || is_believed(kernel) || bias % moves_by(info.base_address)) return false;
    begin_with(kernel, bias, start);
    return true;
}

/* The same, noted: a frame that differs may be the one by which the kernel is no longer believed to be where it was. */
static bool agrees_when_moved(struct perf_kernel *kernel, const struct csn_index *index, const struct line_frame *frame,
                              uint64_t start) {
    if (!is_moved_as(kernel, index, frame, start)) {
        note_differing(kernel);
        if (!is_moved_as(kernel, index, frame, start)) return false;
    }
    note_agreeing(kernel, start);
    return true;
}

/* ---- frames ---- */

/* A line with the function and its offset. */
static bool place_exactly(struct perf_kernel *kernel, struct stack_session *session, const struct csn_index *index,
                          const struct line_frame *frame, uint64_t *out) {
    const uint64_t addr = frame->value - kernel->bias;
    const struct place_check check = check_place(index, frame, addr);
    uint64_t start;
    *out = addr;
    if (check.is_named && check.begins_there) {
        if (!kernel->has_bias) begin_with(kernel, 0, addr - frame->symbol_offset);
        else note_agreeing(kernel, addr - frame->symbol_offset);
        return true;
    }
    const bool is_alone = find_function(session, index, frame, &start);
    if (is_alone && agrees_when_moved(kernel, index, frame, start)) {
        *out = frame->value - kernel->bias;
        return true;
    }
    if (!is_believed(kernel)) return !check.has_function && (!kernel->has_bias || !is_doubtful(kernel));
    if (is_alone) *out = start + frame->symbol_offset;
    return is_alone || check.begins_there || !check.has_function; /* another name of it, or none */
}

/* Whether there is one function of that name, and the address is in none or in another one. */
static bool is_elsewhere(struct stack_session *session, const struct csn_index *index, const struct line_frame *frame,
                         uint64_t addr) {
    struct csn_frame found[LOOKUP_FRAMES];
    uint64_t start;
    if (!find_function(session, index, frame, &start)) return false;
    const size_t count = look_up(index, addr, found);
    return !count || addr - found[count - 1].offset != start;
}

/* Without the offset: that tells no shift. */
static bool place_by_name(struct perf_kernel *kernel, struct stack_session *session, const struct csn_index *index,
                          const struct line_frame *frame, uint64_t *out) {
    const struct place_check check = check_place(index, frame, *out = frame->value - kernel->bias);
    kernel->agreeing += check.is_named;
    if (check.is_named) return true;
    if (kernel->has_bias && is_elsewhere(session, index, frame, *out)) note_differing(kernel);
    return is_believed(kernel) || !check.has_function;
}

bool perf_kernels_address(struct perf_kernels *kernels, struct stack_session *session, const struct line_frame *frame,
                          uint32_t module, uint64_t *out) {
    struct perf_kernel *kernel = kernel_of(kernels, frame->module);
    const struct csn_index *index = session_index(session, module);
    *out = frame->value;
    if (!kernel || !index) return kernel != NULL;
    if (kernel->symbol[0] && !kernel->has_bias) {
        const struct csn_str symbol = { kernel->symbol, strlen(kernel->symbol) };
        kernel->bias = csn_index_kernel_bias(index, symbol, kernel->start);
        kernel->has_bias = true;
    }
    if (frame->symbol.len && frame->has_symbol_offset) return place_exactly(kernel, session, index, frame, out);
    if (frame->symbol.len) return place_by_name(kernel, session, index, frame, out);
    *out = frame->value - kernel->bias;
    return !is_doubtful(kernel);
}
